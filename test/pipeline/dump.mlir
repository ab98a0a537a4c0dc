// --dump keeps the results of a run: a file in the form of --expect, under the name of the inputs, and never over them.
// RUN: rs-run --no-cache %s --dump %t.made && test -s %t.made/dump.safetensors
// RUN: cp %S/Inputs/weights_given.safetensors %t.in.safetensors
// RUN: rs-run --no-cache %s --inputs %t.in.safetensors --dump %t.given
// RUN: rs-run --no-cache %s --inputs %t.in.safetensors --expect %t.given/$(basename %t).in.safetensors | FileCheck %s
// RUN: not rs-run --no-cache %s --inputs %t.in.safetensors --dump $(dirname %t.in.safetensors) 2>&1 | FileCheck %s --check-prefix=OVER

// CHECK: as expected
// OVER: the results would be written over the inputs

func.func @main(%x: tensor<?x3xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<?x3xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.neg %x : tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
