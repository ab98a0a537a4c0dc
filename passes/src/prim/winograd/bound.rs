//! Why tiles fire with `numerics = "ulp"`: errors of a result against f64, relative to the sum of magnitudes of its products, by tiles and
//! directly; and, for elements that stand out, relative to the largest such sum of the tile.

use super::matrices::{TILE, Transform, WINDOW};
use crate::testing::Random;

const UNDER: usize = TILE + WINDOW - 1;
const TILES: usize = 60;

type Draw = fn(&mut Random) -> f32;
type Square = Vec<Vec<f32>>;

/// The matrix along both dims of a square, rounded after each step as a kernel does.
fn transformed(matrix: &[f64], square: &Square) -> Square {
    let size = square.len();
    let along = |line: &dyn Fn(usize) -> f32, row: &[f64]| {
        let terms = row.iter().enumerate().filter(|(_, factor)| **factor != 0.0);
        terms.fold(0f32, |sum, (k, factor)| (*factor as f32).mul_add(line(k), sum))
    };
    let half: Square = matrix.chunks(size).map(|row| (0..size).map(|j| along(&|k| square[k][j], row)).collect()).collect();
    half.iter().map(|line| matrix.chunks(size).map(|row| along(&|k| line[k], row)).collect()).collect()
}

fn draw(size: usize, mut next: impl FnMut() -> f32) -> Square {
    (0..size).map(|_| (0..size).map(|_| next()).collect()).collect()
}

/// Results and weights along one dim: of a convolution, and of the gradient of its weights.
const FORMS: [(usize, usize); 2] = [(TILE, WINDOW), (WINDOW, TILE)];

/// What came out for one tile: for each result the exact one, the sum of magnitudes, the direct one, and that of tiles. Of a gradient of weights the
/// sum runs over tiles of all images in the place of channels.
fn tile((size, window): (usize, usize), channels: usize, random: &mut Random, elements: Draw, weights: Draw) -> Vec<[f64; 4]> {
    let transform = Transform::new(size, window);
    let inputs: Vec<(Square, Square)> =
        (0..channels).map(|_| (draw(UNDER, || elements(random)), draw(window, || weights(random)))).collect();
    let mut products = vec![vec![0f32; UNDER]; UNDER];
    for (d, g) in &inputs {
        let (d, g) = (transformed(&transform.input, d), transformed(&transform.weights, g));
        for (sums, (d, g)) in products.iter_mut().zip(d.iter().zip(&g)) {
            for (sum, (d, g)) in sums.iter_mut().zip(d.iter().zip(g)) {
                *sum = d.mul_add(*g, *sum);
            }
        }
    }
    let results = transformed(&transform.result, &products);
    let mut found = Vec::new();
    for (i, j) in (0..size).flat_map(|i| (0..size).map(move |j| (i, j))) {
        let (mut exact, mut magnitude, mut direct) = (0f64, 0f64, 0f32);
        for (k, l) in (0..window).flat_map(|k| (0..window).map(move |l| (k, l))) {
            for (d, g) in &inputs {
                let product = f64::from(d[i + k][j + l]) * f64::from(g[k][l]);
                exact += product;
                magnitude += product.abs();
                direct = d[i + k][j + l].mul_add(g[k][l], direct);
            }
        }
        found.push([exact, magnitude, f64::from(direct), f64::from(results[i][j])]);
    }
    found
}

const SIGNED: Draw = |random| random.uniform() - 0.5;

#[test]
fn tiles_of_like_magnitude_stay_within_four_times_the_error() {
    let elements: [Draw; 4] = [
        SIGNED,
        |random| (random.uniform() - 0.5).max(0.0),
        |random| random.uniform() + 100.0,
        |random| (random.uniform() - 0.5) * (random.uniform() * 20.0 - 10.0).exp2(),
    ];
    for (form, elements) in FORMS.into_iter().flat_map(|form| elements.map(|elements| (form, elements))) {
        for channels in [16, 64, 256] {
            let mut random = Random(5);
            let (mut before, mut after) = (0f64, 0f64);
            for _ in 0..TILES {
                for [exact, magnitude, direct, ours] in tile(form, channels, &mut random, elements, SIGNED) {
                    before = before.max((direct - exact).abs() / magnitude);
                    after = after.max((ours - exact).abs() / magnitude);
                }
            }
            assert!(after <= 4.0 * before, "{form:?}: {after:e} against {before:e} with {channels} channels");
            assert!(after <= 16.0 * f64::from(f32::EPSILON), "{form:?}: {after:e} with {channels} channels");
        }
    }
}

#[test]
fn an_element_that_stands_out_costs_its_tile_no_more() {
    let elements: Draw = |random| if random.uniform() < 0.02 { 1e6 } else { random.uniform() - 0.5 };
    for form in FORMS {
        let mut random = Random(9);
        for _ in 0..TILES {
            let results = tile(form, 32, &mut random, elements, SIGNED);
            let magnitude = results.iter().map(|result| result[1]).fold(0.0, f64::max);
            for [exact, _, _, ours] in results {
                assert!(
                    (ours - exact).abs() <= 8.0 * f64::from(f32::EPSILON) * magnitude,
                    "{form:?}: {ours} for {exact} beside {magnitude}"
                );
            }
        }
    }
}

#[test]
fn without_rounding_the_results_are_the_same() {
    // Small integers: every step of both ways is exact but for the weights' transform, whose denominators are no powers of two.
    let small: Draw = |random| (random.uniform() * 8.0).floor();
    for [exact, magnitude, direct, ours] in FORMS.into_iter().flat_map(|form| tile(form, 3, &mut Random(3), small, small)) {
        assert_eq!(direct, exact);
        assert!((ours - exact).abs() <= 8.0 * f64::from(f32::EPSILON) * magnitude.max(1.0), "{ours} for {exact}");
    }
}
