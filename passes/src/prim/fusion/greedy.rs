//! Decides the groups of a block: merges along values, consumers first, for as long as the three questions say yes.

use super::class::{Class, View};
use super::graph::Graph;
use super::kernel::Kernel;
use super::profit::{Score, profit};
use super::{Refusal, Remark, Target, rewrite};
use crate::analysis::Dims;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use strata_core::ir::{Op, Value};
use strata_core::rewrite::Rewriter;
use strata_dialects::prim;

/// What a fusion pass may do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// Whether reductions and contractions take part.
    pub reductions: bool,
    /// The machine.
    pub target: Target,
}

/// Fuses in every block of a function and returns what was refused, in order.
pub fn fuse<'c>(function: Op<'c>, rules: &Rules) -> Vec<Remark<'c>> {
    let mut rewriter = Rewriter::before(function);
    let blocks = rewrite::prepare(function, &mut rewriter);
    let mut dims = Dims::of(function);
    let mut remarks = Vec::new();
    let mut plans = Vec::new();
    for (block, labels) in blocks {
        let mut greedy = Greedy::new(Graph::of(block, &labels), &mut dims, *rules);
        greedy.run();
        remarks.extend(greedy.remarks());
        plans.push((block, greedy.finish()));
    }
    for (block, graph) in plans {
        rewrite::apply(block, &graph, &mut rewriter);
    }
    remarks
}

struct Greedy<'a, 'c> {
    graph: Graph<'c>,
    dims: &'a mut Dims<'c>,
    rules: Rules,
    kernels: HashMap<Vec<usize>, Result<Rc<Kernel>, Refusal>>,
    /// The answer for each pair of nodes, and the groups that were asked, so that nothing is asked twice.
    refused: BTreeMap<(usize, usize), Refusal>,
    asked: HashSet<(Vec<usize>, Vec<usize>)>,
    /// The kernels of groups that grew by one op at a time.
    grown: HashMap<usize, Rc<Kernel>>,
}

impl<'a, 'c> Greedy<'a, 'c> {
    fn new(graph: Graph<'c>, dims: &'a mut Dims<'c>, rules: Rules) -> Self {
        Self { graph, dims, rules, kernels: HashMap::new(), refused: BTreeMap::new(), asked: HashSet::new(), grown: HashMap::new() }
    }

    fn run(&mut self) {
        let contracts =
            |graph: &Graph<'c>, node: usize| graph.members(graph.group(node)).iter().any(|&member| graph.class(member) == Class::Contract);
        if self.rules.reductions {
            // The epilogue of a contraction first: in its kernel each value is computed once, before a reduction once per stage.
            while self.merge_along_values(&contracts, 1) {}
        }
        // Then whatever keeps a value from memory, and last what only saves reading one that is written anyway.
        while self.merge_along_values(&|_, _| true, 1) {}
        while self.merge_along_values(&|_, _| true, 0) || self.merge_siblings() {}
    }

