"builtin.module"() <{sym_name = "jit_transforms"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x10xf32>) -> (tensor<3x6xf32>, tensor<3x10xf32>, tensor<3x10xf32>, tensor<3x10xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg4: tensor<3x10xf32>):
    %6 = "func.call"(%arg4) <{callee = @fft}> : (tensor<3x10xf32>) -> tensor<3x6xcomplex<f32>>
    %7 = "stablehlo.abs"(%6) : (tensor<3x6xcomplex<f32>>) -> tensor<3x6xf32>
    %8 = "func.call"(%arg4) <{callee = @fft}> : (tensor<3x10xf32>) -> tensor<3x6xcomplex<f32>>
    %9 = "func.call"(%8) <{callee = @fft_0}> : (tensor<3x6xcomplex<f32>>) -> tensor<3x10xf32>
    %10 = "func.call"(%arg4) <{callee = @fft_1}> : (tensor<3x10xf32>) -> tensor<3x10xcomplex<f32>>
    %11 = "stablehlo.real"(%10) : (tensor<3x10xcomplex<f32>>) -> tensor<3x10xf32>
    %12 = "func.call"(%arg4) <{callee = @fft_2}> : (tensor<3x10xf32>) -> tensor<3x10xcomplex<f32>>
    %13 = "stablehlo.imag"(%12) : (tensor<3x10xcomplex<f32>>) -> tensor<3x10xf32>
    "func.return"(%7, %9, %11, %13) : (tensor<3x6xf32>, tensor<3x10xf32>, tensor<3x10xf32>, tensor<3x10xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x10xf32>) -> tensor<3x6xcomplex<f32>>, res_attrs = [{}], sym_name = "fft", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<3x10xf32>):
    %5 = "stablehlo.fft"(%arg3) <{fft_length = array<i64: 10>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<3x10xf32>) -> tensor<3x6xcomplex<f32>>
    "func.return"(%5) : (tensor<3x6xcomplex<f32>>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x6xcomplex<f32>>) -> tensor<3x10xf32>, res_attrs = [{}], sym_name = "fft_0", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<3x6xcomplex<f32>>):
    %4 = "stablehlo.fft"(%arg2) <{fft_length = array<i64: 10>, fft_type = #stablehlo<fft_type IRFFT>}> : (tensor<3x6xcomplex<f32>>) -> tensor<3x10xf32>
    "func.return"(%4) : (tensor<3x10xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x10xf32>) -> tensor<3x10xcomplex<f32>>, res_attrs = [{}], sym_name = "fft_1", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<3x10xf32>):
    %2 = "stablehlo.convert"(%arg1) : (tensor<3x10xf32>) -> tensor<3x10xcomplex<f32>>
    %3 = "stablehlo.fft"(%2) <{fft_length = array<i64: 3, 10>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<3x10xcomplex<f32>>) -> tensor<3x10xcomplex<f32>>
    "func.return"(%3) : (tensor<3x10xcomplex<f32>>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x10xf32>) -> tensor<3x10xcomplex<f32>>, res_attrs = [{}], sym_name = "fft_2", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<3x10xf32>):
    %0 = "stablehlo.convert"(%arg0) : (tensor<3x10xf32>) -> tensor<3x10xcomplex<f32>>
    %1 = "stablehlo.fft"(%0) <{fft_length = array<i64: 10>, fft_type = #stablehlo<fft_type IFFT>}> : (tensor<3x10xcomplex<f32>>) -> tensor<3x10xcomplex<f32>>
    "func.return"(%1) : (tensor<3x10xcomplex<f32>>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
