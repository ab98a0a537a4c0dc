// What follows a long sum is asked for while the sum runs: some rows of the block before each part of the sum, so that what the sum reads
// does not wait behind all of them.
// RUN: rs-opt %s --attach-target=cpu=x86-64-v4 --prim-to-loop --pack-operands --schedule-cpu --loop-to-host --loop-to-cpu | rs-filecheck %s

// CHECK-LABEL: func.func private @k0(
// CHECK: %{{.*}}:24 = scf.for %[[FROM:.*]] = %c0 to %c256
// CHECK-COUNT-4: llvm.intr.prefetch
// CHECK: %[[STOP:.*]] = arith.addi %[[FROM]],
// CHECK: %{{.*}}:24 = scf.for %{{.*}} = %[[FROM]] to %[[STOP]]
// CHECK-NOT: llvm.intr.prefetch
// CHECK: return
func.func @main(%x: tensor<512x256xf32>, %y: tensor<256x512xf32>, %z: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = prim.fusion %x, %y, %z : (tensor<512x256xf32>, tensor<256x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32> {
  ^bb0(%a: tensor<512x256xf32>, %b: tensor<256x512xf32>, %c: tensor<512x512xf32>):
    %1 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<512x256xf32>, tensor<256x512xf32>) -> tensor<512x512xf32>
    %2 = prim.add %1, %c : tensor<512x512xf32>
    prim.yield %2 : tensor<512x512xf32>
  }
  return %0 : tensor<512x512xf32>
}
