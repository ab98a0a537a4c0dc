//! `--integer-products`: sums of products of quantised numbers, taken of the integers that they are stored as.
//!
//! A number that is quantised is `(q - zero) * scale`, `q` an integer of 8 bits. A `dot` or a `conv` of two of them is
//! `scale * scale' * (sum(q * q') - zero * sum(q'))`: the products are of bytes, for which CPUs have instructions, and the sums, in `i32`, are
//! exact (Jacob et al., Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference, 2018, section 2.3).
//! The sums of a weight are computed once, by `--hoist-weights`. What pads an image is the zero point, and is written out. The instructions
//! multiply unsigned bytes with signed ones: where both have a sign, the one that is computed is stored with 128 added, as is its zero point.
//!
//! ```mlir
//! %0 = prim.convert %x : (tensor<16x64xui8>) -> tensor<16x64xf32>
//! %1 = prim.mul %0, %s : tensor<16x64xf32>                              // %s is 0.1 throughout
//! %2 = prim.convert %w : (tensor<32x64xi8>) -> tensor<32x64xf32>
//! %3 = prim.mul %2, %t : tensor<32x64xf32>                              // %t is 0.2 throughout
//! %4 = prim.dot %1, %3 {lhs_contract = array<i64: 1>, rhs_contract = array<i64: 1>, ..} : (tensor<16x64xf32>, tensor<32x64xf32>) -> tensor<16x32xf32>
//! // becomes
//! %0 = prim.dot %x, %w {..} : (tensor<16x64xui8>, tensor<32x64xi8>) -> tensor<16x32xi32>
//! %1 = prim.convert %0 : (tensor<16x32xi32>) -> tensor<16x32xf32>
//! %4 = prim.mul %1, %st : tensor<16x32xf32>                             // 0.1 * 0.2
//! ```
//!
//! The same for integers that were made wide to be multiplied, as ONNX's `MatMulInteger` and `aten._int_mm` do: their sums wrap, so all of it is
//! exact.
//!
//! It refuses, with a remark: a target without instructions for products of bytes, operands that are not both quantised, two zero points,
//! scales that differ along what is summed, sums of so many products that `i32` could overflow, convolutions in groups, and of floats numerics
//! `strict`, since each number is rounded no more before it is multiplied.

use strata_core::ir::{ElementType, Op, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::NoMatch;
use strata_dialects::loops::view::product_of_known;
use strata_dialects::numerics::Numerics;
use strata_dialects::prim::{self, sizes};
use strata_dialects::prim_builder::{Prim, Scalar, Size, Tensor};
use strata_dialects::target::Target;

use super::simplify::number::{Number, splat};

/// Takes products of the integers that quantised numbers are stored as.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim", "arith"))]
pub struct IntegerProducts {
    /// strict, ulp or fast; strict changes nothing.
    #[option(default = "ulp")]
    numerics: String,
    /// Contractions that became ones of integers.
    contractions: Counter,
}

impl Pass for IntegerProducts {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let strict = Numerics::of(&self.numerics)? == Numerics::Strict;
        let has_instruction = Target::of(op)?.has_byte_dots();
        for contraction in [prim::Dot::NAME, prim::Conv::NAME].into_iter().flat_map(|name| op.find_all(name)) {
            let exact = contraction.result(0).ty().element_type() == Some(ElementType::I32);
            let product = match (strict && !exact, has_instruction) {
                (true, _) => Err("the numerics are strict".into()),
                (_, false) => Err("the CPU has no instruction for products of bytes".into()),
                _ => Product::of(contraction),
            };
            let Some(product) = cx.remarks().found(contraction, product) else { continue };
            let Some(block) = contraction.block() else { continue };
            let prim = Prim::new(block, contraction.location());
            product.build(&prim);
            if let Some(message) = prim.take_error() {
                return Err(PassError::at(contraction, &message));
            }
            self.contractions.add(1);
        }
        Ok(())
    }
}

/// What makes a signed byte an unsigned one.
const OFFSET: i64 = 128;
/// The largest product of two integers of 8 bits.
const LARGEST: i64 = 255 * 255;

/// A number for each index of some dims of a tensor.
struct Along<'c> {
    number: Value<'c>,
    /// The dims of the tensor, one for each dim of the number.
    dims: Vec<usize>,
}

