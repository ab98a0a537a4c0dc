// Borders that are loops of their own, along rows, columns and lanes, with steps, gaps and operands shorter than a border: values do
// not change.
// RUN: rs-run %s > %t.fast
// RUN: rs-run %s --skip schedule-cpu > %t.plain && diff %t.fast %t.plain
// RUN: rs-opt %s --fuse-elementwise --fuse-reductions --prim-to-loop --schedule-cpu | FileCheck %s

// CHECK-DAG: peel = array<i64: 1, 2>
// CHECK-DAG: peel = array<i64: 0>
// CHECK-DAG: peel = array<i64: 1>
func.func @main(%x: tensor<3x29x37xi32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<2x17x19x40xi32> {capture.kind = "input", capture.name = "y"},
                %z: tensor<5xi32> {capture.kind = "input", capture.name = "z"},
                %u: tensor<?x33xi32> {capture.kind = "input", capture.name = "u"})
    -> (tensor<3x34x57xi32> {capture.kind = "output"}, tensor<2x9x10x40xi32> {capture.kind = "output"},
        tensor<25xi32> {capture.kind = "output"}, tensor<?x40xi32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %u {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 1000000 : i64} : (tensor<?x33xi32>) -> index
  %c = prim.constant {value = dense<-7> : tensor<i32>} : tensor<i32>
  %0 = prim.pad %x, %c {low = array<i64: 0, 3, 2>, high = array<i64: 0, 2, 18>, interior = array<i64: 0, 0, 0>} : (tensor<3x29x37xi32>, tensor<i32>) -> tensor<3x34x57xi32>
  %1 = prim.pad %y, %c {low = array<i64: 0, 1, 1, 0>, high = array<i64: 0, 1, 1, 0>, interior = array<i64: 0, 0, 0, 0>} : (tensor<2x17x19x40xi32>, tensor<i32>) -> tensor<2x19x21x40xi32>
  %2 = prim.sliding_window %1 {sizes = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>, dims = array<i64: 1, 2>} : (tensor<2x19x21x40xi32>) -> tensor<2x9x10x40x3x3xi32>
  %3 = prim.reduce %2 {dims = array<i64: 4, 5>, kind = "max"} : (tensor<2x9x10x40x3x3xi32>) -> tensor<2x9x10x40xi32>
  // Nothing is inside here, and a crop is no border.
  %4 = prim.pad %z, %c {low = array<i64: 10>, high = array<i64: 10>, interior = array<i64: 0>} : (tensor<5xi32>, tensor<i32>) -> tensor<25xi32>
  %5 = prim.pad %u, %c {low = array<i64: 2, -3>, high = array<i64: -2, 10>, interior = array<i64: 0, 0>} : (tensor<?x33xi32>, tensor<i32>) -> tensor<?x40xi32>
  return %0, %3, %4, %5 : tensor<3x34x57xi32>, tensor<2x9x10x40xi32>, tensor<25xi32>, tensor<?x40xi32>
}
