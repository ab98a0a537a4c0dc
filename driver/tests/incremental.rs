//! What an edit costs: exactly which groups of passes run again, and that the result is the one from scratch.

use expect_test::expect;
use salsa::Setter;
use std::fmt::Write;
use std::sync::Arc;
use strata_core::ir::Module;
use strata_core::pass::PassManager;
use strata_driver::incremental::{Database, Form, How, Pipeline, Record, Report, Source, run, run_unless_cancelled};
use strata_driver::standard;
use strata_store::{Secret, Settings, Store};

/// Two groups on functions with a barrier between them.
const PASSES: &str = "func.func(simplify-algebra,cse),canonicalize,func.func(fuse-elementwise)";

/// One function: `sum(x * factor + x)`, as the frontend would not write it, so that there is something to do.
fn function(name: &str, factor: &str) -> String {
    format!(
        "func.func private @{name}(%x: tensor<8xf32>) -> tensor<8xf32> {{
  %c = prim.constant {{value = dense<{factor}> : tensor<8xf32>}} : () -> tensor<8xf32>
  %one = prim.constant {{value = dense<1.0> : tensor<8xf32>}} : () -> tensor<8xf32>
  %0 = prim.mul %x, %c : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = prim.mul %0, %one : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = prim.add %1, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}}
"
    )
}

/// A program of so many functions, all different, and one that calls the first.
fn program(count: usize) -> Vec<String> {
    let mut functions: Vec<_> = (0..count).map(|at| function(&format!("f{at}"), &format!("{at}.5"))).collect();
    functions.push(
        "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f0(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
"
        .into(),
    );
    functions
}

/// The same without the database.
fn plain(text: &str, pipeline: &str) -> String {
    let context = standard().context();
    let module = Module::parse(&context, text, "test").expect("it parses");
    PassManager::parse(module.cx(), "builtin.module", pipeline).expect("the passes exist").run(module.op()).expect("they run");
    module.to_string()
}

struct Session {
    db: Database,
    source: Source,
    pipeline: Pipeline,
    passes: String,
}

impl Session {
    fn new(text: &str) -> Session {
        Session::with_store(text, None)
    }

    fn with_store(text: &str, store: Option<Store>) -> Session {
        let db = Database::new(standard(), store.map(Arc::new));
        let source = Source::new(&db, "test".into(), text.into(), Form::Written);
        // The passes must be known before a pipeline is read.
        plain("", PASSES);
        let pipeline = Pipeline::parse(&db, PASSES).expect("it is a pipeline");
        Session { db, source, pipeline, passes: PASSES.into() }
    }

    /// Runs, compares with the plain pipeline, and lists what was computed.
    fn run(&mut self) -> Vec<String> {
        let report = self.report();
        let computed = report.records.iter().filter(|record| record.how == How::Computed);
        computed.map(|record| format!("{} {}", record.name.as_deref().unwrap_or("module"), record.passes)).collect()
    }

    /// Runs; MLIR's own count of passes must say the same as our report of queries.
    fn report(&mut self) -> Report {
        let before = self.db.passes_run();
        let (text, report) = run(&self.db, self.source, self.pipeline).expect("it runs");
        let computed = report.records.iter().filter(|record| record.how == How::Computed);
        let ran = self.db.passes_run() - before;
        assert_eq!(ran, computed.map(passes_of).sum::<u64>(), "only what was reported ran: {report}");
        assert_eq!(text, plain(self.source.text(&self.db), &self.passes), "the result is the one from scratch");
        report
    }

    fn edit(&mut self, text: String) -> Vec<String> {
        self.source.set_text(&mut self.db).to(text);
        self.run()
    }
}

/// How many passes a record stands for. The caller's unit has a declaration of its callee, which passes on functions visit, too.
fn passes_of(record: &Record) -> u64 {
    let functions = if record.name.as_deref() == Some("main") { 2 } else { 1 };
    functions * record.passes.split("),").count() as u64
}

const FIRST: &str = "func.func(simplify-algebra),func.func(cse)";
const BARRIER: &str = "canonicalize";
const LAST: &str = "func.func(fuse-elementwise)";

