//! Passes: options, pipelines, analyses, failures, panics, threads.

use crate::toy::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use strata_core::pass::{PassManager, PipelineDef, PipelineError, run_pipeline, statistics};
use strata_core::prelude::*;
use strata_core::registry::Registry;

/// Marks each function with the option values.
#[derive(Pass)]
#[pass(name = "toy-mark", anchor = "func.func")]
pub struct Mark {
    /// A number.
    #[option(default = -7)]
    number: i64,
    /// A factor.
    #[option(default = 1.5)]
    factor: f64,
    /// A name.
    #[option(default = "plain")]
    label: String,
    /// Sizes.
    sizes: Vec<i64>,
    /// Names.
    names: Vec<String>,
    /// Whether to panic.
    panic: bool,
    /// Whether to fail.
    fail: bool,
    /// Functions marked.
    marked: Counter,
}

impl Pass for Mark {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        assert!(!self.panic, "as asked");
        if self.fail {
            return Err(PassError::new("as asked"));
        }
        let Mark { number, factor, label, sizes, names, .. } = self;
        cx.rewriter().set_attr(op, "toy.mark", op.cx().str_attr(&format!("{number} {factor} {label} {sizes:?} {names:?}")));
        self.marked.add(1);
        Ok(())
    }
}

static COMPUTED: AtomicUsize = AtomicUsize::new(0);

/// Names of the ops in a function.
struct Names;

impl Analysis for Names {
    type Of<'c> = Vec<Op<'c>>;
    fn compute(op: Op<'_>) -> Vec<Op<'_>> {
        COMPUTED.fetch_add(1, Ordering::Relaxed);
        let mut ops = Vec::new();
        op.walk(&mut |op| ops.push(op));
        ops
    }
}

/// Asks for an analysis, twice.
#[derive(Pass)]
#[pass(name = "toy-ask", anchor = "func.func")]
pub struct Ask {
    /// Says that the analysis stays true.
    keep: bool,
}

impl Pass for Ask {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        assert_eq!(cx.analysis::<Names>(op).len(), cx.analysis::<Names>(op).len());
        if self.keep {
            cx.preserve::<Names>();
        }
        Ok(())
    }
}

/// Runs a pipeline in itself.
#[derive(Pass)]
#[pass(name = "toy-nest")]
pub struct Nest {
    /// The pipeline.
    pipeline: String,
}

impl Pass for Nest {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        cx.run_pipeline(op, &self.pipeline)
    }
}

const PASSES: &[PassEntry] = &[PassEntry::of::<Mark>(), PassEntry::of::<Ask>(), PassEntry::of::<Nest>()];

fn registry() -> Registry {
    let pipeline = PipelineDef {
        name: "toy-both",
        description: "Marks and asks.",
        text: |_| "func.func(toy-mark{number=1},toy-ask)".into(),
        passes: || vec!["toy-mark", "toy-ask"],
    };
    Registry::new().with_upstream().with_upstream_passes().with_dialect(&TOY).with_passes(PASSES).with_pipelines(&[pipeline])
}

fn context_with_passes() -> Context {
    registry().context()
}

fn run(text: &str, pipeline: &str) -> Result<String, PipelineError> {
    let context = context_with_passes();
    let module = parse(&context, text).unwrap();
    run_pipeline(module.op(), pipeline).map(|()| module.to_string())
}

const EMPTY: &str = "func.func @f() { return }";

#[test]
fn options_have_defaults_and_are_read() {
    let text = run(EMPTY, "func.func(toy-mark)").unwrap();
    assert!(text.contains(r#"toy.mark = "-7 1.5 plain [] []""#), "{text}");
    let text = run(EMPTY, "func.func(toy-mark{number=3 factor=2 label=x sizes=1,2 names=a,b})").unwrap();
    assert!(text.contains(r#"toy.mark = "3 2 x [1, 2] [\22a\22, \22b\22]""#), "{text}");
    assert_eq!(Mark::default().number, -7);
    assert!(statistics().iter().any(|statistic| (statistic.pass, statistic.name) == ("toy-mark", "marked") && statistic.count >= 2));
}

#[test]
fn pipelines_have_names() {
    assert!(run(EMPTY, "toy-both").unwrap().contains("toy.mark = \"1 "));
    assert!(run(EMPTY, "builtin.module(toy-nest{pipeline=func.func(toy-mark)},cse)").unwrap().contains("toy.mark"));
}

#[test]
fn passes_are_added_to_pipelines_that_have_their_place() {
    let added = registry().with_pass_in("toy-both", "toy-ask", "toy-mark{number=2}");
    assert_eq!(added.additions().iter().map(|addition| addition.name()).collect::<Vec<_>>(), ["toy-mark"]);
    let refused = |pipeline, behind| std::panic::catch_unwind(|| registry().with_pass_in(pipeline, behind, "toy-mark")).is_err();
    assert!(refused("toy-neither", "toy-ask"));
    assert!(refused("toy-both", "toy-nest"));
}

#[test]
fn wrong_text_is_an_error() {
    let error = run(EMPTY, "func.func(no-such-pass)").unwrap_err().to_string();
    assert!(error.contains("'no-such-pass' does not refer to a registered pass"), "{error}");
    let error = run(EMPTY, "func.func(toy-mark{nmber=1})").unwrap_err().to_string();
    assert!(error.contains("no such option nmber"), "{error}");
    let error = run(EMPTY, "toy-nest{pipeline=nothing}").unwrap_err().to_string();
    assert!(error.contains("cannot run the pipeline 'nothing'"), "{error}");
}

#[test]
fn failures_and_panics_are_diagnostics() {
    let error = run(EMPTY, "func.func(toy-mark{fail=true})").unwrap_err().to_string();
    assert!(error.contains("test:1:1: 'func.func' op the pass 'toy-mark' failed: as asked"), "{error}");
    let many: String = (0..200).map(|index| format!("func.func @f{index}() {{ return }}\n")).collect();
    let error = run(&many, "func.func(toy-mark{panic=true})").unwrap_err().to_string();
    assert_eq!(error.matches("the pass 'toy-mark' panicked: as asked").count(), 200, "{error}");
}

#[test]
fn analyses_live_until_a_pass_changes_the_op() {
    let before = COMPUTED.load(Ordering::Relaxed);
    run(EMPTY, "func.func(toy-ask{keep=true},toy-ask{keep=true})").unwrap();
    assert_eq!(COMPUTED.load(Ordering::Relaxed) - before, 1);
    run(EMPTY, "func.func(toy-ask,toy-ask)").unwrap();
    assert_eq!(COMPUTED.load(Ordering::Relaxed) - before, 3);
}

#[test]
fn a_pass_manager_runs_often() {
    let context = context_with_passes();
    let manager = PassManager::parse(Cx::from(&context), "builtin.module", "func.func(toy-mark)").unwrap().verify_each(false);
    for _ in 0..3 {
        let module = parse(&context, EMPTY).unwrap();
        manager.run(module.op()).unwrap();
        assert!(module.to_string().contains("toy.mark"));
    }
}
