// Complex numbers in lanes: rows that are no multiple of them, backwards, turned around, side by side, from computed places, summed and scanned.
// RUN: rs-run %s > %t.lanes
// RUN: rs-run %s --skip schedule-cpu > %t.alone && diff %t.lanes %t.alone
// RUN: rs-run %s --skip expand-complex > %t.whole && diff %t.lanes %t.whole
// RUN: rs-opt %s --attach-target=cpu=x86-64-v3 -o %t.v3.mlir && rs-run %t.v3.mlir > %t.v3 && diff %t.lanes %t.v3

// Whole numbers, so that no order of additions differs.
func.func @main(%x: tensor<45x77xcomplex<f32>> {capture.kind = "input", capture.name = "x"},
                %y: tensor<45x77xcomplex<f32>> {capture.kind = "input", capture.name = "y"},
                %d: tensor<45x37xcomplex<f64>> {capture.kind = "input", capture.name = "d"},
                %i: tensor<60xi64> {capture.kind = "input", capture.name = "i"})
    -> (tensor<45x77xcomplex<f32>> {capture.kind = "output"}, tensor<77x45xcomplex<f32>> {capture.kind = "output"},
        tensor<45x77xcomplex<f32>> {capture.kind = "output"}, tensor<45x77x2xcomplex<f32>> {capture.kind = "output"},
        tensor<45xcomplex<f32>> {capture.kind = "output"}, tensor<77xcomplex<f32>> {capture.kind = "output"},
        tensor<45x60xcomplex<f32>> {capture.kind = "output"}, tensor<45x77xi1> {capture.kind = "output"},
        tensor<37x45xcomplex<f64>> {capture.kind = "output"}, tensor<45x37xcomplex<f64>> {capture.kind = "output"},
        tensor<45xcomplex<f64>> {capture.kind = "output"}, tensor<49x77xcomplex<f32>> {capture.kind = "output"}) attributes {capture.entry} {
  %scale = prim.constant {value = dense<8.0> : tensor<f32>} : tensor<f32>
  %wide = prim.broadcast %scale {dims = array<i64>} : (tensor<f32>) -> tensor<45x77xf32>
  %xr = prim.real %x : (tensor<45x77xcomplex<f32>>) -> tensor<45x77xf32>
  %xi = prim.imag %x : (tensor<45x77xcomplex<f32>>) -> tensor<45x77xf32>
  %xs = prim.mul %xr, %wide : tensor<45x77xf32>
  %xt = prim.mul %xi, %wide : tensor<45x77xf32>
  %xf = prim.floor %xs : tensor<45x77xf32>
  %xg = prim.floor %xt : tensor<45x77xf32>
  %a = prim.complex %xf, %xg : (tensor<45x77xf32>, tensor<45x77xf32>) -> tensor<45x77xcomplex<f32>>
  %p = prim.mul %a, %y : tensor<45x77xcomplex<f32>>
  %q = prim.sub %p, %a : tensor<45x77xcomplex<f32>>
  %t = prim.transpose %a {perm = array<i64: 1, 0>} : (tensor<45x77xcomplex<f32>>) -> tensor<77x45xcomplex<f32>>
  %f = prim.reverse %y {dims = array<i64: 1>} : (tensor<45x77xcomplex<f32>>) -> tensor<45x77xcomplex<f32>>
  %a1 = prim.reshape %a : (tensor<45x77xcomplex<f32>>) -> tensor<45x77x1xcomplex<f32>>
  %y1 = prim.reshape %y : (tensor<45x77xcomplex<f32>>) -> tensor<45x77x1xcomplex<f32>>
  %s = prim.concat %a1, %y1 {dim = 2 : i64} : (tensor<45x77x1xcomplex<f32>>, tensor<45x77x1xcomplex<f32>>) -> tensor<45x77x2xcomplex<f32>>
  %r = prim.reduce %a {dims = array<i64: 1>, kind = "sum"} : (tensor<45x77xcomplex<f32>>) -> tensor<45xcomplex<f32>>
  %c = prim.reduce %a {dims = array<i64: 0>, kind = "sum"} : (tensor<45x77xcomplex<f32>>) -> tensor<77xcomplex<f32>>
  %g = prim.gather %y, %i {dims = array<i64: 1>} : (tensor<45x77xcomplex<f32>>, tensor<60xi64>) -> tensor<60x45xcomplex<f32>>
  %h = prim.transpose %g {perm = array<i64: 1, 0>} : (tensor<60x45xcomplex<f32>>) -> tensor<45x60xcomplex<f32>>
  %e = prim.eq %a, %y : (tensor<45x77xcomplex<f32>>, tensor<45x77xcomplex<f32>>) -> tensor<45x77xi1>
  %u = prim.transpose %d {perm = array<i64: 1, 0>} : (tensor<45x37xcomplex<f64>>) -> tensor<37x45xcomplex<f64>>
  %v = prim.neg %d : tensor<45x37xcomplex<f64>>
  %dr = prim.real %d : (tensor<45x37xcomplex<f64>>) -> tensor<45x37xf64>
  %df = prim.floor %dr : tensor<45x37xf64>
  %dc = prim.complex %df, %df : (tensor<45x37xf64>, tensor<45x37xf64>) -> tensor<45x37xcomplex<f64>>
  %w = prim.reduce %dc {dims = array<i64: 1>, kind = "sum"} : (tensor<45x37xcomplex<f64>>) -> tensor<45xcomplex<f64>>
  %zero = prim.constant {value = dense<(0.0, 0.0)> : tensor<complex<f32>>} : tensor<complex<f32>>
  %o = prim.pad %a, %zero {low = array<i64: 1, 3>, high = array<i64: 3, -3>, interior = array<i64: 0, 0>} : (tensor<45x77xcomplex<f32>>, tensor<complex<f32>>) -> tensor<49x77xcomplex<f32>>
  return %q, %t, %f, %s, %r, %c, %h, %e, %u, %v, %w, %o : tensor<45x77xcomplex<f32>>, tensor<77x45xcomplex<f32>>, tensor<45x77xcomplex<f32>>, tensor<45x77x2xcomplex<f32>>, tensor<45xcomplex<f32>>, tensor<77xcomplex<f32>>, tensor<45x60xcomplex<f32>>, tensor<45x77xi1>, tensor<37x45xcomplex<f64>>, tensor<45x37xcomplex<f64>>, tensor<45xcomplex<f64>>, tensor<49x77xcomplex<f32>>
}
