//! The tools that link the compiler, each a function of a registry.
//!
//! A crate with a dialect of its own has all of them, with every feature, by a `main` of one line:
//!
//! ```text
//! fn main() -> std::process::ExitCode {
//!     strata_toolbox::main(strata_driver::registry())
//! }
//! ```
//!
//! `rs-opt`, `rs-compile`, `rs-reduce` and `rs-lsp` are these functions on [`strata_driver::registry`] as it is.

mod compile;
mod documents;
pub mod kernel_picture;
pub mod library;
mod lsp;
mod opt;
mod plugins;
mod reduce;

use std::path::Path;
use std::process::ExitCode;

use strata_core::registry::Registry;

pub use compile::compile;
pub use lsp::lsp;
pub use opt::opt;
pub use reduce::reduce;

/// A tool: takes what it is made of and its arguments, its own name before them. Every tool loads plug-ins.
type Tool = fn(Registry, Vec<String>) -> ExitCode;

/// The tools by name.
const TOOLS: [(&str, Tool); 4] = [("opt", opt), ("compile", compile), ("reduce", reduce), ("lsp", lsp)];

/// All tools in one program: its first argument says which (`mine opt FILE --my-pass`), or its own name does where it is a link
/// called `rs-opt`.
pub fn main(registry: Registry) -> ExitCode {
    let mut args: Vec<String> = std::env::args().collect();
    let named = |name: &str| TOOLS.iter().find(|(tool, _)| *tool == name).map(|(_, tool)| *tool);
    let program = args.first().map(Path::new).and_then(Path::file_stem).unwrap_or_default().to_string_lossy().into_owned();
    if let Some(tool) = program.strip_prefix("rs-").and_then(named) {
        return tool(registry, args);
    }
    let Some(tool) = args.get(1).and_then(|name| named(name)) else {
        let names: Vec<_> = TOOLS.iter().map(|(name, _)| *name).collect();
        eprintln!("usage: {program} {} ARGUMENTS..; `{program} TOOL --help` says more of each", names.join("|"));
        return ExitCode::from(2);
    };
    args.remove(0);
    tool(registry, args)
}

/// Runs one of our own tools on the arguments of this process.
pub fn standard(tool: Tool) -> ExitCode {
    tool(strata_driver::registry(), std::env::args().collect())
}
