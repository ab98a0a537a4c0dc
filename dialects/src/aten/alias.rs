//! Operators that PyTorch has under two names. Both stand in programs, as they were written; they mean the same.

use super::Operator;
use super::op::*;

/// A name, and the operator with the same arguments that it stands for.
#[rustfmt::skip]
const ALIASES: &[(Operator, Operator)] = &[
    (_LOGCUMSUMEXP, LOGCUMSUMEXP),
    (_STACK, STACK),
    (ARCCOS, ACOS),
    (ARCCOSH, ACOSH),
    (ARCSIN, ASIN),
    (ARCSINH, ASINH),
    (ARCTAN, ATAN),
    (ARCTAN2, ATAN2),
    (ARCTANH, ATANH),
    (DIVIDE_SCALAR_MODE, DIV_SCALAR_MODE),
    (FIX, TRUNC),
    (MOVEAXIS_INT, MOVEDIM_INT),
    (MOVEAXIS_INTLIST, MOVEDIM_INTLIST),
    (NATIVE_CHANNEL_SHUFFLE, CHANNEL_SHUFFLE),
    (ROW_STACK, VSTACK),
    (SMM, MM),
    (SPECIAL_DIGAMMA, DIGAMMA),
    (SPECIAL_ERF, ERF),
    (SPECIAL_ERFC, ERFC),
    (SPECIAL_ERFINV, ERFINV),
    (SPECIAL_EXP2, EXP2),
    (SPECIAL_EXPM1, EXPM1),
    (SPECIAL_GAMMAINC, IGAMMA),
    (SPECIAL_GAMMAINCC, IGAMMAC),
    (SPECIAL_GAMMALN, LGAMMA),
    (SPECIAL_I0, I0),
    (SPECIAL_LOG1P, LOG1P),
    (SPECIAL_LOGIT, LOGIT),
    (SPECIAL_MULTIGAMMALN, MVLGAMMA),
    (SPECIAL_PSI, DIGAMMA),
    (SPECIAL_ROUND, ROUND_DECIMALS),
    (SPECIAL_SINC, SINC),
    (SPECIAL_XLOGY, XLOGY_TENSOR),
    (SPECIAL_XLOGY_OTHER_SCALAR, XLOGY_SCALAR_OTHER),
    (SPECIAL_XLOGY_SELF_SCALAR, XLOGY_SCALAR_SELF),
];

/// The operator that means the same: the first name of one with two, and any other operator itself.
pub fn meaning(operator: Operator) -> Operator {
    ALIASES.binary_search_by_key(&operator, |(alias, _)| *alias).map_or(operator, |at| ALIASES[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_take_the_same_arguments() {
        assert!(ALIASES.is_sorted());
        for (alias, operator) in ALIASES {
            let arguments = |of: &Operator| -> Vec<_> { of.schema().args.iter().map(|arg| (arg.name, arg.ty)).collect() };
            assert_eq!(arguments(alias), arguments(operator), "{alias}");
        }
    }
}
