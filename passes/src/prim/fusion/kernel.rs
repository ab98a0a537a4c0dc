//! The first question: can one kernel compute a set of ops?
//!
//! A kernel is computed by recursion from its results: an element of a result is the element of its op at the index of the kernel's
//! dimensions, its operands are elements at indices that views transform, and so on up to the kernel's inputs.
//! [`Kernel::of`] walks that recursion, collects at which paths each value is computed, and says why a set of ops is no kernel.
//!
//! With reductions the kernel has outer dimensions and row dimensions (the reduced ones). Each reduction is a stage over the row.
//! A value at an outer index, such as the result of a reduction, is there once per outer index for all stages after it.

use super::Refusal;
use super::class::{Class, View, reorders};
use super::graph::Graph;
use super::path::{Path, Paths};
use super::profit::{MAX_REPEATS, MAX_ROW_COST, repeated_cost, repeats};
use crate::analysis::{Dims, Expr};
use std::collections::{BTreeMap, HashMap, HashSet};
use strata_core::ir::{DYNAMIC, ElementType, Op, Value};
use strata_dialects::prim;
use strata_dialects::prim::Cost;

/// More reads of one value at different indices than this are never put into one kernel.
const MAX_PATHS: usize = 8;

/// What is known of a set of ops that makes a kernel; the other two questions are asked of this.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Number of ops.
    pub ops: usize,
    /// Identities of the values read from outside.
    pub inputs: HashSet<usize>,
    /// Number of results.
    pub outputs: usize,
    /// Tensors read from outside.
    pub tensors: HashSet<usize>,
    /// Each value with all ways in which it is computed.
    pub reads: HashMap<usize, Vec<Read>>,
    /// Cost that the stages over a row repeat per element.
    pub row_cost: u32,
    /// Whether nothing is computed so often, or behind such a view, that it matters what it is computed from.
    pub plain: bool,
    /// Whether it holds a contraction.
    pub contracts: bool,
    /// Whether it holds reductions.
    pub reduces: bool,
}

/// One way in which a kernel computes a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Read {
    /// The index.
    pub path: Path,
    /// The reduction in whose stage it is; `None` for the stage that writes results, and for values at an outer index.
    pub stage: Option<usize>,
    /// How often each element is computed: the product of the kernel dimensions that the index does not depend on.
    /// `None` is a number that is not known.
    pub repeats: Option<i64>,
}

/// The dimensions of a kernel.
struct Frame {
    /// Size of each dimension.
    sizes: Vec<Expr>,
    /// Which of them are reduced.
    row: Vec<usize>,
    /// The one whose points share the row out among them.
    segments: Option<usize>,
}

impl Frame {
    fn of_reduction<'c>(dims: &mut Dims<'c>, op: Op<'c>) -> Self {
        if op.isa::<prim::SegmentReduce>() {
            // Each segment runs over a part of the row.
            let (mut sizes, row) = (dims.sizes(op.result(0)), reduced_dims(op));
            sizes.extend(row.iter().map(|&dim| dims.sizes(op.operand(0))[dim].clone()));
            return Self { row: vec![sizes.len() - 1], sizes, segments: row.first().copied() };
        }
        Self { sizes: dims.sizes(op.operand(0)), row: reduced_dims(op), segments: None }
    }

    fn outer(&self) -> Vec<usize> {
        (0..self.sizes.len()).filter(|dim| !self.row.contains(dim)).collect()
    }

    fn sizes_of(&self, dims: &[usize]) -> Vec<Expr> {
        dims.iter().map(|&dim| self.sizes[dim].clone()).collect()
    }
}

/// Whether a contraction is a mean weighed by the softmax of its first operand.
fn is_mean(op: Op<'_>) -> bool {
    op.isa::<prim::SoftmaxDot>()
}

