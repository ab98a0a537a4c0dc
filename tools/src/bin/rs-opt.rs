//! `rs-opt`: MLIR's opt driver with our dialects, passes and pipelines in it, beside all of upstream's.
//!
//! Its own options ([`OPTIONS`]) are done here, everything else by MLIR.

use std::error::Error;
use std::process::ExitCode;

use strata_driver::{OPTIONS, coverage_of, coverage_table, expand, job, opt_input, passes, pipelines, registry};
use strata_tools::start;

fn main() -> ExitCode {
    start("rs-opt", || run(&std::env::args().collect::<Vec<_>>()))
}

fn run(args: &[String]) -> Result<bool, Box<dyn Error>> {
    for arg in args.iter().skip(1) {
        if let Some(part) = arg.strip_prefix("--op-coverage") {
            let (part, file) = (part.trim_start_matches('='), args.iter().skip(1).find(|arg| !arg.starts_with('-')));
            print!("{}", file.map_or_else(|| Ok(coverage_table(part)), |file| coverage_of(file, part))?);
            return Ok(true);
        }
        if matches!(arg.as_str(), "--help" | "-help" | "-h" | "--help-hidden") {
            println!("STRATA'S OWN OPTIONS:\n");
            OPTIONS.iter().for_each(|(option, what)| println!("  {option:<34} {what}"));
            println!("\nMLIR'S OPTIONS, WITH OUR PASSES AND PIPELINES:\n");
        }
    }
    if let Some(job) = job(args.get(1..).unwrap_or_default())? {
        return Ok(job.run()?);
    }
    let (args, exported) = opt_input(&expand(args)?)?;
    let registry = registry().with_upstream_passes().with_passes(&passes()).with_pipelines(&pipelines());
    let done = strata_core::opt_main(&registry, "rs-opt: Strata's optimizer driver\n", &args) == 0;
    // (The file of a .pt2's text is there until now.)
    if let Some(exported) = exported.filter(|_| !done) {
        eprintln!("rs-opt: {}: refused as said above, by its text at the level capture", exported.path.display());
    }
    Ok(done)
}
