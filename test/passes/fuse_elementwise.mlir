// RUN: rs-opt %s --fuse-elementwise="remarks=true" --split-input-file --verify-diagnostics | FileCheck %s

// A chain is one kernel; constants and broadcasts are part of it.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:.*]]: tensor<?x16xf32>, %[[N:.*]]: index)
// CHECK-NEXT: %[[F:.*]] = prim.fusion %[[X]], %[[N]] : (tensor<?x16xf32>, index) -> tensor<?x16xf32>
// CHECK-NEXT: ^bb0
// CHECK-DAG: prim.sin
// CHECK-DAG: prim.constant
// CHECK-DAG: prim.broadcast
// CHECK: prim.mul
// CHECK-NEXT: prim.exp
// CHECK-NEXT: prim.yield
// CHECK: return %[[F]]
func.func @chain(%x: tensor<?x16xf32>, %n: index) -> tensor<?x16xf32> {
  %c = prim.constant {value = dense<1.5> : tensor<f32>} : () -> tensor<f32>
  %b = prim.broadcast %c, %n {dims = array<i64>} : (tensor<f32>, index) -> tensor<?x16xf32>
  %0 = prim.sin %x : (tensor<?x16xf32>) -> tensor<?x16xf32>
  %1 = prim.mul %0, %b : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  %2 = prim.exp %1 : (tensor<?x16xf32>) -> tensor<?x16xf32>
  return %2 : tensor<?x16xf32>
}

// -----

// A value that others use as well is a second result.
// CHECK-LABEL: func.func @two_results(
// CHECK: %[[F:.*]]:2 = prim.fusion
// CHECK: prim.yield %[[SIN:.*]], %[[NEG:.*]] :
// CHECK: return %[[F]]#0, %[[F]]#1
func.func @two_results(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = prim.sin %x : (tensor<?xf32>) -> tensor<?xf32>
  %1 = prim.neg %0 : (tensor<?xf32>) -> tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}

// -----

