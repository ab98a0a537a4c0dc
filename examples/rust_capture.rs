//! Closures of Rust as compiled functions: traced at the first call, guarded, and compiled once more when a size or a number changes; with
//! a branch inside of the program, and a state that calls change.
//!
//! ```sh
//! cargo run --example rust_capture
//! ```

use std::error::Error;

use strata::{HostScalar, State, Tensor, cond, jit};

/// The values that the closure should give.
fn wanted(x: &[f32], w: &[f32], rows: usize) -> Vec<f32> {
    let product = |row: usize, column: usize| (0..3).map(|k| x[row * 3 + k] * w[column * 3 + k]).sum::<f32>();
    (0..rows).flat_map(|row| (0..2).map(move |column| product(row, column).max(0.0)).collect::<Vec<_>>()).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let weight = [0.5f32, -1.0, 2.0, 1.5, 0.25, -0.75];
    let w = Tensor::new(&weight, &[2, 3])?;
    let layer = jit(move |x: &Tensor| x.linear(&w).relu());
    for rows in [4usize, 4, 6, 9] {
        let values: Vec<f32> = (0..rows * 3).map(|k| (k as f32).sin()).collect();
        let y = layer.call(&Tensor::new(&values, &[rows as i64, 3])?)?;
        let error = y.to_vec::<f32>()?.iter().zip(wanted(&values, &weight, rows)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        println!("{rows} rows: {y:?}, error {error:e}, compiled {} times", layer.compilations());
        if error > 1e-5 {
            return Err("the values are wrong".into());
        }
    }
    print!("{}", layer.explain());
    descent(&weight)
}

/// Steps towards weights that give 0: the weights are a state, and the rate is an input once it differs.
fn descent(weight: &[f32; 6]) -> Result<(), Box<dyn Error>> {
    let step = jit(|w: &State, x: &Tensor, rate: &HostScalar| {
        let y = x.linear(&w.get());
        let gradient = y.transpose_int(0, 1).matmul(x);
        let largest = gradient.abs().amax();
        let bounded = cond(&largest.gt_scalar(1.0), || gradient.div(&largest), || gradient.clone());
        w.update(|w| w.sub(&bounded.mul_scalar(rate)));
        y.square().sum()
    });
    let w = State::new(Tensor::new(weight, &[2, 3])?);
    let values: Vec<f32> = (0..12).map(|k| (k as f32).sin()).collect();
    let x = Tensor::new(&values, &[4, 3])?;
    let mut last = f32::INFINITY;
    for rate in [0.5, 0.4, 0.3, 0.2] {
        let loss = step.call(&w, &x, &rate.into())?.to_vec::<f32>()?[0];
        println!("rate {rate}: loss {loss:.3}, weights {:.3?}", w.value().to_vec::<f32>()?);
        if loss >= last {
            return Err("the loss did not fall".into());
        }
        last = loss;
    }
    print!("{}", step.explain());
    Ok(())
}
