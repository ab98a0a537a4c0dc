// Sizes that only a call knows are checked: no element is read that is not there.
// RUN: not rs-run %s --no-cache --inputs=%S/Inputs/guard_sizes_differ.safetensors 2>&1 | FileCheck %s --check-prefix=DIFFER
// RUN: not rs-run %s --no-cache --inputs=%S/Inputs/guard_sizes_short.safetensors 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not rs-run %s --no-cache --backend=cuda-emulated --inputs=%S/Inputs/guard_sizes_short.safetensors 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: rs-run %s --no-cache --inputs=%S/Inputs/guard_sizes_fit.safetensors | FileCheck %s
// DIFFER: prim.add: the sizes 5 and 3 must be equal (from {{.*}}guard_sizes.mlir:17
// SHORT: index 2 is out of bounds for a dimension of size 1
// CHECK: output out0: f32[3] = [0e0, 2e0, 4e0]
// CHECK: output out1: f32[2] = [5e0, 6e0]

func.func @main(%x: tensor<?xf32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<?xf32> {capture.kind = "input", capture.name = "y"},
                %rows: tensor<?x2xf32> {capture.kind = "input", capture.name = "rows"})
    -> (tensor<?xf32> {capture.kind = "output"}, tensor<2xf32> {capture.kind = "output"})
    attributes {capture.entry} {

  %0 = aten.add.Tensor %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = aten.select.int %rows {dim = 0 : i64, index = 2 : i64} : (tensor<?x2xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<?xf32>, tensor<2xf32>
}
