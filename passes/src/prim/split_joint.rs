//! `--split-joint`: a joint program becomes a pair of programs, the forward and the backward.
//!
//! The forward gives its outputs and mutations, and behind the outputs what the backward reads of it (`saved_0`, ..). The backward,
//! `@NAME_backward`, takes that, the arguments that it reads and the cotangents, and gives the gradients. Run `--rematerialise` first to
//! save less. The backward is marked as a part of the program. With `only=forward` or `only=backward` the other one is left out, and this
//! one is the entry.
//!
//! An argument that the forward writes to is handed on as it was before. Sizes that the backward reads of the forward are computed again. Of an
//! argument that no output depends on there is no gradient, as in PyTorch. It refuses a program without gradients.
//!
//! ```mlir
//! func.func @f(%x: tensor<8xf32> {capture.kind = "input", capture.name = "x"}, %g: tensor<8xf32> {capture.cotangent = 0 : i64, capture.kind = "input", capture.name = "cot_0"}) -> (tensor<8xf32> {capture.kind = "output"}, tensor<8xf32> {capture.gradient = "x", capture.kind = "output", capture.name = "grad_x"}) attributes {capture.entry} {
//!   %0 = prim.exp %x : tensor<8xf32>
//!   %1 = prim.mul %g, %0 : tensor<8xf32>
//!   return %0, %1 : tensor<8xf32>, tensor<8xf32>
//! }
//! // becomes
//! func.func @f(%x: tensor<8xf32> {capture.kind = "input", capture.name = "x"}) -> (tensor<8xf32> {capture.kind = "output"}, tensor<8xf32> {capture.kind = "output", capture.name = "saved_0"}) attributes {capture.entry} {
//!   %0 = prim.exp %x : tensor<8xf32>
//!   return %0, %0 : tensor<8xf32>, tensor<8xf32>
//! }
//! func.func @f_backward(%saved: tensor<8xf32> {capture.kind = "input", capture.name = "saved_0"}, %g: tensor<8xf32> {capture.cotangent = 0 : i64, capture.kind = "input", capture.name = "cot_0"}) -> (tensor<8xf32> {capture.gradient = "x", capture.kind = "output", capture.name = "grad_x"}) attributes {capture.resume} {
//!   %0 = prim.mul %g, %saved : tensor<8xf32>
//!   return %0 : tensor<8xf32>
//! }
//! ```

use std::collections::{HashMap, HashSet};

use strata_core::ir::{Attr, Op, OpSpec, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::func;
use strata_dialects::capture;

use super::halves::Halves;

/// Makes a joint program two.
#[derive(Pass)]
#[pass(dependents("prim", "func"))]
pub struct SplitJoint {
    /// The program of the pair to make, `forward` or `backward`; both where none is named.
    only: String,
    /// Values that the forward gives to the backward.
    saved: Counter,
}

impl Pass for SplitJoint {
    fn run<'c>(&self, module: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let [forward, backward] = match self.only.as_str() {
            "" => [true, true],
            "forward" => [true, false],
            "backward" => [false, true],
            other => return Err(PassError::at(module, &format!("only={other}: the programs of a pair are forward and backward"))),
        };
        let programs = module.body(0).ops().into_iter().filter(|op| op.isa::<func::Func>() && op.attr(capture::ENTRY).is_some());
        for function in programs {
            let split = Split::of(function).map_err(|reason| PassError::at(function, reason))?;
            self.saved.add(split.saved.len());
            let mut rewriter = cx.rewriter();
            if backward {
                let made = split.write_backward(&mut rewriter);
                if !forward {
                    rewriter.remove_attr(made, capture::RESUME);
                    rewriter.set_attr(made, capture::ENTRY, module.cx().unit());
                    rewriter.erase(function);
                    continue;
                }
            }
            split.apply(rewriter);
        }
        Ok(())
    }
}

/// The attributes of a function's arguments or results.
fn attributes<'c>(function: Op<'c>, list: &str, count: usize) -> Vec<Attr<'c>> {
    let found = function.attr(list).and_then(Attr::as_array).unwrap_or_default();
    if found.len() == count { found } else { vec![function.cx().dict_attr(&[]); count] }
}

/// What each of the two programs gets.
struct Split<'c> {
    function: Op<'c>,
    end: Op<'c>,
    /// What is returned, with its attributes: of the forward, and of the backward.
    results: [Vec<(Value<'c>, Attr<'c>)>; 2],
    /// The ops of the backward, with the numbers of the forward that they need.
    backward: Vec<Op<'c>>,
    /// Of these the ones that are conditions on cotangents.
    conditions: HashSet<Op<'c>>,
    /// Tensors of the forward that the backward reads.
    saved: Vec<Value<'c>>,
    /// The arguments that the backward reads.
    arguments: Vec<usize>,
    /// The arguments of the backward alone.
    cotangents: Vec<usize>,
}

