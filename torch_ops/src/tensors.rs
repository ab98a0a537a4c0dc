//! What extensions ask a tensor, and how they make one.

use std::ffi::c_void;

use crate::error::status;
use crate::tensor::{Tensor, dense};

/// A tensor in the hands of an extension: a box, or null for one that is not defined.
pub(crate) type Handle = *mut Tensor;

/// A handle of its own.
pub(crate) fn handle(tensor: Tensor) -> Handle {
    Box::into_raw(Box::new(tensor))
}

/// # Safety
/// `handle` is null or lives.
pub(crate) unsafe fn tensor<'a>(handle: Handle) -> Result<&'a Tensor, String> {
    // SAFETY: the caller's promise.
    unsafe { handle.as_ref() }.ok_or_else(|| "the tensor is not defined".into())
}

/// # Safety
/// `length` numbers are readable at `start`.
unsafe fn numbers<'a>(start: *const i64, length: i64) -> Result<&'a [i64], String> {
    let length = usize::try_from(length).map_err(|_| format!("{length} sizes"))?;
    // SAFETY: the caller's promise.
    Ok(if length == 0 { &[] } else { unsafe { std::slice::from_raw_parts(start, length) } })
}

macro_rules! ask {
    ($($name:ident($tensor:ident) -> $ty:ty = $value:expr;)*) => {
        $(/// # Safety
        /// The handle lives, and `result` may be written.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(handle: Handle, result: *mut $ty) -> i32 {
            status(|| {
                // SAFETY: the extension's promise.
                let $tensor = unsafe { tensor(handle) }?;
                // SAFETY: as above.
                unsafe { *result = $value };
                Ok(())
            })
        })*
    };
}

ask! {
    aoti_torch_get_data_ptr(tensor) -> *mut c_void = tensor.data().cast();
    torch_get_mutable_data_ptr(tensor) -> *mut c_void = tensor.data().cast();
    torch_get_const_data_ptr(tensor) -> *const c_void = tensor.data().cast_const().cast();
    aoti_torch_get_storage_size(tensor) -> i64 = tensor.storage.bytes as i64;
    aoti_torch_get_storage_numel(tensor) -> i64 = (tensor.storage.bytes / tensor.element_size()) as i64;
    aoti_torch_get_storage_offset(tensor) -> i64 = tensor.offset;
    aoti_torch_get_dim(tensor) -> i64 = tensor.sizes.len() as i64;
    aoti_torch_get_numel(tensor) -> i64 = tensor.len();
    aoti_torch_get_sizes(tensor) -> *const i64 = tensor.sizes.as_ptr();
    aoti_torch_get_strides(tensor) -> *const i64 = tensor.strides.as_ptr();
    aoti_torch_get_dtype(tensor) -> i32 = tensor.dtype;
    aoti_torch_get_device_type(_tensor) -> i32 = 0;
    aoti_torch_get_device_index(_tensor) -> i32 = -1;
    aoti_torch_get_layout(_tensor) -> i32 = 0;
    aoti_torch_is_contiguous(tensor) -> bool = tensor.is_contiguous();
    torch_has_storage(_tensor) -> bool = true;
    aoti_torch_new_tensor_handle(tensor) -> Handle = self::handle(tensor.clone());
}

/// # Safety
/// The handle is null or lives, and `result` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn aoti_torch_is_defined(handle: Handle, result: *mut bool) -> i32 {
    // SAFETY: the extension's promise.
    unsafe { *result = !handle.is_null() };
    0
}

/// # Safety
/// `result` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn aoti_torch_new_uninitialized_tensor(result: *mut Handle) -> i32 {
    // SAFETY: the extension's promise.
    unsafe { *result = std::ptr::null_mut() };
    0
}

/// # Safety
/// The handle is null or lives, and is not used any more.
#[unsafe(no_mangle)]
unsafe extern "C" fn aoti_torch_delete_tensor_object(handle: Handle) -> i32 {
    if !handle.is_null() {
        // SAFETY: it came from `handle`, and the extension gives it up.
        drop(unsafe { Box::from_raw(handle) });
    }
    0
}

macro_rules! ask_dim {
    ($($name:ident = $list:ident;)*) => {
        $(/// # Safety
        /// The handle lives, and `result` may be written.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(handle: Handle, dim: i64, result: *mut i64) -> i32 {
            status(|| {
                // SAFETY: the extension's promise.
                let tensor = unsafe { tensor(handle) }?;
                let value = tensor.$list[tensor.dim(dim)?];
                // SAFETY: as above.
                unsafe { *result = value };
                Ok(())
            })
        })*
    };
}

