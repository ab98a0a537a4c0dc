//! `rs-opt`: MLIR's opt driver with our dialects, passes and pipelines in it, beside all of upstream's.

use strata_driver::{passes, pipelines, registry};

fn main() {
    let registry = registry().with_upstream_passes().with_passes(&passes()).with_pipelines(&pipelines());
    let args: Vec<String> = std::env::args().collect();
    std::process::exit(strata_core::opt_main(&registry, "rs-opt: Strata's optimizer driver\n", &args));
}
