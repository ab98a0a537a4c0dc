//! Memory for tensors: 64-byte aligned blocks that are kept and reused by size class.
//! Fresh pages cost about a microsecond each, more than most kernels spend on them, so a block freed is kept for the next call.
//!
//! Blocks are bounded in sum, because Linux promises more memory than there is and ends the process that then writes to it. What
//! does not fit is an error with the bytes that were asked for.

use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The bound of all blocks of a process: a number with `K`, `M`, `G`.
pub const LIMIT_VARIABLE: &str = "STRATA_MEMORY_LIMIT";
/// Alignment of every block.
pub const ALIGN: usize = 64;
/// From this size on a block is a mapping of its own that may use huge pages; below, huge pages do not pay.
const HUGE: usize = 32 << 20;
/// Bytes kept for reuse at most.
const KEEP: usize = 1 << 30;

/// Why there is no memory for something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// Blocks of the process would be more than its bound.
    #[error(
        "out of memory: {bytes} bytes are asked for, {taken} of at most {limit} are taken \
         ({LIMIT_VARIABLE} sets the bound, which is all memory of the machine otherwise)"
    )]
    Process {
        /// Bytes asked for.
        bytes: usize,
        /// Bytes of all blocks.
        taken: usize,
        /// The bound.
        limit: usize,
    },
    /// One call would take more than its program may.
    #[error("out of memory: {bytes} bytes are asked for, {taken} of at most {limit} for a call of this program are taken")]
    Call {
        /// Bytes asked for.
        bytes: usize,
        /// Bytes that the call has.
        taken: usize,
        /// The bound.
        limit: usize,
    },
    /// The system has no more.
    #[error("out of memory: {bytes} bytes are asked for, which the system refuses")]
    System {
        /// Bytes asked for.
        bytes: usize,
    },
    /// The variable is no size.
    #[error("`{0}` is no size; write a number of bytes with K, M or G, as in {LIMIT_VARIABLE}=2G")]
    Variable(String),
}

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
    /// Bytes of the free blocks.
    bytes: usize,
    /// Bytes of the blocks that somebody has.
    taken: usize,
}

static CACHE: Mutex<Cache> = Mutex::new(Cache { free: std::collections::BTreeMap::new(), bytes: 0, taken: 0 });

fn cache() -> MutexGuard<'static, Cache> {
    // Nothing panics while it holds the lock.
    CACHE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Cache {
    /// Gives all free blocks back to the system.
    fn empty(&mut self) {
        self.bytes = 0;
        for (class, blocks) in std::mem::take(&mut self.free) {
            blocks.into_iter().filter_map(|at| NonNull::new(at as *mut u8)).for_each(|start| release(start, class));
        }
    }
}

/// The bytes that all blocks of the process may have together.
pub fn limit() -> Result<usize, MemoryError> {
    static LIMIT: OnceLock<Result<usize, MemoryError>> = OnceLock::new();
    let read = || match std::env::var_os(LIMIT_VARIABLE).filter(|text| !text.is_empty()) {
        Some(text) => size(&text.to_string_lossy()).map(|limit| limit.min(ADDRESSES)),
        None => Ok(physical().min(ADDRESSES)),
    };
    LIMIT.get_or_init(read).clone()
}

/// No process has more addresses.
const ADDRESSES: usize = 1 << 47;

/// A number of bytes, with `K`, `M` or `G` for the powers of 1024: the form of all sizes in variables of the environment.
fn size(text: &str) -> Result<usize, MemoryError> {
    let unit = match text.chars().last() {
        Some('K' | 'k') => 1 << 10,
        Some('M' | 'm') => 1 << 20,
        Some('G' | 'g') => 1 << 30,
        _ => 1,
    };
    let digits = if unit == 1 { text } else { &text[..text.len() - 1] };
    let bytes = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    bytes.ok_or_else(|| MemoryError::Variable(text.into()))
}

/// The machine's memory with its swap, or what the process's control group may have of it.
fn physical() -> usize {
    // SAFETY: the struct is plain numbers, for which zeros are values.
    let mut info: libc::sysinfo = unsafe { std::mem::zeroed() };
    // SAFETY: the system fills the struct that it is given.
    if unsafe { libc::sysinfo(&raw mut info) } != 0 {
        return ADDRESSES;
    }
    let bytes = |units: u64| usize::try_from(units.saturating_mul(u64::from(info.mem_unit))).unwrap_or(usize::MAX);
    let (memory, swap) = (bytes(info.totalram as u64), bytes(info.totalswap as u64));
    // Of the second and the first version of control groups; a group without a bound says `max`, or a number that is none.
    let group = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let group = group.iter().find_map(|file| std::fs::read_to_string(file).ok()?.trim().parse::<usize>().ok());
    memory.min(group.unwrap_or(usize::MAX)).saturating_add(swap)
}

/// The class of a size: the size itself rounded up so that at most a quarter is wasted.
fn class_of(bytes: usize) -> usize {
    let bytes = bytes.max(ALIGN);
    let step = (bytes.next_power_of_two() / 8).max(ALIGN);
    bytes.next_multiple_of(step)
}

impl Block {
    /// A block of at least `bytes` bytes, contents unspecified but initialised once by the system or an earlier owner.
    pub fn new(bytes: usize) -> Result<Block, MemoryError> {
        Block::within(bytes, limit()?)
    }

