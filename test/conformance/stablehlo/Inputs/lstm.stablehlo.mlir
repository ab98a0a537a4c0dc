"builtin.module"() <{sym_name = "jit_lstm"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}], function_type = (tensor<3x4xf32>, tensor<3x7x5xf32>, tensor<5x16xf32>, tensor<4x16xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<7x3x4xf32>), res_attrs = [{jax.result_info = "result[0][0]"}, {jax.result_info = "result[0][1]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg10: tensor<3x4xf32>, %arg11: tensor<3x7x5xf32>, %arg12: tensor<5x16xf32>, %arg13: tensor<4x16xf32>):
    %45 = "stablehlo.transpose"(%arg11) <{permutation = array<i64: 1, 0, 2>}> : (tensor<3x7x5xf32>) -> tensor<7x3x5xf32>
    %46 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %47 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<7x3x4xf32>
    %48 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %49:7 = "stablehlo.while"(%45, %arg12, %arg13, %48, %arg10, %arg10, %47) ({
    ^bb0(%arg21: tensor<7x3x5xf32>, %arg22: tensor<5x16xf32>, %arg23: tensor<4x16xf32>, %arg24: tensor<i32>, %arg25: tensor<3x4xf32>, %arg26: tensor<3x4xf32>, %arg27: tensor<7x3x4xf32>):
      %55 = "stablehlo.constant"() <{value = dense<7> : tensor<i32>}> : () -> tensor<i32>
      %56 = "stablehlo.compare"(%arg24, %55) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%56) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg14: tensor<7x3x5xf32>, %arg15: tensor<5x16xf32>, %arg16: tensor<4x16xf32>, %arg17: tensor<i32>, %arg18: tensor<3x4xf32>, %arg19: tensor<3x4xf32>, %arg20: tensor<7x3x4xf32>):
      %50 = "func.call"(%arg14, %arg17) <{callee = @dynamic_index_in_dim}> : (tensor<7x3x5xf32>, tensor<i32>) -> tensor<3x5xf32>
      %51:3 = "func.call"(%arg15, %arg16, %arg18, %arg19, %50) <{callee = @closed_call}> : (tensor<5x16xf32>, tensor<4x16xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x5xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>)
      %52 = "func.call"(%arg20, %51#2, %arg17) <{callee = @dynamic_update_index_in_dim}> : (tensor<7x3x4xf32>, tensor<3x4xf32>, tensor<i32>) -> tensor<7x3x4xf32>
      %53 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %54 = "stablehlo.add"(%arg17, %53) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%arg14, %arg15, %arg16, %54, %51#0, %51#1, %52) : (tensor<7x3x5xf32>, tensor<5x16xf32>, tensor<4x16xf32>, tensor<i32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<7x3x4xf32>) -> ()
    }) : (tensor<7x3x5xf32>, tensor<5x16xf32>, tensor<4x16xf32>, tensor<i32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<7x3x4xf32>) -> (tensor<7x3x5xf32>, tensor<5x16xf32>, tensor<4x16xf32>, tensor<i32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<7x3x4xf32>)
    "func.return"(%49#4, %49#5, %49#6) : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<7x3x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<7x3x5xf32>, tensor<i32>) -> tensor<3x5xf32>, res_attrs = [{}], sym_name = "dynamic_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg8: tensor<7x3x5xf32>, %arg9: tensor<i32>):
    %41 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %42 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %43 = "stablehlo.dynamic_slice"(%arg8, %arg9, %41, %42) <{slice_sizes = array<i64: 1, 3, 5>}> : (tensor<7x3x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x5xf32>
    %44 = "stablehlo.reshape"(%43) : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
    "func.return"(%44) : (tensor<3x5xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<5x16xf32>, tensor<4x16xf32>, tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x5xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>), res_attrs = [{}, {}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<5x16xf32>, %arg4: tensor<4x16xf32>, %arg5: tensor<3x4xf32>, %arg6: tensor<3x4xf32>, %arg7: tensor<3x5xf32>):
    %4 = "stablehlo.dot_general"(%arg7, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<3x5xf32>, tensor<5x16xf32>) -> tensor<3x16xf32>
    %5 = "stablehlo.dot_general"(%arg5, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<3x4xf32>, tensor<4x16xf32>) -> tensor<3x16xf32>
    %6 = "stablehlo.add"(%4, %5) : (tensor<3x16xf32>, tensor<3x16xf32>) -> tensor<3x16xf32>
    %7 = "stablehlo.slice"(%6) <{limit_indices = array<i64: 3, 4>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<3x16xf32>) -> tensor<3x4xf32>
    %8 = "stablehlo.slice"(%6) <{limit_indices = array<i64: 3, 8>, start_indices = array<i64: 0, 4>, strides = array<i64: 1, 1>}> : (tensor<3x16xf32>) -> tensor<3x4xf32>
    %9 = "stablehlo.slice"(%6) <{limit_indices = array<i64: 3, 12>, start_indices = array<i64: 0, 8>, strides = array<i64: 1, 1>}> : (tensor<3x16xf32>) -> tensor<3x4xf32>
    %10 = "stablehlo.slice"(%6) <{limit_indices = array<i64: 3, 16>, start_indices = array<i64: 0, 12>, strides = array<i64: 1, 1>}> : (tensor<3x16xf32>) -> tensor<3x4xf32>
    %11 = "stablehlo.negate"(%8) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %12 = "stablehlo.exponential"(%11) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %13 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %14 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x4xf32>
    %15 = "stablehlo.add"(%14, %12) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %16 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x4xf32>
    %18 = "stablehlo.divide"(%17, %15) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %19 = "stablehlo.multiply"(%18, %arg6) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %20 = "stablehlo.negate"(%7) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %21 = "stablehlo.exponential"(%20) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %22 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %23 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x4xf32>
    %24 = "stablehlo.add"(%23, %21) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %25 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %26 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x4xf32>
    %27 = "stablehlo.divide"(%26, %24) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %28 = "stablehlo.tanh"(%9) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %29 = "stablehlo.multiply"(%27, %28) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %30 = "stablehlo.add"(%19, %29) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %31 = "stablehlo.negate"(%10) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %32 = "stablehlo.exponential"(%31) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %33 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %34 = "stablehlo.broadcast_in_dim"(%33) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x4xf32>
    %35 = "stablehlo.add"(%34, %32) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %36 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x4xf32>
    %38 = "stablehlo.divide"(%37, %35) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %39 = "stablehlo.tanh"(%30) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %40 = "stablehlo.multiply"(%38, %39) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    "func.return"(%40, %30, %40) : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<7x3x4xf32>, tensor<3x4xf32>, tensor<i32>) -> tensor<7x3x4xf32>, res_attrs = [{}], sym_name = "dynamic_update_index_in_dim", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<7x3x4xf32>, %arg1: tensor<3x4xf32>, %arg2: tensor<i32>):
    %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<3x4xf32>) -> tensor<1x3x4xf32>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %3 = "stablehlo.dynamic_update_slice"(%arg0, %0, %arg2, %1, %2) : (tensor<7x3x4xf32>, tensor<1x3x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<7x3x4xf32>
    "func.return"(%3) : (tensor<7x3x4xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
