//! Fusions that one kernel cannot hold: a kernel for each result, and where that is not enough one for each op.

use super::Error;
use super::kernel::lower;
use std::collections::HashMap;
use strata_core::ir::{Op, OpSpec};
use strata_core::remark::Remarks;
use strata_core::rewrite::Rewriter;
use strata_dialects::prim;

/// Fusions that became several kernels.
pub struct Splits {
    /// Where each is reported.
    pub remarks: Remarks,
    /// How many there were.
    pub count: usize,
}

impl Splits {
    /// Takes a fusion apart that one kernel cannot hold, for the reason `error`; its error where nothing can be taken apart.
    pub fn split<'c>(&mut self, module: Op<'c>, fusion: Op<'c>, name: &str, error: Error) -> Result<(), Error> {
        let several = fusion.num_results() > 1;
        if !several && fusion.body(0).ops().len() <= 2 {
            return Err(error);
        }
        self.count += 1;
        self.remarks.missed(fusion, format_args!("becomes several kernels, because one cannot hold it: {error}"));
        if several { split_results(module, fusion, name, self) } else { split_ops(module, fusion, name, self) }
    }
}

/// Makes a kernel of each result: what they share is computed in each.
fn split_results<'c>(module: Op<'c>, fusion: Op<'c>, name: &str, splits: &mut Splits) -> Result<(), Error> {
    let mut values = Vec::new();
    let mut parts = Vec::new();
    let mut b = Rewriter::before(fusion);
    for index in 0..fusion.num_results() {
        b.go_before(fusion);
        let (operands, result) = (fusion.operands(), [fusion.result(index).ty()]);
        let part = b.op(OpSpec { name: prim::Fusion::NAME, operands: &operands, results: &result, regions: 1, ..OpSpec::default() });
        let types: Vec<_> = operands.iter().map(|value| value.ty()).collect();
        let block = b.add_block(part.region(0), &types);
        let mut known: HashMap<_, _> = fusion.body(0).args().into_iter().zip(block.args()).collect();
        b.set_at_end(block);
        for op in fusion.body(0).ops() {
            let mapped: Vec<_> = op.operands().into_iter().map(|value| known.get(&value).copied().unwrap_or(value)).collect();
            if op.isa::<prim::Yield>() {
                b.effect(prim::Yield::NAME, &[mapped[index]], &[]);
                continue;
            }
            let copy = b.clone_op(op, &mapped);
            known.extend(op.results().into_iter().zip(copy.results()));
        }
        for op in block.ops().into_iter().rev() {
            if !op.isa::<prim::Yield>() && op.is_unused() {
                b.erase(op);
            }
        }
        values.push(part.result(0));
        parts.push(part);
    }
    b.replace(fusion, &values);
    for (count, part) in parts.into_iter().enumerate() {
        lower(module, part, &format!("{name}_{count}"), splits)?;
    }
    Ok(())
}

/// Takes a fusion apart and makes a kernel of each op.
fn split_ops<'c>(module: Op<'c>, fusion: Op<'c>, name: &str, splits: &mut Splits) -> Result<(), Error> {
    let (block, mut rewriter) = (fusion.body(0), Rewriter::before(fusion));
    let mut ops = block.ops();
    ops.retain(|op| !op.isa::<prim::Yield>());
    let results = rewriter.inline_body_before(block, fusion, &fusion.operands());
    rewriter.replace(fusion, &results);
    for (count, op) in ops.into_iter().enumerate().filter(|(_, op)| super::becomes_kernel(*op)) {
        lower(module, super::wrap(op), &format!("{name}_{count}"), splits)?;
    }
    Ok(())
}
