// RUN: rs-opt %s --channels-last | FileCheck %s
// RUN: rs-opt %s --channels-last=remarks -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=WHY
// WHY: remark: its 4 features leave most lanes empty [channels-last]

// Convolution, norm, activation, pooling and mean stay in one order; the input's few channels are read where they are.
// CHECK-LABEL: func.func @network(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x8x8xf32>, %[[W:.*]]: tensor<64x3x3x3xf32>
// CHECK: %[[P:.*]] = prim.pad %[[X]], %{{.*}} {high = array<i64: 0, 0, 1, 1>, interior = array<i64: 0, 0, 0, 0>, low = array<i64: 0, 0, 1, 1>} {{.*}} -> tensor<2x3x10x10xf32>
// CHECK: %[[PANELS:.*]] = prim.reshape %[[W]] : (tensor<64x3x3x3xf32>) -> tensor<2x32x3x3x3xf32>
// CHECK: %[[WT:.*]] = prim.transpose %[[PANELS]] {perm = array<i64: 0, 2, 3, 4, 1>} {{.*}} -> tensor<2x3x3x3x32xf32>
// CHECK: prim.conv %[[P]], %[[WT]] {{.*}}layout = "nc01,Oc01o->n01o"{{.*}}low = array<i64: 0, 0>{{.*}} -> tensor<2x8x8x64xf32>
// CHECK: prim.broadcast %{{.*}} {dims = array<i64: 3>} : (tensor<64xf32>) -> tensor<2x8x8x64xf32>
// CHECK: prim.mul {{.*}} tensor<2x8x8x64xf32>
// CHECK: prim.sliding_window %{{.*}} {dilations = array<i64: 1, 1>, dims = array<i64: 1, 2>, {{.*}} -> tensor<2x4x4x64x2x2xf32>
// CHECK: prim.reduce %{{.*}} {dims = array<i64: 4, 5>, kind = "max"} {{.*}} -> tensor<2x4x4x64xf32>
// CHECK: prim.reduce %{{.*}} {dims = array<i64: 1, 2>, kind = "sum"} {{.*}} -> tensor<2x64xf32>
// CHECK-NEXT: return
func.func @network(%x: tensor<2x3x8x8xf32>, %w: tensor<64x3x3x3xf32>, %s: tensor<64xf32>) -> tensor<2x64xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x3x8x8xf32>, tensor<64x3x3x3xf32>) -> tensor<2x64x8x8xf32>
  %1 = prim.broadcast %s {dims = array<i64: 1>} : (tensor<64xf32>) -> tensor<2x64x8x8xf32>
  %2 = prim.mul %0, %1 : tensor<2x64x8x8xf32>
  %3 = prim.sliding_window %2 {sizes = array<i64: 2, 2>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<2x64x8x8xf32>) -> tensor<2x64x4x4x2x2xf32>
  %4 = prim.reduce %3 {dims = array<i64: 4, 5>, kind = "max"} : (tensor<2x64x4x4x2x2xf32>) -> tensor<2x64x4x4xf32>
  %5 = prim.reduce %4 {dims = array<i64: 2, 3>, kind = "sum"} : (tensor<2x64x4x4xf32>) -> tensor<2x64xf32>
  return %5 : tensor<2x64xf32>
}

