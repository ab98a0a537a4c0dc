//! `--pair-halves`: products of `bf16` two at a time, for CPUs with an instruction that does so.
//!
//! A contraction of `bf16` elements converts each to `f32`, multiplies, and sums. `avx512bf16` has one instruction for two steps of that
//! sum in every lane, and elements take half the room. Both operands are copied, two steps of the sum in one 32-bit word; a copy of a
//! weight alone can run before the program. The body says in plain operations what a word of each gives, so the kernel is right wherever
//! it runs; `instruction` on the stage names what does its body and its sum at once, for the emitter that has it.
//!
//! The instruction takes subnormal elements and sums for zero, as PyTorch's own kernels do on such a CPU. So the pass is for
//! `numerics = "ulp"` and not for `"strict"`.
//!
//! ```mlir
//! %0 = loop.call @k0(%a, %b)                 // sums a[i, k] * b[k, j], tensor<512x512xbf16> each
//! // becomes
//! %p = loop.call @k0.pair0(%a)               // tensor<512x256xi32>
//! %q = loop.call @k0.pair1(%b)               // tensor<256x512xi32>
//! %0 = loop.call @k0(%p, %q)                 // sums low(p[i, k]) * low(q[k, j]) + high(p[i, k]) * high(q[k, j])
//! ```

use crate::loops::copy_kernel::CopyKernel;
use strata_core::ir::{AffineExpr, AffineKind, AffineMap, Builder, ElementType, Op, Value};
use strata_core::pass::{Pass, PassContext, PassError};
use strata_core::rewrite::{NoMatch, Rewriter};
use strata_core::upstream::arith;
use strata_dialects::loops::edit::{set_shapes, set_sizes};
use strata_dialects::loops::roles::Roles;
use strata_dialects::loops::view::product_of_known;
use strata_dialects::loops::view::{KernelView, StageView};
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
        let refused = match Target::of(op)?.has_bf16_dots() {
            false => Some("the CPU has no instruction for pairs of bf16"),
            true => (Numerics::of(&self.numerics)? == Numerics::Strict).then_some("the numerics are strict"),
        };
        let (mut rewriter, remarks) = (cx.rewriter(), cx.remarks());
        for view in op.find_all(loops::Kernel::NAME).into_iter().filter_map(KernelView::new) {
            let Some(roles) = Roles::new(&view).filter(|roles| multiplies(roles.stage)) else { continue };
            let products = refused.map_or_else(|| Products::of(&view, &roles), |reason| Err(reason.into()));
            if let Some(products) = remarks.found(roles.stage.op, products) {
                products.pair(op, &view, &mut rewriter);
            }
        }
        Ok(())
    }
}

/// Uses of an element that pay for a copy of it, and products that pay for the launches of both copies.
const USES_FOR_A_COPY: i64 = 8;
const COPY_PRODUCTS: i64 = 1 << 18;

/// A sum of products that can be taken in pairs.
struct Products<'c> {
    stage: Op<'c>,
    maps: Vec<AffineMap<'c>>,
    /// The dim that is summed, two steps at once.
    dim: usize,
}

impl<'c> Products<'c> {
    fn of(kernel: &KernelView<'c>, roles: &Roles<'_, 'c>) -> Result<Self, NoMatch> {
        let stage = roles.stage;
        let &dim = stage.reduce.last().ok_or("nothing is summed")?;
        let plain = |map: &AffineMap<'c>| {
            let along: Vec<_> = map.results().into_iter().filter(|expr| expr.uses_dim(dim)).collect();
            along.len() == 1 && map.results().iter().all(|&expr| dim_of(expr).is_some())
        };
        let argument =
            |at: usize| stage.op.operand(at).owner_block() == Some(kernel.op.body(0)) && stage.op.operand(at).defining_op().is_none();
        let alone = kernel.stages.iter().all(|other| other.op == stage.op || !other.domain.contains(&dim));
        let reuse = |at: usize| roles.reuse(kernel, at).is_none_or(|reuse| reuse >= USES_FOR_A_COPY);
        let points = product_of_known(stage.domain.iter().map(|&dim| kernel.static_size(dim)));
        let sum = stage.op.str("reducer").as_deref() == Some("sum") && stage.chunk.is_none() && stage.op.operand(0) != stage.op.operand(1);
        if !sum || !alone || !(0..2).all(|at| plain(&stage.maps[at]) && argument(at)) {
            return Err("it is no plain sum of products of two arguments".into());
        }
        if !(0..2).all(reuse) || points.is_some_and(|points| points < COPY_PRODUCTS) {
            return Err("its products are not worth a copy of both operands".into());
        }
        Ok(Self { stage: stage.op, maps: stage.maps.clone(), dim })
    }

    /// Copies both operands and lets the kernel multiply words.
    fn pair(&self, module: Op<'c>, kernel: &KernelView<'c>, rewriter: &mut Rewriter<'c>) {
        let cx = module.cx();
        let (op, symbols) = (kernel.op, kernel.sizes.num_symbols());
        let mut sizes = kernel.sizes.results();
        let whole = kernel.static_size(self.dim).is_some_and(|size| size % 2 == 0);
        sizes[self.dim] = sizes[self.dim].ceil_div(cx.constant(2));
        for at in 0..2 {
            let tensor = self.stage.operand(at);
            let dims: Vec<_> = self.maps[at].results().into_iter().filter_map(dim_of).collect();
            let shape: Vec<_> = dims.iter().map(|&dim| sizes[dim]).collect();
            let along = dims.iter().position(|&dim| dim == self.dim).unwrap_or_default();
            let half = |second: i64| {
                let at = |dim: usize| if dim == along { cx.dim(dim) * cx.constant(2) + cx.constant(second) } else { cx.dim(dim) };
                cx.map(dims.len(), symbols, &(0..dims.len()).map(at).collect::<Vec<_>>())
            };
            // Where their number is odd, the last step is followed by a zero.
            let reads = vec![(half(0), false), (half(1), !whole)];
            let copy = CopyKernel::new(kernel, tensor, &format!("pair{at}"), (&shape, cx.int(32)), reads);
            copy.write(one_word);
            for (call, pairs) in copy.call(module) {
                rewriter.set_operand(call, tensor.index(), pairs);
            }
            rewriter.set_type(tensor, copy.ty);
            let mut shapes = kernel.shapes();
            shapes[tensor.index()] = copy.shape;
            set_shapes(rewriter, op, &shapes);
        }
        set_sizes(rewriter, op, symbols, &sizes);
        rewriter.set_attr(self.stage, INSTRUCTION, cx.str_attr(AVX512BF16));
        multiply_words(self.stage, rewriter);
    }
}

