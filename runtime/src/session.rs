//! A loaded program with its weights: the thing one calls.

use std::ffi::c_void;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::artefact::Artefact;
use crate::call::{check_input, given_tensor};
use crate::cuda;
use crate::device::{Device, Program, Resident};
use crate::dlpack::{DLDevice, DLTensor};
use crate::error::{LoadError, RunError};
use crate::idle::Idle;
use crate::image::LoadedImage;
use crate::manifest::{Manifest, Output, OutputKind};
use crate::memory;
use crate::prepare::{self, PreparedFiles};
use crate::tensor::{Tensor, dense_bytes};
use crate::weights::Weights;

pub use crate::call::{CallState, OutputMaker};

/// A program in memory. Calls from several threads run at the same time, unless the program changes its buffers.
#[derive(Debug)]
pub struct Session {
    manifest: Arc<Manifest>,
    image: Arc<LoadedImage>,
    pub(crate) weights: Arc<Mutex<Weights>>,
    /// Data of the weights, then of what is prepared from them.
    weight_pointers: Vec<usize>,
    /// Holds what is prepared.
    _prepared: prepare::Memory,
    /// Which output is the new value of which weight.
    writes: Vec<(usize, usize)>,
    /// How many of the call's inputs reach the image.
    live: usize,
    idle: Idle,
    /// Where its kernels run, if that is not the host.
    resident: Option<Arc<Resident>>,
    /// Bytes that a call may take.
    limit: AtomicUsize,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code panics while it holds these locks with its data in disorder.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    /// Loads a program, one for a CUDA device on the first there is. With `weights`, that archive is read instead of the packed weights
    /// or those of the files named in the manifest.
    pub fn load(artefact: &Artefact, weights: Option<&Path>) -> Result<Session, LoadError> {
        Session::load_keeping(artefact, weights, None)
    }

    /// [`Session::load`] with files for what is prepared of the weights, if the program runs on the host.
    pub fn load_keeping(artefact: &Artefact, weights: Option<&Path>, files: Option<&dyn PreparedFiles>) -> Result<Session, LoadError> {
        let image = LoadedImage::load(artefact)?;
        let weights = Weights::of(artefact, weights)?;
        let device = artefact.manifest.device.as_ref().map(|code| cuda::open(0, code)).transpose()?;
        Session::with(Arc::new(artefact.manifest.clone()), Arc::new(image), Arc::new(Mutex::new(weights)), device, files)
    }

    /// Loads a program with weights of the caller, in the manifest's order. Those that are dense, aligned and not written to are read where
    /// they are.
    ///
    /// # Safety
    /// The tensors describe readable memory of the host, which stays while the session is used.
    pub unsafe fn load_given(artefact: &Artefact, weights: &[*const DLTensor]) -> Result<Session, LoadError> {
        let image = LoadedImage::load(artefact)?;
        // SAFETY: the caller's promise.
        let weights = unsafe { Weights::given(&artefact.manifest, weights) }?;
        let device = artefact.manifest.device.as_ref().map(|code| cuda::open(0, code)).transpose()?;
        Session::new(artefact, image, Arc::new(Mutex::new(weights)), device)
    }

    /// Loads a program with weights that are shared with the caller, in the manifest's order: they are read where they are, unless the
    /// program writes to them.
    pub fn load_sharing(artefact: &Artefact, weights: Vec<Arc<Tensor>>) -> Result<Session, LoadError> {
        let image = LoadedImage::load(artefact)?;
        let weights = Weights::sharing(&artefact.manifest, weights)?;
        let device = artefact.manifest.device.as_ref().map(|code| cuda::open(0, code)).transpose()?;
        Session::new(artefact, image, Arc::new(Mutex::new(weights)), device)
    }

    /// The same program with other weights, or with weights that have other values now.
    ///
    /// # Safety
    /// As for [`Session::load_given`].
    pub unsafe fn with_weights(&self, weights: &[*const DLTensor]) -> Result<Session, LoadError> {
        // SAFETY: the caller's promise.
        let weights = unsafe { Weights::given(&self.manifest, weights) }?;
        let device = self.manifest.device.as_ref().map(|code| cuda::open(0, code)).transpose()?;
        let session = Session::with(self.manifest.clone(), self.image.clone(), Arc::new(Mutex::new(weights)), device, None)?;
        session.set_memory_limit(self.limit.load(Relaxed));
        Ok(session)
    }

