//! Call states that wait for the next call. One is kept where a single atomic exchange takes it: a program called from one
//! thread at a time takes no lock and allocates nothing.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering::*};
use std::sync::{Mutex, PoisonError};

use crate::call::CallState;

/// States that no call uses.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    /// The state used last, or null.
    first: AtomicPtr<CallState>,
    /// The others.
    #[allow(clippy::vec_box, reason = "the boxes move to `first` and to callers as they are")]
    more: Mutex<Vec<Box<CallState>>>,
}

impl Idle {
    /// A state that was put here, or a new one.
    pub fn take(&self, new: impl FnOnce() -> CallState) -> Box<CallState> {
        let first = self.first.swap(null_mut(), Acquire);
        if !first.is_null() {
            // SAFETY: `put` left a box here, and the exchange gave it to this caller alone.
            return unsafe { Box::from_raw(first) };
        }
        let more = self.more.lock().unwrap_or_else(PoisonError::into_inner).pop();
        more.unwrap_or_else(|| Box::new(new()))
    }

    /// Keeps a state for the next call.
    pub fn put(&self, state: Box<CallState>) {
        let state = Box::into_raw(state);
        if self.first.compare_exchange(null_mut(), state, Release, Relaxed).is_err() {
            // SAFETY: the pointer was made from a box just now, and the place did not take it.
            let state = unsafe { Box::from_raw(state) };
            self.more.lock().unwrap_or_else(PoisonError::into_inner).push(state);
        }
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        let first = *self.first.get_mut();
        if !first.is_null() {
            // SAFETY: as in `take`; nobody else is left.
            drop(unsafe { Box::from_raw(first) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_come_back_and_none_is_given_twice() {
        let idle = Idle::default();
        let new = || CallState::new(&[], 0);
        let (a, b) = (idle.take(new), idle.take(new));
        let (first, second) = (&raw const *a, &raw const *b);
        idle.put(a);
        idle.put(b);
        let (a, b) = (idle.take(|| unreachable!()), idle.take(|| unreachable!()));
        assert_eq!((&raw const *a, &raw const *b), (first, second));
    }

    #[test]
    fn many_threads_share_it() {
        let idle = Idle::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..1000 {
                        let state = idle.take(|| CallState::new(&[], 0));
                        idle.put(state);
                    }
                });
            }
        });
    }
}