    fn within(bytes: usize, limit: usize) -> Result<Block, MemoryError> {
        let mut cache = cache();
        let full = |taken| Err(MemoryError::Process { bytes, taken, limit });
        // What is larger than all memory has no class.
        let class = if bytes > limit { return full(cache.taken) } else { class_of(bytes) };
        if class > limit.saturating_sub(cache.taken) {
            return full(cache.taken);
        }
        cache.taken += class;
        if let Some(start) = cache.free.get_mut(&class).and_then(Vec::pop).and_then(|at| NonNull::new(at as *mut u8)) {
            cache.bytes -= class;
            return Ok(Block { start, class });
        }
        if class > limit.saturating_sub(cache.taken - class).saturating_sub(cache.bytes) {
            cache.empty();
        }
        drop(cache);
        // What nobody uses may be what is missing.
        let start = allocate(class).or_else(|| {
            self::cache().empty();
            allocate(class)
        });
        match start {
            Some(start) => Ok(Block { start, class }),
            None => {
                self::cache().taken -= class;
                Err(MemoryError::System { bytes })
            }
        }
    }

    /// A block filled with zeros.
    pub fn zeroed(bytes: usize) -> Result<Block, MemoryError> {
        let block = Block::new(bytes)?;
        // SAFETY: the block has `class >= bytes` bytes and we own it.
        unsafe { block.start.as_ptr().write_bytes(0, bytes) };
        Ok(block)
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

/// Memory that somebody takes from the process's allocator, counted as a block is until it is dropped.
#[derive(Debug)]
pub struct Share(usize);

impl Share {
    /// Counts so many bytes.
    pub fn new(bytes: usize) -> Result<Share, MemoryError> {
        Share::within(bytes, limit()?)
    }

    fn within(bytes: usize, limit: usize) -> Result<Share, MemoryError> {
        let mut cache = cache();
        let taken = cache.taken;
        if bytes > limit.saturating_sub(taken) {
            return Err(MemoryError::Process { bytes, taken, limit });
        }
        cache.taken += bytes;
        if bytes > limit.saturating_sub(taken).saturating_sub(cache.bytes) {
            cache.empty();
        }
        Ok(Share(bytes))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        cache().taken -= self.0;
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        let mut cache = cache();
        cache.taken -= self.class;
        if cache.bytes + self.class <= KEEP {
            cache.bytes += self.class;
            let address = self.start.as_ptr() as usize;
            cache.free.entry(self.class).or_default().push(address);
            return;
        }
        drop(cache);
        release(self.start, self.class);
    }
}

/// Below this size blocks come from the process's allocator, from here on they are mappings of their own.
const MAPPED: usize = 1 << 20;
const HUGE_PAGE: usize = 2 << 20;

/// Classes are far below the largest layout.
fn layout(class: usize) -> Option<Layout> {
    Layout::from_size_align(class, ALIGN).ok()
}

/// Zeroed, so that a block is initialised memory whoever reads it first.
fn allocate(class: usize) -> Option<NonNull<u8>> {
    if class >= MAPPED {
        return map(class);
    }
    // SAFETY: `class` is never zero.
    NonNull::new(unsafe { std::alloc::alloc_zeroed(layout(class)?) })
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
        let Some(layout) = layout(class) else { return };
        // SAFETY: `allocate` made it with this very layout.
        unsafe { std::alloc::dealloc(start.as_ptr(), layout) }
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
        let address = Block::new(bytes).unwrap().as_ptr();
        let again = Block::new(bytes - 1000).unwrap();
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

    #[test]
    fn what_does_not_fit_is_an_error() {
        for bytes in [usize::MAX, usize::MAX / 2 + 1, 1 << 62, ADDRESSES] {
            let text = Block::new(bytes).unwrap_err().to_string();
            assert!(text.starts_with(&format!("out of memory: {bytes} bytes are asked for, ")), "{text}");
        }
        // Below the bound of the process the system has the last word.
        assert_eq!(Block::within(ADDRESSES - 1, usize::MAX / 2).unwrap_err(), MemoryError::System { bytes: ADDRESSES - 1 });
        assert!(matches!(Block::within(1 << 20, 1 << 16), Err(MemoryError::Process { bytes: 0x10_0000, limit: 0x1_0000, .. })));
        assert!(Block::new(100).is_ok(), "what failed is not counted");
    }

    #[test]
    fn shares_are_counted_while_they_last() {
        let limit = 1 << 40;
        let half = Share::within(1 << 39, limit).unwrap();
        assert!(matches!(Share::within(1 << 39 | 1, limit), Err(MemoryError::Process { taken, .. }) if taken >= 1 << 39));
        drop(half);
        assert!(Share::within(1 << 39 | 1, limit).is_ok());
    }

    #[test]
    fn sizes_are_numbers_with_a_unit() {
        assert_eq!([size("17"), size("2K"), size("3m"), size("4G")], [Ok(17), Ok(2 << 10), Ok(3 << 20), Ok(4 << 30)]);
        for text in ["", "K", "2T", "-1", "1.5G", "99999999999999999999", "99999999999G", "1é"] {
            assert_eq!(size(text), Err(MemoryError::Variable(text.into())));
        }
        assert!(physical() > 1 << 26);
    }
}
