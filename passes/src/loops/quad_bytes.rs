//! `--quad-bytes`: products of 8-bit integers four at a time, for CPUs with an instruction that does so (VNNI).
//!
//! A contraction of bytes widens each to `i32`, multiplies, and sums. VNNI has one instruction for four steps of that sum in every lane.
//! Both operands are read as 32-bit words of four steps of the sum each, where these are neighbours in memory, or copied to such words; a copy
//! of a weight alone can run before the program. All of it is exact: sums wrap.
//!
//! The instruction multiplies unsigned bytes with signed ones. Where both operands are signed, 128 is added to one of them, and 128 times
//! the sums of the other is subtracted from the result; where both are unsigned, it is the other way around.
//!
//! ```mlir
//! %0 = loop.call @k0(%a, %b)                 // sums a[i, k] * b[k, j], tensor<512x512xi8> each
//! // becomes
//! %s = loop.call @k0.sums(%b)                // sums -128 * b[k, j] over k, tensor<512xi32>
//! %p = loop.call @k0.quad0(%a)               // tensor<512x128xi32>
//! %q = loop.call @k0.quad1(%b)               // tensor<128x512xi32>
//! %0 = loop.call @k0(%p, %q, %s)             // sums the products of four bytes each, and adds s[j]
//! ```

use crate::loops::copy_kernel::CopyKernel;
use crate::loops::words::{Form, Words, factors_alone, one_word};
use strata_core::ir::{Builder, ElementType, Op, OpSpec, Value};
use strata_core::pass::{Pass, PassContext, PassError};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::arith;
use strata_dialects::loops::edit::{set_maps, set_shapes};
use strata_dialects::loops::roles::{Product, uses};
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::loops::{self, VNNI};
use strata_dialects::target::Target;

/// Multiplies bytes in fours.
#[derive(Pass)]
#[pass(dependents("loop", "arith"))]
pub struct QuadBytes;

impl Pass for QuadBytes {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let target = Target::of(op)?;
        let refused = if target.has_byte_dots() { None } else { Some("the CPU has no instruction for four bytes") };
        let (mut rewriter, remarks) = (cx.rewriter(), cx.remarks());
        for view in op.find_all(loops::Kernel::NAME).into_iter().filter_map(KernelView::new) {
            let Some(product) = Product::of(&view) else { continue };
            let Some(signed) = signed_factors(product.stage.op) else { continue };
            let flipped = (signed[0] == signed[1]).then_some(1 - product.wide);
            let form = Form { element: ElementType::I8, changed: flipped, target: &target };
            let words = refused.map_or_else(|| Words::of(op, &view, &product, &form), |reason| Err(reason.into()));
            if let Some(words) = remarks.found(product.stage.op, words) {
                quad(op, &view, (words, signed, flipped), &mut rewriter);
            }
        }
        Ok(())
    }
}

/// Bytes of a word.
const STEPS: i64 = 4;
/// What changes its sign bit when it is added to a byte: unsigned bytes are signed ones that are so much larger.
const OFFSET: i64 = 128;

/// Whether each operand is signed, where the body widens both from bytes to `i32` and multiplies them.
fn signed_factors(stage: Op<'_>) -> Option<[bool; 2]> {
    let bytes = |op: &Op<'_>| {
        let (from, to) = (op.operand(0).ty().element_type(), op.result(0).ty().element_type());
        (op.isa::<arith::ExtSI>() || op.isa::<arith::ExtUI>()) && from == Some(ElementType::I8) && to == Some(ElementType::I32)
    };
    let factors = factors_alone(stage).filter(|factors| factors.iter().all(bytes))?;
    Some(factors.map(|factor| factor.isa::<arith::ExtSI>()))
}

/// Multiplies words of four bytes.
fn quad<'c>(
    module: Op<'c>,
    kernel: &KernelView<'c>,
    (words, mut signed, flipped): (Words<'c>, [bool; 2], Option<usize>),
    rewriter: &mut Rewriter<'c>,
) {
    if let Some(flipped) = flipped {
        let factor = if signed[flipped] { -OFFSET } else { OFFSET };
        add_sums(module, kernel, (&words, 1 - flipped, factor), rewriter);
        signed[flipped] = !signed[flipped];
    }
    let word = |b: &mut Builder<'c>, at: usize, bytes: &[Value<'c>]| {
        let word = one_word(b, bytes);
        if flipped != Some(at) {
            return word;
        }
        let signs = b.const_int(b.cx().int(32), i64::from(0x8080_8080_u32 as i32));
        arith::xori(b, word, signs)
    };
    words.multiply(module, kernel, rewriter, ("quad", VNNI), word, sum_of_products);
    // The instruction takes the unsigned operand first.
    if signed[0] {
        let operands = words.stage.operands();
        rewriter.set_operands(words.stage, &[operands[1], operands[0]]);
        let maps = StageView::new(words.stage).maps;
        set_maps(rewriter, words.stage, &[maps[1], maps[0]]);
    }
}

