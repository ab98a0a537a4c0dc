//! `--winograd`: convolutions with windows of 3 by 3, and the gradients of their weights, as products of transformed tiles.
//!
//! A tile of 4 by 4 results takes 144 products of an element with a weight. Transformed (`matrices.rs`), it takes 36: `prim.linear_transform` makes
//! 6 by 6 numbers of the 6 by 6 elements under the tile, and once for all calls of the 3 by 3 weights; one batched `dot` multiplies
//! them over the channels; another `linear_transform` makes the results. Pointwise work that follows moves to where the tiles are results
//! (`sink.rs`), so that it runs in their kernel.
//!
//! Exactly when: the convolution is channels-last (`--channels-last`), or has 3 by 3 results (`weight_gradient.rs`), moves by one, is one
//! group, has known sizes, `f32` or `f64`, and the cost model finds it cheaper: products, and the memory that transformed tiles and weights go
//! through. Weights of weights alone are transformed once for all calls; those of a step of training, in each. With `numerics = "strict"` nothing changes. With `ulp` it fires because its error is of the size of the direct form's:
//! for tiles whose elements are of like magnitude, or spread over six orders of magnitude, at most four times that (`bound.rs`).
//! The error is relative to the products of a whole tile: beside an element that is much larger than its neighbours, results that
//! do not have it in their window are as exact as those that do; and an infinity or NaN reaches all results of its tile.
//!
//! ```mlir
//! %0 = prim.conv %x, %w {layout = "n01c,01co->n01o", ...} : (tensor<16x58x58x64xf32>, tensor<3x3x64x64xf32>) -> tensor<16x56x56x64xf32>
//! // becomes
//! %0 = prim.sliding_window %x {sizes = array<i64: 6, 6>, strides = array<i64: 4, 4>, ...} -> tensor<16x14x14x64x6x6xf32>
//! %1 = prim.linear_transform %0 {...} -> tensor<16x14x14x6x6x64xf32>      // after a transpose: a tile is one run of memory
//! %2 = prim.linear_transform %w {...} -> tensor<6x6x64x64xf32>
//! %3 = prim.dot %1, %2 {...} -> tensor<36x3136x64xf32>       // after reshapes
//! %4 = prim.linear_transform %3 {...} -> tensor<16x14x4x14x4x64xf32>      // after a reshape and a transpose
//! ```

#[cfg(test)]
mod bound;
mod matrices;
mod sink;
mod tiles;
mod weight_gradient;

use crate::prim::channels_last::order::transpose;
use crate::prim::hoist_weights::Cone;
use matrices::{TILE, Transform, WINDOW};
use strata_core::ir::{Builder, ElementType, Op, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::{NoMatch, Rewriter};
use strata_dialects::numerics::Numerics;
use strata_dialects::prim;
use strata_dialects::target::Target;
use tiles::{grown, input_tiles, transform_tiles};
use weight_gradient::WeightGradient;

/// Turns convolutions into products of transformed tiles.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim"))]
pub struct Winograd {
    /// strict, ulp or fast; strict changes nothing.
    #[option(default = "ulp")]
    numerics: String,
    /// Convolutions that changed.
    convolutions: Counter,
}

impl Pass for Winograd {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        if op.attr(strata_dialects::capture::ENTRY).is_none() {
            return Ok(());
        }
        let units = Target::of(op)?.has_matrix_units(ElementType::BF16);
        let (cone, remarks, strict) = (Cone::of(op), cx.remarks(), Numerics::of(&self.numerics)? == Numerics::Strict);
        let candidates = op.body(0).ops().into_iter().filter(|op| op.isa::<prim::Conv>());
        let of = |op: Op<'c>| match op.attr("layout") {
            _ if strict => Err("the numerics are strict".into()),
            _ if units && are_halves(op) => Err("matrix units multiply its halves as they are".into()),
            Some(_) => Convolution::of(&cone, op).map(Form::Convolution),
            None => WeightGradient::of(op).map(Form::WeightGradient),
        };
        let found: Vec<_> = candidates.filter_map(|op| remarks.found(op, of(op))).collect();
        self.convolutions.add(found.len());
        let mut rewriter = cx.rewriter();
        for form in &found {
            widen(form.op(), &mut rewriter);
            match form {
                Form::Convolution(convolution) => convolution.rewrite(&Transform::new(TILE, WINDOW), &mut rewriter),
                Form::WeightGradient(gradient) => gradient.rewrite(&Transform::new(WINDOW, TILE), &mut rewriter),
            }
        }
        Ok(())
    }
}

