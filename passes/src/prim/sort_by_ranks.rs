//! `--sort-by-ranks`: sorting as ordinary arithmetic, which the threads of a device share.
//!
//! Each element of a short line counts those that come before it: that is its place. A long line is merged: runs of 1, 2, 4, .. elements
//! become runs of twice as many, until one is left. Each place of a merged run finds by bisection how many elements of the first of
//! both runs stand before it, and with that its own element. Either way equal elements keep their order, and NaN is larger than
//! all numbers; values are those of the positions, bit for bit. Order statistics (`prim.library` of that name) are taken from the
//! sorted positions.
//!
//! ```mlir
//! %values, %positions = prim.sort %x {dim = 0 : i64, descending = false} : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xi64>)
//! // becomes
//! %ranks = ... "how many of x come before"                        : tensor<8xi64>
//! %positions = ... "the sum of the positions whose rank it is"    : tensor<8xi64>
//! %values = prim.gather %x, %positions {dims = array<i64: 0>} : (tensor<8xf32>, tensor<8xi64>) -> tensor<8xf32>
//! ```
//!
//! Refused is nothing. On the CPU one thread sorts a line sooner by the library.

use strata_core::ir::{Attr, Block, Builder, ElementType, Location, Op, OpSpec, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::scf;
use strata_dialects::prim;
use strata_dialects::prim_builder::{Prim, Size, Tensor, gather_along};

/// Sorts by counting and merging.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim", "arith", "scf"))]
pub struct SortByRanks {
    /// Sorts that were replaced.
    sorts: Counter,
}

/// The function of the library that gives some places of a sorted line.
const STATISTICS: &str = "order_statistics";

/// Lines of so many elements are sorted by counting: a square of comparisons is done sooner than many launches.
const SHORT: i64 = 256;

/// Bisections of a run of unknown length: lines are shorter than two to this power.
const BISECTIONS: usize = 36;

impl Pass for SortByRanks {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        let sorts = op.find_all(prim::Sort::NAME).into_iter().filter(|sort| sort.operand(0).ty().rank() > 0);
        let statistics = op.find_all(prim::Library::NAME).into_iter().filter(|call| call.str("function").as_deref() == Some(STATISTICS));
        for sort in sorts.chain(statistics).collect::<Vec<_>>() {
            let Some(block) = sort.block() else { continue };
            let prim = Prim::new(block, sort.location());
            replace(&prim, sort);
            if let Some(message) = prim.take_error() {
                return Err(PassError::at(sort, &message));
            }
            self.sorts.add(1);
        }
        Ok(())
    }
}

fn replace<'c, 'p>(prim: &'p Prim<'p>, sort: Op<'c>)
where
    'c: 'p,
{
    let sort: Op<'p> = sort;
    prim.set_before(sort);
    let x = prim.tensor(sort.operand(0));
    let last = x.rank() - 1;
    // A sort names its dim; order statistics are of the last one, and name the places.
    let places = sort.operands().get(1).map(|places| prim.tensor(*places));
    let dim = sort.int("dim").map_or(last, |dim| dim as usize);
    let listed =
        |attr: Attr<'p>| attr.as_array().is_some_and(|list| list.iter().any(|option| option.as_str().as_deref() == Some("descending")));
    let flag = sort.attr("descending").and_then(|attr| attr.as_bool());
    let descending = flag.unwrap_or_else(|| sort.attr("options").is_some_and(listed));
    let lines = x.move_dim(dim, last);
    let lines = Lines { keys: if x.dtype() == ElementType::Bool { lines.convert(ElementType::U8) } else { lines }, descending };
    let short = lines.length().known().is_some_and(|length| length <= SHORT);
    let sorted = if short { lines.counted() } else { lines.merged(sort) };
    let positions = places.map_or(sorted, |places| gather_along(sorted, last, places)).move_dim(last, dim);
    let results = [gather_along(x, dim, positions), positions];
    let results: Vec<_> = results.into_iter().zip(sort.result_types()).map(|(tensor, ty)| declared(prim, tensor, ty)).collect();
    prim.replace(sort, &results);
}

/// The tensor in the type that the sort had.
fn declared<'p>(prim: &'p Prim<'p>, tensor: Tensor<'p>, ty: strata_core::ir::Type<'p>) -> Value<'p> {
    if tensor.ty() == ty { tensor.value() } else { prim.retype(tensor, ty) }
}

/// What is sorted along its last dim.
#[derive(Clone, Copy)]
struct Lines<'p> {
    keys: Tensor<'p>,
    descending: bool,
}

impl<'p> Lines<'p> {
    fn last(self) -> usize {
        self.keys.rank() - 1
    }