// The gaps of a transposed convolution are written out; unknown sizes follow; the result is wanted in the order of before.
// CHECK-LABEL: func.func @transposed(
// CHECK: prim.transpose {{.*}} -> tensor<?x?x12xf32>
// CHECK: prim.pad {{.*}}{high = array<i64: 0, 2, 0>, interior = array<i64: 0, 1, 0>, low = array<i64: 0, 1, 0>} {{.*}} -> tensor<?x?x12xf32>
// CHECK: %[[Y:.*]] = prim.conv {{.*}}layout = "n0c,0co->n0o", lhs_dilation = array<i64: 1>
// CHECK-DAG: prim.dim %[[Y]] {dim = 1 : i64}
// CHECK-DAG: %[[B:.*]] = prim.transpose %[[Y]] {perm = array<i64: 0, 2, 1>}
// CHECK: prim.sort %[[B]]
func.func @transposed(%x: tensor<?x12x?xf32>, %w: tensor<8x12x3xf32>) -> (tensor<?x8x?xf32>, index) {
  %0 = prim.conv %x, %w {strides = array<i64: 1>, low = array<i64: 1>, high = array<i64: 2>, lhs_dilation = array<i64: 2>, rhs_dilation = array<i64: 1>, groups = 1 : i64} : (tensor<?x12x?xf32>, tensor<8x12x3xf32>) -> tensor<?x8x?xf32>
  %n = prim.dim %0 {dim = 2 : i64} : (tensor<?x8x?xf32>) -> index
  %v, %i = prim.sort %0 {dim = 2 : i64, descending = false} : (tensor<?x8x?xf32>) -> (tensor<?x8x?xf32>, tensor<?x8x?xi64>)
  return %v, %n : tensor<?x8x?xf32>, index
}

// Groups: a panel lies inside of a group. Slices, concatenations, and reshapes that keep the channels together, follow.
// CHECK-LABEL: func.func @grouped(
// CHECK: prim.conv {{.*}}groups = 2 : i64{{.*}}layout = "n01c,O01co->n01o"{{.*}} (tensor<1x6x6x32xf32>, tensor<2x3x3x16x32xf32>) -> tensor<1x4x4x64xf32>
// CHECK: prim.slice %{{.*}} {offsets = array<i64: 0, 0, 0, 32>, sizes = array<i64: 1, 4, 4, 32>, {{.*}}
// CHECK: prim.concat %{{.*}} {dim = 3 : i64} {{.*}} -> tensor<1x4x4x96xf32>
// CHECK: prim.reshape %{{.*}} : (tensor<1x4x4x96xf32>) -> tensor<1x16x96xf32>
// CHECK-NEXT: return
func.func @grouped(%x: tensor<1x32x4x4xf32>, %w: tensor<64x16x3x3xf32>) -> tensor<1x16x96xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 2 : i64} : (tensor<1x32x4x4xf32>, tensor<64x16x3x3xf32>) -> tensor<1x64x4x4xf32>
  %1 = prim.slice %0 {offsets = array<i64: 0, 32, 0, 0>, sizes = array<i64: 1, 32, 4, 4>, strides = array<i64: 1, 1, 1, 1>} : (tensor<1x64x4x4xf32>) -> tensor<1x32x4x4xf32>
  %2 = prim.concat %0, %1 {dim = 1 : i64} : (tensor<1x64x4x4xf32>, tensor<1x32x4x4xf32>) -> tensor<1x96x4x4xf32>
  %3 = prim.reshape %2 : (tensor<1x96x4x4xf32>) -> tensor<1x96x16xf32>
  %4 = prim.transpose %3 {perm = array<i64: 0, 2, 1>} : (tensor<1x96x16xf32>) -> tensor<1x16x96xf32>
  return %4 : tensor<1x16x96xf32>
}

// Groups whose features fill no vector are panels of their own: a vector never has lanes in two groups.
// CHECK-LABEL: func.func @small_groups(
// CHECK: prim.conv {{.*}}groups = 4 : i64{{.*}}layout = "n01c,O01co->n01o"{{.*}} (tensor<1x6x6x32xf32>, tensor<4x3x3x8x24xf32>) -> tensor<1x4x4x96xf32>
func.func @small_groups(%x: tensor<1x32x4x4xf32>, %w: tensor<96x8x3x3xf32>) -> tensor<1x96x4x4xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 4 : i64} : (tensor<1x32x4x4xf32>, tensor<96x8x3x3xf32>) -> tensor<1x96x4x4xf32>
  return %0 : tensor<1x96x4x4xf32>
}

