//! MLIR's language server for `.mlir` files on a registry.

use std::process::ExitCode;

use strata_core::registry::Registry;
use strata_core::tool;
use strata_tools::start;

use crate::documents;
use crate::plugins::with_plugins;

/// The whole of a language server on standard input and output.
pub fn lsp(registry: Registry, args: Vec<String>) -> ExitCode {
    start("rs-lsp", || {
        let (registry, args) = with_plugins(registry, &args)?;
        if documents::is_server() {
            return Ok(tool::lsp_main(registry, &args) == 0);
        }
        Ok(documents::serve(tool::refusal)? == 0)
    })
}
