//! The IR before and after in a pass's documentation is true: `rs-opt` turns the one into the other.
//!
//! A pass shows an `mlir` block in its comments, in two parts with a line `// becomes` between them.
//! The first part, run through the pass, must print like the second. A block that is no whole function only illustrates.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::{self, Profile, Result};
use crate::tidy::registry::{pass_type, snake};

/// Checks the examples of all passes; how many were right, and what is wrong with the others.
pub fn check() -> Result<(usize, Vec<String>)> {
    let (mut good, mut faults) = (0, Vec::new());
    let mut files = Vec::new();
    for folder in ["passes/src", "lowering/src"] {
        find(&cargo::root().join(folder), &mut files)?;
    }
    files.sort();
    for file in files {
        let text = fs::read_to_string(&file)?;
        let (Some((before, after)), Some(pass)) = (example(&text), pass_type(&text)) else { continue };
        let stem = snake(pass).replace('_', "-");
        let name = file.strip_prefix(cargo::root()).unwrap_or(&file).display().to_string();
        match (print(&before, Some(&stem))?, print(&after, None)?) {
            (Ok(got), Ok(want)) if got == want => good += 1,
            (Ok(got), Ok(want)) => faults.push(format!("{name}: `--{stem}` turns the first part into\n{got}\nand not into\n{want}")),
            (Err(error), _) => faults.push(format!("{name}: the first part of the example: {error}")),
            (_, Err(error)) => faults.push(format!("{name}: the second part of the example: {error}")),
        }
    }
    Ok((good, faults))
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// The two parts of the first `mlir` block in the comments of a file that has a line `// becomes`.
fn example(text: &str) -> Option<(String, String)> {
    let mut parts: Option<Vec<String>> = None;
    for line in text.lines().map(str::trim_start) {
        let Some(comment) = line.strip_prefix("//!").or_else(|| line.strip_prefix("///")) else { continue };
        match (comment.trim(), &mut parts) {
            ("```mlir", _) => parts = Some(vec![String::new()]),
            ("```", Some(found)) if found.len() == 2 => break,
            ("```", _) => parts = None,
            ("// becomes", Some(found)) => found.push(String::new()),
            (_, Some(found)) => found.last_mut()?.push_str(&format!("{comment}\n")),
            _ => {}
        }
    }
    let whole = |parts: &Vec<String>| parts.len() == 2 && parts[0].trim_start().starts_with("func.func");
    let mut parts = parts.filter(whole)?.into_iter();
    Some((parts.next()?, parts.next()?))
}

/// What `rs-opt` prints for a text, or the first line of what it says against it.
fn print(text: &str, pass: Option<&str>) -> Result<std::result::Result<String, String>> {
    let file = cargo::tools(Profile::Dev).join("example.mlir");
    fs::write(&file, text)?;
    let done = Command::new(cargo::tools(Profile::Dev).join("rs-opt")).arg(&file).args(pass.map(|pass| format!("--{pass}"))).output()?;
    let error = String::from_utf8_lossy(&done.stderr).lines().next().unwrap_or("no message").to_string();
    Ok(if done.status.success() { Ok(String::from_utf8(done.stdout)?) } else { Err(error) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_block_with_two_parts() {
        let text =
            "//! A pass.\n//! ```mlir\n//! a\n//! ```\n//! ```mlir\n//! func.func b\n//!  c\n//! // becomes\n//! d\n//! ```\n//! e\ncode\n";
        assert_eq!(example(text), Some((" func.func b\n  c\n".into(), " d\n".into())));
        assert_eq!(example("//! ```mlir\n//! a\n//! ```\n"), None);
    }
}