/// What goes by tiles.
enum Form<'c> {
    Convolution(Convolution<'c>),
    WeightGradient(WeightGradient<'c>),
}

impl<'c> Form<'c> {
    fn op(&self) -> Op<'c> {
        match self {
            Self::Convolution(convolution) => convolution.op,
            Self::WeightGradient(gradient) => gradient.op,
        }
    }
}

/// Whether `bf16` elements are multiplied.
fn are_halves(op: Op<'_>) -> bool {
    op.operands().iter().all(|operand| operand.ty().element_type() == Some(ElementType::BF16))
}

/// Halves are transformed as the numbers that they are multiplied in.
fn widen<'c>(op: Op<'c>, b: &mut Rewriter<'c>) {
    b.go_before(op);
    let element = op.result(0).ty().element();
    for (at, operand) in op.operands().into_iter().enumerate().filter(|(_, operand)| operand.ty().element() != element) {
        let wide = b.value(prim::Convert::NAME, &[operand], op.cx().tensor(&operand.ty().shape(), element), &[]);
        b.set_operand(op, at, wide);
    }
}

/// Multiplications that memory could move one byte in.
const FLOPS_PER_BYTE: i64 = 5;
/// The share of the direct form's cost, in percent, that is worth the change.
const WORTH: i64 = 80;
/// Elements under a tile, along one dim.
const UNDER: i64 = (TILE + WINDOW - 1) as i64;
/// Numbers of a transformed tile.
const NUMBERS: i64 = UNDER * UNDER;

/// Whether products and bytes moved are less than the cost of the direct form.
fn cheaper([products, moved]: [i64; 2], direct: i64) -> bool {
    (products + FLOPS_PER_BYTE * moved) * 100 < direct * WORTH
}

/// A convolution that is cheaper by tiles.
struct Convolution<'c> {
    op: Op<'c>,
    /// Panels of features that the weights are in, if they are.
    panels: bool,
    /// Whether the weights are made of weights alone, so that they are transformed once for all calls.
    prepared: bool,
    batch: i64,
    channels: i64,
    features: i64,
    /// Rows and columns of results.
    space: [i64; 2],
}

impl<'c> Convolution<'c> {
    fn of(cone: &Cone<'c>, op: Op<'c>) -> Result<Self, NoMatch> {
        let panels = match op.str("layout").as_deref() {
            Some("n01c,01co->n01o") => false,
            Some("n01c,O01co->n01o") => true,
            _ => return Err("it is not channels-last in two dimensions".into()),
        };
        let ones = |name: &str| op.ints(name).is_some_and(|list| list.iter().all(|&n| n == 1));
        let unpadded = ["low", "high"].iter().all(|name| op.ints(name).is_some_and(|list| list.iter().all(|&n| n == 0)));
        let plain = ones("strides") && ones("lhs_dilation") && ones("rhs_dilation") && unpadded && op.int("groups") == Some(1);
        let (result, weights) = (op.result(0).ty(), op.operand(1));
        if !plain {
            return Err("its window moves by more than one, is dilated or padded, or it has groups".into());
        }
        if !matches!(result.element_type(), Some(ElementType::F32 | ElementType::F64)) {
            return Err("its elements are neither f32 nor f64".into());
        }
        if !result.is_static() || !op.operand(0).ty().is_static() {
            return Err("its sizes are not known".into());
        }
        let window = &weights.ty().shape()[usize::from(panels)..];
        let [batch, rows, columns, features] = result.shape().try_into().map_err(|_| "it has not two dimensions of space")?;
        let prepared = cone.has_weight(weights);
        let found = Self { op, panels, prepared, batch, channels: window[2], features, space: [rows, columns] };
        if window[..2].iter().any(|&size| size != WINDOW as i64) {
            return Err("its window is not 3 by 3".into());
        }
        if found.pays() { Ok(found) } else { Err("transformed tiles would cost more than the direct products".into()) }
    }

