// RUN: rs-opt %s --lower-to-llvm | FileCheck %s
// RUN: rs-opt %s --lower-to-llvm | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=IR

// CHECK-LABEL: llvm.func @relu(
// CHECK-NOT: vector.
// CHECK-NOT: scf.
// One compare and a select with the constant first: a single instruction that lets NaN through.
// CHECK: %[[ZERO:.+]] = llvm.mlir.constant(dense<0.000000e+00> : vector<16xf32>)
// CHECK: %[[WINS:.+]] = llvm.fcmp "ogt" %[[ZERO]], %[[X:.+]] : vector<16xf32>
// CHECK: llvm.select %[[WINS]], %[[ZERO]], %[[X]]
// IR-LABEL: define void @relu(
// IR: fcmp ogt <16 x float> zeroinitializer
func.func @relu(%p: !llvm.ptr, %n: index) {
  %begin = arith.constant 0 : index
  %step = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  scf.for %i = %begin to %n step %step {
    %at = arith.index_cast %i : index to i64
    %q = llvm.getelementptr %p[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %x = llvm.load %q {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
    %y = arith.maximumf %x, %zero : vector<16xf32>
    llvm.store %y, %q {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  }
  return
}

// No step of this conversion is a call.
// CHECK-LABEL: llvm.func @narrow(
// CHECK: llvm.fptrunc %{{.+}} : f64 to f32
// CHECK: llvm.fptrunc %{{.+}} : f32 to f16
// IR-LABEL: define half @narrow(
func.func @narrow(%x: f64) -> f16 {
  %y = arith.truncf %x : f64 to f16
  return %y : f16
}
