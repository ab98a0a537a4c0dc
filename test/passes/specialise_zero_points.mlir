// RUN: rs-opt %s "--pass-pipeline=builtin.module(func.func(specialise-zero-points))" --split-input-file | rs-filecheck %s

// Zero points that are all 0 are that number, and the program asserts that they are.
// CHECK: func.func @main
// CHECK: %[[SAME:.*]] = aten.eq.Scalar %arg2 {other = 0 : i64} : (tensor<4xi64>) -> tensor<4xi1>
// CHECK: %[[ALL:.*]] = aten.all %[[SAME]] : (tensor<4xi1>) -> tensor<i1>
// CHECK: aten._assert_async.msg %[[ALL]] {assert_msg = "the zero points z are not all 0, which they were when the program was compiled: compile it with these weights"}
// CHECK: %[[ZERO:.*]] = aten.full {fill_value = 0 : i64, size = array<i64: 4>} : tensor<4xi64>
// CHECK: quantized_decomposed.dequantize_per_channel %arg0, %arg1, %[[ZERO]]
func.func @main(%q: tensor<4x8xi8> {capture.kind = "buffer", capture.name = "q"}, %s: tensor<4xf32> {capture.kind = "buffer", capture.name = "s"},
                %z: tensor<4xi64> {capture.kind = "buffer", capture.name = "z", capture.uniform = 0 : i64}) -> (tensor<4x8xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = quantized_decomposed.dequantize_per_channel %q, %s, %z {segments = array<i64: 1, 1, 1>, axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = i8} : (tensor<4x8xi8>, tensor<4xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Refused: weights that a call changes.
// CHECK: func.func @main
// CHECK-NOT: aten.full
// CHECK: dequantize_per_channel %arg0, %arg1, %arg2
func.func @main(%q: tensor<4x8xi8> {capture.kind = "buffer", capture.name = "q"}, %s: tensor<4xf32> {capture.kind = "buffer", capture.name = "s"},
                %z: tensor<4xi64> {capture.kind = "buffer", capture.name = "z", capture.uniform = 0 : i64}, %n: tensor<4xi64> {capture.kind = "input", capture.name = "n"})
    -> (tensor<4x8xf32> {capture.kind = "output"}, tensor<4xi64> {capture.kind = "mutation", capture.name = "z"}) attributes {capture.entry} {
  %0 = quantized_decomposed.dequantize_per_channel %q, %s, %z {segments = array<i64: 1, 1, 1>, axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = i8} : (tensor<4x8xi8>, tensor<4xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  return %0, %n : tensor<4x8xf32>, tensor<4xi64>
}

// -----

// Refused: weights that are read as something else too, and those of which nothing is known.
// CHECK: func.func @main
// CHECK-NOT: aten.full
// CHECK: dequantize_per_channel %arg0, %arg1, %arg2
// CHECK: dequantize_per_channel %arg0, %arg1, %arg3
func.func @main(%q: tensor<4x8xi8> {capture.kind = "buffer", capture.name = "q"}, %s: tensor<4xf32> {capture.kind = "buffer", capture.name = "s"},
                %z: tensor<4xi64> {capture.kind = "buffer", capture.name = "z", capture.uniform = 0 : i64}, %y: tensor<4xi64> {capture.kind = "buffer", capture.name = "y"})
    -> (tensor<4x8xf32> {capture.kind = "output"}, tensor<4x8xf32> {capture.kind = "output"}, tensor<4xi64> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = quantized_decomposed.dequantize_per_channel %q, %s, %z {segments = array<i64: 1, 1, 1>, axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = i8} : (tensor<4x8xi8>, tensor<4xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  %1 = quantized_decomposed.dequantize_per_channel %q, %s, %y {segments = array<i64: 1, 1, 1>, axis = 0 : i64, quant_min = -128 : i64, quant_max = 127 : i64, dtype = i8} : (tensor<4x8xi8>, tensor<4xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  return %0, %1, %z : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4xi64>
}
