//! A call of a program on its device: inputs there, the entry, outputs back.

use std::ffi::c_void;

use super::graph::{Graph, Key, Plan};
use super::resident::{Resident, bytes_of};
use super::{Address, DeviceCall, DeviceError};
use crate::abi::Entry;
use crate::call::{CallState, check_input, given_tensor};
use crate::dlpack::DLTensor;
use crate::error::RunError;
use crate::manifest::{InputKind, Manifest, Output};
use crate::memory::{ALIGN, Block};
use crate::tensor::dense_bytes;

/// What a call needs of its session.
pub(crate) struct Program<'a> {
    pub resident: &'a Resident,
    pub manifest: &'a Manifest,
    pub entry: Entry,
    /// Addresses of the weights on the device.
    pub weights: &'a [usize],
    /// Which output is the new value of which weight.
    pub writes: &'a [(usize, usize)],
    /// Bytes that a call may take.
    pub limit: usize,
}

/// The entry's status with its details.
type Status = (i32, [i64; 4]);

/// An input of the call.
struct Given {
    /// On the host, or on the device.
    on_host: bool,
    at: usize,
    bytes: usize,
}

impl Program<'_> {
    /// Checks the tensors, calls the entry, writes changed buffers back, fetches the outputs.
    ///
    /// # Safety
    /// `inputs` and `outputs` describe readable (writable for outputs) memory of the host or of the device.
    pub unsafe fn call(&self, state: &mut CallState, inputs: &[*const DLTensor], outputs: &[*const DLTensor]) -> Result<Status, RunError> {
        let mut turn = self.resident.turn();
        state.begin(self.limit);
        on(state)?.begin(self.manifest.outputs.len());
        let resident = self.resident;
        if let Some(stream) = state.stream {
            resident.device.order(stream, false)?;
        }
        // SAFETY: the caller's promise.
        let (given, key) = unsafe { self.inputs(state, inputs) }?;
        // SAFETY: the caller's promise.
        unsafe { state.set_outputs(&self.manifest.outputs, outputs, Some(resident.device.dlpack())) }?;
        let graphs = turn.wanted();
        if !graphs {
            // SAFETY: the tensors are the caller's.
            unsafe { give_outputs(on(state)?, outputs, &self.manifest.outputs) };
        }
        let (status, places) = match turn.plan(&key) {
            Plan::Replay(graph) => {
                self.fill(&given, &graph.inputs)?;
                resident.device.replay(graph.recording)?;
                state.shapes.copy_from_slice(&graph.shapes);
                ((0, [0; 4]), graph.outputs.clone())
            }
            Plan::Run => self.run(state, &given, false)?,
            Plan::Record => match self.run(state, &given, true) {
                Ok((status @ (0, _), places)) => {
                    let recording = resident.device.finish()?;
                    let inputs = state.inputs.iter().map(|tensor| tensor.data as Address).collect();
                    let (outputs, shapes) = (places.clone(), state.shapes.clone());
                    let graph = Graph { recording, inputs, outputs, shapes, _memory: on(state)?.take_all() };
                    resident.device.replay(turn.recorded(&key, graph))?;
                    (status, places)
                }
                failed => {
                    // What was noted by then is of no use. A device that gives no recording has nothing to forget.
                    let _ = resident.device.finish().map(|recording| resident.device.forget(recording));
                    match failed {
                        Err(RunError::Device(DeviceError::NotRecordable(_))) => {
                            turn.never(&key);
                            on(state)?.begin(self.manifest.outputs.len());
                            self.run(state, &given, false)?
                        }
                        other => other?,
                    }
                }
            },
        };
        if status.0 != 0 {
            return Ok(status);
        }
        self.fetch(state, &places)?;
        resident.complaint()?;
        match state.stream {
            Some(stream) => resident.device.order(stream, true)?,
            None => resident.device.wait()?,
        }
        Ok(status)
    }

    /// The inputs that reach the entry, and what a recording of the call depends on.
    ///
    /// # Safety
    /// As for [`Program::call`].
    unsafe fn inputs(&self, state: &mut CallState, inputs: &[*const DLTensor]) -> Result<(Vec<Given>, Key), RunError> {
        let here = self.resident.device.dlpack();
        let (mut given, mut key) = (Vec::new(), Key::new());
        for (k, (&tensor, input)) in inputs.iter().zip(&self.manifest.inputs).enumerate() {
            let fail = |reason: String| RunError::input(k, input, reason);
            // SAFETY: the caller promises valid tensors where there is one.
            let tensor = unsafe { given_tensor(tensor) }.ok_or_else(|| fail("is not given".into()))?;
            let on_host = tensor.device.is_host();
            if !on_host && (input.kind != InputKind::Tensor || input.value.is_some()) {
                return Err(fail("is a number, which the host must see, and lives on the device".into()));
            }
            // SAFETY: the caller promises valid tensors.
            unsafe { check_input(k, input, tensor, Some(here)) }?;
            // SAFETY: as above.
            key.extend_from_slice(unsafe { tensor.sizes() });
            if input.value.is_some() {
                continue;
            }
            // SAFETY: as above.
            if !on_host && !unsafe { tensor.is_dense(&input.dim_order) } {
                return Err(fail(match input.dim_order.is_row_major() {
                    true => "has strides and lives on the device; give a contiguous tensor".into(),
                    false => format!("lives on the device and not in the order {} of its dims; give a dense tensor in it", input.dim_order),
                }));
            }
            let at = given.len();
            // SAFETY: as above.
            unsafe { state.set_input(at, tensor, &input.dim_order) }.map_err(fail)?;
            // SAFETY: as above.
            let bytes = dense_bytes(input.dtype, unsafe { tensor.sizes() }).unwrap_or(0);
            let data = state.inputs[at].data as usize;
            if input.kind != InputKind::Tensor {
                // SAFETY: a number is a tensor of rank 0 on the host.
                key.extend(unsafe { bytes_of(data, bytes) }.iter().map(|&byte| i64::from(byte)));
            }
            given.push(Given { on_host, at: data, bytes });
        }
        Ok((given, key))
    }

    /// Runs the entry, or notes what it does. Gives its status and where the outputs are.
    fn run(&self, state: &mut CallState, given: &[Given], record: bool) -> Result<(Status, Vec<Address>), RunError> {
        for (k, input) in given.iter().enumerate() {
            let device = on(state)?;
            let at = match (input.on_host, record) {
                // SAFETY: the caller's tensor, or our dense copy of it.
                (true, _) => device.input(unsafe { bytes_of(input.at, input.bytes) })?,
                // Kernels rely on memory that is aligned as ours is.
                (false, true) => device.input_copy(input.at as Address, input.bytes)?,
                (false, false) if !input.at.is_multiple_of(ALIGN) => device.input_copy(input.at as Address, input.bytes)?,
                (false, false) => input.at as Address,
            };
            state.inputs[k].data = at as usize as *mut c_void;
        }
        if record {
            self.resident.device.record()?;
            on(state)?.recording = true;
        }
        let mut call = state.call(self.weights);
        // SAFETY: the image was made for this ABI and its checksum holds; ranks, types and static sizes fit the manifest.
        let status = unsafe { (self.entry)(&raw mut call) };
        let device = on(state)?;
        device.outcome()?;
        if status != 0 {
            return Ok(((status, call.detail), Vec::new()));
        }
        let places: Option<Vec<_>> = (0..self.manifest.outputs.len()).map(|k| device.output_at(k)).collect();
        let places = places.ok_or_else(|| RunError::Program("it left out an output".into()))?;
        for &(output, weight) in self.writes {
            let declared = &self.manifest.weights[weight];
            let bytes = dense_bytes(declared.dtype, &declared.shape).unwrap_or(0);
            self.resident.device.copy(places[output], self.weights[weight] as Address, bytes)?;
        }
        Ok(((0, [0; 4]), places))
    }

    /// Puts the inputs where a recording wants them.
    fn fill(&self, given: &[Given], places: &[Address]) -> Result<(), RunError> {
        for (input, &to) in given.iter().zip(places) {
            match input.on_host {
                // SAFETY: the caller's tensor, or our dense copy of it.
                true => self.resident.device.upload(unsafe { bytes_of(input.at, input.bytes) }, to)?,
                false => self.resident.device.copy(input.at as Address, to, input.bytes)?,
            }
        }
        Ok(())
    }

    /// Brings the outputs to where the caller wants them, or into blocks of the host.
    fn fetch(&self, state: &mut CallState, places: &[Address]) -> Result<(), RunError> {
        let device = &self.resident.device;
        for (k, (&from, declared)) in places.iter().zip(&self.manifest.outputs).enumerate() {
            // SAFETY: the sizes are the state's own.
            let sizes = unsafe { state.outputs[k].sizes() };
            let bytes = dense_bytes(declared.dtype, sizes).map_err(|error| RunError::Program(error.to_string()))?;
            let room = state.given[k].filter(|&room| room >= bytes);
            let to = match room {
                Some(_) if state.given_on_device[k] => {
                    let to = state.outputs[k].data as Address;
                    if to != from {
                        device.copy(from, to, bytes)?;
                    }
                    continue;
                }
                Some(_) => state.outputs[k].data.cast::<u8>(),
                None => {
                    let block = Block::new(bytes)?;
                    let to = block.as_ptr();
                    state.outputs[k].data = to.cast();
                    state.blocks[k] = Some(block);
                    to
                }
            };
            if bytes > 0 {
                // SAFETY: the caller's tensor or the block has so many bytes, and nobody else uses them.
                device.download(from, unsafe { std::slice::from_raw_parts_mut(to, bytes) })?;
            }
        }
        Ok(())
    }
}

