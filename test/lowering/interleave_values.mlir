// Stacks along the last dim: vectors are interleaved in registers and stored as rows; lengths that are no multiple of the lanes. Values do not
// change.
// RUN: rs-run %s > %t.fast
// RUN: rs-run %s --skip schedule-cpu > %t.plain && diff %t.fast %t.plain

func.func @main(%a0_0: tensor<103xi32> {capture.kind = "input", capture.name = "a0_0"},
                %a0_1: tensor<103xi32> {capture.kind = "input", capture.name = "a0_1"},
                %a1_0: tensor<103xi32> {capture.kind = "input", capture.name = "a1_0"},
                %a1_1: tensor<103xi32> {capture.kind = "input", capture.name = "a1_1"},
                %a1_2: tensor<103xi32> {capture.kind = "input", capture.name = "a1_2"},
                %a2_0: tensor<103xi32> {capture.kind = "input", capture.name = "a2_0"},
                %a2_1: tensor<103xi32> {capture.kind = "input", capture.name = "a2_1"},
                %a2_2: tensor<103xi32> {capture.kind = "input", capture.name = "a2_2"},
                %a2_3: tensor<103xi32> {capture.kind = "input", capture.name = "a2_3"},
                %a3_0: tensor<103xi32> {capture.kind = "input", capture.name = "a3_0"},
                %a3_1: tensor<103xi32> {capture.kind = "input", capture.name = "a3_1"},
                %a3_2: tensor<103xi32> {capture.kind = "input", capture.name = "a3_2"},
                %a3_3: tensor<103xi32> {capture.kind = "input", capture.name = "a3_3"},
                %a3_4: tensor<103xi32> {capture.kind = "input", capture.name = "a3_4"},
                %a4_0: tensor<103xi32> {capture.kind = "input", capture.name = "a4_0"},
                %a4_1: tensor<103xi32> {capture.kind = "input", capture.name = "a4_1"},
                %a4_2: tensor<103xi32> {capture.kind = "input", capture.name = "a4_2"},
                %a4_3: tensor<103xi32> {capture.kind = "input", capture.name = "a4_3"},
                %a4_4: tensor<103xi32> {capture.kind = "input", capture.name = "a4_4"},
                %a4_5: tensor<103xi32> {capture.kind = "input", capture.name = "a4_5"},
                %a5_0: tensor<103xi32> {capture.kind = "input", capture.name = "a5_0"},
                %a5_1: tensor<103xi32> {capture.kind = "input", capture.name = "a5_1"},
                %a5_2: tensor<103xi32> {capture.kind = "input", capture.name = "a5_2"},
                %a5_3: tensor<103xi32> {capture.kind = "input", capture.name = "a5_3"},
                %a5_4: tensor<103xi32> {capture.kind = "input", capture.name = "a5_4"},
                %a5_5: tensor<103xi32> {capture.kind = "input", capture.name = "a5_5"},
                %a5_6: tensor<103xi32> {capture.kind = "input", capture.name = "a5_6"},
                %a6_0: tensor<103xi32> {capture.kind = "input", capture.name = "a6_0"},
                %a6_1: tensor<103xi32> {capture.kind = "input", capture.name = "a6_1"},
                %a6_2: tensor<103xi32> {capture.kind = "input", capture.name = "a6_2"},
                %a6_3: tensor<103xi32> {capture.kind = "input", capture.name = "a6_3"},
                %a6_4: tensor<103xi32> {capture.kind = "input", capture.name = "a6_4"},
                %a6_5: tensor<103xi32> {capture.kind = "input", capture.name = "a6_5"},
                %a6_6: tensor<103xi32> {capture.kind = "input", capture.name = "a6_6"},
                %a6_7: tensor<103xi32> {capture.kind = "input", capture.name = "a6_7"},
                %a7_0: tensor<103xi32> {capture.kind = "input", capture.name = "a7_0"},
                %a7_1: tensor<103xi32> {capture.kind = "input", capture.name = "a7_1"},
                %a7_2: tensor<103xi32> {capture.kind = "input", capture.name = "a7_2"},
                %a7_3: tensor<103xi32> {capture.kind = "input", capture.name = "a7_3"},
                %a7_4: tensor<103xi32> {capture.kind = "input", capture.name = "a7_4"},
                %a7_5: tensor<103xi32> {capture.kind = "input", capture.name = "a7_5"},
                %a7_6: tensor<103xi32> {capture.kind = "input", capture.name = "a7_6"},
                %a7_7: tensor<103xi32> {capture.kind = "input", capture.name = "a7_7"},
                %a7_8: tensor<103xi32> {capture.kind = "input", capture.name = "a7_8"},
                %a8_0: tensor<5x13xi64> {capture.kind = "input", capture.name = "a8_0"},
                %a8_1: tensor<5x13xi64> {capture.kind = "input", capture.name = "a8_1"},
                %a8_2: tensor<5x13xi64> {capture.kind = "input", capture.name = "a8_2"},
                %a9_0: tensor<301xi8> {capture.kind = "input", capture.name = "a9_0"},
                %a9_1: tensor<301xi8> {capture.kind = "input", capture.name = "a9_1"},
                %a9_2: tensor<301xi8> {capture.kind = "input", capture.name = "a9_2"},
                %a9_3: tensor<301xi8> {capture.kind = "input", capture.name = "a9_3"},
                %a10_0: tensor<7xi32> {capture.kind = "input", capture.name = "a10_0"},
                %a10_1: tensor<7xi32> {capture.kind = "input", capture.name = "a10_1"},
                %a11_0: tensor<3x200xi8> {capture.kind = "input", capture.name = "a11_0"},
                %a11_1: tensor<3x200xi8> {capture.kind = "input", capture.name = "a11_1"},
                %a11_2: tensor<3x200xi8> {capture.kind = "input", capture.name = "a11_2"},
                %a11_3: tensor<3x200xi8> {capture.kind = "input", capture.name = "a11_3"},
                %a11_4: tensor<3x200xi8> {capture.kind = "input", capture.name = "a11_4"},
                %a11_5: tensor<3x200xi8> {capture.kind = "input", capture.name = "a11_5"})
    -> (tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"}, tensor<i64> {capture.kind = "output"})
    attributes {capture.entry} {
  %r0 = aten.stack %a0_0, %a0_1 {dim = -1 : i64, segments = array<i64: 2>} : (tensor<103xi32>, tensor<103xi32>) -> tensor<103x2xi32>
  %v0 = aten.view %r0 {size = array<i64: 206>} : (tensor<103x2xi32>) -> tensor<206xi32>
  %c0 = aten.cumsum %v0 {dim = 0 : i64} : (tensor<206xi32>) -> tensor<206xi64>
  %s0 = aten.sum %c0 : (tensor<206xi64>) -> tensor<i64>
  %r1 = aten.stack %a1_0, %a1_1, %a1_2 {dim = -1 : i64, segments = array<i64: 3>} : (tensor<103xi32>, tensor<103xi32>, tensor<103xi32>) -> tensor<103x3xi32>
  %v1 = aten.view %r1 {size = array<i64: 309>} : (tensor<103x3xi32>) -> tensor<309xi32>
  %c1 = aten.cumsum %v1 {dim = 0 : i64} : (tensor<309xi32>) -> tensor<309xi64>
  %s1 = aten.sum %c1 : (tensor<309xi64>) -> tensor<i64>
  %r2 = aten.stack %a2_0, %a2_1, %a2_2, %a2_3 {dim = -1 : i64, segments = array<i64: 4>} : (tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>) -> tensor<103x4xi32>
  %v2 = aten.view %r2 {size = array<i64: 412>} : (tensor<103x4xi32>) -> tensor<412xi32>
  %c2 = aten.cumsum %v2 {dim = 0 : i64} : (tensor<412xi32>) -> tensor<412xi64>
  %s2 = aten.sum %c2 : (tensor<412xi64>) -> tensor<i64>
  %r3 = aten.stack %a3_0, %a3_1, %a3_2, %a3_3, %a3_4 {dim = -1 : i64, segments = array<i64: 5>} : (tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>) -> tensor<103x5xi32>
  %v3 = aten.view %r3 {size = array<i64: 515>} : (tensor<103x5xi32>) -> tensor<515xi32>
  %c3 = aten.cumsum %v3 {dim = 0 : i64} : (tensor<515xi32>) -> tensor<515xi64>
  %s3 = aten.sum %c3 : (tensor<515xi64>) -> tensor<i64>
  %r4 = aten.stack %a4_0, %a4_1, %a4_2, %a4_3, %a4_4, %a4_5 {dim = -1 : i64, segments = array<i64: 6>} : (tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>) -> tensor<103x6xi32>
  %v4 = aten.view %r4 {size = array<i64: 618>} : (tensor<103x6xi32>) -> tensor<618xi32>
  %c4 = aten.cumsum %v4 {dim = 0 : i64} : (tensor<618xi32>) -> tensor<618xi64>
  %s4 = aten.sum %c4 : (tensor<618xi64>) -> tensor<i64>
  %r5 = aten.stack %a5_0, %a5_1, %a5_2, %a5_3, %a5_4, %a5_5, %a5_6 {dim = -1 : i64, segments = array<i64: 7>} : (tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>) -> tensor<103x7xi32>
  %v5 = aten.view %r5 {size = array<i64: 721>} : (tensor<103x7xi32>) -> tensor<721xi32>
  %c5 = aten.cumsum %v5 {dim = 0 : i64} : (tensor<721xi32>) -> tensor<721xi64>
  %s5 = aten.sum %c5 : (tensor<721xi64>) -> tensor<i64>
  %r6 = aten.stack %a6_0, %a6_1, %a6_2, %a6_3, %a6_4, %a6_5, %a6_6, %a6_7 {dim = -1 : i64, segments = array<i64: 8>} : (tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>) -> tensor<103x8xi32>
  %v6 = aten.view %r6 {size = array<i64: 824>} : (tensor<103x8xi32>) -> tensor<824xi32>
  %c6 = aten.cumsum %v6 {dim = 0 : i64} : (tensor<824xi32>) -> tensor<824xi64>
  %s6 = aten.sum %c6 : (tensor<824xi64>) -> tensor<i64>
  %r7 = aten.stack %a7_0, %a7_1, %a7_2, %a7_3, %a7_4, %a7_5, %a7_6, %a7_7, %a7_8 {dim = -1 : i64, segments = array<i64: 9>} : (tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>, tensor<103xi32>) -> tensor<103x9xi32>
  %v7 = aten.view %r7 {size = array<i64: 927>} : (tensor<103x9xi32>) -> tensor<927xi32>
  %c7 = aten.cumsum %v7 {dim = 0 : i64} : (tensor<927xi32>) -> tensor<927xi64>
  %s7 = aten.sum %c7 : (tensor<927xi64>) -> tensor<i64>
  %r8 = aten.stack %a8_0, %a8_1, %a8_2 {dim = -1 : i64, segments = array<i64: 3>} : (tensor<5x13xi64>, tensor<5x13xi64>, tensor<5x13xi64>) -> tensor<5x13x3xi64>
  %v8 = aten.view %r8 {size = array<i64: 195>} : (tensor<5x13x3xi64>) -> tensor<195xi64>
  %c8 = aten.cumsum %v8 {dim = 0 : i64} : (tensor<195xi64>) -> tensor<195xi64>
  %s8 = aten.sum %c8 : (tensor<195xi64>) -> tensor<i64>
  %r9 = aten.stack %a9_0, %a9_1, %a9_2, %a9_3 {dim = -1 : i64, segments = array<i64: 4>} : (tensor<301xi8>, tensor<301xi8>, tensor<301xi8>, tensor<301xi8>) -> tensor<301x4xi8>
  %v9 = aten.view %r9 {size = array<i64: 1204>} : (tensor<301x4xi8>) -> tensor<1204xi8>
  %c9 = aten.cumsum %v9 {dim = 0 : i64} : (tensor<1204xi8>) -> tensor<1204xi64>
  %s9 = aten.sum %c9 : (tensor<1204xi64>) -> tensor<i64>
  %r10 = aten.stack %a10_0, %a10_1 {dim = -1 : i64, segments = array<i64: 2>} : (tensor<7xi32>, tensor<7xi32>) -> tensor<7x2xi32>
  %v10 = aten.view %r10 {size = array<i64: 14>} : (tensor<7x2xi32>) -> tensor<14xi32>
  %c10 = aten.cumsum %v10 {dim = 0 : i64} : (tensor<14xi32>) -> tensor<14xi64>
  %s10 = aten.sum %c10 : (tensor<14xi64>) -> tensor<i64>
  %r11 = aten.stack %a11_0, %a11_1, %a11_2, %a11_3, %a11_4, %a11_5 {dim = -1 : i64, segments = array<i64: 6>} : (tensor<3x200xi8>, tensor<3x200xi8>, tensor<3x200xi8>, tensor<3x200xi8>, tensor<3x200xi8>, tensor<3x200xi8>) -> tensor<3x200x6xi8>
  %v11 = aten.view %r11 {size = array<i64: 3600>} : (tensor<3x200x6xi8>) -> tensor<3600xi8>
  %c11 = aten.cumsum %v11 {dim = 0 : i64} : (tensor<3600xi8>) -> tensor<3600xi64>
  %s11 = aten.sum %c11 : (tensor<3600xi64>) -> tensor<i64>
  return %s0, %s1, %s2, %s3, %s4, %s5, %s6, %s7, %s8, %s9, %s10, %s11 : tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>
}
