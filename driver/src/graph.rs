//! The op graph of a program as Graphviz text: a node per op, an edge per use, a box per region.

use std::collections::HashMap;
use std::fmt::Write;

use strata_core::ir::{Block, Op, Value};

/// Writes the functions and kernels of a module as a Graphviz graph.
pub fn dot(module: Op<'_>) -> String {
    let mut graph = Graph { text: String::from("digraph {\n  node [shape=box, fontname=\"monospace\"];\n"), nodes: 0, of: HashMap::new() };
    for symbol in module.body(0).ops() {
        let name = symbol.str("sym_name").unwrap_or_default();
        graph.region(symbol, &format!("{} @{name}", symbol.name()), 1);
    }
    graph.text.push_str("}\n");
    graph.text
}

/// The text so far, and the node of each value.
struct Graph<'c> {
    text: String,
    nodes: usize,
    of: HashMap<Value<'c>, usize>,
}

impl<'c> Graph<'c> {
    fn line(&mut self, depth: usize, line: &str) {
        self.text.push_str(&"  ".repeat(depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn node(&mut self, label: &str, depth: usize) -> usize {
        self.nodes += 1;
        self.line(depth, &format!("n{} [label=\"{}\"];", self.nodes, escape(label)));
        self.nodes
    }

    /// An op that holds others is a box around them; its own node is what its users point from.
    fn region(&mut self, op: Op<'c>, label: &str, depth: usize) {
        self.line(depth, &format!("subgraph cluster_{} {{", self.nodes));
        self.line(depth + 1, &format!("label=\"{}\";", escape(label)));
        for block in op.regions().into_iter().flat_map(|region| region.blocks()) {
            self.block(block, depth + 1);
        }
        if op.num_results() > 0 {
            let node = self.node(&describe(op), depth + 1);
            self.results(op, node);
            self.yields(op, node, depth + 1);
        }
        self.line(depth, "}");
    }

    fn block(&mut self, block: Block<'c>, depth: usize) {
        for (k, argument) in block.args().into_iter().enumerate() {
            let node = self.node(&format!("argument {k}\n{}", argument.ty()), depth);
            self.of.insert(argument, node);
            // The arguments of a region of an op with operands stand for these.
            let outer =
                block.parent_op().filter(|op| op.num_operands() == block.args().len()).and_then(|op| self.of.get(&op.operand(k)).copied());
            if let Some(outer) = outer {
                self.line(depth, &format!("n{outer} -> n{node};"));
            }
        }
        for op in block.ops() {
            if op.regions().iter().any(|region| region.entry().is_some()) {
                self.region(op, op.name(), depth);
                continue;
            }
            let node = self.node(&describe(op), depth);
            for operand in op.operands() {
                if let Some(from) = self.of.get(&operand).copied() {
                    self.line(depth, &format!("n{from} -> n{node};"));
                }
            }
            self.results(op, node);
        }
    }

    fn results(&mut self, op: Op<'c>, node: usize) {
        self.of.extend(op.results().into_iter().map(|result| (result, node)));
    }

    /// What a region's terminators hand on comes out of the op.
    fn yields(&mut self, op: Op<'c>, node: usize, depth: usize) {
        let terminators = op.regions().into_iter().flat_map(|region| region.blocks()).filter_map(|block| block.terminator());
        for value in terminators.flat_map(|terminator| terminator.operands()) {
            if let Some(from) = self.of.get(&value).copied() {
                self.line(depth, &format!("n{from} -> n{node} [style=dashed];"));
            }
        }
    }
}

/// Name, what it calls or reduces with, and result types.
fn describe(op: Op<'_>) -> String {
    let mut text = op.name().to_owned();
    for name in ["kind", "callee", "reducer"] {
        let value = op.attr(name).and_then(|attr| attr.as_str().or_else(|| attr.as_symbol()));
        if let Some(value) = value {
            let _ = write!(text, " {value}");
        }
    }
    for ty in op.result_types() {
        let _ = write!(text, "\n{ty}");
    }
    text
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
