// Each kernel's time and its share of what the machine can do; compiled code that was not made to tell says so.
// RUN: rs-run %s --benchmark --roofline 2>&1 | FileCheck %s
// RUN: rs-compile %s --emit=strata -o %t.strata && { rs-run %t.strata --benchmark --roofline 2>&1 || true; } | FileCheck %s --check-prefix=BLIND

// CHECK: limits {{.*}} GFLOP/s
// CHECK-NEXT: kernel per call us each part
// CHECK-NEXT: k0 1.0 {{.*}}% of {{memory|arithmetic}}
// CHECK-NEXT: median
// BLIND: rs-run: the program does not tell which kernel runs; --roofline needs the model

func.func @main(%x: tensor<64x64xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<64x64xf32> {capture.kind = "output"})
    attributes {capture.entry} {
  %0 = prim.sin %x : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
