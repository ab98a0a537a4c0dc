//! `rs-reduce`: MLIR's test case reducer with our dialects and passes.

use strata_driver::{passes, pipelines, registry};

fn main() {
    let registry = registry().with_upstream_passes().with_passes(&passes()).with_pipelines(&pipelines());
    let args: Vec<String> = std::env::args().collect();
    std::process::exit(strata_core::tool::reduce_main(&registry, &args));
}
