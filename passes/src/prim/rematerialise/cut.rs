//! What is saved: a minimum cut between what cannot be computed again and what the backward reads.

use std::collections::{HashMap, HashSet, VecDeque};

use petgraph::algo::dinics;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use strata_core::ir::{Op, Value};

use crate::prim::fusion::class::{Class, classify};
use crate::prim::halves::{Halves, bytes, elements};

/// More than all bytes together.
const NEVER: u64 = 1 << 60;

/// A value further from the backward than this costs no more than one at this distance.
const FAR: i32 = 40;

/// How much more a value costs for each op between it and the backward.
const AWAY: f64 = 1.1;

/// A reduction to less than one in so many elements is saved rather than repeated.
const SHRINK: u64 = 4;

/// What may be computed again.
pub(super) struct Again<'c> {
    allowed: HashSet<Op<'c>>,
    /// What may be allowed too, by how much arithmetic it takes.
    dear: HashMap<Op<'c>, u64>,
}

impl<'c> Again<'c> {
    /// Pointwise ops and views; reductions, gathers and contractions at a price.
    pub fn cheap(halves: &Halves<'c>) -> Self {
        let (mut allowed, mut dear) = (HashSet::new(), HashMap::new());
        for &op in halves.forward.iter().filter(|op| halves.is_value(**op)) {
            let read = || op.operands().into_iter().map(elements).max().unwrap_or(0);
            let written = elements(op.result(0));
            match classify(op) {
                Class::Source | Class::Pointwise(_) | Class::View(_) => drop(allowed.insert(op)),
                Class::Reduce if read() <= SHRINK * written => drop(allowed.insert(op)),
                Class::Reduce | Class::Gather => drop(dear.insert(op, read().max(written))),
                // A product of matrices of m*k, k*n and m*n elements takes m*k*n multiplications.
                Class::Contract => {
                    let product = op.operands().iter().take(2).map(|value| elements(*value) as f64).product::<f64>() * written as f64;
                    dear.insert(op, product.sqrt() as u64);
                }
                Class::InOrder | Class::Alone => {}
            }
        }
        Self { allowed, dear }
    }

    /// Allows that op among the saved ones, or behind them, that frees most for its arithmetic; false where there is none.
    pub fn allow_next(&mut self, saved: &[Op<'c>]) -> bool {
        let dear = saved.iter().flat_map(|op| self.dear_behind(*op).into_iter().map(|dear| (dear, bytes(*op).max(1))));
        let Some((next, _)) = dear.min_by_key(|(dear, bytes)| self.dear[dear] / bytes) else { return false };
        self.dear.remove(&next);
        self.allowed.insert(next);
        true
    }

    /// A saved op that is dear; of one that may be computed again, and is saved since what it is made of is larger, the dear ones that it is made of.
    fn dear_behind(&self, saved: Op<'c>) -> Vec<Op<'c>> {
        let (mut found, mut seen, mut next) = (Vec::new(), HashSet::new(), vec![saved]);
        while let Some(op) = next.pop() {
            if !seen.insert(op) {
                continue;
            }
            if self.dear.contains_key(&op) {
                found.push(op);
            } else if self.allowed.contains(&op) {
                next.extend(op.operands().into_iter().filter_map(Value::defining_op));
            }
        }
        found
    }
}

/// A value of the forward in the network: what is computed flows in, what is read flows out, and between them it is saved.
struct Node {
    into: NodeIndex,
    out: NodeIndex,
}

/// The ops whose tensors are saved, in their order.
pub(super) fn cut<'c>(halves: &Halves<'c>, again: &Again<'c>) -> Vec<Op<'c>> {
    let mut graph = DiGraph::<(), u64>::new();
    let (source, sink) = (graph.add_node(()), graph.add_node(()));
    let values: Vec<_> = halves.forward.iter().copied().filter(|op| halves.is_value(*op)).collect();
    let read = halves.read();
    let prices = prices(halves, &values, &read);
    let mut nodes = HashMap::new();
    for &op in &values {
        let (into, out) = (graph.add_node(()), graph.add_node(()));
        graph.add_edge(into, out, prices[&op]);
        if !again.allowed.contains(&op) {
            graph.add_edge(source, into, NEVER);
        }
        if read.contains(&op) {
            graph.add_edge(out, sink, NEVER);
        }
        nodes.insert(op, Node { into, out });
    }
    for &op in values.iter().filter(|op| again.allowed.contains(op)) {
        for from in op.operands().into_iter().filter_map(Value::defining_op).filter_map(|from| nodes.get(&from)) {
            graph.add_edge(from.out, nodes[&op].into, NEVER);
        }
    }
    let (_, flows) = dinics(&graph, source, sink);
    let reached = reached(&graph, &flows, source);
    values.into_iter().filter(|op| reached.contains(&nodes[op].into) && !reached.contains(&nodes[op].out)).collect()
}

/// What can still be reached from the source when the flow has taken its part of each edge.
fn reached(graph: &DiGraph<(), u64>, flows: &[u64], source: NodeIndex) -> HashSet<NodeIndex> {
    let (mut found, mut next) = (HashSet::from([source]), VecDeque::from([source]));
    while let Some(node) = next.pop_front() {
        let ahead = graph.edges(node).filter(|edge| flows[edge.id().index()] < *edge.weight()).map(|edge| edge.target());
        let behind =
            graph.edges_directed(node, petgraph::Direction::Incoming).filter(|edge| flows[edge.id().index()] > 0).map(|edge| edge.source());
        for other in ahead.chain(behind) {
            if found.insert(other) {
                next.push_back(other);
            }
        }
    }
    found
}

/// What it costs to save each value.
fn prices<'c>(halves: &Halves<'c>, values: &[Op<'c>], read: &HashSet<Op<'c>>) -> HashMap<Op<'c>, u64> {
    let mut away: HashMap<Op<'c>, i32> = HashMap::new();
    let mut prices = HashMap::new();
    let is_fused = |op: Op<'c>| matches!(classify(op), Class::Pointwise(_) | Class::View(_));
    for &op in values.iter().rev() {
        let readers: Vec<_> = op.results().iter().flat_map(|result| result.uses()).filter_map(|user| halves.statement(user.op)).collect();
        let ahead = readers.iter().filter_map(|reader| away.get(reader)).min().map(|steps| steps + 1);
        let steps = if read.contains(&op) { 0 } else { ahead.unwrap_or(FAR).min(FAR) };
        away.insert(op, steps);
        // It is never written where all who read it in the forward compute it with what they make of it.
        let mut forward = readers.iter().filter(|reader| halves.is_value(**reader)).peekable();
        let stays = is_fused(op) && forward.peek().is_some() && forward.all(|reader| is_fused(*reader));
        let price = bytes(op) as f64 * AWAY.powi(steps) * if stays { 2.0 } else { 1.0 };
        prices.insert(op, price as u64);
    }
    prices
}
