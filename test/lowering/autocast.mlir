// RUN: rs-opt %s --split-input-file --autocast | rs-filecheck %s
// RUN: rs-opt %s --split-input-file --autocast=dtype=f16 | rs-filecheck %s --check-prefix=F16

// Products are of halves, what follows goes on in these, and a loss is of f32. A weight that two products read is cast once.

// CHECK-LABEL: func.func @model(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x3xf32>, %[[W:[a-z0-9]+]]: tensor<3x3xf32>
// CHECK-SAME: -> (tensor<f32> {capture.kind = "output"}, tensor<2x3xbf16> {capture.kind = "output"})
// CHECK: %[[XH:.*]] = aten._to_copy %[[X]] {dtype = bf16} : (tensor<2x3xf32>) -> tensor<2x3xbf16>
// CHECK-NEXT: %[[WH:.*]] = aten._to_copy %[[W]] {dtype = bf16} : (tensor<3x3xf32>) -> tensor<3x3xbf16>
// CHECK-NEXT: %[[A:.*]] = aten.linear %[[XH]], %[[WH]] {{.*}} -> tensor<2x3xbf16>
// CHECK-NEXT: %[[B:.*]] = aten.relu %[[A]] : tensor<2x3xbf16>
// CHECK-NEXT: %[[C:.*]] = aten.mm %[[B]], %[[WH]] : (tensor<2x3xbf16>, tensor<3x3xbf16>) -> tensor<2x3xbf16>
// CHECK-NEXT: %[[S:.*]] = aten.add.Tensor %[[C]], %[[X]] {{.*}} -> tensor<2x3xf32>
// CHECK-NEXT: %[[CF:.*]] = aten._to_copy %[[C]] {dtype = f32} : (tensor<2x3xbf16>) -> tensor<2x3xf32>
// CHECK-NEXT: %{{.*}} = aten.mse_loss %[[CF]], %[[S]] {{.*}} -> tensor<f32>
// F16-LABEL: func.func @model(
// F16: aten.linear {{.*}} -> tensor<2x3xf16>
func.func @model(%x: tensor<2x3xf32>, %w: tensor<3x3xf32>) -> (tensor<f32> {capture.kind = "output"}, tensor<2x3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.linear %x, %w {segments = array<i64: 1, 1, 0>} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %1 = aten.relu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = aten.mm %1, %w : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %3 = aten.add.Tensor %2, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = aten.mse_loss %2, %3 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<f32>
  return %4, %2 : tensor<f32>, tensor<2x3xf32>
}

// -----

// What writes to its argument keeps the argument's type; floats of 64 bits, integers and complex numbers are not cast.

// CHECK-LABEL: func.func @kept(
// CHECK: aten.mm {{.*}} : tensor<3x3xbf16>
// CHECK-NEXT: %{{.*}} = aten.add_.Tensor {{.*}} (tensor<3x3xf32>, tensor<3x3xbf16>) -> tensor<3x3xf32>
// CHECK-NEXT: %{{.*}} = aten.mm {{.*}} : tensor<3x3xf64>
// CHECK-NEXT: %{{.*}} = aten.mm {{.*}} : tensor<3x3xcomplex<f32>>
func.func @kept(%x: tensor<3x3xf32>, %d: tensor<3x3xf64>, %c: tensor<3x3xcomplex<f32>>) -> (tensor<3x3xf32> {capture.kind = "output"}, tensor<3x3xf64> {capture.kind = "output"}, tensor<3x3xcomplex<f32>> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.mm %x, %x : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = aten.add_.Tensor %x, %0 : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = aten.mm %d, %d : (tensor<3x3xf64>, tensor<3x3xf64>) -> tensor<3x3xf64>
  %3 = aten.mm %c, %c : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> tensor<3x3xcomplex<f32>>
  return %1, %2, %3 : tensor<3x3xf32>, tensor<3x3xf64>, tensor<3x3xcomplex<f32>>
}

// -----

// `einsum` is a product of matrices where a letter is summed, and of elements otherwise; a concatenation is of the widest.

// CHECK-LABEL: func.func @products(
// CHECK: aten.einsum {{.*}} : tensor<3x3xbf16>
// CHECK: aten.einsum %[[X:[a-z0-9]+]], %[[X]] {{.*}} : tensor<3x3xf32>
// CHECK: aten.cat {{.*}} (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<6x3xf32>
func.func @products(%x: tensor<3x3xf32>) -> (tensor<3x3xf32> {capture.kind = "output"}, tensor<3x3xf32> {capture.kind = "output"}, tensor<6x3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.einsum %x, %x {equation = "ij,jk->ik", segments = array<i64: 2>} : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = aten.einsum %x, %x {equation = "ij,ij->ij", segments = array<i64: 2>} : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %2 = aten.cat %0, %x {segments = array<i64: 2>} : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<6x3xf32>
  return %0, %1, %2 : tensor<3x3xf32>, tensor<3x3xf32>, tensor<6x3xf32>
}

// -----

// A branch gives what is computed in it.

// CHECK-LABEL: func.func @branch(
// CHECK: scf.if {{.*}} -> (tensor<3x3xbf16>)
// CHECK: scf.yield {{.*}} : tensor<3x3xbf16>
func.func @branch(%x: tensor<3x3xf32>, %c: i1) -> (tensor<3x3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.mm %x, %x : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = scf.if %c -> (tensor<3x3xf32>) {
    %2 = aten.mm %x, %x : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    scf.yield %2 : tensor<3x3xf32>
  } else {
    %3 = aten.neg %0 : (tensor<3x3xf32>) -> tensor<3x3xf32>
    scf.yield %3 : tensor<3x3xf32>
  }
  return %1 : tensor<3x3xf32>
}

// -----

// A function that is no program is left alone.

// CHECK-LABEL: func.func @helper(
// CHECK-NEXT: %{{.*}} = aten.mm {{.*}} : tensor<3x3xf32>
func.func @helper(%x: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0 = aten.mm %x, %x : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}
