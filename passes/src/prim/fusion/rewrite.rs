//! What fusion does to the IR: opens the fusions there are, gives each reader its own copy of what costs less than memory, and builds new fusions.

use super::class::{Class, classify, is_own, widens};
use super::graph::Graph;
use super::kernel::outputs;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use strata_core::ir::{Attr, Block, Op, OpSpec, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_dialects::prim;

/// Groups that are there already: a number for each op that stood in a fusion.
pub type Labels<'c> = HashMap<Op<'c>, usize>;

/// Makes every block of a function flat, without dead ops, with a copy of each free op per reader. Outer blocks come first, so that
/// what is copied into a region is there when its turn comes.
pub fn prepare<'c>(function: Op<'c>, rewriter: &mut Rewriter<'c>) -> Vec<(Block<'c>, Labels<'c>)> {
    let mut prepared = Vec::new();
    for block in function.regions().into_iter().flat_map(|region| region.blocks()) {
        let mut labels = Labels::new();
        for (label, fusion) in block.ops().into_iter().filter(|op| op.isa::<prim::Fusion>()).enumerate() {
            open(fusion, label, &mut labels, rewriter);
        }
        erase_dead(block, &mut labels, rewriter);
        reshape_narrow(block, &mut labels, rewriter);
        split_free(block, &mut labels, rewriter);
        prepared.push((block, labels));
        for op in block.ops().into_iter().filter(|op| !op.regions().is_empty()) {
            prepared.extend(prepare(op, rewriter));
        }
    }
    prepared
}

/// Moves the ops of a fusion out of it.
fn open<'c>(fusion: Op<'c>, label: usize, labels: &mut Labels<'c>, rewriter: &mut Rewriter<'c>) {
    let body = fusion.body(0);
    labels.extend(body.ops().into_iter().filter(|op| !op.isa::<prim::Yield>()).map(|op| (op, label)));
    let values = rewriter.inline_body_before(body, fusion, &fusion.operands());
    rewriter.replace(fusion, &values);
}

/// Erases `prim` ops whose results nothing uses: every one of them is pure.
fn erase_dead<'c>(block: Block<'c>, labels: &mut Labels<'c>, rewriter: &mut Rewriter<'c>) {
    for op in block.ops().into_iter().rev() {
        if op.dialect() == "prim" && op.num_results() > 0 && op.is_unused() {
            labels.remove(&op);
            rewriter.erase(op);
        }
    }
}

/// Reshapes halves before they are made wide: at the edge of a kernel that is free, and the kernel reads halves.
fn reshape_narrow<'c>(block: Block<'c>, labels: &mut Labels<'c>, rewriter: &mut Rewriter<'c>) {
    for reshape in block.ops().into_iter().filter(|op| op.isa::<prim::Reshape>()) {
        let Some(wide) = reshape.operand(0).defining_op().filter(|&op| widens(op) && op.block() == Some(block)) else { continue };
        let narrow = wide.operand(0);
        let ty = reshape.result(0).ty();
        rewriter.go_before(reshape);
        let operands: Vec<_> = std::iter::once(narrow).chain(reshape.operands().into_iter().skip(1)).collect();
        let reshaped = rewriter.value(prim::Reshape::NAME, &operands, narrow.ty().with_shape(&ty.shape()), &[]);
        let again = rewriter.value(prim::Convert::NAME, &[reshaped], ty, &[]);
        if let Some(&label) = labels.get(&reshape) {
            labels.extend([reshaped, again].into_iter().filter_map(Value::defining_op).map(|op| (op, label)));
        }
        labels.remove(&reshape);
        rewriter.replace(reshape, &[again]);
        if wide.is_unused() {
            labels.remove(&wide);
            rewriter.erase(wide);
        }
    }
}

