//! `rs-run --report`: one model at all levels, with its times, its memory and its result.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use strata_runtime::Manifest;

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

/// Prints the levels, the kernels and the stages of the compilation.
pub fn print(model: &Path, manifest: &Manifest, times: LoadTimes) -> Result<(), Box<dyn Error>> {
    println!("== {} ({})", manifest.name, model.display());
    println!();
    println!("{:<16} {:>7}  {:<7} what holds there", "level", "ops", "dialect");
    for level in &manifest.levels {
        let words = LEVELS.iter().find(|(name, _)| *name == level.name).map_or("", |(_, words)| words);
        println!("{:<16} {:>7}  {:<7} {words}", level.name, level.ops, level.dialect);
    }
    println!();
    let known = |values: Vec<Option<u64>>| {
        let missing = values.iter().filter(|value| value.is_none()).count();
        let sum: u64 = values.into_iter().flatten().sum();
        if missing == 0 { sum.to_string() } else { format!("{sum} and {missing} of symbolic size") }
    };
    let kernels = &manifest.kernels;
    println!("kernels          {}, launched {} times", kernels.len(), kernels.iter().map(|kernel| kernel.launches).sum::<u64>());
    println!("  bytes moved    {}", known(kernels.iter().map(|kernel| Some(kernel.bytes? * kernel.launches)).collect()));
    println!("  operations     {}", known(kernels.iter().map(|kernel| Some(kernel.flops? * kernel.launches)).collect()));
    println!("code             {} bytes, {} runtime functions", manifest.layout.memory_bytes, manifest.layout.imports.len());
    println!("guards           {}", manifest.guards.len());
    let weights: i64 = manifest.weights.iter().map(|weight| weight.shape.iter().product::<i64>() * weight.dtype.size() as i64).sum();
    println!("weights          {} tensors, {weights} bytes", manifest.weights.len());
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
