// Scatters with lanes along rows, with several rows side by side, and one element at a time: values do not change, with the ends of rows that
// fill no vector, places that meet, and columns whose places differ between lanes.
// RUN: rs-run %s > %t.fast
// RUN: rs-run %s --skip schedule-cpu > %t.plain && diff %t.fast %t.plain

func.func @main(%x: tensor<19x37xi32> {capture.kind = "input", capture.name = "x"},
                %u: tensor<19x37xi32> {capture.kind = "input", capture.name = "u"})
    -> (tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"})
    attributes {capture.entry} {
  %long = aten.abs %u : (tensor<19x37xi32>) -> tensor<19x37xi32>
  %row = aten._to_copy %long {dtype = i64} : (tensor<19x37xi32>) -> tensor<19x37xi64>
  %places = aten.remainder.Scalar %row {other = 19 : i64} : (tensor<19x37xi64>) -> tensor<19x37xi64>
  %first = aten.select.int %places {dim = 1 : i64, index = 0 : i64} : (tensor<19x37xi64>) -> tensor<19xi64>
  %0 = aten.index_add %x, %first, %u {dim = 0 : i64} : (tensor<19x37xi32>, tensor<19xi64>, tensor<19x37xi32>) -> tensor<19x37xi32>
  %1 = aten.scatter_add %x, %places, %u {dim = 0 : i64} : (tensor<19x37xi32>, tensor<19x37xi64>, tensor<19x37xi32>) -> tensor<19x37xi32>
  %2 = aten.scatter.src %x, %places, %u {dim = 1 : i64} : (tensor<19x37xi32>, tensor<19x37xi64>, tensor<19x37xi32>) -> tensor<19x37xi32>
  %flat = aten.view %places {size = array<i64: 703>} : (tensor<19x37xi64>) -> tensor<703xi64>
  %values = aten.view %u {size = array<i64: 703>} : (tensor<19x37xi32>) -> tensor<703xi32>
  %to = aten.view %x {size = array<i64: 703>} : (tensor<19x37xi32>) -> tensor<703xi32>
  %3 = aten.scatter_add %to, %flat, %values {dim = 0 : i64} : (tensor<703xi32>, tensor<703xi64>, tensor<703xi32>) -> tensor<703xi32>
  // Sums of running sums, which depend on the order of the elements.
  %4 = aten.view %0 {size = array<i64: 703>} : (tensor<19x37xi32>) -> tensor<703xi32>
  %5 = aten.cumsum %4 {dim = 0 : i64} : (tensor<703xi32>) -> tensor<703xi64>
  %6 = aten.sum %5 : (tensor<703xi64>) -> tensor<i64>
  %7 = aten.view %1 {size = array<i64: 703>} : (tensor<19x37xi32>) -> tensor<703xi32>
  %8 = aten.cumsum %7 {dim = 0 : i64} : (tensor<703xi32>) -> tensor<703xi64>
  %9 = aten.sum %8 : (tensor<703xi64>) -> tensor<i64>
  %10 = aten.view %2 {size = array<i64: 703>} : (tensor<19x37xi32>) -> tensor<703xi32>
  %11 = aten.cumsum %10 {dim = 0 : i64} : (tensor<703xi32>) -> tensor<703xi64>
  %12 = aten.sum %11 : (tensor<703xi64>) -> tensor<i64>
  %13 = aten.cumsum %3 {dim = 0 : i64} : (tensor<703xi32>) -> tensor<703xi64>
  %14 = aten.sum %13 : (tensor<703xi64>) -> tensor<i64>
  return %6, %9, %12, %14 : tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>
}
