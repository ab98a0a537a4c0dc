//! Products of small elements several at a time, for `--pair-halves` and `--quad-bytes`: the stage of a contraction multiplies words of 32 bits
//! that hold several steps of the sum. Where the steps of a word are neighbours in memory, an operand is read as words where it lies; else it is
//! copied. The stage's body says in plain operations what a word of each operand gives, so the kernel is right wherever it runs; `instruction` on
//! the stage names what does its body and its sum at once, for the emitter that has it.

use crate::loops::copy_kernel::{CopyKernel, calls};
use crate::loops::share_kernels::is_weight;
use strata_core::ir::{AffineExpr, AffineKind, AffineMap, Builder, Op, Value};
use strata_core::rewrite::{NoMatch, Rewriter};
use strata_core::upstream::arith;
use strata_dialects::loops::edit::{set_shapes, set_sizes};
use strata_dialects::loops::roles::Product;
use strata_dialects::loops::view::KernelView;
use strata_dialects::loops::view::product_of_known;
use strata_dialects::loops::{self, INSTRUCTION, WORD};

/// Uses of an element that pay for a copy of it, and products that pay for the launches of both copies.
const USES_FOR_A_COPY: i64 = 8;
const COPY_PRODUCTS: i64 = 1 << 18;

/// A sum of products that can be taken in words.
pub struct Words<'c> {
    /// The stage that multiplies and sums.
    pub stage: Op<'c>,
    /// Its accesses.
    pub maps: Vec<AffineMap<'c>>,
    /// The dims that are summed; steps along one of them are in one word.
    pub reduce: Vec<usize>,
    /// That dim.
    dim: usize,
    /// Steps of the sum in a word.
    steps: i64,
    /// Operands whose words are read where they lie.
    in_place: [bool; 2],
}

impl<'c> Words<'c> {
    /// The sum of a kernel, with so many steps in a word; a word of operand `changed` is not just its elements.
    pub fn of(
        module: Op<'c>,
        kernel: &KernelView<'c>,
        product: &Product<'_, 'c>,
        (steps, changed): (i64, Option<usize>),
    ) -> Result<Self, NoMatch> {
        let stage = product.stage;
        let along = |map: &AffineMap<'c>, dim: usize| {
            let mut found = map.results().into_iter().filter(|expr| expr.uses_dim(dim));
            let whole = || kernel.static_size(dim).is_some_and(|size| size % steps == 0);
            let first = found.next().is_some_and(|expr| word_of(expr, dim, steps).is_some_and(|word| word == expr || whole()));
            first && found.next().is_none()
        };
        let plain = |&dim: &usize| stage.maps.iter().all(|map| along(map, dim));
        let argument =
            |at: usize| stage.op.operand(at).owner_block() == Some(kernel.op.body(0)) && stage.op.operand(at).defining_op().is_none();
        let dim = stage.reduce.iter().copied().rev().find(plain).filter(|_| (0..2).all(argument));
        let dim = dim.ok_or("no dim that is summed is an index of two arguments, alone or behind whole words")?;
        let alone = kernel.stages.iter().all(|other| other.op == stage.op || !other.domain.contains(&dim));
        let sum = stage.op.str("reducer").as_deref() == Some("sum") && !stage.is_in_parts() && stage.op.operand(0) != stage.op.operand(1);
        if !sum || !alone {
            return Err("it is no plain sum of products of two arguments".into());
        }
        if !stage.is_register() {
            return Err("its sums are stored as they are".into());
        }
        let in_place = [0, 1].map(|at| {
            let size = stage.op.operand(at).ty().shape().last().copied().unwrap_or_default();
            let last = stage.maps[at].results().last().is_some_and(|index| index.uses_dim(dim));
            changed != Some(at) && last && size > 0 && size % steps == 0
        });
        let made = |at: usize| is_weight(module, kernel.op, stage.op.operand(at).index());
        let copied: Vec<usize> = (0..2).filter(|&at| !in_place[at] && !made(at)).collect();
        let points = product_of_known(stage.domain.iter().map(|&dim| kernel.static_size(dim)));
        let pays = |&at: &usize| product.reuse(kernel, at).is_none_or(|reuse| reuse >= USES_FOR_A_COPY);
        if !copied.iter().all(pays) || !copied.is_empty() && points.is_some_and(|points| points < COPY_PRODUCTS) {
            return Err("its products are not worth a copy of its operands".into());
        }
        Ok(Self { stage: stage.op, maps: stage.maps.clone(), reduce: stage.reduce.clone(), dim, steps, in_place })
    }

    /// Lets the stage multiply words of both operands. `word` makes one of the steps of an operand, `product` multiplies a word
    /// of each, and `instruction` is what does so at once.
    pub fn multiply(
        &self,
        module: Op<'c>,
        kernel: &KernelView<'c>,
        rewriter: &mut Rewriter<'c>,
        (suffix, instruction): (&str, &str),
        word: impl Fn(&mut Builder<'c>, usize, &[Value<'c>]) -> Value<'c>,
        product: impl FnOnce(&mut Builder<'c>, [Value<'c>; 2]) -> Value<'c>,
    ) {
        let cx = module.cx();
        let (op, symbols) = (kernel.op, kernel.sizes.num_symbols());
        let mut sizes = kernel.sizes.results();
        sizes[self.dim] = sizes[self.dim].ceil_div(cx.constant(self.steps));
        for at in 0..2 {
            let tensor = self.stage.operand(at);
            let mut shapes = kernel.shapes();
            let mut shape = shapes[tensor.index()].results();
            let along = self.maps[at].results().into_iter().position(|index| index.uses_dim(self.dim)).unwrap_or_default();
            let whole = shape[along].as_constant().is_some_and(|size| size >= 0 && size % self.steps == 0);
            shape[along] = shape[along].ceil_div(cx.constant(self.steps));
            if self.in_place[at] {
                let mut extents = tensor.ty().shape();
                extents[along] /= self.steps;
                let ty = cx.tensor(&extents, cx.int(WORD as u32));
                for call in calls(module, op) {
                    let words = Builder::before(call).value(loops::Words::NAME, &[call.operand(tensor.index())], ty, &[]);
                    rewriter.set_operand(call, tensor.index(), words);
                }
                rewriter.set_type(tensor, ty);
            } else {
                let step = |step: i64| {
                    let at = |dim: usize| {
                        if dim == along { cx.dim(dim) * cx.constant(self.steps) + cx.constant(step) } else { cx.dim(dim) }
                    };
                    cx.map(shape.len(), symbols, &(0..shape.len()).map(at).collect::<Vec<_>>())
                };
                // What is missing in the last word is zero.
                let reads = (0..self.steps).map(|at| (step(at), at > 0 && !whole)).collect();
                let copy = CopyKernel::new(kernel, tensor, &format!("{suffix}{at}"), (&shape, cx.int(WORD as u32)), reads);
                copy.write(|b, elements| word(b, at, elements));
                for (call, words) in copy.call(module) {
                    rewriter.set_operand(call, tensor.index(), words);
                }
                rewriter.set_type(tensor, copy.ty);
            }
            shapes[tensor.index()] = cx.map(0, symbols, &shape);
            set_shapes(rewriter, op, &shapes);
        }
        set_sizes(rewriter, op, symbols, &sizes);
        let in_words = |map: &AffineMap<'c>| {
            let indices = map.results().into_iter().map(|index| word_of(index, self.dim, self.steps).unwrap_or(index));
            cx.map_attr(cx.map(kernel.num_dims(), symbols, &indices.collect::<Vec<_>>()))
        };
        rewriter.set_attr(self.stage, "maps", cx.array_attr(&self.maps.iter().map(in_words).collect::<Vec<_>>()));
        rewriter.set_attr(self.stage, INSTRUCTION, cx.str_attr(instruction));
        let body = self.stage.body(0);
        body.ops().into_iter().rev().for_each(|op| rewriter.erase(op));
        body.args().into_iter().for_each(|arg| rewriter.set_type(arg, cx.int(WORD as u32)));
        rewriter.set_at_end(body);
        rewriter.set_location(self.stage.location());
        let b: &mut Builder<'c> = rewriter;
        let sum = product(b, [0, 1].map(|at| body.arg(at)));
        b.effect(loops::Yield::NAME, &[sum], &[]);
    }
}

