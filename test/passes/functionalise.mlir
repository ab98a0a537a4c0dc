// RUN: rs-opt %s --functionalise --split-input-file | rs-filecheck %s

// A write to a row is a write to the whole, and later reads of any view see it.

// CHECK-LABEL: func.func @row(
// CHECK: %[[BASE:.*]] = aten.clone
// CHECK: %[[ROW:.*]] = aten.select.int %[[BASE]]
// CHECK: %[[COLUMN:.*]] = aten.select.int %[[BASE]] {dim = 1
// CHECK: %[[NEW:.*]] = aten.relu %[[ROW]]
// CHECK: %[[WHOLE:.*]] = aten.select_scatter %[[BASE]], %[[NEW]] {dim = 0 : i64, index = 1 : i64}
// CHECK: %[[AGAIN:.*]] = aten.select.int %[[WHOLE]] {dim = 1
// CHECK: %[[SUM:.*]] = aten.neg %[[AGAIN]]
// CHECK: return %[[WHOLE]], %[[SUM]], %[[NEW]]
func.func @row(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>) {
  %0 = aten.clone %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.select.int %0 {dim = 0 : i64, index = 1 : i64} : (tensor<2x3xf32>) -> tensor<3xf32>
  %2 = aten.select.int %0 {dim = 1 : i64, index = 2 : i64} : (tensor<2x3xf32>) -> tensor<2xf32>
  %3 = aten.relu_ %1 : (tensor<3xf32>) -> tensor<3xf32>
  %4 = aten.neg %2 : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %4, %3 : tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>
}

// -----

// A chain of views is undone from its end: slice of a transpose of a reshape.

