//! A device's memory, kept and reused by size class: asking a driver for memory stops the device.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Address, Device, DeviceError};

/// Smallest class, and what every class is a multiple of.
const UNIT: usize = 512;

/// More than any device has, and far from what no class can be made of.
const LARGEST: usize = 1 << 47;

/// Memory of one device.
#[derive(Debug)]
pub(crate) struct Pool {
    device: Arc<dyn Device>,
    free: Mutex<BTreeMap<usize, Vec<Address>>>,
}

/// A piece of it; goes back when dropped. All work of a device is in order, so who gets it next cannot write too early.
#[derive(Debug)]
pub(crate) struct Block {
    pool: Arc<Pool>,
    at: Address,
    class: usize,
}

impl Pool {
    pub fn new(device: Arc<dyn Device>) -> Pool {
        Pool { device, free: Mutex::default() }
    }

    /// At least so many bytes.
    pub fn take(self: &Arc<Pool>, bytes: usize) -> Result<Block, DeviceError> {
        if bytes > LARGEST {
            let (device, what) = (self.device.name(), format!("{bytes} bytes of memory"));
            return Err(DeviceError::Failed { device, what, reason: "no device has so much".into() });
        }
        let class = class_of(bytes);
        let kept = self.free().get_mut(&class).and_then(Vec::pop);
        let at = match kept {
            Some(at) => at,
            // What nobody uses may be what is missing.
            None => self.device.allocate(class).or_else(|_| {
                self.empty();
                self.device.allocate(class)
            })?,
        };
        Ok(Block { pool: self.clone(), at, class })
    }

    /// Gives all that nobody uses back to the device.
    fn empty(&self) {
        let all = std::mem::take(&mut *self.free());
        all.into_values().flatten().for_each(|at| self.device.free(at));
    }

    fn free(&self) -> std::sync::MutexGuard<'_, BTreeMap<usize, Vec<Address>>> {
        // Nothing panics while it holds the lock.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.empty();
    }
}

impl Block {
    /// Its first byte.
    pub fn at(&self) -> Address {
        self.at
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        self.pool.free().entry(self.class).or_default().push(self.at);
    }
}

/// The class of a size: rounded up so that at most a quarter is wasted.
fn class_of(bytes: usize) -> usize {
    let bytes = bytes.max(UNIT);
    bytes.next_multiple_of((bytes.next_power_of_two() / 8).max(UNIT))
}
