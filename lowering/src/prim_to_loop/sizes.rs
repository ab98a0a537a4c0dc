//! Sizes of the values inside a fusion, in terms of values outside of it.

use super::{Error, outer_value};
use strata_core::ir::{Builder, DYNAMIC, Op, Value};
use strata_core::upstream::arith;
use strata_dialects::prim;
use strata_dialects::prim::layout::ConvLayout;
use strata_dialects::prim::sizes::{self, Arithmetic};

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
    match sizes::of(op).as_deref().and_then(|sizes| sizes.get(dim)) {
        Some(size) => size.eval(&mut Outside { fusion, op }),
        None => Err(Error::at(op, format!("the size of result dimension {dim} is not known"))),
    }
}

/// Sizes of the results of an op in a fusion, computed before the fusion.
struct Outside<'c> {
    fusion: Op<'c>,
    op: Op<'c>,
}

impl<'c> Arithmetic for Outside<'c> {
    type Size = Size<'c>;
    type Error = Error;

    fn known(&mut self, size: i64) -> Size<'c> {
        Size::Static(size)
    }

    fn of(&mut self, operand: usize, dim: usize) -> Result<Size<'c>, Error> {
        size_of(self.fusion, self.op.operand(operand), dim)
    }

    fn index(&mut self, operand: usize) -> Result<Size<'c>, Error> {
        resolve(self.fusion, self.op, self.op.operand(operand))
    }

    /// The one that a type knows, if there is one.
    fn same(&mut self, same: &[sizes::Size]) -> Result<Size<'c>, Error> {
        let is_known = |size: &&sizes::Size| match size {
            sizes::Size::Of(operand, dim) => self.op.operand(*operand).ty().shape()[*dim] != DYNAMIC,
            size => matches!(size, sizes::Size::Known(_)),
        };
        same.iter().find(is_known).unwrap_or(&same[0]).eval(self)
    }

    fn add(&mut self, a: Size<'c>, b: Size<'c>) -> Result<Size<'c>, Error> {
        Ok(arith(self.fusion, arith::AddI::NAME, a, b))
    }

    fn sub(&mut self, a: Size<'c>, b: Size<'c>) -> Result<Size<'c>, Error> {
        Ok(arith(self.fusion, arith::SubI::NAME, a, b))
    }

    fn mul(&mut self, a: Size<'c>, b: Size<'c>) -> Result<Size<'c>, Error> {
        Ok(arith(self.fusion, arith::MulI::NAME, a, b))
    }

    fn div(&mut self, a: Size<'c>, by: i64) -> Result<Size<'c>, Error> {
        Ok(arith(self.fusion, arith::FloorDivSI::NAME, a, Size::Static(by)))
    }

    fn at_least(&mut self, a: Size<'c>, low: i64) -> Result<Size<'c>, Error> {
        Ok(arith(self.fusion, arith::MaxSI::NAME, a, Size::Static(low)))
    }
}

/// Where the dims of a convolution stand.
pub fn conv_layout(op: Op<'_>) -> Result<ConvLayout, Error> {
    ConvLayout::of(op).map_err(|error| Error::at(op, error.to_string()))
}

/// The number of features of a convolution.
pub fn features<'c>(fusion: Op<'c>, op: Op<'c>, layout: &ConvLayout) -> Result<Size<'c>, Error> {
    layout.features(|dim| size_of(fusion, op.operand(1), dim), |blocks, own| Ok(arith(fusion, arith::MulI::NAME, blocks?, own?)))
}

/// A size outside of the fusion.
fn outer_size<'c>(fusion: Op<'c>, outer: Value<'c>, dim: usize) -> Size<'c> {
    let mut b = Builder::before(fusion);
    let (index, at) = (b.cx().index(), b.cx().i64_attr(dim as i64));
    Size::Value(b.value(prim::Dim::NAME, &[outer], index, &[("dim", at)]))
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
    let constant = value.defining_op().filter(|op| op.isa::<arith::Constant>()).and_then(|op| op.attr("value")?.as_int());
    constant.map_or(Size::Value(value), Size::Static)
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

/// Integer arithmetic on sizes, folded where both are known.
pub fn arith<'c>(fusion: Op<'c>, name: &str, lhs: Size<'c>, rhs: Size<'c>) -> Size<'c> {
    if let (Size::Static(lhs), Size::Static(rhs)) = (lhs, rhs) {
        return Size::Static(match name {
            arith::AddI::NAME => lhs + rhs,
            arith::SubI::NAME => lhs - rhs,
            arith::MulI::NAME => lhs * rhs,
            arith::MaxSI::NAME => lhs.max(rhs),
            _ => lhs.div_euclid(rhs),
        });
    }
    match (name, lhs, rhs) {
        (arith::AddI::NAME | arith::SubI::NAME, size, Size::Static(0))
        | (arith::MulI::NAME | arith::FloorDivSI::NAME, size, Size::Static(1)) => size,
        (arith::AddI::NAME, Size::Static(0), size) => size,
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
