//! `--expand-complex`: arithmetic of complex numbers in kernels becomes arithmetic of their parts, which has lanes.
//!
//! ```mlir
//! %2 = complex.add %0, %1 : complex<f32>
//! // becomes
//! %a = complex.re %0 : complex<f32>
//! %b = complex.re %1 : complex<f32>
//! %c = arith.addf %a, %b : f32
//! ...
//! %2 = complex.create %c, %f : complex<f32>
//! ```
//!
//! The formulas are those of MLIR's `convert-complex-to-standard`, which code that is not in lanes meets later.

use crate::emit::complex_lanes;
use strata_core::ir::Op;
use strata_core::pass::{Pass, PassContext, PassError};
use strata_core::upstream::complex;
use strata_dialects::loops;

/// Takes operations on complex numbers apart.
#[derive(Pass)]
#[pass(dependents("arith", "complex", "math"))]
pub struct ExpandComplex;

impl Pass for ExpandComplex {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        for kernel in op.find_all(loops::Kernel::NAME) {
            if has_arithmetic(kernel) {
                cx.run_pipeline(kernel, "convert-complex-to-standard")?;
                fold_parts(kernel, cx);
            }
        }
        Ok(())
    }
}

fn has_arithmetic(kernel: Op<'_>) -> bool {
    let mut found = false;
    kernel.walk(&mut |op| found |= op.dialect() == "complex" && !complex_lanes::has_lanes(op));
    found
}

/// A part of a number that was made of parts is that part.
fn fold_parts<'c>(kernel: Op<'c>, cx: &mut PassContext<'c>) {
    let mut rewriter = cx.rewriter();
    for (name, at) in [(complex::Re::NAME, 0), (complex::Im::NAME, 1)] {
        for part in kernel.find_all(name) {
            if let Some(create) = part.operand(0).defining_op().filter(|op| op.isa::<complex::Create>()) {
                rewriter.replace(part, &[create.operand(at)]);
            }
        }
    }
    for create in kernel.find_all(complex::Create::NAME).into_iter().filter(|create| create.result(0).is_unused()) {
        rewriter.erase(create);
    }
}
