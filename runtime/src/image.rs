//! A code image in memory: copied in while writable, its slots filled, then sealed so that nothing is both writable and executable.

use std::ffi::c_void;

use crate::abi::Entry;
use crate::artefact::{Artefact, PAGE};
use crate::cpu;
use crate::imports;
use crate::manifest::{Access, Layout};
use crate::op_library::{OpLibraries, OpLibraryKind};

/// Code ready to be called.
#[derive(Debug)]
pub struct LoadedImage {
    base: *mut u8,
    bytes: usize,
    entry: Entry,
    prepare: Option<Entry>,
    /// Kept open: the code has the addresses of their kernels.
    op_libraries: OpLibraries,
}

// SAFETY: after loading, the mapping is changed only by the code itself, whose entry may run on any thread;
// the session serialises programs that write to memory they share.
unsafe impl Send for LoadedImage {}
// SAFETY: as above.
unsafe impl Sync for LoadedImage {}

/// Why an image cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The code is for another machine.
    #[error(transparent)]
    Target(#[from] cpu::TargetError),
    /// The layout contradicts itself or the bytes.
    #[error("the code image's layout makes no sense: {0}; compile the model again")]
    Layout(String),
    /// The image wants a function that does not exist here.
    #[error(
        "the program needs the runtime function `{name}`, which this runtime does not have; compile the model again or use the runtime it was compiled for"
    )]
    Import {
        /// The function.
        name: String,
    },
    /// The image calls a kernel of a library that is not given.
    #[error("the program calls `{symbol}` of the library {file}, which is not given; rs-run takes it with {flag}=FOLDER/{file}", flag = OpLibraryKind::of(symbol).flag())]
    NoOpLibrary {
        /// The library.
        file: String,
        /// The kernel.
        symbol: String,
    },
    /// The library has no such kernel.
    #[error("the program calls `{symbol}` of the library {file}, which exports no such function")]
    NoKernel {
        /// The library.
        file: String,
        /// The kernel.
        symbol: String,
    },
    /// The system refuses the memory.
    #[error("cannot map {bytes} bytes of code: {source}")]
    Memory {
        /// Size of the image.
        bytes: usize,
        /// The system's reason.
        source: std::io::Error,
    },
}

