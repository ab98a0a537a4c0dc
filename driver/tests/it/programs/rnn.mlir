func.func @main(%x: tensor<5x4xf32> {capture.kind = "input", capture.name = "x"},
                %h0: tensor<4xf32> {capture.kind = "input", capture.name = "h0"},
                %w: tensor<4x4xf32> {capture.kind = "parameter", capture.name = "w"})
    -> (tensor<4xf32> {capture.kind = "output"}, tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = prim.constant {value = dense<0.0> : tensor<4xf32>} : tensor<4xf32>
  %r:2 = scf.for %i = %c0 to %c5 step %c1 iter_args(%h = %h0, %acc = %zero) -> (tensor<4xf32>, tensor<4xf32>) {
    %row = prim.dynamic_slice %x, %i, %c0 {sizes = array<i64: 1, 4>} : (tensor<5x4xf32>, index, index) -> tensor<1x4xf32>
    %v = prim.reshape %row : (tensor<1x4xf32>) -> tensor<4xf32>
    %d = prim.dot %w, %h {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %s = prim.add %d, %v : tensor<4xf32>
    %n = prim.tanh %s : tensor<4xf32>
    %a = prim.add %acc, %n : tensor<4xf32>
    scf.yield %n, %a : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}
