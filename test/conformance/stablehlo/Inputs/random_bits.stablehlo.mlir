"builtin.module"() <{sym_name = "jit_random_bits"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4xui32>) -> (tensor<i32>, tensor<3x5xi32>, tensor<7xi32>, tensor<2x9xi32>, tensor<i32>, tensor<3x5xi32>, tensor<7xi32>, tensor<2x9xi32>, tensor<4xui32>, tensor<2x3xf32>, tensor<6xi32>), res_attrs = [{jax.result_info = "result[0][0]"}, {jax.result_info = "result[0][1]"}, {jax.result_info = "result[0][2]"}, {jax.result_info = "result[0][3]"}, {jax.result_info = "result[0][4]"}, {jax.result_info = "result[0][5]"}, {jax.result_info = "result[0][6]"}, {jax.result_info = "result[0][7]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg41: tensor<4xui32>):
    %140 = "stablehlo.reshape"(%arg41) : (tensor<4xui32>) -> tensor<2x2xui32>
    %141 = "stablehlo.bitcast_convert"(%140) : (tensor<2x2xui32>) -> tensor<2xui64>
    %142:2 = "stablehlo.rng_bit_generator"(%141) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
    %143 = "stablehlo.bitcast_convert"(%142#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %144 = "stablehlo.reshape"(%143) : (tensor<2x2xui32>) -> tensor<4xui32>
    %145 = "stablehlo.convert"(%142#1) : (tensor<ui32>) -> tensor<i32>
    %146 = "stablehlo.reshape"(%144) : (tensor<4xui32>) -> tensor<2x2xui32>
    %147 = "stablehlo.bitcast_convert"(%146) : (tensor<2x2xui32>) -> tensor<2xui64>
    %148:2 = "stablehlo.rng_bit_generator"(%147) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui32>)
    %149 = "stablehlo.bitcast_convert"(%148#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %150 = "stablehlo.reshape"(%149) : (tensor<2x2xui32>) -> tensor<4xui32>
    %151 = "stablehlo.convert"(%148#1) : (tensor<3x5xui32>) -> tensor<3x5xi32>
    %152 = "stablehlo.reshape"(%150) : (tensor<4xui32>) -> tensor<2x2xui32>
    %153 = "stablehlo.bitcast_convert"(%152) : (tensor<2x2xui32>) -> tensor<2xui64>
    %154:2 = "stablehlo.rng_bit_generator"(%153) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui8>)
    %155 = "stablehlo.bitcast_convert"(%154#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %156 = "stablehlo.reshape"(%155) : (tensor<2x2xui32>) -> tensor<4xui32>
    %157 = "stablehlo.convert"(%154#1) : (tensor<7xui8>) -> tensor<7xi32>
    %158 = "stablehlo.reshape"(%156) : (tensor<4xui32>) -> tensor<2x2xui32>
    %159 = "stablehlo.bitcast_convert"(%158) : (tensor<2x2xui32>) -> tensor<2xui64>
    %160:2 = "stablehlo.rng_bit_generator"(%159) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x9xui16>)
    %161 = "stablehlo.bitcast_convert"(%160#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %162 = "stablehlo.reshape"(%161) : (tensor<2x2xui32>) -> tensor<4xui32>
    %163 = "stablehlo.convert"(%160#1) : (tensor<2x9xui16>) -> tensor<2x9xi32>
    %164 = "stablehlo.reshape"(%162) : (tensor<4xui32>) -> tensor<2x2xui32>
    %165 = "stablehlo.bitcast_convert"(%164) : (tensor<2x2xui32>) -> tensor<2xui64>
    %166:2 = "stablehlo.rng_bit_generator"(%165) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<ui32>)
    %167 = "stablehlo.bitcast_convert"(%166#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %168 = "stablehlo.reshape"(%167) : (tensor<2x2xui32>) -> tensor<4xui32>
    %169 = "stablehlo.convert"(%166#1) : (tensor<ui32>) -> tensor<i32>
    %170 = "stablehlo.reshape"(%168) : (tensor<4xui32>) -> tensor<2x2xui32>
    %171 = "stablehlo.bitcast_convert"(%170) : (tensor<2x2xui32>) -> tensor<2xui64>
    %172:2 = "stablehlo.rng_bit_generator"(%171) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui32>)
    %173 = "stablehlo.bitcast_convert"(%172#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %174 = "stablehlo.reshape"(%173) : (tensor<2x2xui32>) -> tensor<4xui32>
    %175 = "stablehlo.convert"(%172#1) : (tensor<3x5xui32>) -> tensor<3x5xi32>
    %176 = "stablehlo.reshape"(%174) : (tensor<4xui32>) -> tensor<2x2xui32>
    %177 = "stablehlo.bitcast_convert"(%176) : (tensor<2x2xui32>) -> tensor<2xui64>
    %178:2 = "stablehlo.rng_bit_generator"(%177) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<7xui8>)
    %179 = "stablehlo.bitcast_convert"(%178#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %180 = "stablehlo.reshape"(%179) : (tensor<2x2xui32>) -> tensor<4xui32>
    %181 = "stablehlo.convert"(%178#1) : (tensor<7xui8>) -> tensor<7xi32>
    %182 = "stablehlo.reshape"(%180) : (tensor<4xui32>) -> tensor<2x2xui32>
    %183 = "stablehlo.bitcast_convert"(%182) : (tensor<2x2xui32>) -> tensor<2xui64>
    %184:2 = "stablehlo.rng_bit_generator"(%183) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x9xui16>)
    %185 = "stablehlo.bitcast_convert"(%184#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %186 = "stablehlo.reshape"(%185) : (tensor<2x2xui32>) -> tensor<4xui32>
    %187 = "stablehlo.convert"(%184#1) : (tensor<2x9xui16>) -> tensor<2x9xi32>
    %188 = "func.call"(%186) <{callee = @_normal}> : (tensor<4xui32>) -> tensor<2x3xf32>
    %189 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<6xi32>
    %190 = "func.call"(%186, %189) <{callee = @_shuffle}> : (tensor<4xui32>, tensor<6xi32>) -> tensor<6xi32>
    "func.return"(%145, %151, %157, %163, %169, %175, %181, %187, %186, %188, %190) : (tensor<i32>, tensor<3x5xi32>, tensor<7xi32>, tensor<2x9xi32>, tensor<i32>, tensor<3x5xi32>, tensor<7xi32>, tensor<2x9xi32>, tensor<4xui32>, tensor<2x3xf32>, tensor<6xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4xui32>) -> tensor<2x3xf32>, res_attrs = [{}], sym_name = "_normal", sym_visibility = "private"}> ({
  ^bb0(%arg40: tensor<4xui32>):
    %139 = "func.call"(%arg40) <{callee = @_normal_real}> : (tensor<4xui32>) -> tensor<2x3xf32>
    "func.return"(%139) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4xui32>) -> tensor<2x3xf32>, res_attrs = [{}], sym_name = "_normal_real", sym_visibility = "private"}> ({
  ^bb0(%arg39: tensor<4xui32>):
    %132 = "stablehlo.constant"() <{value = dense<-0.99999994> : tensor<f32>}> : () -> tensor<f32>
    %133 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %134 = "func.call"(%arg39, %132, %133) <{callee = @_uniform}> : (tensor<4xui32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
    %135 = "chlo.erf_inv"(%134) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %136 = "stablehlo.constant"() <{value = dense<1.41421354> : tensor<f32>}> : () -> tensor<f32>
    %137 = "stablehlo.broadcast_in_dim"(%136) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3xf32>
    %138 = "stablehlo.multiply"(%137, %135) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    "func.return"(%138) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4xui32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>, res_attrs = [{}], sym_name = "_uniform", sym_visibility = "private"}> ({
  ^bb0(%arg36: tensor<4xui32>, %arg37: tensor<f32>, %arg38: tensor<f32>):
    %108 = "stablehlo.broadcast_in_dim"(%arg37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %109 = "stablehlo.broadcast_in_dim"(%arg38) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %110 = "stablehlo.reshape"(%arg36) : (tensor<4xui32>) -> tensor<2x2xui32>
    %111 = "stablehlo.bitcast_convert"(%110) : (tensor<2x2xui32>) -> tensor<2xui64>
    %112:2 = "stablehlo.rng_bit_generator"(%111) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui32>)
    %113 = "stablehlo.bitcast_convert"(%112#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %114 = "stablehlo.reshape"(%113) : (tensor<2x2xui32>) -> tensor<4xui32>
    %115 = "stablehlo.constant"() <{value = dense<9> : tensor<ui32>}> : () -> tensor<ui32>
    %116 = "stablehlo.broadcast_in_dim"(%115) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x3xui32>
    %117 = "stablehlo.shift_right_logical"(%112#1, %116) : (tensor<2x3xui32>, tensor<2x3xui32>) -> tensor<2x3xui32>
    %118 = "stablehlo.constant"() <{value = dense<1065353216> : tensor<ui32>}> : () -> tensor<ui32>
    %119 = "stablehlo.broadcast_in_dim"(%118) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x3xui32>
    %120 = "stablehlo.or"(%117, %119) : (tensor<2x3xui32>, tensor<2x3xui32>) -> tensor<2x3xui32>
    %121 = "stablehlo.bitcast_convert"(%120) : (tensor<2x3xui32>) -> tensor<2x3xf32>
    %122 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %123 = "stablehlo.broadcast_in_dim"(%122) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3xf32>
    %124 = "stablehlo.subtract"(%121, %123) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %125 = "stablehlo.subtract"(%109, %108) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %126 = "stablehlo.broadcast_in_dim"(%125) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<2x3xf32>
    %127 = "stablehlo.multiply"(%124, %126) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %128 = "stablehlo.broadcast_in_dim"(%108) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<2x3xf32>
    %129 = "stablehlo.add"(%127, %128) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %130 = "stablehlo.broadcast_in_dim"(%108) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<2x3xf32>
    %131 = "stablehlo.maximum"(%130, %129) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    "func.return"(%131) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4xui32>, tensor<6xi32>) -> tensor<6xi32>, res_attrs = [{}], sym_name = "_shuffle", sym_visibility = "private"}> ({
  ^bb0(%arg30: tensor<4xui32>, %arg31: tensor<6xi32>):
    %75 = "stablehlo.reshape"(%arg30) : (tensor<4xui32>) -> tensor<2x2xui32>
    %76 = "stablehlo.slice"(%75) <{limit_indices = array<i64: 2, 1>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<2x2xui32>) -> tensor<2x1xui32>
    %77 = "stablehlo.reshape"(%76) : (tensor<2x1xui32>) -> tensor<2xui32>
    %78 = "stablehlo.slice"(%75) <{limit_indices = array<i64: 2, 2>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 1>}> : (tensor<2x2xui32>) -> tensor<2x1xui32>
    %79 = "stablehlo.reshape"(%78) : (tensor<2x1xui32>) -> tensor<2xui32>
    %80 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2xui64>
    %81 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %82 = "stablehlo.broadcast_in_dim"(%81) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2xui64>
    %83 = "stablehlo.multiply"(%82, %80) : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
    %84 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %85 = "stablehlo.broadcast_in_dim"(%84) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2xui64>
    %86 = "stablehlo.shift_right_logical"(%83, %85) : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
    %87 = "stablehlo.convert"(%83) : (tensor<2xui64>) -> tensor<2xui32>
    %88 = "stablehlo.convert"(%86) : (tensor<2xui64>) -> tensor<2xui32>
    %89 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1x2xui32>
    %90 = "stablehlo.broadcast_in_dim"(%87) <{broadcast_dimensions = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1x2xui32>
    %91 = "stablehlo.broadcast_in_dim"(%77) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xui32>) -> tensor<2x1xui32>
    %92 = "stablehlo.broadcast_in_dim"(%79) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xui32>) -> tensor<2x1xui32>
    %93:2 = "func.call"(%91, %92, %89, %90) <{callee = @threefry2x32}> : (tensor<2x1xui32>, tensor<2x1xui32>, tensor<1x2xui32>, tensor<1x2xui32>) -> (tensor<2x2xui32>, tensor<2x2xui32>)
    %94 = "stablehlo.broadcast_in_dim"(%93#0) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x2xui32>) -> tensor<2x2x1xui32>
    %95 = "stablehlo.broadcast_in_dim"(%93#1) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x2xui32>) -> tensor<2x2x1xui32>
    %96 = "stablehlo.concatenate"(%94, %95) <{dimension = 2 : i64}> : (tensor<2x2x1xui32>, tensor<2x2x1xui32>) -> tensor<2x2x2xui32>
    %97 = "stablehlo.transpose"(%96) <{permutation = array<i64: 1, 0, 2>}> : (tensor<2x2x2xui32>) -> tensor<2x2x2xui32>
    %98 = "stablehlo.reshape"(%97) : (tensor<2x2x2xui32>) -> tensor<2x4xui32>
    %99 = "stablehlo.slice"(%98) <{limit_indices = array<i64: 2, 4>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}> : (tensor<2x4xui32>) -> tensor<1x4xui32>
    %100 = "stablehlo.reshape"(%99) : (tensor<1x4xui32>) -> tensor<4xui32>
    %101 = "stablehlo.reshape"(%100) : (tensor<4xui32>) -> tensor<2x2xui32>
    %102 = "stablehlo.bitcast_convert"(%101) : (tensor<2x2xui32>) -> tensor<2xui64>
    %103:2 = "stablehlo.rng_bit_generator"(%102) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<6xui32>)
    %104 = "stablehlo.bitcast_convert"(%103#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %105 = "stablehlo.reshape"(%104) : (tensor<2x2xui32>) -> tensor<4xui32>
    %106:2 = "stablehlo.sort"(%103#1, %arg31) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg32: tensor<ui32>, %arg33: tensor<ui32>, %arg34: tensor<i32>, %arg35: tensor<i32>):
      %107 = "stablehlo.compare"(%arg32, %arg33) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
      "stablehlo.return"(%107) : (tensor<i1>) -> ()
    }) : (tensor<6xui32>, tensor<6xi32>) -> (tensor<6xui32>, tensor<6xi32>)
    "func.return"(%106#1) : (tensor<6xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x1xui32>, tensor<2x1xui32>, tensor<1x2xui32>, tensor<1x2xui32>) -> (tensor<2x2xui32>, tensor<2x2xui32>), sym_name = "threefry2x32", sym_visibility = "private"}> ({
  ^bb0(%arg8: tensor<2x1xui32>, %arg9: tensor<2x1xui32>, %arg10: tensor<1x2xui32>, %arg11: tensor<1x2xui32>):
    %55 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %56 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %57 = "stablehlo.xor"(%arg8, %arg9) : (tensor<2x1xui32>, tensor<2x1xui32>) -> tensor<2x1xui32>
    %58 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %59 = "stablehlo.broadcast_in_dim"(%58) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x1xui32>
    %60 = "stablehlo.xor"(%57, %59) : (tensor<2x1xui32>, tensor<2x1xui32>) -> tensor<2x1xui32>
    %61 = "stablehlo.broadcast_in_dim"(%arg10) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x2xui32>) -> tensor<2x2xui32>
    %62 = "stablehlo.broadcast_in_dim"(%arg8) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x1xui32>) -> tensor<2x2xui32>
    %63 = "stablehlo.add"(%61, %62) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %64 = "stablehlo.broadcast_in_dim"(%arg11) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x2xui32>) -> tensor<2x2xui32>
    %65 = "stablehlo.broadcast_in_dim"(%arg9) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x1xui32>) -> tensor<2x2xui32>
    %66 = "stablehlo.add"(%64, %65) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %67 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %68 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %69:9 = "stablehlo.while"(%68, %67, %63, %66, %arg9, %60, %arg8, %55, %56) ({
    ^bb0(%arg21: tensor<i32>, %arg22: tensor<i32>, %arg23: tensor<2x2xui32>, %arg24: tensor<2x2xui32>, %arg25: tensor<2x1xui32>, %arg26: tensor<2x1xui32>, %arg27: tensor<2x1xui32>, %arg28: tensor<4xui32>, %arg29: tensor<4xui32>):
      %73 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
      %74 = "stablehlo.compare"(%arg21, %73) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%74) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg12: tensor<i32>, %arg13: tensor<i32>, %arg14: tensor<2x2xui32>, %arg15: tensor<2x2xui32>, %arg16: tensor<2x1xui32>, %arg17: tensor<2x1xui32>, %arg18: tensor<2x1xui32>, %arg19: tensor<4xui32>, %arg20: tensor<4xui32>):
      %70:8 = "func.call"(%arg13, %arg14, %arg15, %arg16, %arg17, %arg18, %arg19, %arg20) <{callee = @closed_call}> : (tensor<i32>, tensor<2x2xui32>, tensor<2x2xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<2x2xui32>, tensor<2x2xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<4xui32>, tensor<4xui32>)
      %71 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %72 = "stablehlo.add"(%arg12, %71) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%72, %70#0, %70#1, %70#2, %70#3, %70#4, %70#5, %70#6, %70#7) : (tensor<i32>, tensor<i32>, tensor<2x2xui32>, tensor<2x2xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<2x2xui32>, tensor<2x2xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<2x2xui32>, tensor<2x2xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%69#2, %69#3) : (tensor<2x2xui32>, tensor<2x2xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<2x2xui32>, tensor<2x2xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<2x2xui32>, tensor<2x2xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<4xui32>, tensor<4xui32>), res_attrs = [{}, {}, {}, {}, {}, {}, {}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<2x2xui32>, %arg2: tensor<2x2xui32>, %arg3: tensor<2x1xui32>, %arg4: tensor<2x1xui32>, %arg5: tensor<2x1xui32>, %arg6: tensor<4xui32>, %arg7: tensor<4xui32>):
    %0 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.add"(%arg0, %0) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %3 = "stablehlo.reshape"(%2) : (tensor<1xui32>) -> tensor<ui32>
    %4 = "stablehlo.add"(%arg1, %arg2) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %5 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x2xui32>
    %6 = "stablehlo.shift_left"(%arg2, %5) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %7 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %8 = "stablehlo.subtract"(%7, %3) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x2xui32>
    %10 = "stablehlo.shift_right_logical"(%arg2, %9) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %11 = "stablehlo.or"(%6, %10) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %12 = "stablehlo.xor"(%4, %11) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %13 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %14 = "stablehlo.reshape"(%13) : (tensor<1xui32>) -> tensor<ui32>
    %15 = "stablehlo.add"(%4, %12) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %16 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x2xui32>
    %17 = "stablehlo.shift_left"(%12, %16) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %18 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %19 = "stablehlo.subtract"(%18, %14) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x2xui32>
    %21 = "stablehlo.shift_right_logical"(%12, %20) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %22 = "stablehlo.or"(%17, %21) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %23 = "stablehlo.xor"(%15, %22) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %24 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %25 = "stablehlo.reshape"(%24) : (tensor<1xui32>) -> tensor<ui32>
    %26 = "stablehlo.add"(%15, %23) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %27 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x2xui32>
    %28 = "stablehlo.shift_left"(%23, %27) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %29 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %30 = "stablehlo.subtract"(%29, %25) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %31 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x2xui32>
    %32 = "stablehlo.shift_right_logical"(%23, %31) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %33 = "stablehlo.or"(%28, %32) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %34 = "stablehlo.xor"(%26, %33) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %35 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %36 = "stablehlo.reshape"(%35) : (tensor<1xui32>) -> tensor<ui32>
    %37 = "stablehlo.add"(%26, %34) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %38 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x2xui32>
    %39 = "stablehlo.shift_left"(%34, %38) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %40 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %41 = "stablehlo.subtract"(%40, %36) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x2xui32>
    %43 = "stablehlo.shift_right_logical"(%34, %42) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %44 = "stablehlo.or"(%39, %43) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %45 = "stablehlo.xor"(%37, %44) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %46 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x1xui32>) -> tensor<2x2xui32>
    %47 = "stablehlo.add"(%37, %46) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %48 = "stablehlo.broadcast_in_dim"(%arg4) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x1xui32>) -> tensor<2x2xui32>
    %49 = "stablehlo.add"(%45, %48) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    %50 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %51 = "stablehlo.add"(%arg0, %50) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %52 = "stablehlo.convert"(%51) : (tensor<i32>) -> tensor<ui32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2x2xui32>
    %54 = "stablehlo.add"(%49, %53) : (tensor<2x2xui32>, tensor<2x2xui32>) -> tensor<2x2xui32>
    "func.return"(%1, %47, %54, %arg4, %arg5, %arg3, %arg7, %arg6) : (tensor<i32>, tensor<2x2xui32>, tensor<2x2xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
