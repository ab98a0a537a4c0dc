//! `rs-opt`: MLIR's opt driver with our dialects, passes and pipelines in it, beside all of upstream's.
//!
//! `--check-semantics`, `--bisect` and `--graph` are done by ourselves, everything else by MLIR. `--op-coverage[=PART]`
//! lists PyTorch's operators (whose name contains PART): compiled or missing, interpreted or not.

use std::error::Error;

use strata_driver::{coverage_table, expand, job, passes, pipelines, registry};

fn run(args: &[String]) -> Result<i32, Box<dyn Error>> {
    for arg in args.iter().skip(1) {
        if let Some(part) = arg.strip_prefix("--op-coverage") {
            print!("{}", coverage_table(part.trim_start_matches('=')));
            return Ok(0);
        }
    }
    if let Some(job) = job(args.get(1..).unwrap_or_default())? {
        return Ok(i32::from(!job.run()?));
    }
    let registry = registry().with_upstream_passes().with_passes(&passes()).with_pipelines(&pipelines());
    Ok(strata_core::opt_main(&registry, "rs-opt: Strata's optimizer driver\n", &expand(args)?))
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let status = run(&args).unwrap_or_else(|error| {
        eprintln!("rs-opt: {error}");
        1
    });
    std::process::exit(status);
}
