// A text that is no module: one message that names the file once, and nothing about inputs, which are not the trouble.
// RUN: not rs-run %s --backend=interp 2>&1 | FileCheck %s

// CHECK: rs-run: {{[^:]*}}interpreted_text.mlir: not a valid module
// CHECK-NOT: --inputs

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %y : tensor<4xf32>
}