// Few features stay: lanes would be empty.
// CHECK-LABEL: func.func @few(
// CHECK-NEXT: prim.conv
// CHECK-NEXT: return
func.func @few(%x: tensor<1x4x5xf32>, %w: tensor<4x4x3xf32>) -> tensor<1x4x3xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, groups = 1 : i64} : (tensor<1x4x5xf32>, tensor<4x4x3xf32>) -> tensor<1x4x3xf32>
  return %0 : tensor<1x4x3xf32>
}

// An input that lies channels last is computed with as it lies, until the output that does so, too.
// CHECK-LABEL: func.func @as_it_lies(
// CHECK: %[[X:.*]] = capture.permute
// CHECK-NOT: prim.transpose
// CHECK: %[[S:.*]] = prim.reduce %[[X]] {dims = array<i64: 1>, kind = "sum"} : (tensor<2x5x8xf32>) -> tensor<2x8xf32>
// CHECK: prim.broadcast %[[S]] {dims = array<i64: 0, 2>} {{.*}} -> tensor<2x5x8xf32>
// CHECK-NOT: prim.transpose
// CHECK: return
func.func @as_it_lies(%x: tensor<2x8x5xf32> {capture.dim_order = array<i64: 0, 2, 1>})
    -> (tensor<2x8x5xf32> {capture.dim_order = array<i64: 0, 2, 1>}) {
  %0 = capture.permute %x {perm = array<i64: 0, 2, 1>} : (tensor<2x8x5xf32>) -> tensor<2x5x8xf32>
  %1 = prim.transpose %0 {perm = array<i64: 0, 2, 1>} : (tensor<2x5x8xf32>) -> tensor<2x8x5xf32>
  %2 = prim.reduce %1 {dims = array<i64: 2>, kind = "sum"} : (tensor<2x8x5xf32>) -> tensor<2x8xf32>
  %3 = prim.broadcast %2 {dims = array<i64: 0, 1>} : (tensor<2x8xf32>) -> tensor<2x8x5xf32>
  %4 = prim.sub %1, %3 : tensor<2x8x5xf32>
  %5 = prim.transpose %4 {perm = array<i64: 0, 2, 1>} : (tensor<2x8x5xf32>) -> tensor<2x5x8xf32>
  %6 = capture.permute %5 {perm = array<i64: 0, 2, 1>} : (tensor<2x5x8xf32>) -> tensor<2x8x5xf32>
  return %6 : tensor<2x8x5xf32>
}

// What is written to lies as it lay: the dims that indices name are others, and what is written has the order of the rest.
// CHECK-LABEL: func.func @scattered(
// CHECK: %[[X:.*]] = capture.permute
// CHECK: %[[U:.*]] = prim.transpose %arg1 {perm = array<i64: 0, 2, 1>} : (tensor<7x3x5xf32>) -> tensor<7x5x3xf32>
// CHECK: %[[S:.*]] = prim.scatter %[[X]], %[[U]], %arg2 {dims = array<i64: 2>, kind = "set"} : (tensor<5x3x8xf32>, tensor<7x5x3xf32>, tensor<7xi64>) -> tensor<5x3x8xf32>
// CHECK: capture.permute %[[S]]
func.func @scattered(%x: tensor<8x3x5xf32> {capture.dim_order = array<i64: 2, 1, 0>}, %u: tensor<7x3x5xf32>, %i: tensor<7xi64>)
    -> (tensor<8x3x5xf32> {capture.dim_order = array<i64: 2, 1, 0>}) {
  %0 = capture.permute %x {perm = array<i64: 2, 1, 0>} : (tensor<8x3x5xf32>) -> tensor<5x3x8xf32>
  %1 = prim.transpose %0 {perm = array<i64: 2, 1, 0>} : (tensor<5x3x8xf32>) -> tensor<8x3x5xf32>
  %2 = prim.scatter %1, %u, %i {dims = array<i64: 0>, kind = "set"} : (tensor<8x3x5xf32>, tensor<7x3x5xf32>, tensor<7xi64>) -> tensor<8x3x5xf32>
  %3 = prim.transpose %2 {perm = array<i64: 2, 1, 0>} : (tensor<8x3x5xf32>) -> tensor<5x3x8xf32>
  %4 = capture.permute %3 {perm = array<i64: 2, 1, 0>} : (tensor<5x3x8xf32>) -> tensor<8x3x5xf32>
  return %4 : tensor<8x3x5xf32>
}

