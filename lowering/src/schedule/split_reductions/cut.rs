//! Cutting a kernel: each part becomes a kernel with what it reads as arguments and what later parts read as results.

use super::plan::Part;
use std::collections::HashMap;
use strata_core::ir::{AffineExpr, Block, Builder, Cx, DYNAMIC, Op, OpSpec, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_dialects::loops;
use strata_dialects::loops::edit::{describe, set_space};
use strata_dialects::loops::view::{KernelView, StageView};

/// Replaces a kernel and its call by kernels of the parts and calls of these.
pub fn cut<'c>(kernel: &KernelView<'c>, call: Op<'c>, parts: &[Part], rewriter: &mut Rewriter<'c>) {
    let mut cutter = Cutter { kernel, cx: kernel.op.cx(), call, values: HashMap::new(), partial: HashMap::new() };
    for (inside, outside) in kernel.op.body(0).args().into_iter().zip(call.operands()) {
        cutter.values.insert(inside, outside);
    }
    let name = kernel.op.str("sym_name").unwrap_or_default();
    for (number, part) in parts.iter().enumerate() {
        cutter.part(part, &parts[number + 1..], &format!("{name}_{number}"));
    }
    let results: Vec<_> = kernel.results().iter().map(|result| cutter.values[result]).collect();
    rewriter.replace(call, &results);
    rewriter.erase(kernel.op);
}

/// A tensor of partial results, outside of kernels, with the dim that numbers the pieces.
#[derive(Clone, Copy)]
struct Partial<'c> {
    tensor: Value<'c>,
    pieces: AffineExpr<'c>,
}

struct Cutter<'k, 'c> {
    kernel: &'k KernelView<'c>,
    cx: Cx<'c>,
    call: Op<'c>,
    /// What the kernel's arguments and stage results are outside of kernels.
    values: HashMap<Value<'c>, Value<'c>>,
    /// Stages whose pieces are reduced already.
    partial: HashMap<usize, Partial<'c>>,
}

/// A result of a kernel with its shape.
type Yield<'c> = (Value<'c>, Vec<AffineExpr<'c>>);

/// A kernel under construction.
struct Draft<'c> {
    op: Op<'c>,
    body: Block<'c>,
    /// Appends to the body.
    b: Rewriter<'c>,
    operands: Vec<Value<'c>>,
    /// Shapes of the arguments.
    shapes: Vec<Vec<AffineExpr<'c>>>,
    /// Values of the old kernel in the new one.
    known: HashMap<Value<'c>, Value<'c>>,
}

