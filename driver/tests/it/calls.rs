//! What crosses a call: numbers beside tensors, and the values that go from one part of a program to the next.

use std::path::PathBuf;

use strata_driver::{Options, compile, interpret, lower, standard};
use strata_runtime::compare::{Tolerance, compare};
use strata_runtime::dlpack::DLTensor;
use strata_runtime::{DType, Session, Tensor};

fn program(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/programs").join(name)
}

fn session(name: &str, part: &str) -> Session {
    let options = Options { part: part.into(), ..Options::default() };
    let artefact = compile(standard(), &program(name), &options, None).unwrap_or_else(|e| panic!("{e}"));
    Session::load(&artefact, None).unwrap()
}

fn floats(shape: &[i64]) -> Tensor {
    let values: Vec<f32> = (0..shape.iter().product()).map(|i: i64| i as f32 * 0.25 - 1.0).collect();
    Tensor::from_slice(DType::F32, shape, &values).unwrap()
}

fn number(dtype: DType, bytes: &[u8]) -> Tensor {
    Tensor::from_bytes(dtype, &[], bytes).unwrap()
}

fn same(found: &Tensor, wanted: &Tensor) {
    let difference = compare(found, wanted, Tolerance { rtol: 1e-6, atol: 1e-6 }).unwrap();
    assert_eq!(difference.wrong, 0, "{:?}", difference.describe(wanted));
}

#[test]
fn numbers_of_the_call_reach_code_and_interpreter() {
    let session = session("scalars.mlir", "");
    let inputs = |n: i64, b: bool| {
        vec![
            floats(&[5]),
            number(DType::I64, &n.to_le_bytes()),
            number(DType::F64, &1.5f64.to_le_bytes()),
            number(DType::Bool, &[b.into()]),
        ]
    };
    for (n, b) in [(3, true), (8, false), (0, true)] {
        let found = session.run(&inputs(n, b)).unwrap();
        let wanted = interpret(standard(), &program("scalars.mlir"), &Options::default(), inputs(n, b)).unwrap();
        assert_eq!((found.len(), wanted.len()), (3, 3));
        found.iter().zip(&wanted).for_each(|(found, wanted)| same(found, &wanted.tensor));
        assert_eq!(found[1].shape(), [n, 3]);
        assert_eq!(found[2].bytes(), (2 * n).to_le_bytes());
    }
    assert!(session.run(&inputs(9, true)).unwrap_err().to_string().contains("n <= 8"));
    assert!(
        interpret(standard(), &program("scalars.mlir"), &Options::default(), inputs(9, true)).unwrap_err().to_string().contains("n <= 8")
    );
    // A float for an int is another kind of call.
    let wrong = vec![floats(&[5]), number(DType::F64, &[0; 8]), number(DType::F64, &[0; 8]), number(DType::Bool, &[0])];
    assert!(session.run(&wrong).unwrap_err().to_string().contains("n"));
}

#[test]
fn a_broken_graph_runs_part_by_part() {
    let parts = ["", "resume_1", "resume_2"].map(|part| session("broken.mlir", part));
    let resumed: Vec<_> = parts.iter().map(|part| part.manifest().resume.as_ref().map(|next| next.part.as_str())).collect();
    assert_eq!(resumed, [Some("resume_1"), Some("resume_2"), None]);
    let one = parts[0].run(&[floats(&[2, 4])]).unwrap();
    let two = parts[1].run(&one).unwrap();
    // The new value of what the part wrote to comes behind what lives on.
    assert_eq!((two.len(), parts[1].manifest().outputs[1].name.as_str()), (2, "b"));
    let three = parts[2].run(&two[..1]).unwrap();
    let wanted = interpret(standard(), &program("broken.mlir"), &Options::default(), vec![floats(&[2, 4])]).unwrap();
    same(&three[0], &wanted[0].tensor);
    same(&two[1], &wanted[1].tensor);
    assert!(wanted[1].mutation && wanted[1].name == "b");
    // Guards of the second part hold when it is entered, not before.
    let one = parts[0].run(&[floats(&[4, 4])]).unwrap();
    assert!(parts[1].run(&one).unwrap_err().to_string().contains("at most 3"));
    assert!(interpret(standard(), &program("broken.mlir"), &Options::default(), vec![floats(&[4, 4])]).is_err());
}

/// Memory of NumPy's and of `malloc` is aligned to 16 bytes, a part of a tensor to an element. A result too large for the caches is stored
/// past them all the same where that may be.
fn fills_memory_wherever_it_begins(name: &str, shape: [usize; 2], wanted: impl Fn(&[f32]) -> Vec<f32>) {
    let session = session(name, "");
    let values: Vec<f32> = (0..shape[0] * shape[1]).map(|i| (i * 7919 % 1009) as f32 * 0.01 - 5.0).collect();
    let input = Tensor::from_slice(DType::F32, &shape.map(|size| size as i64), &values).unwrap();
    let wanted: Vec<f32> = values.chunks(shape[1]).flat_map(wanted).collect();
    let (x, mut state) = (input.dlpack(), session.caller());
    for bytes in [0, 4, 16, 32, 40, 48] {
        // A line of memory before and behind what is given keeps its numbers.
        let mut memory = vec![-1.0f32; 16 + 16 + values.len() + 16];
        let line = memory.as_ptr().align_offset(64);
        let first = line + 16 + bytes / 4;
        let given = DLTensor { data: memory[first..].as_mut_ptr().cast(), ..x };
        // SAFETY: both describe memory of this function, and nobody else looks at it during the call.
        unsafe { session.run_dlpack(&mut state, &[&raw const x], &[&raw const given]) }.unwrap();
        let (found, behind) = memory[first..].split_at(wanted.len());
        let wrong = found.iter().zip(&wanted).position(|(found, wanted)| (found - wanted).abs() > 4e-6 * wanted.abs());
        assert_eq!(wrong, None, "{name}, {bytes} bytes behind a line");
        assert!(behind.iter().chain(&memory[..first]).all(|&x| x == -1.0), "{name}, {bytes} bytes behind a line");
    }
}

fn softmax(row: &[f32]) -> Vec<f32> {
    let sum: f64 = row.iter().map(|&x| f64::from(x).exp()).sum();
    row.iter().map(|&x| (f64::from(x).exp() / sum) as f32).collect()
}

#[test]
fn large_results_fill_their_memory_and_no_more_wherever_it_begins() {
    // Rows that all begin alike, rows that do not, and no rows at all.
    fills_memory_wherever_it_begins("large_softmax.mlir", [4224, 1000], softmax);
    fills_memory_wherever_it_begins("large_softmax_odd.mlir", [4224, 1001], softmax);
    fills_memory_wherever_it_begins("large_sum.mlir", [4224, 1001], |row| row.iter().map(|x| x + x).collect());
}

#[test]
fn parts_that_are_not_there_are_named() {
    let options = Options { part: "resume_9".into(), ..Options::default() };
    let error = lower(standard(), &program("broken.mlir"), "aten", &options).unwrap_err();
    assert!(error.to_string().contains("resume_9"), "{error}");
}
