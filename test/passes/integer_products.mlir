// RUN: rs-opt %s --attach-target='entries={features = "+avx512vnni"}' --integer-products --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --attach-target='entries={features = "+avx512vnni"}' --check-semantics --integer-products --split-input-file | rs-filecheck %s --check-prefix=SAME
// SAME-COUNT-10: checked 2 of 2 passes
// RUN: rs-opt %s --integer-products=remarks --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=NONE
// NONE: remark: the CPU has no instruction for products of bytes [integer-products]
// RUN: rs-opt %s --attach-target='entries={features = "+avx512vnni"}' "--integer-products=remarks numerics=strict" --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=STRICT
// STRICT: remark: the numerics are strict [integer-products]
// RUN: rs-opt %s --attach-target='entries={features = "+avx512vnni"}' --integer-products=remarks --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY
// WHY: remark: a scale or a zero point differs along what is summed [integer-products]
// WHY: remark: a zero point is no whole number [integer-products]
// WHY: remark: both operands have a zero point [integer-products]
// WHY: remark: an operand is not quantised to 8 bits [integer-products]
// WHY: remark: it sums so many products, or it is not known how many, that i32 could overflow [integer-products]
// WHY: remark: its channels are in groups [integer-products]
// WHY: remark: a zero point is that of weights, of one of several images, or may need more than 8 bits [integer-products]

// A scale for each row of the weights, one of the other operand, and its zero point times the sums of the weights.
// CHECK-LABEL: func.func @linear
// CHECK: %[[P:.*]] = prim.dot %arg0, %arg1 {{.*}} : (tensor<16x64xui8>, tensor<32x64xi8>) -> tensor<16x32xi32>
// CHECK: %[[WIDE:.*]] = prim.convert %arg1 : (tensor<32x64xi8>) -> tensor<32x64xi32>
// CHECK: %[[SUMS:.*]] = prim.reduce %[[WIDE]] {dims = array<i64: 1>, kind = "sum"} : (tensor<32x64xi32>) -> tensor<32xi32>
// CHECK: %[[TIMES:.*]] = prim.mul %[[SUMS]], %{{.*}} : tensor<32xi32>
// CHECK: %[[ALL:.*]] = prim.broadcast %[[TIMES]] {dims = array<i64: 1>} : (tensor<32xi32>) -> tensor<16x32xi32>
// CHECK: %[[MOVED:.*]] = prim.sub %[[P]], %[[ALL]] : tensor<16x32xi32>
// CHECK: %[[F:.*]] = prim.convert %[[MOVED]] : (tensor<16x32xi32>) -> tensor<16x32xf32>
// CHECK: %[[SCALE:.*]] = prim.mul %arg2, %{{.*}} : tensor<32xf32>
// CHECK: %[[WIDER:.*]] = prim.broadcast %[[SCALE]] {dims = array<i64: 1>} : (tensor<32xf32>) -> tensor<16x32xf32>
// CHECK: prim.mul %[[F]], %[[WIDER]] : tensor<16x32xf32>
func.func @linear(%x: tensor<16x64xui8>, %w: tensor<32x64xi8>, %s: tensor<32xf32>) -> tensor<16x32xf32> {
  %z = prim.constant {value = dense<126.0> : tensor<f32>} : tensor<f32>
  %t = prim.constant {value = dense<0.03> : tensor<f32>} : tensor<f32>
  %0 = prim.convert %x : (tensor<16x64xui8>) -> tensor<16x64xf32>
  %1 = prim.broadcast %z {dims = array<i64>} : (tensor<f32>) -> tensor<16x64xf32>
  %2 = prim.sub %0, %1 : tensor<16x64xf32>
  %3 = prim.broadcast %t {dims = array<i64>} : (tensor<f32>) -> tensor<16x64xf32>
  %4 = prim.mul %2, %3 : tensor<16x64xf32>
  %5 = prim.convert %w : (tensor<32x64xi8>) -> tensor<32x64xf32>
  %6 = prim.broadcast %s {dims = array<i64: 0>} : (tensor<32xf32>) -> tensor<32x64xf32>
  %7 = prim.mul %5, %6 : tensor<32x64xf32>
  %8 = prim.dot %4, %7 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<16x64xf32>, tensor<32x64xf32>) -> tensor<16x32xf32>
  return %8 : tensor<16x32xf32>
}