// Where the result is wanted in the order of before, what is written is not transposed as well.
// CHECK-LABEL: func.func @scattered_back(
// CHECK: %[[T:.*]] = prim.transpose
// CHECK: prim.scatter %[[T]], %arg1, %arg2 {dims = array<i64: 0>, kind = "set"}
func.func @scattered_back(%x: tensor<8x3x5xf32> {capture.dim_order = array<i64: 2, 1, 0>}, %u: tensor<7x3x5xf32>, %i: tensor<7xi64>) -> tensor<8x3x5xf32> {
  %0 = capture.permute %x {perm = array<i64: 2, 1, 0>} : (tensor<8x3x5xf32>) -> tensor<5x3x8xf32>
  %1 = prim.transpose %0 {perm = array<i64: 2, 1, 0>} : (tensor<5x3x8xf32>) -> tensor<8x3x5xf32>
  %2 = prim.scatter %1, %u, %i {dims = array<i64: 0>, kind = "set"} : (tensor<8x3x5xf32>, tensor<7x3x5xf32>, tensor<7xi64>) -> tensor<8x3x5xf32>
  return %2 : tensor<8x3x5xf32>
}

// Rows at computed places are rows in any order: the dims of the indices stand first.
// CHECK-LABEL: func.func @gathered(
// CHECK: %[[X:.*]] = capture.permute
// CHECK: %[[G:.*]] = prim.gather %[[X]], %{{.*}} {dims = array<i64: 2>} : (tensor<2x4x5x8xf32>, tensor<7xi64>) -> tensor<7x2x4x8xf32>
// CHECK: %[[N:.*]] = prim.neg %[[G]]
// CHECK: prim.transpose %[[N]] {perm = array<i64: 1, 2, 0, 3>} : (tensor<7x2x4x8xf32>) -> tensor<2x4x7x8xf32>
// CHECK-NOT: prim.transpose
// CHECK: return
func.func @gathered(%x: tensor<2x8x4x5xf32> {capture.dim_order = array<i64: 0, 2, 3, 1>}, %i: tensor<7xi64>)
    -> (tensor<2x8x4x7xf32> {capture.dim_order = array<i64: 0, 2, 3, 1>}) {
  %0 = capture.permute %x {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x8x4x5xf32>) -> tensor<2x4x5x8xf32>
  %1 = prim.transpose %0 {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x4x5x8xf32>) -> tensor<2x8x4x5xf32>
  %2 = prim.gather %1, %i {dims = array<i64: 3>} : (tensor<2x8x4x5xf32>, tensor<7xi64>) -> tensor<7x2x8x4xf32>
  %3 = prim.transpose %2 {perm = array<i64: 1, 2, 3, 0>} : (tensor<7x2x8x4xf32>) -> tensor<2x8x4x7xf32>
  %4 = prim.neg %3 : tensor<2x8x4x7xf32>
  %5 = prim.transpose %4 {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x8x4x7xf32>) -> tensor<2x4x7x8xf32>
  %6 = capture.permute %5 {perm = array<i64: 0, 3, 1, 2>} : (tensor<2x4x7x8xf32>) -> tensor<2x8x4x7xf32>
  return %6 : tensor<2x8x4x7xf32>
}

