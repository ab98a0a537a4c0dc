//! Floats of 8 bits are a way to store numbers. The operators here take them, as PyTorch's do on a CPU; any other is refused by name.

use strata_core::ir::{ElementType, Op, Type};

use super::schema;

/// What moves elements, makes them, or converts them first. Views are not listed: all of them do.
#[rustfmt::skip]
const STORED: &[&str] = &[
    "_local_scalar_dense", "_scaled_mm", "_scaled_mm_v2", "_to_copy", "_unsafe_index", "_unsafe_index_put", "_unsafe_view",
    "alias_copy", "as_strided_copy", "as_strided_scatter", "block_diag", "cat", "choose_qparams_affine", "clone", "concat",
    "concatenate", "constant_pad_nd", "convert_element_type", "copy", "cumprod", "cumsum", "dequantize_affine",
    "dequantize_affine_float8_non_decomposed", "dequantize_per_tensor", "detach_copy", "diag", "diag_embed", "diagonal_copy",
    "diagonal_scatter", "dstack", "embedding", "empty", "empty_like", "empty_permuted", "empty_strided", "expand_copy", "eye", "fill",
    "flip", "full", "full_like", "hstack", "index", "index_put", "index_select", "item", "lift", "lift_fresh_copy", "masked_select",
    "mean", "meshgrid", "narrow_copy", "new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros", "ones", "ones_like",
    "pad", "permute_copy", "prod", "quantize_affine", "quantize_affine_float8_non_decomposed", "quantize_per_channel",
    "quantize_per_tensor", "repeat", "repeat_interleave", "roll", "row_stack", "scalar_tensor", "select_copy", "select_scatter",
    "slice_copy", "slice_scatter", "split_copy", "split_with_sizes_copy", "squeeze_copy", "stack", "sum", "sym_numel", "sym_size",
    "sym_storage_offset", "sym_stride", "t_copy", "tile", "transpose_copy", "type_as", "unbind_copy", "unfold_copy", "unsqueeze_copy",
    "view_copy", "vstack", "where", "zero", "zeros", "zeros_like",
];

/// What computes with elements: in `f32`, and rounds the result.
const COMPUTED: &[&str] =
    &["abs", "addmm", "all", "any", "eq", "equal", "isfinite", "isinf", "isnan", "linear", "matmul", "mm", "mul", "ne", "outer"];

/// Those that would promote if their tensors were of different types, which PyTorch does not with floats of 8 bits.
const PROMOTED: &[&str] = &["block_diag", "cat", "concat", "concatenate", "dstack", "hstack", "row_stack", "stack", "vstack", "where"];

/// Those of `STORED` that convert first where they are asked for another element type, and else would compute.
const CONVERTED: &[&str] = &["cumprod", "cumsum", "mean", "prod", "sum"];

/// The name without dialect and overload, and without the `_` of an operator that writes in place.
fn base(name: &str) -> &str {
    let base = name.split('.').nth(1).unwrap_or(name);
    if base.ends_with("__") { base } else { base.strip_suffix('_').unwrap_or(base) }
}

/// Whether the operator computes with floats of 8 bits, not only moves or converts them.
pub fn is_computed(name: &str) -> bool {
    COMPUTED.binary_search(&base(name)).is_ok()
}

/// Whether an op has no floats of 8 bits, or may have them.
pub fn is_allowed(op: Op<'_>) -> bool {
    let stored = |ty: Type<'_>| ty.is_tensor() && ty.element_type().is_some_and(ElementType::is_float8);
    let results = op.result_types().into_iter().any(stored);
    if !results && !op.operand_types().into_iter().any(stored) {
        return true;
    }
    let name = base(op.name());
    let of = |ty: Type<'_>| ty.element_type().filter(|element| ty.rank() > 0 && *element != ElementType::Bool);
    let mut types = op.operand_types().into_iter().filter_map(of);
    let first = types.next();
    if (is_computed(op.name()) || PROMOTED.contains(&name)) && types.any(|ty| Some(ty) != first) {
        return false;
    }
    let view = schema(op.name()).is_some_and(|schema| schema.has("view") || schema.returns.is_empty());
    view || is_computed(op.name()) || STORED.binary_search(&name).is_ok() && !(results && CONVERTED.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_name_operators() {
        for list in [STORED, COMPUTED] {
            assert!(list.windows(2).all(|pair| pair[0] < pair[1]), "not sorted near {:?}", list.windows(2).find(|pair| pair[0] >= pair[1]));
            for name in list {
                assert!(schema::names().any(|known| base(known) == *name), "PyTorch has no {name}");
            }
        }
        assert!(CONVERTED.iter().all(|name| STORED.contains(name)));
    }

    #[test]
    fn in_place_forms_are_meant_too() {
        assert!(is_computed("aten.mul_.Tensor") && is_computed("aten.eq.Scalar"));
        assert!(!is_computed("aten.copy_") && !is_computed("aten.add.Tensor"));
    }
}