// -----

// A scale and a zero point for each row that is computed; both operands have a sign, so its bytes get 128 added, which the zero points get too.
// CHECK-LABEL: func.func @tokens
// CHECK: %[[BITS:.*]] = prim.bitcast %arg0 : (tensor<16x64xi8>) -> tensor<16x64xui8>
// CHECK: %[[LIFTED:.*]] = prim.xor %[[BITS]], %{{.*}} : tensor<16x64xui8>
// CHECK: prim.dot %[[LIFTED]], %arg1 {{.*}} : (tensor<16x64xui8>, tensor<32x64xi8>) -> tensor<16x32xi32>
// CHECK: prim.broadcast %{{.*}} {dims = array<i64: 1>} : (tensor<32xi32>) -> tensor<16x32xi32>
// CHECK: prim.broadcast %{{.*}} {dims = array<i64: 0>} : (tensor<16xi32>) -> tensor<16x32xi32>
// CHECK: prim.mul %{{.*}}, %{{.*}} : tensor<16x32xf32>
// CHECK: prim.mul %{{.*}}, %{{.*}} : tensor<16x32xf32>
func.func @tokens(%x: tensor<16x64xi8>, %w: tensor<32x64xi8>, %s: tensor<32xf32>, %t: tensor<16x1xf32>, %z: tensor<16xi8>) -> tensor<16x32xf32> {
  %0 = prim.convert %x : (tensor<16x64xi8>) -> tensor<16x64xf32>
  %y = prim.convert %z : (tensor<16xi8>) -> tensor<16xf32>
  %1 = prim.broadcast %y {dims = array<i64: 0>} : (tensor<16xf32>) -> tensor<16x64xf32>
  %2 = prim.sub %0, %1 : tensor<16x64xf32>
  %3 = prim.broadcast %t {dims = array<i64: 0, 1>} : (tensor<16x1xf32>) -> tensor<16x64xf32>
  %4 = prim.mul %3, %2 : tensor<16x64xf32>
  %5 = prim.convert %w : (tensor<32x64xi8>) -> tensor<32x64xf32>
  %6 = prim.broadcast %s {dims = array<i64: 0>} : (tensor<32xf32>) -> tensor<32x64xf32>
  %7 = prim.mul %5, %6 : tensor<32x64xf32>
  %8 = prim.dot %4, %7 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<16x64xf32>, tensor<32x64xf32>) -> tensor<16x32xf32>
  return %8 : tensor<16x32xf32>
}

// -----

// Zero points that are computed in wider integers may be too large for i32: what they take from the sums is f32.
// CHECK-LABEL: func.func @wide
// CHECK: %[[P:.*]] = prim.dot %arg0, %arg1 {{.*}} -> tensor<16x32xi32>
// CHECK: %[[F:.*]] = prim.convert %[[P]] : (tensor<16x32xi32>) -> tensor<16x32xf32>
// CHECK: %[[SUMS:.*]] = prim.convert %{{.*}} : (tensor<32xi32>) -> tensor<32xf32>
// CHECK: prim.sub %[[F]], %{{.*}} : tensor<16x32xf32>
func.func @wide(%x: tensor<16x64xui8>, %w: tensor<32x64xi8>, %z: tensor<16xi64>) -> tensor<16x32xf32> {
  %0 = prim.convert %x : (tensor<16x64xui8>) -> tensor<16x64xf32>
  %1 = prim.convert %z : (tensor<16xi64>) -> tensor<16xf32>
  %2 = prim.broadcast %1 {dims = array<i64: 0>} : (tensor<16xf32>) -> tensor<16x64xf32>
  %3 = prim.sub %0, %2 : tensor<16x64xf32>
  %4 = prim.convert %w : (tensor<32x64xi8>) -> tensor<32x64xf32>
  %5 = prim.dot %3, %4 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<16x64xf32>, tensor<32x64xf32>) -> tensor<16x32xf32>
  return %5 : tensor<16x32xf32>
}

