//! Compiles a program for a CUDA device and runs it without one: the native host program, its kernels as the device would run them.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strata_core::registry::Registry;
use strata_interp::InterpError;
use strata_interp::gpu::Emulator;
use strata_runtime::compiler::NamedTensor;
use strata_runtime::device::{Address, Device, DeviceError, Recording};
use strata_runtime::dlpack::DLDevice;
use strata_runtime::manifest::OutputKind;
use strata_runtime::memory::{self, MemoryError};
use strata_runtime::{Session, Tensor};

use crate::compile::compile_with;
use crate::database::Database;
use crate::device::described;
use crate::{Error, Options};

/// Runs a file on an emulated device: the outputs, then the mutations.
pub fn emulate(registry: &'static Registry, path: &Path, options: &Options, inputs: Vec<Tensor>) -> Result<Vec<NamedTensor>, Error> {
    let session = open(registry, path, options)?;
    let results = session.run(&inputs).map_err(|error| Error::Run(error.to_string()))?;
    let named = results.into_iter().zip(&session.manifest().outputs);
    Ok(named.map(|(tensor, out)| NamedTensor { name: out.name.clone(), mutation: out.kind == OutputKind::Mutation, tensor }).collect())
}

/// Compiles a file for an emulated device, which it is loaded on.
pub fn open(registry: &'static Registry, path: &Path, options: &Options) -> Result<Session, Error> {
    let mut emulator = None;
    // Kernels in PTX are for devices: the functions of the host stand for them.
    let libraries = options.op_libraries.iter().filter(|library| library.ptx.is_none()).cloned().collect();
    let options = &Options { op_libraries: libraries, ..options.clone() };
    let mut read = |module: &strata_core::ir::Module<'_>| {
        emulator = Some(Emulator::of(module.op()).map_err(|error| Error::Interpreter(error.to_string()))?);
        Ok(described(module, options))
    };
    let artefact = compile_with(&Database::new(registry, None), path.into(), options, Some(&mut read))?;
    let artefact = artefact.with_op_libraries(&options.op_library_files)?;
    if artefact.manifest.resume.is_some() {
        return Err(Error::EmulatedPart);
    }
    let state = State { emulator: emulator.ok_or(Error::NoDevice)?, notes: None, recordings: Vec::new() };
    Session::load_on(&artefact, None, Arc::new(Emulated(Mutex::new(state)))).map_err(|error| Error::Run(error.to_string()))
}

/// The emulator as a device.
struct Emulated(Mutex<State>);

struct State {
    emulator: Emulator,
    /// What is noted, while work is not done.
    notes: Option<Vec<Work>>,
    recordings: Vec<Option<Vec<Work>>>,
}

/// Work on the device.
#[derive(Clone)]
enum Work {
    Copy { from: Address, to: Address, bytes: usize },
    Clear { at: Address, bytes: usize },
    Launch { kernel: usize, blocks: [u64; 3], arguments: Vec<u64> },
}

impl std::fmt::Debug for Emulated {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Emulated")
    }
}

fn failed(what: &str, reason: String) -> DeviceError {
    DeviceError::Failed { device: "the emulator".into(), what: what.into(), reason }
}

impl Emulated {
    fn state(&self) -> MutexGuard<'_, State> {
        // Each piece of work leaves the memory in order, also where it fails.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Does or notes a piece of work.
    fn work(&mut self, work: Work) -> Result<(), DeviceError> {
        match &mut self.notes {
            Some(notes) => {
                notes.push(work);
                Ok(())
            }
            None => self.work_now(&work),
        }
    }

