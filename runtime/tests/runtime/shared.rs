//! A program as a shared library: read back by us, linked and called by a C program.

use std::path::Path;
use std::process::Command;

use strata_runtime::{Session, header, shared};

use crate::program::{artefact, vector, weights_file};

#[test]
fn a_library_is_a_program_too() {
    let (weights, folder) = (weights_file(), tempfile::tempdir().unwrap());
    let path = folder.path().join("libaxpy.so");
    std::fs::write(&path, shared::library(&artefact(weights.path()), "libaxpy.so")).unwrap();
    let session = Session::load(&shared::read(&path).unwrap(), None).unwrap();
    assert_eq!(session.run(&[vector(&[2.0]), vector(&[1.0])]).unwrap()[0].values::<f32>().unwrap(), [7.0]);
    std::fs::write(&path, "no library").unwrap();
    assert!(shared::read(&path).unwrap_err().to_string().contains("not a Strata artefact"));
}

#[test]
fn a_c_program_links_and_calls_it() {
    let (weights, folder) = (weights_file(), tempfile::tempdir().unwrap());
    let artefact = artefact(weights.path());
    std::fs::write(folder.path().join("libaxpy.so"), shared::library(&artefact, "libaxpy.so")).unwrap();
    std::fs::write(folder.path().join("axpy.h"), header::header(&artefact.manifest)).unwrap();
    // The runtime's own library lies beside this test.
    let runtime = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let main = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runtime/caller.c");
    let flag = |name: &str, folder: &Path| format!("{name}{}", folder.display());
    let built = Command::new("cc")
        .args(["-Wall", "-Werror", "-o"])
        .arg(folder.path().join("caller"))
        .arg(main)
        .args([flag("-I", folder.path()), flag("-L", folder.path()), flag("-L", &runtime)])
        .args(["-laxpy", "-lstrata_runtime"])
        .args([flag("-Wl,-rpath,", folder.path()), flag("-Wl,-rpath,", &runtime)])
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut caller = Command::new(folder.path().join("caller"));
    let ran = caller.env("LD_LIBRARY_PATH", &runtime).output().unwrap();
    let told = String::from_utf8(ran.stdout).unwrap();
    let want = "7 10\n11 11 11, call 2\ninput 1, dimension 0: found 1, wanted 3\nstatus 1, found 1\n";
    assert_eq!(told, want, "{:?}", String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success());
}