/// The bits of elements in one word, the first in its lowest bits.
pub fn one_word<'c>(b: &mut Builder<'c>, elements: &[Value<'c>]) -> Value<'c> {
    let cx = b.cx();
    let bits = WORD / elements.len() as i64;
    let mut word = b.const_int(cx.int(WORD as u32), 0);
    for (at, &element) in elements.iter().enumerate() {
        let bits_of_element = if element.ty() == cx.int(bits as u32) { element } else { arith::bitcast(b, element, cx.int(bits as u32)) };
        let wide = arith::extui(b, bits_of_element, cx.int(WORD as u32));
        let by = b.const_int(cx.int(WORD as u32), at as i64 * bits);
        let raised = if at == 0 { wide } else { arith::shli(b, wide, by) };
        word = if at == 0 { raised } else { arith::ori(b, word, raised) };
    }
    word
}

/// Whether the body widens its two operands and multiplies them, and the operands are used for nothing else; gives what widens each.
pub fn widened_factors<'c>(stage: Op<'c>) -> Option<[Op<'c>; 2]> {
    let body = stage.body(0);
    let ops = body.ops();
    let &[first, second, product, result] = ops.as_slice() else { return None };
    let tensors = (0..2).all(|at| stage.operand(at).uses().len() == 1);
    let of = |at: usize| [first, second].into_iter().find(|op| op.num_operands() == 1 && op.operand(0) == body.arg(at));
    let factors = [of(0)?, of(1)?];
    let multiplies = product.isa::<arith::MulF>() || product.isa::<arith::MulI>();
    let both = factors[0] != factors[1] && factors.iter().all(|factor| product.operands().contains(&factor.result(0)));
    (tensors && multiplies && both && result.operand(0) == product.result(0)).then_some(factors)
}

/// The word of an index that is a dim, alone or behind so many whole words: the channel of a group.
fn word_of<'c>(index: AffineExpr<'c>, dim: usize, steps: i64) -> Option<AffineExpr<'c>> {
    match index.kind() {
        AffineKind::Dim(at) if at == dim => Some(index),
        AffineKind::Add(x, y) => {
            let (before, own) = if y.uses_dim(dim) { (x, y) } else { (y, x) };
            let AffineKind::Mul(count, by) = before.kind() else { return None };
            let by = by.as_constant().filter(|by| by % steps == 0)?;
            let alone = !before.uses_dim(dim) && own.kind() == AffineKind::Dim(dim);
            alone.then(|| count * index.cx().constant(by / steps) + own)
        }
        _ => None,
    }
}
