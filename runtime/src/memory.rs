//! Memory for tensors: 64-byte aligned blocks that are kept and reused by size class.
//! Fresh pages cost about a microsecond each, more than most kernels spend on them, so a block freed is kept for the next call.

use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::Mutex;

/// Alignment of every block.
pub const ALIGN: usize = 64;
/// From this size on a block is a mapping of its own that may use huge pages; below, huge pages do not pay.
const HUGE: usize = 32 << 20;
/// Bytes kept for reuse at most.
const KEEP: usize = 1 << 30;

/// A block of memory; returns to the cache when dropped.
#[derive(Debug)]
pub struct Block {
    start: NonNull<u8>,
    class: usize,
}

// SAFETY: a block is plain memory with one owner; access goes through `&self`/`&mut self` of that owner.
unsafe impl Send for Block {}
// SAFETY: as above; shared references only hand out the address.
unsafe impl Sync for Block {}

#[derive(Default)]
struct Cache {
    /// Free blocks by class, newest last.
    free: std::collections::BTreeMap<usize, Vec<usize>>,
    bytes: usize,
}

static CACHE: Mutex<Cache> = Mutex::new(Cache { free: std::collections::BTreeMap::new(), bytes: 0 });

/// The class of a size: the size itself rounded up so that at most a quarter is wasted.
fn class_of(bytes: usize) -> usize {
    let bytes = bytes.max(ALIGN);
    let step = (bytes.next_power_of_two() / 8).max(ALIGN);
    bytes.next_multiple_of(step)
}

impl Block {
    /// A block of at least `bytes` bytes, contents unspecified but initialised once by the system or an earlier owner.
    pub fn new(bytes: usize) -> Block {
        let class = class_of(bytes);
        if let Ok(mut cache) = CACHE.lock()
            && let Some(address) = cache.free.get_mut(&class).and_then(Vec::pop)
        {
            cache.bytes -= class;
            return Block { start: NonNull::new(address as *mut u8).expect("only real blocks are cached"), class };
        }
        Block { start: allocate(class), class }
    }

    /// A block filled with zeros.
    pub fn zeroed(bytes: usize) -> Block {
        let block = Block::new(bytes);
        // SAFETY: the block has `class >= bytes` bytes and we own it.
        unsafe { block.start.as_ptr().write_bytes(0, bytes) };
        block
    }

    /// Address of the first byte.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Bytes that may be used.
    pub fn capacity(&self) -> usize {
        self.class
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Ok(mut cache) = CACHE.lock()
            && cache.bytes + self.class <= KEEP
        {
            cache.bytes += self.class;
            let address = self.start.as_ptr() as usize;
            cache.free.entry(self.class).or_default().push(address);
            return;
        }
        release(self.start, self.class);
    }
}

/// Below this size blocks come from the process's allocator, from here on they are mappings of their own.
const MAPPED: usize = 1 << 20;
const HUGE_PAGE: usize = 2 << 20;

fn layout(class: usize) -> Layout {
    Layout::from_size_align(class, ALIGN).unwrap_or_else(|_| std::process::abort())
}

/// Zeroed, so that a block is initialised memory whoever reads it first.
fn allocate(class: usize) -> NonNull<u8> {
    let start = if class < MAPPED {
        // SAFETY: `class` is never zero.
        NonNull::new(unsafe { std::alloc::alloc_zeroed(layout(class)) })
    } else {
        map(class)
    };
    start.unwrap_or_else(|| std::alloc::handle_alloc_error(layout(class)))
}

fn map(class: usize) -> Option<NonNull<u8>> {
    // Room to move the start to a huge page's boundary; the rest is given back.
    let slack = if class >= HUGE { HUGE_PAGE } else { 0 };
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new anonymous mapping touches nothing that exists.
    let raw = unsafe { libc::mmap(std::ptr::null_mut(), class + slack, access, kind, -1, 0) };
    if raw == libc::MAP_FAILED {
        return None;
    }
    if slack == 0 {
        return NonNull::new(raw.cast());
    }
    let head = (raw as usize).next_multiple_of(HUGE_PAGE) - raw as usize;
    let start = raw.wrapping_byte_add(head);
    // SAFETY: head, block and tail are parts of the mapping just made; the advice changes no contents.
    unsafe {
        if head > 0 {
            libc::munmap(raw, head);
        }
        let tail = (class + slack - head) / PAGE * PAGE;
        let end = class.next_multiple_of(PAGE);
        if tail > end {
            libc::munmap(start.wrapping_byte_add(end), tail - end);
        }
        libc::madvise(start, class, libc::MADV_HUGEPAGE);
    }
    NonNull::new(start.cast())
}

const PAGE: usize = 4096;

fn release(start: NonNull<u8>, class: usize) {
    if class < MAPPED {
        // SAFETY: `allocate` made it with this very layout.
        unsafe { std::alloc::dealloc(start.as_ptr(), layout(class)) }
    } else {
        // SAFETY: `map` made a mapping of this start and length, which nobody uses any more.
        unsafe { libc::munmap(start.as_ptr().cast(), class) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_block_is_reused() {
        let bytes = 12_345_678;
        let address = Block::new(bytes).as_ptr();
        let again = Block::new(bytes - 1000);
        assert_eq!(address, again.as_ptr());
        assert_eq!(again.as_ptr() as usize % ALIGN, 0);
    }

    #[test]
    fn classes_hold_their_size_and_waste_little() {
        for bytes in (0..100_000).step_by(7) {
            let class = class_of(bytes);
            assert!(class >= bytes && class.is_multiple_of(ALIGN));
            assert!(class <= bytes + bytes / 4 + ALIGN, "{bytes} -> {class}");
        }
    }
}
