//! Launches of a long program as data: one call of the runtime goes through a table, where code would be made for each launch.
//!
//! Code of a program grows with its layers, and the time to make it with it. What a launch needs is known while compiling where its
//! sizes are: the kernel, how it is shared among threads, and for each argument a pointer that the entry has and an offset from it.
//! Words of a row: the kernel's number among `tasks`, parts, the grain (negative: one thread), the number of arguments, and for each
//! of these the number of its base among `bases` and a byte offset, or -1 and the number of a weight.

use super::Error;
use super::host::Host;
use super::launch::{Sharing, sharing, task_name};
use crate::emit::memory;
use crate::num::Num;
use std::collections::{HashMap, HashSet};
use strata_core::ir::{Attr, ElementType, Op, Value};
use strata_core::upstream::{arith, func, llvm};
use strata_dialects::host;

/// Programs of more launches than this have tables.
pub(super) const LONG: usize = 64;

/// So few launches in a row are code.
const FEW: usize = 4;
/// The runtime has room for so many arguments of a launch, the status cell included.
const ARGUMENTS: usize = 64;

/// What the tables of an entry share.
pub(super) struct Tables<'c> {
    /// Launches that stand in no table yet.
    pending: Vec<Op<'c>>,
    /// Room for pointers that arguments start from, and which are there.
    bases: Value<'c>,
    known: HashMap<Value<'c>, i64>,
    /// The functions by which threads run kernels, and each kernel's number and sharing; nothing where sizes are symbolic.
    tasks: Value<'c>,
    kernels: HashMap<String, Option<(i64, Sharing)>>,
}

/// Ops that only say where memory is: launches may wait for those behind them.
const MEMORY: &[&str] = &[
    arith::Constant::NAME,
    host::Alloc::NAME,
    host::Arena::NAME,
    host::Constant::NAME,
    host::Input::NAME,
    host::Output::NAME,
    host::Slice::NAME,
    host::Weight::NAME,
];

