//! Every archive of the conformance corpus is read; by default a sample, with `STRATA_CORPUS=all` the whole of it.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use strata_core::{
    ir::Context,
    registry::{Registry, load_dialect},
};
use strata_dialects::{
    aten::{ATEN, PRIMS},
    capture::CAPTURE,
};
use strata_frontend::{import, pt2::Program};

/// The archives that the manifest lists, thinned out unless everything is asked for.
pub fn archives() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance");
    let Ok(manifest) = std::fs::read(folder.join("manifest.json")) else {
        eprintln!("skipped: there is no {}", folder.display());
        return Vec::new();
    };
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).expect("the manifest is JSON");
    let cases = manifest["cases"].as_array().expect("the manifest lists cases");
    let step = if std::env::var("STRATA_CORPUS").is_ok_and(|value| value == "all") { 1 } else { 23 };
    cases.iter().step_by(step).map(|case| folder.join(case["pt2"].as_str().expect("a path"))).collect()
}

#[test]
fn archives_are_read() {
    let archives = archives();
    let start = Instant::now();
    let mut failures = Vec::new();
    let (mut weights, mut bytes) = (0, 0);
    for path in &archives {
        match Program::open(path) {
            Err(error) => failures.push(format!("{}: {error}", path.display())),
            Ok(program) => {
                for (name, weight) in program.weights.iter().chain(&program.constants) {
                    match weight.dense(program.archive.as_ref().expect("an archive")) {
                        Ok(dense) => (weights, bytes) = (weights + 1, bytes + dense.len()),
                        Err(error) => failures.push(format!("{}: {name}: {error}", path.display())),
                    }
                }
            }
        }
    }
    eprintln!("{} archives, {weights} weights of {bytes} bytes in {:?}", archives.len(), start.elapsed());
    assert!(failures.is_empty(), "{} archives fail:\n{}", failures.len(), failures[..failures.len().min(20)].join("\n"));
}

/// A context with the levels that an import makes.
pub fn context() -> Context {
    let context = Registry::new().with_upstream().with_dialect(&CAPTURE).with_dialect(&ATEN).with_dialect(&PRIMS).context();
    for dialect in ["func", "arith", "scf", "tensor", "capture", "aten", "prims"] {
        assert!(load_dialect(&context, dialect), "{dialect} is not registered");
    }
    context
}

#[test]
fn archives_are_imported() {
    let archives = archives();
    let start = Instant::now();
    let mut failures = Vec::new();
    let mut context = self::context();
    for (count, path) in archives.iter().enumerate() {
        // A context keeps all attributes it ever made; a fresh one now and then keeps memory flat.
        if count % 256 == 255 {
            context = self::context();
        }
        match import(path, None, &context) {
            Err(error) => failures.push(format!("{}: {error}", path.display())),
            Ok(imported) => {
                if std::env::var("STRATA_SHOW").is_ok_and(|name| path.ends_with(name)) {
                    eprintln!("{}", imported.module);
                }
            }
        }
    }
    eprintln!("{} of {} archives imported in {:?}", archives.len() - failures.len(), archives.len(), start.elapsed());
    assert!(failures.is_empty(), "{} archives fail:\n{}", failures.len(), failures[..failures.len().min(20)].join("\n"));
}
