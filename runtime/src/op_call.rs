//! What a kernel of a custom operator is called with: the structures of `include/strata_ops.h`.

use std::ffi::{CStr, c_char, c_void};

use crate::abi::{Body, StrataCall};
use crate::dlpack::DLTensor;
use crate::dtype::DType;
use crate::imports::state;
use crate::memory::Block;
use crate::op_library::{OpLibraries, OpLibraryKind};
use crate::pool;
use crate::session::dense;
use crate::tensor::{Tensor, dense_strides};

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
    /// The running call of a program, or the [`Blocks`] of a call without one.
    runtime: *mut c_void,
}

/// The call of a kernel, and what it points to.
#[derive(Debug)]
pub(crate) struct OpCall {
    call: StrataOpCall,
    tensors: Vec<DLTensor>,
    sizes: Vec<i64>,
    numbers: Vec<StrataOpNumber>,
    error: [c_char; ERROR_BYTES],
    /// Scratch memory of a call on copies of a device's tensors: the program's own is the device's.
    blocks: Blocks,
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
        OpCall { call, tensors: Vec::new(), sizes: Vec::new(), numbers: Vec::new(), error: [0; ERROR_BYTES], blocks: Blocks::new() }
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
            self.tensor(data, dtype, (0..rank).map(|_| next()));
        }
        self.point(outputs);
    }

    /// One more tensor, which is dense.
    fn tensor(&mut self, data: *mut c_void, dtype: DType, sizes: impl Iterator<Item = i64>) {
        let start = self.sizes.len();
        self.sizes.extend(sizes);
        let rank = self.sizes.len() - start;
        let strides = dense_strides(&self.sizes[start..]);
        self.sizes.extend(strides);
        self.tensors.push(dense(data, dtype.dlpack(), rank as i32, std::ptr::null_mut()));
    }

    /// Points to all arguments, of which the last tensors are outputs.
    fn point(&mut self, outputs: usize) {
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
    let state = unsafe { state(call) };
    let on_device = state.device.is_some();
    let op = state.op.get_or_insert_with(|| Box::new(OpCall::new()));
    op.blocks.clear();
    op.call.runtime = if on_device { (&raw mut op.blocks).cast() } else { call.cast() };
    op.call.workspace = if on_device { own_workspace } else { workspace };
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
    unsafe { state((*call).runtime.cast()) }.workspace(usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// `parallel` of a call.
///
/// # Safety
/// Called by a kernel with its own argument and with a body whose disjoint ranges are independent.
unsafe extern "C" fn parallel(_call: *mut StrataOpCall, body: Body, context: *mut c_void, n: i64, grain: i64) {
    // SAFETY: the kernel's promise.
    unsafe { pool::global().run(body, context, n, grain) }
}

/// What a kernel reads.
#[derive(Debug)]
pub enum OpValue {
    /// A dense tensor.
    Tensor(Tensor),
    /// An `int64_t`.
    Int(i64),
    /// A `double`.
    Float(f64),
    /// A truth value.
    Bool(bool),
}

/// Why a kernel gives no results.
#[derive(Debug, thiserror::Error)]
pub enum OpCallError {
    /// Its library is not open.
    #[error("it calls `{symbol}` of the library {file}, which is not given; give it with {flag}=FOLDER/{file}", flag = OpLibraryKind::of(symbol).flag())]
    Library {
        /// The library.
        file: String,
        /// The kernel.
        symbol: String,
    },
    /// The library does not export it.
    #[error("it calls `{symbol}` of the library {file}, which exports no such function")]
    Symbol {
        /// The library.
        file: String,
        /// The kernel.
        symbol: String,
    },
    /// The kernel says so.
    #[error("`{symbol}` of {file} fails with status {status}: {text}")]
    Failed {
        /// The library.
        file: String,
        /// The kernel.
        symbol: String,
        /// What it returned.
        status: i32,
        /// Its words.
        text: String,
    },
}

/// Scratch memory of a call that no program makes.
type Blocks = Vec<Block>;

impl OpLibraries {
    /// Calls a kernel outside of a compiled program. It writes over `written`, which are row-major as the tensors in `read` are.
    ///
    /// # Errors
    /// Where there is no such kernel, or it fails.
    pub fn call(&self, file: &str, symbol: &str, read: &[OpValue], written: &mut [Tensor]) -> Result<(), OpCallError> {
        let (library, name) = (file.to_owned(), symbol.to_owned());
        if !self.has(file) {
            return Err(OpCallError::Library { file: library, symbol: name });
        }
        let Some(address) = self.kernel(file, symbol) else { return Err(OpCallError::Symbol { file: library, symbol: name }) };
        let mut op = Box::new(OpCall::new());
        let mut blocks = Blocks::new();
        op.call.runtime = (&raw mut blocks).cast();
        op.call.workspace = own_workspace;
        for value in read {
            let (kind, bits) = match value {
                OpValue::Tensor(tensor) => {
                    op.tensor(tensor.dlpack().data, tensor.dtype(), tensor.shape().iter().copied());
                    continue;
                }
                OpValue::Int(value) => (1, *value),
                OpValue::Float(value) => (2, value.to_bits() as i64),
                OpValue::Bool(value) => (3, i64::from(*value)),
            };
            op.numbers.push(StrataOpNumber { kind, bits });
        }
        for tensor in written.iter_mut() {
            op.tensor(tensor.bytes_mut().as_mut_ptr().cast(), tensor.dtype(), tensor.shape().iter().copied());
        }
        op.point(written.len());
        // SAFETY: the user names the library and its function, which is one of `strata_ops.h`; the library stays open for this call.
        let kernel: unsafe extern "C" fn(*mut StrataOpCall) -> i32 = unsafe { std::mem::transmute(address) };
        // SAFETY: the call and all it points to live until the kernel returns, and nothing else writes to the outputs.
        match unsafe { kernel(&raw mut op.call) } {
            0 => Ok(()),
            status => Err(OpCallError::Failed { file: library, symbol: name, status, text: op.error() }),
        }
    }
}

/// `workspace` of a call that no program makes.
///
/// # Safety
/// Called by a kernel with its own argument, on the thread that called it.
unsafe extern "C" fn own_workspace(call: *mut StrataOpCall, bytes: u64) -> *mut c_void {
    // SAFETY: the kernel passes its argument, whose blocks live until it returns.
    let blocks = unsafe { &mut *(*call).runtime.cast::<Blocks>() };
    let Ok(block) = Block::new(usize::try_from(bytes).unwrap_or(usize::MAX)) else { return std::ptr::null_mut() };
    blocks.push(block);
    blocks.last().map_or(std::ptr::null_mut(), |block| block.as_ptr().cast())
}
