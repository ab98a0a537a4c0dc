// RUN: rs-opt %s --prim-to-loop=remarks --verify-diagnostics | FileCheck %s
// RUN: rs-opt %s --prim-to-loop -o /dev/null 2>&1 | FileCheck %s --check-prefix=QUIET --allow-empty
// A fusion that one kernel cannot hold becomes several, and says so where it is asked.
// QUIET-NOT: remark:

// CHECK: loop.kernel @k0_1
// CHECK: loop.load
// CHECK: loop.kernel @k0_0
// CHECK: math.exp
// CHECK-LABEL: func.func @gather_of_computed(
// CHECK: %[[E:.*]] = loop.call {{.*}}@k0_0
// CHECK: loop.call {{.*}}@k0_1
func.func @gather_of_computed(%x: tensor<8xf32>, %i: tensor<4xi64>) -> tensor<4xf32> {
  // expected-remark @+1 {{becomes several kernels, because one cannot hold it: }}
  %0 = prim.fusion %x, %i : (tensor<8xf32>, tensor<4xi64>) -> tensor<4xf32> {
  ^bb0(%a: tensor<8xf32>, %b: tensor<4xi64>):
    %1 = prim.exp %a : tensor<8xf32>
    %2 = prim.gather %1, %b {dims = array<i64: 0>} : (tensor<8xf32>, tensor<4xi64>) -> tensor<4xf32>
    prim.yield %2 : (tensor<4xf32>) -> ()
  }
  return %0 : tensor<4xf32>
}
