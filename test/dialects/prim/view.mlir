// Views: round trip in pretty and generic form, then each numbered constraint.
// RUN: rs-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: rs-opt %S/Inputs/view.mlir --mlir-print-op-generic | rs-opt | FileCheck %s
// RUN: rs-opt %S/Inputs/view.mlir --emit-bytecode | rs-opt | FileCheck %s

// CHECK-LABEL: func.func @views(
func.func @views(%x: tensor<4x?xf32>, %n: index, %s: tensor<f32>) {
  // CHECK: prim.broadcast %{{.*}}, %{{.*}} {dims = array<i64: 1, 2>} : (tensor<4x?xf32>, index) -> tensor<2x4x?xf32>
  %0 = prim.broadcast %x, %n {dims = array<i64: 1, 2>} : (tensor<4x?xf32>, index) -> tensor<2x4x?xf32>
  // CHECK: prim.reshape %{{.*}}, %{{.*}} : (tensor<4x?xf32>, index) -> tensor<?x4xf32>
  %1 = prim.reshape %x, %n : (tensor<4x?xf32>, index) -> tensor<?x4xf32>
  // CHECK: prim.transpose %{{.*}} {perm = array<i64: 1, 0>} : (tensor<4x?xf32>) -> tensor<?x4xf32>
  %2 = prim.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x?xf32>) -> tensor<?x4xf32>
  // CHECK: prim.reverse %{{.*}} {dims = array<i64: 0>} : tensor<4x?xf32>
  %3 = prim.reverse %x {dims = array<i64: 0>} : tensor<4x?xf32>
  // CHECK: prim.concat %{{.*}}, %{{.*}} {dim = 0 : i64} : (tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<8x?xf32>
  %4 = prim.concat %x, %x {dim = 0 : i64} : (tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<8x?xf32>
  // CHECK: prim.dim %{{.*}} {dim = 1 : i64} : (tensor<4x?xf32>) -> index
  %5 = prim.dim %x {dim = 1 : i64} : (tensor<4x?xf32>) -> index
  return
}

// -----

