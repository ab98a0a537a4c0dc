//! The compiler's library, where it is of one build with the tool that opens it.

use std::env;
use std::path::PathBuf;

use strata_runtime::compiler::{Compiler, CompilerError, OVERRIDE};

/// The hash of the compiler's sources as they were when this tool was built.
const BUILD: &str = env!("STRATA_BUILD");

/// Why there is no compiler.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum OpenError {
    #[error(transparent)]
    Compiler(#[from] CompilerError),
    #[error("{path} was built from other sources than this program; build both with `./x build {tool}`")]
    Stale { path: PathBuf, tool: String },
}

/// Opens the library. One that `STRATA_COMPILER` names is taken as it is.
///
/// # Errors
/// When it is not there, or was built from other sources.
pub fn open() -> Result<Compiler, OpenError> {
    let compiler = Compiler::open()?;
    check_build(&compiler.build())?;
    Ok(compiler)
}

/// Checks that the library, built from sources of this hash, is of one build with this tool.
///
/// # Errors
/// When it is not, with what to do.
pub fn check_build(build: &str) -> Result<(), OpenError> {
    if build == BUILD || env::var_os(OVERRIDE).is_some() {
        return Ok(());
    }
    let tool = env::current_exe().ok().and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    Err(OpenError::Stale { path: Compiler::find()?, tool: tool.unwrap_or_default() })
}
