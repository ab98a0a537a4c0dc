//! `--write-in-place`: the new value of what a call changes may be written over the old one.
//!
//! A result of kind `mutation` gets `capture.in_place`, exactly where
//! - nobody reads the old value behind the kernel that makes the new one, and in that kernel only the stage that makes it reads the old one,
//!   at the point that it writes; a scatter writes to a copy of the old value, which is left out where both are one memory;
//! - the kernel makes each point once, and both values have one type and lie in memory alike;
//! - from that kernel on nothing can fail and no memory is asked for, so that a call that fails changes nothing. (A kernel that finds an index
//!   out of bounds only leaves a note; `--loop-to-host` ends such a call before the first kernel that writes in place.)
//!
//! `in_place` of the kernel says which argument lies under which result: then its code may not take them for apart. Whether a call passes
//! the memory of the old value for the new one is up to who makes it. Such a result is not stored past the caches (`non_temporal`), as the
//! line that is stored to was read just before: on a Zen 4 a step of AdamW on 23 million parameters takes 300 ms so, and 17 where the new values have memory of their own.
//!
//! What a loop carries is written over in the same way: the row that a step adds to a list of rows does not copy the list. Its memory is
//! the loop's own, so what may fail does not matter; `in_place` of the call names the operand in whose memory a result is written.
//!
//! ```mlir
//! %0 = loop.call @k0(%p)               // the result of kind "mutation" that is named as the argument %p is
//! return %0
//! // becomes
//! %0 = loop.call @k0(%p)               // loop.kernel @k0 {in_place = array<i64: 0>, ..}
//! return %0                            // {capture.in_place, capture.kind = "mutation", capture.name = "p"}
//! ```

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use crate::analysis::views::{is_view, root};
use crate::prim::hoist_weights::signature::Signature;
use strata_core::ir::{AffineKind, AffineMap, Attr, Block, ElementType, Op, Type, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::{NoMatch, Rewriter};
use strata_core::upstream::{arith, scf};
use strata_dialects::loops::ranges::may_reach_outside;
use strata_dialects::loops::schedule::{StageSchedule, makes_once};
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::{capture, loops, prim};

/// Lets new values be written over old ones.
#[derive(Pass)]
#[pass(dependents("loop"))]
pub struct WriteInPlace {
    /// Results that may be written in place.
    results: Counter,
    /// Values that loops carry and write over.
    carried: Counter,
}

impl Pass for WriteInPlace {
    fn run<'c>(&self, module: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let Some(entry) = module.body(0).ops().into_iter().find(|op| op.attr(capture::ENTRY).is_some()) else { return Ok(()) };
        raise_guards(entry.body(0), &mut cx.rewriter());
        sink_steps(module, entry, &mut cx.rewriter());
        let mut program = Program::of(module, entry);
        let found: Vec<_> = program.changed().into_iter().map(|at| (at, program.change(at))).collect();
        let mut changes: Vec<_> =
            found.into_iter().filter_map(|(at, found)| Some((at, cx.remarks().found(program.maker(at), found)?))).collect();
        let safe = program.safe_from(&changes.iter().map(|(at, _)| *at).collect());
        changes.retain(|(_, change)| {
            let late = program.at[&change.call] >= safe;
            if !late {
                cx.remarks().missed(change.call, "something behind it may fail, or asks for memory");
            }
            late
        });
        self.results.add(changes.len());
        program.mark(&changes, &mut cx.rewriter());
        for (call, found) in program.carried() {
            if let Some(change) = cx.remarks().found(call, found) {
                self.carried.add(usize::from(program.mark_carried(&change, &mut cx.rewriter())));
            }
        }
        Ok(())
    }
}

/// Moves guards up to where their conditions are known: a new value that is made before a guard could not be written in place. Guards keep
/// their order, and overtake kernels alone.
fn raise_guards<'c>(block: Block<'c>, rewriter: &mut Rewriter<'c>) {
    let mut floor = None;
    for op in block.ops() {
        if op.isa::<capture::Guard>() {
            raise(op, floor, block, rewriter);
            floor = Some(op);
        } else if !(op.isa::<loops::Call>() || is_cheap(op)) {
            floor = Some(op);
        }
    }
}

