//! An opt tool with a pass and an op that are the templates of `./x new-pass` and `./x new-op`, filled and not changed.

use strata_core::prelude::*;
use strata_core::registry::Registry;

mod pass {
    include!(concat!(env!("OUT_DIR"), "/pass.rs"));
}

mod op {
    include!(concat!(env!("OUT_DIR"), "/op.rs"));
}

static SAMPLE: DialectDef = DialectDef { name: "sample", ops: || vec![op::SampleOp::DEF], ..DialectDef::NEW };

fn main() {
    let registry = Registry::new()
        .with_upstream()
        .with_upstream_passes()
        .with_dialect(&strata_dialects::prim::PRIM)
        .with_dialect(&SAMPLE)
        .with_passes(&[PassEntry::of::<pass::SamplePass>()]);
    let args: Vec<String> = std::env::args().collect();
    std::process::exit(strata_core::opt_main(&registry, "templates-opt\n", &args));
}
