//! Builds the C++ shim and merges MLIR's C API archives into one `libMLIR-C.a` that `mlir-sys` links.

use std::{env, path::PathBuf, process::Command};

fn main() {
    let llvm = PathBuf::from(env::var("MLIR_SYS_220_PREFIX").expect("MLIR_SYS_220_PREFIX is set in .cargo/config.toml"));
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo:rerun-if-changed=shim");
    println!("cargo:rerun-if-changed=build.rs");
    merge_c_api(&llvm, &out);
    println!("cargo:rustc-link-search=native={}", out.display());
}

/// Debian ships the MLIR C API as many archives and no shared library; one flat archive is what `-lMLIR-C` finds.
fn merge_c_api(llvm: &PathBuf, out: &PathBuf) {
    let archive = out.join("libMLIR-C.a");
    let _ = std::fs::remove_file(&archive);
    let mut parts: Vec<_> = std::fs::read_dir(llvm.join("lib"))
        .expect("LLVM's library folder")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("libMLIRCAPI") && name.ends_with(".a"))
        })
        .collect();
    parts.sort();
    let status = Command::new(llvm.join("bin/llvm-ar")).arg("qLcs").arg(&archive).args(&parts).status().expect("llvm-ar runs");
    assert!(status.success(), "llvm-ar could not merge the MLIR C API archives");
}
