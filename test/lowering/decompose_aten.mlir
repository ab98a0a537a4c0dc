// RUN: rs-opt %s --decompose-aten --split-input-file | rs-filecheck %s

// Types promote first, then shapes broadcast: an i64 tensor beside an f32 one.

// CHECK-LABEL: func.func @promote(
// CHECK: %[[Y:.*]] = prim.convert %arg1 : (tensor<3xi64>) -> tensor<3xf32>
// CHECK: %[[WIDE:.*]] = prim.broadcast %[[Y]] {dims = array<i64: 1>} : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK: prim.add %arg0, %[[WIDE]] : tensor<2x3xf32>
func.func @promote(%x: tensor<2x3xf32>, %y: tensor<3xi64>) -> tensor<2x3xf32> {
  %0 = aten.add.Tensor %x, %y : (tensor<2x3xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// Halves are computed with in f32 and rounded once.

// CHECK-LABEL: func.func @half(
// CHECK: prim.convert %arg0 : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK: prim.exp
// CHECK: %[[Y:.*]] = prim.convert {{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK: return %[[Y]]
func.func @half(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = aten.sigmoid %x : tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

// A size that is not known is read where its tensor is defined, and computed with.

// CHECK-LABEL: func.func @sizes(
// CHECK: %[[N:.*]] = prim.dim %arg0 {dim = 0 : i64}
// CHECK: %[[FOUR:.*]] = arith.constant 4 : index
// CHECK: %[[TOTAL:.*]] = arith.muli
// CHECK: prim.reshape %arg0, %[[TOTAL]] : (tensor<?x4xf32>, index) -> tensor<?xf32>
func.func @sizes(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  %0 = aten.flatten.using_ints %x : (tensor<?x4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Ops inside of regions are decomposed too, and what nobody uses is removed.

// CHECK-LABEL: func.func @regions(
// CHECK-NOT: aten.
// CHECK: scf.if
// CHECK-NEXT: prim.neg
// CHECK-NEXT: scf.yield
// CHECK-NOT: prim.sin
func.func @regions(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %unused = aten.sin %x : tensor<4xf32>
  %0 = scf.if %c -> tensor<4xf32> {
    %1 = aten.neg %x : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// PyTorch's error about the values is a guard; the factors are read by ordinary operators.
// CHECK-LABEL: func.func @inverse
// CHECK: %[[LU:.*]]:4 = prim.library %{{.*}} {function = "lu", options = []}
// CHECK: %[[FACTORS:.*]] = prim.transpose %[[LU]]#0
// CHECK: prim.library %[[FACTORS]], %{{.*}} {function = "triangular_solve", options = ["unit"]}
// CHECK: prim.library %[[FACTORS]], %{{.*}} {function = "triangular_solve", options = ["upper"]}
// CHECK: capture.guard %{{.*}}, %{{.*}} {text = "linalg.inv: {{.*}}singular."}
func.func @inverse(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = aten.linalg_inv %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// A product with a vector of complex numbers is a sum of products, which reads the matrix once; one of matrices is four products of their parts.
// CHECK-LABEL: func.func @complex_vector
// CHECK-NOT: prim.dot
// CHECK: %[[PRODUCTS:.*]] = prim.mul %{{.*}}, %{{.*}} : tensor<3x1x4xcomplex<f32>>
// CHECK: prim.reduce %[[PRODUCTS]] {dims = array<i64: 2>, kind = "sum"}
// CHECK-LABEL: func.func @complex_matrix
// CHECK-COUNT-4: prim.dot {{.*}} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
func.func @complex_vector(%x: tensor<3x4xcomplex<f32>>, %y: tensor<4x1xcomplex<f32>>) -> tensor<3x1xcomplex<f32>> {
  %0 = aten.mm %x, %y : (tensor<3x4xcomplex<f32>>, tensor<4x1xcomplex<f32>>) -> tensor<3x1xcomplex<f32>>
  return %0 : tensor<3x1xcomplex<f32>>
}
func.func @complex_matrix(%x: tensor<3x4xcomplex<f32>>, %y: tensor<4x2xcomplex<f32>>) -> tensor<3x2xcomplex<f32>> {
  %0 = aten.mm %x, %y : (tensor<3x4xcomplex<f32>>, tensor<4x2xcomplex<f32>>) -> tensor<3x2xcomplex<f32>>
  return %0 : tensor<3x2xcomplex<f32>>
}

// -----

// Small integers are floats before neighbours are added where nobody knows how many there are.
// CHECK-LABEL: func.func @integral_of_unknown(
// CHECK: prim.convert %arg0 : (tensor<?xi8>) -> tensor<?xf32>
// CHECK: prim.add {{.*}} : tensor<?xf32>
func.func @integral_of_unknown(%x: tensor<?xi8>) -> tensor<f32> {
  %0 = aten.trapezoid.dx %x {dx = 5.000000e-01 : f64} : (tensor<?xi8>) -> tensor<f32>
  return %0 : tensor<f32>
}

// Dims of which one element is left have one mean.
// CHECK-LABEL: func.func @pooled_to_one(
// CHECK: prim.reduce %arg0 {dims = array<i64: 2, 4>, kind = "sum"} : (tensor<1x3x6x5x4xf32>) -> tensor<1x3x5xf32>
// CHECK-NOT: kind = "sum"
// CHECK: return
func.func @pooled_to_one(%x: tensor<1x3x6x5x4xf32>) -> tensor<1x3x1x5x1xf32> {
  %0 = aten.adaptive_avg_pool3d %x {output_size = array<i64: 1, 5, 1>} : (tensor<1x3x6x5x4xf32>) -> tensor<1x3x1x5x1xf32>
  return %0 : tensor<1x3x1x5x1xf32>
}
