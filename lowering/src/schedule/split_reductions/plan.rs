//! Which kernels are cut, where, and into pieces of what size.

use crate::loop_to_gpu::runs;
use crate::schedule::cost::THREADS;
use strata_core::ir::{AffineMap, ElementType, Op, Value};
use strata_core::rewrite::NoMatch;
use strata_dialects::capture;
use strata_dialects::loops::access::{Stride, stride};
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::target::Target;
use strata_dialects::target::gpu::{ELEMENTS_OF_THREAD, Gpu, THREADS_OF_BLOCK};

/// A kernel to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Stages, by number, as they are.
    Plain(Vec<usize>),
    /// Stages that reduce pieces of so many elements, all of them one piece before the next.
    Pieces {
        /// Each stage's number, and its dim that is cut.
        stages: Vec<(usize, usize)>,
        /// Elements of a piece.
        size: i64,
        /// Stages of the same kernel that need all pieces: the combination of these first. With none it is a later part's.
        then: Vec<usize>,
    },
}

/// What a kernel is cut for.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Outer iterations that keep it busy.
    busy: f64,
    /// The same where they are columns, which lie side by side in memory.
    columns: f64,
    /// Elements of a row that is worth another kernel.
    row: f64,
    /// Elements from which on a row is cut however many there are.
    long: f64,
    /// Operations of a piece of all rows at least.
    piece: f64,
    /// Elements of a piece of one row at least.
    least: f64,
    /// Most outer iterations, those of pieces counted: of rows and of columns. `None` where pieces of any number of rows are limited.
    most: Option<(f64, f64)>,
    /// Bytes of an operand that no cache near the core holds.
    far: f64,
    /// Where the last of all blocks can combine the pieces, in the same kernel: elements of a piece of a row of unknown length.
    meeting: Option<f64>,
}

impl Machine {
    /// The cores of a CPU.
    pub fn cpu(target: &Target) -> Self {
        // Half of the cache is left to what else is read.
        Self { far: target.l2.bytes as f64 / 2.0, ..CPU }
    }

    /// Blocks of threads that share all outer loops: a row is a block's, a column a thread's. A block reads a row that is not long sooner
    /// than another kernel starts; each of its threads has a sum, so that none is long. Pieces of rows of unknown length are short: there
    /// may be few of them, and one block combines many thousands of them in no time.
    pub fn gpu(gpu: &Gpu) -> Self {
        let busy = gpu.busy_threads() as f64;
        let least = (THREADS_OF_BLOCK * ELEMENTS_OF_THREAD) as f64;
        Self {
            busy: gpu.busy_blocks() as f64,
            columns: 2.0 * busy,
            row: gpu.elements_of_a_launch(4) as f64,
            long: f64::INFINITY,
            piece: 0.0,
            least,
            most: Some((gpu.most_blocks() as f64, 4.0 * busy)),
            far: busy * (4 * ELEMENTS_OF_THREAD) as f64,
            meeting: Some(2.0 * least),
        }
    }
}

/// Threads that share the outermost loop: a piece of all rows is one's.
const CPU: Machine = Machine {
    busy: (2 * THREADS) as f64,
    columns: f64::INFINITY,
    row: 0.0,
    long: 4.0 * LONGEST_SUM,
    piece: (1 << 15) as f64,
    least: 1.0,
    most: None,
    far: 0.0,
    meeting: None,
};

/// Operations that are worth a kernel of their own.
const KERNEL_OPERATIONS: f64 = (1 << 17) as f64;
/// Elements of a piece at most: a longer sum of f32 loses digits.
const LONGEST_SUM: f64 = (1 << 16) as f64;
/// Pieces of a dim that is not long at most: eight for each thread.
const MOST_PIECES: f64 = (8 * THREADS) as f64;

/// The parts that a kernel is cut into.
pub fn plan(kernel: &KernelView<'_>, call: Op<'_>, machine: &Machine) -> Result<Vec<Part>, NoMatch> {
    let sizes = Sizes::of(kernel, call);
    let outer: f64 = kernel.outer.iter().map(|&dim| sizes.0[dim]).product();
    let idle = outer < machine.busy;
    let can_meet = machine.meeting.is_some() && runs(kernel.op);
    let (mut parts, mut run, mut meets) = (Vec::new(), Vec::new(), false);
    for (number, stage) in kernel.stages.iter().enumerate() {
        if stage.is_scatter() || stage.scan.is_some() || stage.is_attention() || is_contraction(kernel, stage) {
            return Err("a stage of it scatters, scans, or reads its operands many times".into());
        }
        let large = sizes.work(stage) >= KERNEL_OPERATIONS;
        let cut = large.then(|| piece(kernel, stage, &sizes, (machine, outer))).flatten();
        let alone = idle && large && stage.domain.iter().any(|dim| !kernel.outer.contains(dim));
        if cut.is_none() && !alone {
            run.push(number);
            continue;
        }
        if let (Some(piece), Some(Part::Pieces { stages, size, .. })) = (&cut, parts.last_mut())
            && machine.meeting.is_none()
            && run.iter().eq(stages.iter().map(|(number, _)| number))
            && piece.size == *size
            && are_siblings(kernel, stages, (number, piece.dim))
        {
            stages.push((number, piece.dim));
            run.push(number);
            continue;
        }
        close(kernel, &mut parts, std::mem::take(&mut run), meets);
        meets = false;
        match cut {
            Some(Piece { dim, size, across }) => {
                parts.push(Part::Pieces { stages: vec![(number, dim)], size, then: Vec::new() });
                run.push(number);
                meets = can_meet && !across;
            }
            None => parts.push(Part::Plain(vec![number])),
        }
    }
    close(kernel, &mut parts, run, meets);
    match parts.iter().any(|part| matches!(part, Part::Pieces { .. })) {
        true => Ok(parts),
        false => Err("none of its reductions is long enough for pieces".into()),
    }
}