    /// Loads a program whose kernels run on a device, which has the manifest's kernels under their numbers.
    pub fn load_on(artefact: &Artefact, weights: Option<&Path>, device: Arc<dyn Device>) -> Result<Session, LoadError> {
        let image = LoadedImage::load(artefact)?;
        let weights = Weights::of(artefact, weights)?;
        Session::new(artefact, image, Arc::new(Mutex::new(weights)), Some(device))
    }

    /// Loads another form of the same program, which shares the weights: buffers that one of them changes are changed for both.
    pub fn load_beside(artefact: &Artefact, other: &Session) -> Result<Session, LoadError> {
        if artefact.manifest.weights != other.manifest.weights {
            return Err(LoadError::Manifest("it has other weights than the program that it is loaded beside".into()));
        }
        let device = artefact.manifest.device.as_ref().map(|code| cuda::open(0, code)).transpose()?;
        if device.is_some() && !other.writes.is_empty() {
            return Err(LoadError::Manifest("it changes its buffers, which two forms of a program cannot share on a device".into()));
        }
        Session::new(artefact, LoadedImage::load(artefact)?, other.weights.clone(), device)
    }

    fn new(
        artefact: &Artefact,
        image: LoadedImage,
        shared: Arc<Mutex<Weights>>,
        device: Option<Arc<dyn Device>>,
    ) -> Result<Session, LoadError> {
        Session::with(Arc::new(artefact.manifest.clone()), Arc::new(image), shared, device, None)
    }

    fn with(
        manifest: Arc<Manifest>,
        image: Arc<LoadedImage>,
        shared: Arc<Mutex<Weights>>,
        device: Option<Arc<dyn Device>>,
        files: Option<&dyn PreparedFiles>,
    ) -> Result<Session, LoadError> {
        memory::limit()?;
        let inputs = manifest.inputs.iter().map(|input| (&input.name, &input.dim_order, input.shape.len()));
        let outputs = manifest.outputs.iter().map(|out| (&out.name, &out.dim_order, out.shape.len()));
        if let Some((name, order, rank)) = inputs.chain(outputs).find(|(_, order, rank)| !order.fits(*rank)) {
            return Err(LoadError::Manifest(format!("`{name}` has rank {rank} and lies in the order {order}")));
        }
        let writes = manifest.outputs.iter().enumerate().filter(|(_, out)| out.kind == OutputKind::Mutation);
        let mut pairs = Vec::new();
        for (at, out) in writes {
            let Some(k) = manifest.weights.iter().position(|weight| weight.name == out.name) else { continue };
            let weight = &manifest.weights[k];
            let same = out.shape.iter().copied().eq(weight.shape.iter().map(|&size| Some(size)));
            if out.dtype != weight.dtype || !same || !out.dim_order.is_row_major() {
                return Err(LoadError::Manifest(format!("the new value of `{}` has another type than it", out.name)));
            }
            pairs.push((at, k));
        }
        let live = manifest.inputs.iter().filter(|input| input.value.is_none()).count();
        let mut weight_pointers: Vec<usize> = lock(&shared).pointers().iter().map(|&pointer| pointer as usize).collect();
        let (mut prepared, mut resident) = (prepare::Memory::default(), None);
        match (device, &manifest.device) {
            (None, None) => {
                let found = prepare::run(&manifest, &image, &lock(&shared), files)?;
                weight_pointers.extend(&found.pointers);
                prepared = found.memory;
            }
            (Some(device), Some(code)) => {
                let there = Resident::new(device, code.clone(), &manifest, &weight_pointers)?;
                prepare::run_on(&there, &manifest, &image)?;
                weight_pointers = there.weight_pointers();
                resident = Some(there);
            }
            (Some(device), None) => return Err(LoadError::Place { wanted: "the CPU".into(), found: device.name() }),
            (None, Some(_)) => return Err(LoadError::Place { wanted: "a CUDA device".into(), found: "the CPU".into() }),
        }
        let idle = Idle::default();
        let limit = AtomicUsize::new(usize::MAX);
        Ok(Session { manifest, image, weights: shared, weight_pointers, _prepared: prepared, writes: pairs, live, idle, resident, limit })
    }

    /// Where its kernels run, if that is not the host.
    pub(crate) fn resident(&self) -> Option<&Resident> {
        self.resident.as_deref()
    }

    /// What the program says about itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// From now on a call fails that takes more memory than this for its scratch, its results and copies of its inputs. All calls of
    /// the process together are bounded by [`crate::memory::limit`].
    pub fn set_memory_limit(&self, bytes: usize) {
        self.limit.store(bytes, Relaxed);
    }

