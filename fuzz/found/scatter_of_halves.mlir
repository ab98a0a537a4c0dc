// Halves that meet at one place are combined in f32 and rounded each time, also those too small to be normal: LLVM called a function of
// its own runtime library for bf16, and an instruction of newer CPUs makes them zeros, which infinity made NaN.
func.func @main(%x: tensor<5xf32> {capture.kind = "input", capture.name = "x"}, %u: tensor<7xf32> {capture.kind = "input", capture.name = "u"})
    -> (tensor<5xf32> {capture.kind = "output"}, tensor<5xf32> {capture.kind = "output"}, tensor<5xf16> {capture.kind = "output"}) attributes {capture.entry} {
  %i = prim.constant {value = dense<[0, 2, 4, 4, 1, 0, 0]> : tensor<7xi64>} : () -> tensor<7xi64>
  %tiny = prim.constant {value = dense<[1.0, 0x0010, 1.0, 0x7F80, 1.0, 0x7F80, 2.0]> : tensor<7xbf16>} : () -> tensor<7xbf16>
  %base = prim.constant {value = dense<[0x0080, 0x7F80, 3.0, 0x0040, 0x0010]> : tensor<5xbf16>} : () -> tensor<5xbf16>
  %0 = prim.convert %x : (tensor<5xf32>) -> tensor<5xbf16>
  %1 = prim.convert %u : (tensor<7xf32>) -> tensor<7xbf16>
  %2 = prim.scatter %0, %1, %i {dims = array<i64: 0>, kind = "add"} : (tensor<5xbf16>, tensor<7xbf16>, tensor<7xi64>) -> tensor<5xbf16>
  %3 = prim.scatter %base, %tiny, %i {dims = array<i64: 0>, kind = "mul"} : (tensor<5xbf16>, tensor<7xbf16>, tensor<7xi64>) -> tensor<5xbf16>
  %4 = prim.convert %2 : (tensor<5xbf16>) -> tensor<5xf32>
  %5 = prim.convert %3 : (tensor<5xbf16>) -> tensor<5xf32>
  %6 = prim.convert %x : (tensor<5xf32>) -> tensor<5xf16>
  %7 = prim.convert %u : (tensor<7xf32>) -> tensor<7xf16>
  %8 = prim.scatter %6, %7, %i {dims = array<i64: 0>, kind = "mul"} : (tensor<5xf16>, tensor<7xf16>, tensor<7xi64>) -> tensor<5xf16>
  return %4, %5, %8 : tensor<5xf32>, tensor<5xf32>, tensor<5xf16>
}
