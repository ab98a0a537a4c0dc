// Indices that step along the lanes are compared as the lanes' numbers: bytes where there are 32 lanes or more, whatever the indices are computed in.
// RUN: rs-run %s > %t.fast
// RUN: rs-run %s --skip schedule-cpu > %t.plain && diff %t.fast %t.plain
// RUN: rs-compile %s --cpu=x86-64-v4 --emit=mlir --to=cpu -o - | FileCheck %s
// CHECK-DAG: arith.cmpi eq, %{{.*}} : vector<64xi8>
// CHECK-DAG: arith.cmpi sge, %{{.*}} : vector<16xi16>
// CHECK-DAG: arith.cmpi sgt, %{{.*}} : vector<16xi16>
// CHECK-DAG: arith.cmpi slt, %{{.*}} : vector<8xi32>
func.func @main(%bytes: tensor<3x170xi8> {capture.kind = "input", capture.name = "bytes"},
                %floats: tensor<40x200xf32> {capture.kind = "input", capture.name = "floats"},
                %lengths: tensor<4xi64> {capture.kind = "input", capture.name = "lengths"},
                %doubles: tensor<4x77xf64> {capture.kind = "input", capture.name = "doubles"})
    -> (tensor<3x170x170xi8> {capture.kind = "output"}, tensor<40x200xf32> {capture.kind = "output"}, tensor<40x200xf32> {capture.kind = "output"}, tensor<4x77xf64> {capture.kind = "output"}) attributes {capture.entry} {
  // A diagonal of bytes.
  %none = prim.constant {value = dense<0> : tensor<i8>} : tensor<i8>
  %zeros = prim.broadcast %none {dims = array<i64>} : (tensor<i8>) -> tensor<3x170x170xi8>
  %row = prim.iota {dim = 1 : i64} : tensor<3x170x170xi64>
  %column = prim.iota {dim = 2 : i64} : tensor<3x170x170xi64>
  %diagonal = prim.eq %row, %column : (tensor<3x170x170xi64>, tensor<3x170x170xi64>) -> tensor<3x170x170xi1>
  %wide = prim.broadcast %bytes {dims = array<i64: 0, 1>} : (tensor<3x170xi8>) -> tensor<3x170x170xi8>
  %0 = prim.select %diagonal, %wide, %zeros : (tensor<3x170x170xi1>, tensor<3x170x170xi8>, tensor<3x170x170xi8>) -> tensor<3x170x170xi8>
  // A triangle, and one that is mirrored: its index falls along the lanes.
  %zero = prim.constant {value = dense<0.0> : tensor<f32>} : tensor<f32>
  %off = prim.broadcast %zero {dims = array<i64>} : (tensor<f32>) -> tensor<40x200xf32>
  %seven = prim.constant {value = dense<7> : tensor<i64>} : tensor<i64>
  %shift = prim.broadcast %seven {dims = array<i64>} : (tensor<i64>) -> tensor<40x200xi64>
  %i = prim.iota {dim = 0 : i64} : tensor<40x200xi64>
  %j = prim.iota {dim = 1 : i64} : tensor<40x200xi64>
  %apart = prim.sub %j, %i : tensor<40x200xi64>
  %above = prim.ge %apart, %shift : (tensor<40x200xi64>, tensor<40x200xi64>) -> tensor<40x200xi1>
  %1 = prim.select %above, %floats, %off : (tensor<40x200xi1>, tensor<40x200xf32>, tensor<40x200xf32>) -> tensor<40x200xf32>
  %back = prim.sub %i, %j : tensor<40x200xi64>
  %below = prim.lt %back, %shift : (tensor<40x200xi64>, tensor<40x200xi64>) -> tensor<40x200xi1>
  %2 = prim.select %below, %floats, %off : (tensor<40x200xi1>, tensor<40x200xf32>, tensor<40x200xf32>) -> tensor<40x200xf32>
  // Lengths that are loaded, however large they are.
  %place = prim.iota {dim = 1 : i64} : tensor<4x77xi64>
  %ends = prim.broadcast %lengths {dims = array<i64: 0>} : (tensor<4xi64>) -> tensor<4x77xi64>
  %inside = prim.lt %place, %ends : (tensor<4x77xi64>, tensor<4x77xi64>) -> tensor<4x77xi1>
  %nothing = prim.constant {value = dense<0.0> : tensor<f64>} : tensor<f64>
  %rest = prim.broadcast %nothing {dims = array<i64>} : (tensor<f64>) -> tensor<4x77xf64>
  %3 = prim.select %inside, %doubles, %rest : (tensor<4x77xi1>, tensor<4x77xf64>, tensor<4x77xf64>) -> tensor<4x77xf64>
  return %0, %1, %2, %3 : tensor<3x170x170xi8>, tensor<40x200xf32>, tensor<40x200xf32>, tensor<4x77xf64>
}
