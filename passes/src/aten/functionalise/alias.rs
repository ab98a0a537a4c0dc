//! Which tensors share storage, and what each of them is worth now.

use std::collections::HashMap;

use strata_core::ir::{Block, Builder, Op, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_dialects::aten::{Operator, op};
use strata_dialects::capture;

use super::{Refusal, undo};

/// Bases, and the views of them, by the values that the program gave them.
#[derive(Default)]
pub(super) struct Aliases<'c> {
    bases: Vec<Base<'c>>,
    views: HashMap<Value<'c>, View<'c>>,
    /// Whether an op counted in a storage: only such programs say what their storages are like.
    pub asked: bool,
}

/// A storage: its whole value now, and how many writes that took.
struct Base<'c> {
    /// The value that the program gave it first.
    owner: Value<'c>,
    current: Value<'c>,
    version: usize,
    home: Option<Block<'c>>,
}

/// A tensor of the program: how it is reached from its base, and its value after the write that it last saw.
#[derive(Clone)]
struct View<'c> {
    base: usize,
    steps: Vec<Step<'c>>,
    current: Value<'c>,
    version: usize,
}

/// One view operator of a chain.
#[derive(Clone, Copy)]
pub(super) struct Step<'c> {
    /// The operator as it stands in the program.
    pub op: Op<'c>,
    /// Which operator that is.
    pub operator: Operator,
    /// Which of its results.
    pub result: usize,
    /// The type of what it is a view of.
    pub source: Type<'c>,
}

impl<'c> Step<'c> {
    /// The type of the view.
    pub fn ty(self) -> Type<'c> {
        self.op.result(self.result).ty()
    }

    /// The same view of another value.
    pub fn replay(self, builder: &mut Builder<'c>, source: Value<'c>) -> Value<'c> {
        let mut operands = self.op.operands();
        operands[0] = source;
        builder.clone_op(self.op, &operands).result(self.result)
    }
}

impl<'c> Aliases<'c> {
    /// The view of a value; a value that nobody has seen is a base of its own.
    fn view(&mut self, value: Value<'c>) -> &mut View<'c> {
        let bases = &mut self.bases;
        self.views.entry(value).or_insert_with(|| {
            let home = value.defining_op().map_or_else(|| value.owner_block(), |op| op.block());
            bases.push(Base { owner: value, current: value, version: 0, home });
            View { base: bases.len() - 1, steps: Vec::new(), current: value, version: 0 }
        })
    }

    /// Says that the results of `op` are views of `source`.
    pub fn add_view(&mut self, source: Value<'c>, operator: Operator, op: Op<'c>) {
        let View { base, steps, .. } = self.view(source).clone();
        let version = self.bases[base].version;
        for (result, value) in op.results().into_iter().enumerate() {
            let mut steps = steps.clone();
            steps.push(Step { op, operator, result, source: source.ty() });
            self.views.insert(value, View { base, steps, current: value, version });
        }
    }

    /// Says that `value` is reached by these views from the base of `source`, as that is now.
    pub fn add_chain(&mut self, source: Value<'c>, steps: Vec<Step<'c>>, value: Value<'c>) {
        let base = self.view(source).base;
        self.views.insert(value, View { base, steps, current: value, version: self.bases[base].version });
    }

    /// The views that lead from a value's base to it.
    pub fn steps(&mut self, value: Value<'c>) -> Vec<Step<'c>> {
        self.view(value).steps.clone()
    }

    /// The base of a value: as the program made it, and as it is now.
    pub fn base(&mut self, value: Value<'c>) -> (Value<'c>, Value<'c>) {
        let base = self.view(value).base;
        (self.bases[base].owner, self.bases[base].current)
    }

    /// What the program's value is worth where the rewriter stands; views that a write made stale are taken again from the base.
    pub fn current(&mut self, value: Value<'c>, rewriter: &mut Rewriter<'c>) -> Value<'c> {
        let Some(view) = self.views.get(&value) else { return value };
        let base = &self.bases[view.base];
        if view.version == base.version {
            return view.current;
        }
        let version = base.version;
        let current = view.steps.iter().fold(base.current, |source, step| step.replay(rewriter, source));
        // A copy made inside a region is out of reach behind it.
        let home = value.defining_op().map_or_else(|| value.owner_block(), |op| op.block());
        if home == rewriter.insertion_block()
            && let Some(view) = self.views.get_mut(&value)
        {
            (view.current, view.version) = (current, version);
        }
        current
    }

    /// Lets an op read current values.
    pub fn refresh_operands(&mut self, op: Op<'c>, rewriter: &mut Rewriter<'c>) {
        for (index, operand) in op.operands().into_iter().enumerate() {
            let current = self.current(operand, rewriter);
            if current != operand {
                rewriter.set_operand(op, index, current);
            }
        }
    }

    /// Gives the program's value a new content where the rewriter stands, and all that shares its storage with it.
    pub fn write(&mut self, value: Value<'c>, new: Value<'c>, rewriter: &mut Rewriter<'c>) -> Result<(), Refusal> {
        let View { base, steps, .. } = self.view(value).clone();
        let storage = &self.bases[base];
        if storage.home != rewriter.insertion_block() {
            return Err("writes to a tensor of an enclosing region; return the new value from the region instead".to_owned());
        }
        if new.ty() != value.ty() {
            return Err(format!("would store {} into a tensor of type {}", new.ty(), value.ty()));
        }
        let content = undo::undo_all(rewriter, &steps, storage.current, new)?;
        for step in steps.iter().filter(|step| step.operator == op::DETACH) {
            rewriter.set_attr(step.op, capture::OVERWRITTEN, step.op.cx().unit());
        }
        let storage = &mut self.bases[base];
        storage.current = content;
        storage.version += 1;
        let version = storage.version;
        let view = self.view(value);
        (view.current, view.version) = (new, version);
        Ok(())
    }

    /// The new content of a base, if anything was written to it.
    pub fn written(&self, base: Value<'c>) -> Option<Value<'c>> {
        let view = self.views.get(&base)?;
        let storage = &self.bases[view.base];
        (storage.version > 0).then_some(storage.current)
    }
}
