//! Calls, outputs, mutations, guards, damage.

use std::sync::{Arc, Mutex};

use strata_runtime::*;

use crate::program::{artefact, weights_file, weights_with};
use crate::vector;

#[test]
fn a_program_runs_and_keeps_its_state() {
    let weights = weights_file();
    let bytes = artefact(weights.path()).to_bytes();
    let session = Session::load(&Artefact::from_bytes(&bytes).unwrap(), None).unwrap();
    for n in [1usize, 5, 1000, 100_000] {
        let x: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let out = session.run(&[vector(&x), vector(&x)]).unwrap();
        assert!(out[0].values::<f32>().unwrap().iter().zip(&x).all(|(out, x)| *out == 5.0 * x));
    }
    let one = vector(&[1.0]);
    let calls = |out: Vec<Tensor>| out[1].values::<i64>().unwrap()[0];
    assert_eq!(calls(session.run(&[one.clone(), one.clone()]).unwrap()), 5);
    session.reset();
    assert_eq!(calls(session.run(&[one.clone(), one]).unwrap()), 1);
}

#[test]
fn new_values_take_the_place_of_the_old_ones() {
    let weights = weights_file();
    let session = Session::load(&artefact(weights.path()), None).unwrap();
    let (one, two) = (vector(&[1.0]), vector(&[1.0, 2.0]));
    let calls = || session.run(&[one.clone(), one.clone()]).unwrap()[1].values::<i64>().unwrap()[0];
    for _ in 0..3 {
        let out = session.run_outputs(&[&one, &one]).unwrap();
        assert_eq!((out.len(), out[0].values::<f32>().unwrap()), (1, &[5.0f32][..]));
    }
    // A call that is refused changes nothing.
    session.run_outputs(&[&one, &two]).unwrap_err();
    assert_eq!(calls(), 4);
    session.run_outputs(&[&one, &one]).unwrap();
    assert_eq!(calls(), 6);
    session.reset();
    session.run_outputs(&[&one, &one]).unwrap();
    assert_eq!(calls(), 2);
}

#[test]
fn new_weights_are_prepared_anew_by_the_same_code() {
    let (first, second, bad) = (weights_file(), weights_with(9.0), weights_with(-2.0));
    let (artefact, one) = (artefact(first.path()), vector(&[1.0]));
    for (weights, want) in [(None, 5.0), (Some(second.path()), 10.0)] {
        let session = Session::load(&artefact, weights).unwrap();
        for _ in 0..2 {
            assert_eq!(session.run(&[one.clone(), one.clone()]).unwrap()[0].values::<f32>().unwrap(), [want]);
        }
    }
    let refused = Session::load(&artefact, Some(bad.path())).unwrap_err().to_string();
    assert_eq!(refused, "the weights cannot be prepared: -2 has no root");
}

#[test]
fn forms_for_other_shapes_share_the_state() {
    let weights = weights_file();
    let (artefact, compiled) = (artefact(weights.path()), Arc::new(Mutex::new(Vec::new())));
    let asked = compiled.clone();
    let program = Specialised::new(move |sizes| {
        asked.lock().unwrap().push(sizes.to_owned());
        Ok(artefact.clone())
    });
    let mut calls = Vec::new();
    for n in [1, 2, 1, 2] {
        let x = vector(&vec![1.0; n]);
        let out = program.session(&[&x, &x]).unwrap().run(&[x.clone(), x.clone()]).unwrap();
        assert_eq!(out[0].values::<f32>().unwrap(), vec![5.0; n]);
        calls.push(out[1].values::<i64>().unwrap()[0]);
    }
    assert_eq!(calls, [1, 2, 3, 4]);
    assert_eq!(*compiled.lock().unwrap(), ["1:1", "2:2"]);
    assert_eq!(program.compiled(), 2);
}

#[test]
fn only_so_many_forms_are_kept() {
    let weights = weights_file();
    let artefact = artefact(weights.path());
    let program = Specialised::new(move |_| Ok(artefact.clone()));
    let call = |n: usize| {
        let x = vector(&vec![1.0; n]);
        program.session(&[&x, &x]).unwrap().run(&[x.clone(), x]).unwrap()[1].values::<i64>().unwrap()[0]
    };
    for n in 1..=specialised::KEPT {
        call(n);
    }
    call(1);
    call(specialised::KEPT + 1);
    assert_eq!(program.compiled(), specialised::KEPT + 1);
    call(1);
    assert_eq!(program.compiled(), specialised::KEPT + 1, "what was used last stays");
    assert_eq!(call(2), specialised::KEPT as i64 + 4, "the state outlives every form");
    assert_eq!(program.compiled(), specialised::KEPT + 2, "what was used longest ago went");
}

#[test]
fn violations_are_told_with_their_details() {
    let weights = weights_file();
    let session = Session::load(&artefact(weights.path()), None).unwrap();
    let tell = |inputs: &[Tensor]| session.run(inputs).unwrap_err().to_string();
    assert_eq!(tell(&[vector(&[1.0]), vector(&[1.0, 2.0])]), "input 1, dimension 0: found 2, wanted 1");
    assert_eq!(tell(&[vector(&[1.0])]), "the program takes 2 inputs, the call has 1");
    let wrong = Tensor::from_slice(DType::I32, &[1], &[1i32]).unwrap();
    assert_eq!(tell(&[wrong, vector(&[1.0])]), "input 0 `x` has element type i32, the program wants f32");
    let matrix = Tensor::from_slice(DType::F32, &[1, 1], &[1f32]).unwrap();
    assert_eq!(tell(&[vector(&[1.0]), matrix]), "input 1 `y` has rank 2, the program wants 1");
}

