//! Combining elements along dimensions.

use strata_core::prelude::*;

use super::check::{self, Checked};
use super::sizes::{self, Constraint, ResultSizes, Size, SizeConstraints};
use super::types::*;

const KINDS: &[&str] = &["sum", "prod", "max", "min", "maxnum", "and", "or", "xor"];

/// The kind that only scans have.
const LOGADDEXP: &str = "logaddexp";

/// "and", "or" and "xor" are for bool and integers, sums and products for numbers, extrema for ordered numbers.
fn check_kind(constraint: u32, kind: &str, ty: Type<'_>) -> Checked {
    check::kind(constraint, kind, KINDS)?;
    let element = ty.element_type();
    let bits = element.is_some_and(|e| e == ElementType::Bool || e.is_integer());
    let fits = match kind {
        "and" | "or" | "xor" => bits,
        "maxnum" => element.is_some_and(ElementType::is_float),
        "max" | "min" => element.is_some_and(|e| !e.is_complex() && !e.is_float8()),
        _ => element.is_some_and(|e| e != ElementType::Bool && !e.is_float8()),
    };
    ensure!(fits, constraint, "a reduction of kind `{kind}` of elements of type {}", ty.element());
    Ok(())
}

/// Combines all elements along `dims`, which the result does not have.
///
/// `sum` and `prod` start from 0 and 1, accumulate halves in `f32` and round once; `max` and `min` give NaN where an
/// element is NaN, and start from the least and the greatest element; `maxnum` is `max` of the floats that are numbers, and cheaper;
/// `and`, `or` and `xor` are logical on bool, else bitwise.
///
/// C1: `dims` are different dimensions in ascending order. C2: `kind` is one of the above and fits the element type. C3: the result has the
/// remaining dimensions. C4: element types agree.
#[op("prim.reduce", effects(Pure), interfaces(ResultSizes), verify)]
pub struct Reduce {
    x: Operand<AnyTensor>,
    result: Result<AnyTensor>,
    dims: Attr<I64s>,
    kind: Attr<Str>,
}

impl ResultSizes for Reduce<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        Some(sizes::without(0, self.x().ty().rank(), &self.dims()))
    }
}

impl Verify for Reduce<'_> {
    fn verify(self) -> Checked {
        let x = self.x().ty();
        let dims = check::dims(1, "dims", &self.dims(), x.rank())?;
        ensure!(dims.is_sorted(), 1, "`dims` are not in ascending order");
        check_kind(2, &self.kind(), x)?;
        check::result_sizes(3, self.op())?;
        check::same_elements(4, x, self.result().ty())
    }
}

/// Combines the elements of each segment of a dimension: `x` is `(b.., n, r..)`, the result `(b.., s, r..)`, and its element `(b.., k, r..)` is
/// that of `x` combined over the positions from `begins[b.., k]` up to and without `ends[b.., k]`, as `prim.reduce` combines. Segments follow each
/// other: none begins before the one before it ends. What is named outside of `x` is left out.
///
/// C1: `x` has the leading dimensions of `begins`. C2: `begins` and `ends` have one shape, of one dimension at least, and signed elements. C3: `kind` fits the element
/// type, as that of `prim.reduce`. C4: the result has the dimensions of `begins`, then those of `x` behind the one that is cut. C5: element
/// types agree.
#[op("prim.segment_reduce", effects(Pure), interfaces(ResultSizes, SizeConstraints), verify)]
pub struct SegmentReduce {
    x: Operand<AnyTensor>,
    begins: Operand<Integers>,
    ends: Operand<Integers>,
    result: Result<AnyTensor>,
    kind: Attr<Str>,
}

impl ResultSizes for SegmentReduce<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        Some(sizes::segments(self.x().ty().rank(), self.begins().ty().rank()))
    }
}

impl SizeConstraints for SegmentReduce<'_> {
    fn size_constraints(&self) -> Vec<Constraint> {
        let rank = self.begins().ty().rank();
        let mut constraints = sizes::equal(1, 2, (0..rank).map(|dim| (dim, dim)));
        constraints.extend(sizes::equal(0, 1, (0..rank.saturating_sub(1)).map(|dim| (dim, dim))));
        constraints
    }
}

impl Verify for SegmentReduce<'_> {
    fn verify(self) -> Checked {
        let (x, begins, ends) = (self.x().ty().shape(), self.begins().ty().shape(), self.ends().ty().shape());
        let leading = begins.len().saturating_sub(1);
        let leads = begins.len() <= x.len() && check::shapes_agree(&x[..leading], &begins[..leading]);
        ensure!(leads, 1, "x is {}, and its segments are {}", check::show(&x), check::show(&begins));
        let same = !begins.is_empty() && check::shapes_agree(&begins, &ends);
        ensure!(same, 2, "segments begin at {} and end at {}", check::show(&begins), check::show(&ends));
        for bounds in [self.begins().ty(), self.ends().ty()] {
            let signed = bounds.element_type().is_some_and(ElementType::is_signed);
            ensure!(signed, 2, "the positions of segments are signed, not {}", bounds.element());
        }
        check_kind(3, &self.kind(), self.x().ty())?;
        check::result_sizes(4, self.op())?;
        check::same_elements(5, self.x().ty(), self.result().ty())
    }
}

/// The position of the first largest (`max`) or smallest (`min`) element along `dim`; the first NaN wins.
///
/// C1: `dim` is a dimension. C2: `kind` is `max` or `min`. C3: the result has the remaining dimensions. C4: its elements
/// are `i64`.
#[op("prim.arg_reduce", effects(Pure), interfaces(ResultSizes, SizeConstraints), verify)]
pub struct ArgReduce {
    x: Operand<Reals>,
    result: Result<Integers>,
    dim: Attr<I64>,
    kind: Attr<Str>,
}

impl ResultSizes for ArgReduce<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        Some(sizes::without(0, self.x().ty().rank(), &[self.dim()]))
    }
}

impl SizeConstraints for ArgReduce<'_> {
    fn size_constraints(&self) -> Vec<Constraint> {
        usize::try_from(self.dim()).map(|dim| Constraint::AtMost(Size::Known(1), Size::Of(0, dim))).into_iter().collect()
    }
}

impl Verify for ArgReduce<'_> {
    fn verify(self) -> Checked {
        let x = self.x().ty();
        check::dim(1, self.dim(), x.rank())?;
        check::kind(2, &self.kind(), &["max", "min"])?;
        check::result_sizes(3, self.op())?;
        ensure!(self.result().ty().element_type() == Some(ElementType::I64), 4, "positions are i64");
        Ok(())
    }
}

/// The reductions of all prefixes along `dim`, the element itself included. Kinds are those of `prim.reduce`, and for floats `logaddexp`:
/// the logarithm of the sum of exponentials, `max(a, b) + log1p(exp(-|a - b|))` of two elements, which starts from `-inf`.
///
/// C1: `dim` is a dimension. C2: `kind` is known and fits the element type.
#[op("prim.scan", traits(SameOperandsAndResultType), effects(Pure), verify)]
pub struct Scan {
    x: Operand<AnyTensor>,
    result: Result<AnyTensor>,
    dim: Attr<I64>,
    kind: Attr<Str>,
}

impl Verify for Scan<'_> {
    fn verify(self) -> Checked {
        let x = self.x().ty();
        check::dim(1, self.dim(), x.rank())?;
        let kind = self.kind();
        if kind == LOGADDEXP && x.element_type().is_some_and(ElementType::is_float) {
            return Ok(());
        }
        check_kind(2, &kind, x)
    }
}
