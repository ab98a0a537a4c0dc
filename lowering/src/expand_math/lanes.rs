//! A notation for lane-wise code: `x.fma(LOG2E, y) - 1.0` builds the ops, on a scalar or on a vector of f32 or f64.

use super::with_element;
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};
use strata_core::ir::{Attr, Builder, Cx, ElementType, Type, Value};
use strata_core::upstream::arith::{self, CmpFPredicate, CmpIPredicate};
use strata_core::upstream::{llvm, math};

/// Where the ops go, and the type of all values.
pub(super) struct Lanes<'b, 'c> {
    builder: RefCell<&'b mut Builder<'c>>,
    float: Type<'c>,
    int: Type<'c>,
    mask: Type<'c>,
    /// Whether the registers are those of AVX-512, so that 2^n scales in one instruction.
    scalef: bool,
}

/// A float in each lane.
#[derive(Clone, Copy)]
pub(super) struct Float<'a, 'b, 'c> {
    pub lanes: &'a Lanes<'b, 'c>,
    pub value: Value<'c>,
}

/// A signed integer as wide as the floats in each lane.
#[derive(Clone, Copy)]
pub(super) struct Int<'a, 'b, 'c> {
    lanes: &'a Lanes<'b, 'c>,
    value: Value<'c>,
}

/// A bit in each lane.
#[derive(Clone, Copy)]
pub(super) struct Mask<'a, 'b, 'c> {
    pub lanes: &'a Lanes<'b, 'c>,
    pub value: Value<'c>,
}

/// A float or a constant.
pub(super) trait Operand<'a, 'b, 'c> {
    fn float(self, lanes: &'a Lanes<'b, 'c>) -> Float<'a, 'b, 'c>;
}

impl<'a, 'b, 'c> Operand<'a, 'b, 'c> for Float<'a, 'b, 'c> {
    fn float(self, _: &'a Lanes<'b, 'c>) -> Float<'a, 'b, 'c> {
        self
    }
}

impl<'a, 'b, 'c> Operand<'a, 'b, 'c> for f64 {
    fn float(self, lanes: &'a Lanes<'b, 'c>) -> Float<'a, 'b, 'c> {
        let bytes = if lanes.is_f32() { (self as f32).to_le_bytes().to_vec() } else { self.to_le_bytes().to_vec() };
        let attr = |cx: Cx<'c>| cx.float_attr(lanes.float.element(), self);
        Float { lanes, value: lanes.constant(lanes.float, &bytes, attr) }
    }
}

impl<'b, 'c> Lanes<'b, 'c> {
    pub(super) fn new(builder: &'b mut Builder<'c>, float: Type<'c>, scalef: bool) -> Self {
        let cx = builder.cx();
        let bits = float.element_type().map_or(32, ElementType::bits);
        let register = float.shape().first().is_some_and(|&lanes| matches!(lanes * i64::from(bits), 128 | 256 | 512));
        let int = with_element(float, cx.int(bits));
        Self { builder: RefCell::new(builder), float, int, mask: with_element(float, cx.int(1)), scalef: scalef && register }
    }

    /// The same lanes for ops that go elsewhere.
    pub(super) fn like<'d>(&self, builder: &'d mut Builder<'c>) -> Lanes<'d, 'c> {
        let Self { float, int, mask, scalef, .. } = *self;
        Lanes { builder: RefCell::new(builder), float, int, mask, scalef }
    }

