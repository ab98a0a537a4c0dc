//! Training from Rust: twenty steps are those of PyTorch, checkpoints go on, and what makes no step is told.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use strata_driver::train::{Step, grad};
use strata_driver::{Autocast, Gradient, Half, Options, SourceFile, compile, standard};
use strata_runtime::{DType, Session, Tensor, TensorFile};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../test/conformance/steps")
}

/// Element `k` along the first dim.
fn at(tensor: &Tensor, k: usize) -> Tensor {
    let (shape, bytes) = (&tensor.shape()[1..], tensor.bytes());
    let size = bytes.len() / tensor.shape()[0] as usize;
    Tensor::from_bytes(tensor.dtype(), shape, &bytes[k * size..][..size]).unwrap()
}

fn close(found: &Tensor, wanted: &Tensor, (relative, absolute): (f64, f64), name: &str) {
    assert_eq!((found.dtype(), found.shape()), (wanted.dtype(), wanted.shape()), "{name}");
    if wanted.dtype() != DType::F32 {
        return assert_eq!(found.bytes(), wanted.bytes(), "{name}");
    }
    for (found, wanted) in found.values::<f32>().unwrap().iter().zip(wanted.values::<f32>().unwrap()) {
        let (found, wanted) = (f64::from(*found), f64::from(*wanted));
        assert!((found - wanted).abs() <= absolute + relative * wanted.abs(), "{name}: {found} and PyTorch's {wanted}");
    }
}

/// Makes the steps of a case and compares losses, parameters and buffers.
fn twenty_steps(model: &str, optimizer: &str) {
    twenty_steps_with(model, optimizer, &Options::default());
}

fn twenty_steps_with(model: &str, optimizer: &str, options: &Options) {
    let name = format!("{model}.{optimizer}");
    let file = TensorFile::read(&folder().join(format!("{name}.safetensors"))).unwrap();
    let path = folder().join(format!("{model}.pt2"));
    let autocast = match file.metadata.get("autocast").map(String::as_str) {
        Some("bf16") => Some(Autocast::Bf16),
        Some("f16") => Some(Autocast::F16),
        _ => None,
    };
    let options = &Options { autocast, ..options.clone() };
    // A half is known to its eighth or eleventh bit.
    let far = autocast.map(|_| (2e-2, 1e-2));
    let step = Step::compile(standard(), path.as_path(), &file.metadata["train"], options, None).unwrap();
    let inputs = file.numbered("in_");
    for k in 0..20 {
        let batch: Vec<_> = inputs.iter().map(|tensor| at(tensor, k)).collect();
        let results = step.run(&batch.iter().collect::<Vec<_>>()).unwrap();
        close(&results[0], &at(&file.tensors["losses"], k), far.unwrap_or((5e-4, 5e-5)), &format!("{name}, loss {k}"));
    }
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = folder.path().join("checkpoint.safetensors");
    step.save(&checkpoint).unwrap();
    let trained = TensorFile::read(&checkpoint).unwrap();
    for weight in step.manifest().weights.iter().filter(|weight| !weight.source.zeros) {
        close(
            &trained.tensors[&weight.name],
            &file.tensors[&weight.name],
            far.unwrap_or((2e-3, 5e-4)),
            &format!("{name}, {}", weight.name),
        );
    }
}

#[test]
fn twenty_steps_of_an_mlp_are_pytorchs() {
    ["sgd", "momentum", "adam", "adamw"].into_iter().for_each(|optimizer| twenty_steps("mlp", optimizer));
}

#[test]
fn twenty_steps_of_a_network_with_batch_norm_are_pytorchs() {
    ["sgd", "momentum", "adam", "adamw"].into_iter().for_each(|optimizer| twenty_steps("cnn", optimizer));
}

#[test]
fn twenty_steps_of_a_transformer_are_pytorchs() {
    ["sgd", "momentum", "adam", "adamw"].into_iter().for_each(|optimizer| twenty_steps("transformer", optimizer));
}

