//! Sizes of the values inside a fusion, in terms of values outside of it.

use super::{Error, outer_value};
use strata_core::ir::{Builder, DYNAMIC, Op, Value};
use strata_dialects::prim::layout::ConvLayout;
use strata_dialects::prim::view::windowed;

/// The size of one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size<'c> {
    /// Known while compiling.
    Static(i64),
    /// An `index` value outside of the fusion.
    Value(Value<'c>),
}

/// The size of dimension `dim` of a value inside `fusion`. May add `prim.dim` and arithmetic before the fusion.
pub fn size_of<'c>(fusion: Op<'c>, value: Value<'c>, dim: usize) -> Result<Size<'c>, Error> {
    let size = value.ty().shape()[dim];
    if size != DYNAMIC {
        return Ok(Size::Static(size));
    }
    let Some(op) = value.defining_op().filter(|op| op.parent() == Some(fusion)) else {
        let outer =
            if value.owner_block().and_then(|block| block.parent_op()) == Some(fusion) { outer_value(fusion, value) } else { value };
        return Ok(outer_size(fusion, outer, dim));
    };
    let ints = |name: &str| op.ints(name).unwrap_or_default();
    let through = |operand: usize, dim: usize| size_of(fusion, op.operand(operand), dim);
    match op.name() {
        "prim.broadcast" => match ints("dims").iter().position(|&at| at == dim as i64) {
            Some(source) if op.operand(0).ty().shape()[source] != 1 => through(0, source),
            _ => trailing(fusion, op, 1, value, dim),
        },
        "prim.reshape" => trailing(fusion, op, 1, value, dim),
        "prim.iota" => trailing(fusion, op, 0, value, dim),
        "prim.transpose" => through(0, ints("perm")[dim] as usize),
        "prim.reverse" | "prim.scan" => through(0, dim),
        "prim.slice" => slice_size(fusion, op, dim),
        "prim.reduce" => through(0, kept(op.operand(0), &ints("dims"))[dim]),
        "prim.arg_reduce" => through(0, kept(op.operand(0), &[op.int("dim").unwrap_or_default()])[dim]),
        "prim.dot" => {
            let (lhs, rhs) = dot_dims(op);
            if dim < lhs.len() { through(0, lhs[dim]) } else { through(1, rhs[dim - lhs.len()]) }
        }
        "prim.gather" => {
            let dims = ints("dims");
            let index_rank = op.operand(1).ty().rank();
            if dim < index_rank { through(1, dim) } else { through(0, kept(op.operand(0), &dims)[dim - index_rank]) }
        }
        "prim.scatter" | "prim.dynamic_update" => through(0, dim),
        "prim.concat" if op.int("dim") != Some(dim as i64) => through(0, dim),
        "prim.pad" | "prim.window" | "prim.conv" | "prim.concat" => computed(fusion, op, dim),
        _ if op.operands().iter().any(|operand| operand.ty().rank() == value.ty().rank()) => {
            let operand = op.operands().iter().position(|operand| operand.ty().rank() == value.ty().rank());
            through(operand.unwrap_or_default(), dim)
        }
        _ => Err(Error::at(op, format!("the size of result dimension {dim} is not known"))),
    }
}

/// Operand dims that are not in `dropped`, in order.
pub fn kept(operand: Value<'_>, dropped: &[i64]) -> Vec<usize> {
    (0..operand.ty().rank()).filter(|dim| !dropped.contains(&(*dim as i64))).collect()
}

/// For each result dim of a `prim.dot`: the lhs dims (batch, then free), and the rhs free dims.
pub fn dot_dims(op: Op<'_>) -> (Vec<usize>, Vec<usize>) {
    let ints = |name: &str| op.ints(name).unwrap_or_default();
    let (lhs_batch, rhs_batch) = (ints("lhs_batch"), ints("rhs_batch"));
    let free = |operand: usize, batch: &[i64], contract: Vec<i64>| kept(op.operand(operand), &[batch, &contract].concat());
    let mut lhs: Vec<usize> = lhs_batch.iter().map(|&dim| dim as usize).collect();
    lhs.extend(free(0, &lhs_batch, ints("lhs_contract")));
    (lhs, free(1, &rhs_batch, ints("rhs_contract")))
}

