// The program of docs/src/tour.md, level by level.
// RUN: rs-opt %s --strata-to-aten --strata-to-prim -o %t.prim.mlir
// RUN: FileCheck %s --check-prefix=PRIM --input-file=%t.prim.mlir
// RUN: rs-opt %t.prim.mlir --strata-to-prim-fused -o %t.fused.mlir
// RUN: FileCheck %s --check-prefix=FUSED --input-file=%t.fused.mlir
// RUN: rs-opt %t.fused.mlir --strata-to-loop -o %t.loop.mlir
// RUN: FileCheck %s --check-prefix=LOOP --input-file=%t.loop.mlir
// RUN: rs-opt %t.loop.mlir --strata-to-loop-scheduled -o %t.scheduled.mlir
// RUN: FileCheck %s --check-prefix=SCHEDULED --input-file=%t.scheduled.mlir
// RUN: rs-opt %t.scheduled.mlir --strata-to-host -o %t.host.mlir
// RUN: FileCheck %s --check-prefix=HOST --input-file=%t.host.mlir
// RUN: rs-opt %t.host.mlir --strata-to-cpu | FileCheck %s --check-prefix=CPU

// PRIM: capture.dim
// PRIM: prim.mul
// PRIM: prim.maximum
// PRIM: prim.reduce {{.*}} kind = "sum"

// One kernel.
// FUSED: prim.fusion
// FUSED: prim.reduce
// FUSED-NEXT: prim.yield
// FUSED-NOT: prim.fusion

// LOOP: loop.kernel @[[K:[a-z0-9]+]] {
// LOOP: loop.stage {{.*}} reducer = "sum"
// LOOP: arith.mulf
// LOOP: arith.maximumf
// LOOP: loop.call {{.*}}callee = @[[K]]

// SCHEDULED: schedule = {{.*}}vector = 1 : i64
// SCHEDULED: arith.maximumf

// HOST: host.guard {{.*}}"n = {0} must be at least {1}
// HOST: host.output
// HOST: host.launch
// HOST-NOT: host.alloc

// CPU: vector.reduction <add>
// CPU: func.func @strata_entry

func.func @main(%x: tensor<?x16xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<?xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %x {dim = 0 : i64, symbol = "n", min = 1 : i64, max = 4096 : i64} : (tensor<?x16xf32>) -> index
  %0 = aten.mul.Scalar %x {other = 0.5 : f64} : tensor<?x16xf32>
  %1 = aten.relu %0 : tensor<?x16xf32>
  %2 = aten.sum.dim_IntList %1 {dim = array<i64: 1>} : (tensor<?x16xf32>) -> tensor<?xf32>
  return %2 : tensor<?xf32>
}
