//! Tools: the example opt tool as a process, FileCheck in process.

use std::io::Write as _;
use std::process::{Command, Stdio};
use strata_core::filecheck::{FileCheck, Verdict};

/// Runs the example tool: exit status, output, errors.
fn toy_opt(args: &[&str], input: &str) -> (i32, String, String) {
    let test = std::env::current_exe().expect("a path");
    let tool = test.parent().and_then(|deps| deps.parent()).expect("a target folder").join("examples/toy_opt");
    let mut child = Command::new(tool)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("cargo built the example");
    // A tool that refuses its input may close it early.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    let output = child.wait_with_output().expect("the tool ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

const INPUT: &str = "func.func @f(%a: i32) -> i32 {
  %0 = toy.inc %a : i32
  %1 = toy.inc %a : i32
  return %1 : i32
}
";

#[test]
fn upstream_and_own_passes_run() {
    let (status, output, errors) = toy_opt(&["--cse", "--toy-count=max=1", "--pass-counts"], INPUT);
    assert_eq!((status, output.matches("toy.inc").count()), (0, 1), "{errors}");
    assert!(errors.contains("1  toy-count  seen - Increments seen."), "{errors}");
}

#[test]
fn a_failed_pass_is_a_located_error() {
    let (status, output, errors) = toy_opt(&["--toy-count=max=1"], INPUT);
    assert_eq!((status, output.trim()), (1, ""));
    assert!(errors.contains("<stdin>:3:8: error: 'toy.inc' op is one more than 1"), "{errors}");
}

#[test]
fn a_panic_is_an_error_and_no_abort() {
    let (status, _, errors) = toy_opt(&["--toy-count=panic=1"], INPUT);
    assert_eq!(status, 1);
    assert!(errors.contains("'func.func' op the pass 'toy-count' panicked: as asked"), "{errors}");
}

#[test]
fn help_shows_passes_and_options() {
    let (status, output, _) = toy_opt(&["--help"], "");
    assert_eq!(status, 0);
    for expected in ["--toy-count", "Largest number of increments in a function.", "--remarks"] {
        assert!(output.contains(expected), "{expected}");
    }
}

#[test]
fn options_print_in_pipelines() {
    let (_, _, errors) = toy_opt(&["--toy-count=widths=1,2", "--dump-pass-pipeline"], INPUT);
    assert!(errors.contains("toy-count{max=3 panic=false remarks=false widths={1,2}}"), "{errors}");
}

#[test]
fn deep_nesting_is_refused() {
    let depth = 60_000;
    let input = "scf.execute_region {\n".repeat(depth);
    let (status, _, errors) = toy_opt(&[], &input);
    assert_eq!(status, 1);
    assert!(errors.contains("<stdin>:257:1: error: regions, types or attributes nest deeper"), "{errors}");
}

#[test]
fn nesting_below_the_bound_is_parsed() {
    let depth = 250;
    let input = "scf.execute_region {\n".repeat(depth) + &"scf.yield\n}\n".repeat(depth);
    let (status, output, errors) = toy_opt(&["--cse"], &format!("func.func @f() {{\n{input}return\n}}"));
    assert_eq!(status, 0, "{errors}");
    assert!(output.contains("func.func @f"));
}

#[test]
fn filecheck_is_llvms() {
    let check = FileCheck::default();
    let verdict = |checks: &str, input: &str| check.run("checks", checks, "input", input).0;
    assert_eq!(verdict("CHECK: [[A:%.*]] = add\nCHECK-NEXT: mul [[A]]", "%1 = add\nmul   %1\n"), Verdict::Matched);
    assert_eq!(verdict("CHECK-DAG: x\nCHECK-DAG: x", "x\n"), Verdict::Mismatch);
    assert_eq!(verdict("nothing", "x\n"), Verdict::BadInput);
    assert_eq!(verdict("CHECK: x", ""), Verdict::BadInput);
    let (verdict, messages) = FileCheck { prefixes: vec!["A".into()], ..FileCheck::default() }.run("t", "A: y", "in", "x\n");
    assert_eq!(verdict, Verdict::Mismatch);
    assert!(messages.contains("t:1:4: error: A: expected string not found in input"), "{messages}");
}
