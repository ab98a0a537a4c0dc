// RUN: rs-opt %s --write-in-place --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --write-in-place=remarks --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY

// Each element is read where it is written, and nobody reads it later. The kernel's code may not take the two for apart.
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<8xf32> {capture.in_place, capture.kind = "mutation", capture.name = "p"})
// CHECK: loop.kernel @update
// CHECK-SAME: in_place = array<i64: 0>
func.func @main(%p: tensor<8xf32> {capture.name = "p"}, %g: tensor<8xf32> {capture.name = "g"})
    -> (tensor<8xf32> {capture.kind = "mutation", capture.name = "p"}) attributes {capture.entry} {
  %0 = loop.call %p, %g {callee = @update} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
loop.kernel @update {shapes = [affine_map<() -> (8)>, affine_map<() -> (8)>, affine_map<() -> (8)>], sizes = affine_map<() -> (8)>, symbols = array<i64>} {
^bb0(%p: tensor<8xf32>, %g: tensor<8xf32>):
  %0 = loop.stage %p, %g {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], space = "buffer"} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.subf %a, %b : f32
    loop.yield %1 : f32
  }
  loop.return %0 : tensor<8xf32>
}

// -----

// What is read just before it is written is stored through the caches; a result with nothing under it stays as it was scheduled.
// CHECK-LABEL: func.func @main
// CHECK: loop.kernel @update
// CHECK: loop.stage
// CHECK-NOT: non_temporal
// CHECK: loop.stage
// CHECK-SAME: schedule = {non_temporal = true
func.func @main(%p: tensor<8xf32> {capture.name = "p"}) -> (tensor<8xf32> {capture.kind = "mutation", capture.name = "p"}, tensor<8xf32>) attributes {capture.entry} {
  %0:2 = loop.call %p {callee = @update} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}
loop.kernel @update {shapes = [affine_map<() -> (8)>, affine_map<() -> (8)>, affine_map<() -> (8)>], sizes = affine_map<() -> (8)>, symbols = array<i64>} {
^bb0(%p: tensor<8xf32>):
  %0 = loop.stage %p {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], space = "buffer", schedule = {non_temporal = true, vector = 0 : i64, width = 4 : i64}} : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32):
    %2 = arith.addf %a, %a : f32
    loop.yield %2 : f32
  }
  %1 = loop.stage {domain = array<i64: 0>, maps = [], space = "buffer", schedule = {non_temporal = true, vector = 0 : i64, width = 4 : i64}} : tensor<8xf32> {
    %2 = arith.constant 1.0 : f32
    loop.yield %2 : f32
  }
  loop.return %0, %1 : (tensor<8xf32>, tensor<8xf32>) -> ()
}

// -----

// Another kernel reads the old value later: the one that makes the new value goes to the end. The learning rate is a number, and no size.
// CHECK-LABEL: func.func @main
// CHECK-SAME: capture.in_place
// CHECK: %[[READ:.*]] = loop.call %{{.*}} {callee = @sum}
// CHECK: %[[NEW:.*]] = loop.call %{{.*}}, %{{.*}} {callee = @step}
// CHECK: return %[[READ]], %[[NEW]]
// CHECK: loop.kernel @step {in_place = array<i64: 0>
func.func @main(%p: tensor<8xf32> {capture.name = "p"}, %rate: f64 {capture.name = "lr"})
    -> (tensor<f32>, tensor<8xf32> {capture.kind = "mutation", capture.name = "p"}) attributes {capture.entry} {
  %0 = loop.call %p, %rate {callee = @step} : (tensor<8xf32>, f64) -> tensor<8xf32>
  %1 = loop.call %p {callee = @sum} : (tensor<8xf32>) -> tensor<f32>
  return %1, %0 : tensor<f32>, tensor<8xf32>
}
loop.kernel @step {shapes = [affine_map<() -> (8)>, affine_map<() -> ()>, affine_map<() -> (8)>], sizes = affine_map<() -> (8)>, symbols = array<i64>} {
^bb0(%p: tensor<8xf32>, %rate: f64):
  %0 = loop.stage %p {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], space = "buffer"} : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32):
    %1 = arith.truncf %rate : f64 to f32
    %2 = arith.mulf %a, %1 : f32
    loop.yield %2 : f32
  }
  loop.return %0 : tensor<8xf32>
}
loop.kernel @sum {shapes = [affine_map<() -> (8)>, affine_map<() -> ()>], sizes = affine_map<() -> (8)>, symbols = array<i64>} {
^bb0(%p: tensor<8xf32>):
  %0 = loop.stage %p {domain = array<i64: 0>, maps = [affine_map<(d0) -> (d0)>], reduce = array<i64: 0>, reducer = "sum", space = "buffer"} : (tensor<8xf32>) -> tensor<f32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  loop.return %0 : tensor<f32>
}

