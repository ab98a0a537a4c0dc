// RUN: rs-opt %s --prim-to-loop --attach-target='entries={l1 = {bytes = 49152, ways = 12}}' --pack-operands --schedule-cpu --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --attach-target=cpu=x86-64-v3 --prim-to-loop --pack-operands --schedule-cpu --split-input-file | rs-filecheck %s --check-prefix=AVX2

// Lanes run along the contiguous dim, and long bodies are written several times.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {order = array<i64: 0>, unroll = array<i64: 4>, vector = 0 : i64, width = 16 : i64}
// AVX2: width = 8 : i64
func.func @map(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = prim.fusion %x : (tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%a: tensor<1024xf32>):
    %1 = prim.sin %a : tensor<1024xf32>
    %2 = prim.cos %1 : tensor<1024xf32>
    prim.yield %2 : (tensor<1024xf32>) -> ()
  }
  return %0 : tensor<1024xf32>
}

// -----

// Rows are reduced with lanes along the row, several accumulators each.
// CHECK-LABEL: loop.kernel @k0
// CHECK: loop.stage {{.*}}reducer = "sum", schedule = {unroll = 4 : i64, vector = {{[0-9]}} : i64, width = 16 : i64}
// AVX2: width = 8 : i64
func.func @rows(%x: tensor<64x512xf32>) -> tensor<64xf32> {
  %0 = prim.reduce %x {dims = array<i64: 1>, kind = "sum"} : (tensor<64x512xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// A product of matrices: tiles that threads share, and in them register blocks of rows beside the two vectors of a panel.
// CHECK-LABEL: loop.kernel @k0 {
// CHECK-SAME: schedule = {order = array<i64: 1, 0>, tile = array<i64: 128, 64>, unroll = array<i64: 2, 8>, vector = 1 : i64, width = 16 : i64}
// AVX2: unroll = array<i64: 2, 5>, vector = 1 : i64, width = 8 : i64
func.func @matmul(%a: tensor<64x32xf32>, %b: tensor<32x128xf32>) -> tensor<64x128xf32> {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x32xf32>, tensor<32x128xf32>) -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}

// -----

// With few rows a copy of the other operand does not pay: lanes run along what is summed, and all rows use each vector of the other operand.
// CHECK-LABEL: loop.kernel @k0 {
// CHECK-SAME: schedule = {order = array<i64: 1, 0>, unroll = array<i64: 4, 2>}
// CHECK: loop.stage {{.*}}schedule = {unroll = 1 : i64, vector = 2 : i64, width = 16 : i64}, space = "register"
// AVX2: schedule = {order = array<i64: 1, 0>, unroll = array<i64: 3, 2>}
// AVX2: width = 8 : i64
func.func @linear(%a: tensor<2x512xf32>, %b: tensor<128x512xf32>) -> tensor<2x128xf32> {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<2x512xf32>, tensor<128x512xf32>) -> tensor<2x128xf32>
  return %0 : tensor<2x128xf32>
}

// -----

// Where more follows each sum, the results are a tile, and what follows has lanes.
// CHECK-LABEL: loop.kernel @k0 {
// CHECK: loop.stage {{.*}}schedule = {rows = 4 : i64, unroll = 1 : i64, vector = 2 : i64, width = 16 : i64}, space = "tile"
// AVX2: space = "tile"
func.func @activation(%a: tensor<2x512xf32>, %b: tensor<128x512xf32>, %c: tensor<2x128xf32>) -> tensor<2x128xf32> {
  %r = prim.fusion %a, %b, %c : (tensor<2x512xf32>, tensor<128x512xf32>, tensor<2x128xf32>) -> tensor<2x128xf32> {
  ^bb0(%x: tensor<2x512xf32>, %y: tensor<128x512xf32>, %z: tensor<2x128xf32>):
    %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<2x512xf32>, tensor<128x512xf32>) -> tensor<2x128xf32>
    %1 = prim.add %0, %z : tensor<2x128xf32>
    %2 = prim.mul %1, %z : tensor<2x128xf32>
    %3 = prim.tanh %2 : tensor<2x128xf32>
    %4 = prim.mul %3, %z : tensor<2x128xf32>
    %5 = prim.add %4, %1 : tensor<2x128xf32>
    prim.yield %5 : (tensor<2x128xf32>) -> ()
  }
  return %r : tensor<2x128xf32>
}

// -----

// Rows that are all copies of one body are no loop that threads could share: the loop over the lanes is the first.
// CHECK-LABEL: loop.kernel @k0 {
// CHECK-SAME: schedule = {order = array<i64: 1, 0>, unroll = array<i64: 2, 3>, vector = 1 : i64, width = 16 : i64}
// AVX2: schedule = {order = array<i64: 1, 0>, unroll = array<i64: 2, 3>, vector = 1 : i64, width = 8 : i64}
func.func @few_rows(%a: tensor<3x512xf32>, %b: tensor<512x1024xf32>) -> tensor<3x1024xf32> {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<3x512xf32>, tensor<512x1024xf32>) -> tensor<3x1024xf32>
  return %0 : tensor<3x1024xf32>
}

// -----

