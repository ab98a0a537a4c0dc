//! The order in which a tensor of the call lies in memory, from the strides that the archive records.

use std::collections::BTreeMap;

use strata_core::ir::{Attr, Cx};

use super::types;
use crate::pt2::{
    expr::{Expr, Func},
    schema::TensorMeta,
};

/// How the elements of a tensor lie in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    RowMajor,
    /// Densely, with these dims from the outermost to the innermost.
    Order(Vec<usize>),
    /// Not shown to lie densely.
    Apart,
}

/// The dims of a dense tensor from the outermost to the innermost in memory. `None` where that is their own order, and where elements
/// are not shown to lie densely: the tensor is then taken and given row-major.
pub(super) fn dim_order(meta: &TensorMeta) -> Option<Vec<usize>> {
    match layout(meta) {
        Layout::Order(order) => Some(order),
        Layout::RowMajor | Layout::Apart => None,
    }
}

/// The layout that a tensor's strides say.
pub(super) fn layout(meta: &TensorMeta) -> Layout {
    dense_order(meta).map_or(Layout::Apart, |order| if order.is_sorted() { Layout::RowMajor } else { Layout::Order(order) })
}

/// The order of the dims in memory, sorted for a tensor that is row-major. `None` where it is not shown to be dense.
fn dense_order(meta: &TensorMeta) -> Option<Vec<usize>> {
    let sizes: Vec<Sum> = meta.sizes.iter().map(|size| Sum::of(&types::expr(size))).collect::<Option<_>>()?;
    let strides: Vec<Sum> = meta.strides.iter().map(|stride| Sum::of(&types::expr(stride))).collect::<Option<_>>()?;
    let (one, zero) = (Sum::constant(1), Sum::default());
    if sizes.len() != strides.len() {
        return None;
    }
    if sizes.contains(&zero) {
        return Some((0..sizes.len()).collect());
    }
    let mut left: Vec<usize> = (0..sizes.len()).collect();
    let (mut order, mut next) = (Vec::new(), one.clone());
    // From the inside out; a dim of size 1 whose stride fits lies where it stands.
    while left.iter().any(|&dim| sizes[dim] != one) {
        let fitting = left.iter().copied().filter(|&dim| strides[dim] == next);
        let dim = fitting.max_by_key(|&dim| (sizes[dim] == one, dim))?;
        next = next.times(&sizes[dim])?;
        order.push(dim);
        left.retain(|&other| other != dim);
    }
    // The strides of the other dims of size 1 say nothing.
    let outer = order.iter().rev().copied().filter(|&dim| sizes[dim] != one);
    if outer.is_sorted() {
        return Some((0..sizes.len()).collect());
    }
    Some(left.into_iter().chain(order.into_iter().rev()).collect())
}

/// An order as the attribute of an argument or result.
pub(super) fn attribute<'c>(cx: Cx<'c>, order: &[usize]) -> Attr<'c> {
    cx.i64s_attr(&order.iter().map(|&dim| dim as i64).collect::<Vec<_>>())
}

/// An integer expression multiplied out: products of symbols, and what each is multiplied by.
#[derive(Clone, Debug, Default, PartialEq)]
struct Sum(BTreeMap<Vec<String>, i64>);

/// Longer sums are no sizes of programs.
const TERMS: usize = 64;

impl Sum {
    fn constant(value: i64) -> Self {
        Self::term(Vec::new(), value)
    }

    fn term(symbols: Vec<String>, times: i64) -> Self {
        Self(BTreeMap::from([(symbols, times)]).into_iter().filter(|(_, times)| *times != 0).collect())
    }

    /// What is no sum or product stands for itself; `None` where a number is too large.
    fn of(expr: &Expr) -> Option<Self> {
        match expr {
            Expr::Int(value) => Some(Self::constant(*value)),
            Expr::Call(Func::Add, parts) => parts.iter().try_fold(Self::default(), |sum, part| sum.plus(&Self::of(part)?)),
            Expr::Call(Func::Mul, parts) => parts.iter().try_fold(Self::constant(1), |product, part| product.times(&Self::of(part)?)),
            Expr::Call(Func::Pow, parts) if matches!(parts[1], Expr::Int(0..=8)) => {
                let (base, times) = (Self::of(&parts[0])?, parts[1].as_int()?);
                (0..times).try_fold(Self::constant(1), |power, _| power.times(&base))
            }
            other => Some(Self::term(vec![other.to_string()], 1)),
        }
    }

