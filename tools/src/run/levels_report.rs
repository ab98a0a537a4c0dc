//! `rs-run --report`: one model at all levels, with its times, its memory and its result.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use strata_runtime::Manifest;
use strata_runtime::manifest::{Output, Weight};

use super::backend::LoadTimes;

/// How it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// Tables.
    Text,
    /// A page with everything, `MODEL.report.html`, and a timeline, `MODEL.trace.json`.
    Html,
}

/// What holds at each level, in a few words.
const LEVELS: &[(&str, &str)] = &[
    ("aten", "functional PyTorch operators"),
    ("capture", "the program as it was captured"),
    ("cpu", "vector loops and the native entry"),
    ("host", "buffers, allocations, launches"),
    ("llvm", "the llvm dialect"),
    ("loop", "kernels of stages"),
    ("loop-scheduled", "kernels with schedules for the CPU"),
    ("prim", "a small closed set of tensor operators"),
    ("prim-fused", "one fusion becomes one kernel"),
];

/// A sum of what a manifest says, which nobody vouches for.
fn total(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

/// Prints the levels, the kernels and the stages of the compilation.
pub fn print(model: &Path, manifest: &Manifest, times: LoadTimes) -> Result<(), Box<dyn Error>> {
    println!("== {} ({})", manifest.name, model.display());
    if let Some(origin) = &manifest.origin {
        println!("from {}: {}", origin.file, origin.format);
    }
    println!();
    println!("{:<16} {:>7}  {:<7} what holds there", "level", "ops", "dialect");
    for level in &manifest.levels {
        let words = LEVELS.iter().find(|(name, _)| *name == level.name).map_or("", |(_, words)| words);
        println!("{:<16} {:>7}  {:<7} {words}", level.name, level.ops, level.dialect);
    }
    println!();
    let known = |values: Vec<Option<u64>>| {
        let missing = values.iter().filter(|value| value.is_none()).count();
        let sum = total(values.into_iter().flatten());
        if missing == 0 { sum.to_string() } else { format!("{sum} and {missing} of symbolic size") }
    };
    let kernels = &manifest.kernels;
    println!("kernels          {}, launched {} times", kernels.len(), total(kernels.iter().map(|kernel| kernel.launches)));
    println!("  bytes moved    {}", known(kernels.iter().map(|kernel| Some(kernel.bytes?.saturating_mul(kernel.launches))).collect()));
    println!("  operations     {}", known(kernels.iter().map(|kernel| Some(kernel.flops?.saturating_mul(kernel.launches))).collect()));
    println!("code             {} bytes, {} runtime functions", manifest.layout.memory_bytes, manifest.layout.imports.len());
    println!("guards           {}", manifest.guards.len());
    let weights = total(manifest.weights.iter().map(Weight::bytes));
    println!("weights          {} tensors, {weights} bytes", manifest.weights.len());
    if !manifest.prepared.is_empty() {
        let prepared = total(manifest.prepared.iter().filter_map(Output::bytes));
        println!("  prepared       {} tensors, {prepared} bytes", manifest.prepared.len());
    }
    if let Some(bytes) = manifest.workspace_bytes {
        println!("planned memory   {bytes} bytes");
    }
    println!();
    if let Some(total) = times.compile {
        println!("cold compile     {}", super::benchmark::show(total));
        for stage in manifest.timings.iter().filter(|stage| stage.micros > 0) {
            println!("  {:<14} {:>10}", stage.name, super::benchmark::show(Duration::from_micros(stage.micros)));
        }
    }
    println!("warm start       {}", super::benchmark::show(times.load));
    println!();
    Ok(())
}
