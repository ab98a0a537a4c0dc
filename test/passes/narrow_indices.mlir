// RUN: rs-opt %s --narrow-indices --split-input-file | FileCheck %s
// RUN: rs-opt %s --narrow-indices=remarks --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY
// WHY: remark: an operand is not shown to fit 32 bits [narrow-indices]

// Both sides of a comparison, and what is made a float, are indices and constants that fit 32 bits.
// CHECK-LABEL: loop.kernel @mask
// CHECK-NOT: to i64
// CHECK: arith.index_cast {{.*}} : index to i32
// CHECK: %[[NEXT:.*]] = arith.addi {{.*}} : i32
// CHECK: arith.cmpi sle, {{.*}}, %[[NEXT]] : i32
// CHECK: arith.sitofp %{{.*}} : i32 to f32
loop.kernel @mask {sizes = affine_map<() -> (8, 512)>, symbols = array<i64>, shapes = [affine_map<() -> (8, 512)>, affine_map<() -> (8, 512)>]} {
^bb0(%x: tensor<8x512xf32>):
  %y = loop.stage %x {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1) -> (d0, d1)>], space = "buffer"} : (tensor<8x512xf32>) -> tensor<8x512xf32> {
  ^bb0(%a: f32):
    %i = loop.index {dim = 0 : i64} : index
    %row = arith.index_cast %i : index to i64
    %one = arith.constant 1 : i64
    %next = arith.addi %row, %one : i64
    %j = loop.index {dim = 1 : i64} : index
    %key = arith.index_cast %j : index to i64
    %seen = arith.cmpi sle, %key, %next : i64
    %place = arith.sitofp %key : i64 to f32
    %b = arith.select %seen, %a, %place : f32
    loop.yield %b : f32
  }
  loop.return %y : tensor<8x512xf32>
}

// -----

// An element from memory may be any number, a symbolic size as well, and a product may be too large.
// CHECK-LABEL: loop.kernel @wide
// CHECK: arith.cmpi eq, {{.*}} : i64
// CHECK: arith.cmpi slt, {{.*}} : i64
// CHECK: arith.cmpi sgt, {{.*}} : i64
loop.kernel @wide {sizes = affine_map<()[s0] -> (s0, 50000)>, symbols = array<i64: 1>, shapes = [affine_map<()[s0] -> (s0, 50000)>, affine_map<()[s0] -> ()>, affine_map<()[s0] -> (s0, 50000)>]} {
^bb0(%x: tensor<?x50000xi64>, %n: index):
  %y = loop.stage %x {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1)[s0] -> (d0, d1)>], space = "buffer"} : (tensor<?x50000xi64>) -> tensor<?x50000xi1> {
  ^bb0(%a: i64):
    %i = loop.index {dim = 0 : i64} : index
    %row = arith.index_cast %i : index to i64
    %j = loop.index {dim = 1 : i64} : index
    %key = arith.index_cast %j : index to i64
    %same = arith.cmpi eq, %a, %key : i64
    %before = arith.cmpi slt, %row, %key : i64
    %square = arith.muli %key, %key : i64
    %large = arith.cmpi sgt, %square, %key : i64
    %b = arith.andi %same, %before : i1
    %c = arith.andi %b, %large : i1
    loop.yield %c : i1
  }
  loop.return %y : tensor<?x50000xi1>
}

// -----

// The place that a resampled element is read from: the float that it is rounded from has a range, too.
// CHECK-LABEL: loop.kernel @nearest
// CHECK: %[[I:.*]] = arith.fptosi {{.*}} : f32 to i32
// CHECK: %[[J:.*]] = arith.minsi %[[I]], {{.*}} : i32
// CHECK: arith.index_cast %[[J]] : i32 to index
// CHECK-LABEL: loop.kernel @far
// CHECK: arith.fptosi {{.*}} : f32 to i64
loop.kernel @nearest {sizes = affine_map<() -> (84)>, symbols = array<i64>, shapes = [affine_map<() -> (56)>, affine_map<() -> (84)>]} {
^bb0(%x: tensor<56xf32>):
  %y = loop.stage {domain = array<i64: 0>, maps = [], space = "buffer"} : () -> tensor<84xf32> {
    %i = loop.index {dim = 0 : i64} : index
    %n = arith.index_cast %i : index to i64
    %f = arith.sitofp %n : i64 to f32
    %ratio = arith.constant 0.6666667 : f32
    %place = arith.mulf %f, %ratio : f32
    %low = math.floor %place : f32
    %wide = arith.fptosi %low : f32 to i64
    %last = arith.constant 55 : i64
    %bound = arith.minsi %wide, %last : i64
    %at = arith.index_cast %bound : i64 to index
    %v = loop.load %x, %at : (tensor<56xf32>, index) -> f32
    loop.yield %v : f32
  }
  loop.return %y : tensor<84xf32>
}
loop.kernel @far {sizes = affine_map<() -> (84)>, symbols = array<i64>, shapes = [affine_map<() -> (56)>, affine_map<() -> (84)>]} {
^bb0(%x: tensor<56xf32>):
  %y = loop.stage {domain = array<i64: 0>, maps = [], space = "buffer"} : () -> tensor<84xf32> {
    %i = loop.index {dim = 0 : i64} : index
    %n = arith.index_cast %i : index to i64
    %f = arith.sitofp %n : i64 to f32
    %ratio = arith.constant 1.0e+9 : f32
    %place = arith.mulf %f, %ratio : f32
    %wide = arith.fptosi %place : f32 to i64
    %last = arith.constant 55 : i64
    %bound = arith.minsi %wide, %last : i64
    %at = arith.index_cast %bound : i64 to index
    %v = loop.load %x, %at : (tensor<56xf32>, index) -> f32
    loop.yield %v : f32
  }
  loop.return %y : tensor<84xf32>
}

// -----

// What is an operand twice, and of what else is left, is erased once.
// CHECK-LABEL: loop.kernel @twice
// CHECK: %[[I:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK: arith.cmpi slt, %{{.*}}, %{{.*}} : i32
// CHECK-NOT: i64
loop.kernel @twice {shapes = [affine_map<() -> (512)>], sizes = affine_map<() -> (512)>, symbols = array<i64>} : () -> () {
  %0 = loop.stage {domain = array<i64: 0>, maps = [], space = "buffer"} : () -> tensor<512xi1> {
    %i = loop.index {dim = 0 : i64} : index
    %k = arith.index_cast %i : index to i64
    %double = arith.addi %k, %k : i64
    %more = arith.addi %double, %k : i64
    %less = arith.cmpi slt, %more, %double : i64
    loop.yield %less : i1
  }
  loop.return %0 : tensor<512xi1>
}
