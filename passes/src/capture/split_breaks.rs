//! `--split-breaks`: each part of a program with graph breaks is a function that returns what the next part takes.
//!
//! Exactly when a function ends in `capture.graph_break`. The function keeps the attribute `capture.break`, which says where the
//! program goes on. With `only=NAME` the other parts leave the module and that one is the entry: parts are compiled one by one,
//! because the host runs code of its own between them. Functions that are no part of the captured program stay.
//!
//! ```mlir
//! func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {capture.entry} {
//!   capture.graph_break %x {resume = @rest, reason = "print"} : (tensor<4xf32>) -> ()
//! }
//! func.func @rest(%x: tensor<4xf32>) -> tensor<4xf32> attributes {capture.resume} {
//!   return %x : tensor<4xf32>
//! }
//! // becomes
//! func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {capture.break = {reason = "print", resume = @rest}, capture.entry} {
//!   return %x : tensor<4xf32>
//! }
//! func.func @rest(%x: tensor<4xf32>) -> tensor<4xf32> attributes {capture.resume} {
//!   return %x : tensor<4xf32>
//! }
//! ```

use strata_core::ir::{Builder, Op};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::upstream::func;
use strata_dialects::capture;
use strata_dialects::capture::{BREAK, GraphBreak, RESUME, is_part};

/// Makes every graph break a return.
#[derive(Pass)]
#[pass(dependents("func"))]
pub struct SplitBreaks {
    /// Keep this part of the program alone, as the entry; all when empty.
    only: String,
    /// Graph breaks.
    breaks: Counter,
}

impl Pass for SplitBreaks {
    fn run<'c>(&self, module: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        let parts: Vec<_> = module.body(0).ops().into_iter().filter(|op| op.isa::<func::Func>()).collect();
        if !self.only.is_empty() {
            keep(module, &parts, &self.only)?;
        }
        for op in module.find_all(GraphBreak::NAME) {
            if let (Some(end), Some(function)) = (GraphBreak::cast(op), op.parent()) {
                split(function, end);
                self.breaks.add(1);
            }
        }
        Ok(())
    }
}

/// Erases the other parts.
fn keep(module: Op<'_>, functions: &[Op<'_>], name: &str) -> Result<(), PassError> {
    let is_kept = |function: &Op<'_>| function.str("sym_name").as_deref() == Some(name);
    let Some(kept) = functions.iter().copied().find(is_kept) else {
        return Err(PassError::at(module, &format!("has no function `@{name}` to keep")));
    };
    functions.iter().filter(|function| !is_kept(function) && is_part(**function)).for_each(|function| function.erase());
    if kept.remove_attr(RESUME) {
        kept.set_attr(capture::ENTRY, module.cx().unit());
    }
    Ok(())
}

fn split<'c>(function: Op<'c>, end: GraphBreak<'c>) {
    let cx = function.cx();
    let next = cx.dict_attr(&[("resume", cx.symbol_attr(&end.resume())), ("reason", cx.str_attr(&end.reason()))]);
    function.set_attr(BREAK, next);
    func::ret(&mut Builder::before(end.op()), &end.values());
    end.op().erase();
}
