// RUN: rs-opt %s --copy-ahead --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --copy-ahead=remarks --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY
// RUN: rs-opt %s --copy-ahead --loop-to-host --split-input-file | rs-filecheck %s --check-prefix=HOST

// Nothing outside of the scatter and its copy is shared by threads: the host copies.
// CHECK-LABEL: func.func @main
// CHECK: loop.call %{{.*}} {callee = @put, copied = array<i64: 0>}
// CHECK: loop.kernel @put
// CHECK-SAME: in_place = array<i64: 0>, schedule = {order = array<i64: 2>, unroll = array<i64: 1>}
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<8x4xf32>,
// CHECK-NEXT: loop.scatter %[[X]]
// HOST-LABEL: func.func @main
// HOST: host.copy
// HOST: host.launch
func.func @main(%x: tensor<8x4xf32> {capture.kind = "input", capture.name = "x"}, %new: tensor<3xf32> {capture.kind = "input", capture.name = "new"})
    -> (tensor<8x4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = loop.call %x, %new {callee = @put} : (tensor<8x4xf32>, tensor<3xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
loop.kernel @put {shapes = [affine_map<() -> (8, 4)>, affine_map<() -> (3)>, affine_map<() -> (8, 4)>], sizes = affine_map<() -> (8, 4, 3)>, symbols = array<i64>} {
^bb0(%x: tensor<8x4xf32>, %new: tensor<3xf32>):
  %0 = loop.stage %x {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1, d2) -> (d0, d1)>], space = "buffer"} : (tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  %1 = loop.scatter %0, %new {conflict = "ordered", domain = array<i64: 2>, kind = "set", maps = [affine_map<(d0, d1, d2) -> (0, 0)>, affine_map<(d0, d1, d2) -> (d2)>], space = "buffer"} : (tensor<8x4xf32>, tensor<3xf32>) -> tensor<8x4xf32> {
  ^bb0(%a: f32, %b: f32):
    %2 = loop.index {dim = 2 : i64} : index
    loop.yield %2, %2, %b : (index, index, f32) -> ()
  }
  loop.return %1 : tensor<8x4xf32>
}

// -----

// Each thread copies the rows that it writes to.
// CHECK-LABEL: func.func @main
// CHECK-NOT: copied
// WHY: remark: threads share the rows of the copy in its kernel [copy-ahead]
func.func @main(%x: tensor<8x4xf32>, %new: tensor<8xf32>) -> tensor<8x4xf32> attributes {capture.entry} {
  %0 = loop.call %x, %new {callee = @put_in_rows} : (tensor<8x4xf32>, tensor<8xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
loop.kernel @put_in_rows {shapes = [affine_map<() -> (8, 4)>, affine_map<() -> (8)>, affine_map<() -> (8, 4)>], sizes = affine_map<() -> (8, 4)>, symbols = array<i64>} {
^bb0(%x: tensor<8x4xf32>, %new: tensor<8xf32>):
  %0 = loop.stage %x {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1) -> (d0, d1)>], space = "buffer"} : (tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  %1 = loop.scatter %0, %new {conflict = "ordered", domain = array<i64: 0>, kind = "set", maps = [affine_map<(d0, d1) -> (0, 0)>, affine_map<(d0, d1) -> (d0)>], space = "buffer"} : (tensor<8x4xf32>, tensor<8xf32>) -> tensor<8x4xf32> {
  ^bb0(%a: f32, %b: f32):
    %2 = loop.index {dim = 0 : i64} : index
    %3 = arith.constant 1 : index
    loop.yield %2, %3, %b : (index, index, f32) -> ()
  }
  loop.return %1 : tensor<8x4xf32>
}

// -----

// What is written to is made in the kernel.
// CHECK-LABEL: func.func @main
// CHECK-NOT: copied
// WHY: remark: what it writes to is computed in its kernel [copy-ahead]
func.func @main(%x: tensor<8xf32>, %new: tensor<3xf32>) -> tensor<8xf32> attributes {capture.entry} {
  %0 = loop.call %x, %new {callee = @put_in_double} : (tensor<8xf32>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
loop.kernel @put_in_double {shapes = [affine_map<() -> (8)>, affine_map<() -> (3)>, affine_map<() -> (8)>], sizes = affine_map<() -> (8, 3)>, symbols = array<i64>} {
^bb0(%x: tensor<8xf32>, %new: tensor<3xf32>):
  %0 = loop.stage %x {domain = array<i64: 0>, maps = [affine_map<(d0, d1) -> (d0)>], space = "buffer"} : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32):
    %2 = arith.addf %a, %a : f32
    loop.yield %2 : f32
  }
  %1 = loop.scatter %0, %new {conflict = "ordered", domain = array<i64: 1>, kind = "set", maps = [affine_map<(d0, d1) -> (0)>, affine_map<(d0, d1) -> (d1)>], space = "buffer"} : (tensor<8xf32>, tensor<3xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    %2 = loop.index {dim = 1 : i64} : index
    loop.yield %2, %b : (index, f32) -> ()
  }
  loop.return %1 : tensor<8xf32>
}

// -----

// Sixteen columns go down side by side, as what is put there lies in lines of them; of rows there are eight.
// CHECK-LABEL: func.func @side_by_side
// CHECK: loop.kernel @columns
// CHECK-SAME: schedule = {order = array<i64: 3>, unroll = array<i64: 16>}
// CHECK: loop.kernel @rows
// CHECK-SAME: schedule = {order = array<i64: 2>, unroll = array<i64: 8>}
func.func @side_by_side(%x: tensor<50x40xf32>, %u: tensor<30x20xf32>, %i: tensor<30x20xi64>) -> (tensor<50x40xf32>, tensor<50x40xf32>) attributes {capture.entry} {
  %0 = loop.call %x, %u, %i {callee = @columns} : (tensor<50x40xf32>, tensor<30x20xf32>, tensor<30x20xi64>) -> tensor<50x40xf32>
  %1 = loop.call %x, %u, %i {callee = @rows} : (tensor<50x40xf32>, tensor<30x20xf32>, tensor<30x20xi64>) -> tensor<50x40xf32>
  return %0, %1 : tensor<50x40xf32>, tensor<50x40xf32>
}
loop.kernel @columns {shapes = [affine_map<() -> (50, 40)>, affine_map<() -> (30, 20)>, affine_map<() -> (30, 20)>, affine_map<() -> (50, 40)>], sizes = affine_map<() -> (50, 40, 30, 20)>, symbols = array<i64>} {
^bb0(%x: tensor<50x40xf32>, %u: tensor<30x20xf32>, %i: tensor<30x20xi64>):
  %0 = loop.stage %x {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1)>], space = "buffer"} : (tensor<50x40xf32>) -> tensor<50x40xf32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  %1 = loop.scatter %0, %u, %i {conflict = "ordered", domain = array<i64: 2, 3>, kind = "add", maps = [affine_map<(d0, d1, d2, d3) -> (0, 0)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>], space = "buffer"} : (tensor<50x40xf32>, tensor<30x20xf32>, tensor<30x20xi64>) -> tensor<50x40xf32> {
  ^bb0(%a: f32, %b: f32, %n: i64):
    %2 = arith.index_cast %n : i64 to index
    %3 = loop.index {dim = 3 : i64} : index
    loop.yield %2, %3, %b : (index, index, f32) -> ()
  }
  loop.return %1 : tensor<50x40xf32>
}
loop.kernel @rows {shapes = [affine_map<() -> (50, 40)>, affine_map<() -> (30, 20)>, affine_map<() -> (30, 20)>, affine_map<() -> (50, 40)>], sizes = affine_map<() -> (50, 40, 30, 20)>, symbols = array<i64>} {
^bb0(%x: tensor<50x40xf32>, %u: tensor<30x20xf32>, %i: tensor<30x20xi64>):
  %0 = loop.stage %x {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1)>], space = "buffer"} : (tensor<50x40xf32>) -> tensor<50x40xf32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  %1 = loop.scatter %0, %u, %i {conflict = "ordered", domain = array<i64: 2, 3>, kind = "add", maps = [affine_map<(d0, d1, d2, d3) -> (0, 0)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>], space = "buffer"} : (tensor<50x40xf32>, tensor<30x20xf32>, tensor<30x20xi64>) -> tensor<50x40xf32> {
  ^bb0(%a: f32, %b: f32, %n: i64):
    %2 = loop.index {dim = 2 : i64} : index
    %3 = arith.index_cast %n : i64 to index
    loop.yield %2, %3, %b : (index, index, f32) -> ()
  }
  loop.return %1 : tensor<50x40xf32>
}
