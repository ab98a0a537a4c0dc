// A program of equal layers is compiled layer by layer: one layer's passes run, and after an edit those of the edited one alone.
// RUN: rm -rf %t.cache && mkdir -p %t.cache
// RUN: sed -e 's/EDIT/3.0/' %s > %t.first.mlir
// RUN: sed -e 's/EDIT/5.0/' %s > %t.second.mlir
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-compile %t.first.mlir --explain-cache -o %t.strata 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-cache stat | FileCheck %s --check-prefix=CODE
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-compile %t.second.mlir --explain-cache -o %t.strata 2>&1 | FileCheck %s --check-prefix=SECOND
// RUN: env STRATA_CACHE_SIZE=1G STRATA_CACHE_DIR=%t.cache rs-cache stat | FileCheck %s --check-prefix=EDITED
// RUN: rs-run %t.first.mlir --no-cache > %t.one
// RUN: rs-run %t.first.mlir --no-cache --skip outline-regions > %t.flat
// RUN: rs-opt %t.first.mlir --check-semantics --from=capture --to=prim | FileCheck %s --check-prefix=SAME
// RUN: diff %t.one %t.flat


// FIRST: computed @layers.0
// FIRST-NEXT: computed @layers.2
// FIRST-NEXT: computed program object (new)
// FIRST-NEXT: computed @k0 object (new)
// FIRST-NEXT: computed program image (new)
// FIRST-NEXT: 5 computed, 0 from disk, 0 from memory
// SECOND: disk @layers.0
// SECOND-NEXT: computed @layers.2
// SECOND-NEXT: disk program object (new)
// SECOND-NEXT: computed @k0 object (new)
// SECOND-NEXT: computed program image (new)
// SECOND-NEXT: 3 computed, 2 from disk, 0 from memory
// The kernel is another, the program around it is not.
// CODE: object 2 entries
// EDITED: object 3 entries
// SAME: checked {{[0-9]+}} of {{[0-9]+}} passes
func.func @main(%x: tensor<3x4xf32> {capture.kind = "input", capture.name = "x"}, %v: tensor<3x4xf32> {capture.kind = "input", capture.name = "v"})
    -> (tensor<3x4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %m0 = aten.mul.Tensor %x, %v : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("mul_0"("layers.0.inner"(unknown)))
  %n0 = aten.mul.Scalar %m0 {other = 2.0 : f64} : tensor<3x4xf32> loc("scale_0"("layers.0.inner"(unknown)))
  %s0 = aten.sigmoid %n0 : tensor<3x4xf32> loc("sigmoid_0"("layers.0"(unknown)))
  %a0 = aten.add.Tensor %s0, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("add_0"("layers.0"(unknown)))
  %m1 = aten.mul.Tensor %a0, %x : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("mul_1"("layers.1.inner"(unknown)))
  %n1 = aten.mul.Scalar %m1 {other = 2.0 : f64} : tensor<3x4xf32> loc("scale_1"("layers.1.inner"(unknown)))
  %s1 = aten.sigmoid %n1 : tensor<3x4xf32> loc("sigmoid_1"("layers.1"(unknown)))
  %a1 = aten.add.Tensor %s1, %a0 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("add_1"("layers.1"(unknown)))
  %m2 = aten.mul.Tensor %a1, %v : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("mul_2"("layers.2.inner"(unknown)))
  %n2 = aten.mul.Scalar %m2 {other = EDIT : f64} : tensor<3x4xf32> loc("scale_2"("layers.2.inner"(unknown)))
  %s2 = aten.sigmoid %n2 : tensor<3x4xf32> loc("sigmoid_2"("layers.2"(unknown)))
  %a2 = aten.add.Tensor %s2, %a1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("add_2"("layers.2"(unknown)))
  return %a2 : tensor<3x4xf32>
}
