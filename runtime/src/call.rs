//! The state of one call: its scratch memory, the descriptions handed to the entry, the outputs it asked for.

use std::ffi::c_void;
use std::ptr::NonNull;

use crate::abi::StrataCall;
use crate::arena::Arena;
use crate::device::DeviceCall;
use crate::dim_order::DimOrder;
use crate::dlpack::{DLDevice, DLTensor, is_given};
use crate::error::RunError;
use crate::manifest::{Input, Output, Scalar};
use crate::memory::{ALIGN, Block, MemoryError, Share};
use crate::op_call::OpCall;
use crate::profile::{Launch, Profile};
use crate::session::dense;
use crate::strided;
use crate::tensor::{Tensor, dense_bytes, dense_strides};

/// Makes the memory of a call's outputs when their sizes are known.
pub trait OutputMaker {
    /// Memory for output `k`, which has these sizes and lies in the order that the manifest says; null where there is none.
    fn output(&mut self, k: usize, sizes: &[i64], bytes: usize) -> *mut c_void;
}

/// Everything a call needs besides the program; kept and reused so that a call allocates nothing.
#[derive(Debug)]
pub struct CallState {
    pub(crate) arena: Arena,
    pub(crate) inputs: Vec<DLTensor>,
    input_pointers: Vec<*const DLTensor>,
    pub(crate) outputs: Vec<DLTensor>,
    output_pointers: Vec<*mut DLTensor>,
    /// The sizes of all outputs, one after the other; `outputs[k].shape` points in here.
    pub(crate) shapes: Vec<i64>,
    /// Memory made for outputs during this call.
    pub(crate) blocks: Vec<Option<Block>>,
    /// Bytes the caller gave for an output; `None` when it gave no memory.
    pub(crate) given: Vec<Option<usize>>,
    /// Which of these are on the device.
    pub(crate) given_on_device: Vec<bool>,
    /// Whether new values of weights are written beside the old ones and take their place.
    pub(crate) exchanges: bool,
    /// Outputs that are written over inputs of the coming call: their memory and its bytes.
    pub(crate) lent: Vec<(usize, *mut u8, usize)>,
    /// Copies of inputs that were not dense in the program's order.
    copies: Vec<Tensor>,
    /// Who makes the memory of outputs, where the caller wants to: until the end of the call.
    maker: Option<NonNull<dyn OutputMaker>>,
    /// What the caller gave for outputs in another order than the program's, where their elements go after the call.
    strided: Vec<(usize, DLTensor)>,
    pub(crate) profile: Profile,
    /// Bytes that a call may take, and that this one has.
    limit: usize,
    taken: usize,
    /// The memory that the call did not get, for which its entry gives up.
    pub(crate) refused: Option<MemoryError>,
    /// The present call of a kernel of a user's library.
    pub(crate) op: Option<Box<OpCall>>,
    /// Where the call's memory is, if not on the host.
    pub(crate) device: Option<Box<DeviceCall>>,
    /// The caller's stream on the device.
    pub(crate) stream: Option<usize>,
}

// SAFETY: the pointers lead into the vectors beside them or into the tensors of a call that runs on one thread.
unsafe impl Send for CallState {}

impl CallState {
    pub(crate) fn new(declared: &[Output], inputs: usize) -> CallState {
        let count = declared.len();
        let mut shapes = vec![0; declared.iter().map(|out| out.shape.len()).sum()];
        let mut rest = shapes.as_mut_ptr();
        let mut outputs = Vec::with_capacity(count);
        for out in declared {
            outputs.push(dense(std::ptr::null_mut(), out.dtype.dlpack(), out.shape.len() as i32, rest));
            rest = rest.wrapping_add(out.shape.len());
        }
        let blank = dense(std::ptr::null_mut(), crate::dtype::DType::F32.dlpack(), 0, std::ptr::null_mut());
        CallState {
            arena: Arena::default(),
            inputs: vec![blank; inputs],
            input_pointers: vec![std::ptr::null(); inputs],
            outputs,
            output_pointers: vec![std::ptr::null_mut(); count],
            shapes,
            blocks: (0..count).map(|_| None).collect(),
            given: vec![None; count],
            given_on_device: vec![false; count],
            exchanges: false,
            lent: Vec::new(),
            copies: Vec::new(),
            maker: None,
            strided: Vec::new(),
            profile: Profile::default(),
            limit: usize::MAX,
            taken: 0,
            refused: None,
            op: None,
            device: None,
            stream: None,
        }
    }