impl<'c> Split<'c> {
    /// Of a function; where it computes no gradients, why.
    fn of(function: Op<'c>) -> Result<Self, &'static str> {
        const NONE: &str = "computes no gradients; run --differentiate first";
        let halves = Halves::new(function).ok_or(NONE)?;
        let end = function.body(0).terminator().ok_or(NONE)?;
        let attrs = attributes(function, "res_attrs", end.num_operands());
        let returned = end.operands().into_iter().zip(attrs);
        let (mut gradients, others): (Vec<_>, Vec<_>) = returned.partition(|(_, attr)| attr.entry(capture::GRADIENT).is_some());
        if gradients.is_empty() {
            return Err(NONE);
        }
        gradients.retain(|(_, attr)| attr.entry(capture::NO_GRADIENT).is_none());
        if gradients.is_empty() {
            return Err("has no output that depends on what it is differentiated by, and so no backward");
        }
        // Mutations belong to the forward, and what they are computed from with them.
        let mut forward: HashSet<Op<'c>> = HashSet::new();
        let mut next: Vec<Value<'c>> = others.iter().map(|(value, _)| *value).collect();
        while let Some(value) = next.pop() {
            if let Some(op) = value.defining_op().and_then(|op| halves.statement(op)).filter(|op| forward.insert(*op)) {
                next.extend(halves.reads(op));
            }
        }
        let arg_attrs = attributes(function, "arg_attrs", function.body(0).args().len());
        let name = |attr: &Attr<'c>| attr.entry(capture::NAME).and_then(Attr::as_str);
        let is_mutation = |attr: &Attr<'c>| attr.entry(capture::KIND).and_then(Attr::as_str).is_some_and(|kind| kind == "mutation");
        let mutations: HashSet<_> = others.iter().filter(|(_, attr)| is_mutation(attr)).filter_map(|(_, attr)| name(attr)).collect();
        let written: HashSet<usize> =
            (0..arg_attrs.len()).filter(|at| name(&arg_attrs[*at]).is_some_and(|name| mutations.contains(&name))).collect();
        // What the gradients need: tensors of the forward are handed over, also arguments that it writes to; numbers of it are computed again.
        let (mut needed, mut saved, mut arguments) = (HashSet::new(), Vec::new(), HashSet::new());
        let mut next: Vec<Value<'c>> = gradients.iter().map(|(value, _)| *value).collect();
        // A condition on a cotangent is one on a call of the backward.
        let conditions = Self::conditions(function, &halves);
        for op in &conditions {
            needed.insert(*op);
            next.extend(halves.reads(*op));
        }
        let mut seen: HashSet<Value<'c>> = HashSet::new();
        while let Some(value) = next.pop() {
            if !seen.insert(value) {
                continue;
            }
            match value.defining_op().and_then(|op| halves.statement(op)) {
                None if written.contains(&value.index()) => saved.push(value),
                None => drop(arguments.insert(value.index())),
                Some(op) if forward.contains(&op) && value.ty().is_tensor() => saved.push(value),
                Some(op) => {
                    if needed.insert(op) {
                        next.extend(halves.reads(op));
                    }
                }
            }
        }
        let order = function.body(0).ops();
        let place = |value: &Value<'c>| (order.iter().position(|op| Some(*op) == value.defining_op()), value.index());
        saved.sort_by_key(place);
        let ops = order.iter().copied().filter(|op| needed.contains(op)).collect();
        let is_cotangent = |at: &usize| arg_attrs[*at].entry(capture::COTANGENT).is_some();
        let read = (0..arg_attrs.len()).filter(|at| arguments.contains(at) || is_cotangent(at));
        let (cotangents, arguments) = read.partition(is_cotangent);
        Ok(Self {
            function,
            end,
            results: [others, gradients],
            backward: ops,
            conditions: conditions.into_iter().collect(),
            saved,
            arguments,
            cotangents,
        })
    }

    /// The ops without results that read what depends on cotangents.
    fn conditions(function: Op<'c>, halves: &Halves<'c>) -> Vec<Op<'c>> {
        let block = function.body(0);
        let attrs = attributes(function, "arg_attrs", block.args().len());
        let cotangents = block.args().into_iter().zip(&attrs).filter(|(_, attr)| attr.entry(capture::COTANGENT).is_some());
        let mut late: HashSet<Value<'c>> = cotangents.map(|(value, _)| value).collect();
        let mut found = Vec::new();
        for op in block.ops().into_iter().filter(|op| Some(*op) != block.terminator()) {
            if halves.reads(op).iter().any(|value| late.contains(value)) {
                late.extend(op.results());
                found.extend((op.num_results() == 0).then_some(op));
            }
        }
        found
    }

