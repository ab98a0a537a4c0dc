//! An opt tool of one's own: MLIR's driver with all of upstream, one dialect and one pass.

use own_dialect::{dialect, drop_zero};
use strata_core::prelude::*;
use strata_core::registry::Registry;

fn main() {
    let registry = Registry::new()
        .with_upstream()
        .with_upstream_passes()
        .with_dialect(&dialect::SAT)
        .with_passes(&[PassEntry::of::<drop_zero::DropZero>()]);
    let args: Vec<String> = std::env::args().collect();
    std::process::exit(strata_core::opt_main(&registry, "own-opt: an opt tool of one's own\n", &args));
}
