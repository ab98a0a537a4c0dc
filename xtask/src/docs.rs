//! The book: generated pages, their check, and mdBook when a person asks for the book.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::{self, Profile, Result};
use crate::crates_picture;

/// `./x docs`: writes the generated pages and builds the book into `target/book`.
pub fn docs(generate_only: bool) -> Result<bool> {
    if !cargo::build(Profile::Dev)? {
        return Ok(false);
    }
    generate(&cargo::root().join("docs/src"))?;
    if generate_only {
        return Ok(true);
    }
    if Command::new("mdbook").arg("--version").output().is_err() {
        println!("installing mdbook, once");
        if !cargo::run(&["install", "mdbook", "--version", "^0.5", "--locked"])? {
            return Ok(false);
        }
    }
    Ok(Command::new("mdbook").arg("build").arg(cargo::root().join("docs")).status()?.success())
}

/// Has the tools write the pages that come from definitions.
fn generate(folder: &Path) -> Result<()> {
    let done = Command::new(cargo::tools(Profile::Dev).join("rs-reference")).arg(folder).status()?;
    if !done.success() {
        return Err("rs-reference failed".into());
    }
    let python = Command::new("python3").arg(cargo::root().join("python/reference.py")).output()?;
    if !python.status.success() {
        return Err(format!("python/reference.py failed: {}", String::from_utf8_lossy(&python.stderr)).into());
    }
    fs::write(folder.join("reference/python.md"), python.stdout)?;
    fs::create_dir_all(folder.join("pictures"))?;
    Ok(fs::write(folder.join("pictures/crates.svg"), crates_picture::svg()?)?)
}

/// Generated pages and pictures that are not as the tools write them now.
fn stale(root: &Path) -> Result<Vec<String>> {
    let fresh = cargo::tools(Profile::Dev).join("reference");
    let _ = fs::remove_dir_all(&fresh);
    generate(&fresh)?;
    let (mut pages, mut faults) = (Vec::new(), Vec::new());
    find_files(&fresh, &["md", "svg"], &mut pages)?;
    for page in pages {
        let name = Path::new("docs/src").join(page.strip_prefix(&fresh)?);
        if fs::read_to_string(root.join(&name)).ok() != fs::read_to_string(&page).ok() {
            faults.push(format!("{}: not what the program says; run `./x docs --generate`", name.display()));
        }
    }
    Ok(faults)
}

/// Prints what is wrong with the pages; the number of faults.
pub fn check() -> Result<usize> {
    let root = cargo::root();
    let mut faults = stale(root)?;
    let mut pages = vec![root.join("README.md")];
    find_files(&root.join("docs/src"), &["md"], &mut pages)?;
    let summary = fs::read_to_string(root.join("docs/src/SUMMARY.md"))?;
    let listed: BTreeSet<String> = links(&summary).into_iter().collect();
    for page in &pages {
        let name = page.strip_prefix(root).unwrap_or(page).display().to_string();
        let text = fs::read_to_string(page)?;
        for link in links(&text) {
            let target = link.split('#').next().unwrap_or("");
            if !target.is_empty() && !target.contains("://") && !page.parent().unwrap_or(root).join(target).exists() {
                faults.push(format!("{name}: the link `{link}` leads nowhere"));
            }
        }
        if let Some(inner) = name.strip_prefix("docs/src/").filter(|inner| *inner != "SUMMARY.md" && !listed.contains(*inner)) {
            faults.push(format!("{name}: not in docs/src/SUMMARY.md; add a line for {inner}"));
        }
    }
    faults.iter().for_each(|fault| println!("{fault}"));
    Ok(faults.len())
}

fn find_files(folder: &Path, ends: &[&str], found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find_files(&path, ends, found)?;
        } else if path.extension().and_then(OsStr::to_str).is_some_and(|end| ends.contains(&end)) {
            found.push(path);
        }
    }
    Ok(())
}

/// Targets of the `[text](target)` links outside of code.
fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            code = !code;
        }
        let plain: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        let mut rest = if code { "" } else { plain.as_str() };
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            if let Some((target, tail)) = rest.split_once(')') {
                found.push(target.to_string());
                rest = tail;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_links_outside_of_code() {
        assert_eq!(links("a [b](c.md) `[d](e)` [f](g#h)\n```\n[i](j)\n```\n"), ["c.md", "g#h"]);
    }
}
