//! A compilation on the record: every pass by itself, the text of every level, and what each line of it comes from.

mod sources;

use crate::artefact::called;
use crate::compile::{settle, target};
use crate::database::{How, Report, inside};
use crate::levels::Level;
use crate::options::Options;
use crate::pipelines::{Pipeline, pipelines};
use crate::run_levels::run_passes;
use crate::source_file::SourceFile;
use crate::{Error, compile_explained};
use sources::Sources;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Instant;
use strata_core::diagnostic::{Collected, Severity, collect};
use strata_core::ir::{Module, Op};
use strata_core::pass::PassData;
use strata_core::registry::Registry;
use strata_dialects::{host, loops};
use strata_lowering::loop_to_host::entry;
use strata_passes::host::plan_memory::{self, PlanMemory};
use strata_report::{Buffer, Cached, Compilation, Kernel, Pass, Remark};
use strata_runtime::Artefact;
use strata_store::Store;

/// The level whose kernels are what runs.
const KERNELS: Level = Level::LoopScheduled;

/// Compiles a file twice: as it always is, with the cache, to the program; and pass by pass, to the record of it.
pub fn record<'a>(
    registry: &'static Registry,
    file: impl Into<SourceFile<'a>>,
    options: &Options,
    store: Option<&Arc<Store>>,
) -> Result<(Artefact, Compilation), Error> {
    let file = file.into();
    let (artefact, report) = compile_explained(registry, file, options, store)?;
    let mut compilation = pass_by_pass(registry, file, options).map_err(|error| error.of(file.path))?;
    let manifest = &artefact.manifest;
    compilation.target = format!("{} {}", manifest.target.arch, manifest.target.cpu);
    compilation.options = serde_json::to_value(options).unwrap_or_default();
    compilation.arena_bytes = manifest.workspace_bytes;
    compilation.stages.clone_from(&manifest.timings);
    compilation.cached = cached(&report);
    // What is measured later goes by the manifest's kernels.
    for kernel in &manifest.kernels {
        match compilation.kernels.iter_mut().find(|known| known.kernel.name == kernel.name) {
            Some(known) => known.kernel.clone_from(kernel),
            None => compilation.kernels.push(Kernel { kernel: kernel.clone(), sources: Vec::new(), schedule: Vec::new() }),
        }
    }
    compilation.kernels.retain(|known| manifest.kernels.iter().any(|kernel| kernel.name == known.kernel.name));
    Ok((artefact, compilation))
}

fn cached(report: &Report) -> Vec<Cached> {
    let records = report.records.iter().map(|record| Cached {
        function: record.subject(),
        passes: record.work().to_owned(),
        how: record.how.name().to_owned(),
        cause: record.cause.filter(|_| record.how == How::Computed).map_or("", |cause| cause.words()).to_owned(),
    });
    records.collect()
}

fn pass_by_pass(registry: &'static Registry, file: SourceFile<'_>, options: &Options) -> Result<Compilation, Error> {
    let mut options = options.clone();
    let context = registry.pooled_context();
    let module = file.read_for(&context, &options)?.module;
    settle(&module, target(registry, &options)?, &options)?;
    if options.part.is_empty() {
        options.part = entry(module.op())?.str("sym_name").unwrap_or_default();
    }
    let mut record =
        Record { registry, options: &options, begin: Instant::now(), sources: Sources::default(), compilation: Compilation::default() };
    for pipeline in pipelines(options.target) {
        record.level(&module, pipeline)?;
    }
    record.compilation.sources = record.sources.into_list();
    Ok(record.compilation)
}

/// A record in the making.
struct Record<'o> {
    registry: &'static Registry,
    options: &'o Options,
    begin: Instant,
    sources: Sources,
    compilation: Compilation,
}

