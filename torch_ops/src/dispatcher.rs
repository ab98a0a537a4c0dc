//! Operators of `aten` that extensions call back: those that make, copy and view tensors.

use std::ffi::{CStr, c_char};

use crate::error::status;
use crate::lists::{List, take};
use crate::tensor::{Tensor, dense};
use crate::tensors::{Handle, handle, on_cpu, tensor};

/// # Safety
/// The names are terminated; the stack has the operator's arguments.
#[unsafe(no_mangle)]
unsafe extern "C" fn aoti_torch_call_dispatcher(name: *const c_char, overload: *const c_char, stack: *mut u64) -> i32 {
    status(|| {
        // SAFETY: the extension's promise.
        let (name, overload) = unsafe { (CStr::from_ptr(name).to_string_lossy(), CStr::from_ptr(overload).to_string_lossy()) };
        // SAFETY: as above.
        unsafe { call(&name, &overload, Stack(stack)) }
    })
}

/// # Safety
/// As for [`aoti_torch_call_dispatcher`].
#[unsafe(no_mangle)]
unsafe extern "C" fn torch_call_dispatcher(name: *const c_char, overload: *const c_char, stack: *mut u64, _version: u64) -> i32 {
    // SAFETY: the extension's promise.
    unsafe { aoti_torch_call_dispatcher(name, overload, stack) }
}

struct Stack(*mut u64);

impl Stack {
    /// # Safety
    /// There is such an argument.
    unsafe fn word(&self, at: usize) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { self.0.add(at).read() }
    }

    /// Takes a tensor.
    ///
    /// # Safety
    /// The argument is one.
    unsafe fn tensor(&self, at: usize) -> Result<Tensor, String> {
        // SAFETY: the caller's promise; the handle is ours from here on.
        unsafe {
            let given = self.word(at) as Handle;
            let found = tensor(given).cloned();
            if !given.is_null() {
                drop(Box::from_raw(given));
            }
            found
        }
    }

    /// Takes a list of sizes.
    ///
    /// # Safety
    /// The argument is one.
    unsafe fn sizes(&self, at: usize) -> Vec<i64> {
        // SAFETY: the caller's promise; the list is ours from here on.
        let list = unsafe { Box::from_raw(self.word(at) as *mut List) };
        list.iter().map(|word| *word as i64).collect()
    }

    /// Takes what may be absent.
    ///
    /// # Safety
    /// The argument is one.
    unsafe fn optional(&self, at: usize) -> Option<u64> {
        // SAFETY: the caller's promise.
        unsafe { take(self.word(at)) }
    }

    /// Gives the result.
    ///
    /// # Safety
    /// The stack has a place.
    unsafe fn give(&self, made: Tensor) {
        // SAFETY: the caller's promise.
        unsafe { self.0.write(handle(made) as u64) };
    }
}

/// Takes dtype, layout, device and pinning as `new_empty` has them from `at` on; gives the dtype.
unsafe fn options(stack: &Stack, at: usize, otherwise: i32) -> Result<i32, String> {
    // SAFETY: the caller's promise.
    let (dtype, _layout, device, _pinned) =
        unsafe { (stack.optional(at), stack.optional(at + 1), stack.optional(at + 2), stack.optional(at + 3)) };
    on_cpu(device.map_or(0, |device| (device >> 32) as i32))?;
    Ok(dtype.map_or(otherwise, |dtype| dtype as i32))
}

/// What is said of other memory formats.
const ORDERS: &str = "there are no tensors in the order of channels_last here; leave the memory format out";

/// The strides of a new tensor like another one, in a memory format.
fn order(like: &Tensor, format: Option<u64>) -> Result<Vec<i64>, String> {
    match format {
        Some(0) => Ok(dense(&like.sizes)),
        None | Some(1) => Ok(like.like_strides()),
        Some(_) => Err(ORDERS.into()),
    }
}