/// A size outside of the fusion.
fn outer_size<'c>(fusion: Op<'c>, outer: Value<'c>, dim: usize) -> Size<'c> {
    let mut b = Builder::before(fusion);
    let (index, at) = (b.cx().index(), b.cx().i64_attr(dim as i64));
    Size::Value(b.value("prim.dim", &[outer], index, &[("dim", at)]))
}

/// The trailing `index` operand that belongs to a `?` of the result; they start at operand `first`.
fn trailing<'c>(fusion: Op<'c>, op: Op<'c>, first: usize, value: Value<'c>, dim: usize) -> Result<Size<'c>, Error> {
    let dynamic = value.ty().shape()[..dim].iter().filter(|&&size| size == DYNAMIC).count();
    if first + dynamic >= op.num_operands() {
        return Err(Error::at(op, format!("result dimension {dim} has no size operand")));
    }
    resolve(fusion, op, op.operand(first + dynamic))
}

/// An `index` value inside the fusion, as one outside of it.
pub fn resolve<'c>(fusion: Op<'c>, op: Op<'c>, value: Value<'c>) -> Result<Size<'c>, Error> {
    let inside = value.owner_block().and_then(|block| block.parent_op()) == Some(fusion);
    if inside {
        return Ok(constant_or(outer_value(fusion, value)));
    }
    match value.defining_op() {
        Some(def) if def.parent() == Some(fusion) => match def.attr("value").and_then(|attr| attr.as_int()) {
            Some(constant) => Ok(Size::Static(constant)),
            None => Err(Error::at(op, "an index value is computed inside the fusion; move the computation out of it")),
        },
        _ => Ok(constant_or(value)),
    }
}