/// For how many results a `dot` uses an element of an operand, where that is known.
fn uses(dot: Op<'_>, operand: usize) -> Option<i64> {
    let (other, [batch, contract]) = match operand {
        0 => (1, ["rhs_batch", "rhs_contract"]),
        _ => (0, ["lhs_batch", "lhs_contract"]),
    };
    let shared = [dot.ints(batch)?, dot.ints(contract)?].concat();
    let other = dot.operand(other).ty().shape();
    let free = (0..other.len()).filter(|dim| !shared.contains(&(*dim as i64))).map(|dim| other[dim]);
    free.map(|size| (size != DYNAMIC).then_some(size)).try_fold(1i64, |product, size| product.checked_mul(size?))
}

/// How a contraction reads its operands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    /// Each element once, for all results that it is part of: under a window, in the order in which it has been laid out.
    Once { laid_out: bool },
    /// Each element for many results: a condition would be tested again for each.
    Often,
    /// Likewise, and in the order in which the operands have been laid out for it: no other is worth reading.
    InOrder,
}

impl Reader {
    /// Whether it reads through a view that repeats or moves elements.
    fn takes_order(self, view: Op<'_>) -> bool {
        match self {
            Reader::Often | Reader::Once { laid_out: false } => true,
            Reader::Once { laid_out: true } => !reorders(view),
            Reader::InOrder => false,
        }
    }

    /// How what stands under a window is read.
    fn under_window(self) -> Self {
        if self == (Reader::Once { laid_out: false }) { Reader::Once { laid_out: true } } else { self }
    }
}

/// State of the recursion.
struct Walk<'a, 'c> {
    graph: &'a Graph<'c>,
    dims: &'a mut Dims<'c>,
    paths: Paths,
    frame: Frame,
    inside: HashSet<usize>,
    reads: HashMap<usize, Vec<Read>>,
    open: Vec<(usize, Path, Option<usize>)>,
}

/// The dimensions of its operand that a reduction combines, in order.
pub fn reduced_dims(op: Op<'_>) -> Vec<usize> {
    if op.isa::<prim::SegmentReduce>() {
        return op.operand(1).ty().rank().checked_sub(1).into_iter().collect();
    }
    let dims = op.ints("dims").or_else(|| op.int("dim").map(|dim| vec![dim])).unwrap_or_default();
    let mut dims: Vec<usize> = dims.into_iter().filter_map(|dim| usize::try_from(dim).ok()).collect();
    dims.sort_unstable();
    dims
}