// Rows of a transposed table that are read as often as there are some are rows of memory in the program's order alone; of a few the table is not transposed.
// CHECK-LABEL: func.func @rows_across(
// CHECK: %[[X:.*]] = capture.permute
// CHECK: %[[T:.*]] = prim.transpose %[[X]] {perm = array<i64: 1, 0>}
// CHECK: prim.gather %[[T]], %{{.*}} {dims = array<i64: 0>} : (tensor<5x8xf32>, tensor<7xi64>) -> tensor<7x8xf32>
// CHECK: prim.gather %[[X]], %{{.*}} {dims = array<i64: 1>} : (tensor<8x5xf32>, tensor<3xi64>) -> tensor<3x8xf32>
func.func @rows_across(%x: tensor<5x8xf32> {capture.dim_order = array<i64: 1, 0>}, %i: tensor<7xi64>, %j: tensor<3xi64>) -> (tensor<7x8xf32>, tensor<3x8xf32>) {
  %0 = capture.permute %x {perm = array<i64: 1, 0>} : (tensor<5x8xf32>) -> tensor<8x5xf32>
  %1 = prim.transpose %0 {perm = array<i64: 1, 0>} : (tensor<8x5xf32>) -> tensor<5x8xf32>
  %2 = prim.gather %1, %i {dims = array<i64: 0>} : (tensor<5x8xf32>, tensor<7xi64>) -> tensor<7x8xf32>
  %3 = prim.gather %1, %j {dims = array<i64: 0>} : (tensor<5x8xf32>, tensor<3xi64>) -> tensor<3x8xf32>
  return %2, %3 : tensor<7x8xf32>, tensor<3x8xf32>
}

// What no convolution reads stays in the order of the tensor that it is combined with: one transpose instead of two.
// CHECK-LABEL: func.func @update(
// CHECK-SAME: %[[X:.*]]: tensor<2x16x6x6xf32>, %[[W:.*]]: tensor<8x16x3x3xf32>, %[[M:.*]]: tensor<2x8x6x6xf32>
// CHECK: %[[C:.*]] = prim.conv
// CHECK: %[[N:.*]] = prim.neg %[[C]] : tensor<2x6x6x8xf32>
// CHECK: %[[T:.*]] = prim.transpose %[[N]] {perm = array<i64: 0, 3, 1, 2>}
// CHECK: %[[S:.*]] = prim.add %[[T]], %[[M]] : tensor<2x8x6x6xf32>
// CHECK: return %[[S]]
func.func @update(%x: tensor<2x16x6x6xf32>, %w: tensor<8x16x3x3xf32>, %m: tensor<2x8x6x6xf32>) -> tensor<2x8x6x6xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x16x6x6xf32>, tensor<8x16x3x3xf32>) -> tensor<2x8x6x6xf32>
  %1 = prim.neg %0 : (tensor<2x8x6x6xf32>) -> tensor<2x8x6x6xf32>
  %2 = prim.add %1, %m : (tensor<2x8x6x6xf32>, tensor<2x8x6x6xf32>) -> tensor<2x8x6x6xf32>
  return %2 : tensor<2x8x6x6xf32>
}

// Few channels and a result that is returned: lanes are as well along its rows, where these are long enough.
// CHECK-LABEL: func.func @few_channels(
// CHECK-NEXT: prim.conv %{{.*}} (tensor<2x3x6x64xf32>, tensor<8x3x1x1xf32>) -> tensor<2x8x6x64xf32>
// CHECK-NEXT: return
func.func @few_channels(%x: tensor<2x3x6x64xf32>, %w: tensor<8x3x1x1xf32>) -> tensor<2x8x6x64xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x3x6x64xf32>, tensor<8x3x1x1xf32>) -> tensor<2x8x6x64xf32>
  return %0 : tensor<2x8x6x64xf32>
}

// CHECK-LABEL: func.func @few_channels_in_short_rows(
// CHECK: prim.conv {{.*}}layout = "nc01,c01o->n01o"
func.func @few_channels_in_short_rows(%x: tensor<2x3x6x5xf32>, %w: tensor<8x3x1x3xf32>) -> tensor<2x8x6x3xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x3x6x5xf32>, tensor<8x3x1x3xf32>) -> tensor<2x8x6x3xf32>
  return %0 : tensor<2x8x6x3xf32>
}

