//! How much a run may take. A program from a file says how large its tensors are and how often its loops turn, so who runs one
//! that nobody vouches for sets bounds; without them a run has those of the machine.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::value::InterpError;

/// The bounds of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Elements of a tensor. One takes 16 to 48 bytes while it is computed.
    pub elements: usize,
    /// Time.
    pub time: Duration,
}

#[derive(Clone, Copy)]
struct Bounds {
    budget: Budget,
    end: Instant,
}

thread_local! {
    /// The bounds of the run on this thread.
    static BOUNDS: Cell<Option<Bounds>> = const { Cell::new(None) };
}

impl Budget {
    /// Runs a call within these bounds; what passes them is an [`InterpError::Budget`].
    pub fn spend<R>(self, call: impl FnOnce() -> R) -> R {
        /// Also where the call panics.
        struct Restore(Option<Bounds>);
        impl Drop for Restore {
            fn drop(&mut self) {
                BOUNDS.with(|bounds| bounds.set(self.0));
            }
        }
        let end = Instant::now().checked_add(self.time);
        let now = end.map(|end| Bounds { budget: self, end });
        let _before = Restore(BOUNDS.with(|bounds| bounds.replace(now)));
        call()
    }
}

/// An error where a tensor of this shape has too many elements, or the time is over.
pub(super) fn tensor(shape: &[usize], count: usize) -> Result<(), InterpError> {
    match BOUNDS.with(Cell::get) {
        Some(Bounds { budget, .. }) if count > budget.elements => {
            Err(passed(format!("a tensor of shape {shape:?} has more than {} elements", budget.elements)))
        }
        Some(bounds) => in_time(bounds),
        None => Ok(()),
    }
}

/// An error where the time is over.
pub(super) fn time() -> Result<(), InterpError> {
    BOUNDS.with(Cell::get).map_or(Ok(()), in_time)
}

fn in_time(Bounds { budget, end }: Bounds) -> Result<(), InterpError> {
    match Instant::now() > end {
        true => Err(passed(format!("a run takes more than {} s", budget.time.as_secs_f64()))),
        false => Ok(()),
    }
}

fn passed(reason: String) -> InterpError {
    InterpError::Budget { op: String::new(), location: String::new(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::{DType, Scalar, Tensor};

    #[test]
    fn a_run_ends_at_its_bounds() {
        let zeros = |shape: &[usize]| Tensor::zeros(DType::F32, shape).map(|tensor| tensor.len()).map_err(|error| error.to_string());
        let small = Budget { elements: 100, time: Duration::from_secs(60) };
        assert_eq!(small.spend(|| zeros(&[10, 10])), Ok(100));
        assert!(small.spend(|| zeros(&[10, 11])).is_err_and(|error| error.contains("more than 100 elements")));
        assert_eq!(zeros(&[10, 11]), Ok(110), "the bounds end with the call");
        let short = Budget { elements: usize::MAX, time: Duration::ZERO };
        let slow = short.spend(|| Tensor::build(DType::F32, &[1 << 20], |_| Scalar::Float(1.0)));
        assert!(slow.is_err_and(|error| error.to_string().contains("takes more than 0 s")));
    }
}
