//! `rs-opt`: MLIR's opt driver with our dialects, passes and pipelines in it, beside all of upstream's.

fn main() -> std::process::ExitCode {
    strata_toolbox::standard(strata_toolbox::opt)
}
