// Operands that are turned in registers, in blocks with odd edges, and rows that are kept: values do not change.
// RUN: rs-run %s > %t.fast
// RUN: rs-run %s --skip keep-rows,schedule-cpu > %t.plain && diff %t.fast %t.plain

func.func @main(%x: tensor<193x150xi32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<150x193xi32> {capture.kind = "input", capture.name = "y"},
                %z: tensor<3x40x17x5xi64> {capture.kind = "input", capture.name = "z"},
                %w: tensor<70x33x3x3xi32> {capture.kind = "input", capture.name = "w"})
    -> (tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"})
    attributes {capture.entry} {
  %0 = aten.permute %x {dims = array<i64: 1, 0>} : (tensor<193x150xi32>) -> tensor<150x193xi32>
  %1 = aten.add.Tensor %0, %y : tensor<150x193xi32>
  %2 = aten.cumsum %1 {dim = 1 : i64} : (tensor<150x193xi32>) -> tensor<150x193xi64>
  %3 = aten.cumsum %2 {dim = 0 : i64} : (tensor<150x193xi64>) -> tensor<150x193xi64>
  %4 = aten.sum %3 : (tensor<150x193xi64>) -> tensor<i64>
  %5 = aten.permute %z {dims = array<i64: 0, 2, 3, 1>} : (tensor<3x40x17x5xi64>) -> tensor<3x17x5x40xi64>
  %6 = aten.view %5 {size = array<i64: 10200>} : (tensor<3x17x5x40xi64>) -> tensor<10200xi64>
  %7 = aten.cumsum %6 {dim = 0 : i64} : (tensor<10200xi64>) -> tensor<10200xi64>
  %8 = aten.sum %7 : (tensor<10200xi64>) -> tensor<i64>
  // Padding on the way: vectors end at the border.
  %padded = aten.constant_pad_nd %y {pad = array<i64: 2, 1, 3, 0>} : (tensor<150x193xi32>) -> tensor<153x196xi32>
  %9 = aten.permute %padded {dims = array<i64: 1, 0>} : (tensor<153x196xi32>) -> tensor<196x153xi32>
  %10 = aten.clone %9 {memory_format = "contiguous_format"} : (tensor<196x153xi32>) -> tensor<196x153xi32>
  %11 = aten.cumsum %10 {dim = 1 : i64} : (tensor<196x153xi32>) -> tensor<196x153xi64>
  %12 = aten.cumsum %11 {dim = 0 : i64} : (tensor<196x153xi64>) -> tensor<196x153xi64>
  %13 = aten.sum %12 : (tensor<196x153xi64>) -> tensor<i64>
  // Panels of weights, read backwards along dims that are shorter than a vector.
  %14 = aten.flip %w {dims = array<i64: 2, 3>} : (tensor<70x33x3x3xi32>) -> tensor<70x33x3x3xi32>
  %15 = aten.view %14 {size = array<i64: 2, 35, 33, 3, 3>} : (tensor<70x33x3x3xi32>) -> tensor<2x35x33x3x3xi32>
  %16 = aten.permute %15 {dims = array<i64: 0, 3, 4, 2, 1>} : (tensor<2x35x33x3x3xi32>) -> tensor<2x3x3x33x35xi32>
  %17 = aten.clone %16 {memory_format = "contiguous_format"} : (tensor<2x3x3x33x35xi32>) -> tensor<2x3x3x33x35xi32>
  %18 = aten.view %17 {size = array<i64: 20790>} : (tensor<2x3x3x33x35xi32>) -> tensor<20790xi32>
  %19 = aten.cumsum %18 {dim = 0 : i64} : (tensor<20790xi32>) -> tensor<20790xi64>
  %20 = aten.sum %19 : (tensor<20790xi64>) -> tensor<i64>
  return %4, %8, %13, %20 : tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>
}
