//! The rules of the tree that no compiler checks. `docs/src/testing.md` lists them; all faults are reported together.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::cargo::{Result, root};

mod crates;
pub mod registry;
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
    faults.extend(registry::check(&tree));
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

fn read_tree(root: &Path) -> Result<Tree> {
    let listed = Command::new("git").current_dir(root).args(["ls-files", "-co", "--exclude-standard", "-z"]).output()?;
    if !listed.status.success() {
        return Err(format!("git ls-files: {}", String::from_utf8_lossy(&listed.stderr)).into());
    }
    let names = String::from_utf8(listed.stdout)?;
    let read = |name: &str| std::fs::read_to_string(root.join(name)).ok().map(|text| (name.to_string(), text));
    Ok(names.split('\0').filter(|name| !name.is_empty()).filter_map(read).collect())
}
