// RUN: rs-opt %s --simplify-constants | FileCheck %s

// CHECK-LABEL: func.func @arithmetic(
// CHECK-NEXT: prim.constant {value = dense<[5.000000e-01, 1.500000e+00]> : tensor<2xf32>}
// CHECK-NEXT: return
func.func @arithmetic() -> tensor<2xf32> {
  %a = prim.constant {value = dense<[1.0, 9.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %b = prim.constant {value = dense<4.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = prim.div %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = prim.sqrt %0 : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// Integers wrap.
// CHECK-LABEL: func.func @wrapping(
// CHECK-NEXT: prim.constant {value = dense<-126> : tensor<i8>}
// CHECK-NEXT: return
func.func @wrapping() -> tensor<i8> {
  %a = prim.constant {value = dense<65> : tensor<i8>} : () -> tensor<i8>
  %0 = prim.add %a, %a : (tensor<i8>, tensor<i8>) -> tensor<i8>
  return %0 : tensor<i8>
}

// Not correctly rounded everywhere, division by zero, out of range: left to run time.
// CHECK-LABEL: func.func @left(
// CHECK: prim.exp
// CHECK: prim.div
// CHECK: prim.convert
func.func @left() -> (tensor<f32>, tensor<i32>, tensor<i8>) {
  %a = prim.constant {value = dense<1.0e20> : tensor<f32>} : () -> tensor<f32>
  %0 = prim.exp %a : (tensor<f32>) -> tensor<f32>
  %z = prim.constant {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %1 = prim.div %z, %z : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %2 = prim.convert %a : (tensor<f32>) -> tensor<i8>
  return %0, %1, %2 : tensor<f32>, tensor<i32>, tensor<i8>
}

// Rounded to the nearest, of two the even one, and to the largest; a number of f64 is rounded to f32 first.
// CHECK-LABEL: func.func @of_a_byte(
// CHECK-NEXT: prim.constant {value = dense<[3.125000e-01, 4.480000e+02, 1.000000e+00, -1.953130e-03]> : tensor<4xf8E4M3FN>}
// CHECK-NEXT: return
func.func @of_a_byte() -> tensor<4xf8E4M3FN> {
  %a = prim.constant {value = dense<[0.3, 1.0e9, 1.0625000001, -0.0015]> : tensor<4xf64>} : () -> tensor<4xf64>
  %0 = prim.convert %a : (tensor<4xf64>) -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// One number in all places is converted once, through views too; of unknown many places it stays.
// CHECK-LABEL: func.func @repeated(
// CHECK: %[[ZERO:.*]] = prim.constant {value = dense<3.000000e+00> : tensor<f32>}
// CHECK: %[[ALL:.*]] = prim.broadcast %[[ZERO]] {dims = array<i64>} : (tensor<f32>) -> tensor<4x1xf32>
// CHECK: %[[SOME:.*]] = prim.convert %{{.*}} -> tensor<?xf32>
// CHECK: return %[[ALL]], %[[SOME]]
func.func @repeated(%n: index) -> (tensor<4x1xf32>, tensor<?xf32>) {
  %a = prim.constant {value = dense<3> : tensor<i64>} : () -> tensor<i64>
  %0 = prim.broadcast %a {dims = array<i64>} : (tensor<i64>) -> tensor<4xi64>
  %1 = prim.reshape %0 : (tensor<4xi64>) -> tensor<4x1xi64>
  %2 = prim.convert %1 : (tensor<4x1xi64>) -> tensor<4x1xf32>
  %3 = prim.broadcast %a, %n {dims = array<i64>} : (tensor<i64>, index) -> tensor<?xi64>
  %4 = prim.convert %3 : (tensor<?xi64>) -> tensor<?xf32>
  return %2, %4 : tensor<4x1xf32>, tensor<?xf32>
}

// The largest of one element is the first; of several it is not known.
// CHECK-LABEL: func.func @position_in_one(
// CHECK-DAG: %[[ZERO:.*]] = prim.constant {value = dense<0> : tensor<i64>}
// CHECK-DAG: %[[FIRST:.*]] = prim.broadcast %[[ZERO]] {dims = array<i64>} : (tensor<i64>) -> tensor<4x8xi64>
// CHECK-DAG: %[[OTHER:.*]] = prim.arg_reduce %arg1
// CHECK: return %[[FIRST]], %[[OTHER]]
func.func @position_in_one(%x: tensor<4x1x8xbf16>, %y: tensor<4x2x8xbf16>) -> (tensor<4x8xi64>, tensor<4x8xi64>) {
  %0 = prim.arg_reduce %x {dim = 1 : i64, kind = "max"} : (tensor<4x1x8xbf16>) -> tensor<4x8xi64>
  %1 = prim.arg_reduce %y {dim = 1 : i64, kind = "max"} : (tensor<4x2x8xbf16>) -> tensor<4x8xi64>
  return %0, %1 : tensor<4x8xi64>, tensor<4x8xi64>
}