    /// Calls the program; the results are the outputs, then the mutations, as the manifest lists them.
    pub fn run(&self, inputs: &[Tensor]) -> Result<Vec<Tensor>, RunError> {
        self.run_refs(&inputs.iter().collect::<Vec<_>>())
    }

    /// [`Session::run`] on borrowed tensors.
    pub fn run_refs(&self, inputs: &[&Tensor]) -> Result<Vec<Tensor>, RunError> {
        let described: Vec<DLTensor> = inputs.iter().map(|tensor| tensor.dlpack()).collect();
        let pointers: Vec<*const DLTensor> = described.iter().map(|tensor| &raw const *tensor).collect();
        // SAFETY: the tensors are ours and outlive the call.
        unsafe { self.run_pointers(&pointers) }
    }

    /// [`Session::run`], which gives the outputs alone: new values of weights are not copied. They are written over the old ones where the
    /// program may do that, and beside them elsewhere, to take their place when the call is over; a call that fails changes nothing.
    pub fn run_outputs(&self, inputs: &[&Tensor]) -> Result<Vec<Tensor>, RunError> {
        let described: Vec<DLTensor> = inputs.iter().map(|tensor| tensor.dlpack()).collect();
        let pointers: Vec<*const DLTensor> = described.iter().map(|tensor| &raw const *tensor).collect();
        let outputs = self.manifest.outputs.iter().filter(|out| out.kind == OutputKind::Output).count();
        let mut state = self.idle.take(|| self.caller());
        state.exchanges = true;
        // SAFETY: the tensors are ours and outlive the call.
        let done = unsafe { self.call(&mut state, &pointers, &[]) };
        state.exchanges = false;
        let results = done.and_then(|()| state.take_outputs(&self.manifest.outputs[..outputs]));
        self.idle.put(state);
        results
    }

    /// [`Session::run`], which gets some of its inputs to keep, by their places: the program may write the new value of such an input over
    /// the old one. Those that it wrote over are the new values, and are taken from `owned`; a call that fails leaves all as they were.
    pub fn run_owning(&self, inputs: &[&Tensor], owned: &mut Vec<(usize, Tensor)>) -> Result<Vec<Tensor>, RunError> {
        let mut described: Vec<DLTensor> = inputs.iter().map(|tensor| tensor.dlpack()).collect();
        owned.sort_by_key(|(place, _)| *place);
        for (place, tensor) in &*owned {
            described.insert((*place).min(described.len()), tensor.dlpack());
        }
        let pointers: Vec<*const DLTensor> = described.iter().map(|tensor| &raw const *tensor).collect();
        let mut state = self.idle.take(|| self.caller());
        let mut written = Vec::new();
        for (at, (place, tensor)) in owned.iter_mut().enumerate().filter(|_| self.resident.is_none()) {
            let new = |out: &Output| {
                let input = self.manifest.inputs.get(*place);
                out.in_place && out.dim_order == *tensor.dim_order() && input.is_some_and(|input| input.name == out.name)
            };
            if let Some(output) = self.manifest.outputs.iter().position(new) {
                let memory = tensor.bytes_mut();
                state.lent.push((output, memory.as_mut_ptr(), memory.len()));
                written.push((output, at));
            }
        }
        // SAFETY: the tensors are borrowed or ours, outlive the call, and those that it may write to are ours alone.
        let done = unsafe { self.call(&mut state, &pointers, &[]) };
        state.lent.clear();
        let fresh = |k: usize, declared: &Output, state: &mut CallState| match written.iter().any(|(output, _)| *output == k) {
            true => Ok(None),
            false => state.take_output(k, declared).map(Some),
        };
        let outputs = self.manifest.outputs.iter().enumerate();
        let results = done.and_then(|()| outputs.map(|(k, declared)| fresh(k, declared, &mut state)).collect::<Result<Vec<_>, _>>());
        self.idle.put(state);
        let mut results = results?;
        for (at, (place, tensor)) in std::mem::take(owned).into_iter().enumerate() {
            match written.iter().find(|(_, written)| *written == at) {
                Some((output, _)) => results[*output] = Some(tensor),
                None => owned.push((place, tensor)),
            }
        }
        Ok(results.into_iter().flatten().collect())
    }

