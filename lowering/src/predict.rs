//! How long a kernel takes with its schedule, predicted: a few numbers of the machine, and what one vector of each stage costs.
//!
//! The time is that of the arithmetic or of the memory, whichever is longer, on the threads that share the work. It need not be right,
//! only tell a long kernel from a short one: `bench/benches/kernels.rs` compares it with what is measured.

use strata_core::ir::{AffineKind, AffineMap, ElementType, Op};
use strata_core::upstream::{arith, math};
use strata_dialects::loops;
use strata_dialects::loops::access::{Stride, stride};
use strata_dialects::loops::roles::uses;
use strata_dialects::loops::view::{KernelView, StageView};

/// What a prediction needs to know of a machine.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Threads that share a kernel.
    pub threads: f64,
    /// Cycles in a second.
    pub hertz: f64,
}

impl Machine {
    /// A machine like those of today with so many threads.
    pub fn with_threads(threads: usize) -> Self {
        Self { threads: threads.max(1) as f64, hertz: 4e9 }
    }
}

/// Bytes in a second that all threads together move, by how many bytes a kernel touches: the cores' own caches, a shared one, memory.
const BANDWIDTHS: [(f64, f64); 3] = [(1e6, 300e9), (16e6, 120e9), (f64::INFINITY, 60e9)];
/// Seconds of a launch, and of waking the other threads.
const LAUNCH: f64 = 5e-8;
const WAKE: f64 = 2e-6;
/// Cycles of work below which no other thread is woken.
const ALONE: f64 = 2e4;
/// Cycles in which a sum is ready to be added to.
const LATENCY: f64 = 4.0;
/// Sums side by side in a block of scores or means.
const BESIDE: f64 = 8.0;
/// Cycles of the way from the lanes of an accumulator to one number.
const ACROSS: f64 = 20.0;

/// Seconds of a launch of a scheduled kernel; nothing when its sizes are symbolic.
pub fn seconds(kernel: &KernelView<'_>, machine: Machine) -> Option<f64> {
    let bytes = kernel.bytes()? as f64;
    let cycles = kernel.stages.iter().map(|stage| cycles(kernel, stage)).sum::<Option<f64>>()?;
    let parts = parts(kernel)? as f64;
    let shared = cycles > ALONE && parts > 1.0;
    let threads = if shared { parts / (parts / machine.threads).ceil() } else { 1.0 };
    let arithmetic = cycles / machine.hertz / threads;
    let bandwidth = BANDWIDTHS.iter().find(|(most, _)| bytes <= *most).map_or(1e9, |found| found.1);
    let memory = bytes / bandwidth * if shared { 1.0 } else { machine.threads };
    Some(arithmetic.max(memory) + LAUNCH + if shared { WAKE } else { 0.0 })
}

/// Parts of a kernel that threads can share.
fn parts(kernel: &KernelView<'_>) -> Option<i64> {
    let tiles = kernel.tiles();
    let along = |(level, dim): (usize, &usize)| {
        let size = kernel.static_size(*dim)?;
        Some(tiles.as_ref().map_or(size, |tiles| (size + tiles[level] - 1) / tiles[level]))
    };
    let shared = if tiles.is_some() { kernel.outer.len() } else { kernel.outer.len().min(1) };
    kernel.outer[..shared].iter().enumerate().map(along).product()
}

/// Where the lanes of a stage run, and how many there are.
fn lanes(kernel: &KernelView<'_>, stage: &StageView<'_>) -> (Option<usize>, f64) {
    let of = |vector: Option<usize>, width: Option<i64>| {
        let dim = vector.filter(|dim| stage.domain.contains(dim))?;
        Some((Some(dim), width? as f64))
    };
    let (own, outer) = (stage.schedule(), kernel.schedule());
    let online = outer.online.and_then(|online| online.width).unwrap_or(1);
    of(own.vector, own.width).or_else(|| of(outer.vector, outer.width)).unwrap_or((None, online as f64))
}

