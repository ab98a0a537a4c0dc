// RUN: rs-opt %s --share-reciprocals --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --share-reciprocals=numerics=strict --split-input-file | rs-filecheck %s --check-prefix=STRICT
// RUN: rs-opt %s --share-reciprocals=remarks --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY
// WHY: remark: a divisor has too few divisions, or their number is not known [share-reciprocals]

// STRICT-NOT: arith.mulf

// The sum of a row divides many of its elements: its reciprocal is taken once.
// CHECK: %[[SUM:.*]] = loop.stage %arg0 {{.*}}reducer = "sum"
// CHECK: %[[SCALE:.*]] = loop.stage %[[SUM]] {domain = array<i64: 0>, {{.*}}space = "register"}
// CHECK: math.absf
// CHECK: %[[SHARED:.*]] = loop.stage %[[SUM]], %[[SCALE]] {domain = array<i64: 0>
// CHECK: arith.divf
// CHECK: loop.stage %arg0, %[[SUM]], %[[SHARED]], %[[SCALE]] {domain = array<i64: 0, 2>
// CHECK-NOT: arith.divf
// CHECK: arith.mulf
// CHECK: arith.mulf
// CHECK: loop.return
loop.kernel @row {sizes = affine_map<() -> (8, 200, 200)>, symbols = array<i64>, shapes = [affine_map<() -> (8, 200)>, affine_map<() -> (8, 200)>]} {
^bb0(%x: tensor<8x200xf32>):
  %s = loop.stage %x {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1, d2) -> (d0, d1)>], reduce = array<i64: 1>, reducer = "sum", space = "register"} : (tensor<8x200xf32>) -> tensor<8xf32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  %y = loop.stage %x, %s {domain = array<i64: 0, 2>, maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0)>], space = "buffer"} : (tensor<8x200xf32>, tensor<8xf32>) -> tensor<8x200xf32> {
  ^bb0(%a: f32, %b: f32):
    %q = arith.divf %a, %b : f32
    loop.yield %q : f32
  }
  loop.return %y : tensor<8x200xf32>
}

// -----

// Divisors of their own, and short rows, stay divisions.
// CHECK: loop.kernel @own
// CHECK: arith.divf
// CHECK-NOT: arith.mulf
loop.kernel @own {sizes = affine_map<() -> (8, 200)>, symbols = array<i64>, shapes = [affine_map<() -> (8, 200)>, affine_map<() -> (8, 200)>, affine_map<() -> (8, 200)>]} {
^bb0(%x: tensor<8x200xf32>, %s: tensor<8x200xf32>):
  %y = loop.stage %x, %s {domain = array<i64: 0, 1>, maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], space = "buffer"} : (tensor<8x200xf32>, tensor<8x200xf32>) -> tensor<8x200xf32> {
  ^bb0(%a: f32, %b: f32):
    %q = arith.divf %a, %b : f32
    loop.yield %q : f32
  }
  loop.return %y : tensor<8x200xf32>
}
