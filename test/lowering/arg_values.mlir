// Positions of the first extremum, with lanes along what is reduced, several accumulators and edges; made-up integers have many
// equals. The results are weighed by their place.
// RUN: rs-run %s > %t.fast
// RUN: rs-run %s --skip schedule-cpu > %t.plain && diff %t.fast %t.plain
// RUN: rs-opt %s --to=loop-scheduled | rs-filecheck %s
// CHECK: reducer = "argmax", schedule = {unroll = 4 : i64, vector = {{[0-9]}} : i64, width = 16 : i64}

func.func @main(%x: tensor<37x1003xf32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<37x1003xi32> {capture.kind = "input", capture.name = "y"},
                %z: tensor<?xi64> {capture.kind = "input", capture.name = "z"})
    -> (tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %z {dim = 0 : i64, symbol = "n", min = 1 : i64, max = 1000000 : i64} : (tensor<?xi64>) -> index
  %0 = aten.argmax %x {dim = 1 : i64} : (tensor<37x1003xf32>) -> tensor<37xi64>
  %1 = aten.cumsum %0 {dim = 0 : i64} : (tensor<37xi64>) -> tensor<37xi64>
  %2 = aten.sum %1 : (tensor<37xi64>) -> tensor<i64>
  %3 = aten.argmin %y {dim = 1 : i64} : (tensor<37x1003xi32>) -> tensor<37xi64>
  %4 = aten.cumsum %3 {dim = 0 : i64} : (tensor<37xi64>) -> tensor<37xi64>
  %5 = aten.sum %4 : (tensor<37xi64>) -> tensor<i64>
  %6 = aten.argmax %z : (tensor<?xi64>) -> tensor<i64>
  return %2, %5, %6 : tensor<i64>, tensor<i64>, tensor<i64>
}