impl<'c> Cutter<'_, 'c> {
    fn part(&mut self, part: &Part, later: &[Part], name: &str) {
        let mut draft = self.draft(name);
        let mut sizes = self.kernel.sizes.results();
        match part {
            &Part::Pieces { ref stages, size, ref then } => {
                let (all, each) = (sizes[stages[0].1], self.cx.constant(size));
                // Blocks that meet are one at least, also where there is nothing to reduce.
                let maybe_empty = !then.is_empty() && all.as_constant().is_none_or(|all| all == 0);
                let pieces = if maybe_empty { all.floor_div(each) + self.cx.constant(1) } else { all.ceil_div(each) };
                sizes.push(pieces);
                let partial: Vec<_> = stages.iter().map(|&(stage, dim)| self.pieces(&mut draft, stage, (dim, size), pieces)).collect();
                if then.is_empty() {
                    let outputs = self.finish(draft, &sizes, &partial);
                    self.partial.extend(stages.iter().zip(outputs).map(|(&(stage, _), tensor)| (stage, Partial { tensor, pieces })));
                    return;
                }
                for (&(stage, _), (value, _)) in stages.iter().zip(&partial) {
                    let combined = self.combination(&mut draft, &self.kernel.stages[stage], *value);
                    draft.known.insert(self.kernel.stages[stage].op.result(0), combined.result(0));
                }
                then.iter()
                    .filter(|number| stages.iter().all(|(stage, _)| stage != *number))
                    .for_each(|&number| self.stage(&mut draft, number));
                self.finish_stages(draft, &sizes, (then, later), partial);
            }
            Part::Plain(stages) => {
                let combined = stages.iter().find_map(|number| self.partial.get(number));
                sizes.extend(combined.map(|partial| partial.pieces));
                for &number in stages {
                    self.stage(&mut draft, number);
                }
                self.finish_stages(draft, &sizes, (stages, later), Vec::new());
            }
        }
    }

    /// Ends a kernel of these stages, which yields what others need of them; before that what nobody needs.
    fn finish_stages(
        &mut self,
        mut draft: Draft<'c>,
        sizes: &[AffineExpr<'c>],
        (stages, later): (&[usize], &[Part]),
        mut yields: Vec<Yield<'c>>,
    ) {
        let own = yields.len();
        let needed = self.needed(stages, later);
        for &value in &needed {
            let new = draft.known[&value];
            if let Some(stage) = new.defining_op() {
                set_space(&mut draft.b, stage, "buffer");
            }
            yields.push((new, self.shape(value)));
        }
        let outputs = self.finish(draft, sizes, &yields);
        self.values.extend(needed.into_iter().zip(outputs.into_iter().skip(own)));
    }

    /// An empty kernel with the symbols of the old one.
    fn draft(&self, name: &str) -> Draft<'c> {
        let location = self.kernel.op.location();
        let mut b = Builder::before(self.kernel.op);
        let attrs = [("sym_name", self.cx.str_attr(name))];
        let op = b.op(OpSpec { name: loops::Kernel::NAME, attrs: &attrs, regions: 1, ..OpSpec::default() });
        let body = op.region(0).append_block(&[], location);
        let b = Rewriter::at_end(body, location);
        let mut draft = Draft { op, body, b, operands: Vec::new(), shapes: Vec::new(), known: HashMap::new() };
        for symbol in self.kernel.symbols() {
            self.copy_value(&mut draft, symbol);
        }
        draft
    }

    /// A value of the old kernel as an argument of the new one, if it is not there yet.
    fn copy_value(&self, draft: &mut Draft<'c>, value: Value<'c>) -> Value<'c> {
        if let Some(&known) = draft.known.get(&value) {
            return known;
        }
        let argument = draft.body.add_arg(value.ty(), self.kernel.op.location());
        draft.operands.push(self.values[&value]);
        draft.shapes.push(self.shape(value));
        draft.known.insert(value, argument);
        argument
    }

    fn shape(&self, value: Value<'c>) -> Vec<AffineExpr<'c>> {
        let sizes = self.kernel.sizes.results();
        match value.defining_op() {
            Some(stage) => StageView::new(stage).result_dims().into_iter().map(|dim| sizes[dim]).collect(),
            None => self.kernel.shapes()[value.index()].results(),
        }
    }

    /// Results of these stages that later parts read or the kernel returns.
    fn needed(&self, stages: &[usize], later: &[Part]) -> Vec<Value<'c>> {
        let mut later_stages = Vec::new();
        for part in later {
            match part {
                Part::Plain(stages) => later_stages.extend(stages.iter().copied()),
                Part::Pieces { stages, then, .. } => later_stages.extend(stages.iter().map(|(stage, _)| stage).chain(then).copied()),
            }
        }
        let returned = self.kernel.results();
        let values = stages.iter().flat_map(|&number| self.kernel.stages[number].op.results());
        let read = |value: Value<'c>| {
            later_stages.iter().any(|&at| {
                value.uses().iter().any(|using| using.op == self.kernel.stages[at].op || using.op.is_inside(self.kernel.stages[at].op))
            })
        };
        values.filter(|&value| returned.contains(&value) || read(value)).collect()
    }

    /// A stage of the old kernel, or the combination of its pieces.
    fn stage(&self, draft: &mut Draft<'c>, number: usize) {
        let stage = &self.kernel.stages[number];
        let new = match self.partial.get(&number) {
            Some(&partial) => {
                let argument = self.copy_partial(draft, stage, partial);
                self.combination(draft, stage, argument)
            }
            None => self.copy(draft, stage),
        };
        draft.known.extend(stage.op.results().into_iter().zip(new.results()));
    }

    /// A copy of a stage, with its operands brought in.
    fn copy(&self, draft: &mut Draft<'c>, stage: &StageView<'c>) -> Op<'c> {
        let operands: Vec<_> = stage.op.operands().into_iter().map(|operand| self.copy_value(draft, operand)).collect();
        draft.b.set_location(stage.op.location());
        let new = draft.b.clone_op(stage.op, &operands);
        for op in new.body(0).ops() {
            for (at, operand) in op.operands().into_iter().enumerate() {
                if self.values.contains_key(&operand) || draft.known.contains_key(&operand) {
                    let argument = self.copy_value(draft, operand);
                    draft.b.set_operand(op, at, argument);
                }
            }
        }
        new
    }

    /// The results of pieces as an argument.
    fn copy_partial(&self, draft: &mut Draft<'c>, stage: &StageView<'c>, partial: Partial<'c>) -> Value<'c> {
        let argument = draft.body.add_arg(partial.tensor.ty(), stage.op.location());
        draft.operands.push(partial.tensor);
        draft.shapes.push([&[partial.pieces], self.shape(stage.op.result(0)).as_slice()].concat());
        argument
    }

    /// The stage that reduces pieces; its result has the pieces as its first dim.
    fn pieces(&self, draft: &mut Draft<'c>, number: usize, (dim, size): (usize, i64), pieces: AffineExpr<'c>) -> Yield<'c> {
        let stage = &self.kernel.stages[number];
        let new = self.copy(draft, stage);
        let by = self.kernel.num_dims();
        let parallel = stage.parallel();
        let domain: Vec<i64> = std::iter::once(by).chain(parallel).chain(stage.reduce.iter().copied()).map(|dim| dim as i64).collect();
        draft.b.set_attr(new, "domain", self.cx.i64s_attr(&domain));
        draft.b.set_attr(new, "chunk", self.cx.i64s_attr(&[by as i64, dim as i64, size]));
        set_space(&mut draft.b, new, "buffer");
        let value = new.result(0);
        let shape = [&[pieces.as_constant().unwrap_or(DYNAMIC)], stage.op.result(0).ty().shape().as_slice()].concat();
        draft.b.set_type(value, value.ty().with_shape(&shape));
        (value, [&[pieces], self.shape(stage.op.result(0)).as_slice()].concat())
    }

    /// The stage that combines what the pieces gave.
    fn combination(&self, draft: &mut Draft<'c>, stage: &StageView<'c>, partial: Value<'c>) -> Op<'c> {
        let cx = self.cx;
        let location = stage.op.location();
        let result = stage.op.result(0);
        let by = self.kernel.num_dims();
        let parallel = stage.parallel();
        let ints = |dims: &[usize]| cx.i64s_attr(&dims.iter().map(|&dim| dim as i64).collect::<Vec<_>>());
        let access: Vec<_> = std::iter::once(by).chain(parallel.iter().copied()).map(|dim| cx.dim(dim)).collect();
        let map = cx.map_attr(cx.map(by + 1, self.kernel.sizes.num_symbols(), &access));
        let attrs = [
            ("domain", ints(&[parallel.as_slice(), &[by]].concat())),
            ("maps", cx.array_attr(&[map])),
            ("reduce", ints(&[by])),
            ("reducer", stage.op.attr("reducer").unwrap_or_else(|| cx.str_attr("sum"))),
            ("space", cx.str_attr("register")),
        ];
        let b = &mut draft.b;
        b.set_location(location);
        let spec = OpSpec {
            name: loops::Stage::NAME,
            operands: &[partial],
            results: &[result.ty()],
            attrs: &attrs,
            regions: 1,
            ..OpSpec::default()
        };
        let op = b.op(spec);
        let element = element(stage, result.ty());
        let block = op.region(0).append_block(&[element], location);
        b.within(block, |b| {
            b.effect(loops::Yield::NAME, &block.args(), &[]);
        });
        op
    }

    /// Ends a kernel and calls it.
    fn finish(&self, mut draft: Draft<'c>, sizes: &[AffineExpr<'c>], yields: &[Yield<'c>]) -> Vec<Value<'c>> {
        let (yields, shapes): (Vec<_>, Vec<_>) = yields.iter().cloned().unzip();
        draft.b.set_location(self.kernel.op.location());
        draft.b.effect(loops::Return::NAME, &yields, &[]);
        let symbols: Vec<i64> = (0..self.kernel.sizes.num_symbols() as i64).collect();
        describe(&mut draft.b, draft.op, sizes, &[draft.shapes, shapes].concat(), &symbols);
        let results: Vec<Type<'c>> = yields.iter().map(|value| value.ty()).collect();
        let name = draft.op.str("sym_name").unwrap_or_default();
        let attrs = [("callee", self.cx.symbol_attr(&name))];
        Builder::before(self.call)
            .op(OpSpec { name: loops::Call::NAME, operands: &draft.operands, results: &results, attrs: &attrs, ..OpSpec::default() })
            .results()
    }
}

/// The type of an accumulated element in a body.
fn element<'c>(stage: &StageView<'c>, result: Type<'c>) -> Type<'c> {
    let yielded = stage.op.body(0).terminator().map(|op| op.operand(0).ty());
    yielded.unwrap_or_else(|| result.element())
}
