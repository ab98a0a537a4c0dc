//! The sizes of results: each op says its formulas once, as data, and everyone who needs sizes evaluates them.
//!
//! The verifiers evaluate them on the numbers in types, the decomposition builder and the lowering to kernels by emitting
//! index arithmetic, the analysis of dimensions on symbolic expressions. What differs is only the [`Arithmetic`].

use strata_core::prelude::*;

use super::layout::ConvLayout;

/// The size of one dimension of a result, said in what the op takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Size {
    /// A number.
    Known(i64),
    /// The size of a dimension of an operand: the operand's position, and the dimension.
    Of(usize, usize),
    /// The value of the `index` operand at a position.
    Index(usize),
    /// Several sizes that are equal, at least one.
    Same(Vec<Size>),
    /// A sum.
    Add(Box<Size>, Box<Size>),
    /// A difference.
    Sub(Box<Size>, Box<Size>),
    /// A product.
    Mul(Box<Size>, Box<Size>),
    /// A quotient by a positive number, rounded down.
    Div(Box<Size>, i64),
    /// The size, but at least a number.
    AtLeast(Box<Size>, i64),
}

/// Results whose sizes follow from operands and attributes. All results of such an op have one shape.
pub trait ResultSizes {
    /// One size per dimension. `None` where the attributes break the constraints of the op.
    fn result_sizes(&self) -> Option<Vec<Size>>;
}

/// The sizes of the results of an op; `None` for ops that say nothing about them.
pub fn of(op: Op<'_>) -> Option<Vec<Size>> {
    if let Some(op) = op.interface::<dyn ResultSizes>() {
        return op.result_sizes();
    }
    let traits = op.def()?.traits;
    let one_shape = traits.has(Traits::SAME_OPERANDS_AND_RESULT_TYPE) || traits.has(Traits::SAME_OPERANDS_AND_RESULT_SHAPE);
    let ranks: Vec<_> = op.operands().iter().map(|operand| operand.ty().rank()).collect();
    let rank = *ranks.first()?;
    let same = |dim| Size::Same((0..ranks.len()).map(|operand| Size::Of(operand, dim)).collect());
    (one_shape && ranks.iter().all(|other| *other == rank)).then(|| (0..rank).map(same).collect())
}

/// What must hold of sizes where an op runs, as `shape.cstr_*` of MLIR's `shape` dialect: `--guard-sizes` has a call checked where types do not
/// show it, and the interpreter checks every op that it runs. (Verifiers have checks of their own, with the words of their op.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// Both are one size.
    Equal(Size, Size),
    /// The first is not larger than the second.
    AtMost(Size, Size),
}

/// What an op asks of the sizes of its operands beside what the sizes of its results say.
pub trait SizeConstraints {
    /// The constraints. Those of an op whose attributes are wrong are of no interest.
    fn size_constraints(&self) -> Vec<Constraint>;
}

/// What must hold of sizes where an op runs: sizes that its results have in common are equal, and those that types tell are right.
pub fn constraints(op: Op<'_>) -> Vec<Constraint> {
    let mut constraints = op.interface::<dyn SizeConstraints>().map(|op| op.size_constraints()).unwrap_or_default();
    for (dim, size) in of(op).unwrap_or_default().into_iter().enumerate() {
        if let Size::Same(same) = &size {
            constraints.extend(same[1..].iter().map(|other| Constraint::Equal(same[0].clone(), other.clone())));
        }
        let told = op.results().into_iter().filter_map(|result| result.ty().shape().get(dim).copied());
        constraints.extend(told.filter(|told| *told != DYNAMIC).map(|told| Constraint::Equal(size.clone(), Size::Known(told))));
    }
    constraints
}

/// How sizes are computed by those who ask.
pub trait Arithmetic {
    /// A size.
    type Size;
    /// Why a size cannot be told.
    type Error;