// -----

// What pads an image is its zero point; of unknown sizes too.
// CHECK-LABEL: func.func @conv
// CHECK: %[[ZERO:.*]] = prim.convert %{{.*}} -> tensor<ui8>
// CHECK: %[[PADDED:.*]] = prim.pad %arg0, %[[ZERO]] {high = array<i64: 0, 0, 1, 1>, interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 0, 1, 1>}
// CHECK: prim.conv %[[PADDED]], %arg1 {{.*}}high = array<i64: 0, 0>{{.*}}low = array<i64: 0, 0>{{.*}} -> tensor<?x5x8x8xi32>
// CHECK: prim.reduce %{{.*}} {dims = array<i64: 1, 2, 3>, kind = "sum"}
func.func @conv(%x: tensor<?x6x8x8xui8>, %w: tensor<5x6x3x3xi8>) -> tensor<?x5x8x8xf32> {
  %z = prim.constant {value = dense<3.0> : tensor<f32>} : tensor<f32>
  %n = prim.dim %x {dim = 0 : i64} : (tensor<?x6x8x8xui8>) -> index
  %0 = prim.convert %x : (tensor<?x6x8x8xui8>) -> tensor<?x6x8x8xf32>
  %1 = prim.broadcast %z, %n {dims = array<i64>} : (tensor<f32>, index) -> tensor<?x6x8x8xf32>
  %2 = prim.sub %0, %1 : tensor<?x6x8x8xf32>
  %3 = prim.convert %w : (tensor<5x6x3x3xi8>) -> tensor<5x6x3x3xf32>
  %4 = prim.conv %2, %3 {strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<?x6x8x8xf32>, tensor<5x6x3x3xf32>) -> tensor<?x5x8x8xf32>
  return %4 : tensor<?x5x8x8xf32>
}

// -----

// Of a transposed convolution what stands between elements is the zero point as well; without one, zeros are.
// CHECK-LABEL: func.func @transposed
// CHECK: prim.pad %arg0, %{{.*}} {high = array<i64: 0, 0, 2>, interior = array<i64: 0, 0, 1>, low = array<i64: 0, 0, 2>}
// CHECK: prim.conv %{{.*}}lhs_dilation = array<i64: 1>
// CHECK: prim.conv %arg0, %arg1 {{.*}}lhs_dilation = array<i64: 2>, low = array<i64: 2>
func.func @transposed(%x: tensor<1x6x8xui8>, %w: tensor<5x6x3xi8>) -> (tensor<1x5x17xf32>, tensor<1x5x17xf32>) {
  %z = prim.constant {value = dense<3.0> : tensor<f32>} : tensor<f32>
  %0 = prim.convert %x : (tensor<1x6x8xui8>) -> tensor<1x6x8xf32>
  %1 = prim.broadcast %z {dims = array<i64>} : (tensor<f32>) -> tensor<1x6x8xf32>
  %2 = prim.sub %0, %1 : tensor<1x6x8xf32>
  %3 = prim.convert %w : (tensor<5x6x3xi8>) -> tensor<5x6x3xf32>
  %4 = prim.conv %2, %3 {strides = array<i64: 1>, low = array<i64: 2>, high = array<i64: 2>, lhs_dilation = array<i64: 2>, rhs_dilation = array<i64: 1>, groups = 1 : i64} : (tensor<1x6x8xf32>, tensor<5x6x3xf32>) -> tensor<1x5x17xf32>
  %5 = prim.conv %0, %3 {strides = array<i64: 1>, low = array<i64: 2>, high = array<i64: 2>, lhs_dilation = array<i64: 2>, rhs_dilation = array<i64: 1>, groups = 1 : i64} : (tensor<1x6x8xf32>, tensor<5x6x3xf32>) -> tensor<1x5x17xf32>
  return %4, %5 : tensor<1x5x17xf32>, tensor<1x5x17xf32>
}

