//! The program of a crate that is the template of `./x new-crate`, filled and not changed.

include!(concat!(env!("OUT_DIR"), "/crate/src/lib.rs"));

fn main() -> std::process::ExitCode {
    strata_toolbox::main(registry())
}
