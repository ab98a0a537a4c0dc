//! On which CPU a thread runs, and how it leaves one.

use std::mem;

/// A set of CPUs.
#[derive(Clone, Copy)]
pub struct Cpus {
    set: libc::cpu_set_t,
}

/// The CPU that the calling thread runs on, if the system tells.
pub fn current() -> Option<usize> {
    // SAFETY: the call has no arguments.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
}

impl Cpus {
    /// Those that the calling thread may use; none when the system does not tell.
    pub fn allowed() -> Self {
        // SAFETY: a set is an array of bits, all of which may be zero; the call writes no more than its size.
        let set = unsafe {
            let mut set: libc::cpu_set_t = mem::zeroed();
            if libc::sched_getaffinity(0, size_of_val(&set), &raw mut set) != 0 {
                set = mem::zeroed();
            }
            set
        };
        Self { set }
    }

    /// Moves the calling thread to another CPU of the set if it is on this one and there is another. It may come back when the scheduler
    /// sees fit: were it kept off, it would wait there behind another program's thread while this CPU falls idle.
    pub fn leave(&self, cpu: Option<usize>) {
        let Some(cpu) = cpu.filter(|&cpu| cpu < libc::CPU_SETSIZE as usize && current() == Some(cpu)) else { return };
        let mut others = self.set;
        // SAFETY: the number is below the size of a set, and a set is only read and written as bits.
        unsafe {
            libc::CPU_CLR(cpu, &mut others);
            if libc::CPU_COUNT(&others) > 0 {
                // A thread that may not move stays where it is; one that has moved stays there as long as it runs.
                libc::sched_setaffinity(0, size_of_val(&others), &raw const others);
                libc::sched_setaffinity(0, size_of_val(&self.set), &raw const self.set);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_leaves_its_cpu_when_there_is_another_and_may_come_back() {
        let cpus = Cpus::allowed();
        // The scheduler may bring it back before it looks where it is, but not every time.
        let left = std::thread::spawn(move || {
            (0..1000).any(|_| {
                let before = current();
                cpus.leave(before);
                before.is_none() || before != current()
            })
        });
        let several = std::thread::available_parallelism().is_ok_and(|count| count.get() > 1);
        assert!(left.join().expect("the thread ends") || !several);
        let whole = std::thread::spawn(move || {
            cpus.leave(current());
            // SAFETY: sets are only read as bits.
            unsafe { libc::CPU_EQUAL(&Cpus::allowed().set, &cpus.set) }
        });
        assert!(whole.join().expect("the thread ends"));
        // Off that CPU already, it stays where it is.
        cpus.leave(current().map(|cpu| cpu + 1));
    }
}
