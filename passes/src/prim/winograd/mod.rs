//! `--winograd`: convolutions with windows of 3 by 3 as products of transformed tiles.
//!
//! A tile of 4 by 4 results takes 144 products of an element with a weight. Transformed (`matrices.rs`), it takes 36: `prim.linear_transform` makes
//! 6 by 6 numbers of the 6 by 6 elements under the tile, and once for all calls of the 3 by 3 weights; one batched `dot` multiplies
//! them over the channels; another `linear_transform` makes the results. Pointwise work that follows moves to where the tiles are results
//! (`sink.rs`), so that it runs in their kernel.
//!
//! Exactly when: the convolution is channels-last (`--channels-last`), moves by one, is one group, has weights of weights alone and
//! known sizes, `f32` or `f64`, and the cost model finds it cheaper: products, and the memory that transformed tiles and weights go
//! through. With `numerics = "strict"` nothing changes. With `ulp` it fires because its error is of the size of the direct form's:
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

use crate::prim::hoist_weights::Cone;
use crate::prim::zero::zero;
use matrices::{TILE, Transform, WINDOW};
use strata_core::ir::{Builder, ElementType, Op, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::{NoMatch, Rewriter};
use strata_dialects::numerics::Numerics;
use strata_dialects::prim;

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
        let (cone, remarks, strict) = (Cone::of(op), cx.remarks(), Numerics::of(&self.numerics)? == Numerics::Strict);
        let candidates = op.body(0).ops().into_iter().filter(|op| op.isa::<prim::Conv>());
        let of = |op| if strict { Err("the numerics are strict".into()) } else { Convolution::of(&cone, op) };
        let found: Vec<_> = candidates.filter_map(|op| remarks.found(op, of(op))).collect();
        self.convolutions.add(found.len());
        let transform = Transform::new();
        let mut rewriter = cx.rewriter();
        found.iter().for_each(|convolution| convolution.rewrite(&transform, &mut rewriter));
        Ok(())
    }
}

/// Multiplications that memory could move one byte in.
const FLOPS_PER_BYTE: i64 = 5;
/// The share of the direct form's cost, in percent, that is worth the change.
const WORTH: i64 = 80;
/// Elements under a tile, along one dim.
const UNDER: i64 = (TILE + WINDOW - 1) as i64;

