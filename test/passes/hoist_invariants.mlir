// RUN: rs-opt %s --hoist-invariants | rs-filecheck %s

// What reads the weight alone leaves both loops, with the view that it reads; what reads the step stays.
// CHECK-LABEL: func.func @main
// CHECK: %[[VIEW:.*]] = prim.reshape %arg1 : (tensor<2x4xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[DOUBLE:.*]] = loop.call %[[VIEW]] {callee = @twice}
// CHECK-NEXT: scf.for
// CHECK-NEXT: scf.for
// CHECK-NEXT: loop.call %{{.*}} {callee = @twice}
// CHECK-NEXT: loop.call %[[DOUBLE]], %{{.*}} {callee = @pick}
func.func @main(%x: tensor<8xf32> {capture.name = "x"}, %w: tensor<2x4xf32> {capture.name = "w"}, %at: tensor<8xi64> {capture.name = "at"}) -> tensor<8xf32> attributes {capture.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %0 = scf.for %s = %c0 to %c5 step %c1 iter_args(%outer = %x) -> (tensor<8xf32>) {
    %1 = scf.for %t = %c0 to %c5 step %c1 iter_args(%h = %outer) -> (tensor<8xf32>) {
      %2 = prim.reshape %w : (tensor<2x4xf32>) -> tensor<8xf32>
      %3 = loop.call %2 {callee = @twice} : (tensor<8xf32>) -> tensor<8xf32>
      %4 = loop.call %h {callee = @twice} : (tensor<8xf32>) -> tensor<8xf32>
      // An index may be out of bounds, and the loop may have no steps.
      %5 = loop.call %3, %at {callee = @pick} : (tensor<8xf32>, tensor<8xi64>) -> tensor<8xf32>
      %6 = loop.call %4, %5 {callee = @sum} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      scf.yield %6 : tensor<8xf32>
    }
    scf.yield %1 : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// What the condition of a loop computes of the weight leaves it, too.
// CHECK-LABEL: func.func @until
// CHECK: loop.call %arg0 {callee = @twice}
// CHECK-NEXT: scf.while
func.func @until(%w: tensor<8xf32>, %go: tensor<i1>) -> tensor<8xf32> {
  %0 = scf.while (%h = %w) : (tensor<8xf32>) -> tensor<8xf32> {
    %1 = loop.call %w {callee = @twice} : (tensor<8xf32>) -> tensor<8xf32>
    %more = prim.item %go : (tensor<i1>) -> i1
    scf.condition(%more) %1 : tensor<8xf32>
  } do {
  ^bb0(%h: tensor<8xf32>):
    scf.yield %h : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

loop.kernel @twice {shapes = [affine_map<() -> (8)>, affine_map<() -> (8)>], sizes = affine_map<() -> (8)>, symbols = array<i64>} {
^bb0(%p: tensor<8xf32>):
  %0 = loop.stage %p {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], space = "buffer"} : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32):
    %1 = arith.addf %a, %a : f32
    loop.yield %1 : f32
  }
  loop.return %0 : tensor<8xf32>
}
loop.kernel @sum {shapes = [affine_map<() -> (8)>, affine_map<() -> (8)>, affine_map<() -> (8)>], sizes = affine_map<() -> (8)>, symbols = array<i64>} {
^bb0(%p: tensor<8xf32>, %q: tensor<8xf32>):
  %0 = loop.stage %p, %q {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], space = "buffer"} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    loop.yield %1 : f32
  }
  loop.return %0 : tensor<8xf32>
}
loop.kernel @pick {shapes = [affine_map<() -> (8)>, affine_map<() -> (8)>, affine_map<() -> (8)>], sizes = affine_map<() -> (8)>, symbols = array<i64>} {
^bb0(%p: tensor<8xf32>, %at: tensor<8xi64>):
  %0 = loop.stage %at {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], space = "buffer"} : (tensor<8xi64>) -> tensor<8xf32> {
  ^bb0(%a: i64):
    %1 = arith.index_cast %a : i64 to index
    %2 = loop.load %p, %1 : (tensor<8xf32>, index) -> f32
    loop.yield %2 : f32
  }
  loop.return %0 : tensor<8xf32>
}
