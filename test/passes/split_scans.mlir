// RUN: rs-opt %s "--pass-pipeline=builtin.module(func.func(split-scans))" --split-input-file | rs-filecheck %s
// RUN: rs-opt %s "--pass-pipeline=builtin.module(func.func(split-scans{numerics=strict}))" --split-input-file | rs-filecheck %s --check-prefix=STRICT
// RUN: rs-opt %s "--pass-pipeline=builtin.module(func.func(split-scans{remarks}))" --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY
// WHY: remark: its rows are enough for the device, are short, or their sizes are not known [split-scans]

// Pieces of 4096 elements, the last of which is filled up.
// CHECK-LABEL: func.func @sum
// CHECK: prim.pad %arg0
// CHECK: prim.scan {{.*}} : tensor<2x25x4096xf32>
// CHECK: prim.scan {{.*}} : tensor<2x25xf32>
// CHECK: prim.add
// CHECK: prim.select
// CHECK: prim.slice
// Its order is the program's.
// STRICT-LABEL: func.func @sum
// STRICT-NEXT: prim.scan {{.*}} : tensor<2x100000xf32>
func.func @sum(%x: tensor<2x100000xf32>) -> tensor<2x100000xf32> {
  %0 = prim.scan %x {dim = 1 : i64, kind = "sum"} : tensor<2x100000xf32>
  return %0 : tensor<2x100000xf32>
}

// -----

// The largest is the same in any order.
// CHECK-LABEL: func.func @largest
// CHECK-NOT: prim.pad %arg0
// CHECK: prim.scan {{.*}} : tensor<16x4096x3xf32>
// CHECK: prim.maximum
// STRICT: prim.scan {{.*}} : tensor<16x4096x3xf32>
func.func @largest(%x: tensor<65536x3xf32>) -> tensor<65536x3xf32> {
  %0 = prim.scan %x {dim = 0 : i64, kind = "max"} : tensor<65536x3xf32>
  return %0 : tensor<65536x3xf32>
}

// -----

// Short rows, rows that are enough for all blocks, and rows of unknown length stay whole.
// CHECK-LABEL: func.func @others
// CHECK: prim.scan {{.*}} : tensor<2x5000xi64>
// CHECK: prim.scan {{.*}} : tensor<100x100000xi64>
// CHECK: prim.scan {{.*}} : tensor<?xi64>
func.func @others(%x: tensor<2x5000xi64>, %y: tensor<100x100000xi64>, %z: tensor<?xi64>) -> (tensor<2x5000xi64>, tensor<100x100000xi64>, tensor<?xi64>) {
  %0 = prim.scan %x {dim = 1 : i64, kind = "sum"} : tensor<2x5000xi64>
  %1 = prim.scan %y {dim = 1 : i64, kind = "sum"} : tensor<100x100000xi64>
  %2 = prim.scan %z {dim = 0 : i64, kind = "sum"} : tensor<?xi64>
  return %0, %1, %2 : tensor<2x5000xi64>, tensor<100x100000xi64>, tensor<?xi64>
}
