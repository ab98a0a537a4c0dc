// The root of a row's mean, which is computed once for all of it, is no reason why a kernel is slow; sizes that only the call knows hide none.
// RUN: rs-compile %s --explain-slow --no-cache -o /dev/null 2>&1 | FileCheck %s --allow-empty
// CHECK-NOT: scalar
func.func @main(%x: tensor<?x64xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<?x64xf32> {capture.kind = "output"}, tensor<?xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %x {dim = 0 : i64, symbol = "n", min = 1 : i64, max = 100000 : i64} : (tensor<?x64xf32>) -> index
  %sum = prim.reduce %x {dims = array<i64: 1>, kind = "sum"} : (tensor<?x64xf32>) -> tensor<?xf32>
  %sums = prim.broadcast %sum, %n {dims = array<i64: 0>} : (tensor<?xf32>, index) -> tensor<?x64xf32>
  %centred = prim.sub %x, %sums : tensor<?x64xf32>
  %squares = prim.mul %centred, %centred : tensor<?x64xf32>
  %variance = prim.reduce %squares {dims = array<i64: 1>, kind = "sum"} : (tensor<?x64xf32>) -> tensor<?xf32>
  %root = prim.rsqrt %variance : tensor<?xf32>
  return %centred, %root : tensor<?x64xf32>, tensor<?xf32>
}
