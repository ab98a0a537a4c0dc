//! The second question: is one kernel better than two? Nothing here decides whether a kernel is right.

use super::Refusal;
use super::class::{Class, View, reorders};
use super::graph::Graph;
use super::kernel::{Kernel, Read, outputs, reduced_dims};
use std::collections::HashSet;
use strata_core::ir::Op;
use strata_dialects::prim;
use strata_dialects::prim::Cost;

/// An element of an expensive op may be computed this often.
pub(super) const MAX_REPEATS: i64 = 2;
/// Ops that may be computed again for every repeated element, when they are all cheap.
const MAX_REPEATED_OPS: usize = 4;
/// Ops that may stand before a view whose reads overlap or miss.
const MAX_GUARDED_OPS: usize = 2;
/// Cost of reading at a computed index.
const GATHER: u32 = 4;
/// Cost that the stages over a row may repeat per element.
pub(super) const MAX_ROW_COST: u32 = 64;

/// Bytes that a cache near a core holds.
const NEAR: i64 = 1 << 20;
/// Bytes that the nearest cache holds beside what else a kernel reads: from here on each pass over a tensor reads its lines anew.
const NEAREST: i64 = 1 << 14;

/// What a merge is worth; larger is better, the first field counts first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score {
    /// Tensors that are no longer written and read.
    pub removed: usize,
    /// Tensors that are read once instead of twice.
    pub shared: usize,
}

/// The worth of making kernel `both` of the nodes `members` out of kernels `producer` and `consumer`.
pub fn profit(graph: &Graph<'_>, members: &[usize], both: &Kernel, producer: &Kernel, consumer: &Kernel) -> Result<Score, Refusal> {
    let inside: HashSet<usize> = members.iter().copied().collect();
    for &node in members {
        let reads = both.reads.get(&node).map_or(&[][..], Vec::as_slice);
        match graph.class(node) {
            Class::Pointwise(_) if repeats(reads) > MAX_REPEATS && !cheap_below(graph, &inside, node, MAX_REPEATED_OPS) => {
                return Err(Refusal::RepeatedWork(graph.op(node).name().to_owned()));
            }
            Class::Gather if reads.iter().any(|read| read.repeats.is_none_or(|repeats| repeats > MAX_REPEATS)) => {
                return Err(Refusal::RepeatedWork(graph.op(node).name().to_owned()));
            }
            Class::View(View::Guarded) if !cheap_below(graph, &inside, node, MAX_GUARDED_OPS) => {
                return Err(Refusal::GuardedRead(graph.op(node).name().to_owned()));
            }
            Class::View(View::Guarded) if overlaps(graph.op(node)) && reordered_below(graph, &inside, node) => {
                return Err(Refusal::ReorderedRead(graph.op(node).name().to_owned()));
            }
            _ => {}
        }
    }
    if reads_across(graph, members) {
        return Err(Refusal::AcrossMemory);
    }
    if both.row_cost > MAX_ROW_COST {
        return Err(Refusal::RowRecompute);
    }
    let score = Score {
        removed: (producer.outputs + consumer.outputs).saturating_sub(both.outputs),
        shared: producer.tensors.intersection(&consumer.tensors).count(),
    };
    let connected = both.inputs.len() < producer.inputs.len() + consumer.inputs.len();
    if score.removed == 0 && score.shared == 0 && !connected { Err(Refusal::NothingSaved) } else { Ok(score) }
}

/// Whether members write a tensor element by element whose columns others sum, and which no cache near a core holds. In one kernel the loop over
/// the columns stands outside of both: memory is read line by line for a few elements each, and as often as there are stages. In two
/// kernels both go through it in its order. Columns whose sums are summed again (groups of channels, with the channels last) are few in a kernel's
/// loop: there the nearest cache counts.
fn reads_across(graph: &Graph<'_>, members: &[usize]) -> bool {
    let across = |op: Op<'_>| {
        let ty = op.operand(0).ty();
        let rows = ty.rank().checked_sub(1).is_some_and(|last| !reduced_dims(op).contains(&last));
        let again = op.result(0).uses().iter().all(|using| using.op.isa::<prim::Reduce>());
        let bytes = ty.num_elements().zip(ty.element_type()).map(|(count, element)| count * element.bytes() as i64);
        let far = rows && !op.isa::<prim::SegmentReduce>() && bytes.is_some_and(|bytes| bytes >= if again { NEAREST } else { NEAR });
        far.then(|| ty.num_elements()).flatten()
    };
    let mut reduced = members.iter().filter(|&&node| graph.class(node) == Class::Reduce).filter_map(|&node| across(graph.op(node)));
    let Some(elements) = reduced.next() else { return false };
    let written = outputs(graph, members, &members.iter().copied().collect());
    written.into_iter().any(|node| graph.op(node).result(0).ty().num_elements().is_some_and(|count| count >= elements))
}

