//! Reading and writing at computed positions.

use strata_core::prelude::*;

use super::check::{self, Checked};
use super::sizes::{self, Constraint, ResultSizes, Size, SizeConstraints};
use super::types::*;

/// The indices have one shape, and there is one per dimension in `dims`.
fn check_indices(indices: &[Value<'_>], dims: &[usize]) -> std::result::Result<Vec<i64>, Violation> {
    ensure!(indices.len() == dims.len() && !dims.is_empty(), 1, "{} index tensors for {} dimensions", indices.len(), dims.len());
    let shape = indices[0].ty().shape();
    let same = indices.iter().all(|i| check::shapes_agree(&i.ty().shape(), &shape));
    ensure!(same, 2, "the index tensors differ in shape");
    Ok(shape)
}

/// The index tensors, operands from `first` on, have one shape.
fn one_shape(indices: &[Value<'_>], first: usize) -> Vec<Constraint> {
    let rank = indices.first().map_or(0, |index| index.ty().rank());
    (1..indices.len()).flat_map(|k| sizes::equal(first, first + k, (0..rank).map(|dim| (dim, dim)))).collect()
}

/// The parts of x at the indices along `dims`: element `(i.., r..)` is the operand's element with coordinate `indices[k][i..]`
/// in dimension `dims[k]` and `r..` in the others. Indices are in bounds; a compiled call fails otherwise, and does not look where `in_bounds`
/// says that they are clamped.
///
/// C1: `dims` are different dimensions, one per index tensor. C2: the index tensors have one shape. C3: the result has that shape, then
/// the remaining dimensions. C4: element types agree.
#[op("prim.gather", effects(Pure), interfaces(ResultSizes, SizeConstraints), verify)]
pub struct Gather {
    x: Operand<AnyTensor>,
    indices: Variadic<Integers>,
    result: Result<AnyTensor>,
    dims: Attr<I64s>,
    in_bounds: OptAttr<Unit>,
}

impl ResultSizes for Gather<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        Some(sizes::gather(self.x().ty().rank(), self.indices().first()?.ty().rank(), &self.dims()))
    }
}

impl SizeConstraints for Gather<'_> {
    fn size_constraints(&self) -> Vec<Constraint> {
        one_shape(&self.indices(), 1)
    }
}

impl Verify for Gather<'_> {
    fn verify(self) -> Checked {
        let x = self.x().ty();
        let dims = check::dims(1, "dims", &self.dims(), x.rank())?;
        check_indices(&self.indices(), &dims)?;
        check::result_sizes(3, self.op())?;
        check::same_elements(4, x, self.result().ty())
    }
}

/// x with the updates put at the indices along `dims`, one after the other in row-major order of the indices: `set` replaces,
/// `add`, `mul`, `max` and `min` combine with what is there. Indices are in bounds; a compiled call fails otherwise, and does not look where
/// `in_bounds` says that they are clamped.
///
/// C1: `dims` are different dimensions, one per index tensor. C2: the index tensors have one shape. C3: the updates have that shape,
/// then the remaining dimensions of x. C4: `kind` is known, and `set` for floats of 8 bits. C5: element types
/// agree. C6: the result has the type of x.
#[op("prim.scatter", effects(Pure), interfaces(ResultSizes, SizeConstraints), verify)]
pub struct Scatter {
    x: Operand<AnyTensor>,
    updates: Operand<AnyTensor>,
    indices: Variadic<Integers>,
    result: Result<AnyTensor>,
    dims: Attr<I64s>,
    kind: Attr<Str>,
    in_bounds: OptAttr<Unit>,
}

impl ResultSizes for Scatter<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        Some(sizes::like(0, self.x().ty().rank()))
    }
}

impl SizeConstraints for Scatter<'_> {
    fn size_constraints(&self) -> Vec<Constraint> {
        let indices = self.indices();
        let indexed = indices.first().map_or(0, |index| index.ty().rank());
        let rest = (0..self.x().ty().rank()).filter(|dim| !self.dims().contains(&(*dim as i64)));
        let mut constraints = one_shape(&indices, 2);
        constraints.extend(sizes::equal(1, 2, (0..indexed).map(|dim| (dim, dim))));
        constraints.extend(sizes::equal(1, 0, rest.enumerate().map(|(place, dim)| (indexed + place, dim))));
        constraints
    }
}

