//! Layers give what PyTorch's give; `nn.py` wrote weights, inputs and outputs.

use std::path::Path;

use strata::nn::{BatchNorm2d, Conv2d, Embedding, GroupNorm, LayerNorm, Linear, Lstm, MultiheadAttention, Weights};
use strata::{Error, Tensor, jit};

fn close(name: &str, layer: impl FnOnce(&Weights) -> Result<Box<dyn Fn(&Tensor) -> Tensor>, Error>) {
    let weights = Weights::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nn.safetensors")).unwrap().at(name);
    let layer = layer(&weights).unwrap();
    let f = jit(move |x: &Tensor| layer(x));
    let (found, wanted) = (f.call(&weights.get("x").unwrap()).unwrap(), weights.get("y").unwrap());
    assert_eq!(found.value().unwrap().shape(), wanted.value().unwrap().shape(), "{name}");
    for (found, wanted) in found.to_vec::<f32>().unwrap().iter().zip(wanted.to_vec::<f32>().unwrap()) {
        assert!((found - wanted).abs() <= 1e-5 + 1e-5 * wanted.abs(), "{name}: {found} and PyTorch's {wanted}");
    }
}

#[test]
fn linear() {
    close("linear", |weights| Linear::load(weights).map(|layer| Box::new(move |x: &Tensor| layer.forward(x)) as _));
}

#[test]
fn conv2d() {
    close("conv", |weights| {
        let layer = Conv2d { stride: [2, 2], padding: [1, 1], groups: 2, ..Conv2d::load(weights)? };
        Ok(Box::new(move |x: &Tensor| layer.forward(x)))
    });
}

#[test]
fn norms() {
    close("layer_norm", |weights| LayerNorm::load(weights).map(|layer| Box::new(move |x: &Tensor| layer.forward(x)) as _));
    close("group_norm", |weights| GroupNorm::load(weights, 2).map(|layer| Box::new(move |x: &Tensor| layer.forward(x)) as _));
    close("batch_norm", |weights| BatchNorm2d::load(weights).map(|layer| Box::new(move |x: &Tensor| layer.forward(x)) as _));
}

#[test]
fn embedding() {
    close("embedding", |weights| Embedding::load(weights).map(|layer| Box::new(move |x: &Tensor| layer.forward(x)) as _));
}

#[test]
fn attention() {
    close("attention", |weights| {
        MultiheadAttention::load(weights, 2).map(|layer| Box::new(move |x: &Tensor| layer.forward(x, false)) as _)
    });
}

#[test]
fn lstm() {
    close("lstm", |weights| Lstm::load(weights).map(|layer| Box::new(move |x: &Tensor| layer.forward(x)) as _));
}

#[test]
fn a_weight_that_is_not_there_is_told() {
    let weights: Weights = [("fc.weight".to_owned(), Tensor::new(&[1f32], &[1]).unwrap())].into_iter().collect();
    assert_eq!(Linear::load(&weights.at("fc")).unwrap_err().to_string(), "weight `fc.weight` has 1 dimensions, not 2");
    assert_eq!(Linear::load(&weights.at("head")).unwrap_err().to_string(), "weight `head.weight` is not there");
}
