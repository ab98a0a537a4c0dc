// A pass runs on an exported program as on a typed one; a file that is none is refused in a line.
// RUN: rs-opt %S/../models/chain30.pt2 --to=prim | rs-filecheck %s
// RUN: not rs-opt %s.pt2 --to=prim 2>&1 | rs-filecheck %s --check-prefix=REFUSED
// RUN: not rs-compile %S/../models/chain30.pt2 --cpu=zen3 --emit=asm 2>&1 | rs-filecheck %s --check-prefix=CPU
// CHECK: func.func @main
// CHECK-NOT: aten.
// CHECK: prim.
// REFUSED: rs-opt: {{.*}}exported.mlir.pt2: cannot be read
// CPU: no code generator for x86_64-unknown-linux-gnu with CPU zen3: LLVM knows no CPU of this name
// CPU-NOT: zen3