#[test]
fn twenty_steps_of_an_lstm_are_pytorchs() {
    ["sgd", "momentum", "adam", "adamw"].into_iter().for_each(|optimizer| twenty_steps("lstm", optimizer));
}

#[test]
fn settings_are_pytorchs() {
    ["nesterov", "dampening", "amsgrad", "clipped", "accumulated", "groups", "bf16", "f16"]
        .into_iter()
        .for_each(|settings| twenty_steps("mlp", settings));
}

#[test]
fn steps_that_compute_again_are_pytorchs() {
    for (model, rematerialise) in [("mlp", ""), ("cnn", ""), ("cnn", "budget=0.2"), ("transformer", "budget=0.3"), ("lstm", "bytes=1000")] {
        let options = Options { rematerialise: Some(rematerialise.to_owned()), ..Options::default() };
        twenty_steps_with(model, "adam", &options);
    }
}

/// `(w x)^2`.
const SQUARE: &str = r#"func.func @main(%w: tensor<f32> {capture.kind = "parameter", capture.name = "w", capture.requires_grad},
                %x: tensor<f32> {capture.kind = "input", capture.name = "x"}) -> (tensor<f32> {capture.kind = "output"}) attributes {capture.entry} {
  %0 = aten.mul.Tensor %w, %x : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = aten.mul.Tensor %0, %0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}"#;

fn number(value: f32) -> Tensor {
    Tensor::from_slice(DType::F32, &[], &[value]).unwrap()
}

fn value(tensor: &Tensor) -> f32 {
    tensor.values::<f32>().unwrap()[0]
}

fn square() -> SourceFile<'static> {
    SourceFile { path: Path::new("square.mlir"), text: Some(SQUARE) }
}

#[test]
fn a_checkpoint_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (weights, checkpoint) = (folder.path().join("w.safetensors"), folder.path().join("checkpoint.safetensors"));
    TensorFile::write(&weights, &[("w".to_owned(), &number(1.0))]).unwrap();
    let compile = |weights: &Path| Step::compile(standard(), square(), "adamw,lr=0.1", &Options::default(), Some(weights)).unwrap();
    let (first, x) = (compile(&weights), number(2.0));
    let losses: Vec<_> = (0..6)
        .map(|k| {
            if k == 3 {
                first.save(&checkpoint).unwrap();
            }
            value(&first.run(&[&x]).unwrap()[0])
        })
        .collect();
    assert!(losses.windows(2).all(|pair| pair[1] < pair[0]), "{losses:?}");
    let second = compile(&checkpoint);
    let again = |step: &Step| (0..3).map(|_| value(&step.run(&[&x]).unwrap()[0])).collect::<Vec<_>>();
    assert_eq!(again(&second), losses[3..]);
    second.restore(&checkpoint).unwrap();
    assert_eq!(again(&second), losses[3..]);
    // Weights alone begin again; a file with a part of the state is none of this program's.
    second.restore(&weights).unwrap();
    assert_eq!(again(&second), losses[..3]);
    TensorFile::write(&weights, &[("w".to_owned(), &number(1.0)), ("step".to_owned(), &number(1.0))]).unwrap();
    let error = second.restore(&weights).unwrap_err().to_string();
    assert!(error.contains("weight `w.exp_avg`"), "{error}");
}

/// `tanh(linear(x, w)).sum()` at sizes that divide by nothing, where rows and columns are less or more than registers hold.
fn odd(rows: usize, columns: usize) -> String {
    let (w, x, y) = (format!("tensor<{rows}x{columns}xf32>"), format!("tensor<5x{columns}xf32>"), format!("tensor<5x{rows}xf32>"));
    format!(
        r#"func.func @main(%w: {w} {{capture.kind = "parameter", capture.name = "w", capture.requires_grad}},
                %x: {x} {{capture.kind = "input", capture.name = "x"}}) -> (tensor<f32> {{capture.kind = "output"}}) attributes {{capture.entry}} {{
  %0 = aten.linear %x, %w {{segments = array<i64: 1, 1, 0>}} : ({x}, {w}) -> {y}
  %1 = aten.tanh %0 : {y}
  %2 = aten.sum %1 : ({y}) -> tensor<f32>
  return %2 : tensor<f32>
}}"#
    )
}

