// Attention is one kernel, with a schedule that takes rows together.
// RUN: rs-opt %s --to=loop-scheduled | FileCheck %s
// What the interpreter makes of it does not change on the way.
// RUN: rs-opt %s --check-semantics=sets=2 --to=host | FileCheck %s --check-prefix=SAME
// The kernel gives the same with and without lanes, in the order of the program and as a stream.
// RUN: rs-run %s > %t.fused
// RUN: rs-run %s --skip schedule-cpu > %t.single && diff %t.fused %t.single
// RUN: rs-run %s --skip fuse-attention > %t.apart && diff %t.fused %t.apart

// So does a device, in one kernel: scores by contraction, the largest of a row and the sum of weights across sixteen lanes.
// RUN: rs-opt %s --target=cuda:sm_80 --to=gpu | FileCheck %s --check-prefix=DEVICE

// DEVICE: host.launch
// DEVICE-NOT: host.launch
// DEVICE-NOT: loop.kernel
// DEVICE: gpu.func
// DEVICE: gpu.barrier
// DEVICE: arith.mulf
// DEVICE-COUNT-4: gpu.shuffle
// DEVICE: @strata_math.exp.f32
// DEVICE: gpu.barrier

// CHECK: loop.kernel @k{{[0-9]+}} {schedule = {online = {block = 128 : i64, columns = 1 : i64, keys = 8 : i64, lines = 4 : i64, row = 1 : i64, rows = 32 : i64, width = 16 : i64}, order = array<i64: 0, 1>}
// CHECK: reducer = "sum", space = "tile"
// CHECK: reducer = "softmax_or_zero", space = "tile"
// SAME: checked [[N:[0-9]+]] of [[N]] passes

// Rounding the results hides the different order of additions.
func.func @main(%q: tensor<3x37x9xf32> {capture.kind = "input", capture.name = "q"},
                %k: tensor<3x?x9xf32> {capture.kind = "input", capture.name = "k"},
                %v: tensor<3x?x11xf32> {capture.kind = "input", capture.name = "v"},
                %m: tensor<37x1xi1> {capture.kind = "input", capture.name = "m"})
    -> (tensor<3x37x11xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %k {dim = 1 : i64, symbol = "n", min = 1 : i64, max = 4096 : i64} : (tensor<3x?x9xf32>) -> index
  capture.bind_dims %v, %n {shape = affine_map<()[s0] -> (3, s0, 11)>} : (tensor<3x?x11xf32>, index) -> ()
  %0 = aten.scaled_dot_product_attention %q, %k, %v, %m {segments = array<i64: 1, 1, 1, 1>} : (tensor<3x37x9xf32>, tensor<3x?x9xf32>, tensor<3x?x11xf32>, tensor<37x1xi1>) -> tensor<3x37x11xf32>
  %1 = aten.mul.Scalar %0 {other = 100.0 : f64} : (tensor<3x37x11xf32>) -> tensor<3x37x11xf32>
  %2 = aten.round %1 : (tensor<3x37x11xf32>) -> tensor<3x37x11xf32>
  return %2 : tensor<3x37x11xf32>
}
