// RUN: rs-opt %s --fuse-reductions --prim-to-loop --cse --pack-operands --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --fuse-reductions --prim-to-loop --cse --pack-operands=remarks --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY

// A block of queries would convert each key and value anew, and each block of keys the queries.
// CHECK: loop.kernel @k0.pack_scores0
// CHECK: arith.extf
// CHECK: loop.kernel @k0.pack_scores1
// CHECK: arith.extf
// CHECK: loop.kernel @k0.pack_means1
// CHECK: arith.extf
// CHECK: loop.kernel @k0 {
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<2x64x8xf32>, %{{.*}}: tensor<2x64x8xf32>, %{{.*}}: tensor<2x64x16xf32>)
// CHECK-NOT: arith.extf
// CHECK-LABEL: func.func @halves
// CHECK: %[[Q:.*]] = loop.call %arg0 {callee = @k0.pack_scores0}
// CHECK: %[[K:.*]] = loop.call %arg1 {callee = @k0.pack_scores1}
// CHECK: %[[V:.*]] = loop.call %arg2 {callee = @k0.pack_means1}
// CHECK: loop.call %[[Q]], %[[K]], %[[V]] {callee = @k0}
func.func @halves(%q: tensor<2x64x8xbf16>, %k: tensor<2x64x8xbf16>, %v: tensor<2x64x16xbf16>) -> tensor<2x64x16xf32> {
  %qf = prim.convert %q : (tensor<2x64x8xbf16>) -> tensor<2x64x8xf32>
  %kf = prim.convert %k : (tensor<2x64x8xbf16>) -> tensor<2x64x8xf32>
  %vf = prim.convert %v : (tensor<2x64x16xbf16>) -> tensor<2x64x16xf32>
  %s = prim.dot %qf, %kf {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 2>} : (tensor<2x64x8xf32>, tensor<2x64x8xf32>) -> tensor<2x64x64xf32>
  %y = prim.softmax_dot %s, %vf {empty = "nan", lhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>} : (tensor<2x64x64xf32>, tensor<2x64x16xf32>) -> tensor<2x64x16xf32>
  return %y : tensor<2x64x16xf32>
}

// -----

// Keys and values whose rows are not contiguous are copied. Queries are not: a block of them is read once, in any order.
// CHECK-DAG: #[[KEYS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
// CHECK-NOT: pack_scores0
// CHECK: loop.kernel @k0.pack_scores1
// CHECK: maps = [#[[KEYS]]]{{.*}} -> tensor<2x64x8xf32>
// CHECK: loop.kernel @k0.pack_means1
// CHECK: maps = [#[[KEYS]]]{{.*}} -> tensor<2x64x16xf32>
// CHECK-LABEL: func.func @strided
// WHY: remark: operand 0 is not packed: it lies in the order in which it is read [pack-operands]
func.func @strided(%q: tensor<2x8x64xf32>, %k: tensor<2x8x64xf32>, %v: tensor<2x16x64xf32>) -> tensor<2x64x16xf32> {
  %s = prim.dot %q, %k {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<2x8x64xf32>, tensor<2x8x64xf32>) -> tensor<2x64x64xf32>
  %y = prim.softmax_dot %s, %v {empty = "nan", lhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 2>} : (tensor<2x64x64xf32>, tensor<2x16x64xf32>) -> tensor<2x64x16xf32>
  return %y : tensor<2x64x16xf32>
}

// -----

// Few queries do not pay for copies of the keys: each element is converted once for a block of queries anyway. Queries meet many keys.
// CHECK: loop.kernel @k0.pack_scores0
// CHECK-NOT: pack_scores1
// CHECK-NOT: pack_means
// CHECK-LABEL: func.func @few_queries
// WHY: remark: operand 1 is not packed: its elements are used too few times to pay for a copy [pack-operands]
func.func @few_queries(%q: tensor<2x8x8xbf16>, %k: tensor<2x64x8xbf16>, %v: tensor<2x64x16xbf16>) -> tensor<2x8x16xf32> {
  %qf = prim.convert %q : (tensor<2x8x8xbf16>) -> tensor<2x8x8xf32>
  %kf = prim.convert %k : (tensor<2x64x8xbf16>) -> tensor<2x64x8xf32>
  %vf = prim.convert %v : (tensor<2x64x16xbf16>) -> tensor<2x64x16xf32>
  %s = prim.dot %qf, %kf {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 2>} : (tensor<2x8x8xf32>, tensor<2x64x8xf32>) -> tensor<2x8x64xf32>
  %y = prim.softmax_dot %s, %vf {empty = "nan", lhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 1>} : (tensor<2x8x64xf32>, tensor<2x64x16xf32>) -> tensor<2x8x16xf32>
  return %y : tensor<2x8x16xf32>
}

