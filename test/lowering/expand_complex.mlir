// Arithmetic of complex numbers becomes that of their parts, in kernels alone.
// RUN: rs-opt %s --expand-complex | FileCheck %s
// CHECK: loop.kernel @k0
// CHECK-NOT: complex.mul
// CHECK: %[[A:.*]] = complex.re %[[X:.*]] : complex<f32>
// CHECK-COUNT-4: arith.mulf
// A part of what is made of parts is that part.
// CHECK-NOT: complex.create
// CHECK: math.sqrt
// CHECK-NOT: complex.create
// CHECK: loop.return
// CHECK: loop.kernel @k1
// CHECK: complex.create %{{.*}}, %{{.*}} : complex<f32>
// CHECK-NOT: arith
// CHECK: func.func @other
// CHECK: complex.add
#map = affine_map<() -> (100)>
#map1 = affine_map<(d0) -> (d0)>
module {
  loop.kernel @k0 {shapes = [#map, #map], sizes = #map, symbols = array<i64>} : () -> () {
  ^bb0(%x: tensor<100xcomplex<f32>>):
    %0 = loop.stage %x {domain = array<i64: 0>, maps = [#map1], space = "buffer"} : (tensor<100xcomplex<f32>>) -> tensor<100xf32> {
    ^bb0(%a: complex<f32>):
      %1 = complex.mul %a, %a : complex<f32>
      %2 = complex.abs %1 : complex<f32>
      loop.yield %2 : f32
    }
    loop.return %0 : tensor<100xf32>
  }
  loop.kernel @k1 {shapes = [#map, #map], sizes = #map, symbols = array<i64>} : () -> () {
  ^bb0(%x: tensor<100xf32>):
    %0 = loop.stage %x {domain = array<i64: 0>, maps = [#map1], space = "buffer"} : (tensor<100xf32>) -> tensor<100xcomplex<f32>> {
    ^bb0(%a: f32):
      %1 = complex.create %a, %a : complex<f32>
      loop.yield %1 : complex<f32>
    }
    loop.return %0 : tensor<100xcomplex<f32>>
  }
  func.func @other(%a: complex<f32>) -> complex<f32> {
    %0 = complex.add %a, %a : complex<f32>
    return %0 : complex<f32>
  }
}
