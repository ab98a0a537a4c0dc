// Random numbers: the first of seed 0 is the known answer of the generator's authors, of every type; where the stream begins is a
// matter of the offset. The interpreter, which computes them apart, agrees.
// RUN: rs-run %s | rs-filecheck %s
// RUN: rs-opt %s --check-semantics --from=prim --to=host -o %t

// CHECK: out0: i64[2, 3] = [-2204013331526194987,
// CHECK: out1: f32[6] = [3.990464210510254e-1
// CHECK: out5: bool[] = [1]
// CHECK: out6: bool[] = [1]

func.func @main(%x: tensor<?xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<2x3xi64> {capture.kind = "output"}, tensor<6xf32> {capture.kind = "output"}, tensor<6xf64> {capture.kind = "output"},
        tensor<6xf16> {capture.kind = "output"}, tensor<6xbf16> {capture.kind = "output"}, tensor<i1> {capture.kind = "output"},
        tensor<i1> {capture.kind = "output"}) attributes {capture.entry} {
  %seed = prim.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %zero = prim.constant {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %three = prim.constant {value = dense<3> : tensor<i64>} : () -> tensor<i64>
  %0 = prim.rng %seed, %zero {kind = "bits"} : (tensor<i64>, tensor<i64>) -> tensor<2x3xi64>
  %1 = prim.rng %seed, %zero {kind = "uniform"} : (tensor<i64>, tensor<i64>) -> tensor<6xf32>
  %2 = prim.rng %seed, %zero {kind = "uniform"} : (tensor<i64>, tensor<i64>) -> tensor<6xf64>
  %3 = prim.rng %seed, %zero {kind = "uniform"} : (tensor<i64>, tensor<i64>) -> tensor<6xf16>
  %4 = prim.rng %seed, %zero {kind = "uniform"} : (tensor<i64>, tensor<i64>) -> tensor<6xbf16>
  // The second row of bits is what begins three places later.
  %5 = prim.rng %seed, %three {kind = "bits"} : (tensor<i64>, tensor<i64>) -> tensor<3xi64>
  %6 = prim.slice %0 {offsets = array<i64: 1, 0>, sizes = array<i64: 1, 3>, strides = array<i64: 1, 1>} : (tensor<2x3xi64>) -> tensor<1x3xi64>
  %7 = prim.reshape %6 : (tensor<1x3xi64>) -> tensor<3xi64>
  %8 = prim.eq %5, %7 : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
  %9 = prim.reduce %8 {dims = array<i64: 0>, kind = "and"} : (tensor<3xi1>) -> tensor<i1>
  // The squares of normal numbers have the mean 1.
  %10 = prim.rng %seed, %zero {kind = "normal"} : (tensor<i64>, tensor<i64>) -> tensor<4000xf32>
  %11 = prim.mul %10, %10 : (tensor<4000xf32>, tensor<4000xf32>) -> tensor<4000xf32>
  %12 = prim.reduce %11 {dims = array<i64: 0>, kind = "sum"} : (tensor<4000xf32>) -> tensor<f32>
  %13 = prim.constant {value = dense<4000.0> : tensor<f32>} : () -> tensor<f32>
  %14 = prim.sub %12, %13 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %15 = prim.abs %14 : (tensor<f32>) -> tensor<f32>
  %16 = prim.constant {value = dense<400.0> : tensor<f32>} : () -> tensor<f32>
  %17 = prim.lt %15, %16 : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0, %1, %2, %3, %4, %9, %17 : tensor<2x3xi64>, tensor<6xf32>, tensor<6xf64>, tensor<6xf16>, tensor<6xbf16>, tensor<i1>, tensor<i1>
}
