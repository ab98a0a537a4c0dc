//! Which kernels the device can run: those whose functions it has.

use crate::expand_math::has_own;
use crate::target::MathTarget;
use strata_core::ir::{ElementType, Op};
use strata_dialects::loops;
use strata_dialects::loops::view::KernelView;

/// Whether every op of a kernel has a form on the device. The others stay with the host: functions of the runtime library, mathematics
/// that only the C library has.
pub fn runs(op: Op<'_>) -> bool {
    let Some(kernel) = KernelView::new(op) else { return false };
    if kernel.phases().iter().any(|phase| phase.refuse().is_some()) {
        return false;
    }
    let mut all = true;
    op.walk(&mut |op| all &= has(op));
    all
}

fn has(op: Op<'_>) -> bool {
    let wide = || match op.result(0).ty().element_type() {
        Some(ElementType::F64) => op.result(0).ty(),
        _ => op.cx().f32(),
    };
    match op.dialect() {
        "loop" => !op.isa::<loops::Libm>(),
        "math" => has_own(&MathTarget::device(), op.name(), wide()),
        "complex" => ["create", "re", "im", "add", "sub", "mul", "neg"].iter().any(|name| op.name().ends_with(&format!(".{name}"))),
        _ => true,
    }
}
