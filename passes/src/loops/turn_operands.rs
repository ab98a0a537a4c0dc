//! `--turn-operands`: an operand that lies across a result whose rows are short is turned around first, by a kernel of its own.
//!
//! Lanes turn a square of two dims in registers, and they interleave short rows. What needs both at once does neither: the phases of a
//! transposed convolution, from pixels with their channels to rows of channels, are one load and sixteen stores. Turned so that the longer dim
//! before the short one is the last, it is two kernels at the speed of memory.
//!
//! ```mlir
//! %0 = loop.call @k0(%x)                     // a result of 112x64x128x2, x is read at (d1, d2, d3, d0)
//! // becomes
//! %t = loop.call @k0.turn0(%x)               // tensor<112x64x2x128xf32>
//! %0 = loop.call @k0(%t)                     // t is read at (d0, d1, d3, d2)
//! ```

use crate::loops::copy_kernel::CopyKernel;
use strata_core::ir::{AffineExpr, AffineKind, Op};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::remark::Remarks;
use strata_core::rewrite::{NoMatch, Rewriter};
use strata_dialects::loops;
use strata_dialects::loops::view::{KernelView, StageView, product_of_known};
use strata_dialects::target::Target;

/// Rows of so many elements are interleaved at most (`emit/interleave.rs`).
const SHORT: i64 = 8;

/// Turns operands of results with short rows around.
#[derive(Pass)]
#[pass(dependents("loop"))]
pub struct TurnOperands {
    /// Operands turned.
    turned: Counter,
}

impl Pass for TurnOperands {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let target = Target::of(op)?;
        let mut rewriter = cx.rewriter();
        for kernel in op.find_all(loops::Kernel::NAME) {
            let count = KernelView::new(kernel).and_then(|view| Some(view.stages.first()?.maps.len())).unwrap_or(0);
            for operand in 0..count {
                if turn(op, kernel, operand, &target, cx.remarks(), &mut rewriter) {
                    self.turned.add(1);
                }
            }
        }
        Ok(())
    }
}

/// Turns one operand of a kernel, where that pays.
fn turn<'c>(module: Op<'c>, kernel: Op<'c>, operand: usize, target: &Target, remarks: Remarks, rewriter: &mut Rewriter<'c>) -> bool {
    let Some(view) = KernelView::new(kernel) else { return false };
    let [stage] = view.stages.as_slice() else { return false };
    let Some(dims) = remarks.found(stage.op, order(&view, stage, operand, target)) else { return false };
    let (cx, symbols) = (module.cx(), view.sizes.num_symbols());
    let sizes = view.sizes.results();
    let shape: Vec<_> = dims.iter().map(|&dim| sizes[dim]).collect();
    let (tensor, map) = (stage.op.operand(operand), stage.maps[operand]);
    let own: Vec<_> =
        (0..view.num_dims()).map(|dim| dims.iter().position(|&of| of == dim).map_or(cx.constant(0), |at| cx.dim(at))).collect();
    let read = map.results().into_iter().map(|expr| expr.compose(cx.map(dims.len(), symbols, &own))).collect::<Vec<_>>();
    let reads = vec![(cx.map(dims.len(), symbols, &read), false)];
    let copy = CopyKernel::new(&view, tensor, &format!("turn{operand}"), (&shape, tensor.ty().element()), reads);
    copy.write(|_, elements| elements[0]);
    let access: Vec<_> = dims.iter().map(|&dim| cx.dim(dim)).collect();
    copy.read_instead(module, &view, stage, operand, &access, rewriter);
    true
}

/// The dims of the copy: those of the result, the last two of them exchanged.
fn order(kernel: &KernelView<'_>, stage: &StageView<'_>, operand: usize, target: &Target) -> Result<Vec<usize>, NoMatch> {
    let (dims, tensor) = (stage.result_dims(), stage.op.operand(operand));
    let mapped = stage.reduce.is_empty() && !stage.is_scatter() && stage.scan.is_none() && dims == stage.domain;
    let [around @ .., along, short] = dims.as_slice() else { return Err("its result has no rows".into()) };
    if !mapped || stage.guarded[operand] || tensor.defining_op().is_some() {
        return Err("it is no element for each of the result's".into());
    }
    let size = |dim: usize| kernel.static_size(dim);
    let bits = tensor.ty().element_type().map_or(64, |element| element.bits().max(8));
    let lanes = target.lanes(bits);
    if !size(*short).is_some_and(|size| (2..=SHORT).contains(&size)) || size(*along).is_none_or(|size| size < lanes) {
        return Err("the result's rows are not short, or those before them are".into());
    }
    let of = |expr: &AffineExpr<'_>| match expr.kind() {
        AffineKind::Dim(dim) => Some(dim),
        _ => None,
    };
    let read: Option<Vec<usize>> = stage.maps[operand].results().iter().map(of).collect();
    let read = read.filter(|read| read.len() == dims.len() && dims.iter().all(|dim| read.contains(dim)));
    let fastest = read.and_then(|read| read.last().copied()).ok_or("it has another element for several of the result's")?;
    if !around.contains(&fastest) || size(fastest).is_none_or(|size| size < lanes) {
        return Err("it lies along the result's last dims, or in short rows itself".into());
    }
    let bytes = product_of_known(dims.iter().map(|&dim| size(dim))).map(|elements| elements.saturating_mul(i64::from(bits) / 8));
    if bytes.is_some_and(|bytes| bytes < target.l1.bytes) {
        return Err("it stays in the first cache".into());
    }
    Ok([around, &[*short, *along]].concat())
}
