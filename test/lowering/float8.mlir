// Floats of 8 bits are conversions and bits: kernels have no op of their types.
// RUN: rs-opt %s --fuse-elementwise --prim-to-loop --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --split-input-file --to=cpu | rs-filecheck %s --check-prefix=CPU

// An exponent one place lower is moved to where f16 has it, and 256 makes up for the bias.
// CHECK-LABEL: loop.kernel @k0
// CHECK: loop.stage %{{.*}} : (tensor<40xf8E4M3FN>) -> tensor<40xf32>
// CHECK: ^bb0(%[[BITS:.*]]: i8):
// CHECK: arith.extsi %[[BITS]] : i8 to i16
// CHECK: arith.shli
// CHECK: arith.andi
// CHECK: %[[HALF:.*]] = arith.bitcast %{{.*}} : i16 to f16
// CHECK: %[[SMALL:.*]] = arith.extf %[[HALF]] : f16 to f32
// CHECK: arith.mulf %[[SMALL]]
// CHECK: arith.select
// CPU-LABEL: @k0
// CPU: vector<{{.*}}xi8>
// CPU-NOT: f8E4M3FN
func.func @numbers(%x: tensor<40xf8E4M3FN> {capture.kind = "input", capture.name = "x"}) -> (tensor<40xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.convert %x : (tensor<40xf8E4M3FN>) -> tensor<40xf32>
  return %0 : tensor<40xf32>
}

// -----

// The other type is the upper half of an f16.
// CHECK-LABEL: loop.kernel @k0
// CHECK: arith.shli
// CHECK-NEXT: arith.bitcast %{{.*}} : i16 to f16
// CHECK-NEXT: arith.extf
// CHECK-NEXT: loop.yield
func.func @halves(%x: tensor<40xf8E5M2> {capture.kind = "input", capture.name = "x"}) -> (tensor<40xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.convert %x : (tensor<40xf8E5M2>) -> tensor<40xf32>
  return %0 : tensor<40xf32>
}

// -----

// A number is rounded with integers; one below the normal ones by an addition.
// CHECK-LABEL: loop.kernel @k0
// CHECK: arith.truncf %{{.*}} : f64 to f32
// CHECK: arith.addf
// CHECK: arith.minui
// CHECK: %[[CODE:.*]] = arith.trunci %{{.*}} : i32 to i8
// CHECK: loop.yield %[[CODE]]
func.func @bits(%x: tensor<40xf64> {capture.kind = "input", capture.name = "x"}) -> (tensor<40xf8E4M3FN> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = prim.convert %x : (tensor<40xf64>) -> tensor<40xf8E4M3FN>
  return %0 : tensor<40xf8E4M3FN>
}

// -----

// What moves elements moves bits.
// CHECK-LABEL: loop.kernel @k0
// CHECK: ^bb0(%[[M:.*]]: i1, %[[X:.*]]: i8):
// CHECK-NEXT: %[[NUMBER:.*]] = arith.constant 62 : i8
// CHECK-NEXT: arith.select %[[M]], %[[X]], %[[NUMBER]] : i8
func.func @moved(%x: tensor<40xf8E5M2> {capture.kind = "input", capture.name = "x"}, %m: tensor<40xi1> {capture.kind = "input", capture.name = "m"}) -> (tensor<40xf8E5M2> {capture.kind = "output"}) attributes {capture.entry} {
  %c = prim.constant {value = dense<1.5> : tensor<f8E5M2>} : () -> tensor<f8E5M2>
  %0 = prim.broadcast %c {dims = array<i64>} : (tensor<f8E5M2>) -> tensor<40xf8E5M2>
  %1 = prim.select %m, %x, %0 : (tensor<40xi1>, tensor<40xf8E5M2>, tensor<40xf8E5M2>) -> tensor<40xf8E5M2>
  return %1 : tensor<40xf8E5M2>
}
