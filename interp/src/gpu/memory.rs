//! The memories that a kernel sees, and the order in which its threads touch them.
//!
//! A pointer is 64 bits: the kind of memory, which block of it, the byte. An access outside is an error, and so is one that another
//! thread's access makes uncertain: a read or a write of what another thread wrote without a barrier between them.

use super::super::value::{InterpError, fail};
use super::order::Order;
use std::collections::HashMap;

/// Kinds of memory, in a pointer's highest bits.
pub const GLOBAL: u64 = 0;
/// Memory of a block of threads.
pub const SHARED: u64 = 1;
/// Memory of a thread.
pub const LOCAL: u64 = 2;
/// Tables of the device's module.
pub const CONSTANT: u64 = 3;

const KIND: u32 = 60;
const BLOCK: u32 = 38;

/// A pointer to a byte.
pub fn pointer(kind: u64, block: usize, offset: usize) -> u64 {
    (kind << KIND) | ((block as u64) << BLOCK) | offset as u64
}

/// Who accesses.
#[derive(Clone, Copy)]
pub struct Who {
    /// The thread in its block.
    pub thread: usize,
    /// The block in its grid.
    pub block: u64,
    /// How many barriers the block has passed.
    pub epoch: u32,
}

/// The last write and read of a byte.
#[derive(Clone, Copy, Default)]
struct Touch {
    /// The block, plus one; zero where nothing was written.
    block: u64,
    writer: u32,
    written: u32,
    /// A thread that read since, plus one, and when.
    reader: u32,
    read: u32,
    /// More than one thread read.
    many: bool,
}

/// All memory in reach of a launch.
pub struct Memories<'a> {
    global: &'a mut [Vec<u8>],
    constants: &'a [Vec<u8>],
    shared: Vec<u8>,
    local: Vec<Vec<u8>>,
    touched: HashMap<u64, Vec<Touch>>,
    order: Order,
    /// A block of global memory that any thread may write, with one value only.
    status: usize,
}

impl<'a> Memories<'a> {
    /// For a launch of blocks of so many threads.
    pub fn new(
        global: &'a mut [Vec<u8>],
        constants: &'a [Vec<u8>],
        shared: usize,
        (threads, local): (usize, usize),
        status: usize,
    ) -> Self {
        let (shared, local) = (vec![0xA5; shared], vec![vec![0xA5; local]; threads]);
        Self { global, constants, shared, local, touched: HashMap::new(), order: Order::default(), status }
    }

    /// Memory of a new block of threads.
    pub fn next_block(&mut self) {
        self.shared.fill(0xA5);
        self.touched.remove(&(SHARED << KIND >> BLOCK));
        self.order.next_block();
    }

    /// Orders a thread's accesses before and after, as other blocks see them.
    pub fn fence(&mut self, who: Who) {
        self.order.fence(who);
    }

    fn bytes(&mut self, at: u64, size: usize, who: Who) -> Result<&mut [u8], InterpError> {
        let (block, offset) = place(at);
        let memory = match at >> KIND {
            GLOBAL => self.global.get_mut(block),
            SHARED => Some(&mut self.shared),
            LOCAL => self.local.get_mut(who.thread),
            _ => None,
        };
        memory.and_then(|memory| memory.get_mut(offset..offset.checked_add(size)?)).ok_or_else(|| outside(at, who))
    }

    /// Reads up to eight bytes.
    pub fn load(&mut self, at: u64, size: usize, who: Who) -> Result<u64, InterpError> {
        let mut value = [0; 8];
        if at >> KIND == CONSTANT {
            let (block, offset) = place(at);
            let bytes = self.constants.get(block).and_then(|memory| memory.get(offset..offset + size)).ok_or_else(|| outside(at, who))?;
            value[..size].copy_from_slice(bytes);
        } else {
            value[..size].copy_from_slice(self.bytes(at, size, who)?);
            self.note(at, false, who)?;
        }
        Ok(u64::from_le_bytes(value))
    }

    /// Writes up to eight bytes.
    pub fn store(&mut self, at: u64, size: usize, value: u64, who: Who) -> Result<(), InterpError> {
        self.bytes(at, size, who)?.copy_from_slice(&value.to_le_bytes()[..size]);
        self.note(at, true, who)
    }

    /// Replaces up to eight bytes in one step, in any order with the same of other threads; gives what was there.
    pub fn exchange(&mut self, at: u64, size: usize, f: impl FnOnce(u64) -> u64, who: Who) -> Result<u64, InterpError> {
        let bytes = self.bytes(at, size, who)?;
        let mut value = [0; 8];
        value[..size].copy_from_slice(bytes);
        let before = u64::from_le_bytes(value);
        bytes.copy_from_slice(&f(before).to_le_bytes()[..size]);
        self.order.count(at, who);
        Ok(before)
    }

    /// Notes an access and refuses it where another thread's makes it uncertain.
    fn note(&mut self, at: u64, write: bool, who: Who) -> Result<(), InterpError> {
        let (block, offset) = place(at);
        let kind = at >> KIND;
        if kind == LOCAL || (kind == GLOBAL && block == self.status) {
            return Ok(());
        }
        let touched = match self.touched.entry(at >> BLOCK) {
            std::collections::hash_map::Entry::Occupied(entry) => entry.into_mut(),
            // Memory that is only read needs no notes.
            std::collections::hash_map::Entry::Vacant(_) if !write && kind == GLOBAL => return Ok(()),
            std::collections::hash_map::Entry::Vacant(entry) => {
                let size = if kind == SHARED { self.shared.len() } else { self.global[block].len() };
                entry.insert(vec![Touch::default(); size])
            }
        };
        let touch = &mut touched[offset];
        let me = who.thread as u32;
        let ordered = match touch.block.checked_sub(1) {
            None => true,
            Some(block) if block == who.block => touch.writer == me || touch.written < who.epoch,
            Some(block) => self.order.comes_after(Who { thread: touch.writer as usize, block, epoch: touch.written }, who),
        };
        if !ordered {
            let what = if write { "writes" } else { "reads" };
            return Err(fail(format!(
                "race: thread {me} of block {} {what} what thread {} of block {} wrote, with no barrier between",
                who.block,
                touch.writer,
                touch.block - 1
            )));
        }
        if write {
            let read_by_other = touch.reader != 0 && touch.read == who.epoch && (touch.many || touch.reader != me + 1);
            if kind == SHARED && read_by_other {
                return Err(fail(format!(
                    "race: thread {me} of block {} writes what another thread reads, with no barrier between",
                    who.block
                )));
            }
            *touch = Touch { block: who.block + 1, writer: me, written: who.epoch, ..Touch::default() };
        } else {
            touch.many = touch.read == who.epoch && (touch.many || (touch.reader != 0 && touch.reader != me + 1));
            (touch.reader, touch.read) = (me + 1, who.epoch);
        }
        Ok(())
    }
}

/// The block of memory that a pointer leads to, and the byte in it.
pub fn place(at: u64) -> (usize, usize) {
    let block = (at >> BLOCK) & ((1 << (KIND - BLOCK)) - 1);
    (block as usize, (at & ((1 << BLOCK) - 1)) as usize)
}

fn outside(at: u64, who: Who) -> InterpError {
    let name = ["global", "shared", "local", "constant"].get((at >> KIND) as usize).copied().unwrap_or("no");
    fail(format!("thread {} of block {} leaves its {name} memory at byte {}", who.thread, who.block, place(at).1))
}