// So has the gradient of a weight, whose window is as large as images, and whose few channels are images.
// CHECK-LABEL: func.func @gradient_of_a_weight(
// CHECK: prim.conv {{.*}}layout = "nc01,Oc01o->n01o"
func.func @gradient_of_a_weight(%x: tensor<32x1x39x39xf32>, %w: tensor<64x1x35x35xf32>) -> tensor<32x64x5x5xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<32x1x39x39xf32>, tensor<64x1x35x35xf32>) -> tensor<32x64x5x5xf32>
  return %0 : tensor<32x64x5x5xf32>
}

// Steps of two have no such rows.
// CHECK-LABEL: func.func @few_channels_apart(
// CHECK: prim.conv {{.*}}layout = "nc01,c01o->n01o"
func.func @few_channels_apart(%x: tensor<2x3x6x6xf32>, %w: tensor<8x3x1x1xf32>) -> tensor<2x8x3x3xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 2, 2>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<2x3x6x6xf32>, tensor<8x3x1x1xf32>) -> tensor<2x8x3x3xf32>
  return %0 : tensor<2x8x3x3xf32>
}

// One channel for each group of features is few as well, whatever the window's dilation.
// CHECK-LABEL: func.func @one_channel_of_a_group(
// CHECK-NEXT: prim.conv %{{.*}} {groups = 3 : i64,
// CHECK-NEXT: return
func.func @one_channel_of_a_group(%x: tensor<2x3x6x68xf32>, %w: tensor<12x1x1x3xf32>) -> tensor<2x12x6x64xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 2>, groups = 3 : i64} : (tensor<2x3x6x68xf32>, tensor<12x1x1x3xf32>) -> tensor<2x12x6x64xf32>
  return %0 : tensor<2x12x6x64xf32>
}

// With a window of one element the image is one row, and both orders are the same work.
// CHECK-LABEL: func.func @product(
// CHECK-NEXT: prim.conv %arg0, %arg1
// CHECK-NEXT: return
func.func @product(%x: tensor<2x64x6x6xf32>, %w: tensor<32x16x1x1xf32>) -> tensor<2x32x6x6xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 4 : i64} : (tensor<2x64x6x6xf32>, tensor<32x16x1x1xf32>) -> tensor<2x32x6x6xf32>
  return %0 : tensor<2x32x6x6xf32>
}

