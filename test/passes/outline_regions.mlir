// RUN: rs-opt %s --outline-regions=min-ops=2 --split-input-file | FileCheck %s
// RUN: rs-opt %s --outline-regions="min-ops=2 remarks" --split-input-file 2>&1 | FileCheck %s --check-prefix=WHY
// RUN: rs-opt %s --check-semantics --outline-regions=min-ops=2 --inline --split-input-file | FileCheck %s --check-prefix=SAME
// RUN: rs-opt %s --outline-regions --split-input-file | FileCheck %s --check-prefix=SMALL

// Equal layers are one function, called with the weights of each; the one that is another is a function too.
// What stands between the operations of a layer and reads them goes behind its call.
// CHECK-LABEL: func.func @main(
// CHECK: %[[A:.*]]:2 = call @layers.0(%arg0, %arg1) :
// CHECK-NEXT: %[[R:.*]] = aten.relu %[[A]]#0
// CHECK-NEXT: %[[B:.*]]:2 = call @layers.0(%[[A]]#1, %arg2) :
// CHECK-NEXT: %[[C:.*]] = call @layers.2(%[[B]]#1, %arg2)
// CHECK-NEXT: aten.add.Tensor %[[C]], %[[R]]
// CHECK-NEXT: aten.add.Tensor {{.*}}, %[[B]]#0
// CHECK: func.func private @layers.0(%arg0: tensor<4xf32>, %arg1: tensor<4xf32> {capture.kind = "parameter", capture.name = "weight.1"}) -> (tensor<4xf32>, tensor<4xf32>) {
// CHECK-NEXT: %[[M:.*]] = aten.mul.Tensor %arg0, %arg1
// CHECK-NEXT: %[[E:.*]] = aten.exp %[[M]]
// CHECK-NEXT: return %[[M]], %[[E]]
// CHECK: func.func private @layers.2(
// CHECK: aten.sin
// SAME: checked 2 of 2 passes
// SMALL-LABEL: func.func @main(
// SMALL-NOT: call
func.func @main(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"},
                %v: tensor<4xf32> {capture.kind = "parameter", capture.name = "layers.0.weight"},
                %w: tensor<4xf32> {capture.kind = "parameter", capture.name = "layers.1.weight"})
    -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.mul.Tensor %x, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("mul"("layers.0"(unknown)))
  %between = aten.relu %0 : tensor<4xf32> loc("relu"("head"(unknown)))
  %1 = aten.exp %0 : tensor<4xf32> loc("exp"("layers.0.act"(unknown)))
  %2 = aten.mul.Tensor %1, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("mul_1"("layers.1"(unknown)))
  %3 = aten.exp %2 : tensor<4xf32> loc("exp_1"("layers.1.act"(unknown)))
  %4 = aten.mul.Tensor %3, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("mul_2"("layers.2"(unknown)))
  %5 = aten.sin %4 : tensor<4xf32> loc("sin"("layers.2.act"(unknown)))
  %6 = aten.add.Tensor %5, %between : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("add"("head"(unknown)))
  %7 = aten.add.Tensor %6, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("add_1"("head"(unknown)))
  return %7 : tensor<4xf32>
}

// -----

// A layer that the program comes back to is no step of it; nothing is said of modules without a number.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: call
// WHY-COUNT-2: 'blocks.{{[01]}}' is not outlined: the program leaves it and comes back, so it is not one step
// SAME: checked 2 of 2 passes
func.func @main(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.exp %x : tensor<4xf32> loc("a"("blocks.0"(unknown)))
  %1 = aten.neg %0 : tensor<4xf32> loc("b"("head"(unknown)))
  %2 = aten.exp %1 : tensor<4xf32> loc("c"("blocks.0"(unknown)))
  %3 = aten.exp %2 : tensor<4xf32> loc("d"("blocks.1"(unknown)))
  %4 = aten.neg %3 : tensor<4xf32> loc("e"("head"(unknown)))
  %5 = aten.exp %4 : tensor<4xf32> loc("f"("blocks.1"(unknown)))
  return %5 : tensor<4xf32>
}

// -----

// Random numbers are drawn in the program's order: a layer that draws some is a function where nobody draws between its operations.
// CHECK-LABEL: func.func @main(
// CHECK-COUNT-2: call @free.0
// CHECK-NOT: call
// CHECK: return
// WHY-COUNT-2: 'mixed.{{[01]}}' is not outlined: it has effects, and so has what stands between its operations: their order would be another
func.func @main(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.dropout %x {p = 0.5 : f64, train = true} : tensor<4xf32> loc("a"("free.0"(unknown)))
  %1 = aten.exp %0 : tensor<4xf32> loc("b"("free.0"(unknown)))
  %2 = aten.dropout %1 {p = 0.5 : f64, train = true} : tensor<4xf32> loc("c"("free.1"(unknown)))
  %3 = aten.exp %2 : tensor<4xf32> loc("d"("free.1"(unknown)))
  %4 = aten.dropout %3 {p = 0.5 : f64, train = true} : tensor<4xf32> loc("e"("mixed.0"(unknown)))
  %5 = aten.dropout %3 {p = 0.5 : f64, train = true} : tensor<4xf32> loc("f"("head"(unknown)))
  %6 = aten.add.Tensor %4, %3 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("g"("mixed.0"(unknown)))
  %7 = aten.dropout %6 {p = 0.5 : f64, train = true} : tensor<4xf32> loc("h"("mixed.1"(unknown)))
  %8 = aten.dropout %5 {p = 0.5 : f64, train = true} : tensor<4xf32> loc("i"("head"(unknown)))
  %9 = aten.add.Tensor %7, %8 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> loc("j"("mixed.1"(unknown)))
  return %9 : tensor<4xf32>
}

