//! What layers cost: a program of 1, 12 and 80 equal ones, one of twelve edited, and the database against the plain pipeline.
//!
//! `./x bench -- layers` measures programs that it writes; `cargo bench --bench layers -- BASE.pt2 EDITED.pt2` two exported ones,
//! such as `bench/bert_layers.py` makes. Times are the least of several runs; shares are of pairs that run one after the other.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use strata_core::ir::Module;
use strata_core::pass::PassManager;
use strata_driver::incremental::{Database, Form, Pipeline, Source, run};
use strata_driver::{Options, compile_explained};
use strata_runtime::manifest::StageTime;
use strata_store::{Secret, Settings, Store};

mod layers_program;
use layers_program::program;

/// Runs of each measurement.
const RUNS: usize = 15;

/// From PyTorch's operators to fused kernels, all passes that run on functions.
const PASSES: &str = "func.func(decompose-aten),func.func(canonicalize),func.func(cse),func.func(simplify-algebra),\
    func.func(simplify-views),func.func(simplify-sums),func.func(fuse-elementwise),func.func(fuse-reductions)";

fn time<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let result = work();
    (start.elapsed(), result)
}

fn store(dir: &Path) -> Arc<Store> {
    let settings = Settings { dir: Some(dir.into()), size: Some(1 << 30), key: Some(Secret::new([7; 32])), ..Settings::default() };
    Arc::new(Store::open(&settings).expect("the folder is given").expect("the size is not zero"))
}

fn compiled(path: &Path, store: Option<&Arc<Store>>) -> Duration {
    time(|| compile_explained(strata_driver::standard(), path, &Options::default(), store).expect("it compiles")).0
}

/// The stages of a compilation, those above half a millisecond.
fn stages(timings: &[StageTime]) -> String {
    let long = timings.iter().filter(|stage| stage.micros >= 500);
    long.map(|stage| format!("{} {:.1}", stage.name, stage.micros as f64 / 1e3)).collect::<Vec<_>>().join(", ")
}

fn least(runs: impl Iterator<Item = Duration>) -> f64 {
    1e3 * runs.min().unwrap_or_default().as_secs_f64()
}

/// Median and 95% interval of the median of shares, by the order of the samples.
fn interval(mut shares: Vec<f64>) -> (f64, f64, f64) {
    shares.sort_by(f64::total_cmp);
    let (n, half) = (shares.len() as f64, 0.98 * (shares.len() as f64).sqrt());
    let at = |place: f64| shares[(place.max(0.0) as usize).min(shares.len() - 1)];
    (at(n / 2.0), at(n / 2.0 - half), at(n / 2.0 + half))
}

fn counts(dir: &Path) {
    let mut one = 0.0;
    for layers in [1, 12, 80] {
        let path = dir.join(format!("layers{layers}.mlir"));
        std::fs::write(&path, program(layers, None)).expect("the folder is ours");
        let cold = least((0..RUNS).map(|_| compiled(&path, None)));
        one = if layers == 1 { cold } else { one };
        println!("{layers:>3} equal layers    {cold:>8.1} ms, {:.2} times one", cold / one);
    }
}

/// An edited program behind the one before the edit, beside both from nothing.
fn edit(base: &Path, edited: &Path) {
    let runs = || (0..RUNS).map(|_| tempfile::tempdir().expect("there is room"));
    let cold = least(runs().map(|dir| compiled(edited, Some(&store(dir.path())))));
    let mut fastest = None;
    let warm = least(runs().map(|dir| {
        let store = store(dir.path());
        compiled(base, Some(&store));
        let (took, result) =
            time(|| compile_explained(strata_driver::standard(), edited, &Options::default(), Some(&store)).expect("it compiles"));
        if fastest.as_ref().is_none_or(|(least, _)| took < *least) {
            fastest = Some((took, result));
        }
        took
    }));
    println!("one layer edited    {warm:>8.1} ms, cold {cold:.1} ms: {:.0}%", 100.0 * warm / cold);
    if let Some((_, (artefact, report))) = fastest {
        println!("{report}\nms: {}", stages(&artefact.manifest.timings));
    }
}

/// The database, cold and without a store, against the same passes on the whole program.
fn overhead() {
    let registry = strata_driver::registry();
    for count in [1, 10, 100] {
        let function = |at: usize| program(1, None).replace("@main", &format!("@f{at}")).replace("0.125", &format!("{at}.125"));
        let text: String = (0..count).map(function).collect::<String>().replace(" attributes {capture.entry}", "");
        let context = registry.context();
        context.enable_multi_threading(false);
        let plain = || {
            let module = Module::parse(&context, &text, "layers").expect("it parses");
            PassManager::parse(module.cx(), "builtin.module", PASSES).expect("the passes exist").run(module.op()).expect("they run");
            module.to_string()
        };
        let database = || {
            let db = Database::new(strata_driver::standard(), None);
            let source = Source::new(&db, "layers".into(), text.clone(), Form::Written);
            let pipeline = Pipeline::parse(&db, PASSES).expect("it is a pipeline");
            run(&db, source, pipeline).expect("it runs").0
        };
        assert_eq!(plain(), database());
        let shares = (0..4 * RUNS).map(|_| (time(database).0.as_secs_f64(), time(plain).0.as_secs_f64()));
        let (share, low, high) = interval(shares.map(|(database, plain)| database / plain).collect());
        println!("database / passes on {count:>3} functions: {share:.3} ({low:.3} to {high:.3})");
    }
}

/// A whole compilation through the database and an empty store, against one without them.
fn overhead_of_compilation(path: &Path) {
    let pair = |_| {
        let dir = tempfile::tempdir().expect("there is room");
        let store = store(dir.path());
        compiled(path, Some(&store)).as_secs_f64() / compiled(path, None).as_secs_f64()
    };
    let dir = tempfile::tempdir().expect("there is room");
    for (name, store) in [("with", Some(store(dir.path()))), ("without", None)] {
        let (artefact, _) = compile_explained(strata_driver::standard(), path, &Options::default(), store.as_ref()).expect("it compiles");
        println!("{name} a store, ms: {}", stages(&artefact.manifest.timings));
    }
    let (share, low, high) = interval((0..4 * RUNS).map(pair).collect());
    println!("with an empty store / without: {share:.3} ({low:.3} to {high:.3})");
}

fn main() {
    let paths: Vec<PathBuf> = std::env::args().skip(1).filter(|arg| arg.ends_with(".pt2")).map(PathBuf::from).collect();
    let dir = tempfile::tempdir().expect("there is room");
    if let [base, edited] = paths.as_slice() {
        compiled(base, None);
        edit(base, edited);
        return overhead_of_compilation(base);
    }
    let (base, edited) = (dir.path().join("base.mlir"), dir.path().join("edited.mlir"));
    std::fs::write(&base, program(12, None)).expect("the folder is ours");
    std::fs::write(&edited, program(12, Some(5))).expect("the folder is ours");
    compiled(&base, None);
    counts(dir.path());
    edit(&base, &edited);
    overhead();
    overhead_of_compilation(&base);
}