// -----

// Another kernel reads the old value later, and what is returned depends on it.
// CHECK-LABEL: func.func @main
// CHECK-NOT: in_place
// WHY: remark: the old value is read behind the kernel, or by what is no kernel [write-in-place]
func.func @main(%p: tensor<8xf32> {capture.name = "p"})
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32> {capture.kind = "mutation", capture.name = "p"}) attributes {capture.entry} {
  %0 = loop.call %p {callee = @twice} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = loop.call %p {callee = @twice} : (tensor<8xf32>) -> tensor<8xf32>
  %2 = loop.call %0 {callee = @twice} : (tensor<8xf32>) -> tensor<8xf32>
  return %1, %2, %0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
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

// -----

// The kernel reads an element where it writes another one.
// CHECK-LABEL: func.func @main
// CHECK-NOT: in_place
// WHY: remark: the kernel reads the old value elsewhere than where it writes the new one [write-in-place]
func.func @main(%p: tensor<8xf32> {capture.name = "p"})
    -> (tensor<8xf32> {capture.kind = "mutation", capture.name = "p"}) attributes {capture.entry} {
  %0 = loop.call %p {callee = @reverse} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
loop.kernel @reverse {shapes = [affine_map<() -> (8)>, affine_map<() -> (8)>], sizes = affine_map<() -> (8)>, symbols = array<i64>} {
^bb0(%p: tensor<8xf32>):
  %0 = loop.stage %p {domain = array<i64: 0>, maps = [affine_map<(d0) -> (-d0 + 7)>], space = "buffer"} : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  loop.return %0 : tensor<8xf32>
}

// -----

// A kernel behind it may find an index out of bounds, and a call that fails changes nothing.
// CHECK-LABEL: func.func @main
// CHECK-NOT: in_place
// WHY: remark: something behind it may fail, or asks for memory [write-in-place]
func.func @main(%p: tensor<8xf32> {capture.name = "p"}, %t: tensor<4xf32> {capture.name = "t"}, %i: tensor<2xi64> {capture.name = "i"})
    -> (tensor<2xf32>, tensor<8xf32> {capture.kind = "mutation", capture.name = "p"}) attributes {capture.entry} {
  %0 = loop.call %p {callee = @twice} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = loop.call %t, %i {callee = @pick} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %1, %0 : tensor<2xf32>, tensor<8xf32>
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

// -----

// A kernel before it may find one: the call ends before anything is written.
// CHECK-LABEL: func.func @main
// CHECK-SAME: capture.in_place
func.func @main(%p: tensor<8xf32> {capture.name = "p"}, %t: tensor<4xf32> {capture.name = "t"}, %i: tensor<2xi64> {capture.name = "i"})
    -> (tensor<2xf32>, tensor<8xf32> {capture.kind = "mutation", capture.name = "p"}) attributes {capture.entry} {
  %1 = loop.call %t, %i {callee = @pick} : (tensor<4xf32>, tensor<2xi64>) -> tensor<2xf32>
  %0 = loop.call %p {callee = @twice} : (tensor<8xf32>) -> tensor<8xf32>
  return %1, %0 : tensor<2xf32>, tensor<8xf32>
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

// -----

// A scatter whose indices were checked writes into the old value: the copy before it is left out where the call has one memory for both.
// Guards go up to where their conditions are known, in their order; the other output has its memory from the beginning.
// CHECK-LABEL: func.func @main
// CHECK-SAME: {capture.in_place, capture.kind = "mutation", capture.name = "k"}, tensor<8xf32> {capture.in_place, capture.kind = "mutation", capture.name = "v"}
// CHECK: capture.guard %{{.*}} {text = "inside"}
// CHECK-NEXT: capture.guard %{{.*}} {text = "good"}
// CHECK-NEXT: capture.guard %{{.*}} {text = "again"}
// CHECK-NEXT: loop.call
// CHECK: loop.kernel @put
// CHECK-SAME: in_place = array<i64: 0>
func.func @main(%k: tensor<8xf32> {capture.name = "k"}, %v: tensor<8xf32> {capture.name = "v"}, %at: tensor<1xi64>, %new: tensor<1xf32>, %ok: tensor<i1>, %fine: tensor<i1>)
    -> (tensor<8xf32> {capture.kind = "mutation", capture.name = "k"}, tensor<8xf32> {capture.kind = "mutation", capture.name = "v"}, tensor<8xf32>) attributes {capture.entry} {
  %holds = prim.item %ok : (tensor<i1>) -> i1
  capture.guard %holds {text = "inside"} : i1
  %0 = loop.call %k, %at, %new {callee = @put} : (tensor<8xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<8xf32>
  %good = prim.item %fine : (tensor<i1>) -> i1
  capture.guard %good {text = "good"} : i1
  capture.guard %holds {text = "again"} : i1
  %1 = loop.call %v, %at, %new {callee = @put} : (tensor<8xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<8xf32>
  %2 = loop.call %0 {callee = @twice} : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
loop.kernel @put {shapes = [affine_map<() -> (8)>, affine_map<() -> (1)>, affine_map<() -> (1)>, affine_map<() -> (8)>], sizes = affine_map<() -> (8, 1)>, symbols = array<i64>} {
^bb0(%x: tensor<8xf32>, %at: tensor<1xi64>, %new: tensor<1xf32>):
  %0 = loop.stage %x {domain = array<i64: 0>, maps = [affine_map<(d0, d1) -> (d0)>], space = "buffer"} : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  %1 = loop.scatter %0, %at, %new {conflict = "ordered", domain = array<i64: 1>, in_bounds, kind = "set", maps = [affine_map<(d0, d1) -> (0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>], space = "buffer"} : (tensor<8xf32>, tensor<1xi64>, tensor<1xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32, %b: i64, %c: f32):
    %2 = arith.index_cast %b : i64 to index
    loop.yield %2, %c : (index, f32) -> ()
  }
  loop.return %1 : tensor<8xf32>
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

// -----

// A loop's step adds a row to what the loop carries: the other rows stay where they are.
// CHECK-LABEL: func.func @main
// CHECK: loop.call %{{.*}}, %{{.*}}, %{{.*}} {callee = @add_row, in_place = array<i64: 0>}
// CHECK: loop.kernel @add_row {in_place = array<i64: 0>
func.func @main(%row: tensor<1x8xf32> {capture.name = "row"}, %rows: tensor<5x8xf32> {capture.name = "rows"}) -> tensor<5x8xf32> attributes {capture.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %0 = scf.for %t = %c0 to %c5 step %c1 iter_args(%so_far = %rows) -> (tensor<5x8xf32>) {
    %1 = loop.call %so_far, %t, %row {callee = @add_row} : (tensor<5x8xf32>, index, tensor<1x8xf32>) -> tensor<5x8xf32>
    scf.yield %1 : tensor<5x8xf32>
  }
  return %0 : tensor<5x8xf32>
}
loop.kernel @add_row {shapes = [affine_map<()[s0] -> (5, 8)>, affine_map<()[s0] -> ()>, affine_map<()[s0] -> (1, 8)>, affine_map<()[s0] -> (5, 8)>], sizes = affine_map<()[s0] -> (5, 8, 1)>, symbols = array<i64: 1>} {
^bb0(%old: tensor<5x8xf32>, %t: index, %row: tensor<1x8xf32>):
  %0 = loop.stage %old {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1, d2)[s0] -> (d0, d1)>], space = "buffer"} : (tensor<5x8xf32>) -> tensor<5x8xf32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  %1 = loop.scatter %0, %row {conflict = "ordered", domain = array<i64: 2, 1>, kind = "set", maps = [affine_map<(d0, d1, d2)[s0] -> (0, 0)>, affine_map<(d0, d1, d2)[s0] -> (d2, d1)>], space = "buffer"} : (tensor<5x8xf32>, tensor<1x8xf32>) -> tensor<5x8xf32> {
  ^bb0(%a: f32, %b: f32):
    %2 = loop.index {dim = 1 : i64} : index
    loop.yield %t, %2, %b : (index, index, f32) -> ()
  }
  loop.return %1 : tensor<5x8xf32>
}

// -----

// The step hands the old value on, too.
// CHECK-LABEL: func.func @main
// CHECK-NOT: in_place
// WHY: remark: the old value is read behind the kernel, or by what is no kernel [write-in-place]
func.func @main(%x: tensor<8xf32> {capture.name = "x"}) -> tensor<8xf32> attributes {capture.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %0:2 = scf.for %t = %c0 to %c5 step %c1 iter_args(%last = %x, %before = %x) -> (tensor<8xf32>, tensor<8xf32>) {
    %1 = loop.call %last {callee = @twice} : (tensor<8xf32>) -> tensor<8xf32>
    scf.yield %1, %last : tensor<8xf32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
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

// -----

// What the condition of a loop hands on unchanged is carried, too. One kernel has one argument under a result: the second call, whose old value
// is its other operand, gets memory of its own.
// CHECK-LABEL: func.func @main
// CHECK: loop.call %{{.*}}, %{{.*}} {callee = @sum, in_place = array<i64: 0>}
// CHECK: loop.call %{{.*}}, %{{.*}} {callee = @sum} :
// CHECK: loop.kernel @sum {in_place = array<i64: 0>
func.func @main(%x: tensor<8xf32> {capture.name = "x"}, %go: tensor<i1> {capture.name = "go"}) -> tensor<8xf32> attributes {capture.entry} {
  %0:2 = scf.while (%p = %x, %q = %x) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %more = prim.item %go : (tensor<i1>) -> i1
    scf.condition(%more) %q, %p : tensor<8xf32>, tensor<8xf32>
  } do {
  ^bb0(%q: tensor<8xf32>, %p: tensor<8xf32>):
    %1 = loop.call %p, %x {callee = @sum} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %2 = loop.call %x, %q {callee = @sum} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    scf.yield %1, %2 : tensor<8xf32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
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

// -----

// The old rows are read behind the kernel that makes the new ones, which goes to the end of the step.
// CHECK-LABEL: func.func @main
// CHECK: scf.for
// CHECK-NEXT: loop.call %{{.*}} {callee = @total}
// CHECK: loop.call %{{.*}} {callee = @twice, in_place = array<i64: 0>}
// CHECK-NEXT: prim.reshape
// CHECK-NEXT: scf.yield
func.func @main(%x: tensor<8xf32> {capture.name = "x"}, %s: tensor<1xf32> {capture.name = "s"}) -> (tensor<8xf32>, tensor<1xf32>) attributes {capture.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %0:2 = scf.for %t = %c0 to %c5 step %c1 iter_args(%last = %x, %sum = %s) -> (tensor<8xf32>, tensor<1xf32>) {
    %1 = loop.call %last {callee = @twice} : (tensor<8xf32>) -> tensor<8xf32>
    %2 = prim.reshape %1 : (tensor<8xf32>) -> tensor<8xf32>
    %3 = loop.call %last {callee = @total} : (tensor<8xf32>) -> tensor<1xf32>
    scf.yield %2, %3 : tensor<8xf32>, tensor<1xf32>
  }
  return %0#0, %0#1 : tensor<8xf32>, tensor<1xf32>
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
loop.kernel @total {shapes = [affine_map<() -> (8)>, affine_map<() -> (1)>], sizes = affine_map<() -> (1, 8)>, symbols = array<i64>} {
^bb0(%p: tensor<8xf32>):
  %0 = loop.stage %p {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1) -> (d1)>], reduce = array<i64: 1>, reducer = "sum", space = "buffer"} : (tensor<8xf32>) -> tensor<1xf32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  loop.return %0 : tensor<1xf32>
}

// -----

// What a condition hands on twice is one memory: who reads the one name reads the other.
// CHECK-LABEL: func.func @main
// CHECK-NOT: in_place
func.func @main(%x: tensor<8xf32> {capture.name = "x"}, %go: tensor<i1> {capture.name = "go"}) -> tensor<8xf32> attributes {capture.entry} {
  %0:2 = scf.while (%p = %x, %q = %x) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %more = prim.item %go : (tensor<i1>) -> i1
    scf.condition(%more) %p, %p : tensor<8xf32>, tensor<8xf32>
  } do {
  ^bb0(%p: tensor<8xf32>, %same: tensor<8xf32>):
    %1 = loop.call %p {callee = @twice} : (tensor<8xf32>) -> tensor<8xf32>
    %2 = loop.call %same {callee = @twice} : (tensor<8xf32>) -> tensor<8xf32>
    scf.yield %1, %2 : tensor<8xf32>, tensor<8xf32>
  }
  return %0#1 : tensor<8xf32>
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

// -----

// Of vectors that are transposed none is made twice where their copies fill the loop and its tiles: 64 rows, and no 72.
// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<64x64xf32> {capture.in_place
// CHECK-SAME: tensor<72x64xf32> {capture.kind
// CHECK: loop.kernel @filled {in_place = array<i64: 0>
// CHECK: loop.kernel @ragged {schedule
// WHY: remark: the kernel computes points twice [write-in-place]
func.func @main(%p: tensor<64x64xf32> {capture.name = "p"}, %q: tensor<72x64xf32> {capture.name = "q"}, %g: tensor<64x64xf32>, %h: tensor<64x72xf32>)
    -> (tensor<64x64xf32> {capture.kind = "mutation", capture.name = "p"}, tensor<72x64xf32> {capture.kind = "mutation", capture.name = "q"}) attributes {capture.entry} {
  %0 = loop.call %p, %g {callee = @filled} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = loop.call %q, %h {callee = @ragged} : (tensor<72x64xf32>, tensor<64x72xf32>) -> tensor<72x64xf32>
  return %0, %1 : tensor<64x64xf32>, tensor<72x64xf32>
}
loop.kernel @filled {schedule = {order = array<i64: 0, 1>, tile = array<i64: 64, 64>, unroll = array<i64: 16, 1>, vector = 1 : i64, width = 16 : i64}, shapes = [affine_map<() -> (64, 64)>, affine_map<() -> (64, 64)>, affine_map<() -> (64, 64)>], sizes = affine_map<() -> (64, 64)>, symbols = array<i64>} {
^bb0(%p: tensor<64x64xf32>, %g: tensor<64x64xf32>):
  %0 = loop.stage %p, %g {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>], schedule = {transpose = 0 : i64}, space = "buffer"} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.subf %a, %b : f32
    loop.yield %1 : f32
  }
  loop.return %0 : tensor<64x64xf32>
}
loop.kernel @ragged {schedule = {order = array<i64: 0, 1>, tile = array<i64: 64, 64>, unroll = array<i64: 16, 1>, vector = 1 : i64, width = 16 : i64}, shapes = [affine_map<() -> (72, 64)>, affine_map<() -> (64, 72)>, affine_map<() -> (72, 64)>], sizes = affine_map<() -> (72, 64)>, symbols = array<i64>} {
^bb0(%p: tensor<72x64xf32>, %g: tensor<64x72xf32>):
  %0 = loop.stage %p, %g {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>], schedule = {transpose = 0 : i64}, space = "buffer"} : (tensor<72x64xf32>, tensor<64x72xf32>) -> tensor<72x64xf32> {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.subf %a, %b : f32
    loop.yield %1 : f32
  }
  loop.return %0 : tensor<72x64xf32>
}
