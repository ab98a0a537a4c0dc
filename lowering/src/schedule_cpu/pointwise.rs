//! Kernels without a reduction.

use super::access::{Stride, stride};
use super::cost::side_by_side;
use super::frame::Frame;

/// Edges of the blocks in which an operand is read across its rows: runs of memory long enough, and few enough pages at a time.
const BLOCK: i64 = 128;

/// Writes the schedule of a kernel of maps, scans and scatters.
pub fn schedule(frame: &Frame<'_, '_>) {
    let Some(vector) = frame.vector else { return frame.write_own(None) };
    if let Some(along) = turned(frame, vector).filter(|_| !frame.told) {
        return write_turned(frame, vector, along);
    }
    let wanted = frame.kernel.stages.iter().map(side_by_side).min().unwrap_or(1);
    let enough = frame.size(vector) >= wanted * frame.width_along(vector);
    frame.write_outer(vector, |dim| if dim == vector && enough { wanted } else { 1 });
}

/// The outer dim that some operand is contiguous along while lanes run across its rows.
fn turned(frame: &Frame<'_, '_>, vector: usize) -> Option<usize> {
    let [stage] = frame.kernel.stages.as_slice() else { return None };
    if stage.is_scatter() || stage.scan.is_some() || frame.width_along(vector) < frame.width {
        return None;
    }
    let accesses = || stage.op.operands().into_iter().zip(&stage.maps);
    let across = |dim: usize| {
        dim != vector
            && frame.size(dim) >= frame.width
            && accesses().any(|(operand, map)| stride(*map, operand, dim) == Stride::One && stride(*map, operand, vector) == Stride::Other)
    };
    frame.kernel.outer.iter().copied().find(|&dim| across(dim))
}

/// As many copies along the operand's own dim as there are lanes, in blocks of both dims.
fn write_turned(frame: &Frame<'_, '_>, vector: usize, along: usize) {
    let (stage, cx) = (&frame.kernel.stages[0], frame.kernel.op.cx());
    let mut order: Vec<_> = frame.order().into_iter().filter(|&dim| dim != along && dim != vector).collect();
    order.extend([along, vector]);
    let list = |of: &dyn Fn(usize) -> i64| cx.i64s_attr(&order.iter().map(|&dim| of(dim)).collect::<Vec<_>>());
    let entries = [
        ("unroll", list(&|dim| if dim == along { frame.width } else { 1 })),
        ("block", list(&|dim| if dim == along || dim == vector { BLOCK } else { 0 })),
        ("vector", cx.i64_attr(vector as i64)),
        ("width", cx.i64_attr(frame.width)),
    ];
    frame.write(&order, &entries);
    stage.op.set_attr("schedule", cx.dict_attr(&[("turn", cx.i64_attr(along as i64))]));
}
