// RUN: rs-opt %s --pass-pipeline='builtin.module(func.func(plan-memory))' --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --pass-pipeline='builtin.module(func.func(plan-memory{remarks}))' --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY
// WHY: remark: its size is not known, and no buffer of the same size is dead [plan-memory]

// The first buffer is dead when the third is needed: two buffers' worth of memory serve three.
// CHECK-LABEL: func.func @main() attributes {host.arena_bytes = 8192 : i64, host.entry}
// CHECK: %[[BYTES:.*]] = arith.constant 8192 : index
// CHECK-NEXT: %[[ARENA:.*]] = host.arena %[[BYTES]]
// CHECK: %[[A:.*]] = host.slice %[[ARENA]]
// CHECK: %[[B:.*]] = host.slice %[[ARENA]]
// CHECK: %[[C:.*]] = host.slice %[[ARENA]]
// CHECK-NOT: host.alloc
func.func @main() attributes {host.entry} {
  %n = arith.constant 1024 : index
  %x = host.input {index = 0 : i64} : memref<?xf32>
  %a = host.alloc %n : (index) -> memref<?xf32>
  host.launch %x, %a {callee = @k0, outputs = 1 : i64} : memref<?xf32>
  %b = host.alloc %n : (index) -> memref<?xf32>
  host.launch %a, %b {callee = @k0, outputs = 1 : i64} : memref<?xf32>
  %c = host.alloc %n : (index) -> memref<?xf32>
  host.launch %b, %c {callee = @k0, outputs = 1 : i64} : memref<?xf32>
  %y = host.output {index = 0 : i64} : memref<?xf32>
  host.launch %c, %y {callee = @k0, outputs = 1 : i64} : memref<?xf32>
  host.return
}

// -----

// A buffer that is still needed keeps its memory.
// CHECK-LABEL: func.func @main() attributes {host.arena_bytes = 12288 : i64, host.entry}
func.func @main() attributes {host.entry} {
  %n = arith.constant 1024 : index
  %x = host.input {index = 0 : i64} : memref<?xf32>
  %a = host.alloc %n : (index) -> memref<?xf32>
  %b = host.alloc %n : (index) -> memref<?xf32>
  %c = host.alloc %n : (index) -> memref<?xf32>
  host.launch %a, %b, %c {callee = @k0, outputs = 2 : i64} : memref<?xf32>
  host.return
}

// -----

// What a region hands on lives as long as the results do.
// CHECK-LABEL: func.func @main() attributes {host.arena_bytes = 12288 : i64, host.entry}
func.func @main() attributes {host.entry} {
  %n = arith.constant 1024 : index
  %true = arith.constant true
  %x = host.input {index = 0 : i64} : memref<?xf32>
  %r = scf.if %true -> (memref<?xf32>) {
    %a = host.alloc %n : (index) -> memref<?xf32>
    host.launch %x, %a {callee = @k0, outputs = 1 : i64} : memref<?xf32>
    scf.yield %a : memref<?xf32>
  } else {
    %b = host.alloc %n : (index) -> memref<?xf32>
    host.launch %x, %b {callee = @k0, outputs = 1 : i64} : memref<?xf32>
    scf.yield %b : memref<?xf32>
  }
  %c = host.alloc %n : (index) -> memref<?xf32>
  host.launch %r, %c {callee = @k0, outputs = 1 : i64} : memref<?xf32>
  host.return
}

// -----

// Buffers of one symbolic size take over each other's memory.
// CHECK-LABEL: func.func @main()
// CHECK: %[[A:.*]] = host.alloc
// CHECK: %[[B:.*]] = host.alloc
// CHECK-NOT: host.alloc
// CHECK: host.launch %[[B]], %[[A]]
func.func @main() attributes {host.entry} {
  %n = host.input_size {dim = 0 : i64, index = 0 : i64} : index
  %x = host.input {index = 0 : i64} : memref<?xf32>
  %a = host.alloc %n : (index) -> memref<?xf32>
  host.launch %x, %a {callee = @k0, outputs = 1 : i64} : memref<?xf32>
  %b = host.alloc %n : (index) -> memref<?xf32>
  host.launch %a, %b {callee = @k0, outputs = 1 : i64} : memref<?xf32>
  %c = host.alloc %n : (index) -> memref<?xf32>
  host.launch %b, %c {callee = @k0, outputs = 1 : i64} : memref<?xf32>
  host.return
}

// -----

// What no process can address is asked for where it is needed, and not had.
// CHECK-LABEL: func.func @main() attributes {host.arena_bytes = 64 : i64, host.entry}
// CHECK: host.alloc
// CHECK-NOT: host.alloc
func.func @main() attributes {host.entry} {
  %n = arith.constant 4611686018427387904 : index
  %m = arith.constant 8 : index
  %x = host.input {index = 0 : i64} : memref<?xf32>
  %a = host.alloc %n : (index) -> memref<?xf32>
  host.launch %x, %a {callee = @k0, outputs = 1 : i64} : memref<?xf32>
  %b = host.alloc %m : (index) -> memref<?xf32>
  host.launch %a, %b {callee = @k0, outputs = 1 : i64} : memref<?xf32>
  host.return
}