impl LoadedImage {
    /// Loads the code of an artefact.
    pub fn load(artefact: &Artefact) -> Result<LoadedImage, ImageError> {
        cpu::check(&artefact.manifest.target)?;
        let layout = &artefact.manifest.layout;
        check_layout(layout, artefact.image.bytes.len())?;
        let bytes = (layout.memory_bytes as usize).next_multiple_of(PAGE);
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new anonymous mapping touches nothing that exists.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(ImageError::Memory { bytes, source: std::io::Error::last_os_error() });
        }
        let base = base.cast::<u8>();
        // SAFETY: entries lie in an executable segment of the image (checked above), which is sealed below before anyone can call them.
        let function = |at: u64| unsafe { std::mem::transmute::<*mut u8, Entry>(base.wrapping_add(at as usize)) };
        let op_libraries = artefact.op_libraries.clone();
        let image = LoadedImage { base, bytes, entry: function(layout.entry), prepare: layout.prepare.map(function), op_libraries };
        // SAFETY: the mapping is at least as long as the image's bytes (checked above) and still writable.
        unsafe { base.copy_from_nonoverlapping(artefact.image.bytes.as_ptr(), artefact.image.bytes.len()) };
        image.fill(layout)?;
        image.flush();
        image.seal(layout)?;
        Ok(image)
    }

    /// The program's entry.
    pub fn entry(&self) -> Entry {
        self.entry
    }

    /// The function that prepares weights, where there is something to prepare.
    pub fn prepare(&self) -> Option<Entry> {
        self.prepare
    }

    /// Bytes of the mapping.
    pub fn mapped_bytes(&self) -> usize {
        self.bytes
    }

    fn fill(&self, layout: &Layout) -> Result<(), ImageError> {
        for import in &layout.imports {
            self.store(import.offset, self.resolve(&import.name)? as usize);
        }
        for relocation in &layout.relocations {
            self.store(relocation.offset, self.base as usize + relocation.target as usize);
        }
        Ok(())
    }

    /// The address of an import: a function of ours or the system's, or `FILE:SYMBOL`, a kernel of a user's library.
    fn resolve(&self, name: &str) -> Result<*const c_void, ImageError> {
        let Some((file, symbol)) = name.split_once(':') else {
            return imports::resolve(name).ok_or_else(|| ImageError::Import { name: name.into() });
        };
        let (libraries, file, symbol) = (&self.op_libraries, file.to_owned(), symbol.to_owned());
        match libraries.kernel(&file, &symbol) {
            Some(address) => Ok(address),
            None if libraries.has(&file) => Err(ImageError::NoKernel { file, symbol }),
            None => Err(ImageError::NoOpLibrary { file, symbol }),
        }
    }

    fn store(&self, offset: u64, value: usize) {
        let slot = self.base.wrapping_add(offset as usize).cast::<usize>();
        // SAFETY: `check_layout` found the eight bytes inside the mapping, which is writable until it is sealed.
        unsafe { slot.write_unaligned(value) };
    }

    /// Instructions are fetched through a cache that need not see what was stored: on AArch64 both are told.
    fn flush(&self) {
        #[cfg(target_arch = "aarch64")]
        for (at_least, operation) in [(16, 0), (0, 1)] {
            let line: u64;
            // SAFETY: reading the register that describes the caches has no effect.
            unsafe { std::arch::asm!("mrs {}, ctr_el0", out(reg) line, options(nomem, nostack)) };
            let bytes = 4usize << (line >> at_least & 15);
            for at in (self.base as usize & !(bytes - 1)..self.base as usize + self.bytes).step_by(bytes) {
                // SAFETY: both operations only keep caches coherent; the line belongs to our own mapping.
                unsafe {
                    match operation {
                        0 => std::arch::asm!("dc cvau, {}", in(reg) at, options(nostack, preserves_flags)),
                        _ => std::arch::asm!("ic ivau, {}", in(reg) at, options(nostack, preserves_flags)),
                    }
                }
            }
            // SAFETY: a barrier.
            unsafe { std::arch::asm!("dsb ish", "isb", options(nostack, preserves_flags)) };
        }
    }

    fn seal(&self, layout: &Layout) -> Result<(), ImageError> {
        self.protect(0, self.bytes, libc::PROT_NONE)?;
        for segment in &layout.segments {
            let access = match segment.access {
                Access::Read => libc::PROT_READ,
                Access::Write => libc::PROT_READ | libc::PROT_WRITE,
                Access::Execute => libc::PROT_READ | libc::PROT_EXEC,
            };
            self.protect(segment.offset as usize, segment.bytes as usize, access)?;
        }
        Ok(())
    }

    fn protect(&self, offset: usize, bytes: usize, access: i32) -> Result<(), ImageError> {
        let start = self.base.wrapping_add(offset).cast::<c_void>();
        // SAFETY: the range is part of our own mapping.
        match unsafe { libc::mprotect(start, bytes, access) } {
            0 => Ok(()),
            _ => Err(ImageError::Memory { bytes, source: std::io::Error::last_os_error() }),
        }
    }
}

impl Drop for LoadedImage {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and a session keeps its image until its last call has returned.
        unsafe { libc::munmap(self.base.cast(), self.bytes) };
    }
}

/// Everything that later code relies on, checked before any memory is touched.
fn check_layout(layout: &Layout, image_bytes: usize) -> Result<(), ImageError> {
    let wrong = |what: String| Err(ImageError::Layout(what));
    let size = layout.memory_bytes;
    if size == 0 || size > 1 << 32 || (image_bytes as u64) > size {
        return wrong(format!("{image_bytes} bytes of code in {size} bytes of memory"));
    }
    let mut end = 0;
    for segment in &layout.segments {
        let stop = segment.offset.checked_add(segment.bytes).filter(|&stop| stop <= size);
        let Some(stop) = stop.filter(|_| segment.offset % PAGE as u64 == 0 && segment.offset >= end && segment.bytes > 0) else {
            return wrong(format!("a segment of {} bytes at {} of {size}", segment.bytes, segment.offset));
        };
        end = stop.next_multiple_of(PAGE as u64);
    }
    let executable = |at: u64| layout.segments.iter().any(|s| s.access == Access::Execute && s.offset <= at && at < s.offset + s.bytes);
    if let Some(entry) = [Some(layout.entry), layout.prepare].into_iter().flatten().find(|&entry| !executable(entry)) {
        return wrong(format!("the entry at {entry} is not in an executable segment"));
    }
    let slots = layout.imports.iter().map(|i| i.offset).chain(layout.relocations.iter().map(|r| r.offset));
    for slot in slots {
        if slot.checked_add(8).is_none_or(|stop| stop > size) {
            return wrong(format!("a slot at {slot} of {size}"));
        }
    }
    match layout.relocations.iter().find(|r| r.target > size) {
        Some(r) => wrong(format!("a pointer to {} of {size}", r.target)),
        None => Ok(()),
    }
}
