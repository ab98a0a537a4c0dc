// The loss of labels that are not aligned with their inputs, and its gradient, as PyTorch computes them.
// RUN: rs-run %s | rs-filecheck %s
// RUN: rs-opt %s --check-semantics --to=host | rs-filecheck %s --check-prefix=LEVELS

// CHECK-COUNT-6: bool[] = [1]
// LEVELS: checked [[N:[0-9]+]] of [[N]] passes

func.func @main() -> (tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"}) attributes {capture.entry} {
  %x = prim.constant {value = dense<[[[0.3, -1.0, 0.4, 0.1], [0.1, 0.4, -1.0, 0.3]], [[1.0, 0.2, -0.3, 0.5], [0.5, -0.3, 0.2, 1.0]], [[0.1, 0.5, 0.9, -0.2], [-0.2, 0.9, 0.5, 0.1]], [[-0.4, 0.6, 0.2, 0.0], [0.0, 0.2, 0.6, -0.4]], [[0.7, -0.1, 0.3, 0.2], [0.2, 0.3, -0.1, 0.7]]]> : tensor<5x2x4xf32>} : () -> tensor<5x2x4xf32>
  %t = prim.constant {value = dense<[[1, 2], [3, 3]]> : tensor<2x2xi64>} : () -> tensor<2x2xi64>
  %f = prim.constant {value = dense<[1, 2, 3]> : tensor<3xi64>} : () -> tensor<3xi64>
  %n = prim.constant {value = dense<[5, 4]> : tensor<2xi64>} : () -> tensor<2xi64>
  %m = prim.constant {value = dense<[2, 2]> : tensor<2xi64>} : () -> tensor<2xi64>
  %0 = aten.log_softmax.int %x {dim = 2 : i64} : (tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  // Labels in rows; lengths as numbers and as tensors.
  %1 = aten.ctc_loss.IntList %0, %t {input_lengths = array<i64: 5, 4>, target_lengths = array<i64: 2, 2>, reduction = 0 : i64} : (tensor<5x2x4xf32>, tensor<2x2xi64>) -> tensor<2xf32>
  %2 = prim.constant {value = dense<[3.3889503, 4.4584746]> : tensor<2xf32>} : () -> tensor<2xf32>
  %3 = aten.sub.Tensor %1, %2 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = aten.abs %3 : (tensor<2xf32>) -> tensor<2xf32>
  %5 = aten.max %4 : (tensor<2xf32>) -> tensor<f32>
  %6 = aten.lt.Scalar %5 {other = 0.00001 : f64} : (tensor<f32>) -> tensor<i1>
  %7 = aten.ctc_loss.Tensor %0, %t, %n, %m : (tensor<5x2x4xf32>, tensor<2x2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<f32>
  %8 = prim.constant {value = dense<1.9618562> : tensor<f32>} : () -> tensor<f32>
  %9 = aten.sub.Tensor %7, %8 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %10 = aten.abs %9 : (tensor<f32>) -> tensor<f32>
  %11 = aten.max %10 : (tensor<f32>) -> tensor<f32>
  %12 = aten.lt.Scalar %11 {other = 0.00001 : f64} : (tensor<f32>) -> tensor<i1>
  // Labels one after the other.
  %13 = aten.ctc_loss.IntList %0, %f {input_lengths = array<i64: 5, 4>, target_lengths = array<i64: 2, 1>, reduction = 2 : i64} : (tensor<5x2x4xf32>, tensor<3xi64>) -> tensor<f32>
  %14 = prim.constant {value = dense<6.8670368> : tensor<f32>} : () -> tensor<f32>
  %15 = aten.sub.Tensor %13, %14 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %16 = aten.abs %15 : (tensor<f32>) -> tensor<f32>
  %17 = aten.max %16 : (tensor<f32>) -> tensor<f32>
  %18 = aten.lt.Scalar %17 {other = 0.00001 : f64} : (tensor<f32>) -> tensor<i1>
  // Two steps are too few for a label twice, which needs a blank between.
  %19 = aten.ctc_loss.IntList %0, %t {input_lengths = array<i64: 5, 2>, target_lengths = array<i64: 2, 2>, reduction = 0 : i64, zero_infinity = true} : (tensor<5x2x4xf32>, tensor<2x2xi64>) -> tensor<2xf32>
  %20 = prim.constant {value = dense<[3.3889503, 0.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %21 = aten.sub.Tensor %19, %20 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %22 = aten.abs %21 : (tensor<2xf32>) -> tensor<2xf32>
  %23 = aten.max %22 : (tensor<2xf32>) -> tensor<f32>
  %24 = aten.lt.Scalar %23 {other = 0.00001 : f64} : (tensor<f32>) -> tensor<i1>
  // The gradient, with the loss of each sample and the tables of states.
  %25:2 = aten._ctc_loss %0, %t {input_lengths = array<i64: 5, 4>, target_lengths = array<i64: 2, 2>} : (tensor<5x2x4xf32>, tensor<2x2xi64>) -> (tensor<2xf32>, tensor<2x5x5xf32>)
  %26 = prim.constant {value = dense<[3.3889503, 4.4584746]> : tensor<2xf32>} : () -> tensor<2xf32>
  %27 = aten.sub.Tensor %25#0, %26 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %28 = aten.abs %27 : (tensor<2xf32>) -> tensor<2xf32>
  %29 = aten.max %28 : (tensor<2xf32>) -> tensor<f32>
  %30 = aten.lt.Scalar %29 {other = 0.00001 : f64} : (tensor<f32>) -> tensor<i1>
  %31 = prim.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %32 = aten._ctc_loss_backward %31, %0, %t, %25#0, %25#1 {input_lengths = array<i64: 5, 4>, target_lengths = array<i64: 2, 2>, blank = 0 : i64} : (tensor<2xf32>, tensor<5x2x4xf32>, tensor<2x2xi64>, tensor<2xf32>, tensor<2x5x5xf32>) -> tensor<5x2x4xf32>
  %33 = prim.constant {value = dense<[[[-0.429328, -0.172562, 0.345751, 0.256139], [0.145578, 0.691503, 0.170522, -1.007602]], [[-0.085960, -0.263320, 0.088787, 0.260493], [-0.664424, 0.234095, 0.385957, 0.044374]], [[-0.008272, -0.220638, 0.093184, 0.135726], [-0.814794, 0.815488, 0.546638, -0.547330]], [[-0.019764, 0.154628, -0.347005, 0.212141], [-0.122770, 0.518220, 0.773093, -1.168542]], [[-0.076679, 0.164820, -0.310625, 0.222484], [0.000000, 0.000000, 0.000000, 0.000000]]]> : tensor<5x2x4xf32>} : () -> tensor<5x2x4xf32>
  %34 = aten.sub.Tensor %32, %33 : (tensor<5x2x4xf32>, tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  %35 = aten.abs %34 : (tensor<5x2x4xf32>) -> tensor<5x2x4xf32>
  %36 = aten.max %35 : (tensor<5x2x4xf32>) -> tensor<f32>
  %37 = aten.lt.Scalar %36 {other = 0.00001 : f64} : (tensor<f32>) -> tensor<i1>
  return %6, %12, %18, %24, %30, %37 : tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>, tensor<i1>
}