// -----

// Sizes that are not known are the caller's to know.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: call
// WHY-COUNT-2: 'layers.{{[01]}}' is not outlined: it has symbolic sizes, of which a function would know less than its caller
// SAME: checked 2 of 2 passes
func.func @main(%x: tensor<?xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<?xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.exp %x : tensor<?xf32> loc("a"("layers.0"(unknown)))
  %1 = aten.neg %0 : tensor<?xf32> loc("b"("layers.0"(unknown)))
  %2 = aten.exp %1 : tensor<?xf32> loc("c"("layers.1"(unknown)))
  %3 = aten.neg %2 : tensor<?xf32> loc("d"("layers.1"(unknown)))
  return %3 : tensor<?xf32>
}

// -----

// No operation names a module: what comes again in the same order is a layer. It begins where one value crosses, although the two
// operations before the first layer are like the last two of each.
// CHECK-LABEL: func.func @main(
// CHECK: %[[R:.*]] = aten.relu %arg0
// CHECK: %[[X:.*]] = aten.add.Tensor %[[R]], %arg0
// CHECK-NEXT: %[[A:.*]] = call @repeat.0(%[[X]], %arg1)
// CHECK-NEXT: %[[B:.*]] = call @repeat.0(%[[A]], %arg2)
// CHECK-NEXT: %[[C:.*]] = call @repeat.0(%[[B]], %arg1)
// CHECK-NEXT: aten.sqrt %[[C]]
// CHECK: func.func private @repeat.0(
// CHECK-NOT: func.func
// SAME: checked 2 of 2 passes
// SMALL-LABEL: func.func @main(
// SMALL-COUNT-3: call @repeat.0
func.func @main(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"}, %v: tensor<4xf32> {capture.kind = "parameter", capture.name = "v"},
                %w: tensor<4xf32> {capture.kind = "parameter", capture.name = "w"}) -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %r = aten.relu %x : tensor<4xf32>
  %0 = aten.add.Tensor %r, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l0a = aten.exp %0 : tensor<4xf32>
  %l0b = aten.neg %l0a : tensor<4xf32>
  %l0c = aten.sin %l0b : tensor<4xf32>
  %l0d = aten.cos %l0c : tensor<4xf32>
  %l0e = aten.tanh %l0d : tensor<4xf32>
  %l0f = aten.mul.Tensor %l0e, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l0g = aten.relu %l0f : tensor<4xf32>
  %1 = aten.add.Tensor %l0g, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l1a = aten.exp %1 : tensor<4xf32>
  %l1b = aten.neg %l1a : tensor<4xf32>
  %l1c = aten.sin %l1b : tensor<4xf32>
  %l1d = aten.cos %l1c : tensor<4xf32>
  %l1e = aten.tanh %l1d : tensor<4xf32>
  %l1f = aten.mul.Tensor %l1e, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l1g = aten.relu %l1f : tensor<4xf32>
  %2 = aten.add.Tensor %l1g, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l2a = aten.exp %2 : tensor<4xf32>
  %l2b = aten.neg %l2a : tensor<4xf32>
  %l2c = aten.sin %l2b : tensor<4xf32>
  %l2d = aten.cos %l2c : tensor<4xf32>
  %l2e = aten.tanh %l2d : tensor<4xf32>
  %l2f = aten.mul.Tensor %l2e, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l2g = aten.relu %l2f : tensor<4xf32>
  %3 = aten.add.Tensor %l2g, %2 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = aten.sqrt %3 : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// The same operations, but the last of the third layer reads another value: it is a function of its own.
// CHECK-LABEL: func.func @main(
// CHECK: %[[A:.*]] = call @repeat.0(%arg0, %arg1)
// CHECK-NEXT: %[[B:.*]] = call @repeat.0(%[[A]], %arg2)
// CHECK-NEXT: call @repeat.2(%[[B]], %arg1, %arg0)
// SAME: checked 2 of 2 passes
func.func @main(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"}, %v: tensor<4xf32> {capture.kind = "parameter", capture.name = "v"},
                %w: tensor<4xf32> {capture.kind = "parameter", capture.name = "w"}) -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %l0a = aten.exp %x : tensor<4xf32>
  %l0b = aten.neg %l0a : tensor<4xf32>
  %l0c = aten.sin %l0b : tensor<4xf32>
  %l0d = aten.cos %l0c : tensor<4xf32>
  %l0e = aten.tanh %l0d : tensor<4xf32>
  %l0f = aten.mul.Tensor %l0e, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l0g = aten.relu %l0f : tensor<4xf32>
  %1 = aten.add.Tensor %l0g, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l1a = aten.exp %1 : tensor<4xf32>
  %l1b = aten.neg %l1a : tensor<4xf32>
  %l1c = aten.sin %l1b : tensor<4xf32>
  %l1d = aten.cos %l1c : tensor<4xf32>
  %l1e = aten.tanh %l1d : tensor<4xf32>
  %l1f = aten.mul.Tensor %l1e, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l1g = aten.relu %l1f : tensor<4xf32>
  %2 = aten.add.Tensor %l1g, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l2a = aten.exp %2 : tensor<4xf32>
  %l2b = aten.neg %l2a : tensor<4xf32>
  %l2c = aten.sin %l2b : tensor<4xf32>
  %l2d = aten.cos %l2c : tensor<4xf32>
  %l2e = aten.tanh %l2d : tensor<4xf32>
  %l2f = aten.mul.Tensor %l2e, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %l2g = aten.relu %l2f : tensor<4xf32>
  %3 = aten.add.Tensor %l2g, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
