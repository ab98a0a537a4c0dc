//! `--pack-operands`: copies operands of contractions into the order in which they are read, in kernels of their own.
//!
//! The operand that lanes run along is copied into panels: as many columns as the register block has, one row after the other, so that
//! it is read from first to last. The other operand is copied when its rows do not lie along the reduction, or when its elements are
//! converted: then that happens once for each element. Of complex numbers a panel has one part. A copy of a weight alone can run before the
//! program.
//!
//! The operands of attention are copied by the same rules, without panels: `pack_operands/attention.rs`.
//!
//! Rows that are a multiple of 4096 bytes apart all fall on the same few lines of the first-level cache, and the rows of a register
//! block push each other out of it. They are copied, too, with a gap behind each row.
//!
//! ```mlir
//! %0 = loop.call @k0(%a, %b)                 // b is read at (d2, d1)
//! // becomes
//! %p = loop.call @k0.pack1(%b)               // tensor<4x64x32xf32>
//! %0 = loop.call @k0(%a, %p)                 // p is read at (d1 floordiv 32, d2, d1 mod 32)
//! ```

mod attention;

use crate::loops::copy_kernel::CopyKernel;
use crate::loops::share_kernels::is_weight;
use strata_core::ir::{AffineExpr, AffineMap, ElementType, Op, Type, Value};
use strata_core::pass::{Pass, PassContext, PassError};
use strata_core::remark::Remarks;
use strata_core::rewrite::{NoMatch, Rewriter};
use strata_core::upstream::{arith, complex};
use strata_dialects::loops;
use strata_dialects::loops::access::{Stride, distance};
use strata_dialects::loops::register_block::{block_rows, sets_for_rows, unit_rows};
use strata_dialects::loops::roles::{Roles, uses};
use strata_dialects::loops::schedule::KernelSchedule;
use strata_dialects::loops::view::product_of_known;
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::target::Target;

/// Copies operands of contractions into the order in which they are read.
#[derive(Pass)]
#[pass(dependents("loop"))]
pub struct PackOperands;

impl Pass for PackOperands {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let target = Target::of(op)?;
        let mut rewriter = cx.rewriter();
        for kernel in op.find_all(loops::Kernel::NAME) {
            pack(op, kernel, &target, cx.remarks(), &mut rewriter);
        }
        Ok(())
    }
}

/// Vectors of a panel.
pub(super) const PANEL_VECTORS: i64 = 2;
/// Vectors of a tensor so narrow that its rows are read in one go.
pub(super) const NARROW_VECTORS: i64 = 4;
/// Uses of an element that pay for a copy.
const USES_FOR_A_COPY: i64 = 4;
/// Multiplications that are worth a copy: in vectors of 16, two in a cycle, they take five times as long as its launch, 50 ns.
const COPY_PRODUCTS: i64 = 1 << 15;

/// Uses that pay for a copy that only spreads rows over the cache.
const USES_FOR_A_GAP: i64 = 256;
/// Rows too many for the lines of one place that cost little: with 13 rows in 12 lines a Zen 5 reaches 95% of its peak, with 13 rows in 8
/// lines a Cascade Lake loses a quarter.
const SPARE_ROWS: i64 = 1;

/// Packs the operands of one kernel and of its calls.
fn pack<'c>(module: Op<'c>, kernel: Op<'c>, target: &Target, remarks: Remarks, rewriter: &mut Rewriter<'c>) {
    let count = KernelView::new(kernel).map_or(0, |view| attention::operands(&view, target).len());
    for at in 0..count {
        let Some(view) = KernelView::new(kernel) else { return };
        let read = &attention::operands(&view, target)[at];
        let layout = attention::layout(&view, read).map_err(|reason| not_packed(read.operand, &reason));
        if let Some(layout) = remarks.found(read.stage, layout) {
            apply(module, &view, &layout, target.vector_bits, rewriter);
        }
    }
    for operand in 0..2 {
        let Some(view) = KernelView::new(kernel) else { return };
        let Some(roles) = Roles::new(&view) else { return };
        let layout = layout(&view, &roles, operand, target, &|at| is_weight(module, kernel, at));
        let layout = layout.map_err(|reason| not_packed(operand, &reason));
        if let Some(layout) = remarks.found(roles.stage.op, layout) {
            apply(module, &view, &layout, target.vector_bits, rewriter);
        }
    }
}