/// Gives each group of readers of an op that costs less than memory its own copy, so that the copy can join that group.
fn split_free<'c>(block: Block<'c>, labels: &mut Labels<'c>, rewriter: &mut Rewriter<'c>) {
    let ops = block.ops();
    // Copies stand right before their reader, so the places of the ops there now are enough to order readers.
    let position: HashMap<Op<'c>, usize> = ops.iter().enumerate().map(|(position, &op)| (op, position)).collect();
    for op in ops.into_iter().rev().filter(|&op| is_own(op)) {
        if is_constant(op) {
            for user in op.result(0).uses().into_iter().filter(|user| user.op.block() != Some(block)) {
                rewriter.go_before(user.op);
                let copy = rewriter.clone_op(op, &op.operands());
                rewriter.set_operand(user.op, user.index, copy.result(0));
            }
            if op.is_unused() {
                labels.remove(&op);
                rewriter.erase(op);
                continue;
            }
        }
        // Readers in order: by the op of this block that holds the use.
        let mut readers: Vec<(Op<'c>, Op<'c>, usize)> = Vec::new();
        for user in op.result(0).uses() {
            if let Some(holder) = ancestor_in(block, user.op) {
                readers.push((holder, user.op, user.index));
            }
        }
        let mut copies: Vec<(Op<'c>, Vec<(Op<'c>, usize)>)> = Vec::new();
        for (holder, user, index) in readers {
            let same = |other: Op<'c>| other == holder || labels.get(&other).is_some_and(|label| labels.get(&holder) == Some(label));
            match copies.iter_mut().find(|(other, _)| same(*other)) {
                Some((first, uses)) => {
                    if holder.is_before(*first) {
                        *first = holder;
                    }
                    uses.push((user, index));
                }
                None => copies.push((holder, vec![(user, index)])),
            }
        }
        copies.sort_by_key(|(holder, _)| position.get(holder).copied());
        // The original serves the group that it is in, otherwise the first.
        let own = copies.iter().position(|(holder, _)| labels.contains_key(&op) && labels.get(holder) == labels.get(&op)).unwrap_or(0);
        for (position, (holder, uses)) in copies.into_iter().enumerate() {
            if position == own {
                continue;
            }
            rewriter.set_before(holder);
            let copy = rewriter.clone_op(op, &op.operands());
            if let Some(&label) = labels.get(&holder) {
                labels.insert(copy, label);
            }
            for (user, index) in uses {
                rewriter.set_operand(user, index, copy.result(0));
            }
        }
    }
}

/// Whether an op is a constant or repeats one: then regions have copies of it too, since canonicalization moves constants out of them.
fn is_constant(op: Op<'_>) -> bool {
    let is_source = |op: Op<'_>| classify(op) == Class::Source;
    is_source(op) || (op.isa::<prim::Broadcast>() && op.operand(0).defining_op().is_some_and(is_source))
}

/// The op of `block` in which another op stands.
fn ancestor_in<'c>(block: Block<'c>, op: Op<'c>) -> Option<Op<'c>> {
    let mut op = op;
    while op.block() != Some(block) {
        op = op.parent()?;
    }
    Some(op)
}

/// Builds a fusion for every group of two or more ops and puts the block in an order that respects all values.
pub fn apply<'c>(block: Block<'c>, graph: &Graph<'c>, rewriter: &mut Rewriter<'c>) {
    let order = order(graph);
    let Some(end) = block.ops().last().copied() else { return };
    for group in order {
        match graph.members(group) {
            [node] if graph.op(*node) == end => {}
            [node] => rewriter.move_before(graph.op(*node), end),
            members => build(graph, members, end, rewriter),
        }
    }
    share(block, rewriter);
}

/// The groups in an order that respects all edges, otherwise the one that the block has. A group stands where its last member does, or where the first
/// group stands that needs it, if that comes sooner: members that only the end of the program reads keep nothing waiting.
fn order(graph: &Graph<'_>) -> Vec<usize> {
    let others = |group: usize, all: &mut dyn Iterator<Item = usize>| -> HashSet<usize> {
        all.map(|node| graph.group(node)).filter(|&other| other != group).collect()
    };
    let before = |group: usize| others(group, &mut graph.members(group).iter().flat_map(|&node| graph.before(node)));
    let after = |group: usize| others(group, &mut graph.members(group).iter().flat_map(|&node| graph.after(node)));
    let mut places: HashMap<usize, usize> = HashMap::new();
    for group in sorted(graph, &after, &before, |group| group) {
        let last = graph.members(group).last().copied();
        let place = after(group).iter().map(|next| places[next]).chain(last).min().unwrap_or_default();
        places.insert(group, place);
    }
    sorted(graph, &before, &after, |group| (places[&group], group))
}

