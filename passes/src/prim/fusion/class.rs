//! What fusion needs to know of an op.

use super::kernel::reduced_dims;
use strata_core::ir::{ElementType, Op, Type, Value};
use strata_dialects::capture::Permute;
use strata_dialects::loops;
use strata_dialects::prim::{self, Cost, Pointwise};

/// How an op takes part in fusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Has no tensor operand and costs nothing per element: made again wherever it is read.
    Source,
    /// One element from the elements at the same index, at a cost: what has the interface `Pointwise`.
    Pointwise(Cost),
    /// An index transformation.
    View(View),
    /// Reads a kernel input at computed indices.
    Gather,
    /// `reduce`, `arg_reduce` and `segment_reduce`.
    Reduce,
    /// `dot`, `conv`, `linear_transform` and `softmax_dot`.
    Contract,
    /// `scan` and `scatter`: writes its whole result in the order of its points, and ends its kernel.
    InOrder,
    /// A kernel, library call or host op of its own.
    Alone,
}

/// Kinds of index transformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Each element is read at one place, or repeated along dimensions: `broadcast`, `transpose`, `slice`, `reverse`.
    Plain,
    /// Elements are read several times or not at all, with a condition: `pad`, `window`, `concat`.
    Guarded,
    /// `reshape`, and words of the same memory: free between kernels.
    Reshape,
}

/// Largest number of elements of a constant that is written into kernels; larger ones are kernel inputs, as are all but splats.
fn is_inline_constant(op: Op<'_>) -> bool {
    op.attr("value").and_then(|value| value.as_dense()).is_some_and(|(_, splat)| splat)
}

/// Whether an op computes each element from the elements at the same index.
pub fn is_pointwise(op: Op<'_>) -> bool {
    matches!(classify(op), Class::Pointwise(_))
}

/// The class of an op. What is not known makes a kernel of its own.
pub fn classify(op: Op<'_>) -> Class {
    if op.num_results() != 1 || !op.result(0).ty().is_tensor() {
        return Class::Alone;
    }
    // A part of a number is read where it lies.
    if op.isa::<prim::Real>() || op.isa::<prim::Imag>() {
        return Class::View(View::Plain);
    }
    if let Some(pointwise) = op.interface::<dyn Pointwise>() {
        return Class::Pointwise(pointwise.cost());
    }
    match op.name() {
        prim::Constant::NAME if is_inline_constant(op) => Class::Source,
        prim::Iota::NAME | prim::Splat::NAME => Class::Source,
        prim::Broadcast::NAME | prim::Transpose::NAME | prim::Slice::NAME | prim::Reverse::NAME => Class::View(View::Plain),
        prim::Pad::NAME | prim::SlidingWindow::NAME | prim::Concat::NAME => Class::View(View::Guarded),
        prim::Reshape::NAME | loops::Words::NAME => Class::View(View::Reshape),
        prim::Gather::NAME => Class::Gather,
        prim::Reduce::NAME | prim::ArgReduce::NAME | prim::SegmentReduce::NAME => Class::Reduce,
        prim::Dot::NAME | prim::Conv::NAME | prim::LinearTransform::NAME | prim::SoftmaxDot::NAME => Class::Contract,
        prim::Scan::NAME | prim::Scatter::NAME => Class::InOrder,
        _ => Class::Alone,
    }
}

/// Whether an op may be made again for each reader instead of sharing one value.
pub fn is_free(op: Op<'_>) -> bool {
    match classify(op) {
        Class::Source | Class::View(View::Plain | View::Reshape) => true,
        Class::Pointwise(_)
        | Class::View(View::Guarded)
        | Class::Gather
        | Class::Reduce
        | Class::Contract
        | Class::InOrder
        | Class::Alone => false,
    }
}

/// Whether each reader has its own: what is free, halves made wide, which take one instruction and twice the memory, windows with the
/// pads under them, which hold the same elements many times, and tensors without their mean.
pub fn is_own(op: Op<'_>) -> bool {
    let is_window = |op: Op<'_>| op.isa::<prim::SlidingWindow>();
    let under_windows = || op.isa::<prim::Pad>() && op.result(0).uses().into_iter().all(|user| is_window(user.op));
    is_free(op) || widens(op) || is_window(op) || under_windows() || normalises(op)
}

/// Ops between a tensor and a number that normalises it, at most: mean, variance and its root with what is added take ten.
const NORMALISING: usize = 16;

/// Whether an op combines a tensor with what a reduction of its columns gave, as in `x - mean(x)`. The tensor is in memory by then: one
/// instruction on it costs less than a second tensor of its size. (A row that is reduced is in the cache, and one kernel does both.)
fn normalises(op: Op<'_>) -> bool {
    if classify(op) != Class::Pointwise(Cost::Cheap) || op.num_operands() != 2 {
        return false;
    }
    let (tensor, other) = (op.operand(0), op.operand(1));
    let repeats = |value: Value<'_>| value.defining_op().is_some_and(|op| op.isa::<prim::Broadcast>());
    tensor.ty() == op.result(0).ty() && !repeats(tensor) && repeats(other) && is_reduced_from(other, tensor)
}

/// Whether a value is computed from a reduction of a tensor's columns, by few ops.
fn is_reduced_from(value: Value<'_>, tensor: Value<'_>) -> bool {
    let (mut open, mut seen, mut reduces) = (vec![value], Vec::new(), false);
    while let Some(value) = open.pop() {
        if value == tensor {
            return reduces;
        }
        let Some(op) = value.defining_op().filter(|op| !seen.contains(op)) else { continue };
        if seen.len() == NORMALISING {
            return false;
        }
        seen.push(op);
        match classify(op) {
            Class::Reduce => {
                let (dims, last) = (reduced_dims(op), op.operand(0).ty().rank().checked_sub(1));
                reduces = last.is_some_and(|last| !dims.contains(&last));
                if !reduces {
                    return false;
                }
            }
            Class::Pointwise(_) | Class::View(View::Plain | View::Reshape) => {}
            _ => continue,
        }
        open.extend(op.operands());
    }
    false
}

/// Whether an op makes halves wide.
pub fn widens(op: Op<'_>) -> bool {
    let bits = |ty: Type<'_>| ty.element_type().filter(|element| element.is_float()).map(ElementType::bits);
    op.isa::<prim::Convert>() && bits(op.operand(0).ty()) == Some(16) && bits(op.result(0).ty()) == Some(32)
}

/// Whether a view puts elements next to each other that were apart: then a copy is faster to read than the view.
pub fn reorders(op: Op<'_>) -> bool {
    op.isa::<prim::Transpose>()
}

/// Whether executing the op does nothing but compute its results.
pub fn is_pure(op: Op<'_>) -> bool {
    matches!(op.dialect(), "prim" | "arith" | "math" | "complex" | "affine" | "tensor") || op.is(Permute::NAME)
}

/// The only op that reads a value, however often.
pub fn sole_reader(value: Value<'_>) -> Option<Op<'_>> {
    let uses = value.uses();
    let first = uses.first()?.op;
    uses.iter().all(|using| using.op == first).then_some(first)
}
