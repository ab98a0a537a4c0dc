//! What one call has on a device, and what its program asks for.

use std::sync::Arc;

use super::pool::Block;
use super::resident::Resident;
use super::{Address, DeviceError};
use crate::memory;

/// A call's memory on a device. The first thing that goes wrong is kept, and nothing is done after it.
#[derive(Debug)]
pub(crate) struct DeviceCall {
    pub resident: Arc<Resident>,
    /// Scratch memory.
    workspace: Vec<Block>,
    /// Inputs of the host: where their copy is, and where they are.
    inputs: Vec<(Block, usize, usize)>,
    /// Memory made for outputs.
    outputs: Vec<Option<Block>>,
    /// Where the caller wants an output, and the bytes there.
    given: Vec<Option<(Address, usize)>>,
    /// Tensors that the host works on, and their copies there.
    staged: Vec<(Address, usize, memory::Block)>,
    /// Whether the device takes notes only.
    pub recording: bool,
    error: Option<DeviceError>,
}

impl DeviceCall {
    pub fn new(resident: Arc<Resident>) -> DeviceCall {
        DeviceCall {
            resident,
            workspace: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            given: Vec::new(),
            staged: Vec::new(),
            recording: false,
            error: None,
        }
    }

    /// Gives all memory of the call before back.
    pub fn begin(&mut self, outputs: usize) {
        self.workspace.clear();
        self.inputs.clear();
        self.staged.clear();
        self.outputs.clear();
        self.outputs.resize_with(outputs, || None);
        self.given = vec![None; outputs];
        (self.recording, self.error) = (false, None);
    }

    /// Takes an input of the host to the device.
    pub fn input(&mut self, bytes: &[u8]) -> Result<Address, DeviceError> {
        let block = self.resident.pool.take(bytes.len())?;
        self.resident.device.upload(bytes, block.at())?;
        let at = block.at();
        self.inputs.push((block, bytes.as_ptr() as usize, bytes.len()));
        Ok(at)
    }

    /// Copies an input that is on the device already.
    pub fn input_copy(&mut self, from: Address, bytes: usize) -> Result<Address, DeviceError> {
        let block = self.resident.pool.take(bytes)?;
        self.resident.device.copy(from, block.at(), bytes)?;
        let at = block.at();
        self.inputs.push((block, 0, 0));
        Ok(at)
    }

    /// An output goes into memory of the caller on the device.
    pub fn give(&mut self, k: usize, at: Address, bytes: usize) {
        self.given[k] = Some((at, bytes));
    }

    /// Where output `k` is on the device.
    pub fn output_at(&self, k: usize) -> Option<Address> {
        let made = self.outputs.get(k)?.as_ref().map(Block::at);
        made.or_else(|| self.given[k].map(|(at, _)| at))
    }

    /// The outputs' memory, which is the taker's from now on.
    pub fn take_outputs(&mut self) -> Vec<Option<Block>> {
        std::mem::take(&mut self.outputs)
    }

    /// All memory that the call's work touches, which is the taker's from now on.
    pub fn take_all(&mut self) -> Vec<Block> {
        let outputs = self.take_outputs().into_iter().flatten();
        let inputs = std::mem::take(&mut self.inputs).into_iter().map(|(block, ..)| block);
        outputs.chain(inputs).chain(std::mem::take(&mut self.workspace)).collect()
    }

    /// What went wrong.
    pub fn outcome(&mut self) -> Result<(), DeviceError> {
        self.error.take().map_or(Ok(()), Err)
    }

