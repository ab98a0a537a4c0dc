// Captured in three parts: the program prints, then asks a value of its own. The second part has a guard and writes to its input.
func.func @main(%x: tensor<?x4xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<?x4xf32> {capture.kind = "output"}, tensor<?xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %x {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 64 : i64} : (tensor<?x4xf32>) -> index
  %0 = aten.exp %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = aten.sum.dim_IntList %0 {dim = array<i64: 1>} : (tensor<?x4xf32>) -> tensor<?xf32>
  capture.graph_break %0, %1 {resume = @resume_1, reason = "call of print at model.py:7"} : (tensor<?x4xf32>, tensor<?xf32>) -> ()
}

func.func @resume_1(%a: tensor<?x4xf32> {capture.kind = "input", capture.name = "a"}, %b: tensor<?xf32> {capture.kind = "input", capture.name = "b"})
    -> (tensor<?x4xf32> {capture.kind = "output"}) attributes {capture.resume} {
  %n = capture.dim %a {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 3 : i64} : (tensor<?x4xf32>) -> index
  capture.bind_dims %b, %n {shape = affine_map<()[s0] -> (s0)>} : (tensor<?xf32>, index) -> ()
  %0 = aten.mul_.Scalar %b {other = 0.5 : f64} : (tensor<?xf32>) -> tensor<?xf32>
  %1 = aten.unsqueeze %0 {dim = 1 : i64} : (tensor<?xf32>) -> tensor<?x1xf32>
  %2 = aten.div.Tensor %a, %1 : (tensor<?x4xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
  capture.graph_break %2 {resume = @resume_2, reason = "data-dependent branch at model.py:9"} : (tensor<?x4xf32>) -> ()
}

func.func @resume_2(%a: tensor<?x4xf32> {capture.kind = "input", capture.name = "a"}) -> (tensor<?x4xf32> {capture.kind = "output"})
    attributes {capture.resume} {
  %0 = aten.neg %a : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