impl Kernel {
    /// The kernel of a set of nodes (in order), or why there is none.
    pub fn of<'c>(graph: &Graph<'c>, dims: &mut Dims<'c>, members: &[usize]) -> Result<Self, Refusal> {
        let inside: HashSet<usize> = members.iter().copied().collect();
        if let Some(&alone) = members.iter().find(|&&node| graph.class(node) == Class::Alone) {
            return Err(Refusal::Alone(graph.op(alone).name().to_owned()));
        }
        let outputs = outputs(graph, members, &inside);
        if let Some(&last) = members.iter().find(|&&node| graph.class(node) == Class::InOrder) {
            return Self::in_order(graph, members, last, &outputs);
        }
        let frame = frame(graph, dims, members, &outputs)?;
        let is_complex = |node: usize| graph.op(node).result(0).ty().element_type().is_some_and(ElementType::is_complex);
        let contraction = members.iter().copied().find(|&node| graph.class(node) == Class::Contract);
        if contraction.is_some_and(|node| !is_complex(node)) && members.iter().any(|&node| is_complex(node)) {
            return Err(Refusal::ComplexLanes);
        }
        let mut walk = Walk { graph, dims, paths: Paths::default(), frame, inside, reads: HashMap::new(), open: Vec::new() };
        walk.run(&outputs)?;
        let (inputs, tensors) = inputs(graph, members, &walk.inside);
        let (mut row_cost, mut plain) = (0, true);
        for &node in members {
            let reads = walk.reads.get(&node).map_or(&[][..], Vec::as_slice);
            row_cost += repeated_cost(graph.class(node), reads);
            plain &= match graph.class(node) {
                Class::Pointwise(_) => repeats(reads) <= MAX_REPEATS,
                Class::View(kind) => kind != View::Guarded,
                Class::Source | Class::Gather | Class::Reduce | Class::Contract | Class::InOrder | Class::Alone => true,
            };
        }
        let holds = |class| members.iter().any(|&node| graph.class(node) == class);
        Ok(Self {
            ops: members.len(),
            inputs,
            outputs: outputs.len(),
            tensors,
            contracts: holds(Class::Contract),
            reduces: holds(Class::Reduce),
            reads: walk.reads,
            row_cost,
            plain,
        })
    }

    /// The kernel of a scan or scatter and of what it reads, each element at one index.
    fn in_order(graph: &Graph<'_>, members: &[usize], last: usize, outputs: &[usize]) -> Result<Self, Refusal> {
        let inside: HashSet<usize> = members.iter().copied().collect();
        let rank = |value: &Value<'_>| value.ty().rank();
        let mut reads: HashMap<usize, Vec<Read>> = HashMap::new();
        // Every index of a scatter stands for all elements of the rows that it names.
        let written = graph.operands(last).get(1).map_or(0, rank);
        let mut open: Vec<(Value<'_>, Option<i64>)> = Vec::new();
        open.extend(graph.operands(last).iter().enumerate().map(|(at, value)| (*value, (at < 2 || rank(value) == written).then_some(1))));
        while let Some((value, repeats)) = open.pop() {
            let Some(node) = graph.producer(value).filter(|producer| inside.contains(producer)) else { continue };
            let read = Read { path: Path::new(), stage: None, repeats };
            let known = reads.entry(node).or_default();
            if known.contains(&read) {
                continue;
            }
            known.push(read);
            match graph.class(node) {
                Class::Gather if graph.producer(graph.operands(node)[0]).is_some_and(|data| inside.contains(&data)) => {
                    return Err(Refusal::GatherData);
                }
                Class::Source | Class::Pointwise(_) | Class::View(View::Plain | View::Guarded) | Class::Gather => {
                    open.extend(graph.operands(node).iter().map(|&operand| (operand, repeats)));
                }
                Class::View(View::Reshape) | Class::Reduce | Class::Contract | Class::InOrder | Class::Alone => {
                    return Err(Refusal::InOrder);
                }
            }
        }
        if outputs != [last] || reads.len() + 1 != members.len() {
            return Err(Refusal::InOrder);
        }
        let makes_target =
            graph.operands(last).first().and_then(|target| graph.producer(*target)).is_some_and(|node| inside.contains(&node));
        if makes_target && is_shared_alone(graph.op(last)) {
            return Err(Refusal::ScatterAlone);
        }
        let (inputs, tensors) = inputs(graph, members, &inside);
        let kernel =
            Self { ops: members.len(), inputs, outputs: 1, tensors, reads, row_cost: 0, plain: false, contracts: false, reduces: false };
        Ok(kernel)
    }

    /// How the kernel would compute one more op, when that is plain to see: only its pointwise ops read it, so it is computed where they
    /// are, and it reads nothing that the kernel computes. Where this knows nothing, [`Kernel::of`] says more.
    pub fn reads_of(&self, graph: &Graph<'_>, node: usize, is_member: &dyn Fn(usize) -> bool) -> Option<Vec<Read>> {
        let class = graph.class(node);
        let number = class == Class::Source && graph.op(node).result(0).ty().rank() == 0;
        let taken = number || matches!(class, Class::Pointwise(_) | Class::View(View::Plain));
        let apart = !graph.operands(node).iter().any(|&operand| graph.producer(operand).is_some_and(is_member));
        if !self.plain || !taken || !apart || graph.users(node).is_empty() {
            return None;
        }
        let mut found: Vec<Read> = Vec::new();
        for &user in graph.users(node).iter() {
            let reads = self.reads.get(&user).filter(|reads| !reads.is_empty() && is_member(user))?;
            match graph.class(user) {
                Class::Pointwise(_) => reads.iter().for_each(|read| {
                    if !found.contains(read) {
                        found.push(read.clone());
                    }
                }),
                Class::View(View::Plain) if number => found = vec![Read { path: Path::new(), stage: None, repeats: None }],
                _ => return None,
            }
        }
        let often = matches!(class, Class::Pointwise(_)) && repeats(&found) > MAX_REPEATS;
        let costly = self.row_cost + repeated_cost(class, &found) > MAX_ROW_COST;
        (found.len() <= MAX_PATHS && !often && !costly).then_some(found)
    }

    /// Whether all that can be compared between two kernels is the same: the indices of reads are numbers that mean nothing elsewhere.
    pub fn is_like(&self, other: &Self) -> bool {
        let counts = |kernel: &Self| kernel.reads.iter().map(|(&node, reads)| (node, reads.len())).collect::<BTreeMap<_, _>>();
        let numbers = |kernel: &Self| (kernel.ops, kernel.outputs, kernel.row_cost, kernel.plain, kernel.contracts, kernel.reduces);
        numbers(self) == numbers(other) && self.inputs == other.inputs && self.tensors == other.tensors && counts(self) == counts(other)
    }

    /// Takes such an op in.
    pub fn take_in(&mut self, graph: &Graph<'_>, node: usize, reads: Vec<Read>) {
        self.row_cost += repeated_cost(graph.class(node), &reads);
        let result = identity(graph.op(node).result(0));
        self.inputs.remove(&result);
        self.tensors.remove(&result);
        for &operand in graph.operands(node) {
            self.inputs.insert(identity(operand));
            if operand.ty().rank() > 0 {
                self.tensors.insert(identity(operand));
            }
        }
        self.ops += 1;
        self.reads.insert(node, reads);
    }
}

