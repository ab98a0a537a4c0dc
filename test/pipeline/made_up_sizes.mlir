// Without inputs a program runs on sizes that it takes: in their ranges, and related as it says.
// RUN: rs-run %s --no-cache 2>&1 | FileCheck %s

// CHECK: no --inputs: made-up values of sizes that the program takes
// CHECK: [8, 4]
func.func @main(%x: tensor<?x4xf32> {capture.kind = "input", capture.name = "x"}, %y: tensor<?x4xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<?x4xf32> {capture.kind = "output"}, tensor<?x4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %s = capture.dim %x {dim = 0 : i64, symbol = "s0", min = 8 : i64, max = 100 : i64} : (tensor<?x4xf32>) -> index
  capture.bind_dims %y, %s {shape = affine_map<()[s0] -> (s0 * 2, 4)>} : (tensor<?x4xf32>, index) -> ()
  %0 = aten.relu %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = aten.relu %y : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32>
}
