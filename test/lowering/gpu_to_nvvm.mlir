// RUN: rs-opt %s --gpu-to-nvvm | rs-filecheck %s

// Special registers, exchanges and barriers are NVVM's; a square root is an instruction, not a call.
// CHECK: gpu.module @device
// CHECK: llvm.func @k(%{{.*}}: !llvm.ptr) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>}
// CHECK: nvvm.read.ptx.sreg.tid.x : i32
// CHECK: nvvm.shfl.sync bfly
// CHECK: nvvm.barrier0
// CHECK: llvm.intr.sqrt
// CHECK-NOT: gpu.thread_id
module attributes {gpu.container_module} {
  gpu.module @device {
    gpu.func @k(%p: !llvm.ptr) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %thread = gpu.thread_id x
      %at = arith.index_cast %thread : index to i64
      %place = llvm.getelementptr %p[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      %x = llvm.load %place {alignment = 4 : i64} : !llvm.ptr -> f32
      %distance = arith.constant 1 : i32
      %width = arith.constant 32 : i32
      %y, %valid = gpu.shuffle xor %x, %distance, %width : f32
      gpu.barrier
      %z = math.sqrt %y : f32
      llvm.store %z, %place {alignment = 4 : i64} : f32, !llvm.ptr
      gpu.return
    }
  }
}
