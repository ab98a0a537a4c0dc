//! Gradients of weights: convolutions of few results with windows as large as images.
//!
//! The gradient of 3 by 3 weights is a convolution of the input, whose channels stand for images, with the gradient of the result, whose
//! images stand for channels. Its window is cut into tiles of 4 by 4. Each makes 3 by 3 results of the 6 by 6 elements under it
//! (`matrices.rs` with 3 results and 4 weights), and all of them are summed before they are transformed to results: the sum over tiles and
//! images is that of the batched `dot`.
//!
//! ```mlir
//! %0 = prim.conv %x, %dy {...} : (tensor<64x4x58x58xf32>, tensor<64x4x56x56xf32>) -> tensor<64x64x3x3xf32>
//! // becomes
//! %0 = prim.linear_transform %x_tiles {...} -> tensor<4x14x14x6x6x64xf32>     // of a sliding_window, 6 by 6
//! %1 = prim.linear_transform %dy_tiles {...} -> tensor<4x14x14x6x6x64xf32>    // of tiles of 4 by 4
//! %2 = prim.dot %0, %1 {...} -> tensor<36x64x64xf32>                          // after reshapes, over the 784 tiles
//! %3 = prim.linear_transform %2 {...} -> tensor<3x3x64x64xf32>                // after a reshape
//! ```

use super::matrices::{TILE, Transform, WINDOW};
use super::tiles::{grown, input_tiles, transform_tiles};
use super::{NUMBERS, UNDER, cheaper};
use crate::prim::channels_last::order::transpose;
use strata_core::ir::{ElementType, Op};
use strata_core::rewrite::{NoMatch, Rewriter};
use strata_dialects::prim;

const TILE_SIZE: i64 = TILE as i64;
const RESULTS: i64 = WINDOW as i64;

/// A gradient that is cheaper by tiles.
pub struct WeightGradient<'c> {
    pub(super) op: Op<'c>,
    /// Images of the program.
    images: i64,
    channels: i64,
    features: i64,
    /// Rows and columns of the window.
    window: [i64; 2],
}

impl<'c> WeightGradient<'c> {
    /// Of a convolution in the plain order.
    pub fn of(op: Op<'c>) -> Result<Self, NoMatch> {
        let all = |name: &str, number: i64| op.ints(name).is_some_and(|list| list.iter().all(|&n| n == number));
        let plain = all("strides", 1) && all("lhs_dilation", 1) && all("rhs_dilation", 1) && all("low", 0) && all("high", 0);
        let (result, window) = (op.result(0).ty(), op.operand(1).ty());
        if !plain || op.int("groups") != Some(1) {
            return Err("its window moves by more than one, is dilated or padded, or it has groups".into());
        }
        if !matches!(result.element_type(), Some(ElementType::F32 | ElementType::F64)) {
            return Err("its elements are neither f32 nor f64".into());
        }
        if ![result, window, op.operand(0).ty()].iter().all(|ty| ty.is_static()) {
            return Err("its sizes are not known".into());
        }
        let ([channels, features, RESULTS, RESULTS], [_, images, rows, columns]) = (&result.shape()[..], &window.shape()[..]) else {
            return Err("it is not channels-last, and has not 3 by 3 results".into());
        };
        let found = Self { op, images: *images, channels: *channels, features: *features, window: [*rows, *columns] };
        if found.pays() { Ok(found) } else { Err("transformed tiles would cost more than the direct products".into()) }
    }

    /// Tiles along the two dims of the window.
    fn tiles(&self) -> [i64; 2] {
        self.window.map(|size| (size + TILE_SIZE - 1) / TILE_SIZE)
    }

    fn pays(&self) -> bool {
        let Self { images, channels, features, window, .. } = *self;
        let tiles = images * self.tiles().iter().product::<i64>();
        let bytes = self.op.result(0).ty().element_type().map_or(4, |element| element.bytes()) as i64;
        let (points, weights) = (NUMBERS, channels * features);
        // Tiles and results are written and read; those of the input are put into the order of the sum in between.
        let moved = bytes * points * (tiles * (4 * channels + 2 * features) + 2 * weights);
        let direct = 2 * RESULTS * RESULTS * images * window.iter().product::<i64>() * weights;
        cheaper([2 * points * tiles * weights, moved], direct)
    }

    pub fn rewrite(&self, transform: &Transform, b: &mut Rewriter<'c>) {
        let (op, cx) = (self.op, self.op.cx());
        b.go_before(op);
        let (points, [th, tw]) = (NUMBERS, self.tiles());
        let (n, c, o) = (self.images, self.channels, self.features);
        let element = op.result(0).ty().element();
        let ty = |shape: &[i64]| cx.tensor(shape, element);
        let ints = |list: &[i64]| cx.i64s_attr(list);

        let x = grown(b, op.operand(0), [2, 3], [th, tw].map(|tiles| tiles * TILE_SIZE + UNDER - TILE_SIZE));
        let x = transpose(b, x, &[1, 2, 3, 0]);
        let x = input_tiles(b, x, [th, tw], transform);

        let dy = grown(b, op.operand(1), [2, 3], [th, tw].map(|tiles| tiles * TILE_SIZE));
        let dy = transpose(b, dy, &[1, 2, 3, 0]);
        let dy = b.value(prim::Reshape::NAME, &[dy], ty(&[n, th, TILE_SIZE, tw, TILE_SIZE, o]), &[]);
        let dy = transpose(b, dy, &[0, 1, 3, 2, 4, 5]);
        let dy = transform_tiles(b, dy, [3, 4], &transform.weights, UNDER);
        let dy = b.value(prim::Reshape::NAME, &[dy], ty(&[n * th * tw, points, o]), &[]);

        let lists = [("lhs_batch", 1), ("rhs_batch", 1), ("lhs_contract", 0), ("rhs_contract", 0)];
        let dw = b.value(prim::Dot::NAME, &[x, dy], ty(&[points, c, o]), &lists.map(|(name, dim)| (name, ints(&[dim]))));
        let dw = b.value(prim::Reshape::NAME, &[dw], ty(&[UNDER, UNDER, c, o]), &[]);
        let dw = transform_tiles(b, dw, [0, 1], &transform.result, RESULTS);
        let dw = transpose(b, dw, &[2, 3, 0, 1]);
        b.replace(op, &[dw]);
    }
}