ask_dim! {
    aoti_torch_get_size = sizes;
    aoti_torch_get_stride = strides;
}

/// # Safety
/// The lists have `ndim` numbers, and `result` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn aoti_torch_empty_strided(
    ndim: i64,
    sizes: *const i64,
    strides: *const i64,
    dtype: i32,
    device: i32,
    _device_index: i32,
    result: *mut Handle,
) -> i32 {
    status(|| {
        on_cpu(device)?;
        // SAFETY: the extension's promise.
        unsafe { *result = handle(Tensor::empty(numbers(sizes, ndim)?, numbers(strides, ndim)?, dtype)?) };
        Ok(())
    })
}

/// # Safety
/// The handle lives; the list has `length` numbers; the others are null or readable; `result` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn aoti_torch_aten_new_empty(
    like: Handle,
    sizes: *const i64,
    length: i64,
    dtype: *const i32,
    _layout: *const i32,
    device: *const i32,
    _device_index: i32,
    _pinned: *const i32,
    result: *mut Handle,
) -> i32 {
    status(|| {
        // SAFETY: the extension's promise.
        let (like, sizes, dtype, device) = unsafe { (tensor(like)?, numbers(sizes, length)?, dtype.as_ref(), device.as_ref()) };
        on_cpu(device.copied().unwrap_or(0))?;
        let made = Tensor::empty(sizes, &dense(sizes), dtype.copied().unwrap_or(like.dtype))?;
        // SAFETY: as above.
        unsafe { *result = handle(made) };
        Ok(())
    })
}

/// # Safety
/// As for [`aoti_torch_aten_new_empty`].
#[unsafe(no_mangle)]
unsafe extern "C" fn aoti_torch_aten_new_zeros(
    like: Handle,
    sizes: *const i64,
    length: i64,
    dtype: *const i32,
    layout: *const i32,
    device: *const i32,
    device_index: i32,
    pinned: *const i32,
    result: *mut Handle,
) -> i32 {
    // SAFETY: the extension's promise.
    let made = unsafe { aoti_torch_aten_new_empty(like, sizes, length, dtype, layout, device, device_index, pinned, result) };
    // SAFETY: as above.
    if made == 0 { status(|| unsafe { tensor(*result) }?.zero()) } else { made }
}

/// # Safety
/// The handle lives, and `result` may be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn aoti_torch_aten_narrow(from: Handle, dim: i64, start: i64, length: i64, result: *mut Handle) -> i32 {
    status(|| {
        // SAFETY: the extension's promise.
        let mut view = unsafe { tensor(from) }?.clone();
        let at = view.dim(dim)?;
        let extent = view.sizes[at];
        let begin = if start < 0 { start + extent } else { start };
        if begin < 0 || length < 0 || begin.checked_add(length).is_none_or(|end| end > extent) {
            return Err(format!("a dimension of size {extent} has no {length} elements from {start} on"));
        }
        view.offset += begin * view.strides[at];
        view.sizes[at] = length;
        // SAFETY: as above.
        unsafe { *result = handle(view) };
        Ok(())
    })
}

/// # Safety
/// The handle lives.
#[unsafe(no_mangle)]
unsafe extern "C" fn aoti_torch_aten_fill__Scalar(handle: Handle, value: f64) -> i32 {
    status(|| {
        // SAFETY: the extension's promise.
        let tensor = unsafe { tensor(handle) }?;
        tensor.fill(&element(tensor.dtype, value)?)
    })
}

/// A number as an element.
fn element(dtype: i32, value: f64) -> Result<Vec<u8>, String> {
    Ok(match dtype {
        0 => vec![value as u8],
        1 => (value as i8).to_le_bytes().into(),
        2 => (value as i16).to_le_bytes().into(),
        3 => (value as i32).to_le_bytes().into(),
        4 => (value as i64).to_le_bytes().into(),
        6 => (value as f32).to_le_bytes().into(),
        7 => value.to_le_bytes().into(),
        11 => vec![u8::from(value != 0.0)],
        _ => return Err(format!("fill_ is not there for the element type {dtype}")),
    })
}

/// Refuses devices.
pub(crate) fn on_cpu(device: i32) -> Result<(), String> {
    if device == 0 { Ok(()) } else { Err(format!("tensors of the device type {device} are not there: kernels run on the CPU")) }
}
