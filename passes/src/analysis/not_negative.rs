//! Whether an expression is shown not to be negative, where bounds alone do not tell: `n - min(n, i)` is not, whatever `i` is.

use super::{Atom, Dims, Expr, Interval};

/// Most expressions that are looked at for one answer.
const EFFORT: u32 = 64;

impl Dims<'_> {
    /// Whether an expression is shown not to be negative.
    pub fn is_not_negative(&self, expr: &Expr) -> bool {
        self.is_shown(&self.resolve(expr), &mut Vec::new(), &mut EFFORT.clone())
    }

    /// `assumed` are expressions that are not negative in the case that is looked at.
    fn is_shown(&self, expr: &Expr, assumed: &mut Vec<Expr>, effort: &mut u32) -> bool {
        if *effort == 0 {
            return false;
        }
        *effort -= 1;
        let low = |expr: &Expr| matches!(self.bounds(expr), Interval { low: Some(0..), .. });
        if low(expr) || self.not_negative.iter().chain(assumed.iter()).any(|known| low(&expr.sub(known))) {
            return true;
        }
        let (smaller, larger, is_min) = match expr.choice() {
            Some(Atom::Min(a, b)) => (a, b, true),
            Some(Atom::Max(a, b)) => (a, b, false),
            _ => return self.is_shown_without_quotients(expr, assumed, effort),
        };
        // Either a <= b, or b < a.
        let mut case = |assumption: Expr, chosen: &Expr| {
            let Some(chosen) = expr.choice().and_then(|choice| expr.replace(&|atom| (atom == choice).then(|| chosen.clone()))) else {
                return false;
            };
            assumed.push(assumption);
            let shown = self.is_shown(&chosen, assumed, effort);
            assumed.pop();
            shown
        };
        let (first, second) = if is_min { (smaller, larger) } else { (larger, smaller) };
        case(larger.sub(smaller), first) && case(smaller.sub(larger).sub(&1.into()), second)
    }

    /// By what a quotient is at most and at least: `d * floor(a / d)` is from `a - d + 1` to `a`. Of one quotient alone it is exact: a whole number
    /// `r` is not less than `floor(a / d)` where `d * r >= a - d + 1`, and not more where `a >= d * r`.
    fn is_shown_without_quotients(&self, expr: &Expr, assumed: &mut Vec<Expr>, effort: &mut u32) -> bool {
        let quotient = expr.terms().find_map(|(product, factor)| match product {
            [atom @ Atom::FloorDiv(a, b)] => Some((atom, &**a, b.as_constant().filter(|divisor| *divisor >= 1)?, factor)),
            _ => None,
        });
        let Some((atom, dividend, divisor, factor)) = quotient else { return false };
        let rest = expr.sub(&Expr::from(atom.clone()).scale(factor));
        let bound = if matches!(factor, 1 | ..=-2) { dividend.clone() } else { dividend.sub(&(divisor - 1).into()) };
        self.is_shown(&rest.scale(divisor).add(&bound.scale(factor)), assumed, effort)
    }
}
