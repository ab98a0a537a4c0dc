//! Where a compiled program came from.

use std::path::Path;

use serde::{Deserialize, Serialize};

/// The file that a program was compiled from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The file's path.
    pub file: String,
    /// Its format and the format's versions, in words.
    pub format: String,
}

impl Origin {
    /// A program of a file.
    pub fn of(file: &Path, format: String) -> Origin {
        let file = file.canonicalize().unwrap_or_else(|_| file.to_owned()).display().to_string();
        Origin { file, format }
    }
}
