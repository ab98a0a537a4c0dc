//! A driver that visits ops in the order of the program, with an analysis that grows as patterns rewrite.

use super::patterns::Rule;
use super::{Patterns, Rewriter};
use crate::ir::{Block, Op};
use crate::pass::Incremental;

/// Sweeps over the IR. One is enough unless a pattern looks past its operands; more only happens to patterns that undo each other.
const MAX_SWEEPS: usize = 8;

/// Applies patterns below `op` until none matches, and erases pure ops that nothing uses. Gives the number of rewrites.
///
/// Blocks are walked in order, so that operands are rewritten before their users, and what a pattern made before what follows.
/// MLIR's greedy driver ([`super::apply_greedily`]) has no analysis that it could keep true.
pub fn apply_in_order<A: Incremental>(op: Op<'_>, patterns: Patterns<'_, A>) -> usize {
    let rules = patterns.into_rules();
    let mut driver = Driver { rules: &rules, rewriter: Rewriter::in_order(op), first: true, rewrites: 0 };
    for _ in 0..MAX_SWEEPS {
        let before = driver.rewrites;
        driver.visit_regions(op);
        if driver.rewrites == before {
            break;
        }
        driver.first = false;
    }
    let Driver { rewriter, rewrites, .. } = driver;
    erase_unused(op, &rewriter);
    rewrites
}

struct Driver<'a, 'c, A: Incremental> {
    rules: &'a [Rule<A>],
    rewriter: Rewriter<'c, A>,
    /// The first sweep says why patterns do not match, the next ones would say it again.
    first: bool,
    rewrites: usize,
}

impl<'c, A: Incremental> Driver<'_, 'c, A> {
    fn visit_regions(&mut self, op: Op<'c>) {
        for block in op.regions().into_iter().flat_map(|region| region.blocks()) {
            for op in block.ops() {
                self.visit_regions(op);
                self.visit(op);
            }
        }
    }

    fn visit(&mut self, op: Op<'c>) {
        if self.rewriter.is_erased(op) {
            return;
        }
        let name = op.name();
        for rule in self.rules.iter().filter(|rule| rule.root.is_empty() || rule.root == name) {
            self.rewriter.visit(op);
            if rule.apply(op, &mut self.rewriter, self.first) {
                self.rewrites += 1;
                self.rewriter.take_made().into_iter().for_each(|op| self.visit(op));
                return;
            }
        }
    }
}

/// Erases what patterns replaced, and ops that nobody would miss.
fn erase_unused<'c, A: Incremental>(op: Op<'c>, rewriter: &Rewriter<'c, A>) {
    for block in op.regions().into_iter().flat_map(|region| region.blocks()).collect::<Vec<Block<'c>>>() {
        for op in block.ops().into_iter().rev() {
            match rewriter.is_erased(op) || op.is_dead() {
                true => op.erase(),
                false => erase_unused(op, rewriter),
            }
        }
    }
}