fn constant_or(value: Value<'_>) -> Size<'_> {
    let constant = value.defining_op().filter(|op| op.is("arith.constant")).and_then(|op| op.attr("value")?.as_int());
    constant.map_or(Size::Value(value), Size::Static)
}

/// Size of a sliced dimension: static, or the trailing operand (offsets come before sizes).
fn slice_size<'c>(fusion: Op<'c>, op: Op<'c>, dim: usize) -> Result<Size<'c>, Error> {
    let offsets = op.ints("offsets").unwrap_or_default();
    let sizes = op.ints("sizes").unwrap_or_default();
    if sizes[dim] != DYNAMIC {
        return Ok(Size::Static(sizes[dim]));
    }
    let dynamic_offsets = offsets.iter().filter(|&&offset| offset == DYNAMIC).count();
    let before = sizes[..dim].iter().filter(|&&size| size == DYNAMIC).count();
    resolve(fusion, op, op.operand(1 + dynamic_offsets + before))
}

/// Sizes that follow from a formula over operand sizes: computed as `arith` before the fusion.
fn computed<'c>(fusion: Op<'c>, op: Op<'c>, dim: usize) -> Result<Size<'c>, Error> {
    let ints = |name: &str| op.ints(name).unwrap_or_default();
    match op.name() {
        "prim.concat" => {
            let mut total = Size::Static(0);
            for operand in op.operands() {
                let size = size_of(fusion, operand, dim)?;
                total = arith(fusion, "arith.addi", total, size);
            }
            Ok(total)
        }
        "prim.pad" => {
            let size = size_of(fusion, op.operand(0), dim)?;
            let interior = ints("interior").get(dim).copied().unwrap_or(0);
            let low = pad_amount(fusion, op, "low", dim)?;
            let high = pad_amount(fusion, op, "high", dim)?;
            let spread = if interior == 0 {
                size
            } else {
                let gaps = arith(fusion, "arith.subi", size, Size::Static(1));
                let filled = arith(fusion, "arith.muli", gaps, Size::Static(interior));
                arith(fusion, "arith.addi", size, filled)
            };
            let sum = arith(fusion, "arith.addi", spread, low);
            Ok(arith(fusion, "arith.addi", sum, high))
        }
        "prim.window" => {
            let (sizes, rank) = (ints("sizes"), op.operand(0).ty().rank());
            if dim >= rank {
                return Ok(Size::Static(sizes[dim - rank]));
            }
            let size = size_of(fusion, op.operand(0), dim)?;
            match windowed(rank, sizes.len(), op.ints("dims")).iter().position(|&at| at == dim) {
                Some(at) => Ok(windows(fusion, size, sizes[at], ints("strides")[at], ints("dilations")[at])),
                None => Ok(size),
            }
        }
        _ => {
            let layout = conv_layout(op)?;
            if dim == layout.result.batch {
                return size_of(fusion, op.operand(0), layout.lhs.batch);
            }
            if dim == layout.result.channel {
                return features(fusion, op, &layout);
            }
            let at = layout.result.space.iter().position(|&space| space == dim).unwrap_or_default();
            let size = size_of(fusion, op.operand(0), layout.lhs.space[at])?;
            let weight = size_of(fusion, op.operand(1), layout.rhs.space[at])?;
            let Size::Static(weight) = weight else {
                return Err(Error::at(op, "the kernel's spatial size is not known"));
            };
            let pads = ints("low")[at] + ints("high")[at];
            let dilation = ints("lhs_dilation").get(at).copied().unwrap_or(1);
            let gaps = arith(fusion, "arith.subi", size, Size::Static(1));
            let spread = arith(fusion, "arith.muli", gaps, Size::Static(dilation));
            let padded = arith(fusion, "arith.addi", spread, Size::Static(1 + pads));
            Ok(windows(fusion, padded, weight, ints("strides")[at], ints("rhs_dilation").get(at).copied().unwrap_or(1)))
        }
    }
}

/// Where the dims of a convolution stand.
pub fn conv_layout(op: Op<'_>) -> Result<ConvLayout, Error> {
    ConvLayout::of(op).map_err(|error| Error::at(op, error.to_string()))
}

/// The number of features of a convolution.
pub fn features<'c>(fusion: Op<'c>, op: Op<'c>, layout: &ConvLayout) -> Result<Size<'c>, Error> {
    layout.features(|dim| size_of(fusion, op.operand(1), dim), |blocks, own| Ok(arith(fusion, "arith.muli", blocks?, own?)))
}

/// The padding at one side of one dimension: an attribute entry, or the trailing operand (low before high).
pub fn pad_amount<'c>(fusion: Op<'c>, op: Op<'c>, side: &str, dim: usize) -> Result<Size<'c>, Error> {
    let low = op.ints("low").unwrap_or_default();
    let values = op.ints(side).unwrap_or_default();
    if values[dim] != DYNAMIC {
        return Ok(Size::Static(values[dim]));
    }
    let dynamic = |values: &[i64]| values.iter().filter(|&&value| value == DYNAMIC).count();
    let before = if side == "high" { dynamic(&low) } else { 0 } + dynamic(&values[..dim]);
    resolve(fusion, op, op.operand(2 + before))
}

/// `(size - (window - 1) * dilation - 1) / stride + 1`.
fn windows<'c>(fusion: Op<'c>, size: Size<'c>, window: i64, stride: i64, dilation: i64) -> Size<'c> {
    let room = arith(fusion, "arith.subi", size, Size::Static((window - 1) * dilation + 1));
    let steps = arith(fusion, "arith.floordivsi", room, Size::Static(stride));
    arith(fusion, "arith.addi", steps, Size::Static(1))
}

/// Integer arithmetic on sizes, folded where both are known.
pub fn arith<'c>(fusion: Op<'c>, name: &str, lhs: Size<'c>, rhs: Size<'c>) -> Size<'c> {
    if let (Size::Static(lhs), Size::Static(rhs)) = (lhs, rhs) {
        return Size::Static(match name {
            "arith.addi" => lhs + rhs,
            "arith.subi" => lhs - rhs,
            "arith.muli" => lhs * rhs,
            _ => lhs.div_euclid(rhs),
        });
    }
    match (name, lhs, rhs) {
        ("arith.addi" | "arith.subi", size, Size::Static(0)) | ("arith.muli" | "arith.floordivsi", size, Size::Static(1)) => size,
        ("arith.addi", Size::Static(0), size) => size,
        _ => {
            let mut b = Builder::before(fusion);
            let mut value = |size: Size<'c>| match size {
                Size::Static(size) => b.const_index(size),
                Size::Value(value) => value,
            };
            let (lhs, rhs) = (value(lhs), value(rhs));
            let index = b.cx().index();
            Size::Value(b.value(name, &[lhs, rhs], index, &[]))
        }
    }
}
