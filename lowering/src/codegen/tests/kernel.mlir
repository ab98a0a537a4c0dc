llvm.func @strata_workspace(!llvm.ptr, i64) -> !llvm.ptr
llvm.func @strata_parallel(!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64)
func.func private @k(%x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias}, %begin: index, %end: index) {
  %width = arith.constant 16 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %half = arith.constant dense<0.5> : vector<16xf32>
  %span = arith.subi %end, %begin : index
  %rest = arith.remsi %span, %width : index
  %stop = arith.subi %end, %rest : index
  scf.for %i = %begin to %stop step %width {
    %at = arith.index_cast %i : index to i64
    %px = llvm.getelementptr inbounds %x[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %px {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
    %t = math.tanh %v : vector<16xf32>
    %m = math.fma %t, %half, %v : vector<16xf32>
    %r = arith.maximumf %m, %zero : vector<16xf32>
    %py = llvm.getelementptr inbounds %y[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %r, %py {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
  }
  %some = arith.cmpi slt, %stop, %end : index
  scf.if %some {
    %at = arith.index_cast %stop : index to i64
    %restv = vector.broadcast %rest : index to vector<16xindex>
    %lane = vector.step : vector<16xindex>
    %mask = arith.cmpi slt, %lane, %restv : vector<16xindex>
    %px = llvm.getelementptr inbounds %x[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.intr.masked.load %px, %mask, %zero {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
    %t = math.tanh %v : vector<16xf32>
    %m = math.fma %t, %half, %v : vector<16xf32>
    %r = arith.maximumf %m, %zero : vector<16xf32>
    %py = llvm.getelementptr inbounds %y[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.intr.masked.store %r, %py, %mask {alignment = 4 : i32} : vector<16xf32>, vector<16xi1> into !llvm.ptr
  }
  return
}
func.func private @sum(%x: !llvm.ptr {llvm.noalias}, %n: index) -> f32 {
  %width = arith.constant 16 : index
  %begin = arith.constant 0 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %z = arith.constant 0.0 : f32
  %s = scf.for %i = %begin to %n step %width iter_args(%acc = %zero) -> (vector<16xf32>) {
    %at = arith.index_cast %i : index to i64
    %px = llvm.getelementptr inbounds %x[%at] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %v = llvm.load %px {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
    %a = arith.addf %acc, %v : vector<16xf32>
    scf.yield %a : vector<16xf32>
  }
  %r = vector.reduction <add>, %s, %z fastmath<reassoc> : vector<16xf32> into f32
  return %r : f32
}
llvm.func @body(%ctx: !llvm.ptr, %b: i64, %e: i64) {
  %x = llvm.load %ctx : !llvm.ptr -> !llvm.ptr
  %q = llvm.getelementptr %ctx[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %y = llvm.load %q : !llvm.ptr -> !llvm.ptr
  %bi = arith.index_cast %b : i64 to index
  %ei = arith.index_cast %e : i64 to index
  func.call @k(%x, %y, %bi, %ei) : (!llvm.ptr, !llvm.ptr, index, index) -> ()
  llvm.return
}
func.func @strata_entry(%call: !llvm.ptr) -> i32 {
  %x = llvm.load %call : !llvm.ptr -> !llvm.ptr
  %q = llvm.getelementptr %call[8] : (!llvm.ptr) -> !llvm.ptr, i8
  %np = llvm.getelementptr %call[16] : (!llvm.ptr) -> !llvm.ptr, i8
  %y = llvm.load %q : !llvm.ptr -> !llvm.ptr
  %n = llvm.load %np : !llvm.ptr -> i64
  %ni = arith.index_cast %n : i64 to index
  %body = llvm.mlir.addressof @body : !llvm.ptr
  %grain = llvm.mlir.constant(1024 : i64) : i64
  llvm.call @strata_parallel(%call, %body, %call, %n, %grain) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()
  %s = func.call @sum(%y, %ni) : (!llvm.ptr, index) -> f32
  %sp = llvm.getelementptr %call[24] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.store %s, %sp : f32, !llvm.ptr
  %ok = arith.constant 0 : i32
  return %ok : i32
}
