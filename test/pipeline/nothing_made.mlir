// Where all that is made of a tensor has no elements there is none: a softmax over nothing takes no memory for the maxima of its lines.
// RUN: STRATA_MEMORY_LIMIT=1G rs-run --no-cache %s --inputs %S/Inputs/lines_of_nothing.safetensors | FileCheck %s
// RUN: rs-run --no-cache %s > %t.fast && rs-run --no-cache --skip=split-reductions,keep-rows %s > %t.plain && diff %t.fast %t.plain
// RUN: rs-opt %s --to=host | FileCheck %s --check-prefix=HOST
// CHECK: output out0: f32[10000000000, 0] = []

// HOST: %[[WIDTH:[0-9]+]] = host.input_size {dim = 1
// HOST: %[[LINES:[0-9]+]] = host.elements %{{[0-9]+}} {bytes
// HOST: %[[SOME:[0-9]+]] = arith.cmpi ne, %[[WIDTH]], %c0
// HOST-NEXT: %[[MAXIMA:[0-9]+]] = arith.select %[[SOME]], %[[LINES]], %c0
// HOST-NEXT: host.alloc %[[MAXIMA]]

func.func @main(%x: tensor<?x?xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<?x?xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %n = capture.dim %x {dim = 0 : i64, symbol = "n", min = 0 : i64, max = 1000000000000 : i64} : (tensor<?x?xf32>) -> index
  %m = capture.dim %x {dim = 1 : i64, symbol = "m", min = 0 : i64, max = 1000000000000 : i64} : (tensor<?x?xf32>) -> index
  %0 = aten.softmax.int %x {dim = 1 : i64} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
