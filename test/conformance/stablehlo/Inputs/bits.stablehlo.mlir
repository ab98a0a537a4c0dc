"builtin.module"() <{sym_name = "jit_bits"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xf32>, tensor<4x4xi8>), res_attrs = [{jax.result_info = "result[0][0]"}, {jax.result_info = "result[0][1]"}, {jax.result_info = "result[0][2]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<4xi32>, %arg1: tensor<4xi32>):
    %0 = "stablehlo.shift_right_logical"(%arg0, %arg1) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %1 = "stablehlo.shift_left"(%arg0, %arg1) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %2 = "stablehlo.shift_right_arithmetic"(%arg0, %arg1) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %3 = "stablehlo.popcnt"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>
    %4 = "stablehlo.count_leading_zeros"(%arg0) : (tensor<4xi32>) -> tensor<4xi32>
    %5 = "stablehlo.bitcast_convert"(%arg0) : (tensor<4xi32>) -> tensor<4xf32>
    %6 = "stablehlo.bitcast_convert"(%arg0) : (tensor<4xi32>) -> tensor<4x4xi8>
    "func.return"(%0, %1, %2, %3, %4, %5, %6) : (tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>, tensor<4xf32>, tensor<4x4xi8>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
