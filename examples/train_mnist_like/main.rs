//! Trains a small network from Rust alone: images by a seed, one compiled program for a whole step, a checkpoint, and PyTorch's losses
//! beside ours where Python with torch is there.
//!
//! ```sh
//! cargo run --example train_mnist_like -- --steps 200 --save /tmp/net.safetensors
//! cargo run --example train_mnist_like -- --steps 100 --resume /tmp/net.safetensors --from 200
//! ```

mod data;

use std::error::Error;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use clap::Parser;
use data::{BATCH, Digits, Random, first_weight};
use strata_driver::train::Step;
use strata_driver::{Options, SourceFile, standard};
use strata_runtime::{Tensor, TensorFile};

/// The program of the loss.
const MODEL: &str = include_str!("model.mlir");
/// The same in PyTorch.
const BESIDE: &str = include_str!("beside.py");

/// Train a small convolutional network on images made by a seed.
#[derive(Parser)]
struct Arguments {
    /// Steps to make
    #[arg(long, default_value_t = 200)]
    steps: usize,
    /// The optimizer with its settings
    #[arg(long, default_value = "adamw,lr=0.002")]
    optimizer: String,
    /// Of images and first weights
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Write parameters and the optimizer's state behind the last step
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    /// Go on from such a file
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// The number of the first batch: that of the steps behind what is resumed
    #[arg(long, default_value_t = 0)]
    from: usize,
    /// The Python whose PyTorch makes the same steps
    #[arg(long, default_value = "python3")]
    python: String,
}

/// The parameters: name, shape, and how many numbers an output reads.
const WEIGHTS: [(&str, &[i64], i64); 6] = [
    ("conv1.weight", &[8, 1, 3, 3], 9),
    ("conv1.bias", &[8], 9),
    ("conv2.weight", &[16, 8, 3, 3], 72),
    ("conv2.bias", &[16], 72),
    ("head.weight", &[10, 784], 784),
    ("head.bias", &[10], 784),
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let folder = tempfile::tempdir()?;
    let first = folder.path().join("first.safetensors");
    let mut random = Random::new(arguments.seed);
    let weights: Vec<_> = WEIGHTS
        .iter()
        .map(|(name, shape, inputs)| Ok(((*name).to_owned(), first_weight(shape, *inputs, &mut random)?)))
        .collect::<Result<_, Box<dyn Error>>>()?;
    TensorFile::write(&first, &weights.iter().map(|(name, tensor)| (name.clone(), tensor)).collect::<Vec<_>>())?;

    let start = Instant::now();
    let source = SourceFile { path: Path::new("model.mlir"), text: Some(MODEL) };
    let begin = arguments.resume.as_deref().unwrap_or(&first);
    let step = Step::compile(standard(), source, &arguments.optimizer, &Options::default(), Some(begin))?;
    println!("compiled in {:.2} s: {} kernels", start.elapsed().as_secs_f64(), step.manifest().kernels.len());

    let digits = Digits::new(arguments.seed);
    let batches = (0..arguments.steps).map(|k| digits.batch(arguments.from + k)).collect::<Result<Vec<_>, _>>()?;
    let (mut losses, mut right) = (Vec::new(), 0);
    let start = Instant::now();
    for (k, (x, target)) in batches.iter().enumerate() {
        let results = step.run(&[x, target])?;
        losses.push(results[0].values::<f32>().ok_or("the loss is no f32")?[0]);
        // Of the last quarter, with the weights as they were before each step: images that were not seen yet.
        right += if k >= arguments.steps - arguments.steps.div_ceil(4) { hits(&results[1], target)? } else { 0 };
        progress(k + 1, arguments.steps, losses[k]);
    }
    let seconds = start.elapsed().as_secs_f64();
    let images = (arguments.steps * BATCH) as f64;
    println!("\n{} steps in {seconds:.2} s, {:.0} images a second", arguments.steps, images / seconds);
    println!("right in the last quarter: {:.1}%", 100.0 * right as f64 / (arguments.steps.div_ceil(4) * BATCH) as f64);

    beside(&arguments, folder.path(), &batches, begin, &losses)?;
    if let Some(path) = &arguments.save {
        step.save(path)?;
        println!("saved to {}; go on with --resume {0} --from {}", path.display(), arguments.from + arguments.steps);
    }
    Ok(())
}

/// Images whose largest score is that of their class.
fn hits(scores: &Tensor, target: &Tensor) -> Result<usize, Box<dyn Error>> {
    let (scores, target) = (scores.values::<f32>().ok_or("no scores")?, target.values::<i64>().ok_or("no classes")?);
    let best = |row: &[f32]| (0..row.len()).max_by(|a, b| row[*a].total_cmp(&row[*b]));
    Ok(scores.chunks(10).zip(target).filter(|(row, class)| best(row) == Some(**class as usize)).count())
}

/// A bar on a terminal, a line now and then elsewhere.
fn progress(done: usize, steps: usize, loss: f32) {
    if std::io::stdout().is_terminal() {
        let filled = 40 * done / steps;
        print!("\r[{}{}] {done}/{steps} loss {loss:.4} ", "=".repeat(filled), " ".repeat(40 - filled));
        // A bar that is not drawn is no reason to stop.
        let _ = std::io::stdout().flush();
    } else if done.is_multiple_of(steps.div_ceil(10)) || done == steps {
        println!("step {done:4}: loss {loss:.4}");
    }
}

/// The same steps in eager PyTorch, where it is there.
fn beside(arguments: &Arguments, folder: &Path, batches: &[(Tensor, Tensor)], begin: &Path, ours: &[f32]) -> Result<(), Box<dyn Error>> {
    let tensors: Vec<_> =
        batches.iter().enumerate().flat_map(|(k, (x, target))| [(format!("x.{k}"), x), (format!("target.{k}"), target)]).collect();
    let (data, script) = (folder.join("batches.safetensors"), folder.join("beside.py"));
    TensorFile::write(&data, &tensors)?;
    std::fs::write(&script, BESIDE)?;
    let run = Command::new(&arguments.python).arg(&script).arg(&data).arg(begin).arg(&arguments.optimizer).output();
    let Ok(run) = run.inspect_err(|error| println!("no PyTorch beside: {}: {error}", arguments.python)) else { return Ok(()) };
    if !run.status.success() {
        let reason = String::from_utf8_lossy(&run.stderr);
        println!("no PyTorch beside: {}", reason.trim().lines().last().unwrap_or("it failed"));
        return Ok(());
    }
    let theirs = String::from_utf8(run.stdout)?.lines().map(str::parse).collect::<Result<Vec<f32>, _>>()?;
    println!("  step    Strata   PyTorch");
    for k in (0..ours.len()).step_by(ours.len().div_ceil(10).max(1)).chain(ours.len().checked_sub(1)) {
        println!("{:6}  {:8.5}  {:8.5}", arguments.from + k + 1, ours[k], theirs[k]);
    }
    let far = ours.iter().zip(&theirs).map(|(ours, theirs)| (ours - theirs).abs()).fold(0.0, f32::max);
    println!("largest difference of a loss: {far:.1e}");
    Ok(())
}
