// RUN: rs-opt %s --attach-target=cpu=x86-64-v3 | rs-filecheck %s
// RUN: rs-opt %s --attach-target='cpu=skylake-avx512 entries={vector_bits = 256, l1 = {ways = 12}}' | rs-filecheck %s --check-prefix=ENTRIES
// RUN: rs-opt %s --attach-target=cpu=x86-64-v3 --attach-target='entries={gigahertz = 2.5}' | rs-filecheck %s --check-prefix=TWICE
// RUN: not rs-opt %s --attach-target 2>&1 | rs-filecheck %s --check-prefix=NOTHING
// RUN: not rs-opt %s --attach-target=cpu=zen3 2>&1 | rs-filecheck %s --check-prefix=UNKNOWN
// RUN: not rs-opt %s --attach-target='entries={vector_bit = 256}' 2>&1 | rs-filecheck %s --check-prefix=ENTRY
// RUN: not rs-opt %s --attach-target='entries={vector_bits = 200}' 2>&1 | rs-filecheck %s --check-prefix=VALUE
// RUN: not rs-opt %s --attach-target='entries={l2 = {way = 8}}' 2>&1 | rs-filecheck %s --check-prefix=NESTED
// RUN: rs-opt %s --attach-target='gpu=sm_90 entries={multiprocessors = 66, l2 = {bytes = 1048576}}' | rs-filecheck %s --check-prefix=GPU
// RUN: not rs-opt %s --attach-target=gpu=sm_70 2>&1 | rs-filecheck %s --check-prefix=ARCHITECTURE
// RUN: not rs-opt %s --attach-target='gpu=sm_90 cpu=znver3' 2>&1 | rs-filecheck %s --check-prefix=BOTH
// RUN: not rs-opt %s --attach-target='gpu=sm_90 entries={warp = 64}' 2>&1 | rs-filecheck %s --check-prefix=WARP
// RUN: not rs-opt %s --attach-target='gpu=sm_90 entries={shared = {byte = 64}}' 2>&1 | rs-filecheck %s --check-prefix=SHARED

// CHECK: module attributes {target.cpu = {cpu = "x86-64-v3", cycles = {{.*}}, features = "{{.*}}+avx2{{.*}}", {{.*}}vector_bits = 256 : i64, vector_registers = 16 : i64}}

// What is not said stays as the CPU has it: Intel's, with 32 KiB and 32 registers.
// ENTRIES: l1 = {bytes = 32768 : i64, {{.*}}, ways = 12 : i64}
// ENTRIES-SAME: shared_fill_buffers = true
// ENTRIES-SAME: vector_bits = 256 : i64, vector_registers = 32 : i64

// TWICE: cpu = "x86-64-v3"
// TWICE-SAME: gigahertz = 2.5

// GPU: module attributes {target.gpu = {architecture = "sm_90", blocks = 32 : i64, device = "NVIDIA H100 80GB HBM3"
// GPU-SAME: l2 = {bytes = 1048576 : i64, gigabytes_per_second = 9.369600e+03
// GPU-SAME: multiprocessors = 66 : i64

// ARCHITECTURE: error: {{.*}}there is no description of a GPU 'sm_70'; there are those of sm_80, {{.*}}NVIDIA H100 PCIe
// BOTH: error: {{.*}}it attaches one machine at a time
// WARP: error: {{.*}}the GPU's 'warp' is not 32, the number that kernels are written for
// SHARED: error: {{.*}}the shared memory has no entry 'byte'
// NOTHING: error: {{.*}}it has nothing to attach: name a CPU
// UNKNOWN: error: {{.*}}no code generator for x86_64-unknown-linux-gnu with CPU zen3: LLVM knows no CPU of this name
// ENTRY: error: {{.*}}the target has no entry 'vector_bit'; docs/src/reference/target.md lists the entries
// VALUE: error: {{.*}}the target's 'vector_bits' is not a power of two from 64 to 2048
// NESTED: error: {{.*}}the cache has no entry 'way'
func.func @f() {
  return
}
