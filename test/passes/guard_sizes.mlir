// RUN: rs-opt %s --guard-sizes --cse --canonicalize --split-input-file | FileCheck %s
// RUN: rs-opt %s --guard-sizes --guard-sizes --cse --canonicalize --split-input-file | FileCheck %s

// Sizes that must be equal are compared before the first op that needs it, and once.
// CHECK-LABEL: func.func @equal(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[Y:.*]]: tensor<?xf32>
// CHECK: %[[N:.*]] = prim.dim %[[X]] {dim = 0 : i64}
// CHECK: %[[M:.*]] = prim.dim %[[Y]] {dim = 0 : i64}
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[N]], %[[M]]
// CHECK: capture.guard %[[SAME]], %[[N]], %[[M]] {text = "prim.add: the sizes {0} and {1} must be equal
// CHECK-NOT: capture.guard
// CHECK: prim.sin
// CHECK: prim.add
// CHECK: prim.mul
func.func @equal(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = prim.sin %x : (tensor<?xf32>) -> tensor<?xf32>
  %1 = prim.add %0, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %2 = prim.mul %1, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}

// -----

// What types tell of a result is no more than a claim.
// CHECK-LABEL: func.func @told(
// CHECK: %[[N:.*]] = prim.dim
// CHECK: %[[FOUR:.*]] = arith.cmpi eq, %[[N]], %c4
// CHECK: capture.guard %[[FOUR]], %[[N]], %c4 {text = "prim.sin: the sizes {0} and {1} must be equal
func.func @told(%x: tensor<?xf32>) -> tensor<4xf32> {
  %0 = prim.sin %x : (tensor<?xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A slice ends inside of its operand, and begins there.
// CHECK-LABEL: func.func @slice(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[I:.*]]: index
// CHECK-DAG: %[[N:.*]] = prim.dim %[[X]]
// CHECK-DAG: %[[BEGINS:.*]] = arith.cmpi sge, %[[I]], %c0
// CHECK-DAG: capture.guard %[[BEGINS]], %c0, %[[I]] {text = "prim.slice: {0} must be at most {1}, or it reads what is not there
// CHECK-DAG: %[[LAST:.*]] = arith.addi %[[N]], %c-5
// CHECK-DAG: %[[ENDS:.*]] = arith.cmpi sle, %[[I]], %[[LAST]]
// CHECK-DAG: capture.guard %[[ENDS]], %[[I]], %[[LAST]]
// CHECK: prim.slice
func.func @slice(%x: tensor<?xf32>, %i: index) -> tensor<3xf32> {
  %0 = prim.slice %x, %i {offsets = array<i64: -9223372036854775808>, sizes = array<i64: 3>, strides = array<i64: 2>} : (tensor<?xf32>, index) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// One that is cut to what there is needs no guard: 0 <= min(max(i, 0), n) <= n, with a step of 2 as well.
// CHECK-LABEL: func.func @clamped(
// CHECK-NOT: capture.guard
// CHECK: return
func.func @clamped(%x: tensor<?xf32>, %i: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = prim.dim %x {dim = 0 : i64} : (tensor<?xf32>) -> index
  %a = arith.maxsi %i, %c0 : index
  %from = arith.minsi %a, %n : index
  %room = arith.subi %n, %from : index
  %more = arith.addi %room, %c1 : index
  %size = arith.floordivsi %more, %c2 : index
  %0 = prim.slice %x, %from, %size {offsets = array<i64: -9223372036854775808>, sizes = array<i64: -9223372036854775808>, strides = array<i64: 2>} : (tensor<?xf32>, index, index) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// Symbols that the program declares are equal by name, and ranges are checked where they are declared.
// CHECK-LABEL: func.func @declared(
// CHECK-NOT: capture.guard
// CHECK: return
func.func @declared(%x: tensor<?xf32> {capture.kind = "input", capture.name = "x"}, %y: tensor<?xf32> {capture.kind = "input", capture.name = "y"}) -> (tensor<?xf32> {capture.kind = "output"}, tensor<2xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %s = capture.dim %x {dim = 0 : i64, symbol = "s0", min = 2 : i64, max = 100 : i64} : (tensor<?xf32>) -> index
  capture.bind_dims %y, %s {shape = affine_map<()[s0] -> (s0)>} : (tensor<?xf32>, index) -> ()
  %0 = prim.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = prim.slice %x {offsets = array<i64: 0>, sizes = array<i64: 2>, strides = array<i64: 1>} : (tensor<?xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<?xf32>, tensor<2xf32>
}

// -----

// A shape that is claimed of a computed tensor is checked.
// CHECK-LABEL: func.func @claimed(
// CHECK: %[[TWICE:.*]] = arith.muli
// CHECK: %[[HOLDS:.*]] = arith.cmpi eq, %{{.*}}, %[[TWICE]]
// CHECK: capture.guard %[[HOLDS]], %{{.*}} {text = "capture.bind_dims: the sizes {0} and {1} must be equal
func.func @claimed(%x: tensor<?xf32> {capture.kind = "input", capture.name = "x"}, %y: tensor<?xf32> {capture.kind = "input", capture.name = "y"}) -> (tensor<?xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %s = capture.dim %x {dim = 0 : i64, symbol = "s0", min = 2 : i64, max = 100 : i64} : (tensor<?xf32>) -> index
  %0 = prim.sin %y : (tensor<?xf32>) -> tensor<?xf32>
  capture.bind_dims %0, %s {shape = affine_map<()[s0] -> (s0 * 2)>} : (tensor<?xf32>, index) -> ()
  return %0 : tensor<?xf32>
}

// -----

// Contracted dimensions, parts of a concatenation, updates, and operands of the library.
// CHECK-LABEL: func.func @operands(
// CHECK-SAME: %[[A:.*]]: tensor<?x?xf32>, %[[B:.*]]: tensor<?x4xf32>
// CHECK-DAG: text = "prim.dot: the sizes {0} and {1} must be equal
// CHECK-DAG: text = "prim.concat: the sizes {0} and {1} must be equal
// CHECK-DAG: text = "prim.scatter: the sizes {0} and {1} must be equal
// CHECK-DAG: text = "prim.library: the sizes {0} and {1} must be equal
// CHECK: return
func.func @operands(%a: tensor<?x?xf32>, %b: tensor<?x4xf32>, %c: tensor<2x?xf32>, %u: tensor<?xf32>, %i: tensor<?xi64>, %m: tensor<?x?xf32>) -> (tensor<?x4xf32>, tensor<?x?xf32>, tensor<8xf32>, tensor<?x?xf32>) {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<?x?xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = prim.concat %a, %c {dim = 0 : i64} : (tensor<?x?xf32>, tensor<2x?xf32>) -> tensor<?x?xf32>
  %zero = prim.constant {value = dense<0.0> : tensor<8xf32>} : () -> tensor<8xf32>
  %2 = prim.scatter %zero, %u, %i {dims = array<i64: 0>, kind = "add"} : (tensor<8xf32>, tensor<?xf32>, tensor<?xi64>) -> tensor<8xf32>
  %3 = prim.library %m {function = "matrix_exp", options = []} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0, %1, %2, %3 : tensor<?x4xf32>, tensor<?x?xf32>, tensor<8xf32>, tensor<?x?xf32>
}

// -----

// A window or a crop of more than there is.
// CHECK-LABEL: func.func @windows(
// CHECK-DAG: text = "prim.sliding_window: {0} must be at most {1}
// CHECK-DAG: text = "prim.pad: {0} must be at most {1}
// CHECK: return
func.func @windows(%x: tensor<?xf32>, %v: tensor<f32>) -> (tensor<?x3xf32>, tensor<?xf32>) {
  %0 = prim.sliding_window %x {sizes = array<i64: 3>, strides = array<i64: 1>, dilations = array<i64: 1>} : (tensor<?xf32>) -> tensor<?x3xf32>
  %1 = prim.pad %x, %v {low = array<i64: -4>, high = array<i64: 0>, interior = array<i64: 0>} : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  return %0, %1 : tensor<?x3xf32>, tensor<?xf32>
}

// -----

// What only some calls run is checked where it stands; what was checked before is not checked again.
// CHECK-LABEL: func.func @branches(
// CHECK: capture.guard %{{.*}} {text = "prim.sub
// CHECK: scf.if
// CHECK-NOT: prim.mul: the sizes
// CHECK: prim.mul
// CHECK: } else {
// CHECK: capture.guard %{{.*}} {text = "prim.add
// CHECK: prim.add
func.func @branches(%p: i1, %x: tensor<?xf32>, %y: tensor<?xf32>, %z: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = prim.sub %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = scf.if %p -> (tensor<?xf32>) {
    %2 = prim.mul %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %2 : tensor<?xf32>
  } else {
    %2 = prim.add %x, %z : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    scf.yield %2 : tensor<?xf32>
  }
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// The number of a loop's step is within its bounds.
// CHECK-LABEL: func.func @steps(
// CHECK-NOT: capture.guard
// CHECK: return
func.func @steps(%x: tensor<?xf32>, %z: tensor<1xf32>) -> tensor<1xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = prim.dim %x {dim = 0 : i64} : (tensor<?xf32>) -> index
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %z) -> (tensor<1xf32>) {
    %1 = prim.slice %x, %i {offsets = array<i64: -9223372036854775808>, sizes = array<i64: 1>, strides = array<i64: 1>} : (tensor<?xf32>, index) -> tensor<1xf32>
    %2 = prim.add %sum, %1 : tensor<1xf32>
    scf.yield %2 : tensor<1xf32>
  }
  return %0 : tensor<1xf32>
}
