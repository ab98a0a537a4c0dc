//! What a kernel of a custom operator is called with: the structures of `include/strata_ops.h`.

use std::ffi::{CStr, c_char, c_void};

use crate::abi::{Body, StrataCall};
use crate::dlpack::DLTensor;
use crate::dtype::DType;
use crate::imports::state;
use crate::pool;
use crate::session::dense;
use crate::tensor::dense_strides;

/// The version of the structures; a newer one only appends to them.
const VERSION: u32 = 1;

/// Bytes for the text of an error.
const ERROR_BYTES: usize = 1024;

/// A number among the arguments.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct StrataOpNumber {
    /// 1 int, 2 float, 3 bool.
    kind: i32,
    /// The value as an `int64_t` or the bits of a `double`.
    bits: i64,
}

/// `StrataOpCall`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct StrataOpCall {
    bytes: u64,
    version: u32,
    inputs: u32,
    outputs: u32,
    numbers: u32,
    input: *const DLTensor,
    output: *const DLTensor,
    number: *const StrataOpNumber,
    error: *mut c_char,
    error_bytes: u64,
    workspace: unsafe extern "C" fn(*mut StrataOpCall, u64) -> *mut c_void,
    parallel: unsafe extern "C" fn(*mut StrataOpCall, Body, *mut c_void, i64, i64),
    runtime: *mut StrataCall,
}

/// The call of a kernel, and what it points to.
#[derive(Debug)]
pub(crate) struct OpCall {
    call: StrataOpCall,
    tensors: Vec<DLTensor>,
    sizes: Vec<i64>,
    numbers: Vec<StrataOpNumber>,
    error: [c_char; ERROR_BYTES],
}

impl OpCall {
    fn new() -> OpCall {
        let call = StrataOpCall {
            bytes: size_of::<StrataOpCall>() as u64,
            version: VERSION,
            inputs: 0,
            outputs: 0,
            numbers: 0,
            input: std::ptr::null(),
            output: std::ptr::null(),
            number: std::ptr::null(),
            error: std::ptr::null_mut(),
            error_bytes: ERROR_BYTES as u64,
            workspace,
            parallel,
            runtime: std::ptr::null_mut(),
        };
        OpCall { call, tensors: Vec::new(), sizes: Vec::new(), numbers: Vec::new(), error: [0; ERROR_BYTES] }
    }

    /// What the kernel said of its failure.
    pub(crate) fn error(&mut self) -> String {
        self.error[ERROR_BYTES - 1] = 0;
        // SAFETY: the last byte ends the text.
        unsafe { CStr::from_ptr(self.error.as_ptr()) }.to_string_lossy().into_owned()
    }

    /// Reads the words of a call; `lowering/src/loop_to_cpu/host/custom_call.rs` says what they are.
    ///
    /// # Safety
    /// The words are those of a program that is running.
    unsafe fn read(&mut self, mut word: *const i64) {
        let mut next = || {
            // SAFETY: there are as many words as the arguments say.
            let value = unsafe { word.read_unaligned() };
            word = word.wrapping_add(1);
            value
        };
        let (arguments, outputs) = (next(), next() as usize);
        self.tensors.clear();
        self.sizes.clear();
        self.numbers.clear();
        for _ in 0..arguments {
            let first = next();
            if first < 0 {
                self.numbers.push(StrataOpNumber { kind: -first as i32, bits: next() });
                continue;
            }
            let dtype = DType::ALL.get(first as usize).copied().unwrap_or(DType::F32);
            let rank = next();
            let data = next() as usize as *mut c_void;
            let start = self.sizes.len();
            self.sizes.extend((0..rank).map(|_| next()));
            let strides = dense_strides(&self.sizes[start..]);
            self.sizes.extend(strides);
            self.tensors.push(dense(data, dtype.dlpack(), rank as i32, std::ptr::null_mut()));
        }
        // The list of sizes stays where it is from here on.
        let mut sizes = self.sizes.as_mut_ptr();
        for tensor in &mut self.tensors {
            (tensor.shape, tensor.strides) = (sizes, sizes.wrapping_add(tensor.ndim as usize));
            sizes = tensor.strides.wrapping_add(tensor.ndim as usize);
        }
        let inputs = self.tensors.len().saturating_sub(outputs);
        self.error[0] = 0;
        let call = &mut self.call;
        (call.inputs, call.outputs, call.numbers) = (inputs as u32, outputs as u32, self.numbers.len() as u32);
        (call.input, call.output) = (self.tensors.as_ptr(), self.tensors.as_ptr().wrapping_add(inputs));
        (call.number, call.error) = (self.numbers.as_ptr(), self.error.as_mut_ptr());
    }
}

/// An image's import: makes what a kernel is called with, valid until the next such call.
///
/// # Safety
/// Called by an image with the argument of its running entry, and with the words of a call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn strata_op_begin(call: *mut StrataCall, words: *const i64) -> *mut c_void {
    // SAFETY: the image passes its own argument.
    let op = unsafe { state(call) }.op.get_or_insert_with(|| Box::new(OpCall::new()));
    op.call.runtime = call;
    // SAFETY: the image passes words that it has written.
    unsafe { op.read(words) };
    (&raw mut op.call).cast()
}

/// `workspace` of a call.
///
/// # Safety
/// Called by a kernel with its own argument, on the thread that called it.
unsafe extern "C" fn workspace(call: *mut StrataOpCall, bytes: u64) -> *mut c_void {
    // SAFETY: the kernel passes its argument, which has the running call of its program.
    unsafe { state((*call).runtime) }.workspace(usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// `parallel` of a call.
///
/// # Safety
/// Called by a kernel with its own argument and with a body whose disjoint ranges are independent.
unsafe extern "C" fn parallel(_call: *mut StrataOpCall, body: Body, context: *mut c_void, n: i64, grain: i64) {
    // SAFETY: the kernel's promise.
    unsafe { pool::global().run(body, context, n, grain) }
}
