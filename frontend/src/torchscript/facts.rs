//! What is known of values of the IR while a program is evaluated.
//!
//! A tensor that a branch or loop gives may be a view of a tensor around it, and only a call knows of which. A write to the one makes the
//! other stale, and a stale tensor is an error to read.

use std::collections::HashMap;

use strata_core::ir::{Op, Value as Tensor};
use strata_dialects::aten::{Input, Schema};

use super::error::Eval;
use super::evaluate::Evaluator;
use super::layout::Layout;
use super::value::Value;
use super::writes::{base, chain, outer};

/// Facts about values. Those of an erased region go with it: whoever erases one restores what was known before it.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts<'c> {
    /// Numbers of known tensors of rank 0, and of tensors that a size became.
    pub numbers: HashMap<Tensor<'c>, Value<'c>>,
    /// What control flow gives, and the tensors that it may be a view of.
    views: Vec<(Tensor<'c>, Vec<Tensor<'c>>)>,
    /// Tensors that may have been written to under another name.
    stale: Vec<Tensor<'c>>,
    /// How tensors lie that are not, or may not be, row-major.
    pub layouts: HashMap<Tensor<'c>, Option<Layout>>,
    /// Views of tensors that were written to, which may be copies.
    parted: Vec<Tensor<'c>>,
    /// What may be a view or a copy.
    pub open: Vec<Tensor<'c>>,
    /// Tensors whose sizes were changed in place, and the views that they became.
    shaped: Vec<(Tensor<'c>, Tensor<'c>)>,
    /// Tensors that a loop around here writes to in each step.
    pub changing: Vec<Tensor<'c>>,
}

impl<'c> Facts<'c> {
    /// Notes that a value that control flow gives may be a view of one of these.
    pub fn may_view(&mut self, value: Tensor<'c>, of: &[Tensor<'c>]) {
        let direct: Vec<_> = of.iter().filter(|of| of.ty().is_tensor()).map(|of| base(*of)).filter(|of| *of != value).collect();
        let further = self.views.iter().filter(|(known, _)| direct.contains(known)).flat_map(|(_, of)| of);
        // Each once: values that may be views of each other would list one another again and again.
        let mut bases = Vec::new();
        for of in direct.iter().chain(further).filter(|of| **of != value) {
            if !bases.contains(of) {
                bases.push(*of);
            }
        }
        if !bases.is_empty() {
            self.views.push((value, bases));
        }
    }

    /// The tensor that another is by now: that whose sizes an operator changed in place is another value.
    pub fn shaped(&self, mut tensor: Tensor<'c>) -> Tensor<'c> {
        while let Some((_, now)) = self.shaped.iter().rev().find(|(before, _)| *before == tensor) {
            tensor = *now;
        }
        tensor
    }

    /// Notes that a tensor has other sizes from now on.
    pub fn shape(&mut self, tensor: Tensor<'c>, now: Tensor<'c>) {
        self.shaped.push((self.shaped(tensor), now));
    }

    /// Whether a tensor around an op got other sizes inside of it.
    pub fn shapes_around(&self, op: Op<'c>) -> bool {
        self.shaped.iter().any(|(before, now)| outer(*before, op) == Some(*before) && outer(*now, op) != Some(*now))
    }

    /// Takes what was noted of sizes since there were so many notes. Whoever still has one of these tensors is refused.
    pub fn take_shapes(&mut self, since: usize) -> Shapes<'c> {
        let shaped = self.shaped.split_off(since.min(self.shaped.len()));
        self.stale.extend(shaped.iter().map(|(tensor, _)| *tensor));
        Shapes(shaped)
    }

    /// How many notes of sizes there are.
    pub fn shapes(&self) -> usize {
        self.shaped.len()
    }

    /// The tensors around an op that values inside of it are, or may be, views of.
    pub fn around(&self, values: &[Tensor<'c>], op: Op<'c>) -> Vec<Tensor<'c>> {
        let mut found = Vec::new();
        for value in values.iter().copied().filter(|value| value.ty().is_tensor()) {
            let base = base(value);
            let of = self.views.iter().filter(|(known, _)| *known == base).flat_map(|(_, of)| of.iter().copied());
            found.extend(std::iter::once(value).chain(of).filter_map(|value| outer(value, op)));
        }
        found
    }

    /// Notes that a value stands for another, whose elements may be old.
    pub fn stands_for(&mut self, value: Tensor<'c>, of: Tensor<'c>) {
        if value.ty().is_tensor() && self.is_stale(of) {
            self.stale.push(value);
        }
        self.may_view(value, &[of]);
    }

    /// Notes that a tensor's elements may be old.
    pub fn set_stale(&mut self, tensor: Tensor<'c>) {
        self.stale.push(tensor);
    }

    /// Whether two tensors are, or may be, views of one.
    pub fn related(&self, a: Tensor<'c>, b: Tensor<'c>) -> bool {
        let all = |tensor: Tensor<'c>| {
            let base = base(tensor);
            let of = self.views.iter().filter(move |(known, _)| *known == base).flat_map(|(_, of)| of.iter().copied());
            std::iter::once(base).chain(of)
        };
        a.ty().is_tensor() && b.ty().is_tensor() && all(a).any(|a| all(b).any(|b| a == b))
    }

    /// The places of values that may be views of one, two by two.
    pub fn relations(&self, values: &[Tensor<'c>]) -> Vec<(usize, usize)> {
        let pairs = (0..values.len()).flat_map(|a| (a + 1..values.len()).map(move |b| (a, b)));
        pairs.filter(|(a, b)| self.related(values[*a], values[*b])).collect()
    }

    /// Notes that each of two values may be a view of the other.
    pub fn relate(&mut self, a: Tensor<'c>, b: Tensor<'c>) {
        self.may_view(a, &[b]);
        self.may_view(b, &[a]);
    }

    /// Whether a tensor is, or may be, a view of one of these.
    pub fn is_view_of(&self, tensor: Tensor<'c>, of: &[Tensor<'c>]) -> bool {
        let base = base(tensor);
        of.contains(&base) || self.views.iter().any(|(value, bases)| *value == base && bases.iter().any(|known| of.contains(known)))
    }

    pub fn is_stale(&self, tensor: Tensor<'c>) -> bool {
        (!self.stale.is_empty() && self.stale.contains(&base(tensor)))
            || (!self.parted.is_empty() && chain(tensor).iter().any(|value| self.parted.contains(value)))
    }
}