fn not_packed(operand: usize, reason: &NoMatch) -> NoMatch {
    NoMatch::new(format!("operand {operand} is not packed: {reason}"))
}

/// A copy of an operand.
struct Layout<'c> {
    /// What the copying kernel is called behind the name of the one that reads the copy.
    suffix: String,
    stage: Op<'c>,
    operand: usize,
    /// Kernel dims that index the copy, in order.
    dims: Vec<usize>,
    /// The dim that is split into panels of so many.
    panel: Option<(usize, i64)>,
    /// The conversion of an element that the body starts with.
    convert: Option<Op<'c>>,
    /// The operand is contiguous along the lanes.
    by_rows: bool,
    /// Elements of nothing behind each row of the copy.
    gap: i64,
}

/// Uses that pay for it where elements lie in the order of the lanes, with so many registers: reading them in place only costs the way
/// from row to row, once for each block of rows. With 16 registers such a block has six of them: on a Zen 3, 16x1500x2048 takes 1.7 ms
/// with a copy and 3.3 without.
fn reuse_in_rows(registers: i64) -> i64 {
    if registers >= 32 { 64 } else { 16 }
}

/// The copy of an operand that is worth its cost.
fn layout<'c>(
    kernel: &KernelView<'c>,
    roles: &Roles<'_, 'c>,
    operand: usize,
    target: &Target,
    weight: &dyn Fn(usize) -> bool,
) -> Result<Layout<'c>, NoMatch> {
    let (stage, map) = (roles.stage, roles.stage.maps[operand]);
    let tensor = stage.op.operand(operand);
    let argument = is_argument(kernel, tensor);
    let convert = conversion(stage, operand);
    let sum = convert.map_or(tensor.ty().element(), |op| op.result(0).ty()).element_type().ok_or("its elements are no numbers")?;
    let size = |dim: usize| kernel.static_size(dim);
    let points = product_of_known(stage.domain.iter().map(|&dim| size(dim)));
    let in_rows = operand == roles.wide && roles.stride(operand, roles.lanes) == Stride::One && argument && !weight(tensor.index());
    // One block of rows converts each element once where it lies.
    let units = loops::has_matrix_units(target, stage.op);
    let block_rows = |rows: Option<i64>| {
        if units { unit_rows(rows.unwrap_or(i64::MAX)) } else { block_rows(rows, PANEL_VECTORS, target.vector_registers) }
    };
    let block = roles.rows.map_or(1, |dim| block_rows(size(dim)));
    // A part of a complex number is read as it lies: lanes of both parts come apart in a cycle, and a number for all lanes for nothing.
    let widens = convert.is_some_and(|op| op.isa::<arith::ExtF>());
    let least = match (in_rows, widens) {
        (true, false) => reuse_in_rows(target.vector_registers),
        (true, true) => USES_FOR_A_COPY.max(block + 1),
        _ => USES_FOR_A_COPY,
    };
    let pays = roles.reuse(kernel, operand).is_none_or(|reuse| reuse >= least) && points.is_none_or(|points| points >= COPY_PRODUCTS);
    if !argument || sum.is_complex() {
        return Err("it is no argument of the kernel, or is complex".into());
    }
    if operand == roles.wide && roles.are_dot_products(kernel) {
        return Err("few rows are multiplied with it, and it lies along the sum".into());
    }
    if roles.panel().is_some() && operand == roles.wide {
        return Err("it is in panels".into());
    }
    if !pays {
        return Err("its elements are used too few times to pay for a copy".into());
    }
    let width = target.vector_bits / i64::from(sum.bits().max(8));
    if width <= 1 || size(roles.lanes).is_some_and(|size| size < width) {
        return Err("the lanes' dim does not fill a vector".into());
    }
    let last = *stage.reduce.last().ok_or("nothing is summed")?;
    let moving = |dim: &usize| uses(map, *dim);
    let mut dims: Vec<usize> = stage.parallel().into_iter().filter(moving).collect();
    let panel = (operand == roles.wide).then_some((roles.lanes, PANEL_VECTORS * width));
    let in_order = match panel {
        // A tensor so narrow is one panel already.
        Some((dim, _)) => roles.stride(operand, dim) == Stride::One && size(dim).is_some_and(|size| size <= NARROW_VECTORS * width),
        None => roles.stride(operand, last) == Stride::One,
    };
    // Bytes from one row of a register block to the next, where the operand lies and in a copy.
    let rows = roles.rows.filter(|_| panel.is_none() && roles.reuse(kernel, operand).is_none_or(|reuse| reuse >= USES_FOR_A_GAP));
    let bytes = (sum.bits() / 8) as i64;
    let crowded = |elements: i64| {
        let most = sets_for_rows(elements.saturating_mul(bytes), target) * (target.l1.ways + SPARE_ROWS);
        rows.is_some_and(|dim| block_rows(size(dim)) > most)
    };
    if in_order
        && !(widens || convert.is_some() && panel.is_some())
        && !rows.and_then(|dim| distance(map, tensor, dim)).is_some_and(crowded)
    {
        return Err("it lies in the order in which it is read".into());
    }
    if panel.is_none() && !widens && !units && near(kernel, roles, operand).is_some_and(|elements| elements * bytes <= target.l1.bytes / 2)
    {
        return Err("what is read of it for one product stays in the first cache".into());
    }
    let row = product_of_known(stage.reduce.iter().filter(|dim| moving(dim)).map(|&dim| size(dim)));
    let gap = if row.is_some_and(crowded) { target.l1.line / bytes } else { 0 };
    if let Some((lanes, _)) = panel {
        dims.retain(|&dim| dim != lanes);
        dims.push(lanes);
    }
    dims.extend(stage.reduce.iter().copied().filter(moving));
    let by_rows = roles.stride(operand, roles.lanes) == Stride::One;
    Ok(Layout { suffix: format!("pack{operand}"), stage: stage.op, operand, dims, panel, convert, by_rows, gap })
}

