//! Compile time by stage of the models in the repository: the compiler's own clock, summed over runs.

use std::path::{Path, PathBuf};
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use strata_runtime::compiler::Compiler;

/// The models, sorted.
fn models() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test/models");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut models: Vec<_> = entries.filter(|path| path.extension().is_some_and(|kind| kind == "pt2")).collect();
    models.sort();
    models
}

fn compile(c: &mut Criterion) {
    let compiler = match Compiler::open() {
        Ok(compiler) => compiler,
        Err(error) => return eprintln!("no compiler, nothing to measure: {error}"),
    };
    let mut group = c.benchmark_group("compile");
    group.sample_size(10);
    for model in models() {
        let name = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        // The first compilation sets the context up and tells the stages.
        let first = match compiler.compile(&model, "{}") {
            Ok(artefact) => artefact,
            Err(error) => {
                eprintln!("{name}: {error}");
                continue;
            }
        };
        group.bench_function(BenchmarkId::new(&name, "total"), |b| b.iter(|| compiler.compile(&model, "{}")));
        for stage in &first.manifest.timings {
            group.bench_function(BenchmarkId::new(&name, &stage.name), |b| {
                b.iter_custom(|runs| {
                    let micros: u64 = (0..runs).filter_map(|_| stage_micros(&compiler, &model, &stage.name)).sum();
                    // A stage below the clock's step still takes some time.
                    Duration::from_micros(micros).max(Duration::from_nanos(runs))
                })
            });
        }
    }
    group.finish();
}

/// How long one stage took in a compilation.
fn stage_micros(compiler: &Compiler, model: &Path, stage: &str) -> Option<u64> {
    let artefact = compiler.compile(model, "{}").ok()?;
    artefact.manifest.timings.iter().find(|time| time.name == stage).map(|time| time.micros)
}

criterion_group!(benches, compile);
criterion_main!(benches);