fn of(function: &str) -> Vec<String> {
    vec![format!("{function} {FIRST}"), format!("module {BARRIER}"), format!("{function} {LAST}")]
}

#[test]
fn one_of_a_hundred_functions() {
    let mut functions = program(100);
    let mut session = Session::new(&functions.concat());
    assert_eq!(session.run().len(), 101 + 1 + 101, "everything is new");
    assert!(session.run().is_empty(), "nothing changed");
    functions[17] = function("f17", "3.0");
    assert_eq!(session.edit(functions.concat()), of("f17"));
}

#[test]
fn what_changes_no_meaning_costs_nothing() {
    let functions = program(5);
    let mut session = Session::new(&functions.concat());
    session.run();
    let renamed = functions.concat().replace("%2", "%sum");
    assert!(session.edit(renamed).is_empty(), "a value has another name");
    let spaced = functions.concat().replace("  %1", "    // a comment\n      %1");
    assert!(session.edit(spaced).is_empty(), "white space and comments");
    let moved = functions.concat().replace("return %2 : tensor<8xf32>\n", "return %2 : tensor<8xf32> loc(\"elsewhere\":3:4)\n");
    assert!(session.edit(moved).is_empty(), "an op stands in another line");
}

#[test]
fn a_change_and_its_undoing() {
    let functions = program(5);
    let mut session = Session::new(&functions.concat());
    session.run();
    let mut changed = functions.clone();
    changed[2] = function("f2", "9.0");
    assert_eq!(session.edit(changed.concat()), of("f2"));
    assert!(session.edit(functions.concat()).is_empty(), "it was known before");
}

