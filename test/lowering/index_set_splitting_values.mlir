// Loops that are cut at the borders of what they read, of concatenations and rolls: values do not change.
// RUN: rs-run %s > %t.fast
// RUN: rs-run %s --skip schedule-cpu > %t.plain && diff %t.fast %t.plain

func.func @main(%x: tensor<19x37xi32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<19x5xi32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.roll %x {shifts = array<i64: 7, 30>, dims = array<i64: 0, 1>} : (tensor<19x37xi32>) -> tensor<19x37xi32>
  %1 = aten.cat %y, %x, %y {dim = 1 : i64, segments = array<i64: 3>} : (tensor<19x5xi32>, tensor<19x37xi32>, tensor<19x5xi32>) -> tensor<19x47xi32>
  // Sums of running sums, which depend on the order of the elements.
  %2 = aten.view %0 {size = array<i64: 703>} : (tensor<19x37xi32>) -> tensor<703xi32>
  %3 = aten.cumsum %2 {dim = 0 : i64} : (tensor<703xi32>) -> tensor<703xi64>
  %4 = aten.sum %3 : (tensor<703xi64>) -> tensor<i64>
  %5 = aten.view %1 {size = array<i64: 893>} : (tensor<19x47xi32>) -> tensor<893xi32>
  %6 = aten.cumsum %5 {dim = 0 : i64} : (tensor<893xi32>) -> tensor<893xi64>
  %7 = aten.sum %6 : (tensor<893xi64>) -> tensor<i64>
  return %4, %7 : tensor<i64>, tensor<i64>
}
