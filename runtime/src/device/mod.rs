//! Devices: memory that the host does not see, and kernels that run there.
//!
//! A program that was compiled for a device is native code of the host like any other. The memory that it asks for is the device's, and
//! what it cannot do itself (start kernels, copy, look at a number) it asks of the call, which hands it on to a [`Device`]. There are
//! two of them: a CUDA device behind its driver, and the emulator of the compiler. All else is one code for both.

mod call;
mod graph;
mod imports;
mod pool;
mod resident;
pub(crate) mod session;
mod tensor;

use std::fmt::Debug;

use crate::dlpack::DLDevice;
use crate::memory::MemoryError;

pub(crate) use call::DeviceCall;
pub(crate) use imports::FUNCTIONS;
pub(crate) use resident::Resident;
pub(crate) use session::Program;
pub use tensor::{DeviceTensor, FetchError};

/// An address in a device's memory.
pub type Address = u64;

/// A list of work that a device has recorded.
pub type Recording = u64;

/// What a program needs of a device. Work is done in the order in which it is asked for; only [`Device::download`] and
/// [`Device::wait`] wait for it.
pub trait Device: Send + Sync + Debug {
    /// What it is, for messages.
    fn name(&self) -> String;

    /// How tensors say that they live here.
    fn dlpack(&self) -> DLDevice;

    /// So many bytes, aligned to 256, with any contents.
    fn allocate(&self, bytes: usize) -> Result<Address, DeviceError>;

    /// Gives memory back that [`Device::allocate`] gave.
    fn free(&self, at: Address);

    /// Copies bytes of the host, which may change as soon as this returns.
    fn upload(&self, from: &[u8], to: Address) -> Result<(), DeviceError>;

    /// Copies bytes to the host and waits for them.
    fn download(&self, from: Address, to: &mut [u8]) -> Result<(), DeviceError>;

    /// Copies inside of the device.
    fn copy(&self, from: Address, to: Address, bytes: usize) -> Result<(), DeviceError>;

    /// Sets bytes to zero.
    fn clear(&self, at: Address, bytes: usize) -> Result<(), DeviceError>;

    /// Starts a kernel of the program, by its number, in so many blocks in each dimension. Each argument is in the lowest bytes of its word.
    fn launch(&self, kernel: usize, blocks: [u64; 3], arguments: &[u64]) -> Result<(), DeviceError>;

    /// Waits for everything.
    fn wait(&self) -> Result<(), DeviceError>;

    /// From here on work is noted and not done.
    fn record(&self) -> Result<(), DeviceError>;

    /// Ends what [`Device::record`] began; what was noted can be done as often as wanted.
    fn finish(&self) -> Result<Recording, DeviceError>;

    /// Does what was noted.
    fn replay(&self, recording: Recording) -> Result<(), DeviceError>;

    /// Drops a recording.
    fn forget(&self, recording: Recording);

    /// Lets work from now on wait for what a caller's stream holds by now, and `after` the call the stream for the work.
    fn order(&self, stream: usize, after: bool) -> Result<(), DeviceError>;
}

/// Why a device does not do what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// There is none.
    #[error("there is no CUDA device: {reason}; run on the CPU (`--backend=cpu`), or without a device by `--backend=cuda-emulated`")]
    Absent {
        /// What was looked for.
        reason: String,
    },
    /// The device is there and refuses.
    #[error("{device}: {what}: {reason}")]
    Failed {
        /// The device.
        device: String,
        /// What it was to do.
        what: String,
        /// What it says.
        reason: String,
    },
    /// The host has no room for a copy.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A kernel found an index outside of its tensor.
    #[error("index out of bounds (in kernel `{kernel}`{})", place(location))]
    OutOfBounds {
        /// The kernel.
        kernel: String,
        /// Where it comes from, if known.
        location: String,
    },
    /// The artefact has no code for this device.
    #[error("the program has code for {has}, the device is {device}; compile it with --target=cuda:{device}")]
    Architecture {
        /// What was compiled for.
        has: String,
        /// What the device is.
        device: String,
    },
    /// The program does something that cannot be recorded.
    #[error("the call cannot be recorded: {0}")]
    NotRecordable(&'static str),
}

fn place(location: &str) -> String {
    if location.is_empty() { String::new() } else { format!(", from {location}") }
}