/// A tensor that is quantised: `(integers - zero) * scale`.
struct Quantised<'c> {
    integers: Value<'c>,
    zero: Option<Along<'c>>,
    scale: Option<Along<'c>>,
}

impl<'c> Quantised<'c> {
    fn of(value: Value<'c>) -> Result<Self, NoMatch> {
        let element = value.ty().element_type();
        let (value, scale) = match value.defining_op() {
            Some(op) if op.isa::<prim::Mul>() && element == Some(ElementType::F32) => {
                match (Along::of(op.operand(1)), Along::of(op.operand(0))) {
                    (Some(scale), _) => (op.operand(0), Some(scale)),
                    (None, Some(scale)) => (op.operand(1), Some(scale)),
                    _ => (value, None),
                }
            }
            _ => (value, None),
        };
        let (value, zero) = match value.defining_op() {
            Some(op) if op.isa::<prim::Sub>() => (op.operand(0), Some(Along::of(op.operand(1)).ok_or("a zero point is not repeated")?)),
            _ => (value, None),
        };
        let convert = value.defining_op().filter(|op| op.isa::<prim::Convert>());
        let integers =
            convert.map(|op| op.operand(0)).filter(|from| matches!(from.ty().element_type(), Some(ElementType::I8 | ElementType::U8)));
        Ok(Self { integers: integers.ok_or("an operand is not quantised to 8 bits")?, zero, scale })
    }
}

impl<'c> Along<'c> {
    /// What is repeated over the other dims of a tensor.
    fn of(value: Value<'c>) -> Option<Self> {
        let repeated = value.defining_op().filter(|op| op.isa::<prim::Broadcast>())?;
        let dims = repeated.ints("dims")?.into_iter().map(|dim| usize::try_from(dim).ok()).collect::<Option<_>>()?;
        Some(Self { number: repeated.operand(0), dims })
    }

    /// The same for the dims of a contraction's result; a dim of size 1 is left out.
    fn of_result(&self, places: &[Option<usize>]) -> Result<Vec<Option<usize>>, NoMatch> {
        let place = |(&dim, size): (&usize, i64)| if size == 1 { Ok(None) } else { places[dim].map(Some).ok_or(()) };
        let dims: Result<_, ()> = self.dims.iter().zip(self.number.ty().shape()).map(place).collect();
        dims.map_err(|()| "a scale or a zero point differs along what is summed".into())
    }
}

/// A contraction of two quantised tensors.
struct Product<'c> {
    op: Op<'c>,
    operands: [Quantised<'c>; 2],
    /// For each operand the dim of the result that each of its dims becomes.
    places: [Vec<Option<usize>>; 2],
    /// The operand with a zero point.
    moved: Option<usize>,
}

impl<'c> Product<'c> {
    fn of(op: Op<'c>) -> Result<Self, NoMatch> {
        let element = op.result(0).ty().element_type();
        let elements = [op.operand(0), op.operand(1)].map(|operand| operand.ty().element_type());
        let same = elements == [element; 2] && matches!(element, Some(ElementType::F32 | ElementType::I32));
        if !same || op.attr("layout").is_some() {
            return Err("its elements are neither f32 nor i32, or it has a layout of its own".into());
        }
        if op.isa::<prim::Conv>() && op.int("groups") != Some(1) {
            return Err("its channels are in groups".into());
        }
        let operands = [Quantised::of(op.operand(0))?, Quantised::of(op.operand(1))?];
        let places = places(op);
        for (operand, places) in operands.iter().zip(&places) {
            for along in operand.scale.iter().chain(&operand.zero) {
                along.of_result(places)?;
            }
            if operand.zero.as_ref().is_some_and(|zero| !is_whole(zero.number)) {
                return Err("a zero point is no whole number".into());
            }
        }
        let moved = match operands.each_ref().map(|operand| operand.zero.is_some()) {
            [true, true] => return Err("both operands have a zero point".into()),
            [true, false] => Some(0),
            [false, true] => Some(1),
            [false, false] => None,
        };
        // What pads an image is one byte.
        let pads = |zero: &Along<'c>| zero.number.ty().num_elements() == Some(1) && is_of_bytes(zero.number);
        if op.isa::<prim::Conv>() && (operands[1].zero.is_some() || !operands[0].zero.as_ref().is_none_or(pads)) {
            return Err("a zero point is that of weights, of one of several images, or may need more than 8 bits".into());
        }
        let summed = places[1].iter().enumerate().filter(|(_, place)| place.is_none());
        let steps = product_of_known(summed.map(|(dim, _)| Some(op.operand(1).ty().shape()[dim]).filter(|&size| size >= 0)));
        // Sums of i32 wrap in the program too.
        if element == Some(ElementType::F32) && steps.is_none_or(|steps| steps.saturating_mul(LARGEST) > i64::from(i32::MAX)) {
            return Err("it sums so many products, or it is not known how many, that i32 could overflow".into());
        }
        Ok(Self { op, operands, places, moved })
    }

