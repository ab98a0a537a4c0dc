//! CUDA devices, by NVIDIA's driver. The driver is opened when a program for a device is loaded: neither building nor starting needs it.
//!
//! A device has one stream of its own, in which everything is done in order. Copies from and to the host go through pinned memory, so
//! that the host prepares one piece while the other one travels.

mod module;
mod staging;

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::result::{self, DriverError, ctx, event, graph, stream};
use cudarc::driver::sys;

use crate::device::{Address, Device, DeviceError, Recording};
use crate::dlpack::DLDevice;
use crate::manifest::DeviceCode;
use module::Kernel;
use staging::Staging;

/// The oldest driver that has all functions which are called, as the driver counts versions.
const OLDEST: i32 = 12000;

/// DLPack's number of CUDA devices.
const CUDA: i32 = 2;

/// A device with the kernels of a program.
#[derive(Debug)]
pub struct Cuda {
    name: String,
    ordinal: i32,
    context: sys::CUcontext,
    stream: sys::CUstream,
    /// Marks places in the streams of others.
    mark: sys::CUevent,
    modules: Vec<sys::CUmodule>,
    kernels: Vec<Kernel>,
    /// Whether to wait for each kernel, so that one which fails is known by name.
    blocking: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    staging: Staging,
    recordings: HashMap<Recording, sys::CUgraphExec>,
    next: Recording,
}

// SAFETY: the driver's handles may be used on any thread that has set their context, which every function here does first.
unsafe impl Send for Cuda {}
// SAFETY: as above; what changes is behind the lock.
unsafe impl Sync for Cuda {}

/// Whether there is a driver, and how many devices it has.
pub fn devices() -> Result<i32, DeviceError> {
    let absent = |reason: String| DeviceError::Absent { reason };
    // SAFETY: it opens the driver's library, whose initialisers are safe to run at any time.
    if !unsafe { sys::is_culib_present() } {
        return Err(absent("NVIDIA's driver (libcuda.so) is not installed".into()));
    }
    result::init().map_err(|error| absent(format!("the driver does not start: {}", message_of(error))))?;
    let mut version = 0;
    // SAFETY: the result goes into our variable.
    let status = unsafe { sys::cuDriverGetVersion(&raw mut version) };
    if status != sys::CUresult::CUDA_SUCCESS || version < OLDEST {
        return Err(absent(format!("the driver is for CUDA {}.{}, 12.0 is needed", version / 1000, version % 1000 / 10)));
    }
    result::device::get_count().map_err(|error| absent(message_of(error)))
}

/// What the driver says of an error.
fn message_of(error: DriverError) -> String {
    let text = error.error_string().map(|text| text.to_string_lossy().into_owned());
    text.unwrap_or_else(|_| format!("{:?}", error.0))
}

/// Opens a device, by its number, for a program.
pub fn open(ordinal: i32, code: &DeviceCode) -> Result<Arc<dyn Device>, DeviceError> {
    let count = devices()?;
    if !(0..count).contains(&ordinal) {
        return Err(DeviceError::Absent { reason: format!("device {ordinal} was asked for, the driver has {count}") });
    }
    let failed = |name: &str| {
        let device = name.to_owned();
        move |error: DriverError| DeviceError::Failed { device: device.clone(), what: "opening it".into(), reason: message_of(error) }
    };
    let device = result::device::get(ordinal).map_err(failed("CUDA"))?;
    let name = result::device::get_name(device).map_err(failed("CUDA"))?;
    let failed = failed(&name);
    // SAFETY: the device is the driver's, and the context that it gives is kept until this device is dropped.
    let context = unsafe { result::primary_ctx::retain(device) }.map_err(&failed)?;
    let mut cuda = Cuda {
        name,
        ordinal,
        context,
        stream: std::ptr::null_mut(),
        mark: std::ptr::null_mut(),
        modules: Vec::new(),
        kernels: Vec::new(),
        blocking: std::env::var_os("CUDA_LAUNCH_BLOCKING").is_some_and(|value| value == "1"),
        state: Mutex::new(State { staging: Staging::default(), recordings: HashMap::new(), next: 0 }),
    };
    // SAFETY: the context is alive.
    unsafe { ctx::set_current(context) }.map_err(&failed)?;
    cuda.stream = stream::create(stream::StreamKind::NonBlocking).map_err(&failed)?;
    cuda.mark = event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING).map_err(&failed)?;
    cuda.state.get_mut().unwrap_or_else(PoisonError::into_inner).staging = Staging::new().map_err(&failed)?;
    cuda.kernels = module::load(device, &cuda.name, code, &mut cuda.modules)?;
    Ok(Arc::new(cuda))
}

impl Cuda {
    fn failed<'a>(&'a self, what: &'a str) -> impl Fn(DriverError) -> DeviceError + 'a {
        move |error| DeviceError::Failed { device: self.name.clone(), what: what.to_owned(), reason: message_of(error) }
    }

    /// Makes the device's context this thread's.
    fn here(&self) -> Result<(), DeviceError> {
        // SAFETY: the context is kept as long as this device.
        unsafe { ctx::set_current(self.context) }.map_err(self.failed("its context"))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No code panics while it holds the lock with its data in disorder.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn synchronize(&self, what: &str) -> Result<(), DeviceError> {
        // SAFETY: the stream is ours.
        unsafe { stream::synchronize(self.stream) }.map_err(self.failed(what))
    }
}

impl Device for Cuda {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn dlpack(&self) -> DLDevice {
        DLDevice { device_type: CUDA, device_id: self.ordinal }
    }

