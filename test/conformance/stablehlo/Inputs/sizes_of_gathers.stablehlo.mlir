"builtin.module"() <{sym_name = "jit_sizes_of_gathers"}> ({
  "func.func"() <{function_type = (tensor<?x?xf32>, tensor<?xi32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xi32>, tensor<?x?xf32>, tensor<?x?xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}, {jax.result_info = "result[6]"}, {jax.result_info = "result[7]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg79: tensor<?x?xf32>, %arg80: tensor<?xi32>):
    %251 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %252 = "stablehlo.get_dimension_size"(%arg79) <{dimension = 0 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %253 = "stablehlo.get_dimension_size"(%arg79) <{dimension = 1 : i64}> : (tensor<?x?xf32>) -> tensor<i32>
    %254 = "stablehlo.get_dimension_size"(%arg80) <{dimension = 0 : i64}> : (tensor<?xi32>) -> tensor<i32>
    %255 = "stablehlo.compare"(%252, %251) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%255, %252) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'n'. Using the following polymorphic shapes specifications: args[0].shape = (n, m),args[1].shape = (k,). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>) -> ()
    %256 = "stablehlo.compare"(%253, %251) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%256, %252, %253) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'm'. Using the following polymorphic shapes specifications: args[0].shape = (n, m),args[1].shape = (k,). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), 'm' = {1} from specification 'm' for dimension args[0].shape[1] (= {1}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>) -> ()
    %257 = "stablehlo.compare"(%254, %251) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.custom_call"(%257, %252, %253, %254) <{api_version = 2 : i32, call_target_name = "shape_assertion", has_side_effect = true}> {error_message = "Input shapes do not match the polymorphic shapes specification. Expected value >= 1 for dimension variable 'k'. Using the following polymorphic shapes specifications: args[0].shape = (n, m),args[1].shape = (k,). Obtained dimension variables: 'n' = {0} from specification 'n' for dimension args[0].shape[0] (= {0}), 'm' = {1} from specification 'm' for dimension args[0].shape[1] (= {1}), 'k' = {2} from specification 'k' for dimension args[1].shape[0] (= {2}), . Please see https://docs.jax.dev/en/latest/export/shape_poly.html#shape-assertion-errors for more details."} : (tensor<i1>, tensor<i32>, tensor<i32>, tensor<i32>) -> ()
    %258:8 = "func.call"(%254, %253, %252, %arg79, %arg80) <{callee = @_wrapped_jax_export_main}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<?xi32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xi32>, tensor<?x?xf32>, tensor<?x?xf32>)
    "func.return"(%258#0, %258#1, %258#2, %258#3, %258#4, %258#5, %258#6, %258#7) : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xi32>, tensor<?x?xf32>, tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<f32>, tensor<f32>) -> tensor<f32>, sym_name = "reduce_window_float32_reducer"}> ({
  ^bb0(%arg77: tensor<f32>, %arg78: tensor<f32>):
    %250 = "stablehlo.add"(%arg77, %arg78) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "func.return"(%250) : (tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "k"}, {jax.global_constant = "m"}, {jax.global_constant = "n"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<?xi32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xi32>, tensor<?x?xf32>, tensor<?x?xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}, {jax.result_info = "result[6]"}, {jax.result_info = "result[7]"}], sym_name = "_wrapped_jax_export_main", sym_visibility = "private"}> ({
  ^bb0(%arg72: tensor<i32>, %arg73: tensor<i32>, %arg74: tensor<i32>, %arg75: tensor<?x?xf32>, %arg76: tensor<?xi32>):
    %165 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
    %166 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %167 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %168 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %169 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %170 = "stablehlo.convert"(%arg73) : (tensor<i32>) -> tensor<i32>
    %171 = "stablehlo.reshape"(%arg72) : (tensor<i32>) -> tensor<1xi32>
    %172 = "stablehlo.dynamic_broadcast_in_dim"(%169, %171) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %173 = "stablehlo.compare"(%arg76, %172) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
    %174 = "stablehlo.reshape"(%arg72) : (tensor<i32>) -> tensor<1xi32>
    %175 = "stablehlo.dynamic_broadcast_in_dim"(%170, %174) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %176 = "stablehlo.add"(%arg76, %175) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %177 = "stablehlo.select"(%173, %176, %arg76) : (tensor<?xi1>, tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %178 = "stablehlo.reshape"(%arg72) : (tensor<i32>) -> tensor<1xi32>
    %179 = "stablehlo.concatenate"(%178, %167) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %180 = "stablehlo.dynamic_broadcast_in_dim"(%177, %179) <{broadcast_dimensions = array<i64: 0>}> : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %181 = "stablehlo.reshape"(%arg74) : (tensor<i32>) -> tensor<1xi32>
    %182 = "stablehlo.concatenate"(%181, %167) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %183 = "stablehlo.dynamic_gather"(%arg75, %180, %182) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>}> : (tensor<?x?xf32>, tensor<?x1xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %184 = "stablehlo.convert"(%arg73) : (tensor<i32>) -> tensor<i32>
    %185 = "stablehlo.add"(%184, %168) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %186:2 = "func.call"(%arg72, %arg73, %arg74, %185, %166) <{callee = @divmod}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %187 = "stablehlo.reshape"(%186#0) : (tensor<i32>) -> tensor<1xi32>
    %188 = "stablehlo.dynamic_iota"(%187) <{iota_dimension = 0 : i64}> : (tensor<1xi32>) -> tensor<?xi32>
    %189 = "stablehlo.convert"(%arg73) : (tensor<i32>) -> tensor<i32>
    %190 = "stablehlo.add"(%189, %168) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %191:2 = "func.call"(%arg72, %arg73, %arg74, %190, %166) <{callee = @divmod}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %192 = "stablehlo.reshape"(%191#0) : (tensor<i32>) -> tensor<1xi32>
    %193 = "stablehlo.dynamic_broadcast_in_dim"(%166, %192) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %194 = "stablehlo.multiply"(%193, %188) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %195 = "stablehlo.convert"(%arg73) : (tensor<i32>) -> tensor<i32>
    %196 = "stablehlo.add"(%195, %168) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %197:2 = "func.call"(%arg72, %arg73, %arg74, %196, %166) <{callee = @divmod}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %198 = "stablehlo.reshape"(%197#0) : (tensor<i32>) -> tensor<1xi32>
    %199 = "stablehlo.dynamic_broadcast_in_dim"(%169, %198) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %200 = "stablehlo.add"(%199, %194) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %201 = "stablehlo.convert"(%arg73) : (tensor<i32>) -> tensor<i32>
    %202 = "stablehlo.add"(%201, %168) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %203:2 = "func.call"(%arg72, %arg73, %arg74, %202, %166) <{callee = @divmod}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %204 = "stablehlo.reshape"(%203#0) : (tensor<i32>) -> tensor<1xi32>
    %205 = "stablehlo.concatenate"(%204, %167) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %206 = "stablehlo.dynamic_broadcast_in_dim"(%168, %205) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<2xi32>) -> tensor<?x1xi32>
    %207 = "stablehlo.convert"(%arg73) : (tensor<i32>) -> tensor<i32>
    %208 = "stablehlo.add"(%207, %168) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %209:2 = "func.call"(%arg72, %arg73, %arg74, %208, %166) <{callee = @divmod}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %210 = "stablehlo.reshape"(%209#0) : (tensor<i32>) -> tensor<1xi32>
    %211 = "stablehlo.concatenate"(%210, %167) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %212 = "stablehlo.dynamic_broadcast_in_dim"(%200, %211) <{broadcast_dimensions = array<i64: 0>}> : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %213 = "stablehlo.concatenate"(%206, %212) <{dimension = 1 : i64}> : (tensor<?x1xi32>, tensor<?x1xi32>) -> tensor<?x2xi32>
    %214 = "stablehlo.convert"(%arg74) : (tensor<i32>) -> tensor<i32>
    %215 = "stablehlo.add"(%214, %165) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %216 = "stablehlo.reshape"(%215) : (tensor<i32>) -> tensor<1xi32>
    %217 = "stablehlo.concatenate"(%216, %167) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %218 = "stablehlo.dynamic_gather"(%arg75, %213, %217) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = true}> : (tensor<?x?xf32>, tensor<?x2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %219 = "stablehlo.convert"(%arg74) : (tensor<i32>) -> tensor<i32>
    %220 = "stablehlo.add"(%219, %165) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %221 = "stablehlo.convert"(%220) : (tensor<i32>) -> tensor<i32>
    %222 = "stablehlo.reshape"(%arg74) : (tensor<i32>) -> tensor<1xi32>
    %223 = "stablehlo.dynamic_iota"(%222) <{iota_dimension = 0 : i64}> : (tensor<1xi32>) -> tensor<?xi32>
    %224 = "stablehlo.reshape"(%arg74) : (tensor<i32>) -> tensor<1xi32>
    %225 = "stablehlo.dynamic_broadcast_in_dim"(%165, %224) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %226 = "stablehlo.multiply"(%225, %223) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %227 = "stablehlo.reshape"(%arg74) : (tensor<i32>) -> tensor<1xi32>
    %228 = "stablehlo.dynamic_broadcast_in_dim"(%221, %227) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %229 = "stablehlo.add"(%228, %226) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %230 = "stablehlo.reverse"(%229) <{dimensions = array<i64: 0>}> : (tensor<?xi32>) -> tensor<?xi32>
    %231 = "stablehlo.reshape"(%arg74) : (tensor<i32>) -> tensor<1xi32>
    %232 = "stablehlo.concatenate"(%231, %167) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %233 = "stablehlo.dynamic_broadcast_in_dim"(%230, %232) <{broadcast_dimensions = array<i64: 0>}> : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %234 = "stablehlo.reshape"(%arg74) : (tensor<i32>) -> tensor<1xi32>
    %235 = "stablehlo.concatenate"(%234, %167) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %236 = "stablehlo.dynamic_broadcast_in_dim"(%169, %235) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<2xi32>) -> tensor<?x1xi32>
    %237 = "stablehlo.concatenate"(%233, %236) <{dimension = 1 : i64}> : (tensor<?x1xi32>, tensor<?x1xi32>) -> tensor<?x2xi32>
    %238:2 = "func.call"(%arg72, %arg73, %arg74, %arg73, %166) <{callee = @divmod_0}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %239 = "stablehlo.reshape"(%238#0) : (tensor<i32>) -> tensor<1xi32>
    %240 = "stablehlo.concatenate"(%167, %239) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %241 = "stablehlo.dynamic_gather"(%arg75, %237, %240) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>, indices_are_sorted = true}> : (tensor<?x?xf32>, tensor<?x2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %242 = "stablehlo.reverse"(%241) <{dimensions = array<i64: 0>}> : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %243 = "func.call"(%arg72, %arg73, %arg74, %arg75) <{callee = @cumsum}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %244 = "func.call"(%arg72, %arg73, %arg74, %arg75) <{callee = @sort}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    %245 = "func.call"(%arg72, %arg73, %arg74, %arg75) <{callee = @argmax}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?xi32>
    %246 = "func.call"(%arg72, %arg73, %arg74, %arg76, %arg74) <{callee = @remainder_2}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?xi32>, tensor<i32>) -> tensor<?xi32>
    %247 = "func.call"(%arg72, %arg73, %arg74, %arg75, %246) <{callee = @_take}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?xf32>
    %248 = "stablehlo.transpose"(%arg75) <{permutation = array<i64: 1, 0>}> : (tensor<?x?xf32>) -> tensor<?x?xf32>
    %249 = "stablehlo.dot_general"(%248, %arg75) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    "func.return"(%183, %218, %242, %243, %244, %245, %247, %249) : (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xi32>, tensor<?x?xf32>, tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "k"}, {jax.global_constant = "m"}, {jax.global_constant = "n"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>), sym_name = "divmod", sym_visibility = "private"}> ({
  ^bb0(%arg67: tensor<i32>, %arg68: tensor<i32>, %arg69: tensor<i32>, %arg70: tensor<i32>, %arg71: tensor<i32>):
    %163 = "func.call"(%arg67, %arg68, %arg69, %arg70, %arg71) <{callee = @floor_divide}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %164 = "func.call"(%arg67, %arg68, %arg69, %arg70, %arg71) <{callee = @remainder}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%163, %164) : (tensor<i32>, tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "k"}, {jax.global_constant = "m"}, {jax.global_constant = "n"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>, sym_name = "floor_divide", sym_visibility = "private"}> ({
  ^bb0(%arg62: tensor<i32>, %arg63: tensor<i32>, %arg64: tensor<i32>, %arg65: tensor<i32>, %arg66: tensor<i32>):
    %152 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %153 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %154 = "stablehlo.divide"(%arg65, %arg66) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %155 = "stablehlo.sign"(%arg65) : (tensor<i32>) -> tensor<i32>
    %156 = "stablehlo.sign"(%arg66) : (tensor<i32>) -> tensor<i32>
    %157 = "stablehlo.compare"(%155, %156) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %158 = "stablehlo.remainder"(%arg65, %arg66) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %159 = "stablehlo.compare"(%158, %153) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %160 = "stablehlo.and"(%157, %159) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %161 = "stablehlo.subtract"(%154, %152) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %162 = "func.call"(%arg62, %arg63, %arg64, %160, %161, %154) <{callee = @_where}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%162) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "k"}, {jax.global_constant = "m"}, {jax.global_constant = "n"}, {}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>, sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg56: tensor<i32>, %arg57: tensor<i32>, %arg58: tensor<i32>, %arg59: tensor<i1>, %arg60: tensor<i32>, %arg61: tensor<i32>):
    %151 = "stablehlo.select"(%arg59, %arg60, %arg61) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%151) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "k"}, {jax.global_constant = "m"}, {jax.global_constant = "n"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>, sym_name = "remainder", sym_visibility = "private"}> ({
  ^bb0(%arg51: tensor<i32>, %arg52: tensor<i32>, %arg53: tensor<i32>, %arg54: tensor<i32>, %arg55: tensor<i32>):
    %139 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %140 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %141 = "stablehlo.compare"(%arg55, %140) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %142 = "func.call"(%arg51, %arg52, %arg53, %141, %139, %arg55) <{callee = @_where}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %143 = "stablehlo.remainder"(%arg54, %142) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %144 = "stablehlo.compare"(%143, %140) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %145 = "stablehlo.compare"(%143, %140) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %146 = "stablehlo.compare"(%142, %140) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %147 = "stablehlo.compare"(%145, %146) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %148 = "stablehlo.and"(%147, %144) : (tensor<i1>, tensor<i1>) -> tensor<i1>
    %149 = "stablehlo.add"(%143, %142) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %150 = "stablehlo.select"(%148, %149, %143) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%150) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "k"}, {jax.global_constant = "m"}, {jax.global_constant = "n"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>), sym_name = "divmod_0", sym_visibility = "private"}> ({
  ^bb0(%arg46: tensor<i32>, %arg47: tensor<i32>, %arg48: tensor<i32>, %arg49: tensor<i32>, %arg50: tensor<i32>):
    %136 = "stablehlo.convert"(%arg49) : (tensor<i32>) -> tensor<i32>
    %137 = "func.call"(%arg46, %arg47, %arg48, %136, %arg50) <{callee = @floor_divide}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %138 = "func.call"(%arg46, %arg47, %arg48, %136, %arg50) <{callee = @remainder}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%137, %138) : (tensor<i32>, tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "k"}, {jax.global_constant = "m"}, {jax.global_constant = "n"}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>, sym_name = "cumsum", sym_visibility = "private"}> ({
  ^bb0(%arg42: tensor<i32>, %arg43: tensor<i32>, %arg44: tensor<i32>, %arg45: tensor<?x?xf32>):
    %135 = "func.call"(%arg42, %arg43, %arg44, %arg45) <{callee = @cumsum_1}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    "func.return"(%135) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>, sym_name = "cumsum_1", sym_visibility = "private"}> ({
  ^bb0(%arg38: tensor<i32>, %arg39: tensor<i32>, %arg40: tensor<i32>, %arg41: tensor<?x?xf32>):
    %116 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %117 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
    %118 = "stablehlo.constant"() <{value = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
    %119 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %120 = "stablehlo.broadcast_in_dim"(%119) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %121 = "stablehlo.concatenate"(%118, %118) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %122 = "stablehlo.reshape"(%121) : (tensor<2xi32>) -> tensor<1x2xi32>
    %123 = "stablehlo.convert"(%arg39) : (tensor<i32>) -> tensor<i32>
    %124 = "stablehlo.add"(%123, %117) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %125 = "stablehlo.reshape"(%124) : (tensor<i32>) -> tensor<1xi32>
    %126 = "stablehlo.concatenate"(%125, %118) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %127 = "stablehlo.reshape"(%126) : (tensor<2xi32>) -> tensor<1x2xi32>
    %128 = "stablehlo.concatenate"(%122, %127) <{dimension = 0 : i64}> : (tensor<1x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32>
    %129 = "stablehlo.reshape"(%arg39) : (tensor<i32>) -> tensor<1xi32>
    %130 = "stablehlo.concatenate"(%116, %129) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %131 = "stablehlo.concatenate"(%116, %116) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %132 = "stablehlo.concatenate"(%116, %116) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %133 = "stablehlo.concatenate"(%116, %116) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %134 = "stablehlo.custom_call"(%arg41, %120, %130, %131, %132, %133, %128) <{api_version = 2 : i32, call_target_name = "stablehlo.dynamic_reduce_window", called_computations = [@reduce_window_float32_reducer]}> : (tensor<?x?xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<?x?xf32>
    "func.return"(%134) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "k"}, {jax.global_constant = "m"}, {jax.global_constant = "n"}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>, sym_name = "sort", sym_visibility = "private"}> ({
  ^bb0(%arg32: tensor<i32>, %arg33: tensor<i32>, %arg34: tensor<i32>, %arg35: tensor<?x?xf32>):
    %104 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %105 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %106 = "stablehlo.sort"(%arg35) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg36: tensor<f32>, %arg37: tensor<f32>):
      %107 = "stablehlo.compare"(%arg36, %105) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %108 = "stablehlo.select"(%107, %105, %arg36) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %109 = "stablehlo.compare"(%arg36, %arg36) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %110 = "stablehlo.select"(%109, %104, %108) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %111 = "stablehlo.compare"(%arg37, %105) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %112 = "stablehlo.select"(%111, %105, %arg37) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %113 = "stablehlo.compare"(%arg37, %arg37) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %114 = "stablehlo.select"(%113, %104, %112) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %115 = "stablehlo.compare"(%110, %114) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%115) : (tensor<i1>) -> ()
    }) : (tensor<?x?xf32>) -> tensor<?x?xf32>
    "func.return"(%106) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32>) -> tensor<?xi32>, sym_name = "argmax", sym_visibility = "private"}> ({
  ^bb0(%arg24: tensor<i32>, %arg25: tensor<i32>, %arg26: tensor<i32>, %arg27: tensor<?x?xf32>):
    %88 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %89 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %90 = "stablehlo.reshape"(%arg26) : (tensor<i32>) -> tensor<1xi32>
    %91 = "stablehlo.reshape"(%arg25) : (tensor<i32>) -> tensor<1xi32>
    %92 = "stablehlo.concatenate"(%90, %91) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %93 = "stablehlo.dynamic_iota"(%92) <{iota_dimension = 1 : i64}> : (tensor<2xi32>) -> tensor<?x?xi32>
    %94:2 = "stablehlo.reduce"(%arg27, %93, %89, %88) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg28: tensor<f32>, %arg29: tensor<i32>, %arg30: tensor<f32>, %arg31: tensor<i32>):
      %95 = "stablehlo.compare"(%arg28, %arg30) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %96 = "stablehlo.compare"(%arg28, %arg28) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %97 = "stablehlo.or"(%95, %96) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %98 = "stablehlo.compare"(%arg28, %arg30) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %99 = "stablehlo.compare"(%arg29, %arg31) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %100 = "stablehlo.and"(%98, %99) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %101 = "stablehlo.or"(%97, %100) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      %102 = "stablehlo.select"(%97, %arg28, %arg30) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %103 = "stablehlo.select"(%101, %arg29, %arg31) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%102, %103) : (tensor<f32>, tensor<i32>) -> ()
    }) : (tensor<?x?xf32>, tensor<?x?xi32>, tensor<f32>, tensor<i32>) -> (tensor<?xf32>, tensor<?xi32>)
    "func.return"(%94#1) : (tensor<?xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "k"}, {jax.global_constant = "m"}, {jax.global_constant = "n"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?xi32>, tensor<i32>) -> tensor<?xi32>, sym_name = "remainder_2", sym_visibility = "private"}> ({
  ^bb0(%arg19: tensor<i32>, %arg20: tensor<i32>, %arg21: tensor<i32>, %arg22: tensor<?xi32>, %arg23: tensor<i32>):
    %65 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %66 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %67 = "stablehlo.convert"(%arg23) : (tensor<i32>) -> tensor<i32>
    %68 = "stablehlo.compare"(%67, %66) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %69 = "func.call"(%arg19, %arg20, %arg21, %68, %65, %67) <{callee = @_where_3}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %70 = "stablehlo.reshape"(%arg19) : (tensor<i32>) -> tensor<1xi32>
    %71 = "stablehlo.dynamic_broadcast_in_dim"(%69, %70) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %72 = "stablehlo.remainder"(%arg22, %71) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %73 = "stablehlo.reshape"(%arg19) : (tensor<i32>) -> tensor<1xi32>
    %74 = "stablehlo.dynamic_broadcast_in_dim"(%66, %73) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %75 = "stablehlo.compare"(%72, %74) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
    %76 = "stablehlo.reshape"(%arg19) : (tensor<i32>) -> tensor<1xi32>
    %77 = "stablehlo.dynamic_broadcast_in_dim"(%66, %76) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %78 = "stablehlo.compare"(%72, %77) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
    %79 = "stablehlo.compare"(%69, %66) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %80 = "stablehlo.reshape"(%arg19) : (tensor<i32>) -> tensor<1xi32>
    %81 = "stablehlo.dynamic_broadcast_in_dim"(%79, %80) <{broadcast_dimensions = array<i64>}> : (tensor<i1>, tensor<1xi32>) -> tensor<?xi1>
    %82 = "stablehlo.compare"(%78, %81) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<?xi1>, tensor<?xi1>) -> tensor<?xi1>
    %83 = "stablehlo.and"(%82, %75) : (tensor<?xi1>, tensor<?xi1>) -> tensor<?xi1>
    %84 = "stablehlo.reshape"(%arg19) : (tensor<i32>) -> tensor<1xi32>
    %85 = "stablehlo.dynamic_broadcast_in_dim"(%69, %84) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %86 = "stablehlo.add"(%72, %85) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %87 = "stablehlo.select"(%83, %86, %72) : (tensor<?xi1>, tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    "func.return"(%87) : (tensor<?xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "k"}, {jax.global_constant = "m"}, {jax.global_constant = "n"}, {}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>, sym_name = "_where_3", sym_visibility = "private"}> ({
  ^bb0(%arg13: tensor<i32>, %arg14: tensor<i32>, %arg15: tensor<i32>, %arg16: tensor<i1>, %arg17: tensor<i32>, %arg18: tensor<i32>):
    %64 = "stablehlo.select"(%arg16, %arg17, %arg18) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "func.return"(%64) : (tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "k"}, {jax.global_constant = "m"}, {jax.global_constant = "n"}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?x?xf32>, tensor<?xi32>) -> tensor<?x?xf32>, sym_name = "_take", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<i32>, %arg7: tensor<i32>, %arg8: tensor<i32>, %arg9: tensor<?x?xf32>, %arg10: tensor<?xi32>):
    %1 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %3 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.constant"() <{value = dense<false> : tensor<1xi1>}> : () -> tensor<1xi1>
    %5 = "stablehlo.constant"() <{value = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
    %6 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %7 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %9 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %10 = "stablehlo.dynamic_broadcast_in_dim"(%8, %9) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %11 = "stablehlo.compare"(%arg10, %10) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi1>
    %12 = "stablehlo.convert"(%arg8) : (tensor<i32>) -> tensor<i32>
    %13 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %14 = "stablehlo.dynamic_broadcast_in_dim"(%12, %13) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<1xi32>) -> tensor<?xi32>
    %15 = "stablehlo.add"(%arg10, %14) : (tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %16 = "func.call"(%arg6, %arg7, %arg8, %11, %15, %arg10) <{callee = @_where_4}> : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?xi1>, tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    %17 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %18 = "stablehlo.concatenate"(%17, %6) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %19 = "stablehlo.dynamic_broadcast_in_dim"(%16, %18) <{broadcast_dimensions = array<i64: 0>}> : (tensor<?xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %20 = "stablehlo.convert"(%arg8) : (tensor<i32>) -> tensor<i32>
    %21 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %22 = "stablehlo.convert"(%arg7) : (tensor<i32>) -> tensor<i32>
    %23 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %24 = "stablehlo.concatenate"(%21, %23) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %25 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %26 = "stablehlo.add"(%5, %25) : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
    %27 = "stablehlo.select"(%4, %26, %5) : (tensor<1xi1>, tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xi32>) -> tensor<1x1xi32>
    %29 = "stablehlo.gather"(%24, %28) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<2xi32>, tensor<1x1xi32>) -> tensor<1xi32>
    %30 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %31 = "stablehlo.convert"(%arg7) : (tensor<i32>) -> tensor<i32>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %33 = "stablehlo.concatenate"(%30, %32) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %34 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<1xi32>
    %35 = "stablehlo.add"(%5, %34) : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
    %36 = "stablehlo.select"(%4, %35, %5) : (tensor<1xi1>, tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
    %37 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xi32>) -> tensor<1x1xi32>
    %38 = "stablehlo.gather"(%33, %37) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<2xi32>, tensor<1x1xi32>) -> tensor<1xi32>
    %39 = "stablehlo.subtract"(%29, %38) : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
    %40 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %41 = "stablehlo.concatenate"(%40, %6) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %42 = "stablehlo.dynamic_broadcast_in_dim"(%8, %41) <{broadcast_dimensions = array<i64>}> : (tensor<i32>, tensor<2xi32>) -> tensor<?x1xi32>
    %43 = "stablehlo.compare"(%19, %42) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<?x1xi32>, tensor<?x1xi32>) -> tensor<?x1xi1>
    %44 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64: 1>}> : (tensor<1xi32>) -> tensor<1x1xi32>
    %45 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %46 = "stablehlo.concatenate"(%45, %6) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %47 = "stablehlo.dynamic_broadcast_in_dim"(%44, %46) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xi32>, tensor<2xi32>) -> tensor<?x1xi32>
    %48 = "stablehlo.compare"(%19, %47) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<?x1xi32>, tensor<?x1xi32>) -> tensor<?x1xi1>
    %49 = "stablehlo.and"(%43, %48) : (tensor<?x1xi1>, tensor<?x1xi1>) -> tensor<?x1xi1>
    %50 = "stablehlo.reduce"(%49, %2) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg11: tensor<i1>, %arg12: tensor<i1>):
      %63 = "stablehlo.and"(%arg11, %arg12) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%63) : (tensor<i1>) -> ()
    }) : (tensor<?x1xi1>, tensor<i1>) -> tensor<?xi1>
    %51 = "stablehlo.reshape"(%arg7) : (tensor<i32>) -> tensor<1xi32>
    %52 = "stablehlo.concatenate"(%6, %51) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %53 = "stablehlo.dynamic_gather"(%arg9, %19, %52) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<?x?xf32>, tensor<?x1xi32>, tensor<2xi32>) -> tensor<?x?xf32>
    %54 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %55 = "stablehlo.reshape"(%arg7) : (tensor<i32>) -> tensor<1xi32>
    %56 = "stablehlo.concatenate"(%54, %55) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %57 = "stablehlo.dynamic_broadcast_in_dim"(%50, %56) <{broadcast_dimensions = array<i64: 0>}> : (tensor<?xi1>, tensor<2xi32>) -> tensor<?x?xi1>
    %58 = "stablehlo.reshape"(%arg6) : (tensor<i32>) -> tensor<1xi32>
    %59 = "stablehlo.reshape"(%arg7) : (tensor<i32>) -> tensor<1xi32>
    %60 = "stablehlo.concatenate"(%58, %59) <{dimension = 0 : i64}> : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %61 = "stablehlo.dynamic_broadcast_in_dim"(%1, %60) <{broadcast_dimensions = array<i64>}> : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
    %62 = "stablehlo.select"(%57, %53, %61) : (tensor<?x?xi1>, tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    "func.return"(%62) : (tensor<?x?xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{jax.global_constant = "k"}, {jax.global_constant = "m"}, {jax.global_constant = "n"}, {}, {}, {}], function_type = (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?xi1>, tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>, sym_name = "_where_4", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<?xi1>, %arg4: tensor<?xi32>, %arg5: tensor<?xi32>):
    %0 = "stablehlo.select"(%arg3, %arg4, %arg5) : (tensor<?xi1>, tensor<?xi32>, tensor<?xi32>) -> tensor<?xi32>
    "func.return"(%0) : (tensor<?xi32>) -> ()
  }) : () -> ()
}) {jax.uses_shape_polymorphism = true, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
