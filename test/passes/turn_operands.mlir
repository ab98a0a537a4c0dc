// RUN: rs-opt %s --prim-to-loop --turn-operands --split-input-file | FileCheck %s
// RUN: rs-opt %s --prim-to-loop --turn-operands --schedule-cpu --split-input-file | rs-filecheck %s --check-prefix=SCHEDULED
// RUN: rs-opt %s --prim-to-loop --turn-operands=remarks --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY
// WHY: remark: it lies along the result's last dims, or in short rows itself [turn-operands]
// WHY: remark: the result's rows are not short, or those before them are [turn-operands]
// WHY: remark: it has another element for several of the result's [turn-operands]
// WHY: remark: it stays in the first cache [turn-operands]

// Phases of a transposed convolution: pixels with their channels become rows of channels, two columns from each pixel. The copy is a transpose
// in registers, and what reads it interleaves.
// CHECK-DAG: #[[SWAP:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3, d2)>
// CHECK-DAG: #[[READ:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d1, d2, d0)>
// CHECK-LABEL: loop.kernel @k0.turn0
// CHECK: loop.stage %{{.*}} {domain = array<i64: 0, 1, 2, 3>, {{.*}}maps = [#[[READ]]]{{.*}} : (tensor<64x64x2x112xf32>) -> tensor<112x64x2x64xf32>
// CHECK-LABEL: loop.kernel @k0 {
// CHECK: loop.stage %{{.*}} {domain = array<i64: 0, 1, 2, 3>, {{.*}}maps = [#[[SWAP]]]{{.*}} : {{.*}}tensor<112x64x64x2xf32>
// CHECK-LABEL: func.func @phases(
// CHECK: %[[COPY:.*]] = loop.call %arg0 {callee = @k0.turn0}
// CHECK: loop.call %[[COPY]] {callee = @k0}
// SCHEDULED: loop.kernel @k0.turn0 {{.*}}tile = array
// SCHEDULED: schedule = {transpose = 0 : i64}
// SCHEDULED: loop.kernel @k0 {{.*}}vector = 2 : i64
func.func @phases(%x: tensor<64x64x2x112xf32>) -> tensor<112x64x64x2xf32> {
  %0 = prim.transpose %x {perm = array<i64: 3, 1, 0, 2>} : (tensor<64x64x2x112xf32>) -> tensor<112x64x64x2xf32>
  return %0 : tensor<112x64x64x2xf32>
}

// -----

// Interleaved alone: lanes along the rows before.
// CHECK-LABEL: loop.kernel @k0
// CHECK-NOT: k0.turn
func.func @interleaved(%x: tensor<112x64x2x64xf32>) -> tensor<112x64x64x2xf32> {
  %0 = prim.transpose %x {perm = array<i64: 0, 1, 3, 2>} : (tensor<112x64x2x64xf32>) -> tensor<112x64x64x2xf32>
  return %0 : tensor<112x64x64x2xf32>
}

// -----

// Turned alone: rows of 32 are vectors.
// CHECK-LABEL: loop.kernel @k0
// CHECK-NOT: k0.turn
func.func @long_rows(%x: tensor<64x64x32x112xf32>) -> tensor<112x64x64x32xf32> {
  %0 = prim.transpose %x {perm = array<i64: 3, 1, 0, 2>} : (tensor<64x64x32x112xf32>) -> tensor<112x64x64x32xf32>
  return %0 : tensor<112x64x64x32xf32>
}

// -----

// A vector along channels beside what is turned stays, and the arithmetic is that of the kernel that interleaves.
// CHECK-LABEL: loop.kernel @k0.turn0
// CHECK-NOT: arith.addf
// CHECK-LABEL: loop.kernel @k0 {
// CHECK: arith.addf
func.func @bias(%x: tensor<64x64x2x112xf32>, %b: tensor<112xf32>) -> tensor<112x64x64x2xf32> {
  %0 = prim.fusion %x, %b : (tensor<64x64x2x112xf32>, tensor<112xf32>) -> tensor<112x64x64x2xf32> {
  ^bb0(%a: tensor<64x64x2x112xf32>, %c: tensor<112xf32>):
    %1 = prim.transpose %a {perm = array<i64: 3, 1, 0, 2>} : (tensor<64x64x2x112xf32>) -> tensor<112x64x64x2xf32>
    %2 = prim.broadcast %c {dims = array<i64: 0>} : (tensor<112xf32>) -> tensor<112x64x64x2xf32>
    %3 = prim.add %1, %2 : tensor<112x64x64x2xf32>
    prim.yield %3 : tensor<112x64x64x2xf32>
  }
  return %0 : tensor<112x64x64x2xf32>
}

// -----

// Few elements.
// CHECK-LABEL: loop.kernel @k0
// CHECK-NOT: k0.turn
func.func @few(%x: tensor<16x4x2x16xf32>) -> tensor<16x4x16x2xf32> {
  %0 = prim.transpose %x {perm = array<i64: 3, 1, 0, 2>} : (tensor<16x4x2x16xf32>) -> tensor<16x4x16x2xf32>
  return %0 : tensor<16x4x16x2xf32>
}

// -----