    /// [`Session::run_dlpack`] on tensors of ours: results are written into `outputs`, which have the sizes that they will have.
    pub fn run_onto(&self, state: &mut CallState, inputs: &[&Tensor], outputs: &mut [Tensor]) -> Result<(), RunError> {
        let inputs: Vec<DLTensor> = inputs.iter().map(|tensor| tensor.dlpack()).collect();
        let outputs: Vec<DLTensor> = outputs.iter_mut().map(|tensor| tensor.dlpack()).collect();
        let pointers = |tensors: &[DLTensor]| tensors.iter().map(|tensor| &raw const *tensor).collect::<Vec<_>>();
        // SAFETY: the tensors are ours and outlive the call; the outputs are borrowed by nobody else.
        unsafe { self.run_dlpack(state, &pointers(&inputs), &pointers(&outputs)) }
    }

    /// [`Session::run`] on anyone's tensors.
    ///
    /// # Safety
    /// `inputs` point at tensors that describe readable memory, of the host or of the program's device.
    pub unsafe fn run_pointers(&self, inputs: &[*const DLTensor]) -> Result<Vec<Tensor>, RunError> {
        let mut state = self.idle.take(|| self.caller());
        // SAFETY: the caller's promise is the one needed.
        let done = unsafe { self.call(&mut state, inputs, &[]) };
        let results = done.and_then(|()| state.take_outputs(&self.manifest.outputs));
        self.idle.put(state);
        results
    }

    /// [`Session::run_dlpack`] with a state that an earlier call left.
    ///
    /// # Safety
    /// As for [`Session::run_dlpack`].
    pub unsafe fn run_into(&self, inputs: &[*const DLTensor], outputs: &[*const DLTensor]) -> Result<(), RunError> {
        let mut state = self.idle.take(|| self.caller());
        // SAFETY: the caller's promise is the one needed.
        let done = unsafe { self.run_dlpack(&mut state, inputs, outputs) };
        self.idle.put(state);
        done
    }

    /// Calls the program on anyone's tensors; `maker` makes the memory of all results, outputs and then mutations.
    ///
    /// # Safety
    /// `inputs` point at tensors that describe readable memory of the host; what the maker gives is as large as it is asked for,
    /// and writable.
    pub unsafe fn run_making(&self, inputs: &[*const DLTensor], maker: &mut dyn OutputMaker) -> Result<(), RunError> {
        if self.resident.is_some() {
            return Err(RunError::Program("the memory of a device's results is made by the device".into()));
        }
        let mut state = self.idle.take(|| self.caller());
        // SAFETY: the maker lives through the call and is forgotten behind it; the caller promises the rest.
        let done = unsafe {
            state.set_maker(Some(maker));
            let done = self.call(&mut state, inputs, &[]);
            state.set_maker(None);
            done
        };
        self.idle.put(state);
        done
    }

    /// State for [`Session::run_dlpack`]: keep one per thread.
    pub fn caller(&self) -> CallState {
        let mut state = CallState::new(&self.manifest.outputs, self.live);
        state.device = self.resident.as_ref().map(|resident| Box::new(resident.call()));
        state
    }

    /// Calls the program on anyone's tensors, writing into the caller's outputs. It allocates nothing and takes no lock when inputs
    /// and outputs are dense in the orders that the manifest says and the program changes no buffer; others are copied. Results beyond `outputs` are computed and dropped.
    ///
    /// # Safety
    /// `inputs` and `outputs` point at tensors that describe readable (writable for outputs) memory, of the host or of the program's device.
    pub unsafe fn run_dlpack(
        &self,
        state: &mut CallState,
        inputs: &[*const DLTensor],
        outputs: &[*const DLTensor],
    ) -> Result<(), RunError> {
        // SAFETY: the caller's promise is the one needed.
        unsafe { self.call(state, inputs, outputs) }?;
        // SAFETY: the call is over and went well, and the caller's tensors are what they were.
        unsafe { state.fill_given(&self.manifest.outputs) }
    }

    /// Gives the buffers that the program changed their first values back.
    pub fn reset(&self) {
        let mut weights = lock(&self.weights);
        weights.reset();
        let Some(resident) = &self.resident else { return };
        for &(_, k) in &self.writes {
            let first = weights.copy(k, &self.manifest.weights[k]);
            // A device that takes nothing any more says so in the next call.
            let _ = first.map(|first| resident.set_weight(k, first.bytes()));
        }
    }

    /// Calls the entry and returns its bare status (0 done, `k` message `k - 1`): for measuring what a refusal costs.
    ///
    /// # Safety
    /// As for [`Session::run_dlpack`].
    pub unsafe fn status(&self, state: &mut CallState, inputs: &[*const DLTensor]) -> Result<i32, RunError> {
        // SAFETY: the caller's promise is the one needed.
        Ok(unsafe { self.enter(state, inputs, &[]) }?.0)
    }