/// Whether the body converts its two operands from `bf16` to `f32` and multiplies them, and the operands are used for nothing else.
fn multiplies(stage: &StageView<'_>) -> bool {
    let body = stage.op.body(0);
    let ops = body.ops();
    let [first, second, product, result] = ops.as_slice() else { return false };
    let converts = |op: &Op<'_>| {
        let from = op.num_operands() == 1 && op.operand(0).ty().element_type() == Some(ElementType::BF16);
        op.isa::<arith::ExtF>() && from && op.result(0).ty().element_type() == Some(ElementType::F32)
    };
    let tensors = (0..2).all(|at| stage.op.operand(at).uses().len() == 1);
    let of = |op: &Op<'_>, at: usize| op.operand(0) == body.arg(at);
    let both = of(first, 0) && of(second, 1) || of(first, 1) && of(second, 0);
    let products =
        product.isa::<arith::MulF>() && product.operands().iter().all(|value| [first.result(0), second.result(0)].contains(value));
    converts(first)
        && converts(second)
        && both
        && tensors
        && products
        && product.operand(0) != product.operand(1)
        && result.operand(0) == product.result(0)
}

/// The body of a stage whose operands are words of two elements: the product of the low halves and that of the high ones.
fn multiply_words<'c>(stage: Op<'c>, rewriter: &mut Rewriter<'c>) {
    let (cx, body) = (stage.cx(), stage.body(0));
    body.ops().into_iter().rev().for_each(|op| rewriter.erase(op));
    body.args().into_iter().for_each(|arg| rewriter.set_type(arg, cx.int(32)));
    rewriter.set_at_end(body);
    rewriter.set_location(stage.location());
    let b: &mut Builder<'c> = rewriter;
    let (bits, upper) = (b.const_int(cx.int(32), 16), b.const_int(cx.int(32), 0xffff_0000_u32 as i32 as i64));
    // The upper half of an `f32` is a `bf16` of the same value.
    let products = [(arith::ShLI::NAME, bits), (arith::AndI::NAME, upper)].map(|(name, by)| {
        let [lhs, rhs] = [0, 1].map(|at| {
            let word = b.value(name, &[body.arg(at), by], cx.int(32), &[]);
            arith::bitcast(b, word, cx.f32())
        });
        arith::mulf(b, lhs, rhs)
    });
    let sum = b.value(arith::AddF::NAME, &products, cx.f32(), &[]);
    b.effect(loops::Yield::NAME, &[sum], &[]);
}

/// Two elements in one word, the first in its low half.
fn one_word<'c>(b: &mut Builder<'c>, halves: &[Value<'c>]) -> Value<'c> {
    let cx = b.cx();
    let [low, high] = [0, 1].map(|at| {
        let bits = arith::bitcast(b, halves[at], cx.int(16));
        arith::extui(b, bits, cx.int(32))
    });
    let by = b.const_int(cx.int(32), 16);
    let high = arith::shli(b, high, by);
    arith::ori(b, low, high)
}

fn dim_of(expr: AffineExpr<'_>) -> Option<usize> {
    if let AffineKind::Dim(dim) = expr.kind() { Some(dim) } else { None }
}