impl<'c> Host<'c, '_> {
    /// Prepares for tables where the program has more than `long` launches.
    pub(super) fn prepare_tables(&mut self, host: Op<'c>, long: usize) {
        let launches = host.find_all(host::Launch::NAME);
        if launches.len() <= long || self.device.is_some() {
            return;
        }
        let starts = launches.iter().flat_map(|launch| launch.operands()).map(|operand| slice(operand).map_or(operand, |(from, _)| from));
        let room = 1 + starts.collect::<HashSet<_>>().len();
        let mut kernels = HashMap::new();
        for launch in launches {
            let number = kernels.len() as i64;
            kernels.entry(callee(launch)).or_insert_with_key(|name| {
                let kernel = self.module.lookup_symbol(name)?;
                Some((number, sharing(&mut self.b, kernel)?))
            });
        }
        let (bases, tasks) = (self.stack(room as i64), self.stack(kernels.len() as i64));
        let mut numbered: Vec<_> = kernels.iter().filter_map(|(name, known)| Some((known.as_ref()?.0, name))).collect();
        numbered.sort_unstable();
        for (number, name) in numbered {
            let task = self.address(&task_name(name));
            self.store_word(tasks, 8 * number, task);
        }
        let known = HashMap::from([(self.status, 0)]);
        self.store_word(bases, 0, self.status);
        self.tables = Some(Tables { pending: Vec::new(), bases, known, tasks, kernels });
    }

    /// Whether a launch waits for a table.
    pub(super) fn waits(&mut self, op: Op<'c>) -> bool {
        let Some(tables) = &mut self.tables else { return false };
        let fixed = op.isa::<host::Launch>() && tables.kernels.get(&callee(op)).is_some_and(Option::is_some);
        if fixed && op.num_operands() < ARGUMENTS && op.operands().into_iter().all(|operand| operand.ty().is_memref()) {
            tables.pending.push(op);
            return true;
        }
        false
    }

    /// Launches what waits, before an op that is more than a place in memory.
    pub(super) fn launch_waiting(&mut self, before: Op<'c>) -> Result<(), Error> {
        let Some(tables) = &mut self.tables else { return Ok(()) };
        if tables.pending.is_empty() || MEMORY.contains(&before.name()) {
            return Ok(());
        }
        let launches = std::mem::take(&mut tables.pending);
        if launches.len() < FEW {
            return launches.into_iter().try_for_each(|op| self.launch(op));
        }
        let mut rows = Vec::new();
        for &launch in &launches {
            self.row(launch, &mut rows);
        }
        let bytes: Vec<u8> = rows.iter().flat_map(|word: &i64| word.to_le_bytes()).collect();
        let table = self.data(before, &bytes)?;
        let count = self.b.const_int(self.cx.int(64), launches.len() as i64);
        let Some(tables) = &self.tables else { return Ok(()) };
        let operands = [self.call, tables.tasks, tables.bases, table, count];
        func::call(&mut self.b, "strata_launches", &operands, &[]);
        Ok(())
    }

    /// One launch as code.
    pub(super) fn launch(&mut self, op: Op<'c>) -> Result<(), Error> {
        let operands: Vec<_> = op.operands().into_iter().map(|operand| self.value(operand)).collect();
        let Some(launcher) = self.launcher.as_mut() else { return Ok(()) };
        launcher.launch(self.module, &mut self.b, op, &operands, self.call, self.status)
    }

    /// The address of a function by which threads run a kernel.
    fn address(&mut self, task: &str) -> Value<'c> {
        let cx = self.cx;
        let (pointer, word) = (memory::pointer(cx), cx.int(64));
        let ty = cx.function(&[pointer, word, word], &[]);
        let function = func::constant(&mut self.b, task, ty);
        self.b.value("builtin.unrealized_conversion_cast", &[function], pointer, &[])
    }

    fn row(&mut self, launch: Op<'c>, rows: &mut Vec<i64>) {
        let known = self.tables.as_ref().and_then(|tables| tables.kernels.get(&callee(launch)).copied().flatten());
        let Some((number, Sharing { parts, grain })) = known else { return };
        let operands = launch.operands();
        rows.extend([number, parts, grain.unwrap_or(-1), operands.len() as i64 + 1]);
        for operand in operands {
            let (base, offset) = match operand.defining_op().filter(|op| op.isa::<host::Weight>()) {
                Some(weight) => (-1, weight.int("index").unwrap_or_default()),
                None => {
                    let (from, offset) = slice(operand).unwrap_or((operand, 0));
                    let base = self.value(from);
                    (self.base(base), offset)
                }
            };
            rows.extend([base, offset]);
        }
        // The status cell comes last.
        rows.extend([0, 0]);
    }

    /// The number of a pointer among the bases.
    fn base(&mut self, pointer: Value<'c>) -> i64 {
        let Some(tables) = &mut self.tables else { return 0 };
        let next = tables.known.len() as i64;
        let number = *tables.known.entry(pointer).or_insert(next);
        if number == next {
            let bases = tables.bases;
            let at = memory::element_pointer(&mut self.b, bases, Num::Const(8 * number), ElementType::I8);
            self.b.effect(llvm::Store::NAME, &[pointer, at], &[("alignment", self.cx.i64_attr(8))]);
        }
        number
    }
}

fn callee(launch: Op<'_>) -> String {
    launch.attr("callee").and_then(Attr::as_symbol).unwrap_or_default()
}

/// What a buffer is a slice of, and where it begins in that.
pub(super) fn slice(buffer: Value<'_>) -> Option<(Value<'_>, i64)> {
    let op = buffer.defining_op().filter(|op| op.isa::<host::Slice>())?;
    let offset = op.operand(1).defining_op().filter(|def| def.isa::<arith::Constant>())?.attr("value")?.as_int()?;
    Some((op.operand(0), offset))
}