// Rows of a pooling that fill less than a vector for each four elements of its window: lanes are channels.
// CHECK-LABEL: func.func @pool(
// CHECK: prim.transpose %arg0 {perm = array<i64: 0, 2, 3, 1>}
// CHECK: prim.pad {{.*}} -> tensor<1x22x22x40xf32>
// CHECK: prim.sliding_window {{.*}} dims = array<i64: 1, 2>, {{.*}} -> tensor<1x10x10x40x3x3xf32>
// CHECK: %[[R:.*]] = prim.reduce {{.*}} -> tensor<1x10x10x40xf32>
// CHECK: prim.transpose %[[R]] {perm = array<i64: 0, 3, 1, 2>}
func.func @pool(%x: tensor<1x40x20x20xf32>) -> tensor<1x40x10x10xf32> {
  %z = prim.constant {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = prim.pad %x, %z {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, interior = array<i64: 0, 0, 0, 0>} : (tensor<1x40x20x20xf32>, tensor<f32>) -> tensor<1x40x22x22xf32>
  %1 = prim.sliding_window %0 {sizes = array<i64: 3, 3>, strides = array<i64: 2, 2>, dilations = array<i64: 1, 1>} : (tensor<1x40x22x22xf32>) -> tensor<1x40x10x10x3x3xf32>
  %2 = prim.reduce %1 {dims = array<i64: 4, 5>, kind = "sum"} : (tensor<1x40x10x10x3x3xf32>) -> tensor<1x40x10x10xf32>
  return %2 : tensor<1x40x10x10xf32>
}

// CHECK-LABEL: func.func @pool_in_long_rows(
// CHECK-NOT: prim.transpose
// CHECK: return
func.func @pool_in_long_rows(%x: tensor<1x40x20x80xf32>) -> tensor<1x40x18x78xf32> {
  %1 = prim.sliding_window %x {sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x40x20x80xf32>) -> tensor<1x40x18x78x3x3xf32>
  %2 = prim.reduce %1 {dims = array<i64: 4, 5>, kind = "sum"} : (tensor<1x40x18x78x3x3xf32>) -> tensor<1x40x18x78xf32>
  return %2 : tensor<1x40x18x78xf32>
}

// What windows hold is wanted as it lies where it is no sum.
// CHECK-LABEL: func.func @windows(
// CHECK-NOT: prim.transpose
// CHECK: return
func.func @windows(%x: tensor<1x40x20x20xf32>) -> tensor<1x40x18x18x3x3xf32> {
  %1 = prim.sliding_window %x {sizes = array<i64: 3, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>} : (tensor<1x40x20x20xf32>) -> tensor<1x40x18x18x3x3xf32>
  return %1 : tensor<1x40x18x18x3x3xf32>
}

// A depthwise convolution between an input and a result in the order of before stays there; its padding is written out.
// WHY: remark: its input and its result cost more to move than it does itself [channels-last]
// CHECK-LABEL: func.func @depthwise(
// CHECK-NOT: prim.transpose
// CHECK: %[[P:.*]] = prim.pad {{.*}} {high = array<i64: 0, 0, 1, 1>, {{.*}} -> tensor<1x24x16x16xf32>
// CHECK: prim.conv %[[P]], %{{.*}} {groups = 24 : i64, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, low = array<i64: 0, 0>, {{.*}} -> tensor<1x24x14x14xf32>
func.func @depthwise(%x: tensor<1x24x14x14xf32>, %w: tensor<24x1x3x3xf32>) -> tensor<1x24x14x14xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 24 : i64} : (tensor<1x24x14x14xf32>, tensor<24x1x3x3xf32>) -> tensor<1x24x14x14xf32>
  return %0 : tensor<1x24x14x14xf32>
}

// So does one whose window moves by two: no tap of zero is added, which would meet elements beside the window.
// CHECK-LABEL: func.func @by_two(
// CHECK: %[[X:.*]] = prim.pad {{.*}} {high = array<i64: 0, 0, 2, 2>, {{.*}}low = array<i64: 0, 0, 2, 2>} {{.*}} -> tensor<1x24x33x33xf32>
// CHECK-NEXT: prim.conv %[[X]], %{{.*}} {groups = 24 : i64, {{.*}}strides = array<i64: 2, 2>} {{.*}} -> tensor<1x24x15x15xf32>
func.func @by_two(%x: tensor<1x24x29x29xf32>, %w: tensor<24x1x5x5xf32>) -> tensor<1x24x15x15xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 2, 2>, low = array<i64: 2, 2>, high = array<i64: 2, 2>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 24 : i64} : (tensor<1x24x29x29xf32>, tensor<24x1x5x5xf32>) -> tensor<1x24x15x15xf32>
  return %0 : tensor<1x24x15x15xf32>
}

// Before another convolution it takes the new order.
// CHECK-LABEL: func.func @depthwise_then_pointwise(
// CHECK: prim.conv {{.*}}layout = "n01c,01co->n01o"
// CHECK: prim.conv {{.*}}layout = "n01c,01co->n01o"
func.func @depthwise_then_pointwise(%x: tensor<1x24x14x14xf32>, %w: tensor<24x1x3x3xf32>, %v: tensor<32x24x1x1xf32>) -> tensor<1x32x14x14xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 24 : i64} : (tensor<1x24x14x14xf32>, tensor<24x1x3x3xf32>) -> tensor<1x24x14x14xf32>
  %1 = prim.conv %0, %v {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x24x14x14xf32>, tensor<32x24x1x1xf32>) -> tensor<1x32x14x14xf32>
  return %1 : tensor<1x32x14x14xf32>
}

