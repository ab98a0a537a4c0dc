//! A process that holds the database: how many queries do their work after an edit.

use std::path::Path;
use std::sync::Arc;

use strata_driver::incremental::{How, Query, Report};
use strata_driver::{Held, Options, SourceFile, compile, lower, standard};
use strata_runtime::Artefact;

use super::layers::{GROUPS, program, store};

/// A program that is edited again and again.
struct Session {
    held: Held,
    name: &'static str,
}

impl Session {
    fn new() -> Session {
        Session { held: Held::new(standard()), name: "program.mlir" }
    }

    fn compile(&self, text: &str) -> (Arc<Artefact>, Report) {
        let file = SourceFile { path: Path::new(self.name), text: Some(text) };
        let (artefact, report) = self.held.compile(file, &Options::default(), None).unwrap();
        let scratch = compile(standard(), file, &Options::default(), None).unwrap();
        assert_eq!(artefact.image, scratch.image, "it is what a fresh start gives: {report}");
        (artefact, report)
    }

    /// What did its work: passes, objects, images.
    fn work(&self, text: &str) -> [usize; 3] {
        let (_, report) = self.compile(text);
        [Query::Passes, Query::Object, Query::Image].map(|query| report.count_of(query, How::Computed))
    }
}

#[test]
fn an_edited_layer_runs_its_passes_and_makes_its_kernels() {
    let session = Session::new();
    let first = session.work(&program(12, None));
    assert_eq!([first[0], first[2]], [GROUPS, 1], "all layers are one");
    // Its kernel, and the program that now calls it beside the others'.
    assert_eq!(session.work(&program(12, Some(5))), [GROUPS, 2, 1]);
    assert_eq!(session.work(&program(12, Some(6))), [GROUPS, 1, 1], "a layer of another name; its kernel is known");
    assert_eq!(session.work(&program(12, None)), [0, 0, 1], "the edit is undone");
}

#[test]
fn an_edited_schedule_makes_one_kernel() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("program.mlir");
    std::fs::write(&path, program(12, None)).unwrap();
    let text = lower(standard(), &path, "loop-scheduled", &Options::default()).unwrap();
    let session = Session::new();
    assert!(session.work(&text)[1] > 1);
    let edited = text.replacen("rows = 4", "rows = 2", 1);
    assert!(text != edited, "a kernel keeps rows");
    assert_eq!(session.work(&edited), [0, 1, 1]);
}

#[test]
fn an_unchanged_program_asks_for_nothing() {
    let session = Session::new();
    let text = program(3, None);
    let (first, _) = session.compile(&text);
    let (again, report) = session.compile(&text);
    assert!(Arc::ptr_eq(&first, &again));
    assert_eq!((report.records.len(), report.count_of(Query::Image, How::Memory)), (1, 1), "{report}");
}

#[test]
fn a_file_that_is_written_again_as_it_was_is_unchanged() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("program.mlir");
    let held = Held::new(standard());
    let compile = |text: &str| {
        std::fs::write(&path, text).unwrap();
        held.compile(&*path, &Options::default(), None).unwrap().1
    };
    assert_eq!(compile(&program(2, None)).count_of(Query::Image, How::Computed), 1);
    assert_eq!(compile(&program(2, None)).count_of(Query::Image, How::Memory), 1);
    assert_eq!(compile(&program(2, Some(0))).count_of(Query::Image, How::Computed), 1);
}

#[test]
fn what_does_not_compile_says_so_again_and_the_next_edit_is_well() {
    let session = Session::new();
    let broken = SourceFile { path: Path::new(session.name), text: Some("func.func @broken(") };
    let error = || session.held.compile(broken, &Options::default(), None).unwrap_err().to_string();
    let first = error();
    assert!(first.contains("program.mlir"), "{first}");
    assert_eq!(error(), first);
    session.compile(&program(2, None));
}

#[test]
fn another_process_finds_the_program_or_its_parts_in_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let compile = |text: &str| {
        let file = SourceFile { path: Path::new("program.mlir"), text: Some(text) };
        Held::new(standard()).compile(file, &Options::default(), Some(&store)).unwrap()
    };
    let (first, _) = compile(&program(4, None));
    let (again, report) = compile(&program(4, None));
    assert_eq!((report.records.len(), report.count_of(Query::Image, How::Disk)), (1, 1), "{report}");
    assert_eq!(again.image, first.image);
    let (_, report) = compile(&program(4, Some(1)));
    assert_eq!((report.count_of(Query::Passes, How::Disk), report.count_of(Query::Passes, How::Computed)), (GROUPS, GROUPS), "{report}");
}

/// Programs beyond those that are kept, from several threads at once: each is what a fresh start gives.
#[test]
fn many_programs_at_once() {
    let held = Held::new(standard());
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let held = &held;
            scope.spawn(move || {
                for at in 0..14 {
                    let (name, text) = (format!("{thread}.{at}.mlir"), program(1 + at % 3, (at % 2 == 0).then_some(0)));
                    let file = SourceFile { path: Path::new(&name), text: Some(&text) };
                    let (artefact, _) = held.compile(file, &Options::default(), None).unwrap();
                    assert_eq!(artefact.image, compile(standard(), file, &Options::default(), None).unwrap().image);
                }
            });
        }
    });
}