    /// What is built with the builder itself.
    pub(super) fn build<R>(&self, build: impl FnOnce(&mut Builder<'c>) -> R) -> R {
        build(&mut self.builder.borrow_mut())
    }

    /// What `f` makes of some numbers, with its ops where a builder stands.
    pub(super) fn inner<const N: usize>(
        &self,
        builder: &mut Builder<'c>,
        numbers: [Value<'c>; N],
        f: impl for<'x, 'y> FnOnce([Float<'x, 'y, 'c>; N]) -> Float<'x, 'y, 'c>,
    ) -> Value<'c> {
        let lanes = self.like(builder);
        f(numbers.map(|number| lanes.float(number))).value
    }

    /// The type of the floats.
    pub(super) fn ty(&self) -> Type<'c> {
        self.float
    }

    /// Whether there is more than one.
    pub(super) fn is_vector(&self) -> bool {
        self.float.is_vector()
    }

    /// Whether an instruction multiplies by a power of two.
    pub(super) fn has_scalef(&self) -> bool {
        self.scalef
    }

    /// Whether the floats are f32 (f64 otherwise).
    pub(super) fn is_f32(&self) -> bool {
        self.float.element_type() == Some(ElementType::F32)
    }

    pub(super) fn float<'a>(&'a self, value: Value<'c>) -> Float<'a, 'b, 'c> {
        Float { lanes: self, value }
    }

    /// Signed integers as wide as the floats.
    pub(super) fn integer<'a>(&'a self, value: Value<'c>) -> Int<'a, 'b, 'c> {
        Int { lanes: self, value }
    }

    fn op(&self, name: &str, operands: &[Value<'c>], result: Type<'c>, attrs: &[(&str, Attr<'c>)]) -> Value<'c> {
        self.builder.borrow_mut().value(name, operands, result, attrs)
    }

    fn cx(&self) -> Cx<'c> {
        self.float.cx()
    }

    fn constant(&self, ty: Type<'c>, bytes: &[u8], scalar: impl Fn(Cx<'c>) -> Attr<'c>) -> Value<'c> {
        let splat = if ty.is_vector() { self.cx().dense_attr(ty, bytes) } else { None };
        self.op(arith::Constant::NAME, &[], ty, &[("value", splat.unwrap_or_else(|| scalar(self.cx())))])
    }

    fn int<'a>(&'a self, number: i64) -> Int<'a, 'b, 'c> {
        let bytes = number.to_le_bytes();
        let bytes = if self.is_f32() { &bytes[..4] } else { &bytes };
        Int { lanes: self, value: self.constant(self.int, bytes, |cx| cx.int_attr(self.int.element(), number)) }
    }
}

impl<'a, 'b, 'c> Float<'a, 'b, 'c> {
    pub(super) fn binary(self, name: &str, other: impl Operand<'a, 'b, 'c>) -> Self {
        let other = other.float(self.lanes);
        Self { value: self.lanes.op(name, &[self.value, other.value], self.lanes.float, &[]), ..self }
    }

    pub(super) fn unary(self, name: &str) -> Self {
        Self { value: self.lanes.op(name, &[self.value], self.lanes.float, &[]), ..self }
    }

    /// `self * by + plus`, rounded once.
    pub(super) fn fma(self, by: impl Operand<'a, 'b, 'c>, plus: impl Operand<'a, 'b, 'c>) -> Self {
        let (by, plus) = (by.float(self.lanes), plus.float(self.lanes));
        Self { value: self.lanes.op(math::Fma::NAME, &[self.value, by.value, plus.value], self.lanes.float, &[]), ..self }
    }

    /// The polynomial with these coefficients, lowest first.
    pub(super) fn polynomial(self, coefficients: &[f64]) -> Self {
        let mut rest = coefficients.iter().rev();
        let first = rest.next().copied().unwrap_or(0.0).float(self.lanes);
        rest.fold(first, |sum, &coefficient| sum.fma(self, coefficient))
    }

    /// The same in two chains, of even and of odd powers, which do not wait for each other.
    pub(super) fn polynomial_in_two(self, coefficients: &[f64]) -> Self {
        let square = self * self;
        let [even, odd] = [0, 1].map(|from| coefficients.iter().skip(from).step_by(2).copied().collect::<Vec<_>>());
        square.polynomial(&odd).fma(self, square.polynomial(&even))
    }

    pub(super) fn is_f32(self) -> bool {
        self.lanes.is_f32()
    }

    /// A constant of the same type.
    pub(super) fn constant(self, number: f64) -> Self {
        number.float(self.lanes)
    }

    pub(super) fn abs(self) -> Self {
        self.unary(math::AbsF::NAME)
    }

    pub(super) fn floor(self) -> Self {
        self.unary(math::Floor::NAME)
    }

    pub(super) fn sqrt(self) -> Self {
        self.unary(math::Sqrt::NAME)
    }

    /// Whether it is no number.
    pub(super) fn is_nan(self) -> Mask<'a, 'b, 'c> {
        self.not_within(f64::INFINITY)
    }

    /// The magnitude of `self` with the sign of `other`.
    pub(super) fn with_sign_of(self, other: Self) -> Self {
        self.binary(math::CopySign::NAME, other)
    }

    fn compare(self, predicate: CmpFPredicate, other: impl Operand<'a, 'b, 'c>) -> Mask<'a, 'b, 'c> {
        let other = other.float(self.lanes);
        let value = arith::cmpf(&mut self.lanes.builder.borrow_mut(), predicate, self.value, other.value);
        Mask { lanes: self.lanes, value }
    }

    pub(super) fn equals(self, other: impl Operand<'a, 'b, 'c>) -> Mask<'a, 'b, 'c> {
        self.compare(CmpFPredicate::Oeq, other)
    }

    pub(super) fn above(self, other: impl Operand<'a, 'b, 'c>) -> Mask<'a, 'b, 'c> {
        self.compare(CmpFPredicate::Ogt, other)
    }

    pub(super) fn below(self, other: impl Operand<'a, 'b, 'c>) -> Mask<'a, 'b, 'c> {
        self.compare(CmpFPredicate::Olt, other)
    }

    /// At most `other`.
    pub(super) fn at_or_below(self, other: impl Operand<'a, 'b, 'c>) -> Mask<'a, 'b, 'c> {
        self.compare(CmpFPredicate::Ole, other)
    }

    /// Not at most `other`: larger, or not a number.
    pub(super) fn not_within(self, other: impl Operand<'a, 'b, 'c>) -> Mask<'a, 'b, 'c> {
        self.compare(CmpFPredicate::Ugt, other)
    }

    /// The larger of the number and a constant; NaN stays.
    pub(super) fn at_least(self, low: f64) -> Self {
        let low = low.float(self.lanes);
        low.above(self).select(low, self)
    }

    /// The smaller of the number and a constant; NaN stays.
    pub(super) fn at_most(self, high: f64) -> Self {
        let high = high.float(self.lanes);
        high.below(self).select(high, self)
    }

    pub(super) fn bits(self) -> Int<'a, 'b, 'c> {
        Int { lanes: self.lanes, value: self.lanes.op(arith::Bitcast::NAME, &[self.value], self.lanes.int, &[]) }
    }

    /// The sign bit alone.
    pub(super) fn sign(self) -> Int<'a, 'b, 'c> {
        self.bits().and(if self.lanes.is_f32() { i32::MIN.into() } else { i64::MIN })
    }

    /// Rounds `self * by` to the nearest integer, given as a float and as an integer: a large number added pushes the
    /// fraction out. The product must be below 2^21 (f32) or 2^50 (f64).
    pub(super) fn round_product(self, by: f64) -> (Self, Int<'a, 'b, 'c>) {
        let shift = if self.lanes.is_f32() { 12_582_912.0 } else { 6_755_399_441_055_744.0 };
        let shift_bits = if self.lanes.is_f32() { 0x4B40_0000 } else { 0x4338_0000_0000_0000 };
        let shifted = self.fma(by, shift);
        (shifted - shift, shifted.bits() - shift_bits)
    }

    /// `self * 2^power`, right up to overflow and down to subnormals; the power comes in both forms.
    pub(super) fn scale(self, power: Self, int: Int<'a, 'b, 'c>) -> Self {
        let lanes = self.lanes;
        if lanes.scalef {
            return self.scalef(power);
        }
        // Two factors: one would leave the range of normal numbers before the product does.
        let half = int.shift_right(1);
        self * half.power() * int.minus(half).power()
    }

    /// `self * 2^power` for numbers about 1, where that is a normal number.
    pub(super) fn times_power(self, power: Int<'a, 'b, 'c>) -> Self {
        self.bits().plus(power.shift_left(if self.is_f32() { 23 } else { 52 })).float()
    }

    fn scalef(self, power: Self) -> Self {
        let lanes = self.lanes;
        let cx = lanes.cx();
        let count = lanes.float.shape()[0];
        let bits = count * if lanes.is_f32() { 32 } else { 64 };
        let name = format!("llvm.x86.avx512.mask.scalef.{}.{bits}", if lanes.is_f32() { "ps" } else { "pd" });
        let mut builder = lanes.builder.borrow_mut();
        let mask = builder.const_int(cx.int(count.max(8) as u32), -1);
        let mut operands = vec![self.value, power.value, self.value, mask];
        if bits == 512 {
            // Rounding as the control register says.
            operands.push(builder.const_int(cx.int(32), 4));
        }
        Self { value: llvm::call_intrinsic(&mut builder, &name, &operands, lanes.float), ..self }
    }
}

impl<'a, 'b, 'c> Int<'a, 'b, 'c> {
    fn binary(self, name: &str, other: Self) -> Self {
        Self { value: self.lanes.op(name, &[self.value, other.value], self.lanes.int, &[]), ..self }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        self.binary(arith::AddI::NAME, other)
    }

    pub(super) fn minus(self, other: Self) -> Self {
        self.binary(arith::SubI::NAME, other)
    }

    pub(super) fn shift_left(self, by: i64) -> Self {
        self.binary(arith::ShLI::NAME, self.lanes.int(by))
    }

    /// Keeps the sign.
    pub(super) fn shift_right(self, by: i64) -> Self {
        self.binary(arith::ShRSI::NAME, self.lanes.int(by))
    }

    /// Whether the bits, as a natural number, are at least this one.
    pub(super) fn is_natural_from(self, least: i64) -> Mask<'a, 'b, 'c> {
        let least = self.lanes.int(least);
        let value = arith::cmpi(&mut self.lanes.builder.borrow_mut(), CmpIPredicate::Uge, self.value, least.value);
        Mask { lanes: self.lanes, value }
    }

    /// The float with these bits.
    pub(super) fn float(self) -> Float<'a, 'b, 'c> {
        Float { lanes: self.lanes, value: self.lanes.op(arith::Bitcast::NAME, &[self.value], self.lanes.float, &[]) }
    }

    /// The number as a float; in f64 it must be below 2^51, since few CPUs convert wider integers.
    pub(super) fn to_float(self) -> Float<'a, 'b, 'c> {
        if !self.lanes.is_f32() {
            return (self + 0x4338_0000_0000_0000).float() - 6_755_399_441_055_744.0;
        }
        Float { lanes: self.lanes, value: self.lanes.op(arith::SIToFP::NAME, &[self.value], self.lanes.float, &[]) }
    }

    pub(super) fn negated(self) -> Self {
        self.lanes.int(0).minus(self)
    }

    pub(super) fn at_most(self, high: i64) -> Self {
        self.binary(arith::MinSI::NAME, self.lanes.int(high))
    }

    /// `2^self`, when that is a normal number.
    pub(super) fn power(self) -> Float<'a, 'b, 'c> {
        let (bias, mantissa) = if self.lanes.is_f32() { (127, 23) } else { (1023, 52) };
        (self + bias).shift_left(mantissa).float()
    }

    /// `2^-self`, when that is a normal number.
    pub(super) fn inverse_power(self) -> Float<'a, 'b, 'c> {
        let (bias, mantissa) = if self.lanes.is_f32() { (127, 23) } else { (1023, 52) };
        self.lanes.int(bias).minus(self).shift_left(mantissa).float()
    }

    /// Whether any of these bits is set.
    pub(super) fn has(self, bits: i64) -> Mask<'a, 'b, 'c> {
        let part = self.binary(arith::AndI::NAME, self.lanes.int(bits));
        let zero = self.lanes.int(0);
        let value = arith::cmpi(&mut self.lanes.builder.borrow_mut(), CmpIPredicate::Ne, part.value, zero.value);
        Mask { lanes: self.lanes, value }
    }

