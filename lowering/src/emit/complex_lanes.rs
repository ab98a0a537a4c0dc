//! Complex numbers in lanes: a vector of two rows, the real and the imaginary parts. In memory the parts of a number are neighbours, so a vector
//! of numbers comes as one of twice as many floats, whose even and odd lanes are its rows.
//!
//! Bodies have no other arithmetic of complex numbers in lanes than to make them, take them apart and choose between them: see
//! `--expand-complex`.

use super::memory;
use super::{Error, lanes};
use crate::num::Num;
use strata_core::ir::{Builder, Cx, ElementType, Op, Type, Value};
use strata_core::upstream::{arith, complex, vector};

/// The element type of the parts of a complex number.
pub(crate) fn part_of(element: ElementType) -> ElementType {
    if element == ElementType::C64 { ElementType::F32 } else { ElementType::F64 }
}

/// Whether lanes hold complex numbers.
pub(super) fn is_complex(value: Value<'_>) -> bool {
    value.ty().element_type().is_some_and(ElementType::is_complex) || value.ty().is_vector() && value.ty().shape().len() == 2
}

/// Whether an op has a form for lanes of complex numbers.
pub(crate) fn has_lanes(op: Op<'_>) -> bool {
    matches!(op.name(), complex::Create::NAME | complex::Re::NAME | complex::Im::NAME | complex::Constant::NAME)
}

/// The vector of two rows whose lanes are of this type.
pub(super) fn ty<'c>(cx: Cx<'c>, element: ElementType, width: i64) -> Type<'c> {
    cx.vector(&[2, width], cx.element(part_of(element)))
}

/// The real and the imaginary parts of all lanes.
pub(super) fn rows<'c>(b: &mut Builder<'c>, value: Value<'c>) -> [Value<'c>; 2] {
    [0, 1].map(|row| vector::extract(b, value, row))
}

/// The numbers with these parts.
pub(super) fn of_rows<'c>(b: &mut Builder<'c>, [real, imag]: [Value<'c>; 2]) -> Value<'c> {
    let ty = b.cx().vector(&[2, real.ty().shape()[0]], real.ty().element());
    let rows = vector::broadcast(b, real, ty);
    vector::insert(b, imag, rows, 1)
}

/// What a function of vectors makes of the rows of some values, row by row.
pub(super) fn by_rows<'c, const COUNT: usize>(
    b: &mut Builder<'c>,
    values: [Value<'c>; COUNT],
    mut of: impl FnMut(&mut Builder<'c>, [Value<'c>; COUNT]) -> Value<'c>,
) -> Value<'c> {
    let values = values.map(|value| rows(b, value));
    let made = [0, 1].map(|row| of(b, values.map(|rows| rows[row])));
    of_rows(b, made)
}

/// One number in all lanes.
pub(super) fn broadcast<'c>(b: &mut Builder<'c>, value: Value<'c>, width: i64) -> Value<'c> {
    let part = b.cx().element(part_of(value.ty().element_type().unwrap_or(ElementType::C64)));
    let parts = [complex::re(b, value, part), complex::im(b, value, part)];
    let rows = parts.map(|part| memory::broadcast(b, part, width));
    of_rows(b, rows)
}

/// An op on numbers in lanes.
pub(super) fn spread<'c>(b: &mut Builder<'c>, op: Op<'c>, operands: &[Value<'c>], width: i64) -> Result<Value<'c>, Error> {
    match (op.name(), operands) {
        (complex::Create::NAME, &[real, imag]) => {
            let parts = [real, imag].map(|part| lanes::in_lanes(b, part, width));
            Ok(of_rows(b, parts))
        }
        (complex::Re::NAME, &[value]) => Ok(rows(b, value)[0]),
        (complex::Im::NAME, &[value]) => Ok(rows(b, value)[1]),
        (arith::Select::NAME, &[condition, value, other]) => Ok(select(b, condition, value, other, width)),
        _ => Err(Error::at(op, "it has no form for lanes of complex numbers")),
    }
}

/// Numbers where a condition holds and others elsewhere; what is the same in all lanes may be a scalar.
pub(super) fn select<'c>(b: &mut Builder<'c>, condition: Value<'c>, value: Value<'c>, other: Value<'c>, width: i64) -> Value<'c> {
    let [value, other] = [value, other].map(|value| lanes::in_lanes(b, value, width));
    by_rows(b, [value, other], |b, [value, other]| arith::select(b, condition, value, other))
}

/// `x + y`, or `x * y`.
pub(super) fn combine<'c>(b: &mut Builder<'c>, name: &str, x: Value<'c>, y: Value<'c>) -> Value<'c> {
    if name == complex::Add::NAME {
        return by_rows(b, [x, y], |b, [x, y]| arith::addf(b, x, y));
    }
    let (x, y) = (rows(b, x), rows(b, y));
    let [reals, imags, outer, inner] = [(0, 0), (1, 1), (0, 1), (1, 0)].map(|(i, j)| arith::mulf(b, x[i], y[j]));
    let parts = [arith::subf(b, reals, imags), arith::addf(b, outer, inner)];
    of_rows(b, parts)
}

