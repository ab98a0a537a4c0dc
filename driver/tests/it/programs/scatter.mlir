// Rows added and rows replaced at computed places, some of them more than once.
func.func @main(%x: tensor<9x40xf32> {capture.kind = "input", capture.name = "x"},
                %i: tensor<70xi64> {capture.kind = "input", capture.name = "i"},
                %u: tensor<70x40xf32> {capture.kind = "input", capture.name = "u"})
    -> (tensor<9x40xf32> {capture.kind = "output"}, tensor<9x40xf32> {capture.kind = "output"}, tensor<9xi64> {capture.kind = "output"},
        tensor<9x40xf16> {capture.kind = "output"}, tensor<9x40xbf16> {capture.kind = "output"})
    attributes {capture.entry} {
  %0 = prim.scatter %x, %u, %i {dims = array<i64: 0>, kind = "add"} : (tensor<9x40xf32>, tensor<70x40xf32>, tensor<70xi64>) -> tensor<9x40xf32>
  %1 = prim.scatter %x, %u, %i {dims = array<i64: 0>, kind = "set"} : (tensor<9x40xf32>, tensor<70x40xf32>, tensor<70xi64>) -> tensor<9x40xf32>
  %z = prim.constant {value = dense<0> : tensor<9xi64>} : tensor<9xi64>
  %2 = prim.scatter %z, %i, %i {dims = array<i64: 0>, kind = "max"} : (tensor<9xi64>, tensor<70xi64>, tensor<70xi64>) -> tensor<9xi64>
  %hx = prim.convert %x : (tensor<9x40xf32>) -> tensor<9x40xf16>
  %hu = prim.convert %u : (tensor<70x40xf32>) -> tensor<70x40xf16>
  %3 = prim.scatter %hx, %hu, %i {dims = array<i64: 0>, kind = "add"} : (tensor<9x40xf16>, tensor<70x40xf16>, tensor<70xi64>) -> tensor<9x40xf16>
  %bx = prim.convert %x : (tensor<9x40xf32>) -> tensor<9x40xbf16>
  %bu = prim.convert %u : (tensor<70x40xf32>) -> tensor<70x40xbf16>
  %4 = prim.scatter %bx, %bu, %i {dims = array<i64: 0>, kind = "add"} : (tensor<9x40xbf16>, tensor<70x40xbf16>, tensor<70xi64>) -> tensor<9x40xbf16>
  return %0, %1, %2, %3, %4 : tensor<9x40xf32>, tensor<9x40xf32>, tensor<9xi64>, tensor<9x40xf16>, tensor<9x40xbf16>
}
