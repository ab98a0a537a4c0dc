"builtin.module"() <{sym_name = "jit_batches"}> ({
  "func.func"() <{function_type = (tensor<?x8xf32>, tensor<8x3xf32>, tensor<3xf32>) -> (tensor<?x3xf32>, tensor<?xf32>, tensor<?x8xf32>, tensor<?xi32>, tensor<8xf32>, tensor<?x8xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg13: tensor<?x8xf32>, %arg14: tensor<8x3xf32>, %arg15: tensor<3xf32>):
    %74 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %75 = "stablehlo.get_dimension_size"(%arg13) <{dimension = 0 : i64}> : (tensor<?x8xf32>) -> tensor<i32>
    %76 = "stablehlo.compare"(%75, %74) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%76, %75) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'b'. Using the following polymorphic shapes specifications: args[0].shape = (b, 8). Obtained dimension variables: 'b' = {0} from specification 'b' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %77:6 = "func.call"(%75, %arg13, %arg14, %arg15) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<?x8xf32>, tensor<8x3xf32>, tensor<3xf32>) -> (tensor<?x3xf32>, tensor<?xf32>, tensor<?x8xf32>, tensor<?xi32>, tensor<8xf32>, tensor<?x8xf32>)
    "func.return"(%77#0, %77#1, %77#2, %77#3, %77#4, %77#5) : (tensor<?x3xf32>, tensor<?xf32>, tensor<?x8xf32>, tensor<?xi32>, tensor<8xf32>, tensor<?x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {}, {}, {}], function_type = (tensor<i32>, tensor<?x8xf32>, tensor<8x3xf32>, tensor<3xf32>) -> (tensor<?x3xf32>, tensor<?xf32>, tensor<?x8xf32>, tensor<?xi32>, tensor<8xf32>, tensor<?x8xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<i32>, %arg4: tensor<?x8xf32>, %arg5: tensor<8x3xf32>, %arg6: tensor<3xf32>):
    %2 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
    %3 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %5 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %6 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %7 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %8 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.constant"() <{value = dense<3> : tensor<1xi32>}> : () -> tensor<1xi32>
    %10 = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
    %11 = "stablehlo.dot_general"(%arg4, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<?x8xf32>, tensor<8x3xf32>) -> tensor<?x3xf32>
    %12 = "stablehlo.broadcast_in_dim"(%arg6) <{broadcast_dimensions = array<i64: 1>}> : (tensor<3xf32>) -> tensor<1x3xf32>
    %13 = "stablehlo.reshape"(%arg3) : (tensor<i32>) -> tensor<1xi32>
    %14 = "stablehlo.concatenate"(%13, %9) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %15 = "stablehlo.dynamic_broadcast_in_dim"(%12, %14) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %16 = "stablehlo.add"(%11, %15) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %17 = "stablehlo.reshape"(%arg3) : (tensor<i32>) -> tensor<1xi32>
    %18 = "stablehlo.concatenate"(%17, %9) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %19 = "stablehlo.dynamic_broadcast_in_dim"(%8, %18) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
    %20 = "stablehlo.maximum"(%16, %19) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %21 = "stablehlo.reduce"(%20, %7) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
      %73 = "stablehlo.maximum"(%arg11, %arg12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%73) : (tensor<f32>) -> ()
    }) : (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
    %22 = "stablehlo.reshape"(%arg3) : (tensor<i32>) -> tensor<1xi32>
    %23 = "stablehlo.dynamic_broadcast_in_dim"(%7, %22) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
    %24 = "stablehlo.maximum"(%23, %21) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %25 = "stablehlo.reshape"(%arg3) : (tensor<i32>) -> tensor<1xi32>
    %26 = "stablehlo.concatenate"(%25, %5) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %27 = "stablehlo.dynamic_broadcast_in_dim"(%24, %26) <{broadcast_dimensions = array<i64: 0>}> : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %28 = "stablehlo.reshape"(%arg3) : (tensor<i32>) -> tensor<1xi32>
    %29 = "stablehlo.concatenate"(%28, %9) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %30 = "stablehlo.dynamic_broadcast_in_dim"(%27, %29) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %31 = "stablehlo.subtract"(%20, %30) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %32 = "stablehlo.exponential"(%31) : (tensor<?x3xf32>) -> tensor<?x3xf32>
    %33 = "stablehlo.reduce"(%32, %8) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
      %72 = "stablehlo.add"(%arg9, %arg10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%72) : (tensor<f32>) -> ()
    }) : (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
    %34 = "stablehlo.reshape"(%arg3) : (tensor<i32>) -> tensor<1xi32>
    %35 = "stablehlo.concatenate"(%34, %5) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %36 = "stablehlo.dynamic_broadcast_in_dim"(%33, %35) <{broadcast_dimensions = array<i64: 0>}> : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
    %37 = "stablehlo.reshape"(%arg3) : (tensor<i32>) -> tensor<1xi32>
    %38 = "stablehlo.concatenate"(%37, %9) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %39 = "stablehlo.dynamic_broadcast_in_dim"(%36, %38) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<?x1xf32>, tensor<2xi32>) -> tensor<?x3xf32>
    %40 = "stablehlo.divide"(%32, %39) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
    %41 = "stablehlo.convert"(%arg3) : (tensor<i32>) -> tensor<i32>
    %42 = "stablehlo.multiply"(%41, %10) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %43 = "stablehlo.reshape"(%42) : (tensor<i32>) -> tensor<1xi32>
    %44 = "stablehlo.dynamic_reshape"(%40, %43) : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
    %45 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %46 = "stablehlo.reshape"(%arg3) : (tensor<i32>) -> tensor<1xi32>
    %47 = "stablehlo.dynamic_gather"(%44, %45, %46) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], start_index_map = [0]>, indices_are_sorted = true}> : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
    %48 = "stablehlo.concatenate"(%arg4, %arg4) <{dimension = 0 : i64}> : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    %49 = "stablehlo.convert"(%arg3) : (tensor<i32>) -> tensor<i32>
    %50 = "stablehlo.multiply"(%49, %3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %51 = "stablehlo.add"(%50, %2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %52 = "stablehlo.reshape"(%51) : (tensor<i32>) -> tensor<1xi32>
    %53 = "stablehlo.dynamic_iota"(%52) <{iota_dimension = 0 : i64}> : (tensor<1xi32>) -> tensor<?xi32>
    %54 = "stablehlo.convert"(%arg3) : (tensor<i32>) -> tensor<i32>
    %55 = "stablehlo.multiply"(%54, %3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %56 = "stablehlo.add"(%55, %2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %57 = "stablehlo.reshape"(%56) : (tensor<i32>) -> tensor<1xi32>
    %58 = "stablehlo.dynamic_broadcast_in_dim"(%6, %57) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %59 = "stablehlo.multiply"(%58, %53) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %60 = "stablehlo.convert"(%arg3) : (tensor<i32>) -> tensor<i32>
    %61 = "stablehlo.multiply"(%60, %3) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %62 = "stablehlo.add"(%61, %2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %63 = "stablehlo.reshape"(%62) : (tensor<i32>) -> tensor<1xi32>
    %64 = "stablehlo.dynamic_broadcast_in_dim"(%4, %63) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %65 = "stablehlo.add"(%64, %59) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %66 = "stablehlo.convert"(%arg3) : (tensor<i32>) -> tensor<f32>
    %67 = "stablehlo.reduce"(%arg4, %8) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %71 = "stablehlo.add"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%71) : (tensor<f32>) -> ()
    }) : (tensor<?x8xf32>, tensor<f32>) -> tensor<8xf32>
    %68 = "stablehlo.broadcast_in_dim"(%66) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %69 = "stablehlo.divide"(%67, %68) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %70 = "func.call"(%arg3, %arg4, %4) <{callee = @_pad}> : (tensor<i32>, tensor<?x8xf32>, tensor<i32>) -> tensor<?x8xf32>
    "func.return"(%40, %47, %48, %65, %69, %70) : (tensor<?x3xf32>, tensor<?xf32>, tensor<?x8xf32>, tensor<?xi32>, tensor<8xf32>, tensor<?x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "b"}, {}, {}], function_type = (tensor<i32>, tensor<?x8xf32>, tensor<i32>) -> tensor<?x8xf32>, sym_name = "_pad", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<?x8xf32>, %arg2: tensor<i32>):
    %0 = "stablehlo.convert"(%arg2) : (tensor<i32>) -> tensor<f32>
    %1 = "stablehlo.pad"(%arg1, %0) <{edge_padding_high = array<i64: 2, 0>, edge_padding_low = array<i64: 1, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
    "func.return"(%1) : (tensor<?x8xf32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
