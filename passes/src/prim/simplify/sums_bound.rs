//! Why factoring a sum fires with `numerics = "ulp"` and summing term by term does not: errors against f64 over many rows of numbers
//! that cancel, that have one sign, that lie far from 0, and that spread over many magnitudes.

use crate::testing::Random;

const SIZE: usize = 96;
const ROWS: usize = 64;

type Draw = fn(&mut Random) -> f32;

const DRAWS: [Draw; 4] = [
    |random| random.uniform() - 0.5,
    |random| random.uniform(),
    |random| random.uniform() + 100.0,
    |random| (random.uniform() - 0.5) * (random.uniform() * 20.0 - 10.0).exp2(),
];

/// As eager PyTorch sums: pairwise.
fn sum(values: &[f32]) -> f32 {
    match values {
        [] => 0.0,
        [value] => *value,
        _ => {
            let (left, right) = values.split_at(values.len() / 2);
            sum(left) + sum(right)
        }
    }
}

fn exact(values: impl Iterator<Item = f64>) -> f64 {
    values.sum()
}

/// The largest error of a row as written and rewritten, both relative to the sum of magnitudes.
fn errors(draws: [Draw; 2], combine: fn(f32, f32) -> f32, rewritten: fn(&[f32], &[f32]) -> f32) -> (f64, f64) {
    let mut random = Random(7);
    let (mut before, mut after) = (0f64, 0f64);
    for _ in 0..ROWS {
        let x: Vec<f32> = (0..SIZE).map(|_| draws[0](&mut random)).collect();
        let y: Vec<f32> = (0..SIZE).map(|_| draws[1](&mut random)).collect();
        let all: Vec<f32> = x.iter().flat_map(|&x| y.iter().map(move |&y| (x, y))).map(|(x, y)| combine(x, y)).collect();
        let truth = match combine(2.0, 3.0) {
            6.0 => exact(x.iter().map(|&x| x.into())) * exact(y.iter().map(|&y| y.into())),
            _ => SIZE as f64 * (exact(x.iter().map(|&x| x.into())) + exact(y.iter().map(|&y| y.into()))),
        };
        let magnitude = exact(all.iter().map(|&value| f64::from(value.abs())));
        before = before.max((f64::from(sum(&all)) - truth).abs() / magnitude);
        after = after.max((f64::from(rewritten(&x, &y)) - truth).abs() / magnitude);
    }
    (before, after)
}

#[test]
fn factored_products_stay_within_four_times_the_error() {
    for x in DRAWS {
        for y in DRAWS {
            let (before, after) = errors([x, y], |x, y| x * y, |x, y| sum(x) * sum(y));
            assert!(after <= 4.0 * before, "{after:e} against {before:e}");
        }
    }
}

#[test]
fn terms_that_cancel_do_not() {
    let near: Draw = |random| 1000.0 + random.uniform();
    let opposite: Draw = |random| -1000.0 - random.uniform();
    let (before, after) = errors([near, opposite], |x, y| x + y, |x, y| sum(x) * SIZE as f32 + sum(y) * SIZE as f32);
    assert!(after > 4.0 * before, "{after:e} against {before:e}");
}
