// A fusion's region: each numbered constraint.
// RUN: rs-opt %s --split-input-file --verify-diagnostics

func.func @fusion_c1(%x: tensor<4xf32>) {
  // expected-error @+1 {{C1}}
  %0 = prim.fusion %x : (tensor<4xf32>) -> tensor<5xf32> {
  ^bb0(%a: tensor<5xf32>):
    prim.yield %a : (tensor<5xf32>) -> ()
  }
  return
}

// -----

func.func @fusion_c2(%x: tensor<4xf32>) {
  // expected-error @+1 {{C2}}
  %0 = prim.fusion %x : (tensor<4xf32>) -> tensor<5xf32> {
  ^bb0(%a: tensor<4xf32>):
    prim.yield %a : (tensor<4xf32>) -> ()
  }
  return
}
