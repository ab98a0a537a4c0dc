//! Tensors for tests.

use strata::Tensor;

pub fn floats(sizes: &[i64]) -> Tensor {
    let values: Vec<f32> = (0..sizes.iter().product::<i64>()).map(|k| (k as f32 * 0.7).sin()).collect();
    Tensor::new(&values, sizes).unwrap()
}

pub fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.to_vec().unwrap()
}

pub fn close(found: &Tensor, wanted: impl IntoIterator<Item = f32>) {
    let (found, wanted) = (values(found), wanted.into_iter().collect::<Vec<_>>());
    assert_eq!(found.len(), wanted.len());
    assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-5), "{found:?} is not {wanted:?}");
}
