// CPUs with AMX multiply words by matrix units: a block has up to two tiles of rows and two of columns, whose sums go through scratch memory to the stage
// behind them. CPUs without multiply words in the lanes of registers.
// RUN: rs-opt %s --attach-target=cpu=sapphirerapids --fuse-elementwise --fuse-reductions --prim-to-loop --pair-halves --quad-bytes --pack-operands --schedule-cpu --split-input-file -o %t.mlir
// RUN: rs-filecheck %s --input-file=%t.mlir --check-prefix=SCHEDULE
// RUN: rs-opt %t.mlir --loop-to-host --loop-to-cpu --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --attach-target=cpu=znver4 --fuse-elementwise --fuse-reductions --prim-to-loop --pair-halves --quad-bytes --pack-operands --schedule-cpu --split-input-file | rs-filecheck %s --check-prefix=LANES
// LANES: instruction = "avx512bf16"
// LANES-NOT: matrix_units

// 72 words are six steps of twelve, so that none is left over. Tiles 0 to 3 are sums, 4 and 5 rows, 6 and 7 columns.
// SCHEDULE-LABEL: loop.kernel @k0 {schedule = {matrix_units = true, order = array<i64: 0, 1>, roll = 0 : i64, tile = array<i64: 64, 48>, unroll = array<i64: 32, 1>, vector = 1 : i64, width = 16 : i64}
// SCHEDULE: func.func @layer
// CHECK-LABEL: func.func private @k0(
// CHECK: %[[SUMS:.*]] = llvm.alloca %{{.*}} x f32
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK: scf.for %{{.*}} to %c72{{.*}} step %c12
// CHECK-COUNT-3: llvm.call_intrinsic "llvm.x86.tileloadd64"
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-NOT: masked.load
// CHECK: llvm.call_intrinsic "llvm.x86.tilestored64"({{.*}}, %[[SUMS]], {{.*}}) : (i8, !llvm.ptr, i64) -> ()
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
// CHECK: arith.truncf
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
func.func @layer(%a: tensor<64x144xbf16>, %b: tensor<144x48xbf16>) -> tensor<64x48xbf16> {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x144xbf16>, tensor<144x48xbf16>) -> tensor<64x48xbf16>
  return %0 : tensor<64x48xbf16>
}

// -----

// Words in twos: 37 are two steps of sixteen, and five that are copied beside zeros. Forty rows are three tiles one after the other. The unsigned operand has the columns.
// SCHEDULE-LABEL: loop.kernel @k0 {schedule = {matrix_units = true,
// SCHEDULE-SAME: unroll = array<i64: {{16, 1|1, 16}}>
// SCHEDULE: func.func @rest
// CHECK-LABEL: func.func private @k0(
// CHECK: scf.for %{{.*}} to %c32{{.*}} step %c16
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbsud"
// CHECK: scf.for %{{.*}} to %c16{{.*}} step %c1
// CHECK: llvm.intr.masked.load
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbsud"
// CHECK: llvm.call_intrinsic "llvm.x86.tilestored64"
func.func @rest(%a: tensor<40x148xi8>, %b: tensor<148x48xui8>) -> tensor<40x48xi32> {
  %x = prim.convert %a : (tensor<40x148xi8>) -> tensor<40x148xi32>
  %y = prim.convert %b : (tensor<148x48xui8>) -> tensor<148x48xi32>
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<40x148xi32>, tensor<148x48xi32>) -> tensor<40x48xi32>
  return %0 : tensor<40x48xi32>
}

// -----

// The words of three pixels under a window lie beside each other: two steps of twelve for each row of the window.
// SCHEDULE-LABEL: loop.kernel @k0 {schedule = {matrix_units = true, order = array<i64: 1, 3, 2, 0, 4>, roll = 2 : i64, tile = array<i64: 1, 1, 32, 1, 32>, unroll = array<i64: 1, 1, 32, 1, 2>, vector = 4 : i64, width = 16 : i64}
// SCHEDULE: func.func @window
// CHECK-LABEL: func.func private @k0(
// CHECK: scf.for %{{.*}} to %c3{{.*}} step %c1
// CHECK: scf.for %{{.*}} to %c24{{.*}} step %c12
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
func.func @window(%x: tensor<1x16x34x16xbf16>, %w: tensor<2x3x3x16x32xbf16>) -> tensor<1x14x32x64xbf16> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64, layout = "n01c,O01co->n01o"} : (tensor<1x16x34x16xbf16>, tensor<2x3x3x16x32xbf16>) -> tensor<1x14x32x64xbf16>
  return %0 : tensor<1x14x32x64xbf16>
}

// -----

// Rows of unknown number: blocks of 32 of them, and of eight where there are fewer, whose tiles are configured for them alone.
// SCHEDULE-LABEL: loop.kernel @k0 {schedule = {matrix_units = true,
// SCHEDULE: func.func @symbolic
// CHECK-LABEL: func.func private @k0(
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"(%[[ALL:.*]]) :
// CHECK: scf.for %{{.*}} step %c32
// CHECK-NOT: ldtilecfg
// CHECK: scf.for %{{.*}} step %c8
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"(%[[FEW:.*]]) :
// CHECK: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"(%[[ALL]]) :
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
func.func @symbolic(%a: tensor<?x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<?x64xbf16> {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<?x64xbf16>, tensor<64x64xbf16>) -> tensor<?x64xbf16>
  return %0 : tensor<?x64xbf16>
}
