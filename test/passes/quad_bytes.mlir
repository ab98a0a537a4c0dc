// RUN: rs-opt %s --fuse-elementwise --fuse-reductions --prim-to-loop --attach-target='entries={features = "+avx512vnni"}' --quad-bytes --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --fuse-elementwise --fuse-reductions --prim-to-loop --attach-target='entries={features = "+avx512vnni"}' --check-semantics --quad-bytes --split-input-file | rs-filecheck %s --check-prefix=SAME
// SAME-COUNT-5: checked 5 of 5 passes
// RUN: rs-opt %s --fuse-elementwise --fuse-reductions --prim-to-loop --quad-bytes=remarks --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY
// WHY: remark: the CPU has no instruction for four bytes [quad-bytes]

// Four steps of the sum lie in one word of each operand. Both operands are signed: 128 is added to each byte of the one, and the sums of the
// other say what that adds to the result.
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0, d1) -> (d0, d1 * 4)>
// CHECK-DAG: #[[LAST:.*]] = affine_map<(d0, d1) -> (d0, d1 * 4 + 3)>
// CHECK-LABEL: loop.kernel @k0.sums
// CHECK: loop.stage %arg0 {{.*}}reduce = array<i64: 1>, reducer = "sum"{{.*}} -> tensor<64xi32>
// CHECK: arith.constant -128
// CHECK: loop.kernel @k0.quad0
// CHECK: loop.stage {{.*}}maps = [#[[FIRST]], #{{.*}}, #{{.*}}, #[[LAST]]]{{.*}} -> tensor<64x16xi32>
// CHECK: arith.xori
// CHECK: loop.kernel @k0.quad1
// CHECK: -> tensor<16x64xi32>
// CHECK-NOT: arith.xori
// CHECK: loop.kernel @k0 {
// CHECK: %[[SUM:.*]] = loop.stage %arg0, %arg1 {{.*}}instruction = "vnni"{{.*}} (tensor<64x16xi32>, tensor<16x64xi32>) -> tensor<64x64xi32>
// CHECK-COUNT-4: arith.muli
// CHECK: loop.stage %[[SUM]], %arg2 {{.*}} (tensor<64x64xi32>, tensor<64xi32>) -> tensor<64x64xi32>
// CHECK: %[[S:.*]] = loop.call %arg1 {callee = @k0.sums}
// CHECK: %[[P:.*]] = loop.call %arg0 {callee = @k0.quad0}
// CHECK: %[[Q:.*]] = loop.call %arg1 {callee = @k0.quad1}
// CHECK: loop.call %[[P]], %[[Q]], %[[S]] {callee = @k0}
func.func @signed(%a: tensor<64x64xi8>, %b: tensor<64x64xi8>) -> tensor<64x64xi32> {
  %x = prim.convert %a : (tensor<64x64xi8>) -> tensor<64x64xi32>
  %y = prim.convert %b : (tensor<64x64xi8>) -> tensor<64x64xi32>
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi32>
  return %0 : tensor<64x64xi32>
}

// -----

// Unsigned bytes on the right come first in the instruction, and need no sums.
// CHECK-NOT: sums
// CHECK: loop.kernel @k0.quad0
// CHECK: guarded = array<i1: false, true, true, true>{{.*}} -> tensor<64x17xi32>
// CHECK: loop.kernel @k0.quad1
// CHECK: loop.kernel @k0 {
// CHECK: loop.stage %arg1, %arg0 {{.*}}instruction = "vnni"
// CHECK: func.func @mixed
// CHECK: return
func.func @mixed(%a: tensor<64x65xi8>, %b: tensor<65x64xui8>) -> tensor<64x64xi32> {
  %x = prim.convert %a : (tensor<64x65xi8>) -> tensor<64x65xi32>
  %y = prim.convert %b : (tensor<65x64xui8>) -> tensor<65x64xi32>
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x65xi32>, tensor<65x64xi32>) -> tensor<64x64xi32>
  return %0 : tensor<64x64xi32>
}

// -----

// Unsigned bytes under a window, with the channels last, are words where they lie; so are signed ones that need nothing added.
// CHECK: loop.kernel @k0 {
// CHECK: loop.stage %arg0, %arg1 {{.*}}instruction = "vnni"{{.*}} (tensor<1x6x6x8xi32>, tensor<32x3x3x8xi32>) -> tensor<1x4x4x32xi32>
// CHECK: %[[X:.*]] = loop.words %arg0 : (tensor<1x6x6x32xui8>) -> tensor<1x6x6x8xi32>
// CHECK: %[[W:.*]] = loop.words %arg1 : (tensor<32x3x3x32xi8>) -> tensor<32x3x3x8xi32>
// CHECK: loop.call %[[X]], %[[W]] {callee = @k0}
func.func @window(%x: tensor<1x6x6x32xui8>, %w: tensor<32x3x3x32xi8>) -> tensor<1x4x4x32xi32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64, layout = "n01c,o01c->n01o"} : (tensor<1x6x6x32xui8>, tensor<32x3x3x32xi8>) -> tensor<1x4x4x32xi32>
  return %0 : tensor<1x4x4x32xi32>
}

// -----

// Where both are signed, the sums of the weights are over the window too.
// CHECK: loop.kernel @k0.sums
// CHECK: loop.stage %arg0 {{.*}}reduce = array<i64: 1, 2, 3>, reducer = "sum"{{.*}} -> tensor<16xi32>
// CHECK: loop.kernel @k0.quad0
// CHECK: arith.xori
// CHECK: func.func @signed_window
// CHECK: %[[X:.*]] = loop.call %arg0 {callee = @k0.quad0} : (tensor<1x12x10x32xi8>) -> tensor<1x12x10x8xi32>
// CHECK: %[[W:.*]] = loop.words %arg1
func.func @signed_window(%x: tensor<1x12x10x32xi8>, %w: tensor<16x3x3x32xi8>) -> tensor<1x10x8x16xi32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64, layout = "n01c,o01c->n01o"} : (tensor<1x12x10x32xi8>, tensor<16x3x3x32xi8>) -> tensor<1x10x8x16xi32>
  return %0 : tensor<1x10x8x16xi32>
}

// -----

// Refused: wider integers, and bytes that are used too seldom for a copy.
// CHECK-NOT: quad
func.func @other(%a: tensor<64x64xi16>, %b: tensor<64x64xi16>, %c: tensor<2x64xi8>, %d: tensor<64x2048xi8>) -> (tensor<64x64xi32>, tensor<2x2048xi32>) {
  %x = prim.convert %a : (tensor<64x64xi16>) -> tensor<64x64xi32>
  %y = prim.convert %b : (tensor<64x64xi16>) -> tensor<64x64xi32>
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi32>
  %z = prim.convert %c : (tensor<2x64xi8>) -> tensor<2x64xi32>
  %w = prim.convert %d : (tensor<64x2048xi8>) -> tensor<64x2048xi32>
  %1 = prim.dot %z, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<2x64xi32>, tensor<64x2048xi32>) -> tensor<2x2048xi32>
  return %0, %1 : tensor<64x64xi32>, tensor<2x2048xi32>
}