/// The call's device.
fn on(state: &mut CallState) -> Result<&mut DeviceCall, RunError> {
    state.device.as_deref_mut().ok_or_else(|| RunError::Program("the call has no device".into()))
}

/// Tells the call where the caller has memory on the device for an output.
///
/// # Safety
/// The tensors are valid.
unsafe fn give_outputs(device: &mut DeviceCall, outputs: &[*const DLTensor], declared: &[Output]) {
    for (k, (&tensor, declared)) in outputs.iter().zip(declared).enumerate() {
        // SAFETY: the caller's promise.
        let tensor = unsafe { &*tensor };
        // SAFETY: as above.
        let (dense, sizes) = unsafe { (tensor.is_dense(&declared.dim_order), tensor.sizes()) };
        let dtype = crate::dtype::DType::from_dlpack(tensor.dtype);
        let bytes = dtype.and_then(|dtype| dense_bytes(dtype, sizes).ok());
        let aligned = (tensor.first_element() as usize).is_multiple_of(ALIGN);
        if let (false, true, Some(bytes)) = (tensor.device.is_host(), dense && aligned, bytes) {
            device.give(k, tensor.first_element() as Address, bytes);
        }
    }
}

/// Computes the prepared weights of a program from its weights, all on the device.
pub(crate) fn prepare(
    resident: &Resident,
    device: DeviceCall,
    manifest: &Manifest,
    prepare: Entry,
    weights: &[usize],
) -> Result<Vec<super::pool::Block>, RunError> {
    let declared = &manifest.prepared;
    let mut state = CallState::new(declared, 0);
    state.device = Some(Box::new(device));
    on(&mut state)?.begin(declared.len());
    let mut call = state.call(weights);
    // SAFETY: the image was made for this ABI and its checksum holds; its weights are all there, of the declared sizes.
    let status = unsafe { prepare(&raw mut call) };
    if status != 0 {
        return Err(state.failure(status, &manifest.messages, &call.detail));
    }
    let device = on(&mut state)?;
    device.outcome()?;
    resident.complaint()?;
    let blocks: Option<Vec<_>> = device.take_outputs().into_iter().collect();
    blocks.ok_or_else(|| RunError::Program("it left out a prepared weight".into()))
}