/// All lanes combined in pairs, as a complex scalar.
pub(super) fn across<'c>(b: &mut Builder<'c>, name: &str, mut value: Value<'c>, element: ElementType) -> Value<'c> {
    let mut width = value.ty().shape()[1];
    while width > 1 {
        let halves = [0, width / 2].map(|from| by_rows(b, [value], |b, [row]| vector::shuffle(b, row, row, from..from + width / 2)));
        value = combine(b, name, halves[0], halves[1]);
        width /= 2;
    }
    let parts = rows(b, value).map(|row| vector::extract(b, row, 0));
    let ty = b.cx().element(element);
    complex::create(b, parts[0], parts[1], ty)
}

/// `width` numbers in a row; with a mask, lanes that are off are zero.
pub(super) fn load_vector<'c>(
    b: &mut Builder<'c>,
    base: Value<'c>,
    index: Num<'c>,
    element: ElementType,
    width: i64,
    mask: Option<Value<'c>>,
) -> Value<'c> {
    let (index, mask) = (index.mul(b, Num::Const(2)), mask.map(|mask| twice(b, mask)));
    let parts = memory::load_vector(b, base, index, part_of(element), 2 * width, mask);
    apart(b, parts)
}

/// Stores `width` numbers in a row.
pub(super) fn store_vector<'c>(
    b: &mut Builder<'c>,
    base: Value<'c>,
    index: Num<'c>,
    value: Value<'c>,
    element: ElementType,
    mask: Option<Value<'c>>,
) {
    let (index, mask) = (index.mul(b, Num::Const(2)), mask.map(|mask| twice(b, mask)));
    let parts = together(b, value);
    memory::store_vector(b, base, index, parts, part_of(element), mask);
}

/// Numbers at a vector of indices.
pub(super) fn gather<'c>(
    b: &mut Builder<'c>,
    base: Value<'c>,
    indices: Value<'c>,
    element: ElementType,
    mask: Option<Value<'c>>,
) -> Value<'c> {
    let rows = places(b, indices).map(|places| memory::gather(b, base, places, part_of(element), mask));
    of_rows(b, rows)
}

/// Stores at a vector of indices.
pub(super) fn scatter<'c>(
    b: &mut Builder<'c>,
    base: Value<'c>,
    indices: Value<'c>,
    value: Value<'c>,
    element: ElementType,
    mask: Option<Value<'c>>,
) {
    let (places, rows) = (places(b, indices), rows(b, value));
    places.into_iter().zip(rows).for_each(|(places, row)| memory::scatter(b, base, places, row, part_of(element), mask));
}

/// Complex numbers of 64 bits as one word each; other lanes stay as they are.
pub(super) fn as_words<'c>(b: &mut Builder<'c>, value: Value<'c>) -> Value<'c> {
    if !is_complex(value) {
        return value;
    }
    let words = b.cx().vector(&value.ty().shape()[1..], b.cx().f64());
    let parts = together(b, value);
    vector::bitcast(b, parts, words)
}

/// Complex numbers of 64 bits from one word each.
pub(super) fn of_words<'c>(b: &mut Builder<'c>, words: Value<'c>) -> Value<'c> {
    let floats = b.cx().vector(&[2 * words.ty().shape()[0]], b.cx().f32());
    let parts = vector::bitcast(b, words, floats);
    apart(b, parts)
}

/// The floats of numbers as they lie in memory.
fn together<'c>(b: &mut Builder<'c>, value: Value<'c>) -> Value<'c> {
    let width = value.ty().shape()[1];
    let [real, imag] = rows(b, value);
    vector::shuffle(b, real, imag, (0..2 * width).map(|lane| lane / 2 + lane % 2 * width))
}

/// Numbers of floats that lie as they do in memory.
fn apart<'c>(b: &mut Builder<'c>, parts: Value<'c>) -> Value<'c> {
    let width = parts.ty().shape()[0] / 2;
    let rows = [0, 1].map(|row| vector::shuffle(b, parts, parts, (0..width).map(|lane| 2 * lane + row)));
    of_rows(b, rows)
}

/// Where the real and the imaginary parts lie, in floats.
fn places<'c>(b: &mut Builder<'c>, indices: Value<'c>) -> [Value<'c>; 2] {
    let width = indices.ty().shape()[0];
    let [one, two] = [1, 2].map(|number| {
        let number = b.const_index(number);
        memory::broadcast(b, number, width)
    });
    let real = arith::muli(b, indices, two);
    [real, arith::addi(b, real, one)]
}

/// Each lane of a mask twice.
fn twice<'c>(b: &mut Builder<'c>, mask: Value<'c>) -> Value<'c> {
    let width = mask.ty().shape()[0];
    vector::shuffle(b, mask, mask, (0..2 * width).map(|lane| lane / 2))
}
