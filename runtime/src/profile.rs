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

/// One launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The number of the kernel, as in the manifest.
    pub kernel: usize,
    /// When it began, counted from the call of `CallState::trace`.
    pub start: Duration,
    /// How long it took.
    pub time: Duration,
}

/// Launches by the number of the kernel, as in the manifest.
#[derive(Debug, Default)]
pub struct Profile {
    kernels: Vec<Launches>,
    running: Option<(usize, Instant)>,
    /// Each launch since an instant, where somebody asks for them.
    trace: Option<(Instant, Vec<Launch>)>,
}

impl Profile {
    /// The kernels up to the last that ran; none, where the program was not compiled to tell.
    pub fn kernels(&self) -> &[Launches] {
        &self.kernels
    }

    /// From now on each launch is noted.
    pub(crate) fn trace(&mut self) {
        self.trace = Some((Instant::now(), Vec::new()));
    }

    /// The launches since they are noted, in order; none is noted from now on.
    pub(crate) fn take_trace(&mut self) -> Vec<Launch> {
        self.trace.take().map(|(_, launches)| launches).unwrap_or_default()
    }

    /// From now on the kernel of this number runs; none, if it is negative.
    pub(crate) fn mark(&mut self, kernel: i64) {
        if let Some((running, since)) = self.running.take() {
            let time = since.elapsed();
            self.kernels[running].count += 1;
            self.kernels[running].time += time;
            if let Some((begin, launches)) = &mut self.trace {
                launches.push(Launch { kernel: running, start: since.duration_since(*begin), time });
            }
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

    #[test]
    fn launches_are_noted_while_somebody_asks() {
        let mut profile = Profile::default();
        [0, -1].into_iter().for_each(|kernel| profile.mark(kernel));
        profile.trace();
        [1, 0, -1].into_iter().for_each(|kernel| profile.mark(kernel));
        let launches = profile.take_trace();
        assert_eq!(launches.iter().map(|launch| launch.kernel).collect::<Vec<_>>(), [1, 0]);
        assert!(launches[0].start + launches[0].time <= launches[1].start);
        profile.mark(0);
        assert!(profile.take_trace().is_empty());
    }
}
