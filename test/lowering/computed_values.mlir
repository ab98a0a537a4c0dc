// Rows by index are read by whole vectors, rows backwards by vectors that are turned: values do not change, whatever the row's length.
// RUN: rs-run %s > %t.fast
// RUN: rs-run %s --skip schedule-cpu > %t.plain && diff %t.fast %t.plain

func.func @main(%x: tensor<9x37xi32> {capture.kind = "input", capture.name = "x"},
                %h: tensor<9x300xi8> {capture.kind = "input", capture.name = "h"},
                %b: tensor<5x83xi1> {capture.kind = "input", capture.name = "b"},
                %k: tensor<21xi64> {capture.kind = "input", capture.name = "k"})
    -> (tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"},
        tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"})
    attributes {capture.entry} {
  %i = aten.remainder.Scalar %k {other = 9 : i64} : tensor<21xi64>
  %0 = aten.index_select %x, %i {dim = 0 : i64} : (tensor<9x37xi32>, tensor<21xi64>) -> tensor<21x37xi32>
  %1 = aten.index_select %h, %i {dim = 0 : i64} : (tensor<9x300xi8>, tensor<21xi64>) -> tensor<21x300xi8>
  %2 = aten.index_select %x, %i {dim = 1 : i64} : (tensor<9x37xi32>, tensor<21xi64>) -> tensor<9x21xi32>
  %3 = aten.flip %x {dims = array<i64: 0, 1>} : (tensor<9x37xi32>) -> tensor<9x37xi32>
  %4 = aten.flip %b {dims = array<i64: 1>} : (tensor<5x83xi1>) -> tensor<5x83xi1>
  // Sums of running sums, which depend on the order of the elements.
  %5 = aten.view %0 {size = array<i64: 777>} : (tensor<21x37xi32>) -> tensor<777xi32>
  %6 = aten.cumsum %5 {dim = 0 : i64} : (tensor<777xi32>) -> tensor<777xi64>
  %7 = aten.sum %6 : (tensor<777xi64>) -> tensor<i64>
  %8 = aten.view %1 {size = array<i64: 6300>} : (tensor<21x300xi8>) -> tensor<6300xi8>
  %9 = aten.cumsum %8 {dim = 0 : i64} : (tensor<6300xi8>) -> tensor<6300xi64>
  %10 = aten.sum %9 : (tensor<6300xi64>) -> tensor<i64>
  %11 = aten.view %2 {size = array<i64: 189>} : (tensor<9x21xi32>) -> tensor<189xi32>
  %12 = aten.cumsum %11 {dim = 0 : i64} : (tensor<189xi32>) -> tensor<189xi64>
  %13 = aten.sum %12 : (tensor<189xi64>) -> tensor<i64>
  %14 = aten.view %3 {size = array<i64: 333>} : (tensor<9x37xi32>) -> tensor<333xi32>
  %15 = aten.cumsum %14 {dim = 0 : i64} : (tensor<333xi32>) -> tensor<333xi64>
  %16 = aten.sum %15 : (tensor<333xi64>) -> tensor<i64>
  %17 = aten.view %4 {size = array<i64: 415>} : (tensor<5x83xi1>) -> tensor<415xi1>
  %18 = aten.cumsum %17 {dim = 0 : i64} : (tensor<415xi1>) -> tensor<415xi64>
  %19 = aten.sum %18 : (tensor<415xi64>) -> tensor<i64>
  return %7, %10, %13, %16, %19 : tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>
}
