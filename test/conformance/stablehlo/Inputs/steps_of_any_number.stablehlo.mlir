"builtin.module"() <{sym_name = "jit_steps_of_any_number"}> ({
  "func.func"() <{function_type = (tensor<?x4xf32>) -> (tensor<4xf32>, tensor<?xf32>, tensor<4xf32>), res_attrs = [{jax.result_info = "result[0][0]"}, {jax.result_info = "result[0][1]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg30: tensor<?x4xf32>):
    %41 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %42 = "stablehlo.get_dimension_size"(%arg30) <{dimension = 0 : i64}> : (tensor<?x4xf32>) -> tensor<i32>
    %43 = "stablehlo.compare"(%42, %41) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%43, %42) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 't'. Using the following polymorphic shapes specifications: args[0].shape = (t, 4). Obtained dimension variables: 't' = {0} from specification 't' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %44:3 = "func.call"(%42, %arg30) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<?x4xf32>) -> (tensor<4xf32>, tensor<?xf32>, tensor<4xf32>)
    "func.return"(%44#0, %44#1, %44#2) : (tensor<4xf32>, tensor<?xf32>, tensor<4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "t"}, {}], function_type = (tensor<i32>, tensor<?x4xf32>) -> (tensor<4xf32>, tensor<?xf32>, tensor<4xf32>), res_attrs = [{jax.result_info = "result[0][0]"}, {jax.result_info = "result[0][1]"}, {jax.result_info = "result[1]"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg12: tensor<i32>, %arg13: tensor<?x4xf32>):
    %12 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %13 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %14 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %15 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %16 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %18 = "stablehlo.reshape"(%arg12) : (tensor<i32>) -> tensor<1xi32>
    %19 = "stablehlo.dynamic_broadcast_in_dim"(%16, %18) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %20:4 = "stablehlo.while"(%arg13, %15, %17, %19) ({
    ^bb0(%arg26: tensor<?x4xf32>, %arg27: tensor<i32>, %arg28: tensor<4xf32>, %arg29: tensor<?xf32>):
      %40 = "stablehlo.compare"(%arg27, %arg12) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%40) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg22: tensor<?x4xf32>, %arg23: tensor<i32>, %arg24: tensor<4xf32>, %arg25: tensor<?xf32>):
      %36 = "func.call"(%arg12, %arg22, %arg23) <{callee = @dynamic_index_in_dim}> : (tensor<i32>, tensor<?x4xf32>, tensor<i32>) -> tensor<4xf32>
      %37:2 = "func.call"(%arg12, %arg24, %36) <{callee = @closed_call}> : (tensor<i32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>)
      %38 = "func.call"(%arg12, %arg25, %37#1, %arg23) <{callee = @dynamic_update_index_in_dim}> : (tensor<i32>, tensor<?xf32>, tensor<f32>, tensor<i32>) -> tensor<?xf32>
      %39 = "stablehlo.add"(%arg23, %14) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg22, %39, %37#0, %38) : (tensor<?x4xf32>, tensor<i32>, tensor<4xf32>, tensor<?xf32>) -> ()
    }) : (tensor<?x4xf32>, tensor<i32>, tensor<4xf32>, tensor<?xf32>) -> (tensor<?x4xf32>, tensor<i32>, tensor<4xf32>, tensor<?xf32>)
    %21 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %22:4 = "stablehlo.while"(%arg13, %15, %arg12, %21) ({
    ^bb0(%arg18: tensor<?x4xf32>, %arg19: tensor<i32>, %arg20: tensor<i32>, %arg21: tensor<4xf32>):
      %35 = "stablehlo.compare"(%arg19, %arg20) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%35) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg14: tensor<?x4xf32>, %arg15: tensor<i32>, %arg16: tensor<i32>, %arg17: tensor<4xf32>):
      %23 = "stablehlo.add"(%arg15, %14) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %24 = "stablehlo.convert"(%arg15) : (tensor<i32>) -> tensor<i32>
      %25 = "stablehlo.convert"(%arg12) : (tensor<i32>) -> tensor<i32>
      %26 = "stablehlo.compare"(%24, %15) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %27 = "stablehlo.add"(%24, %25) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %28 = "stablehlo.select"(%26, %27, %24) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %29 = "stablehlo.compare"(%15, %15) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %30 = "stablehlo.add"(%15, %12) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %31 = "stablehlo.select"(%29, %30, %15) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      %32 = "stablehlo.dynamic_slice"(%arg14, %28, %31) <{slice_sizes = array<i64: 1, 4>}> : (tensor<?x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
      %33 = "stablehlo.reshape"(%32) : (tensor<1x4xf32>) -> tensor<4xf32>
      %34 = "stablehlo.add"(%arg17, %33) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      "stablehlo.return"(%arg14, %23, %arg16, %34) : (tensor<?x4xf32>, tensor<i32>, tensor<i32>, tensor<4xf32>) -> ()
    }) : (tensor<?x4xf32>, tensor<i32>, tensor<i32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<i32>, tensor<i32>, tensor<4xf32>)
    "func.return"(%20#2, %20#3, %22#3) : (tensor<4xf32>, tensor<?xf32>, tensor<4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "t"}, {}, {}], function_type = (tensor<i32>, tensor<?x4xf32>, tensor<i32>) -> tensor<4xf32>, sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg9: tensor<i32>, %arg10: tensor<?x4xf32>, %arg11: tensor<i32>):
    %9 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %10 = "stablehlo.dynamic_slice"(%arg10, %arg11, %9) <{slice_sizes = array<i64: 1, 4>}> : (tensor<?x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %11 = "stablehlo.reshape"(%10) : (tensor<1x4xf32>) -> tensor<4xf32>
    "func.return"(%11) : (tensor<4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "t"}, {}, {}], function_type = (tensor<i32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>), sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<i32>, %arg5: tensor<4xf32>, %arg6: tensor<4xf32>):
    %2 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %5 = "stablehlo.multiply"(%arg5, %4) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %6 = "stablehlo.add"(%5, %arg6) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %7 = "stablehlo.reduce"(%arg5, %2) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %8 = "stablehlo.add"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%8) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    "func.return"(%6, %7) : (tensor<4xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "t"}, {}, {}, {}], function_type = (tensor<i32>, tensor<?xf32>, tensor<f32>, tensor<i32>) -> tensor<?xf32>, sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<?xf32>, %arg2: tensor<f32>, %arg3: tensor<i32>):
    %0 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1xf32>
    %1 = "stablehlo.dynamic_update_slice"(%arg1, %0, %arg3) : (tensor<?xf32>, tensor<1xf32>, tensor<i32>) -> tensor<?xf32>
    "func.return"(%1) : (tensor<?xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
