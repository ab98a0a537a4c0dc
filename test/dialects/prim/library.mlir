// RUN: rs-opt %s --split-input-file --verify-diagnostics | rs-filecheck %s

// Element types and sizes are those of the signature; leading dimensions are a batch.
// CHECK-LABEL: func.func @lu
// CHECK: prim.library %{{.*}} {function = "lu", options = []}
func.func @lu(%x: tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2x3xi64>, tensor<2xi32>) {
  %f, %p, %o, %i = prim.library %x {function = "lu", options = []} : (tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2x3xi64>, tensor<2xi32>)
  return %f, %p, %o, %i : tensor<2x4x3xf32>, tensor<2x3xi32>, tensor<2x3xi64>, tensor<2xi32>
}

// -----

// A size that only results have is an operand when no type tells it.
// CHECK-LABEL: func.func @rfft
func.func @rfft(%x: tensor<?xf32>, %k: index) -> tensor<?xcomplex<f32>> {
  %0 = prim.library %x, %k {function = "rfft", options = []} : (tensor<?xf32>, index) -> tensor<?xcomplex<f32>>
  return %0 : tensor<?xcomplex<f32>>
}

// -----

func.func @library_c1(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @+1 {{C1: the library has no function `jordan`}}
  %0 = prim.library %x {function = "jordan", options = []} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @library_c1_option(%a: tensor<4x4xf32>, %b: tensor<4x1xf32>) -> tensor<4x1xf32> {
  // expected-error @+1 {{C1: `triangular_solve` has the options unit, upper, turned}}
  %0 = prim.library %a, %b {function = "triangular_solve", options = ["lower"]} : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// -----

func.func @library_c3(%x: tensor<4x4xcomplex<f32>>) -> (tensor<4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) {
  // expected-error @+1 {{C3: tensor<4xcomplex<f32>> does not fit in T(n,n) -> R(n) T(n,n)}}
  %w, %v = prim.library %x {function = "eigh", options = []} : (tensor<4x4xcomplex<f32>>) -> (tensor<4xcomplex<f32>>, tensor<4x4xcomplex<f32>>)
  return %w, %v : tensor<4xcomplex<f32>>, tensor<4x4xcomplex<f32>>
}

// -----

func.func @library_c4(%x: tensor<4x3xf32>) -> (tensor<4x4xf32>, tensor<i32>) {
  // expected-error @+1 {{C4: n is 4 and 3}}
  %l, %i = prim.library %x {function = "cholesky", options = []} : (tensor<4x3xf32>) -> (tensor<4x4xf32>, tensor<i32>)
  return %l, %i : tensor<4x4xf32>, tensor<i32>
}

// -----

func.func @library_c2(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{C2: 1 tensors give 1 for `cholesky`: T(n,n) -> T(n,n) I()}}
  %l = prim.library %x {function = "cholesky", options = []} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @library_c2_size(%x: tensor<?xf32>) {
  // expected-error @+1 {{C2: 0 index operands for 1 unknown sizes}}
  %0 = prim.library %x {function = "rfft", options = []} : (tensor<?xf32>) -> tensor<?xcomplex<f32>>
  return
}

// -----

func.func @library_c4_batch(%x: tensor<2x4x4xf32>) {
  // expected-error @+1 {{C4: the batches [2] and [3] differ}}
  %l, %i = prim.library %x {function = "cholesky", options = []} : (tensor<2x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<2xi32>)
  return
}

// -----

func.func @library_c3_mask(%x: tensor<8xi8>) -> tensor<3xi64> {
  // expected-error @+1 {{C3: `true_positions` of tensor<8xi8>}}
  %0 = prim.library %x {function = "true_positions", options = []} : (tensor<8xi8>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}
