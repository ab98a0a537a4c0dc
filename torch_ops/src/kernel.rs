//! The call of an extension's kernel by the contract of `strata_ops.h`.
//!
//! Tensors and numbers come in the order of the operator's schema. A list begins with a number, how many there are; what may be absent
//! begins with 1, and is 0 alone where it is absent. Tensors that the kernel writes to are outputs, behind the results.
//! `frontend/src/import/torch_op.rs` writes such calls.

use std::ffi::{c_char, c_void};

use crate::constants::of_dlpack;
use crate::error::said;
use crate::lists::{List, present};
use crate::registry::Kernel;
use crate::schema::{Kind, Param, Signature};
use crate::tensor::{Tensor, dense};
use crate::tensors::{Handle, handle, tensor};
use crate::threads::CALL;

/// `DLTensor`.
#[repr(C)]
struct DLTensor {
    data: *mut c_void,
    device: [i32; 2],
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

/// `StrataOpNumber`.
#[repr(C)]
struct Number {
    kind: i32,
    bits: u64,
}

/// `StrataOpCall`.
#[repr(C)]
pub(crate) struct OpCall {
    bytes: u64,
    version: u32,
    inputs: u32,
    outputs: u32,
    numbers: u32,
    input: *const DLTensor,
    output: *const DLTensor,
    number: *const Number,
    error: *mut c_char,
    error_bytes: u64,
    workspace: *const c_void,
    pub parallel: unsafe extern "C" fn(*const OpCall, unsafe extern "C" fn(*mut c_void, i64, i64), *mut c_void, i64, i64),
    runtime: *mut c_void,
}

/// `STRATA_INT`.
const INT: i32 = 1;

unsafe extern "C" {
    fn strata_torch_guard_kernel(kernel: Kernel, stack: *mut u64, inputs: u64, outputs: u64, text: *mut c_char, bytes: u64) -> i32;
}

/// The arguments of a call in order.
struct Arguments<'a> {
    tensors: std::slice::Iter<'a, DLTensor>,
    written: std::slice::Iter<'a, DLTensor>,
    numbers: std::slice::Iter<'a, Number>,
}

/// What is said of a call that does not fit the operator's schema.
const BROKEN: &str = "the arguments of the call are not those of the operator's schema; compile the program again";

impl Arguments<'_> {
    /// The next number, of a kind of `strata_ops.h`.
    fn number(&mut self, kind: i32) -> Result<u64, String> {
        let number = self.numbers.next().filter(|number| number.kind == kind).ok_or(BROKEN)?;
        Ok(number.bits)
    }

    /// The next argument as a word of the stack.
    fn word(&mut self, param: Param) -> Result<u64, String> {
        if param.optional && self.number(INT)? == 0 {
            return Ok(0);
        }
        let value = match param.list {
            true => {
                let list: List = (0..self.number(INT)?).map(|_| self.value(param.kind)).collect::<Result<_, _>>()?;
                Box::into_raw(Box::new(list)) as u64
            }
            false => self.value(param.kind)?,
        };
        Ok(if param.optional { present(value) } else { value })
    }

    fn value(&mut self, kind: Kind) -> Result<u64, String> {
        let given = match kind {
            Kind::Number(kind) => return self.number(kind),
            Kind::Tensor => self.tensors.next(),
            Kind::Written => self.written.next(),
        };
        Ok(handle(seen(given.ok_or(BROKEN)?)?) as u64)
    }
}

/// A tensor of the call.
fn seen(given: &DLTensor) -> Result<Tensor, String> {
    let dtype = of_dlpack(given.code, given.bits).ok_or("a tensor has an element type that extensions are not given")?;
    let rank = usize::try_from(given.ndim).unwrap_or(0);
    // SAFETY: the runtime describes a tensor of this rank.
    let sizes = if rank == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(given.shape, rank) } };
    Tensor::over(given.data.cast(), sizes, &dense(sizes), 0, dtype)
}

/// An operator that can be called.
pub(crate) struct Callable {
    pub name: String,
    pub kernel: Kernel,
    /// What is on the stack, or why that is not known.
    pub signature: Result<Signature, String>,
}

/// Calls the kernel of an operator.
///
/// # Safety
/// The call is one of `strata_ops.h`, of the runtime.
pub(crate) unsafe fn run(operator: &Callable, call: *const OpCall) -> i32 {
    // SAFETY: the caller's promise.
    let call = unsafe { &*call };
    let outer = CALL.replace(call);
    // SAFETY: as above.
    let result = unsafe { called(operator, call) };
    CALL.set(outer);
    let Err(text) = result else { return 0 };
    let room = usize::try_from(call.error_bytes).unwrap_or(0).saturating_sub(1);
    let text = &text.as_bytes()[..text.len().min(room)];
    // SAFETY: there is room for the text and its end.
    unsafe {
        call.error.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), text.len());
        call.error.add(text.len()).write(0);
    }
    1
}

/// # Safety
/// As for [`run`].
unsafe fn called(operator: &Callable, call: &OpCall) -> Result<(), String> {
    // SAFETY: the runtime's promise.
    let (inputs, outputs, numbers) = unsafe {
        (
            std::slice::from_raw_parts(call.input, call.inputs as usize),
            std::slice::from_raw_parts(call.output, call.outputs as usize),
            std::slice::from_raw_parts(call.number, call.numbers as usize),
        )
    };
    let signature = operator.signature.as_ref().map_err(Clone::clone)?;
    let (results, written) = outputs.split_at_checked(signature.returns).ok_or(BROKEN)?;
    let mut arguments = Arguments { tensors: inputs.iter(), written: written.iter(), numbers: numbers.iter() };
    let mut stack = signature.params.iter().map(|param| arguments.word(*param)).collect::<Result<Vec<_>, _>>()?;
    if arguments.tensors.len() + arguments.written.len() + arguments.numbers.len() > 0 {
        return Err(BROKEN.to_owned());
    }
    let count = stack.len();
    stack.resize(count.max(results.len()).max(1), 0);
    let mut text = [0 as c_char; 512];
    // SAFETY: the stack has what the operator's schema says; the text has these bytes.
    let status = unsafe {
        strata_torch_guard_kernel(operator.kernel, stack.as_mut_ptr(), count as u64, results.len() as u64, text.as_mut_ptr(), 512)
    };
    if status != 0 {
        return Err(said(&text));
    }
    let mut failure = None;
    for (k, (word, output)) in stack.iter().zip(results).enumerate() {
        let given = *word as Handle;
        // SAFETY: a kernel gives handles that are ours from here on.
        let fits = unsafe { tensor(given) }.and_then(|given| taken(k, given, &seen(output)?));
        failure = failure.or(fits.err());
        if !given.is_null() {
            // SAFETY: as above.
            drop(unsafe { Box::from_raw(given) });
        }
    }
    failure.map_or(Ok(()), Err)
}

/// Copies a result to where the program wants it.
fn taken(k: usize, given: &Tensor, wanted: &Tensor) -> Result<(), String> {
    if given.dtype != wanted.dtype {
        return Err(format!("result {k} has another element type than the program declares"));
    }
    if given.sizes != wanted.sizes {
        return Err(format!("result {k} has the sizes {:?}, and the program declares {:?}", given.sizes, wanted.sizes));
    }
    wanted.copy_from(given)
}
