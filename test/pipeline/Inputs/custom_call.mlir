// A kernel between other operators, on sizes of the call.
func.func @main(%x: tensor<?x?xf32> {capture.kind = "input", capture.name = "x"}, %bytes: tensor<?xui8> {capture.kind = "input", capture.name = "bytes"}) -> (tensor<?x?xf32> {capture.kind = "output"}, tensor<?xi64> {capture.kind = "output"}, tensor<?xi1> {capture.kind = "output"}) attributes {capture.entry} {
  %factor = arith.constant 0.5 : f64
  %hundred = arith.constant 100 : index
  %true = arith.constant true
  %rows = aten.sym_size.int %x {dim = 0 : i64} : (tensor<?x?xf32>) -> index
  %cols = aten.sym_size.int %x {dim = 1 : i64} : (tensor<?x?xf32>) -> index
  %one = arith.constant 1 : index
  %less = arith.subi %cols, %one : index
  %0 = aten.mul.Tensor %x, %x : tensor<?x?xf32>
  %out = aten.new_empty %x, %rows, %less {size = array<i64: -9223372036854775808, -9223372036854775808>} : (tensor<?x?xf32>, index, index) -> tensor<?x?xf32>
  %1 = capture.custom_call %0, %factor, %out {library = "libkernels.so", symbol = "neighbours"} : (tensor<?x?xf32>, f64, tensor<?x?xf32>) -> tensor<?x?xf32>
  %2 = aten.relu %1 : tensor<?x?xf32>
  %n = aten.sym_size.int %bytes {dim = 0 : i64} : (tensor<?xui8>) -> index
  %sums = aten.new_empty %bytes, %n {size = array<i64: -9223372036854775808>, dtype = i64} : (tensor<?xui8>, index) -> tensor<?xi64>
  %flags = aten.new_empty %bytes, %n {size = array<i64: -9223372036854775808>, dtype = i1} : (tensor<?xui8>, index) -> tensor<?xi1>
  %3:2 = capture.custom_call %bytes, %hundred, %true, %sums, %flags {library = "libkernels.so", symbol = "split"} : (tensor<?xui8>, index, i1, tensor<?xi64>, tensor<?xi1>) -> (tensor<?xi64>, tensor<?xi1>)
  return %2, %3#0, %3#1 : tensor<?x?xf32>, tensor<?xi64>, tensor<?xi1>
}
