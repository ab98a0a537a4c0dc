// RUN: rs-opt %s --loop-to-cpu --split-input-file | rs-filecheck %s

// The entry of a program for a device: kernels are started by number, with a word for each argument; a constant is asked for as the
// device has it; what the host computes works on copies.
// CHECK: func.func @strata_entry
// CHECK: %[[SIZE:.*]] = arith.index_cast
// CHECK: %[[C:.*]] = call @strata_device_constant(%arg0, {{.*}}, %{{.*}}) : (!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr
// CHECK: call @strata_workspace
// CHECK: arith.floordivsi
// CHECK: llvm.store %[[C]]
// CHECK: call @strata_device_launch(%arg0, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!llvm.ptr, i64, i64, !llvm.ptr, i64) -> ()
// CHECK: %[[IN:.*]] = call @strata_device_stage
// CHECK: %[[OUT:.*]] = call @strata_device_stage
// CHECK: call @strata_lib_cholesky(%arg0, %{{.*}}, %[[IN]], %[[OUT]]
// CHECK: call @strata_device_unstage(%arg0)
// CHECK: call @strata_device_read(%arg0, %{{.*}}, %[[WORDS:.*]], %{{.*}}) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64) -> ()
// CHECK: llvm.load %[[WORDS]]
// CHECK: call @strata_device_copy
// CHECK-NOT: @strata_copy
module attributes {gpu.container_module} {
  func.func @main() attributes {host.entry} {
    %type = arith.constant 1 : i32
    %options = arith.constant 0 : i32
    %n = host.input_size {index = 0 : i64, dim = 0 : i64} : () -> index
    %c = host.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> memref<?xf32>
    %t = host.alloc %n : (index) -> memref<?xf32>
    %u = host.alloc %n : (index) -> memref<?xf32>
    host.launch %c, %n, %t {callee = @k, outputs = 1 : i64} : (memref<?xf32>, index, memref<?xf32>) -> ()
    host.extern %type, %t, %u, %n, %n, %options {name = "strata_lib_cholesky", extents = affine_map<()[s0, s1] -> (s0 * s1, s0 * s1)>}
        : (i32, memref<?xf32>, memref<?xf32>, index, index, i32) -> ()
    %x = host.load %u : (memref<?xf32>) -> f32
    %o = host.output %n {index = 0 : i64} : (index) -> memref<?xf32>
    host.copy %u, %o, %n : (memref<?xf32>, memref<?xf32>, index) -> ()
    host.return
  }
  gpu.module @device {
    gpu.func @k(%a: !llvm.ptr, %n: index, %out: !llvm.ptr, %status: !llvm.ptr) kernel
        attributes {known_block_size = array<i32: 128, 1, 1>, host.grid = affine_map<()[s0] -> (s0 ceildiv 128)>, host.symbols = array<i64: 1>} {
      gpu.return
    }
  }
}
