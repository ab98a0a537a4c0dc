//! The graph of a block on which fusion is decided: one node per op, edges from producers to users, and a partition into groups.

use super::class::{Class, classify, is_pure};
use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use std::collections::HashMap;
use strata_core::ir::{Block, Op, Value};

/// Why an op must stand after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// It reads a result, or an op nested in it does.
    Value,
    /// Both have effects.
    Order,
}

/// What fusion asks of an op again and again.
struct Node<'c> {
    class: Class,
    operands: Vec<Value<'c>>,
    users: Vec<usize>,
}

/// The graph of a block. Nodes are numbered as the ops stand.
pub struct Graph<'c> {
    graph: DiGraph<Op<'c>, Link>,
    nodes: Vec<Node<'c>>,
    places: HashMap<Op<'c>, usize>,
    group_of: Vec<usize>,
    members: Vec<Vec<usize>>,
}

impl<'c> Graph<'c> {
    /// The graph of a block (its terminator included); every op is a group, except where `labels` puts ops together.
    pub fn of(block: Block<'c>, labels: &HashMap<Op<'c>, usize>) -> Self {
        let ops = block.ops();
        let mut graph = DiGraph::new();
        let places: HashMap<_, _> = ops.iter().enumerate().map(|(node, &op)| (op, node)).collect();
        for &op in &ops {
            graph.add_node(op);
        }
        let mut last_effect = None;
        for (node, &op) in ops.iter().enumerate() {
            op.walk(&mut |inner| {
                for operand in inner.operands() {
                    if let Some(&producer) = operand.defining_op().and_then(|producer| places.get(&producer))
                        && producer != node
                    {
                        graph.update_edge(NodeIndex::new(producer), NodeIndex::new(node), Link::Value);
                    }
                }
            });
            if !is_pure(op) {
                if let Some(last) = last_effect {
                    let (last, node) = (NodeIndex::new(last), NodeIndex::new(node));
                    if graph.find_edge(last, node).is_none() {
                        graph.add_edge(last, node, Link::Order);
                    }
                }
                last_effect = Some(node);
            }
        }
        let mut first_of_label = HashMap::new();
        let group_of: Vec<_> = ops
            .iter()
            .enumerate()
            .map(|(node, op)| labels.get(op).map_or(node, |label| *first_of_label.entry(*label).or_insert(node)))
            .collect();
        let mut members = vec![Vec::new(); ops.len()];
        for (node, &group) in group_of.iter().enumerate() {
            members[group].push(node);
        }
        let node = |(node, &op)| Node { class: classify(op), operands: op.operands(), users: users(&graph, node) };
        let nodes = ops.iter().enumerate().map(node).collect();
        Self { graph, nodes, places, group_of, members }
    }

    /// Number of ops.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The op of a node.
    pub fn op(&self, node: usize) -> Op<'c> {
        self.graph[NodeIndex::new(node)]
    }

    /// The class of a node's op.
    pub fn class(&self, node: usize) -> Class {
        self.nodes[node].class
    }

    /// The node that defines a value, when that is an op of the block.
    pub fn producer(&self, value: Value<'c>) -> Option<usize> {
        self.places.get(&value.defining_op()?).copied()
    }

    /// The group of a node.
    pub fn group(&self, node: usize) -> usize {
        self.group_of[node]
    }

    /// The nodes of a group, in order.
    pub fn members(&self, group: usize) -> &[usize] {
        &self.members[group]
    }

    /// All groups, by their first node.
    pub fn groups(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(|&node| !self.members[node].is_empty())
    }

    /// The operands of a node's op.
    pub fn operands(&self, node: usize) -> &[Value<'c>] {
        &self.nodes[node].operands
    }

    /// The users of a node's value, in order.
    pub fn users(&self, node: usize) -> &[usize] {
        &self.nodes[node].users
    }

    /// What must stand before a node.
    pub fn before(&self, node: usize) -> impl Iterator<Item = usize> {
        self.graph.neighbors_directed(NodeIndex::new(node), Direction::Incoming).map(NodeIndex::index)
    }

    /// What must stand after a node.
    pub fn after(&self, node: usize) -> impl Iterator<Item = usize> {
        self.graph.neighbors_directed(NodeIndex::new(node), Direction::Outgoing).map(NodeIndex::index)
    }

    /// Whether a way leads from group `from` to group `to` through a third group: merging the two would close a cycle.
    pub fn detour(&self, from: usize, to: usize) -> bool {
        let mut seen = vec![false; self.len()];
        let mut open = vec![from];
        while let Some(group) = open.pop() {
            for &node in &self.members[group] {
                for next in self.after(node).map(|next| self.group_of[next]) {
                    if next == to && group != from {
                        return true;
                    }
                    if next != to && next != from && !seen[next] {
                        seen[next] = true;
                        open.push(next);
                    }
                }
            }
        }
        false
    }

    /// The members that two groups would have together, in order.
    pub fn union(&self, a: usize, b: usize) -> Vec<usize> {
        let mut union = [self.members[a].as_slice(), &self.members[b]].concat();
        union.sort_unstable();
        union
    }

    /// Merges two groups.
    pub fn merge(&mut self, a: usize, b: usize) {
        let union = self.union(a, b);
        let (keep, drop) = (a.min(b), a.max(b));
        for &node in &union {
            self.group_of[node] = keep;
        }
        self.members[drop].clear();
        self.members[keep] = union;
    }

    /// Takes a node out of its group.
    pub fn expel(&mut self, node: usize) {
        let group = self.group_of[node];
        let rest: Vec<_> = self.members[group].iter().copied().filter(|&member| member != node).collect();
        self.members[group].clear();
        if let Some(&first) = rest.first() {
            for &member in &rest {
                self.group_of[member] = first;
            }
            self.members[first] = rest;
        }
        self.group_of[node] = node;
        self.members[node] = vec![node];
    }
}

/// The nodes that read a node's value, in order.
fn users(graph: &DiGraph<Op<'_>, Link>, node: usize) -> Vec<usize> {
    let reads = graph.edges_directed(NodeIndex::new(node), Direction::Outgoing).filter(|edge| *edge.weight() == Link::Value);
    let mut users: Vec<_> = reads.map(|edge| EdgeRef::target(&edge).index()).collect();
    users.sort_unstable();
    users
}
