//! Builds the C++ shim, and with shared MLIR merges the C API archives into one `libMLIR-C.a` that `mlir-sys` links.
//!
//! `MLIR_SYS_LINK_SHARED=1` (the default, from `.cargo/config.toml`) links Debian's shared libraries; with any other value
//! `mlir-sys` links every archive of MLIR and LLVM into the program. `./x build --static` asks for that.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

fn main() {
    let llvm = PathBuf::from(env::var("MLIR_SYS_220_PREFIX").expect("MLIR_SYS_220_PREFIX is set in .cargo/config.toml"));
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo:rerun-if-changed=shim");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=MLIR_SYS_220_PREFIX");
    println!("cargo:rerun-if-env-changed=MLIR_SYS_LINK_SHARED");
    build_shim(&llvm, &out);
    println!("cargo:rustc-link-search=native={}", llvm.join("lib").display());
    if env::var("MLIR_SYS_LINK_SHARED").is_ok_and(|value| value == "1") {
        merge_c_api(&llvm, &out);
        println!("cargo:rustc-link-search=native={}", out.display());
        // The shim calls into both; naming them here keeps them behind it on the link line.
        println!("cargo:rustc-link-lib=dylib=MLIR");
        println!("cargo:rustc-link-lib=dylib=LLVM-22");
    }
}

/// Debian ships the MLIR C API as many archives and no shared library; one flat archive is what `-lMLIR-C` finds.
fn merge_c_api(llvm: &Path, out: &Path) {
    let archive = out.join("libMLIR-C.a");
    let _ = std::fs::remove_file(&archive);
    let is_part = |name: &str| name.starts_with("libMLIRCAPI") && name.ends_with(".a");
    let parts = files(&llvm.join("lib"), is_part);
    let status = Command::new(llvm.join("bin/llvm-ar")).arg("qLcs").arg(&archive).args(&parts).status().expect("llvm-ar runs");
    assert!(status.success(), "llvm-ar could not merge the MLIR C API archives");
}

/// LLVM is built with RTTI and without exceptions, and so is the shim. Its files are one translation unit: each needs the headers of MLIR, which take
/// a compiler longer than all the code behind them.
fn build_shim(llvm: &Path, out: &Path) {
    let shim = env::current_dir().expect("a working directory").join("shim");
    let unit: String =
        files(&shim, |name| name.ends_with(".cpp")).iter().map(|file| format!("#include \"{}\"\n", file.display())).collect();
    let whole = out.join("shim.cpp");
    std::fs::write(&whole, unit).expect("OUT_DIR can be written");
    cc::Build::new()
        .cpp(true)
        .compiler(llvm.join("bin/clang++"))
        .std("c++17")
        .opt_level(1)
        .debug(false)
        .include(llvm.join("include"))
        .flag("-fno-exceptions")
        .flag("-Wno-unused-parameter")
        .define("_GNU_SOURCE", None)
        .define("__STDC_CONSTANT_MACROS", None)
        .define("__STDC_FORMAT_MACROS", None)
        .define("__STDC_LIMIT_MACROS", None)
        .define("NDEBUG", None)
        .file(whole)
        .compile("strata_shim");
}

/// The files of a folder whose names `select` takes, in order.
fn files(folder: &Path, select: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let mut found: Vec<_> = std::fs::read_dir(folder)
        .expect("a readable folder")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(&select))
        .collect();
    found.sort();
    found
}
