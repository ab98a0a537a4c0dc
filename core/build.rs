//! The hash of this crate's sources and of the Rust compiler: what a plug-in and the tool that loads it must have in common.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let mut hasher = DefaultHasher::new();
    for source in ["src", "macros/src", "sys/src", "sys/shim"] {
        println!("cargo::rerun-if-changed={source}");
        add(Path::new(source), &mut hasher)?;
    }
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    Command::new(rustc).arg("--version").output()?.stdout.hash(&mut hasher);
    println!("cargo::rustc-env=STRATA_CORE_BUILD={:016x}", hasher.finish());
    Ok(())
}

fn add(path: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    if path.is_dir() {
        let mut entries = fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
        entries.sort();
        return entries.iter().try_for_each(|path| add(path, hasher));
    }
    path.hash(hasher);
    fs::read(path)?.hash(hasher);
    Ok(())
}
