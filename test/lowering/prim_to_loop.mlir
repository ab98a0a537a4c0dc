// RUN: rs-opt %s --prim-to-loop --split-input-file | rs-filecheck %s

// A chain is one stage; its dims are walked through together, so they become one.
// CHECK-LABEL: loop.kernel @k0
// CHECK: ^bb0(%[[X:.*]]: tensor<32xf32>):
// CHECK-NEXT: %[[OUT:.*]] = loop.stage %[[X]] {domain = array<i64: 0>, {{.*}}space = "buffer"} : tensor<32xf32>
// CHECK: math.sin
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: loop.yield
// CHECK: loop.return %[[OUT]]
// CHECK: func.func @chain(%[[ARG:.*]]: tensor<4x8xf32>
// CHECK: %[[FLAT:.*]] = prim.reshape %[[ARG]] : (tensor<4x8xf32>) -> tensor<32xf32>
// CHECK: %[[CALL:.*]] = loop.call %[[FLAT]] {callee = @k0} : tensor<32xf32>
// CHECK: prim.reshape %[[CALL]] : (tensor<32xf32>) -> tensor<4x8xf32>
func.func @chain(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = prim.fusion %x : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %1 = prim.sin %a : tensor<4x8xf32>
    %2 = prim.mul %1, %a : tensor<4x8xf32>
    prim.yield %2 : (tensor<4x8xf32>) -> ()
  }
  return %0 : tensor<4x8xf32>
}

// -----

// Softmax is one kernel of three stages that share the row: maximum, sum, and the map that reads both.
// CHECK-LABEL: loop.kernel @k0
// CHECK: %[[MAX:.*]] = loop.stage {{.*}}reducer = "max", space = "register"} : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK: %[[SUM:.*]] = loop.stage %{{.*}}, %[[MAX]] {{.*}}reducer = "sum", space = "register"}
// CHECK: math.exp
// CHECK: loop.stage %{{.*}}, %[[MAX]], %[[SUM]] {domain = array<i64: 0, 1>, {{.*}}space = "buffer"}
// CHECK-NOT: loop.kernel
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = prim.fusion %x : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %1 = prim.reduce %a {dims = array<i64: 1>, kind = "max"} : (tensor<4x8xf32>) -> tensor<4xf32>
    %2 = prim.broadcast %1 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
    %3 = prim.sub %a, %2 : tensor<4x8xf32>
    %4 = prim.exp %3 : tensor<4x8xf32>
    %5 = prim.reduce %4 {dims = array<i64: 1>, kind = "sum"} : (tensor<4x8xf32>) -> tensor<4xf32>
    %6 = prim.broadcast %5 {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
    %7 = prim.div %4, %6 : tensor<4x8xf32>
    prim.yield %7 : (tensor<4x8xf32>) -> ()
  }
  return %0 : tensor<4x8xf32>
}

// -----

