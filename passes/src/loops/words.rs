//! Products of small elements several at a time, for `--pair-halves` and `--quad-bytes`: the stage of a contraction multiplies words of 32 bits
//! that hold several steps of the sum. Where the steps of a word are neighbours in memory, an operand is read as words where it lies; else it is
//! copied. The stage's body says in plain operations what a word of each operand gives, so the kernel is right wherever it runs; `instruction` on
//! the stage names what does its body and its sum at once, for the emitter that has it.

use crate::loops::copy_kernel::{CopyKernel, calls};
use crate::loops::pack_operands::{NARROW_VECTORS, PANEL_VECTORS, Panel};
use crate::loops::share_kernels::is_weight;
use strata_core::ir::{AffineExpr, AffineKind, AffineMap, Builder, ElementType, Op, Value};
use strata_core::rewrite::{NoMatch, Rewriter};
use strata_core::upstream::arith;
use strata_dialects::loops::edit::{set_shapes, set_sizes};
use strata_dialects::loops::register_block::UNIT_STEPS;
use strata_dialects::loops::roles::{Product, Roles, widened_factors};
use strata_dialects::loops::view::KernelView;
use strata_dialects::loops::view::product_of_known;
use strata_dialects::loops::{self, INSTRUCTION, WORD};
use strata_dialects::target::Target;

/// Uses of an element that pay for a copy of it, and products that pay for the launches of both copies.
const USES_FOR_A_COPY: i64 = 8;
const COPY_PRODUCTS: i64 = 1 << 18;

/// What a word is.
pub struct Form<'t> {
    /// The elements in one, as many as there is room for: steps of the sum.
    pub element: ElementType,
    /// The operand whose words are not just its elements, if there is one.
    pub changed: Option<usize>,
    /// The machine.
    pub target: &'t Target,
}

/// Uses of an element for which a copy with whole steps of matrix units pays: a row of a tile that is in two lines of the cache is loaded four times as
/// slowly, by each block of columns.
const USES_FOR_WHOLE_STEPS: i64 = 64;

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
    /// The words of a sum are a multiple of so many, some of which are zero.
    round: i64,
    /// Operands whose words are read where they lie.
    in_place: [bool; 2],
    /// The operand whose copy is in panels, the dim that they are parts of, and its elements in a panel.
    panels: Option<(usize, usize, i64)>,
    /// Bits of a vector.
    vector_bits: i64,
}

