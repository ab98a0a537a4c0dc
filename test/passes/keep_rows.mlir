// RUN: rs-opt %s --prim-to-loop --keep-rows --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --prim-to-loop --keep-rows --schedule-cpu --split-input-file | rs-filecheck %s --check-prefix=SCHEDULED
// RUN: rs-opt %s --prim-to-loop --keep-rows=remarks --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY
// WHY: remark: a row is not read in the order of memory [keep-rows]

// The exponentials of a row are computed once.
// CHECK-LABEL: loop.kernel @k0
// CHECK: reducer = "max"
// CHECK: %[[E:.*]] = loop.stage %{{.*}} {domain = array<i64: 0, 3>, {{.*}}space = "tile"}
// CHECK: math.exp
// CHECK: %[[S:.*]] = loop.stage %[[E]] {{{.*}}reducer = "sum"
// CHECK-NOT: math.exp
// CHECK: loop.stage %[[S]], %[[E]]
// CHECK: arith.divf
// Lanes run along the row in every stage.
// SCHEDULED: loop.kernel @k0 {schedule = {order = array<i64: 0>}
// SCHEDULED: schedule = {unroll = 1 : i64, vector = 3 : i64, width = 16 : i64}, space = "tile"
func.func @softmax(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %r = prim.fusion %x : (tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  ^bb0(%a: tensor<64x1000xf32>):
    %0 = prim.reduce %a {dims = array<i64: 1>, kind = "max"} : (tensor<64x1000xf32>) -> tensor<64xf32>
    %1 = prim.broadcast %0 {dims = array<i64: 0>} : (tensor<64xf32>) -> tensor<64x1000xf32>
    %2 = prim.sub %a, %1 : tensor<64x1000xf32>
    %3 = prim.exp %2 : tensor<64x1000xf32>
    %4 = prim.reduce %3 {dims = array<i64: 1>, kind = "sum"} : (tensor<64x1000xf32>) -> tensor<64xf32>
    %5 = prim.broadcast %4 {dims = array<i64: 0>} : (tensor<64xf32>) -> tensor<64x1000xf32>
    %6 = prim.div %3, %5 : tensor<64x1000xf32>
    prim.yield %6 : tensor<64x1000xf32>
  }
  return %r : tensor<64x1000xf32>
}

// -----

// A difference is cheaper to compute again than to keep.
// CHECK-LABEL: loop.kernel @k0
// CHECK-NOT: "tile"
func.func @cheap(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %r = prim.fusion %x : (tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  ^bb0(%a: tensor<64x1000xf32>):
    %0 = prim.neg %a : tensor<64x1000xf32>
    %1 = prim.reduce %0 {dims = array<i64: 1>, kind = "sum"} : (tensor<64x1000xf32>) -> tensor<64xf32>
    %2 = prim.broadcast %1 {dims = array<i64: 0>} : (tensor<64xf32>) -> tensor<64x1000xf32>
    %3 = prim.sub %0, %2 : tensor<64x1000xf32>
    prim.yield %3 : tensor<64x1000xf32>
  }
  return %r : tensor<64x1000xf32>
}

// -----

// A row of unknown size has no tile, and columns are read across memory.
// CHECK-LABEL: loop.kernel @k0
// CHECK-NOT: "tile"
func.func @columns(%x: tensor<1000x64xf32>) -> tensor<1000x64xf32> {
  %r = prim.fusion %x : (tensor<1000x64xf32>) -> tensor<1000x64xf32> {
  ^bb0(%a: tensor<1000x64xf32>):
    %0 = prim.exp %a : tensor<1000x64xf32>
    %1 = prim.reduce %0 {dims = array<i64: 0>, kind = "sum"} : (tensor<1000x64xf32>) -> tensor<64xf32>
    %2 = prim.broadcast %1 {dims = array<i64: 1>} : (tensor<64xf32>) -> tensor<1000x64xf32>
    %3 = prim.div %0, %2 : tensor<1000x64xf32>
    prim.yield %3 : tensor<1000x64xf32>
  }
  return %r : tensor<1000x64xf32>
}
