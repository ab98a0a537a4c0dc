//! The hash of the compiler's own sources: what a cached result depends on beside its program. For build scripts of crates that
//! stand in a folder of the root.

use std::path::Path;
use std::{fs, io};

/// Everything that decides what a program compiles to, and what the interpreter makes of it.
const SOURCES: [&str; 10] =
    ["core", "dialects", "interp", "frontend", "passes", "lowering", "driver", "tools/compiler", "runtime/src/manifest.rs", "Cargo.lock"];

/// Hands the hash to the crate as `env!("STRATA_BUILD")`.
pub fn emit() -> io::Result<()> {
    let mut hasher = blake3::Hasher::new();
    for source in SOURCES {
        let path = Path::new("..").join(source);
        println!("cargo::rerun-if-changed={}", path.display());
        add(&path, &mut hasher)?;
    }
    println!("cargo::rustc-env=STRATA_BUILD={}", hasher.finalize().to_hex());
    Ok(())
}

fn add(path: &Path, hasher: &mut blake3::Hasher) -> io::Result<()> {
    if path.is_dir() {
        let mut entries = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
        entries.sort();
        return entries.iter().filter(|path| !path.ends_with("tests")).try_for_each(|path| add(path, hasher));
    }
    let bytes = fs::read(path)?;
    hasher.update(path.as_os_str().as_encoded_bytes()).update(&(bytes.len() as u64).to_le_bytes()).update(&bytes);
    Ok(())
}
