// What PyTorch asks of the places of order statistics is a guard where sizes or places are known in the call only, as made-up sizes of 4 show.
// RUN: rs-run --no-cache %s | FileCheck %s
// RUN: sed 's/k = 4/k = 5/; s/tensor<4x/tensor<5x/g' %s > %t.topk.mlir && not rs-run --no-cache %t.topk.mlir 2>&1 | FileCheck %s --check-prefix=TOPK
// RUN: sed 's/0.5/1.5/' %s > %t.quantile.mlir && not rs-run --no-cache %t.quantile.mlir 2>&1 | FileCheck %s --check-prefix=QUANTILE
// RUN: rs-opt %s --check-semantics=sets=2 --to=host | FileCheck %s --check-prefix=CHECKED
// CHECK: output out0: f32[4] = [
// CHECK: output out1: f32[] =
// TOPK: the first 5 of 4 elements
// QUANTILE: quantiles are from 0 to 1
// CHECKED: checked [[N:[0-9]+]] of [[N]] passes
func.func @main(%x: tensor<?xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<4xf32> {capture.kind = "output"}, tensor<f32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %x {dim = 0 : i64, symbol = "n", min = 4 : i64, max = 1000000 : i64} : (tensor<?xf32>) -> index
  %0, %1 = aten.topk %x {k = 4 : i64} : (tensor<?xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  %2 = aten.quantile.scalar %x {q = 0.5 : f64} : (tensor<?xf32>) -> tensor<f32>
  return %0, %2 : tensor<4xf32>, tensor<f32>
}
