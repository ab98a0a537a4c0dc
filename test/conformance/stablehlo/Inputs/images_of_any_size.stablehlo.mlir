"builtin.module"() <{sym_name = "jit_images_of_any_size"}> ({
  "func.func"() <{function_type = (tensor<?x?x?x3xf32>, tensor<3x3x3x4xf32>) -> (tensor<?x?x?x4xf32>, tensor<?x4xf32>, tensor<?x?x?x3xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg41: tensor<?x?x?x3xf32>, %arg42: tensor<3x3x3x4xf32>):
    %123 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %124 = "stablehlo.get_dimension_size"(%arg41) <{dimension = 0 : i64}> : (tensor<?x?x?x3xf32>) -> tensor<i32>
    %125 = "stablehlo.get_dimension_size"(%arg41) <{dimension = 1 : i64}> : (tensor<?x?x?x3xf32>) -> tensor<i32>
    %126 = "stablehlo.get_dimension_size"(%arg41) <{dimension = 2 : i64}> : (tensor<?x?x?x3xf32>) -> tensor<i32>
    %127 = "stablehlo.compare"(%124, %123) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%127, %124) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, h, w, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %128 = "stablehlo.compare"(%125, %123) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%128, %124, %125) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'h'. Using the following polymorphic shapes specifications: args[0].shape = (b, h, w, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'h' = {1} from specification 'h' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %129 = "stablehlo.compare"(%126, %123) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%129, %124, %125, %126) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'w'. Using the following polymorphic shapes specifications: args[0].shape = (b, h, w, 3). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), 'h' = {1} from specification 'h' for dimension args[0].shape[1] (= {1}), 'w' = {2} from specification 'w' for dimension args[0].shape[2] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %130:3 = "func.call"(%124, %125, %126, %arg41, %arg42) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x?x3xf32>, tensor<3x3x3x4xf32>) -> (tensor<?x?x?x4xf32>, tensor<?x4xf32>, tensor<?x?x?x3xf32>)
    "func.return"(%130#0, %130#1, %130#2) : (tensor<?x?x?x4xf32>, tensor<?x4xf32>, tensor<?x?x?x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "h"}, {jax.global_constant = "w"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x?x3xf32>, tensor<3x3x3x4xf32>) -> (tensor<?x?x?x4xf32>, tensor<?x4xf32>, tensor<?x?x?x3xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg34: tensor<i32>, %arg35: tensor<i32>, %arg36: tensor<i32>, %arg37: tensor<?x?x?x3xf32>, %arg38: tensor<3x3x3x4xf32>):
    %65 = "stablehlo.constant"() <{value = dense<4> : tensor<1xi32>}> : () -> tensor<1xi32>
    %66 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %67 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %68 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %69 = "stablehlo.constant"() <{value = dense<-2> : tensor<i32>}> : () -> tensor<i32>
    %70 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %71 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
    %72 = "stablehlo.convert"(%arg35) : (tensor<i32>) -> tensor<i32>
    %73 = "stablehlo.multiply"(%72, %71) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %74:2 = "func.call"(%arg34, %arg35, %arg36, %73, %70) <{callee = @divmod}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %75 = "stablehlo.multiply"(%74#0, %69) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %76 = "stablehlo.convert"(%arg35) : (tensor<i32>) -> tensor<i32>
    %77 = "stablehlo.multiply"(%76, %71) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %78 = "stablehlo.add"(%75, %77) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %79 = "stablehlo.add"(%78, %68) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %80:2 = "func.call"(%arg34, %arg35, %arg36, %79, %70) <{callee = @divmod}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %81 = "stablehlo.convert"(%arg35) : (tensor<i32>) -> tensor<i32>
    %82 = "stablehlo.multiply"(%81, %71) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %83:2 = "func.call"(%arg34, %arg35, %arg36, %82, %70) <{callee = @divmod}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %84 = "stablehlo.multiply"(%83#0, %69) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %85 = "stablehlo.convert"(%arg35) : (tensor<i32>) -> tensor<i32>
    %86 = "stablehlo.multiply"(%85, %71) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %87 = "stablehlo.add"(%84, %86) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %88 = "stablehlo.add"(%87, %68) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %89:2 = "func.call"(%arg34, %arg35, %arg36, %88, %70) <{callee = @divmod}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %90 = "stablehlo.multiply"(%89#0, %71) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %91 = "stablehlo.convert"(%arg35) : (tensor<i32>) -> tensor<i32>
    %92 = "stablehlo.multiply"(%91, %71) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %93:2 = "func.call"(%arg34, %arg35, %arg36, %92, %70) <{callee = @divmod}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %94 = "stablehlo.multiply"(%93#0, %69) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %95 = "stablehlo.convert"(%arg35) : (tensor<i32>) -> tensor<i32>
    %96 = "stablehlo.multiply"(%95, %71) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %97 = "stablehlo.add"(%90, %94) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %98 = "stablehlo.add"(%97, %96) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %99 = "stablehlo.add"(%98, %68) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %100 = "stablehlo.reshape"(%80#0) : (tensor<i32>) -> tensor<1xi32>
    %101 = "stablehlo.reshape"(%99) : (tensor<i32>) -> tensor<1xi32>
    %102 = "stablehlo.concatenate"(%100, %101) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %103 = "stablehlo.reshape"(%102) : (tensor<2xi32>) -> tensor<1x2xi32>
    %104 = "stablehlo.concatenate"(%67, %67) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %105 = "stablehlo.reshape"(%104) : (tensor<2xi32>) -> tensor<1x2xi32>
    %106 = "stablehlo.concatenate"(%103, %105) <{dimension = 0 : i64}> : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32>
    %107 = "stablehlo.dynamic_conv"(%arg37, %arg38, %106) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, window_strides = array<i64: 2, 1>}> : (tensor<?x?x?x3xf32>, tensor<3x3x3x4xf32>, tensor<2x2xi32>) -> tensor<?x?x?x4xf32>
    %108 = "func.call"(%arg34, %arg35, %arg36, %107) <{callee = @relu}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x?x4xf32>) -> tensor<?x?x?x4xf32>
    %109 = "stablehlo.convert"(%arg35) : (tensor<i32>) -> tensor<i32>
    %110 = "stablehlo.multiply"(%109, %71) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %111:2 = "func.call"(%arg34, %arg35, %arg36, %110, %70) <{callee = @divmod}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %112 = "stablehlo.convert"(%arg36) : (tensor<i32>) -> tensor<i32>
    %113 = "stablehlo.multiply"(%111#0, %112) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %114 = "stablehlo.multiply"(%113, %71) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %115 = "stablehlo.convert"(%114) : (tensor<i32>) -> tensor<f32>
    %116 = "stablehlo.reduce"(%108, %66) <{dimensions = array<i64: 1, 2>}> ({
    ^bb0(%arg39: tensor<f32>, %arg40: tensor<f32>):
      %122 = "stablehlo.add"(%arg39, %arg40) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%122) : (tensor<f32>) -> ()
    }) : (tensor<?x?x?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
    %117 = "stablehlo.reshape"(%arg34) : (tensor<i32>) -> tensor<1xi32>
    %118 = "stablehlo.concatenate"(%117, %65) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %119 = "stablehlo.dynamic_broadcast_in_dim"(%115, %118) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
    %120 = "stablehlo.divide"(%116, %119) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %121 = "func.call"(%arg34, %arg35, %arg36, %arg37) <{callee = @_roll_static}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
    "func.return"(%107, %120, %121) : (tensor<?x?x?x4xf32>, tensor<?x4xf32>, tensor<?x?x?x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "h"}, {jax.global_constant = "w"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>), sym_name = "divmod", sym_visibility = "private"}> ({
  ^bb0(%arg29: tensor<i32>, %arg30: tensor<i32>, %arg31: tensor<i32>, %arg32: tensor<i32>, %arg33: tensor<i32>):
    %63 = "func.call"(%arg29, %arg30, %arg31, %arg32, %arg33) <{callee = @floor_divide}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %64 = "func.call"(%arg29, %arg30, %arg31, %arg32, %arg33) <{callee = @remainder}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%63, %64) : (tensor<i32>, tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "h"}, {jax.global_constant = "w"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>, sym_name = "floor_divide", sym_visibility = "private"}> ({
  ^bb0(%arg24: tensor<i32>, %arg25: tensor<i32>, %arg26: tensor<i32>, %arg27: tensor<i32>, %arg28: tensor<i32>):
    %52 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %53 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %54 = "stablehlo.divide"(%arg27, %arg28) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %55 = "stablehlo.sign"(%arg27) : (tensor<i32>) -> tensor<i32>
    %56 = "stablehlo.sign"(%arg28) : (tensor<i32>) -> tensor<i32>
    %57 = "stablehlo.compare"(%55, %56) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %58 = "stablehlo.remainder"(%arg27, %arg28) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %59 = "stablehlo.compare"(%58, %53) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %60 = "stablehlo.and"(%57, %59) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %61 = "stablehlo.subtract"(%54, %52) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %62 = "func.call"(%arg24, %arg25, %arg26, %60, %61, %54) <{callee = @_where}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%62) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "h"}, {jax.global_constant = "w"}, {}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>, sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg18: tensor<i32>, %arg19: tensor<i32>, %arg20: tensor<i32>, %arg21: tensor<i1>, %arg22: tensor<i32>, %arg23: tensor<i32>):
    %51 = "stablehlo.select"(%arg21, %arg22, %arg23) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%51) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "h"}, {jax.global_constant = "w"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>, sym_name = "remainder", sym_visibility = "private"}> ({
  ^bb0(%arg13: tensor<i32>, %arg14: tensor<i32>, %arg15: tensor<i32>, %arg16: tensor<i32>, %arg17: tensor<i32>):
    %39 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %40 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %41 = "stablehlo.compare"(%arg17, %40) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %42 = "func.call"(%arg13, %arg14, %arg15, %41, %39, %arg17) <{callee = @_where}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %43 = "stablehlo.remainder"(%arg16, %42) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %44 = "stablehlo.compare"(%43, %40) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %45 = "stablehlo.compare"(%43, %40) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %46 = "stablehlo.compare"(%42, %40) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %47 = "stablehlo.compare"(%45, %46) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %48 = "stablehlo.and"(%47, %44) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %49 = "stablehlo.add"(%43, %42) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %50 = "stablehlo.select"(%48, %49, %43) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%50) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "h"}, {jax.global_constant = "w"}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x?x4xf32>) -> tensor<?x?x?x4xf32>, sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg9: tensor<i32>, %arg10: tensor<i32>, %arg11: tensor<i32>, %arg12: tensor<?x?x?x4xf32>):
    %25 = "stablehlo.constant"() <{value = dense<4> : tensor<1xi32>}> : () -> tensor<1xi32>
    %26 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %27 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
    %28 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %29 = "stablehlo.convert"(%arg10) : (tensor<i32>) -> tensor<i32>
    %30 = "stablehlo.multiply"(%29, %27) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %31:2 = "func.call"(%arg9, %arg10, %arg11, %30, %26) <{callee = @divmod}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %32 = "stablehlo.multiply"(%31#0, %27) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %33 = "stablehlo.reshape"(%arg9) : (tensor<i32>) -> tensor<1xi32>
    %34 = "stablehlo.reshape"(%32) : (tensor<i32>) -> tensor<1xi32>
    %35 = "stablehlo.reshape"(%arg11) : (tensor<i32>) -> tensor<1xi32>
    %36 = "stablehlo.concatenate"(%33, %34, %35, %25) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %37 = "stablehlo.dynamic_broadcast_in_dim"(%28, %36) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<4xi32>) -> tensor<?x?x?x4xf32>
    %38 = "stablehlo.maximum"(%arg12, %37) : (tensor<?x?x?x4xf32>, tensor<?x?x?x4xf32>) -> tensor<?x?x?x4xf32>
    "func.return"(%38) : (tensor<?x?x?x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "h"}, {jax.global_constant = "w"}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>, sym_name = "_roll_static", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<i32>, %arg6: tensor<i32>, %arg7: tensor<i32>, %arg8: tensor<?x?x?x3xf32>):
    %3 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %4 = "stablehlo.constant"() <{value = dense<3> : tensor<1xi32>}> : () -> tensor<1xi32>
    %5 = "stablehlo.constant"() <{value = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
    %6 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
    %7:2 = "func.call"(%arg5, %arg6, %arg7, %6, %arg6) <{callee = @divmod_0}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %8 = "stablehlo.reshape"(%7#1) : (tensor<i32>) -> tensor<1xi32>
    %9 = "stablehlo.concatenate"(%5, %8, %5, %5) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %10 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %11 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %12 = "stablehlo.reshape"(%arg7) : (tensor<i32>) -> tensor<1xi32>
    %13 = "stablehlo.concatenate"(%10, %11, %12, %4) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %14 = "stablehlo.concatenate"(%3, %3, %3, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %15 = "stablehlo.real_dynamic_slice"(%arg8, %9, %13, %14) : (tensor<?x?x?x3xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<?x?x?x3xf32>
    %16 = "stablehlo.concatenate"(%5, %5, %5, %5) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %17:2 = "func.call"(%arg5, %arg6, %arg7, %6, %arg6) <{callee = @divmod_0}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %18 = "stablehlo.reshape"(%arg5) : (tensor<i32>) -> tensor<1xi32>
    %19 = "stablehlo.reshape"(%17#1) : (tensor<i32>) -> tensor<1xi32>
    %20 = "stablehlo.reshape"(%arg7) : (tensor<i32>) -> tensor<1xi32>
    %21 = "stablehlo.concatenate"(%18, %19, %20, %4) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %22 = "stablehlo.concatenate"(%3, %3, %3, %3) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
    %23 = "stablehlo.real_dynamic_slice"(%arg8, %16, %21, %22) : (tensor<?x?x?x3xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<?x?x?x3xf32>
    %24 = "stablehlo.concatenate"(%15, %23) <{dimension = 1 : i64}> : (tensor<?x?x?x3xf32>, tensor<?x?x?x3xf32>) -> tensor<?x?x?x3xf32>
    "func.return"(%24) : (tensor<?x?x?x3xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {jax.global_constant = "h"}, {jax.global_constant = "w"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>), sym_name = "divmod_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
    %0 = "stablehlo.convert"(%arg4) : (tensor<i32>) -> tensor<i32>
    %1 = "func.call"(%arg0, %arg1, %arg2, %arg3, %0) <{callee = @floor_divide}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = "func.call"(%arg0, %arg1, %arg2, %arg3, %0) <{callee = @remainder}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%1, %2) : (tensor<i32>, tensor<i32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