// Pixel shuffle: rows of features are brought together, and the next convolution reads them as they lie.
// CHECK-LABEL: func.func @shuffle(
// CHECK: %[[Y:.*]] = prim.conv {{.*}} -> tensor<1x8x8x32xf32>
// CHECK: prim.reshape {{.*}} -> tensor<1x8x8x2x2x8xf32>
// CHECK: %[[T:.*]] = prim.transpose {{.*}} -> tensor<1x8x2x8x2x8xf32>
// CHECK: %[[R:.*]] = prim.reshape %[[T]] {{.*}} -> tensor<1x16x16x8xf32>
// CHECK: prim.conv %[[R]], {{.*}}layout = "n01c,01co->n01o"
func.func @shuffle(%x: tensor<1x8x8x8xf32>, %w: tensor<32x8x1x1xf32>, %v: tensor<8x8x1x1xf32>) -> tensor<1x8x16x16xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<32x8x1x1xf32>) -> tensor<1x32x8x8xf32>
  %1 = prim.reshape %0 : (tensor<1x32x8x8xf32>) -> tensor<1x2x2x8x8x8xf32>
  %2 = prim.transpose %1 {perm = array<i64: 0, 3, 4, 1, 5, 2>} : (tensor<1x2x2x8x8x8xf32>) -> tensor<1x8x8x2x8x2xf32>
  %3 = prim.reshape %2 : (tensor<1x8x8x2x8x2xf32>) -> tensor<1x8x16x16xf32>
  %4 = prim.conv %3, %v {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x16x16xf32>
  return %4 : tensor<1x8x16x16xf32>
}

// Few features leave lanes empty, but the padding of the convolution is written out all the same.
// CHECK-LABEL: func.func @few_features(
// CHECK: %[[P:.*]] = prim.pad {{.*}} -> tensor<1x16x10x10xf32>
// CHECK: prim.conv %[[P]], %{{.*}}high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, low = array<i64: 0, 0>
func.func @few_features(%x: tensor<1x16x8x8xf32>, %w: tensor<2x16x3x3xf32>) -> tensor<1x2x8x8xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<2x16x3x3xf32>) -> tensor<1x2x8x8xf32>
  return %0 : tensor<1x2x8x8xf32>
}

// Groups of channels: whole rows of channels are summed over space first, then the channels of a group.
// CHECK-LABEL: func.func @groups(
// CHECK: prim.reduce {{.*}} {dims = array<i64: 1, 2>, kind = "sum"} : (tensor<1x16x16x2x4xf32>) -> tensor<1x2x4xf32>
// CHECK: prim.reduce {{.*}} {dims = array<i64: 2>, kind = "sum"} : (tensor<1x2x4xf32>) -> tensor<1x2xf32>
func.func @groups(%x: tensor<1x8x16x16xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x2xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x16x16xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x16x16xf32>
  %1 = prim.reshape %0 : (tensor<1x8x16x16xf32>) -> tensor<1x2x4x16x16xf32>
  %2 = prim.reduce %1 {dims = array<i64: 2, 3, 4>, kind = "sum"} : (tensor<1x2x4x16x16xf32>) -> tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}

// In few rows there is nothing to gain.
// CHECK-LABEL: func.func @few_rows(
// CHECK: prim.reduce {{.*}} {dims = array<i64: 1, 2, 4>, kind = "max"}
func.func @few_rows(%x: tensor<1x8x4x4xf32>, %w: tensor<8x8x1x1xf32>) -> tensor<1x2xf32> {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<8x8x1x1xf32>) -> tensor<1x8x4x4xf32>
  %1 = prim.reshape %0 : (tensor<1x8x4x4xf32>) -> tensor<1x2x4x4x4xf32>
  %2 = prim.reduce %1 {dims = array<i64: 2, 3, 4>, kind = "max"} : (tensor<1x2x4x4x4xf32>) -> tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}
