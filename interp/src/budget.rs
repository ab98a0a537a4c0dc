//! How much a run may take. A program from a file says how large its tensors are and how often its loops turn, so who runs one
//! that nobody vouches for sets bounds; without them a run has those of the machine.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::held::living;
use super::value::InterpError;

/// The bounds of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Elements of a tensor. One takes 16 to 48 bytes while it is computed.
    pub elements: usize,
    /// Elements of all tensors that a run has at a time, beside those that were there before.
    pub together: usize,
    /// Time.
    pub time: Duration,
}

#[derive(Clone, Copy)]
struct Bounds {
    budget: Budget,
    end: Instant,
    /// Elements that were there before.
    before: usize,
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
        let now = end.map(|end| Bounds { budget: self, end, before: living() });
        let _before = Restore(BOUNDS.with(|bounds| bounds.replace(now)));
        call()
    }
}

/// An error where a tensor of this shape has too many elements, alone or beside those that live, or the time is over.
pub(super) fn tensor(shape: &[usize], count: usize) -> Result<(), InterpError> {
    match BOUNDS.with(Cell::get) {
        Some(Bounds { budget, .. }) if count > budget.elements => {
            Err(passed(format!("a tensor of shape {shape:?} has more than {} elements", budget.elements)))
        }
        Some(Bounds { budget, before, .. }) if living().saturating_sub(before).saturating_add(count) > budget.together => {
            Err(passed(format!("tensors would have more than {} elements together, with one of shape {shape:?}", budget.together)))
        }
        Some(bounds) => in_time(bounds),
        None => Ok(()),
    }
}

/// An error where the time is over.
pub(super) fn time() -> Result<(), InterpError> {
    BOUNDS.with(Cell::get).map_or(Ok(()), in_time)
}

fn in_time(Bounds { budget, end, .. }: Bounds) -> Result<(), InterpError> {
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
    use crate::{DType, Scalar, Tensor};

    #[test]
    fn a_run_ends_at_its_bounds() {
        let zeros = |shape: &[usize]| Tensor::zeros(DType::F32, shape).map(|tensor| tensor.len()).map_err(|error| error.to_string());
        let small = Budget { elements: 100, together: 250, time: Duration::from_secs(60) };
        assert_eq!(small.spend(|| zeros(&[10, 10])), Ok(100));
        let kept = Tensor::zeros(DType::F32, &[1000]);
        let some = |count: usize| (0..count).map(|_| Tensor::zeros(DType::F32, &[100])).collect::<Result<Vec<_>, _>>();
        assert!(small.spend(|| some(2)).is_ok_and(|list| list.len() == 2), "what was there before does not count");
        assert!(small.spend(|| some(3)).is_err_and(|error| error.to_string().contains("more than 250 elements together")));
        assert!(small.spend(|| (0..9).all(|_| zeros(&[100]) == Ok(100))), "nor does what is gone");
        drop(kept);
        assert!(small.spend(|| zeros(&[10, 11])).is_err_and(|error| error.contains("more than 100 elements")));
        assert_eq!(zeros(&[10, 11]), Ok(110), "the bounds end with the call");
        let short = Budget { elements: usize::MAX, together: usize::MAX, time: Duration::ZERO };
        let slow = short.spend(|| Tensor::build(DType::F32, &[1 << 20], |_| Scalar::Float(1.0)));
        assert!(slow.is_err_and(|error| error.to_string().contains("takes more than 0 s")));
    }
}