/// The sum of the products of the bytes of two words, of which the first are unsigned.
fn sum_of_products<'c>(b: &mut Builder<'c>, words: [Value<'c>; 2]) -> Value<'c> {
    let ty = b.cx().int(32);
    let products: Vec<_> = (0..STEPS)
        .map(|at| {
            let (low, high, top) = (b.const_int(ty, 8 * at), b.const_int(ty, 24 - 8 * at), b.const_int(ty, 24));
            let shifted = arith::shrui(b, words[0], low);
            let mask = b.const_int(ty, 255);
            let unsigned = arith::andi(b, shifted, mask);
            let raised = arith::shli(b, words[1], high);
            let signed = arith::shrsi(b, raised, top);
            arith::muli(b, unsigned, signed)
        })
        .collect();
    products.into_iter().reduce(|sum, product| arith::addi(b, sum, product)).unwrap_or_else(|| unreachable!("a word has bytes"))
}

/// Adds `factor` times the sums of an operand to what the stage gives.
fn add_sums<'c>(module: Op<'c>, kernel: &KernelView<'c>, (words, at, factor): (&Words<'c>, usize, i64), rewriter: &mut Rewriter<'c>) {
    let (cx, op, symbols, rank) = (module.cx(), kernel.op, kernel.sizes.num_symbols(), kernel.num_dims());
    let tensor = words.stage.operand(at);
    let (sizes, indices) = (kernel.sizes.results(), words.maps[at].results());
    let dims: Vec<usize> = (0..rank).filter(|dim| !words.reduce.contains(dim) && uses(words.maps[at], *dim)).collect();
    let shape: Vec<_> = dims.iter().map(|&dim| sizes[dim]).collect();
    // The copy's dims are those of the sums, then the summed ones.
    let all: Vec<usize> = dims.iter().chain(&words.reduce).copied().collect();
    let own: Vec<_> = (0..rank).map(|dim| cx.dim(all.iter().position(|&known| known == dim).unwrap_or_default())).collect();
    let renaming = cx.map(all.len(), symbols, &own);
    let access: Vec<_> = indices.into_iter().map(|index| index.compose(renaming)).collect();
    let reads = vec![(cx.map(all.len(), symbols, &access), false)];
    let i32 = cx.int(32);
    let summed: Vec<_> = words.reduce.iter().map(|&dim| sizes[dim]).collect();
    let sums = CopyKernel::new(kernel, tensor, "sums", (&shape, i32), reads).summed_over(&summed);
    let widen = words.stage.body(0).ops().into_iter().find(|widen| widen.operand(0) == words.stage.body(0).arg(at));
    sums.write(|b, element| {
        let value = widen.map_or(element[0], |widen| b.clone_op(widen, element).result(0));
        let factor = b.const_int(i32, factor);
        arith::muli(b, value, factor)
    });
    for (call, sums) in sums.call(module) {
        let mut operands = call.operands();
        operands.push(sums);
        rewriter.set_operands(call, &operands);
    }
    let args = op.body(0).args().len();
    let argument = op.body(0).add_arg(sums.ty, op.location());
    let mut shapes = kernel.shapes();
    shapes.insert(args, sums.shape);
    set_shapes(rewriter, op, &shapes);
    // A stage behind the contraction adds them.
    let sum = words.stage.result(0);
    let parallel = kernel.stages.iter().find(|stage| stage.op == words.stage).map(|stage| stage.parallel()).unwrap_or_default();
    let map = |dims: &[usize]| cx.map(rank, symbols, &dims.iter().map(|&dim| cx.dim(dim)).collect::<Vec<_>>());
    rewriter.go_after(words.stage);
    rewriter.set_location(words.stage.location());
    let stage = rewriter.op(OpSpec {
        name: loops::Stage::NAME,
        operands: &[sum, argument],
        results: &[sum.ty()],
        attrs: &[
            ("domain", cx.i64s_attr(&parallel.iter().map(|&dim| dim as i64).collect::<Vec<_>>())),
            ("maps", cx.maps_attr(&[map(&parallel), map(&dims)])),
            ("space", cx.str_attr("register")),
        ],
        regions: 1,
        ..OpSpec::default()
    });
    let body = stage.region(0).append_block(&[i32, i32], words.stage.location());
    rewriter.within(body, |b| {
        let total = arith::addi(b, body.arg(0), body.arg(1));
        b.effect(loops::Yield::NAME, &[total], &[]);
    });
    rewriter.replace_uses_if(sum, stage.result(0), |found| found.op != stage);
}
