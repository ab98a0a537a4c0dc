//! `rs-lsp`: MLIR's language server for `.mlir` files with our dialects.

fn main() {
    let args: Vec<String> = std::env::args().collect();
    std::process::exit(strata_core::tool::lsp_main(&strata_driver::registry(), &args));
}