/// How often an element of a pointwise op is computed.
pub(super) fn repeats(reads: &[Read]) -> i64 {
    let paths: HashSet<_> = reads.iter().map(|read| &read.path).collect();
    paths.len() as i64 * reads.iter().map(|read| read.repeats.unwrap_or(i64::MAX)).max().unwrap_or(1).min(1 << 32)
}

/// Cost that the stages over a row repeat per element of an op.
pub(super) fn repeated_cost(class: Class, reads: &[Read]) -> u32 {
    let cost = match class {
        Class::Pointwise(cost) => cost.instructions(),
        Class::Gather => GATHER,
        Class::Source | Class::View(_) | Class::Reduce | Class::Contract | Class::InOrder | Class::Alone => 0,
    };
    let stages: HashSet<_> = reads.iter().map(|read| read.stage).collect();
    cost * (stages.len() as u32).saturating_sub(1)
}

/// Whether a node and all members that it is computed from are at most `limit` cheap ops, none of which could be the last step of the
/// kernel that computes what it reads: there it would be done once.
fn cheap_below(graph: &Graph<'_>, inside: &HashSet<usize>, node: usize, limit: usize) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![node];
    let mut ops = 0;
    while let Some(node) = open.pop() {
        if !inside.contains(&node) || !seen.insert(node) {
            continue;
        }
        let computed = |before: usize| !inside.contains(&before) && makes_kernel(graph.class(before));
        match graph.class(node) {
            Class::Pointwise(Cost::Cheap) if graph.before(node).any(computed) => return false,
            Class::View(View::Plain | View::Reshape)
                if graph.before(node).any(|before| computed(before) && is_made_of_few(graph, before, node)) =>
            {
                return false;
            }
            Class::Pointwise(Cost::Cheap) => ops += 1,
            Class::Source | Class::View(_) => {}
            Class::Pointwise(_) | Class::Gather | Class::Reduce | Class::Contract | Class::InOrder | Class::Alone => return false,
        }
        if ops > limit {
            return false;
        }
        open.extend(graph.before(node));
    }
    true
}

/// Whether all that makes a node in its kernel, the sums at its beginning included, has no more elements than a view of it.
fn is_made_of_few(graph: &Graph<'_>, node: usize, view: usize) -> bool {
    let few = graph.op(view).result(0).ty().num_elements();
    let mut open = vec![node];
    let mut seen = HashSet::new();
    while let Some(node) = open.pop() {
        let (op, class) = (graph.op(node), graph.class(node));
        let elements = if class == Class::Reduce { op.operand(0) } else { op.result(0) }.ty().num_elements();
        if elements.is_none() || elements > few {
            return false;
        }
        if matches!(class, Class::Pointwise(_) | Class::View(_)) && seen.insert(node) {
            open.extend(graph.before(node));
        }
    }
    true
}

/// Whether windows share elements.
fn overlaps(op: Op<'_>) -> bool {
    let ints = |name: &str| op.ints(name).unwrap_or_default();
    op.isa::<prim::SlidingWindow>() && ints("sizes").iter().zip(ints("strides")).any(|(&size, stride)| size > stride)
}

/// Whether a member reads what lies before a view in another order, its rows across.
fn reordered_below(graph: &Graph<'_>, inside: &HashSet<usize>, view: usize) -> bool {
    let mut open: Vec<usize> = graph.before(view).collect();
    let mut seen = HashSet::new();
    while let Some(node) = open.pop() {
        if !inside.contains(&node) || !seen.insert(node) {
            continue;
        }
        let op = graph.op(node);
        let moves_rows = reorders(op) && op.ints("perm").is_some_and(|perm| perm.last().is_some_and(|&last| last + 1 != perm.len() as i64));
        if moves_rows {
            return true;
        }
        open.extend(graph.before(node));
    }
    false
}

/// Whether an op computes rather than moves, so that its kernel could take in what follows.
fn makes_kernel(class: Class) -> bool {
    match class {
        Class::Pointwise(_) | Class::Gather | Class::Reduce | Class::Contract => true,
        Class::Source | Class::View(_) | Class::InOrder | Class::Alone => false,
    }
}
