// RUN: rs-opt %s --split-breaks | FileCheck %s
// RUN: rs-opt %s --split-breaks=only=rest | FileCheck %s --check-prefix=ONLY
// RUN: not rs-opt %s --split-breaks=only=nowhere 2>&1 | FileCheck %s --check-prefix=NOWHERE
// Before the pass the program is not at level aten; with several parts it cannot become one compiled call.
// RUN: not rs-opt %s --verify-level=level=aten 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not rs-opt %s --from=capture --to=host 2>&1 | FileCheck %s --check-prefix=PARTS
// Without inputs: values that the compiled parts hand on.
// RUN: rs-run %s 2>&1 | FileCheck %s --check-prefix=PRINTS

// CHECK-LABEL: func.func @main(
// CHECK-SAME: attributes {capture.break = {reason = "call of print", resume = @rest}, capture.entry}
// CHECK: return %{{.*}} : tensor<3xi64>
// CHECK-LABEL: func.func @rest(
// CHECK-SAME: attributes {capture.resume}

// ONLY-NOT: @main
// ONLY: func.func @rest(%arg0: tensor<3xi64>) -> tensor<3xi64> attributes {capture.entry}

// NOWHERE: error: 'builtin.module' op has no function `@nowhere` to keep
// EARLY: error: 'capture.graph_break' op breaks the contract of level 'aten': a captured function ends in a graph break
// PARTS: the program has several parts, which are compiled one by one

// PRINTS: graph break after part 1: call of print; resumes at `rest`
// PRINTS: output out0: i64[3] = [0, 2, 4]
func.func @main() -> tensor<3xi64> attributes {capture.entry} {
  %0 = aten.arange {end = 3 : i64, dtype = i64} : () -> tensor<3xi64>
  capture.graph_break %0 {resume = @rest, reason = "call of print"} : (tensor<3xi64>) -> ()
}

func.func @rest(%x: tensor<3xi64>) -> tensor<3xi64> attributes {capture.resume} {
  %0 = aten.mul.Scalar %x {other = 2 : i64} : (tensor<3xi64>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}