// CHECK-LABEL: func.func @chain(
// CHECK: %[[BASE:.*]] = aten.clone
// CHECK: %[[VIEW:.*]] = aten.view %[[BASE]]
// CHECK: %[[T:.*]] = aten.transpose.int %[[VIEW]]
// CHECK: %[[SLICE:.*]] = aten.slice.Tensor %[[T]]
// CHECK: %[[NEW:.*]] = aten.fill.Scalar %[[SLICE]]
// CHECK: %[[V2:.*]] = aten.view %[[BASE]]
// CHECK: %[[T2:.*]] = aten.transpose.int %[[V2]]
// CHECK: %[[S:.*]] = aten.slice_scatter %[[T2]], %[[NEW]] {dim = 0 : i64, end = 3 : i64, start = 1 : i64}
// CHECK: %[[P:.*]] = aten.permute %[[S]] {dims = array<i64: 1, 0>}
// CHECK: %[[WHOLE:.*]] = aten.view %[[P]] {size = array<i64: 12>}
// CHECK: return %[[WHOLE]]
func.func @chain(%x: tensor<12xf32>) -> tensor<12xf32> {
  %0 = aten.clone %x : (tensor<12xf32>) -> tensor<12xf32>
  %1 = aten.view %0 {size = array<i64: 3, 4>} : (tensor<12xf32>) -> tensor<3x4xf32>
  %2 = aten.transpose.int %1 {dim0 = 0 : i64, dim1 = 1 : i64} : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %3 = aten.slice.Tensor %2 {dim = 0 : i64, start = 1 : i64, end = 3 : i64} : (tensor<4x3xf32>) -> tensor<2x3xf32>
  %4 = aten.fill_.Scalar %3 {value = 7.0 : f64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<12xf32>
}

// -----

// What an entry's argument becomes is a result of its own.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: -> (tensor<4xf32> {capture.kind = "output"}, tensor<4xf32> {capture.kind = "mutation", capture.name = "running"})
// CHECK: %[[NEW:.*]] = aten.mul.Scalar %arg1
// CHECK: %[[OUT:.*]] = aten.add.Tensor %arg0, %[[NEW]]
// CHECK: return %[[OUT]], %[[NEW]]
func.func @main(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"},
                %r: tensor<4xf32> {capture.kind = "buffer", capture.name = "running"}) -> (tensor<4xf32> {capture.kind = "output"})
    attributes {capture.entry} {
  %0 = aten.mul_.Scalar %r {other = 0.5 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aten.add.Tensor %x, %r : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Pieces of a split, rows of an unbind and a diagonal go back to where they came from.

// CHECK-LABEL: func.func @pieces(
// CHECK: %[[BASE:.*]] = aten.clone
// CHECK: %[[SPLIT:.*]]:2 = aten.split.Tensor %[[BASE]]
// CHECK: %[[EXP:.*]] = aten.exp %[[SPLIT]]#1
// CHECK: %[[B1:.*]] = aten.slice_scatter %[[BASE]], %[[EXP]] {dim = 0 : i64, end = 5 : i64, start = 3 : i64}
// CHECK: %[[ROWS:.*]]:5 = aten.unbind.int %[[B1]]
// CHECK: %[[ZERO:.*]] = aten.zero %[[ROWS]]#4
// CHECK: %[[B2:.*]] = aten.select_scatter %[[B1]], %[[ZERO]] {dim = 0 : i64, index = 4 : i64}
// CHECK: %[[DIAG:.*]] = aten.diagonal %[[B2]]
// CHECK: %[[SQRT:.*]] = aten.sqrt %[[DIAG]]
// CHECK: %[[B3:.*]] = aten.diagonal_scatter %[[B2]], %[[SQRT]] {offset = 1 : i64}
// CHECK: return %[[B3]]
func.func @pieces(%x: tensor<5x5xf32>) -> tensor<5x5xf32> {
  %0 = aten.clone %x : (tensor<5x5xf32>) -> tensor<5x5xf32>
  %1:2 = aten.split.Tensor %0 {split_size = 3 : i64} : (tensor<5x5xf32>) -> (tensor<3x5xf32>, tensor<2x5xf32>)
  %2 = aten.exp_ %1#1 : (tensor<2x5xf32>) -> tensor<2x5xf32>
  %3:5 = aten.unbind.int %0 : (tensor<5x5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>)
  %4 = aten.zero_ %3#4 : (tensor<5xf32>) -> tensor<5xf32>
  %5 = aten.diagonal %0 {offset = 1 : i64} : (tensor<5x5xf32>) -> tensor<4xf32>
  %6 = aten.sqrt_ %5 : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<5x5xf32>
}

// -----

// Sizes that are not known are asked for; a symbolic index goes along.

// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME: %[[X:.*]]: tensor<?x4xf32>, %[[I:.*]]: index
// CHECK: %[[BASE:.*]] = aten.clone
// CHECK: %[[FLAT:.*]] = aten.flatten.using_ints
// CHECK: %[[NEG:.*]] = aten.neg %[[FLAT]]
// CHECK: %[[SIZE:.*]] = aten.sym_size.int %[[BASE]] {dim = 0 : i64}
// CHECK: %[[B1:.*]] = aten.view %[[NEG]], %[[SIZE]] {size = array<i64: -9223372036854775808, 4>}
// CHECK: %[[ROW:.*]] = aten.select.int %[[B1]], %[[I]]
// CHECK: %[[ABS:.*]] = aten.abs %[[ROW]]
// CHECK: %[[B2:.*]] = aten.select_scatter %[[B1]], %[[ABS]], %[[I]] {dim = 0 : i64, index = -9223372036854775808 : i64}
// CHECK: return %[[B2]]
func.func @dynamic(%x: tensor<?x4xf32>, %i: index) -> tensor<?x4xf32> {
  %0 = aten.clone %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = aten.flatten.using_ints %0 : (tensor<?x4xf32>) -> tensor<?xf32>
  %2 = aten.neg_ %1 : (tensor<?xf32>) -> tensor<?xf32>
  %3 = aten.select.int %0, %i {dim = 0 : i64, index = -9223372036854775808 : i64} : (tensor<?x4xf32>, index) -> tensor<4xf32>
  %4 = aten.abs_ %3 : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<?x4xf32>
}

// -----

// A result is stored with the tensor's own element type: comparisons give bools, wider operands promote.

// CHECK-LABEL: func.func @stored(
// CHECK: %[[A:.*]] = aten.clone
// CHECK: %[[GT:.*]] = aten.gt.Scalar %[[A]] {other = 0 : i64} : (tensor<4xf32>) -> tensor<4xi1>
// CHECK: %[[ONES:.*]] = aten._to_copy %[[GT]] {dtype = f32} : (tensor<4xi1>) -> tensor<4xf32>
// CHECK: %[[SUM:.*]] = aten.add.Tensor %[[ONES]], %{{.*}} : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf64>
// CHECK: %[[BACK:.*]] = aten._to_copy %[[SUM]] {dtype = f32} : (tensor<4xf64>) -> tensor<4xf32>
// CHECK: return %[[BACK]]
func.func @stored(%x: tensor<4xf32>, %y: tensor<4xf64>) -> tensor<4xf32> {
  %0 = aten.clone %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aten.gt_.Scalar %0 {other = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = aten.add_.Tensor %1, %y : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// A copy is no view, whether the types or the capture say so.

// CHECK-LABEL: func.func @copies(
// CHECK: %[[A:.*]] = aten.clone
// CHECK: %[[TO:.*]] = aten.to.dtype %[[A]]
// CHECK: %[[COPY:.*]] = aten.reshape %[[A]]
// CHECK: %[[SIN:.*]] = aten.sin %[[COPY]]
// CHECK: %[[COS:.*]] = aten.cos %[[TO]]
// CHECK: return %[[A]], %[[SIN]], %[[COS]]
func.func @copies(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x2xf32>, tensor<4xf64>) {
  %0 = aten.clone %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aten.to.dtype %0 {dtype = f64} : (tensor<4xf32>) -> tensor<4xf64>
  %2 = aten.reshape %0 {shape = array<i64: 2, 2>, capture.copies} : (tensor<4xf32>) -> tensor<2x2xf32>
  %3 = aten.sin_ %2 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = aten.cos_ %1 : (tensor<4xf64>) -> tensor<4xf64>
  return %0, %2, %1 : tensor<4xf32>, tensor<2x2xf32>, tensor<4xf64>
}

// -----

// Views in place are views: no storage changes. Regions read what was written before them.

// CHECK-LABEL: func.func @regions(
// CHECK: %[[A:.*]] = aten.clone
// CHECK: %[[T:.*]] = aten.t %[[A]]
// CHECK: %[[ROW:.*]] = aten.select.int %[[T]]
// CHECK: %[[NEW:.*]] = aten.neg %[[T]]
// CHECK: scf.if
// CHECK: %[[BASE:.*]] = aten.t %{{.*}}
// CHECK: %[[READ:.*]] = aten.select.int %[[BASE]]
// CHECK: scf.yield %[[READ]]
// CHECK: %[[LOCAL:.*]] = aten.clone
// CHECK: %[[ABS:.*]] = aten.abs %[[LOCAL]]
// CHECK: scf.yield %[[ABS]]
func.func @regions(%x: tensor<2x3xf32>, %c: i1) -> tensor<2xf32> {
  %0 = aten.clone %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = aten.t_ %0 : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = aten.select.int %1 {dim = 0 : i64, index = 0 : i64} : (tensor<3x2xf32>) -> tensor<2xf32>
  %3 = aten.neg_ %1 : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %4 = scf.if %c -> (tensor<2xf32>) {
    scf.yield %2 : tensor<2xf32>
  } else {
    %5 = aten.clone %2 : (tensor<2xf32>) -> tensor<2xf32>
    %6 = aten.abs_ %5 : (tensor<2xf32>) -> tensor<2xf32>
    scf.yield %5 : tensor<2xf32>
  }
  return %4 : tensor<2xf32>
}

// -----

// Operators with results of their own, and ones whose writes their schema hides.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: capture.kind = "mutation", capture.name = "mean"}, tensor<3xf32> {capture.kind = "mutation", capture.name = "var"}
// CHECK: %[[BN:.*]]:5 = aten._native_batch_norm_legit_functional %arg0, %arg1, %arg2 {eps = 1.000000e-05 : f64, momentum = 1.000000e-01 : f64, segments = array<i64: 1, 0, 0, 1, 1>, training = true}
// CHECK: return %[[BN]]#0, %[[BN]]#3, %[[BN]]#4
func.func @main(%x: tensor<2x3x4xf32> {capture.kind = "input", capture.name = "x"},
                %m: tensor<3xf32> {capture.kind = "buffer", capture.name = "mean"},
                %v: tensor<3xf32> {capture.kind = "buffer", capture.name = "var"}) -> (tensor<2x3x4xf32> {capture.kind = "output"})
    attributes {capture.entry} {
  %0 = aten.batch_norm %x, %m, %v {segments = array<i64: 1, 0, 0, 1, 1>, training = true, momentum = 0.1 : f64, eps = 1.0e-05 : f64, cudnn_enabled = true}
      : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// -----

// `as_strided` counts in the storage of its operand: it is given the base.

// CHECK-LABEL: func.func @storage(
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>
// CHECK: aten.as_strided %[[X]] {size = array<i64: 4, 3>, storage_offset = 1 : i64, stride = array<i64: 6, 2>}
// CHECK: %[[NESTED:.*]] = aten.as_strided %[[X]] {size = array<i64: 2>, storage_offset = 7 : i64, stride = array<i64: 1>}
// CHECK: return %[[NESTED]]
func.func @storage(%x: tensor<4x6xf32>) -> tensor<2xf32> {
  %0 = aten.t %x : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = aten.as_strided %0 {size = array<i64: 4, 3>, stride = array<i64: 6, 2>, storage_offset = 1 : i64} : (tensor<6x4xf32>) -> tensor<4x3xf32>
  %2 = aten.as_strided %1 {size = array<i64: 2>, stride = array<i64: 1>, storage_offset = 7 : i64} : (tensor<4x3xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// A base that lies in another order is brought into it; a write goes the same way back.

// CHECK-LABEL: func.func @storage_order(
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>
// CHECK: %[[BASE:.*]] = aten.relu %[[X]]
// CHECK-NOT: capture.storage_order
// CHECK: %[[PERMUTED:.*]] = aten.permute %[[BASE]] {dims = array<i64: 1, 0>}
// CHECK: %[[STORAGE:.*]] = aten.clone %[[PERMUTED]]
// CHECK: %[[WINDOW:.*]] = aten.as_strided %[[STORAGE]] {size = array<i64: 2>, storage_offset = 3 : i64
// CHECK: %[[ABS:.*]] = aten.abs %[[WINDOW]]
// CHECK: %[[WRITTEN:.*]] = aten.as_strided_scatter %{{.*}}, %[[ABS]] {size = array<i64: 2>, storage_offset = 3 : i64
// CHECK: %[[NEW:.*]] = aten.permute %[[WRITTEN]] {dims = array<i64: 1, 0>}
// CHECK: return %[[NEW]]
func.func @storage_order(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = aten.relu %x {capture.storage_order = [array<i64: 1, 0>]} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = aten.slice.Tensor %0 {start = 2 : i64} : (tensor<4x6xf32>) -> tensor<2x6xf32>
  %2 = aten.as_strided %1 {size = array<i64: 2>, stride = array<i64: 1>, storage_offset = 3 : i64} : (tensor<2x6xf32>) -> tensor<2xf32>
  %3 = aten.abs_ %2 : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<4x6xf32>
}

// `resize_` takes the elements in the order in which they lie.

// CHECK-LABEL: func.func @resized(
// CHECK: %[[X:.*]] = aten.relu
// CHECK-NOT: capture.storage_order
// CHECK: %[[PERMUTED:.*]] = aten.permute %[[X]] {dims = array<i64: 1, 0>}
// CHECK: %[[LIES:.*]] = aten.clone %[[PERMUTED]]
// CHECK: aten.resize %[[LIES]] {size = array<i64: 5>}
func.func @resized(%x: tensor<4x6xf32>) -> tensor<5xf32> {
  %0 = aten.relu %x {capture.storage_order = [array<i64: 1, 0>]} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = aten.resize_ %0 {size = array<i64: 5>} : (tensor<4x6xf32>) -> tensor<5xf32>
  return %1 : tensor<5xf32>
}

// The result of `as_strided_scatter` is the part of the written copy that the operand is of the storage.

// CHECK-LABEL: func.func @storage_scatter(
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>, %[[Y:.*]]: tensor<2xf32>
// CHECK: %[[WRITTEN:.*]] = aten.as_strided_scatter %[[X]], %[[Y]] {{.*}} -> tensor<4x6xf32>
// CHECK: %[[PART:.*]] = aten.select.int %[[WRITTEN]]
// CHECK: return %[[PART]]
func.func @storage_scatter(%x: tensor<4x6xf32>, %y: tensor<2xf32>) -> tensor<6xf32> {
  %0 = aten.select.int %x {dim = 0 : i64, index = 1 : i64} : (tensor<4x6xf32>) -> tensor<6xf32>
  %1 = aten.as_strided_scatter %0, %y {size = array<i64: 2>, stride = array<i64: 5>, storage_offset = 2 : i64} : (tensor<6xf32>, tensor<2xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// -----

// `native_batch_norm` writes its running statistics too.

// CHECK-LABEL: func.func @main(
// CHECK: %[[BN:.*]]:5 = aten._native_batch_norm_legit_functional
// CHECK: return %[[BN]]#0, %[[BN]]#1, %[[BN]]#3, %[[BN]]#4
func.func @main(%x: tensor<2x3x4xf32> {capture.kind = "input", capture.name = "x"},
                %m: tensor<3xf32> {capture.kind = "buffer", capture.name = "mean"},
                %v: tensor<3xf32> {capture.kind = "buffer", capture.name = "var"})
    -> (tensor<2x3x4xf32> {capture.kind = "output"}, tensor<3xf32> {capture.kind = "output"})
    attributes {capture.entry} {
  %0:3 = aten.native_batch_norm %x, %m, %v {segments = array<i64: 1, 0, 0, 1, 1>, training = true, momentum = 0.1 : f64, eps = 1.0e-05 : f64}
      : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
  return %0#0, %0#1 : tensor<2x3x4xf32>, tensor<3xf32>
}

// -----

// Operators with `out=` write to it.

// CHECK-LABEL: func.func @out(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: %[[SUM:.*]] = aten.add.Tensor %[[X]], %[[X]]
// CHECK: %[[RANGE:.*]] = aten.arange.start_step {dtype = f32, end = 4 : i64, start = 0 : i64
// CHECK: return %[[SUM]], %[[RANGE]]
func.func @out(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = aten.clone %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = aten.add.out %x, %x, %0 : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = aten.clone %x : (tensor<4xf32>) -> tensor<4xf32>
  %3 = aten.arange.start_out %2 {start = 0 : i64, end = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}
