//! `rs-lsp`: MLIR's language server for `.mlir` files with our dialects.

use strata_core::tool;
use strata_tools::documents;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if documents::is_server() {
        std::process::exit(tool::lsp_main(&strata_driver::registry(), &args));
    }
    match documents::serve(&args[1..], tool::refusal) {
        Ok(status) => std::process::exit(status),
        Err(error) => {
            eprintln!("rs-lsp: {error}");
            std::process::exit(1);
        }
    }
}
