// The mean and the root of a row, which are computed once for all of it, are no reason why a kernel is slow; sizes that only the call knows hide none.
// RUN: rs-compile %s --explain-slow --no-cache -o /dev/null 2>&1 | FileCheck %s --allow-empty
// CHECK-NOT: scalar
func.func @main(%x: tensor<?x64xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<?x64xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %x {dim = 0 : i64, symbol = "n", min = 1 : i64, max = 100000 : i64} : (tensor<?x64xf32>) -> index
  %0 = aten.layer_norm %x {segments = array<i64: 1, 0, 0>, normalized_shape = array<i64: 64>} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}
