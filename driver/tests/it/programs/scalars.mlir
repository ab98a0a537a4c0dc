// Numbers of the call: an int, a float and a bool, as operands of operators, as a condition and in a guard.
func.func @main(%x: tensor<?xf32> {capture.kind = "input", capture.name = "x"}, %n: index {capture.kind = "input", capture.name = "n"},
                %f: f64 {capture.kind = "input", capture.name = "f"}, %b: i1 {capture.kind = "input", capture.name = "b"})
    -> (tensor<?xf32> {capture.kind = "output"}, tensor<?x3xf32> {capture.kind = "output"}, index {capture.kind = "output"})
    attributes {capture.entry} {
  %s = capture.dim %x {dim = 0 : i64, symbol = "s", min = 0 : i64, max = 64 : i64} : (tensor<?xf32>) -> index
  %c8 = arith.constant 8 : index
  %small = arith.cmpi sle, %n, %c8 : index
  capture.guard %small {text = "n <= 8"} : i1
  %0 = aten.mul.Scalar %x, %f {other = -9223372036854775808 : i64} : (tensor<?xf32>, f64) -> tensor<?xf32>
  %1 = scf.if %b -> (tensor<?xf32>) {
    %2 = aten.add.Scalar %0, %n {other = -9223372036854775808 : i64} : (tensor<?xf32>, index) -> tensor<?xf32>
    scf.yield %2 : tensor<?xf32>
  } else {
    scf.yield %0 : tensor<?xf32>
  }
  %3 = aten.full %n {size = array<i64: -9223372036854775808, 3>, fill_value = 2.5 : f64, dtype = f32} : (index) -> tensor<?x3xf32>
  %c2 = arith.constant 2 : index
  %4 = arith.muli %n, %c2 : index
  return %1, %3, %4 : tensor<?xf32>, tensor<?x3xf32>, index
}
