// Gradients beside finite differences: ones that are right, one that is not the slope, since it stops at a detach, and a program without floats.

// RUN: not rs-opt %s --split-input-file --check-gradients | rs-filecheck %s
// RUN: not rs-opt %s --split-input-file --check-gradients=sets=1
// RUN: not rs-opt %S/Inputs/integers.mlir --check-gradients 2>&1 | rs-filecheck %s --check-prefix=INTEGERS
// RUN: not rs-opt %s --check-gradients --graph=dot 2>&1 | rs-filecheck %s --check-prefix=TASKS

// CHECK: x: right along 3 directions, largest relative difference {{.*}}e-
// CHECK-NEXT: w: right along 3 directions
// CHECK-NEXT: z: right along 3 directions
// CHECK-NEXT: a: right along 3 directions
// CHECK-NEXT: b: right along 0 directions
// CHECK-SAME: left out
// CHECK-NEXT: s: right along 3 directions
// CHECK-NEXT: t: right along 3 directions
// CHECK-NEXT: h: WRONG: the slope is {{.*}}, the derivative says
// INTEGERS: no argument is a tensor of floats or complex numbers, so there is nothing to differentiate by
// TASKS: --check-semantics, --check-gradients, --bisect, --graph and --incremental exclude each other

func.func @right(%x: tensor<?x3xf32> {capture.kind = "input", capture.name = "x"}, %w: tensor<3x2xf16> {capture.kind = "parameter", capture.name = "w"},
                 %z: tensor<2xcomplex<f32>> {capture.kind = "input", capture.name = "z"})
    -> (tensor<?x2xf32> {capture.kind = "output"}, tensor<2xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.relu %x : tensor<?x3xf32>
  %1 = prim.convert %w : (tensor<3x2xf16>) -> tensor<3x2xf32>
  %2 = aten.mm %0, %1 : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  %3 = aten.abs %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  return %2, %3 : tensor<?x2xf32>, tensor<2xf32>
}

// -----

// What a loop begins with is read by its steps too.
func.func @powers(%a: tensor<3xf32> {capture.kind = "input", capture.name = "a"}) -> (tensor<3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %0 = scf.for %k = %c0 to %c3 step %c1 iter_args(%power = %a) -> (tensor<3xf32>) {
    %1 = prim.mul %power, %a : tensor<3xf32>
    scf.yield %1 : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}

// -----

// A step is lost in what is added.
func.func @lost(%b: tensor<2xf64> {capture.kind = "input", capture.name = "b"}) -> (tensor<2xf64> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.constant {value = dense<1.0e40> : tensor<f64>} : () -> tensor<f64>
  %1 = prim.iota {dim = 0 : i64} : tensor<2xf64>
  %2 = prim.broadcast %0 {dims = array<i64>} : (tensor<f64>) -> tensor<2xf64>
  %3 = prim.mul %1, %2 : tensor<2xf64>
  %4 = prim.add %b, %3 : tensor<2xf64>
  return %4 : tensor<2xf64>
}

// -----

// The second segment is empty, the last reaches behind the end, and nobody owns the row between them.
func.func @segments(%s: tensor<7x2xf64> {capture.kind = "input", capture.name = "s"}, %t: tensor<2x6xf32> {capture.kind = "input", capture.name = "t"})
    -> (tensor<3x2xf64> {capture.kind = "output"}, tensor<2x2xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.constant {value = dense<[0, 3, 4]> : tensor<3xi64>} : tensor<3xi64>
  %1 = prim.constant {value = dense<[3, 3, 9]> : tensor<3xi64>} : tensor<3xi64>
  %2 = prim.segment_reduce %s, %0, %1 {kind = "sum"} : (tensor<7x2xf64>, tensor<3xi64>, tensor<3xi64>) -> tensor<3x2xf64>
  %3 = prim.constant {value = dense<[[0, 2], [0, 5]]> : tensor<2x2xi64>} : tensor<2x2xi64>
  %4 = prim.constant {value = dense<[[2, 6], [5, 6]]> : tensor<2x2xi64>} : tensor<2x2xi64>
  %5 = prim.segment_reduce %t, %3, %4 {kind = "max"} : (tensor<2x6xf32>, tensor<2x2xi64>, tensor<2x2xi64>) -> tensor<2x2xf32>
  return %2, %5 : tensor<3x2xf64>, tensor<2x2xf32>
}

// -----

func.func @stopped(%h: tensor<3xf32> {capture.kind = "input", capture.name = "h"}) -> (tensor<3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.detach %h : tensor<3xf32>
  %1 = aten.mul.Tensor %h, %0 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %1 : tensor<3xf32>
}