func.func @broadcast_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{C1}}
  %0 = prim.broadcast %x {dims = array<i64: 0, 1>} : (tensor<4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @broadcast_c2(%x: tensor<4xf32>) {
  // expected-error @+1 {{C2}}
  %0 = prim.broadcast %x {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @broadcast_c3(%x: tensor<4xf32>) {
  // expected-error @+1 {{C3}}
  %0 = prim.broadcast %x {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<?x4xf32>
  return
}

// -----

func.func @broadcast_c4(%x: tensor<4xf32>) {
  // expected-error @+1 {{C4}}
  %0 = prim.broadcast %x {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xi32>
  return
}

// -----

func.func @reshape_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{C1}}
  %0 = prim.reshape %x : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @reshape_c2(%x: tensor<4xf32>) {
  // expected-error @+1 {{C2}}
  %0 = prim.reshape %x : (tensor<4xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @transpose_c1(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{C1}}
  %0 = prim.transpose %x {perm = array<i64: 0, 0>} : (tensor<4x5xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @transpose_c2(%x: tensor<4x5xf32>) {
  // expected-error @+1 {{C2}}
  %0 = prim.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @slice_c2(%x: tensor<4xf32>) {
  // expected-error @+1 {{C2}}
  %0 = prim.slice %x {offsets = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 0>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @slice_c4(%x: tensor<4xf32>) {
  // expected-error @+1 {{C4}}
  %0 = prim.slice %x {offsets = array<i64: 3>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @slice_c5(%x: tensor<4xf32>) {
  // expected-error @+1 {{C5}}
  %0 = prim.slice %x {offsets = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @reverse_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{C1}}
  %0 = prim.reverse %x {dims = array<i64: 0, 0>} : tensor<4xf32>
  return
}

// -----

func.func @pad_c2(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{C2}}
  %0 = prim.pad %x, %v {low = array<i64: 0>, high = array<i64: 0>, interior = array<i64: -1>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_c4(%x: tensor<4xf32>, %v: tensor<i32>) {
  // expected-error @+1 {{C4}}
  %0 = prim.pad %x, %v {low = array<i64: 0>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_c5(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{C5}}
  %0 = prim.pad %x, %v {low = array<i64: 1>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @concat_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{C1}}
  %0 = prim.concat %x {dim = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @concat_c3(%x: tensor<4xf32>) {
  // expected-error @+1 {{C3}}
  %0 = prim.concat %x, %x {dim = 0 : i64} : (tensor<4xf32>, tensor<4xf32>) -> tensor<9xf32>
  return
}

// -----

func.func @dim_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{C1}}
  %0 = prim.dim %x {dim = 1 : i64} : (tensor<4xf32>) -> index
  return
}

// -----

func.func @concat_c2(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) {
  // expected-error @+1 {{C2: tensor<4x3xf32> does not fit into tensor<8x2xf32>}}
  %0 = prim.concat %x, %y {dim = 0 : i64} : (tensor<4x2xf32>, tensor<4x3xf32>) -> tensor<8x2xf32>
  return
}

// -----

func.func @pad_c1(%x: tensor<4x4xf32>, %v: tensor<f32>) {
  // expected-error @+1 {{C1: `low` has 1 entries for 2 dimensions}}
  %0 = prim.pad %x, %v {low = array<i64: 1>, high = array<i64: 1>, interior = array<i64: 0>} : (tensor<4x4xf32>, tensor<f32>) -> tensor<6x6xf32>
  return
}

// -----

func.func @pad_c3(%x: tensor<4xf32>, %v: tensor<f32>, %n: index) {
  // expected-error @+1 {{C3: 1 index operands for 0 unknown sizes}}
  %0 = prim.pad %x, %v, %n {low = array<i64: 1>, high = array<i64: 1>, interior = array<i64: 0>} : (tensor<4xf32>, tensor<f32>, index) -> tensor<6xf32>
  return
}

// -----

func.func @reshape_c3(%x: tensor<4xf32>) {
  // expected-error @+1 {{C3: element types f32 and f64 differ}}
  %0 = prim.reshape %x : (tensor<4xf32>) -> tensor<2x2xf64>
  return
}

// -----

func.func @slice_c1(%x: tensor<4x4xf32>) {
  // expected-error @+1 {{C1: `offsets` has 1 entries for 2 dimensions}}
  %0 = prim.slice %x {offsets = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @slice_c3(%x: tensor<4xf32>, %n: index) {
  // expected-error @+1 {{C3: 1 index operands for 0 unknown sizes}}
  %0 = prim.slice %x, %n {offsets = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<4xf32>, index) -> tensor<2xf32>
  return
}

// -----

func.func @slice_c6(%x: tensor<4xf32>) {
  // expected-error @+1 {{C6: element types f32 and f64 differ}}
  %0 = prim.slice %x {offsets = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<2xf64>
  return
}

// -----

func.func @transpose_c3(%x: tensor<4x2xf32>) {
  // expected-error @+1 {{C3: element types f32 and f64 differ}}
  %0 = prim.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x2xf32>) -> tensor<2x4xf64>
  return
}

// -----

func.func @sliding_window_c1(%x: tensor<8xf32>) {
  // expected-error @+1 {{C1: `sizes`, `strides` and `dilations` do not have one entry per windowed dimension}}
  %0 = prim.sliding_window %x {sizes = array<i64: 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1>} : (tensor<8xf32>) -> tensor<6x3xf32>
  return
}

// -----

func.func @sliding_window_c1_zero(%x: tensor<8xf32>) {
  // expected-error @+1 {{C1: an entry is not positive}}
  %0 = prim.sliding_window %x {sizes = array<i64: 3>, strides = array<i64: 0>, dilations = array<i64: 1>} : (tensor<8xf32>) -> tensor<6x3xf32>
  return
}

// -----

func.func @sliding_window_c1_dims(%x: tensor<8x8xf32>) {
  // expected-error @+1 {{C1: `dims` names dimension 1 twice}}
  %0 = prim.sliding_window %x {sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, dims = array<i64: 1, 1>} : (tensor<8x8xf32>) -> tensor<6x6x3x3xf32>
  return
}

// -----

func.func @sliding_window_c2(%x: tensor<8xf32>) {
  // expected-error @+1 {{C2: the result has the shape [8, 3], its operands give [6, 3]}}
  %0 = prim.sliding_window %x {sizes = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>} : (tensor<8xf32>) -> tensor<8x3xf32>
  return
}

// -----

func.func @sliding_window_c3(%x: tensor<8xf32>) {
  // expected-error @+1 {{C3: element types f32 and f64 differ}}
  %0 = prim.sliding_window %x {sizes = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>} : (tensor<8xf32>) -> tensor<6x3xf64>
  return
}
