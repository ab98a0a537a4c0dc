//! `--pair-halves`: products of `bf16` two at a time, for CPUs with an instruction that does so.
//!
//! A contraction of `bf16` elements converts each to `f32`, multiplies, and sums. `avx512bf16` has one instruction for two steps of that
//! sum in every lane, and elements take half the room. Both operands are read as 32-bit words of two steps of the sum each, where these are
//! neighbours in memory, or copied to such words; a copy of a weight alone can run before the program.
//!
//! Matrix units (AMX) take such words as well: see `rationale/matrix_units.md`. They take the operands of attention as they lie, so its scores are only
//! given the name of the instruction.
//!
//! The instruction takes subnormal elements and sums for zero, as PyTorch's own kernels do on such a CPU. So the pass is for
//! `numerics = "ulp"` and not for `"strict"`.
//!
//! ```mlir
//! %0 = loop.call @k0(%a, %b)                 // sums a[i, k] * b[k, j], tensor<512x512xbf16> each
//! // becomes
//! %p = loop.words %a                         // tensor<512x256xi32>
//! %q = loop.call @k0.pair1(%b)               // tensor<256x512xi32>
//! %0 = loop.call @k0(%p, %q)                 // sums low(p[i, k]) * low(q[k, j]) + high(p[i, k]) * high(q[k, j])
//! ```

use crate::loops::words::{Form, Words, factors_alone, one_word};
use strata_core::ir::{Builder, ElementType, Op, Value};
use strata_core::pass::{Pass, PassContext, PassError};
use strata_core::upstream::arith;
use strata_dialects::loops::attention::AttentionView;
use strata_dialects::loops::attention_dims::AttentionDims;
use strata_dialects::loops::attention_units::AttentionUnits;
use strata_dialects::loops::roles::{Product, widens_half};
use strata_dialects::loops::view::KernelView;
use strata_dialects::loops::{self, AVX512BF16, INSTRUCTION};
use strata_dialects::numerics::Numerics;
use strata_dialects::target::Target;

/// Multiplies elements of half precision in pairs.
#[derive(Pass)]
#[pass(dependents("loop", "arith"))]
pub struct PairHalves {
    /// strict, ulp or fast.
    #[option(default = "ulp")]
    numerics: String,
}

impl Pass for PairHalves {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let target = Target::of(op)?;
        let refused = match target.has_bf16_dots() {
            false => Some("the CPU has no instruction for pairs of bf16"),
            true => (Numerics::of(&self.numerics)? == Numerics::Strict).then_some("the numerics are strict"),
        };
        let (mut rewriter, remarks) = (cx.rewriter(), cx.remarks());
        for view in op.find_all(loops::Kernel::NAME).into_iter().filter_map(KernelView::new) {
            if let Some(scores) = scores_of_halves(&view).filter(|_| refused.is_none() && target.has_matrix_units(ElementType::BF16)) {
                rewriter.set_attr(scores, INSTRUCTION, op.cx().str_attr(AVX512BF16));
            }
            let Some(product) = Product::of(&view).filter(|product| multiplies_halves(product.stage.op)) else { continue };
            let form = Form { element: ElementType::BF16, changed: None, target: &target };
            let words = refused.map_or_else(|| Words::of(op, &view, &product, &form), |reason| Err(reason.into()));
            if let Some(words) = remarks.found(product.stage.op, words) {
                let names = ("pair", AVX512BF16);
                words.multiply(op, &view, &mut rewriter, names, |b, _, halves| one_word(b, halves), sum_of_products);
            }
        }
        Ok(())
    }
}

/// The scores of attention, where matrix units take them and what they weigh as they lie.
fn scores_of_halves<'c>(kernel: &KernelView<'c>) -> Option<Op<'c>> {
    let view = AttentionView::of(kernel).ok()??;
    let AttentionDims { row, column, .. } = AttentionDims::of(kernel, &view, &kernel.stages[view.mean]);
    AttentionUnits::of(kernel, &view, row?, column?)?;
    Some(kernel.stages[view.scores?].op)
}

/// Whether the body converts its two operands from `bf16` to `f32` and multiplies them.
fn multiplies_halves(stage: Op<'_>) -> bool {
    factors_alone(stage).is_some_and(|factors| factors.iter().all(widens_half))
}

/// The product of the low halves of two words and that of the high ones.
fn sum_of_products<'c>(b: &mut Builder<'c>, words: [Value<'c>; 2]) -> Value<'c> {
    let cx = b.cx();
    let (bits, upper) = (b.const_int(cx.int(32), 16), b.const_int(cx.int(32), 0xffff_0000_u32 as i32 as i64));
    // The upper half of an `f32` is a `bf16` of the same value.
    let products = [(arith::ShLI::NAME, bits), (arith::AndI::NAME, upper)].map(|(name, by)| {
        let [lhs, rhs] = words.map(|word| {
            let word = b.value(name, &[word, by], cx.int(32), &[]);
            arith::bitcast(b, word, cx.f32())
        });
        arith::mulf(b, lhs, rhs)
    });
    b.value(arith::AddF::NAME, &products, cx.f32(), &[])
}
