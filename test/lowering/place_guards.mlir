// A place in a dimension of symbolic size is a guard, as made-up sizes of 4 show. The number of a loop's step needs none.
// RUN: rs-run --no-cache %s | FileCheck %s
// RUN: sed 's/index = 3/index = 4/' %s > %t.select.mlir && not rs-run --no-cache %t.select.mlir 2>&1 | FileCheck %s --check-prefix=SELECT
// RUN: sed 's/start = 1/start = 2/' %s > %t.narrow.mlir && not rs-run --no-cache %t.narrow.mlir 2>&1 | FileCheck %s --check-prefix=NARROW
// RUN: sed 's/index = -4/index = -5/' %s > %t.put.mlir && not rs-run --no-cache %t.put.mlir 2>&1 | FileCheck %s --check-prefix=PUT
// RUN: rs-opt %s --decompose-aten | FileCheck %s --check-prefix=LOOP
// CHECK: output out0: f32[] = [
// CHECK: output out1: f32[3] = [
// CHECK: output out2: f32[4] = [
// SELECT: index 4 is out of bounds for a dimension of size 4
// NARROW: start 2 and length 3 exceed a dimension of size 4
// PUT: index -5 is out of bounds for a dimension of size 4
// LOOP: scf.for
// LOOP-NOT: capture.guard
// LOOP: scf.yield

func.func @main(%x: tensor<?xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<f32> {capture.kind = "output"}, tensor<3xf32> {capture.kind = "output"}, tensor<?xf32> {capture.kind = "output"},
        tensor<f32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %x {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 1000000 : i64} : (tensor<?xf32>) -> index
  %0 = aten.select.int %x {dim = 0 : i64, index = 3 : i64} : (tensor<?xf32>) -> tensor<f32>
  %1 = aten.narrow %x {dim = 0 : i64, start = 1 : i64, length = 3 : i64} : (tensor<?xf32>) -> tensor<3xf32>
  %2 = aten.select_scatter %x, %0 {dim = 0 : i64, index = -4 : i64} : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %3 = scf.for %i = %zero to %n step %one iter_args(%sum = %0) -> tensor<f32> {
    %row = aten.select.int %x, %i {dim = 0 : i64, index = -9223372036854775808 : i64} : (tensor<?xf32>, index) -> tensor<f32>
    %next = aten.add.Tensor %sum, %row : (tensor<f32>, tensor<f32>) -> tensor<f32>
    scf.yield %next : tensor<f32>
  }
  return %0, %1, %2, %3 : tensor<f32>, tensor<3xf32>, tensor<?xf32>, tensor<f32>
}
