// RUN: rs-opt %s --prim-to-loop --split-reductions --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --prim-to-loop --split-reductions --schedule-cpu --split-input-file | rs-filecheck %s --check-prefix=SCHEDULED
// RUN: rs-opt %s --prim-to-loop --split-reductions=device --split-input-file | rs-filecheck %s --check-prefix=DEVICE
// RUN: rs-opt %s --prim-to-loop --split-reductions=remarks --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY
// WHY: remark: none of its reductions is long enough for pieces [split-reductions]

// A sum of everything: pieces that threads share, then the sum of their sums, with what follows.
// CHECK: #[[$PIECE:map[0-9]*]] = affine_map<(d0, d1) -> (d1)>
// CHECK: loop.kernel @k0_0
// CHECK: loop.stage %{{.*}} {chunk = array<i64: 1, 0, 16384>, domain = array<i64: 1, 0>, {{.*}}reduce = array<i64: 0>, reducer = "sum", space = "buffer"} : (tensor<1000000xf32>) -> tensor<62xf32>
// CHECK: math.exp
// CHECK: loop.kernel @k0_1
// CHECK: loop.stage %{{.*}} {domain = array<i64: 1>, maps = [#[[$PIECE]]], reduce = array<i64: 1>, reducer = "sum", space = "register"} : (tensor<62xf32>) -> tensor<f32>
// CHECK: math.sqrt
// CHECK: %[[P:.*]] = loop.call %{{.*}} {callee = @k0_0}
// CHECK: loop.call %[[P]] {callee = @k0_1}
// Lanes and several accumulators inside a piece.
// SCHEDULED: loop.kernel @k0_0 {schedule = {order = array<i64: 1>}
// SCHEDULED: schedule = {unroll = 4 : i64, vector = 0 : i64, width = 16 : i64}
// A device has blocks for more and shorter pieces, the last of which does the rest.
// DEVICE: loop.kernel @k0_0
// DEVICE: %[[P:.*]] = loop.stage %{{.*}} {chunk = array<i64: 1, 0, 4096>
// DEVICE: loop.stage %[[P]] {{.*}}reduce = array<i64: 1>
// DEVICE: math.sqrt
// DEVICE: loop.return %[[P]], %
// DEVICE-NOT: loop.kernel
// DEVICE: func.func @everything
func.func @everything(%x: tensor<1000000xf32>) -> tensor<f32> {
  %r = prim.fusion %x : (tensor<1000000xf32>) -> tensor<f32> {
  ^bb0(%a: tensor<1000000xf32>):
    %0 = prim.exp %a : tensor<1000000xf32>
    %1 = prim.reduce %0 {dims = array<i64: 0>, kind = "sum"} : (tensor<1000000xf32>) -> tensor<f32>
    %2 = prim.sqrt %1 : tensor<f32>
    prim.yield %2 : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// A sum of columns: rows are read in the order of memory, some at a time.
// CHECK: chunk = array<i64: 2, 1, 40>, domain = array<i64: 2, 0, 1>
// CHECK-SAME: -> tensor<26x1000xf32>
// SCHEDULED: loop.kernel @k0_0 {schedule = {order = array<i64: 2>}
// SCHEDULED: schedule = {outer_reduction = 8 : i64, vector = 0 : i64, width = 16 : i64}, space = "buffer"
// DEVICE: chunk = array<i64: 2, 1, 16>
// DEVICE: loop.kernel
func.func @columns(%x: tensor<1001x1000xf32>) -> tensor<1000xf32> {
  %0 = prim.reduce %x {dims = array<i64: 0>, kind = "sum"} : (tensor<1001x1000xf32>) -> tensor<1000xf32>
  return %0 : tensor<1000xf32>
}

// -----

// A size that is not known: the number of pieces is.
// CHECK: affine_map<(){{.*}} -> (s0, s0 ceildiv 65536)>
// CHECK: chunk = array<i64: 1, 0, 65536>
// CHECK-SAME: space = "buffer"} : tensor<?xf32>
// On a device the pieces are short, and one at least.
// DEVICE: affine_map<(){{.*}} -> (s0, s0 floordiv 8192 + 1)>
// DEVICE: chunk = array<i64: 1, 0, 8192>
// DEVICE-NOT: loop.kernel
// DEVICE: func.func @unknown
func.func @unknown(%x: tensor<?xf32>) -> tensor<f32> {
  %0 = prim.reduce %x {dims = array<i64: 0>, kind = "sum"} : (tensor<?xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Two reductions, one after the other, and a map: each is a kernel (or two) that threads can share.
// CHECK-COUNT-2: chunk =
// CHECK: %[[PM:.*]] = loop.call %{{.*}} {callee = @k0_0}
// CHECK: %[[M:.*]] = loop.call %[[PM]] {callee = @k0_1}
// CHECK: %[[PS:.*]] = loop.call %{{.*}}, %[[M]] {callee = @k0_2}
// CHECK: %[[S:.*]] = loop.call %[[PS]] {callee = @k0_3}
// CHECK: loop.call %{{.*}}, %[[M]], %[[S]] {callee = @k0_4}
// DEVICE: loop.kernel @k0_0
// DEVICE: chunk =
// DEVICE: loop.kernel @k0_1
// DEVICE: chunk =
// DEVICE: loop.kernel @k0_2
// DEVICE-NOT: chunk =
// DEVICE: func.func @softmax
func.func @softmax(%x: tensor<2x500000xf32>) -> tensor<2x500000xf32> {
  %r = prim.fusion %x : (tensor<2x500000xf32>) -> tensor<2x500000xf32> {
  ^bb0(%a: tensor<2x500000xf32>):
    %0 = prim.reduce %a {dims = array<i64: 1>, kind = "max"} : (tensor<2x500000xf32>) -> tensor<2xf32>
    %1 = prim.broadcast %0 {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x500000xf32>
    %2 = prim.sub %a, %1 : tensor<2x500000xf32>
    %3 = prim.exp %2 : tensor<2x500000xf32>
    %4 = prim.reduce %3 {dims = array<i64: 1>, kind = "sum"} : (tensor<2x500000xf32>) -> tensor<2xf32>
    %5 = prim.broadcast %4 {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x500000xf32>
    %6 = prim.div %3, %5 : tensor<2x500000xf32>
    prim.yield %6 : tensor<2x500000xf32>
  }
  return %r : tensor<2x500000xf32>
}

// -----

// Rows enough for all threads, a short reduction, and a contraction stay as they are.
// CHECK-NOT: chunk
func.func @rows(%x: tensor<4096x4096xf32>) -> tensor<4096xf32> {
  %0 = prim.reduce %x {dims = array<i64: 1>, kind = "sum"} : (tensor<4096x4096xf32>) -> tensor<4096xf32>
  return %0 : tensor<4096xf32>
}

// -----

// CHECK-NOT: chunk
func.func @short(%x: tensor<1000xf32>) -> tensor<f32> {
  %0 = prim.reduce %x {dims = array<i64: 0>, kind = "sum"} : (tensor<1000xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// CHECK-NOT: chunk
func.func @product(%x: tensor<16x100000xf32>, %y: tensor<100000x16xf32>) -> tensor<16x16xf32> {
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<16x100000xf32>, tensor<100000x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// -----

// On a device a row that one block reads sooner than another kernel starts stays whole.
// CHECK: chunk =
// DEVICE-NOT: chunk
func.func @few_rows(%x: tensor<8x20000xf32>) -> tensor<8xf32> {
  %0 = prim.reduce %x {dims = array<i64: 1>, kind = "sum"} : (tensor<8x20000xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// So do rows that are enough for all blocks, however long: its threads have a sum each.
// CHECK: chunk =
// DEVICE-NOT: chunk
func.func @long_rows(%x: tensor<128x300000xf32>) -> tensor<128xf32> {
  %0 = prim.reduce %x {dims = array<i64: 1>, kind = "sum"} : (tensor<128x300000xf32>) -> tensor<128xf32>
  return %0 : tensor<128xf32>
}

// -----

// And columns that are enough for all threads.
// CHECK: chunk =
// DEVICE-NOT: chunk
func.func @many_columns(%x: tensor<64x100000xf32>) -> tensor<100000xf32> {
  %0 = prim.reduce %x {dims = array<i64: 0>, kind = "sum"} : (tensor<64x100000xf32>) -> tensor<100000xf32>
  return %0 : tensor<100000xf32>
}

// -----

// Two sums of the same columns are cut alike, where the kernel does nothing else for each element.
// CHECK: loop.kernel @k0_0
// CHECK: chunk = array<i64: 3, 1, 512>
// CHECK: loop.kernel @k0_2
// CHECK: chunk = array<i64: 3, 2, 256>
// SCHEDULED: outer_reduction = 8 : i64
// SCHEDULED: outer_reduction = 8 : i64
func.func @two_sums(%x: tensor<8192x64xf32>, %y: tensor<8192x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %r:2 = prim.fusion %x, %y : (tensor<8192x64xf32>, tensor<8192x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%a: tensor<8192x64xf32>, %b: tensor<8192x64xf32>):
    %0 = prim.reduce %a {dims = array<i64: 0>, kind = "sum"} : (tensor<8192x64xf32>) -> tensor<64xf32>
    %1 = prim.mul %a, %b : tensor<8192x64xf32>
    %2 = prim.reduce %1 {dims = array<i64: 0>, kind = "sum"} : (tensor<8192x64xf32>) -> tensor<64xf32>
    prim.yield %0, %2 : (tensor<64xf32>, tensor<64xf32>) -> ()
  }
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}