/// Cycles of one thread for all points of a stage.
fn cycles(kernel: &KernelView<'_>, stage: &StageView<'_>) -> Option<f64> {
    let counted = stage.domain.iter().filter(|dim| stage.chunk.is_none_or(|chunk| chunk.by != **dim));
    let points = counted.map(|&dim| Some(kernel.static_size(dim)? as f64)).product::<Option<f64>>()?;
    let (dim, width) = lanes(kernel, stage);
    let used = match dim.and_then(|dim| kernel.static_size(dim)) {
        Some(size) => size as f64 / (size as f64 / width).ceil(),
        None => width,
    };
    let vectors = points / used.max(1.0);
    let body = body(kernel, stage, dim, width);
    // Scores and means read their operands once for a block of rows.
    let (schedule, streams) = (stage.schedule(), kernel.schedule().online.is_some());
    let operands = stage.op.operands().into_iter().zip(&stage.maps);
    let loads: f64 = operands
        .filter(|(operand, _)| !kept(operand.defining_op()))
        .map(|(operand, map)| {
            let along = dim.map_or(Stride::Zero, |dim| stride(*map, operand, dim));
            let turned = schedule.transpose.is_some() || dim.is_some_and(|dim| in_panels(*map, dim));
            let one = match along {
                Stride::Other if streams => 0.5,
                Stride::Other if turned => 1.0,
                Stride::Other => width,
                _ => 0.5,
            };
            // Copies of the body along other dims share what they read.
            one / copies(kernel, |dim| !uses(*map, dim))
        })
        .sum();
    let reduces = !stage.reduce.is_empty();
    let own = schedule.unroll.unwrap_or(1).max(schedule.rows.unwrap_or(1)) as f64;
    let mut vector = body + loads;
    if reduces {
        let chains = if streams { BESIDE } else { copies(kernel, |_| true) * own };
        // A product and its sum are one instruction, and loads run beside it.
        let fused = stage.op.body(0).ops().iter().any(|op| op.isa::<arith::MulF>());
        vector = (if fused { body } else { body + 0.5 }).max(loads).max(LATENCY / chains);
    } else if !stage.is_register() {
        let last = stage.result_dims().last().copied();
        vector += if dim.is_none() || last == dim { 0.5 } else { width };
    }
    let inner_lanes = dim.is_some_and(|dim| stage.reduce.contains(&dim));
    let results = if reduces && inner_lanes {
        points / stage.reduce.iter().map(|&dim| kernel.static_size(dim).unwrap_or(1) as f64).product::<f64>()
    } else {
        0.0
    };
    Some(vectors * vector + results * ACROSS)
}

/// Cycles of a scheduled stage's body for one vector.
pub(crate) fn body_cycles(kernel: &KernelView<'_>, stage: &StageView<'_>) -> f64 {
    let (dim, width) = lanes(kernel, stage);
    body(kernel, stage, dim, width)
}

/// Cycles of a stage's body for one vector. What is the same for all points inside the outer loops is computed outside.
fn body(kernel: &KernelView<'_>, stage: &StageView<'_>, lanes: Option<usize>, width: f64) -> f64 {
    let block = stage.op.body(0);
    let inner: Vec<usize> = stage.domain.iter().copied().filter(|dim| Some(*dim) == lanes || !kernel.outer.contains(dim)).collect();
    let inner = if inner.is_empty() { stage.domain.clone() } else { inner };
    let moves = |at: usize| stage.maps.get(at).is_none_or(|map| inner.iter().any(|&dim| uses(*map, dim)));
    let mut varying: Vec<_> = block.args().into_iter().enumerate().filter(|(at, _)| moves(*at)).map(|(_, arg)| arg).collect();
    let mut cycles = 0.0;
    for op in block.ops() {
        if op.dialect() == "loop" || op.operands().iter().any(|operand| varying.contains(operand)) {
            varying.extend(op.results());
            cycles += arithmetic(op, width);
        }
    }
    cycles
}

/// Whether an access goes through panels of a dim: `dim mod p` is its last index.
fn in_panels(map: AffineMap<'_>, dim: usize) -> bool {
    map.results().last().is_some_and(|last| matches!(last.kind(), AffineKind::Mod(_, _)) && last.uses_dim(dim))
}

/// Whether a value never goes through memory.
fn kept(of: Option<Op<'_>>) -> bool {
    of.is_some_and(|op| op.str("space").as_deref() == Some("register"))
}

/// Copies of the body along outer dims of which this holds.
fn copies(kernel: &KernelView<'_>, of: impl Fn(usize) -> bool) -> f64 {
    let unroll = kernel.schedule().unroll.unwrap_or_default();
    kernel.outer.iter().zip(unroll).filter(|(dim, _)| of(**dim)).map(|(_, copies)| copies.max(1) as f64).product()
}

/// Cycles between two of an op on vectors.
pub(crate) fn arithmetic(op: Op<'_>, width: f64) -> f64 {
    let double = op.result_types().first().and_then(|ty| ty.element_type()) == Some(ElementType::F64);
    match op.name() {
        arith::Constant::NAME | loops::Yield::NAME | loops::Index::NAME => 0.0,
        arith::DivF::NAME => 6.0,
        arith::DivSI::NAME | arith::RemSI::NAME | arith::DivUI::NAME | arith::RemUI::NAME | arith::RemF::NAME => 8.0 * width,
        loops::Load::NAME => 1.0 + width,
        loops::Libm::NAME => 40.0 * width,
        math::AbsF::NAME | math::AbsI::NAME | math::Floor::NAME | math::Ceil::NAME | math::CopySign::NAME | math::Fma::NAME => 0.5,
        math::Sqrt::NAME | math::Rsqrt::NAME => 10.0,
        name if op.dialect() == "math" => MATH.iter().find(|row| row.0 == name).map_or(14.0, |row| row.1) * if double { 2.0 } else { 1.0 },
        _ => 0.5,
    }
}

/// Cycles of a vector of the functions that programs are full of.
const MATH: &[(&str, f64)] = &[
    (math::Exp::NAME, 6.0),
    (math::Exp2::NAME, 6.0),
    (math::ExpM1::NAME, 9.0),
    (math::Log::NAME, 12.0),
    (math::Sin::NAME, 9.0),
    (math::Cos::NAME, 9.0),
    (math::Tanh::NAME, 13.0),
    (math::Erf::NAME, 19.0),
    (math::PowF::NAME, 60.0),
];
