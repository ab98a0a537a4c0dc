// RUN: rs-opt %s --prim-to-loop --schedule-cpu --loop-to-host --loop-to-cpu --split-input-file | rs-filecheck %s

// Whole vectors, then one masked remainder.
// CHECK-LABEL: func.func private @k0(
// CHECK: scf.for
// CHECK: llvm.load {{.*}} -> vector<16xf32>
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK: llvm.store {{.*}} : vector<16xf32>, !llvm.ptr
// CHECK: scf.for
// CHECK: %[[MASK:.*]] = arith.cmpi slt, {{.*}} : vector<16xi16>
// CHECK: llvm.intr.masked.load {{.*}}%[[MASK]]
// CHECK: llvm.intr.masked.store {{.*}}%[[MASK]]
// CHECK-LABEL: func.func @strata_entry(%{{.*}}: !llvm.ptr) -> i32
// CHECK: call @strata_output
// CHECK: call @k0
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> attributes {capture.entry} {
  %0 = prim.exp %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Bools are bytes in memory.
// CHECK-LABEL: func.func private @k0(
// CHECK: llvm.load {{.*}} -> vector<16xi8>
// CHECK: arith.cmpi ne, {{.*}} : vector<16xi8>
// CHECK: arith.xori {{.*}} : vector<16xi1>
// CHECK: arith.extui {{.*}} : vector<16xi1> to vector<16xi8>
func.func @main(%x: tensor<16xi1>) -> tensor<16xi1> attributes {capture.entry} {
  %0 = prim.not %x : tensor<16xi1>
  return %0 : tensor<16xi1>
}

// -----

// An index out of bounds reads nothing and becomes the call's status.
// CHECK: module attributes {host.messages = ["index out of bounds", "out of memory"]}
// CHECK-LABEL: func.func private @k0(
// CHECK: vector.reduction <or>
// CHECK-NEXT: scf.if
// CHECK: llvm.intr.masked.gather
func.func @main(%x: tensor<10xf32>, %i: tensor<32xi64>) -> tensor<32xf32> attributes {capture.entry} {
  %0 = prim.gather %x, %i {dims = array<i64: 0>} : (tensor<10xf32>, tensor<32xi64>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}

// -----

// Large kernels are split over the threads of the pool.
// CHECK-LABEL: func.func private @k0.task(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// CHECK: call @k0
// CHECK-LABEL: func.func @strata_entry
// CHECK: call @strata_parallel
func.func @main(%x: tensor<1000000xf32>) -> tensor<1000000xf32> attributes {capture.entry} {
  %0 = prim.exp %x : tensor<1000000xf32>
  return %0 : tensor<1000000xf32>
}

// -----

// Four rows side by side share steps from lanes to one number, and take one logarithm of their sums.
// CHECK-LABEL: func.func private @k0(
// CHECK-COUNT-4: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK: %[[SUMS:.*]] = vector.insert {{.*}} [3] : f32 into vector<4xf32>
// CHECK: %[[LOG:.*]] = math.log %[[SUMS]] : vector<4xf32>
// CHECK: vector.extract %[[LOG]][3] : f32 from vector<4xf32>
// CHECK-LABEL: func.func @strata_entry(
func.func @main(%x: tensor<64x43xf32>) -> tensor<64x43xf32> attributes {capture.entry} {
  %0 = prim.fusion %x : (tensor<64x43xf32>) -> tensor<64x43xf32> {
  ^bb0(%a: tensor<64x43xf32>):
    %s = prim.reduce %a {dims = array<i64: 1>, kind = "sum"} : (tensor<64x43xf32>) -> tensor<64xf32>
    %l = prim.log %s : tensor<64xf32>
    %b = prim.broadcast %l {dims = array<i64: 0>} : (tensor<64xf32>) -> tensor<64x43xf32>
    %r = prim.sub %a, %b : tensor<64x43xf32>
    prim.yield %r : tensor<64x43xf32>
  }
  return %0 : tensor<64x43xf32>
}