// -----

// Integers that were made wide are multiplied as they were; what is taken from one is taken from the sums. Nothing is rounded, and sums of any
// length wrap.
// CHECK-LABEL: func.func @integers
// CHECK: %[[P:.*]] = prim.dot %arg0, %arg1 {{.*}} : (tensor<4x9xui8>, tensor<9x5xi8>) -> tensor<4x5xi32>
// CHECK: prim.reduce %{{.*}} {dims = array<i64: 0>, kind = "sum"} : (tensor<9x5xi32>) -> tensor<5xi32>
// CHECK: %[[R:.*]] = prim.sub %[[P]], %{{.*}} : tensor<4x5xi32>
// CHECK: prim.dot %arg2, %arg3 {{.*}} : (tensor<1x70000xui8>, tensor<70000x1xi8>) -> tensor<1x1xi32>
// CHECK: return %[[R]]
func.func @integers(%x: tensor<4x9xui8>, %w: tensor<9x5xi8>, %y: tensor<1x70000xui8>, %v: tensor<70000x1xi8>) -> (tensor<4x5xi32>, tensor<1x1xi32>) {
  %z = prim.constant {value = dense<100> : tensor<i32>} : tensor<i32>
  %0 = prim.convert %x : (tensor<4x9xui8>) -> tensor<4x9xi32>
  %1 = prim.broadcast %z {dims = array<i64>} : (tensor<i32>) -> tensor<4x9xi32>
  %2 = prim.sub %0, %1 : tensor<4x9xi32>
  %3 = prim.convert %w : (tensor<9x5xi8>) -> tensor<9x5xi32>
  %4 = prim.dot %2, %3 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x9xi32>, tensor<9x5xi32>) -> tensor<4x5xi32>
  %5 = prim.convert %y : (tensor<1x70000xui8>) -> tensor<1x70000xi32>
  %6 = prim.convert %v : (tensor<70000x1xi8>) -> tensor<70000x1xi32>
  %7 = prim.dot %5, %6 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1x70000xi32>, tensor<70000x1xi32>) -> tensor<1x1xi32>
  return %4, %7 : tensor<4x5xi32>, tensor<1x1xi32>
}

// -----

// Refused: a scale along what is summed, a zero point that is no whole number, two zero points, and numbers that are not quantised.
// CHECK-LABEL: func.func @dots
// CHECK-NOT: i32>
// CHECK: return
func.func @dots(%x: tensor<16x64xui8>, %w: tensor<32x64xi8>, %s: tensor<64xf32>, %z: tensor<f32>, %f: tensor<16x64xf32>)
    -> (tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>) {
  %n = prim.constant {value = dense<3.0> : tensor<f32>} : tensor<f32>
  %0 = prim.convert %x : (tensor<16x64xui8>) -> tensor<16x64xf32>
  %1 = prim.convert %w : (tensor<32x64xi8>) -> tensor<32x64xf32>
  %2 = prim.broadcast %s {dims = array<i64: 1>} : (tensor<64xf32>) -> tensor<16x64xf32>
  %3 = prim.mul %0, %2 : tensor<16x64xf32>
  %4 = prim.dot %3, %1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<16x64xf32>, tensor<32x64xf32>) -> tensor<16x32xf32>
  %5 = prim.broadcast %z {dims = array<i64>} : (tensor<f32>) -> tensor<16x64xf32>
  %6 = prim.sub %0, %5 : tensor<16x64xf32>
  %7 = prim.dot %6, %1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<16x64xf32>, tensor<32x64xf32>) -> tensor<16x32xf32>
  %8 = prim.broadcast %n {dims = array<i64>} : (tensor<f32>) -> tensor<16x64xf32>
  %9 = prim.sub %0, %8 : tensor<16x64xf32>
  %10 = prim.broadcast %n {dims = array<i64>} : (tensor<f32>) -> tensor<32x64xf32>
  %11 = prim.sub %1, %10 : tensor<32x64xf32>
  %12 = prim.dot %9, %11 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<16x64xf32>, tensor<32x64xf32>) -> tensor<16x32xf32>
  %13 = prim.dot %f, %1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<16x64xf32>, tensor<32x64xf32>) -> tensor<16x32xf32>
  return %4, %7, %12, %13 : tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x32xf32>
}