// A long epilogue is a loop over the rows of a register block.
// CHECK-LABEL: loop.kernel @k0 {
// CHECK-SAME: roll = 0 : i64
func.func @epilogue(%a: tensor<64x32xf32>, %b: tensor<128x32xf32>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %r = prim.fusion %a, %b, %c : (tensor<64x32xf32>, tensor<128x32xf32>, tensor<64x128xf32>) -> tensor<64x128xf32> {
  ^bb0(%x: tensor<64x32xf32>, %y: tensor<128x32xf32>, %z: tensor<64x128xf32>):
    %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<64x32xf32>, tensor<128x32xf32>) -> tensor<64x128xf32>
    %1 = prim.add %0, %z : tensor<64x128xf32>
    %2 = prim.mul %1, %z : tensor<64x128xf32>
    %3 = prim.tanh %2 : tensor<64x128xf32>
    prim.yield %3 : (tensor<64x128xf32>) -> ()
  }
  return %r : tensor<64x128xf32>
}

// -----

// A convolution with weights in panels: lanes along the panel, a block of pixels against it.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {order = array<i64: 1, 0, 3, 2, 4>, unroll = array<i64: 1, 1, 1, 7, 2>, vector = 4 : i64, width = 16 : i64}
// AVX2: width = 8 : i64
func.func @convolution(%x: tensor<4x16x16x8xf32>, %w: tensor<2x3x3x8x32xf32>) -> tensor<4x14x14x64xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64, layout = "n01c,O01co->n01o"} : (tensor<4x16x16x8xf32>, tensor<2x3x3x8x32xf32>) -> tensor<4x14x14x64xf32>
  return %0 : tensor<4x14x14x64xf32>
}

// -----

// With a window of one element all pixels are one dim: threads share tiles of them, which meet all panels.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {order = array<i64: 1, 0, 2>, tile = array<i64: 2, 56, 32>, unroll = array<i64: 1, 8, 2>, vector = 2 : i64, width = 16 : i64}
func.func @pointwise_convolution(%x: tensor<1x28x28x64xf32>, %w: tensor<2x1x1x64x32xf32>) -> tensor<1x28x28x64xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64, layout = "n01c,O01co->n01o"} : (tensor<1x28x28x64xf32>, tensor<2x1x1x64x32xf32>) -> tensor<1x28x28x64xf32>
  return %0 : tensor<1x28x28x64xf32>
}

// -----

// Where panels have more bytes than pixels do, each thread has its panels.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {order = array<i64: 1, 0, 2>, unroll = array<i64: 1, 12, 2>, vector = 2 : i64, width = 16 : i64}
func.func @of_many_features(%x: tensor<1x14x14x64xf32>, %w: tensor<8x1x1x64x32xf32>) -> tensor<1x14x14x256xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64, layout = "n01c,O01co->n01o"} : (tensor<1x14x14x64xf32>, tensor<8x1x1x64x32xf32>) -> tensor<1x14x14x256xf32>
  return %0 : tensor<1x14x14x256xf32>
}

// -----

// A transposed operand is read along its own rows, as many copies as lanes, in blocks; a result that no cache holds goes past them.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {order = array<i64: 0, 1>, tile = array<i64: 64, 64>, unroll = array<i64: 16, 1>, vector = 1 : i64, width = 16 : i64}
// CHECK: schedule = {non_temporal = true, split_stores = true, transpose = 0 : i64}
// Where a register is half a cache line, it goes through them.
// AVX2: unroll = array<i64: 8, 1>, vector = 1 : i64, width = 8 : i64
// AVX2: schedule = {transpose = 0 : i64}
func.func @transposed(%x: tensor<4096x2048xf32>, %y: tensor<2048x4096xf32>) -> tensor<2048x4096xf32> {
  %0 = prim.fusion %x, %y : (tensor<4096x2048xf32>, tensor<2048x4096xf32>) -> tensor<2048x4096xf32> {
  ^bb0(%a: tensor<4096x2048xf32>, %b: tensor<2048x4096xf32>):
    %1 = prim.transpose %a {perm = array<i64: 1, 0>} : (tensor<4096x2048xf32>) -> tensor<2048x4096xf32>
    %2 = prim.add %1, %b : tensor<2048x4096xf32>
    prim.yield %2 : (tensor<2048x4096xf32>) -> ()
  }
  return %0 : tensor<2048x4096xf32>
}

// -----

// Behind a border a register begins within a line: tiles that store parts of lines in many places go through the caches.
// CHECK-LABEL: loop.kernel @k0
// CHECK: schedule = {transpose = 0 : i64}
func.func @transposed_with_a_border(%x: tensor<4096x2048xf32>) -> tensor<2048x4104xf32> {
  %0 = prim.fusion %x : (tensor<4096x2048xf32>) -> tensor<2048x4104xf32> {
  ^bb0(%a: tensor<4096x2048xf32>):
    %z = prim.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
    %1 = prim.pad %a, %z {high = array<i64: 4, 0>, interior = array<i64: 0, 0>, low = array<i64: 4, 0>} : (tensor<4096x2048xf32>, tensor<f32>) -> tensor<4104x2048xf32>
    %2 = prim.transpose %1 {perm = array<i64: 1, 0>} : (tensor<4104x2048xf32>) -> tensor<2048x4104xf32>
    prim.yield %2 : tensor<2048x4104xf32>
  }
  return %0 : tensor<2048x4104xf32>
}