    /// The attributes of a saved value: an `output` of the forward, and an `input` of the backward.
    fn named(&self, kind: &str, k: usize) -> Attr<'c> {
        let cx = self.function.cx();
        cx.dict_attr(&[(capture::KIND, cx.str_attr(kind)), (capture::NAME, cx.str_attr(&format!("saved_{k}")))])
    }

    /// Makes the function the forward.
    fn apply(self, mut rewriter: Rewriter<'c>) {
        let cx = self.function.cx();
        let attrs = attributes(self.function, "arg_attrs", self.function.body(0).args().len());
        let saved: Vec<_> = self.saved.iter().enumerate().map(|(k, value)| (*value, self.named("output", k))).collect();
        let [mut others, gradients] = self.results;
        let is_output = |attr: &Attr<'c>| attr.entry(capture::KIND).and_then(Attr::as_str).is_none_or(|kind| kind == "output");
        let outputs = others.iter().filter(|(_, attr)| is_output(attr)).count();
        others.splice(outputs..outputs, saved);
        drop(gradients);
        let (values, res_attrs): (Vec<_>, Vec<_>) = others.into_iter().unzip();
        rewriter.set_operands(self.end, &values);
        let block = self.function.body(0);
        let only: HashSet<_> = self.backward.iter().copied().filter(|op| op.num_results() > 0 || self.conditions.contains(op)).collect();
        // What only the backward needs has no users, from the last op on.
        for op in block.ops().into_iter().rev().filter(|op| *op != self.end) {
            if op.results().iter().all(|result| result.is_unused()) && only.contains(&op) {
                rewriter.erase(op);
            }
        }
        let mut kept = attrs;
        for at in self.cotangents.into_iter().rev().filter(|at| block.arg(*at).is_unused()).collect::<Vec<_>>() {
            rewriter.erase_arg(block, at);
            kept.remove(at);
        }
        let types = |values: &[Value<'c>]| values.iter().map(|value| value.ty()).collect::<Vec<_>>();
        func::set_type(&mut rewriter, self.function, &types(&block.args()), &types(&values));
        rewriter.set_attr(self.function, "arg_attrs", cx.array_attr(&kept));
        rewriter.set_attr(self.function, "res_attrs", cx.array_attr(&res_attrs));
    }

    /// The backward as a function of its own behind the forward.
    fn write_backward(&self, rewriter: &mut Rewriter<'c>) -> Op<'c> {
        let (cx, block) = (self.function.cx(), self.function.body(0));
        let attrs = attributes(self.function, "arg_attrs", block.args().len());
        let given: Vec<_> = self.arguments.iter().map(|at| (block.arg(*at), attrs[*at])).collect();
        let saved = self.saved.iter().enumerate().map(|(k, value)| (*value, self.named("input", k)));
        let cotangents = self.cotangents.iter().map(|at| (block.arg(*at), attrs[*at]));
        let (taken, arg_attrs): (Vec<_>, Vec<_>) = given.into_iter().chain(saved).chain(cotangents).unzip();
        let (returned, res_attrs): (Vec<_>, Vec<_>) = self.results[1].iter().copied().unzip();
        let types = |values: &[Value<'c>]| values.iter().map(|value| value.ty()).collect::<Vec<_>>();
        let name = format!("{}_backward", self.function.str("sym_name").unwrap_or_default());
        rewriter.go_after(self.function);
        let function = rewriter.op(OpSpec {
            name: func::Func::NAME,
            attrs: &[
                ("sym_name", cx.str_attr(&name)),
                ("function_type", cx.type_attr(cx.function(&types(&taken), &types(&returned)))),
                ("arg_attrs", cx.array_attr(&arg_attrs)),
                ("res_attrs", cx.array_attr(&res_attrs)),
                (capture::RESUME, cx.unit()),
            ],
            regions: 1,
            ..OpSpec::default()
        });
        let body = function.region(0).append_block(&types(&taken), self.function.location());
        let mut inside = Rewriter::at_end(body, self.function.location());
        let mut values: HashMap<Value<'c>, Value<'c>> = taken.into_iter().zip(body.args()).collect();
        for op in &self.backward {
            let operands: Vec<_> = op.operands().iter().map(|value| values.get(value).copied().unwrap_or(*value)).collect();
            let copy = inside.clone_op(*op, &operands);
            values.extend(op.results().into_iter().zip(copy.results()));
            // Regions read values from outside too.
            copy.walk(&mut |inner| {
                let operands = inner.operands();
                let mapped: Vec<_> = operands.iter().map(|value| values.get(value).copied().unwrap_or(*value)).collect();
                if mapped != operands {
                    inside.set_operands(inner, &mapped);
                }
            });
        }
        let returned: Vec<_> = returned.iter().map(|value| values.get(value).copied().unwrap_or(*value)).collect();
        func::ret(&mut inside, &returned);
        function
    }
}