#[test]
fn a_changed_weight_is_said_function_by_function() {
    let mut functions = program(2);
    let mut session = Session::new(&functions.concat());
    session.run();
    functions[1] = function("f1", "7.0");
    session.source.set_text(&mut session.db).to(functions.concat());
    expect![[r#"
        memory    @f0                      func.func(simplify-algebra),func.func(cse)
        computed  @f1                      func.func(simplify-algebra),func.func(cse) (changed)
        memory    @main                    func.func(simplify-algebra),func.func(cse)
        computed  module                   canonicalize (changed)
        memory    @f0                      func.func(fuse-elementwise)
        computed  @f1                      func.func(fuse-elementwise) (changed)
        memory    @main                    func.func(fuse-elementwise)
        3 computed, 0 from disk, 4 from memory"#]]
    .assert_eq(&session.report().to_string());
}

#[test]
fn another_pass_in_the_middle() {
    let functions = program(3);
    let mut session = Session::new(&functions.concat());
    session.run();
    session.passes = PASSES.replace("canonicalize", "canonicalize{max-iterations=3}");
    let passes = strata_driver::split_pipeline(&session.passes).expect("it is a pipeline");
    session.pipeline.set_passes(&mut session.db).to(passes);
    // What comes out of the barrier is what came out before: the wave stops there.
    assert_eq!(session.run(), ["module canonicalize{max-iterations=3}"]);
}

#[test]
fn a_function_more_and_two_in_another_order() {
    let mut functions = program(4);
    let mut session = Session::new(&functions.concat());
    session.run();
    functions.insert(2, function("new", "7.0"));
    assert_eq!(session.edit(functions.concat()), of("new"));
    functions.swap(0, 3);
    assert_eq!(session.edit(functions.concat()), ["module canonicalize"], "only the module is another");
}

#[test]
fn a_callee_by_its_body_and_by_its_signature() {
    let mut functions = program(3);
    let mut session = Session::new(&functions.concat());
    session.run();
    functions[0] = function("f0", "4.0");
    assert_eq!(session.edit(functions.concat()), of("f0"), "the caller depends on the signature only");
    functions[0] = functions[0].replacen("%x: tensor<8xf32>", "%x: tensor<8xf32> {test.mark}", 1);
    let computed = session.edit(functions.concat());
    assert!(computed.contains(&format!("main {FIRST}")), "{computed:?}");
    assert!(!computed.contains(&format!("f1 {FIRST}")), "{computed:?}");
}

#[test]
fn another_process_finds_all_of_it_on_disk() {
    let dir = tempfile::tempdir().expect("a folder");
    let store = || {
        let settings =
            Settings { dir: Some(dir.path().into()), size: Some(1 << 30), key: Some(Secret::new([7; 32])), ..Settings::default() };
        Store::open(&settings).expect("the folder is given")
    };
    let text = program(10).concat();
    let first = Session::with_store(&text, store()).report();
    assert_eq!(first.count(How::Computed), 11 + 1 + 11);
    let second = Session::with_store(&text, store()).report();
    assert_eq!((second.count(How::Computed), second.count(How::Disk)), (0, 11 + 1 + 11));
}

#[test]
fn what_does_not_run_is_an_error_and_the_next_edit_is_well() {
    let functions = program(2);
    let mut session = Session::new("func.func @broken(");
    assert!(run(&session.db, session.source, session.pipeline).is_err());
    assert_eq!(session.edit(functions.concat()).len(), 3 + 1 + 3);
}

#[test]
fn a_changed_input_cancels_what_runs() {
    const MANY: usize = 300;
    let mut session = Session::new(&program(MANY).concat());
    let (db, source, pipeline) = (session.db.clone(), session.source, session.pipeline);
    let running = std::thread::spawn(move || run_unless_cancelled(db, source, pipeline).is_none());
    while session.db.passes_run() == 0 {
        std::thread::yield_now();
    }
    session.source.set_text(&mut session.db).to(program(2).concat().replace(".5>", ".75>"));
    assert!(running.join().expect("it ends well"), "it gave no result");
    assert!(session.db.passes_run() < 3 * MANY as u64, "the rest never ran");
    assert_eq!(session.run().len(), 3 + 1 + 3);
}

/// A program where a pass has something to say, in this line of its source.
fn talkative(line: usize) -> String {
    format!(
        "func.func @f(%x: tensor<8xf32>) -> tensor<4x8xf32> {{
  %0 = prim.exp %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = prim.broadcast %0 {{dims = array<i64: 1>}} : (tensor<8xf32>) -> tensor<4x8xf32> loc(\"f.py\":{line}:3)
  return %1 : tensor<4x8xf32>
}}"
    )
}

#[test]
fn what_passes_say_is_said_again_where_it_is_now() {
    plain("", PASSES);
    let context = standard().context();
    let printed = |line| Module::parse(&context, &talkative(line), "test").expect("it parses").op().to_text_with_locations();
    let mut db = Database::new(standard(), None);
    let source = Source::new(&db, "test".into(), printed(7), Form::Located);
    let pipeline = Pipeline::parse(&db, "func.func(fuse-elementwise{remarks=true})").expect("it is a pipeline");
    let diagnostics = |db: &Database| {
        let (_, report) = run(db, source, pipeline).expect("it runs");
        (report.count(How::Computed), report.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>())
    };
    let (computed, first) = diagnostics(&db);
    assert_eq!(computed, 1);
    assert!(first[0].starts_with("f.py:7:3: remark: 'prim.exp' is not fused"), "{first:?}");
    assert_eq!(diagnostics(&db), (0, first.clone()), "a hit says the same");
    source.set_text(&mut db).to(printed(9));
    let (computed, moved) = diagnostics(&db);
    assert_eq!((computed, moved), (0, vec![first[0].replace(":7:", ":9:")]), "only the line moved");
}

#[test]
fn any_edits_give_what_a_fresh_start_gives() {
    let mut seed = 7u64;
    let mut random = move |below: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below
    };
    let mut functions = program(6);
    let mut session = Session::new(&functions.concat());
    for edit in 0..120 {
        let at = random(functions.len() - 1);
        match random(5) {
            // The first is called by another.
            0 if functions.len() > 3 && !functions[at].contains("@f0(") => drop(functions.remove(at)),
            1 => functions.insert(at, function(&format!("n{edit}"), &format!("{}.25", random(4)))),
            2 if at > 0 => functions.swap(at, at - 1),
            _ => {
                let mut factor = String::new();
                write!(factor, "{}.0", random(5)).expect("a text takes everything");
                let start = functions[at].find("dense<").expect("every function has a factor") + 6;
                let end = start + functions[at][start..].find('>').expect("it ends");
                functions[at].replace_range(start..end, &factor);
            }
        }
        session.edit(functions.concat());
    }
}
