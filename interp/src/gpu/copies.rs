//! Copies that are under way while a thread goes on: what they write is nobody's until the thread has waited for it.

use super::super::value::{InterpError, fail};
use super::code::Reg;
use super::run::BlockRun;

/// Bytes of a copy.
const WIDE: usize = 16;

/// A copy: where it goes, and what arrives.
type Copy = (u64, [u64; 2]);

/// The copies of a thread.
#[derive(Clone, Default)]
pub struct Copies {
    /// Those in no group yet.
    started: Vec<Copy>,
    groups: Vec<Vec<Copy>>,
}

impl BlockRun<'_, '_> {
    /// Starts a copy in each thread.
    pub(super) fn start_copy(&mut self, on: &[usize], to: Reg, from: Reg, size: Option<Reg>) -> Result<(), InterpError> {
        for &thread in on {
            let (to, from) = (self.get(to, thread), self.get(from, thread));
            if !(to | from).is_multiple_of(WIDE as u64) {
                return Err(fail(format!("thread {thread} copies between memory that is not aligned to {WIDE} bytes")));
            }
            let there = size.map_or(WIDE, |size| self.get(size, thread) as usize);
            let mut words = [0; 2];
            for (k, word) in words.iter_mut().enumerate() {
                let bytes = there.saturating_sub(8 * k).min(8);
                if bytes > 0 {
                    *word = self.memory.load(from.wrapping_add(8 * k as u64), bytes, self.who(thread))?;
                }
                // It may arrive from now on, and nobody can know when.
                self.memory.store(to.wrapping_add(8 * k as u64), 8, 0xA5A5_A5A5_A5A5_A5A5, self.who(thread))?;
            }
            self.copies[thread].started.push((to, words));
        }
        Ok(())
    }

    /// Makes a group of what each thread has started.
    pub(super) fn group(&mut self, on: &[usize]) {
        for &thread in on {
            let copies = &mut self.copies[thread];
            let started = std::mem::take(&mut copies.started);
            copies.groups.push(started);
        }
    }

    /// Lets all but the last groups of each thread arrive.
    pub(super) fn arrive(&mut self, on: &[usize], left: usize) -> Result<(), InterpError> {
        for &thread in on {
            let groups = &mut self.copies[thread].groups;
            let arrived: Vec<_> = groups.drain(..groups.len().saturating_sub(left)).flatten().collect();
            for (to, words) in arrived {
                for (k, &word) in words.iter().enumerate() {
                    self.memory.store(to.wrapping_add(8 * k as u64), 8, word, self.who(thread))?;
                }
            }
        }
        Ok(())
    }
}
