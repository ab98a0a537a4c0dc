// Concatenations of many tensors: the loop is cut into a piece for each of them. Values do not change.
// RUN: rs-run %s > %t.fast
// RUN: rs-run %s --skip schedule-cpu > %t.plain && diff %t.fast %t.plain

func.func @main(%a0_0: tensor<5x9xi32> {capture.kind = "input", capture.name = "a0_0"},
                %a0_1: tensor<5x37xi32> {capture.kind = "input", capture.name = "a0_1"},
                %a0_2: tensor<5x5xi32> {capture.kind = "input", capture.name = "a0_2"},
                %a0_3: tensor<5x17xi32> {capture.kind = "input", capture.name = "a0_3"},
                %a0_4: tensor<5x8xi32> {capture.kind = "input", capture.name = "a0_4"},
                %a0_5: tensor<5x32xi32> {capture.kind = "input", capture.name = "a0_5"},
                %a0_6: tensor<5x29xi32> {capture.kind = "input", capture.name = "a0_6"},
                %a0_7: tensor<5x31xi32> {capture.kind = "input", capture.name = "a0_7"},
                %a0_8: tensor<5x25xi32> {capture.kind = "input", capture.name = "a0_8"},
                %a0_9: tensor<5x14xi32> {capture.kind = "input", capture.name = "a0_9"},
                %a0_10: tensor<5x7xi32> {capture.kind = "input", capture.name = "a0_10"},
                %a0_11: tensor<5x32xi32> {capture.kind = "input", capture.name = "a0_11"},
                %a0_12: tensor<5x2xi32> {capture.kind = "input", capture.name = "a0_12"},
                %a0_13: tensor<5x25xi32> {capture.kind = "input", capture.name = "a0_13"},
                %a0_14: tensor<5x28xi32> {capture.kind = "input", capture.name = "a0_14"},
                %a0_15: tensor<5x39xi32> {capture.kind = "input", capture.name = "a0_15"},
                %a0_16: tensor<5x1xi32> {capture.kind = "input", capture.name = "a0_16"},
                %a0_17: tensor<5x29xi32> {capture.kind = "input", capture.name = "a0_17"},
                %a0_18: tensor<5x18xi32> {capture.kind = "input", capture.name = "a0_18"},
                %a0_19: tensor<5x15xi32> {capture.kind = "input", capture.name = "a0_19"},
                %a1_0: tensor<3x9x17xi32> {capture.kind = "input", capture.name = "a1_0"},
                %a1_1: tensor<3x37x17xi32> {capture.kind = "input", capture.name = "a1_1"},
                %a1_2: tensor<3x5x17xi32> {capture.kind = "input", capture.name = "a1_2"},
                %a1_3: tensor<3x17x17xi32> {capture.kind = "input", capture.name = "a1_3"},
                %a1_4: tensor<3x8x17xi32> {capture.kind = "input", capture.name = "a1_4"},
                %a1_5: tensor<3x32x17xi32> {capture.kind = "input", capture.name = "a1_5"},
                %a1_6: tensor<3x29x17xi32> {capture.kind = "input", capture.name = "a1_6"},
                %a1_7: tensor<3x31x17xi32> {capture.kind = "input", capture.name = "a1_7"},
                %a1_8: tensor<3x25x17xi32> {capture.kind = "input", capture.name = "a1_8"},
                %a1_9: tensor<3x14x17xi32> {capture.kind = "input", capture.name = "a1_9"},
                %a1_10: tensor<3x7x17xi32> {capture.kind = "input", capture.name = "a1_10"},
                %a1_11: tensor<3x32x17xi32> {capture.kind = "input", capture.name = "a1_11"},
                %a1_12: tensor<3x2x17xi32> {capture.kind = "input", capture.name = "a1_12"},
                %a1_13: tensor<3x25x17xi32> {capture.kind = "input", capture.name = "a1_13"},
                %a1_14: tensor<3x28x17xi32> {capture.kind = "input", capture.name = "a1_14"},
                %a1_15: tensor<3x39x17xi32> {capture.kind = "input", capture.name = "a1_15"},
                %a1_16: tensor<3x1x17xi32> {capture.kind = "input", capture.name = "a1_16"},
                %a1_17: tensor<3x29x17xi32> {capture.kind = "input", capture.name = "a1_17"},
                %a1_18: tensor<3x18x17xi32> {capture.kind = "input", capture.name = "a1_18"},
                %a1_19: tensor<3x15x17xi32> {capture.kind = "input", capture.name = "a1_19"},
                %a2_0: tensor<9x11xi8> {capture.kind = "input", capture.name = "a2_0"},
                %a2_1: tensor<37x11xi8> {capture.kind = "input", capture.name = "a2_1"},
                %a2_2: tensor<5x11xi8> {capture.kind = "input", capture.name = "a2_2"},
                %a2_3: tensor<17x11xi8> {capture.kind = "input", capture.name = "a2_3"},
                %a2_4: tensor<8x11xi8> {capture.kind = "input", capture.name = "a2_4"},
                %a2_5: tensor<32x11xi8> {capture.kind = "input", capture.name = "a2_5"},
                %a2_6: tensor<29x11xi8> {capture.kind = "input", capture.name = "a2_6"},
                %a2_7: tensor<31x11xi8> {capture.kind = "input", capture.name = "a2_7"},
                %a2_8: tensor<25x11xi8> {capture.kind = "input", capture.name = "a2_8"},
                %a2_9: tensor<14x11xi8> {capture.kind = "input", capture.name = "a2_9"},
                %a2_10: tensor<7x11xi8> {capture.kind = "input", capture.name = "a2_10"},
                %a2_11: tensor<32x11xi8> {capture.kind = "input", capture.name = "a2_11"},
                %a2_12: tensor<2x11xi8> {capture.kind = "input", capture.name = "a2_12"},
                %a2_13: tensor<25x11xi8> {capture.kind = "input", capture.name = "a2_13"},
                %a2_14: tensor<28x11xi8> {capture.kind = "input", capture.name = "a2_14"},
                %a2_15: tensor<39x11xi8> {capture.kind = "input", capture.name = "a2_15"},
                %a2_16: tensor<1x11xi8> {capture.kind = "input", capture.name = "a2_16"},
                %a2_17: tensor<29x11xi8> {capture.kind = "input", capture.name = "a2_17"},
                %a2_18: tensor<18x11xi8> {capture.kind = "input", capture.name = "a2_18"},
                %a2_19: tensor<15x11xi8> {capture.kind = "input", capture.name = "a2_19"},
                %a3_0: tensor<40xi32> {capture.kind = "input", capture.name = "a3_0"},
                %a3_1: tensor<40xi32> {capture.kind = "input", capture.name = "a3_1"},
                %a3_2: tensor<40xi32> {capture.kind = "input", capture.name = "a3_2"},
                %a3_3: tensor<40xi32> {capture.kind = "input", capture.name = "a3_3"},
                %a3_4: tensor<40xi32> {capture.kind = "input", capture.name = "a3_4"},
                %a3_5: tensor<40xi32> {capture.kind = "input", capture.name = "a3_5"},
                %a3_6: tensor<40xi32> {capture.kind = "input", capture.name = "a3_6"},
                %a3_7: tensor<40xi32> {capture.kind = "input", capture.name = "a3_7"},
                %a3_8: tensor<40xi32> {capture.kind = "input", capture.name = "a3_8"},
                %a3_9: tensor<40xi32> {capture.kind = "input", capture.name = "a3_9"},
                %a3_10: tensor<40xi32> {capture.kind = "input", capture.name = "a3_10"},
                %a3_11: tensor<40xi32> {capture.kind = "input", capture.name = "a3_11"},
                %a3_12: tensor<40xi32> {capture.kind = "input", capture.name = "a3_12"},
                %a3_13: tensor<40xi32> {capture.kind = "input", capture.name = "a3_13"},
                %a4_0: tensor<4x33xi64> {capture.kind = "input", capture.name = "a4_0"},
                %a4_1: tensor<4x33xi64> {capture.kind = "input", capture.name = "a4_1"},
                %a4_2: tensor<4x33xi64> {capture.kind = "input", capture.name = "a4_2"},
                %a4_3: tensor<4x33xi64> {capture.kind = "input", capture.name = "a4_3"},
                %a4_4: tensor<4x33xi64> {capture.kind = "input", capture.name = "a4_4"},
                %a4_5: tensor<4x33xi64> {capture.kind = "input", capture.name = "a4_5"},
                %a4_6: tensor<4x33xi64> {capture.kind = "input", capture.name = "a4_6"},
                %a4_7: tensor<4x33xi64> {capture.kind = "input", capture.name = "a4_7"},
                %a4_8: tensor<4x33xi64> {capture.kind = "input", capture.name = "a4_8"},
                %a4_9: tensor<4x33xi64> {capture.kind = "input", capture.name = "a4_9"},
                %a4_10: tensor<4x33xi64> {capture.kind = "input", capture.name = "a4_10"},
                %a4_11: tensor<4x33xi64> {capture.kind = "input", capture.name = "a4_11"})
    -> (tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"})
    attributes {capture.entry} {
  %r0 = aten.cat %a0_0, %a0_1, %a0_2, %a0_3, %a0_4, %a0_5, %a0_6, %a0_7, %a0_8, %a0_9, %a0_10, %a0_11, %a0_12, %a0_13, %a0_14, %a0_15, %a0_16, %a0_17, %a0_18, %a0_19 {dim = 1 : i64, segments = array<i64: 20>} : (tensor<5x9xi32>, tensor<5x37xi32>, tensor<5x5xi32>, tensor<5x17xi32>, tensor<5x8xi32>, tensor<5x32xi32>, tensor<5x29xi32>, tensor<5x31xi32>, tensor<5x25xi32>, tensor<5x14xi32>, tensor<5x7xi32>, tensor<5x32xi32>, tensor<5x2xi32>, tensor<5x25xi32>, tensor<5x28xi32>, tensor<5x39xi32>, tensor<5x1xi32>, tensor<5x29xi32>, tensor<5x18xi32>, tensor<5x15xi32>) -> tensor<5x403xi32>
  %v0 = aten.view %r0 {size = array<i64: 2015>} : (tensor<5x403xi32>) -> tensor<2015xi32>
  %c0 = aten.cumsum %v0 {dim = 0 : i64} : (tensor<2015xi32>) -> tensor<2015xi64>
  %s0 = aten.sum %c0 : (tensor<2015xi64>) -> tensor<i64>
  %r1 = aten.cat %a1_0, %a1_1, %a1_2, %a1_3, %a1_4, %a1_5, %a1_6, %a1_7, %a1_8, %a1_9, %a1_10, %a1_11, %a1_12, %a1_13, %a1_14, %a1_15, %a1_16, %a1_17, %a1_18, %a1_19 {dim = 1 : i64, segments = array<i64: 20>} : (tensor<3x9x17xi32>, tensor<3x37x17xi32>, tensor<3x5x17xi32>, tensor<3x17x17xi32>, tensor<3x8x17xi32>, tensor<3x32x17xi32>, tensor<3x29x17xi32>, tensor<3x31x17xi32>, tensor<3x25x17xi32>, tensor<3x14x17xi32>, tensor<3x7x17xi32>, tensor<3x32x17xi32>, tensor<3x2x17xi32>, tensor<3x25x17xi32>, tensor<3x28x17xi32>, tensor<3x39x17xi32>, tensor<3x1x17xi32>, tensor<3x29x17xi32>, tensor<3x18x17xi32>, tensor<3x15x17xi32>) -> tensor<3x403x17xi32>
  %v1 = aten.view %r1 {size = array<i64: 20553>} : (tensor<3x403x17xi32>) -> tensor<20553xi32>
  %c1 = aten.cumsum %v1 {dim = 0 : i64} : (tensor<20553xi32>) -> tensor<20553xi64>
  %s1 = aten.sum %c1 : (tensor<20553xi64>) -> tensor<i64>
  %r2 = aten.cat %a2_0, %a2_1, %a2_2, %a2_3, %a2_4, %a2_5, %a2_6, %a2_7, %a2_8, %a2_9, %a2_10, %a2_11, %a2_12, %a2_13, %a2_14, %a2_15, %a2_16, %a2_17, %a2_18, %a2_19 {dim = 0 : i64, segments = array<i64: 20>} : (tensor<9x11xi8>, tensor<37x11xi8>, tensor<5x11xi8>, tensor<17x11xi8>, tensor<8x11xi8>, tensor<32x11xi8>, tensor<29x11xi8>, tensor<31x11xi8>, tensor<25x11xi8>, tensor<14x11xi8>, tensor<7x11xi8>, tensor<32x11xi8>, tensor<2x11xi8>, tensor<25x11xi8>, tensor<28x11xi8>, tensor<39x11xi8>, tensor<1x11xi8>, tensor<29x11xi8>, tensor<18x11xi8>, tensor<15x11xi8>) -> tensor<403x11xi8>
  %v2 = aten.view %r2 {size = array<i64: 4433>} : (tensor<403x11xi8>) -> tensor<4433xi8>
  %c2 = aten.cumsum %v2 {dim = 0 : i64} : (tensor<4433xi8>) -> tensor<4433xi64>
  %s2 = aten.sum %c2 : (tensor<4433xi64>) -> tensor<i64>
  %r3 = aten.stack %a3_0, %a3_1, %a3_2, %a3_3, %a3_4, %a3_5, %a3_6, %a3_7, %a3_8, %a3_9, %a3_10, %a3_11, %a3_12, %a3_13 {dim = 0 : i64, segments = array<i64: 14>} : (tensor<40xi32>, tensor<40xi32>, tensor<40xi32>, tensor<40xi32>, tensor<40xi32>, tensor<40xi32>, tensor<40xi32>, tensor<40xi32>, tensor<40xi32>, tensor<40xi32>, tensor<40xi32>, tensor<40xi32>, tensor<40xi32>, tensor<40xi32>) -> tensor<14x40xi32>
  %v3 = aten.view %r3 {size = array<i64: 560>} : (tensor<14x40xi32>) -> tensor<560xi32>
  %c3 = aten.cumsum %v3 {dim = 0 : i64} : (tensor<560xi32>) -> tensor<560xi64>
  %s3 = aten.sum %c3 : (tensor<560xi64>) -> tensor<i64>
  %r4 = aten.stack %a4_0, %a4_1, %a4_2, %a4_3, %a4_4, %a4_5, %a4_6, %a4_7, %a4_8, %a4_9, %a4_10, %a4_11 {dim = 1 : i64, segments = array<i64: 12>} : (tensor<4x33xi64>, tensor<4x33xi64>, tensor<4x33xi64>, tensor<4x33xi64>, tensor<4x33xi64>, tensor<4x33xi64>, tensor<4x33xi64>, tensor<4x33xi64>, tensor<4x33xi64>, tensor<4x33xi64>, tensor<4x33xi64>, tensor<4x33xi64>) -> tensor<4x12x33xi64>
  %v4 = aten.view %r4 {size = array<i64: 1584>} : (tensor<4x12x33xi64>) -> tensor<1584xi64>
  %c4 = aten.cumsum %v4 {dim = 0 : i64} : (tensor<1584xi64>) -> tensor<1584xi64>
  %s4 = aten.sum %c4 : (tensor<1584xi64>) -> tensor<i64>
  return %s0, %s1, %s2, %s3, %s4 : tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>
}