    /// Does something unless something went wrong before.
    fn attempt<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, DeviceError>) -> Option<T> {
        if self.error.is_some() {
            return None;
        }
        work(self).map_err(|error| self.error = Some(error)).ok()
    }

    fn not_while_recording(&self, what: &'static str) -> Result<(), DeviceError> {
        if self.recording { Err(DeviceError::NotRecordable(what)) } else { Ok(()) }
    }

    /// Scratch memory; address 0 where there is none.
    pub fn workspace(&mut self, bytes: usize) -> Address {
        let taken = self.attempt(|call| {
            let block = call.resident.pool.take(bytes)?;
            let at = block.at();
            call.workspace.push(block);
            Ok(at)
        });
        taken.unwrap_or(0)
    }

    /// Memory for an output: the caller's if it is large enough.
    pub fn output(&mut self, k: usize, bytes: usize) -> Address {
        if let Some((at, _)) = self.given.get(k).copied().flatten().filter(|&(at, room)| at != 0 && room >= bytes) {
            return at;
        }
        let taken = self.attempt(|call| {
            let block = call.resident.pool.take(bytes)?;
            let at = block.at();
            if let Some(place) = call.outputs.get_mut(k) {
                *place = Some(block);
            }
            Ok(at)
        });
        taken.unwrap_or(0)
    }

    /// Looks at bytes of the device: from the host's own copy where that is what they are.
    pub fn read(&mut self, at: Address, to: &mut [u8]) {
        let known = self.inputs.iter().find(|(block, _, bytes)| block.at() == at && *bytes >= to.len());
        if let Some(&(_, host, bytes)) = known {
            // SAFETY: inputs of the host stay where they are while the call runs.
            to.copy_from_slice(&unsafe { super::resident::bytes_of(host, bytes) }[..to.len()]);
            return;
        }
        self.attempt(|call| {
            call.not_while_recording("the program looks at a number that it has computed")?;
            call.resident.device.download(at, to)
        });
    }

    /// Writes bytes of the host.
    pub fn write(&mut self, from: &[u8], at: Address) {
        self.attempt(|call| {
            call.not_while_recording("the program writes numbers of the host")?;
            call.resident.device.upload(from, at)
        });
    }

    /// Copies inside of the device.
    pub fn copy(&mut self, from: Address, to: Address, bytes: usize) {
        self.attempt(|call| call.resident.device.copy(from, to, bytes));
    }

    /// The device's copy of a constant of the image.
    pub fn constant(&mut self, bytes: &[u8]) -> Address {
        self.attempt(|call| call.resident.constant(bytes.as_ptr() as usize, bytes)).unwrap_or(0)
    }

    /// Starts a kernel; its last argument is where it complains.
    pub fn launch(&mut self, kernel: usize, blocks: u64, arguments: &[u64]) {
        if blocks == 0 {
            return;
        }
        self.attempt(|call| {
            let mut all = [0; MOST];
            let with_status = all.get_mut(..=arguments.len()).ok_or_else(|| DeviceError::Failed {
                device: call.resident.device.name(),
                what: format!("kernel {kernel}"),
                reason: format!("it has more than {MOST} arguments"),
            })?;
            with_status[..arguments.len()].copy_from_slice(arguments);
            with_status[arguments.len()] = call.resident.status(kernel);
            call.resident.device.launch(kernel, [blocks, 1, 1], with_status)
        });
    }

    /// Starts a kernel of the user's, which takes these arguments and no others.
    pub fn launch_custom(&mut self, kernel: usize, blocks: [u64; 3], arguments: &[u64]) {
        if !blocks.contains(&0) {
            self.attempt(|call| call.resident.device.launch(kernel, blocks, arguments));
        }
    }

    /// The host's copy of a tensor of the device, for functions that only the host has; null where there is no memory for it. The copy
    /// is large enough where anything else went wrong.
    pub fn stage(&mut self, at: Address, bytes: usize) -> *mut u8 {
        if let Some((_, _, copy)) = self.staged.iter().find(|(staged, room, _)| *staged == at && *room >= bytes) {
            return copy.as_ptr();
        }
        let copy = match memory::Block::zeroed(bytes.max(1)) {
            Ok(copy) => copy,
            Err(error) => {
                self.attempt(|_| Err::<(), _>(error.into()));
                return std::ptr::null_mut();
            }
        };
        let start = copy.as_ptr();
        self.attempt(|call| {
            call.not_while_recording("the host computes a part of it")?;
            // SAFETY: the block is new and has so many bytes.
            call.resident.device.download(at, unsafe { std::slice::from_raw_parts_mut(start, bytes) })
        });
        self.staged.push((at, bytes, copy));
        start
    }

    /// Takes what the host has worked on back to the device.
    pub fn unstage(&mut self) {
        for (at, bytes, copy) in std::mem::take(&mut self.staged) {
            // SAFETY: the block has so many bytes, and nobody else has it.
            self.attempt(|call| call.resident.device.upload(unsafe { std::slice::from_raw_parts(copy.as_ptr(), bytes) }, at));
        }
    }
}

/// Most arguments of a kernel: 4 KB of parameters is what every device takes.
const MOST: usize = 512;
