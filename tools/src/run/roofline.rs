//! `rs-run --benchmark --roofline`: how near each kernel comes to what the machine can do.

use std::error::Error;

use strata_runtime::manifest::Kernel;
use strata_runtime::profile::Launches;
use strata_runtime::{CallState, Manifest, limits};

/// Prints the kernels of so many calls, the one that took the longest first.
pub fn print(manifest: &Manifest, state: &CallState, calls: f64) -> Result<(), Box<dyn Error>> {
    let profile = state.profile().kernels();
    if profile.is_empty() {
        return Err("the program does not tell which kernel runs; --roofline needs the model (.pt2, .mlir), not compiled code".into());
    }
    let peak = limits::flops();
    println!("limits         {:.0} GFLOP/s in f32; bandwidth is that of a copy of the kernel's size", peak / 1e9);
    println!(
        "  {:<28} {:>9} {:>12} {:>6} {:>12} {:>8} {:>14} {:>9} {:>7}",
        "kernel", "per call", "us each", "share", "bytes", "GB/s", "flops", "GFLOP/s", "limit"
    );
    let all: f64 = profile.iter().map(|launches| launches.time.as_secs_f64()).sum();
    let mut rows: Vec<(&Kernel, &Launches)> = manifest.kernels.iter().zip(profile).filter(|(_, launches)| launches.count > 0).collect();
    rows.sort_by_key(|(_, launches)| std::cmp::Reverse(launches.time));
    for (kernel, launches) in rows {
        let each = launches.time.as_secs_f64() / launches.count as f64;
        let rate = |amount: Option<u64>| amount.map_or("symbolic".into(), |amount| format!("{:.1}", amount as f64 / each / 1e9));
        let known = |amount: Option<u64>| amount.map_or("symbolic".into(), |amount| amount.to_string());
        println!(
            "  {:<28} {:>9} {:>12.2} {:>5.1}% {:>12} {:>8} {:>14} {:>9} {:>7}",
            kernel.name,
            format!("{:.1}", launches.count as f64 / calls),
            each * 1e6,
            100.0 * launches.time.as_secs_f64() / all,
            known(kernel.bytes),
            rate(kernel.bytes),
            known(kernel.flops),
            rate(kernel.flops),
            share(kernel, each, peak),
        );
    }
    Ok(())
}

/// The least time that the machine needs for a kernel's bytes or operations, of the time it took; what limits it.
fn share(kernel: &Kernel, seconds: f64, peak: f64) -> String {
    let (Some(bytes), Some(flops)) = (kernel.bytes, kernel.flops) else { return String::new() };
    let (memory, arithmetic) = (bytes as f64 / limits::bandwidth(bytes), flops as f64 / peak);
    let (least, limit) = if memory > arithmetic { (memory, "memory") } else { (arithmetic, "arithmetic") };
    format!("{:.0}% of {limit}", 100.0 * least / seconds)
}