// -----

// What computes longer than memory takes is not stored past the caches in pieces of a register.
// CHECK-LABEL: loop.kernel @k0
// CHECK: schedule = {non_temporal = true, split_stores = true}
// CHECK-LABEL: func.func @light
func.func @light(%x: tensor<8388608xf32>) -> tensor<8388608xf32> {
  %0 = prim.add %x, %x : tensor<8388608xf32>
  return %0 : tensor<8388608xf32>
}

// -----

// CHECK-LABEL: loop.kernel @k0
// CHECK: schedule = {non_temporal = true}
// CHECK-LABEL: func.func @heavy
func.func @heavy(%x: tensor<8388608xf32>) -> tensor<8388608xf32> {
  %0 = prim.erf %x : tensor<8388608xf32>
  return %0 : tensor<8388608xf32>
}

// -----

// Half of what a cache holds is written so already where a kernel that waits for memory touches more than the whole.
// CHECK-LABEL: loop.kernel @k1
// CHECK-NOT: non_temporal
// CHECK-LABEL: loop.kernel @k0
// CHECK: schedule = {non_temporal = true, split_stores = true}
// CHECK-LABEL: func.func @swept
func.func @swept(%x: tensor<3000000xf32>, %y: tensor<3000000xf32>) -> (tensor<3000000xf32>, tensor<3000000xf32>) {
  %0 = prim.add %x, %y : tensor<3000000xf32>
  %1 = prim.neg %x : tensor<3000000xf32>
  return %0, %1 : tensor<3000000xf32>, tensor<3000000xf32>
}

// -----

// Few rows beside a matrix that lies along the lanes: tiles and register blocks without a copy of it.
// CHECK: loop.kernel @k0
// CHECK-SAME: tile = array<i64: 32, 39>, unroll = array<i64: 2, 13>, vector = 1 : i64, width = 16 : i64
// CHECK: loop.stage {{.*}}schedule = {prefetch = true, prefetch_along = 2 : i64, prefetch_distance = 8 : i64, prefetch_operand = 1 : i64}
func.func @in_place(%a: tensor<37x2048xf32>, %b: tensor<2048x1500xf32>) -> tensor<37x1500xf32> {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<37x2048xf32>, tensor<2048x1500xf32>) -> tensor<37x1500xf32>
  return %0 : tensor<37x1500xf32>
}

// -----

// Rows so long that few of them fit the cache: a panel stays there while all rows pass by.
// CHECK: loop.kernel @k0 {
// CHECK-SAME: tile = array<i64: 32, {{[0-9]+}}>
func.func @deep(%a: tensor<1024x4096xf32>, %b: tensor<4096x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1024x4096xf32>, tensor<4096x1024xf32>) -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}

// -----

// A copy that turns its operand stores in rows: reading across is what registers can turn.
// CHECK: loop.kernel @k0
// CHECK-SAME: unroll = array<i64: 1, 16, 1>, vector = 2 : i64, width = 16 : i64
// CHECK: loop.stage {{.*}}transpose = 1 : i64
func.func @copy(%x: tensor<4x320x64xf32>) -> tensor<4x64x320xf32> {
  %0 = prim.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<4x320x64xf32>) -> tensor<4x64x320xf32>
  return %0 : tensor<4x64x320xf32>
}

// -----

// Panels of weights: the window is shorter than a vector and is turned whole, and what is near it in memory comes just before it.
// CHECK: loop.kernel @k0
// CHECK-SAME: order = array<i64: 0, 2, 1, 3>, unroll = array<i64: 1, 1, 9, 1>, vector = 3 : i64, width = 16 : i64}
// CHECK: loop.stage {{.*}}transpose = 1 : i64
func.func @panels(%x: tensor<16x32x512x9xf32>) -> tensor<16x9x512x32xf32> {
  %0 = prim.transpose %x {perm = array<i64: 0, 3, 2, 1>} : (tensor<16x32x512x9xf32>) -> tensor<16x9x512x32xf32>
  return %0 : tensor<16x9x512x32xf32>
}

// -----

// Features that fill no panel: where masks are vectors, the last block of lanes runs apart.
// CHECK: loop.kernel @k0 {schedule = {order = array<i64: 1, 0>, tile = array<i64: 128, 64>, unroll
// AVX2: schedule = {order = array<i64: 1, 0>, peel = array<i64: 1>, tile =
func.func @ragged(%a: tensor<64x32xf32>, %b: tensor<32x121xf32>) -> tensor<64x121xf32> {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x32xf32>, tensor<32x121xf32>) -> tensor<64x121xf32>
  return %0 : tensor<64x121xf32>
}

// -----