    /// Puts the product of the integers in the place of the op.
    fn build<'p>(&self, prim: &'p Prim<'p>)
    where
        'c: 'p,
    {
        let op: Op<'p> = self.op;
        prim.set_before(op);
        let result = prim.sizes(sizes::of(op), &[0, 1].map(|at| prim.tensor(op.operand(at))), &[]);
        let mut factors = [0, 1].map(|at| prim.tensor(self.operands[at].integers));
        let mut zero = self.moved.and_then(|at| {
            let zero = self.operands[at].zero.as_ref()?;
            Some((at, whole(prim, zero.number), self.places_of(at, zero)))
        });
        if factors.iter().all(|factor| factor.dtype() == ElementType::I8) {
            let (at, number, places) =
                zero.take().unwrap_or_else(|| (self.computed(), prim.constant(ElementType::I32, Scalar::Int(0)), vec![]));
            factors[at] = factors[at].bitcast(ElementType::U8).xor(OFFSET);
            zero = Some((at, number + OFFSET, places));
        }
        let mut attrs = op.attrs();
        if let (true, Some((_, number, _))) = (op.isa::<prim::Conv>(), &zero) {
            factors[0] = self.padded(factors[0], number.reshape(&[]));
            let (none, one) = (vec![0; op.operand(0).ty().rank() - 2], vec![1; op.operand(0).ty().rank() - 2]);
            for (name, value) in &mut attrs {
                match name.as_str() {
                    "low" | "high" => *value = op.cx().i64s_attr(&none),
                    "lhs_dilation" => *value = op.cx().i64s_attr(&one),
                    _ => {}
                }
            }
        }
        let attrs: Vec<_> = attrs.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let mut sums = prim.emit(op.name(), &factors.map(Tensor::value), &attrs, ElementType::I32, result.clone());
        if let Some((at, number, places)) = zero {
            sums = sums.convert(number.dtype()) - self.of_zero((number, &places), (1 - at, factors[1 - at]), &result);
        }
        let scaled = sums.convert(op.result(0).ty().element_type().unwrap_or(ElementType::F32));
        let scales = [0, 1].map(|at| self.operands[at].scale.as_ref().map(|scale| (at, scale)));
        let [lhs, rhs] = scales.map(|scale| scale.map(|(at, scale)| (prim.tensor(scale.number), self.places_of(at, scale))));
        let scaled = match (lhs, rhs) {
            // One number goes into the other scales, which are few, and weights'.
            (Some((one, places)), Some((many, dims))) | (Some((many, dims)), Some((one, places))) if places.is_empty() => {
                scaled * repeated(many * one.reshape(&[]), &dims, &result)
            }
            (lhs, rhs) => lhs.into_iter().chain(rhs).fold(scaled, |scaled, (scale, dims)| scaled * repeated(scale, &dims, &result)),
        };
        prim.replace(op, &[scaled.value()]);
    }

    /// The dims of the result that a number of an operand is for.
    fn places_of(&self, at: usize, along: &Along<'c>) -> Vec<usize> {
        along.of_result(&self.places[at]).unwrap_or_default().into_iter().flatten().collect()
    }

    /// The operand that is computed, and can be stored in another way; a convolution's input, and else the left one.
    fn computed(&self) -> usize {
        let is_argument = |at: usize| self.operands[at].integers.defining_op().is_none();
        usize::from(self.op.isa::<prim::Dot>() && is_argument(0) && !is_argument(1))
    }

