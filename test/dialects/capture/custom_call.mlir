// RUN: rs-opt %s --split-input-file --verify-diagnostics | rs-filecheck %s

// What the kernel reads, then what the results begin as; sizes agree where both are known.
// CHECK-LABEL: func.func @one
// CHECK: capture.custom_call %{{.*}} {library = "libmy.so", symbol = "f"} : (tensor<4xf32>, index, f64, i1, tensor<?xi64>) -> tensor<3xi64>
func.func @one(%x: tensor<4xf32>, %i: index, %f: f64, %b: i1, %out: tensor<?xi64>) -> tensor<3xi64> {
  %0 = capture.custom_call %x, %i, %f, %b, %out {library = "libmy.so", symbol = "f"} : (tensor<4xf32>, index, f64, i1, tensor<?xi64>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}

// A kernel in PTX, with the blocks that it is started in.
// CHECK-LABEL: func.func @launched
// CHECK: capture.custom_call {{.*}}ptx = "my.ptx"{{.*}}threads = array<i64: 32, 8>, unused = 2 : i64
func.func @launched(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  %0 = capture.custom_call %i, %x {library = "libmy.so", symbol = "f", ptx = "my.ptx", blocks = affine_map<()[n] -> (n ceildiv 32, 1)>, threads = array<i64: 32, 8>, shared = 1024 : i64, unused = 2 : i64} : (index, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
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

// -----

func.func @custom_call_c4_alone(%i: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C4: a launch without a kernel: `ptx` names its file}}
  %0 = capture.custom_call %i, %x {library = "libmy.so", symbol = "f", blocks = affine_map<()[n] -> (n)>} : (index, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @custom_call_c4_operator(%i: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C4: a kernel in PTX has the name of a C function}}
  %0 = capture.custom_call %i, %x {library = "libmy.so", symbol = "my::f", ptx = "my.ptx", blocks = affine_map<()[n] -> (n)>, threads = array<i64: 32>} : (index, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @custom_call_c4_folder(%i: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C4: `a/my.ptx` is not the name of a file without a folder}}
  %0 = capture.custom_call %i, %x {library = "libmy.so", symbol = "f", ptx = "a/my.ptx", blocks = affine_map<()[n] -> (n)>, threads = array<i64: 32>} : (index, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @custom_call_c4_threads(%i: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C4: a kernel in PTX needs `blocks` and `threads`}}
  %0 = capture.custom_call %i, %x {library = "libmy.so", symbol = "f", ptx = "my.ptx", blocks = affine_map<()[n] -> (n)>} : (index, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @custom_call_c4_dims(%i: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C4: blocks and threads have one to three dimensions}}
  %0 = capture.custom_call %i, %x {library = "libmy.so", symbol = "f", ptx = "my.ptx", blocks = affine_map<()[n] -> (n)>, threads = array<i64: 2, 2, 2, 2>} : (index, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @custom_call_c5(%i: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C5: `blocks` has 2 symbols for 1 sizes}}
  %0 = capture.custom_call %i, %x {library = "libmy.so", symbol = "f", ptx = "my.ptx", blocks = affine_map<()[n, m] -> (n)>, threads = array<i64: 32>} : (index, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @custom_call_c5_divides(%i: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C5: `blocks` divides by what is no number above zero}}
  %0 = capture.custom_call %i, %x {library = "libmy.so", symbol = "f", ptx = "my.ptx", blocks = affine_map<()[n] -> (8 ceildiv n)>, threads = array<i64: 32>} : (index, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @custom_call_c6_threads(%i: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C6: a block of [32, 33] threads is none of 1 to 1024}}
  %0 = capture.custom_call %i, %x {library = "libmy.so", symbol = "f", ptx = "my.ptx", blocks = affine_map<()[n] -> (n)>, threads = array<i64: 32, 33>} : (index, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @custom_call_c6_shared(%i: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C6: 65536 bytes of shared memory are none of 0 to 49152}}
  %0 = capture.custom_call %i, %x {library = "libmy.so", symbol = "f", ptx = "my.ptx", blocks = affine_map<()[n] -> (n)>, threads = array<i64: 32>, shared = 65536 : i64} : (index, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @custom_call_c6_unused(%i: index, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C6: -1 parameters are not used}}
  %0 = capture.custom_call %i, %x {library = "libmy.so", symbol = "f", ptx = "my.ptx", blocks = affine_map<()[n] -> (n)>, threads = array<i64: 32>, unused = -1 : i64} : (index, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