impl Verify for Scatter<'_> {
    fn verify(self) -> Checked {
        let (x, updates) = (self.x().ty(), self.updates().ty());
        let dims = check::dims(1, "dims", &self.dims(), x.rank())?;
        let mut wanted = check_indices(&self.indices(), &dims)?;
        wanted.extend(check::without(&x.shape(), &dims));
        let found = updates.shape();
        ensure!(
            check::shapes_agree(&found, &wanted),
            3,
            "the updates have the shape {}, not {}",
            check::show(&found),
            check::show(&wanted)
        );
        let stored = x.element_type().is_some_and(ElementType::is_float8);
        check::kind(4, &self.kind(), if stored { &["set"] } else { &["set", "add", "mul", "max", "min"] })?;
        check::same_elements(5, x, updates)?;
        check::same_elements(6, x, self.result().ty())?;
        check::result_sizes(6, self.op())
    }
}

/// The box of `sizes` that begins at the offsets. It lies inside of the operand.
///
/// C1: one offset and one size per dimension. C2: the result's sizes are `sizes`. C3: element types agree.
#[op("prim.dynamic_slice", effects(Pure), interfaces(ResultSizes, SizeConstraints), verify)]
pub struct DynamicSlice {
    x: Operand<AnyTensor>,
    offsets: Variadic<Index>,
    result: Result<AnyTensor>,
    sizes: Attr<I64s>,
}

impl ResultSizes for DynamicSlice<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        Some(self.sizes().into_iter().map(Size::Known).collect())
    }
}

impl SizeConstraints for DynamicSlice<'_> {
    fn size_constraints(&self) -> Vec<Constraint> {
        let places = self.sizes().into_iter().enumerate();
        places.flat_map(|(dim, size)| sizes::inside(Size::Index(1 + dim), Size::Known(size), 1, Size::Of(0, dim))).collect()
    }
}

impl Verify for DynamicSlice<'_> {
    fn verify(self) -> Checked {
        let rank = self.x().ty().rank();
        check::per_dim(1, "sizes", &self.sizes(), rank)?;
        ensure!(self.offsets().len() == rank, 1, "{} offsets for {rank} dimensions", self.offsets().len());
        check::result_sizes(2, self.op())?;
        check::same_elements(3, self.x().ty(), self.result().ty())
    }
}

/// x with the box that begins at the offsets replaced by the update. It lies inside of x.
///
/// C1: one offset per dimension. C2: the update has the rank of x and is not larger. C3: element types agree. C4: the result
/// has the type of x.
#[op("prim.dynamic_update", effects(Pure), interfaces(ResultSizes, SizeConstraints), verify)]
pub struct DynamicUpdate {
    x: Operand<AnyTensor>,
    update: Operand<AnyTensor>,
    offsets: Variadic<Index>,
    result: Result<AnyTensor>,
}

impl ResultSizes for DynamicUpdate<'_> {
    fn result_sizes(&self) -> Option<Vec<Size>> {
        Some(sizes::like(0, self.x().ty().rank()))
    }
}

impl SizeConstraints for DynamicUpdate<'_> {
    fn size_constraints(&self) -> Vec<Constraint> {
        let dims = 0..self.x().ty().rank();
        dims.flat_map(|dim| sizes::inside(Size::Index(2 + dim), Size::Of(1, dim), 1, Size::Of(0, dim))).collect()
    }
}

impl Verify for DynamicUpdate<'_> {
    fn verify(self) -> Checked {
        let (x, update) = (self.x().ty(), self.update().ty());
        ensure!(self.offsets().len() == x.rank(), 1, "{} offsets for {} dimensions", self.offsets().len(), x.rank());
        let smaller = |(u, n): (&i64, &i64)| *u == DYNAMIC || *n == DYNAMIC || u <= n;
        let fits = update.rank() == x.rank() && update.shape().iter().zip(&x.shape()).all(smaller);
        ensure!(fits, 2, "{update} does not fit into {x}");
        check::same_elements(3, x, update)?;
        check::same_elements(4, x, self.result().ty())?;
        check::result_sizes(4, self.op())
    }
}