// Rows of one batch: the next row to fetch is not in a batch that is not there.
// CHECK: loop.kernel @k0
// CHECK-SAME: order = array<i64: 0>
// CHECK: prefetch_along = 0 : i64, prefetch_operand = 0 : i64
func.func @one_batch(%x: tensor<1x4096x512xf32>, %w: tensor<4096xf32>) -> tensor<1x4096x512xf32> {
  %0 = prim.fusion %x, %w : (tensor<1x4096x512xf32>, tensor<4096xf32>) -> tensor<1x4096x512xf32> {
  ^bb0(%a: tensor<1x4096x512xf32>, %c: tensor<4096xf32>):
    %s = prim.reduce %a {dims = array<i64: 2>, kind = "sum"} : (tensor<1x4096x512xf32>) -> tensor<1x4096xf32>
    %b = prim.broadcast %s {dims = array<i64: 0, 1>} : (tensor<1x4096xf32>) -> tensor<1x4096x512xf32>
    %v = prim.broadcast %c {dims = array<i64: 1>} : (tensor<4096xf32>) -> tensor<1x4096x512xf32>
    %r = prim.sub %a, %b : tensor<1x4096x512xf32>
    %t = prim.mul %r, %v : tensor<1x4096x512xf32>
    prim.yield %t : tensor<1x4096x512xf32>
  }
  return %0 : tensor<1x4096x512xf32>
}

// -----

// Three half vectors are no more than one and a half with a mask.
// CHECK: loop.kernel @k0 {{.*}}vector = 1 : i64, width = 8 : i64
// AVX2: loop.kernel @k0 {{.*}}vector = 1 : i64, width = 8 : i64
func.func @one_and_a_half(%x: tensor<64x24xf32>, %w: tensor<24xf32>) -> tensor<64x24xf32> {
  %0 = prim.fusion %x, %w : (tensor<64x24xf32>, tensor<24xf32>) -> tensor<64x24xf32> {
  ^bb0(%a: tensor<64x24xf32>, %c: tensor<24xf32>):
    %v = prim.broadcast %c {dims = array<i64: 1>} : (tensor<24xf32>) -> tensor<64x24xf32>
    %t = prim.mul %a, %v : tensor<64x24xf32>
    prim.yield %t : tensor<64x24xf32>
  }
  return %0 : tensor<64x24xf32>
}

// -----

// Rows by index: the index of a row is the same in all lanes, so that its 64 bits leave as many lanes as the elements of the row fill.
// CHECK: loop.kernel @k0
// CHECK-SAME: vector = 1 : i64, width = 16 : i64
// AVX2: vector = 1 : i64, width = 8 : i64
func.func @rows_by_index(%x: tensor<50x300xf32>, %i: tensor<70xi64>) -> tensor<70x300xf32> {
  %0 = prim.gather %x, %i {dims = array<i64: 0>} : (tensor<50x300xf32>, tensor<70xi64>) -> tensor<70x300xf32>
  return %0 : tensor<70x300xf32>
}

// -----

// Elements by index: the indices stand in lanes, those of one vector of elements in several registers.
// CHECK: loop.kernel @k0
// CHECK-SAME: vector = 0 : i64, width = 16 : i64
// AVX2: vector = 0 : i64, width = 8 : i64
func.func @elements_by_index(%x: tensor<50xf32>, %i: tensor<70xi64>) -> tensor<70xf32> {
  %0 = prim.gather %x, %i {dims = array<i64: 0>} : (tensor<50xf32>, tensor<70xi64>) -> tensor<70xf32>
  return %0 : tensor<70xf32>
}

// -----

// Rows that a scatter writes have lanes along the row, which threads share: no two iterations of it write to one place. Copies share the
// index of the row. The tensor that it writes to is made by a loop of its own, along rows too.
// CHECK-LABEL: loop.kernel @k0 {schedule = {fission = true, order = array<i64: 1>, unroll = array<i64: 4>, vector = 1 : i64, width = 16 : i64}
// CHECK: loop.scatter {{.*}}domain = array<i64: 2, 1>
func.func @scatter_of_rows(%x: tensor<100x256xf32>, %u: tensor<400x256xf32>, %i: tensor<400xi64>) -> tensor<100x256xf32> {
  %0 = prim.scatter %x, %u, %i {dims = array<i64: 0>, kind = "add"} : (tensor<100x256xf32>, tensor<400x256xf32>, tensor<400xi64>) -> tensor<100x256xf32>
  return %0 : tensor<100x256xf32>
}

// -----

// Within rows it has none: threads share the rows, some of which are written side by side.
// CHECK-LABEL: loop.kernel @k0 {schedule = {order = array<i64: 0>, unroll = array<i64: 4>}
// CHECK: loop.scatter {{.*}}domain = array<i64: 0, 2>
func.func @scatter_in_rows(%x: tensor<100x256xf32>, %u: tensor<100x300xf32>, %j: tensor<100x300xi64>) -> tensor<100x256xf32> {
  %0 = prim.fusion %x, %u, %j : (tensor<100x256xf32>, tensor<100x300xf32>, tensor<100x300xi64>) -> tensor<100x256xf32> {
  ^bb0(%a: tensor<100x256xf32>, %b: tensor<100x300xf32>, %c: tensor<100x300xi64>):
    %rows = prim.iota {dim = 0 : i64} : tensor<100x300xi64>
    %1 = prim.scatter %a, %b, %rows, %c {dims = array<i64: 0, 1>, kind = "add"} : (tensor<100x256xf32>, tensor<100x300xf32>, tensor<100x300xi64>, tensor<100x300xi64>) -> tensor<100x256xf32>
    prim.yield %1 : (tensor<100x256xf32>) -> ()
  }
  return %0 : tensor<100x256xf32>
}