#[test]
fn outputs_may_be_the_callers_and_inputs_strided() {
    let weights = weights_file();
    let session = Session::load(&artefact(weights.path()), None).unwrap();
    let x = vector(&[1.0, 9.0, 2.0, 9.0, 3.0, 9.0]);
    let (mut size, mut stride) = ([3i64], [2i64]);
    let mut strided = x.dlpack();
    (strided.shape, strided.strides) = (size.as_mut_ptr(), stride.as_mut_ptr());
    let (mut out, mut short) = (vector(&[0.0; 3]), vector(&[0.0; 2]));
    let mut state = session.caller();
    // SAFETY: all tensors are alive; the outputs are written through their own memory.
    unsafe {
        let inputs = [&raw const strided, &raw const strided];
        let (into, too_short) = (out.dlpack(), short.dlpack());
        session.run_dlpack(&mut state, &inputs, &[&raw const into]).unwrap();
        assert_eq!(out.values::<f32>().unwrap(), [5.0, 10.0, 15.0]);
        let refused = session.run_dlpack(&mut state, &inputs, &[&raw const too_short]).unwrap_err().to_string();
        assert_eq!(refused, "output 0 `out`: it has shape [3], the tensor given for it has 8 bytes");
    }
    assert!(short.bytes_mut().iter().chain(&[0]).all(|&byte| byte == 0) && out.bytes_mut().len() == 12);
}

#[test]
fn no_memory_is_an_error_of_the_call() {
    let weights = weights_file();
    let session = Session::load(&artefact(weights.path()), None).unwrap();
    // One element, repeated: the input is small, its dense copy, the scratch and the result are not.
    let (x, mut size, mut stride) = (vector(&[3.0]), [1i64 << 44], [0i64]);
    let mut repeated = x.dlpack();
    (repeated.shape, repeated.strides) = (size.as_mut_ptr(), stride.as_mut_ptr());
    let run = |x: &dlpack::DLTensor| {
        let inputs = [&raw const *x, &raw const *x];
        // SAFETY: the tensor is alive.
        unsafe { session.run_pointers(&inputs) }
    };
    let text = run(&repeated).unwrap_err().to_string();
    assert!(text.starts_with("input 0 `x` out of memory: 70368744177664 bytes are asked for"), "{text}");
    let one = x.dlpack();
    assert_eq!(run(&one).unwrap()[0].values::<f32>().unwrap(), [15.0]);
    session.set_memory_limit(4);
    let refused = RunError::Memory(memory::MemoryError::Call { bytes: 4, taken: 4, limit: 4 });
    assert_eq!(run(&one).unwrap_err(), refused);
    session.set_memory_limit(usize::MAX);
    assert_eq!(run(&one).unwrap()[1].values::<i64>().unwrap(), [2], "a call that failed changed nothing");
}

#[test]
fn sessions_may_be_called_from_many_threads() {
    let weights = weights_file();
    let session = Session::load(&artefact(weights.path()), None).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for n in 1..200 {
                    let x = vector(&vec![n as f32; n * 7]);
                    assert!(session.run(&[x.clone(), x]).unwrap()[0].values::<f32>().unwrap().iter().all(|v| *v == 5.0 * n as f32));
                }
            });
        }
    });
}

#[test]
fn a_damaged_artefact_is_an_error() {
    let weights = weights_file();
    let good = artefact(weights.path()).to_bytes();
    assert!(matches!(Artefact::from_bytes(b"ELF, perhaps"), Err(ArtefactError::Foreign)));
    for cut in [0, 7, 20, 63, 64, 500, 4096, good.len() - 1] {
        assert!(Artefact::from_bytes(&good[..cut]).is_err(), "cut at {cut}");
    }
    for at in (0..good.len()).step_by(97) {
        let mut bad = good.clone();
        bad[at] ^= 0x10;
        // Padding between the manifest and the image belongs to neither.
        let padding = Artefact::from_bytes(&bad).is_ok_and(|read| read.image == artefact(weights.path()).image);
        assert!(Artefact::from_bytes(&bad).is_err() || padding, "flip at {at}");
    }
}

#[test]
fn images_that_ask_for_the_impossible_are_refused() {
    let weights = weights_file();
    let refused = |change: &dyn Fn(&mut Artefact)| {
        let mut artefact = artefact(weights.path());
        change(&mut artefact);
        Session::load(&artefact, None).unwrap_err().to_string()
    };
    let text = refused(&|a| a.manifest.layout.imports[0].name = "strata_lib_unheard_of".into());
    assert!(text.contains("needs the runtime function `strata_lib_unheard_of`"), "{text}");
    assert!(refused(&|a| a.manifest.target.features.push("avx9000".into())).contains("needs avx9000"));
    assert!(refused(&|a| a.manifest.layout.entry = 0x1000).contains("not in an executable segment"));
    assert!(refused(&|a| a.manifest.layout.prepare = Some(0x1000)).contains("not in an executable segment"));
    assert!(refused(&|a| a.manifest.layout.prepare = None).contains("no function that prepares them"));
    assert!(refused(&|a| a.manifest.prepared[0].shape = vec![Some(2)]).contains("prepared weight `root` has the shape [1]"));
    assert!(refused(&|a| a.manifest.layout.imports[0].offset = u64::MAX - 3).contains("a slot at"));
    assert!(refused(&|a| a.manifest.layout.segments[1].offset = 0).contains("a segment of"));
    assert!(refused(&|a| a.manifest.weights[0].source.entry = "gone".into()).contains("there is no such entry"));
    assert!(refused(&|a| a.manifest.weights[0].shape = vec![2]).contains("needs 8 bytes at offset 0, the entry has 4"));
    assert!(refused(&|a| a.manifest.weights[0].source.file = "/nowhere".into()).contains("weights file /nowhere"));
}
