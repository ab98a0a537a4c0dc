// A program that came as text has weights without data; whoever runs it says where they are.
// RUN: not rs-run --no-cache %s --inputs %S/Inputs/weights_given.safetensors 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: weight `linear.weight` is not in a file; say in which one (--weights)
// RUN: rs-run --no-cache %s --weights %S/Inputs/weights_given.weights.safetensors --expect %S/Inputs/weights_given.safetensors | FileCheck %s --check-prefix=GOOD
// GOOD: as expected
// RUN: not rs-run --no-cache %s --weights %s --inputs %S/Inputs/weights_given.safetensors 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: neither a readable zip archive nor safetensors
func.func @main(%x: tensor<?x3xf32> {capture.kind = "input", capture.name = "x"},
                %w: tensor<2x3xf32> {capture.kind = "parameter", capture.name = "linear.weight"})
    -> (tensor<?x2xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.t %w : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = aten.mm %x, %0 : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}
