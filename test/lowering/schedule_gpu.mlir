// RUN: rs-opt %s --prim-to-loop --schedule-gpu --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --prim-to-loop --schedule-gpu=numerics=strict --split-input-file | rs-filecheck %s --check-prefix=STRICT
// RUN: rs-opt %s --prim-to-loop --schedule-gpu=numerics=fast --split-input-file | rs-filecheck %s --check-prefix=FAST

// Each thread has neighbours that fill 16 bytes.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {threads = 256 : i64, vector = 0 : i64, width = 4 : i64}
func.func @map(%x: tensor<100000xf32>) -> tensor<100000xf32> {
  %0 = prim.sin %x : tensor<100000xf32>
  return %0 : tensor<100000xf32>
}

// -----

// Short elements come in larger numbers, and where there are few points each thread has one.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {threads = 256 : i64, vector = 0 : i64, width = 8 : i64}
func.func @short(%x: tensor<1000x1000xbf16>) -> tensor<1000x1000xbf16> {
  %0 = prim.neg %x : tensor<1000x1000xbf16>
  return %0 : tensor<1000x1000xbf16>
}

// -----

// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {threads = 256 : i64}
func.func @few(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = prim.sin %x : tensor<1000xf32>
  return %0 : tensor<1000xf32>
}

// -----

// Rows that are not whole numbers of neighbours are read one by one.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {threads = 256 : i64}
func.func @odd(%y: tensor<999xf32>) -> tensor<1000x999xf32> {
  %0 = prim.broadcast %y {dims = array<i64: 1>} : (tensor<999xf32>) -> tensor<1000x999xf32>
  return %0 : tensor<1000x999xf32>
}

// -----

// So is what goes along a row from another place than its beginning.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {threads = 256 : i64}
func.func @pad(%x: tensor<100000xf32>) -> tensor<100004xf32> {
  %z = prim.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
  %0 = prim.pad %x, %z {low = array<i64: 1>, high = array<i64: 3>, interior = array<i64: 0>} : (tensor<100000xf32>, tensor<f32>) -> tensor<100004xf32>
  return %0 : tensor<100004xf32>
}

// -----

// A transpose has a tile, whose operand lies along the other dim.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {tile = array<i64: 32, 32>, transpose = 0 : i64, unroll = array<i64: 4, 1>}
func.func @transpose(%x: tensor<300x200xf32>) -> tensor<200x300xf32> {
  %0 = prim.transpose %x {perm = array<i64: 1, 0>} : (tensor<300x200xf32>) -> tensor<200x300xf32>
  return %0 : tensor<200x300xf32>
}

// -----

// Short rows are not worth it.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {threads = 256 : i64}
func.func @narrow(%x: tensor<30000x8xf32>) -> tensor<8x30000xf32> {
  %0 = prim.transpose %x {perm = array<i64: 1, 0>} : (tensor<30000x8xf32>) -> tensor<8x30000xf32>
  return %0 : tensor<8x30000xf32>
}

// -----

// Past a tile of rows keys stream in blocks; a thread has four rows by four columns of the result.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {online = {block = 64 : i64, columns = 4 : i64, keys = 4 : i64, lines = 4 : i64, row = 1 : i64, rows = 32 : i64, width = 1 : i64}, order = array<i64: 0, 1>, step = 16 : i64}
func.func @attention(%s: tensor<2x128x256xf32>, %v: tensor<2x256x64xf32>) -> tensor<2x128x64xf32> {
  %0 = prim.softmax_dot %s, %v {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>, empty = "nan"}
      : (tensor<2x128x256xf32>, tensor<2x256x64xf32>) -> tensor<2x128x64xf32>
  return %0 : tensor<2x128x64xf32>
}

// -----

