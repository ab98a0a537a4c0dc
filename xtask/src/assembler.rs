//! NVIDIA's assembler for the tests of PTX: what the user has, else the one of its pip package, installed once below `target/`.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that names the assembler to the tests.
pub const VARIABLE: &str = "STRATA_PTXAS";

/// The assembler, or nothing (and a line that says so) where there is none and pip cannot install it.
pub fn ptxas() -> Option<OsString> {
    if let Some(given) = env::var_os(VARIABLE) {
        return Some(given);
    }
    if Command::new("ptxas").arg("--version").output().is_ok() {
        return Some("ptxas".into());
    }
    let folder = Path::new("target/ptxas");
    if find(folder).is_none() {
        println!("installing NVIDIA's assembler into {}, once", folder.display());
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"];
        // Whatever goes wrong, nothing is found below.
        let _ = Command::new("python3").args(install).arg(folder).arg("nvidia-cuda-nvcc").output();
    }
    let found = find(folder).and_then(|path| path.canonicalize().ok());
    if found.is_none() {
        println!("PTX is not assembled: there is no ptxas, and pip could not install nvidia-cuda-nvcc; {VARIABLE} may name one");
    }
    found.map(PathBuf::into_os_string)
}

/// The package keeps it in a folder with the version of CUDA.
fn find(folder: &Path) -> Option<PathBuf> {
    let versions = fs::read_dir(folder.join("nvidia")).ok()?;
    versions.flatten().map(|version| version.path().join("bin/ptxas")).find(|path| path.exists())
}
