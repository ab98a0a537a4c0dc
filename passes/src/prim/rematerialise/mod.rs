//! `--rematerialise`: what a backward reads is computed again from less where that saves memory.
//!
//! The forward is what the outputs are computed from, the backward all else: gradients, and what a step of training writes. A value of the
//! forward that the backward reads lives from the one to the other. Of these values the cheapest set is saved from which the backward can
//! compute the others: a minimum cut of the graph of the forward, in which a value costs its bytes, more the further it is from the
//! backward, and twice as much where it stays in registers otherwise. What is not saved is computed again in front of its first reader.
//!
//! Computed again are pointwise ops and views. With `budget`, a part of the bytes that are saved then, or `bytes` also reductions, gathers
//! and contractions, those first that free most for their arithmetic, until so much or less is saved. Random numbers, sorts, library calls
//! and control flow are never repeated.
//!
//! ```mlir
//! func.func @f(%x: tensor<8xf32>, %g: tensor<8xf32>) -> (tensor<8xf32> {capture.kind = "output"}, tensor<8xf32> {capture.gradient = "x", capture.kind = "output"}) attributes {capture.entry} {
//!   %0 = prim.exp %x : tensor<8xf32>
//!   %1 = prim.sin %0 : tensor<8xf32>
//!   %2 = prim.cos %0 : tensor<8xf32>
//!   %3 = prim.mul %g, %2 : tensor<8xf32>
//!   return %1, %3 : tensor<8xf32>, tensor<8xf32>
//! }
//! // becomes
//! func.func @f(%x: tensor<8xf32>, %g: tensor<8xf32>) -> (tensor<8xf32> {capture.kind = "output"}, tensor<8xf32> {capture.gradient = "x", capture.kind = "output"}) attributes {capture.entry, capture.saved = array<i64: 32, 0>} {
//!   %0 = prim.exp %x : tensor<8xf32>
//!   %1 = prim.sin %0 : tensor<8xf32>
//!   %2 = prim.exp %x : tensor<8xf32>
//!   %3 = prim.cos %2 : tensor<8xf32>
//!   %4 = prim.mul %g, %3 : tensor<8xf32>
//!   return %1, %4 : tensor<8xf32>, tensor<8xf32>
//! }
//! ```

mod cut;

use std::collections::{HashMap, HashSet};

use strata_core::ir::{Op, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::Rewriter;
use strata_dialects::capture;

use super::halves::Halves;
use cut::{Again, cut};

/// Computes values of the forward again in the backward.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim"))]
pub struct Rematerialise {
    /// The part that may be saved of the bytes that are saved where cheap ops alone are repeated.
    #[option(default = 1.0)]
    budget: f64,
    /// The bytes that may be saved, in the place of `budget`; 0 says nothing.
    #[option(default = 0)]
    bytes: i64,
    /// Bytes saved without this pass.
    saved_before: Counter,
    /// Bytes saved with it.
    saved: Counter,
    /// Ops computed again.
    repeated: Counter,
}

impl Pass for Rematerialise {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        if op.attr(capture::ENTRY).is_none() {
            return Ok(());
        }
        if !(0.0..=1.0).contains(&self.budget) || self.bytes < 0 {
            return Err(PassError::new("budget is a number from 0 to 1, and bytes are not negative"));
        }
        if self.bytes > 0 && self.budget < 1.0 {
            return Err(PassError::new("budget and bytes say the same in two ways; give one of them"));
        }
        let Some(halves) = Halves::of(op) else { return Ok(()) };
        let before = halves.kept(halves.read());
        let mut again = Again::cheap(&halves);
        let mut saved = cut(&halves, &again);
        let limit = match self.bytes {
            0 if self.budget < 1.0 => Some((halves.kept(saved.iter().copied()) as f64 * self.budget) as u64),
            0 => None,
            bytes => Some(bytes as u64),
        };
        while let Some(limit) = limit {
            let now = halves.kept(saved.iter().copied());
            if now <= limit {
                break;
            }
            if !again.allow_next(&saved) {
                cx.remarks().missed(op, format!("{now} bytes are saved where {limit} are asked for: what is left is never repeated"));
                break;
            }
            saved = cut(&halves, &again);
        }
        let kept = halves.kept(saved.iter().copied());
        self.saved_before.add(before as usize);
        self.saved.add(kept as usize);
        let mut repeat =
            Repeat { halves: &halves, saved: saved.into_iter().collect(), copies: HashMap::new(), made: 0, rewriter: cx.rewriter() };
        repeat.all();
        self.repeated.add(repeat.made);
        repeat.rewriter.set_attr(op, capture::SAVED, op.cx().i64s_attr(&[before as i64, kept as i64]));
        Ok(())
    }
}

/// Puts what is computed again in front of its first reader.
struct Repeat<'c, 'h> {
    halves: &'h Halves<'c>,
    saved: HashSet<Op<'c>>,
    copies: HashMap<Op<'c>, Op<'c>>,
    made: usize,
    rewriter: Rewriter<'c>,
}

impl<'c> Repeat<'c, '_> {
    fn all(&mut self) {
        for &reader in &self.halves.backward {
            for value in self.halves.reads(reader) {
                let again = self.again(value, reader);
                if again != value {
                    self.rewriter.replace_uses_if(value, again, |user| self.halves.statement(user.op) == Some(reader));
                }
            }
        }
    }

    /// The value as the backward has it: itself where it is saved or was never of the forward.
    fn again(&mut self, value: Value<'c>, reader: Op<'c>) -> Value<'c> {
        let Some(op) = value.defining_op().filter(|op| self.halves.is_value(*op) && !self.saved.contains(op)) else { return value };
        if let Some(copy) = self.copies.get(&op) {
            return copy.result(value.index());
        }
        let operands: Vec<_> = op.operands().into_iter().map(|operand| self.again(operand, reader)).collect();
        self.rewriter.go_before(reader);
        let copy = self.rewriter.clone_op(op, &operands);
        self.copies.insert(op, copy);
        self.made += 1;
        copy.result(value.index())
    }
}