/// The bytes of the weights behind steps whose new values are written in place, or beside the old ones.
fn trained(session: &Session, inputs: &[&Tensor], in_place: bool) -> HashMap<String, Vec<u8>> {
    for _ in 0..3 {
        match in_place {
            true => session.run_outputs(inputs).map(|_| ()),
            false => session.run_refs(inputs).map(|_| ()),
        }
        .unwrap();
    }
    saved(session)
}

fn saved(session: &Session) -> HashMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.safetensors");
    session.save_weights(&path).unwrap();
    TensorFile::read(&path).unwrap().tensors.into_iter().map(|(name, tensor)| (name, tensor.bytes().to_vec())).collect()
}

fn in_place(session: &Session) -> Vec<&str> {
    session.manifest().outputs.iter().filter(|out| out.in_place).map(|out| out.name.as_str()).collect()
}

#[test]
fn new_values_in_place_are_those_beside_the_old_ones() {
    let options = Options { train: Some("adamw,lr=0.1".to_owned()), ..Options::default() };
    for (rows, columns) in [(37, 53), (1, 9), (64, 17), (3, 1000), (129, 31)] {
        let (folder, text) = (tempfile::tempdir().unwrap(), odd(rows, columns));
        let weights = folder.path().join("w.safetensors");
        let numbers = |count: usize| (0..count).map(|k| ((k * 37 % 101) as f32 - 50.0) / 100.0).collect::<Vec<_>>();
        let w = Tensor::from_slice(DType::F32, &[rows as i64, columns as i64], &numbers(rows * columns)).unwrap();
        TensorFile::write(&weights, &[("w".to_owned(), &w)]).unwrap();
        let x = Tensor::from_slice(DType::F32, &[5, columns as i64], &numbers(5 * columns)).unwrap();
        let source = SourceFile { path: Path::new("odd.mlir"), text: Some(&text) };
        let artefact = compile(standard(), source, &options, None).unwrap();
        let session = || Session::load(&artefact, Some(&weights)).unwrap();
        assert_eq!(in_place(&session()), ["step", "w.exp_avg", "w.exp_avg_sq", "w"], "{rows} {columns}");
        assert_eq!(trained(&session(), &[&x], true), trained(&session(), &[&x], false), "{rows} {columns}");
    }
    for model in ["mlp", "cnn", "transformer", "lstm"] {
        let artefact = compile(standard(), self::folder().join(format!("{model}.pt2")).as_path(), &options, None).unwrap();
        let session = || Session::load(&artefact, None).unwrap();
        let file = TensorFile::read(&self::folder().join(format!("{model}.adamw.safetensors"))).unwrap();
        let batch: Vec<_> = file.numbered("in_").into_iter().map(|tensor| at(tensor, 0)).collect();
        let inputs: Vec<_> = batch.iter().collect();
        let (beside, place) = (trained(&session(), &inputs, false), trained(&session(), &inputs, true));
        assert_eq!(beside, place, "{model}");
    }
}

/// A step whose labels are none is refused before anything is written.
#[test]
fn a_step_that_fails_changes_nothing() {
    let options = Options { train: Some("adamw,lr=0.1".to_owned()), ..Options::default() };
    for model in ["mlp", "transformer"] {
        let artefact = compile(standard(), folder().join(format!("{model}.pt2")).as_path(), &options, None).unwrap();
        let session = Session::load(&artefact, None).unwrap();
        assert!(!in_place(&session).is_empty(), "{model}");
        let file = TensorFile::read(&folder().join(format!("{model}.adamw.safetensors"))).unwrap();
        let mut batch: Vec<_> = file.numbered("in_").into_iter().map(|tensor| at(tensor, 0)).collect();
        session.run_outputs(&batch.iter().collect::<Vec<_>>()).unwrap();
        let before = saved(&session);
        let target = batch.last_mut().unwrap();
        assert_eq!(target.dtype(), DType::I64);
        *target = Tensor::from_slice(DType::I64, target.shape(), &vec![1_i64 << 40; target.len()]).unwrap();
        session.run_outputs(&batch.iter().collect::<Vec<_>>()).unwrap_err();
        assert_eq!(saved(&session), before, "{model}");
    }
}