    /// Largest scratch memory of a call so far.
    pub fn peak_workspace(&self) -> usize {
        self.arena.peak_bytes()
    }

    /// On a device: the calls' work stands in the order of this stream of the caller (a `CUstream`), who then waits for it there.
    /// Without one a call returns when its work is done.
    pub fn set_stream(&mut self, stream: Option<usize>) {
        self.stream = stream;
    }

    /// Why the entry ended with a status: memory that it did not get, or what the status says, in the words of a kernel that failed.
    pub(crate) fn failure(&mut self, status: i32, messages: &[String], detail: &[i64; 4]) -> RunError {
        if let Some(refused) = self.refused.take() {
            return refused.into();
        }
        match (RunError::from_status(status, messages, detail), &mut self.op) {
            (RunError::Guard { message }, Some(op)) => RunError::Guard { message: message.replace("{error}", &op.error()) },
            (error, _) => error,
        }
    }

    /// What the calls so far spent in each kernel, if the program was compiled to tell.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Notes each launch of the calls from now on, until [`Self::take_trace`].
    pub fn trace(&mut self) {
        self.profile.trace();
    }

    /// The launches since [`Self::trace`], in order.
    pub fn take_trace(&mut self) -> Vec<Launch> {
        self.profile.take_trace()
    }

    /// Empties the state for a call that may take so many bytes.
    pub(crate) fn begin(&mut self, limit: usize) {
        (self.limit, self.taken, self.refused) = (limit, 0, None);
        self.arena.reset();
        self.copies.clear();
        self.strided.clear();
        self.blocks.fill_with(|| None);
    }