/// # Safety
/// The stack has the arguments of the operator's schema.
unsafe fn call(name: &str, overload: &str, stack: Stack) -> Result<(), String> {
    // SAFETY: the caller's promise, in all that follows.
    unsafe {
        let made = match (name, overload) {
            ("aten::empty_like", "") => {
                let like = stack.tensor(0)?;
                let dtype = options(&stack, 1, like.dtype)?;
                Tensor::empty(&like.sizes, &order(&like, stack.optional(5))?, dtype)?
            }
            ("aten::empty", "memory_format") => {
                let sizes = stack.sizes(0);
                let dtype = options(&stack, 1, 6)?;
                match stack.optional(5) {
                    None | Some(0) => Tensor::empty(&sizes, &dense(&sizes), dtype)?,
                    Some(_) => return Err(ORDERS.into()),
                }
            }
            ("aten::new_empty" | "aten::new_zeros", "") => {
                let (like, sizes) = (stack.tensor(0)?, stack.sizes(1));
                let made = Tensor::empty(&sizes, &dense(&sizes), options(&stack, 2, like.dtype)?)?;
                if name == "aten::new_zeros" {
                    made.zero()?;
                }
                made
            }
            ("aten::zero_", "") => {
                let tensor = stack.tensor(0)?;
                tensor.zero()?;
                tensor
            }
            ("aten::copy_", "") => {
                let (to, from) = (stack.tensor(0)?, stack.tensor(1)?);
                to.copy_from(&from)?;
                to
            }
            ("aten::clone", "") => {
                let from = stack.tensor(0)?;
                let made = Tensor::empty(&from.sizes, &order(&from, stack.optional(1))?, from.dtype)?;
                made.copy_from(&from)?;
                made
            }
            ("aten::contiguous", "") => {
                let from = stack.tensor(0)?;
                match stack.word(1) as i32 {
                    0 if from.is_contiguous() => from,
                    0 => from.dense_copy()?,
                    _ => return Err(ORDERS.into()),
                }
            }
            ("aten::transpose", "int") => {
                let mut view = stack.tensor(0)?;
                let (a, b) = (view.dim(stack.word(1) as i64)?, view.dim(stack.word(2) as i64)?);
                view.sizes.swap(a, b);
                view.strides.swap(a, b);
                view
            }
            ("aten::permute", "") => {
                let (from, dims) = (stack.tensor(0)?, stack.sizes(1));
                let dims = dims.into_iter().map(|dim| from.dim(dim)).collect::<Result<Vec<_>, _>>()?;
                let mut seen = vec![false; from.sizes.len()];
                dims.iter().for_each(|dim| seen[*dim] = true);
                if dims.len() != seen.len() || seen.contains(&false) {
                    return Err(format!("{dims:?} is no order of {} dimensions", seen.len()));
                }
                let of = |list: &[i64]| dims.iter().map(|dim| list[*dim]).collect();
                Tensor { sizes: of(&from.sizes), strides: of(&from.strides), ..from }
            }
            ("aten::unsqueeze", "") => {
                let mut view = stack.tensor(0)?;
                let (rank, dim) = (view.sizes.len() as i64, stack.word(1) as i64);
                let at = if dim < 0 { dim + rank + 1 } else { dim };
                let at = usize::try_from(at).ok().filter(|_| at <= rank).ok_or_else(|| format!("no dimension {dim} can be put in"))?;
                let stride = view.sizes.get(at).map_or(1, |size| size * view.strides[at]);
                view.sizes.insert(at, 1);
                view.strides.insert(at, stride);
                view
            }
            ("aten::squeeze", "dim") => {
                let mut view = stack.tensor(0)?;
                let at = view.dim(stack.word(1) as i64)?;
                if view.sizes[at] == 1 {
                    view.sizes.remove(at);
                    view.strides.remove(at);
                }
                view
            }
            ("aten::select", "int") => {
                let mut view = stack.tensor(0)?;
                let (at, index) = (view.dim(stack.word(1) as i64)?, stack.word(2) as i64);
                let index = if index < 0 { index + view.sizes[at] } else { index };
                if index < 0 || index >= view.sizes[at] {
                    return Err(format!("a dimension of size {} has no element {index}", view.sizes[at]));
                }
                view.offset += index * view.strides[at];
                view.sizes.remove(at);
                view.strides.remove(at);
                view
            }
            ("aten::flatten", "using_ints") => {
                let from = stack.tensor(0)?;
                let (first, last) = (from.dim(stack.word(1) as i64)?, from.dim(stack.word(2) as i64)?);
                let inside = from.sizes.get(first..=last).ok_or_else(|| format!("there are no dimensions from {first} to {last}"))?;
                let sizes = [&from.sizes[..first], &[inside.iter().product()], &from.sizes[last + 1..]].concat();
                let from = if from.is_contiguous() { from } else { from.dense_copy()? };
                Tensor { strides: dense(&sizes), sizes, ..from }
            }
            ("aten::view" | "aten::reshape", "") => {
                let (from, mut sizes) = (stack.tensor(0)?, stack.sizes(1));
                let known: i64 = sizes.iter().filter(|size| **size >= 0).product();
                if let Some(open) = sizes.iter_mut().find(|size| **size == -1) {
                    *open = if known == 0 { 0 } else { from.len() / known };
                }
                if sizes.iter().product::<i64>() != from.len() || sizes.iter().any(|size| *size < 0) {
                    return Err(format!("a tensor of sizes {:?} is none of sizes {sizes:?}", from.sizes));
                }
                let from = match from.is_contiguous() {
                    true => from,
                    false if name == "aten::reshape" => from.dense_copy()?,
                    false => return Err("aten::view takes row-major tensors only".into()),
                };
                Tensor { strides: dense(&sizes), sizes, ..from }
            }
            _ => {
                let dot = if overload.is_empty() { "" } else { "." };
                return Err(format!("it calls {name}{dot}{overload}, which is not there without PyTorch; compute it in the kernel"));
            }
        };
        stack.give(made);
    }
    Ok(())
}