/// Moves an op up behind `floor` and what makes its operands, which moves up itself where it is cheap.
fn raise<'c>(op: Op<'c>, floor: Option<Op<'c>>, block: Block<'c>, rewriter: &mut Rewriter<'c>) {
    let mut behind = floor;
    for maker in op.operands().into_iter().filter_map(Value::defining_op).filter(|maker| maker.block() == Some(block)) {
        if is_cheap(maker) {
            raise(maker, None, block, rewriter);
        }
        if behind.is_none_or(|other| other.is_before(maker)) {
            behind = Some(maker);
        }
    }
    match behind {
        Some(behind) if behind.is_before(op) => rewriter.move_after(op, behind),
        None if block.ops()[0] != op => rewriter.move_before(op, block.ops()[0]),
        _ => {}
    }
}

/// Moves a kernel that makes the new value of what the program changes, or a loop carries on, to the end, where others read the old value
/// behind it.
fn sink_steps<'c>(module: Op<'c>, entry: Op<'c>, rewriter: &mut Rewriter<'c>) {
    let program = Program::of(module, entry);
    if let Some(end) = program.block.terminator() {
        let changed = program.changed().into_iter();
        changed.filter_map(|at| Some((program.old(at)?, program.returned[at]))).for_each(|(old, new)| sink(old, root(new), end, rewriter));
    }
    entry.walk(&mut |op| {
        let Some(end) = step(op).and_then(Block::terminator) else { return };
        for (k, value) in end.operands().into_iter().enumerate() {
            if let Some(old) = held(op, k) {
                sink(old, root(value), end, rewriter);
            }
        }
    });
}

/// Moves the call that makes the new value, with the views of what it makes, in front of the block's end, where the old value is read behind it
/// and nobody else waits for what it makes.
fn sink<'c>(old: Value<'c>, new: Value<'c>, end: Op<'c>, rewriter: &mut Rewriter<'c>) {
    let Some(call) = new.defining_op().filter(|call| call.isa::<loops::Call>() && call.block() == end.block()) else { return };
    let late = |read: &Op<'c>| *read != end && !is_view(*read) && read.block() == end.block() && call.is_before(*read);
    let read_late = aliases(old).into_iter().flat_map(Value::uses).any(|read| late(&read.op));
    let mut made = views_of(call, end);
    if read_late && made.iter().flat_map(|op| op.results()).flat_map(Value::uses).all(|read| read.op == end || made.contains(&read.op)) {
        made.sort_by(|a, b| if a.is_before(*b) { Ordering::Less } else { Ordering::Greater });
        made.into_iter().for_each(|op| rewriter.move_before(op, end));
    }
}

/// A value, and all views of it.
fn aliases(value: Value<'_>) -> Vec<Value<'_>> {
    let (mut found, mut next) = (vec![value], 0);
    while let Some(alias) = found.get(next).copied() {
        found.extend(alias.uses().into_iter().filter(|read| is_view(read.op)).map(|read| read.op.result(0)));
        next += 1;
    }
    found
}

/// A call, and the views of its results in its block.
fn views_of<'c>(call: Op<'c>, end: Op<'c>) -> Vec<Op<'c>> {
    let (mut found, mut next) = (vec![call], 0);
    while let Some(op) = found.get(next).copied() {
        let readers = op.results().into_iter().flat_map(Value::uses).map(|read| read.op);
        found.extend(readers.filter(|reader| is_view(*reader) && reader.block() == end.block()));
        next += 1;
    }
    found
}

/// The block of a loop whose terminator hands on what the next step begins with.
fn step(op: Op<'_>) -> Option<Block<'_>> {
    op.isa::<scf::For>().then(|| op.body(0)).or_else(|| op.isa::<scf::While>().then(|| op.body(1)))
}

/// Whether an op takes no kernel and cannot fail.
fn is_cheap(op: Op<'_>) -> bool {
    is_view(op) || op.isa::<prim::Item>() || op.isa::<prim::Constant>() || op.isa::<arith::Constant>()
}

/// A new value that may be written over the old one.
struct Change<'c> {
    /// The call of the kernel that makes it.
    call: Op<'c>,
    /// Which result of the call it is, and which operand the old value is, if any.
    places: (usize, Option<usize>),
}

struct Program<'c> {
    entry: Op<'c>,
    block: Block<'c>,
    signature: Signature<'c>,
    kernels: HashMap<String, KernelView<'c>>,
    /// The positions of the statements.
    at: HashMap<Op<'c>, usize>,
    returned: Vec<Value<'c>>,
}