    /// A number.
    fn known(&mut self, size: i64) -> Self::Size;
    /// The size of dimension `dim` of an operand.
    fn of(&mut self, operand: usize, dim: usize) -> Result<Self::Size, Self::Error>;
    /// The value of an `index` operand.
    fn index(&mut self, operand: usize) -> Result<Self::Size, Self::Error>;
    /// `a + b`.
    fn add(&mut self, a: Self::Size, b: Self::Size) -> Result<Self::Size, Self::Error>;
    /// `a - b`.
    fn sub(&mut self, a: Self::Size, b: Self::Size) -> Result<Self::Size, Self::Error>;
    /// `a * b`.
    fn mul(&mut self, a: Self::Size, b: Self::Size) -> Result<Self::Size, Self::Error>;
    /// `a / by`, rounded down; `by` is positive.
    fn div(&mut self, a: Self::Size, by: i64) -> Result<Self::Size, Self::Error>;
    /// The larger of `a` and `low`.
    fn at_least(&mut self, a: Self::Size, low: i64) -> Result<Self::Size, Self::Error>;

    /// One of several equal sizes: whichever the asker can say best. The first, unless it says otherwise.
    fn same(&mut self, sizes: &[Size]) -> Result<Self::Size, Self::Error>
    where
        Self: Sized,
    {
        sizes[0].eval(self)
    }
}

impl Size {
    /// Computes the size.
    pub fn eval<A: Arithmetic>(&self, by: &mut A) -> Result<A::Size, A::Error> {
        match self {
            Size::Known(size) => Ok(by.known(*size)),
            Size::Of(operand, dim) => by.of(*operand, *dim),
            Size::Index(operand) => by.index(*operand),
            Size::Same(sizes) => by.same(sizes),
            Size::Add(a, b) => {
                let (a, b) = (a.eval(by)?, b.eval(by)?);
                by.add(a, b)
            }
            Size::Sub(a, b) => {
                let (a, b) = (a.eval(by)?, b.eval(by)?);
                by.sub(a, b)
            }
            Size::Mul(a, b) => {
                let (a, b) = (a.eval(by)?, b.eval(by)?);
                by.mul(a, b)
            }
            Size::Div(a, divisor) => a.eval(by).and_then(|a| by.div(a, *divisor)),
            Size::AtLeast(a, low) => a.eval(by).and_then(|a| by.at_least(a, *low)),
        }
    }

    /// The operand dimensions that the result's dimension is, where it is just that: operands' positions, and dimensions.
    pub fn operand_dims(&self) -> Vec<(usize, usize)> {
        match self {
            Size::Of(operand, dim) => vec![(*operand, *dim)],
            Size::Same(sizes) => sizes.iter().flat_map(Size::operand_dims).collect(),
            _ => Vec::new(),
        }
    }

    fn plus(self, other: impl Into<Size>) -> Size {
        Size::Add(self.into(), other.into().into())
    }

    fn minus(self, other: impl Into<Size>) -> Size {
        Size::Sub(self.into(), other.into().into())
    }

    fn times(self, other: impl Into<Size>) -> Size {
        Size::Mul(self.into(), other.into().into())
    }
}

impl From<i64> for Size {
    fn from(size: i64) -> Self {
        Size::Known(size)
    }
}

// The formulas, for ops and for those who are about to make one.

/// The shape of an operand.
pub fn like(operand: usize, rank: usize) -> Vec<Size> {
    (0..rank).map(|dim| Size::Of(operand, dim)).collect()
}

/// The sizes that a shape or an attribute spells; those that it does not tell are `index` operands from `first` on.
pub fn spelled(sizes: &[i64], first: usize) -> Vec<Size> {
    let mut operands = first..;
    let mut index = || operands.next().map_or(Size::Known(DYNAMIC), Size::Index);
    sizes.iter().map(|size| if *size == DYNAMIC { index() } else { Size::Known(*size) }).collect()
}

/// An operand without some dimensions.
pub fn without(operand: usize, rank: usize, dropped: &[i64]) -> Vec<Size> {
    (0..rank).filter(|dim| !dropped.contains(&(*dim as i64))).map(|dim| Size::Of(operand, dim)).collect()
}