/// Whether a scatter is shared among threads along dims of its own alone: the target is longer than what is put into it, so that no loop makes the
/// one and goes through the other.
fn is_shared_alone(op: Op<'_>) -> bool {
    let [target, updates, indices @ ..] = &op.operands()[..] else { return false };
    let dims = op.ints("dims").unwrap_or_default();
    if !op.isa::<prim::Scatter>() || target.ty().rank() > dims.len() {
        return false;
    }
    let (target, updates) = (target.ty().shape(), updates.ty().shape());
    let along = |index: &Value<'_>| index.defining_op().filter(|op| op.isa::<prim::Iota>()).and_then(|op| op.int("dim"));
    let lengths: Vec<_> = indices
        .iter()
        .zip(dims)
        .filter_map(|(index, dim)| Some((*target.get(usize::try_from(dim).ok()?)?, *updates.get(usize::try_from(along(index)?).ok()?)?)))
        .collect();
    !lengths.is_empty() && lengths.iter().all(|(target, updates)| target != updates)
}

fn identity(value: Value<'_>) -> usize {
    value.to_raw().ptr as usize
}

/// The members whose values are used by others.
pub fn outputs(graph: &Graph<'_>, members: &[usize], inside: &HashSet<usize>) -> Vec<usize> {
    members.iter().copied().filter(|&node| graph.users(node).iter().any(|user| !inside.contains(user))).collect()
}

/// Identities of the values read from outside, and of the tensors among them.
fn inputs(graph: &Graph<'_>, members: &[usize], inside: &HashSet<usize>) -> (HashSet<usize>, HashSet<usize>) {
    let mut values: HashSet<Value<'_>> = HashSet::new();
    for &node in members {
        values.extend(graph.operands(node).iter().copied().filter(|&value| !graph.producer(value).is_some_and(|p| inside.contains(&p))));
    }
    let tensors = values.iter().filter(|value| value.ty().rank() > 0).map(|&value| identity(value)).collect();
    (values.into_iter().map(identity).collect(), tensors)
}

