//! `check_semantics` is itself tested: a small wrong edit right behind a pass must be blamed on that pass.

use std::path::{Path, PathBuf};

use strata_core::ir::{Module, Op, Value};
use strata_core::rewrite::Rewriter;
use strata_driver::{CheckOptions, bisect, check_file, check_semantics, passes_between, standard};

/// One wrong edit.
struct Mutant {
    name: &'static str,
    program: &'static str,
    /// The pass behind which it is made.
    pass: &'static str,
    edit: fn(Op<'_>) -> Option<()>,
    /// Why the interpreter cannot see it, where it cannot.
    unseen: Option<&'static str>,
}

const CHAIN: &str = include_str!("programs/chain.mlir");
const SOFTMAX: &str = include_str!("programs/softmax.mlir");
const CONV: &str = include_str!("programs/conv.mlir");
const RNN: &str = include_str!("programs/rnn.mlir");
const SELECT: &str = include_str!("programs/select.mlir");
const MLP: &str = include_str!("programs/mlp.mlir");

const DECOMPOSE: &str = "func.func(decompose-aten)";
const SIZES: &str = "func.func(simplify-sizes)";
const CONSTANTS: &str = "func.func(simplify-constants)";
const VIEWS: &str = "func.func(simplify-views)";
const FUSE: &str = "func.func(fuse-elementwise)";
const FUSE_REDUCTIONS: &str = "func.func(fuse-reductions)";
const PLAN: &str = "func.func(plan-memory)";

/// The first stage that reads beyond an end of its operand.
fn guarded<'c>(module: Op<'c>) -> Option<Op<'c>> {
    module.find_all("loop.stage").into_iter().find(|stage| stage.attr("guarded").is_some())
}

/// The `at`-th op of a name.
fn nth<'c>(module: Op<'c>, name: &str, at: usize) -> Option<Op<'c>> {
    module.find_all(name).get(at).copied()
}

/// Another value for an attribute that is there.
fn set(op: Op<'_>, name: &str, text: &str) -> Option<()> {
    op.attr(name)?;
    Rewriter::before(op).set_attr(op, name, op.cx().parse_attr(text)?);
    Some(())
}

/// Another text for an attribute; it must change.
fn rewrite(op: Op<'_>, name: &str, from: &str, to: &str) -> Option<()> {
    let old = op.attr(name)?.to_string();
    let new = old.replace(from, to);
    (new != old).then_some(())?;
    set(op, name, &new)
}

fn swap(op: Op<'_>, a: usize, b: usize) -> Option<()> {
    let (first, second) = (op.operand(a), op.operand(b));
    reads(op, a, second)?;
    reads(op, b, first)
}

/// The op with another operand.
fn reads<'c>(op: Op<'c>, at: usize, value: Value<'c>) -> Option<()> {
    Rewriter::before(op).set_operand(op, at, value);
    Some(())
}

/// The op under another name.
fn rename(op: Op<'_>, name: &str) -> Option<()> {
    let attrs = op.attrs();
    let attrs: Vec<_> = attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
    let mut rewriter = Rewriter::before(op);
    let new = rewriter.value(name, &op.operands(), op.result(0).ty(), &attrs);
    rewriter.replace(op, &[new]);
    Some(())
}

/// The op's first operand in its place.
fn bypass(op: Op<'_>) -> Option<()> {
    Rewriter::before(op).replace(op, &[op.operand(0)]);
    Some(())
}

fn index_constant(module: Op<'_>, from: i64, to: i64) -> Option<()> {
    let found = module.find_all("arith.constant").into_iter().find(|op| op.result(0).ty().is_index() && op.int("value") == Some(from))?;
    Rewriter::before(found).set_attr(found, "value", found.cx().index_attr(to));
    Some(())
}

macro_rules! mutants {
    ($($name:literal, $program:ident, $pass:expr, $edit:expr $(, unseen $why:literal)?;)*) => {
        &[$(Mutant { name: $name, program: $program, pass: $pass, edit: $edit, unseen: [$(Some($why),)? None][0] }),*]
    };
}

