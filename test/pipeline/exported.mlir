// A pass runs on an exported program as on a typed one; a file that is none is refused in a line.
// RUN: rs-opt %S/../models/chain30.pt2 --to=prim | rs-filecheck %s
// RUN: not rs-opt %s.pt2 --to=prim 2>&1 | rs-filecheck %s --check-prefix=REFUSED
// RUN: not rs-compile %S/../models/chain30.pt2 --cpu=zen3 --emit=asm 2>&1 | rs-filecheck %s --check-prefix=CPU
// Its ops say where in the Python program they are, in diagnostics and where locations are asked for.
// RUN: rs-opt %S/Inputs/places.json | rs-filecheck %s --check-prefix=PLAIN
// RUN: rs-opt %S/Inputs/places.json --mlir-print-debuginfo | rs-filecheck %s --check-prefix=PLACES
// RUN: not rs-opt %S/Inputs/places.json --verify-level=level=prim 2>&1 | rs-filecheck %s --check-prefix=SAID
// CHECK: func.func @main
// CHECK-NOT: aten.
// CHECK: prim.
// PLAIN: aten.sin
// PLAIN-NOT: loc(
// PLACES: aten.sin
// PLACES: loc("layers.py":6:1)
// SAID: layers.py:6:1: error: 'aten.sin' op breaks the contract of level 'prim'
// REFUSED: rs-opt: {{.*}}exported.mlir.pt2: cannot be read
// CPU: no code generator for x86_64-unknown-linux-gnu with CPU zen3: LLVM knows no CPU of this name
// CPU-NOT: zen3
