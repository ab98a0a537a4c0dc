//! `rs-run --benchmark --roofline`: how near each kernel comes to what the machine can do.

use std::error::Error;

use strata_report::{Roofline, Row};

/// How it is told.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Form {
    /// A table.
    Text,
    /// One line for tools.
    Json,
}

/// Prints the kernels, the one that took the longest first.
pub fn print(form: Form, roofline: &Roofline) -> Result<(), Box<dyn Error>> {
    if roofline.kernels.is_empty() {
        return Err("the program does not tell which kernel runs; --roofline needs the model (.pt2, .mlir), not compiled code".into());
    }
    match form {
        Form::Json => println!("roofline {}", serde_json::to_string(&roofline.kernels)?),
        Form::Text => {
            println!("limits         {:.0} GFLOP/s in f32; bandwidth is that of a copy of the kernel's size", roofline.flops / 1e9);
            table(&roofline.kernels);
        }
    }
    Ok(())
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
        let limit = row.share.zip(row.limit.as_ref()).map_or(String::new(), |(share, limit)| format!("{:.0}% of {limit}", 100.0 * share));
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