/// The dimensions over which the ops' kernel would run.
fn frame<'c>(graph: &Graph<'c>, dims: &mut Dims<'c>, members: &[usize], outputs: &[usize]) -> Result<Frame, Refusal> {
    // The mean goes on from the scores that another contraction computes: its frame is that of the kernel.
    let contracts: Vec<_> = members.iter().copied().filter(|&node| graph.class(node) == Class::Contract).collect();
    let mean = contracts.iter().any(|&node| is_mean(graph.op(node)));
    let dots = contracts.iter().filter(|&&node| graph.op(node).isa::<prim::Dot>()).count();
    let of_scores = |node: usize| mean && dots == 1 && graph.op(node).isa::<prim::Dot>();
    let mut contractions = contracts.into_iter().filter(|&node| !of_scores(node));
    let reduction = members.iter().find(|&&node| graph.class(node) == Class::Reduce);
    if let Some(contraction) = contractions.next() {
        if contractions.next().is_some() || reduction.is_some() {
            return Err(Refusal::Contraction);
        }
        return Ok(Frame { sizes: dims.sizes(graph.op(contraction).result(0)), row: Vec::new(), segments: None });
    }
    if let Some(&reduction) = reduction {
        let frame = Frame::of_reduction(dims, graph.op(reduction));
        for &other in members.iter().filter(|&&node| graph.class(node) == Class::Reduce) {
            let other = Frame::of_reduction(dims, graph.op(other));
            let same = |a: &[usize], b: &[usize]| dims.all_equal(&frame.sizes_of(a), &other.sizes_of(b));
            if frame.segments != other.segments || !same(&frame.outer(), &other.outer()) || !same(&frame.row, &other.row) {
                return Err(Refusal::OuterDims);
            }
        }
        return Ok(frame);
    }
    let sizes = outputs.first().map(|&output| dims.sizes(graph.op(output).result(0))).unwrap_or_default();
    Ok(Frame { sizes, row: Vec::new(), segments: None })
}

