//! Stages that run one element at a time in kernels that take long, and why: what `rs-compile --explain-slow` prints.

use super::cost;
use crate::emit::complex_lanes;
use crate::expand_math;
use strata_core::ir::Op;
use strata_dialects::loops;
use strata_dialects::loops::access::{Stride, stride};
use strata_dialects::loops::view::{KernelView, StageView, product_of_known};
use strata_dialects::target::Target;

/// Seconds of a kernel, on one thread, that are worth a word.
const SHORTEST: f64 = 1e-4;

/// Why a stage has no vector code, or vector code that goes element by element.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// Vectors of complex numbers are made, taken apart and moved.
    #[error("its arithmetic of complex numbers is not that of their parts (`--expand-complex`)")]
    Complex,
    /// What comes later wins or adds to what is there.
    #[error("a scatter writes in the order of its points")]
    Scatter,
    /// A running combination.
    #[error("each element of a scan follows from the one before it")]
    Scan,
    /// A call for each lane.
    #[error("'{0}' is a function of the runtime, which is called for each element")]
    Function(String),
    /// A gather of lanes.
    #[error("it loads each element from a computed place")]
    Computed,
    /// A gather of lanes, too.
    #[error("operand {0} lies across its lanes")]
    Across(usize),
    /// The cost model found none.
    #[error("no dim of its loops is worth lanes")]
    NoLanes,
}

/// A stage that runs one element at a time.
#[derive(Clone, Debug)]
pub struct Slow {
    /// The kernel's name.
    pub kernel: String,
    /// Predicted seconds of the kernel on one thread; nothing where sizes are symbolic.
    pub seconds: Option<f64>,
    /// Where it comes from in the program.
    pub place: String,
    /// Why.
    pub reason: Reason,
}

impl std::fmt::Display for Slow {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let time = self.seconds.map_or("of symbolic sizes".to_owned(), |seconds| format!("{:.0} us", 1e6 * seconds));
        write!(out, "{}: kernel {} ({time}): scalar: {}", self.place, self.kernel, self.reason)
    }
}

/// The slow stages of a program's scheduled kernels, kernel by kernel.
pub fn slow(module: Op<'_>, target: &Target) -> Vec<Slow> {
    let kernels = module.find_all(loops::Kernel::NAME).into_iter().filter_map(KernelView::new);
    kernels.flat_map(|kernel| of_kernel(&kernel, target)).collect()
}

fn of_kernel(kernel: &KernelView<'_>, target: &Target) -> Vec<Slow> {
    let seconds = cost::seconds(kernel, target, 1);
    if seconds.is_some_and(|seconds| seconds < SHORTEST) {
        return Vec::new();
    }
    let reasons = kernel.stages.iter().filter_map(|stage| Some((stage, reason(kernel, stage)?)));
    let name = kernel.op.str("sym_name").unwrap_or_default();
    reasons.map(|(stage, reason)| Slow { kernel: name.clone(), seconds, place: stage.op.location().short(), reason }).collect()
}

/// Elements of a row beside which what is computed once for it does not count: those of one vector of floats, at most.
const ROW: i64 = 16;

/// Whether a stage runs once for rows that another stage of the kernel goes through.
fn is_beside_rows(kernel: &KernelView<'_>, stage: &StageView<'_>) -> bool {
    let row = |other: &StageView<'_>| {
        let along = other.domain.iter().filter(|dim| !stage.domain.contains(dim));
        product_of_known(along.map(|&dim| kernel.static_size(dim))).is_none_or(|size| size >= ROW)
    };
    kernel.stages.iter().any(|other| stage.domain.iter().all(|dim| other.domain.contains(dim)) && row(other))
}

/// Why a stage runs one element at a time; nothing when it does not.
fn reason(kernel: &KernelView<'_>, stage: &StageView<'_>) -> Option<Reason> {
    let body = stage.op.body(0);
    let function = |op: Op<'_>| op.isa::<loops::Libm>().then(|| op.str("name").unwrap_or_default());
    let alone = |op: Op<'_>| function(op).filter(|name| !expand_math::has_lanes(name, op.result(0).ty()));
    if let Some(name) = body.ops().into_iter().find_map(alone) {
        return Some(Reason::Function(name));
    }
    let (dim, width) = cost::vectors(kernel, stage);
    if width <= 1.0 {
        return Some(match () {
            () if stage.is_scatter() => Reason::Scatter,
            () if stage.scan.is_some() => Reason::Scan,
            () if body.ops().into_iter().any(|op| op.dialect() == "complex" && !complex_lanes::has_lanes(op)) => Reason::Complex,
            // A stage of one point has nothing to share out.
            () if stage.domain.iter().all(|&dim| kernel.static_size(dim) == Some(1)) => return None,
            () if is_beside_rows(kernel, stage) => return None,
            () => Reason::NoLanes,
        });
    }
    let dim = dim?;
    if body.ops().into_iter().any(|op| op.isa::<loops::Load>() && cost::lanes::is_gather(stage, op, dim)) {
        return Some(Reason::Computed);
    }
    let transposed = stage.schedule().transpose.is_some() || kernel.schedule().online.is_some();
    let across = |operand: &usize| {
        let (tensor, map) = (stage.op.operand(*operand), stage.maps[*operand]);
        !transposed && !cost::in_panels(map, dim) && !cost::kept(tensor.defining_op()) && stride(map, tensor, dim) == Stride::Other
    };
    (0..stage.maps.len()).find(across).map(Reason::Across)
}