const MUTANTS: &[Mutant] = mutants! {
    "reduction of another kind", SOFTMAX, "func.func(canonicalize)", |m| set(nth(m, "prim.reduce", 1)?, "kind", "\"prod\"");
    "epilogue dropped", SOFTMAX, FUSE, |m| bypass(nth(m, "prim.div", 0)?);
    "another function", SOFTMAX, FUSE_REDUCTIONS, |m| rename(nth(m, "prim.exp", 0)?, "prim.sin");
    "another reducer", SOFTMAX, "prim-to-loop", |m| set(nth(m, "loop.stage", 1)?, "reducer", "\"max\"");
    "stages of a kernel mixed up", SOFTMAX, "schedule-cpu", |m| reads(nth(m, "loop.stage", 2)?, 0, nth(m, "loop.stage", 0)?.operand(0));
    "division the wrong way round", SOFTMAX, "loop-to-host", |m| swap(nth(m, "arith.divf", 0)?, 0, 1);
    "another constant", CHAIN, DECOMPOSE, |m| set(nth(m, "prim.constant", 0)?, "value", "dense<0.25> : tensor<f32>");
    "sign dropped", CHAIN, VIEWS, |m| bypass(nth(m, "prim.neg", 0)?);
    "scan along another dim", MLP, VIEWS, |m| set(nth(m, "prim.scan", 0)?, "dim", "0 : i64");
    "padding moved", CONV, DECOMPOSE, |m| {
        let conv = nth(m, "prim.conv", 0)?;
        set(conv, "low", "array<i64: 0, 1>").and(set(conv, "high", "array<i64: 2, 1>"))
    };
    "dilation of the kernel", CONV, CONSTANTS, |m| {
        let conv = nth(m, "prim.conv", 0)?;
        set(conv, "rhs_dilation", "array<i64: 2, 2>").and(set(conv, "low", "array<i64: 2, 2>")).and(set(conv, "high", "array<i64: 2, 2>"))
    };
    "maximum made minimum", CONV, FUSE, |m| rename(nth(m, "prim.maximum", 0)?, "prim.minimum");
    "reads outside without a guard", CONV, "prim-to-loop", |m| set(guarded(m)?, "guarded", "array<i1: false>");
    "map of a stage", CONV, "schedule-cpu", |m| rewrite(guarded(m)?, "maps", "- 1", "- 2");
    "bias subtracted", CONV, PLAN, |m| rename(nth(m, "arith.addf", 0)?, "arith.subf");
    "pieces in another order", SELECT, "func.func(canonicalize)", |m| swap(nth(m, "prim.concat", 0)?, 0, 1);
    "slice from another place", SELECT, SIZES, |m| index_constant(m, 1, 2);
    "choice the wrong way round", SELECT, FUSE, |m| swap(nth(m, "prim.select", 0)?, 1, 2);
    "another predicate", SELECT, "prim-to-loop", |m| set(nth(m, "arith.cmpf", 0)?, "predicate", "4 : i64");
    "row and column exchanged", SELECT, "schedule-cpu", |m| swap(nth(m, "loop.load", 0)?, 1, 2);
    "loop ends too early", RNN, "func.func(cse)", |m| index_constant(m, 5, 4);
    "yields exchanged", RNN, CONSTANTS, |m| swap(nth(m, "scf.yield", 0)?, 0, 1);
    "contraction along another dim", RNN, FUSE, |m| set(nth(m, "prim.dot", 0)?, "lhs_contract", "array<i64: 0>");
    "copy dropped", RNN, PLAN, |m| {
        let copy = nth(m, "host.copy", 2)?;
        Rewriter::before(copy).erase(copy);
        Some(())
    };
    "buffers of a launch exchanged", RNN, PLAN, |m| {
        let launch = m.find_all("host.launch").into_iter().find(|launch| launch.int("outputs") == Some(2))?;
        swap(launch, launch.num_operands() - 1, launch.num_operands() - 2)
    };
    "buffers overlap", RNN, PLAN, |m| {
        let slices = m.find_all("host.slice");
        let (last, state) = (slices.last()?, slices.get(slices.len() - 3)?);
        reads(*last, 1, state.operand(1))
    };
    "reduction along another dim", MLP, VIEWS, |m| set(nth(m, "prim.reduce", 0)?, "dims", "array<i64: 0>");
    "factors exchanged", MLP, FUSE_REDUCTIONS, |m| swap(nth(m, "prim.dot", 0)?, 0, 1);
    "a kernel writes where it reads", MLP, PLAN, |m| {
        let slices = m.find_all("host.slice");
        reads(*slices.get(2)?, 1, slices.get(1)?.operand(1))
    }, unseen "the interpreter reads all of a kernel's operands before it writes results";
    "schedule dropped", CHAIN, "schedule-cpu", |m| {
        let mut parts = [m.find_all("loop.kernel"), m.find_all("loop.stage")].concat().into_iter();
        parts.find(|part| Rewriter::before(*part).remove_attr(*part, "schedule")).map(|_| ())
    }, unseen "a schedule says nothing about values above the level cpu";
};

