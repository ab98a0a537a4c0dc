// RUN: rs-opt %s --specialise-sizes=sizes=4x2:6: | FileCheck %s
// RUN: rs-opt %s --specialise-sizes=sizes=4x2:6: --decompose-aten --canonicalize | FileCheck %s --check-prefix=PRIM
// RUN: not rs-opt %s --specialise-sizes=sizes=4x2:6 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not rs-opt %s --specialise-sizes=sizes=4x3:6: 2>&1 | FileCheck %s --check-prefix=FIXED
// RUN: not rs-opt %s --specialise-sizes=sizes=4:6: 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not rs-opt %s --specialise-sizes=sizes=4x2:-6: 2>&1 | FileCheck %s --check-prefix=NUMBER

// Symbols are numbers; the range of a size and the relation of the inputs are still checked.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %arg0: tensor<4x2xf32>
// CHECK-SAME: %arg1: tensor<6xf32>
// CHECK: capture.dim %arg0
// CHECK: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK: capture.bind_dims %arg1, %[[FOUR]]

// Below every size is known.
// PRIM-LABEL: func.func @main(
// PRIM-SAME: -> (tensor<4x2xf32> {capture.kind = "output"}
// PRIM-NOT: tensor<?
// PRIM: return

// COUNT: the program takes 3 inputs, sizes are given for 2
// FIXED: input 0 is tensor<?x2xf32>, it cannot have the sizes [4, 3]
// RANK: input 0 is tensor<?x2xf32>, it cannot have the sizes [4]
// NUMBER: '-6' is no size; sizes are written as in 4x8:3
func.func @main(%x: tensor<?x2xf32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<?xf32> {capture.kind = "input", capture.name = "y"},
                %n: index {capture.kind = "input", capture.name = "n"})
    -> (tensor<?x2xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %s = capture.dim %x {dim = 0 : i64, symbol = "s0", min = 2 : i64, max = 9 : i64} : (tensor<?x2xf32>) -> index
  capture.bind_dims %y, %s {shape = affine_map<()[s0] -> (s0 + 2)>} : (tensor<?xf32>, index) -> ()
  %0 = aten.relu %x : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = aten.add.Tensor %0, %x : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}