    /// Tiles along the two dims of space.
    fn tiles(&self) -> [i64; 2] {
        self.space.map(|size| (size + TILE as i64 - 1) / TILE as i64)
    }

    /// Whether tiles are cheaper than the direct products.
    fn pays(&self) -> bool {
        let Self { prepared, batch, channels, features, space: [rows, columns], .. } = *self;
        let tiles = batch * self.tiles().iter().product::<i64>();
        let bytes = self.op.result(0).ty().element_type().map_or(4, |element| element.bytes()) as i64;
        let (points, window) = (NUMBERS, (WINDOW * WINDOW) as i64);
        // Tiles are written and read, and so are weights that a call transforms; others are read.
        let weights = channels * features;
        let transformed = if prepared { weights * points } else { weights * (2 * points + window) };
        let moved = bytes * (2 * points * tiles * (channels + features) + transformed);
        // Halves stand as such where two of their products are one instruction.
        let at_once = if self.op.operand(0).ty().element_type().is_some_and(|element| element.bits() == 16) { 2 } else { 1 };
        let direct = 2 * window * batch * rows * columns * weights / at_once + FLOPS_PER_BYTE * bytes * window * weights;
        cheaper([2 * points * tiles * weights, moved], direct)
    }

    fn rewrite(&self, transform: &Transform, b: &mut Rewriter<'c>) {
        let (op, cx) = (self.op, self.op.cx());
        b.go_before(op);
        let (points, [th, tw]) = (NUMBERS, self.tiles());
        let (n, o, tile) = (self.batch, self.features, TILE as i64);
        let element = op.result(0).ty().element();
        let ty = |shape: &[i64]| cx.tensor(shape, element);
        let x = grown(b, op.operand(0), [1, 2], self.tiles().map(|tiles| tiles * tile + UNDER - tile));
        let x = input_tiles(b, x, [th, tw], transform);
        let (w, [batch, contract]) = self.weights(b, transform);
        let lists = [("lhs_batch", 1), ("rhs_batch", batch), ("lhs_contract", 2), ("rhs_contract", contract)];
        // Features may be two dims, of panels and within one.
        let free = w.ty().shape().into_iter().zip(0..).filter(|(_, dim)| ![batch, contract].contains(dim)).map(|(size, _)| size);
        let products: Vec<i64> = [points, n * th * tw].into_iter().chain(free).collect();
        let y = b.value(prim::Dot::NAME, &[x, w], ty(&products), &lists.map(|(name, dim)| (name, cx.i64s_attr(&[dim]))));
        let y = b.value(prim::Reshape::NAME, &[y], ty(&[UNDER, UNDER, n, th, tw, o]), &[]);
        let y = transpose(b, y, &[2, 3, 0, 4, 1, 5]);
        let y = transform_tiles(b, y, [2, 4], &transform.result, tile);
        sink::follow(op, y, b);
    }
    /// The weights, transformed, with their dims of points and of channels. Panels stay panels, which is how a product reads them.
    fn weights(&self, b: &mut Builder<'c>, transform: &Transform) -> (Value<'c>, [i64; 2]) {
        let w = self.op.operand(1);
        let first = usize::from(self.panels);
        let w = transform_tiles(b, w, [first, first + 1], &transform.weights, UNDER);
        let mut shape = w.ty().shape();
        shape.splice(first..first + 2, [NUMBERS]);
        let w = b.value(prim::Reshape::NAME, &[w], w.ty().with_shape(&shape), &[]);
        (w, [first as i64, first as i64 + 1])
    }
}
