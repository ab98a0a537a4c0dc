//! The data that defines a pass; `#[derive(Pass)]` writes it.

use super::{Pass, PassContext, PassError};
use crate::ir::Op;
use std::sync::atomic::{AtomicU64, Ordering};

/// What an option holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// `bool`.
    Bool = strata_core_sys::STRATA_BOOL as isize,
    /// `i64`.
    Int = strata_core_sys::STRATA_INT as isize,
    /// `f64`.
    Float = strata_core_sys::STRATA_FLOAT as isize,
    /// `String`.
    Str = strata_core_sys::STRATA_STRING as isize,
    /// `Vec<i64>`.
    Ints = strata_core_sys::STRATA_INTS as isize,
    /// `Vec<String>`.
    Strs = strata_core_sys::STRATA_STRINGS as isize,
}

/// One option.
#[derive(Clone, Copy, Debug)]
pub struct OptionDef {
    /// As written in a pipeline: `max-ops`.
    pub name: &'static str,
    /// What it does.
    pub doc: &'static str,
    /// What it holds.
    pub kind: OptionKind,
    /// The default as it would be written in a pipeline.
    pub default: &'static str,
}

/// One statistics counter, shown by `--pass-counts` (LLVM's release builds leave MLIR's own statistics out).
#[derive(Clone, Copy, Debug)]
pub struct StatisticDef {
    /// Its name.
    pub name: &'static str,
    /// What it counts.
    pub doc: &'static str,
}

/// What MLIR knows of a pass.
#[derive(Clone, Copy, Debug)]
pub struct PassDef {
    /// The Rust type's name.
    pub name: &'static str,
    /// On the command line: `fuse-elementwise`.
    pub argument: &'static str,
    /// First paragraph of the documentation.
    pub description: &'static str,
    /// All of the documentation.
    pub doc: &'static str,
    /// The op it works on; empty for any op.
    pub anchor: &'static str,
    /// Dialects whose ops it makes.
    pub dependents: &'static [&'static str],
    /// Options.
    pub options: &'static [OptionDef],
    /// Counters.
    pub statistics: &'static [StatisticDef],
}

/// Reads the values of a running pass's options, by index.
pub trait OptionReader {
    /// A `bool`.
    fn bool(&self, index: usize) -> bool;
    /// An `i64`.
    fn int(&self, index: usize) -> i64;
    /// An `f64`.
    fn float(&self, index: usize) -> f64;
    /// A `String`.
    fn str(&self, index: usize) -> String;
    /// A `Vec<i64>`.
    fn ints(&self, index: usize) -> Vec<i64>;
    /// A `Vec<String>`.
    fn strs(&self, index: usize) -> Vec<String>;
}

/// The part of a pass that `#[derive(Pass)]` writes.
pub trait PassData: Sized + 'static {
    /// The definition.
    const DEF: PassDef;
    /// An instance with the option values given.
    fn read(options: &dyn OptionReader) -> Self;
    /// The values of its counters, in the order of the definition.
    fn counts(&self) -> Vec<u64>;
}

/// A statistics counter as a field of a pass.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Counts `n` more.
    pub fn add(&self, n: usize) {
        self.0.fetch_add(n as u64, Ordering::Relaxed);
    }

    /// The count so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A pass as a row of a crate's table of passes: `PassEntry::of::<FuseElementwise>()`.
#[derive(Clone, Copy)]
pub struct PassEntry {
    /// The definition.
    pub def: PassDef,
    pub(crate) run: RunFn,
}

/// Makes an instance, runs it, gives its counts.
pub(crate) type RunFn = for<'c> fn(Op<'c>, &mut PassContext<'c>, &dyn OptionReader) -> (Result<(), PassError>, Vec<u64>);

impl PassEntry {
    /// The row of a pass.
    pub const fn of<P: Pass>() -> Self {
        Self { def: P::DEF, run: run::<P> }
    }
}

fn run<'c, P: Pass>(op: Op<'c>, cx: &mut PassContext<'c>, options: &dyn OptionReader) -> (Result<(), PassError>, Vec<u64>) {
    let pass = P::read(options);
    let result = pass.run(op, cx);
    (result, pass.counts())
}
