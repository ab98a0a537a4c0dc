//! `prim.rng`.

use super::Node;
use crate::math::philox::numbers;
use crate::run::single;
use crate::value::{Results, Value};

pub(super) fn rng(n: &Node<'_>) -> Results {
    let (seed, offset) = (n.scalar(0)?.int() as u64, n.scalar(1)?.int() as u64);
    single(Value::Tensor(numbers(seed, offset, &n.text("kind")?, n.dtype(0)?, &n.shape(2)?)?))
}
