// Long chains of functions are cut into parts, each a loop of its own over a strip; what one part leaves for another is kept for a strip.
// RUN: rs-opt %s --attach-target=cpu=x86-64-v3 --prim-to-loop --schedule-cpu --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --attach-target=cpu=x86-64-v3 --prim-to-loop --schedule-cpu --loop-to-host --loop-to-cpu --split-input-file | rs-filecheck %s --check-prefix=CPU

// The parts in between compute whole vectors, also where the last one is not full.
// CHECK-LABEL: loop.kernel @k0
// CHECK-SAME: unroll = array<i64: 1>
// CHECK: schedule = {distribute = array<i64: 2, 3, 4>, strip = 256 : i64}
// CPU-LABEL: func.func private @k0(
// CPU: %[[STRIP:.*]] = llvm.alloca
// CPU-NOT: llvm.alloca
// CPU: scf.for %[[START:.*]] = %{{.*}} to %{{.*}} step
// CPU: scf.for %[[I:.*]] = %[[START]]
// CPU: %[[SIN:.*]] = math.sin
// CPU: llvm.getelementptr %[[STRIP]]
// CPU-NEXT: llvm.store %[[SIN]]
// CPU: masked.load
// CPU: math.sin
// CPU-NOT: masked
// CPU: scf.for
// CPU: math.exp
// CPU: llvm.getelementptr %[[STRIP]]
// CPU-NOT: masked
// CPU: scf.for
// CPU: math.cos
// CPU-NOT: masked
// CPU: scf.for
// CPU: math.exp
// CPU: scf.for
// CPU: math.exp
// CPU: masked.store
func.func @chain(%x: tensor<10001xf32>) -> tensor<10001xf32> {
  %0 = prim.fusion %x : (tensor<10001xf32>) -> tensor<10001xf32> {
  ^bb0(%a: tensor<10001xf32>):
    %1 = prim.neg %a : tensor<10001xf32>
    %2 = prim.sin %1 : tensor<10001xf32>
    %3 = prim.exp %2 : tensor<10001xf32>
    %4 = prim.cos %3 : tensor<10001xf32>
    %5 = prim.exp %4 : tensor<10001xf32>
    prim.yield %5 : (tensor<10001xf32>) -> ()
  }
  return %0 : tensor<10001xf32>
}

// -----

// Functions of one value share work and stay together. A sum needs no accumulators side by side then.
// CHECK-LABEL: loop.kernel @k0
// CHECK: reducer = "sum", schedule = {distribute = array<i64: 3, 6, 9>, strip = 256 : i64, unroll = 1 : i64, vector = 1 : i64, width = 8 : i64}
// CPU-LABEL: func.func private @k0(
// CPU: scf.for
// CPU: math.sin
// CPU-NOT: scf.for
// CPU: math.cos
// CPU: scf.for
// CPU: math.sin
// CPU-NOT: scf.for
// CPU: math.cos
// CPU: scf.for %{{.*}} iter_args
// CPU: math.sin
func.func @pairs(%x: tensor<8x512xf32>) -> tensor<8xf32> {
  %0 = prim.fusion %x : (tensor<8x512xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8x512xf32>):
    %1 = prim.sin %a : tensor<8x512xf32>
    %2 = prim.cos %a : tensor<8x512xf32>
    %3 = prim.add %1, %2 : tensor<8x512xf32>
    %4 = prim.sin %3 : tensor<8x512xf32>
    %5 = prim.cos %3 : tensor<8x512xf32>
    %6 = prim.add %4, %5 : tensor<8x512xf32>
    %7 = prim.sin %6 : tensor<8x512xf32>
    %8 = prim.cos %6 : tensor<8x512xf32>
    %9 = prim.add %7, %8 : tensor<8x512xf32>
    %11 = prim.sin %9 : tensor<8x512xf32>
    %12 = prim.cos %9 : tensor<8x512xf32>
    %13 = prim.add %11, %12 : tensor<8x512xf32>
    %10 = prim.reduce %13 {dims = array<i64: 1>, kind = "sum"} : (tensor<8x512xf32>) -> tensor<8xf32>
    prim.yield %10 : (tensor<8xf32>) -> ()
  }
  return %0 : tensor<8xf32>
}

// -----

// What is not there must not be divided: bodies that divide integers stay whole. So do short chains, whatever stands beside them.
// CHECK-NOT: distribute
func.func @whole(%x: tensor<1024xf32>, %i: tensor<1024xi32>) -> (tensor<1024xf32>, tensor<1024xf32>) {
  %0 = prim.fusion %x, %i : (tensor<1024xf32>, tensor<1024xi32>) -> tensor<1024xf32> {
  ^bb0(%a: tensor<1024xf32>, %b: tensor<1024xi32>):
    %1 = prim.div %b, %b : tensor<1024xi32>
    %2 = prim.convert %1 : (tensor<1024xi32>) -> tensor<1024xf32>
    %3 = prim.sin %2 : tensor<1024xf32>
    %4 = prim.exp %3 : tensor<1024xf32>
    %5 = prim.cos %4 : tensor<1024xf32>
    %6 = prim.exp %5 : tensor<1024xf32>
    %7 = prim.sin %6 : tensor<1024xf32>
    prim.yield %7 : (tensor<1024xf32>) -> ()
  }
  %8 = prim.fusion %x : (tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%a: tensor<1024xf32>):
    %9 = prim.sin %a : tensor<1024xf32>
    %10 = prim.exp %a : tensor<1024xf32>
    %11 = prim.tanh %a : tensor<1024xf32>
    %12 = prim.log %a : tensor<1024xf32>
    %13 = prim.add %9, %10 : tensor<1024xf32>
    %14 = prim.add %11, %12 : tensor<1024xf32>
    %15 = prim.add %13, %14 : tensor<1024xf32>
    prim.yield %15 : (tensor<1024xf32>) -> ()
  }
  return %0, %8 : tensor<1024xf32>, tensor<1024xf32>
}

// -----

// What is the same in all turns of the loop is computed in front of it, and makes no chain long.
// CHECK-LABEL: loop.kernel @k0
// CHECK-NOT: distribute
func.func @uniform(%x: tensor<1024xf32>, %step: tensor<f32>) -> tensor<1024xf32> {
  %0 = prim.fusion %x, %step : (tensor<1024xf32>, tensor<f32>) -> tensor<1024xf32> {
  ^bb0(%a: tensor<1024xf32>, %t: tensor<f32>):
    %1 = prim.sin %t : tensor<f32>
    %2 = prim.exp %1 : tensor<f32>
    %3 = prim.cos %2 : tensor<f32>
    %4 = prim.exp %3 : tensor<f32>
    %5 = prim.sin %4 : tensor<f32>
    %6 = prim.broadcast %5 {dims = array<i64>} : (tensor<f32>) -> tensor<1024xf32>
    %7 = prim.mul %a, %6 : tensor<1024xf32>
    prim.yield %7 : (tensor<1024xf32>) -> ()
  }
  return %0 : tensor<1024xf32>
}
