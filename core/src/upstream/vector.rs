//! `vector`: values of several lanes.

use super::ops;
use crate::ir::{Builder, Type, Value};

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

/// Lane `lane` of a vector.
pub fn extract<'c>(b: &mut Builder<'c>, vector: Value<'c>, lane: i64) -> Value<'c> {
    let (ty, position) = (vector.ty().element(), b.cx().i64s_attr(&[lane]));
    b.value(Extract::NAME, &[vector], ty, &[("static_position", position)])
}

/// The vector with `value` as lane `lane`.
pub fn insert<'c>(b: &mut Builder<'c>, value: Value<'c>, vector: Value<'c>, lane: i64) -> Value<'c> {
    let position = b.cx().i64s_attr(&[lane]);
    b.value(Insert::NAME, &[value, vector], vector.ty(), &[("static_position", position)])
}

/// Lanes of two vectors of one type: lane `i` of the result is lane `lanes[i]` of `x`, or of `y` from the number of lanes on.
pub fn shuffle<'c>(b: &mut Builder<'c>, x: Value<'c>, y: Value<'c>, lanes: &[i64], ty: Type<'c>) -> Value<'c> {
    let mask = b.cx().i64s_attr(lanes);
    b.value(Shuffle::NAME, &[x, y], ty, &[("mask", mask)])
}
