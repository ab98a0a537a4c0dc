// Where PyTorch raises because of values, the call fails with what is wrong.
// RUN: not rs-run %s --no-cache --inputs=%S/Inputs/raises_zero.safetensors 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not rs-run %s --no-cache --inputs=%S/Inputs/raises_class.safetensors 2>&1 | FileCheck %s --check-prefix=CLASS
// RUN: not rs-run %s --no-cache --inputs=%S/Inputs/raises_empty.safetensors 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not rs-run %s --no-cache --inputs=%S/Inputs/raises_nan.safetensors 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: rs-run %s --no-cache --inputs=%S/Inputs/raises_nothing.safetensors | FileCheck %s
// ZERO: ZeroDivisionError: a whole number is divided by zero
// CLASS: one_hot: a class is negative, or not below num_classes = 3
// EMPTY: the extremum of no elements: a reduced dimension has size 0
// NAN: linalg.eigh: the algorithm does not converge because the input is not finite
// CHECK: output out0: i64[2] = [2, -3]

func.func @main(%x: tensor<2xi64> {capture.kind = "input", capture.name = "x"},
                %y: tensor<2xi64> {capture.kind = "input", capture.name = "y"},
                %class: tensor<2xi64> {capture.kind = "input", capture.name = "class"},
                %some: tensor<?xf32> {capture.kind = "input", capture.name = "some"},
                %matrix: tensor<2x2xf32> {capture.kind = "input", capture.name = "matrix"})
    -> (tensor<2xi64> {capture.kind = "output"}, tensor<2x3xi64> {capture.kind = "output"},
        tensor<f32> {capture.kind = "output"}, tensor<2xf32> {capture.kind = "output"})
    attributes {capture.entry} {
  %n = capture.dim %some {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 64 : i64} : (tensor<?xf32>) -> index
  %0 = aten.floor_divide %x, %y : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %1 = aten.one_hot %class {num_classes = 3 : i64} : (tensor<2xi64>) -> tensor<2x3xi64>
  %2 = aten.max %some : (tensor<?xf32>) -> tensor<f32>
  %3:2 = aten._linalg_eigh %matrix : (tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2x2xf32>)
  return %0, %1, %2, %3#0 : tensor<2xi64>, tensor<2x3xi64>, tensor<f32>, tensor<2xf32>
}