// Padding is a guarded access and a selection; nothing is materialised.
// CHECK: #[[SHIFT:.*]] = affine_map<(d0) -> (d0 - 1)>
// CHECK-LABEL: loop.kernel @k0
// CHECK: loop.stage {{.*}}guarded = array<i1: true>, maps = [#[[SHIFT]]], space = "buffer"} : (tensor<4xf32>) -> tensor<6xf32>
// CHECK: loop.index {dim = 0 : i64}
// CHECK: arith.cmpi ult
// CHECK: arith.select
func.func @pad(%x: tensor<4xf32>) -> tensor<6xf32> {
  %c = prim.constant {value = dense<7.0> : tensor<f32>} : tensor<f32>
  %0 = prim.pad %x, %c {low = array<i64: 1>, high = array<i64: 1>, interior = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

// A gather reads at a computed, checked index.
// CHECK-LABEL: loop.kernel @k0
// CHECK: %[[AT:.*]] = arith.index_cast %{{.*}} : i64 to index
// CHECK: loop.load %{{.*}}, %[[AT]], %{{.*}} : (tensor<10x3xf32>, index, index) -> f32
func.func @gather(%x: tensor<10x3xf32>, %i: tensor<5xi64>) -> tensor<5x3xf32> {
  %0 = prim.gather %x, %i {dims = array<i64: 0>} : (tensor<10x3xf32>, tensor<5xi64>) -> tensor<5x3xf32>
  return %0 : tensor<5x3xf32>
}

// -----

// Two results of different ranks share their loops.
// CHECK-LABEL: loop.kernel @k0
// CHECK-COUNT-3: loop.stage
// CHECK-NOT: loop.stage
func.func @two(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  %0:2 = prim.fusion %x : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  ^bb0(%a: tensor<4x8xf32>):
    %1 = prim.exp %a : tensor<4x8xf32>
    %2 = prim.reduce %1 {dims = array<i64: 1>, kind = "sum"} : (tensor<4x8xf32>) -> tensor<4xf32>
    prim.yield %1, %2 : (tensor<4x8xf32>, tensor<4xf32>) -> ()
  }
  return %0#0, %0#1 : tensor<4x8xf32>, tensor<4xf32>
}

// -----

// Features in panels are two dims, for weights, bias and result; the call reshapes. A window of one element is no loop, so that
// batch and space are one dim.
// CHECK: #[[X:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
// CHECK: #[[W:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, 0, 0, d3, d2)>
// CHECK-LABEL: loop.kernel @k0
// CHECK: loop.stage {{.*}}maps = [#[[X]], #[[W]]], reduce = array<i64: 3>, reducer = "sum"{{.*}} -> tensor<50x2x32xf32>
// CHECK: loop.call {{.*}} -> tensor<50x2x32xf32>
// CHECK: prim.reshape %{{.*}} : (tensor<50x2x32xf32>) -> tensor<2x5x5x64xf32>
func.func @panels(%x: tensor<2x5x5x8xf32>, %w: tensor<2x1x1x8x32xf32>) -> tensor<2x5x5x64xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64, layout = "n01c,O01co->n01o"} : (tensor<2x5x5x8xf32>, tensor<2x1x1x8x32xf32>) -> tensor<2x5x5x64xf32>
  return %0 : tensor<2x5x5x64xf32>
}

// -----

// A product over no dim sums nothing: it is a map.
// CHECK-LABEL: loop.kernel @k0
// CHECK: loop.stage {{.*}}space = "buffer"} : (tensor<3xf32>, tensor<4xf32>) -> tensor<3x4xf32>
// CHECK-NOT: reducer
// CHECK: func.func @outer
func.func @outer(%x: tensor<3xf32>, %y: tensor<4xf32>) -> tensor<3x4xf32> {
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64>, rhs_contract = array<i64>} : (tensor<3xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

// Two dims that are both read from their ends are one dim that is.
// CHECK: #[[BACK:.*]] = affine_map<(d0, d1) -> (d0, -d1 + 8)>
// CHECK: loop.kernel @k0
// CHECK: loop.stage {{.*}} {domain = array<i64: 0, 1>, maps = [#[[BACK]]], space = "buffer"} : tensor<4x9xf32>
func.func @backwards(%x: tensor<4x3x3xf32>) -> tensor<4x3x3xf32> {
  %0 = prim.fusion %x : (tensor<4x3x3xf32>) -> tensor<4x3x3xf32> {
  ^bb0(%a: tensor<4x3x3xf32>):
    %1 = prim.reverse %a {dims = array<i64: 1, 2>} : (tensor<4x3x3xf32>) -> tensor<4x3x3xf32>
    %2 = prim.neg %1 : tensor<4x3x3xf32>
    prim.yield %2 : (tensor<4x3x3xf32>) -> ()
  }
  return %0 : tensor<4x3x3xf32>
}

// Passes over the same rows: the dims of each become one, all at once.
// CHECK-LABEL: func.func @rows_of_two_dims(
// CHECK: prim.reshape %{{.*}} : (tensor<4x3x5xf32>) -> tensor<4x15xf32>
func.func @rows_of_two_dims(%x: tensor<4x3x5xf32>) -> tensor<4x3x5xf32> {
  %0 = prim.fusion %x : (tensor<4x3x5xf32>) -> tensor<4x3x5xf32> {
  ^bb0(%a: tensor<4x3x5xf32>):
    %s = prim.reduce %a {dims = array<i64: 1, 2>, kind = "sum"} : (tensor<4x3x5xf32>) -> tensor<4xf32>
    %b = prim.broadcast %s {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x3x5xf32>
    %r = prim.sub %a, %b : tensor<4x3x5xf32>
    prim.yield %r : tensor<4x3x5xf32>
  }
  return %0 : tensor<4x3x5xf32>
}

// -----

// Dims of one step vanish from a kernel that maps or reduces, also where an operand has more along them; what is read outside of a tensor keeps them.
// CHECK-LABEL: loop.kernel @k0
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<30x20xf32>):
// CHECK: -> tensor<20x30xf32>
// CHECK-LABEL: func.func @unit_dims
// CHECK: prim.reshape %{{.*}} : (tensor<30x20x1xf32>) -> tensor<30x20xf32>
// CHECK: prim.reshape %{{.*}} : (tensor<20x30xf32>) -> tensor<20x30x1xf32>
func.func @unit_dims(%x: tensor<30x20x1xf32>) -> tensor<20x30x1xf32> {
  %0 = prim.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<30x20x1xf32>) -> tensor<20x30x1xf32>
  return %0 : tensor<20x30x1xf32>
}

