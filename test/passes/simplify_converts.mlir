// RUN: rs-opt %s --simplify-converts | FileCheck %s

// CHECK-LABEL: func.func @widened_twice(
// CHECK-NEXT: prim.convert %{{.*}} : (tensor<4xf16>) -> tensor<4xf64>
// CHECK-NEXT: return
func.func @widened_twice(%x: tensor<4xf16>) -> tensor<4xf64> {
  %0 = prim.convert %x : (tensor<4xf16>) -> tensor<4xf32>
  %1 = prim.convert %0 : (tensor<4xf32>) -> tensor<4xf64>
  return %1 : tensor<4xf64>
}

// CHECK-LABEL: func.func @there_and_back(
// CHECK-NEXT: return
func.func @there_and_back(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = prim.convert %x : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = prim.convert %0 : (tensor<4xf32>) -> tensor<4xbf16>
  return %1 : tensor<4xbf16>
}

// The first conversion rounds.
// CHECK-LABEL: func.func @rounded(
// CHECK-COUNT-2: prim.convert
func.func @rounded(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = prim.convert %x : (tensor<4xf32>) -> tensor<4xf16>
  %1 = prim.convert %0 : (tensor<4xf16>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// 300 as an i8 is 44; as a float that goes to an i8 it is out of range.
// CHECK-LABEL: func.func @through_a_float(
// CHECK-COUNT-2: prim.convert
func.func @through_a_float(%x: tensor<4xi16>) -> tensor<4xi8> {
  %0 = prim.convert %x : (tensor<4xi16>) -> tensor<4xf32>
  %1 = prim.convert %0 : (tensor<4xf32>) -> tensor<4xi8>
  return %1 : tensor<4xi8>
}

// Every float of 8 bits is a half.
// CHECK-LABEL: func.func @wider_than_a_byte(
// CHECK-NEXT: prim.convert %{{.*}} : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
// CHECK-NEXT: return
func.func @wider_than_a_byte(%x: tensor<4xf8E4M3FN>) -> tensor<4xf32> {
  %0 = prim.convert %x : (tensor<4xf8E4M3FN>) -> tensor<4xf16>
  %1 = prim.convert %0 : (tensor<4xf16>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// No type of 8 bits has the numbers of the other.
// CHECK-LABEL: func.func @another_byte(
// CHECK-COUNT-2: prim.convert
func.func @another_byte(%x: tensor<4xf8E4M3FN>) -> tensor<4xf32> {
  %0 = prim.convert %x : (tensor<4xf8E4M3FN>) -> tensor<4xf8E5M2>
  %1 = prim.convert %0 : (tensor<4xf8E5M2>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A table is not widened for the rows that are gathered from it.
// CHECK-LABEL: func.func @gathered(
// CHECK-NEXT: %[[ROWS:.*]] = prim.gather %arg0, %arg1 {dims = array<i64: 0>} : (tensor<1000x4xbf16>, tensor<3xi64>) -> tensor<3x4xbf16>
// CHECK-NEXT: prim.convert %[[ROWS]] : (tensor<3x4xbf16>) -> tensor<3x4xf32>
func.func @gathered(%x: tensor<1000x4xbf16>, %i: tensor<3xi64>) -> tensor<3x4xf32> {
  %0 = prim.convert %x : (tensor<1000x4xbf16>) -> tensor<1000x4xf32>
  %1 = prim.gather %0, %i {dims = array<i64: 0>} : (tensor<1000x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// What else reads the wide table needs it anyway.
// CHECK-LABEL: func.func @gathered_and_read(
// CHECK-NEXT: prim.convert
// CHECK-NEXT: prim.gather
func.func @gathered_and_read(%x: tensor<1000x4xbf16>, %i: tensor<3xi64>) -> (tensor<3x4xf32>, tensor<1000x4xf32>) {
  %0 = prim.convert %x : (tensor<1000x4xbf16>) -> tensor<1000x4xf32>
  %1 = prim.gather %0, %i {dims = array<i64: 0>} : (tensor<1000x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
  return %1, %0 : tensor<3x4xf32>, tensor<1000x4xf32>
}

// A narrower table is read faster.
// CHECK-LABEL: func.func @gathered_narrow(
// CHECK-NEXT: prim.convert
// CHECK-NEXT: prim.gather
func.func @gathered_narrow(%x: tensor<1000x4xf32>, %i: tensor<3xi64>) -> tensor<3x4xbf16> {
  %0 = prim.convert %x : (tensor<1000x4xf32>) -> tensor<1000x4xbf16>
  %1 = prim.gather %0, %i {dims = array<i64: 0>} : (tensor<1000x4xbf16>, tensor<3xi64>) -> tensor<3x4xbf16>
  return %1 : tensor<3x4xbf16>
}
