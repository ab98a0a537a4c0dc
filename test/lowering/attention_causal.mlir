// A causal mask says how far a row looks: keys beyond that are not read.
// RUN: rs-opt %s --to=loop-scheduled | FileCheck %s
// RUN: rs-run %s > %t.fused
// RUN: rs-run %s --skip schedule-cpu > %t.single && diff %t.fused %t.single
// RUN: rs-run %s --skip fuse-attention > %t.apart && diff %t.fused %t.apart
// RUN: rs-run %s --skip narrow-indices > %t.wide && diff %t.fused %t.wide

// Keys before the row are hidden, which bounds nothing; the kernels stand in the order from last to first.
// CHECK-NOT: reach
// CHECK: loop.kernel @k3
// CHECK-NOT: reach
// CHECK: {{$}}
// The first rows see no key at all.
// CHECK: loop.kernel @k2
// CHECK-SAME: reach = -3 : i64
// The other way about, past the row's own number, and with another condition beside.
// CHECK: loop.kernel @k1
// CHECK-SAME: reach = 2 : i64
// CHECK: loop.kernel @k0
// CHECK-SAME: reach = 0 : i64

// Rounding the results hides the different order of additions.
func.func @main(%q0: tensor<3x77x9xf32> {capture.kind = "input", capture.name = "q0"},
                %q1: tensor<3x77x9xf32> {capture.kind = "input", capture.name = "q1"},
                %q2: tensor<3x77x9xf32> {capture.kind = "input", capture.name = "q2"},
                %q3: tensor<3x77x9xf32> {capture.kind = "input", capture.name = "q3"},
                %k: tensor<3x301x9xf32> {capture.kind = "input", capture.name = "k"},
                %v: tensor<3x301x11xf32> {capture.kind = "input", capture.name = "v"},
                %p: tensor<77x301xi1> {capture.kind = "input", capture.name = "p"})
    -> (tensor<3x77x11xf32> {capture.kind = "output"}, tensor<3x77x11xf32> {capture.kind = "output"},
        tensor<3x77x11xf32> {capture.kind = "output"}, tensor<3x77x11xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.scaled_dot_product_attention %q0, %k, %v {segments = array<i64: 1, 1, 1, 0>, is_causal = true} : (tensor<3x77x9xf32>, tensor<3x301x9xf32>, tensor<3x301x11xf32>) -> tensor<3x77x11xf32>
  %row = prim.iota {dim = 0 : i64} : () -> tensor<77x301xi64>
  %key = prim.iota {dim = 1 : i64} : () -> tensor<77x301xi64>
  %two = prim.constant {value = dense<2> : tensor<i64>} : () -> tensor<i64>
  %twos = prim.broadcast %two {dims = array<i64>} : (tensor<i64>) -> tensor<77x301xi64>
  %past = prim.sub %key, %twos : (tensor<77x301xi64>, tensor<77x301xi64>) -> tensor<77x301xi64>
  %ahead = prim.add %key, %twos : (tensor<77x301xi64>, tensor<77x301xi64>) -> tensor<77x301xi64>
  %a = prim.le %past, %row : (tensor<77x301xi64>, tensor<77x301xi64>) -> tensor<77x301xi1>
  %b = prim.and %a, %p : (tensor<77x301xi1>, tensor<77x301xi1>) -> tensor<77x301xi1>
  %1 = aten.scaled_dot_product_attention %q1, %k, %v, %b {segments = array<i64: 1, 1, 1, 1>} : (tensor<3x77x9xf32>, tensor<3x301x9xf32>, tensor<3x301x11xf32>, tensor<77x301xi1>) -> tensor<3x77x11xf32>
  %c = prim.lt %ahead, %row : (tensor<77x301xi64>, tensor<77x301xi64>) -> tensor<77x301xi1>
  %2 = aten.scaled_dot_product_attention %q2, %k, %v, %c {segments = array<i64: 1, 1, 1, 1>} : (tensor<3x77x9xf32>, tensor<3x301x9xf32>, tensor<3x301x11xf32>, tensor<77x301xi1>) -> tensor<3x77x11xf32>
  %d = prim.le %row, %key : (tensor<77x301xi64>, tensor<77x301xi64>) -> tensor<77x301xi1>
  %3 = aten.scaled_dot_product_attention %q3, %k, %v, %d {segments = array<i64: 1, 1, 1, 1>} : (tensor<3x77x9xf32>, tensor<3x301x9xf32>, tensor<3x301x11xf32>, tensor<77x301xi1>) -> tensor<3x77x11xf32>
  %hundred = prim.constant {value = dense<100.0> : tensor<f32>} : () -> tensor<f32>
  %h = prim.broadcast %hundred {dims = array<i64>} : (tensor<f32>) -> tensor<3x77x11xf32>
  %4 = prim.mul %0, %h : (tensor<3x77x11xf32>, tensor<3x77x11xf32>) -> tensor<3x77x11xf32>
  %5 = prim.mul %1, %h : (tensor<3x77x11xf32>, tensor<3x77x11xf32>) -> tensor<3x77x11xf32>
  %6 = prim.mul %2, %h : (tensor<3x77x11xf32>, tensor<3x77x11xf32>) -> tensor<3x77x11xf32>
  %7 = prim.mul %3, %h : (tensor<3x77x11xf32>, tensor<3x77x11xf32>) -> tensor<3x77x11xf32>
  %8 = aten.round %4 : (tensor<3x77x11xf32>) -> tensor<3x77x11xf32>
  %9 = aten.round %5 : (tensor<3x77x11xf32>) -> tensor<3x77x11xf32>
  %10 = aten.round %6 : (tensor<3x77x11xf32>) -> tensor<3x77x11xf32>
  %11 = aten.round %7 : (tensor<3x77x11xf32>) -> tensor<3x77x11xf32>
  return %8, %9, %10, %11 : tensor<3x77x11xf32>, tensor<3x77x11xf32>, tensor<3x77x11xf32>, tensor<3x77x11xf32>
}
