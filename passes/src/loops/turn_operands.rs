//! `--turn-operands`: an operand that lies across a result whose rows are short, or across many of its rows, is turned around first, by a
//! kernel of its own.
//!
//! Lanes turn a square of two dims in registers, and they interleave short rows. What needs both at once does neither: the phases of a
//! transposed convolution, from pixels with their channels to rows of channels, are one load and sixteen stores. Turned so that the longer dim
//! before the short one is the last, it is two kernels at the speed of memory.
//!
//! An operand of small elements that lies across a result and is read for many elements of it, a transposed matrix of halves that is added to a
//! batch of them, is turned once instead of each time.
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

/// An operand that is read so many times is turned first, where its elements have so many bits at most: squares in registers have as many rows as
/// there are lanes. A transposed 512x512 that is added to 8 and to 16 matrices takes two threads of a Zen 4, in microseconds, turned and not, 123
/// and 153, 242 and 336 in f16, 207 and 152, 224 and 313 in bf16, but 277 and 208, 652 and 478 in f32.
const AGAIN: i64 = 16;
const MOST_BITS: u32 = 16;

/// Turns operands around that lie across results with short rows, or are read again and again across rows.
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
    let Some(order) = remarks.found(stage.op, order(&view, stage, operand, target)) else { return false };
    let (cx, symbols) = (module.cx(), view.sizes.num_symbols());
    let (tensor, map) = (stage.op.operand(operand), stage.maps[operand]);
    let extents = view.shapes()[tensor.index()].results();
    let shape: Vec<_> = order.iter().map(|&at| extents[at]).collect();
    let index = |at: usize| order.iter().position(|&of| of == at).map_or(cx.constant(0), |place| cx.dim(place));
    let read: Vec<_> = (0..extents.len()).map(index).collect();
    let reads = vec![(cx.map(order.len(), symbols, &read), false)];
    let copy = CopyKernel::new(&view, tensor, &format!("turn{operand}"), (&shape, tensor.ty().element()), reads);
    copy.write(|_, elements| elements[0]);
    let indices = map.results();
    let access: Vec<_> = order.iter().map(|&at| indices[at]).collect();
    copy.read_instead(module, &view, stage, operand, &access, rewriter);
    true
}

/// An operand of a kernel that maps, by the dims that its indices go along.
struct Across {
    /// The dim of each index; none where an index stays.
    indices: Vec<Option<usize>>,
    /// The dim that neighbours in memory go along.
    fastest: usize,
}

/// The order of the operand's indices in the copy.
fn order(kernel: &KernelView<'_>, stage: &StageView<'_>, operand: usize, target: &Target) -> Result<Vec<usize>, NoMatch> {
    let tensor = stage.op.operand(operand);
    let dims = stage.result_dims();
    let mapped = stage.reduce.is_empty() && !stage.is_scatter() && stage.scan.is_none() && dims == stage.domain;
    if !mapped || tensor.defining_op().is_some() {
        return Err("it is no element for each of the result's".into());
    }
    let bits = tensor.ty().element_type().map_or(64, |element| element.bits().max(8));
    let elements = product_of_known(dims.iter().map(|&dim| kernel.static_size(dim)));
    if elements.is_some_and(|elements| elements.saturating_mul(i64::from(bits) / 8) < target.l1.bytes) {
        return Err("it stays in the first cache".into());
    }
    let lanes = target.lanes(bits);
    let across = across(kernel, stage, operand, lanes)?;
    // The result's dims as the copy has them, slowest first.
    let dims = match bits <= MOST_BITS && is_read_again(kernel, &dims, &across) {
        true => dims,
        false => beside_short_rows(kernel, stage, &across, lanes)?,
    };
    let place = |at: &usize| across.indices[*at].and_then(|dim| dims.iter().position(|&of| of == dim));
    let mut order: Vec<usize> = (0..across.indices.len()).collect();
    order.sort_by_key(place);
    Ok(order)
}

/// How an operand lies, if neighbours of the result's rows are not neighbours in it.
fn across(kernel: &KernelView<'_>, stage: &StageView<'_>, operand: usize, lanes: i64) -> Result<Across, NoMatch> {
    let size = |dim: usize| kernel.static_size(dim);
    let along = |expr: AffineExpr<'_>| match expr.kind() {
        AffineKind::Constant(_) => Some(None),
        AffineKind::Dim(dim) => Some(Some(dim)),
        AffineKind::Add(lhs, rhs) => match (lhs.kind(), rhs.as_constant()) {
            (AffineKind::Dim(dim), Some(_)) => Some(Some(dim)),
            _ => None,
        },
        _ => None,
    };
    let indices: Option<Vec<_>> = stage.maps[operand].results().into_iter().map(along).collect();
    let indices = indices.ok_or("its elements are not in the order of the result's dims")?;
    let known: Vec<usize> = indices.iter().copied().flatten().collect();
    if known.iter().enumerate().any(|(at, dim)| known[..at].contains(dim)) {
        return Err("two of its indices go along one dim".into());
    }
    let fastest = indices.last().copied().flatten().ok_or("its rows have one element")?;
    if size(fastest).is_none_or(|size| size < lanes) {
        return Err("it lies in short rows itself".into());
    }
    Ok(Across { indices, fastest })
}

/// Whether an operand that lies across rows is read again and again along a dim of the result: turned in registers it would be each time.
fn is_read_again(kernel: &KernelView<'_>, dims: &[usize], across: &Across) -> bool {
    let reads = |dim: &usize| across.indices.contains(&Some(*dim));
    let Some(last) = dims.last().filter(|dim| **dim != across.fastest && reads(dim)) else { return false };
    let times = product_of_known(dims.iter().filter(|dim| !reads(dim)).map(|&dim| kernel.static_size(dim)));
    kernel.static_size(*last).is_none_or(|size| size > SHORT) && times.is_some_and(|times| times >= AGAIN)
}

/// The result's dims, the last two of them exchanged, where the result has short rows and the operand lies across the dims before these.
fn beside_short_rows(kernel: &KernelView<'_>, stage: &StageView<'_>, across: &Across, lanes: i64) -> Result<Vec<usize>, NoMatch> {
    let dims = stage.result_dims();
    let [around @ .., along, short] = dims.as_slice() else { return Err("its result has no rows".into()) };
    let size = |dim: usize| kernel.static_size(dim);
    if !size(*short).is_some_and(|size| (2..=SHORT).contains(&size)) || size(*along).is_none_or(|size| size < lanes) {
        return Err("the result's rows are not short, or those before them are".into());
    }
    if across.indices.len() != dims.len() || !dims.iter().all(|dim| across.indices.contains(&Some(*dim))) {
        return Err("it has another element for several of the result's".into());
    }
    if !around.contains(&across.fastest) {
        return Err("it lies along the result's last dims, or in short rows itself".into());
    }
    Ok([around, &[*short, *along]].concat())
}