    pub(super) fn and(self, bits: i64) -> Self {
        self.binary(arith::AndI::NAME, self.lanes.int(bits))
    }

    pub(super) fn xor(self, other: Self) -> Self {
        self.binary(arith::XOrI::NAME, other)
    }
}

impl<'a, 'b, 'c> Mask<'a, 'b, 'c> {
    /// The lanes that another mask has not.
    pub(super) fn unless(self, other: Self) -> Self {
        let both = self.lanes.op(arith::AndI::NAME, &[self.value, other.value], self.lanes.mask, &[]);
        Self { value: self.lanes.op(arith::XOrI::NAME, &[self.value, both], self.lanes.mask, &[]), ..self }
    }

    /// The first where the bit is set, the second elsewhere.
    pub(super) fn select(self, yes: impl Operand<'a, 'b, 'c>, no: impl Operand<'a, 'b, 'c>) -> Float<'a, 'b, 'c> {
        let (yes, no) = (yes.float(self.lanes), no.float(self.lanes));
        let value = self.lanes.op(arith::Select::NAME, &[self.value, yes.value, no.value], self.lanes.float, &[]);
        Float { lanes: self.lanes, value }
    }
}

macro_rules! float_operators {
    ($($trait:ident $method:ident $op:path),*) => {$(
        impl<'a, 'b, 'c, T: Operand<'a, 'b, 'c>> $trait<T> for Float<'a, 'b, 'c> {
            type Output = Self;
            fn $method(self, other: T) -> Self {
                self.binary($op, other)
            }
        }
    )*};
}

float_operators!(Add add arith::AddF::NAME, Sub sub arith::SubF::NAME, Mul mul arith::MulF::NAME, Div div arith::DivF::NAME);

impl Neg for Float<'_, '_, '_> {
    type Output = Self;
    fn neg(self) -> Self {
        self.unary(arith::NegF::NAME)
    }
}

impl Add<i64> for Int<'_, '_, '_> {
    type Output = Self;
    fn add(self, other: i64) -> Self {
        self.binary(arith::AddI::NAME, self.lanes.int(other))
    }
}

impl Sub<i64> for Int<'_, '_, '_> {
    type Output = Self;
    fn sub(self, other: i64) -> Self {
        if other == 0 { self } else { self.binary(arith::SubI::NAME, self.lanes.int(other)) }
    }
}

impl BitAnd for Mask<'_, '_, '_> {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self { value: self.lanes.op(arith::AndI::NAME, &[self.value, other.value], self.lanes.mask, &[]), ..self }
    }
}

impl BitOr for Mask<'_, '_, '_> {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self { value: self.lanes.op(arith::OrI::NAME, &[self.value, other.value], self.lanes.mask, &[]), ..self }
    }
}
