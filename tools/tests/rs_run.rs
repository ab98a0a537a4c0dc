//! `rs-run --suite` with a compiler that misbehaves on demand: every kind of case ends in its own line and the run goes on.

use std::path::Path;
use std::process::{Command, Output};

use strata_runtime::{DType, Tensor, TensorFile};

/// A folder with the fake compiler and one case per name; `expected` differs from the inputs where the name says `wrong`.
fn suite(names: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(folder.path().join("libfake.so"))
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_compiler.c"))
        .status();
    assert!(status.unwrap().success());
    let mut cases = Vec::new();
    for (name, tag) in names {
        let (x, y) = (vector(&[1.0, 2.0]), vector(&[3.0, f32::NAN]));
        let wanted = if name.contains("wrong") { vector(&[1.0, 2.5]) } else { x.clone() };
        let second = if name.contains("mutate") { "mut_state" } else { "out_1" };
        let tensors = [("in_0", &x), ("in_1", &y), ("out_0", &wanted), (second, &y)].map(|(name, tensor)| (name.to_string(), tensor));
        TensorFile::write(&folder.path().join(format!("{name}.safetensors")), &tensors).unwrap();
        std::fs::write(folder.path().join(format!("{name}.pt2")), "").unwrap();
        let group = name.split("__").next().unwrap();
        let tags = if tag.is_empty() { String::new() } else { format!("\"{tag}\"") };
        cases.push(format!(
            r#"{{"name":"{name}","group":"{group}","pt2":"{name}.pt2","io":["{name}.safetensors"],"n_out":2,"rtol":1e-3,"atol":1e-3,"check":"close","tags":[{tags}]}}"#
        ));
    }
    std::fs::write(folder.path().join("manifest.json"), format!(r#"{{"cases":[{}]}}"#, cases.join(","))).unwrap();
    folder
}

fn vector(values: &[f32]) -> Tensor {
    Tensor::from_slice(DType::F32, &[values.len() as i64], values).unwrap()
}

fn rs_run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rs-run"));
    command.env("STRATA_COMPILER", folder.join("libfake.so")).env("STRATA_CACHE_SIZE", "0").current_dir(folder).args(arguments);
    command.output().unwrap()
}

#[test]
fn every_kind_of_case_is_told_apart() {
    let folder = suite(&[
        ("a__good", ""),
        ("a__mutate", ""),
        ("a__wrong", ""),
        ("a__wrong_but_free", "non_unique"),
        ("b__crash", ""),
        ("b__crash_free", "ill_conditioned"),
        ("b__hang", ""),
        ("b__refuse", ""),
        ("c__good", ""),
    ]);
    let run = rs_run(folder.path(), &["--suite", ".", "--backend=interp", "-j", "2", "--time-limit", "1.5", "--dump", "dump"]);
    let text = String::from_utf8(run.stdout).unwrap();
    for line in [
        "FAIL a__wrong: wrong value: out_0 1 of 2 elements wrong, first at [1]: 2e0, expected 2.5e0",
        "FAIL b__crash: crash: signal 6 (abort)",
        "FAIL b__crash_free: crash: signal 6 (abort)",
        "FAIL b__hang: time limit: no result after 1.5 s",
        "FAIL b__refuse: refused: aten.mystery is not supported",
        "3 passed, 5 failed, 1 skipped",
    ] {
        assert!(text.lines().any(|found| found.starts_with(line)), "{line}\nnot in\n{text}");
    }
    assert!(!text.contains("compiled 0 programs"));
    assert_eq!(run.status.code(), Some(1));
    let dumped = TensorFile::read(&folder.path().join("dump/a__mutate.safetensors")).unwrap();
    let mut names: Vec<_> = dumped.tensors.keys().map(String::as_str).collect();
    names.sort();
    assert_eq!(names, ["mut_state", "out_0"]);
}

#[test]
fn the_filter_takes_names_and_groups() {
    let folder = suite(&[("a__good", ""), ("ab__good", ""), ("b__wrong", "")]);
    let run = rs_run(folder.path(), &["--suite", ".", "--backend=interp", "--filter", "^(a|nothing)$"]);
    assert!(String::from_utf8(run.stdout).unwrap().ends_with("1 passed, 0 failed, 0 skipped\n"));
    assert_eq!(run.status.code(), Some(0));
}

#[test]
fn one_model_is_compared_with_its_expectation() {
    let folder = suite(&[("a__good", ""), ("a__wrong", "")]);
    let run = |name: &str, more: &[&str]| {
        let (model, io) = (format!("{name}.pt2"), format!("--expect={name}.safetensors"));
        let run = rs_run(folder.path(), &[&[&model, &io, "--backend=interp"], more].concat());
        (run.status.code(), String::from_utf8(run.stdout).unwrap())
    };
    assert_eq!(run("a__good", &[]), (Some(0), "as expected: max abs error 0.000e0, max rel error 0.000e0\n".into()));
    assert_eq!(run("a__wrong", &[]).0, Some(1));
    assert_eq!(run("a__wrong", &["--atol=0.6"]).0, Some(0));
    let refused = rs_run(folder.path(), &["a__good.pt2"]);
    assert_eq!(String::from_utf8(refused.stderr).unwrap(), "rs-run: a__good.pt2: this compiler compiles nothing\n");
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn a_compiler_of_another_build_is_refused() {
    let folder = suite(&[("a__good", "")]);
    let (tool, library) = (folder.path().join("rs-run"), folder.path().join("libstrata_compiler.so"));
    std::fs::copy(env!("CARGO_BIN_EXE_rs-run"), &tool).unwrap();
    std::fs::rename(folder.path().join("libfake.so"), &library).unwrap();
    for arguments in [&["--no-cache"][..], &[], &["--backend=interp"]] {
        let mut run = Command::new(&tool);
        run.env_remove("STRATA_COMPILER").env("STRATA_CACHE_DIR", folder.path().join("cache")).current_dir(folder.path());
        let run = run.arg("a__good.pt2").args(arguments).output().unwrap();
        let stale = "was built from other sources than this program; build both with `./x build rs-run`";
        let wanted = format!("rs-run: a__good.pt2: {} {stale}\n", library.display());
        assert_eq!((String::from_utf8(run.stderr).unwrap(), run.status.code()), (wanted, Some(1)), "{arguments:?}");
    }
}

#[test]
fn nothing_of_the_compiler_is_linked() {
    let run = Command::new("ldd").arg(env!("CARGO_BIN_EXE_rs-run")).output().unwrap();
    let linked = String::from_utf8(run.stdout).unwrap();
    assert!(linked.contains("libc.so") && !linked.contains("MLIR") && !linked.contains("LLVM"), "{linked}");
}
