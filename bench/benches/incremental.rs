//! What an edit costs: one of 1, 10, 100, 1,000 functions of a program changes, and the passes run again.
//!
//! `cold` starts with an empty database, `edit` with one that knows the program before the edit. No edit is one that was
//! made before.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use salsa::Setter;
use std::hint::black_box;
use strata_driver::incremental::{Database, Form, Pipeline, Source, run};

/// From PyTorch's operators to fused kernels, all passes that run on functions.
const PASSES: &str = "func.func(decompose-aten),func.func(canonicalize),func.func(cse),func.func(simplify-algebra),\
    func.func(simplify-views),func.func(simplify-sums),func.func(fuse-elementwise),func.func(fuse-reductions)";

/// A feed-forward layer with its normalisation, scaled by a number of its own.
fn function(name: usize, scale: usize) -> String {
    format!(
        "func.func @layer{name}(%x: tensor<8x64xf32>, %w: tensor<64x64xf32>, %b: tensor<64xf32>) -> tensor<8x64xf32> {{
  %m = aten.mm %x, %w : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %0 = aten.add.Tensor %m, %b {{alpha = 1 : i64}} : (tensor<8x64xf32>, tensor<64xf32>) -> tensor<8x64xf32>
  %1 = aten.gelu %0 {{approximate = \"none\"}} : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %2 = aten.mul.Scalar %1 {{other = {scale} : i64}} : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %3 = aten.add.Tensor %2, %x {{alpha = 1 : i64}} : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  %4 = aten.softmax.int %3 {{dim = -1 : i64}} : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %5 = aten.tanh %4 : (tensor<8x64xf32>) -> tensor<8x64xf32>
  return %5 : tensor<8x64xf32>
}}
"
    )
}

fn incremental(c: &mut Criterion) {
    let mut group = c.benchmark_group("incremental");
    group.sample_size(10);
    for count in [1, 10, 100, 1000] {
        let mut functions: Vec<String> = (0..count).map(|at| function(at, at)).collect();
        let text = functions.concat();
        group.bench_function(BenchmarkId::new("cold", count), |b| {
            b.iter(|| {
                let db = Database::new(strata_driver::standard(), None);
                let source = Source::new(&db, "layers".into(), text.clone(), Form::Written);
                let pipeline = Pipeline::parse(&db, PASSES).expect("it is a pipeline");
                black_box(run(&db, source, pipeline).expect("it runs"));
            });
        });
        let mut db = Database::new(strata_driver::standard(), None);
        let source = Source::new(&db, "layers".into(), text, Form::Written);
        let pipeline = Pipeline::parse(&db, PASSES).expect("it is a pipeline");
        run(&db, source, pipeline).expect("it runs");
        let mut edits = count;
        group.bench_function(BenchmarkId::new("edit", count), |b| {
            b.iter(|| {
                edits += 1;
                functions[count / 2] = function(count / 2, edits);
                source.set_text(&mut db).to(functions.concat());
                black_box(run(&db, source, pipeline).expect("it runs"));
            });
        });
    }
    group.finish();
}

criterion_group!(benches, incremental);
criterion_main!(benches);
