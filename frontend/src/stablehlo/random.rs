//! `rng_bit_generator`: Threefry-2x32-20 and Philox4x32-10 of Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (2011). StableHLO
//! leaves the order of the numbers to its implementations; it is XLA's here, so that a program draws what it draws under JAX.

use strata_core::ir::{self, ElementType, Op};
use strata_dialects::aten::{Operator, op};

use super::attributes::{text, word};
use super::bits;
use super::importer::{self, Importer, dtype};
use super::operators::Made;
use crate::args::{d, i, is, s, t, ts};

/// By how many bits each of four rounds of Threefry turns a word, in turns.
const ROTATIONS: [[i64; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
/// What Threefry joins with the words of its key for a third one.
const PARITY: i64 = 0x1BD1_1BDA;
/// The multipliers of Philox.
const MULTIPLIERS: [i64; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// What Philox adds to its key from round to round: the golden ratio, and the square root of three less one, in units of 2^-32.
const WEYL: [i64; 2] = [0x9E37_79B9, 0xBB67_AE85];
const PHILOX_ROUNDS: i64 = 10;

/// Random bits, and the state that follows: the key as it was, and a counter that has advanced by the blocks that were drawn.
pub(super) fn bit_generator<'s, 'c>(m: &mut Importer<'_, 's, 'c>, op: Op<'s>, state: ir::Value<'c>) -> Result<Vec<ir::Value<'c>>, String> {
    let result = importer::result(m.cx, op, 1)?;
    let kind = result.element_type().ok_or("it has no element type")?;
    let words = state.ty().shape();
    if dtype(state) != ElementType::U64 || !matches!(words[..], [2 | 3]) {
        return Err(format!("its state {} is none of two or three ui64", state.ty()));
    }
    let key = word_at(m, state, 0)?;
    let (bits, next) = match word(op, "rng_algorithm", &["DEFAULT", "PHILOX", "THREE_FRY"]) {
        Some("THREE_FRY") if words[0] == 2 => {
            let counter = word_at(m, state, 1)?;
            let (bits, next) = threefry(m, key, counter, &result.shape(), kind.bytes())?;
            (bits, vec![next])
        }
        Some("THREE_FRY") => return Err("its state of three words is none of Threefry's".to_owned()),
        Some(_) => {
            // The counter has 128 bits. Where the state has two words the key is its upper half, which the next call begins with again.
            let low = word_at(m, state, 1)?;
            let high = if words[0] == 3 { word_at(m, state, 2)? } else { key };
            let (bits, mut next) = philox(m, key, [low, high], &result.shape(), kind.bytes())?;
            next.truncate(words[0] as usize - 1);
            (bits, next)
        }
        None => return Err(format!("its rng_algorithm {} is not known", text(op, "rng_algorithm"))),
    };
    let mut state = vec![key];
    state.extend(next);
    let state = state.into_iter().map(|word| m.emit(op::RESHAPE, &[t(word), is(&[1])])).collect::<Result<Vec<_>, _>>()?;
    Ok(vec![m.emit(op::CAT, &[ts(&state), i(0)])?, as_kind(m, bits, kind)?])
}

/// One of the words of a state.
fn word_at<'c>(m: &mut Importer<'_, '_, 'c>, state: ir::Value<'c>, place: i64) -> Made<'c> {
    m.emit(op::SELECT_INT, &[t(state), i(0), i(place)])
}

/// Bits as numbers of a type: smaller ones are the lower bits of 32.
fn as_kind<'c>(m: &mut Importer<'_, '_, 'c>, bits: ir::Value<'c>, kind: ElementType) -> Made<'c> {
    let plain = bits::integers(kind.bytes(), false)?;
    let narrow = m.emit(op::TO_DTYPE, &[t(bits), d(plain)])?;
    m.emit(op::VIEW_DTYPE, &[t(narrow), d(kind)])
}

/// Threefry's numbers of a shape, and the counter behind them. A block gives two words: they are one number of 64 bits, or one of each half of
/// the numbers along the first dimension of an even size.
fn threefry<'c>(
    m: &mut Importer<'_, '_, 'c>,
    key: ir::Value<'c>,
    counter: ir::Value<'c>,
    shape: &[i64],
    bytes: usize,
) -> Result<(ir::Value<'c>, ir::Value<'c>), String> {
    let dim = split_dim(shape);
    let mut half = shape.to_vec();
    if let (Some(dim), true) = (dim, bytes < 8) {
        half[dim] = (half[dim] + 1) / 2;
    }
    let blocks = half.iter().product::<i64>();
    let places = counted(m, counter, blocks)?;
    let places = m.emit(op::RESHAPE, &[t(places), is(&half)])?;
    let (key, mut x) = (halves(m, key)?, halves(m, places)?);
    let third = binary(m, op::BITWISE_XOR_TENSOR, key[0], key[1])?;
    let third = xor_number(m, third, PARITY)?;
    let keys = [key[0], key[1], third];
    x = [binary(m, op::ADD_TENSOR, x[0], keys[0])?, binary(m, op::ADD_TENSOR, x[1], keys[1])?];
    for group in 1..=5 {
        for turn in ROTATIONS[(group + 1) % 2] {
            x[0] = binary(m, op::ADD_TENSOR, x[0], x[1])?;
            let turned = rotated(m, x[1], turn)?;
            x[1] = binary(m, op::BITWISE_XOR_TENSOR, x[0], turned)?;
        }
        x[0] = binary(m, op::ADD_TENSOR, x[0], keys[group % 3])?;
        let injected = add_number(m, keys[(group + 1) % 3], group as i64)?;
        x[1] = binary(m, op::ADD_TENSOR, x[1], injected)?;
    }
    let next = add_number(m, counter, blocks)?;
    if bytes == 8 {
        return Ok((joined(m, x)?, next));
    }
    let Some(dim) = dim else { return Ok((x[0], next)) };
    // Words of a block are neighbours; the last one is left out of an odd size.
    let mut even = shape.to_vec();
    even[dim] = 2 * half[dim];
    let pairs = m.emit(op::STACK, &[ts(&x), i(dim as i64 + 1)])?;
    let line = m.emit(op::RESHAPE, &[t(pairs), is(&even)])?;
    Ok((m.emit(op::SLICE_TENSOR, &[t(line), i(dim as i64), i(0), i(shape[dim]), i(1)])?, next))
}

/// The first dimension of an even size, else the first of the largest.
fn split_dim(shape: &[i64]) -> Option<usize> {
    let even = shape.iter().position(|size| size % 2 == 0);
    even.or_else(|| shape.iter().position(|size| Some(size) == shape.iter().max()))
}

/// Philox's numbers of a shape, and the counter behind them. A block gives four words, which are its numbers in order.
fn philox<'c>(
    m: &mut Importer<'_, '_, 'c>,
    key: ir::Value<'c>,
    counter: [ir::Value<'c>; 2],
    shape: &[i64],
    bytes: usize,
) -> Result<(ir::Value<'c>, Vec<ir::Value<'c>>), String> {
    let count = shape.iter().product::<i64>();
    let words = if bytes == 8 { 2 * count } else { count };
    let blocks = (words + 3) / 4;
    let [low, high] = counter;
    let line = counted(m, low, blocks)?;
    let carried = carry(m, line, low, high)?;
    let carried = m.emit(op::EXPAND, &[t(carried), is(&[blocks])])?;
    let ([mut a, mut b], [mut c, mut e]) = (halves(m, line)?, halves(m, carried)?);
    let mut key = halves(m, key)?;
    for round in 0..PHILOX_ROUNDS {
        if round > 0 {
            key = [add_number(m, key[0], WEYL[0])?, add_number(m, key[1], WEYL[1])?];
        }
        let ([low_a, high_a], [low_c, high_c]) = (product(m, a, MULTIPLIERS[0])?, product(m, c, MULTIPLIERS[1])?);
        let first = binary(m, op::BITWISE_XOR_TENSOR, high_c, b)?;
        let third = binary(m, op::BITWISE_XOR_TENSOR, high_a, e)?;
        (a, b) = (binary(m, op::BITWISE_XOR_TENSOR, first, key[0])?, low_c);
        (c, e) = (binary(m, op::BITWISE_XOR_TENSOR, third, key[1])?, low_a);
    }
    let numbers = if bytes == 8 { vec![joined(m, [a, b])?, joined(m, [c, e])?] } else { vec![a, b, c, e] };
    let blocked = m.emit(op::STACK, &[ts(&numbers), i(1)])?;
    let line = m.emit(op::RESHAPE, &[t(blocked), is(&[-1])])?;
    let line = m.emit(op::SLICE_TENSOR, &[t(line), i(0), i(0), i(count), i(1)])?;
    let low_next = add_number(m, low, blocks)?;
    let high_next = carry(m, low_next, low, high)?;
    Ok((m.emit(op::RESHAPE, &[t(line), is(shape)])?, vec![low_next, high_next]))
}

/// The upper half of a counter whose lower half was `before` and is `low`.
fn carry<'c>(m: &mut Importer<'_, '_, 'c>, low: ir::Value<'c>, before: ir::Value<'c>, high: ir::Value<'c>) -> Made<'c> {
    let over = binary(m, op::LT_TENSOR, low, before)?;
    let over = m.emit(op::TO_DTYPE, &[t(over), d(ElementType::U64)])?;
    binary(m, op::ADD_TENSOR, high, over)
}

/// A counter and those that follow it.
fn counted<'c>(m: &mut Importer<'_, '_, 'c>, counter: ir::Value<'c>, count: i64) -> Made<'c> {
    let line = m.emit(op::ARANGE_START_STEP, &[s(0), s(count), s(1), d(ElementType::U64)])?;
    binary(m, op::ADD_TENSOR, line, counter)
}

/// The lower and the upper word of 64 bits.
fn halves<'c>(m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>) -> Result<[ir::Value<'c>; 2], String> {
    let low = m.emit(op::TO_DTYPE, &[t(x), d(ElementType::U32)])?;
    let high = m.emit(op::BITWISE_RIGHT_SHIFT_TENSOR_SCALAR, &[t(x), s(32)])?;
    Ok([low, m.emit(op::TO_DTYPE, &[t(high), d(ElementType::U32)])?])
}

/// 64 bits of a lower and an upper word.
fn joined<'c>(m: &mut Importer<'_, '_, 'c>, [low, high]: [ir::Value<'c>; 2]) -> Made<'c> {
    let low = m.emit(op::TO_DTYPE, &[t(low), d(ElementType::U64)])?;
    let high = m.emit(op::TO_DTYPE, &[t(high), d(ElementType::U64)])?;
    let high = m.emit(op::BITWISE_LEFT_SHIFT_TENSOR_SCALAR, &[t(high), s(32)])?;
    binary(m, op::BITWISE_OR_TENSOR, low, high)
}

/// The lower and the upper word of a product.
fn product<'c>(m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>, by: i64) -> Result<[ir::Value<'c>; 2], String> {
    let wide = m.emit(op::TO_DTYPE, &[t(x), d(ElementType::U64)])?;
    let product = m.emit(op::MUL_SCALAR, &[t(wide), s(by)])?;
    halves(m, product)
}

/// The bits of words of 32, turned to the left.
fn rotated<'c>(m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>, by: i64) -> Made<'c> {
    let left = m.emit(op::BITWISE_LEFT_SHIFT_TENSOR_SCALAR, &[t(x), s(by)])?;
    let right = m.emit(op::BITWISE_RIGHT_SHIFT_TENSOR_SCALAR, &[t(x), s(32 - by)])?;
    binary(m, op::BITWISE_OR_TENSOR, left, right)
}

fn binary<'c>(m: &mut Importer<'_, '_, 'c>, operator: Operator, x: ir::Value<'c>, y: ir::Value<'c>) -> Made<'c> {
    m.emit(operator, &[t(x), t(y)])
}

fn add_number<'c>(m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>, number: i64) -> Made<'c> {
    m.emit(op::ADD_SCALAR, &[t(x), s(number)])
}

fn xor_number<'c>(m: &mut Importer<'_, '_, 'c>, x: ir::Value<'c>, number: i64) -> Made<'c> {
    m.emit(op::BITWISE_XOR_SCALAR, &[t(x), s(number)])
}
