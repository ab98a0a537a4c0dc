//! What a call of a traced closure costs beside its program: the check of its guards, and all that stands around the session.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use strata::{Tensor, jit};
use strata_driver::{Options, SourceFile, compile, standard};
use strata_runtime::{Guards, Leaf, Session};

/// The program of the closure.
const PROGRAM: &str = "\
func.func @main(%x: tensor<16xf32> {capture.kind = \"input\", capture.name = \"x\"}) -> (tensor<16xf32> {capture.kind = \"output\"}) attributes {capture.entry} {
  %y = \"aten.relu\"(%x) : (tensor<16xf32>) -> tensor<16xf32>
  return %y : tensor<16xf32>
}
";

fn guards(c: &mut Criterion) {
    let tensor = strata_runtime::Tensor::uninit(strata_runtime::DType::F32, &[4, 8, 16]).expect("a small tensor");
    for inputs in [1, 4, 16] {
        let leaves = vec![Leaf::Tensor(&tensor); inputs];
        let guards = Guards::of(&leaves);
        c.bench_function(&format!("guards/{inputs} inputs of rank 3"), |b| {
            b.iter(|| {
                let mut check = black_box(&guards).check();
                black_box(&leaves).iter().for_each(|leaf| check.leaf(*leaf));
                check.holds()
            })
        });
    }
}

fn entries(c: &mut Criterion) {
    let source = SourceFile { path: "relu.mlir".as_ref(), text: Some(PROGRAM) };
    let artefact = compile(standard(), source, &Options::default(), None).expect("the program is right");
    let session = Session::load(&artefact, None).expect("the program is right");
    let x = Tensor::new(&[1f32; 16], &[16]).expect("16 floats");
    let value = x.value().expect("a value").clone();
    c.bench_function("jit/the program", |b| b.iter(|| session.run_refs(black_box(&[&value]))));
    let f = jit(|x: &Tensor| x.relu());
    c.bench_function("jit/a call", |b| b.iter(|| f.call(black_box(&x))));
    let broken = jit(|x: &Tensor| if x.sum().item() > 0.0 { x.relu() } else { x.neg() });
    c.bench_function("jit/a call of two segments", |b| b.iter(|| broken.call(black_box(&x))));
}

criterion_group!(benches, guards, entries);
criterion_main!(benches);
