//! A closure of Rust as a compiled function: traced at the first call, guarded, and compiled once more when a size changes.
//!
//! ```sh
//! cargo run --example rust_capture
//! ```

use std::error::Error;

use strata::{Tensor, jit};

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
    Ok(())
}
