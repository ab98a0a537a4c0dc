// RUN: rs-opt %s --split-input-file --verify-diagnostics | rs-filecheck %s

// The block takes the arguments, the results and their cotangents, and gives a cotangent for each tensor of floats among the arguments.
// CHECK-LABEL: func.func @one
// CHECK: capture.custom_gradient %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}
// CHECK: capture.yield
func.func @one(%y: tensor<?xf32>, %x: tensor<?xf32>, %i: tensor<4xi64>, %f: f64) -> tensor<?xf32> {
  %0 = "capture.custom_gradient"(%y, %x, %i, %f) ({
  ^bb0(%a: tensor<?xf32>, %b: tensor<4xi64>, %c: f64, %r: tensor<?xf32>, %g: tensor<?xf32>):
    "capture.yield"(%g) : (tensor<?xf32>) -> ()
  }) : (tensor<?xf32>, tensor<?xf32>, tensor<4xi64>, f64) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @custom_gradient_c1(%y: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf64> {
  // expected-error @+1 {{C1: the results are (tensor<4xf64>), the first operands (tensor<4xf32>)}}
  %0 = "capture.custom_gradient"(%y, %x) ({
  ^bb0(%a: tensor<4xf32>, %r: tensor<4xf64>, %g: tensor<4xf64>):
    "capture.yield"(%a) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

func.func @custom_gradient_c2(%y: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C2: the block takes (tensor<4xf32>, tensor<4xf32>), and is given (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)}}
  %0 = "capture.custom_gradient"(%y, %x) ({
  ^bb0(%a: tensor<4xf32>, %g: tensor<4xf32>):
    "capture.yield"(%g) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @custom_gradient_c3(%y: tensor<4xf32>, %x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C3: it gives (), and the arguments have cotangents (tensor<4xf32>)}}
  %0 = "capture.custom_gradient"(%y, %x) ({
  ^bb0(%a: tensor<4xf32>, %r: tensor<4xf32>, %g: tensor<4xf32>):
    "capture.yield"() : () -> ()
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