/// The groups on one side of a group.
type Beside<'g> = &'g dyn Fn(usize) -> HashSet<usize>;

/// The groups in an order in which each stands behind those `before` it, otherwise by a key.
fn sorted<K: Ord>(graph: &Graph<'_>, before: Beside<'_>, after: Beside<'_>, key: impl Fn(usize) -> K) -> Vec<usize> {
    let mut waiting: HashMap<usize, HashSet<usize>> = graph.groups().map(|group| (group, before(group))).collect();
    let is_ready = |group: &usize| waiting[group].is_empty();
    let mut ready: BinaryHeap<_> = graph.groups().filter(is_ready).map(|group| Reverse((key(group), group))).collect();
    let mut order = Vec::new();
    while let Some(Reverse((_, group))) = ready.pop() {
        order.push(group);
        for next in after(group) {
            if let Some(before) = waiting.get_mut(&next)
                && before.remove(&group)
                && before.is_empty()
            {
                ready.push(Reverse((key(next), next)));
            }
        }
    }
    order
}

/// Moves the ops of a group into a new `prim.fusion` before `end`.
fn build<'c>(graph: &Graph<'c>, members: &[usize], end: Op<'c>, rewriter: &mut Rewriter<'c>) {
    let inside: HashSet<usize> = members.iter().copied().collect();
    let results: Vec<Value<'c>> = outputs(graph, members, &inside).into_iter().map(|node| graph.op(node).result(0)).collect();
    let mut operands: Vec<Value<'c>> = Vec::new();
    let mut known = HashSet::new();
    for &node in members {
        for operand in graph.op(node).operands() {
            let is_inner = graph.producer(operand).is_some_and(|producer| inside.contains(&producer));
            if !is_inner && known.insert(operand) {
                operands.push(operand);
            }
        }
    }
    // Tensors first: sizes and other scalars only say how to read them.
    operands.sort_by_key(|value| !value.ty().is_tensor());
    let ops: HashSet<Op<'c>> = members.iter().map(|&node| graph.op(node)).collect();
    let cx = end.cx();
    let locations: Vec<_> = results.iter().filter_map(|value| value.defining_op()).map(Op::location).collect();
    rewriter.set_before(end);
    rewriter.set_location(if let [location] = locations[..] { location } else { cx.fused_location(&locations) });
    let types: Vec<Type<'c>> = results.iter().map(|value| value.ty()).collect();
    let fusion = rewriter.op(OpSpec { name: prim::Fusion::NAME, operands: &operands, results: &types, regions: 1, ..OpSpec::default() });
    let arguments: Vec<_> = operands.iter().map(|value| value.ty()).collect();
    let body = rewriter.add_block(fusion.region(0), &arguments);
    let arguments: HashMap<Value<'c>, Value<'c>> = operands.into_iter().zip(body.args()).collect();
    for (result, outer) in results.iter().zip(fusion.results()) {
        rewriter.replace_uses_if(*result, outer, |user| !ops.contains(&user.op));
    }
    let end = rewriter.within(body, |builder| builder.effect(prim::Yield::NAME, &results, &[]));
    for &node in members {
        let op = graph.op(node);
        rewriter.move_before(op, end);
        for (index, operand) in op.operands().into_iter().enumerate() {
            if let Some(&argument) = arguments.get(&operand) {
                rewriter.set_operand(op, index, argument);
            }
        }
    }
    share(body, rewriter);
}

/// What tells ops apart: name, operands, attributes, types.
type Key<'c> = (&'c str, Vec<Value<'c>>, Vec<(String, Attr<'c>)>, Vec<Type<'c>>);

/// Makes one of the copies that ended up side by side.
fn share<'c>(block: Block<'c>, rewriter: &mut Rewriter<'c>) {
    let mut known: HashMap<Key<'c>, Value<'c>> = HashMap::new();
    for op in block.ops().into_iter().filter(|&op| is_own(op)) {
        let key = (op.name(), op.operands(), op.attrs(), op.result_types());
        match known.get(&key) {
            Some(&same) => rewriter.replace(op, &[same]),
            None => {
                known.insert(key, op.result(0));
            }
        }
    }
}