// -----

// Nothing is known of the places of single elements: they are written in order.
// CHECK-LABEL: loop.kernel @k0 {schedule = {order = array<i64>}
// CHECK: loop.scatter {{.*}}domain = array<i64: 1>
func.func @scatter_of_elements(%x: tensor<100xf32>, %u: tensor<300xf32>, %i: tensor<300xi64>) -> tensor<100xf32> {
  %0 = prim.scatter %x, %u, %i {dims = array<i64: 0>, kind = "add"} : (tensor<100xf32>, tensor<300xf32>, tensor<300xi64>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
}

// -----

// Rows that share cache lines are stored through the caches, however large the result is.
// CHECK-LABEL: loop.kernel @k0 {schedule = {order = array<i64: 0, 1>, unroll = array<i64: 1, 1>, vector = 1 : i64, width = 8 : i64}
// CHECK-NOT: non_temporal
// CHECK: func.func @ragged_rows
func.func @ragged_rows(%x: tensor<900000x10xi64>) -> tensor<900000x10xi64> {
  %0 = prim.fusion %x : (tensor<900000x10xi64>) -> tensor<900000x10xi64> {
  ^bb0(%a: tensor<900000x10xi64>):
    %d = prim.iota {dim = 1 : i64} : tensor<900000x10xi64>
    %t = prim.add %a, %d : tensor<900000x10xi64>
    prim.yield %t : tensor<900000x10xi64>
  }
  return %0 : tensor<900000x10xi64>
}

// -----

// Depthwise: some lanes' part of the input stays in the cache while the window slides over it, and each vector of weights is used for as
// many columns as registers hold sums of.
// CHECK-LABEL: loop.kernel @k0 {schedule = {order = array<i64: 1, 3, 0, 2>, unroll = array<i64: 1, 3, 1, 7>, vector = 3 : i64, width = 16 : i64}
// CHECK: func.func @depthwise
// AVX2-LABEL: loop.kernel @k0 {schedule = {order = array<i64: 1, 3, 0, 2>, unroll = array<i64: 1, 3, 1, 4>, vector = 3 : i64, width = 8 : i64}
// AVX2: func.func @depthwise
func.func @depthwise(%x: tensor<1x34x34x96xf32>, %w: tensor<7x7x1x96xf32>) -> tensor<1x28x28x96xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 96 : i64, layout = "n01c,01co->n01o"} : (tensor<1x34x34x96xf32>, tensor<7x7x1x96xf32>) -> tensor<1x28x28x96xf32>
  return %0 : tensor<1x28x28x96xf32>
}

// -----

// A window along rows, with weights that all of a row share: two vectors of four rows.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: unroll = array<i64: 1, 4, 1, 2>, vector = 3 : i64, width = 16 : i64
// AVX2-LABEL: loop.kernel @k0
// AVX2-SAME: unroll = array<i64: 1, 4, 1, 2>, vector = 3 : i64, width = 8 : i64
func.func @windows(%x: tensor<1x24x66x66xf32>, %w: tensor<24x1x3x3xf32>) -> tensor<1x24x64x64xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 24 : i64} : (tensor<1x24x66x66xf32>, tensor<24x1x3x3xf32>) -> tensor<1x24x64x64xf32>
  return %0 : tensor<1x24x64x64xf32>
}

// -----

// One line each in many places: whole lines are stored past the caches, halves of lines through them.
// CHECK-LABEL: loop.kernel @k0
// CHECK: non_temporal = true
// AVX2-LABEL: loop.kernel @k0
// AVX2-NOT: non_temporal
// AVX2: func.func @spread
func.func @spread(%x: tensor<40000x3x32xf32>) -> tensor<40000x2x32xf32> {
  %0 = prim.linear_transform %x {dims = array<i64: 1>, matrix = array<f64: 2.0, 0.0, 3.0, 2.0, 0.0, -3.0>} : (tensor<40000x3x32xf32>) -> tensor<40000x2x32xf32>
  return %0 : tensor<40000x2x32xf32>
}

// -----

// A large product: its register blocks store a line of each of several rows, likewise. What follows the sum arrives while it runs.
// CHECK-LABEL: loop.kernel @k0 {
// CHECK: reducer = "sum", schedule = {prefetch = true}
// CHECK: non_temporal = true
// AVX2-LABEL: loop.kernel @k0 {
// AVX2-NOT: non_temporal
// AVX2: func.func @product
func.func @product(%x: tensor<72x512x64xf32>, %y: tensor<72x64x512xf32>) -> tensor<72x512x512xf32> {
  %0 = prim.dot %x, %y {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>} : (tensor<72x512x64xf32>, tensor<72x64x512xf32>) -> tensor<72x512x512xf32>
  return %0 : tensor<72x512x512xf32>
}

// -----

// Small matrices keep plain loops.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: block = array<i64: 0, 128, 128>, order = array<i64: 0, 1, 2>
// CHECK-LABEL: func.func @small
// AVX2-LABEL: func.func @small
func.func @small(%x: tensor<1x9000x12x16xf32>) -> tensor<1x9000x16x12xf32> {
  %0 = prim.transpose %x {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x9000x12x16xf32>) -> tensor<1x9000x16x12xf32>
  return %0 : tensor<1x9000x16x12xf32>
}

