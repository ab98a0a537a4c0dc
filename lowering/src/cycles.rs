//! Cycles of the ops that bodies consist of, by a table of the target.

use crate::expand_math;
use strata_core::ir::{ElementType, Op};
use strata_core::upstream::{arith, math};
use strata_dialects::loops;
use strata_dialects::target::Cycles;

/// Cycles between two of an op on vectors.
pub(crate) fn arithmetic(op: Op<'_>, width: f64, table: &Cycles) -> f64 {
    let double = op.result_types().first().and_then(|ty| ty.element_type()) == Some(ElementType::F64);
    // Twice as many digits take about twice as long.
    let function = |cycles: f64| cycles * if double { 2.0 } else { 1.0 };
    match op.name() {
        arith::Constant::NAME | loops::Yield::NAME | loops::Index::NAME => 0.0,
        arith::DivF::NAME => table.divide,
        arith::DivSI::NAME | arith::RemSI::NAME | arith::DivUI::NAME | arith::RemUI::NAME => table.integer_divide * width,
        // The division, and about as many instructions around it as a function's polynomial has (`expand_math/rem.rs`).
        arith::RemF::NAME => table.divide + function(table.exp),
        // A gather: an address, and a load for each lane.
        loops::Load::NAME => 1.0 + width,
        // Logarithms, a sine and a product of as many factors as a polynomial has terms, in f64 (`expand_math/gamma.rs`).
        loops::Libm::NAME if expand_math::has_lanes(&op.str("name").unwrap_or_default(), op.result(0).ty()) => {
            2.0 * (3.0 * table.log + table.sin + table.exp)
        }
        loops::Libm::NAME => table.call * width,
        math::AbsF::NAME | math::AbsI::NAME | math::Floor::NAME | math::Ceil::NAME | math::CopySign::NAME | math::Fma::NAME => table.simple,
        math::Sqrt::NAME | math::Rsqrt::NAME => table.sqrt,
        math::Exp::NAME | math::Exp2::NAME => function(table.exp),
        math::ExpM1::NAME => function(table.expm1),
        math::Log::NAME => function(table.log),
        math::Sin::NAME | math::Cos::NAME => function(table.sin),
        math::Tanh::NAME => function(table.tanh),
        math::Erf::NAME => function(table.erf),
        math::PowF::NAME => function(table.pow),
        _ if op.dialect() == "math" => function(table.function),
        _ => table.simple,
    }
}