    fn work_now(&mut self, work: &Work) -> Result<(), DeviceError> {
        let failed_at = |what: &'static str| move |error: InterpError| failed(what, error.to_string());
        match *work {
            Work::Copy { from, to, bytes } => {
                let copy = self.emulator.bytes(from, bytes).map_err(failed_at("a copy"))?.to_vec();
                self.emulator.bytes(to, bytes).map_err(failed_at("a copy"))?.copy_from_slice(&copy);
                Ok(())
            }
            Work::Clear { at, bytes } => {
                self.emulator.bytes(at, bytes).map_err(failed_at("clearing"))?.fill(0);
                Ok(())
            }
            // Kernels of programs are rows of blocks; those of users run as functions of the host here.
            Work::Launch { kernel, blocks: [blocks, ..], ref arguments } => {
                self.emulator.launch(kernel, blocks, arguments).map_err(failed_at("a kernel"))
            }
        }
    }

    /// What must not be asked for while work is noted.
    fn now(&mut self, what: &'static str) -> Result<&mut Emulator, DeviceError> {
        if self.notes.is_some() { Err(failed(what, "while work is recorded".into())) } else { Ok(&mut self.emulator) }
    }
}

impl Device for Emulated {
    fn name(&self) -> String {
        "the emulator".into()
    }

    fn dlpack(&self) -> DLDevice {
        // An extension device: nobody else's memory is its.
        DLDevice { device_type: 12, device_id: 0 }
    }

    fn allocate(&self, bytes: usize) -> Result<Address, DeviceError> {
        let (mut state, limit) = (self.state(), memory::limit()?);
        // Its memory is the host's, which it shares with the runtime's blocks.
        let taken = state.emulator.held();
        if bytes > limit.saturating_sub(taken) {
            return Err(MemoryError::Process { bytes, taken, limit }.into());
        }
        state.emulator.allocate(bytes).map_err(|error| failed("memory", error.to_string()))
    }

    fn free(&self, at: Address) {
        self.state().emulator.free(at);
    }

    fn upload(&self, from: &[u8], to: Address) -> Result<(), DeviceError> {
        let mut state = self.state();
        let there = state.now("a copy to the device")?.bytes(to, from.len());
        there.map_err(|error| failed("a copy to the device", error.to_string()))?.copy_from_slice(from);
        Ok(())
    }

    fn download(&self, from: Address, to: &mut [u8]) -> Result<(), DeviceError> {
        let mut state = self.state();
        let there = state.now("a copy to the host")?.bytes(from, to.len());
        to.copy_from_slice(there.map_err(|error| failed("a copy to the host", error.to_string()))?);
        Ok(())
    }

    fn copy(&self, from: Address, to: Address, bytes: usize) -> Result<(), DeviceError> {
        self.state().work(Work::Copy { from, to, bytes })
    }

    fn clear(&self, at: Address, bytes: usize) -> Result<(), DeviceError> {
        self.state().work(Work::Clear { at, bytes })
    }

    fn launch(&self, kernel: usize, blocks: [u64; 3], arguments: &[u64]) -> Result<(), DeviceError> {
        self.state().work(Work::Launch { kernel, blocks, arguments: arguments.to_vec() })
    }

    fn wait(&self) -> Result<(), DeviceError> {
        self.state().now("waiting").map(drop)
    }

    fn record(&self) -> Result<(), DeviceError> {
        self.state().notes = Some(Vec::new());
        Ok(())
    }

    fn finish(&self) -> Result<Recording, DeviceError> {
        let mut state = self.state();
        let notes = state.notes.take().ok_or_else(|| failed("a recording", "nothing was begun".into()))?;
        state.recordings.push(Some(notes));
        Ok(state.recordings.len() as Recording - 1)
    }

    fn replay(&self, recording: Recording) -> Result<(), DeviceError> {
        let mut state = self.state();
        let notes = state.recordings.get(recording as usize).cloned().flatten();
        let notes = notes.ok_or_else(|| failed("a recording", "it was dropped".into()))?;
        notes.iter().try_for_each(|work| state.work_now(work))
    }

    fn forget(&self, recording: Recording) {
        if let Some(place) = self.state().recordings.get_mut(recording as usize) {
            *place = None;
        }
    }

    fn order(&self, _: usize, _: bool) -> Result<(), DeviceError> {
        Ok(())
    }
}