    fn length(self) -> Size<'p> {
        self.keys.size(self.last())
    }

    /// Where elements of one tensor come before those of another one, if they are not equal.
    fn before(self, a: Tensor<'p>, b: Tensor<'p>) -> Tensor<'p> {
        let (a, b) = if self.descending { (b, a) } else { (a, b) };
        if a.dtype().is_float() { a.less(b).or(b.is_nan().and(!a.is_nan())) } else { a.less(b) }
    }

    /// Positions in order, by counting.
    fn counted(self) -> Tensor<'p> {
        let (prim, last) = (self.keys.prim(), self.last());
        let square = [self.keys.shape().as_ref(), &[self.length()]].concat();
        let (this, other) = (self.keys.unsqueeze(last + 1), self.keys.unsqueeze(last));
        let [row, column] = [last, last + 1].map(|dim| prim.iota(ElementType::I64, &square, dim));
        let earlier = (!self.before(this, other)).and(column.less(row));
        let ranks = self.before(other, this).or(earlier).convert(ElementType::I64).reduce("sum", &[last + 1], false);
        let here = ranks.unsqueeze(last).equal(row);
        here.select(column, 0).reduce("sum", &[last + 1], false)
    }

    /// Positions in order, by merging: a loop that doubles the length of runs.
    fn merged(self, sort: Op<'p>) -> Tensor<'p> {
        let (prim, location) = (self.keys.prim(), sort.location());
        let first = prim.iota(ElementType::I64, &self.keys.shape(), self.last());
        let types = [prim.cx().index(), first.ty()];
        let (length, operands) = (prim.index(self.length()), [prim.index(Size::Const(1)), first.value()]);
        let spec = OpSpec { name: scf::While::NAME, operands: &operands, results: &types, regions: 2, ..OpSpec::default() };
        let op = Builder::before(sort).op(spec);
        let before = op.region(0).append_block(&types, location);
        let mut b = Builder::at_end(before, location);
        let more = arith::cmpi(&mut b, CmpIPredicate::Slt, before.arg(0), length);
        scf::condition(&mut b, more, &[before.arg(0), before.arg(1)]);
        let after = op.region(1).append_block(&types, location);
        let turned = turn(&Prim::new(after, location), (after, location), self.keys.value(), self.descending);
        turned.unwrap_or_else(|message| prim.fail(message));
        prim.tensor(op.result(1)).reshape(&self.keys.shape())
    }

    /// Merges runs of `width` elements of the lines in the order that positions say.
    fn merge(self, positions: Tensor<'p>, width: Size<'p>) -> Tensor<'p> {
        let (prim, last) = (self.keys.prim(), self.last());
        let bisections = self.length().known().map_or(BISECTIONS, |length| length.max(1).ilog2() as usize + 1);
        let keys = gather_along(self.keys, last, positions);
        let key = |at: Tensor<'p>| gather_along(keys, last, at.clamp(0, self.length() - 1));
        let [width, length] = [width, self.length()].map(|size| prim.size_tensor(ElementType::I64, size));
        let place = prim.iota(ElementType::I64, &self.keys.shape(), last);
        let both = width * 2;
        let begin = place / both * both;
        let (place, second) = (place - begin, begin + width);
        // How many elements the first run has, and the second one.
        let (left, right) = ((length - begin).minimum(width), (length - second).maximum(0).minimum(width));
        let (mut low, mut high) = ((place - right).maximum(0), place.minimum(left));
        for _ in 0..bisections {
            let middle = (low + high) / 2;
            let (open, [a, b]) = (low.less(high), [begin + middle, second + place - middle - 1].map(key));
            let later = self.before(b, a);
            high = open.and(later).select(middle, high);
            low = open.and(!later).select(middle + 1, low);
        }
        let rest = place - low;
        let [a, b] = [begin + low, second + rest].map(key);
        let first = low.less(left).and(rest.greater_equal(right).or(!self.before(b, a)));
        gather_along(positions, last, begin + first.select(low, rest + width))
    }
}

/// One turn of the loop, whose block has the width of runs and the positions as its arguments.
fn turn<'p>(prim: &'p Prim<'p>, (block, location): (Block<'p>, Location<'p>), keys: Value<'p>, descending: bool) -> Result<(), String> {
    let lines = Lines { keys: prim.tensor(keys), descending };
    let (width, positions) = (prim.symbol(block.arg(0)), prim.tensor(block.arg(1)).reshape(&lines.keys.shape()));
    let merged = lines.merge(positions, width);
    let next = prim.index(width * 2);
    Builder::at_end(block, location).effect(scf::Yield::NAME, &[next, merged.value()], &[]);
    prim.take_error().map_or(Ok(()), Err)
}