/// A convolution that is cheaper by tiles.
struct Convolution<'c> {
    op: Op<'c>,
    /// Panels of features that the weights are in, if they are.
    panels: bool,
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
        if !cone.has_weight(weights) {
            return Err("its weights are not made of weights alone".into());
        }
        if !result.is_static() || !op.operand(0).ty().is_static() {
            return Err("its sizes are not known".into());
        }
        let window = &weights.ty().shape()[usize::from(panels)..];
        let [batch, rows, columns, features] = result.shape().try_into().map_err(|_| "it has not two dimensions of space")?;
        let found = Self { op, panels, batch, channels: window[2], features, space: [rows, columns] };
        if window[..2].iter().any(|&size| size != WINDOW as i64) {
            return Err("its window is not 3 by 3".into());
        }
        if found.pays() { Ok(found) } else { Err("transformed tiles would cost more than the direct products".into()) }
    }

    /// Tiles along the two dims of space.
    fn tiles(&self) -> [i64; 2] {
        self.space.map(|size| (size + TILE as i64 - 1) / TILE as i64)
    }

    /// Whether the work on tiles, and what they take through memory, is less than the direct products.
    fn pays(&self) -> bool {
        let Self { batch, channels, features, space: [rows, columns], .. } = *self;
        let tiles = batch * self.tiles().iter().product::<i64>();
        let bytes = self.op.result(0).ty().element_type().map_or(4, |element| element.bytes()) as i64;
        let (points, window) = (UNDER * UNDER, (WINDOW * WINDOW) as i64);
        // Tiles are written and read; weights are read.
        let moved = |points: i64, tiles: i64| bytes * points * (2 * tiles * (channels + features) + channels * features);
        let direct = 2 * window * batch * rows * columns * channels * features + FLOPS_PER_BYTE * bytes * window * channels * features;
        let ours = 2 * points * tiles * channels * features + FLOPS_PER_BYTE * moved(points, tiles);
        ours * 100 < direct * WORTH
    }

    fn rewrite(&self, transform: &Transform, b: &mut Rewriter<'c>) {
        let (op, cx) = (self.op, self.op.cx());
        b.go_before(op);
        let (points, [th, tw]) = (UNDER * UNDER, self.tiles());
        let (n, c, o, tile) = (self.batch, self.channels, self.features, TILE as i64);
        let element = op.result(0).ty().element();
        let ty = |shape: &[i64]| cx.tensor(shape, element);
        let x = self.input(b);
        let attrs = [
            ("sizes", cx.i64s_attr(&[UNDER, UNDER])),
            ("strides", cx.i64s_attr(&[tile, tile])),
            ("dilations", cx.i64s_attr(&[1, 1])),
            ("dims", cx.i64s_attr(&[1, 2])),
        ];
        let x = b.value(prim::SlidingWindow::NAME, &[x], ty(&[n, th, tw, c, UNDER, UNDER]), &attrs);
        let x = transpose(b, x, &[0, 1, 2, 4, 5, 3]);
        let x = transform_tiles(b, x, [3, 4], &transform.input, UNDER);
        let x = b.value(prim::Reshape::NAME, &[x], ty(&[n * th * tw, points, c]), &[]);
        let w = mix_weights(b, self, transform);
        let lists = [("lhs_batch", 1), ("rhs_batch", 0), ("lhs_contract", 2), ("rhs_contract", 1)];
        let y = b.value(prim::Dot::NAME, &[x, w], ty(&[points, n * th * tw, o]), &lists.map(|(name, dim)| (name, cx.i64s_attr(&[dim]))));
        let y = b.value(prim::Reshape::NAME, &[y], ty(&[UNDER, UNDER, n, th, tw, o]), &[]);
        let y = transpose(b, y, &[2, 3, 0, 4, 1, 5]);
        let y = transform_tiles(b, y, [2, 4], &transform.result, tile);
        sink::follow(op, y, b);
    }

    /// The input, with zeros behind its end where the last tiles reach beyond.
    fn input(&self, b: &mut Builder<'c>) -> Value<'c> {
        let x = self.op.operand(0);
        let mut high: Vec<i64> = vec![0; 4];
        for (dim, tiles) in self.tiles().into_iter().enumerate() {
            high[dim + 1] = tiles * TILE as i64 + UNDER - TILE as i64 - x.ty().shape()[dim + 1];
        }
        if high.iter().all(|&n| n == 0) {
            return x;
        }
        let grown: Vec<i64> = x.ty().shape().iter().zip(&high).map(|(size, more)| size + more).collect();
        let (ty, cx) = (x.ty().with_shape(&grown), b.cx());
        // The padding of the convolution grows, where there is one.
        let padding = x.defining_op().filter(|pad| pad.isa::<prim::Pad>() && pad.num_operands() == 2 && is_zero(pad.operand(1)));
        if let Some(pad) = padding
            && let Some(before) = pad.ints("high").filter(|high| high.iter().all(|&n| n >= 0))
        {
            let high: Vec<i64> = before.iter().zip(&high).map(|(before, more)| before + more).collect();
            let mut attrs: Vec<_> = ["low", "interior"].into_iter().filter_map(|name| Some((name, pad.attr(name)?))).collect();
            attrs.push(("high", cx.i64s_attr(&high)));
            return b.value(prim::Pad::NAME, &pad.operands(), ty, &attrs);
        }
        let zero = zero(b, x.ty().element());
        let none = cx.i64s_attr(&[0; 4]);
        b.value(prim::Pad::NAME, &[x, zero], ty, &[("low", none), ("high", cx.i64s_attr(&high)), ("interior", none)])
    }
}

/// The weights, transformed: `[points, channels, features]`.
fn mix_weights<'c>(b: &mut Builder<'c>, of: &Convolution<'c>, transform: &Transform) -> Value<'c> {
    let mut w = of.op.operand(1);
    let (cx, element, window) = (b.cx(), w.ty().element(), WINDOW as i64);
    if of.panels {
        w = transpose(b, w, &[1, 2, 3, 0, 4]);
        w = b.value(prim::Reshape::NAME, &[w], cx.tensor(&[window, window, of.channels, of.features], element), &[]);
    }
    let w = transform_tiles(b, w, [0, 1], &transform.weights, UNDER);
    b.value(prim::Reshape::NAME, &[w], cx.tensor(&[UNDER * UNDER, of.channels, of.features], element), &[])
}

/// Whether a value is a constant zero.
fn is_zero(value: Value<'_>) -> bool {
    let bytes = value.defining_op().filter(|op| op.isa::<prim::Constant>()).and_then(|op| op.attr("value")?.as_dense());
    bytes.is_some_and(|(bytes, _)| bytes.iter().all(|&byte| byte == 0))
}

fn transpose<'c>(b: &mut Builder<'c>, x: Value<'c>, perm: &[usize]) -> Value<'c> {
    let shape: Vec<i64> = perm.iter().map(|&dim| x.ty().shape()[dim]).collect();
    let perm: Vec<i64> = perm.iter().map(|&dim| dim as i64).collect();
    let perm = b.cx().i64s_attr(&perm);
    b.value(prim::Transpose::NAME, &[x], x.ty().with_shape(&shape), &[("perm", perm)])
}

fn transform_tiles<'c>(b: &mut Builder<'c>, x: Value<'c>, dims: [usize; 2], matrix: &[f64], rows: i64) -> Value<'c> {
    let mut shape = x.ty().shape();
    dims.iter().for_each(|&dim| shape[dim] = rows);
    let attrs = [("dims", b.cx().i64s_attr(&dims.map(|dim| dim as i64))), ("matrix", b.cx().f64s_attr(matrix))];
    b.value(prim::LinearTransform::NAME, &[x], x.ty().with_shape(&shape), &attrs)
}