// -----

// Ragged rows end apart where masks are vectors.
// CHECK-LABEL: loop.kernel @k0
// CHECK-NOT: peel
// CHECK-LABEL: func.func @ragged
// AVX2-LABEL: loop.kernel @k0
// AVX2-SAME: peel = array<i64: 1>, tile = array<i64: 64, 64>
func.func @ragged(%x: tensor<1x3969x256xf32>) -> tensor<1x256x3969xf32> {
  %0 = prim.transpose %x {perm = array<i64: 0, 2, 1>} : (tensor<1x3969x256xf32>) -> tensor<1x256x3969xf32>
  return %0 : tensor<1x256x3969xf32>
}

// -----

// Results narrower than what they are computed in: lanes of two registers become one of results, where that is no instruction by itself.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: width = 16 : i64
// CHECK-LABEL: func.func @narrow
// AVX2-LABEL: loop.kernel @k0
// AVX2-SAME: unroll = array<i64: 1>, vector = 0 : i64, width = 16 : i64
// AVX2-LABEL: func.func @narrow
func.func @narrow(%x: tensor<4096xf32>) -> tensor<4096xi16> {
  %0 = prim.convert %x : (tensor<4096xf32>) -> tensor<4096xi16>
  return %0 : tensor<4096xi16>
}

// -----

// In short rows the mask at their end would cost more: it is made lane by lane.
// AVX2-LABEL: loop.kernel @k0
// AVX2-SAME: vector = 1 : i64, width = 8 : i64
// AVX2-LABEL: func.func @short_rows
// CHECK-LABEL: func.func @short_rows
func.func @short_rows(%x: tensor<64x40xf32>, %y: tensor<40xf32>) -> tensor<64x40xbf16> {
  %0 = prim.fusion %x, %y : (tensor<64x40xf32>, tensor<40xf32>) -> tensor<64x40xbf16> {
  ^bb0(%a: tensor<64x40xf32>, %b: tensor<40xf32>):
    %1 = prim.broadcast %b {dims = array<i64: 1>} : (tensor<40xf32>) -> tensor<64x40xf32>
    %2 = prim.add %a, %1 : tensor<64x40xf32>
    %3 = prim.convert %2 : (tensor<64x40xf32>) -> tensor<64x40xbf16>
    prim.yield %3 : tensor<64x40xbf16>
  }
  return %0 : tensor<64x40xbf16>
}

// -----

// A large copy whose result and operand have their rows in other orders goes in tiles, with runs of 1 KiB of both: 16 rows of 16 elements of
// the result, and of the operand.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {order = array<i64: 0, 1, 2>, tile = array<i64: 16, 16, 16>
// CHECK-LABEL: func.func @panels
// AVX2-LABEL: loop.kernel @k0
// AVX2-SAME: tile = array<i64: 16, 16, 16>
// AVX2-LABEL: func.func @panels
func.func @panels(%x: tensor<2048x64x16xf32>) -> tensor<64x2048x16xf32> {
  %0 = prim.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<2048x64x16xf32>) -> tensor<64x2048x16xf32>
  return %0 : tensor<64x2048x16xf32>
}

// -----

// Long rows need no tiles, and what is repeated is read in its order.
// CHECK-LABEL: loop.kernel
// CHECK-NOT: tile
// CHECK-LABEL: func.func @rows
// AVX2-LABEL: func.func @rows
func.func @rows(%x: tensor<300x200x160xf32>, %y: tensor<3000x16xf32>) -> (tensor<200x300x160xf32>, tensor<3000x60x16xf32>) {
  %0 = prim.transpose %x {perm = array<i64: 1, 0, 2>} : (tensor<300x200x160xf32>) -> tensor<200x300x160xf32>
  %1 = prim.broadcast %y {dims = array<i64: 0, 2>} : (tensor<3000x16xf32>) -> tensor<3000x60x16xf32>
  return %0, %1 : tensor<200x300x160xf32>, tensor<3000x60x16xf32>
}

// -----

// The vectors of a panel are so many that each load is used most: of 16 registers, two and six rows, of which three are under the window.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: unroll = array<i64: 1, 1, 3, 4>
// CHECK-LABEL: func.func @weight_gradient
// AVX2-LABEL: loop.kernel @k0
// AVX2-SAME: unroll = array<i64: 1, 2, 3, 2>
// AVX2-LABEL: func.func @weight_gradient
func.func @weight_gradient(%x: tensor<64x4x58x58xf32>, %g: tensor<4x56x56x64xf32>) -> tensor<64x64x3x3xf32> {
  %0 = prim.conv %x, %g {groups = 1 : i64, high = array<i64: 0, 0>, layout = "nc01,c01o->no01", lhs_dilation = array<i64: 1, 1>, low = array<i64: 0, 0>, rhs_dilation = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<64x4x58x58xf32>, tensor<4x56x56x64xf32>) -> tensor<64x64x3x3xf32>
  return %0 : tensor<64x64x3x3xf32>
}

// -----