impl<'c> Walk<'_, 'c> {
    fn run(&mut self, outputs: &[usize]) -> Result<(), Refusal> {
        let all: Vec<usize> = (0..self.frame.sizes.len()).collect();
        let outer = self.frame.outer();
        let (all_path, outer_path) = (self.identity(&all), self.identity(&outer));
        for &output in outputs {
            let sizes = self.dims.sizes(self.graph.op(output).result(0));
            let path = if self.dims.all_equal(&sizes, &self.frame.sizes) {
                all_path.clone()
            } else if !self.frame.row.is_empty() && self.dims.all_equal(&sizes, &self.frame.sizes_of(&outer)) {
                outer_path.clone()
            } else {
                return Err(Refusal::OutputShape);
            };
            self.open.push((output, path, None));
        }
        let wanted: Vec<_> = self.open.iter().map(|(node, path, _)| (*node, path.clone())).collect();
        while let Some((node, path, stage)) = self.open.pop() {
            self.read(node, path, stage)?;
        }
        for (node, path) in wanted {
            if self.reads[&node].iter().any(|read| read.path != path) {
                return Err(Refusal::OutputIndex);
            }
        }
        Ok(())
    }

    fn identity(&mut self, dims: &[usize]) -> Path {
        dims.iter().map(|&dim| self.paths.dim(dim)).collect()
    }

    /// One way of computing a node's value; opens what it reads.
    fn read(&mut self, node: usize, path: Path, stage: Option<usize>) -> Result<(), Refusal> {
        let used = self.paths.dims_used(&path);
        let on_row = self.frame.row.iter().any(|&dim| used & (1 << dim.min(63)) != 0);
        let read = Read { stage: stage.filter(|_| on_row), repeats: self.repeats(used), path: path.clone() };
        let (graph, op) = (self.graph, self.graph.op(node));
        let reads = self.reads.entry(node).or_default();
        if reads.contains(&read) {
            return Ok(());
        }
        reads.push(read);
        let different = || reads.iter().map(|read| &read.path).collect::<HashSet<_>>().len();
        if reads.len() > MAX_PATHS && different() > MAX_PATHS {
            return Err(Refusal::RepeatedWork(op.name().to_owned()));
        }
        match graph.class(node) {
            Class::Source => {}
            Class::Pointwise(_) => self.enter_all(node, &path, stage),
            Class::View(kind) => {
                for (index, &operand) in graph.operands(node).iter().enumerate() {
                    let Some(producer) = self.producer(operand) else {
                        // A kernel reads its inputs at transformed indices, except through a reshape that is more than that.
                        let plain = kind != View::Reshape || self.paths.through(self.dims, op, index, &path).is_some();
                        if !plain && self.paths.through_split(self.dims, op, &path).is_none() {
                            return Err(Refusal::Reshape);
                        }
                        continue;
                    };
                    // One copy in place of two. What computes something had better end the kernel of what it reads.
                    let copies = kind == View::Reshape && matches!(graph.class(producer), Class::View(_));
                    let read = self.paths.through(self.dims, op, index, &path);
                    let split = |paths: &mut Paths, dims| if copies { paths.through_split(dims, op, &path) } else { None };
                    let Some(read) = read.or_else(|| split(&mut self.paths, self.dims)) else { return Err(Refusal::Reshape) };
                    self.open.push((producer, read, stage));
                }
            }
            Class::Gather => {
                if self.producer(op.operand(0)).is_some() {
                    return Err(Refusal::GatherData);
                }
                for &operand in graph.operands(node).iter().skip(1) {
                    if let Some(producer) = self.producer(operand) {
                        self.open.push((producer, path[..operand.ty().rank().min(path.len())].to_vec(), stage));
                    }
                }
            }
            Class::Reduce => self.reduce(node, op, &path)?,
            Class::Contract => {
                let all: Vec<usize> = (0..self.frame.sizes.len()).collect();
                if path != self.identity(&all) {
                    return Err(Refusal::ReductionRead);
                }
                let reader = match op.attr("layout") {
                    Some(_) => Reader::InOrder,
                    None if op.isa::<prim::LinearTransform>() => Reader::Once { laid_out: false },
                    None => Reader::Often,
                };
                let (&first, rest) = graph.operands(node).split_first().ok_or(Refusal::Contraction)?;
                if is_mean(op) {
                    self.scores(first)?
                } else {
                    self.prologue(first, reader, uses(op, 0))?
                }
                rest.iter().enumerate().try_for_each(|(at, &operand)| self.prologue(operand, reader, uses(op, at + 1)))?;
            }
            // (`of` has handled these.)
            Class::InOrder => return Err(Refusal::InOrder),
            Class::Alone => return Err(Refusal::Alone(op.name().to_owned())),
        }
        Ok(())
    }

    /// The member that defines a value.
    fn producer(&self, value: Value<'c>) -> Option<usize> {
        self.graph.producer(value).filter(|producer| self.inside.contains(producer))
    }

    fn enter_all(&mut self, node: usize, path: &Path, stage: Option<usize>) {
        for &operand in self.graph.operands(node) {
            if let Some(producer) = self.producer(operand) {
                self.open.push((producer, path.clone(), stage));
            }
        }
    }

    /// A reduction: a stage of its own that runs over the row.
    fn reduce(&mut self, node: usize, op: Op<'c>, path: &Path) -> Result<(), Refusal> {
        let outer = self.frame.outer();
        let dropped = reduced_dims(op);
        if *path != self.identity(&outer) {
            return Err(Refusal::ReductionRead);
        }
        // Where segments begin and end is read from memory.
        if op.operands().into_iter().skip(1).any(|bounds| self.producer(bounds).is_some()) {
            return Err(Refusal::SegmentBounds);
        }
        if let Some(producer) = self.producer(op.operand(0)) {
            let segments = self.frame.segments;
            let (mut outer, mut row) = (outer.into_iter().filter(|dim| Some(*dim) != segments), self.frame.row.clone().into_iter());
            let order: Vec<usize> =
                (0..op.operand(0).ty().rank()).filter_map(|dim| if dropped.contains(&dim) { row.next() } else { outer.next() }).collect();
            let read = self.identity(&order);
            self.open.push((producer, read, Some(node)));
        }
        Ok(())
    }

    /// What the scores of a mean are computed from: pointwise work on a contraction, once for each score.
    fn scores(&mut self, value: Value<'c>) -> Result<(), Refusal> {
        let Some(producer) = self.producer(value) else { return Ok(()) };
        let op = self.graph.op(producer);
        let sole = self.graph.users(producer).iter().all(|user| self.inside.contains(user));
        let taken = match self.graph.class(producer) {
            Class::Source | Class::View(View::Plain) | Class::Pointwise(_) => true,
            Class::Contract => op.isa::<prim::Dot>(),
            Class::View(_) | Class::Gather | Class::Reduce | Class::InOrder | Class::Alone => false,
        };
        if !taken || !sole {
            return Err(Refusal::ContractionPrologue);
        }
        self.reads.entry(producer).or_default();
        let contract = self.graph.class(producer) == Class::Contract;
        op.operands()
            .into_iter()
            .enumerate()
            .try_for_each(|(at, operand)| if contract { self.prologue(operand, Reader::Often, uses(op, at)) } else { self.scores(operand) })
    }

    /// What a contraction reads, each element for so many results: kernel inputs through views and conversions only.
    fn prologue(&mut self, operand: Value<'c>, reader: Reader, uses: Option<i64>) -> Result<(), Refusal> {
        let Some(producer) = self.producer(operand) else { return Ok(()) };
        let op = self.graph.op(producer);
        let sole = self.graph.users(producer).iter().all(|user| self.inside.contains(user));
        let taken = match self.graph.class(producer) {
            Class::Source => true,
            Class::View(View::Plain) => reader.takes_order(op),
            Class::View(View::Guarded) => matches!(reader, Reader::Once { .. }),
            Class::View(View::Reshape) => {
                let path = vec![self.paths.zero(); op.result(0).ty().rank()];
                self.paths.through(self.dims, op, 0, &path).is_some()
            }
            Class::Pointwise(_) => op.isa::<prim::Convert>(),
            Class::Gather | Class::Reduce | Class::Contract | Class::InOrder | Class::Alone => false,
        };
        if !taken || !sole {
            return Err(Refusal::ContractionPrologue);
        }
        let reads = self.reads.entry(producer).or_default();
        if self.graph.class(producer) == Class::Pointwise(Cost::Expensive) {
            reads.push(Read { stage: None, repeats: uses, path: Path::new() });
        }
        let reader = if op.isa::<prim::SlidingWindow>() { reader.under_window() } else { reader };
        op.operands().into_iter().try_for_each(|operand| self.prologue(operand, reader, uses))
    }

    /// How often an element is computed when the kernel runs over all its dimensions. Row dimensions do not count: what does not
    /// depend on the row is there once for all of it. Nor do segments of the row, of which each has elements of its own.
    fn repeats(&self, used: u64) -> Option<i64> {
        let is_used = |dim: usize| used & (1 << dim.min(63)) != 0;
        let on_row = self.frame.row.iter().any(|&dim| is_used(dim));
        let shared_out = |dim: usize| on_row && self.frame.segments == Some(dim);
        let missing = (0..self.frame.sizes.len()).filter(|&dim| !is_used(dim) && !self.frame.row.contains(&dim) && !shared_out(dim));
        missing
            .map(|dim| self.dims.resolve(&self.frame.sizes[dim]).as_constant())
            .try_fold(1i64, |product, size| product.checked_mul(size?))
    }
}