    fn allocate(&self, bytes: usize) -> Result<Address, DeviceError> {
        self.here()?;
        // SAFETY: who asks writes before it reads.
        let at = unsafe { result::malloc_sync(bytes.max(1)) };
        at.map_err(|error| self.failed(&format!("{bytes} bytes of memory"))(error))
    }

    fn free(&self, at: Address) {
        // Memory that the driver does not take back goes with the process.
        let _ = self.here().map(|()| {
            // SAFETY: the memory is the driver's, given out once; it waits for work that uses it.
            unsafe { result::free_sync(at) }
        });
    }

    fn upload(&self, from: &[u8], to: Address) -> Result<(), DeviceError> {
        self.here()?;
        self.state().staging.upload(from, to, self.stream).map_err(self.failed("a copy to the device"))
    }

    fn download(&self, from: Address, to: &mut [u8]) -> Result<(), DeviceError> {
        self.here()?;
        self.state().staging.download(from, to, self.stream).map_err(self.failed("a copy from the device (or a kernel before it)"))
    }

    fn copy(&self, from: Address, to: Address, bytes: usize) -> Result<(), DeviceError> {
        self.here()?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: the program's memory plan says that both are there.
        unsafe { result::memcpy_dtod_async(to, from, bytes, self.stream) }.map_err(self.failed("a copy inside of the device"))
    }

    fn clear(&self, at: Address, bytes: usize) -> Result<(), DeviceError> {
        self.here()?;
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: as for a copy.
        unsafe { result::memset_d8_async(at, 0, bytes, self.stream) }.map_err(self.failed("clearing memory"))
    }

    fn launch(&self, kernel: usize, blocks: [u64; 3], arguments: &[u64]) -> Result<(), DeviceError> {
        self.here()?;
        let kernel = &self.kernels[kernel];
        let failed = |reason: String| DeviceError::Failed { device: self.name.clone(), what: kernel.what(), reason };
        let [x, y, z] = blocks;
        if x > i32::MAX as u64 || y.max(z) > u64::from(u16::MAX) {
            return Err(failed(format!("it has more blocks than a device starts at once: {x} by {y} by {z}")));
        }
        let blocks = (x as u32, y as u32, z as u32);
        let [threads_x, threads_y, threads_z] = kernel.threads;
        let mut places = [std::ptr::null_mut::<c_void>(); 512];
        let places = places.get_mut(..arguments.len()).ok_or_else(|| failed("it has too many arguments".into()))?;
        for (place, argument) in places.iter_mut().zip(arguments) {
            *place = (&raw const *argument).cast_mut().cast();
        }
        // SAFETY: the kernel is of a loaded module, its arguments are as it was compiled; they are copied before this returns.
        let started = unsafe {
            let threads = (threads_x, threads_y, threads_z);
            result::launch_kernel(kernel.function, blocks, threads, kernel.shared, self.stream, places)
        };
        started.map_err(|error| failed(message_of(error)))?;
        if self.blocking { self.synchronize(&kernel.what()) } else { Ok(()) }
    }

    fn wait(&self) -> Result<(), DeviceError> {
        self.here()?;
        self.synchronize("its work (CUDA_LAUNCH_BLOCKING=1 tells which kernel)")
    }

    fn record(&self) -> Result<(), DeviceError> {
        self.here()?;
        // Relaxed: memory may be asked for meanwhile.
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is ours.
        unsafe { stream::begin_capture(self.stream, mode) }.map_err(self.failed("recording"))
    }

    fn finish(&self) -> Result<Recording, DeviceError> {
        self.here()?;
        // SAFETY: the stream is ours; the graph is destroyed below, what was made of it is kept until it is forgotten.
        let made = unsafe {
            stream::end_capture(self.stream).and_then(|captured| {
                let made = graph::instantiate(captured, sys::CUgraphInstantiate_flags(0));
                graph::destroy(captured).and(made)
            })
        };
        let made = made.map_err(self.failed("recording"))?;
        let mut state = self.state();
        state.next += 1;
        let name = state.next;
        state.recordings.insert(name, made);
        Ok(name)
    }

    fn replay(&self, recording: Recording) -> Result<(), DeviceError> {
        self.here()?;
        let Some(made) = self.state().recordings.get(&recording).copied() else { return Ok(()) };
        // SAFETY: the graph was made and not forgotten.
        unsafe { graph::launch(made, self.stream) }.map_err(self.failed("a recorded call"))
    }

    fn forget(&self, recording: Recording) {
        if let (Ok(()), Some(made)) = (self.here(), self.state().recordings.remove(&recording)) {
            // SAFETY: nobody has it any more. What the driver does not take back goes with the process.
            let _ = unsafe { graph::exec_destroy(made) };
        }
    }

    fn order(&self, other: usize, after: bool) -> Result<(), DeviceError> {
        self.here()?;
        let other = other as sys::CUstream;
        let (first, second) = if after { (self.stream, other) } else { (other, self.stream) };
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: one stream is ours, the other one the caller's, who keeps it while it calls.
        unsafe { event::record(self.mark, first).and_then(|()| stream::wait_event(second, self.mark, flags)) }
            .map_err(self.failed("the caller's stream"))
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        if self.here().is_err() {
            return;
        }
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: all of these are ours, and nobody else is left. What the driver does not take back goes with the process.
        unsafe {
            let _ = stream::synchronize(self.stream);
            for made in state.recordings.values() {
                let _ = graph::exec_destroy(*made);
            }
            state.staging.free();
            for module in &self.modules {
                let _ = result::module::unload(*module);
            }
            let _ = event::destroy(self.mark);
            let _ = stream::destroy(self.stream);
            let _ = result::device::get(self.ordinal).and_then(|device| result::primary_ctx::release(device));
        }
    }
}