// A transposed matrix beside each of a batch is turned once.
// CHECK-LABEL: loop.kernel @k0.turn1
// CHECK: -> tensor<64x256xf16>
// CHECK-LABEL: loop.kernel @k0 {
// CHECK-LABEL: func.func @again(
// CHECK: %[[COPY:.*]] = loop.call %arg1 {callee = @k0.turn1}
// CHECK: loop.call %arg0, %[[COPY]] {callee = @k0}
func.func @again(%x: tensor<16x64x256xf16>, %m: tensor<256x64xf16>) -> tensor<16x64x256xf16> {
  %0 = prim.fusion %x, %m : (tensor<16x64x256xf16>, tensor<256x64xf16>) -> tensor<16x64x256xf16> {
  ^bb0(%a: tensor<16x64x256xf16>, %b: tensor<256x64xf16>):
    %1 = prim.transpose %b {perm = array<i64: 1, 0>} : (tensor<256x64xf16>) -> tensor<64x256xf16>
    %2 = prim.broadcast %1 {dims = array<i64: 1, 2>} : (tensor<64x256xf16>) -> tensor<16x64x256xf16>
    %3 = prim.add %a, %2 : tensor<16x64x256xf16>
    prim.yield %3 : tensor<16x64x256xf16>
  }
  return %0 : tensor<16x64x256xf16>
}

// -----

// Squares of floats are turned in registers as fast as memory writes the result.
// CHECK-LABEL: loop.kernel @k0
// CHECK-NOT: k0.turn
func.func @floats(%x: tensor<16x64x256xf32>, %m: tensor<256x64xf32>) -> tensor<16x64x256xf32> {
  %0 = prim.fusion %x, %m : (tensor<16x64x256xf32>, tensor<256x64xf32>) -> tensor<16x64x256xf32> {
  ^bb0(%a: tensor<16x64x256xf32>, %b: tensor<256x64xf32>):
    %1 = prim.transpose %b {perm = array<i64: 1, 0>} : (tensor<256x64xf32>) -> tensor<64x256xf32>
    %2 = prim.broadcast %1 {dims = array<i64: 1, 2>} : (tensor<64x256xf32>) -> tensor<16x64x256xf32>
    %3 = prim.add %a, %2 : tensor<16x64x256xf32>
    prim.yield %3 : tensor<16x64x256xf32>
  }
  return %0 : tensor<16x64x256xf32>
}

// -----

// What is read twice is turned in registers twice.
// CHECK-LABEL: loop.kernel @k0
// CHECK-NOT: k0.turn
func.func @twice(%x: tensor<2x64x256xf16>, %m: tensor<256x64xf16>) -> tensor<2x64x256xf16> {
  %0 = prim.fusion %x, %m : (tensor<2x64x256xf16>, tensor<256x64xf16>) -> tensor<2x64x256xf16> {
  ^bb0(%a: tensor<2x64x256xf16>, %b: tensor<256x64xf16>):
    %1 = prim.transpose %b {perm = array<i64: 1, 0>} : (tensor<256x64xf16>) -> tensor<64x256xf16>
    %2 = prim.broadcast %1 {dims = array<i64: 1, 2>} : (tensor<64x256xf16>) -> tensor<2x64x256xf16>
    %3 = prim.add %a, %2 : tensor<2x64x256xf16>
    prim.yield %3 : tensor<2x64x256xf16>
  }
  return %0 : tensor<2x64x256xf16>
}

// -----

// A border around what is read stays where it is read.
// CHECK-LABEL: loop.kernel @k0.turn0
// CHECK: -> tensor<47x2209xf16>
// CHECK-LABEL: loop.kernel @k0 {
// CHECK: guarded = array<i1: true>
func.func @bordered(%x: tensor<2209x47xf16>) -> tensor<16x49x2209xf16> {
  %0 = prim.fusion %x : (tensor<2209x47xf16>) -> tensor<16x49x2209xf16> {
  ^bb0(%a: tensor<2209x47xf16>):
    %1 = prim.constant {value = dense<0.000000e+00> : tensor<f16>} : tensor<f16>
    %2 = prim.pad %a, %1 {high = array<i64: 0, 0>, interior = array<i64: 0, 0>, low = array<i64: 0, 2>} : (tensor<2209x47xf16>, tensor<f16>) -> tensor<2209x49xf16>
    %3 = prim.transpose %2 {perm = array<i64: 1, 0>} : (tensor<2209x49xf16>) -> tensor<49x2209xf16>
    %4 = prim.broadcast %3 {dims = array<i64: 1, 2>} : (tensor<49x2209xf16>) -> tensor<16x49x2209xf16>
    prim.yield %4 : tensor<16x49x2209xf16>
  }
  return %0 : tensor<16x49x2209xf16>
}

// -----

// So is what becomes one element of each short row.
// CHECK-LABEL: loop.kernel @k0.turn0
// CHECK: loop.stage %{{.*}} : (tensor<500x1x490xf32>) -> tensor<490x1x500xf32>
// CHECK-LABEL: loop.kernel @k0.turn1
// CHECK: loop.stage %{{.*}} : (tensor<500x1x490xf32>) -> tensor<490x1x500xf32>
// CHECK-LABEL: loop.kernel @k0 {
// CHECK: loop.stage {{.*}} guarded = array<i1: true, true>
// CHECK: func.func @columns
func.func @columns(%x: tensor<500x1x490xf32>, %y: tensor<500x1x490xf32>) -> tensor<490x500x2xf32> {
  %0 = prim.fusion %x, %y : (tensor<500x1x490xf32>, tensor<500x1x490xf32>) -> tensor<490x500x2xf32> {
  ^bb0(%a: tensor<500x1x490xf32>, %b: tensor<500x1x490xf32>):
    %1 = prim.concat %a, %b {dim = 1 : i64} : (tensor<500x1x490xf32>, tensor<500x1x490xf32>) -> tensor<500x2x490xf32>
    %2 = prim.transpose %1 {perm = array<i64: 2, 0, 1>} : (tensor<500x2x490xf32>) -> tensor<490x500x2xf32>
    prim.yield %2 : tensor<490x500x2xf32>
  }
  return %0 : tensor<490x500x2xf32>
}
