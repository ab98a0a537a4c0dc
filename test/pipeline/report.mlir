// One page about a program and a timeline: levels, passes, kernels with what they come from, a call. Neither needs another file.
// RUN: rm -rf %t.d && mkdir %t.d && cd %t.d && rs-run %s --report=html | FileCheck %s
// RUN: cat %t.d/report.report.html | FileCheck %s --check-prefix=PAGE
// RUN: cat %t.d/report.trace.json | FileCheck %s --check-prefix=TRACE
// RUN: not rs-run %s --report=html --benchmark 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: rs-compile %s -o %t.strata && not rs-run %t.strata --report=html 2>&1 | FileCheck %s --check-prefix=COMPILED
// RUN: not rs-run %s --report=html --backend=interp 2>&1 | FileCheck %s --check-prefix=COMPILED

// CHECK: wrote report.report.html
// CHECK-NEXT: wrote report.trace.json

// PAGE: <title>report</title>
// PAGE-NOT: {{src=|href="http|@@}}
// PAGE: {"name":"sine","module":"head","file":"model.py","line":7}
// PAGE-SAME: "name":"prim-fused"
// PAGE-SAME: "text":"func.func(fuse-elementwise)"
// PAGE-SAME: "kernels":[{"name":"k0"
// PAGE-SAME: "launches":[{"kernel":"k0"

// TRACE: "name":"one call"
// TRACE-SAME: "name":"func.func(fuse-elementwise)"

// ALONE: rs-run: {{.*}}--report=html writes a page and does nothing else
// COMPILED: --report=html is about the compilation of a model

func.func @main(%x: tensor<64x64xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<64x64xf32> {capture.kind = "output"})
    attributes {capture.entry} {
  %0 = prim.sin %x : tensor<64x64xf32> loc("sine"("head"("model.py":7:1)))
  %1 = prim.exp %0 : tensor<64x64xf32> loc("</script>"("model.py":8:1))
  return %1 : tensor<64x64xf32>
}
