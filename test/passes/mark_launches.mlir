// Launches are marked with the number of their kernel, also where it is launched twice; no kernel runs behind one.
// RUN: rs-opt %s --strata-to-loop --strata-to-loop-scheduled --strata-to-host --mark-launches | FileCheck %s
// RUN: rs-opt %s --strata-to-loop --strata-to-loop-scheduled --strata-to-host --mark-launches --check-semantics=sets=1 | FileCheck %s --check-prefix=SAME

// CHECK-LABEL: func.func @main
// CHECK: host.extern %[[FIRST:.*]] {name = "strata_mark"}
// CHECK-NEXT: host.launch {{.*}}callee = @[[SORTED:.*]], outputs
// CHECK-NEXT: %[[NONE:.*]] = arith.constant -1
// CHECK-NEXT: host.extern %[[NONE]] {name = "strata_mark"}
// CHECK: arith.constant 1
// CHECK-NEXT: host.extern
// CHECK-NEXT: host.launch
// SAME: checked [[N:[0-9]+]] of [[N]] passes

func.func @main(%x: tensor<8x4xf32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<4x8xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<8x8xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
      : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %1 = prim.sin %0 : tensor<8x8xf32>
  %2 = prim.dot %1, %0 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
      : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