// A running sum along rows of halves goes along them, as that of floats does: lanes across the rows would store each element by itself.
// CHECK-LABEL: loop.kernel @k0 {schedule = {order = array<i64: 0>
// CHECK-NOT: vector
// CHECK: scan = 1
func.func @running_sum_of_halves(%x: tensor<1000x1000xbf16>) -> tensor<1000x1000xbf16> {
  %0 = prim.scan %x {dim = 1 : i64, kind = "sum"} : tensor<1000x1000xbf16>
  return %0 : tensor<1000x1000xbf16>
}

// -----

// A strip of a segment's rows is summed in registers; rows of a table that no cache of a core holds are asked for ahead.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: unroll = array<i64: 1, 8>, vector = 1 : i64, width = 16 : i64
// CHECK: schedule = {prefetch_loads = 16 : i64}
// CHECK-LABEL: func.func @bags
// AVX2-LABEL: func.func @bags
func.func @bags(%table: tensor<100000x128xf32>, %index: tensor<3000xi64>, %begins: tensor<200xi64>, %ends: tensor<200xi64>) -> tensor<200x128xf32> {
  %0 = prim.fusion %table, %index, %begins, %ends : (tensor<100000x128xf32>, tensor<3000xi64>, tensor<200xi64>, tensor<200xi64>) -> tensor<200x128xf32> {
  ^bb0(%a: tensor<100000x128xf32>, %b: tensor<3000xi64>, %c: tensor<200xi64>, %d: tensor<200xi64>):
    %1 = prim.gather %a, %b {dims = array<i64: 0>} : (tensor<100000x128xf32>, tensor<3000xi64>) -> tensor<3000x128xf32>
    %2 = prim.segment_reduce %1, %c, %d {kind = "sum"} : (tensor<3000x128xf32>, tensor<200xi64>, tensor<200xi64>) -> tensor<200x128xf32>
    prim.yield %2 : tensor<200x128xf32>
  }
  return %0 : tensor<200x128xf32>
}

// -----

// Segments of one element in the mean are summed element by element.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {order = array<i64: 0>}
// CHECK-NOT: vector
// CHECK: segments
// CHECK-LABEL: func.func @short_segments
// AVX2-LABEL: func.func @short_segments
func.func @short_segments(%x: tensor<3000xf32>, %begins: tensor<2999xi64>, %ends: tensor<2999xi64>) -> tensor<2999xf32> {
  %0 = prim.segment_reduce %x, %begins, %ends {kind = "sum"} : (tensor<3000xf32>, tensor<2999xi64>, tensor<2999xi64>) -> tensor<2999xf32>
  return %0 : tensor<2999xf32>
}

// -----

// Rows and columns of an image are scalars for all of its six channels: lanes run along these, and not across rows.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: vector = 2 : i64, width = 8 : i64
// CHECK-LABEL: func.func @nearest
// AVX2-LABEL: func.func @nearest
func.func @nearest(%x: tensor<300x300x6xf32>) -> tensor<600x600x6xf32> {
  %0 = prim.fusion %x : (tensor<300x300x6xf32>) -> tensor<600x600x6xf32> {
  ^bb0(%a: tensor<300x300x6xf32>):
    %half = prim.constant {value = dense<0.5> : tensor<f32>} : tensor<f32>
    %halves = prim.broadcast %half {dims = array<i64>} : (tensor<f32>) -> tensor<600x600xf32>
    %i = prim.iota {dim = 0 : i64} : tensor<600x600xf32>
    %j = prim.iota {dim = 1 : i64} : tensor<600x600xf32>
    %1 = prim.mul %i, %halves : tensor<600x600xf32>
    %2 = prim.mul %j, %halves : tensor<600x600xf32>
    %3 = prim.floor %1 : tensor<600x600xf32>
    %4 = prim.floor %2 : tensor<600x600xf32>
    %5 = prim.convert %3 : (tensor<600x600xf32>) -> tensor<600x600xi64>
    %6 = prim.convert %4 : (tensor<600x600xf32>) -> tensor<600x600xi64>
    %7 = prim.gather %a, %5, %6 {dims = array<i64: 0, 1>} : (tensor<300x300x6xf32>, tensor<600x600xi64>, tensor<600x600xi64>) -> tensor<600x600x6xf32>
    prim.yield %7 : tensor<600x600x6xf32>
  }
  return %0 : tensor<600x600x6xf32>
}

// -----

