//! The elements of tensors, and how many there are: a run is bounded in their sum.

use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use num_complex::Complex64;

/// Elements by category.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Data {
    Int(Vec<i128>),
    Float(Vec<f64>),
    Complex(Vec<Complex64>),
}

thread_local! {
    /// Elements made on this thread, without those dropped on it.
    static LIVING: Cell<isize> = const { Cell::new(0) };
}

/// How many there are now.
pub(super) fn living() -> usize {
    usize::try_from(LIVING.get()).unwrap_or(0)
}

/// Elements, which are counted while they live.
#[derive(Debug, PartialEq)]
pub(super) struct Held(Data);

impl Held {
    pub fn new(data: Data) -> Arc<Held> {
        Arc::new(Held(data).counted())
    }

    fn counted(self) -> Held {
        LIVING.set(LIVING.get() + self.0.len() as isize);
        self
    }
}

impl Clone for Held {
    fn clone(&self) -> Held {
        Held(self.0.clone()).counted()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        LIVING.set(LIVING.get() - self.0.len() as isize);
    }
}

impl Deref for Held {
    type Target = Data;

    fn deref(&self) -> &Data {
        &self.0
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut Data {
        &mut self.0
    }
}

impl Data {
    pub fn len(&self) -> usize {
        match self {
            Data::Int(v) => v.len(),
            Data::Float(v) => v.len(),
            Data::Complex(v) => v.len(),
        }
    }
}
