//! Reductions that accumulate in memory: the loops over what is reduced stand outside, so that memory is read in its own order.
//!
//! A column sum in registers would touch one line of every row; here some rows at a time are added to the sums of all columns.

use super::Error;
use super::emitter::Emitter;
use super::lanes::{self, Point};
use super::nest::{Copy, Loop};
use super::non_temporal::Route;
use super::reducer::{Reducer, start_in_lanes};
use strata_core::ir::Value;
use strata_dialects::loops::view::StageView;

impl<'c> Emitter<'c> {
    /// Writes a reduction whose loops over `parallel` dims run inside those over `reduced` dims, `steps` of the last of these at a
    /// time. Its result must be in memory.
    pub(super) fn outer_reduction(
        &mut self,
        stage: &StageView<'c>,
        copies: &[Copy<'c>],
        (parallel, reduced): (&[Loop<'c>], &[Loop<'c>]),
        (reducer, steps): (Reducer, i64),
    ) -> Result<(), Error> {
        let result = stage.op.result(0);
        let buffer = self.buffers.get(&result).cloned().ok_or_else(|| Error::at(stage.op, "its result is nowhere in memory"))?;
        let start = reducer.start(&mut self.b);
        self.nest(parallel, copies, Vec::new(), &mut |emitter, copies, carried| {
            let start = start_in_lanes(&mut emitter.b, start, emitter.width);
            for copy in copies {
                emitter.write(stage, result, copy, start)?;
            }
            Ok(carried)
        })?;
        let mut outside = reduced.to_vec();
        if let Some(last) = outside.last_mut() {
            last.unroll = steps.max(1);
        }
        let dims = stage.result_dims();
        self.nest(&outside, copies, Vec::new(), &mut |emitter, rows, carried| {
            emitter.nest(parallel, rows, Vec::new(), &mut |emitter, copies, carried| {
                emitter.reads.clear();
                let yields = emitter.bodies(stage, copies)?;
                let mut sums: Vec<(Point<'c>, Vec<Value<'c>>)> = Vec::new();
                for (copy, values) in copies.iter().zip(yields) {
                    let value = lanes_of(emitter, values[0]);
                    let place: Point<'c> = dims.iter().map(|&dim| copy.point[dim]).collect();
                    match sums.iter_mut().find(|(known, _)| *known == place) {
                        Some((_, values)) => values.push(value),
                        None => sums.push((place, vec![value])),
                    }
                }
                emitter.reads.clear();
                // The copies of one turn have the same lanes on.
                emitter.mask = copies.first().and_then(|copy| copy.mask);
                for (place, values) in sums {
                    let sum = reducer.tree(&mut emitter.b, values);
                    let mut point = vec![None; emitter.kernel.num_dims()];
                    for (&dim, coord) in dims.iter().zip(place) {
                        point[dim] = coord;
                    }
                    let indices: Vec<_> = dims.iter().map(|&dim| emitter.index(&point, emitter.cx.dim(dim))).collect();
                    let before = emitter.load_at(&buffer, &indices);
                    let after = reducer.combine(&mut emitter.b, before, sum);
                    emitter.store(&buffer, &indices, after, Route::Through);
                }
                Ok(carried)
            })?;
            Ok(carried)
        })?;
        Ok(())
    }
}

fn lanes_of<'c>(emitter: &mut Emitter<'c>, value: Value<'c>) -> Value<'c> {
    let width = emitter.width;
    if width > 1 { lanes::in_lanes(&mut emitter.b, value, width) } else { value }
}
