//! The rules of the tree that no compiler checks. `docs/src/testing.md` lists them; all faults are reported together.

use std::collections::BTreeMap;
use std::path::Path;

use crate::cargo::{Result, root};

mod constraints;
mod crates;
mod generated;
pub mod registry;
mod rooms;
mod source;

/// One broken rule.
pub struct Fault {
    /// The file, relative to the root, and its line if the rule is about one.
    pub place: String,
    /// What is wrong and the way out.
    pub message: String,
}

impl Fault {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Fault {
        Fault { place: place.into(), message: message.into() }
    }
}

/// The text files of the tree by path: what git tracks or would track.
type Tree = BTreeMap<String, String>;

/// Checks every rule.
pub fn check() -> Result<Vec<Fault>> {
    let tree = read_tree(root())?;
    let mut faults = source::check(&tree);
    faults.extend(left_behind(root(), &tree)?);
    faults.extend(rooms::check(&tree));
    faults.extend(registry::check(&tree));
    faults.extend(constraints::check(&tree));
    faults.extend(generated::check(&tree)?);
    faults.extend(crates::check()?);
    Ok(faults)
}

/// Prints the faults.
pub fn report(faults: &[Fault]) {
    for fault in faults {
        println!("{}: {}", fault.place, fault.message);
    }
    if !faults.is_empty() {
        println!("tidy: {} faults", faults.len());
    }
}

/// What is made and not written: git ignores these folders.
const MADE: [&str; 3] = [".git", "docs/book", "target"];

/// Files of the root that are no text: what a command left behind.
fn left_behind(root: &Path, tree: &Tree) -> Result<Vec<Fault>> {
    let mut faults = Vec::new();
    for entry in std::fs::read_dir(root)? {
        let (kind, name) = entry.and_then(|entry| Ok((entry.file_type()?, entry.file_name().to_string_lossy().into_owned())))?;
        if kind.is_file() && !tree.contains_key(&name) {
            faults
                .push(Fault::new(name, "a file of the root that is no text: what a command left behind; models of tests stand in `test/`"));
        }
    }
    Ok(faults)
}

/// Every text file by its path; a machine that only builds need not have git.
fn read_tree(root: &Path) -> Result<Tree> {
    let (mut tree, mut folders) = (Tree::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let (path, kind) = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?)))?;
            let name = path.strip_prefix(root)?.to_string_lossy().into_owned();
            if kind.is_dir() && !MADE.contains(&name.as_str()) {
                folders.push(path);
            } else if kind.is_file()
                && let Ok(text) = std::fs::read_to_string(&path)
            {
                tree.insert(name, text);
            }
        }
    }
    Ok(tree)
}