// Of halves by matrix units: four warps of sixteen rows.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {matrix_units = true, online = {block = 64 : i64, columns = 16 : i64, keys = 16 : i64, lines = 2 : i64, row = 1 : i64, rows = 64 : i64, width = 1 : i64}, order = array<i64: 0, 1>, step = 32 : i64}
// STRICT: online = {block = 64 : i64, columns = 4 : i64, keys = 4 : i64, lines = 4 : i64, row = 1 : i64, rows = 32 : i64, width = 1 : i64}
func.func @attention_of_halves(%q: tensor<2x128x64xf16>, %k: tensor<2x256x64xf16>, %v: tensor<2x256x64xf16>) -> tensor<2x128x64xf32> {
  %r = prim.fusion %q, %k, %v : (tensor<2x128x64xf16>, tensor<2x256x64xf16>, tensor<2x256x64xf16>) -> tensor<2x128x64xf32> {
  ^bb0(%a: tensor<2x128x64xf16>, %b: tensor<2x256x64xf16>, %c: tensor<2x256x64xf16>):
    %0 = prim.dot %a, %b {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 2>}
        : (tensor<2x128x64xf16>, tensor<2x256x64xf16>) -> tensor<2x128x256xf32>
    %1 = prim.convert %c : (tensor<2x256x64xf16>) -> tensor<2x256x64xf32>
    %2 = prim.softmax_dot %0, %1 {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>, empty = "nan"}
        : (tensor<2x128x256xf32>, tensor<2x256x64xf32>) -> tensor<2x128x64xf32>
    prim.yield %2 : tensor<2x128x64xf32>
  }
  return %r : tensor<2x128x64xf32>
}

// -----

// More columns than a thread has registers for: each thread has a row to itself.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {order = array<i64: 0, 1>, threads = 64 : i64}
func.func @columns(%s: tensor<2x128x256xf32>, %v: tensor<2x256x600xf32>) -> tensor<2x128x600xf32> {
  %0 = prim.softmax_dot %s, %v {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 1>, empty = "nan"}
      : (tensor<2x128x256xf32>, tensor<2x256x600xf32>) -> tensor<2x128x600xf32>
  return %0 : tensor<2x128x600xf32>
}

// -----

// Columns are summed by a thread each: neighbouring threads read neighbours.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {threads = 256 : i64}
func.func @sums_of_columns(%x: tensor<512x8192xf32>) -> tensor<8192xf32> {
  %0 = prim.reduce %x {dims = array<i64: 0>, kind = "sum"} : (tensor<512x8192xf32>) -> tensor<8192xf32>
  return %0 : tensor<8192xf32>
}

// -----

// What adds up in places that are computed is any thread's; with strict numerics, where an order counts, one thread's.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {threads = 256 : i64}
// CHECK: loop.scatter {{.*}}schedule = {atomic = true, share = array<i64: 1>}
// STRICT: loop.scatter {{.*}}schedule = {atomic = false, share = array<i64>}
func.func @add(%x: tensor<5000xf32>, %u: tensor<3000xf32>, %i: tensor<3000xi64>) -> tensor<5000xf32> {
  %0 = prim.scatter %x, %u, %i {dims = array<i64: 0>, kind = "add"} : (tensor<5000xf32>, tensor<3000xf32>, tensor<3000xi64>) -> tensor<5000xf32>
  return %0 : tensor<5000xf32>
}

// -----

// What replaces is shared along dims that are indices themselves; so is what adds up where these are enough.
// CHECK-LABEL: loop.kernel @k0
// CHECK: loop.scatter {{.*}}schedule = {atomic = false, share = array<i64: 1>}
func.func @set(%x: tensor<50x640xf32>, %u: tensor<300x640xf32>, %i: tensor<300xi64>) -> tensor<50x640xf32> {
  %0 = prim.scatter %x, %u, %i {dims = array<i64: 0>, kind = "set"} : (tensor<50x640xf32>, tensor<300x640xf32>, tensor<300xi64>) -> tensor<50x640xf32>
  return %0 : tensor<50x640xf32>
}

// -----

// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {threads = 256 : i64, vector = 2 : i64, width = 4 : i64}
// CHECK: loop.scatter {{.*}}schedule = {atomic = false, share = array<i64: 1, 2>}
func.func @wide_add(%x: tensor<50x64x640xf32>, %u: tensor<300x64x640xf32>, %i: tensor<300xi64>) -> tensor<50x64x640xf32> {
  %0 = prim.scatter %x, %u, %i {dims = array<i64: 0>, kind = "add"} : (tensor<50x64x640xf32>, tensor<300x64x640xf32>, tensor<300xi64>) -> tensor<50x64x640xf32>
  return %0 : tensor<50x64x640xf32>
}

// -----

// A running sum is shared, too, where it need not keep an order.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {cooperate = 256 : i64, threads = 256 : i64}
// CHECK: scan = 1 : i64, schedule = {unroll = 4 : i64, vector = 1 : i64}
// STRICT-LABEL: loop.kernel @k0 {schedule = {threads = 32 : i64}
// STRICT: func.func @running_sum
func.func @running_sum(%x: tensor<8x4096xf32>) -> tensor<8x4096xf32> {
  %0 = prim.scan %x {dim = 1 : i64, kind = "sum"} : (tensor<8x4096xf32>) -> tensor<8x4096xf32>
  return %0 : tensor<8x4096xf32>
}

// -----

// The threads of a block share a row, four neighbours each.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {cooperate = 128 : i64, threads = 128 : i64}
// CHECK: loop.stage {{.*}}schedule = {unroll = 4 : i64, vector = 1 : i64}
func.func @rows(%x: tensor<64x512xf32>) -> tensor<64xf32> {
  %0 = prim.reduce %x {dims = array<i64: 1>, kind = "sum"} : (tensor<64x512xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// Across rows it is one thread's, where there are enough columns.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {threads = 256 : i64}
func.func @scan(%x: tensor<64x8192xf32>) -> tensor<64x8192xf32> {
  %0 = prim.scan %x {dim = 0 : i64, kind = "sum"} : tensor<64x8192xf32>
  return %0 : tensor<64x8192xf32>
}

// -----

// A contraction has tiles of the dims that move one operand and not the other, and steps of the reduced one.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: schedule = {along = 2 : i64, step = 16 : i64, tile = array<i64: 64, 32>, unroll = array<i64: 4, 2>}
func.func @dot(%x: tensor<100x300xf32>, %y: tensor<300x40xf32>) -> tensor<100x40xf32> {
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<100x300xf32>, tensor<300x40xf32>) -> tensor<100x40xf32>
  return %0 : tensor<100x40xf32>
}

// -----

// Products of f32 go to matrix units only where numerics is fast.
// CHECK: loop.kernel @k0 {schedule = {along = 2 : i64, step = 16 : i64, tile = array<i64: 64, 64>, unroll = array<i64: 4, 4>}
// FAST: loop.kernel @k0 {schedule = {along = 2 : i64, step = 16 : i64, tile = array<i64: 64, 64>, warps = array<i64: 2, 2>}
// FAST: func.func @singles
func.func @singles(%x: tensor<256x512xf32>, %y: tensor<512x384xf32>) -> tensor<256x384xf32> {
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
      : (tensor<256x512xf32>, tensor<512x384xf32>) -> tensor<256x384xf32>
  return %0 : tensor<256x384xf32>
}

// -----

// Products of short floats go to matrix units: warps share the tile.
// CHECK: loop.kernel @k0 {schedule = {along = 2 : i64, step = 32 : i64, tile = array<i64: 64, 64>, warps = array<i64: 2, 2>}
func.func @main(%x: tensor<256x512xbf16>, %y: tensor<512x384xbf16>) -> tensor<256x384xbf16> attributes {capture.entry} {
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
      : (tensor<256x512xbf16>, tensor<512x384xbf16>) -> tensor<256x384xbf16>
  return %0 : tensor<256x384xbf16>
}

// -----

// A product with itself brings one operand only: no matrix units.
// CHECK-NOT: warps
func.func @main(%x: tensor<256x256xbf16>) -> tensor<256x256xbf16> attributes {capture.entry} {
  %0 = prim.dot %x, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
      : (tensor<256x256xbf16>, tensor<256x256xbf16>) -> tensor<256x256xbf16>
  return %0 : tensor<256x256xbf16>
}