/// `result` of the type of a broadcast, whose operand's dimensions (of the sizes `operand`) go to `dims`.
pub fn broadcast(operand: &[i64], dims: &[i64], result: &[i64]) -> Option<Vec<Size>> {
    let mut sizes = spelled(result, 1);
    for (from, dim) in dims.iter().enumerate() {
        let size = sizes.get_mut(usize::try_from(*dim).ok()?)?;
        if *operand.get(from)? != 1 {
            *size = Size::Same(vec![Size::Of(0, from), size.clone()]);
        }
    }
    Some(sizes)
}

/// Dimension i is dimension `perm[i]`.
pub fn transpose(rank: usize, perm: &[i64]) -> Option<Vec<Size>> {
    let dim = |dim: &i64| usize::try_from(*dim).ok().filter(|dim| *dim < rank).map(|dim| Size::Of(0, dim));
    perm.iter().map(dim).collect()
}

/// `low` and `high` more elements, and `interior` between each two. Unknown entries are `index` operands, low first.
pub fn pad(low: &[i64], high: &[i64], interior: &[i64]) -> Option<Vec<Size>> {
    let first = 2;
    let unknown = low.iter().filter(|size| **size == DYNAMIC).count();
    let ends = spelled(low, first).into_iter().zip(spelled(high, first + unknown)).zip(interior);
    let grown = |(dim, ((low, high), interior)): (usize, ((Size, Size), &i64))| {
        let size = Size::Of(0, dim);
        let gaps = |size: Size| Size::AtLeast(size.minus(1).into(), 0).times(*interior);
        let spread = if *interior == 0 { size } else { gaps(size.clone()).plus(size) };
        spread.plus(low).plus(high)
    };
    (low.len() == high.len() && low.len() == interior.len()).then(|| ends.enumerate().map(grown).collect())
}

/// Parts of one rank, one after the other along `dim`.
pub fn concat(parts: usize, rank: usize, dim: usize) -> Vec<Size> {
    let all = |dim: usize| (0..parts).map(move |part| Size::Of(part, dim));
    let size = |at: usize| if at == dim { all(at).reduce(Size::plus).unwrap_or(Size::Known(0)) } else { Size::Same(all(at).collect()) };
    (0..rank).map(size).collect()
}

/// Windows over the dimensions `dims`: their positions in place of them, then the places inside of them.
pub fn window(rank: usize, dims: &[usize], sizes: &[i64], strides: &[i64], dilations: &[i64]) -> Option<Vec<Size>> {
    let mut result = like(0, rank);
    for (k, dim) in dims.iter().enumerate() {
        let reach = sizes.get(k)?.checked_sub(1)?.checked_mul(*dilations.get(k)?)?.checked_add(1)?;
        *result.get_mut(*dim)? = positions(Size::Of(0, *dim), reach.into(), *strides.get(k)?)?;
    }
    result.extend(sizes.iter().map(|size| Size::Known(*size)));
    Some(result)
}

/// No size is negative.
pub fn not_negative(sizes: impl IntoIterator<Item = Size>) -> Vec<Constraint> {
    sizes.into_iter().map(|size| Constraint::AtMost(Size::Known(0), size)).collect()
}

/// Dimensions of two operands, pair by pair, have one size.
pub fn equal(lhs: usize, rhs: usize, dims: impl IntoIterator<Item = (usize, usize)>) -> Vec<Constraint> {
    dims.into_iter().map(|(l, r)| Constraint::Equal(Size::Of(lhs, l), Size::Of(rhs, r))).collect()
}

/// A dimension is that of a group, as many times as there are groups.
pub fn grouped(whole: Size, group: Size, groups: i64) -> Constraint {
    Constraint::Equal(whole, group.times(groups))
}

/// No tensor has as many elements in a dimension that a step so much smaller than 2^63 times them is more than an i64 holds.
const SMALL_STRIDE: i64 = 1 << 15;

