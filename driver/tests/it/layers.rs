//! Programs of many equal layers: functions down to their kernels, and launches from tables.

use std::path::Path;
use std::sync::Arc;

use strata_driver::incremental::{How, Query};
use strata_driver::{Options, compile_explained, interpret, standard};
use strata_runtime::compare::{Tolerance, compare};
use strata_runtime::{DType, Session, Tensor};
use strata_store::{Secret, Settings, Store};

/// Groups of passes on functions that are looked up for a layer on its way down: those before layers go back to their calls, and those behind.
pub const GROUPS: usize = 2;

/// Attention to themselves and a feed-forward part, with a residual, so many times; layer `edited` has another scale.
pub fn program(layers: usize, edited: Option<usize>) -> String {
    let mut text = String::from("func.func @main(%x0: tensor<8x16xf32> {capture.kind = \"input\", capture.name = \"x\"}");
    for at in 0..layers {
        text += &format!(", %w{at}: tensor<16x16xf32> {{capture.kind = \"input\", capture.name = \"w{at}\"}}");
    }
    text += ") -> (tensor<8x16xf32> {capture.kind = \"output\"}) attributes {capture.entry} {\n";
    for at in 0..layers {
        let scale = if edited == Some(at) { "0.75" } else { "0.125" };
        let (x, next) = (format!("%x{at}"), format!("%x{}", at + 1));
        let mut line = |name: &str, rest: &str, types: &str| {
            text += &format!("  %{name}{at} = aten.{rest} : {types} loc(\"{name}{at}\"(\"layers.{at}\"(unknown)))\n");
        };
        let square = "tensor<8x16xf32>";
        line("m", &format!("mm {x}, %w{at}"), "(tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>");
        line("t", &format!("permute %m{at} {{dims = array<i64: 1, 0>}}"), "(tensor<8x16xf32>) -> tensor<16x8xf32>");
        line("s", &format!("mm %m{at}, %t{at}"), "(tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>");
        line("c", &format!("mul.Scalar %s{at} {{other = {scale} : f64}}"), "tensor<8x8xf32>");
        line("p", &format!("softmax.int %c{at} {{dim = -1 : i64}}"), "tensor<8x8xf32>");
        line("a", &format!("mm %p{at}, %m{at}"), "(tensor<8x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>");
        line("g", &format!("tanh %a{at}"), square);
        let types = "(tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>";
        text += &format!("  {next} = aten.add.Tensor %g{at}, {x} : {types} loc(\"{next}\"(\"layers.{at}\"(unknown)))\n");
    }
    text + &format!("  return %x{layers} : tensor<8x16xf32>\n}}\n")
}

fn inputs(layers: usize) -> Vec<Tensor> {
    let tensor = |shape: &[i64], from: i64| {
        let values: Vec<f32> = (0..shape.iter().product()).map(|i: i64| ((i * 37 + from * 11) % 61) as f32 / 61.0 - 0.5).collect();
        Tensor::from_slice(DType::F32, shape, &values).unwrap()
    };
    std::iter::once(tensor(&[8, 16], 0)).chain((1..=layers as i64).map(|at| tensor(&[16, 16], at))).collect()
}

fn agree(found: &Tensor, wanted: &Tensor) {
    let difference = compare(found, wanted, Tolerance { rtol: 1e-4, atol: 1e-5 }).unwrap();
    assert_eq!(difference.wrong, 0, "{:?}", difference.describe(wanted));
}

pub fn store(dir: &Path) -> Arc<Store> {
    let settings = Settings { dir: Some(dir.into()), size: Some(1 << 30), key: Some(Secret::new([7; 32])), ..Settings::default() };
    Arc::new(Store::open(&settings).unwrap().unwrap())
}

/// One layer edited in a program whose launches are code, and in one whose launches are rows of a table.
#[test]
fn an_edited_layer_is_the_program_from_scratch() {
    for layers in [5, 40] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("layers.mlir");
        let store = store(&dir.path().join("store"));
        let options = Options::default();
        std::fs::write(&path, program(layers, None)).unwrap();
        compile_explained(standard(), &path, &options, Some(&store)).unwrap();
        std::fs::write(&path, program(layers, Some(layers / 2))).unwrap();
        let (edited, report) = compile_explained(standard(), &path, &options, Some(&store)).unwrap();
        let (scratch, _) = compile_explained(standard(), &path, &options, None).unwrap();
        let (code, launches) = (&edited.image, edited.manifest.kernels.iter().map(|kernel| kernel.launches).sum::<u64>());
        assert_eq!(*code, scratch.image, "an edit gives what a fresh start gives");
        assert_eq!(launches > 64, layers == 40, "{launches} launches");
        // The edited layer is computed, the others, which are one, are on disk.
        let passes = |how| report.count_of(Query::Passes, how);
        assert_eq!((passes(How::Computed), passes(How::Disk)), (GROUPS, GROUPS), "{report}");
        let inputs = inputs(layers);
        let found = Session::load(&edited, None).unwrap().run(&inputs).unwrap();
        agree(&found[0], &interpret(standard(), &path, &options, inputs.clone()).unwrap()[0].tensor);
        let flat = Options { skip: vec!["outline-regions".into()], ..Options::default() };
        let (flat, _) = compile_explained(standard(), &path, &flat, None).unwrap();
        assert_eq!(flat.manifest.kernels.iter().map(|kernel| kernel.launches).sum::<u64>(), launches, "no fusion is lost");
        assert_eq!(found[0].bytes(), Session::load(&flat, None).unwrap().run(&inputs).unwrap()[0].bytes());
    }
}

/// Layers without names are found by what comes again, and the code is that of the program with names.
#[test]
fn layers_need_no_names() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("layers.mlir");
    let named = program(6, None);
    let nameless: Vec<_> = named.lines().map(|line| line.split_once(" loc(").map_or(line, |(op, _)| op)).collect();
    let compiled = |text: &str| {
        std::fs::write(&path, text).unwrap();
        compile_explained(standard(), &path, &Options::default(), Some(&store(&dir.path().join("store")))).unwrap()
    };
    let (with, without) = (compiled(&named), compiled(&nameless.join("\n")));
    assert!(without.1.to_string().contains("@repeat.0"), "{}", without.1);
    assert_eq!(with.0.image, without.0.image);
}
