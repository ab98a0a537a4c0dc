//! The last outer loop apart for each stage (`fission` in a kernel's schedule).
//!
//! A scatter of rows shares with the stage that makes what it writes to one loop, along a row. Around both, it goes down a strip of
//! columns, and takes a few elements of each row:
//!
//! ```text
//! for j { for i { y[i, j] = x[i, j] }  for k { y[at[k], j] += u[k, j] } }
//! ```
//!
//! With a loop along the rows for each stage, memory is read and written row by row. Threads still share the columns, so each element
//! meets what is added to it in the same order.
//!
//! ```text
//! for i { for j { y[i, j] = x[i, j] } }  for k { for j { y[at[k], j] += u[k, j] } }
//! ```

use super::Error;
use super::emitter::Emitter;
use super::nest::{Copy, Loop};
use strata_dialects::loops::view::StageView;

impl<'c> Emitter<'c> {
    /// The stages inside of the other outer loops, each around the last one.
    pub(super) fn fission(&mut self, around: &[Loop<'c>], last: Loop<'c>) -> Result<(), Error> {
        self.blocked(around, &[], &mut |emitter, copies, carried| {
            for stage in &emitter.stages() {
                match emitter.copies_apart(stage) {
                    Some(apart) => emitter.when(apart, |emitter| emitter.around_last(stage, copies, last))?,
                    None => emitter.around_last(stage, copies, last)?,
                }
            }
            Ok(carried)
        })
    }

    /// One stage: its own loops, then the last outer one.
    fn around_last(&mut self, stage: &StageView<'c>, copies: &[Copy<'c>], last: Loop<'c>) -> Result<(), Error> {
        let own: Vec<_> = self.inner_loops(stage, copies.first())?.into_iter().map(|lp| Loop { width: 1, unroll: 1, ..lp }).collect();
        let loops: Vec<_> = own.into_iter().chain([last]).collect();
        // Inside, no loop of the stage is left.
        let outer = std::mem::take(&mut self.kernel.outer);
        self.kernel.outer = outer.iter().chain(&stage.domain).copied().collect();
        let written = self.nest(&loops, copies, Vec::new(), &mut |emitter, copies, carried| {
            let copies: Vec<_> = copies.iter().map(|copy| Copy { outer: copy.slot, ..copy.clone() }).collect();
            emitter.one_stage(stage, &copies)?;
            Ok(carried)
        });
        self.kernel.outer = outer;
        written.map(|_| ())
    }
}
