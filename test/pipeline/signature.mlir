// A compiled program is code: with --verify-key it runs if the owner of the key signed it, and else not a byte of it is looked at.
// RUN: rs-compile %s -o %t.strata --sign-key %S/Inputs/signing_key.pem
// RUN: rs-run %t.strata --verify-key %S/Inputs/verifying_key.pem | FileCheck %s
// RUN: not rs-run %t.strata --verify-key %S/Inputs/other_key.pem 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: cp %t.strata %t.changed.strata; cp %t.strata.sig %t.changed.strata.sig; printf x >> %t.changed.strata
// RUN: rs-run %t.changed.strata | FileCheck %s
// RUN: not rs-run %t.changed.strata --verify-key %S/Inputs/verifying_key.pem 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: cp %t.strata %t.unsigned.strata
// RUN: not rs-run %t.unsigned.strata --verify-key %S/Inputs/verifying_key.pem 2>&1 | FileCheck %s --check-prefix=UNSIGNED
// RUN: not rs-run %s --verify-key %S/Inputs/verifying_key.pem 2>&1 | FileCheck %s --check-prefix=MODEL
// RUN: not rs-compile %s --emit=asm --sign-key %S/Inputs/signing_key.pem 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not rs-compile %s -o %t.none.strata --sign-key %S/Inputs/verifying_key.pem 2>&1 | FileCheck %s --check-prefix=KEY

// CHECK: output
// WRONG: strata.sig is not a signature of it by the owner of {{.*}}_key.pem; the program was not loaded
// WRONG-NOT: output
// UNSIGNED: unsigned.strata is not signed
// MODEL: --verify-key is for .strata files
// FORM: --sign-key signs what --emit=strata writes
// KEY: not an Ed25519 private key in PEM

func.func @main(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"})
    -> (tensor<4xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
