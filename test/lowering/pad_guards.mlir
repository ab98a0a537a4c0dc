// What PyTorch asks of a padding of symbolic sizes is a guard, as made-up sizes of 4 and eager values show.
// RUN: rs-run --no-cache %s | FileCheck %s
// RUN: sed 's/3, 3>, mode = "reflect"/3, 4>, mode = "reflect"/' %s > %t.reflect.mlir && not rs-run --no-cache %t.reflect.mlir 2>&1 | FileCheck %s --check-prefix=REFLECT
// RUN: sed 's/4, 4>, mode = "circular"/5, 4>, mode = "circular"/' %s > %t.circular.mlir && not rs-run --no-cache %t.circular.mlir 2>&1 | FileCheck %s --check-prefix=CIRCULAR
// RUN: sed 's/9, 0>, mode = "replicate"/-2, -2>, mode = "replicate"/' %s > %t.replicate.mlir && not rs-run --no-cache %t.replicate.mlir 2>&1 | FileCheck %s --check-prefix=REPLICATE
// CHECK: output out0: f32[1, 10] = [
// CHECK: output out1: f32[1, 12] = [
// CHECK: output out2: f32[1, 13] = [
// REFLECT: reflection padding of 4 is not less than the dimension's size 4
// CIRCULAR: circular padding of 5 goes around a dimension of size 4 more than once
// REPLICATE: padding makes a dimension of size 4 one of size 0

func.func @main(%x: tensor<1x?xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<1x?xf32> {capture.kind = "output"}, tensor<1x?xf32> {capture.kind = "output"}, tensor<1x?xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %x {dim = 1 : i64, symbol = "n", min = 0 : i64, max = 1000000 : i64} : (tensor<1x?xf32>) -> index
  %0 = aten.pad %x {pad = array<i64: 3, 3>, mode = "reflect"} : (tensor<1x?xf32>) -> tensor<1x?xf32>
  %1 = aten.pad %x {pad = array<i64: 4, 4>, mode = "circular"} : (tensor<1x?xf32>) -> tensor<1x?xf32>
  %2 = aten.pad %x {pad = array<i64: 9, 0>, mode = "replicate"} : (tensor<1x?xf32>) -> tensor<1x?xf32>
  return %0, %1, %2 : tensor<1x?xf32>, tensor<1x?xf32>, tensor<1x?xf32>
}
