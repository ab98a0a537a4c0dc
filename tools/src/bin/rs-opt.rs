//! `rs-opt`: MLIR's opt driver with our dialects, passes and pipelines in it, beside all of upstream's.

use strata_driver::{expand, passes, pipelines, registry};

fn main() {
    let registry = registry().with_upstream_passes().with_passes(&passes()).with_pipelines(&pipelines());
    let args: Vec<String> = std::env::args().collect();
    let args = expand(&args).unwrap_or_else(|error| {
        eprintln!("rs-opt: {error}");
        std::process::exit(1);
    });
    std::process::exit(strata_core::opt_main(&registry, "rs-opt: Strata's optimizer driver\n", &args));
}