/// Tensors whose sizes a region changed in place, and the views that they became.
pub(super) struct Shapes<'c>(Vec<(Tensor<'c>, Tensor<'c>)>);

impl<'c> Shapes<'c> {
    /// A value with the views in the places of these tensors, in tuples too.
    pub fn of(&self, value: &Value<'c>) -> Value<'c> {
        match value {
            Value::Tensor(tensor) => {
                let mut tensor = *tensor;
                while let Some((_, now)) = self.0.iter().find(|(before, _)| *before == tensor) {
                    tensor = *now;
                }
                Value::Tensor(tensor)
            }
            Value::Tuple(items) => Value::Tuple(items.iter().map(|item| self.of(item)).collect::<Vec<_>>().into()),
            other => other.clone(),
        }
    }

    /// Whether one of them stands around an op.
    pub fn are_around(&self, op: Op<'c>) -> bool {
        self.0.iter().any(|(before, _)| outer(*before, op) == Some(*before))
    }
}

impl<'c> Evaluator<'_, 'c> {
    /// An error where a tensor may have been written to under another name.
    pub fn readable(&self, tensor: Tensor<'c>) -> Eval<()> {
        if self.strict && self.facts.is_stale(tensor) {
            return Err("a tensor is read that a write to what a branch or loop gives may have changed".into());
        }
        Ok(())
    }

    /// Notes what an operator reads and writes to.
    pub fn accessed(&mut self, schema: &Schema, inputs: &[Option<Input<'c>>]) -> Eval<()> {
        for (arg, input) in schema.args.iter().zip(inputs) {
            let writes = arg.alias.is_some_and(|alias| alias.ends_with('!'));
            for tensor in input.iter().flat_map(tensors) {
                self.readable(tensor)?;
                if writes {
                    self.written_to(tensor)?;
                }
            }
        }
        Ok(())
    }

    fn written_to(&mut self, tensor: Tensor<'c>) -> Eval<()> {
        let written = base(tensor);
        if !self.strict {
            return Ok(());
        }
        // Whether other names see the write is open.
        let facts = &mut self.facts;
        let open: Vec<_> = facts.open.iter().copied().filter(|open| base(*open) == written).collect();
        if !open.is_empty() {
            match chain(tensor).into_iter().find(|value| open.contains(value)) {
                // Either the rest of the tensor is written to, or it is not.
                Some(_) => facts.stale.push(written),
                None => facts.parted.extend(open),
            }
        }
        let entry = self.entry;
        let facts = &mut self.facts;
        let others: Vec<_> = facts.views.iter().filter(|(value, _)| *value == written).flat_map(|(_, of)| of.clone()).collect();
        if others.iter().any(|other| other.owner_block() == Some(entry) && other.defining_op().is_none()) {
            return Err("it writes to what a branch or loop gives, which may be an input, a parameter or a buffer".into());
        }
        let related = |of: &Vec<Tensor<'c>>| of.contains(&written) || of.iter().any(|of| others.contains(of));
        let views: Vec<_> = facts.views.iter().filter(|(value, of)| *value != written && related(of)).map(|(value, _)| *value).collect();
        facts.stale.extend(others);
        facts.stale.extend(views);
        Ok(())
    }

    /// An error where a loop reads, in an earlier place of its next step, what a step made stale of the tensors around it; `stale` were
    /// stale before it. Values of the loop itself are others in each step.
    pub fn steps_read_nothing_stale(&self, op: Op<'c>, stale: usize) -> Eval<()> {
        let new: Vec<_> =
            self.facts.stale.get(stale..).unwrap_or_default().iter().filter(|value| outer(**value, op) == Some(**value)).collect();
        let mut read = false;
        if !new.is_empty() {
            // What the loop begins with it reads once.
            let reads =
                |inner: Op<'c>| inner.operands().into_iter().any(|operand| operand.ty().is_tensor() && new.contains(&&base(operand)));
            op.walk(&mut |inner| read |= inner != op && reads(inner));
        }
        if read && self.strict { Err("a loop writes to a tensor that may be another one that it reads".into()) } else { Ok(()) }
    }

    /// How many tensors are stale.
    pub fn stale(&self) -> usize {
        self.facts.stale.len()
    }
}

/// The tensors of an argument.
fn tensors<'c>(input: &Input<'c>) -> Vec<Tensor<'c>> {
    match input {
        Input::Tensor(tensor) => vec![*tensor],
        Input::Tensors(tensors) => tensors.clone(),
        Input::OptTensors(tensors) => tensors.iter().flatten().copied().collect(),
        _ => Vec::new(),
    }
}