// -----

// Of keys that are a window which goes along with each batch, a copy would hold each element many times.
// CHECK: loop.kernel @windows.pack_scores0
// CHECK-NOT: pack_scores1
// CHECK-LABEL: func.func @call_windows
// WHY: remark: operand 1 is not packed: a copy would hold its elements more than once [pack-operands]
loop.kernel @windows {shapes = [affine_map<() -> (100, 64, 8)>, affine_map<() -> (163, 8)>, affine_map<() -> (100, 64, 16)>, affine_map<() -> (100, 64, 16)>], sizes = affine_map<() -> (100, 64, 16, 64, 8)>, symbols = array<i64>} : () -> () {
^bb0(%q: tensor<100x64x8xbf16>, %k: tensor<163x8xbf16>, %v: tensor<100x64x16xf32>):
  %0 = loop.stage %q, %k {domain = array<i64: 0, 1, 3, 4>, maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0 + d3, d4)>], reduce = array<i64: 4>, reducer = "sum", space = "tile"} : (tensor<100x64x8xbf16>, tensor<163x8xbf16>) -> tensor<100x64x64xf32> {
  ^bb0(%a: bf16, %b: bf16):
    %3 = arith.extf %a : bf16 to f32
    %4 = arith.extf %b : bf16 to f32
    %5 = arith.mulf %3, %4 : f32
    loop.yield %5 : f32
  }
  %1 = loop.stage %0, %v {domain = array<i64: 0, 1, 2, 3>, maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2)>], reduce = array<i64: 3>, reducer = "softmax", space = "tile"} : (tensor<100x64x64xf32>, tensor<100x64x16xf32>) -> tensor<100x64x16xf32> {
  ^bb0(%a: f32, %b: f32):
    loop.yield %a, %b : f32
  }
  %2 = loop.stage %1 {domain = array<i64: 0, 1, 2>, maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>], space = "buffer"} : tensor<100x64x16xf32> {
  ^bb0(%a: f32):
    loop.yield %a : f32
  }
  loop.return %2 : tensor<100x64x16xf32>
}
func.func @call_windows(%q: tensor<100x64x8xbf16>, %k: tensor<163x8xbf16>, %v: tensor<100x64x16xf32>) -> tensor<100x64x16xf32> {
  %0 = loop.call %q, %k, %v {callee = @windows} : (tensor<100x64x8xbf16>, tensor<163x8xbf16>, tensor<100x64x16xf32>) -> tensor<100x64x16xf32>
  return %0 : tensor<100x64x16xf32>
}

// -----

// Values across the order of the loops are copied for one block of queries.
// CHECK: loop.kernel @k0.pack_means1
// CHECK: -> tensor<2x64x16xf32>
// CHECK-NOT: pack_scores
// CHECK-LABEL: func.func @values_across
func.func @values_across(%q: tensor<2x16x8xf32>, %k: tensor<2x64x8xf32>, %v: tensor<2x16x64xf32>) -> tensor<2x16x16xf32> {
  %s = prim.dot %q, %k {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_contract = array<i64: 2>} : (tensor<2x16x8xf32>, tensor<2x64x8xf32>) -> tensor<2x16x64xf32>
  %y = prim.softmax_dot %s, %v {empty = "nan", lhs_batch = array<i64: 0>, lhs_contract = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contract = array<i64: 2>} : (tensor<2x16x64xf32>, tensor<2x16x64xf32>) -> tensor<2x16x16xf32>
  return %y : tensor<2x16x16xf32>
}
