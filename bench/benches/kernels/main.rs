//! Kernels at the sizes that benchmarks are named for and at odd ones: time, share of what the machine can do, how an odd size fares
//! beside the named one, and what the cost model predicted.
//!
//! `./x bench cost`, or `cargo bench -p strata-bench --bench kernels [FAMILY..]`.

mod measure;
mod workloads;

use measure::{Measured, measure};
use strata_runtime::compiler::Compiler;
use strata_runtime::limits;
use workloads::{FAMILIES, Family};

/// An odd size is to reach this part of the named size's share of the limit.
const ENOUGH: f64 = 0.85;

/// A workload, measured.
struct Row {
    measured: Measured,
    /// The least time that the machine needs, of the time it took.
    share: f64,
}

fn main() {
    let compiler = match Compiler::open() {
        Ok(compiler) => compiler,
        Err(error) => return eprintln!("no compiler, nothing to measure: {error}"),
    };
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let peak = limits::flops();
    println!("limits: {:.0} GFLOP/s in f32; bandwidth is that of a copy of the same size", peak / 1e9);
    println!("{:<14} {:<22} {:>12} {:>8} {:>10} {:>12} {:>8}", "kernel", "size", "us", "share", "of named", "predicted us", "ratio");
    let mut points = Vec::new();
    for family in FAMILIES.iter().filter(|family| wanted.is_empty() || wanted.iter().any(|name| name == family.name)) {
        match rows(&compiler, family, peak) {
            Ok(rows) => {
                print(family, &rows);
                points.extend(rows.iter().filter_map(|row| Some((row.measured.seconds, row.measured.predicted?))));
            }
            Err(error) => eprintln!("{}: {error}", family.name),
        }
    }
    println!("rank correlation of predicted and measured times: {:.3} ({} kernels)", rank_correlation(&points), points.len());
}

fn rows(compiler: &Compiler, family: &Family, peak: f64) -> Result<Vec<Row>, Box<dyn std::error::Error>> {
    // The sizes of a family move about as many bytes: one bandwidth for all, the best that was seen.
    let bandwidth = family.sizes.iter().map(|sizes| limits::bandwidth((family.work)(sizes).bytes as u64)).fold(1.0, f64::max);
    let row = |(measured, sizes): (Measured, &&[i64])| {
        let work = (family.work)(sizes);
        let least = (work.bytes / bandwidth).max(work.flops / peak);
        Row { share: least / measured.seconds, measured }
    };
    Ok(measure(compiler, family)?.into_iter().zip(family.sizes).map(row).collect())
}

fn print(family: &Family, rows: &[Row]) {
    for (row, sizes) in rows.iter().zip(family.sizes) {
        let sizes: Vec<_> = sizes.iter().map(i64::to_string).collect();
        let beside = row.share / rows[0].share;
        let mark = if beside < ENOUGH { " !" } else { "" };
        let micros = 1e6 * row.measured.seconds;
        let predicted = row.measured.predicted.map(|seconds| (1e6 * seconds, seconds / row.measured.seconds));
        let (told, ratio) =
            predicted.map_or(("symbolic".to_owned(), String::new()), |(us, ratio)| (format!("{us:.1}"), format!("{ratio:.2}")));
        let (share, beside) = (format!("{:.0}%", 100.0 * row.share), format!("{:.0}%{mark}", 100.0 * beside));
        println!("{:<14} {:<22} {micros:>12.1} {share:>8} {beside:>10} {told:>12} {ratio:>8}", family.name, sizes.join("x"));
    }
}

/// Spearman's: 1 when both orders are the same.
fn rank_correlation(points: &[(f64, f64)]) -> f64 {
    let ranks = |of: &dyn Fn(&(f64, f64)) -> f64| -> Vec<f64> {
        let rank = |point: &(f64, f64)| points.iter().filter(|other| of(other) < of(point)).count() as f64;
        points.iter().map(rank).collect()
    };
    let (x, y) = (ranks(&|point| point.0), ranks(&|point| point.1));
    let n = points.len() as f64;
    let apart: f64 = x.iter().zip(&y).map(|(x, y)| (x - y) * (x - y)).sum();
    1.0 - 6.0 * apart / (n * (n * n - 1.0)).max(1.0)
}