impl Record<'_> {
    fn level(&mut self, module: &Module<'_>, pipeline: &Pipeline) -> Result<(), Error> {
        let (level, mut passes) = (pipeline.level, Vec::new());
        for (on, pass) in pipeline.passes(self.registry, self.options) {
            passes.push(self.pass(module, level, on.around(&pass))?);
        }
        if level == KERNELS {
            self.compilation.kernels = self.kernels(module.op());
        }
        let (text, lines, left_out) = self.sources.lines(module.op());
        let (name, description) = (level.name().to_owned(), level.description().to_owned());
        self.compilation.levels.push(strata_report::Level { name, description, passes, text, lines, left_out });
        Ok(())
    }

    fn pass(&mut self, module: &Module<'_>, level: Level, text: String) -> Result<Pass, Error> {
        if name(&text) == PlanMemory::DEF.argument {
            self.memory(module.op());
        }
        let (before, earlier) = (count(module.op()), content(module));
        let start = Instant::now();
        let (done, said) = collect(module.cx(), || run_passes(module, level, &with_remarks(self.registry, &text), self.options));
        let micros = start.elapsed().as_micros() as u64;
        done?;
        Ok(Pass {
            start: start.duration_since(self.begin).as_micros() as u64,
            micros,
            before,
            after: count(module.op()),
            changed: content(module) != earlier,
            remarks: said.into_iter().map(remark).collect(),
            text,
        })
    }

    fn kernels(&mut self, module: Op<'_>) -> Vec<Kernel> {
        let called = called(module);
        let named = module.find_all(loops::Kernel::NAME).into_iter().filter_map(|op| Some((op.str("sym_name")?, op)));
        let running = named.filter(|(name, _)| called.contains(name));
        let described = running.map(|(name, op)| {
            let mut schedule = Vec::new();
            op.walk(&mut |inner| schedule.extend(inner.attr("schedule").map(|attr| format!("{}: {attr}", inner.name()))));
            let launches = called.iter().filter(|call| **call == name).count() as u64;
            let kernel = strata_runtime::manifest::Kernel { name, launches, bytes: None, flops: None, predicted_nanos: None };
            Kernel { kernel, sources: self.sources.within(op), schedule }
        });
        described.collect()
    }

    /// Notes where the buffers of a call are about to be put.
    fn memory(&mut self, module: Op<'_>) {
        let Some(function) = module.body(0).ops().into_iter().find(|op| op.attr(strata_dialects::host::ENTRY).is_some()) else { return };
        // The steps up to each statement: what launches something is one.
        let mut until = Vec::new();
        for statement in function.body(0).ops() {
            let launches = statement.find_all(host::Launch::NAME).len() + statement.find_all(host::Extern::NAME).len();
            if launches > 0 {
                let callee = statement.attr("callee").and_then(|callee| callee.as_symbol());
                self.compilation.steps.push(callee.map_or_else(|| statement.name().to_owned(), |callee| format!("@{callee}")));
            }
            until.push(self.compilation.steps.len());
        }
        let step = |statement: usize| until.get(statement).map_or(0, |count| count.saturating_sub(1));
        let buffers = plan_memory::plan(function).buffers.into_iter().map(|buffer| {
            // An allocation stands before the step that writes it.
            let first = until.get(buffer.first).copied().unwrap_or(0).min(step(buffer.last));
            let label = self.compilation.steps.get(first).cloned().unwrap_or_default();
            Buffer { label, offset: buffer.offset as u64, bytes: buffer.bytes as u64, first, last: step(buffer.last) }
        });
        self.compilation.memory = buffers.collect();
    }
}

/// The name of a pass: `cse` of `func.func(cse)` and of `cse{..}`.
fn name(text: &str) -> &str {
    let inner = text.rsplit_once('(').filter(|(anchor, _)| !anchor.contains('{')).map_or(text, |(_, inner)| inner);
    inner.split(['{', ')']).next().unwrap_or(inner)
}

/// Passes of many rules say why of each op and rule: too much for a page.
const RULES: &str = "simplify-";

/// The pass, asked to say what it refuses, if it is one of ours.
fn with_remarks(registry: &Registry, text: &str) -> String {
    let name = name(text);
    let says = !name.starts_with(RULES) && registry.passes().iter().any(|pass| pass.def.argument == name);
    match text.split_once(name) {
        Some((anchor, rest)) if says && rest.starts_with('{') => format!("{anchor}{name}{{remarks {}", &rest[1..]),
        Some((anchor, rest)) if says => format!("{anchor}{name}{{remarks}}{rest}"),
        _ => text.to_owned(),
    }
}

fn remark(said: Collected) -> Remark {
    let notes = said.notes.iter().map(|note| format!("; {}", note.message));
    let message = std::iter::once(said.message.clone()).chain(notes).collect();
    Remark { warning: said.severity == Severity::Warning, place: inside(&said.location).to_owned(), message }
}

fn count(module: Op<'_>) -> usize {
    let mut count = 0;
    module.walk(&mut |_| count += 1);
    count - 1
}

/// What tells whether a pass changed something.
fn content(module: &Module<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    module.to_bytecode().hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_nests_and_before_options() {
        let names = ["cse", "func.func(cse)", "a{b=(c)}", "func.func(a{b=c})"].map(name);
        assert_eq!(names, ["cse", "cse", "a", "a"]);
    }

    #[test]
    fn passes_that_can_are_asked_for_remarks() {
        assert_eq!(with_remarks(crate::standard(), "hoist-weights"), "hoist-weights{remarks}");
        assert_eq!(with_remarks(crate::standard(), "inline-layers{all}"), "inline-layers{remarks all}");
        assert_eq!(with_remarks(crate::standard(), "func.func(cse)"), "func.func(cse)");
    }
}
