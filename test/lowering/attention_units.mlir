// Attention of bf16 by matrix units (AMX): queries and keys as they lie, values with keys side by side in rows that fill tiles.
// RUN: rs-opt %s --attach-target=cpu=sapphirerapids --fuse-reductions --prim-to-loop --cse --pair-halves --pack-operands --schedule-cpu --split-input-file -o %t.mlir
// RUN: rs-filecheck %s --input-file=%t.mlir --check-prefix=SCHEDULE
// RUN: rs-opt %t.mlir --loop-to-host --loop-to-cpu --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --attach-target=cpu=sapphirerapids --fuse-reductions --prim-to-loop --cse --pair-halves=numerics=strict --pack-operands --schedule-cpu --split-input-file | rs-filecheck %s --check-prefix=STRICT
// STRICT-NOT: matrix_units
// RUN: sed 's/block = 128/block = 40/' %t.mlir | not rs-opt --loop-to-host --loop-to-cpu --split-input-file 2>&1 | rs-filecheck %s --check-prefix=REFUSED
// REFUSED: kernel 'k0' cannot be emitted for the CPU: the schedule has 'matrix_units', and the kernel is no attention of bf16 in whole tiles, with keys beside each other in its values

// SCHEDULE: loop.kernel @k0.pack_means1
// SCHEDULE: guarded = array<i1: true>{{.*}} -> tensor<2x32x96xbf16>
// SCHEDULE: loop.kernel @k0 {schedule = {matrix_units = true, online = {block = 128 : i64,
// SCHEDULE: loop.stage {{.*}}instruction = "avx512bf16"{{.*}} (tensor<2x64x64xbf16>, tensor<2x77x64xbf16>)
// CHECK-LABEL: func.func private @k0(
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// Scores: the last of 77 keys are taken with some before them.
// CHECK: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK: scf.for %{{.*}} to %c32{{.*}} step %c16
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK: math.exp
// Weights, and what their first eight bits leave of them.
// CHECK-COUNT-2: arith.truncf %{{.*}} : vector<16xf32> to vector<16xbf16>
// CHECK-COUNT-2: arith.subf
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tileloadd64"
// CHECK-COUNT-8: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
func.func @halves(%q: tensor<2x64x64xbf16>, %k: tensor<2x77x64xbf16>, %v: tensor<2x77x32xbf16>) -> tensor<2x64x32xf32> {
  %qf = prim.convert %q : (tensor<2x64x64xbf16>) -> tensor<2x64x64xf32>
  %kf = prim.convert %k : (tensor<2x77x64xbf16>) -> tensor<2x77x64xf32>
  %vf = prim.convert %v : (tensor<2x77x32xbf16>) -> tensor<2x77x32xf32>
  %s = prim.dot %qf, %kf {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 2>} : (tensor<2x64x64xf32>, tensor<2x77x64xf32>) -> tensor<2x64x77xf32>
  %y = prim.softmax_dot %s, %vf {empty = "nan", lhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>} : (tensor<2x64x77xf32>, tensor<2x77x32xf32>) -> tensor<2x64x32xf32>
  return %y : tensor<2x64x32xf32>
}

// -----

// Forty elements of a row fill no tile: elements are converted, and multiplied in lanes.
// SCHEDULE: loop.kernel @k0 {schedule = {online = {
// SCHEDULE: func.func @forty
func.func @forty(%q: tensor<2x64x40xbf16>, %k: tensor<2x64x40xbf16>, %v: tensor<2x64x32xbf16>) -> tensor<2x64x32xf32> {
  %qf = prim.convert %q : (tensor<2x64x40xbf16>) -> tensor<2x64x40xf32>
  %kf = prim.convert %k : (tensor<2x64x40xbf16>) -> tensor<2x64x40xf32>
  %vf = prim.convert %v : (tensor<2x64x32xbf16>) -> tensor<2x64x32xf32>
  %s = prim.dot %qf, %kf {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 2>} : (tensor<2x64x40xf32>, tensor<2x64x40xf32>) -> tensor<2x64x64xf32>
  %y = prim.softmax_dot %s, %vf {empty = "nan", lhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>} : (tensor<2x64x64xf32>, tensor<2x64x32xf32>) -> tensor<2x64x32xf32>
  return %y : tensor<2x64x32xf32>
}
