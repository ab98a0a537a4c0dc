// On a CPU whose units take half of a register at once, rows that leave most of a register's half empty go by halves of it.
// RUN: rs-opt %s --attach-target=cpu=znver4 --prim-to-loop --schedule-cpu --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --attach-target=cpu=znver5 --prim-to-loop --schedule-cpu --split-input-file | rs-filecheck %s --check-prefix=WHOLE

// Twenty floats are three halves, of which the last is masked, or two registers.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: vector = 1 : i64, width = 8 : i64
// WHOLE-LABEL: loop.kernel @k0
// WHOLE-SAME: vector = 1 : i64, width = 16 : i64
func.func @short(%x: tensor<300x20xf32>, %y: tensor<20xf32>) -> tensor<300x20xf32> {
  %0 = prim.fusion %x, %y : (tensor<300x20xf32>, tensor<20xf32>) -> tensor<300x20xf32> {
  ^bb0(%a: tensor<300x20xf32>, %b: tensor<20xf32>):
    %1 = prim.broadcast %b {dims = array<i64: 1>} : (tensor<20xf32>) -> tensor<300x20xf32>
    %2 = prim.add %a, %1 : tensor<300x20xf32>
    prim.yield %2 : tensor<300x20xf32>
  }
  return %0 : tensor<300x20xf32>
}

// -----

// In a long row the last vector does not count, and halves are twice as many.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: width = 16 : i64
// WHOLE-LABEL: loop.kernel @k0
// WHOLE-SAME: width = 16 : i64
func.func @long(%x: tensor<100007xf32>) -> tensor<100007xf32> {
  %0 = prim.add %x, %x : tensor<100007xf32>
  return %0 : tensor<100007xf32>
}

// -----

// Halves of 32 bytes fill the units.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: width = 32 : i64
// WHOLE-LABEL: loop.kernel @k0
// WHOLE-SAME: width = 64 : i64
func.func @bytes(%x: tensor<300x198xi8>, %y: tensor<198xi8>) -> tensor<300x198xi8> {
  %0 = prim.fusion %x, %y : (tensor<300x198xi8>, tensor<198xi8>) -> tensor<300x198xi8> {
  ^bb0(%a: tensor<300x198xi8>, %b: tensor<198xi8>):
    %1 = prim.broadcast %b {dims = array<i64: 1>} : (tensor<198xi8>) -> tensor<300x198xi8>
    %2 = prim.add %a, %1 : tensor<300x198xi8>
    prim.yield %2 : tensor<300x198xi8>
  }
  return %0 : tensor<300x198xi8>
}

// -----

// Matrices are turned in whole registers, whatever their edges.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: width = 16 : i64
// CHECK: schedule = {transpose = 0 : i64}
// WHOLE-LABEL: loop.kernel @k0
// WHOLE-SAME: width = 16 : i64
// WHOLE: schedule = {transpose = 0 : i64}
func.func @turned(%x: tensor<49x1024xf32>) -> tensor<1024x49xf32> {
  %0 = prim.transpose %x {perm = array<i64: 1, 0>} : (tensor<49x1024xf32>) -> tensor<1024x49xf32>
  return %0 : tensor<1024x49xf32>
}
