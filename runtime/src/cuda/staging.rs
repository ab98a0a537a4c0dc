//! Copies between the host and a device, by two pieces of pinned memory that take turns.

use cudarc::driver::result::{DriverError, event, free_host, malloc_host, memcpy_dtoh_async, memcpy_htod_async};
use cudarc::driver::sys;

/// Bytes of a piece.
const PIECE: usize = 4 << 20;

/// Pinned memory, and the event behind the copy that used it last.
#[derive(Debug, Clone, Copy)]
struct Piece {
    start: *mut u8,
    done: sys::CUevent,
}

/// The two pieces.
#[derive(Debug, Default)]
pub(super) struct Staging {
    pieces: Vec<Piece>,
    next: usize,
}

impl Staging {
    /// Pinned memory of the present context.
    pub fn new() -> Result<Staging, DriverError> {
        let mut staging = Staging::default();
        for _ in 0..2 {
            // SAFETY: it is new memory, and is written before it is read.
            let start = unsafe { malloc_host(PIECE, 0) }?.cast();
            staging.pieces.push(Piece { start, done: event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING)? });
        }
        Ok(staging)
    }

    /// The piece whose turn it is, once its last copy is over.
    fn turn(&mut self) -> Result<Piece, DriverError> {
        let piece = self.pieces[self.next % self.pieces.len()];
        self.next += 1;
        // SAFETY: the event is ours; one that was never recorded is over.
        unsafe { event::synchronize(piece.done) }?;
        Ok(piece)
    }

    /// Starts copying; the bytes may change when this returns.
    pub fn upload(&mut self, from: &[u8], to: u64, stream: sys::CUstream) -> Result<(), DriverError> {
        for (k, part) in from.chunks(PIECE).enumerate() {
            let piece = self.turn()?;
            // SAFETY: nothing copies from the piece any more, and it is at least as long as the part.
            unsafe {
                piece.start.copy_from_nonoverlapping(part.as_ptr(), part.len());
                let staged = std::slice::from_raw_parts(piece.start.cast_const(), part.len());
                memcpy_htod_async(to + (k * PIECE) as u64, staged, stream)?;
                event::record(piece.done, stream)?;
            }
        }
        Ok(())
    }

    /// Copies, and waits for it.
    pub fn download(&mut self, from: u64, to: &mut [u8], stream: sys::CUstream) -> Result<(), DriverError> {
        let mut before: Option<(Piece, &mut [u8])> = None;
        for (k, part) in to.chunks_mut(PIECE).enumerate() {
            let piece = self.turn()?;
            // SAFETY: nothing uses the piece any more, and it is at least as long as the part.
            unsafe {
                let staged = std::slice::from_raw_parts_mut(piece.start, part.len());
                memcpy_dtoh_async(staged, from + (k * PIECE) as u64, stream)?;
                event::record(piece.done, stream)?;
            }
            take(before.replace((piece, part)))?;
        }
        take(before)
    }

    /// Gives the memory back.
    ///
    /// # Safety
    /// The context is the present one, and no copy is under way.
    pub unsafe fn free(&mut self) {
        for piece in self.pieces.drain(..) {
            // SAFETY: the driver gave both, once. What it does not take back goes with the process.
            unsafe {
                let _ = free_host(piece.start.cast());
                let _ = event::destroy(piece.done);
            }
        }
    }
}

/// Takes a part out of its piece when it has arrived.
fn take(arriving: Option<(Piece, &mut [u8])>) -> Result<(), DriverError> {
    let Some((piece, part)) = arriving else { return Ok(()) };
    // SAFETY: the event was recorded behind the copy, which has written so many bytes when it is over.
    unsafe {
        event::synchronize(piece.done)?;
        part.as_mut_ptr().copy_from_nonoverlapping(piece.start, part.len());
    }
    Ok(())
}
