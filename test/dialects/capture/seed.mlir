// The seed of random numbers.
// RUN: rs-opt %s --split-input-file --verify-diagnostics

func.func @seed_c1() {
  // expected-error @+1 {{C1: tensor<1xi64> is not tensor<i64>}}
  %0 = capture.seed : tensor<1xi64>
  return
}

// -----

func.func @seed_c1_element() {
  // expected-error @+1 {{C1: tensor<i32> is not tensor<i64>}}
  %0 = capture.seed : tensor<i32>
  return
}
