// A weight of known sizes is packed before the program runs, although the rows of the product are symbolic: its copy depends on no size.
//
// RUN: rs-compile %s --cpu=x86-64-v4 --emit=mlir --to=loop-scheduled | rs-filecheck %s
//
// CHECK: func.func @main(
// CHECK-NOT: callee = @k0.pack
// CHECK: loop.call {{.*}} {callee = @k0}
// CHECK: func.func @prepare(
// CHECK: loop.call %arg0 {callee = @k0.pack1} : (tensor<512x256xf32>) -> tensor<16x256x32xf32>
func.func @main(%x: tensor<?x256xf32> {capture.kind = "input", capture.name = "x"}, %w: tensor<512x256xf32> {capture.kind = "parameter", capture.name = "w"}) -> (tensor<?x512xf32> {capture.kind = "output", capture.name = "y"}) attributes {capture.entry} {
  %s = capture.dim %x {dim = 0 : i64, symbol = "s0", min = 2 : i64, max = 4096 : i64} : (tensor<?x256xf32>) -> index
  %0 = aten.t %w : (tensor<512x256xf32>) -> tensor<256x512xf32>
  %1 = aten.mm %x, %0 : (tensor<?x256xf32>, tensor<256x512xf32>) -> tensor<?x512xf32>
  return %1 : tensor<?x512xf32>
}
