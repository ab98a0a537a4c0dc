"builtin.module"() <{sym_name = "jit_gradients_of_groups"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2x4x9x7xf32>, tensor<6x2x3x3xf32>) -> (tensor<2x4x9x7xf32>, tensor<6x2x3x3xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2x4x9x7xf32>, %arg1: tensor<6x2x3x3xf32>):
    %0 = "stablehlo.convolution"(%arg0, %arg1) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 2 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<[[1, 0], [2, 1]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 2>, window_reversal = array<i1: false, false>, window_strides = array<i64: 2, 1>}> : (tensor<2x4x9x7xf32>, tensor<6x2x3x3xf32>) -> tensor<2x6x4x6xf32>
    %1 = "stablehlo.cosine"(%0) : (tensor<2x6x4x6xf32>) -> tensor<2x6x4x6xf32>
    %2 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x6x4x6xf32>
    %4 = "stablehlo.multiply"(%3, %1) : (tensor<2x6x4x6xf32>, tensor<2x6x4x6xf32>) -> tensor<2x6x4x6xf32>
    %5 = "stablehlo.convolution"(%arg0, %4) <{batch_group_count = 2 : i64, dimension_numbers = #stablehlo.conv<[f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<[[1, -1], [2, 1]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 2, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 2>}> : (tensor<2x4x9x7xf32>, tensor<2x6x4x6xf32>) -> tensor<6x2x3x3xf32>
    %6 = "stablehlo.reshape"(%arg1) : (tensor<6x2x3x3xf32>) -> tensor<2x3x2x3x3xf32>
    %7 = "stablehlo.transpose"(%6) <{permutation = array<i64: 1, 0, 2, 3, 4>}> : (tensor<2x3x2x3x3xf32>) -> tensor<3x2x2x3x3xf32>
    %8 = "stablehlo.reshape"(%7) : (tensor<3x2x2x3x3xf32>) -> tensor<3x4x3x3xf32>
    %9 = "stablehlo.reverse"(%8) <{dimensions = array<i64: 2, 3>}> : (tensor<3x4x3x3xf32>) -> tensor<3x4x3x3xf32>
    %10 = "stablehlo.convolution"(%4, %9) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1]>, feature_group_count = 2 : i64, lhs_dilation = array<i64: 2, 1>, padding = dense<[[1, 3], [2, 3]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 2>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<2x6x4x6xf32>, tensor<3x4x3x3xf32>) -> tensor<2x4x9x7xf32>
    "func.return"(%10, %5) : (tensor<2x4x9x7xf32>, tensor<6x2x3x3xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