// Pixels 4096 bytes apart all fall on the same line of the first-level cache, which keeps twelve of them: a block has seven, and not fourteen.
// CHECK-LABEL: loop.kernel @k1
// CHECK-SAME: unroll = array<i64: 1, 1, 14, 1, 1>, vector = 4 : i64, width = 16 : i64
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: unroll = array<i64: 1, 1, 7, 1, 1>, vector = 4 : i64, width = 16 : i64
// CHECK: func.func @crowded
// AVX2: func.func @crowded
func.func @crowded(%x: tensor<1x16x16x1024xf32>, %w: tensor<64x3x3x16x16xf32>, %y: tensor<1x16x16x1008xf32>, %v: tensor<63x3x3x16x16xf32>) -> (tensor<1x14x14x1024xf32>, tensor<1x14x14x1008xf32>) {
  %0 = prim.conv %x, %w {groups = 64 : i64, high = array<i64: 0, 0>, layout = "n01c,O01co->n01o", lhs_dilation = array<i64: 1, 1>, low = array<i64: 0, 0>, rhs_dilation = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x16x16x1024xf32>, tensor<64x3x3x16x16xf32>) -> tensor<1x14x14x1024xf32>
  %1 = prim.conv %y, %v {groups = 63 : i64, high = array<i64: 0, 0>, layout = "n01c,O01co->n01o", lhs_dilation = array<i64: 1, 1>, low = array<i64: 0, 0>, rhs_dilation = array<i64: 1, 1>, strides = array<i64: 1, 1>} : (tensor<1x16x16x1008xf32>, tensor<63x3x3x16x16xf32>) -> tensor<1x14x14x1008xf32>
  return %0, %1 : tensor<1x14x14x1024xf32>, tensor<1x14x14x1008xf32>
}

// -----

// Of a table only the rows that are read count: they and the result stay in the caches, and a result of all rows goes past them.
// CHECK-LABEL: loop.kernel @k1
// CHECK: non_temporal = true
// CHECK-LABEL: loop.kernel @k0
// CHECK-NOT: non_temporal
// CHECK: func.func @rows_of_a_table
// AVX2: func.func @rows_of_a_table
func.func @rows_of_a_table(%x: tensor<100000x320xf32>, %i: tensor<7000xi64>, %j: tensor<100000xi64>) -> (tensor<7000x320xf32>, tensor<100000x320xf32>) {
  %0 = prim.gather %x, %i {dims = array<i64: 0>} : (tensor<100000x320xf32>, tensor<7000xi64>) -> tensor<7000x320xf32>
  %1 = prim.gather %x, %j {dims = array<i64: 0>} : (tensor<100000x320xf32>, tensor<100000xi64>) -> tensor<100000x320xf32>
  return %0, %1 : tensor<7000x320xf32>, tensor<100000x320xf32>
}

// -----

// Bytes that lie in rows fill a register of 64 lanes, those of a transposed copy half of one. An operand that stays in a cache is read in any order,
// so that the loops have no tiles.
// CHECK-LABEL: loop.kernel @k1 {schedule = {order = array<i64: 0, 1>, tile = array<i64: 64, 64>, unroll = array<i64: 32, 1>, vector = 1 : i64, width = 32 : i64}
// CHECK-LABEL: loop.kernel @k0 {schedule = {order = array<i64: 0, 1, 2>, unroll = array<i64: 1, 1, 1>, vector = 2 : i64, width = 64 : i64}
// CHECK: func.func @bytes
// AVX2: func.func @bytes
func.func @bytes(%x: tensor<256x192xi8>, %y: tensor<1500x1280xi8>) -> (tensor<192x256x320xi8>, tensor<1280x1500xi8>) {
  %0 = prim.fusion %x : (tensor<256x192xi8>) -> tensor<192x256x320xi8> {
  ^bb0(%a: tensor<256x192xi8>):
    %2 = prim.broadcast %a {dims = array<i64: 1, 0>} : (tensor<256x192xi8>) -> tensor<192x256x320xi8>
    prim.yield %2 : tensor<192x256x320xi8>
  }
  %1 = prim.transpose %y {perm = array<i64: 1, 0>} : (tensor<1500x1280xi8>) -> tensor<1280x1500xi8>
  return %0, %1 : tensor<192x256x320xi8>, tensor<1280x1500xi8>
}

// -----

// Four rows side by side, whose sums wait for nothing but their own elements; longer rows have enough of them.
// CHECK: loop.kernel @k1 {schedule = {order = array<i64: 0>}
// CHECK: loop.kernel @k0 {schedule = {order = array<i64: 0>, unroll = array<i64: 4>}
// CHECK: func.func @rows_beside
func.func @rows_beside(%x: tensor<64x250xf32>, %y: tensor<64x512xf32>) -> (tensor<64x250xf32>, tensor<64x512xf32>) {
  %0 = prim.fusion %x : (tensor<64x250xf32>) -> tensor<64x250xf32> {
  ^bb0(%a: tensor<64x250xf32>):
    %s = prim.reduce %a {dims = array<i64: 1>, kind = "sum"} : (tensor<64x250xf32>) -> tensor<64xf32>
    %b = prim.broadcast %s {dims = array<i64: 0>} : (tensor<64xf32>) -> tensor<64x250xf32>
    %r = prim.sub %a, %b : tensor<64x250xf32>
    prim.yield %r : tensor<64x250xf32>
  }
  %1 = prim.fusion %y : (tensor<64x512xf32>) -> tensor<64x512xf32> {
  ^bb0(%a: tensor<64x512xf32>):
    %s = prim.reduce %a {dims = array<i64: 1>, kind = "sum"} : (tensor<64x512xf32>) -> tensor<64xf32>
    %b = prim.broadcast %s {dims = array<i64: 0>} : (tensor<64xf32>) -> tensor<64x512xf32>
    %r = prim.sub %a, %b : tensor<64x512xf32>
    prim.yield %r : tensor<64x512xf32>
  }
  return %0, %1 : tensor<64x250xf32>, tensor<64x512xf32>
}
