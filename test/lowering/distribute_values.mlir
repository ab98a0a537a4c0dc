// Bodies in parts give what whole ones give: with rests, symbolic sizes, scalars of a row, conditions and integers that go from part to part,
// f64, halves, sums and results in several tensors.
// RUN: rs-opt %s --to=loop-scheduled | rs-filecheck %s
// RUN: rs-run %s --numerics strict > %t.parts
// RUN: rs-run %s --numerics strict --skip schedule-cpu > %t.whole && diff %t.parts %t.whole
// CHECK-COUNT-6: distribute = array

func.func @main(%x: tensor<?xf32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<5x517xf32> {capture.kind = "input", capture.name = "y"},
                %s: tensor<5x1xf32> {capture.kind = "input", capture.name = "s"},
                %d: tensor<131xf64> {capture.kind = "input", capture.name = "d"},
                %h: tensor<1037xf16> {capture.kind = "input", capture.name = "h"})
    -> (tensor<?xf32> {capture.kind = "output"}, tensor<5x517xf32> {capture.kind = "output"}, tensor<131xf64> {capture.kind = "output"},
        tensor<1037xf16> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<f32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %x {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 100000 : i64} : (tensor<?xf32>) -> index
  %a0 = aten.sin %x : tensor<?xf32>
  %a1 = aten.exp %a0 : tensor<?xf32>
  %a2 = aten.cos %a1 : tensor<?xf32>
  %a3 = aten.exp %a2 : tensor<?xf32>
  %a4 = aten.sin %a3 : tensor<?xf32>
  %b0 = aten.mul.Tensor %y, %s : (tensor<5x517xf32>, tensor<5x1xf32>) -> tensor<5x517xf32>
  %b1 = aten.tanh %b0 : tensor<5x517xf32>
  %b2 = aten.gt.Tensor %b1, %y : (tensor<5x517xf32>, tensor<5x517xf32>) -> tensor<5x517xi1>
  %b3 = aten.exp %b1 : tensor<5x517xf32>
  %b4 = aten.log1p %b3 : tensor<5x517xf32>
  %b5 = aten.mul.Tensor %b4, %s : (tensor<5x517xf32>, tensor<5x1xf32>) -> tensor<5x517xf32>
  %b6 = aten.sin %b5 : tensor<5x517xf32>
  %b7 = aten.where.self %b2, %b6, %y : (tensor<5x517xi1>, tensor<5x517xf32>, tensor<5x517xf32>) -> tensor<5x517xf32>
  %c0 = aten.sin %d : tensor<131xf64>
  %c1 = aten.exp %c0 : tensor<131xf64>
  %c2 = aten.cos %c1 : tensor<131xf64>
  %e0 = aten.sin %h : tensor<1037xf16>
  %e1 = aten.exp %e0 : tensor<1037xf16>
  %e2 = aten.cos %e1 : tensor<1037xf16>
  %e3 = aten.exp %e2 : tensor<1037xf16>
  %e4 = aten.sin %e3 : tensor<1037xf16>
  %f0 = aten.sin %y : tensor<5x517xf32>
  %f1 = aten.exp %f0 : tensor<5x517xf32>
  %f2 = aten.cos %f1 : tensor<5x517xf32>
  %f3 = aten.exp %f2 : tensor<5x517xf32>
  %f4 = aten.sin %f3 : tensor<5x517xf32>
  %f5 = aten.gt.Scalar %f4 {other = 5.000000e-01 : f64} : (tensor<5x517xf32>) -> tensor<5x517xi1>
  %f6 = aten.sum %f5 : (tensor<5x517xi1>) -> tensor<i64>
  %f7 = aten.amax %f4 {dim = array<i64: 0, 1>} : (tensor<5x517xf32>) -> tensor<f32>
  return %a4, %b7, %c2, %e4, %f6, %f7 : tensor<?xf32>, tensor<5x517xf32>, tensor<131xf64>, tensor<1037xf16>, tensor<i64>, tensor<f32>
}
