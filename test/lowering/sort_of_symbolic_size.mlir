// The places that a sort of symbolic size exchanges are sums that share their terms: each is taken apart once, or this takes minutes.
// RUN: rs-compile %s --emit=mlir --to=gpu --target=cuda:sm_90 -o - | rs-filecheck %s

// CHECK: gpu.func @
func.func @main(%x: tensor<?x?xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<?x?xf32> {capture.kind = "output"}, tensor<?x?xi64> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = capture.dim %x {dim = 0 : i64, max = 9223372036854775807 : i64, min = 0 : i64, symbol = "rows"} : (tensor<?x?xf32>) -> index
  %1 = capture.dim %x {dim = 1 : i64, max = 9223372036854775807 : i64, min = 0 : i64, symbol = "columns"} : (tensor<?x?xf32>) -> index
  %2:2 = aten.sort %x {descending = true} : (tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xi64>)
  return %2#0, %2#1 : tensor<?x?xf32>, tensor<?x?xi64>
}
