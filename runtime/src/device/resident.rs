//! A program that is resident on a device: its kernels, weights and memory there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::call::DeviceCall;
use super::graph::Graphs;
use super::pool::{Block, Pool};
use super::{Address, Device, DeviceError};
use crate::manifest::{DeviceCode, Manifest};
use crate::tensor::dense_bytes;

/// What all calls of a program share on a device.
#[derive(Debug)]
pub(crate) struct Resident {
    pub device: Arc<dyn Device>,
    pub pool: Arc<Pool>,
    pub code: DeviceCode,
    /// Two words for each kernel: what it complains of, and how many of its blocks are done, which is zero between launches.
    status: Block,
    /// Constants of the image that were asked for, by their address there.
    constants: Mutex<HashMap<usize, Block>>,
    /// Weights, then what is prepared from them.
    weights: Mutex<Vec<Block>>,
    /// One call at a time: the device does everything in one order.
    turn: Mutex<Graphs>,
}

/// Bytes of a kernel's two words.
const STATUS: usize = 8;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics while it holds these locks with its data in disorder.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Resident {
    /// Takes the weights to the device.
    pub fn new(device: Arc<dyn Device>, code: DeviceCode, manifest: &Manifest, weights: &[usize]) -> Result<Arc<Resident>, DeviceError> {
        let pool = Arc::new(Pool::new(device.clone()));
        let status = pool.take(STATUS * code.kernels.len())?;
        device.clear(status.at(), STATUS * code.kernels.len())?;
        let graphs = Graphs::new(device.clone(), code.graphs);
        let resident =
            Resident { device, pool, code, status, constants: Mutex::default(), weights: Mutex::default(), turn: Mutex::new(graphs) };
        for (&from, weight) in weights.iter().zip(&manifest.weights) {
            let bytes = dense_bytes(weight.dtype, &weight.shape).unwrap_or(0);
            let block = resident.pool.take(bytes)?;
            // SAFETY: the weights are loaded, each with the bytes that the manifest declares.
            resident.device.upload(unsafe { bytes_of(from, bytes) }, block.at())?;
            lock(&resident.weights).push(block);
        }
        Ok(Arc::new(resident))
    }

    /// Where the weights are, in the order of the call's list.
    pub fn weight_pointers(&self) -> Vec<usize> {
        lock(&self.weights).iter().map(|block| block.at() as usize).collect()
    }

    /// Keeps prepared weights, which follow the others.
    pub fn keep_prepared(&self, blocks: Vec<Block>) {
        lock(&self.weights).extend(blocks);
    }

    /// Gives a weight a value of the host.
    pub fn set_weight(&self, k: usize, value: &[u8]) -> Result<(), DeviceError> {
        let at = lock(&self.weights).get(k).map(Block::at);
        at.map_or(Ok(()), |at| self.device.upload(value, at))
    }

    /// State for a call.
    pub fn call(self: &Arc<Resident>) -> DeviceCall {
        DeviceCall::new(self.clone())
    }

    /// The right to call.
    pub fn turn(&self) -> MutexGuard<'_, Graphs> {
        lock(&self.turn)
    }

    /// The device's copy of a constant of the image.
    pub fn constant(&self, at: usize, bytes: &[u8]) -> Result<Address, DeviceError> {
        let mut constants = lock(&self.constants);
        if let Some(block) = constants.get(&at) {
            return Ok(block.at());
        }
        let block = self.pool.take(bytes.len())?;
        self.device.upload(bytes, block.at())?;
        let copy = block.at();
        constants.insert(at, block);
        Ok(copy)
    }

    /// Where a kernel leaves its complaint, and counts.
    pub fn status(&self, kernel: usize) -> Address {
        self.status.at() + (STATUS * kernel) as Address
    }

    /// What a kernel has complained of since the last time; waits for the device where some kernel can.
    pub fn complaint(&self) -> Result<(), DeviceError> {
        if !self.code.kernels.iter().any(|kernel| kernel.checks) {
            return Ok(());
        }
        let mut words = vec![0; STATUS * self.code.kernels.len()];
        self.device.download(self.status.at(), &mut words)?;
        let complains = |words: &[u8]| words[..4].iter().any(|&byte| byte != 0);
        let Some(first) = words.chunks_exact(STATUS).position(complains) else { return Ok(()) };
        self.device.clear(self.status.at(), words.len())?;
        let kernel = &self.code.kernels[first];
        Err(DeviceError::OutOfBounds { kernel: kernel.name.clone(), location: kernel.location.clone() })
    }
}

/// Bytes at an address.
///
/// # Safety
/// So many bytes can be read there for as long as the result is used.
pub(super) unsafe fn bytes_of<'a>(at: usize, bytes: usize) -> &'a [u8] {
    if bytes == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(at as *const u8, bytes) }
}
