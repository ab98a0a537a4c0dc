//! `rs-compile`: a model to the text of a level, to LLVM IR, assembly, an object, a shared library or an artefact.

fn main() -> std::process::ExitCode {
    strata_toolbox::standard(strata_toolbox::compile)
}
