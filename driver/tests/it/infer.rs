//! Types of ATen operators: inferred ones against those that the programs of the corpus declare; by default of a sample, with
//! `STRATA_CORPUS=all` of the whole of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use strata_core::ir::{Context, DYNAMIC, Op, Type};
use strata_core::registry::load_dialect;
use strata_dialects::aten::{OPERATORS, Operator, is_operator};
use strata_lowering::aten_to_prim::{has_rule, infer};

/// Operators without a rule of their own: normalisations that are functionalised first, numbers of results that values decide, views in
/// place and in storages, and results that nobody asked for.
const WITHOUT_RULE: &[&str] = &[
    "aten._batch_norm_with_update",
    "aten._native_batch_norm_legit",
    "aten._scaled_dot_product_flash_attention_for_cpu",
    "aten.chunk",
    "aten.embedding_bag.padding_idx",
    "aten.histogramdd",
    "aten.resize_",
    "aten.squeeze_.dim",
    "aten.tensor_split.tensor_indices_or_sections",
    "aten.unique_consecutive",
    "prims.as_strided",
];

/// Operators whose inferred types differ from declared ones, and one example of each.
type Misses = BTreeMap<String, (usize, String)>;

#[test]
fn types_are_those_that_programs_declare() {
    let archives = archives();
    let (next, counted, misses) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Misses::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(path) = archives.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let context = strata_driver::standard().context();
                    let ops = compare(&context, path, &misses);
                    counted.fetch_add(ops, Ordering::Relaxed);
                }
            });
        }
    });
    let misses = misses.into_inner().expect("no thread failed");
    let told: Vec<_> = misses
        .iter()
        .filter(|(name, _)| !WITHOUT_RULE.contains(&name.as_str()))
        .map(|(name, (times, example))| format!("{name}: {times} times; {example}"))
        .collect();
    eprintln!("{} archives, {} operators", archives.len(), counted.into_inner());
    assert!(told.is_empty(), "{} operators are inferred otherwise than declared:\n{}", told.len(), told.join("\n"));
}

fn archives() -> Vec<PathBuf> {
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

/// Compares all operators of a program; gives how many there are.
fn compare(context: &Context, path: &Path, misses: &Mutex<Misses>) -> usize {
    load_dialect(context, "capture");
    load_dialect(context, "prim");
    OPERATORS.iter().for_each(|dialect| assert!(load_dialect(context, dialect.name)));
    let imported = strata_frontend::import(path, None, context).expect("the corpus is imported");
    let mut ops = Vec::new();
    imported.module.op().walk(&mut |op| ops.push(op));
    // What has no decomposition is named by the decomposition, and what is written to is functionalised first.
    let known =
        |op: &Op<'_>| is_operator(*op) && Operator::of(*op).is_some_and(|operator| operator.schema().is_mutable() || has_rule(operator));
    let ops: Vec<_> = ops.into_iter().filter(known).collect();
    for op in &ops {
        let problem = match infer(*op) {
            Err(why) => Some(format!("{why}")),
            Ok(types) if agree(&types, *op) => None,
            Ok(types) => Some(format!("{types:?} for {op}")),
        };
        if let Some(problem) = problem {
            let mut misses = misses.lock().expect("no thread failed");
            misses.entry(op.name().to_owned()).or_insert_with(|| (0, format!("{problem} in {}", path.display()))).0 += 1;
        }
    }
    ops.len()
}

/// Whether types are those of the results, as far as both know the sizes; results of type `none` are not there.
fn agree(types: &[Type<'_>], op: Op<'_>) -> bool {
    let size = |(a, b): (&i64, &i64)| a == b || *a == DYNAMIC || *b == DYNAMIC;
    let same = |(inferred, declared): (&Type<'_>, Type<'_>)| match (inferred.is_tensor(), declared.is_tensor()) {
        (true, true) => {
            let (a, b) = (inferred.shape(), declared.shape());
            inferred.element_type() == declared.element_type() && a.len() == b.len() && a.iter().zip(&b).all(size)
        }
        (_, false) if declared.to_string() == "none" => true,
        _ => *inferred == declared,
    };
    types.len() == op.num_results() && types.iter().zip(op.result_types()).all(same)
}
