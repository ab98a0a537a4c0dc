// The operators of a program, behind the writes in place, or those of them whose name has a part.
// RUN: rs-opt --op-coverage %s | FileCheck %s
// RUN: rs-opt %s --op-coverage=sin | FileCheck %s --check-prefix=PART
// RUN: rs-opt --op-coverage=sum %S/../models/chain30.pt2 | FileCheck %s --check-prefix=EXPORTED
// RUN: not rs-opt --op-coverage %s.none 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: aten.add.Tensor compiled interpreted
// CHECK-NEXT: aten.int_repr missing
// CHECK-NEXT: aten.sin compiled interpreted
// CHECK-NEXT: compiled 2 of 3
// CHECK-NEXT: interpreted 2 of 3
// PART-NOT: aten.add
// PART: compiled 1 of 1
// EXPORTED: compiled 1 of 1
// NONE: rs-opt: {{.*}}op_coverage.mlir.none: not a file that can be compiled

func.func @main(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<4xf32> {capture.kind = "output"}, tensor<4xf32> {capture.kind = "mutation", capture.name = "x"}) attributes {capture.entry} {
  %0 = aten.sin %x : tensor<4xf32>
  %1 = aten.add_.Tensor %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = aten.int_repr %x : tensor<4xf32>
  return %2, %1 : tensor<4xf32>, tensor<4xf32>
}