impl<'c> Words<'c> {
    /// The sum of a kernel in words of a form.
    pub fn of(module: Op<'c>, kernel: &KernelView<'c>, product: &Product<'_, 'c>, form: &Form<'_>) -> Result<Self, NoMatch> {
        let (stage, &Form { element, changed, target }) = (product.stage, form);
        let steps = WORD / i64::from(element.bits());
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
        let roles = Roles::new(kernel);
        let alone = roles.is_some() && stage.maps.iter().all(|map| map.results().contains(&module.cx().dim(dim)));
        let words = kernel.static_size(dim).map_or(0, |size| (size + steps - 1) / steps);
        let made = |at: usize| is_weight(module, kernel.op, stage.op.operand(at).index());
        let used = (0..2).all(|at| made(at) || product.reuse(kernel, at).is_some_and(|reuse| reuse >= USES_FOR_WHOLE_STEPS));
        let pads = alone && used && target.has_matrix_units(element) && words > UNIT_STEPS && words % UNIT_STEPS != 0;
        let in_place = [0, 1].map(|at| {
            let size = stage.op.operand(at).ty().shape().last().copied().unwrap_or_default();
            let last = stage.maps[at].results().last().is_some_and(|index| index.uses_dim(dim));
            changed != Some(at) && last && size > 0 && size % steps == 0 && !pads
        });
        let copied: Vec<usize> = (0..2).filter(|&at| !in_place[at] && !made(at)).collect();
        let points = product_of_known(stage.domain.iter().map(|&dim| kernel.static_size(dim)));
        let pays = |&at: &usize| product.reuse(kernel, at).is_none_or(|reuse| reuse >= USES_FOR_A_COPY);
        if !copied.iter().all(pays) || !copied.is_empty() && points.is_some_and(|points| points < COPY_PRODUCTS) {
            return Err("its products are not worth a copy of its operands".into());
        }
        let wide = product.wide;
        let whole = roles.filter(|roles| roles.panel().is_none() && !roles.are_dot_products(kernel) && !in_place[wide]).is_some();
        let lanes = module.cx().dim(product.lanes);
        // (Elements that lie along the sum are turned when words of them are packed.)
        let in_rows = stage.maps[wide].results().last() == Some(&lanes);
        let width = target.lanes(WORD as u32);
        let long = kernel.static_size(product.lanes).is_none_or(|size| size > NARROW_VECTORS * width);
        let panels = (whole && in_rows && long && width > 1).then_some((wide, product.lanes, PANEL_VECTORS * width));
        let round = if pads { UNIT_STEPS } else { 1 };
        let (stage, maps, reduce, vector_bits) = (stage.op, stage.maps.clone(), stage.reduce.clone(), target.vector_bits);
        Ok(Self { stage, maps, reduce, dim, steps, round, in_place, panels, vector_bits })
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
        sizes[self.dim] = self.words(sizes[self.dim]);
        for at in 0..2 {
            let tensor = self.stage.operand(at);
            let mut shapes = kernel.shapes();
            if self.in_place[at] {
                let along = self.along(at);
                let mut shape = shapes[tensor.index()].results();
                shape[along] = self.words(shape[along]);
                let mut extents = tensor.ty().shape();
                extents[along] /= self.steps;
                let ty = cx.tensor(&extents, cx.int(WORD as u32));
                for call in calls(module, op) {
                    let words = Builder::before(call).value(loops::Words::NAME, &[call.operand(tensor.index())], ty, &[]);
                    rewriter.set_operand(call, tensor.index(), words);
                }
                rewriter.set_type(tensor, ty);
                shapes[tensor.index()] = cx.map(0, symbols, &shape);
            } else {
                let copy = self.copy(kernel, at, suffix);
                let copying = copy.write(|b, elements| word(b, at, elements));
                if let Some(panel) = self.panel(at) {
                    panel.schedule(copying, copy.ty, self.vector_bits);
                }
                for (call, words) in copy.call(module) {
                    rewriter.set_operand(call, tensor.index(), words);
                }
                rewriter.set_type(tensor, copy.ty);
                shapes[tensor.index()] = copy.shape;
            }
            set_shapes(rewriter, op, &shapes);
        }
        set_sizes(rewriter, op, symbols, &sizes);
        let in_words = |at: usize| {
            let mut indices: Vec<_> =
                self.maps[at].results().into_iter().map(|index| word_of(index, self.dim, self.steps).unwrap_or(index)).collect();
            if let Some(panel) = self.panel(at) {
                let (lane, size) = (indices[panel.lanes], cx.constant(panel.size));
                indices[panel.lanes] = lane.floor_div(size);
                indices.push(lane.modulo(size));
                indices = panel.order.iter().map(|&position| indices[position]).collect();
            }
            cx.map_attr(cx.map(kernel.num_dims(), symbols, &indices))
        };
        rewriter.set_attr(self.stage, "maps", cx.array_attr(&[0, 1].map(in_words)));
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

    /// The dim of an operand, among those of its tensor, whose elements are in one word.
    fn along(&self, at: usize) -> usize {
        self.maps[at].results().into_iter().position(|index| index.uses_dim(self.dim)).unwrap_or_default()
    }

    /// How the copy of an operand is in panels, if it is.
    fn panel(&self, at: usize) -> Option<Panel> {
        let (_, dim, size) = self.panels.filter(|(operand, ..)| *operand == at)?;
        let indices = self.maps[at].results();
        let lanes = indices.iter().position(|index| index.uses_dim(dim))?;
        let (reduced, free): (Vec<usize>, Vec<usize>) = (0..indices.len())
            .filter(|&position| position != lanes)
            .partition(|&position| self.reduce.iter().any(|&dim| indices[position].uses_dim(dim)));
        let order = [free, vec![lanes], reduced, vec![indices.len()]].concat();
        Some(Panel { lanes, size, order })
    }

    /// The copy of an operand in words.
    fn copy(&self, kernel: &KernelView<'c>, at: usize, suffix: &str) -> CopyKernel<'c> {
        let (cx, tensor, along, panel) = (kernel.op.cx(), self.stage.operand(at), self.along(at), self.panel(at));
        let mut shape = kernel.shapes()[tensor.index()].results();
        let rank = shape.len();
        let fills = |size: AffineExpr<'c>, step: i64| size.as_constant().is_some_and(|size| size >= 0 && size % step == 0);
        let (whole, ragged) =
            (fills(shape[along], self.steps * self.round), panel.as_ref().is_some_and(|panel| !fills(shape[panel.lanes], panel.size)));
        shape[along] = self.words(shape[along]);
        let mut order: Vec<usize> = (0..rank).collect();
        if let Some(panel) = &panel {
            shape[panel.lanes] = shape[panel.lanes].ceil_div(cx.constant(panel.size));
            shape.push(cx.constant(panel.size));
            order = panel.order.clone();
        }
        let shape: Vec<_> = order.iter().map(|&position| shape[position]).collect();
        let place = |position: usize| cx.dim(order.iter().position(|&known| known == position).unwrap_or_default());
        let step = |step: i64| {
            let index = |position: usize| match &panel {
                _ if position == along => place(position) * cx.constant(self.steps) + cx.constant(step),
                Some(panel) if position == panel.lanes => place(position) * cx.constant(panel.size) + place(rank),
                _ => place(position),
            };
            cx.map(shape.len(), kernel.sizes.num_symbols(), &(0..rank).map(index).collect::<Vec<_>>())
        };
        // What is missing in the last words, or in the last panel, is zero.
        let reads = (0..self.steps).map(|at| (step(at), (at > 0 || self.round > 1) && !whole || ragged)).collect();
        CopyKernel::new(kernel, tensor, &format!("{suffix}{at}"), (&shape, cx.int(WORD as u32)), reads)
    }

    /// Words of a sum of so many steps.
    fn words(&self, size: AffineExpr<'c>) -> AffineExpr<'c> {
        let cx = size.cx();
        size.ceil_div(cx.constant(self.steps * self.round)) * cx.constant(self.round)
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

/// What widens each of a stage's two operands, where its body multiplies them and they are used for nothing else.
pub fn factors_alone<'c>(stage: Op<'c>) -> Option<[Op<'c>; 2]> {
    widened_factors(stage).filter(|_| (0..2).all(|at| stage.operand(at).uses().len() == 1))
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
