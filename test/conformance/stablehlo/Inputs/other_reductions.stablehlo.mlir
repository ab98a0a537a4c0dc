"builtin.module"() <{sym_name = "jit_other_reductions"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2x6xf32>, tensor<2x3xi1>) -> (tensor<2xf32>, tensor<3xi32>, tensor<2xi1>, tensor<i1>, tensor<6xf32>, tensor<2xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg11: tensor<2x6xf32>, %arg12: tensor<2x3xi1>):
    %27 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %28 = "stablehlo.reduce"(%arg11, %27) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg23: tensor<f32>, %arg24: tensor<f32>):
      %64 = "stablehlo.multiply"(%arg23, %arg24) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %65 = "stablehlo.add"(%64, %arg23) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      %66 = "stablehlo.add"(%65, %arg24) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%66) : (tensor<f32>) -> ()
    }) : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
    %29 = "stablehlo.convert"(%arg12) : (tensor<2x3xi1>) -> tensor<2x3xi32>
    %30 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
    %31 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<2x3xi32>
    %32 = "stablehlo.multiply"(%29, %31) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
    %33 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %34 = "stablehlo.reduce"(%32, %33) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg21: tensor<i32>, %arg22: tensor<i32>):
      %63 = "stablehlo.xor"(%arg21, %arg22) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%63) : (tensor<i32>) -> ()
    }) : (tensor<2x3xi32>, tensor<i32>) -> tensor<3xi32>
    %35 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %36 = "stablehlo.reduce"(%arg12, %35) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg19: tensor<i1>, %arg20: tensor<i1>):
      %62 = "stablehlo.or"(%arg19, %arg20) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%62) : (tensor<i1>) -> ()
    }) : (tensor<2x3xi1>, tensor<i1>) -> tensor<2xi1>
    %37 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %38 = "stablehlo.reduce"(%arg12, %37) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg17: tensor<i1>, %arg18: tensor<i1>):
      %61 = "stablehlo.and"(%arg17, %arg18) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%61) : (tensor<i1>) -> ()
    }) : (tensor<2x3xi1>, tensor<i1>) -> tensor<i1>
    %39 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %40 = "func.call"(%arg11, %39) <{callee = @_std}> : (tensor<2x6xf32>, tensor<i32>) -> tensor<6xf32>
    %41 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.reduce"(%arg11, %41) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg15: tensor<f32>, %arg16: tensor<f32>):
      %60 = "stablehlo.maximum"(%arg15, %arg16) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%60) : (tensor<f32>) -> ()
    }) : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
    %43 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2xf32>
    %45 = "stablehlo.maximum"(%44, %42) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %46 = "stablehlo.is_finite"(%45) : (tensor<2xf32>) -> tensor<2xi1>
    %47 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2xf32>
    %49 = "stablehlo.select"(%46, %45, %48) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %50 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xf32>) -> tensor<2x1xf32>
    %51 = "stablehlo.broadcast_in_dim"(%50) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<2x1xf32>) -> tensor<2x6xf32>
    %52 = "stablehlo.subtract"(%arg11, %51) : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
    %53 = "stablehlo.exponential"(%52) : (tensor<2x6xf32>) -> tensor<2x6xf32>
    %54 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %55 = "stablehlo.reduce"(%53, %54) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg13: tensor<f32>, %arg14: tensor<f32>):
      %59 = "stablehlo.add"(%arg13, %arg14) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%59) : (tensor<f32>) -> ()
    }) : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
    %56 = "stablehlo.abs"(%55) : (tensor<2xf32>) -> tensor<2xf32>
    %57 = "stablehlo.log"(%56) : (tensor<2xf32>) -> tensor<2xf32>
    %58 = "stablehlo.add"(%57, %49) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "func.return"(%28, %34, %36, %38, %40, %58) : (tensor<2xf32>, tensor<3xi32>, tensor<2xi1>, tensor<i1>, tensor<6xf32>, tensor<2xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2x6xf32>, tensor<i32>) -> tensor<6xf32>, res_attrs = [{}], sym_name = "_std", sym_visibility = "private"}> ({
  ^bb0(%arg9: tensor<2x6xf32>, %arg10: tensor<i32>):
    %25 = "func.call"(%arg9, %arg10) <{callee = @_var}> : (tensor<2x6xf32>, tensor<i32>) -> tensor<6xf32>
    %26 = "stablehlo.sqrt"(%25) : (tensor<6xf32>) -> tensor<6xf32>
    "func.return"(%26) : (tensor<6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2x6xf32>, tensor<i32>) -> tensor<6xf32>, res_attrs = [{}], sym_name = "_var", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<2x6xf32>, %arg4: tensor<i32>):
    %3 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.reduce"(%arg3, %3) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %24 = "stablehlo.add"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%24) : (tensor<f32>) -> ()
    }) : (tensor<2x6xf32>, tensor<f32>) -> tensor<6xf32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>) -> tensor<1x6xf32>
    %6 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x6xf32>
    %8 = "stablehlo.divide"(%5, %7) : (tensor<1x6xf32>, tensor<1x6xf32>) -> tensor<1x6xf32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x6xf32>) -> tensor<2x6xf32>
    %10 = "stablehlo.subtract"(%arg3, %9) : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
    %11 = "chlo.square"(%10) : (tensor<2x6xf32>) -> tensor<2x6xf32>
    %12 = "stablehlo.convert"(%arg4) : (tensor<i32>) -> tensor<f32>
    %13 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %14 = "stablehlo.subtract"(%13, %12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %15 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.reduce"(%11, %15) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %23 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%23) : (tensor<f32>) -> ()
    }) : (tensor<2x6xf32>, tensor<f32>) -> tensor<6xf32>
    %17 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6xf32>
    %18 = "stablehlo.divide"(%16, %17) : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    %19 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %20 = "stablehlo.compare"(%14, %19) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %21 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %22 = "func.call"(%20, %18, %21) <{callee = @_where}> : (tensor<i1>, tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
    "func.return"(%22) : (tensor<6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<i1>, tensor<6xf32>, tensor<f32>) -> tensor<6xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i1>, %arg1: tensor<6xf32>, %arg2: tensor<f32>):
    %0 = "stablehlo.convert"(%arg2) : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6xf32>
    %2 = "stablehlo.select"(%arg0, %arg1, %1) : (tensor<i1>, tensor<6xf32>, tensor<6xf32>) -> tensor<6xf32>
    "func.return"(%2) : (tensor<6xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
