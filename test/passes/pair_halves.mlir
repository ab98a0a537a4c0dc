// RUN: rs-opt %s --prim-to-loop --attach-target='entries={features = "+avx512bf16"}' --pair-halves --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --prim-to-loop --attach-target=cpu=sapphirerapids --pair-halves --split-input-file | rs-filecheck %s --check-prefix=UNITS
// RUN: rs-opt %s --prim-to-loop --pair-halves=remarks --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY
// WHY: remark: the CPU has no instruction for pairs of bf16 [pair-halves]

// Two steps of the sum lie in one word of each operand: neighbours in memory are one where they lie, others are copied, those of the lanes into panels.
// CHECK-DAG: #[[LOW:.*]] = affine_map<(d0, d1, d2) -> (d1 * 2, d0 * 32 + d2)>
// CHECK-DAG: #[[HIGH:.*]] = affine_map<(d0, d1, d2) -> (d1 * 2 + 1, d0 * 32 + d2)>
// CHECK-DAG: #[[PANELS:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
// CHECK-LABEL: loop.kernel @k0.pair1 {schedule = {order = array<i64: 0, 1, 2>, tile = array<i64: 32, 8, 32>, unroll = array<i64: 1, 1, 2>, vector = 2 : i64, width = 16 : i64}
// CHECK: loop.stage %arg0, %arg0 {domain = array<i64: 0, 1, 2>, guarded = array<i1: false, false>, maps = [#[[LOW]], #[[HIGH]]]
// CHECK-SAME: -> tensor<4x32x32xi32>
// CHECK: loop.kernel @k0 {
// CHECK: loop.stage %{{.*}}, %{{.*}} {{.*}}instruction = "avx512bf16", maps = [#{{.*}}, #[[PANELS]]]{{.*}} (tensor<64x32xi32>, tensor<4x32x32xi32>) -> tensor<64x128xf32>
// CHECK-COUNT-2: arith.mulf
// CHECK: %[[P:.*]] = loop.words %arg0 : (tensor<64x64xbf16>) -> tensor<64x32xi32>
// CHECK: %[[Q:.*]] = loop.call %arg1 {callee = @k0.pair1}
// CHECK: loop.call %[[P]], %[[Q]] {callee = @k0}
func.func @pairs(%a: tensor<64x64xbf16>, %b: tensor<64x128xbf16>) -> tensor<64x128xbf16> {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x64xbf16>, tensor<64x128xbf16>) -> tensor<64x128xbf16>
  return %0 : tensor<64x128xbf16>
}

// -----

// Of an odd number of steps the last is followed by a zero.
// CHECK: loop.kernel @k0.pair0
// CHECK: guarded = array<i1: false, true>{{.*}} -> tensor<64x33xi32>
// CHECK: func.func @odd
// CHECK: return
func.func @odd(%a: tensor<64x65xbf16>, %b: tensor<65x128xbf16>) -> tensor<64x128xbf16> {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x65xbf16>, tensor<65x128xbf16>) -> tensor<64x128xbf16>
  return %0 : tensor<64x128xbf16>
}

// -----

// Refused: elements of another type, and elements that are used too seldom for a copy.
// CHECK-NOT: pair
func.func @other(%a: tensor<64x64xf16>, %b: tensor<64x128xf16>, %c: tensor<2x64xbf16>, %d: tensor<64x4096xbf16>) -> (tensor<64x128xf16>, tensor<2x4096xbf16>) {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x64xf16>, tensor<64x128xf16>) -> tensor<64x128xf16>
  %1 = prim.dot %c, %d {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x64xbf16>, tensor<64x4096xbf16>) -> tensor<2x4096xbf16>
  return %0, %1 : tensor<64x128xf16>, tensor<2x4096xbf16>
}

// -----

// Channels of groups are whole words: the input is read where it lies.
// CHECK: loop.kernel @k0 {
// CHECK: loop.stage {{.*}}instruction = "avx512bf16"{{.*}} (tensor<256x16xi32>, tensor<2x1x1x8x32xi32>)
// CHECK: func.func @groups
// CHECK: loop.words %{{.*}} : (tensor<256x32xbf16>) -> tensor<256x16xi32>
func.func @groups(%x: tensor<1x16x16x32xbf16>, %w: tensor<2x1x1x16x32xbf16>) -> tensor<1x16x16x64xf32> {
  %0 = prim.conv %x, %w {groups = 2 : i64, high = array<i64: 0, 0>, layout = "n01c,O01co->n01o", lhs_dilation = array<i64: 1, 1>, low = array<i64: 0, 0>, rhs_dilation = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x16x16x32xbf16>, tensor<2x1x1x16x32xbf16>) -> tensor<1x16x16x64xf32>
  return %0 : tensor<1x16x16x64xf32>
}

// -----

// Matrix units take sixteen words at a time: others are made up for by zeros in both copies. Few columns are not worth the copy of rows.
// UNITS: loop.kernel @k0.pair0
// UNITS: guarded = array<i1: true, true>{{.*}} -> tensor<64x32xi32>
// UNITS: loop.kernel @k0.pair1
// UNITS: -> tensor<4x32x32xi32>
// UNITS: func.func @steps
// UNITS: loop.words %arg1 : (tensor<256x50xbf16>) -> tensor<256x25xi32>
func.func @steps(%a: tensor<64x50xbf16>, %d: tensor<256x50xbf16>, %b: tensor<50x128xbf16>, %c: tensor<50x48xbf16>) -> (tensor<64x128xbf16>, tensor<256x48xbf16>) {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x50xbf16>, tensor<50x128xbf16>) -> tensor<64x128xbf16>
  %1 = prim.dot %d, %c {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<256x50xbf16>, tensor<50x48xbf16>) -> tensor<256x48xbf16>
  return %0, %1 : tensor<64x128xbf16>, tensor<256x48xbf16>
}
