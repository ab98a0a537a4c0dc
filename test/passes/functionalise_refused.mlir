// RUN: rs-opt %s --functionalise --split-input-file --verify-diagnostics

func.func @overlap(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = aten.clone %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aten.expand %0 {size = array<i64: 3, 4>} : (tensor<4xf32>) -> tensor<3x4xf32>
  // expected-error @+1 {{writes through a view made by `aten.expand`, which cannot be undone; clone the tensor before the write}}
  %2 = aten.relu_ %1 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @outside(%x: tensor<4xf32>, %c: i1) -> tensor<4xf32> {
  %0 = aten.clone %x : (tensor<4xf32>) -> tensor<4xf32>
  scf.if %c {
    // expected-error @+1 {{writes to a tensor of an enclosing region}}
    %1 = aten.relu_ %0 : (tensor<4xf32>) -> tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{only an entry (`capture.entry`) can give their new values back}}
func.func @private(%x: tensor<4xf32>) {
  %0 = aten.relu_ %x : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_counterpart(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = aten.clone %x : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{PyTorch has no functional form of `aten._sobol_engine_initialize_state_`}}
  %1 = aten._sobol_engine_initialize_state_ %0 {dimension = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @storage_not_dense(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = aten.relu %x {capture.storage_order = [unit]} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{reads the storage of a tensor that is not dense there}}
  %1 = aten.as_strided %0 {size = array<i64: 4>, stride = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @storage_offset(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %0 = aten.select.int %x {dim = 0 : i64, index = 1 : i64} : (tensor<4x4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{counts from where a view begins in its storage, which is not known here; give `storage_offset`}}
  %1 = aten.as_strided %0 {size = array<i64: 4>, stride = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @resized_not_dense(%x: tensor<4xf32>) -> tensor<2xf32> {
  %0 = aten.relu %x {capture.storage_order = [unit]} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{reads the storage of a tensor that is not dense there}}
  %1 = aten.resize_ %0 {size = array<i64: 2>} : (tensor<4xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