// The branches of an `scf.if` are fused on their own, with copies of the constants that stand before them.
// CHECK-LABEL: func.func @branches(
// CHECK-NOT: prim.constant
// CHECK: scf.if
// CHECK: prim.fusion
// CHECK: prim.sin
// CHECK: prim.constant
// CHECK: prim.broadcast
// CHECK: prim.mul
// CHECK: } else {
func.func @branches(%p: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  %c = prim.constant {value = dense<1.5> : tensor<f32>} : () -> tensor<f32>
  %b = prim.broadcast %c {dims = array<i64>} : (tensor<f32>) -> tensor<4xf32>
  %0 = scf.if %p -> tensor<4xf32> {
    %1 = prim.sin %x : (tensor<4xf32>) -> tensor<4xf32>
    %2 = prim.mul %1, %b : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// Each reader has its own copy of a view, so one transpose is read by two kernels and written by none.
// CHECK-LABEL: func.func @shared_view(
// CHECK-NOT: = prim.transpose
// CHECK: prim.fusion
// CHECK: prim.transpose
// CHECK: prim.sort
// CHECK: prim.fusion
// CHECK: prim.transpose
func.func @shared_view(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %t = prim.transpose %x {perm = array<i64: 1, 0>} : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %0 = prim.add %t, %y : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %s, %i = prim.sort %0 {dim = 0 : i64, descending = false} : (tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xi64>)
  %1 = prim.mul %t, %s : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// -----

// Expensive work is not repeated along a broadcast; cheap work is.
// CHECK-LABEL: func.func @repeated(
// CHECK: %[[E:.*]] = prim.exp
// CHECK: prim.fusion %[[E]]
func.func @repeated(%x: tensor<8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = prim.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  // expected-remark @+1 {{'prim.exp' is not fused into 'prim.broadcast': profit: 'prim.exp' is expensive and would be computed again for every repeated element}}
  %1 = prim.broadcast %0 {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
  %2 = prim.mul %1, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @repeated_cheap(
// CHECK-NEXT: prim.fusion
// CHECK: prim.neg
// CHECK: prim.broadcast
// CHECK: prim.mul
func.func @repeated_cheap(%x: tensor<8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = prim.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = prim.broadcast %0 {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
  %2 = prim.mul %1, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @cycle(
// CHECK-NOT: prim.fusion
func.func @cycle(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = prim.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  %s, %i = prim.sort %0 {dim = 0 : i64, descending = false} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi64>)
  // expected-remark @+1 {{legality: an op outside of both depends on the one and feeds the other}}
  %1 = prim.add %0, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @output_shape(
// CHECK: prim.neg
// CHECK: prim.fusion
func.func @output_shape(%x: tensor<8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8xf32>) {
  %0 = prim.neg %x : (tensor<8xf32>) -> tensor<8xf32>
  // expected-remark @+1 {{legality: a value is used outside of the kernel and has another shape than its results}}
  %1 = prim.broadcast %0 {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
  %2 = prim.mul %1, %y : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2, %0 : tensor<4x8xf32>, tensor<8xf32>
}

// -----

// The transposed value would be computed at two indices for one element that is written.
// CHECK-LABEL: func.func @output_index(
// CHECK: prim.exp
// CHECK: prim.fusion
func.func @output_index(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = prim.exp %x : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // expected-remark @+1 {{legality: a value is used outside of the kernel and inside of it at another index}}
  %1 = prim.transpose %0 {perm = array<i64: 1, 0>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = prim.neg %1 : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// CHECK-LABEL: func.func @guarded(
// CHECK: prim.exp
// CHECK: prim.fusion
// CHECK: prim.pad
func.func @guarded(%x: tensor<4xf32>) -> tensor<6xf32> {
  %c = prim.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = prim.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  // expected-remark @+1 {{profit: 'prim.pad' would compute what it reads several times or for nothing}}
  %1 = prim.pad %0, %c {low = array<i64: 1>, high = array<i64: 1>, interior = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<6xf32>
  %2 = prim.neg %1 : (tensor<6xf32>) -> tensor<6xf32>
  return %2 : tensor<6xf32>
}

// -----

// CHECK-LABEL: func.func @gathered(
// CHECK: prim.neg
// CHECK: prim.fusion
// CHECK: prim.abs
// CHECK: prim.gather
func.func @gathered(%x: tensor<9x8xf32>, %i: tensor<4xi64>) -> tensor<4x8xf32> {
  %0 = prim.neg %x : (tensor<9x8xf32>) -> tensor<9x8xf32>
  %1 = prim.abs %i : (tensor<4xi64>) -> tensor<4xi64>
  // expected-remark @+1 {{legality: the gathered tensor must be in memory}}
  %2 = prim.gather %0, %1 {dims = array<i64: 0>} : (tensor<9x8xf32>, tensor<4xi64>) -> tensor<4x8xf32>
  %3 = prim.neg %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @free_reshape(
// CHECK-NOT: prim.fusion
func.func @free_reshape(%x: tensor<4x8xf32>) -> tensor<32xf32> {
  %0 = prim.sin %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // expected-remark @+1 {{profit: a reshape at the edge of a kernel is free}}
  %1 = prim.reshape %0 : (tensor<4x8xf32>) -> tensor<32xf32>
  // expected-remark @+1 {{legality: the reshape moves elements across dimensions and is free between kernels}}
  %2 = prim.neg %1 : (tensor<32xf32>) -> tensor<32xf32>
  return %2 : tensor<32xf32>
}

// -----

// Two kernels that read one tensor at one shape are one; what a reduction reads is left to the other pass.
// CHECK-LABEL: func.func @siblings(
// CHECK: prim.fusion
// CHECK-NEXT: ^bb0
// CHECK-NEXT: prim.sin
// CHECK-NEXT: prim.cos
// CHECK-NEXT: prim.yield
// CHECK: prim.tanh
// CHECK: prim.reduce
func.func @siblings(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>) {
  %0 = prim.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = prim.cos %x : (tensor<4xf32>) -> tensor<4xf32>
  %2 = prim.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  %3 = prim.reduce %2 {dims = array<i64: 0>, kind = "sum"} : (tensor<4xf32>) -> tensor<f32>
  return %0, %1, %3 : tensor<4xf32>, tensor<4xf32>, tensor<f32>
}

// -----

// The sum could follow the sine in its kernel, where it is done once per element; so it is not computed again for each window.
// CHECK-LABEL: func.func @windows(
// CHECK: prim.fusion
// CHECK: prim.sin
// CHECK: prim.add
// CHECK: prim.yield
// CHECK: prim.sliding_window
func.func @windows(%x: tensor<9xf32>) -> tensor<4x3xf32> {
  %0 = prim.sin %x : (tensor<9xf32>) -> tensor<9xf32>
  %1 = prim.add %0, %x : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  // expected-remark @+1 {{profit: 'prim.sliding_window' would compute what it reads several times or for nothing}}
  %2 = prim.sliding_window %1 {sizes = array<i64: 3>, strides = array<i64: 2>, dilations = array<i64: 1>} : (tensor<9xf32>) -> tensor<4x3xf32>
  return %2 : tensor<4x3xf32>
}

// -----

// A reshape that splits a dimension is arithmetic on indices: a copy in another order takes in what it copies.
// CHECK-LABEL: func.func @split(
// CHECK: prim.fusion
// CHECK: prim.reverse
// CHECK-NEXT: prim.reshape
// CHECK-NEXT: prim.transpose
// CHECK-NEXT: prim.yield
func.func @split(%x: tensor<6x4xf32>) -> tensor<4x2x3xf32> {
  %0 = prim.reverse %x {dims = array<i64: 0>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = prim.reshape %0 : (tensor<6x4xf32>) -> tensor<2x3x4xf32>
  %2 = prim.transpose %1 {perm = array<i64: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
  return %2 : tensor<4x2x3xf32>
}

// -----

// One that joins dimensions needs a division: it stays between two kernels.
// CHECK-LABEL: func.func @joined(
// CHECK-NOT: prim.fusion
func.func @joined(%x: tensor<2x3x4xf32>) -> tensor<4x6xf32> {
  %0 = prim.reverse %x {dims = array<i64: 1>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // expected-remark @+1 {{profit: a reshape at the edge of a kernel is free}}
  %1 = prim.reshape %0 : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  // expected-remark @+1 {{legality: the reshape moves elements across dimensions and is free between kernels}}
  %2 = prim.transpose %1 {perm = array<i64: 1, 0>} : (tensor<6x4xf32>) -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// -----

// A scatter takes in what it reads element by element: numbered rows, gathered updates, a destination of one number.
// CHECK-LABEL: func.func @scatter(
// CHECK: prim.fusion
// CHECK-DAG: prim.constant
// CHECK-DAG: prim.iota
// CHECK-DAG: prim.gather
// CHECK: %[[Y:.*]] = prim.scatter
// CHECK-NEXT: prim.yield %[[Y]]
func.func @scatter(%x: tensor<9x4xf32>, %i: tensor<6xi64>, %j: tensor<6x4xi64>) -> tensor<6x4xf32> {
  %zero = prim.constant {value = dense<0.0> : tensor<6x4xf32>} : tensor<6x4xf32>
  %rows = prim.iota {dim = 0 : i64} : tensor<6x4xi64>
  %0 = prim.gather %x, %i {dims = array<i64: 0>} : (tensor<9x4xf32>, tensor<6xi64>) -> tensor<6x4xf32>
  %1 = prim.scatter %zero, %0, %rows, %j {dims = array<i64: 0, 1>, kind = "add"} : (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xi64>, tensor<6x4xi64>) -> tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// -----

// A scan ends its kernel; what reads it stays outside.
// CHECK-LABEL: func.func @scan(
// CHECK: prim.fusion
// CHECK: prim.exp
// CHECK-NEXT: prim.scan
// CHECK-NEXT: prim.yield
// CHECK: prim.neg
// CHECK-NEXT: return
func.func @scan(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = prim.exp %x : tensor<8x4xf32>
  %1 = prim.scan %0 {dim = 0 : i64, kind = "sum"} : tensor<8x4xf32>
  // expected-remark @+1 {{legality: a scan or scatter ends its kernel, which holds only what it reads element by element}}
  %2 = prim.neg %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// -----

// An index stands for a whole row: what costs is not computed again for each of its elements.
// CHECK-LABEL: func.func @index_of_rows(
// CHECK: prim.gather
// CHECK-NEXT: prim.scatter
func.func @index_of_rows(%x: tensor<9x4xf32>, %u: tensor<6x4xf32>, %i: tensor<6xi64>, %j: tensor<6xi64>) -> tensor<9x4xf32> {
  %0 = prim.gather %i, %j {dims = array<i64: 0>} : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  // expected-remark @+1 {{profit: 'prim.gather' is expensive and would be computed again for every repeated element}}
  %1 = prim.scatter %x, %u, %0 {dims = array<i64: 0>, kind = "set"} : (tensor<9x4xf32>, tensor<6x4xf32>, tensor<6xi64>) -> tensor<9x4xf32>
  return %1 : tensor<9x4xf32>
}

// -----

// Halves are made wide by each reader, behind the reshape: memory holds and moves halves.
// CHECK-LABEL: func.func @wide_halves(
// CHECK-SAME: %[[X:.*]]: tensor<8x6xbf16>
// CHECK-DAG: %[[R:.*]] = prim.reshape %[[X]] : (tensor<8x6xbf16>) -> tensor<48xbf16>
// CHECK-DAG: prim.fusion %[[R]] : (tensor<48xbf16>) -> tensor<48xf32>
// CHECK-DAG: prim.fusion %[[X]] : (tensor<8x6xbf16>) -> tensor<6x8xf32>
func.func @wide_halves(%x: tensor<8x6xbf16>) -> (tensor<48xf32>, tensor<6x8xf32>) {
  %0 = prim.convert %x : (tensor<8x6xbf16>) -> tensor<8x6xf32>
  // expected-remark @+1 {{'prim.reshape' is not fused into 'prim.convert': legality: the reshape moves elements across dimensions and is free between kernels}}
  %1 = prim.reshape %0 : (tensor<8x6xf32>) -> tensor<48xf32>
  %2 = prim.exp %1 : tensor<48xf32>
  %3 = prim.transpose %0 {perm = array<i64: 1, 0>} : (tensor<8x6xf32>) -> tensor<6x8xf32>
  %4 = prim.neg %3 : tensor<6x8xf32>
  return %2, %4 : tensor<48xf32>, tensor<6x8xf32>
}

// -----

// What a contraction's result is rounded to is left for its kernel to write: the kernel of what follows would read the wide result.
// CHECK-LABEL: func.func @narrow(
// CHECK: prim.dot
// CHECK-NEXT: prim.fusion
// CHECK: prim.convert
// CHECK-NEXT: prim.yield %{{.*}} : tensor<8x8xi8>
// CHECK: prim.fusion
// CHECK-NEXT: ^bb0
// CHECK-NEXT: prim.convert %{{.*}} : (tensor<8x8xi8>) -> tensor<8x8xf32>
// CHECK-NEXT: prim.add
// CHECK: return
func.func @narrow(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = prim.dot %x, %y {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = prim.mul %0, %x : tensor<8x8xf32>
  %2 = prim.convert %1 : (tensor<8x8xf32>) -> tensor<8x8xi8>
  // expected-remark @+1 {{'prim.convert' is not fused into 'prim.convert': profit: the kernel of a contraction writes what its result is rounded to}}
  %3 = prim.convert %2 : (tensor<8x8xi8>) -> tensor<8x8xf32>
  %4 = prim.add %3, %y : tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// -----

// Of what follows no contraction the rounding is part of the chain.
// CHECK-LABEL: func.func @rounded(
// CHECK-NEXT: prim.fusion
// CHECK-NOT: prim.fusion
// CHECK: return
func.func @rounded(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %1 = prim.mul %y, %x : tensor<8x8xf32>
  %2 = prim.convert %1 : (tensor<8x8xf32>) -> tensor<8x8xi8>
  %3 = prim.convert %2 : (tensor<8x8xi8>) -> tensor<8x8xf32>
  %4 = prim.add %3, %y : tensor<8x8xf32>
  return %4 : tensor<8x8xf32>
}

// -----

// A kernel of which the end of the program reads one result stands where its other result is read: before what does not need it.
// CHECK-LABEL: func.func @late_member(
// CHECK: prim.fusion
// CHECK: prim.dot
// CHECK: prim.scan
func.func @late_member(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %e = prim.exp %x : tensor<64x64xf32>
  %n = prim.neg %e : tensor<64x64xf32>
  %0 = prim.dot %n, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = prim.scan %w {dim = 0 : i64, kind = "sum"} : tensor<64x64xf32>
  %2 = prim.sqrt %e : tensor<64x64xf32>
  return %0, %1, %2 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// What two contractions compute goes to their kernels with what follows, although both read one bias.
// CHECK-LABEL: func.func @epilogues(
// CHECK: prim.dot
// CHECK: prim.fusion {{.*}} -> tensor<8x16xf32> {
// CHECK: prim.fusion {{.*}} -> tensor<8x16xf32> {
// CHECK: return
func.func @epilogues(%x: tensor<8x4xf32>, %w: tensor<4x16xf32>, %v: tensor<4x16xf32>, %b: tensor<16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) {
  %0 = prim.dot %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %1 = prim.dot %x, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %2 = prim.broadcast %b {dims = array<i64: 1>} : (tensor<16xf32>) -> tensor<8x16xf32>
  %3 = prim.add %0, %2 : tensor<8x16xf32>
  %4 = prim.add %1, %2 : tensor<8x16xf32>
  return %3, %4 : tensor<8x16xf32>, tensor<8x16xf32>
}

// -----

// Columns without their mean: the variance and what is normalised both take it from the tensor, which is in memory. It is not written.
// CHECK-LABEL: func.func @columns(
// CHECK-SAME: %[[X:.*]]: tensor<4096x64xf32>
// CHECK: %[[SUM:.*]] = prim.reduce %[[X]]
// CHECK: %[[SQUARES:.*]] = prim.fusion %[[SUM]], %[[X]] :
// CHECK: %[[VARIANCE:.*]] = prim.reduce %[[SQUARES]]
// CHECK: %[[Y:.*]] = prim.fusion %[[SUM]], %{{.*}}, %[[X]] :
// CHECK: prim.sub
// CHECK: prim.yield
// CHECK: return %[[Y]]
func.func @columns(%x: tensor<4096x64xf32>) -> tensor<4096x64xf32> {
  %sum = prim.reduce %x {dims = array<i64: 0>, kind = "sum"} : (tensor<4096x64xf32>) -> tensor<64xf32>
  %0 = prim.broadcast %sum {dims = array<i64: 1>} : (tensor<64xf32>) -> tensor<4096x64xf32>
  %centred = prim.sub %x, %0 : tensor<4096x64xf32>
  %squares = prim.mul %centred, %centred : tensor<4096x64xf32>
  %variance = prim.reduce %squares {dims = array<i64: 0>, kind = "sum"} : (tensor<4096x64xf32>) -> tensor<64xf32>
  %root = prim.rsqrt %variance : tensor<64xf32>
  // expected-remark @+1 {{'prim.rsqrt' is not fused into 'prim.broadcast': profit: 'prim.rsqrt' is expensive and would be computed again for every repeated element}}
  %1 = prim.broadcast %root {dims = array<i64: 1>} : (tensor<64xf32>) -> tensor<4096x64xf32>
  %2 = prim.mul %centred, %1 : tensor<4096x64xf32>
  return %2 : tensor<4096x64xf32>
}

// -----

// Rows of six are put into rows of nine: threads share the loop over those six, and not that over the nine rows of what they are put into, which is
// made by a kernel of its own.
// CHECK-LABEL: func.func @scatter_alone(
// CHECK: %[[WIDE:.*]] = prim.convert
// CHECK-NEXT: prim.fusion %[[WIDE]]
// CHECK-LABEL: func.func @scatter_beside(
// CHECK: prim.fusion
// CHECK-NEXT: ^bb0
// CHECK-NEXT: prim.convert
func.func @scatter_alone(%x: tensor<9x4xbf16>, %u: tensor<6x4xf32>, %j: tensor<6x4xi64>) -> tensor<9x4xf32> {
  %0 = prim.convert %x : (tensor<9x4xbf16>) -> tensor<9x4xf32>
  %1 = prim.iota {dim = 0 : i64} : tensor<6x4xi64>
  // expected-remark @+1 {{profit: threads share what is scattered along dims in which the target goes on, and not what makes the target}}
  %2 = prim.scatter %0, %u, %1, %j {dims = array<i64: 0, 1>, kind = "add"} : (tensor<9x4xf32>, tensor<6x4xf32>, tensor<6x4xi64>, tensor<6x4xi64>) -> tensor<9x4xf32>
  return %2 : tensor<9x4xf32>
}
func.func @scatter_beside(%x: tensor<6x4xbf16>, %u: tensor<6x4xf32>, %j: tensor<6x4xi64>) -> tensor<6x4xf32> {
  %0 = prim.convert %x : (tensor<6x4xbf16>) -> tensor<6x4xf32>
  %1 = prim.iota {dim = 0 : i64} : tensor<6x4xi64>
  %2 = prim.scatter %0, %u, %1, %j {dims = array<i64: 0, 1>, kind = "add"} : (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xi64>, tensor<6x4xi64>) -> tensor<6x4xf32>
  return %2 : tensor<6x4xf32>
}
