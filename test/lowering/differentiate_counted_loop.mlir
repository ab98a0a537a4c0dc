// RUN: rs-opt %s --differentiate=wrt=w,x --canonicalize --cse --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --check-gradients --split-input-file | rs-filecheck %s --check-prefix=RIGHT

// The forward loop keeps what each step began with and what it makes of its product alone; the backward loop reads both, adds its row to the gradient of x, and keeps
// its factor of the gradient of w, which is one product of all rows behind it. The rows of the outputs are not kept.
// RIGHT: w: right along 3 directions
// RIGHT: x: right along 3 directions
// CHECK-LABEL: func.func @main(
// CHECK: %[[KEPT:.*]]:4 = scf.for
// CHECK-SAME: -> (tensor<2x8xf64>, tensor<5x2x8xf64>, tensor<5x2x8xf64>, tensor<5x2x8xf64>) {
// CHECK: prim.dot
// CHECK-COUNT-3: prim.scatter
// CHECK: %[[BACK:.*]]:4 = scf.for
// CHECK: prim.slice %[[KEPT]]#3
// CHECK-NOT: prim.tanh
// CHECK: prim.scatter {{.*}} {dims = array<i64: 0>, kind = "add"}
// CHECK: }
// CHECK: prim.dot %[[BACK]]#3, %[[KEPT]]#2 {lhs_batch = array<i64>, lhs_contract = array<i64: 0, 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0, 1>} : (tensor<5x2x8xf64>, tensor<5x2x8xf64>) -> tensor<8x8xf64>
// CHECK: return %[[KEPT]]#1
func.func @main(%w: tensor<8x8xf64> {capture.kind = "input", capture.name = "w"}, %x: tensor<5x2x8xf64> {capture.kind = "input", capture.name = "x"})
    -> (tensor<5x2x8xf64> {capture.kind = "output"}) attributes {capture.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = prim.constant {value = dense<0.0> : tensor<f64>} : tensor<f64>
  %begin = prim.broadcast %zero {dims = array<i64>} : (tensor<f64>) -> tensor<2x8xf64>
  %none = prim.broadcast %zero {dims = array<i64>} : (tensor<f64>) -> tensor<5x2x8xf64>
  %0:2 = scf.for %t = %c0 to %c5 step %c1 iter_args(%h = %begin, %rows = %none) -> (tensor<2x8xf64>, tensor<5x2x8xf64>) {
    %1 = prim.dot %h, %w {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 0>} : (tensor<2x8xf64>, tensor<8x8xf64>) -> tensor<2x8xf64>
    %2 = prim.slice %x, %t {offsets = array<i64: -9223372036854775808, 0, 0>, sizes = array<i64: 1, 2, 8>, strides = array<i64: 1, 1, 1>} : (tensor<5x2x8xf64>, index) -> tensor<1x2x8xf64>
    %3 = prim.reshape %2 : (tensor<1x2x8xf64>) -> tensor<2x8xf64>
    %4 = prim.add %1, %3 : tensor<2x8xf64>
    %5 = prim.tanh %4 : tensor<2x8xf64>
    %6 = prim.splat %t : (index) -> tensor<i64>
    %7 = prim.reshape %6 : (tensor<i64>) -> tensor<1xi64>
    %8 = prim.reshape %5 : (tensor<2x8xf64>) -> tensor<1x2x8xf64>
    %9 = prim.scatter %rows, %8, %7 {dims = array<i64: 0>, kind = "set"} : (tensor<5x2x8xf64>, tensor<1x2x8xf64>, tensor<1xi64>) -> tensor<5x2x8xf64>
    scf.yield %5, %9 : tensor<2x8xf64>, tensor<5x2x8xf64>
  }
  return %0#1 : tensor<5x2x8xf64>
}

// -----

// Rows that may be taken away are not added as rows: the padding of a step is negative at first.
// RIGHT: x: right along 3 directions
// CHECK-LABEL: func.func @main(
// CHECK-NOT: kind = "add"
func.func @main(%w: tensor<f64> {capture.kind = "input", capture.name = "w"}, %x: tensor<4xf64> {capture.kind = "input", capture.name = "x"})
    -> (tensor<3xf64> {capture.kind = "output"}) attributes {capture.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = prim.constant {value = dense<0.0> : tensor<f64>} : tensor<f64>
  %begin = prim.broadcast %w {dims = array<i64>} : (tensor<f64>) -> tensor<3xf64>
  %0 = scf.for %t = %c0 to %c3 step %c1 iter_args(%h = %begin) -> (tensor<3xf64>) {
    %low = arith.subi %c0, %t : index
    %high = arith.subi %t, %c1 : index
    %1 = prim.pad %x, %zero, %low, %high {high = array<i64: -9223372036854775808>, interior = array<i64: 0>, low = array<i64: -9223372036854775808>} : (tensor<4xf64>, tensor<f64>, index, index) -> tensor<?xf64>
    %2 = prim.reshape %1 : (tensor<?xf64>) -> tensor<3xf64>
    %3 = prim.mul %h, %2 : tensor<3xf64>
    scf.yield %3 : tensor<3xf64>
  }
  return %0 : tensor<3xf64>
}
