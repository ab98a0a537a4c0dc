//! The IR before and after in a pass's documentation is true: `rs-opt` turns the one into the other.
//!
//! A pass shows two `mlir` blocks in its comments. The first, run through the pass, must print like the second.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::{self, Profile, Result};

/// Checks the examples of all passes; how many were right, and what is wrong with the others.
pub fn check() -> Result<(usize, Vec<String>)> {
    let (mut good, mut faults) = (0, Vec::new());
    let mut files = Vec::new();
    find(&cargo::root().join("passes/src"), &mut files)?;
    files.sort();
    for file in files {
        let text = fs::read_to_string(&file)?;
        let Some((before, after)) = example(&text) else { continue };
        let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or("").replace('_', "-");
        let name = file.strip_prefix(cargo::root()).unwrap_or(&file).display().to_string();
        match (print(&before, Some(&stem))?, print(&after, None)?) {
            (Ok(got), Ok(want)) if got == want => good += 1,
            (Ok(got), Ok(want)) => faults.push(format!("{name}: `--{stem}` turns the first example into\n{got}\nand not into\n{want}")),
            (Err(error), _) => faults.push(format!("{name}: the first example: {error}")),
            (_, Err(error)) => faults.push(format!("{name}: the second example: {error}")),
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

/// The first two `mlir` blocks in the comments of a file.
fn example(text: &str) -> Option<(String, String)> {
    let mut blocks: Vec<String> = Vec::new();
    let mut inside = false;
    for line in text.lines().map(str::trim_start) {
        let Some(comment) = line.strip_prefix("//!").or_else(|| line.strip_prefix("///")) else { continue };
        match comment.trim() {
            "```mlir" => {
                inside = true;
                blocks.push(String::new());
            }
            "```" => inside = false,
            _ if inside => blocks.last_mut()?.push_str(&format!("{comment}\n")),
            _ => {}
        }
    }
    let mut blocks = blocks.into_iter();
    Some((blocks.next()?, blocks.next()?))
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
    fn takes_the_first_two_blocks() {
        let text = "//! A pass.\n//! ```mlir\n//! a\n//!  b\n//! ```\n/// ```mlir\n/// c\n/// ```\ncode\n";
        assert_eq!(example(text), Some((" a\n  b\n".into(), " c\n".into())));
        assert_eq!(example("//! ```mlir\n//! a\n//! ```\n"), None);
    }
}
