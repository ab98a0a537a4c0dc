// Segments whose bounds memory tells: empty ones, ones that reach outside, of several dims, rows that lanes run along, short ones and long ones. On the
// CPU, in the interpreter, on the emulated device, without a schedule and without fusion: one result.
// RUN: rs-run %s --inputs=%S/Inputs/segment_reduce.safetensors > %t.fast && FileCheck %s < %t.fast
// RUN: rs-run %s --inputs=%S/Inputs/segment_reduce.safetensors --backend=interp > %t.interp && diff %t.fast %t.interp
// RUN: rs-run %s --inputs=%S/Inputs/segment_reduce.safetensors --backend=cuda-emulated > %t.device && diff %t.fast %t.device
// RUN: rs-run %s --inputs=%S/Inputs/segment_reduce.safetensors --skip schedule-cpu > %t.plain && diff %t.fast %t.plain
// RUN: rs-run %s --inputs=%S/Inputs/segment_reduce.safetensors --skip fuse-reductions > %t.apart && diff %t.fast %t.apart
// RUN: rs-opt %s --check-semantics --to=host | FileCheck %s --check-prefix=EACH
// EACH: checked [[N:[0-9]+]] of [[N]] passes

// The second segment is empty, the first begins before there is anything, and the last ends behind it.
// CHECK: output out0: i32[5] = [3, 0, 7, 5, 6]
// CHECK: output out1: i32[5] = [2, -2147483648, 4, 5, 6]
func.func @main(%x: tensor<50x70xi32> {capture.kind = "input", capture.name = "x"},
                %table: tensor<60x70xf16> {capture.kind = "input", capture.name = "table"},
                %batch: tensor<3x300xi32> {capture.kind = "input", capture.name = "batch"},
                %n: tensor<?x20xi32> {capture.kind = "input", capture.name = "n"})
    -> (tensor<5xi32> {capture.kind = "output"}, tensor<5xi32> {capture.kind = "output"}, tensor<4x70xi32> {capture.kind = "output"},
        tensor<4x70xf32> {capture.kind = "output"}, tensor<3x4xi32> {capture.kind = "output"}, tensor<4x20xi32> {capture.kind = "output"}) attributes {capture.entry} {
  %few = prim.constant {value = dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>} : tensor<6xi32>
  %first = prim.constant {value = dense<[-3, 2, 2, 4, 5]> : tensor<5xi64>} : tensor<5xi64>
  %behind = prim.constant {value = dense<[2, 2, 4, 5, 9]> : tensor<5xi64>} : tensor<5xi64>
  %0 = prim.segment_reduce %few, %first, %behind {kind = "sum"} : (tensor<6xi32>, tensor<5xi64>, tensor<5xi64>) -> tensor<5xi32>
  %1 = prim.segment_reduce %few, %first, %behind {kind = "max"} : (tensor<6xi32>, tensor<5xi64>, tensor<5xi64>) -> tensor<5xi32>

  // Rows, with work before and behind.
  %begins = prim.constant {value = dense<[0, 1, 17, 17]> : tensor<4xi32>} : tensor<4xi32>
  %ends = prim.constant {value = dense<[1, 17, 17, 48]> : tensor<4xi32>} : tensor<4xi32>
  %squares = prim.mul %x, %x : tensor<50x70xi32>
  %sums = prim.segment_reduce %squares, %begins, %ends {kind = "xor"} : (tensor<50x70xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4x70xi32>
  %2 = prim.neg %sums : tensor<4x70xi32>

  // Rows that memory names: the largest of each bag.
  %seven = prim.constant {value = dense<7> : tensor<i64>} : tensor<i64>
  %sixty = prim.constant {value = dense<60> : tensor<i64>} : tensor<i64>
  %sevens = prim.broadcast %seven {dims = array<i64>} : (tensor<i64>) -> tensor<50xi64>
  %rows = prim.broadcast %sixty {dims = array<i64>} : (tensor<i64>) -> tensor<50xi64>
  %place = prim.iota {dim = 0 : i64} : tensor<50xi64>
  %far = prim.mul %place, %sevens : tensor<50xi64>
  %index = prim.rem %far, %rows : tensor<50xi64>
  %gathered = prim.gather %table, %index {dims = array<i64: 0>} : (tensor<60x70xf16>, tensor<50xi64>) -> tensor<50x70xf16>
  %wide = prim.convert %gathered : (tensor<50x70xf16>) -> tensor<50x70xf32>
  %3 = prim.segment_reduce %wide, %begins, %ends {kind = "max"} : (tensor<50x70xf32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4x70xf32>

  // Long segments of each row of a batch.
  %starts = prim.constant {value = dense<[[0, 100, 100, 299], [5, 6, 70, 200], [0, 0, 0, 0]]> : tensor<3x4xi64>} : tensor<3x4xi64>
  %stops = prim.constant {value = dense<[[100, 100, 299, 300], [6, 70, 199, 290], [0, 0, 0, 300]]> : tensor<3x4xi64>} : tensor<3x4xi64>
  %4 = prim.segment_reduce %batch, %starts, %stops {kind = "sum"} : (tensor<3x300xi32>, tensor<3x4xi64>, tensor<3x4xi64>) -> tensor<3x4xi32>

  // A size that only the call knows.
  %size = capture.dim %n {dim = 0 : i64, symbol = "s", min = 0 : i64, max = 1000 : i64} : (tensor<?x20xi32>) -> index
  %5 = prim.segment_reduce %n, %begins, %ends {kind = "sum"} : (tensor<?x20xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4x20xi32>
  return %0, %1, %2, %3, %4, %5 : tensor<5xi32>, tensor<5xi32>, tensor<4x70xi32>, tensor<4x70xf32>, tensor<3x4xi32>, tensor<4x20xi32>
}