    /// A zero point times the sums of the other operand, in the place of the result.
    fn of_zero<'p>(&self, (zero, places): (Tensor<'p>, &[usize]), (at, other): (usize, Tensor<'p>), result: &[Size<'p>]) -> Tensor<'p>
    where
        'c: 'p,
    {
        let kept = &self.places[at];
        let summed: Vec<usize> = (0..kept.len()).filter(|&dim| kept[dim].is_none()).collect();
        let sums = other.convert(ElementType::I32).reduce("sum", &summed, false).convert(zero.dtype());
        let dims: Vec<usize> = kept.iter().flatten().copied().collect();
        match places {
            [] => repeated(sums * zero.reshape(&[]), &dims, result),
            places => repeated(sums, &dims, result) * repeated(zero, places, result),
        }
    }

    /// The input of a convolution with its padding written out.
    fn padded<'p>(&self, input: Tensor<'p>, zero: Tensor<'p>) -> Tensor<'p> {
        let ints = |name: &str| self.op.ints(name).unwrap_or_default();
        let around = |name: &str| {
            let sizes = ints(name).into_iter().map(Size::Const);
            [Size::Const(0); 2].into_iter().chain(sizes).collect::<Vec<_>>()
        };
        let between: Vec<i64> = [0; 2].into_iter().chain(ints("lhs_dilation").iter().map(|dilation| dilation - 1)).collect();
        input.pad(zero.convert(input.dtype()), &around("low"), &around("high"), &between)
    }
}

/// For each operand of a contraction the dim of the result that each of its dims becomes; those that are summed become none.
fn places(op: Op<'_>) -> [Vec<Option<usize>>; 2] {
    let mut places = [0, 1].map(|at| vec![None; op.operand(at).ty().rank()]);
    for (place, size) in sizes::of(op).unwrap_or_default().into_iter().enumerate() {
        for (operand, dim) in size.operand_dims() {
            places[operand][dim] = Some(place);
        }
    }
    places
}

/// Whether numbers are whole: integers, a constant that is one, or integers that were converted.
fn is_whole(value: Value<'_>) -> bool {
    if value.ty().element_type() == Some(ElementType::I32) {
        return true;
    }
    let converted = value.defining_op().filter(|op| op.isa::<prim::Convert>()).and_then(|op| op.operand(0).ty().element_type());
    match splat(value) {
        Some(Number::Float(number)) => number == number.trunc() && number.abs() <= f64::from(u8::MAX),
        _ => converted.is_some_and(|from| from.is_integer()),
    }
}

/// Whether whole numbers are of 8 bits, or wrap as the sums do: products with them are exact in `i32`.
fn is_of_bytes(value: Value<'_>) -> bool {
    let made = value.defining_op().filter(|op| op.isa::<prim::Convert>()).and_then(|op| op.operand(0).ty().element_type());
    value.ty().element_type() == Some(ElementType::I32) || splat(value).is_some() || matches!(made, Some(ElementType::I8 | ElementType::U8))
}

/// Numbers that are whole, as integers where they are of 8 bits. Others may be so large that `i32` does not hold their products.
fn whole<'p>(prim: &'p Prim<'p>, value: Value<'p>) -> Tensor<'p> {
    match (splat(value), value.defining_op()) {
        (Some(Number::Float(number)), _) => {
            let shape = prim.tensor(value).shape();
            prim.constant(ElementType::I32, Scalar::Int(number as i64)).broadcast_to(&shape)
        }
        (_, Some(op)) if op.isa::<prim::Convert>() && is_of_bytes(value) => prim.tensor(op.operand(0)).convert(ElementType::I32),
        _ => prim.tensor(value),
    }
}

/// A number for each index of some dims of a result, over all of it; dims of the number of size 1 are dropped.
fn repeated<'p>(number: Tensor<'p>, dims: &[usize], result: &[Size<'p>]) -> Tensor<'p> {
    let sizes: Vec<_> = if number.rank() == dims.len() {
        number.shape().to_vec()
    } else {
        number.shape().iter().copied().filter(|size| size.known() != Some(1)).collect()
    };
    number.reshape(&sizes).broadcast_dims(result, dims)
}
