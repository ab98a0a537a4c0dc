// RUN: rs-opt %s --guard-indices --cse --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --guard-indices --guard-indices --cse --split-input-file | rs-filecheck %s

// Two caches that are written at one place: all of its numbers are checked before the first of them is written.
// CHECK-LABEL: func.func @caches(
// CHECK-SAME: %[[AT:[a-z0-9]*]]: tensor<2xi64>
// CHECK: %[[LEAST:.*]] = prim.ge %[[AT]]
// CHECK: %[[MOST:.*]] = prim.le %[[AT]]
// CHECK: %[[INSIDE:.*]] = prim.and %[[LEAST]], %[[MOST]]
// CHECK: %[[ALL:.*]] = prim.reduce %[[INSIDE]] {{.*}}kind = "and"
// CHECK: %[[HOLDS:.*]] = prim.item %[[ALL]]
// CHECK: capture.guard %[[HOLDS]] {text = "index out of bounds: dimension 0 has 8 elements
// CHECK: %[[LEFT:.*]] = prim.maximum %[[AT]]
// CHECK: %[[CLAMPED:.*]] = prim.minimum %[[LEFT]]
// CHECK: prim.scatter %{{.*}}, %{{.*}}, %[[CLAMPED]] {dims = array<i64: 0>, in_bounds, kind = "set"}
// CHECK-NOT: prim.reduce
// CHECK: prim.scatter %{{.*}}, %{{.*}}, %[[CLAMPED]] {{.*}} in_bounds
func.func @caches(%k: tensor<8x4xf32> {capture.kind = "buffer", capture.name = "k"}, %v: tensor<8x4xf32> {capture.kind = "buffer", capture.name = "v"}, %at: tensor<2xi64>, %rows: tensor<2x4xf32>)
    -> (tensor<8x4xf32> {capture.kind = "mutation", capture.name = "k"}, tensor<8x4xf32> {capture.kind = "mutation", capture.name = "v"}) {
  %0 = prim.scatter %k, %rows, %at {dims = array<i64: 0>, kind = "set"} : (tensor<8x4xf32>, tensor<2x4xf32>, tensor<2xi64>) -> tensor<8x4xf32>
  %1 = prim.scatter %v, %rows, %at {dims = array<i64: 0>, kind = "set"} : (tensor<8x4xf32>, tensor<2x4xf32>, tensor<2xi64>) -> tensor<8x4xf32>
  return %0, %1 : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// Each index has a guard of its own.
// CHECK-LABEL: func.func @pairs(
// CHECK: capture.guard {{.*}} dimension 0 has 8 elements
// CHECK: capture.guard {{.*}} dimension 1 has 4 elements
// CHECK: prim.scatter {{.*}} in_bounds
func.func @pairs(%x: tensor<8x4xf32>, %row: tensor<3xi64>, %col: tensor<3xi32>, %new: tensor<3xf32>) -> tensor<32xf32> {
  %0 = prim.scatter %x, %new, %row, %col {dims = array<i64: 0, 1>, kind = "add"} : (tensor<8x4xf32>, tensor<3xf32>, tensor<3xi64>, tensor<3xi32>) -> tensor<8x4xf32>
  %1 = prim.reshape %0 : (tensor<8x4xf32>) -> tensor<32xf32>
  return %1 : tensor<32xf32>
}

// -----

// What is computed has no old value, and its kernel checks as it writes.
// CHECK-LABEL: func.func @computed(
// CHECK-NOT: capture.guard
// CHECK-NOT: in_bounds
func.func @computed(%x: tensor<8xf32>, %at: tensor<1xi64>, %new: tensor<1xf32>) -> tensor<8xf32> {
  %0 = prim.sin %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = prim.scatter %0, %new, %at {dims = array<i64: 0>, kind = "set"} : (tensor<8xf32>, tensor<1xf32>, tensor<1xi64>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// The new value stays inside of the program.
// CHECK-LABEL: func.func @inside(
// CHECK-NOT: capture.guard
func.func @inside(%x: tensor<8xf32>, %at: tensor<1xi64>, %new: tensor<1xf32>) -> tensor<8xf32> {
  %0 = prim.scatter %x, %new, %at {dims = array<i64: 0>, kind = "set"} : (tensor<8xf32>, tensor<1xf32>, tensor<1xi64>) -> tensor<8xf32>
  %1 = prim.sin %0 : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// There are more indices than elements that a copy has.
// CHECK-LABEL: func.func @many(
// CHECK-NOT: capture.guard
func.func @many(%x: tensor<8xf32>, %at: tensor<9xi64>, %new: tensor<9xf32>) -> tensor<8xf32> {
  %0 = prim.scatter %x, %new, %at {dims = array<i64: 0>, kind = "add"} : (tensor<8xf32>, tensor<9xf32>, tensor<9xi64>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Nothing of unknown size is written in place.
// CHECK-LABEL: func.func @sizes(
// CHECK-NOT: capture.guard
func.func @sizes(%x: tensor<?xf32>, %at: tensor<1xi64>, %new: tensor<1xf32>) -> tensor<?xf32> {
  %0 = prim.scatter %x, %new, %at {dims = array<i64: 0>, kind = "set"} : (tensor<?xf32>, tensor<1xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// A plain output of a program is no new value: nothing is written in place for it.
// CHECK-LABEL: func.func @output(
// CHECK-NOT: capture.guard
// CHECK: return
func.func @output(%x: tensor<8x4xf32>, %at: tensor<2xi64>, %rows: tensor<2x4xf32>)
    -> (tensor<8x4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.scatter %x, %rows, %at {dims = array<i64: 0>, kind = "set"} : (tensor<8x4xf32>, tensor<2x4xf32>, tensor<2xi64>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// A cache that lies in memory in another order.
// CHECK-LABEL: func.func @permuted(
// CHECK: capture.guard {{.*}} dimension 1 has 8 elements
// CHECK: prim.scatter {{.*}} in_bounds
func.func @permuted(%k: tensor<8x4xf32> {capture.dim_order = array<i64: 1, 0>, capture.kind = "buffer", capture.name = "k"}, %at: tensor<2xi64>, %rows: tensor<2x4xf32>)
    -> (tensor<8x4xf32> {capture.dim_order = array<i64: 1, 0>, capture.kind = "mutation", capture.name = "k"}) attributes {capture.entry} {
  %0 = capture.permute %k {perm = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %1 = prim.scatter %0, %rows, %at {dims = array<i64: 1>, kind = "set"} : (tensor<4x8xf32>, tensor<2x4xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  %2 = capture.permute %1 {perm = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}
