// RUN: rs-opt %s --loop-to-host | rs-filecheck %s
// RUN: rs-opt %s --loop-to-host --loop-to-cpu | rs-filecheck %s --check-prefix=CPU

// The kernel that finds an index out of bounds leaves a note; the call ends before the next one writes over what must stay.
// CHECK: host.launch {{.*}} {callee = @pick
// CHECK: host.settle
// CHECK-NEXT: host.launch {{.*}} {callee = @twice
// CHECK-NOT: host.settle
// CPU: call @pick
// CPU: %[[STATUS:.*]] = llvm.load {{.*}} -> i32
// CPU: %[[GOOD:.*]] = arith.cmpi eq, %[[STATUS]]
// CPU: cf.cond_br %[[GOOD]], ^[[NEXT:.*]], ^[[FAILED:.*]]
// CPU: ^[[NEXT]]:
// CPU: ^[[FAILED]]:
// CPU-NEXT: return %[[STATUS]] : i32
func.func @main(%p: tensor<8xf32> {capture.kind = "parameter", capture.name = "p"}, %t: tensor<4xf32> {capture.kind = "input", capture.name = "t"},
                %i: tensor<2xi64> {capture.kind = "input", capture.name = "i"})
    -> (tensor<2xf32> {capture.kind = "output"}, tensor<8xf32> {capture.in_place, capture.kind = "mutation", capture.name = "p"}) attributes {capture.entry} {
  %0 = loop.call %t, %i {callee = @pick} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  %1 = loop.call %p {callee = @twice} : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<2xf32>, tensor<8xf32>
}
loop.kernel @twice {in_place = array<i64: 0>, shapes = [affine_map<() -> (8)>, affine_map<() -> (8)>], sizes = affine_map<() -> (8)>, symbols = array<i64>} {
^bb0(%p: tensor<8xf32>):
  %0 = loop.stage %p {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], space = "buffer"} : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32):
    %1 = arith.addf %a, %a : f32
    loop.yield %1 : f32
  }
  loop.return %0 : tensor<8xf32>
}
loop.kernel @pick {shapes = [affine_map<() -> (4)>, affine_map<() -> (2)>, affine_map<() -> (2)>], sizes = affine_map<() -> (2)>, symbols = array<i64>} {
^bb0(%t: tensor<4xf32>, %i: tensor<2xi64>):
  %0 = loop.stage %i {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], space = "buffer"} : (tensor<2xi64>) -> tensor<2xf32> {
  ^bb0(%a: i64):
    %1 = arith.index_cast %a : i64 to index
    %2 = loop.load %t, %1 : (tensor<4xf32>, index) -> f32
    loop.yield %2 : f32
  }
  loop.return %0 : tensor<2xf32>
}
