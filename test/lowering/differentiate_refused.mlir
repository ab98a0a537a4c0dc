// RUN: rs-opt %s --differentiate --split-input-file --verify-diagnostics

func.func @no_row(%x: tensor<4x4xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad})
    -> (tensor<4x4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  // expected-error @+1 {{has no gradient; take it out of the gradient with `detach()`, or add a row to lowering/src/differentiate}}
  %0 = prim.linear_transform %x {dims = array<i64: 0>, matrix = array<f64: 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @not_decomposed(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad})
    -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  // expected-error @+1 {{has no gradient of its own; run --decompose-aten first, which keeps those that have one with keep=..}}
  %0 = aten.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @function_of_the_library(%x: tensor<4x4xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad})
    -> (tensor<4x4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  // expected-error @+1 {{has no gradient here: the library's `qr` has none}}
  %0:2 = prim.library %x {function = "qr", options = []} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4x4xf32>
}

// -----

func.func @steps_not_known(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad}, %p: tensor<i1> {capture.kind = "input", capture.name = "p"})
    -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  // expected-error @+1 {{has no gradient here: a loop whose number of steps is not known}}
  %0 = scf.while (%s = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %c = prim.item %p : (tensor<i1>) -> i1
    scf.condition(%c) %s : tensor<4xf32>
  } do {
  ^bb0(%s: tensor<4xf32>):
    %1 = prim.exp %s : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @random_branch(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad}, %p: tensor<i1> {capture.kind = "input", capture.name = "p"})
    -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %c = prim.item %p : (tensor<i1>) -> i1
  // expected-error @+1 {{it draws random numbers, and would draw others when it is computed again}}
  %0 = scf.if %c -> (tensor<4xf32>) {
    %seed = capture.seed : tensor<i64>
    %zero = prim.constant {value = dense<0> : tensor<i64>} : tensor<i64>
    %u = prim.rng %seed, %zero {kind = "uniform"} : (tensor<i64>, tensor<i64>) -> tensor<4xf32>
    %1 = prim.mul %x, %u : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{no argument requires a gradient; name those to differentiate by with wrt=..}}
func.func @nothing_asked_for(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{`x` is of type tensor<4xi64>, and gradients are those of floats and complex numbers}}
func.func @of_integers(%x: tensor<4xi64> {capture.kind = "input", capture.name = "x", capture.requires_grad})
    -> (tensor<4xi64> {capture.kind = "output"}) attributes {capture.entry} {
  return %x : tensor<4xi64>
}

// -----

// expected-error @+1 {{is one part of a program that graph breaks divide; differentiate a program of one graph}}
func.func @one_part(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad})
    -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry, capture.break = {resume = @rest, reason = "print"}} {
  return %x : tensor<4xf32>
}

// -----

func.func @product_of_segments(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x", capture.requires_grad}, %at: tensor<2xi64> {capture.kind = "input", capture.name = "at"})
    -> (tensor<2xf32> {capture.kind = "output"}) attributes {capture.entry} {
  // expected-error @+1 {{a reduction of segments of kind `prod`}}
  %0 = prim.segment_reduce %x, %at, %at {kind = "prod"} : (tensor<4xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
