//! Scratch memory of a call: a bump arena that is emptied, not freed, between calls.

use crate::memory::{ALIGN, Block, MemoryError};

/// Scratch memory with one owner at a time.
#[derive(Debug, Default)]
pub struct Arena {
    /// The chunk in use is the last; earlier ones stay until the arena is emptied, because they may still be in use.
    chunks: Vec<Block>,
    used: usize,
    peak: usize,
    earlier: usize,
}

impl Arena {
    /// `bytes` bytes, 64-byte aligned, valid until [`Arena::reset`].
    pub fn take(&mut self, bytes: usize) -> Result<*mut u8, MemoryError> {
        let bytes = bytes.max(1).checked_next_multiple_of(ALIGN).ok_or(MemoryError::System { bytes })?;
        if self.chunks.last().is_none_or(|chunk| chunk.capacity() - self.used < bytes) {
            let chunk = Block::new(bytes)?;
            self.earlier += self.used;
            self.used = 0;
            self.chunks.push(chunk);
        }
        let chunk = self.chunks.last().expect("a chunk was just ensured");
        // The chunk has room: the sum stays inside it.
        let start = chunk.as_ptr().wrapping_add(self.used);
        self.used += bytes;
        self.peak = self.peak.max(self.earlier + self.used);
        Ok(start)
    }

    /// Empties the arena. Several chunks become one, so that the next call like this one needs no allocation.
    pub fn reset(&mut self) {
        if self.chunks.len() > 1 {
            let total = self.earlier + self.used;
            self.chunks.clear();
            // Where they do not fit as one, the next call asks for them one by one again.
            self.chunks.extend(Block::new(total));
        }
        self.used = 0;
        self.earlier = 0;
    }

    /// Largest amount of memory that was in use between two resets.
    pub fn peak_bytes(&self) -> usize {
        self.peak
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_apart_and_reused() {
        let mut arena = Arena::default();
        let first = arena.take(100).unwrap();
        let second = arena.take(100_000).unwrap();
        assert!((first as usize).is_multiple_of(ALIGN) && (second as usize).is_multiple_of(ALIGN) && first != second);
        arena.reset();
        let again = arena.take(100).unwrap();
        let behind = arena.take(100_000).unwrap();
        assert_eq!(behind as usize - again as usize, 128);
        arena.reset();
        assert_eq!(arena.take(1).unwrap(), again);
        assert_eq!(arena.peak_bytes(), 128 + 100_032);
    }

    #[test]
    fn what_does_not_fit_leaves_the_arena_as_it_was() {
        let mut arena = Arena::default();
        let first = arena.take(64).unwrap();
        assert!(arena.take(usize::MAX).is_err() && arena.take(1 << 60).is_err());
        arena.reset();
        assert_eq!((arena.take(64).unwrap(), arena.peak_bytes()), (first, 64));
    }
}
