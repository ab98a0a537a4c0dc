// What a factorisation or a transform puts aside is memory of the call: without it the call fails, and the process goes on.
// RUN: rs-run %s --no-cache 2>/dev/null | FileCheck %s
// RUN: not env STRATA_MEMORY_LIMIT=2M rs-run %s --no-cache 2>&1 | FileCheck %s --check-prefix=NONE
// CHECK: output out0: f32[256]
// NONE: out of memory: 2097152 bytes are asked for

func.func @main(%x: tensor<256x256xf32> {capture.kind = "input", capture.name = "x"},
                %y: tensor<8192xf32> {capture.kind = "input", capture.name = "y"})
    -> (tensor<256xf32> {capture.kind = "output"}, tensor<4097xcomplex<f32>> {capture.kind = "output"}) attributes {capture.entry} {
  %0:2 = aten._linalg_eigh %x {compute_v = false} : (tensor<256x256xf32>) -> (tensor<256xf32>, tensor<0xf32>)
  %1 = aten.fft_rfft %y : (tensor<8192xf32>) -> tensor<4097xcomplex<f32>>
  return %0#0, %1 : tensor<256xf32>, tensor<4097xcomplex<f32>>
}