    /// One round over all edges whose producer is `wanted`, consumers first: merges that remove at least `removed` tensors.
    /// Says whether anything was merged.
    fn merge_along_values(&mut self, wanted: &dyn Fn(&Graph<'c>, usize) -> bool, removed: usize) -> bool {
        let mut merged = false;
        for producer in (0..self.graph.len()).rev() {
            if !self.takes_part(producer) || !wanted(&self.graph, producer) {
                continue;
            }
            for consumer in self.graph.users(producer).to_vec() {
                merged |= self.takes_part(consumer) && self.try_merge(producer, consumer, removed);
            }
        }
        merged
    }

    /// Merges kernels that read the same tensor and depend on each other in no way, as mean and variance do.
    fn merge_siblings(&mut self) -> bool {
        let mut readers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut first_reader: HashMap<usize, usize> = HashMap::new();
        for group in self.graph.groups().collect::<Vec<_>>() {
            if !self.graph.members(group).iter().all(|&node| self.takes_part(node)) {
                continue;
            }
            let members = self.graph.members(group).to_vec();
            let Ok(kernel) = self.kernel_of(group) else { continue };
            // Only kernels that read tensors of their own size: the rest has nothing to share that is worth it.
            if kernel.contracts || !members.iter().any(|&node| matches!(self.graph.class(node), Class::Pointwise(_) | Class::Reduce)) {
                continue;
            }
            for &tensor in &kernel.tensors {
                let first = *first_reader.entry(tensor).or_insert(group);
                readers.entry(first).or_default().push(group);
            }
        }
        for (_, mut groups) in readers {
            groups.dedup();
            for pair in groups.windows(2) {
                let (a, b) = (self.graph.group(pair[0]), self.graph.group(pair[1]));
                // Two readers of one tensor that stay apart are nothing to remark on.
                let left = [a, b].into_iter().any(|group| self.is_for_a_reduction(group) || self.is_for_a_contraction(group));
                if a != b && !left && !self.graph.detour(b, a) && self.ask(a, b).is_ok() {
                    self.merge(a, b);
                    return true;
                }
            }
        }
        false
    }

    /// Ops that this pass leaves alone are not worth a remark.
    fn takes_part(&self, node: usize) -> bool {
        match self.graph.class(node) {
            Class::Alone => false,
            Class::Reduce | Class::Contract => self.rules.reductions,
            Class::Source | Class::Pointwise(_) | Class::View(_) | Class::Gather | Class::InOrder => true,
        }
    }

    fn kernel(&mut self, members: &[usize]) -> Result<Rc<Kernel>, Refusal> {
        if let Some(known) = self.kernels.get(members) {
            return known.clone();
        }
        let kernel = Kernel::of(&self.graph, self.dims, members).map(Rc::new);
        self.kernels.insert(members.to_vec(), kernel.clone());
        kernel
    }

    /// The kernel of a group.
    fn kernel_of(&mut self, group: usize) -> Result<Rc<Kernel>, Refusal> {
        if let Some(grown) = self.grown.get(&group) {
            return Ok(Rc::clone(grown));
        }
        let members = self.graph.members(group).to_vec();
        self.kernel(&members)
    }

    fn merge(&mut self, a: usize, b: usize) {
        self.grown.remove(&a);
        self.grown.remove(&b);
        self.graph.merge(a, b);
    }

    /// Takes a single op into the kernel of all that read it, where no question is open: a long chain is one kernel in linear time.
    fn grow(&mut self, node: usize, from: usize, to: usize) -> bool {
        if self.graph.members(from).len() != 1 {
            return false;
        }
        let Ok(mut kernel) = self.kernel_of(to) else { return false };
        let Some(reads) = kernel.reads_of(&self.graph, node, &|member| self.graph.group(member) == to) else { return false };
        let operands = kernel.inputs.len() + kernel.outputs + self.graph.operands(node).len();
        if operands > self.rules.target.max_operands || kernel.ops >= self.rules.target.max_ops {
            return false;
        }
        self.merge(from, to);
        Rc::make_mut(&mut kernel).take_in(&self.graph, node, reads);
        let group = self.graph.group(node);
        debug_assert!(
            Kernel::of(&self.graph, self.dims, self.graph.members(group)).is_ok_and(|whole| whole.is_like(&kernel)),
            "the kernel of {:?} grew into another one",
            self.graph.op(node)
        );
        self.grown.insert(group, kernel);
        true
    }

    fn try_merge(&mut self, producer: usize, consumer: usize, removed: usize) -> bool {
        let (from, to) = (self.graph.group(producer), self.graph.group(consumer));
        if from == to {
            return false;
        }
        if !self.rules.reductions && self.is_narrow_result(producer) {
            self.refused.insert((producer, consumer), Refusal::NarrowResult);
            return false;
        }
        if self.grow(producer, from, to) {
            return true;
        }
        let pair = (self.graph.members(from).to_vec(), self.graph.members(to).to_vec());
        if self.asked.contains(&pair) {
            return false;
        }
        match self.ask(from, to) {
            Ok(score) if score.removed < removed || (score.removed == 0 && self.is_for_a_reduction(to)) => false,
            Ok(_) => {
                self.merge(from, to);
                true
            }
            Err(reason) => {
                self.refused.insert((producer, consumer), reason);
                self.asked.insert(pair);
                false
            }
        }
    }

    /// Whether an op rounds what follows a contraction to fewer bits: the contraction's kernel takes that in and writes these. Another kernel would
    /// have to read the wide result.
    fn is_narrow_result(&self, node: usize) -> bool {
        let narrows = |node: usize| {
            let op = self.graph.op(node);
            let bits = |value: Value<'_>| value.ty().element_type().map_or(0, |element| element.bits());
            op.isa::<prim::Convert>() && bits(op.result(0)) < bits(op.operand(0))
        };
        if !narrows(node) {
            return false;
        }
        let (mut open, mut seen) = (vec![node], HashSet::new());
        while let Some(next) = open.pop() {
            for before in self.graph.before(next).filter(|before| seen.insert(*before)) {
                match self.graph.class(before) {
                    Class::Contract => return true,
                    Class::Pointwise(_) | Class::View(View::Plain | View::Reshape) if !narrows(before) => open.push(before),
                    _ => {}
                }
            }
        }
        false
    }

    /// Whether this pass leaves a group to the other one: it reads what a contraction computes, whose kernel would take it in.
    fn is_for_a_contraction(&self, group: usize) -> bool {
        let operands = self.graph.members(group).iter().flat_map(|&node| self.graph.operands(node));
        let mut makers = operands.filter_map(|&operand| self.graph.producer(operand));
        !self.rules.reductions && makers.any(|maker| self.graph.class(maker) == Class::Contract)
    }

    /// Whether this pass leaves a group to the other one: a reduction reads what it computes and would take it in, writing nothing.
    fn is_for_a_reduction(&self, group: usize) -> bool {
        let mut users = self.graph.members(group).iter().flat_map(|&node| self.graph.users(node));
        !self.rules.reductions && users.any(|&user| self.graph.class(user) == Class::Reduce)
    }

    /// The three questions, in order.
    fn ask(&mut self, from: usize, to: usize) -> Result<Score, Refusal> {
        let all_reshape = self.graph.members(to).iter().all(|&node| self.graph.class(node) == Class::View(View::Reshape));
        if all_reshape {
            return Err(Refusal::FreeView);
        }
        if self.graph.detour(from, to) {
            return Err(Refusal::Cycle);
        }
        let members = self.graph.union(from, to);
        let both = self.kernel(&members)?;
        let (producer, consumer) = (self.kernel_of(from)?, self.kernel_of(to)?);
        let score = profit(&self.graph, &members, &both, &producer, &consumer)?;
        self.rules.target.veto(&both)?;
        Ok(score)
    }

    fn remarks(&self) -> Vec<Remark<'c>> {
        let apart = self.refused.iter().filter(|((a, b), _)| self.graph.group(*a) != self.graph.group(*b));
        apart
            .map(|((producer, consumer), reason)| Remark {
                location: self.graph.op(*consumer).location(),
                producer: self.graph.op(*producer).name().to_owned(),
                consumer: self.graph.op(*consumer).name().to_owned(),
                reason: reason.clone(),
            })
            .collect()
    }

    /// Takes reshapes at the edges out of the groups: between kernels they are free.
    fn finish(mut self) -> Graph<'c> {
        let mut changed = true;
        while changed {
            changed = false;
            for node in 0..self.graph.len() {
                let group = self.graph.group(node);
                if self.graph.class(node) != Class::View(View::Reshape) || self.graph.members(group).len() == 1 {
                    continue;
                }
                let outside = |other: usize| self.graph.group(other) != group;
                let leads = self.graph.before(node).all(outside);
                let trails = self.graph.users(node).iter().copied().all(outside);
                let rest: Vec<_> = self.graph.members(group).iter().copied().filter(|&member| member != node).collect();
                if leads || (trails && self.kernel(&rest).is_ok()) {
                    self.graph.expel(node);
                    changed = true;
                }
            }
        }
        self.graph
    }
}
