// A second reduction that reads the result of the first one: both in pieces.
// RUN: rs-run %s > %t.split
// RUN: rs-run %s --skip split-reductions,schedule-cpu > %t.whole && diff %t.split %t.whole

func.func @main(%x: tensor<150001xi64> {capture.kind = "input", capture.name = "x"}) -> (tensor<i64> {capture.kind = "output"}) attributes {capture.entry} {
  %r = prim.fusion %x : (tensor<150001xi64>) -> tensor<i64> {
  ^bb0(%a: tensor<150001xi64>):
    %0 = prim.reduce %a {dims = array<i64: 0>, kind = "max"} : (tensor<150001xi64>) -> tensor<i64>
    %1 = prim.broadcast %0 {dims = array<i64>} : (tensor<i64>) -> tensor<150001xi64>
    %2 = prim.sub %a, %1 : tensor<150001xi64>
    %3 = prim.mul %2, %2 : tensor<150001xi64>
    %4 = prim.reduce %3 {dims = array<i64: 0>, kind = "sum"} : (tensor<150001xi64>) -> tensor<i64>
    prim.yield %4 : tensor<i64>
  }
  return %r : tensor<i64>
}