/// Stages that follow each other are a part, or belong to the pieces that the first of them combines: where these may meet and all of the
/// stages run over the rows alone.
fn close(kernel: &KernelView<'_>, parts: &mut Vec<Part>, run: Vec<usize>, meets: bool) {
    let over_rows = |pieces: &[(usize, usize)]| {
        let rows = kernel.stages[pieces[0].0].parallel();
        run.iter().all(|number| pieces.iter().any(|(piece, _)| piece == number) || kernel.stages[*number].domain == rows)
    };
    match parts.last_mut() {
        _ if run.is_empty() => {}
        Some(Part::Pieces { stages, then, .. }) if meets && over_rows(stages) => *then = run,
        _ => parts.push(Part::Plain(run)),
    }
}

/// Whether a stage reads what others reduce, along a dim as long, and none of their results: one pass over memory is enough for all.
fn are_siblings(kernel: &KernelView<'_>, others: &[(usize, usize)], (number, dim): (usize, usize)) -> bool {
    let (stage, (first, along)) = (&kernel.stages[number], others[0]);
    let (first, sizes) = (&kernel.stages[first], kernel.sizes.results());
    let results: Vec<_> = others.iter().flat_map(|&(other, _)| kernel.stages[other].op.results()).collect();
    let reads = |op: Op<'_>| op.operands().iter().any(|operand| results.contains(operand));
    let shares = stage.op.operands().iter().any(|operand| first.op.operands().contains(operand));
    let alike = sizes[dim] == sizes[along] && stage.parallel() == first.parallel();
    shares && alike && !reads(stage.op) && !stage.op.body(0).ops().into_iter().any(reads)
}

/// How a reduction is cut.
struct Piece {
    dim: usize,
    size: i64,
    /// It reads across rows: the results are columns.
    across: bool,
}

/// The dim to cut and the size of a piece, if the reduction is to be cut.
fn piece(kernel: &KernelView<'_>, stage: &StageView<'_>, sizes: &Sizes, (machine, outer): (&Machine, f64)) -> Option<Piece> {
    let arg = stage.op.str("reducer").is_some_and(|name| name.starts_with("arg"));
    if arg || stage.is_in_parts() {
        return None;
    }
    let dim = stage.reduce.iter().copied().max_by(|&x, &y| sizes.0[x].total_cmp(&sizes.0[y]))?;
    let size = sizes.0[dim];
    let across = only_reduces(kernel, machine) && lies_across(kernel, stage, dim, sizes, machine.far);
    let row: f64 = stage.reduce.iter().map(|&dim| sizes.0[dim]).product();
    if !(outer < machine.busy && row >= machine.row || across && outer < machine.columns || size >= machine.long) {
        return None;
    }
    // Work of one step along the dim.
    let step = sizes.work(stage) / size;
    let turns = match machine.meeting {
        _ if across => 8.0,
        None => 256.0,
        // Those of a row that has other dims, too, may be shared along these.
        Some(_) => (256.0 * size / row).max(1.0),
    };
    let pieces = machine.most.map_or(MOST_PIECES, |(rows, columns)| if across { columns } else { rows } / outer);
    let least = if across { 1.0 } else { machine.least * size / row };
    let known = kernel.static_size(dim).is_some();
    let elements = match machine.meeting.filter(|_| !known && !across) {
        Some(elements) => (elements * size / row).max(1.0),
        None => (size / pieces).max(machine.piece / step).max(least).min(LONGEST_SUM),
    };
    let elements = (elements / turns).ceil() * turns;
    (elements * 2.0 <= size).then_some(Piece { dim, size: elements as i64, across })
}

