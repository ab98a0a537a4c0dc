// RUN: rs-opt %s --simplify-views | FileCheck %s

// CHECK-LABEL: func.func @transposed_twice(
// CHECK-NEXT: return
func.func @transposed_twice(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = prim.transpose %x {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = prim.transpose %0 {perm = array<i64: 2, 0, 1>} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// Nothing moves: a reshape, which is free.
// CHECK-LABEL: func.func @nothing_moves(
// CHECK-NEXT: prim.reshape
// CHECK-NEXT: return
func.func @nothing_moves(%x: tensor<1x3x4xf32>) -> tensor<3x1x4xf32> {
  %0 = prim.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<1x3x4xf32>) -> tensor<3x1x4xf32>
  return %0 : tensor<3x1x4xf32>
}

// CHECK-LABEL: func.func @kept_dims(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>
// CHECK: %[[N:.*]] = prim.neg %[[X]]
// CHECK: prim.broadcast %[[N]], %{{.*}} {dims = array<i64: 0>}
func.func @kept_dims(%x: tensor<?xf32>) -> tensor<?x8xf32> {
  %n = prim.dim %x {dim = 0 : i64} : (tensor<?xf32>) -> index
  %0 = prim.reshape %x, %n : (tensor<?xf32>, index) -> tensor<?x1xf32>
  %1 = prim.neg %0 : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %2 = prim.broadcast %1, %n {dims = array<i64: 0, 1>} : (tensor<?x1xf32>, index) -> tensor<?x8xf32>
  return %2 : tensor<?x8xf32>
}

// CHECK-LABEL: func.func @sliced_twice(
// CHECK-NEXT: prim.slice %{{.*}} {offsets = array<i64: 3>, sizes = array<i64: 2>, strides = array<i64: 4>}
// CHECK-NEXT: return
func.func @sliced_twice(%x: tensor<10xf32>) -> tensor<2xf32> {
  %0 = prim.slice %x {offsets = array<i64: 1>, sizes = array<i64: 4>, strides = array<i64: 2>} : (tensor<10xf32>) -> tensor<4xf32>
  %1 = prim.slice %0 {offsets = array<i64: 1>, sizes = array<i64: 2>, strides = array<i64: 2>} : (tensor<4xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @of_everything(
// CHECK-NEXT: return
func.func @of_everything(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = prim.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = prim.slice %x {offsets = array<i64: 0>, sizes = array<i64: 4>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = prim.pad %0, %c {low = array<i64: 0>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = prim.concat %1 {dim = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = prim.reshape %2 : (tensor<4xf32>) -> tensor<2x2xf32>
  %4 = prim.reshape %3 : (tensor<2x2xf32>) -> tensor<4xf32>
  %5 = prim.broadcast %4 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
  return %5 : tensor<4xf32>
}

// Two sizes that may be exchanged: not the same shape.
// CHECK-LABEL: func.func @exchanged(
// CHECK: prim.reshape
func.func @exchanged(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %n = prim.dim %x {dim = 1 : i64} : (tensor<?x?xf32>) -> index
  %m = prim.dim %x {dim = 0 : i64} : (tensor<?x?xf32>) -> index
  %0 = prim.reshape %x, %n, %m : (tensor<?x?xf32>, index, index) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// A sum starts at 0 and gives 0 for -0.
// CHECK-LABEL: func.func @of_one_element(
// CHECK: prim.reduce {{.*}}"sum"
// CHECK-NOT: prim.reduce
// CHECK: return
func.func @of_one_element(%x: tensor<4x1xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = prim.reduce %x {dims = array<i64: 1>, kind = "sum"} : (tensor<4x1xf32>) -> tensor<4xf32>
  %1 = prim.reduce %x {dims = array<i64: 1>, kind = "max"} : (tensor<4x1xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// A product of matrices between two reshapes is one of tensors: what follows can join its kernel.
// CHECK-LABEL: func.func @linear(
// CHECK-NEXT: %[[DOT:.+]] = prim.dot %arg0, %arg1 {{{.*}}lhs_contract = array<i64: 2>{{.*}}rhs_contract = array<i64: 0>{{.*}}} : {{.*}} -> tensor<2x3x5xf32>
// CHECK-NEXT: %[[BIAS:.+]] = prim.broadcast %arg2 {dims = array<i64: 2>} : (tensor<5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: %[[ADD:.+]] = prim.add %[[BIAS]], %[[DOT]] : tensor<2x3x5xf32>
// CHECK-NEXT: %[[EXP:.+]] = prim.exp %[[ADD]] : tensor<2x3x5xf32>
// CHECK-NEXT: return %[[EXP]]
func.func @linear(%x: tensor<2x3x4xf32>, %w: tensor<4x5xf32>, %b: tensor<5xf32>) -> tensor<2x3x5xf32> {
  %0 = prim.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = prim.dot %0, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %2 = prim.broadcast %b {dims = array<i64: 1>} : (tensor<5xf32>) -> tensor<6x5xf32>
  %3 = prim.add %2, %1 : tensor<6x5xf32>
  %4 = prim.exp %3 : tensor<6x5xf32>
  %5 = prim.reshape %4 : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  return %5 : tensor<2x3x5xf32>
}

// The features are split too: that reshape stays.
// CHECK-LABEL: func.func @heads(
// CHECK-NEXT: %[[DOT:.+]] = prim.dot %arg0, %arg1 {{.*}} -> tensor<2x3x6xf32>
// CHECK-NEXT: prim.reshape %[[DOT]] : (tensor<2x3x6xf32>) -> tensor<2x3x2x3xf32>
func.func @heads(%x: tensor<2x3x4xf32>, %w: tensor<4x6xf32>) -> tensor<2x3x2x3xf32> {
  %0 = prim.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = prim.dot %0, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<6x4xf32>, tensor<4x6xf32>) -> tensor<6x6xf32>
  %2 = prim.reshape %1 : (tensor<6x6xf32>) -> tensor<2x3x2x3xf32>
  return %2 : tensor<2x3x2x3xf32>
}

// The operand had its features in two dimensions: a reshape before the dot stays, which is free.
// CHECK-LABEL: func.func @from_heads(
// CHECK-NEXT: %[[X:.+]] = prim.reshape %arg0 : (tensor<2x3x2x2xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: %[[DOT:.+]] = prim.dot %[[X]], %arg1 {{.*}} -> tensor<2x3x5xf32>
// CHECK-NEXT: return %[[DOT]]
func.func @from_heads(%x: tensor<2x3x2x2xf32>, %w: tensor<4x5xf32>) -> tensor<2x3x5xf32> {
  %0 = prim.reshape %x : (tensor<2x3x2x2xf32>) -> tensor<6x4xf32>
  %1 = prim.dot %0, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %2 = prim.reshape %1 : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  return %2 : tensor<2x3x5xf32>
}

// A batch of both operands, as `bmm` has it, of a size known at the call.
// CHECK-LABEL: func.func @batched(
// CHECK: %[[DOT:.+]] = prim.dot %arg0, %{{.*}} {lhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_batch = array<i64: 0, 1>, rhs_contract = array<i64: 2>} : (tensor<?x2x3x4xf32>, tensor<?x2x4x5xf32>) -> tensor<?x2x3x5xf32>
// CHECK-NEXT: return %[[DOT]]
func.func @batched(%x: tensor<?x2x3x4xf32>, %y: tensor<?x2x4x5xf32>) -> tensor<?x2x3x5xf32> {
  %c2 = arith.constant 2 : index
  %n = prim.dim %x {dim = 0 : i64} : (tensor<?x2x3x4xf32>) -> index
  %y0 = prim.dim %y {dim = 0 : i64} : (tensor<?x2x4x5xf32>) -> index
  %m = arith.muli %n, %c2 : index
  %0 = prim.reshape %x, %m : (tensor<?x2x3x4xf32>, index) -> tensor<?x3x4xf32>
  %1 = prim.reshape %y, %m : (tensor<?x2x4x5xf32>, index) -> tensor<?x4x5xf32>
  %2 = prim.dot %0, %1 {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<?x3x4xf32>, tensor<?x4x5xf32>) -> tensor<?x3x5xf32>
  %3 = prim.reshape %2, %n : (tensor<?x3x5xf32>, index) -> tensor<?x2x3x5xf32>
  return %3 : tensor<?x2x3x5xf32>
}

// Not where the product is used as it is, nor where the operand comes with two dimensions.
// CHECK-LABEL: func.func @used_twice(
// CHECK: prim.dot {{.*}} -> tensor<6x5xf32>
func.func @used_twice(%x: tensor<2x3x4xf32>, %w: tensor<4x5xf32>) -> (tensor<2x3x5xf32>, tensor<6x5xf32>) {
  %0 = prim.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %1 = prim.dot %0, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %2 = prim.reshape %1 : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  return %2, %1 : tensor<2x3x5xf32>, tensor<6x5xf32>
}

// CHECK-LABEL: func.func @matrix(
// CHECK: prim.dot {{.*}} -> tensor<6x5xf32>
func.func @matrix(%x: tensor<6x4xf32>, %w: tensor<4x5xf32>) -> tensor<2x3x5xf32> {
  %0 = prim.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  %1 = prim.reshape %0 : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  return %1 : tensor<2x3x5xf32>
}

// What comes and goes as dimensions of size 1 does not stand between a transpose and its neighbours.
// CHECK-LABEL: func.func @one_group(
// CHECK-NEXT: %[[T:.+]] = prim.transpose %arg0 {perm = array<i64: 1, 0, 2>} : (tensor<4x5x3xf32>) -> tensor<5x4x3xf32>
// CHECK-NEXT: return %[[T]]
func.func @one_group(%x: tensor<4x5x3xf32>) -> tensor<5x4x3xf32> {
  %0 = prim.reshape %x : (tensor<4x5x3xf32>) -> tensor<1x4x5x3xf32>
  %1 = prim.transpose %0 {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x4x5x3xf32>) -> tensor<1x5x4x3xf32>
  %2 = prim.reshape %1 : (tensor<1x5x4x3xf32>) -> tensor<5x4x3xf32>
  return %2 : tensor<5x4x3xf32>
}

// Reading backwards comes last, behind reshapes that leave the reversed dimensions alone.
// CHECK-LABEL: func.func @backwards(
// CHECK-NEXT: %[[R:.+]] = prim.reshape %arg0 : (tensor<4x5x3xf32>) -> tensor<2x2x5x3xf32>
// CHECK-NEXT: %[[T:.+]] = prim.transpose %[[R]] {perm = array<i64: 3, 0, 2, 1>} : (tensor<2x2x5x3xf32>) -> tensor<3x2x5x2xf32>
// CHECK-NEXT: %[[B:.+]] = prim.reverse %[[T]] {dims = array<i64: 0, 2>}
// CHECK-NEXT: return %[[B]]
func.func @backwards(%x: tensor<4x5x3xf32>) -> tensor<3x2x5x2xf32> {
  %0 = prim.reverse %x {dims = array<i64: 1, 2>} : (tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %1 = prim.reshape %0 : (tensor<4x5x3xf32>) -> tensor<2x2x5x3xf32>
  %2 = prim.transpose %1 {perm = array<i64: 3, 0, 2, 1>} : (tensor<2x2x5x3xf32>) -> tensor<3x2x5x2xf32>
  return %2 : tensor<3x2x5x2xf32>
}

// CHECK-LABEL: func.func @backwards_joined(
// CHECK-NEXT: %[[B:.+]] = prim.reverse %arg0
// CHECK-NEXT: prim.reshape %[[B]] : (tensor<4x5x3xf32>) -> tensor<4x15xf32>
func.func @backwards_joined(%x: tensor<4x5x3xf32>) -> tensor<4x15xf32> {
  %0 = prim.reverse %x {dims = array<i64: 1>} : (tensor<4x5x3xf32>) -> tensor<4x5x3xf32>
  %1 = prim.reshape %0 : (tensor<4x5x3xf32>) -> tensor<4x15xf32>
  return %1 : tensor<4x15xf32>
}

// A dot reads its operands in any order: `addmm` with transposed weights is a linear layer.
// CHECK-LABEL: func.func @transposed_weights(
// CHECK-NEXT: %[[DOT:.+]] = prim.dot %arg0, %arg1 {lhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_batch = array<i64>, rhs_contract = array<i64: 1>}
// CHECK-NEXT: return %[[DOT]]
func.func @transposed_weights(%x: tensor<6x4xf32>, %w: tensor<5x4xf32>) -> tensor<6x5xf32> {
  %0 = prim.transpose %w {perm = array<i64: 1, 0>} : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %1 = prim.dot %x, %0 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<6x4xf32>, tensor<4x5xf32>) -> tensor<6x5xf32>
  return %1 : tensor<6x5xf32>
}

// Not where free dimensions change their order: the result's would, too.
// CHECK-LABEL: func.func @transposed_rows(
// CHECK: prim.transpose
// CHECK: prim.dot
func.func @transposed_rows(%x: tensor<3x6x4xf32>, %w: tensor<5x4xf32>) -> tensor<6x3x5xf32> {
  %0 = prim.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<3x6x4xf32>) -> tensor<6x3x4xf32>
  %1 = prim.dot %0, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<6x3x4xf32>, tensor<5x4xf32>) -> tensor<6x3x5xf32>
  return %1 : tensor<6x3x5xf32>
}

// Groups that are joined move as they were before: nothing is copied twice.
// CHECK-LABEL: func.func @joined_then_transposed(
// CHECK-NEXT: %[[T:.*]] = prim.transpose %{{.*}} {perm = array<i64: 0, 3, 1, 2>} : (tensor<?x8x56x20xf32>) -> tensor<?x20x8x56xf32>
// CHECK: prim.reshape %[[T]], {{.*}} -> tensor<?x20x448x1xf32>
// CHECK-NEXT: return
func.func @joined_then_transposed(%x: tensor<?x8x56x20xf32>) -> tensor<?x20x448x1xf32> {
  %n = prim.dim %x {dim = 0 : i64} : (tensor<?x8x56x20xf32>) -> index
  %0 = prim.reshape %x, %n : (tensor<?x8x56x20xf32>, index) -> tensor<?x448x1x20xf32>
  %1 = prim.transpose %0 {perm = array<i64: 0, 3, 1, 2>} : (tensor<?x448x1x20xf32>) -> tensor<?x20x448x1xf32>
  return %1 : tensor<?x20x448x1xf32>
}

// 6 is split, and not joined.
// CHECK-LABEL: func.func @split_then_transposed(
// CHECK-NEXT: prim.reshape
// CHECK-NEXT: prim.transpose
func.func @split_then_transposed(%x: tensor<6x5xf32>) -> tensor<5x3x2xf32> {
  %0 = prim.reshape %x : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
  %1 = prim.transpose %0 {perm = array<i64: 2, 1, 0>} : (tensor<2x3x5xf32>) -> tensor<5x3x2xf32>
  return %1 : tensor<5x3x2xf32>
}

// Reshapes of pointwise ops go to the edge of the program, so that groups are normalised by one kernel.
// CHECK-LABEL: func.func @reshapes_go_outside(
// CHECK-NEXT: %[[X:.*]] = prim.reshape %{{.*}} : (tensor<1x6x5xbf16>) -> tensor<1x2x3x5xbf16>
// CHECK-NEXT: %[[C:.*]] = prim.convert %[[X]] : (tensor<1x2x3x5xbf16>) -> tensor<1x2x3x5xf32>
// CHECK-NEXT: %[[S:.*]] = prim.mul %[[C]], %[[C]]
// CHECK-NEXT: %[[N:.*]] = prim.neg %[[S]]
// CHECK-NEXT: %[[H:.*]] = prim.convert %[[N]] : (tensor<1x2x3x5xf32>) -> tensor<1x2x3x5xbf16>
// CHECK-NEXT: prim.reshape %[[H]] : (tensor<1x2x3x5xbf16>) -> tensor<1x6x5xbf16>
func.func @reshapes_go_outside(%x: tensor<1x6x5xbf16>) -> tensor<1x6x5xbf16> {
  %0 = prim.convert %x : (tensor<1x6x5xbf16>) -> tensor<1x6x5xf32>
  %1 = prim.reshape %0 : (tensor<1x6x5xf32>) -> tensor<1x2x3x5xf32>
  %2 = prim.mul %1, %1 : tensor<1x2x3x5xf32>
  %3 = prim.reshape %2 : (tensor<1x2x3x5xf32>) -> tensor<1x6x5xf32>
  %4 = prim.neg %3 : tensor<1x6x5xf32>
  %5 = prim.convert %4 : (tensor<1x6x5xf32>) -> tensor<1x6x5xbf16>
  return %5 : tensor<1x6x5xbf16>
}

// Not when the op's result is read as it is, too: it would be computed twice.
// CHECK-LABEL: func.func @read_twice(
// CHECK-NEXT: prim.exp
// CHECK-NEXT: prim.reshape
func.func @read_twice(%x: tensor<6xf32>) -> (tensor<6xf32>, tensor<2x3xf32>) {
  %0 = prim.exp %x : tensor<6xf32>
  %1 = prim.reshape %0 : (tensor<6xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<6xf32>, tensor<2x3xf32>
}

// What a slice of a concatenation reads of each part.
// CHECK-LABEL: func.func @slice_of_concat(
// CHECK-SAME: %[[A:.*]]: tensor<4x6xf32>, %[[B:.*]]: tensor<4x5xf32>)
// CHECK-NEXT: %[[L:.*]] = prim.slice %[[A]] {offsets = array<i64: 1, 5>, sizes = array<i64: 2, 1>, strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[R:.*]] = prim.slice %[[B]] {offsets = array<i64: 1, 0>, sizes = array<i64: 2, 3>, strides = array<i64: 2, 1>}
// CHECK-NEXT: %[[C:.*]] = prim.concat %[[L]], %[[R]] {dim = 1 : i64}
// CHECK-NEXT: %[[W:.*]] = prim.slice %[[B]] {offsets = array<i64: 0, 1>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>}
// CHECK-NEXT: return %[[C]], %[[W]]
func.func @slice_of_concat(%a: tensor<4x6xf32>, %b: tensor<4x5xf32>) -> (tensor<2x4xf32>, tensor<4x2xf32>) {
  %0 = prim.concat %a, %b {dim = 1 : i64} : (tensor<4x6xf32>, tensor<4x5xf32>) -> tensor<4x11xf32>
  %1 = prim.slice %0 {offsets = array<i64: 1, 5>, sizes = array<i64: 2, 4>, strides = array<i64: 2, 1>} : (tensor<4x11xf32>) -> tensor<2x4xf32>
  %2 = prim.slice %0 {offsets = array<i64: 0, 7>, sizes = array<i64: 4, 2>, strides = array<i64: 1, 1>} : (tensor<4x11xf32>) -> tensor<4x2xf32>
  return %1, %2 : tensor<2x4xf32>, tensor<4x2xf32>
}

// Each second column: which part gives which is not told by where they begin alone.
// CHECK-LABEL: func.func @strided_slice_of_concat(
// CHECK-NEXT: prim.concat
// CHECK-NEXT: prim.slice
func.func @strided_slice_of_concat(%a: tensor<6xf32>, %b: tensor<5xf32>) -> tensor<5xf32> {
  %0 = prim.concat %a, %b {dim = 0 : i64} : (tensor<6xf32>, tensor<5xf32>) -> tensor<11xf32>
  %1 = prim.slice %0 {offsets = array<i64: 1>, sizes = array<i64: 5>, strides = array<i64: 2>} : (tensor<11xf32>) -> tensor<5xf32>
  return %1 : tensor<5xf32>
}

// Heads of queries that share keys are rows of one product: the keys are read once, whichever way they lie.
// CHECK-LABEL: func.func @dot_of_repeated(
// CHECK: %[[Q:.*]] = prim.reshape %arg0 : (tensor<2x6x1x8xf32>) -> tensor<2x3x2x8xf32>
// CHECK: %[[S:.*]] = prim.dot %[[Q]], %arg1 {lhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_batch = array<i64: 0, 1>, rhs_contract = array<i64: 3>} : (tensor<2x3x2x8xf32>, tensor<2x3x5x8xf32>) -> tensor<2x3x2x5xf32>
// CHECK: prim.reshape %[[S]] : (tensor<2x3x2x5xf32>) -> tensor<2x6x1x5xf32>
func.func @dot_of_repeated(%q: tensor<2x6x1x8xf32>, %k: tensor<2x3x5x8xf32>) -> tensor<2x6x1x5xf32> {
  %0 = prim.broadcast %k {dims = array<i64: 0, 1, 3, 4>} : (tensor<2x3x5x8xf32>) -> tensor<2x3x2x5x8xf32>
  %1 = prim.transpose %0 {perm = array<i64: 0, 1, 2, 4, 3>} : (tensor<2x3x2x5x8xf32>) -> tensor<2x3x2x8x5xf32>
  %2 = prim.reshape %1 : (tensor<2x3x2x8x5xf32>) -> tensor<2x6x8x5xf32>
  %3 = prim.dot %q, %2 {lhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_batch = array<i64: 0, 1>, rhs_contract = array<i64: 2>} : (tensor<2x6x1x8xf32>, tensor<2x6x8x5xf32>) -> tensor<2x6x1x5xf32>
  return %3 : tensor<2x6x1x5xf32>
}

// Of a symbolic number of keys too.
// CHECK-LABEL: func.func @dot_of_repeated_keys(
// CHECK-NOT: prim.broadcast
// CHECK: prim.dot {{.*}} (tensor<1x3x4x?xf32>, tensor<1x3x?x8xf32>) -> tensor<1x3x4x8xf32>
func.func @dot_of_repeated_keys(%w: tensor<1x6x2x?xf32>, %v: tensor<1x3x?x8xf32>) -> tensor<1x6x2x8xf32> {
  %n = prim.dim %v {dim = 2 : i64} : (tensor<1x3x?x8xf32>) -> index
  %0 = prim.broadcast %v, %n {dims = array<i64: 0, 1, 3, 4>} : (tensor<1x3x?x8xf32>, index) -> tensor<1x3x2x?x8xf32>
  %1 = prim.reshape %0, %n : (tensor<1x3x2x?x8xf32>, index) -> tensor<1x6x?x8xf32>
  %2 = prim.dot %w, %1 {lhs_batch = array<i64: 0, 1>, lhs_contract = array<i64: 3>, rhs_batch = array<i64: 0, 1>, rhs_contract = array<i64: 2>} : (tensor<1x6x2x?xf32>, tensor<1x6x?x8xf32>) -> tensor<1x6x2x8xf32>
  return %2 : tensor<1x6x2x8xf32>
}

// Refused: many rows, another order of the joined dimensions, and a reshape that joins what is not repeated.
// CHECK-LABEL: func.func @dot_of_others(
// CHECK: (tensor<6x16x8xf32>, tensor<6x8x5xf32>)
// CHECK: (tensor<6x1x8xf32>, tensor<6x8x5xf32>)
// CHECK: (tensor<6x1x8xf32>, tensor<6x8x5xf32>)
func.func @dot_of_others(%p: tensor<6x16x8xf32>, %q: tensor<6x1x8xf32>, %k: tensor<3x8x5xf32>, %l: tensor<3x2x5xf32>)
    -> (tensor<6x16x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>) {
  %0 = prim.broadcast %k {dims = array<i64: 0, 2, 3>} : (tensor<3x8x5xf32>) -> tensor<3x2x8x5xf32>
  %1 = prim.reshape %0 : (tensor<3x2x8x5xf32>) -> tensor<6x8x5xf32>
  %2 = prim.dot %p, %1 {lhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>} : (tensor<6x16x8xf32>, tensor<6x8x5xf32>) -> tensor<6x16x5xf32>
  %3 = prim.broadcast %k {dims = array<i64: 1, 2, 3>} : (tensor<3x8x5xf32>) -> tensor<2x3x8x5xf32>
  %4 = prim.reshape %3 : (tensor<2x3x8x5xf32>) -> tensor<6x8x5xf32>
  %5 = prim.dot %q, %4 {lhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>} : (tensor<6x1x8xf32>, tensor<6x8x5xf32>) -> tensor<6x1x5xf32>
  %6 = prim.broadcast %l {dims = array<i64: 0, 1, 3>} : (tensor<3x2x5xf32>) -> tensor<3x2x8x5xf32>
  %7 = prim.reshape %6 : (tensor<3x2x8x5xf32>) -> tensor<6x8x5xf32>
  %8 = prim.dot %q, %7 {lhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>} : (tensor<6x1x8xf32>, tensor<6x8x5xf32>) -> tensor<6x1x5xf32>
  return %2, %5, %8 : tensor<6x16x5xf32>, tensor<6x1x5xf32>, tensor<6x1x5xf32>
}

// A triangle is solved by as it lies.
// CHECK-LABEL: func.func @turned(
// CHECK-NEXT: %[[X:.*]] = prim.library %arg0, %arg1 {function = "triangular_solve", options = ["upper", "turned"]}
// CHECK-NEXT: prim.library %arg0, %[[X]] {function = "triangular_solve", options = []}
func.func @turned(%a: tensor<2x4x4xf32>, %b: tensor<2x4x1xf32>) -> tensor<2x4x1xf32> {
  %0 = prim.transpose %a {perm = array<i64: 0, 2, 1>} : tensor<2x4x4xf32>
  %1 = prim.library %0, %b {function = "triangular_solve", options = ["upper"]} : (tensor<2x4x4xf32>, tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %2 = prim.library %0, %1 {function = "triangular_solve", options = ["turned"]} : (tensor<2x4x4xf32>, tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  return %2 : tensor<2x4x1xf32>
}

// A batch that changes its place with rows is none of its business.
// CHECK-LABEL: func.func @turned_batch(
// CHECK: prim.transpose
// CHECK: prim.library {{.*}}options = ["upper"]
func.func @turned_batch(%a: tensor<4x4x4xf32>, %b: tensor<4x4x1xf32>) -> tensor<4x4x1xf32> {
  %0 = prim.transpose %a {perm = array<i64: 1, 0, 2>} : tensor<4x4x4xf32>
  %1 = prim.library %0, %b {function = "triangular_solve", options = ["upper"]} : (tensor<4x4x4xf32>, tensor<4x4x1xf32>) -> tensor<4x4x1xf32>
  return %1 : tensor<4x4x1xf32>
}

// Transforms of columns read and write whole rows, and give columns or rows: a transpose before or behind them is no work.
// CHECK-LABEL: func.func @transforms(
// CHECK-NEXT: %[[A:.*]] = prim.library %arg0 {function = "fft_turned", options = ["inverse"]} : (tensor<2x8x5xcomplex<f32>>) -> tensor<2x5x8xcomplex<f32>>
// CHECK-NEXT: %[[B:.*]] = prim.library %arg0 {function = "fft_columns", options = []} : tensor<2x8x5xcomplex<f32>>
// CHECK-NEXT: %[[C:.*]] = prim.library %[[B]] {function = "fft_turned", options = []}
// CHECK-NEXT: return %[[A]], %[[B]], %[[C]]
func.func @transforms(%x: tensor<2x8x5xcomplex<f32>>) -> (tensor<2x5x8xcomplex<f32>>, tensor<2x8x5xcomplex<f32>>, tensor<2x5x8xcomplex<f32>>) {
  %0 = prim.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<2x8x5xcomplex<f32>>) -> tensor<2x5x8xcomplex<f32>>
  %1 = prim.library %0 {function = "fft", options = ["inverse"]} : tensor<2x5x8xcomplex<f32>>
  %2 = prim.library %0 {function = "fft", options = []} : tensor<2x5x8xcomplex<f32>>
  %3 = prim.transpose %2 {perm = array<i64: 0, 2, 1>} : (tensor<2x5x8xcomplex<f32>>) -> tensor<2x8x5xcomplex<f32>>
  %4 = prim.library %3 {function = "fft_columns", options = []} : tensor<2x8x5xcomplex<f32>>
  %5 = prim.transpose %4 {perm = array<i64: 0, 2, 1>} : (tensor<2x8x5xcomplex<f32>>) -> tensor<2x5x8xcomplex<f32>>
  return %1, %3, %5 : tensor<2x5x8xcomplex<f32>>, tensor<2x8x5xcomplex<f32>>, tensor<2x5x8xcomplex<f32>>
}

// Several dimensions behind the one that is transformed are columns together; one of unknown size is them alone.
// CHECK-LABEL: func.func @columns_of_some_dims(
// CHECK: prim.reshape %arg0 : (tensor<8x3x4xcomplex<f64>>) -> tensor<8x12xcomplex<f64>>
// CHECK-NEXT: prim.library {{.*}} {function = "fft_columns", options = []} : tensor<8x12xcomplex<f64>>
// CHECK-NEXT: prim.reshape {{.*}} -> tensor<8x3x4xcomplex<f64>>
// CHECK-NOT: prim.transpose
// CHECK: prim.library %arg1 {function = "fft_columns", options = []} : tensor<8x?xcomplex<f64>>
// CHECK-NOT: prim.transpose
func.func @columns_of_some_dims(%x: tensor<8x3x4xcomplex<f64>>, %y: tensor<8x?xcomplex<f64>>) -> (tensor<8x3x4xcomplex<f64>>, tensor<8x?xcomplex<f64>>) {
  %0 = prim.transpose %x {perm = array<i64: 1, 2, 0>} : (tensor<8x3x4xcomplex<f64>>) -> tensor<3x4x8xcomplex<f64>>
  %1 = prim.library %0 {function = "fft", options = []} : tensor<3x4x8xcomplex<f64>>
  %2 = prim.transpose %1 {perm = array<i64: 2, 0, 1>} : (tensor<3x4x8xcomplex<f64>>) -> tensor<8x3x4xcomplex<f64>>
  %3 = prim.transpose %y {perm = array<i64: 1, 0>} : (tensor<8x?xcomplex<f64>>) -> tensor<?x8xcomplex<f64>>
  %4 = prim.library %3 {function = "fft", options = []} : tensor<?x8xcomplex<f64>>
  %5 = prim.transpose %4 {perm = array<i64: 1, 0>} : (tensor<?x8xcomplex<f64>>) -> tensor<8x?xcomplex<f64>>
  return %2, %5 : tensor<8x3x4xcomplex<f64>>, tensor<8x?xcomplex<f64>>
}

// Two columns are rows sooner; dimensions that change places are no columns.
// CHECK-LABEL: func.func @no_columns(
// CHECK-COUNT-2: {function = "fft", options = []}
func.func @no_columns(%x: tensor<8x2xcomplex<f64>>, %y: tensor<8x3x4xcomplex<f64>>) -> (tensor<2x8xcomplex<f64>>, tensor<4x3x8xcomplex<f64>>) {
  %0 = prim.transpose %x {perm = array<i64: 1, 0>} : (tensor<8x2xcomplex<f64>>) -> tensor<2x8xcomplex<f64>>
  %1 = prim.library %0 {function = "fft", options = []} : tensor<2x8xcomplex<f64>>
  %2 = prim.transpose %y {perm = array<i64: 2, 1, 0>} : (tensor<8x3x4xcomplex<f64>>) -> tensor<4x3x8xcomplex<f64>>
  %3 = prim.library %2 {function = "fft", options = []} : tensor<4x3x8xcomplex<f64>>
  return %1, %3 : tensor<2x8xcomplex<f64>>, tensor<4x3x8xcomplex<f64>>
}

// A reduction goes through its results in the order in which they are wanted.
// CHECK-LABEL: func.func @reduced(
// CHECK: %[[X:.*]] = prim.transpose %arg0 {perm = array<i64: 3, 0, 2, 1>} : (tensor<6x2x5x4xf32>) -> tensor<4x6x5x2xf32>
// CHECK-NEXT: %[[S:.*]] = prim.reduce %[[X]] {dims = array<i64: 3>, kind = "sum"} : (tensor<4x6x5x2xf32>) -> tensor<4x6x5xf32>
// CHECK-NEXT: %[[Y:.*]] = prim.broadcast %arg1 {dims = array<i64: 1>} : (tensor<6xf32>) -> tensor<4x6x5xf32>
// CHECK-NEXT: %[[R:.*]] = prim.div %[[S]], %[[Y]]
// CHECK-NEXT: return %[[R]]
func.func @reduced(%x: tensor<6x2x5x4xf32>, %y: tensor<6xf32>) -> tensor<4x6x5xf32> {
  %0 = prim.transpose %x {perm = array<i64: 3, 2, 0, 1>} : (tensor<6x2x5x4xf32>) -> tensor<4x5x6x2xf32>
  %1 = prim.reduce %0 {dims = array<i64: 3>, kind = "sum"} : (tensor<4x5x6x2xf32>) -> tensor<4x5x6xf32>
  %2 = prim.broadcast %y {dims = array<i64: 2>} : (tensor<6xf32>) -> tensor<4x5x6xf32>
  %3 = prim.div %1, %2 : tensor<4x5x6xf32>
  %4 = prim.transpose %3 {perm = array<i64: 0, 2, 1>} : (tensor<4x5x6xf32>) -> tensor<4x6x5xf32>
  return %4 : tensor<4x6x5xf32>
}

// What others read, too, stays as it is.
// CHECK-LABEL: func.func @reduced_for_others(
// CHECK: prim.reduce
// CHECK-NEXT: prim.transpose
func.func @reduced_for_others(%x: tensor<5x2x4xf32>) -> (tensor<4x5xf32>, tensor<5x4xf32>) {
  %0 = prim.transpose %x {perm = array<i64: 2, 0, 1>} : (tensor<5x2x4xf32>) -> tensor<4x5x2xf32>
  %1 = prim.reduce %0 {dims = array<i64: 2>, kind = "sum"} : (tensor<4x5x2xf32>) -> tensor<4x5xf32>
  %2 = prim.transpose %1 {perm = array<i64: 1, 0>} : (tensor<4x5xf32>) -> tensor<5x4xf32>
  return %1, %2 : tensor<4x5xf32>, tensor<5x4xf32>
}

// A number has no columns to turn.
// CHECK-LABEL: func.func @transform_of_one(
// CHECK: prim.library %arg0 {function = "fft", options = []}
func.func @transform_of_one(%x: tensor<1x1xcomplex<f32>>) -> tensor<complex<f32>> {
  %0 = prim.library %x {function = "fft", options = []} : tensor<1x1xcomplex<f32>>
  %1 = prim.reshape %0 : (tensor<1x1xcomplex<f32>>) -> tensor<complex<f32>>
  %2 = prim.transpose %1 {perm = array<i64>} : tensor<complex<f32>>
  return %2 : tensor<complex<f32>>
}
