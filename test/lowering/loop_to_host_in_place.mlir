// RUN: rs-opt %s --prim-to-loop --write-in-place --loop-to-host | rs-filecheck %s

// What a step makes in place is in its slot: nothing is copied back, and the sum that is of a step before stays apart.
// CHECK-LABEL: func.func @main() attributes {host.entry}
// CHECK: host.copy %{{.*}}, %[[SLOT:[0-9]+]],
// CHECK: host.copy %{{.*}}, %[[BEFORE:[0-9]+]],
// CHECK: scf.for
// CHECK: host.launch %[[SLOT]], %[[MADE:.*]] {callee = @k0, outputs = 1 : i64}
// CHECK: host.launch %[[SLOT]], %[[SLOT]] {callee = @k1, outputs = 1 : i64}
// CHECK-NOT: host.copy
// CHECK: host.copy %[[MADE]], %[[BEFORE]]
// CHECK-NOT: host.copy
// CHECK: }
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {capture.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %0:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%h = %x, %before = %x) -> (tensor<4xf32>, tensor<4xf32>) {
    %1 = prim.neg %h : tensor<4xf32>
    %2 = prim.exp %h : tensor<4xf32>
    scf.yield %2, %1 : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}
