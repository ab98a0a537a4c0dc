//! Random numbers as integer arithmetic: the generator Philox 4x32-10, whose number `n` is a function of the seed and n.

use strata_core::ir::{AffineExpr, Builder, ElementType, Op, OpSpec, Value};
use strata_core::upstream::{arith, math};

use super::Error;
use super::kernel::Kernel;
use super::stage::Stage;
use strata_dialects::prim::scalar;

/// Multipliers of the two halves of the state.
const MULTIPLIERS: [i64; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// What each round adds to the key.
const STEPS: [i64; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: usize = 10;

/// The element of `prim.rng` at some indices.
pub(super) fn element<'c>(
    k: &mut Kernel<'c>,
    stage: &mut Stage<'c>,
    op: Op<'c>,
    indices: &[AffineExpr<'c>],
    to: ElementType,
) -> Result<Value<'c>, Error> {
    let seed = k.element(stage, op.operand(0), &[])?;
    let offset = k.element(stage, op.operand(1), &[])?;
    let mut place = k.cx().constant(0);
    for (dim, &index) in indices.iter().enumerate() {
        let size = k.size(op.result(0), dim)?;
        place = place * k.size_expr(size) + index;
    }
    let place = stage.index(k, place);
    let place = scalar::convert(&mut stage.b, place, ElementType::Index, ElementType::I64);
    let mut words = Words { b: &mut stage.b };
    let number = words.op(arith::AddI::NAME, place, offset);
    let random = words.philox(seed, number);
    words.shaped(op, random, to)
}

/// 32-bit words in 64-bit registers.
struct Words<'a, 'c> {
    b: &'a mut Builder<'c>,
}

impl<'c> Words<'_, 'c> {
    fn op(&mut self, name: &str, x: Value<'c>, y: Value<'c>) -> Value<'c> {
        self.b.value(name, &[x, y], x.ty(), &[])
    }

    fn constant(&mut self, value: i64) -> Value<'c> {
        let ty = self.b.cx().int(64);
        self.b.const_int(ty, value)
    }

    fn low(&mut self, x: Value<'c>) -> Value<'c> {
        let mask = self.constant(0xFFFF_FFFF);
        self.op(arith::AndI::NAME, x, mask)
    }

    fn shifted(&mut self, x: Value<'c>, by: i64) -> Value<'c> {
        let by = self.constant(by);
        self.op(arith::ShRUI::NAME, x, by)
    }

    /// Four words: the permutation of the number, in ten rounds with keys from the seed.
    fn philox(&mut self, seed: Value<'c>, number: Value<'c>) -> [Value<'c>; 4] {
        let zero = self.constant(0);
        let mut state = [self.low(number), self.shifted(number, 32), zero, zero];
        let mut key = [self.low(seed), self.shifted(seed, 32)];
        for round in 0..ROUNDS {
            if round > 0 {
                for half in 0..2 {
                    let step = self.constant(STEPS[half]);
                    let sum = self.op(arith::AddI::NAME, key[half], step);
                    key[half] = self.low(sum);
                }
            }
            let [a, b] = [0, 1].map(|half| {
                let multiplier = self.constant(MULTIPLIERS[half]);
                self.op(arith::MulI::NAME, state[2 * half], multiplier)
            });
            let mixed = |words: &mut Self, product: Value<'c>, word: Value<'c>, key: Value<'c>| {
                let high = words.shifted(product, 32);
                let high = words.op(arith::XOrI::NAME, high, word);
                words.op(arith::XOrI::NAME, high, key)
            };
            state = [mixed(self, b, state[1], key[0]), self.low(b), mixed(self, a, state[3], key[1]), self.low(a)];
        }
        state
    }

    /// The number of the wanted kind and type.
    fn shaped(&mut self, op: Op<'c>, words: [Value<'c>; 4], to: ElementType) -> Result<Value<'c>, Error> {
        let by = self.constant(32);
        let high = self.op(arith::ShLI::NAME, words[1], by);
        let bits = self.op(arith::OrI::NAME, high, words[0]);
        match op.str("kind").as_deref() {
            Some("bits") => Ok(scalar::convert(self.b, bits, ElementType::I64, to)),
            Some("uniform") => {
                // As many bits as the type has digits, so that no rounding gives one.
                let digits = match to {
                    ElementType::F64 => 53,
                    ElementType::F16 => 11,
                    ElementType::BF16 => 8,
                    _ => 24,
                };
                let wide = if to == ElementType::F64 { ElementType::F64 } else { ElementType::F32 };
                let kept = if digits > 32 { self.shifted(bits, 64 - digits) } else { self.shifted(words[0], 32 - digits) };
                let value = self.scaled(kept, -digits, wide);
                Ok(scalar::convert(self.b, value, wide, to))
            }
            Some("normal") => {
                let wide = if to == ElementType::F64 { ElementType::F64 } else { ElementType::F32 };
                // Box and Muller: a length from a number in (0, 1], a direction from one in [0, 1).
                let one = self.constant(1);
                let first = self.op(arith::AddI::NAME, words[0], one);
                let (first, second) = (self.scaled(first, -32, wide), self.scaled(words[1], -32, wide));
                let log = math::log(self.b, first);
                let (two, turn) = (self.float(-2.0, wide), self.float(std::f64::consts::TAU, wide));
                let square = self.op(arith::MulF::NAME, log, two);
                let length = math::sqrt(self.b, square);
                let angle = self.op(arith::MulF::NAME, second, turn);
                let direction = math::cos(self.b, angle);
                let value = self.op(arith::MulF::NAME, length, direction);
                Ok(scalar::convert(self.b, value, wide, to))
            }
            _ => Err(Error::at(op, "its kind is not known")),
        }
    }

    fn float(&mut self, value: f64, element: ElementType) -> Value<'c> {
        let cx = self.b.cx();
        let ty = cx.element(element);
        let attr = cx.float_attr(ty, value);
        let op = self.b.op(OpSpec { name: arith::Constant::NAME, results: &[ty], attrs: &[("value", attr)], ..OpSpec::default() });
        op.result(0)
    }

    /// A word times a power of two.
    fn scaled(&mut self, word: Value<'c>, exponent: i64, element: ElementType) -> Value<'c> {
        let value = scalar::convert(self.b, word, ElementType::I64, element);
        let scale = self.float(2f64.powi(exponent as i32), element);
        self.op(arith::MulF::NAME, value, scale)
    }
}
