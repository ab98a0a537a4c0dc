// A softmax measures from the largest number of a row, which passes over NaN: a compare and a select, one instruction on x86. Rows with
// a NaN, with an infinity and without any number come out as PyTorch's do.
// RUN: rs-opt %s --to=prim | rs-filecheck %s --check-prefix=PRIM
// RUN: rs-opt %s --to=cpu | rs-filecheck %s --check-prefix=CPU
// RUN: rs-run %s | rs-filecheck %s
// RUN: rs-run %s --backend interp | rs-filecheck %s
// PRIM: prim.reduce {{.*}}kind = "maxnum"
// CPU: %[[MORE:.*]] = arith.cmpf ogt, %[[X:.*]], %[[BEST:.*]] : vector
// CPU-NEXT: arith.select %[[MORE]], %[[X]], %[[BEST]]
// CHECK: f32[4] = [NaN, NaN, NaN, 1.1111111{{[0-9]*}}e-1]
func.func @main() -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %c = prim.constant {value = dense<[[1.0, 1.0, 1.0, 0x7FC00000, 1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0x7F800000], [0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<4x9xf32>} : () -> tensor<4x9xf32>
  %0 = aten._softmax %c {dim = -1 : i64, half_to_float = false} : tensor<4x9xf32>
  %1 = aten.select.int %0 {dim = 1 : i64, index = 0 : i64} : (tensor<4x9xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