/// The elements of an operand that one product of two matrices reads, where they lie in one piece: a batch has many such products.
fn near(kernel: &KernelView<'_>, roles: &Roles<'_, '_>, operand: usize) -> Option<i64> {
    let [map, other] = [roles.stage.maps[operand], roles.stage.maps[1 - operand]];
    let batch = |dim: &usize| !roles.stage.reduce.contains(dim) && uses(other, *dim);
    let exprs = map.results();
    let inside: Vec<_> = exprs.iter().skip_while(|expr| roles.stage.domain.iter().any(|dim| batch(dim) && expr.uses_dim(*dim))).collect();
    let dims: Vec<_> = roles.stage.domain.iter().filter(|dim| inside.iter().any(|expr| expr.uses_dim(**dim))).collect();
    let apart = dims.iter().any(|dim| batch(dim));
    product_of_known(dims.into_iter().map(|&dim| kernel.static_size(dim))).filter(|_| !apart)
}

/// Whether a tensor comes from outside of the kernel.
fn is_argument<'c>(kernel: &KernelView<'c>, tensor: Value<'c>) -> bool {
    tensor.owner_block() == Some(kernel.op.body(0)) && tensor.defining_op().is_none()
}

/// The widening conversion, or the part of a complex number, that is all that the body takes of an operand.
fn conversion<'c>(stage: &StageView<'c>, operand: usize) -> Option<Op<'c>> {
    let uses = stage.op.body(0).arg(operand).uses();
    let [using] = uses.as_slice() else { return None };
    let widens = using.op.isa::<arith::ExtF>() && using.op.result(0).ty().element_type() == Some(ElementType::F32);
    (widens || using.op.isa::<complex::Re>() || using.op.isa::<complex::Im>()).then_some(using.op)
}

impl<'c> Layout<'c> {
    /// The indices of the copy, given each dim's own index or the two parts of a split one.
    fn indices(
        &self,
        plain: impl Fn(usize) -> AffineExpr<'c>,
        split: impl Fn(usize, i64) -> (AffineExpr<'c>, AffineExpr<'c>),
    ) -> Vec<AffineExpr<'c>> {
        let mut within = None;
        let mut indices = Vec::new();
        for &dim in &self.dims {
            match self.panel.filter(|panel| panel.0 == dim) {
                Some((_, size)) => {
                    let (panel, rest) = split(dim, size);
                    indices.push(panel);
                    within = Some(rest);
                }
                None => indices.push(plain(dim)),
            }
        }
        indices.extend(within);
        indices
    }
}

