//! `vector`: values of several lanes.

use super::ops;
use crate::ir::{Attr, Builder, Cx, Value};

ops! {
    /// The same bits as lanes of another type.
    cast Bitcast "vector.bitcast" bitcast(x);
    /// The same value in all lanes.
    cast Broadcast "vector.broadcast" broadcast(x);
    /// One lane.
    op Extract "vector.extract";
    /// `x * y + z`, rounded once.
    same Fma "vector.fma" fma(x, y, z);
    /// A vector with one lane replaced.
    op Insert "vector.insert";
    /// The lanes combined into one value.
    op Reduction "vector.reduction";
    /// The same lanes in another shape.
    cast ShapeCast "vector.shape_cast" shape_cast(x);
    /// Lanes of two vectors in an order given.
    op Shuffle "vector.shuffle";
    /// The numbers of the lanes.
    cast Step "vector.step" step();
}

/// How lanes are combined, under the name that the attribute `#vector.kind` has for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CombiningKind {
    /// Sum.
    Add,
    /// Product.
    Mul,
    /// The larger float; NaN if one is.
    MaximumF,
    /// The larger float; of a number and NaN the number.
    MaxNumF,
    /// The least number, or NaN if all are.
    MinNumF,
    /// The larger signed integer.
    MaxSI,
    /// The larger unsigned integer.
    MaxUI,
    /// The smaller float; NaN if one is.
    MinimumF,
    /// The smaller signed integer.
    MinSI,
    /// The smaller unsigned integer.
    MinUI,
    /// Bits that are set in all.
    And,
    /// Bits that are set in one.
    Or,
    /// Bits that are set in an odd number.
    Xor,
}

impl CombiningKind {
    /// As an attribute.
    pub fn attr(self, cx: Cx<'_>) -> Attr<'_> {
        let name = match self {
            Self::Add => "add",
            Self::Mul => "mul",
            Self::MaximumF => "maximumf",
            Self::MaxNumF => "maxnumf",
            Self::MinNumF => "minnumf",
            Self::MaxSI => "maxsi",
            Self::MaxUI => "maxui",
            Self::MinimumF => "minimumf",
            Self::MinSI => "minsi",
            Self::MinUI => "minui",
            Self::And => "and",
            Self::Or => "or",
            Self::Xor => "xor",
        };
        cx.parse_attr(&format!("#vector.kind<{name}>")).unwrap_or_else(|| unreachable!("upstream's spelling"))
    }
}

/// The lanes combined into one value.
pub fn reduction<'c>(b: &mut Builder<'c>, kind: CombiningKind, vector: Value<'c>) -> Value<'c> {
    let (ty, kind) = (vector.ty().element(), kind.attr(b.cx()));
    b.value(Reduction::NAME, &[vector], ty, &[("kind", kind)])
}

/// [`reduction`] in the order of a tree rather than from lane 0 on.
pub fn reduction_as_tree<'c>(b: &mut Builder<'c>, kind: CombiningKind, vector: Value<'c>) -> Value<'c> {
    let (cx, ty) = (b.cx(), vector.ty().element());
    let reassociate = cx.parse_attr("#arith.fastmath<reassoc>").unwrap_or_else(|| unreachable!("upstream's spelling"));
    b.value(Reduction::NAME, &[vector], ty, &[("kind", kind.attr(cx)), ("fastmath", reassociate)])
}

/// Lane `lane` of a vector; of one of vectors, the vector in this place.
pub fn extract<'c>(b: &mut Builder<'c>, vector: Value<'c>, lane: i64) -> Value<'c> {
    let (element, position) = (vector.ty().element(), b.cx().i64s_attr(&[lane]));
    let ty = match vector.ty().shape().as_slice() {
        [] | [_] => element,
        [_, rest @ ..] => b.cx().vector(rest, element),
    };
    b.value(Extract::NAME, &[vector], ty, &[("static_position", position)])
}

/// The vector with `value` in place of what [`extract`] takes.
pub fn insert<'c>(b: &mut Builder<'c>, value: Value<'c>, vector: Value<'c>, lane: i64) -> Value<'c> {
    let position = b.cx().i64s_attr(&[lane]);
    b.value(Insert::NAME, &[value, vector], vector.ty(), &[("static_position", position)])
}

/// Lanes of two vectors of one type: lane `i` of the result is lane `lanes[i]` of `x`, or of `y` from the number of lanes on.
pub fn shuffle<'c>(b: &mut Builder<'c>, x: Value<'c>, y: Value<'c>, lanes: impl IntoIterator<Item = i64>) -> Value<'c> {
    let lanes: Vec<_> = lanes.into_iter().collect();
    let ty = b.cx().vector(&[lanes.len() as i64], x.ty().element());
    let mask = b.cx().i64s_attr(&lanes);
    b.value(Shuffle::NAME, &[x, y], ty, &[("mask", mask)])
}
