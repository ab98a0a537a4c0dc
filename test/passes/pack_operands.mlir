// RUN: rs-opt %s --prim-to-loop --pack-operands --split-input-file | rs-filecheck %s
// RUN: rs-opt %s --prim-to-loop --attach-target='entries={l1 = {bytes = 49152, ways = 12}}' --pack-operands --split-input-file | rs-filecheck %s --check-prefix=WAYS
// RUN: rs-opt %s --prim-to-loop --pack-operands=remarks --split-input-file -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY
// WHY: remark: operand 0 is not packed: it lies in the order in which it is read [pack-operands]

// The operand that lanes run along is copied into panels, padded with zeros to whole ones.
// CHECK-DAG: #[[READ:.*]] = affine_map<(d0, d1, d2) -> (d1, d0 * 32 + d2)>
// CHECK-DAG: #[[PANEL:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
// CHECK: loop.kernel @k0.pack1
// CHECK: loop.stage {{.*}}guarded = array<i1: true>, maps = [#[[READ]]]{{.*}} -> tensor<4x32x32xf32>
// CHECK: loop.kernel @k0 {
// CHECK: loop.stage %{{.*}}, %{{.*}} {{.*}}maps = [#{{.*}}, #[[PANEL]]]
// CHECK: %[[P:.*]] = loop.call %arg1 {callee = @k0.pack1}
// CHECK: loop.call %arg0, %[[P]] {callee = @k0}
func.func @panels(%a: tensor<64x32xf32>, %b: tensor<32x100xf32>) -> tensor<64x100xf32> {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x32xf32>, tensor<32x100xf32>) -> tensor<64x100xf32>
  return %0 : tensor<64x100xf32>
}

// -----

// Rows that do not lie along the reduction are copied; so are elements that are converted.
// CHECK: loop.kernel @k0.pack0
// CHECK: loop.stage {{.*}} -> tensor<64x32xf32>
// CHECK: arith.extf
// CHECK: loop.kernel @k0.pack1
// CHECK: arith.extf
// CHECK: loop.kernel @k0 {
// CHECK-NOT: arith.extf
// CHECK: func.func
func.func @rows(%a: tensor<32x64xbf16>, %b: tensor<32x128xbf16>) -> tensor<64x128xbf16> {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 0>, rhs_contract = array<i64: 0>} : (tensor<32x64xbf16>, tensor<32x128xbf16>) -> tensor<64x128xbf16>
  return %0 : tensor<64x128xbf16>
}

// -----

// Rows of a small matrix of a batch are read where they are, whatever their order: they stay in the first cache.
// WHY: remark: operand 0 is not packed: what is read of it for one product stays in the first cache [pack-operands]
// CHECK: loop.kernel @k0.pack1
// CHECK-NOT: pack0
// CHECK: func.func @small
func.func @small(%a: tensor<50x32x64xf32>, %b: tensor<50x100x32xf32>) -> tensor<50x64x100xf32> {
  %0 = prim.dot %a, %b {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 2>} : (tensor<50x32x64xf32>, tensor<50x100x32xf32>) -> tensor<50x64x100xf32>
  return %0 : tensor<50x64x100xf32>
}

// -----

// Sizes that are not known are symbols of the copying kernel too.
// CHECK: #[[SHAPE:.*]] = affine_map<()[{{.*}}] -> (s{{[0-9]}} ceildiv 32, s{{[0-9]}}, 32)>
// CHECK: loop.kernel @k0.pack1 {{.*}}sizes = #[[SHAPE]], symbols = array<i64: 1, 2
func.func @dynamic(%a: tensor<64x?xf32>, %b: tensor<?x?xf32>, %k: index, %n: index) -> tensor<64x?xf32> {
  capture.bind_dims %a, %k {shape = affine_map<()[s0] -> (64, s0)>} : (tensor<64x?xf32>, index) -> ()
  capture.bind_dims %b, %k, %n {shape = affine_map<()[s0, s1] -> (s0, s1)>} : (tensor<?x?xf32>, index, index) -> ()
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x?xf32>, tensor<?x?xf32>) -> tensor<64x?xf32>
  return %0 : tensor<64x?xf32>
}

// -----

// A copy that is used three times does not pay.
// CHECK-NOT: loop.kernel @k0.pack
// CHECK: loop.kernel @k0 {
func.func @few(%a: tensor<3x512xf32>, %b: tensor<512x100xf32>) -> tensor<3x100xf32> {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<3x512xf32>, tensor<512x100xf32>) -> tensor<3x100xf32>
  return %0 : tensor<3x100xf32>
}

// -----

// Rows along the lanes are read where they lie while they are used for few rows of the other operand.
// CHECK-NOT: loop.kernel @k0.pack
// CHECK: loop.kernel @k0 {
func.func @in_place(%a: tensor<37x512xf32>, %b: tensor<512x100xf32>) -> tensor<37x100xf32> {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<37x512xf32>, tensor<512x100xf32>) -> tensor<37x100xf32>
  return %0 : tensor<37x100xf32>
}

// -----

// A weight is copied even so: that happens once.
// CHECK: loop.kernel @k0.pack1
func.func @weight(%a: tensor<37x512xf32> {capture.kind = "input", capture.name = "a"}, %b: tensor<512x100xf32> {capture.kind = "parameter", capture.name = "b"}) -> tensor<37x100xf32> {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<37x512xf32>, tensor<512x100xf32>) -> tensor<37x100xf32>
  return %0 : tensor<37x100xf32>
}

