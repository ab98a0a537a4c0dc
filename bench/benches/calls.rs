//! What a call costs around its kernels: the session, the thread pool, outputs, loading.

#[path = "../src/tests/copy.rs"]
mod copy;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use strata_runtime::{Artefact, DType, Session, Tensor, pool};

fn calls(c: &mut Criterion) {
    let artefact = copy::artefact();
    let session = Session::load(&artefact, None).expect("the program is right");
    let x = Tensor::from_slice(DType::F32, &[16], &[1f32; 16]).expect("16 floats");
    c.bench_function("call/new output", |b| b.iter(|| session.run_refs(black_box(&[&x]))));
    let out = x.clone();
    let (input, output) = (x.dlpack(), out.dlpack());
    let mut state = session.caller();
    c.bench_function("call/own output", |b| {
        // SAFETY: both tensors live to the end of the function, and `out` is not read meanwhile.
        b.iter(|| unsafe { session.run_dlpack(&mut state, black_box(&[&raw const input]), &[&raw const output]) })
    });
    let bytes = artefact.to_bytes();
    c.bench_function("load/artefact", |b| b.iter(|| Artefact::from_bytes(&bytes).map(|artefact| Session::load(&artefact, None))));
}

fn threads(c: &mut Criterion) {
    let data = vec![2f32; 1 << 20];
    for n in [64i64, 4096, 65_536, 1 << 20] {
        let body = |begin: i64, end: i64| {
            black_box(data[begin as usize..end as usize].iter().map(|v| v.sqrt()).sum::<f32>());
        };
        c.bench_function(&format!("pool/{n} square roots"), |b| b.iter(|| pool::global().each(n, 4096, body)));
        c.bench_function(&format!("alone/{n} square roots"), |b| b.iter(|| body(0, n)));
    }
}

/// Two equal parts of work, soon after the last ones or a while later: what is above half of the whole is the waking.
fn waking(c: &mut Criterion) {
    let work = |turns: i64| (0..turns).fold(black_box(1.0f64), |sum, _| sum.sqrt() + 1.0);
    let turns = 4000;
    c.bench_function("wake/work of one thread", |b| b.iter(|| black_box(work(2 * turns))));
    for pause in [0i64, 10, 40, 200] {
        c.bench_function(&format!("wake/two parts after {pause} us"), |b| {
            b.iter_custom(|times| {
                (0..times).fold(Duration::ZERO, |sum, _| {
                    let rest = Instant::now();
                    while rest.elapsed() < Duration::from_micros(pause as u64) {
                        std::hint::spin_loop();
                    }
                    let start = Instant::now();
                    pool::global().each(2, 0, |begin, end| {
                        black_box(work((end - begin) * turns));
                    });
                    sum + start.elapsed()
                })
            })
        });
    }
}

criterion_group!(benches, calls, threads, waking);
criterion_main!(benches);