impl<'c> Program<'c> {
    fn of(module: Op<'c>, entry: Op<'c>) -> Self {
        let block = entry.body(0);
        let kernels = module.body(0).ops().into_iter().filter_map(|op| Some((op.str("sym_name")?, KernelView::new(op)?))).collect();
        let returned = block.terminator().map(|op| op.operands()).unwrap_or_default();
        let at = block.ops().into_iter().enumerate().map(|(at, op)| (op, at)).collect();
        Self { entry, block, signature: Signature::of(entry), kernels, at, returned }
    }

    fn kernel(&self, call: Op<'c>) -> Option<&KernelView<'c>> {
        self.kernels.get(&call.attr("callee")?.as_symbol()?)
    }

    /// The results that are new values.
    fn changed(&self) -> Vec<usize> {
        (0..self.returned.len()).filter(|at| self.signature.is_mutation(*at)).collect()
    }

    /// What makes a result, or ends the program where an argument is returned.
    fn maker(&self, result: usize) -> Op<'c> {
        let made = root(self.returned[result]).defining_op();
        made.or_else(|| self.block.terminator()).unwrap_or(self.entry)
    }

    fn change(&self, result: usize) -> Result<Change<'c>, NoMatch> {
        let value = root(self.returned[result]);
        let call = value.defining_op().filter(|op| op.isa::<loops::Call>() && self.at.contains_key(op));
        let call = call.ok_or_else(|| NoMatch::new("no kernel makes it"))?;
        let old = self.old(result).ok_or_else(|| NoMatch::new("there is no argument of its name that lies in memory as it does"))?;
        let change = self.over(old, value, &self.at)?;
        if self.kernel(call).is_some_and(may_reach_outside) {
            return Err("the kernel may fail".into());
        }
        Ok(change)
    }

    /// The argument that holds the old value of a result, where it lies in memory as the result does.
    fn old(&self, result: usize) -> Option<Value<'c>> {
        let named = text(self.signature.results.get(result), capture::NAME)?;
        let arguments = self.block.args().into_iter().enumerate();
        let (_, old) = arguments.into_iter().find(|(at, _)| {
            let dict = self.signature.arguments.get(*at);
            let order = |dict: Option<&Attr<'c>>| dict.and_then(|dict| dict.entry(capture::DIM_ORDER));
            text(dict, capture::NAME).as_ref() == Some(&named) && order(dict) == order(self.signature.results.get(result))
        })?;
        (old.ty() == self.returned[result].ty() && old.ty().is_static()).then_some(old)
    }

    /// The change of an old value to a new one that a kernel makes in the block of the statements `at`.
    fn over(&self, old: Value<'c>, value: Value<'c>, at: &HashMap<Op<'c>, usize>) -> Result<Change<'c>, NoMatch> {
        let call = value.defining_op().filter(|op| op.isa::<loops::Call>() && at.contains_key(op));
        let call = call.ok_or_else(|| NoMatch::new("no kernel makes it"))?;
        let operand = last_read(old, call, at)?;
        let kernel = self.kernel(call).ok_or_else(|| NoMatch::new("its kernel is not known"))?;
        let at = call.results().into_iter().position(|result| result == value).unwrap_or_default();
        made_once(kernel, at)?;
        match operand {
            Some(operand) if call.operand(operand).ty() != value.ty() => Err("the kernel reads the old value in another shape".into()),
            Some(operand) => reads_where_it_writes(kernel, at, operand).map(|()| Change { call, places: (at, Some(operand)) }),
            None => Ok(Change { call, places: (at, None) }),
        }
    }

    /// The calls that make what loops carry on, and whether they may write it over what they carried.
    fn carried(&self) -> Vec<(Op<'c>, Result<Change<'c>, NoMatch>)> {
        let mut found = Vec::new();
        self.entry.walk(&mut |op| {
            let Some((block, next)) = step(op).and_then(|block| Some((block, block.terminator()?))) else { return };
            let at = block.ops().into_iter().enumerate().map(|(at, op)| (op, at)).collect();
            for (k, value) in next.operands().into_iter().enumerate() {
                let value = root(value);
                if let (Some(old), Some(call)) = (held(op, k), value.defining_op().filter(|op| op.isa::<loops::Call>())) {
                    found.push((call, self.over(old, value, &at).and_then(|change| self.in_one_size(change))));
                }
            }
        });
        found
    }

    /// The change, where both values have the same sizes whatever the symbols are, and the new one is made from the old one.
    fn in_one_size(&self, change: Change<'c>) -> Result<Change<'c>, NoMatch> {
        let (result, operand) = change.places;
        let operand = operand.ok_or_else(|| NoMatch::new("the kernel does not read the old value"))?;
        let shapes = self.kernel(change.call).map(KernelView::shapes).unwrap_or_default();
        let same = shapes.get(operand).zip(shapes.get(change.call.num_operands() + result)).is_some_and(|(old, new)| old == new);
        same.then_some(change).ok_or_else(|| NoMatch::new("the new value may have other sizes"))
    }
    /// The position from which on nothing may fail and no memory is asked for, where these results are written in place.
    fn safe_from(&self, in_place: &HashSet<usize>) -> usize {
        let end = self.block.ops().len();
        let (mut safe, mut guarded) = (0, HashSet::new());
        for (at, op) in self.block.ops().into_iter().enumerate() {
            // A condition that holds holds again.
            let again = op.isa::<capture::Guard>() && !guarded.insert(op.operand(0));
            if !again && self.may_fail(op) {
                safe = at + 1;
            }
        }
        let mut written = HashSet::new();
        for (result, &value) in self.returned.iter().enumerate() {
            // What no kernel writes to an output is copied there in the end.
            let call = root(value).defining_op().filter(|op| op.isa::<loops::Call>()).and_then(|op| self.at.get(&op));
            let direct = call.filter(|_| written.insert(root(value)));
            // The memory of an output of known size is asked for where the program begins.
            let early = in_place.contains(&result) || value.ty().is_tensor() && value.ty().is_static();
            if !early || direct.is_none() {
                safe = safe.max(direct.map_or(end, |at| at + 1));
            }
        }
        safe
    }

    fn may_fail(&self, op: Op<'c>) -> bool {
        // A number is no size.
        let is_sized = |ty: Type<'_>| if ty.is_tensor() { ty.is_static() } else { ty.element_type().is_some_and(ElementType::is_float) };
        let sized = op.operands().iter().chain(&op.results()).all(|value| is_sized(value.ty()));
        let plain = is_view(op) || op.isa::<prim::Constant>() || self.block.terminator() == Some(op);
        match op.isa::<loops::Call>() {
            true => !sized || self.kernel(op).is_none_or(may_reach_outside),
            false => !plain && !op.isa::<arith::Constant>(),
        }
    }

    /// Lets a call in a loop write over what the loop carries; its kernel may have other results in place already, but no other operand there.
    fn mark_carried(&self, change: &Change<'c>, rewriter: &mut Rewriter<'c>) -> bool {
        let Change { call, places: (at, Some(operand)) } = *change else { return false };
        let (Some(kernel), cx) = (self.kernel(call), self.entry.cx()) else { return false };
        let with = |op: Op<'c>| {
            let mut places = op.ints("in_place").unwrap_or_else(|| vec![-1; call.num_results()]);
            let free = places.get(at).is_some_and(|place| [-1, operand as i64].contains(place));
            let lone = places.iter().enumerate().all(|(other, place)| other == at || *place != operand as i64);
            (free && lone).then(|| {
                places[at] = operand as i64;
                places
            })
        };
        let (Some(of_kernel), Some(of_call)) = (with(kernel.op), with(call)) else { return false };
        rewriter.set_attr(kernel.op, "in_place", cx.i64s_attr(&of_kernel));
        rewriter.set_attr(call, "in_place", cx.i64s_attr(&of_call));
        store_through_caches(kernel, &of_kernel);
        true
    }

    fn mark(&mut self, changes: &[(usize, Change<'c>)], rewriter: &mut Rewriter<'c>) {
        let cx = self.entry.cx();
        let mut kernels: HashMap<Op<'c>, (&KernelView<'c>, Vec<i64>)> = HashMap::new();
        for (result, change) in changes {
            let dict = &mut self.signature.results[*result];
            let entries = dict.as_dict().unwrap_or_default();
            let mut entries: Vec<_> = entries.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
            entries.push((capture::IN_PLACE, cx.unit()));
            *dict = cx.dict_attr(&entries);
            let Some(kernel) = self.kernels.get(&change.call.attr("callee").and_then(Attr::as_symbol).unwrap_or_default()) else {
                continue;
            };
            let (_, places) = kernels.entry(kernel.op).or_insert_with(|| (kernel, vec![-1; kernel.results().len()]));
            let (at, operand) = change.places;
            places[at] = operand.map_or(places[at], |operand| operand as i64);
        }
        for (op, (kernel, places)) in kernels {
            store_through_caches(kernel, &places);
            rewriter.set_attr(op, "in_place", cx.i64s_attr(&places));
        }
        if !changes.is_empty() {
            rewriter.set_attr(self.entry, "res_attrs", cx.array_attr(&self.signature.results));
        }
    }
}

/// Stores those results of a kernel through the caches that have an argument under them.
fn store_through_caches(kernel: &KernelView<'_>, places: &[i64]) {
    let makers = kernel.results().into_iter().zip(places).filter(|(_, place)| **place >= 0).filter_map(|(result, _)| result.defining_op());
    for maker in makers {
        StageSchedule::change(maker, |schedule| (schedule.non_temporal, schedule.split_stores) = (None, None));
    }
}

/// Which operand of a call a value is that nobody reads behind it, among the statements `at`.
fn last_read<'c>(old: Value<'c>, call: Op<'c>, at: &HashMap<Op<'c>, usize>) -> Result<Option<usize>, NoMatch> {
    let (mut aliases, mut operand) = (vec![old], None);
    while let Some(alias) = aliases.pop() {
        for user in alias.uses() {
            let Some(reader) = at.get(&user.op) else { return Err("it is read inside of control flow".into()) };
            if user.op == call {
                if operand.replace(user.index).is_some() {
                    return Err("the kernel reads the old value as two operands".into());
                }
            } else if is_view(user.op) {
                aliases.push(user.op.result(0));
            } else if !user.op.isa::<loops::Call>() || *reader > at[&call] {
                return Err("the old value is read behind the kernel, or by what is no kernel".into());
            }
        }
    }
    Ok(operand)
}