/// The elements at `offset + i * stride` for `i < size` are in a dimension. No constraint computes what an i64 does not hold, as long as those
/// before it hold.
pub fn inside(offset: Size, size: Size, stride: i64, whole: Size) -> Vec<Constraint> {
    let mut constraints = not_negative([offset.clone(), size.clone()]);
    if !matches!(size, Size::Known(_)) {
        constraints.push(Constraint::AtMost(size.clone(), whole.clone()));
    }
    if stride < SMALL_STRIDE {
        let reach = size.times(stride).minus(stride - 1);
        constraints.push(Constraint::AtMost(offset, whole.minus(reach)));
    } else {
        let room = whole.clone().minus(offset.clone()).plus(stride - 1);
        constraints.push(Constraint::AtMost(offset, whole));
        constraints.push(Constraint::AtMost(size, Size::Div(room.into(), stride)));
    }
    constraints
}

/// How many places something of a given reach has when it moves by `stride` in `room`.
fn positions(room: Size, reach: Size, stride: i64) -> Option<Size> {
    (stride >= 1).then(|| Size::Div(room.minus(reach).into(), stride).plus(1))
}

/// The batch, the free dimensions of lhs, those of rhs.
pub fn dot(ranks: (usize, usize), batch: (&[i64], &[i64]), contract: (&[i64], &[i64])) -> Option<Vec<Size>> {
    let pair =
        |(l, r): (&i64, &i64)| Some(Size::Same(vec![Size::Of(0, usize::try_from(*l).ok()?), Size::Of(1, usize::try_from(*r).ok()?)]));
    let mut sizes: Vec<_> = batch.0.iter().zip(batch.1).map(pair).collect::<Option<_>>()?;
    sizes.extend(without(0, ranks.0, &[batch.0, contract.0].concat()));
    sizes.extend(without(1, ranks.1, &[batch.1, contract.1].concat()));
    Some(sizes)
}

/// What a convolution says of each spatial dimension.
pub struct Space<'a> {
    /// Steps of the window.
    pub strides: &'a [i64],
    /// Zeros before.
    pub low: &'a [i64],
    /// Zeros after.
    pub high: &'a [i64],
    /// The elements of lhs are so far apart.
    pub lhs_dilation: &'a [i64],
    /// The elements of the window are so far apart.
    pub rhs_dilation: &'a [i64],
}

/// The batch, the features, and the positions of the window, each where the layout has it.
pub fn conv(layout: &ConvLayout, space: &Space<'_>) -> Option<Vec<Size>> {
    let mut sizes = vec![Size::Known(0); layout.result.space.len() + 2];
    *sizes.get_mut(layout.result.batch)? = Size::Of(0, layout.lhs.batch);
    *sizes.get_mut(layout.result.channel)? = layout.features(|dim| Size::Of(1, dim), |blocks, own| blocks.times(own));
    for (k, stride) in space.strides.iter().enumerate() {
        let spread = |operand: usize, dim: usize, gap: i64| Size::Of(operand, dim).minus(1).times(gap).plus(1);
        let ends = space.low.get(k)?.checked_add(*space.high.get(k)?)?;
        let room = spread(0, *layout.lhs.space.get(k)?, *space.lhs_dilation.get(k)?).plus(ends);
        let reach = spread(1, *layout.rhs.space.get(k)?, *space.rhs_dilation.get(k)?);
        *sizes.get_mut(*layout.result.space.get(k)?)? = positions(room, reach, *stride)?;
    }
    Some(sizes)
}

/// The dimensions of the segments, then those behind the one that is cut.
pub fn segments(rank: usize, segments_rank: usize) -> Vec<Size> {
    let mut sizes = like(1, segments_rank);
    sizes.extend((segments_rank..rank).map(|dim| Size::Of(0, dim)));
    sizes
}

/// The shape of the indices (operand 1), then the dimensions that are not indexed.
pub fn gather(rank: usize, index_rank: usize, dims: &[i64]) -> Vec<Size> {
    let mut sizes = like(1, index_rank);
    sizes.extend(without(0, rank, dims));
    sizes
}
