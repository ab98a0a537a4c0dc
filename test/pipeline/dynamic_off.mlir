// RUN: rs-compile %s --dynamic=off --sizes=4x2: --emit=mlir --to=host | FileCheck %s
// RUN: rs-compile %s --dynamic=on --emit=mlir --to=host | FileCheck %s --check-prefix=ON
// RUN: not rs-compile %s --dynamic=off --emit=mlir --to=host 2>&1 | FileCheck %s --check-prefix=UNTOLD
// RUN: not rs-compile %s --dynamic=off --emit=asm 2>&1 | FileCheck %s --check-prefix=UNTOLD
// RUN: not rs-compile %s --dynamic=off --sizes=4x3: --emit=asm 2>&1 | FileCheck %s --check-prefix=WRONG

// With sizes that are told nothing is left to be asked of the call but its range.
// CHECK: func.func @main()
// CHECK-NOT: host.input_size
// CHECK: host.guard
// CHECK: host.output %{{.*}}, %{{.*}} {index = 0 : i64}
// CHECK-NOT: host.input_size
// CHECK: host.return

// ON: host.input_size
// UNTOLD: input 'x' has symbolic sizes, and `dynamic` is off; say the sizes of the call's inputs (`--sizes=4x8:3`)
// WRONG: input 0 is tensor<?x2xf32>, it cannot have the sizes [4, 3]
func.func @main(%x: tensor<?x2xf32> {capture.kind = "input", capture.name = "x"},
                %n: index {capture.kind = "input", capture.name = "n"})
    -> (tensor<?x2xf32> {capture.kind = "output"}) attributes {capture.entry} {
  %s = capture.dim %x {dim = 0 : i64, symbol = "s0", min = 3 : i64, max = 9 : i64} : (tensor<?x2xf32>) -> index
  %0 = aten.relu %x : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = aten.add.Tensor %0, %x : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}
