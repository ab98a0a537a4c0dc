// Tensors of the call that lie in an order of their own mean the same at every level, and cost no kernel that only moves them.
// RUN: rs-opt %s --check-semantics=sets=2 --to=host | FileCheck %s
// RUN: rs-opt %s --strata-to-aten --strata-to-prim --strata-to-prim-fused --strata-to-loop | FileCheck %s --check-prefix=LOOP
// RUN: rs-opt %s --strata-to-aten --strata-to-prim --strata-to-prim-fused --strata-to-loop --strata-to-loop-scheduled --strata-to-host | FileCheck %s --check-prefix=HOST
// RUN: not rs-opt %s --strata-to-aten --decompose-aten --prim-to-loop --loop-to-host 2>&1 | FileCheck %s --check-prefix=ROW
// CHECK: checked [[N:[0-9]+]] of [[N]] passes

// x.t() + y as PyTorch gives it: one kernel, which reads x as it lies and writes the result as it is to lie. The image is negated as it
// lies, symbolic sizes and all; in the order of before it is one more kernel; its memory itself is copied whole.
// LOOP-COUNT-3: loop.kernel
// LOOP-NOT: loop.kernel

// Sizes of outputs are in the order of dims.
// HOST: %[[N:.*]] = host.input_size {dim = 0 : i64, index = 2 : i64}
// HOST: %[[H:.*]] = host.input_size {dim = 2 : i64, index = 2 : i64}
// HOST: host.launch
// HOST: %[[OUT:.*]] = host.output %[[C4:.*]], %[[C6:.*]] {index = 0 : i64}
// HOST-NEXT: host.launch %{{.*}}, %{{.*}}, %[[OUT]] {
// HOST: host.launch
// HOST: host.output %[[N]], %{{.*}}, %[[H]], %{{.*}} {index = 1 : i64}
// HOST: host.output %[[N]], %{{.*}}, %[[H]], %{{.*}} {index = 2 : i64}
// HOST: host.output %[[N]], %[[H]], %{{.*}}, %{{.*}} {index = 3 : i64}

// ROW: it uses a tensor of the call that lies in another order; --apply-dim-orders makes that good
func.func @main(%x: tensor<6x4xf32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<4x6xf32> {capture.kind = "input", capture.name = "y", capture.dim_order = array<i64: 1, 0>},
                %z: tensor<?x5x?x7xf32> {capture.kind = "input", capture.name = "z", capture.dim_order = array<i64: 0, 2, 3, 1>})
    -> (tensor<4x6xf32> {capture.kind = "output", capture.dim_order = array<i64: 1, 0>},
        tensor<?x5x?x7xf32> {capture.kind = "output", capture.dim_order = array<i64: 0, 2, 3, 1>},
        tensor<?x5x?x7xf32> {capture.kind = "output"},
        tensor<?x?x7x5xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %z {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 9 : i64} : (tensor<?x5x?x7xf32>) -> index
  %h = capture.dim %z {dim = 2 : i64, symbol = "h", min = 0 : i64, max = 9 : i64} : (tensor<?x5x?x7xf32>) -> index
  %0 = aten.t %x : (tensor<6x4xf32>) -> tensor<4x6xf32>
  %1 = aten.add.Tensor %0, %y : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = aten.neg %z : (tensor<?x5x?x7xf32>) -> tensor<?x5x?x7xf32>
  %3 = aten.permute %z {dims = array<i64: 0, 2, 3, 1>} : (tensor<?x5x?x7xf32>) -> tensor<?x?x7x5xf32>
  return %1, %2, %z, %3 : tensor<4x6xf32>, tensor<?x5x?x7xf32>, tensor<?x5x?x7xf32>, tensor<?x?x7x5xf32>
}
