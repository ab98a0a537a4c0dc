//! Launching kernels: directly when there is little to do, else split over the threads of the pool.

use super::Error;
use crate::emit::memory;
use crate::num::{Num, number_of};
use strata_core::ir::{Attr, Builder, ElementType, Op, OpSpec, Type, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_core::upstream::{func, llvm, scf};
use strata_dialects::loops::ranges::may_reach_outside;
use strata_dialects::loops::view::KernelView;

/// Scalar operations of a part that is worth waking a thread for (2 us): 0.5 us of whole vectors, 8 us of single elements.
const PART_OPERATIONS: i64 = 1 << 15;

/// Scalar operations that are worth it whatever the vectors: 64 lanes, two in a cycle of 0.25 ns, take 8 us.
const HEAVY_OPERATIONS: i64 = 1 << 22;

/// Makes launches of kernels.
pub struct Launcher<'c> {
    /// Room for the arguments of a launch.
    slots: Value<'c>,
}

impl<'c> Launcher<'c> {
    /// A launcher that passes arguments in these stack slots.
    pub fn new(slots: Value<'c>) -> Self {
        Self { slots }
    }

    /// Emits one `host.launch`.
    pub fn launch(
        &mut self,
        module: Op<'c>,
        b: &mut Builder<'c>,
        op: Op<'c>,
        operands: &[Value<'c>],
        call: Value<'c>,
        status: Value<'c>,
    ) -> Result<(), Error> {
        let cx = b.cx();
        let name = op.attr("callee").and_then(Attr::as_symbol).unwrap_or_default();
        let kernel = module.lookup_symbol(&name).and_then(KernelView::new);
        let kernel = kernel.ok_or_else(|| Error::at(op, format!("kernel '{name}' is not defined")))?;
        let (given, wanted) = (operands.len(), kernel.op.body(0).args().len() + kernel.results().len());
        if given != wanted {
            return Err(Error::at(op, format!("kernel '{name}' takes {wanted} operands, not {given}")));
        }
        let symbols = symbols(op, kernel.op.ints("symbols"), operands)?;
        let sizes: Vec<_> = kernel.sizes.results().into_iter().map(|expr| number_of(b, expr, &symbols)).collect();
        let (count, work) = split(b, &kernel, &sizes);
        let step = step(&kernel);
        let arguments = [operands, &[status]].concat();
        let callee = cx.symbol_attr(&name);
        let direct = |b: &mut Builder<'c>, end: Num<'c>| {
            let (begin, end) = (b.const_index(0), end.value(b));
            b.effect(func::Call::NAME, &[&arguments, [begin, end].as_slice()].concat(), &[("callee", callee)]);
        };
        let Some(count) = count else {
            direct(b, Num::Const(1));
            return Ok(());
        };
        let total = count.mul(b, work);
        match total {
            Num::Const(total) if total < 2 * PART_OPERATIONS => direct(b, count),
            Num::Const(_) => self.parallel(b, &name, &arguments, call, (count, work, step)),
            Num::Value(total) => {
                let enough = b.const_index(2 * PART_OPERATIONS);
                let large = arith::cmpi(b, CmpIPredicate::Uge, total, enough);
                let parallel = |b: &mut Builder<'c>| self.parallel(b, &name, &arguments, call, (count, work, step));
                scf::either(b, large, parallel, |b| direct(b, count));
            }
        }
        Ok(())
    }

    fn parallel(
        &self,
        b: &mut Builder<'c>,
        name: &str,
        arguments: &[Value<'c>],
        call: Value<'c>,
        (count, work, step): (Num<'c>, Num<'c>, i64),
    ) {
        let cx = b.cx();
        let pointer = memory::pointer(cx);
        let word = cx.int(64);
        let task_type = cx.function(&[pointer, word, word], &[]);
        for (slot, &argument) in arguments.iter().enumerate() {
            let argument = if argument.ty().is_index() { arith::index_cast(b, argument, word) } else { argument };
            let at = memory::element_pointer(b, self.slots, Num::Const(slot as i64), ElementType::I64);
            b.effect(llvm::Store::NAME, &[argument, at], &[("alignment", cx.i64_attr(8))]);
        }
        let body = func::constant(b, &task_name(name), task_type);
        let body = b.value("builtin.unrealized_conversion_cast", &[body], pointer, &[]);
        let grain = grain(b, work, step).value(b);
        let grain = arith::index_cast(b, grain, word);
        let count = count.value(b);
        let count = arith::index_cast(b, count, word);
        func::call(b, "strata_parallel", &[call, body, self.slots, count, grain], &[]);
    }
}

/// All that calls and launches read of a kernel beside its attributes other than the schedule, as a text: the program around two
/// kernels of the same facts is the same.
pub fn launch_facts(op: Op<'_>) -> String {
    let Some(kernel) = KernelView::new(op) else { return op.to_string() };
    let types = |values: Vec<Value<'_>>| values.iter().map(|value| value.ty().to_string()).collect::<Vec<_>>();
    let checks = may_reach_outside(&kernel);
    let mut text = format!("{:?} {:?} {checks}", types(op.body(0).args()), types(kernel.results()));
    text += &format!(" {:?} {:?} {}", kernel.outer, kernel.tiles(), step(&kernel));
    for stage in &kernel.stages {
        let points: Vec<_> = stage.domain.iter().map(|&dim| (dim, stage.piece(dim), stage.segmented_by(dim))).collect();
        text += &format!(" {} {points:?}", stage.op.body(0).ops().len());
    }
    text
}

/// The sizes that a kernel is launched with: the operands at the places of its symbols.
pub fn symbols<'c>(launch: Op<'c>, places: Option<Vec<i64>>, operands: &[Value<'c>]) -> Result<Vec<Value<'c>>, Error> {
    let size = |at: &i64| usize::try_from(*at).ok().and_then(|at| operands.get(at).copied()).filter(|operand| operand.ty().is_index());
    let wrong = |at: &i64| Error::at(launch, format!("operand {at}, which a size of the kernel comes from, is no index"));
    places.unwrap_or_default().iter().map(|at| size(at).ok_or_else(|| wrong(at))).collect()
}

/// How a launch of known sizes is shared among threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// Parts in all.
    pub parts: i64,
    /// Parts that a thread is woken for, 0 where one is enough; nothing where all is done at once.
    pub grain: Option<i64>,
}

/// How launches of a kernel are shared; nothing where that depends on symbols, or where the kernel has no loop that threads could share
/// and so no function for them.
pub fn sharing<'c>(b: &mut Builder<'c>, kernel: Op<'c>) -> Option<Sharing> {
    let view = KernelView::new(kernel)?;
    if kernel.ints("symbols").is_some_and(|symbols| !symbols.is_empty()) {
        return None;
    }
    let sizes: Vec<_> = view.sizes.results().into_iter().map(|expr| number_of(b, expr, &[])).collect();
    let (Some(Num::Const(parts)), Num::Const(work)) = split(b, &view, &sizes) else { return None };
    let grain = match grain(b, Num::Const(work), step(&view)) {
        Num::Const(grain) if parts.wrapping_mul(work) >= 2 * PART_OPERATIONS => Some(grain),
        _ => None,
    };
    Some(Sharing { parts, grain })
}

/// Parts that are worth waking a thread for, 0 where one is.
fn grain<'c>(b: &mut Builder<'c>, work: Num<'c>, step: i64) -> Num<'c> {
    match work {
        Num::Const(work) if work >= HEAVY_OPERATIONS => Num::Const(if step > 1 { step } else { 0 }),
        _ => Num::Const(PART_OPERATIONS).ceil_div(b, work).ceil_div(b, Num::Const(step)).mul(b, Num::Const(step)),
    }
}

/// How many parts a kernel has that threads can share (if it has any), and the operations of one of them: tiles of the outer loops,
/// else iterations of the first.
fn split<'c>(b: &mut Builder<'c>, kernel: &KernelView<'c>, sizes: &[Num<'c>]) -> (Option<Num<'c>>, Num<'c>) {
    let mut part = sizes.to_vec();
    let mut count = None;
    match kernel.tiles() {
        Some(tiles) => {
            for (&dim, &tile) in kernel.outer.iter().zip(&tiles) {
                let along = sizes[dim].ceil_div(b, Num::Const(tile));
                count = Some(count.unwrap_or(Num::Const(1)).mul(b, along));
                part[dim] = sizes[dim].min(b, Num::Const(tile));
            }
        }
        None => {
            if let Some(&first) = kernel.outer.first() {
                count = Some(sizes[first]);
                part[first] = Num::Const(1);
            }
        }
    }
    let mut work = Num::Const(0);
    for stage in &kernel.stages {
        let mut points = Num::Const(stage.op.body(0).ops().len() as i64);
        for &dim in &stage.domain {
            let size = match (stage.piece(dim), stage.segmented_by(dim)) {
                (Some(piece), _) => Num::Const(piece),
                // (There may be no segment.)
                (None, Some(by)) => {
                    let segments = sizes[by].max(b, Num::Const(1));
                    sizes[dim].ceil_div(b, segments)
                }
                (None, None) => part[dim],
            };
            points = points.mul(b, size);
        }
        work = work.add(b, points);
    }
    // A size of zero must not divide.
    (count, work.add(b, Num::Const(1)))
}

