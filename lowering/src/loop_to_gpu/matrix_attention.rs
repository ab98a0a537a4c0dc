//! Means of halves by matrix units: a warp has sixteen rows. What a lane has of the scores is what it must have of the weights, so that these
//! stay in its registers.
//!
//! A weight is f32. The units get it as a half and another one for what that leaves out, so that no bits are lost that a mean of halves shows.
//! An infinite value is weighed by the first one alone: what is left out may be nothing, or negative.

use super::attention::read_by_value;
use super::matrix::{Matrix, multiplies};
use super::tiles::{Part, Tiles};
use crate::emit::Error;
use crate::emit::emitter::Emitter;
use crate::num::Num;
use strata_core::ir::{ElementType, Value};
use strata_core::upstream::arith;
use strata_dialects::loops::attention::AttentionView;
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::target::gpu::WARP;

/// Rows of a warp.
pub const ROWS: i64 = 16;
/// Lanes that share a row.
pub const LANES: i64 = 4;
/// Keys, or columns of values, that come together.
pub const COLUMNS: i64 = 16;

/// What weights are multiplied by: small ones of f16 would be zero, and no weight is above one.
pub const WEIGHT: f64 = 16384.0;

/// The operand of a mean that has the values, where scores and means of these rows are both products of halves of one type. Each operand moves along two
/// of the dims of rows, keys, columns and what scores are summed along.
pub fn values_in_halves(kernel: &KernelView<'_>, view: &AttentionView, row: usize) -> Option<usize> {
    let (mean, scores, column) = (&kernel.stages[view.mean], &kernel.stages[view.scores?], view.column?);
    let element = multiplies(scores).filter(|element| matches!(element, ElementType::F16 | ElementType::BF16))?;
    let &[operand] = read_by_value(mean).as_slice() else { return None };
    let value = mean.op.body(0).terminator()?.operand(1).defining_op().filter(|op| op.isa::<arith::ExtF>())?.operand(0);
    let tensor = mean.op.operand(operand);
    let once = mean.op.operands().iter().filter(|&&other| other == tensor).count() == 1 && !mean.guarded[operand];
    let plain = once && value == mean.op.body(0).arg(operand) && tensor.ty().element_type() == Some(element);
    let single = mean.op.result(0).ty().element_type() == Some(ElementType::F32);
    let moves = |stage: &StageView<'_>, at: usize, dims: &[usize], other: usize| {
        let uses = |dim: usize| stage.maps[at].results().iter().any(|expr| expr.uses_dim(dim));
        dims.iter().all(|&dim| uses(dim)) && !uses(other)
    };
    let depths = scores.reduce.as_slice();
    let [query, key] = operands_of_scores(scores, view.key)?;
    let apart = moves(scores, query, &[&[row], depths].concat(), view.key) && moves(scores, key, &[&[view.key], depths].concat(), row);
    (plain && single && apart && moves(mean, operand, &[view.key, column], row)).then_some(operand)
}

/// The operands of scores, that of the rows and that of the keys.
pub fn operands_of_scores(scores: &StageView<'_>, key: usize) -> Option<[usize; 2]> {
    let uses = |at: &usize| scores.maps[*at].results().iter().any(|expr| expr.uses_dim(key));
    let (keys, queries): (Vec<_>, Vec<_>) = (0..scores.maps.len()).partition(uses);
    Some([*queries.first()?, *keys.first()?])
}

/// Sums as units have them, four for each, of sums line by line.
pub fn to_units<'c>(sums: &[Value<'c>]) -> Vec<Value<'c>> {
    let each = sums.len() / 2;
    (0..sums.len()).map(|k| sums[k % 4 / 2 * each + k / 4 * 2 + k % 2]).collect()
}

/// And back.
pub fn from_units<'c>(sums: &[Value<'c>]) -> Vec<Value<'c>> {
    let each = sums.len() / 2;
    (0..sums.len()).map(|k| sums[k % each / 2 * 4 + k / each * 2 + k % 2]).collect()
}

impl<'c> Emitter<'c> {
    /// Adds the values of a block of keys, weighed, to sums line by line.
    pub(super) fn weigh(
        &mut self,
        (tiles, matrix, part): (&Tiles, &Matrix, &Part<'c>),
        weights: &[Vec<Value<'c>>],
        sums: &[Value<'c>],
        thread: Num<'c>,
    ) -> Result<Vec<Value<'c>>, Error> {
        let element = part.buffer.element;
        let mut sums = to_units(sums);
        let lane = thread.modulo(&mut self.b, Num::Const(WARP));
        for keys in 0..tiles.step / COLUMNS {
            let at = (keys * 4) as usize;
            // Both rows at two keys, then at those eight further on.
            let [near, far] = [at, at + 2].map(|at| [0, 1].map(|line| self.pair(element, [weights[line][at], weights[line][at + 1]])));
            for (unit, columns) in self.columns(matrix, tiles, part, lane, keys * COLUMNS).into_iter().enumerate() {
                let four = &mut sums[4 * unit..4 * unit + 4];
                let finite = columns.map(|word| self.finite(element, word));
                for (part, columns) in [columns, finite].into_iter().enumerate() {
                    let rows = [near[0][part], near[1][part], far[0][part], far[1][part]];
                    let columns = columns.map(|word| self.halves(element, word));
                    let made = self.multiply(element, &rows, &columns, four);
                    four.copy_from_slice(&made);
                }
            }
        }
        Ok(from_units(&sums))
    }

    /// A word of two halves, with zero for those that are infinite or NaN.
    fn finite(&mut self, element: ElementType, halves: Value<'c>) -> Value<'c> {
        // The bits of an exponent, and the lowest one: added to an exponent of ones it reaches the sign.
        let (exponent, one) = if element == ElementType::F16 { (0x7C00_7C00, 0x0400_0400) } else { (0x7F80_7F80, 0x0080_0080) };
        let int = self.cx.int(32);
        let mut with = |name: &str, value: Value<'c>, number: i64| {
            let number = self.b.const_int(int, number);
            self.b.value(name, &[value, number], int, &[])
        };
        let bits = with(arith::AndI::NAME, halves, exponent);
        let bits = with(arith::AddI::NAME, bits, one);
        let bits = with(arith::ShRUI::NAME, bits, 15);
        let bits = with(arith::AndI::NAME, bits, 0x0001_0001);
        let lost = with(arith::MulI::NAME, bits, 0xFFFF);
        let kept = with(arith::XOrI::NAME, lost, -1);
        arith::andi(&mut self.b, halves, kept)
    }

    /// Two weights as a word of halves, and what that leaves out as another one.
    fn pair(&mut self, element: ElementType, weights: [Value<'c>; 2]) -> [Value<'c>; 2] {
        let cx = self.cx;
        let (half, short, word) = (cx.element(element), cx.int(16), cx.int(32));
        let (mut firsts, mut rests) = (Vec::new(), Vec::new());
        for weight in weights {
            let first = arith::truncf(&mut self.b, weight, half);
            let wide = arith::extf(&mut self.b, first, cx.f32());
            let rest = arith::subf(&mut self.b, weight, wide);
            firsts.push(first);
            rests.push(arith::truncf(&mut self.b, rest, half));
        }
        let by = self.b.const_int(word, 16);
        [firsts, rests].map(|halves| {
            let [low, high] = [halves[0], halves[1]].map(|half| {
                let bits = arith::bitcast(&mut self.b, half, short);
                arith::extui(&mut self.b, bits, word)
            });
            let high = arith::shli(&mut self.b, high, by);
            let both = arith::ori(&mut self.b, low, high);
            self.halves(element, both)
        })
    }
}
