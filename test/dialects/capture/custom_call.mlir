// RUN: rs-opt %s --split-input-file --verify-diagnostics | rs-filecheck %s

// What the kernel reads, then what the results begin as; sizes agree where both are known.
// CHECK-LABEL: func.func @one
// CHECK: capture.custom_call %{{.*}} {library = "libmy.so", symbol = "f"} : (tensor<4xf32>, index, f64, i1, tensor<?xi64>) -> tensor<3xi64>
func.func @one(%x: tensor<4xf32>, %i: index, %f: f64, %b: i1, %out: tensor<?xi64>) -> tensor<3xi64> {
  %0 = capture.custom_call %x, %i, %f, %b, %out {library = "libmy.so", symbol = "f"} : (tensor<4xf32>, index, f64, i1, tensor<?xi64>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// -----

func.func @custom_call_c1_folder(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C1: `lib/my.so` is not the name of a file without a folder}}
  %0 = capture.custom_call %x {library = "lib/my.so", symbol = "f"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @custom_call_c1_symbol(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C1: `2f` is not the name of a C function}}
  %0 = capture.custom_call %x {library = "libmy.so", symbol = "2f"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @custom_call_c1_no_symbol(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C1: `` is not the name of a C function}}
  %0 = capture.custom_call %x {library = "libmy.so", symbol = ""} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @custom_call_c2_count(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C2: 2 results begin as 1 operands}}
  %0:2 = capture.custom_call %x {library = "libmy.so", symbol = "f"} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4xf32>
}

// -----

func.func @custom_call_c2_type(%x: tensor<4xf32>) -> tensor<4xf64> {
  // expected-error @+1 {{C2: result 0 is tensor<4xf64> and begins as tensor<4xf32>}}
  %0 = capture.custom_call %x {library = "libmy.so", symbol = "f"} : (tensor<4xf32>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

func.func @custom_call_c2_size(%x: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{C2: result 0 is tensor<5xf32> and begins as tensor<4xf32>}}
  %0 = capture.custom_call %x {library = "libmy.so", symbol = "f"} : (tensor<4xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @custom_call_c3(%x: tensor<4xf32>, %n: i32) -> tensor<4xf32> {
  // expected-error @+1 {{C3: no kernel takes a value of type i32}}
  %0 = capture.custom_call %n, %x {library = "libmy.so", symbol = "f"} : (i32, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
