// Rows of odd length that are stored past the caches begin with an edge; rows read twice fetch the next one.
// RUN: rs-run %s > %t.fast
// RUN: rs-run %s --skip schedule-cpu > %t.plain && diff %t.fast %t.plain
// RUN: rs-opt %s --to=loop-scheduled | rs-filecheck %s --check-prefix=SCHEDULED
// RUN: rs-opt %s --to=loop | rs-opt --attach-target='entries={shared_fill_buffers = true}' --schedule-cpu | rs-filecheck %s --check-prefix=SHARED
// RUN: rs-opt %s --to=cpu | rs-filecheck %s
// SCHEDULED: schedule = {non_temporal = true, prefetch_along = 0 : i64, prefetch_operand = 0 : i64, unroll = 1 : i64, vector = 1 : i64, width = 8 : i64}
// Where such stores and fetches wait in the same buffers they are not mixed.
// SHARED: prefetch_along = 0 : i64, prefetch_operand = 0
// SHARED-NOT: non_temporal
// CHECK: llvm.intr.prefetch
// CHECK: llvm.intr.masked.store
// CHECK: llvm.store {{.*}} {alignment = 64 : i64, nontemporal}
// CHECK: llvm.fence seq_cst

func.func @main(%x: tensor<512x4097xi64> {capture.kind = "input", capture.name = "x"})
    -> (tensor<512x4097xi64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}) attributes {capture.entry} {
  %top = aten.amax %x {dim = array<i64: 1>, keepdim = true} : (tensor<512x4097xi64>) -> tensor<512x1xi64>
  %r = aten.sub.Tensor %x, %top : (tensor<512x4097xi64>, tensor<512x1xi64>) -> tensor<512x4097xi64>
  %sum = aten.cumsum %r {dim = 1 : i64} : (tensor<512x4097xi64>) -> tensor<512x4097xi64>
  %all = aten.sum %sum : (tensor<512x4097xi64>) -> tensor<i64>
  return %r, %all : tensor<512x4097xi64>, tensor<i64>
}