/// Whether all that a kernel does beside reductions is done for each of their results. (On a device there is one reduction: blocks that
/// share all columns are not idle.)
fn only_reduces(kernel: &KernelView<'_>, machine: &Machine) -> bool {
    let reductions = kernel.stages.iter().filter(|stage| !stage.reduce.is_empty()).count();
    let of_results = |stage: &StageView<'_>| !stage.reduce.is_empty() || stage.domain.iter().all(|dim| kernel.outer.contains(dim));
    reductions == 1 || machine.meeting.is_none() && kernel.stages.iter().all(of_results)
}

/// Whether memory is read in steps along the reduced dim while a dim of the result would read it in its order.
fn lies_across(kernel: &KernelView<'_>, stage: &StageView<'_>, dim: usize, sizes: &Sizes, far: f64) -> bool {
    let [inner] = stage.reduce[..] else { return false };
    let Some(&lanes) = stage.parallel().last() else { return false };
    let accesses = || stage.op.operands().into_iter().zip(&stage.maps);
    let reads = |lanes: usize, wanted: Stride| {
        accesses().any(|(operand, map)| map.results().iter().any(|e| e.uses_dim(dim)) && stride(*map, operand, lanes) == wanted)
    };
    // What is read for one index of the dims outside of the reduced one: where that stays near the core, each line is read once anyway.
    let block = |(operand, map): (Value<'_>, &AffineMap<'_>)| {
        let exprs = map.results();
        let inside = exprs.iter().skip_while(|expr| !expr.uses_dim(dim)).skip(1);
        let row: f64 = inside.flat_map(|expr| stage.domain.iter().filter(|dim| expr.uses_dim(**dim))).map(|&dim| sizes.0[dim]).product();
        sizes.0[inner] * row * operand.ty().element_type().map_or(4, ElementType::bytes) as f64
    };
    let bytes = accesses().filter(|(_, map)| map.results().iter().any(|e| e.uses_dim(dim))).map(block).fold(0.0, f64::max);
    let all = accesses()
        .filter(|(_, map)| map.results().iter().any(|e| e.uses_dim(dim)))
        .all(|(operand, map)| stride(*map, operand, lanes) == Stride::One);
    kernel.outer.contains(&lanes) && reads(lanes, Stride::One) && all && bytes >= far
}

/// Whether operands are reused: then blocks of the result matter, which is another schedule's business.
fn is_contraction(kernel: &KernelView<'_>, stage: &StageView<'_>) -> bool {
    let parallel: Vec<_> = stage.parallel().into_iter().filter(|&dim| kernel.static_size(dim) != Some(1)).collect();
    let moving = stage.maps.iter().map(|map| parallel.iter().filter(|&&dim| map.results().iter().any(|expr| expr.uses_dim(dim))).count());
    let reduced = |map: &AffineMap<'_>| stage.reduce.iter().any(|&dim| map.results().iter().any(|expr| expr.uses_dim(dim)));
    let partial = moving.zip(&stage.maps).filter(|(moving, map)| *moving < parallel.len() && reduced(map)).count();
    !stage.reduce.is_empty() && partial >= 2
}

/// Sizes of the kernel's dims, or how large they may be.
struct Sizes(Vec<f64>);

/// A size that nobody limits is taken to be this large.
const UNKNOWN_SIZE: f64 = (1 << 24) as f64;

impl Sizes {
    fn of(kernel: &KernelView<'_>, call: Op<'_>) -> Self {
        let positions = kernel.op.ints("symbols").unwrap_or_default();
        let largest: Vec<f64> = positions
            .into_iter()
            .map(|at| {
                let dim = call.operand(at as usize).defining_op().filter(|op| op.isa::<capture::Dim>());
                dim.and_then(|op| op.int("max")).map_or(UNKNOWN_SIZE, |max| (max as f64).min(UNKNOWN_SIZE))
            })
            .collect();
        Self(kernel.sizes.results().into_iter().map(|expr| value(expr, &largest).clamp(1.0, 1e12)).collect())
    }

    fn work(&self, stage: &StageView<'_>) -> f64 {
        let points: f64 = stage.domain.iter().map(|&dim| self.0[dim]).product();
        points * stage.op.body(0).ops().len() as f64
    }
}

/// An expression for the largest sizes.
fn value(expr: strata_core::ir::AffineExpr<'_>, symbols: &[f64]) -> f64 {
    use strata_core::ir::AffineKind::{Add, CeilDiv, Constant, Dim, FloorDiv, Mod, Mul, Symbol};
    match expr.kind() {
        Constant(number) => number as f64,
        Symbol(at) => symbols.get(at).copied().unwrap_or(UNKNOWN_SIZE),
        Dim(_) => UNKNOWN_SIZE,
        Add(x, y) => value(x, symbols) + value(y, symbols),
        Mul(x, y) => value(x, symbols) * value(y, symbols),
        FloorDiv(x, y) | CeilDiv(x, y) => value(x, symbols) / value(y, symbols).max(1.0),
        Mod(_, y) => value(y, symbols),
    }
}
