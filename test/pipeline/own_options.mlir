// Our own options are a part of the help; a tool whose reader goes away ends without a word.
// RUN: rs-opt --help | FileCheck %s
// RUN: { rs-opt --op-coverage 2>%t.err || true; } | head -n 1 | FileCheck %s --check-prefix=FIRST
// RUN: FileCheck %s --check-prefix=QUIET --allow-empty --input-file=%t.err

// CHECK: OWN OPTIONS
// CHECK: --from=LEVEL --to=LEVEL
// CHECK: --check-semantics
// CHECK: MLIR'S OPTIONS
// CHECK: --fuse-elementwise

// FIRST: aten.
// QUIET-NOT: {{.}}
