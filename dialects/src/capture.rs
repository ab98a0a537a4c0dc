//! What the front end saw around the operators: sizes of the inputs with their ranges, bound shapes, and guards.
//!
//! Every op of this level speaks about the call, so none is dead when its result is unused: each has a write effect.

use strata_core::prelude::*;

/// The dialect.
pub static CAPTURE: DialectDef = DialectDef {
    name: "capture",
    doc: "The program as it was captured: symbolic sizes, their ranges, and the conditions on a call.",
    ops: || vec![Dim::DEF, BindDims::DEF, Guard::DEF],
    ..DialectDef::NEW
};

/// The size of one dimension of an entry argument; its declared range is a guard.
///
/// C1: `dim` is a dimension of the tensor. C2: `min` is at most `max`, and neither is negative.
#[op("capture.dim", effects(Write), verify)]
pub struct Dim {
    tensor: Operand<Tensor>,
    size: Result<Index>,
    dim: Attr<I64>,
    symbol: Attr<Str>,
    min: Attr<I64>,
    max: Attr<I64>,
}

impl Verify for Dim<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        let (dim, rank) = (self.dim(), self.tensor().ty().rank());
        ensure!(usize::try_from(dim).is_ok_and(|dim| dim < rank), 1, "dim {dim} is not one of the tensor's {rank} dimensions");
        let (min, max) = (self.min(), self.max());
        ensure!(0 <= min && min <= max, 2, "the range {min}..={max} holds no size");
        Ok(())
    }
}

/// The tensor's sizes are the results of `shape` on the symbols. On an entry argument this is a guard, elsewhere a
/// fact that may be erased.
///
/// C1: `shape` has no dims, and one symbol for each symbol operand. C2: it has one result for each dimension of the
/// tensor. C3: a constant result agrees with the size in the tensor's type.
#[op("capture.bind_dims", effects(Write), verify)]
pub struct BindDims {
    tensor: Operand<Tensor>,
    symbols: Variadic<Index>,
    shape: Attr<Map>,
}

impl Verify for BindDims<'_> {
    fn verify(self) -> std::result::Result<(), Violation> {
        let (shape, sizes) = (self.shape(), self.tensor().ty().shape());
        let (dims, wanted, symbols) = (shape.num_dims(), shape.num_symbols(), self.symbols().len());
        ensure!(dims == 0 && wanted == symbols, 1, "the map takes {dims} dims and {wanted} symbols, and {symbols} symbols are given");
        let results = shape.results();
        ensure!(results.len() == sizes.len(), 2, "the map gives {} sizes of a tensor of rank {}", results.len(), sizes.len());
        for (dim, (size, expr)) in sizes.iter().zip(&results).enumerate() {
            let agrees = expr.as_constant().is_none_or(|value| *size == DYNAMIC || *size == value);
            ensure!(agrees, 3, "the map gives {expr} for dimension {dim}, and the type says {size}");
        }
        Ok(())
    }
}

/// A condition that the call must meet; `text` is how the program wrote it, with `{0}` for the first detail.
#[op("capture.guard", effects(Write))]
pub struct Guard {
    condition: Operand<Bool>,
    details: Variadic<Index>,
    text: Attr<Str>,
}
