//! The text of an archive's `code/`: a subset of Python that PyTorch prints, without operators, comparisons and comprehensions.

pub mod ast;
mod lexer;
mod parser;

pub use parser::parse;

/// Where a text is not of the subset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct SyntaxError {
    /// The line, from 1 on.
    pub line: u32,
    /// What stands there.
    pub why: String,
}
