//! `rs-run --benchmark` and `--print-guards`: what a call costs.

use std::error::Error;
use std::time::{Duration, Instant};

use strata_report::Roofline;
use strata_runtime::Manifest;
use strata_runtime::Tensor;
use strata_runtime::dlpack::DLTensor;
use strata_runtime::manifest::InputKind;

use super::backend::{LoadTimes, Program, in_order};
use super::roofline::{self, Form};

/// Time spent on measuring.
const BUDGET: Duration = Duration::from_secs(2);

/// Measures cold start, warm start and calls, and prints them with what is known of the kernels.
pub fn run(program: &Program, inputs: &[&Tensor], times: LoadTimes, roofline: Option<Form>) -> Result<(), Box<dyn Error>> {
    if let Some(compile) = times.compile {
        println!("compile        {}", show(compile));
    }
    println!("load           {}", show(times.load));
    calls(program, inputs, roofline)?;
    if let Program::Native(session) = program {
        describe(session.manifest());
    }
    Ok(())
}

/// Measures calls, and with `roofline` their kernels.
pub fn calls(program: &Program, inputs: &[&Tensor], roofline: Option<Form>) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    program.run(inputs)?;
    println!("first call     {}", show(start.elapsed()));
    let samples = match program {
        Program::Native(session) => native(session, inputs, roofline)?,
        Program::Specialised(program) => native(&*program.session(inputs)?, inputs, roofline)?,
        Program::Parts(_) | Program::Interpreted { .. } => sample(|| program.run(inputs).map(drop))?,
    };
    let at = |share: f64| samples[((samples.len() - 1) as f64 * share) as usize];
    println!("median         {}", show(at(0.5)));
    println!("p99            {}", show(at(0.99)));
    println!("samples        {}", samples.len());
    if let Some(peak) = peak_resident() {
        println!("peak resident  {peak} KiB");
    }
    Ok(())
}

/// Calls into outputs of the caller, the way an embedding program would; on a device where the program has one, and there already.
fn native(session: &strata_runtime::Session, inputs: &[&Tensor], roofline: Option<Form>) -> Result<Vec<Duration>, Box<dyn Error>> {
    let placed = in_order(session, inputs)?;
    let inputs: Vec<_> = placed.iter().map(|tensor| &**tensor).collect();
    let results = session.run_refs(&inputs)?;
    let numbers: Vec<bool> = session.manifest().inputs.iter().map(|input| input.kind != InputKind::Tensor).collect();
    let mut there = Vec::new();
    let mut describe = |tensor: &Tensor, stays: bool| -> Result<DLTensor, Box<dyn Error>> {
        let Some(placed) = session.to_device(tensor).filter(|_| !stays) else { return Ok(tensor.dlpack()) };
        let placed = placed?;
        let described = placed.dlpack();
        there.push(placed);
        Ok(described)
    };
    let inputs = inputs.iter().zip(numbers).map(|(tensor, number)| describe(tensor, number)).collect::<Result<Vec<_>, _>>()?;
    let outputs = results.iter().map(|tensor| describe(tensor, false)).collect::<Result<Vec<_>, _>>()?;
    let pointers = |tensors: &[DLTensor]| tensors.iter().map(|t| &raw const *t).collect::<Vec<_>>();
    let (inputs, outputs) = (pointers(&inputs), pointers(&outputs));
    // SAFETY: inputs and results live to the end of this function, and nobody else reads the results.
    let measured = unsafe { session.measure_pointers(&inputs, &outputs, BUDGET) }?;
    println!("workspace      {} bytes at most", measured.state.peak_workspace());
    if let Some(form) = roofline {
        roofline::print(form, &Roofline::of(session.manifest(), &measured))?;
    }
    Ok(measured.samples)
}

/// Times of runs, in ascending order.
fn sample(mut run: impl FnMut() -> Result<(), Box<dyn Error>>) -> Result<Vec<Duration>, Box<dyn Error>> {
    let (begin, mut samples) = (Instant::now(), Vec::new());
    while samples.is_empty() || begin.elapsed() < BUDGET {
        let start = Instant::now();
        run()?;
        samples.push(start.elapsed());
    }
    samples.sort();
    Ok(samples)
}

fn describe(manifest: &Manifest) {
    println!("kernels        {}", manifest.kernels.len());
    for kernel in &manifest.kernels {
        let known = |value: Option<u64>| value.map_or_else(|| "symbolic".into(), |value| value.to_string());
        let times = if kernel.launches == 1 { String::new() } else { format!(" {} times", kernel.launches) };
        println!("  {:<28} {:>12} bytes {:>14} flops{times}", kernel.name, known(kernel.bytes), known(kernel.flops));
    }
    if let Some(bytes) = manifest.workspace_bytes {
        println!("planned memory {bytes} bytes");
    }
    for stage in &manifest.timings {
        println!("stage {:<22} {}", stage.name, show(Duration::from_micros(stage.micros)));
    }
}

/// The largest resident size of this process in KiB.
fn peak_resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB")?.trim().parse().ok())
}

/// Prints the guards, and what a call costs that they refuse: it has checked them and run no kernel.
pub fn print_guards(manifest: &Manifest, program: &Program, inputs: &[&Tensor]) {
    for guard in &manifest.guards {
        let source = if guard.source.is_empty() { String::new() } else { format!("  ({})", guard.source) };
        println!("guard {}{source}", guard.text);
    }
    let count = manifest.guards.len();
    match refused_call(program, inputs) {
        Some(nanos) if count > 0 => {
            println!("{count} guards; a refused call takes {nanos:.1} ns, {:.1} ns per guard", nanos / count as f64);
        }
        _ => println!("{count} guards"),
    }
}

/// Nanoseconds of a call whose first symbolic size is zero, if the program refuses it.
fn refused_call(program: &Program, inputs: &[&Tensor]) -> Option<f64> {
    const REPEATS: u32 = 20_000;
    let Program::Native(session) = program else { return None };
    let mut described: Vec<DLTensor> = inputs.iter().map(|t| t.dlpack()).collect();
    let declared = &session.manifest().inputs;
    let symbolic = declared.iter().position(|input| input.shape.contains(&None))?;
    let dim = declared[symbolic].shape.iter().position(Option::is_none)?;
    let mut shape = inputs.get(symbolic)?.shape().to_vec();
    shape[dim] = 0;
    described[symbolic].shape = shape.as_mut_ptr();
    let pointers: Vec<*const DLTensor> = described.iter().map(|t| &raw const *t).collect();
    let mut state = session.caller();
    // SAFETY: the inputs live through this function, and their memory covers the smaller shape.
    let mut status = || unsafe { session.status(&mut state, &pointers) }.unwrap_or(0);
    if status() == 0 {
        return None;
    }
    let start = Instant::now();
    for _ in 0..REPEATS {
        std::hint::black_box(status());
    }
    Some(start.elapsed().as_nanos() as f64 / f64::from(REPEATS))
}

/// A duration with a fitting unit.
pub fn show(time: Duration) -> String {
    match time.as_nanos() {
        n if n < 10_000 => format!("{n} ns"),
        n if n < 10_000_000 => format!("{:.1} us", n as f64 / 1e3),
        n => format!("{:.1} ms", n as f64 / 1e6),
    }
}
