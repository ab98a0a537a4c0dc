//! A device without a device: kernels of a module and memory for them, apart from any program that launches them.

use super::super::tensor::filled;
use super::super::value::{InterpError, fail};
use super::code::Code;
use super::decode::decode;
use super::memory::{GLOBAL, Memories, place, pointer};
use super::run::BlockRun;
use strata_core::ir::Op;
use strata_core::upstream::gpu;

/// Fresh memory holds this, so that what reads it before a write is seen.
const FRESH: u8 = 0xA5;

/// The kernels of a program, by their numbers, and the device's memory.
pub struct Emulator {
    kernels: Vec<Code>,
    /// Blocks of memory. The first one is nobody's: its address is null.
    blocks: Vec<Vec<u8>>,
    free: Vec<usize>,
}

impl Emulator {
    /// Reads the kernels of a module at the `gpu` level.
    pub fn of(module: Op<'_>) -> Result<Self, InterpError> {
        let mut kernels = Vec::new();
        for device in module.find_all(gpu::Module::NAME) {
            for function in device.find_all(gpu::Func::NAME) {
                kernels.push(decode(device, function)?);
            }
        }
        Ok(Self { kernels, blocks: vec![Vec::new()], free: Vec::new() })
    }

    /// Bytes of all its memory.
    pub fn held(&self) -> usize {
        self.blocks.iter().map(Vec::len).sum()
    }

    /// The address of new memory.
    pub fn allocate(&mut self, bytes: usize) -> Result<u64, InterpError> {
        let memory = filled(FRESH, bytes)?;
        let block = self.free.pop().unwrap_or_else(|| {
            self.blocks.push(Vec::new());
            self.blocks.len() - 1
        });
        self.blocks[block] = memory;
        Ok(pointer(GLOBAL, block, 0))
    }

    /// Gives memory back.
    pub fn free(&mut self, at: u64) {
        let (block, _) = place(at);
        if let Some(memory) = self.blocks.get_mut(block).filter(|_| block > 0) {
            *memory = Vec::new();
            self.free.push(block);
        }
    }

    /// The bytes at an address.
    pub fn bytes(&mut self, at: u64, bytes: usize) -> Result<&mut [u8], InterpError> {
        let (block, offset) = place(at);
        let found = self.blocks.get_mut(block).and_then(|memory| memory.get_mut(offset..offset.checked_add(bytes)?));
        found.ok_or_else(|| fail(format!("{bytes} bytes at {at:#x} are no memory of the device")))
    }

    /// Runs a kernel; the last argument is where it complains.
    pub fn launch(&mut self, kernel: usize, blocks: u64, arguments: &[u64]) -> Result<(), InterpError> {
        let code = self.kernels.get(kernel).ok_or_else(|| fail(format!("there is no kernel {kernel}")))?;
        if arguments.len() != code.arguments.len() {
            return Err(fail(format!("the kernel takes {} arguments, the launch has {}", code.arguments.len(), arguments.len())));
        }
        let (status, _) = place(arguments.last().copied().unwrap_or(0));
        let mut memory = Memories::new(&mut self.blocks, &code.constants, code.shared, (code.threads, code.local), status);
        (0..blocks).try_for_each(|block| BlockRun::run(code, &mut memory, arguments, block))
    }
}
