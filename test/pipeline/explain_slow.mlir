// What runs one element at a time is told with its kernel, its place and the reason; kernels of less than 0.1 ms are not worth a word.
// RUN: rs-compile %s --explain-slow -o %t.strata 2>&1 | FileCheck %s
// RUN: not rs-compile %s --explain-slow --target=cuda:sm_90 --emit=ptx 2>&1 | FileCheck %s --check-prefix=CUDA
// CHECK-DAG: explain_slow.mlir:[[#@LINE+9]]:{{.*}}: kernel k{{[0-9]+}} ({{[0-9]+}} us): scalar: complex numbers have no lanes
// CHECK-DAG: explain_slow.mlir:[[#@LINE+10]]:{{.*}}: kernel k{{[0-9]+}} ({{[0-9]+}} us): scalar: a scatter writes in the order of its points
// CHECK-NOT: explain_slow.mlir
// CUDA: rs-compile: --explain-slow is about kernels of the CPU
func.func @main(%z: tensor<400000xcomplex<f32>> {capture.kind = "input", capture.name = "z"},
                %x: tensor<300000xf32> {capture.kind = "input", capture.name = "x"},
                %i: tensor<200000xi64> {capture.kind = "input", capture.name = "i"})
    -> (tensor<400000xcomplex<f32>> {capture.kind = "output"}, tensor<300000xf32> {capture.kind = "output"},
        tensor<300000xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.mul %z, %z : tensor<400000xcomplex<f32>>
  %1 = prim.slice %x {offsets = array<i64: 0>, sizes = array<i64: 200000>, strides = array<i64: 1>} : (tensor<300000xf32>) -> tensor<200000xf32>
  %2 = prim.scatter %x, %1, %i {dims = array<i64: 0>, kind = "add"} : (tensor<300000xf32>, tensor<200000xf32>, tensor<200000xi64>) -> tensor<300000xf32>
  %3 = prim.neg %x : tensor<300000xf32>
  return %0, %2, %3 : tensor<400000xcomplex<f32>>, tensor<300000xf32>, tensor<300000xf32>
}
