//! Images like handwritten digits, and first weights: all made by a seed.

use strata_runtime::{DType, Tensor, TensorError};

/// Images of a batch.
pub const BATCH: usize = 64;
/// Pixels along a side.
const SIDE: usize = 28;
/// Strokes of a class.
const STROKES: usize = 4;

/// Numbers that repeat from run to run: the generator `splitmix64`.
pub struct Random(u64);

impl Random {
    /// Of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Between two numbers.
    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }
}

/// A stroke from one point to another.
type Stroke = [f32; 4];

/// Batches of images: a class is a few strokes, an image of it is moved, and noisy.
pub struct Digits {
    classes: Vec<[Stroke; STROKES]>,
    seed: u64,
}

impl Digits {
    /// Of a seed.
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut stroke = || std::array::from_fn(|_| random.between(6.0, 22.0));
        Self { classes: (0..10).map(|_| std::array::from_fn(|_| stroke())).collect(), seed }
    }

    /// Batch `step`: images and classes.
    pub fn batch(&self, step: usize) -> Result<(Tensor, Tensor), TensorError> {
        let mut random = Random::new(self.seed ^ (step as u64 + 1).wrapping_mul(0x5851_f42d_4c95_7f2d));
        let (mut pixels, mut classes) = (Vec::with_capacity(BATCH * SIDE * SIDE), Vec::with_capacity(BATCH));
        for _ in 0..BATCH {
            let class = random.below(self.classes.len());
            classes.push(class as i64);
            let (down, right) = (random.between(-3.0, 3.0), random.between(-3.0, 3.0));
            for row in 0..SIDE {
                for column in 0..SIDE {
                    let at = (row as f32 - down, column as f32 - right);
                    let ink = self.classes[class].iter().map(|stroke| ink(at, *stroke)).fold(0.0, f32::max);
                    pixels.push((ink + random.between(-0.3, 0.3)).clamp(0.0, 1.0));
                }
            }
        }
        let side = SIDE as i64;
        Ok((
            Tensor::from_slice(DType::F32, &[BATCH as i64, 1, side, side], &pixels)?,
            Tensor::from_slice(DType::I64, &[BATCH as i64], &classes)?,
        ))
    }
}

/// How dark a stroke makes a point.
fn ink((row, column): (f32, f32), [top, left, bottom, right]: Stroke) -> f32 {
    let (down, across) = (bottom - top, right - left);
    let along = ((row - top) * down + (column - left) * across) / (down * down + across * across + 1e-3);
    let along = along.clamp(0.0, 1.0);
    let (away, aside) = (row - top - along * down, column - left - along * across);
    (-(away * away + aside * aside) / 2.0).exp()
}

/// A first weight as PyTorch's layers have it: evenly between minus and plus one over the square root of what an output reads.
pub fn first_weight(shape: &[i64], inputs: i64, random: &mut Random) -> Result<Tensor, TensorError> {
    let bound = 1.0 / (inputs as f32).sqrt();
    let values: Vec<f32> = (0..shape.iter().product()).map(|_| random.between(-bound, bound)).collect();
    Tensor::from_slice(DType::F32, shape, &values)
}
