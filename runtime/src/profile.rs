//! Where the time of calls goes: programs compiled with `profile` say which kernel runs.

use std::time::{Duration, Instant};

/// Launches of one kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Launches {
    /// How many.
    pub count: u64,
    /// How long they took together.
    pub time: Duration,
}

/// Launches by the number of the kernel, as in the manifest.
#[derive(Debug, Default)]
pub struct Profile {
    kernels: Vec<Launches>,
    running: Option<(usize, Instant)>,
}

impl Profile {
    /// The kernels up to the last that ran; none, where the program was not compiled to tell.
    pub fn kernels(&self) -> &[Launches] {
        &self.kernels
    }

    /// From now on the kernel of this number runs; none, if it is negative.
    pub(crate) fn mark(&mut self, kernel: i64) {
        if let Some((running, since)) = self.running.take() {
            self.kernels[running].count += 1;
            self.kernels[running].time += since.elapsed();
        }
        if let Ok(kernel) = usize::try_from(kernel) {
            self.kernels.resize(self.kernels.len().max(kernel + 1), Launches::default());
            self.running = Some((kernel, Instant::now()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Profile;

    #[test]
    fn launches_are_counted_by_kernel() {
        let mut profile = Profile::default();
        [1, -1, 0, 1, -1, -1].into_iter().for_each(|kernel| profile.mark(kernel));
        assert_eq!(profile.kernels().iter().map(|kernel| kernel.count).collect::<Vec<_>>(), [1, 2]);
    }
}
