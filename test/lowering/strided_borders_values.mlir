// Every second element of what is padded: lanes beyond an end touch nothing and are zero, as they are one by one.
// RUN: rs-run %s > %t.fast
// RUN: rs-run %s --skip schedule-cpu > %t.plain && diff %t.fast %t.plain
// RUN: rs-compile %s --cpu=x86-64-v4 --emit=mlir --to=cpu -o - | FileCheck %s
// CHECK-LABEL: func.func private @k0(
// CHECK: llvm.intr.masked.load {{.*}}vector<16x
func.func @main(%x: tensor<5x7x41xf32> {capture.kind = "input", capture.name = "x"}, %h: tensor<5x7x41xi16> {capture.kind = "input", capture.name = "h"})
    -> (tensor<5x7x23xf32> {capture.kind = "output"}, tensor<5x7x23xi16> {capture.kind = "output"}) attributes {capture.entry} {
  %zero = prim.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
  %none = prim.constant {value = dense<0> : tensor<i16>} : tensor<i16>
  %0 = prim.pad %x, %zero {high = array<i64: 0, 0, 2>, interior = array<i64: 0, 0, 0>, low = array<i64: 0, 0, 3>} : (tensor<5x7x41xf32>, tensor<f32>) -> tensor<5x7x46xf32>
  %1 = prim.slice %0 {offsets = array<i64: 0, 0, 1>, sizes = array<i64: 5, 7, 23>, strides = array<i64: 1, 1, 2>} : (tensor<5x7x46xf32>) -> tensor<5x7x23xf32>
  %2 = prim.neg %1 : tensor<5x7x23xf32>
  %3 = prim.pad %h, %none {high = array<i64: 0, 0, 2>, interior = array<i64: 0, 0, 0>, low = array<i64: 0, 0, 3>} : (tensor<5x7x41xi16>, tensor<i16>) -> tensor<5x7x46xi16>
  %4 = prim.slice %3 {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 5, 7, 23>, strides = array<i64: 1, 1, 2>} : (tensor<5x7x46xi16>) -> tensor<5x7x23xi16>
  %5 = prim.neg %4 : tensor<5x7x23xi16>
  return %2, %5 : tensor<5x7x23xf32>, tensor<5x7x23xi16>
}
