// RUN: rs-opt %s --fuse-elementwise --fuse-reductions="remarks=true" --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @chain_and_sum(
// CHECK-NEXT: prim.fusion
// CHECK: prim.sin
// CHECK: prim.exp
// CHECK: prim.reduce
// CHECK: prim.yield
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @chain_and_sum(%x: tensor<?x16xf32>) -> tensor<f32> {
  %0 = prim.sin %x : (tensor<?x16xf32>) -> tensor<?x16xf32>
  %1 = prim.exp %0 : (tensor<?x16xf32>) -> tensor<?x16xf32>
  %2 = prim.reduce %1 {dims = array<i64: 0, 1>, kind = "sum"} : (tensor<?x16xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @softmax(
// CHECK: prim.fusion
// CHECK: prim.reduce {{.*}}"max"
// CHECK: prim.exp
// CHECK: prim.reduce {{.*}}"sum"
// CHECK: prim.div
// CHECK-NEXT: prim.yield
func.func @softmax(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %n0 = prim.dim %x {dim = 0 : i64} : (tensor<?x?xf32>) -> index
  %n1 = prim.dim %x {dim = 1 : i64} : (tensor<?x?xf32>) -> index
  %max = prim.reduce %x {dims = array<i64: 1>, kind = "max"} : (tensor<?x?xf32>) -> tensor<?xf32>
  %0 = prim.broadcast %max, %n0, %n1 {dims = array<i64: 0>} : (tensor<?xf32>, index, index) -> tensor<?x?xf32>
  %1 = prim.sub %x, %0 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = prim.exp %1 : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %sum = prim.reduce %2 {dims = array<i64: 1>, kind = "sum"} : (tensor<?x?xf32>) -> tensor<?xf32>
  %3 = prim.broadcast %sum, %n0, %n1 {dims = array<i64: 0>} : (tensor<?xf32>, index, index) -> tensor<?x?xf32>
  %4 = prim.div %2, %3 : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %4 : tensor<?x?xf32>
}

// -----

// The residual sum is a second result of the normalisation that follows it.
// CHECK-LABEL: func.func @add_norm(
// CHECK-NEXT: %[[F:.*]]:2 = prim.fusion
// CHECK: prim.add
// CHECK: prim.reduce
// CHECK: prim.reduce
// CHECK: prim.rsqrt
// CHECK: return %[[F]]#0, %[[F]]#1
func.func @add_norm(%x: tensor<4x8xf32>, %r: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %a = prim.add %x, %r : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = prim.reduce %a {dims = array<i64: 1>, kind = "sum"} : (tensor<4x8xf32>) -> tensor<4xf32>
  %mb = prim.broadcast %m {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = prim.sub %a, %mb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = prim.mul %d, %d : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %v = prim.reduce %q {dims = array<i64: 1>, kind = "sum"} : (tensor<4x8xf32>) -> tensor<4xf32>
  %s = prim.rsqrt %v : (tensor<4xf32>) -> tensor<4xf32>
  %sb = prim.broadcast %s {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
  %y = prim.mul %d, %sb : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %a, %y : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @matmul_bias_gelu(
// CHECK: prim.fusion
// CHECK: prim.transpose
// CHECK: prim.dot
// CHECK: prim.add
// CHECK: prim.erf
// CHECK: prim.mul
// CHECK: prim.yield
// CHECK: prim.fusion
// CHECK: prim.dot
// CHECK-NEXT: prim.yield
func.func @matmul_bias_gelu(%x: tensor<4x16xf32>, %w: tensor<32x16xf32>, %b: tensor<32xf32>, %u: tensor<8x32xf32>) -> tensor<4x8xf32> {
  %t = prim.transpose %w {perm = array<i64: 1, 0>} : (tensor<32x16xf32>) -> tensor<16x32xf32>
  %0 = prim.dot %x, %t {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x16xf32>, tensor<16x32xf32>) -> tensor<4x32xf32>
  %bb = prim.broadcast %b {dims = array<i64: 1>} : (tensor<32xf32>) -> tensor<4x32xf32>
  %1 = prim.add %0, %bb : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  %2 = prim.erf %1 : (tensor<4x32xf32>) -> tensor<4x32xf32>
  %3 = prim.mul %1, %2 : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  %t2 = prim.transpose %u {perm = array<i64: 1, 0>} : (tensor<8x32xf32>) -> tensor<32x8xf32>
  // expected-remark @+1 {{legality: a contraction shares its kernel with no other contraction or reduction}}
  %4 = prim.dot %3, %t2 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x32xf32>, tensor<32x8xf32>) -> tensor<4x8xf32>
  return %4 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @conv_norm_relu_residual(
// CHECK-NEXT: prim.fusion
// CHECK: prim.conv
// CHECK: prim.maximum
// CHECK-NEXT: prim.yield
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func @conv_norm_relu_residual(%x: tensor<2x4x8x8xf32>, %k: tensor<4x4x3x3xf32>, %g: tensor<4xf32>) -> tensor<2x4x8x8xf32> {
  %c = prim.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = prim.conv %x, %k {strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x4x8x8xf32>, tensor<4x4x3x3xf32>) -> tensor<2x4x8x8xf32>
  %gb = prim.broadcast %g {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<2x4x8x8xf32>
  %1 = prim.mul %0, %gb : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %2 = prim.add %1, %x : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  %z = prim.broadcast %c {dims = array<i64>} : (tensor<f32>) -> tensor<2x4x8x8xf32>
  %3 = prim.maximum %2, %z : (tensor<2x4x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x4x8x8xf32>
  return %3 : tensor<2x4x8x8xf32>
}

// -----

// Reductions of one tensor share its reads when they keep the same dimensions.
// CHECK-LABEL: func.func @siblings(
// CHECK-NEXT: prim.fusion
// CHECK: prim.reduce
// CHECK: prim.arg_reduce
func.func @siblings(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %0 = prim.reduce %x {dims = array<i64: 1>, kind = "max"} : (tensor<4x8xf32>) -> tensor<4xf32>
  %1 = prim.arg_reduce %x {dim = 1 : i64, kind = "max"} : (tensor<4x8xf32>) -> tensor<4xi64>
  return %0, %1 : tensor<4xf32>, tensor<4xi64>
}

// -----

// CHECK-LABEL: func.func @other_row(
// CHECK: prim.reduce
// CHECK: prim.fusion
func.func @other_row(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %s = prim.reduce %x {dims = array<i64: 1>, kind = "sum"} : (tensor<4x4xf32>) -> tensor<4xf32>
  // expected-remark @+1 {{legality: the result of a reduction is read at another outer index}}
  %b = prim.broadcast %s {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<4x4xf32>
  %y = prim.mul %x, %b : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @other_outer(
// CHECK-NOT: prim.fusion
func.func @other_outer(%x: tensor<4x8xf32>) -> tensor<f32> {
  %s = prim.reduce %x {dims = array<i64: 1>, kind = "max"} : (tensor<4x8xf32>) -> tensor<4xf32>
  // expected-remark @+1 {{legality: two reductions have different outer or reduced dimensions}}
  %t = prim.reduce %s {dims = array<i64: 0>, kind = "sum"} : (tensor<4xf32>) -> tensor<f32>
  return %t : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @operands_of_a_dot(
// CHECK: prim.exp
// CHECK: prim.fusion
// CHECK: prim.convert
// CHECK: prim.dot
func.func @operands_of_a_dot(%x: tensor<4x4xf32>, %y: tensor<4x4xbf16>) -> tensor<4x4xf32> {
  %e = prim.exp %x : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = prim.convert %y : (tensor<4x4xbf16>) -> tensor<4x4xf32>
  // expected-remark @+1 {{profit: a contraction would compute its operand again for every output element}}
  %d = prim.dot %e, %c {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}

// -----

// What a reduction reads goes with the reduction, also when it could be one more result of the kernel before.
// CHECK-LABEL: func.func @mask(
// CHECK: prim.fusion
// CHECK: prim.dot
// CHECK: prim.mul
// CHECK-NEXT: prim.yield
// CHECK: prim.fusion
// CHECK: prim.eq
// CHECK: prim.reduce
func.func @mask(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi1>) {
  %d = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = prim.mul %d, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark @+1 {{'prim.mul' is not fused into 'prim.eq': legality: a contraction shares its kernel with no other contraction or reduction}}
  %e = prim.eq %m, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xi1>
  %r = prim.reduce %e {dims = array<i64: 1>, kind = "and"} : (tensor<4x4xi1>) -> tensor<4xi1>
  return %m, %r : tensor<4x4xf32>, tensor<4xi1>
}

// -----

// A float of 8 bits is converted by many instructions: before a product that uses it often, and in the product of a row or two.
// CHECK-LABEL: func.func @stored_in_bytes(
// CHECK-NEXT: prim.convert
// CHECK-NEXT: prim.dot
func.func @stored_in_bytes(%x: tensor<48x32xf32>, %w: tensor<64x32xf8E4M3FN>) -> tensor<48x64xf32> {
  %0 = prim.convert %w : (tensor<64x32xf8E4M3FN>) -> tensor<64x32xf32>
  // expected-remark @+1 {{'prim.convert' is not fused into 'prim.dot': profit: 'prim.convert' is expensive and would be computed again for every repeated element}}
  %1 = prim.dot %x, %0 {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 1>} : (tensor<48x32xf32>, tensor<64x32xf32>) -> tensor<48x64xf32>
  return %1 : tensor<48x64xf32>
}

// CHECK-LABEL: func.func @used_once(
// CHECK: prim.fusion
// CHECK: prim.convert
// CHECK-NEXT: prim.dot
// CHECK-NEXT: prim.yield
func.func @used_once(%x: tensor<1x32xf32>, %w: tensor<64x32xf8E4M3FN>) -> tensor<1x64xf32> {
  %0 = prim.convert %w : (tensor<64x32xf8E4M3FN>) -> tensor<64x32xf32>
  %1 = prim.dot %x, %0 {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 1>} : (tensor<1x32xf32>, tensor<64x32xf32>) -> tensor<1x64xf32>
  return %1 : tensor<1x64xf32>
}

// -----

// Complex numbers have half the lanes of their parts: a product of real matrices stays apart from them.
// CHECK-LABEL: func.func @complex_parts(
// CHECK: prim.dot
// CHECK-NEXT: prim.complex
func.func @complex_parts(%x: tensor<64x32xf32>, %y: tensor<32x48xf32>, %z: tensor<64x48xf32>) -> tensor<64x48xcomplex<f32>> {
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x32xf32>, tensor<32x48xf32>) -> tensor<64x48xf32>
  // expected-remark @+1 {{profit: complex numbers have half the lanes of their parts, which the contraction would lose}}
  %1 = prim.complex %0, %z : (tensor<64x48xf32>, tensor<64x48xf32>) -> tensor<64x48xcomplex<f32>>
  return %1 : tensor<64x48xcomplex<f32>>
}

// -----

// Columns of a tensor that no near cache holds are summed in a kernel of their own: what is computed of each element goes through it row by row.
// CHECK-LABEL: func.func @batch_norm(
// CHECK-NEXT: prim.fusion
// CHECK: prim.reduce
// CHECK-NEXT: prim.rsqrt
// CHECK-NEXT: prim.yield
// CHECK: prim.fusion
// CHECK-NOT: prim.reduce
// CHECK: return
func.func @batch_norm(%x: tensor<8192x64xf32>, %w: tensor<64xf32>) -> tensor<8192x64xf32> {
  %q = prim.mul %x, %x : tensor<8192x64xf32>
  %s = prim.reduce %q {dims = array<i64: 0>, kind = "sum"} : (tensor<8192x64xf32>) -> tensor<64xf32>
  %r = prim.rsqrt %s : tensor<64xf32>
  // expected-remark @+1 {{'prim.rsqrt' is not fused into 'prim.broadcast': profit: what is computed of each element would be read across memory, as the reduction of columns is}}
  %b = prim.broadcast %r {dims = array<i64: 1>} : (tensor<64xf32>) -> tensor<8192x64xf32>
  %y = prim.mul %x, %b : tensor<8192x64xf32>
  return %y : tensor<8192x64xf32>
}

// Windows hold the same elements many times: each kernel takes its own, with the pad under them, and none is written to memory.
// CHECK-LABEL: func.func @windows_twice(
// CHECK: prim.fusion %{{.*}} : tensor<8x12x12xf32> {
// CHECK: prim.sliding_window
// CHECK: prim.fusion %{{.*}}, %{{.*}} : (tensor<8x12x12xf32>, tensor<8x12x12xf32>) -> tensor<8x12x12xi32>
// CHECK: prim.pad
// CHECK: prim.sliding_window
// CHECK-NOT: prim.fusion
func.func @windows_twice(%x: tensor<8x12x12xf32>) -> (tensor<8x12x12xf32>, tensor<8x12x12xi32>) {
  %low = prim.constant {value = dense<0xFF800000> : tensor<f32>} : tensor<f32>
  %p = prim.pad %x, %low {low = array<i64: 0, 1, 1>, high = array<i64: 0, 1, 1>, interior = array<i64: 0, 0, 0>} : (tensor<8x12x12xf32>, tensor<f32>) -> tensor<8x14x14xf32>
  %w = prim.sliding_window %p {sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<8x14x14xf32>) -> tensor<8x12x12x3x3xf32>
  %max = prim.reduce %w {dims = array<i64: 3, 4>, kind = "max"} : (tensor<8x12x12x3x3xf32>) -> tensor<8x12x12xf32>
  // expected-remark @+1 {{the result of a reduction is read at another outer index}}
  %t = prim.transpose %max {perm = array<i64: 0, 2, 1>} : (tensor<8x12x12xf32>) -> tensor<8x12x12xf32>
  %b = prim.broadcast %t {dims = array<i64: 0, 1, 2>} : (tensor<8x12x12xf32>) -> tensor<8x12x12x3x3xf32>
  %e = prim.eq %w, %b : (tensor<8x12x12x3x3xf32>, tensor<8x12x12x3x3xf32>) -> tensor<8x12x12x3x3xi1>
  %i = prim.convert %e : (tensor<8x12x12x3x3xi1>) -> tensor<8x12x12x3x3xi32>
  %n = prim.reduce %i {dims = array<i64: 3, 4>, kind = "sum"} : (tensor<8x12x12x3x3xi32>) -> tensor<8x12x12xi32>
  return %max, %n : tensor<8x12x12xf32>, tensor<8x12x12xi32>
}

// -----

// Segments take in what gathers and weighs their rows, and what follows. Where they begin and end must be in memory.
// CHECK-LABEL: func.func @bags(
// CHECK: prim.add
// CHECK-NEXT: prim.fusion
// CHECK: prim.gather
// CHECK: prim.exp
// CHECK: prim.segment_reduce
// CHECK: prim.sqrt
// CHECK-NOT: prim.fusion
func.func @bags(%table: tensor<100x64xf32>, %index: tensor<300xi64>, %offsets: tensor<20xi64>, %lengths: tensor<20xi64>) -> tensor<20x64xf32> {
  %ends = prim.add %offsets, %lengths : tensor<20xi64>
  %rows = prim.gather %table, %index {dims = array<i64: 0>} : (tensor<100x64xf32>, tensor<300xi64>) -> tensor<300x64xf32>
  %weights = prim.exp %rows : tensor<300x64xf32>
  // expected-remark @+1 {{'prim.add' is not fused into 'prim.segment_reduce': legality: where segments begin and end must be in memory}}
  %sum = prim.segment_reduce %weights, %offsets, %ends {kind = "sum"} : (tensor<300x64xf32>, tensor<20xi64>, tensor<20xi64>) -> tensor<20x64xf32>
  %root = prim.sqrt %sum : tensor<20x64xf32>
  return %root : tensor<20x64xf32>
}
