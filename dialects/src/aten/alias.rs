//! Operators that PyTorch has under two names. Both stand in programs, as they were written; they mean the same.

/// A name, and the operator with the same arguments that it stands for.
#[rustfmt::skip]
const ALIASES: &[(&str, &str)] = &[
    ("aten._logcumsumexp", "aten.logcumsumexp"),
    ("aten._stack", "aten.stack"),
    ("aten.arccos", "aten.acos"),
    ("aten.arccosh", "aten.acosh"),
    ("aten.arcsin", "aten.asin"),
    ("aten.arcsinh", "aten.asinh"),
    ("aten.arctan", "aten.atan"),
    ("aten.arctan2", "aten.atan2"),
    ("aten.arctanh", "aten.atanh"),
    ("aten.divide.Scalar_mode", "aten.div.Scalar_mode"),
    ("aten.fix", "aten.trunc"),
    ("aten.moveaxis.int", "aten.movedim.int"),
    ("aten.moveaxis.intlist", "aten.movedim.intlist"),
    ("aten.native_channel_shuffle", "aten.channel_shuffle"),
    ("aten.row_stack", "aten.vstack"),
    ("aten.smm", "aten.mm"),
    ("aten.special_digamma", "aten.digamma"),
    ("aten.special_erf", "aten.erf"),
    ("aten.special_erfc", "aten.erfc"),
    ("aten.special_erfinv", "aten.erfinv"),
    ("aten.special_exp2", "aten.exp2"),
    ("aten.special_expm1", "aten.expm1"),
    ("aten.special_gammainc", "aten.igamma"),
    ("aten.special_gammaincc", "aten.igammac"),
    ("aten.special_gammaln", "aten.lgamma"),
    ("aten.special_i0", "aten.i0"),
    ("aten.special_log1p", "aten.log1p"),
    ("aten.special_logit", "aten.logit"),
    ("aten.special_multigammaln", "aten.mvlgamma"),
    ("aten.special_psi", "aten.digamma"),
    ("aten.special_round", "aten.round.decimals"),
    ("aten.special_sinc", "aten.sinc"),
    ("aten.special_xlogy", "aten.xlogy.Tensor"),
    ("aten.special_xlogy.other_scalar", "aten.xlogy.Scalar_Other"),
    ("aten.special_xlogy.self_scalar", "aten.xlogy.Scalar_Self"),
];

/// The operator that means the same as `name`, where that is a second name of it.
pub fn meaning(name: &str) -> Option<&'static str> {
    ALIASES.binary_search_by(|(alias, _)| (*alias).cmp(name)).ok().map(|at| ALIASES[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aten::schema;

    #[test]
    fn both_take_the_same_arguments() {
        assert!(ALIASES.is_sorted());
        for (alias, operator) in ALIASES {
            let arguments = |name: &str| -> Vec<_> {
                let schema = schema(name).unwrap_or_else(|| panic!("PyTorch has no {name}"));
                schema.args.iter().map(|arg| (arg.name, arg.ty)).collect()
            };
            assert_eq!(arguments(alias), arguments(operator), "{alias}");
        }
    }
}
