// RUN: rs-opt %s --prim-to-loop --loop-to-host --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --verify-level=level=prim --split-input-file

// What a kernel computes for an output is written there at once; ranges are guards.
// CHECK-LABEL: func.func @main() attributes {host.entry}
// CHECK: %[[X:.*]] = host.input {index = 0 : i64} : memref<?xf32>
// CHECK: %[[N:.*]] = host.input_size {dim = 0 : i64, index = 0 : i64} : index
// CHECK: host.guard {{.*}} {text = "s0 = {0} must be at most {1} (size of dimension 0)"}
// CHECK: %[[OUT:.*]] = host.output %[[N]] {index = 0 : i64} : (index) -> memref<?xf32>
// CHECK: host.launch {{.*}}%[[OUT]] {callee = @k0, outputs = 1 : i64}
// CHECK-NOT: host.copy
// CHECK: host.return
func.func @main(%x: tensor<?xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<?xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %s = capture.dim %x {dim = 0 : i64, symbol = "s0", min = 0 : i64, max = 64 : i64} : (tensor<?xf32>) -> index
  %0 = prim.exp %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// An input that is returned is copied; a value returned twice is computed once.
// CHECK-LABEL: func.func @main() attributes {host.entry}
// CHECK: host.launch
// CHECK-NOT: host.launch
// CHECK-COUNT-2: host.copy
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) attributes {capture.entry} {
  %0 = prim.exp %x : tensor<4xf32>
  return %0, %0, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A loop's tensors live in slots; the body's result is copied back into them.
// CHECK-LABEL: func.func @main() attributes {host.entry}
// CHECK: %[[SLOT:.*]] = host.alloc
// CHECK: host.copy %{{.*}}, %[[SLOT]]
// CHECK: scf.for
// CHECK: host.launch %[[SLOT]], %[[NEW:.*]] {callee = @k0, outputs = 1 : i64}
// CHECK: host.copy %[[NEW]], %[[SLOT]]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {capture.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %0 = scf.for %i = %c0 to %c5 step %c1 iter_args(%h = %x) -> (tensor<4xf32>) {
    %1 = prim.exp %h : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// A library function gets the element type, the buffers, the size of the batch, the sizes of its signature, its options. It writes where the
// output is.
// CHECK-LABEL: func.func @main() attributes {host.entry}
// CHECK: %[[A:.*]] = host.input {index = 0 : i64}
// CHECK: %[[B:.*]] = host.input {index = 1 : i64}
// CHECK: %[[X:.*]] = host.output
// CHECK-NOT: host.copy
// CHECK: host.extern %{{.*}}, %[[A]], %[[B]], %[[X]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} {extents = #{{.*}}, name = "strata_lib_triangular_solve"}
func.func @main(%a: tensor<2x4x4xf32>, %b: tensor<2x4x3xf32>) -> tensor<2x4x3xf32> attributes {capture.entry} {
  %0 = prim.library %a, %b {function = "triangular_solve", options = ["upper"]} : (tensor<2x4x4xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// -----

// Vectors that nobody needs are not computed: the last argument of the call has the bit of the option `values`.
// CHECK-LABEL: func.func @main() attributes {host.entry}
// CHECK: %[[F32:.*]] = arith.constant 1 : i32
// CHECK: %[[VALUES:.*]] = arith.constant 1 : i32
// CHECK-NEXT: host.extern %[[F32]], %{{.*}}, %[[VALUES]] {extents = #{{.*}}, name = "strata_lib_eigh"}
func.func @main(%a: tensor<4x4xf32>) -> tensor<4xf32> attributes {capture.entry} {
  %0:2 = prim.library %a {function = "eigh", options = []} : (tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>)
  return %0#0 : tensor<4xf32>
}

// -----

// A guard's details reach its message.
// CHECK-LABEL: func.func @main() attributes {host.entry}
// CHECK: host.guard %{{.*}}, %{{.*}} {text = "{0} is odd"}
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> attributes {capture.entry} {
  %s = capture.dim %x {dim = 0 : i64, symbol = "s0", min = 0 : i64, max = 64 : i64} : (tensor<?xf32>) -> index
  %two = arith.constant 2 : index
  %zero = arith.constant 0 : index
  %rest = arith.remsi %s, %two : index
  %even = arith.cmpi eq, %rest, %zero : index
  capture.guard %even, %s {text = "{0} is odd"} : (i1, index) -> ()
  return %x : tensor<?xf32>
}

// -----

// Sizes from data are checked where they are made: products where they are computed, and the sizes of each tensor. A kernel runs where
// there is something to compute.
// CHECK-LABEL: func.func @main() attributes {host.entry}
// CHECK: %[[N:.*]] = arith.index_cast
// CHECK: %[[M:.*]] = host.product %[[N]], %{{.*}} {text = "the product of the sizes [{0}, 3] is too large (in `arith.muli`, from {{.*}})"}
// CHECK: %[[ROWS:.*]] = host.product %[[N]], %[[M]] {text = "the product of the sizes [{0}, {1}] is too large (in `k0`, from {{.*}})"}
// CHECK: %[[FLAT:.*]] = host.product %[[ROWS]], %{{.*}} {text = "the product of the sizes [{0}, 4] is too large (in `k0`, from {{.*}})"}
// CHECK: %[[ALL:.*]] = host.elements %[[FLAT]] {bytes = 4 : i64, text = "no tensor of elements of 4 bytes has the sizes [{0}] (in `k0`, from {{.*}})"}
// CHECK: host.alloc %[[ALL]]
// CHECK: %[[ANY:.*]] = arith.cmpi ne, %[[ALL]], %{{.*}} : index
// CHECK: scf.if %[[ANY]] {
// CHECK-NEXT: host.launch
// CHECK: host.elements %[[N]], %[[M]], %{{.*}} {bytes = 4 : i64, text = "no tensor of elements of 4 bytes has the sizes [{0}, 4, {1}] (in `func.return`, from {{.*}})"}
// CHECK: host.output
func.func @main(%x: tensor<i64>) -> tensor<?x4x?xf32> attributes {capture.entry} {
  %i = prim.item %x : (tensor<i64>) -> i64
  %n = arith.index_cast %i : i64 to index
  %three = arith.constant 3 : index
  %m = arith.muli %n, %three : index
  %one = prim.constant {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = prim.broadcast %one, %n, %m {dims = array<i64>} : (tensor<f32>, index, index) -> tensor<?x4x?xf32>
  %1 = prim.exp %0 : tensor<?x4x?xf32>
  return %1 : tensor<?x4x?xf32>
}

// -----

// A view has as many elements as its tensor, which is checked where it does not show.
// CHECK-LABEL: func.func @main() attributes {host.entry}
// CHECK-NOT: host.guard
// CHECK: %[[ALL:.*]] = host.elements %{{.*}}, %{{.*}} {bytes = 1 : i64
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %{{.*}}, %[[ALL]] : index
// CHECK: host.guard %[[SAME]], %{{.*}}, %{{.*}} {text = "a tensor of {0} elements cannot have the sizes [{1}, 2] (in `prim.reshape`, from {{.*}})"}
// CHECK-NOT: host.guard
func.func @main(%x: tensor<?x6xf32>, %n: index) -> (tensor<?x2xf32>, tensor<2x?x3xf32>) attributes {capture.entry} {
  %d = prim.dim %x {dim = 0 : i64} : (tensor<?x6xf32>) -> index
  %0 = prim.reshape %x, %d : (tensor<?x6xf32>, index) -> tensor<2x?x3xf32>
  %1 = prim.reshape %x, %n : (tensor<?x6xf32>, index) -> tensor<?x2xf32>
  return %1, %0 : tensor<?x2xf32>, tensor<2x?x3xf32>
}