// -----

// Rows that lie 4096 bytes apart push each other out of a cache of 8 ways, when 13 of them are read side by side: their copy has a line of
// zeros behind each row. With 12 ways they stay where they are.
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK: loop.kernel @k0.pack0
// CHECK: loop.stage {{.*}}guarded = array<i1: true>, maps = [#[[ROW]]]{{.*}} -> tensor<1024x1040xf32>
// CHECK: loop.kernel @k0 {
// CHECK: ^bb0({{.*}}: tensor<1024x1040xf32>
// WAYS-LABEL: func.func @in_place
// WAYS-NOT: pack0
// WAYS: func.func @apart
func.func @apart(%a: tensor<1024x1024xf32>, %b: tensor<1024x512xf32>) -> tensor<1024x512xf32> {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x512xf32>) -> tensor<1024x512xf32>
  return %0 : tensor<1024x512xf32>
}

// -----

// Rows 64 bytes further apart fall on places of their own.
// CHECK-NOT: loop.kernel @k0.pack0
// CHECK: func.func @not_apart
func.func @not_apart(%a: tensor<1024x1040xf32>, %b: tensor<1040x512xf32>) -> tensor<1024x512xf32> {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<1024x1040xf32>, tensor<1040x512xf32>) -> tensor<1024x512xf32>
  return %0 : tensor<1024x512xf32>
}

// -----

// A number that all elements of a sum are taken with makes no product of it, however many pieces the sum has: a copy of the elements would
// be read once.
// CHECK-NOT: loop.kernel @distances.pack
// CHECK: func.func @call_distances
loop.kernel @distances {shapes = [affine_map<() -> (4096, 16)>, affine_map<() -> (16)>, affine_map<() -> (16, 16)>], sizes = affine_map<() -> (16, 4096, 16)>, symbols = array<i64>} : () -> () {
^bb0(%x: tensor<4096x16xbf16>, %m: tensor<16xf32>):
  %0 = loop.stage %x, %m {chunk = array<i64: 2, 1, 256>, domain = array<i64: 2, 0, 1>, maps = [affine_map<(d0, d1, d2) -> (d1, d0)>, affine_map<(d0, d1, d2) -> (d0)>], reduce = array<i64: 1>, reducer = "sum", space = "buffer"} : (tensor<4096x16xbf16>, tensor<16xf32>) -> tensor<16x16xf32> {
  ^bb0(%a: bf16, %b: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.subf %1, %b : f32
    loop.yield %2 : f32
  }
  loop.return %0 : tensor<16x16xf32>
}
func.func @call_distances(%x: tensor<4096x16xbf16>, %m: tensor<16xf32>) -> tensor<16x16xf32> {
  %0 = loop.call %x, %m {callee = @distances} : (tensor<4096x16xbf16>, tensor<16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// -----

// Refused: few rows with an operand that lies along the sum, and halves that one block of rows converts once.
// WHY: operand 1 is not packed: its elements are used too few times to pay for a copy
// WHY: operand 1 is not packed: few rows are multiplied with it, and it lies along the sum
// CHECK-LABEL: loop.kernel @k1
// CHECK-NOT: pack1
// CHECK: func.func @few
func.func @few(%a: tensor<8x512xf32>, %b: tensor<1024x512xf32>, %c: tensor<7x512xbf16>, %d: tensor<512x1024xbf16>) -> (tensor<8x1024xf32>, tensor<7x1024xbf16>) {
  %0 = prim.dot %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>} : (tensor<8x512xf32>, tensor<1024x512xf32>) -> tensor<8x1024xf32>
  %1 = prim.dot %c, %d {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<7x512xbf16>, tensor<512x1024xbf16>) -> tensor<7x1024xbf16>
  return %0, %1 : tensor<8x1024xf32>, tensor<7x1024xbf16>
}

// -----

// A part of a complex number is taken while it is copied into panels. The part that is the same in all lanes is read where it lies.
// WHY: operand 0 is not packed: it lies in the order in which it is read
// CHECK-LABEL: loop.kernel @k0.pack1
// CHECK: loop.stage {{.*}} -> tensor<4x32x32xf32>
// CHECK: complex.im
// CHECK-LABEL: loop.kernel @k0 {
// CHECK: ^bb0(%[[A:.*]]: complex<f32>, %[[B:.*]]: f32):
// CHECK-NEXT: %[[RE:.*]] = complex.re %[[A]]
// CHECK-NEXT: arith.mulf %[[RE]], %[[B]]
// CHECK: func.func @parts
func.func @parts(%a: tensor<64x32xcomplex<f32>>, %b: tensor<32x100xcomplex<f32>>) -> tensor<64x100xf32> {
  %0 = prim.fusion %a, %b : (tensor<64x32xcomplex<f32>>, tensor<32x100xcomplex<f32>>) -> tensor<64x100xf32> {
  ^bb0(%x: tensor<64x32xcomplex<f32>>, %y: tensor<32x100xcomplex<f32>>):
    %1 = prim.real %x : (tensor<64x32xcomplex<f32>>) -> tensor<64x32xf32>
    %2 = prim.imag %y : (tensor<32x100xcomplex<f32>>) -> tensor<32x100xf32>
    %3 = prim.dot %1, %2 {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} : (tensor<64x32xf32>, tensor<32x100xf32>) -> tensor<64x100xf32>
    prim.yield %3 : tensor<64x100xf32>
  }
  return %0 : tensor<64x100xf32>
}
