//! `rs-lsp`: MLIR's language server for `.mlir` files with our dialects.

fn main() -> std::process::ExitCode {
    strata_toolbox::standard(strata_toolbox::lsp)
}
