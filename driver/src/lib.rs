//! From a program to an artefact: contexts, levels, pipelines. No dialect logic.

mod artefact;
mod compile;
mod error;
mod interpret;
mod levels;
mod opt_args;
mod options;
mod registry;

pub use compile::{Compiled, compile, lower};
pub use error::Error;
pub use interpret::interpret;
pub use levels::{LEVELS, Level};
pub use opt_args::{ArgsError, expand};
pub use options::{Dynamic, Mode, Numerics, Options};
pub use registry::{dialects, passes, pipelines, registry};
