// What runs one element at a time is told with its kernel, its place and the reason; kernels of less than 0.1 ms are not worth a word.
// RUN: rs-compile %s --explain-slow --skip expand-complex -o %t.strata 2>&1 | FileCheck %s
// RUN: not rs-compile %s --explain-slow --target=cuda:sm_90 --emit=ptx 2>&1 | FileCheck %s --check-prefix=CUDA
// CHECK-DAG: explain_slow.mlir:[[#@LINE+13]]:{{.*}}: kernel k{{[0-9]+}} ({{[0-9]+}} us): scalar: its arithmetic of complex numbers is not that of their parts
// CHECK-DAG: explain_slow.mlir:[[#@LINE+14]]:{{.*}}: kernel k{{[0-9]+}} ({{[0-9]+}} us): scalar: a scatter writes in the order of its points
// CHECK-DAG: explain_slow.mlir:[[#@LINE+14]]:{{.*}}: kernel k{{[0-9]+}} ({{[0-9]+}} us): scalar: it loads each element from a computed place
// Rows from computed places are vectors.
// CHECK-NOT: explain_slow.mlir
// CUDA: rs-compile: --explain-slow is about kernels of the CPU
func.func @main(%z: tensor<400000xcomplex<f32>> {capture.kind = "input", capture.name = "z"},
                %x: tensor<900000xf32> {capture.kind = "input", capture.name = "x"},
                %i: tensor<600000xi64> {capture.kind = "input", capture.name = "i"},
                %t: tensor<200000x64xf32> {capture.kind = "input", capture.name = "t"})
    -> (tensor<400000xcomplex<f32>> {capture.kind = "output"}, tensor<900000xf32> {capture.kind = "output"},
        tensor<600000xf32> {capture.kind = "output"}, tensor<600000x64xf32> {capture.kind = "output"},
        tensor<900000xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.mul %z, %z : tensor<400000xcomplex<f32>>
  %1 = prim.slice %x {offsets = array<i64: 0>, sizes = array<i64: 600000>, strides = array<i64: 1>} : (tensor<900000xf32>) -> tensor<600000xf32>
  %2 = prim.scatter %x, %1, %i {dims = array<i64: 0>, kind = "add"} : (tensor<900000xf32>, tensor<600000xf32>, tensor<600000xi64>) -> tensor<900000xf32>
  %3 = prim.gather %x, %i {dims = array<i64: 0>} : (tensor<900000xf32>, tensor<600000xi64>) -> tensor<600000xf32>
  %4 = prim.gather %t, %i {dims = array<i64: 0>} : (tensor<200000x64xf32>, tensor<600000xi64>) -> tensor<600000x64xf32>
  %5 = prim.neg %x : tensor<900000xf32>
  return %0, %2, %3, %4, %5 : tensor<400000xcomplex<f32>>, tensor<900000xf32>, tensor<600000xf32>, tensor<600000x64xf32>, tensor<900000xf32>
}
