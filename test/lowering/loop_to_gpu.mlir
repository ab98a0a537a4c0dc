// RUN: rs-opt %s --prim-to-loop --schedule-gpu --loop-to-host --loop-to-gpu --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --prim-to-loop --split-reductions=device --schedule-gpu --loop-to-host --loop-to-gpu --split-input-file | rs-filecheck %s --check-prefix=CUT
// RUN: rs-opt %s --prim-to-loop --schedule-gpu=numerics=fast --loop-to-host --loop-to-gpu --split-input-file | rs-filecheck %s --check-prefix=FAST

// A grid of blocks whose number follows from the symbols; threads beyond the last point do nothing. Neighbours come and go together
// where all of them are there.
// CHECK: #[[GRID:.*]] = affine_map<()[s0, s1, s2] -> ((s0 ceildiv 4) ceildiv 256)>
// CHECK: host.launch {{.*}}callee = @k0
// CHECK: gpu.module @device
// CHECK: gpu.func @k0({{.*}}) kernel attributes {host.grid = #[[GRID]], host.symbols = array<i64: 0, 2, 3>, known_block_size = array<i32: 256, 1, 1>}
// CHECK: gpu.block_id  x
// CHECK: gpu.thread_id  x
// CHECK: arith.cmpi ult
// CHECK: scf.if
// CHECK: arith.cmpi ule
// CHECK: scf.if
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
// CHECK-COUNT-4: math.sqrt
// CHECK: llvm.store {{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr
// CHECK: else
// CHECK: scf.for
// CHECK: llvm.load {{.*}} {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK: math.sqrt
// CHECK: llvm.store
// CHECK-NOT: loop.kernel
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> attributes {capture.entry} {
  %0 = prim.sqrt %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// A row is summed by all threads of a block: in turns, across lanes, across warps; one of them stores.
// CHECK: llvm.mlir.global internal @k0.shared() {addr_space = 3
// CHECK: gpu.func @k0
// CHECK: scf.for {{.*}} = %{{.*}} to %{{.*}} step
// CHECK-COUNT-5: gpu.shuffle
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: scf.if
// CHECK-NEXT: arith
// CHECK: llvm.store
func.func @main(%x: tensor<64x512xf32>) -> tensor<64xf32> attributes {capture.entry} {
  %0 = prim.reduce %x {dims = array<i64: 1>, kind = "sum"} : (tensor<64x512xf32>) -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// A contraction: between two barriers the operands' parts come to shared memory, then each thread has sixteen sums.
// CHECK: llvm.mlir.global internal @k0.shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<8512 x i8>
// CHECK: gpu.func @k0
// CHECK: %[[SUMS:.*]]:16 = scf.for
// CHECK: gpu.barrier
// What a thread copies next lies a constant behind what it copied before: all divide the thread's own number.
// CHECK-COUNT-16: arith.floordivsi %thread_id_x,
// CHECK: llvm.load
// CHECK: llvm.store
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-COUNT-16: arith.mulf
// Where numerics is fast, by matrix units: 8 elements of the reduced dim at a time, each rounded to what a unit sees.
// FAST: nvvm.cp.async.shared.global
// FAST: llvm.load {{.*}} -> f32
// FAST: arith.bitcast {{.*}} : f32 to i32
// FAST: arith.andi
// FAST-COUNT-16: nvvm.mma.sync {{.*}}multiplicandAPtxType = #nvvm.mma_type<tf32>, {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 8>} : (i32, i32, f32)
// FAST-NOT: nvvm.mma.sync
// FAST: gpu.return
func.func @main(%x: tensor<128x64xf32>, %y: tensor<64x128xf32>) -> tensor<128x128xf32> attributes {capture.entry} {
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<128x64xf32>, tensor<64x128xf32>) -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

// What is the same tensor twice has no part in shared memory: it is read where it is, and where the tiles go beyond the last row, the last
// row instead.
// CHECK: gpu.func @k0
// CHECK-COUNT-32: arith.minsi %{{.*}}, %c69
// CHECK: scf.for
func.func @main(%x: tensor<70x70xf32>) -> tensor<70x70xf32> attributes {capture.entry} {
  %0 = prim.dot %x, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<70x70xf32>, tensor<70x70xf32>) -> tensor<70x70xf32>
  return %0 : tensor<70x70xf32>
}

// -----

// What moves along all dims of the tile has no part there either: it is read once, and would not fit.
// CHECK: llvm.mlir.global internal @k0.shared() {{.*}} : !llvm.array<4352 x i8>
// CHECK: gpu.func @k0
func.func @main(%x: tensor<128x16x64xf32>, %y: tensor<128x16xf32>, %z: tensor<64xf32>) -> tensor<128x64xf32> attributes {capture.entry} {
  %r = prim.fusion %x, %y, %z : (tensor<128x16x64xf32>, tensor<128x16xf32>, tensor<64xf32>) -> tensor<128x64xf32> {
  ^bb0(%a: tensor<128x16x64xf32>, %b: tensor<128x16xf32>, %c: tensor<64xf32>):
    %0 = prim.broadcast %b {dims = array<i64: 0, 1>} : (tensor<128x16xf32>) -> tensor<128x16x64xf32>
    %1 = prim.mul %a, %0 : tensor<128x16x64xf32>
    %2 = prim.broadcast %c {dims = array<i64: 2>} : (tensor<64xf32>) -> tensor<128x16x64xf32>
    %3 = prim.add %1, %2 : tensor<128x16x64xf32>
    %4 = prim.reduce %3 {dims = array<i64: 1>, kind = "sum"} : (tensor<128x16x64xf32>) -> tensor<128x64xf32>
    prim.yield %4 : tensor<128x64xf32>
  }
  return %r : tensor<128x64xf32>
}

// -----

// Large angles are reduced by our own code, as there is no library.
// CHECK: llvm.mlir.global internal constant @strata_math.digits
// CHECK: call @strata_math.sin.f32
// CHECK: func.func private @strata_math.far.sin.f32
// CHECK: arith.mului_extended
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> attributes {capture.entry} {
  %0 = prim.sin %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// Matrix units: a warp has 32 by 32 sums, which are two by four units for each 16 elements of the reduced dim. While they work on one
// step the next one is on its way; one barrier says that it is there for all, and that nobody works on the one before.
// CHECK: known_block_size = array<i32: 128, 1, 1>
// CHECK: gpu.barrier
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache = cg
// CHECK: nvvm.cp.async.commit.group
// CHECK: %{{.*}}:32 = scf.for
// CHECK-NEXT: nvvm.cp.async.wait.group 0
// CHECK-NEXT: gpu.barrier
// CHECK: scf.if
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK-NOT: gpu.barrier
// CHECK: nvvm.ldmatrix %{{.*}} {{.*}}layout = #nvvm.mma_layout<row>
// CHECK: nvvm.ldmatrix %{{.*}} {{.*}}layout = #nvvm.mma_layout<col>
// CHECK-COUNT-16: nvvm.mma.sync A[{{.*}}] B[{{.*}}] C[{{.*}}] {layoutA = #nvvm.mma_layout<row>, {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (vector<2xf16>, vector<2xf16>, f32)
// CHECK-NOT: nvvm.mma.sync
func.func @main(%x: tensor<256x512xf16>, %y: tensor<512x384xf16>) -> tensor<256x384xf16> attributes {capture.entry} {
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>}
      : (tensor<256x512xf16>, tensor<512x384xf16>) -> tensor<256x384xf16>
  return %0 : tensor<256x384xf16>
}

// -----

// Rows whose length is known at run time only are asked whether they are whole, once: a remainder of the number of columns.
// CHECK: gpu.func @k0
// CHECK: arith.floordivsi {{.*}} : index
// CHECK: arith.cmpi eq
// CHECK: scf.if
// CHECK-COUNT-2: llvm.load {{.*}} -> vector<4xf32>
// CHECK: llvm.store {{.*}} : vector<4xf32>, !llvm.ptr
// Where they are not, the threads of a block stand side by side: a thread's next point is 256 further.
// CHECK: else
// CHECK: scf.for {{.*}} to %c1024 step %c256
func.func @main(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {capture.entry} {
  %m = capture.dim %x {dim = 0 : i64, symbol = "m", min = 1 : i64, max = 4096 : i64} : (tensor<?x?xf32>) -> index
  %n = capture.dim %x {dim = 1 : i64, symbol = "n", min = 1 : i64, max = 4096 : i64} : (tensor<?x?xf32>) -> index
  capture.bind_dims %y, %m, %n {shape = affine_map<()[s0, s1] -> (s0, s1)>} : (tensor<?x?xf32>, index, index) -> ()
  %0 = prim.add %x, %y : tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----

// A transpose: rows of the operand come to shared memory, whose rows are one element longer; then rows of the result go.
// CHECK: llvm.mlir.global internal @k0.shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4224 x i8>
// CHECK: gpu.func @k0
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK-COUNT-4: llvm.store
// CHECK: gpu.barrier
// CHECK-COUNT-4: llvm.store
// CHECK-NOT: llvm.store
func.func @main(%x: tensor<64x128xf32>) -> tensor<128x64xf32> attributes {capture.entry} {
  %0 = prim.transpose %x {perm = array<i64: 1, 0>} : (tensor<64x128xf32>) -> tensor<128x64xf32>
  return %0 : tensor<128x64xf32>
}

// -----

// A scatter begins when all threads are done with the copy that it writes into: two functions, one launch after the other. Each thread adds
// one element.
// CHECK: host.launch {{.*}}callee = @k0_0
// CHECK: host.launch {{.*}}callee = @k0,
// CHECK: gpu.func @k0_0
// CHECK-NOT: atomic
// CHECK: llvm.store
// CHECK: gpu.func @k0(
// CHECK-NOT: scf.for
// CHECK: llvm.atomicrmw fadd %{{.*}}, %{{.*}} syncscope("device") monotonic {alignment = 4 : i64} : !llvm.ptr, f32
func.func @main(%x: tensor<5000xf32>, %u: tensor<3000xf32>, %i: tensor<3000xi64>) -> tensor<5000xf32> attributes {capture.entry} {
  %0 = prim.scatter %x, %u, %i {dims = array<i64: 0>, kind = "add"} : (tensor<5000xf32>, tensor<3000xf32>, tensor<3000xi64>) -> tensor<5000xf32>
  return %0 : tensor<5000xf32>
}

// -----

// A running sum, 1024 elements at a time: lanes, then warps, take what those before them have found.
// CHECK: gpu.func @k0(
// CHECK: scf.for {{.*}} step %c1024{{.*}} iter_args(
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK-COUNT-5: gpu.shuffle
// CHECK-NOT: gpu.shuffle
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: llvm.store {{.*}} : vector<4xf32>
func.func @main(%x: tensor<8x4096xf32>) -> tensor<8x4096xf32> attributes {capture.entry} {
  %0 = prim.scan %x {dim = 1 : i64, kind = "sum"} : (tensor<8x4096xf32>) -> tensor<8x4096xf32>
  return %0 : tensor<8x4096xf32>
}

// -----

// Attention of halves: the values of a block are on their way while units make the scores; the weights go from register to register, as halves and
// what these leave out.
// CHECK: gpu.func @k0
// CHECK: scf.for
// CHECK: gpu.barrier
// CHECK: nvvm.cp.async.shared.global
// CHECK: nvvm.cp.async.commit.group
// CHECK: scf.for
// CHECK-COUNT-16: nvvm.mma.sync
// CHECK: scf.yield
// CHECK: gpu.shuffle
// CHECK: math.exp
// CHECK-NOT: llvm.store
// CHECK: nvvm.cp.async.wait.group 0
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK-COUNT-64: nvvm.mma.sync
// CHECK-NOT: nvvm.mma.sync
// CHECK: llvm.store
func.func @main(%q: tensor<2x128x64xf16>, %k: tensor<2x256x64xf16>, %v: tensor<2x256x64xf16>) -> tensor<2x128x64xf32> attributes {capture.entry} {
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

// Pieces of a long row: blocks count themselves when what they wrote is to be seen, and the last one combines the pieces.
// CUT: #[[BLOCKS:.*]] = affine_map<()[s0, s1] -> (s0 floordiv 8192 + 1)>
// CUT: gpu.func @k0_0({{.*}}) kernel attributes {host.grid = #[[BLOCKS]]
// CUT: gpu.block_id
// CUT: llvm.mlir.addressof @k0_0.last
// CUT: gpu.barrier
// CUT: scf.if
// CUT-NEXT: llvm.fence syncscope("device") acq_rel
// CUT-NEXT: llvm.atomicrmw uinc_wrap
// CUT-NEXT: llvm.fence syncscope("device") acq_rel
// CUT-NEXT: llvm.store
// CUT: gpu.barrier
// CUT: scf.if
// CUT: llvm.load
// CUT: gpu.shuffle
// CUT: math.sqrt
// CUT: gpu.return
// CUT-NOT: gpu.func
func.func @main(%x: tensor<?xf32>) -> tensor<f32> attributes {capture.entry} {
  %r = prim.fusion %x : (tensor<?xf32>) -> tensor<f32> {
  ^bb0(%a: tensor<?xf32>):
    %0 = prim.reduce %a {dims = array<i64: 0>, kind = "sum"} : (tensor<?xf32>) -> tensor<f32>
    %1 = prim.sqrt %0 : tensor<f32>
    prim.yield %1 : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----

// A kernel with a function that the device does not have stays the host's.
// CHECK: loop.kernel @k0
// CHECK: loop.libm
// CHECK-NOT: gpu.module
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> attributes {capture.entry} {
  %0 = prim.lgamma %x : tensor<16xf32>
  return %0 : tensor<16xf32>
}
