"builtin.module"() <{sym_name = "jit_padding"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<3x4xf32>, tensor<f32>) -> (tensor<8x8xf32>, tensor<7x8xf32>, tensor<3x4xf32>, tensor<6x7xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg21: tensor<3x4xf32>, %arg22: tensor<f32>):
    %153 = "stablehlo.pad"(%arg21, %arg22) <{edge_padding_high = array<i64: 0, 2>, edge_padding_low = array<i64: 1, -1>, interior_padding = array<i64: 2, 1>}> : (tensor<3x4xf32>, tensor<f32>) -> tensor<8x8xf32>
    %154 = "func.call"(%arg21) <{callee = @_pad}> : (tensor<3x4xf32>) -> tensor<7x8xf32>
    %155 = "func.call"(%arg21) <{callee = @_roll_static}> : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %156 = "func.call"(%arg21) <{callee = @_resize}> : (tensor<3x4xf32>) -> tensor<6x7xf32>
    "func.return"(%153, %154, %155, %156) : (tensor<8x8xf32>, tensor<7x8xf32>, tensor<3x4xf32>, tensor<6x7xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x4xf32>) -> tensor<7x8xf32>, res_attrs = [{}], sym_name = "_pad", sym_visibility = "private"}> ({
  ^bb0(%arg20: tensor<3x4xf32>):
    %141 = "stablehlo.slice"(%arg20) <{limit_indices = array<i64: 3, 4>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}> : (tensor<3x4xf32>) -> tensor<2x4xf32>
    %142 = "func.call"(%141) <{callee = @_flip}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %143 = "stablehlo.concatenate"(%142, %arg20) <{dimension = 0 : i64}> : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
    %144 = "stablehlo.slice"(%143) <{limit_indices = array<i64: 4, 4>, start_indices = array<i64: 2, 0>, strides = array<i64: 1, 1>}> : (tensor<5x4xf32>) -> tensor<2x4xf32>
    %145 = "func.call"(%144) <{callee = @_flip}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %146 = "stablehlo.concatenate"(%143, %145) <{dimension = 0 : i64}> : (tensor<5x4xf32>, tensor<2x4xf32>) -> tensor<7x4xf32>
    %147 = "stablehlo.slice"(%146) <{limit_indices = array<i64: 7, 3>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 1>}> : (tensor<7x4xf32>) -> tensor<7x2xf32>
    %148 = "func.call"(%147) <{callee = @_flip_0}> : (tensor<7x2xf32>) -> tensor<7x2xf32>
    %149 = "stablehlo.concatenate"(%148, %146) <{dimension = 1 : i64}> : (tensor<7x2xf32>, tensor<7x4xf32>) -> tensor<7x6xf32>
    %150 = "stablehlo.slice"(%149) <{limit_indices = array<i64: 7, 5>, start_indices = array<i64: 0, 3>, strides = array<i64: 1, 1>}> : (tensor<7x6xf32>) -> tensor<7x2xf32>
    %151 = "func.call"(%150) <{callee = @_flip_0}> : (tensor<7x2xf32>) -> tensor<7x2xf32>
    %152 = "stablehlo.concatenate"(%149, %151) <{dimension = 1 : i64}> : (tensor<7x6xf32>, tensor<7x2xf32>) -> tensor<7x8xf32>
    "func.return"(%152) : (tensor<7x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2x4xf32>) -> tensor<2x4xf32>, res_attrs = [{}], sym_name = "_flip", sym_visibility = "private"}> ({
  ^bb0(%arg19: tensor<2x4xf32>):
    %140 = "stablehlo.reverse"(%arg19) <{dimensions = array<i64: 0>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
    "func.return"(%140) : (tensor<2x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<7x2xf32>) -> tensor<7x2xf32>, res_attrs = [{}], sym_name = "_flip_0", sym_visibility = "private"}> ({
  ^bb0(%arg18: tensor<7x2xf32>):
    %139 = "stablehlo.reverse"(%arg18) <{dimensions = array<i64: 1>}> : (tensor<7x2xf32>) -> tensor<7x2xf32>
    "func.return"(%139) : (tensor<7x2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x4xf32>) -> tensor<3x4xf32>, res_attrs = [{}], sym_name = "_roll_static", sym_visibility = "private"}> ({
  ^bb0(%arg17: tensor<3x4xf32>):
    %136 = "stablehlo.slice"(%arg17) <{limit_indices = array<i64: 3, 4>, start_indices = array<i64: 0, 2>, strides = array<i64: 1, 1>}> : (tensor<3x4xf32>) -> tensor<3x2xf32>
    %137 = "stablehlo.slice"(%arg17) <{limit_indices = array<i64: 3, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<3x4xf32>) -> tensor<3x2xf32>
    %138 = "stablehlo.concatenate"(%136, %137) <{dimension = 1 : i64}> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
    "func.return"(%138) : (tensor<3x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x4xf32>) -> tensor<6x7xf32>, res_attrs = [{}], sym_name = "_resize", sym_visibility = "private"}> ({
  ^bb0(%arg12: tensor<3x4xf32>):
    %14 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.maximum"(%14, %15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %17 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<6xf32>
    %18 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6xf32>
    %20 = "stablehlo.add"(%17, %19) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %21 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6xf32>
    %23 = "stablehlo.multiply"(%20, %22) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %24 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6xf32>
    %26 = "stablehlo.subtract"(%23, %25) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %27 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6xf32>
    %29 = "stablehlo.subtract"(%26, %28) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %30 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xf32>
    %31 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>) -> tensor<1x6xf32>
    %32 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64: 0>}> : (tensor<3xf32>) -> tensor<3x1xf32>
    %33 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x6xf32>) -> tensor<3x6xf32>
    %34 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<3x1xf32>) -> tensor<3x6xf32>
    %35 = "stablehlo.subtract"(%33, %34) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
    %36 = "stablehlo.abs"(%35) : (tensor<3x6xf32>) -> tensor<3x6xf32>
    %37 = "stablehlo.convert"(%16) : (tensor<f32>) -> tensor<f32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x6xf32>
    %39 = "stablehlo.divide"(%36, %38) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
    %40 = "stablehlo.abs"(%39) : (tensor<3x6xf32>) -> tensor<3x6xf32>
    %41 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x6xf32>
    %43 = "stablehlo.subtract"(%42, %40) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
    %44 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x6xf32>
    %46 = "stablehlo.maximum"(%45, %43) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
    %47 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.reduce"(%46, %47) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg15: tensor<f32>, %arg16: tensor<f32>):
      %135 = "stablehlo.add"(%arg15, %arg16) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%135) : (tensor<f32>) -> ()
    }) : (tensor<3x6xf32>, tensor<f32>) -> tensor<6xf32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>) -> tensor<1x6xf32>
    %50 = "stablehlo.abs"(%49) : (tensor<1x6xf32>) -> tensor<1x6xf32>
    %51 = "stablehlo.constant"() <{value = dense<1.1920929E-4> : tensor<f32>}> : () -> tensor<f32>
    %52 = "stablehlo.broadcast_in_dim"(%51) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x6xf32>
    %53 = "stablehlo.compare"(%50, %52) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<1x6xi1>
    %54 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %55 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x6xf32>
    %56 = "stablehlo.compare"(%49, %55) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<1x6xi1>
    %57 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %58 = "func.call"(%56, %49, %57) <{callee = @_where}> : (tensor<1x6xi1>, tensor<1x6xf32>, tensor<i32>) -> tensor<1x6xf32>
    %59 = "stablehlo.broadcast_in_dim"(%58) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x6xf32>) -> tensor<3x6xf32>
    %60 = "stablehlo.divide"(%46, %59) : (tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
    %61 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %62 = "func.call"(%53, %60, %61) <{callee = @_where_1}> : (tensor<1x6xi1>, tensor<3x6xf32>, tensor<i32>) -> tensor<3x6xf32>
    %63 = "stablehlo.constant"() <{value = dense<-5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %64 = "stablehlo.broadcast_in_dim"(%63) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6xf32>
    %65 = "stablehlo.compare"(%29, %64) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
    %66 = "stablehlo.constant"() <{value = dense<2.500000e+00> : tensor<f32>}> : () -> tensor<f32>
    %67 = "stablehlo.broadcast_in_dim"(%66) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6xf32>
    %68 = "stablehlo.compare"(%29, %67) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
    %69 = "stablehlo.and"(%65, %68) : (tensor<6xi1>, tensor<6xi1>) -> tensor<6xi1>
    %70 = "stablehlo.broadcast_in_dim"(%69) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xi1>) -> tensor<1x6xi1>
    %71 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %72 = "func.call"(%70, %62, %71) <{callee = @_where_1}> : (tensor<1x6xi1>, tensor<3x6xf32>, tensor<i32>) -> tensor<3x6xf32>
    %73 = "stablehlo.constant"() <{value = dense<0.571428597> : tensor<f32>}> : () -> tensor<f32>
    %74 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %75 = "stablehlo.maximum"(%73, %74) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %76 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<7xf32>
    %77 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %78 = "stablehlo.broadcast_in_dim"(%77) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<7xf32>
    %79 = "stablehlo.add"(%76, %78) : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
    %80 = "stablehlo.constant"() <{value = dense<0.571428597> : tensor<f32>}> : () -> tensor<f32>
    %81 = "stablehlo.broadcast_in_dim"(%80) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<7xf32>
    %82 = "stablehlo.multiply"(%79, %81) : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
    %83 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %84 = "stablehlo.broadcast_in_dim"(%83) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<7xf32>
    %85 = "stablehlo.subtract"(%82, %84) : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
    %86 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %87 = "stablehlo.broadcast_in_dim"(%86) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<7xf32>
    %88 = "stablehlo.subtract"(%85, %87) : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
    %89 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xf32>
    %90 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64: 1>}> : (tensor<7xf32>) -> tensor<1x7xf32>
    %91 = "stablehlo.broadcast_in_dim"(%89) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x1xf32>
    %92 = "stablehlo.broadcast_in_dim"(%90) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x7xf32>) -> tensor<4x7xf32>
    %93 = "stablehlo.broadcast_in_dim"(%91) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x1xf32>) -> tensor<4x7xf32>
    %94 = "stablehlo.subtract"(%92, %93) : (tensor<4x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
    %95 = "stablehlo.abs"(%94) : (tensor<4x7xf32>) -> tensor<4x7xf32>
    %96 = "stablehlo.convert"(%75) : (tensor<f32>) -> tensor<f32>
    %97 = "stablehlo.broadcast_in_dim"(%96) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x7xf32>
    %98 = "stablehlo.divide"(%95, %97) : (tensor<4x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
    %99 = "stablehlo.abs"(%98) : (tensor<4x7xf32>) -> tensor<4x7xf32>
    %100 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %101 = "stablehlo.broadcast_in_dim"(%100) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x7xf32>
    %102 = "stablehlo.subtract"(%101, %99) : (tensor<4x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
    %103 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %104 = "stablehlo.broadcast_in_dim"(%103) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x7xf32>
    %105 = "stablehlo.maximum"(%104, %102) : (tensor<4x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
    %106 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %107 = "stablehlo.reduce"(%105, %106) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg13: tensor<f32>, %arg14: tensor<f32>):
      %134 = "stablehlo.add"(%arg13, %arg14) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%134) : (tensor<f32>) -> ()
    }) : (tensor<4x7xf32>, tensor<f32>) -> tensor<7xf32>
    %108 = "stablehlo.broadcast_in_dim"(%107) <{broadcast_dimensions = array<i64: 1>}> : (tensor<7xf32>) -> tensor<1x7xf32>
    %109 = "stablehlo.abs"(%108) : (tensor<1x7xf32>) -> tensor<1x7xf32>
    %110 = "stablehlo.constant"() <{value = dense<1.1920929E-4> : tensor<f32>}> : () -> tensor<f32>
    %111 = "stablehlo.broadcast_in_dim"(%110) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x7xf32>
    %112 = "stablehlo.compare"(%109, %111) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<1x7xf32>, tensor<1x7xf32>) -> tensor<1x7xi1>
    %113 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %114 = "stablehlo.broadcast_in_dim"(%113) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x7xf32>
    %115 = "stablehlo.compare"(%108, %114) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<1x7xf32>, tensor<1x7xf32>) -> tensor<1x7xi1>
    %116 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %117 = "func.call"(%115, %108, %116) <{callee = @_where_2}> : (tensor<1x7xi1>, tensor<1x7xf32>, tensor<i32>) -> tensor<1x7xf32>
    %118 = "stablehlo.broadcast_in_dim"(%117) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x7xf32>) -> tensor<4x7xf32>
    %119 = "stablehlo.divide"(%105, %118) : (tensor<4x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
    %120 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %121 = "func.call"(%112, %119, %120) <{callee = @_where_3}> : (tensor<1x7xi1>, tensor<4x7xf32>, tensor<i32>) -> tensor<4x7xf32>
    %122 = "stablehlo.constant"() <{value = dense<-5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %123 = "stablehlo.broadcast_in_dim"(%122) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<7xf32>
    %124 = "stablehlo.compare"(%88, %123) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
    %125 = "stablehlo.constant"() <{value = dense<3.500000e+00> : tensor<f32>}> : () -> tensor<f32>
    %126 = "stablehlo.broadcast_in_dim"(%125) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<7xf32>
    %127 = "stablehlo.compare"(%88, %126) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
    %128 = "stablehlo.and"(%124, %127) : (tensor<7xi1>, tensor<7xi1>) -> tensor<7xi1>
    %129 = "stablehlo.broadcast_in_dim"(%128) <{broadcast_dimensions = array<i64: 1>}> : (tensor<7xi1>) -> tensor<1x7xi1>
    %130 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %131 = "func.call"(%129, %121, %130) <{callee = @_where_3}> : (tensor<1x7xi1>, tensor<4x7xf32>, tensor<i32>) -> tensor<4x7xf32>
    %132 = "stablehlo.dot_general"(%131, %arg12) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}> : (tensor<4x7xf32>, tensor<3x4xf32>) -> tensor<7x3xf32>
    %133 = "stablehlo.dot_general"(%72, %132) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}> : (tensor<3x6xf32>, tensor<7x3xf32>) -> tensor<6x7xf32>
    "func.return"(%133) : (tensor<6x7xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<1x6xi1>, tensor<1x6xf32>, tensor<i32>) -> tensor<1x6xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg9: tensor<1x6xi1>, %arg10: tensor<1x6xf32>, %arg11: tensor<i32>):
    %11 = "stablehlo.convert"(%arg11) : (tensor<i32>) -> tensor<f32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x6xf32>
    %13 = "stablehlo.select"(%arg9, %arg10, %12) : (tensor<1x6xi1>, tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<1x6xf32>
    "func.return"(%13) : (tensor<1x6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<1x6xi1>, tensor<3x6xf32>, tensor<i32>) -> tensor<3x6xf32>, res_attrs = [{}], sym_name = "_where_1", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<1x6xi1>, %arg7: tensor<3x6xf32>, %arg8: tensor<i32>):
    %7 = "stablehlo.convert"(%arg8) : (tensor<i32>) -> tensor<f32>
    %8 = "stablehlo.broadcast_in_dim"(%arg6) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x6xi1>) -> tensor<3x6xi1>
    %9 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x6xf32>
    %10 = "stablehlo.select"(%8, %arg7, %9) : (tensor<3x6xi1>, tensor<3x6xf32>, tensor<3x6xf32>) -> tensor<3x6xf32>
    "func.return"(%10) : (tensor<3x6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<1x7xi1>, tensor<1x7xf32>, tensor<i32>) -> tensor<1x7xf32>, res_attrs = [{}], sym_name = "_where_2", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<1x7xi1>, %arg4: tensor<1x7xf32>, %arg5: tensor<i32>):
    %4 = "stablehlo.convert"(%arg5) : (tensor<i32>) -> tensor<f32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x7xf32>
    %6 = "stablehlo.select"(%arg3, %arg4, %5) : (tensor<1x7xi1>, tensor<1x7xf32>, tensor<1x7xf32>) -> tensor<1x7xf32>
    "func.return"(%6) : (tensor<1x7xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<1x7xi1>, tensor<4x7xf32>, tensor<i32>) -> tensor<4x7xf32>, res_attrs = [{}], sym_name = "_where_3", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<1x7xi1>, %arg1: tensor<4x7xf32>, %arg2: tensor<i32>):
    %0 = "stablehlo.convert"(%arg2) : (tensor<i32>) -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x7xi1>) -> tensor<4x7xi1>
    %2 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x7xf32>
    %3 = "stablehlo.select"(%1, %arg1, %2) : (tensor<4x7xi1>, tensor<4x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
    "func.return"(%3) : (tensor<4x7xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