/// The argument of a loop's body that holds what the body's value `k` becomes in the next step.
fn held(looped: Op<'_>, k: usize) -> Option<Value<'_>> {
    if looped.isa::<scf::For>() {
        return Some(looped.body(0).arg(k + 1));
    }
    // The condition hands on what the loop carries. What it hands on twice is one memory with two names.
    let (before, after) = (looped.body(0), looped.body(1));
    let handed = before.terminator()?.operands()[1..].to_vec();
    let mut places = (0..handed.len()).filter(|at| handed[*at] == before.arg(k));
    places.next().filter(|_| places.next().is_none()).map(|at| after.arg(at))
}

fn text(dict: Option<&Attr<'_>>, name: &str) -> Option<String> {
    dict?.entry(name)?.as_str()
}

/// The stage that makes a result; of a scatter the one that makes what it writes to.
fn maker<'c>(kernel: &KernelView<'c>, result: usize) -> Option<StageView<'c>> {
    let stage = StageView::new(kernel.results()[result].defining_op()?);
    if stage.is_scatter() { stage.op.operand(0).defining_op().map(StageView::new) } else { Some(stage) }
}

/// Whether each point of a result is computed once, and stored when nothing else is to be computed for it.
fn made_once(kernel: &KernelView<'_>, result: usize) -> Result<(), NoMatch> {
    if !makes_once(kernel) || kernel.stages.iter().any(StageView::is_attention) {
        return Err("the kernel computes points twice".into());
    }
    let plain = |stage: &StageView<'_>| {
        !stage.is_scatter() && stage.reduce.is_empty() && stage.scan.is_none() && stage.spread.is_empty() && !stage.is_in_parts()
    };
    maker(kernel, result).filter(plain).map(|_| ()).ok_or_else(|| "no pointwise stage makes it".into())
}

/// Whether the stage that makes a result is the only one to read an argument, and reads it at the point that it writes.
fn reads_where_it_writes(kernel: &KernelView<'_>, result: usize, argument: usize) -> Result<(), NoMatch> {
    let refused = || NoMatch::new("the kernel reads the old value elsewhere than where it writes the new one");
    let stage = maker(kernel, result).ok_or_else(refused)?;
    let uses = kernel.op.body(0).args()[argument].uses();
    let [user] = uses.as_slice() else { return Err(refused()) };
    if user.op != stage.op {
        return Err(refused());
    }
    let there = !stage.guarded[user.index] && is_point(stage.maps[user.index], &stage.result_dims());
    there.then_some(()).ok_or_else(refused)
}

/// Whether a map gives these dims.
fn is_point(map: AffineMap<'_>, dims: &[usize]) -> bool {
    let results = map.results();
    results.len() == dims.len() && results.iter().zip(dims).all(|(expr, dim)| expr.kind() == AffineKind::Dim(*dim))
}
