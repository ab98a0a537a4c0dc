//! Compiled code gives what the interpreter gives: for random programs with fixed seeds, and for those where it once did not.

use std::path::Path;
use std::process::Command;

use strata_driver::{Options, Target, optional_passes, standard};
use strata_runtime::compare::{Tolerance, compare};
use strata_runtime::{DType, Session, Tensor};

#[test]
fn random_programs_agree_with_the_interpreter() {
    let run = Command::new(env!("CARGO_BIN_EXE_strata-fuzz")).args(["prim", "--count", "200", "--seed", "1", "--shrink", "20"]).output();
    let run = run.expect("the fuzzer starts");
    assert!(run.status.success(), "{}\n{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
}

#[test]
fn gradients_of_random_programs_are_slopes() {
    let run = Command::new(env!("CARGO_BIN_EXE_strata-fuzz")).args(["gradients", "--count", "400", "--seed", "1"]).output();
    let run = run.expect("the fuzzer starts");
    assert!(run.status.success(), "{}\n{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
}

#[test]
fn random_edits_give_what_a_fresh_start_gives() {
    let run = Command::new(env!("CARGO_BIN_EXE_strata-fuzz")).args(["edits", "--count", "300", "--seed", "1"]).output();
    let run = run.expect("the fuzzer starts");
    assert!(run.status.success(), "{}\n{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
}

#[test]
fn programs_that_were_wrong_once_agree() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("found");
    let mut files: Vec<_> = std::fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    for path in files {
        let all = optional_passes(standard(), Target::Cpu).into_iter().map(str::to_owned).collect();
        // The last is a CPU without any instruction for halves.
        for (skip, cpu) in [(Vec::new(), ""), (all, ""), (Vec::new(), "x86-64-v2")] {
            let options = Options { skip, cpu: cpu.into(), ..Options::default() };
            let compiled = strata_driver::compile(strata_driver::standard(), &path, &options, None);
            let compiled = compiled.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let session = Session::load(&compiled, None).expect("it loads");
            let inputs: Vec<Tensor> = session.manifest().inputs.iter().map(|input| numbers(input.dtype, &input.shape)).collect();
            let found = session.run(&inputs).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let wanted = strata_driver::interpret(strata_driver::standard(), &path, &options, inputs)
                .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            for (k, (found, want)) in found.iter().zip(wanted).enumerate() {
                let difference = compare(found, &want.tensor, Tolerance::default_for(found.dtype())).expect("one type");
                assert_eq!(difference.wrong, 0, "{}: result {k}: {:?}", path.display(), difference.describe(&want.tensor));
            }
        }
    }
}

/// Small whole numbers of both signs.
fn numbers(dtype: DType, shape: &[Option<i64>]) -> Tensor {
    let shape: Vec<i64> = shape.iter().map(|size| size.unwrap_or(5)).collect();
    let values = (0..shape.iter().product::<i64>()).map(|i| i * 7 % 11 - 3);
    let bytes = values.flat_map(|value| match dtype {
        DType::F32 => (value as f32).to_le_bytes().to_vec(),
        DType::F16 => half::f16::from_f64(value as f64).to_le_bytes().to_vec(),
        DType::F64 => (value as f64).to_le_bytes().to_vec(),
        _ => value.to_le_bytes()[..dtype.size()].to_vec(),
    });
    Tensor::from_bytes(dtype, &shape, &bytes.collect::<Vec<_>>()).expect("the shape fits")
}