// -----

// Refused: more products than i32 is sure to hold.
// CHECK-LABEL: func.func @long
// CHECK-NOT: i32>
// CHECK: return
func.func @long(%x: tensor<1x40000xui8>, %w: tensor<1x40000xi8>) -> tensor<1x1xf32> {
  %0 = prim.convert %x : (tensor<1x40000xui8>) -> tensor<1x40000xf32>
  %1 = prim.convert %w : (tensor<1x40000xi8>) -> tensor<1x40000xf32>
  %2 = prim.dot %0, %1 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<1x40000xf32>, tensor<1x40000xf32>) -> tensor<1x1xf32>
  return %2 : tensor<1x1xf32>
}

// -----

// One zero point may have dims of size 1.
// CHECK-LABEL: func.func @one_image
// CHECK: prim.conv {{.*}} : (tensor<1x6x8xui8>, tensor<4x6x3xi8>) -> tensor<1x4x6xi32>
func.func @one_image(%x: tensor<1x6x8xui8>, %w: tensor<4x6x3xi8>, %z: tensor<1xi8>) -> tensor<1x4x6xf32> {
  %0 = prim.convert %x : (tensor<1x6x8xui8>) -> tensor<1x6x8xf32>
  %1 = prim.convert %w : (tensor<4x6x3xi8>) -> tensor<4x6x3xf32>
  %2 = prim.convert %z : (tensor<1xi8>) -> tensor<1xf32>
  %3 = prim.broadcast %2 {dims = array<i64: 0>} : (tensor<1xf32>) -> tensor<1x6x8xf32>
  %4 = prim.sub %0, %3 : tensor<1x6x8xf32>
  %5 = prim.conv %4, %1 {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, groups = 1 : i64} : (tensor<1x6x8xf32>, tensor<4x6x3xf32>) -> tensor<1x4x6xf32>
  return %5 : tensor<1x4x6xf32>
}

// -----

// Refused: channels in groups, and zero points of an image each.
// CHECK-LABEL: func.func @convs
// CHECK-NOT: i32>
// CHECK: return
func.func @convs(%x: tensor<2x6x8xui8>, %g: tensor<4x3x3xi8>, %w: tensor<4x6x3xi8>, %z: tensor<2xi8>) -> (tensor<2x4x6xf32>, tensor<2x4x6xf32>) {
  %0 = prim.convert %x : (tensor<2x6x8xui8>) -> tensor<2x6x8xf32>
  %1 = prim.convert %g : (tensor<4x3x3xi8>) -> tensor<4x3x3xf32>
  %2 = prim.conv %0, %1 {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, groups = 2 : i64} : (tensor<2x6x8xf32>, tensor<4x3x3xf32>) -> tensor<2x4x6xf32>
  %3 = prim.convert %w : (tensor<4x6x3xi8>) -> tensor<4x6x3xf32>
  %4 = prim.convert %z : (tensor<2xi8>) -> tensor<2xf32>
  %5 = prim.broadcast %4 {dims = array<i64: 0>} : (tensor<2xf32>) -> tensor<2x6x8xf32>
  %6 = prim.sub %0, %5 : tensor<2x6x8xf32>
  %7 = prim.conv %6, %3 {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, groups = 1 : i64} : (tensor<2x6x8xf32>, tensor<4x6x3xf32>) -> tensor<2x4x6xf32>
  return %2, %7 : tensor<2x4x6xf32>, tensor<2x4x6xf32>
}
