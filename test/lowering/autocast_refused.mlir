// RUN: rs-opt %s --split-input-file --verify-diagnostics --autocast
// RUN: not rs-opt %s --split-input-file --autocast=dtype=f64 2>&1 | rs-filecheck %s --check-prefix=TYPE

// TYPE: dtype=f64: autocast computes in bf16 or in f16

// expected-error @+1 {{has no operator that autocast casts for; leave it out, or give the program as it was captured}}
func.func @nothing(%x: tensor<3xf32>) -> (tensor<3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.relu %x : (tensor<3xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @inside(%x: tensor<3x3xf32>) -> (tensor<3x3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  // expected-error @+1 {{'aten.corrcoef' op is cast inside of itself under autocast, which is not done here; write it with the operators that it is made of}}
  %0 = aten.corrcoef %x : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// -----

func.func @branches(%x: tensor<3x3xf32>, %c: i1) -> (tensor<3x3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  // expected-error @+1 {{gives tensor<3x3xbf16> in one branch under autocast and tensor<3x3xf32> in the other; cast both to one type}}
  %1 = scf.if %c -> (tensor<3x3xf32>) {
    %2 = aten.mm %x, %x : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    scf.yield %2 : tensor<3x3xf32>
  } else {
    scf.yield %x : tensor<3x3xf32>
  }
  return %1 : tensor<3x3xf32>
}

// -----

func.func @loop(%x: tensor<3x3xf32>, %n: index) -> (tensor<3x3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{is repeated, and autocast changes the types inside of it; cast in front of it and behind it instead}}
  %0 = scf.for %k = %zero to %n step %one iter_args(%y = %x) -> (tensor<3x3xf32>) {
    %1 = aten.mm %y, %x : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    scf.yield %1 : tensor<3x3xf32>
  }
  return %0 : tensor<3x3xf32>
}
