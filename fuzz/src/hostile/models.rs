//! Broken ONNX models.

use std::path::Path;

use super::{Broken, Corpus, Failure, break_bytes, files, root};
use crate::rng::Rng;

/// Larger models only have larger weights.
const MAX_BYTES: u64 = 100_000;

/// Models as bytes.
pub struct Models(Vec<Vec<u8>>);

impl Models {
    /// Those of the repository's tests, and of a folder.
    pub fn read(more: Option<&Path>) -> Result<Models, Failure> {
        let mut found = files(&root().join("test"), "onnx")?;
        if let Some(more) = more {
            found.extend(files(more, "onnx")?);
        }
        found.retain(|path| path.metadata().is_ok_and(|meta| (1..=MAX_BYTES).contains(&meta.len())));
        Ok(Models(found.into_iter().map(std::fs::read).collect::<Result<_, _>>()?))
    }
}

impl Corpus for Models {
    fn broken(&self, rng: &mut Rng) -> Broken {
        let mut bytes = self.0[rng.below(self.0.len())].clone();
        if rng.chance(30) {
            number(&mut bytes, rng);
        } else {
            break_bytes(&mut bytes, rng);
        }
        let command = if rng.chance(30) { "rs-opt %s --to=prim" } else { "rs-run --no-cache %s" };
        Broken { bytes, ending: "onnx", command: command.into() }
    }
}

/// Another number in the place of one: the format writes it in the low seven bits of each byte.
fn number(bytes: &mut [u8], rng: &mut Rng) {
    for _ in 0..1 + rng.below(4) {
        let place = rng.below(bytes.len());
        if bytes[place] < 0x80 {
            bytes[place] = rng.pick(&[0, 1, 2, 3, 7, 9, 16, 31, 64, 127]);
        }
    }
}
