//! MLIR's language server for `.mlir` files on a registry.

use std::process::ExitCode;

use strata_core::registry::Registry;
use strata_core::tool;
use strata_tools::start;

use crate::documents;
use crate::plugins::with_plugins;

const USAGE: &str = "usage: rs-lsp [OPTIONS]
The language server for .mlir files, on standard input and output: an editor starts it.

  --load-dialect-plugin=LIB  know the dialects of a plug-in, too
  --lit-test                 messages end with a line `// -----` and need no lengths; answers are made to be read
  --log=error|info|verbose   what is told on standard error
  --help, -h                 this text";

/// The whole of a language server on standard input and output.
pub fn lsp(registry: Registry, args: Vec<String>) -> ExitCode {
    start("rs-lsp", || {
        let (registry, args) = with_plugins(registry, &args)?;
        if args.iter().skip(1).any(|arg| matches!(arg.as_str(), "--help" | "-help" | "-h")) {
            println!("{USAGE}");
            return Ok(true);
        }
        if documents::is_server() {
            return Ok(tool::lsp_main(registry, &args) == 0);
        }
        Ok(documents::serve(registry, tool::refusal)? == 0)
    })
}
