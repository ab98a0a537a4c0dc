//! A C program links a compiled program and the runtime, and calls one through the other.

#[path = "../../tests/runtime/program.rs"]
mod program;

use std::path::{Path, PathBuf};
use std::process::Command;

use strata_runtime::{header, shared};

use program::{artefact, weights_file};

/// Builds `libstrata.so`, which no Rust test links, and tells its folder. Of this package alone, or without examples, which want the dependencies of
/// tests, all crates would be built once more, with fewer features.
fn built_library() -> PathBuf {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--workspace", "--lib", "--bins", "--examples"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    // What cargo set for this test would make build scripts run again, and all that depends on them be built again.
    let of_test = |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST") || name == "OUT_DIR";
    for (name, _) in std::env::vars().filter(|(name, _)| of_test(name)) {
        cargo.env_remove(name);
    }
    assert!(cargo.status().unwrap().success());
    // This test lies in `deps` below it.
    std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().to_path_buf()
}

#[test]
fn a_c_program_links_and_calls_it() {
    let (weights, folder) = (weights_file(), tempfile::tempdir().unwrap());
    let artefact = artefact(weights.path());
    std::fs::write(folder.path().join("libaxpy.so"), shared::library(&artefact, "libaxpy.so").unwrap()).unwrap();
    std::fs::write(folder.path().join("axpy.h"), header::header(&artefact.manifest)).unwrap();
    let runtime = built_library();
    let main = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/caller.c");
    let flag = |name: &str, folder: &Path| format!("{name}{}", folder.display());
    let built = Command::new("cc")
        .args(["-Wall", "-Werror", "-o"])
        .arg(folder.path().join("caller"))
        .arg(main)
        .args([flag("-I", folder.path()), flag("-L", folder.path()), flag("-L", &runtime)])
        .args(["-laxpy", "-lstrata"])
        .args([flag("-Wl,-rpath,", folder.path()), flag("-Wl,-rpath,", &runtime)])
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut caller = Command::new(folder.path().join("caller"));
    let ran = caller.env("LD_LIBRARY_PATH", &runtime).output().unwrap();
    let output = String::from_utf8(ran.stdout).unwrap();
    let want = "9 13\n14 14 14, call 2\ninput 1, dimension 0: found 1, wanted 3\nstatus 1, found 1\n";
    assert_eq!(output, want, "{:?}", String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success());
}

/// As Python does: the runtime comes from a folder that the dynamic linker does not search.
#[test]
fn a_program_finds_the_runtime_that_is_loaded() {
    let (weights, folder) = (weights_file(), tempfile::tempdir().unwrap());
    let program = folder.path().join("libaxpy.so");
    std::fs::write(&program, shared::library(&artefact(weights.path()), "libaxpy.so").unwrap()).unwrap();
    let (runtime, opener) = (built_library(), folder.path().join("opener"));
    let main = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/opener.c");
    assert!(Command::new("cc").args(["-Wall", "-Werror", "-o"]).args([&opener, &main]).status().unwrap().success());
    let ran = Command::new(opener).arg(runtime.join("libstrata.so")).arg(program).env_remove("LD_LIBRARY_PATH").output().unwrap();
    assert_eq!(String::from_utf8(ran.stdout).unwrap(), "");
    assert!(ran.status.success());
}
