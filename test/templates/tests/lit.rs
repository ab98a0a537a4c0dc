//! The lit tests of the templates pass with the tool that the templates were compiled into.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use strata_test::runner::{Options, run_all};

#[test]
fn what_new_pass_and_new_op_write_passes_its_tests() {
    let opt = Path::new(env!("CARGO_BIN_EXE_templates-opt"));
    let folder = tempfile::tempdir().expect("a folder");
    let (tools, tests) = (folder.path().join("tools"), folder.path().join("test"));
    for path in [&tools, &tests] {
        fs::create_dir(path).expect("a new folder");
    }
    symlink(opt, tools.join("rs-opt")).expect("a link");
    for file in ["pass.mlir", "op.mlir"] {
        fs::copy(Path::new(env!("OUT_DIR")).join(file), tests.join(file)).expect("the filled template");
    }
    let summary = run_all(&Options::new(&tests, &tools)).expect("the runner works");
    assert_eq!((summary.passed, summary.failed), (2, 0));
}

#[test]
fn what_new_crate_writes_passes_its_tests_with_all_tools() {
    let tools = tempfile::tempdir().expect("a folder");
    for name in ["rs-opt", "rs-compile", "rs-reduce"] {
        symlink(env!("CARGO_BIN_EXE_templates-crate"), tools.path().join(name)).expect("a link");
    }
    let summary = run_all(&Options::new(&Path::new(env!("OUT_DIR")).join("crate/test"), tools.path())).expect("the runner works");
    assert_eq!((summary.passed, summary.failed), (4, 0));
}