#[test]
fn gradients_come_behind_the_outputs() {
    let folder = tempfile::tempdir().unwrap();
    let weights = folder.path().join("w.safetensors");
    TensorFile::write(&weights, &[("w".to_owned(), &number(3.0))]).unwrap();
    let joint = grad(standard(), square(), &["w", "x"], &Options::default(), Some(&weights)).unwrap();
    let results = joint.run(&[number(2.0), number(1.0)]).unwrap();
    assert_eq!(results.iter().map(value).collect::<Vec<_>>(), [36.0, 24.0, 36.0]);
}

#[test]
fn what_makes_no_step_is_one_line() {
    let refused = |optimizer: &str, text: &str| {
        let source = SourceFile { path: Path::new("square.mlir"), text: Some(text) };
        Step::compile(standard(), source, optimizer, &Options::default(), None).unwrap_err().to_string()
    };
    let vector = SQUARE.replace("tensor<f32>", "tensor<4xf32>");
    for (error, wanted) in [
        (refused("lion,lr=1", SQUARE), "there is no optimizer `lion`; there are adam, adamw, sgd"),
        (refused("sgd", SQUARE), "`lr` is missing"),
        (refused("sgd,lr=1", &vector), "the loss, output 0, is tensor<4xf32>, and a loss is one real number"),
        (refused("sgd,lr=1", &SQUARE.replace(", capture.requires_grad", "")), "no argument requires a gradient"),
    ] {
        assert!(error.contains(wanted) && !error.contains('\n'), "{error}");
    }
}

/// A joint program as a pair gives what it gives in one piece.
#[test]
fn the_halves_of_a_joint_program_are_the_whole() {
    let path = folder().join("cnn.pt2");
    let session = |half: Option<Half>| {
        let gradient = Some(Gradient { cotangents: vec![0], half, ..Gradient::default() });
        let rematerialise = half.map(|_| String::new());
        let options = Options { gradient, rematerialise, ..Options::default() };
        Session::load(&compile(standard(), path.as_path(), &options, None).unwrap(), None).unwrap()
    };
    let (whole, forward, backward) = (session(None), session(Some(Half::Forward)), session(Some(Half::Backward)));
    let file = TensorFile::read(&self::folder().join("cnn.sgd.safetensors")).unwrap();
    let batch: Vec<_> = file.numbered("in_").into_iter().map(|tensor| at(tensor, 0)).collect();
    let one = Tensor::from_slice(DType::F32, &[], &[1.0f32]).unwrap();
    let named = |session: &Session, results: Vec<Tensor>| -> HashMap<String, Tensor> {
        session.manifest().outputs.iter().map(|out| out.name.clone()).zip(results).collect()
    };
    let wanted = named(&whole, whole.run(&[batch.clone(), vec![one.clone()]].concat()).unwrap());
    let mut given = named(&forward, forward.run(&batch).unwrap());
    given.extend([("x".to_owned(), batch[0].clone()), ("target".to_owned(), batch[1].clone()), ("cot_0".to_owned(), one)]);
    let inputs: Vec<_> = backward.manifest().inputs.iter().map(|input| given[&input.name].clone()).collect();
    let gradients = named(&backward, backward.run(&inputs).unwrap());
    assert_eq!(gradients.len(), 8);
    for (name, gradient) in &gradients {
        close(gradient, &wanted[name], (1e-4, 1e-6), name);
    }
}