/// Adds the copying kernel, calls it before each call of the kernel, and lets the kernel read the copy.
fn apply<'c>(module: Op<'c>, kernel: &KernelView<'c>, layout: &Layout<'c>, vector_bits: i64, rewriter: &mut Rewriter<'c>) {
    let cx = module.cx();
    let (stage, operand) = (StageView::new(layout.stage), layout.operand);
    let tensor = stage.op.operand(operand);
    let sizes = kernel.sizes.results();
    let mut shape = layout.indices(|dim| sizes[dim], |dim, size| (sizes[dim].ceil_div(cx.constant(size)), cx.constant(size)));
    if let Some(last) = shape.last_mut().filter(|_| layout.gap > 0) {
        *last = *last + cx.constant(layout.gap);
    }
    let element = layout.convert.map_or(tensor.ty().element(), |op| op.result(0).ty());
    let reads = vec![read(kernel, layout, shape.len())];
    let copy = CopyKernel::new(kernel, tensor, &layout.suffix, (&shape, element), reads);
    let copying = copy.write(|b, element| match layout.convert {
        Some(convert) => b.clone_op(convert, element).result(0),
        None => element[0],
    });
    if let Some((lanes, size)) = layout.panel.filter(|_| layout.by_rows) {
        Panel { lanes, size, order: layout.dims.clone() }.schedule(copying, copy.ty, vector_bits);
    }
    let access =
        layout.indices(|dim| cx.dim(dim), |dim, size| (cx.dim(dim).floor_div(cx.constant(size)), cx.dim(dim).modulo(cx.constant(size))));
    copy.read_instead(module, kernel, &stage, operand, &access, rewriter);
    if let Some(convert) = layout.convert {
        let argument = stage.op.body(0).arg(operand);
        rewriter.set_type(argument, element);
        rewriter.replace(convert, &[argument]);
    }
}

/// Where an element of the copy, of this rank, reads the operand, and whether that may be outside.
fn read<'c>(kernel: &KernelView<'c>, layout: &Layout<'c>, rank: usize) -> (AffineMap<'c>, bool) {
    let cx = kernel.op.cx();
    let map = StageView::new(layout.stage).maps[layout.operand];
    let symbols = kernel.sizes.num_symbols();
    // Where each dim of the kernel is among those of the copy.
    let at = |dim: usize| layout.dims.iter().position(|&known| known == dim);
    let mut own: Vec<_> = (0..kernel.num_dims()).map(|dim| at(dim).map_or(cx.constant(0), |at| cx.dim(at))).collect();
    let mut guarded = layout.gap > 0;
    if let Some((dim, size)) = layout.panel {
        own[dim] = own[dim] * cx.constant(size) + cx.dim(rank - 1);
        guarded = kernel.static_size(dim).is_none_or(|all| all % size != 0);
    }
    let renaming = cx.map(rank, symbols, &own);
    let access: Vec<_> = map.results().into_iter().map(|expr| expr.compose(renaming)).collect();
    (cx.map(rank, symbols, &access), guarded)
}

/// Panels of a tensor that are filled side by side.
const PANELS_AT_A_TIME: i64 = 32;
/// Rows that are read side by side.
const ROWS_AT_A_TIME: i64 = 8;

/// A dim of a tensor that is cut into panels.
pub(super) struct Panel {
    /// The dim.
    pub lanes: usize,
    /// Elements of a panel.
    pub size: i64,
    /// The dims of the copy, of which the last one is behind those of the tensor.
    pub order: Vec<usize>,
}

impl Panel {
    /// Some rows at a time go into many panels: the rows are read from end to end, and what is written of a panel is in one piece.
    pub fn schedule<'c>(&self, copying: Op<'c>, ty: Type<'c>, vector_bits: i64) {
        let rank = ty.rank();
        let width = ty.element_type().map_or(1, |element| vector_bits / i64::from(element.bits()));
        let mut tile = vec![1; rank];
        if let Some(at) = self.order.iter().position(|&dim| dim == self.lanes) {
            tile[at] = PANELS_AT_A_TIME;
        }
        (tile[rank - 2], tile[rank - 1]) = (ROWS_AT_A_TIME, self.size);
        let mut unroll = vec![1; rank];
        unroll[rank - 1] = self.size / width;
        let lanes = KernelSchedule { vector: Some(rank - 1), width: Some(width), ..KernelSchedule::default() };
        KernelSchedule { order: Some((0..rank).collect()), tile: Some(tile), unroll: Some(unroll), ..lanes }.set(copying);
    }
}
