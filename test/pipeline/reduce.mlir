// The planted op stays, with as little around it as it can be: an argument for what it reads, nothing that reads it.
// RUN: rs-reduce %s --test=sh --test-arg=-c --test-arg='! grep -q prim.erf "$0"' 2> %t.count | FileCheck %s
// RUN: FileCheck %s --check-prefix=COUNT --input-file=%t.count
// RUN: not rs-reduce %s --test=true 2>&1 | FileCheck %s --check-prefix=BORING

// CHECK: module
// CHECK-NEXT: func.func @planted(%[[X:.*]]: tensor<4xf32>) {
// CHECK-NEXT: prim.erf %[[X]]
// CHECK-NEXT: return
// CHECK-NEXT: }
// CHECK-NEXT: }
// COUNT: rs-reduce: {{[0-9]+}} programs tried, {{[0-9]+}} changes kept
// BORING: rs-reduce: the program is not interesting as it is

func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = prim.neg %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

func.func @planted(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"}, %n: tensor<?x4xf32> {capture.kind = "input", capture.name = "n"})
    -> (tensor<4xf32> {capture.kind = "output"}, tensor<?x4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %w = prim.constant {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = prim.fusion %0, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %s = prim.add %a, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    prim.yield %s : tensor<4xf32>
  }
  %2 = prim.erf %1 : tensor<4xf32>
  %3 = prim.mul %2, %w : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = prim.exp %n : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %3, %4 : tensor<4xf32>, tensor<?x4xf32>
}