    fn plus(mut self, other: &Self) -> Option<Self> {
        for (symbols, times) in &other.0 {
            let known = self.0.entry(symbols.clone()).or_default();
            *known = known.checked_add(*times)?;
        }
        self.0.retain(|_, times| *times != 0);
        (self.0.len() <= TERMS).then_some(self)
    }

    fn times(&self, other: &Self) -> Option<Self> {
        let mut product = Self::default();
        for (a, x) in &self.0 {
            for (b, y) in &other.0 {
                let mut symbols = [a.as_slice(), b].concat();
                symbols.sort_unstable();
                product = product.plus(&Self::term(symbols, x.checked_mul(*y)?))?;
            }
        }
        Some(product)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Sizes and strides are numbers, or expressions as the archive spells them.
    fn check(sizes: &[&str], strides: &[&str], order: Option<&[usize]>) {
        let list = |entries: &[&str]| -> Vec<_> {
            let entry = |text: &&str| match text.parse::<i64>() {
                Ok(number) => json!({"as_int": number}),
                Err(_) => json!({"as_expr": {"expr_str": text, "hint": null}}),
            };
            entries.iter().map(entry).collect()
        };
        let meta = json!({
            "dtype": 7, "sizes": list(sizes), "strides": list(strides), "storage_offset": {"as_int": 0},
            "device": {"type": "cpu", "index": null}, "layout": 7, "requires_grad": false,
        });
        let meta: TensorMeta = serde_json::from_value(meta).expect("a description");
        assert_eq!(dim_order(&meta).as_deref(), order, "{sizes:?} {strides:?}");
    }

    #[test]
    fn permutations_of_dense_tensors_have_an_order() {
        check(&["2", "3", "4", "5"], &["60", "20", "5", "1"], None);
        check(&["2", "3", "4", "5"], &["60", "1", "15", "3"], Some(&[0, 2, 3, 1]));
        check(&["3", "2"], &["1", "3"], Some(&[1, 0]));
        check(&[], &[], None);
        check(&["7"], &["1"], None);
    }

    #[test]
    fn what_is_not_dense_is_row_major() {
        // Repeated, apart, overlapping, without elements.
        check(&["3", "2"], &["0", "1"], None);
        check(&["3", "2"], &["1", "4"], None);
        check(&["3", "2"], &["2", "2"], None);
        check(&["3", "2"], &["1", "2"], None);
        check(&["3", "0"], &["1", "3"], None);
    }

    #[test]
    fn sizes_of_one_ask_nothing() {
        check(&["1", "3", "4", "5"], &["60", "1", "15", "3"], Some(&[0, 2, 3, 1]));
        check(&["1", "3", "4", "5"], &["9", "1", "15", "3"], Some(&[0, 2, 3, 1]));
        check(&["8", "3", "1", "5"], &["15", "1", "15", "3"], Some(&[0, 2, 3, 1]));
        check(&["8", "3", "1", "1"], &["3", "1", "3", "3"], None);
        check(&["1", "7", "1"], &["7", "1", "7"], None);
    }

    #[test]
    fn symbolic_strides_are_multiplied_out() {
        let (n, m) = ("Symbol('n', positive=True, integer=True)", "Symbol('m', positive=True, integer=True)");
        check(&[n, "16"], &["1", n], Some(&[1, 0]));
        check(&[n, "16"], &["16", "1"], None);
        check(&[n, m], &["1", n], Some(&[1, 0]));
        check(&[n, m], &["1", m], None);
        // n, 3, m + 2, m with channels last.
        let (wide, row) = (format!("Add({m}, Integer(2))"), format!("Mul({m}, Integer(3))"));
        let image = format!("Add(Mul(Integer(3), Pow({m}, Integer(2))), Mul(Integer(6), {m}))");
        check(&[n, "3", &wide, m], &[&image, "1", &row, "3"], Some(&[0, 2, 3, 1]));
        check(&[n, "3", &wide, m], &[&image, "1", "3", &row], None);
    }
}