fn with_program<R>(text: &str, work: impl for<'c> FnOnce(&Module<'c>) -> R) -> R {
    let context = standard().context();
    let module = Module::parse(&context, text, "program.mlir").unwrap_or_else(|error| panic!("{error}"));
    work(&module)
}

/// The wrong edit, made once behind its pass; tells when it was not made.
fn plant<'a>(mutant: &'a Mutant, made: &'a mut bool) -> impl FnMut(&str, Op<'_>) + 'a {
    move |pass, module| {
        if pass == mutant.pass && !*made {
            (mutant.edit)(module).unwrap_or_else(|| panic!("'{}' has nothing to edit behind {pass} in\n{module}", mutant.name));
            *made = true;
        }
    }
}

fn passes() -> Vec<String> {
    passes_between(standard(), "capture", "host").expect("the levels are in order")
}

#[test]
fn the_guilty_pass_is_named() {
    let (passes, options) = (passes(), CheckOptions::default());
    let mut wrong = Vec::new();
    for mutant in MUTANTS {
        let mut made = false;
        let report = with_program(mutant.program, |module| check_semantics(module, &passes, &options, &mut plant(mutant, &mut made)));
        assert!(made, "'{}' names no pass: {}", mutant.name, mutant.pass);
        let report = report.unwrap_or_else(|error| panic!("'{}': {error}", mutant.name));
        let blamed = report.guilty.as_ref().map(|guilty| guilty.pass.as_str());
        println!("{}: {report}", mutant.name);
        if blamed != mutant.unseen.map_or(Some(mutant.pass), |_| None) {
            wrong.push(format!("{}: {report}", mutant.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(MUTANTS.iter().filter(|mutant| mutant.unseen.is_none()).count() >= 20);
}

#[test]
fn right_programs_have_no_guilty_pass() {
    for program in [CHAIN, SOFTMAX, CONV, RNN, SELECT, MLP] {
        let report = with_program(program, |module| check_semantics(module, &passes(), &CheckOptions::default(), &mut |_, _| {}));
        let report = report.unwrap_or_else(|error| panic!("{error}"));
        assert!(report.guilty.is_none() && report.checked == report.passes, "{report}\n{program}");
    }
}

#[test]
fn bisection_finds_the_same_pass() {
    for mutant in MUTANTS.iter().filter(|mutant| mutant.unseen.is_none()).step_by(5) {
        let found = with_program(mutant.program, |module| {
            let (passes, mut made) = (passes(), false);
            bisect(module, &passes, &CheckOptions { sets: 1, ..CheckOptions::default() }, &mut |pass, module| {
                // Each prefix starts anew: the edit is made in every one that reaches the pass.
                made &= pass != passes[0];
                plant(mutant, &mut made)(pass, module);
            })
        });
        let found = found.unwrap_or_else(|error| panic!("'{}': {error}", mutant.name));
        assert_eq!(found.guilty, [mutant.pass.to_owned()], "'{}': {found}", mutant.name);
        assert!(found.runs < 12, "{} runs", found.runs);
    }
}

fn check_passes(file: &Path) {
    let options = CheckOptions { sets: 1, ..CheckOptions::default() };
    let report = check_file(standard(), file, &passes(), &options).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    assert!(report.guilty.is_none() && report.not_checked.is_empty(), "{}: {report}", file.display());
}

#[test]
fn models_keep_their_meaning() {
    // The convolutions of ResNet take the interpreter minutes at each level.
    let models = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test/models");
    for model in ["chain30", "bert"] {
        check_passes(&models.join(format!("{model}.pt2")));
    }
}

#[test]
fn seeds_keep_their_meaning() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance/seeds");
    let Ok(cases) = std::fs::read_dir(seeds) else { return };
    let files = cases.flatten().filter_map(|case| std::fs::read_dir(case.path()).ok()).flatten().flatten().map(|file| file.path());
    let mut programs: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|extension| extension == "pt2")).collect();
    programs.sort();
    programs.iter().for_each(|program| check_passes(program));
}