    /// From now on `maker` makes the outputs' memory; nobody in particular where it is none.
    ///
    /// # Safety
    /// The maker lives until this is called again.
    pub(crate) unsafe fn set_maker(&mut self, maker: Option<&mut dyn OutputMaker>) {
        // SAFETY: only the lifetime changes, and the caller answers for it.
        self.maker =
            maker.map(|maker| unsafe { std::mem::transmute::<NonNull<dyn OutputMaker + '_>, NonNull<dyn OutputMaker>>(maker.into()) });
    }

    /// Counts bytes that the call takes.
    fn charge(&mut self, bytes: usize) -> Result<(), MemoryError> {
        let (taken, limit) = (self.taken, self.limit);
        if bytes > limit.saturating_sub(taken) {
            return Err(MemoryError::Call { bytes, taken, limit });
        }
        self.taken += bytes;
        Ok(())
    }

    /// `strata_workspace`: scratch memory until the end of the call; null where there is none.
    pub(crate) fn workspace(&mut self, bytes: usize) -> *mut c_void {
        let taken = self.charge(bytes).and_then(|()| match &mut self.device {
            Some(device) => Ok(device.workspace(bytes) as usize as *mut c_void),
            None => Ok(self.arena.take(bytes)?.cast()),
        });
        taken.unwrap_or_else(|error| self.refuse(error))
    }

    /// Counts what a library function takes for itself, while it runs; nothing where that is too much: then the call fails.
    pub(crate) fn aside(&mut self, bytes: usize) -> Option<Share> {
        let (taken, limit) = (self.taken, self.limit);
        let within = if bytes > limit.saturating_sub(taken) { Err(MemoryError::Call { bytes, taken, limit }) } else { Ok(()) };
        within.and_then(|()| Share::new(bytes)).map_err(|error| self.refused = Some(error)).ok()
    }

    fn refuse(&mut self, error: MemoryError) -> *mut c_void {
        self.refused = Some(error);
        std::ptr::null_mut()
    }

    /// # Safety
    /// `tensor` describes readable host memory, or is dense in the order.
    pub(crate) unsafe fn set_input(&mut self, at: usize, tensor: &DLTensor, order: &DimOrder) -> Result<(), String> {
        // SAFETY: the caller's promise.
        self.inputs[at] = if unsafe { tensor.is_dense(order) } {
            dense(tensor.first_element().cast(), tensor.dtype, tensor.ndim, tensor.shape)
        } else {
            // SAFETY: the caller's promise.
            let copy = unsafe { Tensor::copy_of(tensor, order) }.map_err(|e| e.to_string())?;
            self.charge(copy.bytes().len()).map_err(|e| e.to_string())?;
            // The sizes stay the caller's; only the data moves.
            let described = dense(copy.dlpack().data, tensor.dtype, tensor.ndim, tensor.shape);
            self.copies.push(copy);
            described
        };
        Ok(())
    }

    /// # Safety
    /// `given` points at tensors that describe writable memory, of the host or of `device`.
    pub(crate) unsafe fn set_outputs(
        &mut self,
        outputs: &[Output],
        given: &[*const DLTensor],
        device: Option<DLDevice>,
    ) -> Result<(), RunError> {
        if given.len() > outputs.len() {
            return Err(RunError::OutputCount { expected: outputs.len(), found: given.len() });
        }
        for (k, declared) in outputs.iter().enumerate() {
            self.outputs[k].data = std::ptr::null_mut();
            (self.given[k], self.given_on_device[k]) = (None, false);
            let Some(&tensor) = given.get(k) else { continue };
            let fail = |reason: &str| RunError::output(k, declared, reason.into());
            // SAFETY: the caller promises valid tensors where there is one.
            let tensor = unsafe { given_tensor(tensor) }.ok_or_else(|| fail("no tensor is given for it"))?;
            if tensor.dtype != declared.dtype.dlpack() {
                return Err(fail("the tensor given for it has another element type"));
            }
            // SAFETY: as above.
            let checked = unsafe { tensor.checked(declared.dtype, declared.shape.len()) };
            let (sizes, bytes) = checked.map_err(|reason| fail(&format!("the tensor given for it {reason}")))?;
            // SAFETY: as above.
            let (is_dense, strides) = unsafe { (tensor.is_dense(&declared.dim_order), tensor.stride_list()) };
            let on_device = !tensor.device.is_host();
            if on_device && (Some(tensor.device) != device || !is_dense) {
                let order = if declared.dim_order.is_row_major() { String::new() } else { format!(" in the order {}", declared.dim_order) };
                return Err(fail(&format!(
                    "the tensor given for it is neither host memory nor dense memory of the program's device{order}"
                )));
            }
            if !is_dense {
                if strides.is_some_and(|strides| !strided::is_injective(sizes, strides)) {
                    return Err(fail("the tensor given for it has elements that lie on one another"));
                }
                self.strided.push((k, *tensor));
                continue;
            }
            self.outputs[k].data = tensor.first_element().cast();
            (self.given[k], self.given_on_device[k]) = (Some(bytes), on_device);
        }
        Ok(())
    }

    /// Lets the program write an output to memory of the session's.
    pub(crate) fn lend(&mut self, output: usize, memory: *mut u8, bytes: usize) {
        self.outputs[output].data = memory.cast();
        self.given[output] = Some(bytes);
    }

    /// What the program is called with; it points into this state and these weights.
    pub(crate) fn call(&mut self, weights: &[usize]) -> StrataCall {
        for (pointer, tensor) in self.input_pointers.iter_mut().zip(&self.inputs) {
            *pointer = tensor;
        }
        for (pointer, tensor) in self.output_pointers.iter_mut().zip(&mut self.outputs) {
            *pointer = tensor;
        }
        StrataCall {
            inputs: self.input_pointers.as_ptr(),
            outputs: self.output_pointers.as_ptr(),
            weights: weights.as_ptr().cast::<*mut c_void>(),
            runtime: (&raw mut *self).cast(),
            detail: [0; 4],
        }
    }

    /// `strata_output`: the caller's memory if it is large enough, else a new block. Null for an output there is none of, or where
    /// there is no memory.
    ///
    /// # Safety
    /// `outputs` is the running call's.
    pub(crate) unsafe fn output(&mut self, outputs: *const *mut DLTensor, k: usize, bytes: usize) -> *mut c_void {
        let Some(&given) = self.given.get(k) else { return std::ptr::null_mut() };
        if self.device.is_some() {
            let taken = self.charge(bytes);
            return match (taken, &mut self.device) {
                (Ok(()), Some(device)) => device.output(k, bytes) as usize as *mut c_void,
                (Err(error), _) => self.refuse(error),
                (Ok(()), None) => std::ptr::null_mut(),
            };
        }
        // SAFETY: `k` is within the outputs, which the session built.
        let tensor = unsafe { &mut **outputs.add(k) };
        if let Some(mut maker) = self.maker {
            if let Err(error) = self.charge(bytes) {
                return self.refuse(error);
            }
            // SAFETY: the maker lives through the call; the shape points at `ndim` sizes that the entry has written.
            tensor.data = unsafe { maker.as_mut().output(k, tensor.sizes(), bytes) };
            if tensor.data.is_null() && bytes > 0 {
                return self.refuse(MemoryError::System { bytes });
            }
            self.given[k] = Some(bytes);
        } else if given.is_none_or(|given| given < bytes) {
            let block = match self.charge(bytes).and_then(|()| Block::new(bytes)) {
                Ok(block) => block,
                Err(error) => return self.refuse(error),
            };
            tensor.data = block.as_ptr().cast();
            self.blocks[k] = Some(block);
        }
        // A caller's tensor without elements may have no address; null is what the entry gives up for.
        if tensor.data.is_null() { std::ptr::without_provenance_mut(ALIGN) } else { tensor.data }
    }

    /// The data of an output after the call.
    pub(crate) fn output_bytes(&self, k: usize, bytes: usize) -> Result<*const u8, RunError> {
        let room = match (&self.blocks[k], self.given[k]) {
            (Some(block), _) => block.capacity(),
            (None, given) => given.unwrap_or(0),
        };
        if room < bytes {
            return Err(RunError::Program(format!("it wrote {room} bytes of output {k}, its shape needs {bytes}")));
        }
        Ok(self.outputs[k].data.cast())
    }

    /// The sizes of an output after the call.
    pub(crate) fn shape(&self, k: usize) -> &[i64] {
        // SAFETY: the shape points at `ndim` sizes inside `self.shapes`.
        unsafe { self.outputs[k].sizes() }
    }

    /// Checks that the caller's outputs were the right size, and fills those that are not in the program's order.
    ///
    /// # Safety
    /// The outputs that the call was given are still writable, and its results were written.
    pub(crate) unsafe fn fill_given(&self, outputs: &[Output]) -> Result<(), RunError> {
        for (k, given) in self.given.iter().enumerate() {
            let Some(given) = *given else { continue };
            let bytes = dense_bytes(outputs[k].dtype, self.shape(k)).unwrap_or(usize::MAX);
            if self.blocks[k].is_some() || bytes != given {
                let reason = format!("it has shape {:?}, the tensor given for it has {given} bytes", self.shape(k));
                return Err(RunError::output(k, &outputs[k], reason));
            }
        }
        for &(k, tensor) in &self.strided {
            // SAFETY: the caller's promise.
            let (sizes, strides) = unsafe { (tensor.sizes(), tensor.stride_list()) };
            if sizes != self.shape(k) {
                let reason = format!("it has shape {:?}, the tensor given for it {sizes:?}", self.shape(k));
                return Err(RunError::output(k, &outputs[k], reason));
            }
            let from = (self.outputs[k].data.cast::<u8>().cast_const(), &*outputs[k].dim_order.strides(sizes));
            let strides = strides.map_or_else(|| dense_strides(sizes), <[i64]>::to_vec);
            // SAFETY: the program wrote an output of this shape, and the caller promises one to write with these strides.
            unsafe { strided::copy(sizes, from, (tensor.first_element(), &strides), outputs[k].dtype.size()) };
        }
        Ok(())
    }

    /// The outputs as tensors of their own.
    pub(crate) fn take_outputs(&mut self, outputs: &[Output]) -> Result<Vec<Tensor>, RunError> {
        let results: Vec<_> = outputs.iter().enumerate().map(|(k, declared)| self.take_output(k, declared)).collect::<Result<_, _>>()?;
        debug_assert!(self.shapes.len() >= results.iter().map(|r| r.shape().len()).sum());
        Ok(results)
    }

    pub(crate) fn take_output(&mut self, k: usize, declared: &Output) -> Result<Tensor, RunError> {
        let shape = self.shape(k).to_vec();
        let block = self.blocks[k].take().map_or_else(|| Block::new(0), Ok)?;
        Tensor::from_block(declared.dtype, shape, &declared.dim_order, block)
            .map_err(|e| RunError::Program(format!("output {k} `{}`: {e}", declared.name)))
    }
}

/// The tensor that a caller's pointer leads to, if it can be one.
///
/// # Safety
/// A pointer that is not null leads to a tensor.
pub(crate) unsafe fn given_tensor<'a>(tensor: *const DLTensor) -> Option<&'a DLTensor> {
    // SAFETY: the caller's promise.
    is_given(tensor).then(|| unsafe { &*tensor })
}

/// Checks an input against its declaration: element type, rank, static sizes, constant value.
///
/// # Safety
/// `tensor` describes readable memory.
pub(crate) unsafe fn check_input(k: usize, input: &Input, tensor: &DLTensor, device: Option<DLDevice>) -> Result<(), RunError> {
    let fail = |reason: String| RunError::input(k, input, reason);
    if tensor.dtype != input.dtype.dlpack() {
        let found = crate::dtype::DType::from_dlpack(tensor.dtype).map_or("an unknown type", |found| found.name());
        return Err(fail(format!("has element type {found}, the program wants {}", input.dtype)));
    }
    if !tensor.device.is_host() && Some(tensor.device) != device {
        return Err(fail(format!("lives on device type {}, the program wants host memory", tensor.device.device_type)));
    }
    // SAFETY: the caller's promise.
    let (sizes, _) = unsafe { tensor.checked(input.dtype, input.shape.len()) }.map_err(fail)?;
    for (dim, (&found, wanted)) in sizes.iter().zip(&input.shape).enumerate() {
        if let Some(wanted) = wanted.filter(|&wanted| wanted != found) {
            return Err(fail(format!("has size {found} in dimension {dim}, the program wants {wanted}")));
        }
    }
    let Some(value) = input.value else { return Ok(()) };
    let data = tensor.first_element();
    // SAFETY: a scalar is a rank-0 tensor of the type just checked against the declaration.
    let found = unsafe {
        match value {
            Scalar::Int(_) if input.dtype.size() == 8 => Scalar::Int(data.cast::<i64>().read_unaligned()),
            Scalar::Float(_) if input.dtype.size() == 8 => Scalar::Float(data.cast::<f64>().read_unaligned()),
            Scalar::Bool(_) if input.dtype.size() == 1 => Scalar::Bool(data.read() != 0),
            _ => return Err(RunError::Program(format!("its constant input {k} has no scalar type"))),
        }
    };
    if found != value {
        return Err(fail(format!("is {found:?}, the program was captured with {value:?}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;
    use crate::manifest::OutputKind;

    /// A matrix goes straight through in the program's order, and by a copy in the other one.
    #[test]
    fn tensors_in_the_programs_order_are_not_copied() {
        let orders = [DimOrder::ROW_MAJOR, DimOrder::try_from(vec![1, 0]).unwrap()];
        for (k, order) in orders.iter().enumerate() {
            let shape = vec![None, Some(3)];
            let name = "out".to_owned();
            let declared = [Output { kind: OutputKind::Output, name, dtype: DType::F32, shape, dim_order: order.clone(), in_place: false }];
            for (other, given) in orders.iter().enumerate() {
                let tensor = Tensor::uninit_in(DType::F32, &[2, 3], given).unwrap();
                let (described, mut state) = (tensor.dlpack(), CallState::new(&declared, 1));
                // SAFETY: the tensor is alive, and the output is not written.
                unsafe {
                    state.set_input(0, &described, order).unwrap();
                    state.set_outputs(&declared, &[&raw const described], None).unwrap();
                }
                let direct = k == other;
                assert_eq!(state.inputs[0].data == described.data, direct);
                assert_eq!((state.copies.len(), state.strided.len()), if direct { (0, 0) } else { (1, 1) });
                assert_eq!(state.given[0], direct.then_some(24));
            }
        }
    }
}