    /// # Safety
    /// As for [`Session::run_dlpack`].
    unsafe fn call(&self, state: &mut CallState, inputs: &[*const DLTensor], outputs: &[*const DLTensor]) -> Result<(), RunError> {
        // SAFETY: the caller's promise is the one needed.
        match unsafe { self.enter(state, inputs, outputs) }? {
            (0, _) if state.refused.is_none() => Ok(()),
            (status, detail) => Err(state.failure(status, &self.manifest.messages, &detail)),
        }
    }

    /// Checks the tensors, calls the entry, writes changed buffers back.
    ///
    /// # Safety
    /// As for [`Session::run_dlpack`].
    unsafe fn enter(
        &self,
        state: &mut CallState,
        inputs: &[*const DLTensor],
        outputs: &[*const DLTensor],
    ) -> Result<(i32, [i64; 4]), RunError> {
        let expected = self.manifest.inputs.len();
        if inputs.len() != expected {
            return Err(RunError::InputCount { expected, found: inputs.len() });
        }
        let limit = self.limit.load(Relaxed);
        if let Some(resident) = &self.resident {
            let (manifest, entry) = (&self.manifest, self.image.entry());
            let program = Program { resident, manifest, entry, weights: &self.weight_pointers, writes: &self.writes, limit };
            // SAFETY: the caller's promise is the one needed.
            return unsafe { program.call(state, inputs, outputs) };
        }
        state.begin(limit);
        let mut live = 0;
        for (k, (&tensor, input)) in inputs.iter().zip(&self.manifest.inputs).enumerate() {
            // SAFETY: the caller promises valid tensors where there is one.
            let tensor = unsafe { given_tensor(tensor) }.ok_or_else(|| RunError::input(k, input, "is not given".into()))?;
            // SAFETY: as above.
            unsafe { check_input(k, input, tensor, None) }?;
            if input.value.is_none() {
                // SAFETY: as above.
                unsafe { state.set_input(live, tensor, &input.dim_order) }.map_err(|reason| RunError::input(k, input, reason))?;
                live += 1;
            }
        }
        // SAFETY: the caller promises valid tensors.
        unsafe { state.set_outputs(&self.manifest.outputs, outputs, None) }?;
        for (output, memory, bytes) in std::mem::take(&mut state.lent) {
            state.lend(output, memory, bytes);
        }
        // Held to the end when the program writes to its buffers.
        let mut held = (!self.writes.is_empty()).then(|| lock(&self.weights));
        let current: Vec<usize>;
        let weights = match &mut held {
            None => &self.weight_pointers,
            Some(weights) => {
                // Where they are changes, of prepared ones not.
                let pointers = weights.pointers().iter().map(|&pointer| pointer as usize);
                current = pointers.chain(self.weight_pointers[self.manifest.weights.len()..].iter().copied()).collect();
                if state.exchanges {
                    for &(output, k) in &self.writes {
                        let declared = &self.manifest.weights[k];
                        let place = match self.manifest.outputs[output].in_place {
                            true => current[k] as *mut u8,
                            false => weights.next(k, declared).map_err(|error| RunError::Program(error.to_string()))?,
                        };
                        state.lend(output, place, dense_bytes(declared.dtype, &declared.shape).unwrap_or(0));
                    }
                }
                &current
            }
        };
        let mut call = state.call(weights);
        // SAFETY: the image was made for this ABI and its checksum holds; ranks, types and static sizes fit the manifest.
        let status = unsafe { self.image.entry()(&raw mut call) };
        if status != 0 {
            return Ok((status, call.detail));
        }
        for &(output, weight) in &self.writes {
            if let (true, Some(weights)) = (state.exchanges, &mut held) {
                weights.exchange(weight);
                continue;
            }
            let declared = &self.manifest.weights[weight];
            let bytes = dense_bytes(declared.dtype, &declared.shape).unwrap_or(0);
            let value = state.output_bytes(output, bytes)?;
            // SAFETY: a written weight is an own tensor of `bytes` bytes, and we hold the lock.
            unsafe { value.copy_to_nonoverlapping(weights[weight] as *mut u8, bytes) };
        }
        Ok((0, [0; 4]))
    }
}

/// A DLPack description of dense host memory.
pub(crate) fn dense(data: *mut c_void, dtype: crate::dlpack::DLDataType, ndim: i32, shape: *mut i64) -> DLTensor {
    DLTensor { data, device: DLDevice::CPU, ndim, dtype, shape, strides: std::ptr::null_mut(), byte_offset: 0 }
}
