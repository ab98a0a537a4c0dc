//! `rs-run --benchmark --roofline`: how near each kernel comes to what the machine can do.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use serde::Serialize;
use strata_runtime::manifest::Kernel;
use strata_runtime::profile::Launches;
use strata_runtime::{CallState, Manifest, limits};

/// How it is told.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Form {
    /// A table.
    Text,
    /// One line for tools.
    Json,
}

/// A kernel that ran.
#[derive(Serialize)]
struct Row {
    name: String,
    per_call: f64,
    /// Microseconds of a launch.
    micros: f64,
    /// Its part of the time of all kernels.
    part: f64,
    bytes: Option<u64>,
    flops: Option<u64>,
    /// The least time that the machine needs for its bytes or operations, of the time it took; unknown for symbolic sizes.
    share: Option<f64>,
    /// What that least time is spent on.
    limit: Option<&'static str>,
}

/// Prints the kernels of so many calls, the one that took the longest first.
pub fn print(form: Form, manifest: &Manifest, state: &CallState, calls: f64) -> Result<(), Box<dyn Error>> {
    let profile = state.profile().kernels();
    if profile.is_empty() {
        return Err("the program does not tell which kernel runs; --roofline needs the model (.pt2, .mlir), not compiled code".into());
    }
    let peak = limits::flops();
    let all = profile.iter().map(|launches| launches.time.as_secs_f64()).sum();
    let ran: Vec<_> = manifest.kernels.iter().zip(profile).filter(|(_, launches)| launches.count > 0).collect();
    // Each size is measured once, however many kernels have it.
    let sizes: BTreeSet<u64> = ran.iter().filter_map(|(kernel, _)| kernel.bytes).collect();
    let bandwidth: BTreeMap<u64, f64> = sizes.into_iter().map(|bytes| (bytes, limits::bandwidth(bytes))).collect();
    let limit = |kernel: &Kernel| {
        let (bytes, flops) = kernel.bytes.zip(kernel.flops)?;
        let (memory, arithmetic) = (bytes as f64 / bandwidth[&bytes], flops as f64 / peak);
        Some(if memory > arithmetic { (memory, "memory") } else { (arithmetic, "arithmetic") })
    };
    let mut rows: Vec<Row> = ran.iter().map(|(kernel, launches)| row(kernel, launches, calls, all, limit(kernel))).collect();
    rows.sort_by(|a, b| b.part.total_cmp(&a.part));
    match form {
        Form::Json => println!("roofline {}", serde_json::to_string(&rows)?),
        Form::Text => {
            println!("limits         {:.0} GFLOP/s in f32; bandwidth is that of a copy of the kernel's size", peak / 1e9);
            table(&rows);
        }
    }
    Ok(())
}

fn row(kernel: &Kernel, launches: &Launches, calls: f64, all: f64, limit: Option<(f64, &'static str)>) -> Row {
    let (time, count) = (launches.time.as_secs_f64(), launches.count as f64);
    Row {
        name: kernel.name.clone(),
        per_call: count / calls,
        micros: 1e6 * time / count,
        part: time / all,
        bytes: kernel.bytes,
        flops: kernel.flops,
        share: limit.map(|(least, _)| least * count / time),
        limit: limit.map(|(_, what)| what),
    }
}

fn table(rows: &[Row]) {
    let headers = ["per call", "us each", "part", "bytes", "GB/s", "flops", "GFLOP/s", "limit"];
    let line = |name: &str, cells: [String; 8]| {
        let [a, b, c, d, e, f, g, h] = cells;
        println!("  {name:<28} {a:>8} {b:>12} {c:>6} {d:>12} {e:>8} {f:>14} {g:>9}  {h}");
    };
    line("kernel", headers.map(str::to_owned));
    for row in rows {
        let amount = |amount: Option<u64>| amount.map_or("symbolic".into(), |amount| amount.to_string());
        let rate = |amount: Option<u64>| amount.map_or("symbolic".into(), |amount| format!("{:.1}", amount as f64 / row.micros / 1e3));
        let limit = row.share.zip(row.limit).map_or(String::new(), |(share, limit)| format!("{:.0}% of {limit}", 100.0 * share));
        let cells = [
            format!("{:.1}", row.per_call),
            format!("{:.2}", row.micros),
            format!("{:.1}%", 100.0 * row.part),
            amount(row.bytes),
            rate(row.bytes),
            amount(row.flops),
            rate(row.flops),
            limit,
        ];
        line(&row.name, cells);
    }
}
