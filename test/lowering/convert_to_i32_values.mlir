// What i32 does not hold becomes the least one, of which bytes keep the lowest bits, in vectors as one by one.
// RUN: rs-run %s | rs-filecheck %s
// RUN: rs-run %s --skip schedule-cpu | rs-filecheck %s
// CHECK: out0: i32[40] = [-2147483648, -2147483648, -2147483648, -2147483648, -2147483648, 2147483520, -1, 1, ...] crc32 [[CRC:.*]]
// CHECK: out1: i8[40] = [0, 0, 0, 0, 0, -128, -1, 1, ...]
// CHECK: out2: u8[40] = [0, 0, 0, 0, 0, 128, 255, 1, ...]

func.func @main() -> (tensor<40xi32> {capture.kind = "output"}, tensor<40xi8> {capture.kind = "output"}, tensor<40xui8> {capture.kind = "output"}) attributes {capture.entry} {
  %c = prim.constant {value = dense<[0x7fc00000, 0x7f800000, 0xff800000, 3.0e9, -2147483648.0, 2147483520.0, -1.75, 1.75]> : tensor<8xf32>} : tensor<8xf32>
  %b = prim.broadcast %c {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<5x8xf32>
  %x = prim.reshape %b : (tensor<5x8xf32>) -> tensor<40xf32>
  %0 = prim.convert %x : (tensor<40xf32>) -> tensor<40xi32>
  %1 = prim.convert %x : (tensor<40xf32>) -> tensor<40xi8>
  %2 = prim.convert %x : (tensor<40xf32>) -> tensor<40xui8>
  return %0, %1, %2 : tensor<40xi32>, tensor<40xi8>, tensor<40xui8>
}