// -----

// CHECK: affine_map<(d0, d1) -> (d0, 1, d1)>
// CHECK-LABEL: loop.kernel @k0
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<30x2x20xf32>):
// CHECK: -> tensor<30x20xf32>
func.func @unit_slice(%x: tensor<30x2x20xf32>) -> tensor<30x1x20xf32> {
  %0 = prim.slice %x {offsets = array<i64: 0, 1, 0>, sizes = array<i64: 30, 1, 20>, strides = array<i64: 1, 1, 1>} : (tensor<30x2x20xf32>) -> tensor<30x1x20xf32>
  return %0 : tensor<30x1x20xf32>
}

// -----

// Those around a dim of one step are one dim.
// CHECK-LABEL: loop.kernel @k0
// CHECK: loop.stage {{.*}}domain = array<i64: 0>, maps = [#{{.*}}], reduce = array<i64: 0>, reducer = "sum"{{.*}}tensor<600xf32>) -> tensor<f32>
func.func @unit_sum(%x: tensor<30x1x20xf32>) -> tensor<1xf32> {
  %0 = prim.reduce %x {dims = array<i64: 0, 2>, kind = "sum"} : (tensor<30x1x20xf32>) -> tensor<1xf32>
  return %0 : tensor<1xf32>
}

// -----

// What is summed over dims of one step alone keeps one of them.
// CHECK-LABEL: loop.kernel @k0
// CHECK: loop.stage {{.*}}reduce = array<i64: 1>, reducer = "sum"{{.*}} : tensor<30xf32>
func.func @unit_sums(%x: tensor<1x30x1xf32>) -> tensor<30xf32> {
  %0 = prim.reduce %x {dims = array<i64: 0, 2>, kind = "sum"} : (tensor<1x30x1xf32>) -> tensor<30xf32>
  return %0 : tensor<30xf32>
}

// -----

// CHECK-LABEL: loop.kernel @k0
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<30x1x20xf32>):
func.func @unit_pad(%x: tensor<30x1x20xf32>, %y: tensor<f32>) -> tensor<30x3x20xf32> {
  %0 = prim.pad %x, %y {high = array<i64: 0, 1, 0>, interior = array<i64: 0, 0, 0>, low = array<i64: 0, 1, 0>} : (tensor<30x1x20xf32>, tensor<f32>) -> tensor<30x3x20xf32>
  return %0 : tensor<30x3x20xf32>
}

// -----

// A stage in segments reads where they begin and end first; the loops around it are those of its result.
// CHECK-LABEL: loop.kernel @k0
// CHECK: ^bb0(%[[B:.*]]: tensor<20xi64>, %[[E:.*]]: tensor<20xi64>, %[[X:.*]]: tensor<300x64xf32>):
// CHECK: loop.stage %[[B]], %[[E]], %[[X]] {domain = array<i64: 0, 1, 2>, {{.*}}reduce = array<i64: 2>, reducer = "sum", segments, space = "register"}
func.func @segments(%x: tensor<300x64xf32>, %begins: tensor<20xi64>, %ends: tensor<20xi64>) -> tensor<20x64xf32> {
  %0 = prim.segment_reduce %x, %begins, %ends {kind = "sum"} : (tensor<300x64xf32>, tensor<20xi64>, tensor<20xi64>) -> tensor<20x64xf32>
  return %0 : tensor<20x64xf32>
}