/// Iterations of the first outer loop that belong together: a block, or the lanes and copies of one turn. A tile is one by itself.
fn step(kernel: &KernelView<'_>) -> i64 {
    if kernel.tiles().is_some() {
        return 1;
    }
    let schedule = kernel.schedule();
    let first = |list: Option<Vec<i64>>| list.and_then(|list| list.first().copied()).unwrap_or(0).max(1);
    let lanes = schedule.vector == kernel.outer.first().copied();
    let width = if lanes { schedule.width.unwrap_or(1) } else { 1 };
    first(schedule.block).max(first(schedule.unroll) * width)
}

/// The name of the function by which threads run a range of a kernel.
pub fn task_name(kernel: &str) -> String {
    format!("{kernel}.task")
}

/// `@k.task(ctx, begin, end)` before the kernel: unpacks its arguments, which are of these types, and runs it on a range.
pub fn write_task<'c>(kernel: Op<'c>, name: &str, arguments: &[Type<'c>]) {
    let cx = kernel.cx();
    let (pointer, word) = (memory::pointer(cx), cx.int(64));
    let types = [pointer, word, word];
    let mut at = Builder::before(kernel);
    let func = at.op(OpSpec {
        name: func::Func::NAME,
        attrs: &[
            ("sym_name", cx.str_attr(&task_name(name))),
            ("function_type", cx.type_attr(cx.function(&types, &[]))),
            ("sym_visibility", cx.str_attr("private")),
        ],
        regions: 1,
        ..OpSpec::default()
    });
    let block = func.region(0).append_block(&types, kernel.location());
    let mut b = Builder::at_end(block, kernel.location());
    let mut operands = Vec::new();
    for (slot, &ty) in arguments.iter().enumerate() {
        let at = memory::element_pointer(&mut b, block.arg(0), Num::Const(slot as i64), ElementType::I64);
        let loaded = if ty.is_index() { word } else { ty };
        let value = b.value(llvm::Load::NAME, &[at], loaded, &[("alignment", cx.i64_attr(8))]);
        operands.push(if ty.is_index() { arith::index_cast(&mut b, value, cx.index()) } else { value });
    }
    for bound in 1..3 {
        operands.push(arith::index_cast(&mut b, block.arg(bound), cx.index()));
    }
    func::call(&mut b, name, &operands, &[]);
    func::ret(&mut b, &[]);
}
