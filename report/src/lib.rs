//! One page about programs: how they were compiled, what their kernels come from, and where the time of a call goes.
//!
//! The compiler fills a [`Compilation`], measured calls a [`Call`]; a [`Report`] of both is a page of HTML, and a timeline for
//! `chrome://tracing` or Perfetto.

mod call;
mod compilation;
mod page;
mod roofline;
mod timeline;

use serde::{Deserialize, Serialize};
use strata_runtime::Manifest;
use strata_runtime::manifest::Weight;

pub use call::{Call, Launch};
pub use compilation::{Buffer, Cached, Compilation, Kernel, Level, Pass, Remark, Source};
pub use roofline::{Roofline, Row};

/// What a page is about.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Its heading.
    pub title: String,
    /// The processor, as it names itself.
    pub machine: String,
    /// Threads that kernels run on.
    pub threads: usize,
    /// What is to be said of all programs: where one was divided, and why.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The programs.
    pub programs: Vec<Program>,
}

/// A program of a page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// Its name.
    pub name: String,
    /// How it was compiled.
    pub compilation: Compilation,
    /// What is checked before each call.
    pub guards: Vec<String>,
    /// Bytes of its weights.
    pub weight_bytes: u64,
    /// A call, where one was measured.
    pub call: Option<Call>,
}

impl Report {
    /// A report about this machine.
    pub fn new(title: impl Into<String>) -> Report {
        let machine = strata_runtime::cpu::machine();
        Report { title: title.into(), machine, threads: strata_runtime::pool::global().threads(), notes: Vec::new(), programs: Vec::new() }
    }
}

impl Program {
    /// A program by its manifest.
    pub fn new(manifest: &Manifest, compilation: Compilation, call: Option<Call>) -> Program {
        let weight_bytes = manifest.weights.iter().map(Weight::bytes).fold(0, u64::saturating_add);
        let guards = manifest.guards.iter().map(|guard| match guard.source.as_str() {
            "" => guard.text.clone(),
            source => format!("{} ({source})", guard.text),
        });
        Program { name: manifest.name.clone(), compilation, guards: guards.collect(), weight_bytes, call }
    }
}
