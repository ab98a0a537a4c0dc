//! Operators on lists of tensors (`aten._foreach_add.List`), which optimizers call: each is another operator, for one tensor after the other.

use super::operator::Operator;
use super::schema::{Arg, Kind, Schema};

/// The operator that an operator on lists is for each of its tensors.
pub fn of_each(operator: Operator) -> Option<Operator> {
    let rest = operator.name().strip_prefix("aten.")?.strip_prefix("_foreach_")?;
    let (base, overload) = rest.split_once('.').unwrap_or((rest, ""));
    let base = if base == "norm" { "linalg_vector_norm" } else { base };
    let overloads: &[&str] = match overload {
        "" => &[""],
        "List" | "Tensor" => &[".Tensor", ".Tensor_Tensor", ""],
        _ => &[".Scalar", ".Tensor_Scalar", "", ".Tensor"],
    };
    let named = |overload: &&str| Operator::named(&format!("aten.{base}{overload}"));
    overloads.iter().filter_map(named).find(|each| takes(each.schema(), operator.schema()))
}

/// Where the operator for each tensor has an argument of the operator on lists: under the same name, or in the same place.
pub fn place(each: &Schema, lists: &Schema, argument: usize) -> usize {
    each.position(lists.args[argument].name).unwrap_or(argument)
}

/// Whether the arguments of an operator on lists are some that another takes one by one.
fn takes(each: &Schema, lists: &Schema) -> bool {
    let fits = |(k, arg): (usize, &Arg)| {
        let Some(taken) = each.args.get(place(each, lists, k)) else { return false };
        taken.ty.kind == arg.ty.kind || (k > 0 && arg.ty.kind == Kind::Scalar && taken.ty.is_tensor())
    };
    lists.args.iter().enumerate().all(fits)
}

#[cfg(test)]
mod tests {
    use super::super::op::*;
    use super::*;

    #[test]
    fn operators_on_lists_are_others_for_each_tensor() {
        assert_eq!(of_each(_FOREACH_ADD_LIST), Some(ADD_TENSOR));
        assert_eq!(of_each(_FOREACH_ADD__SCALARLIST), Some(ADD__SCALAR));
        assert_eq!(of_each(_FOREACH_MUL_TENSOR), Some(MUL_TENSOR));
        assert_eq!(of_each(_FOREACH_POW_SCALAR), Some(POW_TENSOR_SCALAR));
        assert_eq!(of_each(_FOREACH_POW_SCALARANDTENSOR), Some(POW_SCALAR));
        assert_eq!(of_each(_FOREACH_CLAMP_MAX_SCALAR), Some(CLAMP_MAX));
        assert_eq!(of_each(_FOREACH_LERP_LIST), Some(LERP_TENSOR));
        assert_eq!(of_each(_FOREACH_NORM_SCALAR), Some(LINALG_VECTOR_NORM));
        assert_eq!(of_each(_FOREACH_ADDCDIV_TENSOR), None, "its factors are one tensor");
        assert_eq!(of_each(ADD_TENSOR), None);
    }

    #[test]
    fn all_but_a_few_have_one() {
        let lists = Operator::all().filter(|operator| operator.name().starts_with("aten._foreach_") && !operator.schema().is_mutable());
        let without: Vec<_> = lists.filter(|operator| of_each(*operator).is_none()).collect();
        assert_eq!(without, [_FOREACH_ADDCDIV_TENSOR, _FOREACH_ADDCMUL_TENSOR, _FOREACH_POWSUM_SCALAR]);
    }
}
