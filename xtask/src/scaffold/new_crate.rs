//! `./x new-crate PATH`: a crate of one's own with an op, a pass, tests and all tools, that builds where it stands.

use std::fs;
use std::path::{Path, PathBuf};

use super::words::Words;
use super::{Result, write};
use crate::cargo;

/// The files, and the templates that they are made from.
const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("crate/Cargo.toml.txt")),
    ("src/dialect.rs", include_str!("crate/src/dialect.rs.txt")),
    ("src/lib.rs", include_str!("crate/src/lib.rs.txt")),
    ("src/main.rs", include_str!("crate/src/main.rs.txt")),
    ("src/remove_repeated.rs", include_str!("crate/src/remove_repeated.rs.txt")),
    ("test/Inputs/kernel.c", include_str!("crate/test/Inputs/kernel.c.txt")),
    ("test/center.mlir", include_str!("crate/test/center.mlir.txt")),
    ("test/kernel.mlir", include_str!("crate/test/kernel.mlir.txt")),
    ("test/remove_repeated.mlir", include_str!("crate/test/remove_repeated.mlir.txt")),
    ("test/tools.mlir", include_str!("crate/test/tools.mlir.txt")),
    ("tests/lit.rs", include_str!("crate/tests/lit.rs.txt")),
];

/// Writes the crate; the last part of the path is its name, and that of its dialect.
pub fn new_crate(path: &Path) -> Result<bool> {
    let folder = std::path::absolute(std::env::var_os("X_FROM").map_or_else(PathBuf::new, PathBuf::from).join(path))?;
    let words = Words::new(&folder.file_name().unwrap_or_default().to_string_lossy())?;
    let root = cargo::root();
    let read = |file: &str| fs::read_to_string(root.join(file));
    let fill = |text: &str| words.fill(text).replace("ROOT", &root.display().to_string());
    let mut files: Vec<_> = FILES.iter().map(|(file, text)| (folder.join(file), fill(text))).collect();
    // The same profiles, flags, versions and target folder: what is built here is not built again there.
    files[0].1 += profiles(&read("Cargo.toml")?).ok_or("Cargo.toml of the workspace has no [profile.dev]")?;
    let config = read(".cargo/config.toml")?;
    let config = config.split("[alias]").next().unwrap_or_default();
    files.push((folder.join(".cargo/config.toml"), format!("{config}target-dir = \"{}\"\n", cargo::target().display())));
    for file in ["Cargo.lock", "rustfmt.toml"] {
        files.push((folder.join(file), read(file)?));
    }
    write(&files)?;
    println!("next: cd {} && cargo test && cargo run -- opt --help", folder.display());
    // How long lines are depends on the name.
    Ok(cargo::command(&["fmt"]).current_dir(&folder).status()?.success())
}

/// Writes a crate into the target folder, outside of the workspace, and runs its tests.
pub fn test() -> Result<bool> {
    // Always the same place: what was built for it before is built for it still.
    let folder = cargo::target().join("new-crate/row-statistics");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let run = |args: &[&str]| Ok::<_, std::io::Error>(cargo::command(args).current_dir(&folder).status()?.success());
    let rs_run = cargo::build_tools(cargo::Profile::Dev, &["rs-run".to_owned()])?;
    Ok(rs_run && new_crate(&folder)? && run(&["fmt", "--check"])? && run(&["test"])? && run(&["run", "--", "opt", "--version"])?)
}

/// The profiles of a workspace: the end of its manifest.
fn profiles(manifest: &str) -> Option<&str> {
    manifest.find("[profile.dev]").map(|at| &manifest[at..])
}
