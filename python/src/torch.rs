//! PyTorch from inside its process: tensors are read through DLPack's C exchange interface, and made and wrapped by the functions of
//! its stable C interface. All are looked up in the libraries that are loaded; nothing of PyTorch is linked.

use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, null, null_mut};

use pyo3::ffi::PyObject;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyCapsule;
use strata_runtime::DType;
use strata_runtime::dlpack::{DLDevice, DLTensor};
use strata_runtime::library::host;
use strata_runtime::memory::Block;

/// PyTorch's number of the layout of dense tensors (`c10::Layout`).
const STRIDED: i32 = 0;

/// The index of the device of memory that is not on an accelerator.
const NO_INDEX: i32 = -1;

/// A tensor of PyTorch that this side owns.
type Handle = *mut c_void;
type ReadFn = unsafe extern "C" fn(object: *mut c_void, out: *mut DLTensor) -> c_int;
type EmptyFn = unsafe extern "C" fn(
    rank: i64,
    sizes: *const i64,
    strides: *const i64,
    dtype: i32,
    device_type: i32,
    device: i32,
    out: *mut Handle,
) -> i32;
type FreeFn = unsafe extern "C" fn(data: *mut c_void, context: *mut c_void);
type FromBlobFn = unsafe extern "C" fn(
    data: *mut c_void,
    rank: i64,
    sizes: *const i64,
    strides: *const i64,
    offset: i64,
    dtype: i32,
    device_type: i32,
    device: i32,
    out: *mut Handle,
    layout: i32,
    opaque: *const u8,
    opaque_bytes: i64,
    free: FreeFn,
    context: *mut c_void,
) -> i32;
type DataFn = unsafe extern "C" fn(handle: Handle, out: *mut *mut c_void) -> i32;
type DeleteFn = unsafe extern "C" fn(handle: Handle) -> i32;
type WrapFn = unsafe extern "C" fn(handle: Handle, ty: *mut c_void, out: *mut *mut c_void) -> i32;

/// The start of DLPack's exchange interface (`DLPackExchangeAPI`), up to the one function that is used.
#[repr(C)]
struct Exchange {
    major: u32,
    minor: u32,
    previous: *mut c_void,
    allocate: *const c_void,
    managed_from_object: *const c_void,
    managed_to_object: *const c_void,
    read: Option<ReadFn>,
}

/// The functions of the PyTorch that is loaded.
pub struct Torch {
    read: ReadFn,
    empty: EmptyFn,
    from_blob: FromBlobFn,
    data: DataFn,
    delete: DeleteFn,
    wrap: WrapFn,
}

impl Torch {
    /// The functions of this process' PyTorch, 2.14 or newer.
    pub fn get(py: Python<'_>) -> PyResult<&'static Torch> {
        static TORCH: PyOnceLock<Torch> = PyOnceLock::new();
        TORCH.get_or_try_init(py, || Torch::find(py))
    }

    fn find(py: Python<'_>) -> PyResult<Torch> {
        let old = |what: &str| {
            let version = py.import("torch").and_then(|torch| torch.getattr("__version__")).map_or_else(|_| "?".into(), |v| v.to_string());
            pyo3::exceptions::PyImportError::new_err(format!("strata needs PyTorch 2.14 or newer; {version} has no {what}"))
        };
        let capsule = py.import("torch")?.getattr("Tensor")?.getattr("__dlpack_c_exchange_api__").map_err(|_| old("DLPack exchange"))?;
        let capsule = capsule.cast_into::<PyCapsule>().map_err(|_| old("DLPack exchange"))?;
        let start = capsule.pointer_checked(Some(c"dlpack_exchange_api"))?.cast::<Exchange>();
        // SAFETY: PyTorch's table lives as long as the process, and the fields read are those of version 1.
        let exchange = unsafe { start.as_ref() };
        let read = exchange.read.filter(|_| exchange.major == 1).ok_or_else(|| old("DLPack exchange of version 1"))?;
        let library = host::library().ok_or_else(|| old("libtorch_cpu.so"))?;
        // SAFETY: the types are those of PyTorch's stable headers.
        unsafe {
            let empty = *library.get::<EmptyFn>(b"aoti_torch_empty_strided").map_err(|_| old("aoti_torch_empty_strided"))?;
            let from_blob = *library.get::<FromBlobFn>(b"torch_from_blob").map_err(|_| old("torch_from_blob"))?;
            let data = *library.get::<DataFn>(b"aoti_torch_get_data_ptr").map_err(|_| old("aoti_torch_get_data_ptr"))?;
            let delete =
                *library.get::<DeleteFn>(b"aoti_torch_delete_tensor_object").map_err(|_| old("aoti_torch_delete_tensor_object"))?;
            let wrap = *library.get::<WrapFn>(b"torch_tensor_to_pyobject").map_err(|_| old("torch_tensor_to_pyobject"))?;
            Ok(Torch { read, empty, from_blob, data, delete, wrap })
        }
    }

    /// Describes a tensor; the description lives as long as the tensor stays what it is.
    ///
    /// # Safety
    /// `object` is a Python object, and the GIL is held.
    pub unsafe fn describe(&self, py: Python<'_>, object: *mut PyObject) -> PyResult<DLTensor> {
        let mut out = DLTensor {
            data: null_mut(),
            device: DLDevice::CPU,
            ndim: 0,
            dtype: DType::F32.dlpack(),
            shape: null_mut(),
            strides: null_mut(),
            byte_offset: 0,
        };
        // SAFETY: the caller's promise; the result goes into our variable.
        match unsafe { (self.read)(object.cast(), &raw mut out) } {
            0 => Ok(out),
            _ => {
                let _ = PyErr::take(py);
                // SAFETY: the caller's promise.
                let kind = unsafe { Borrowed::from_ptr(py, object) }.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
                Err(pyo3::exceptions::PyTypeError::new_err(format!(
                    "an argument of type {kind} stands where a dense tensor of PyTorch is wanted"
                )))
            }
        }
    }

    /// A new tensor of the host, of so many bytes.
    pub fn empty(&self, dtype: DType, sizes: &[i64], strides: &[i64], bytes: usize) -> Option<Owned<'_>> {
        if bytes >= REUSED {
            return self.reused(dtype, sizes, strides, Block::new(bytes).ok()?);
        }
        let mut handle = null_mut();
        // SAFETY: sizes and strides have one entry for each dimension; the result goes into our variable.
        let status = unsafe {
            (self.empty)(
                sizes.len() as i64,
                sizes.as_ptr(),
                strides.as_ptr(),
                scalar_type(dtype),
                DLDevice::CPU.device_type - 1,
                0,
                &raw mut handle,
            )
        };
        (status == 0).then(|| NonNull::new(handle).map(|handle| Owned { torch: self, handle })).flatten()
    }

    /// A tensor in this block, which is reused when the last view of it is gone.
    fn reused(&self, dtype: DType, sizes: &[i64], strides: &[i64], block: Block) -> Option<Owned<'_>> {
        let (mut handle, data) = (null_mut(), block.as_ptr());
        let block = Box::into_raw(Box::new(block));
        // SAFETY: sizes and strides have one entry for each dimension, and the block holds all elements; the result goes into our variable.
        let status = unsafe {
            (self.from_blob)(
                data.cast(),
                sizes.len() as i64,
                sizes.as_ptr(),
                strides.as_ptr(),
                0,
                scalar_type(dtype),
                DLDevice::CPU.device_type - 1,
                NO_INDEX,
                &raw mut handle,
                STRIDED,
                null(),
                0,
                free,
                block.cast(),
            )
        };
        if status != 0 {
            // SAFETY: no tensor took the box.
            drop(unsafe { Box::from_raw(block) });
        }
        NonNull::new(handle).filter(|_| status == 0).map(|handle| Owned { torch: self, handle })
    }
}

/// From so many bytes on a result lies in a block of ours, which later results reuse: it is still in the caches, and its pages are there.
/// PyTorch's allocator is the C library's, which hands out other memory at each call. Smaller results fit the first cache either way.
const REUSED: usize = 64 << 10;

/// Gives back the block of a tensor that is gone.
unsafe extern "C" fn free(_: *mut c_void, block: *mut c_void) {
    // SAFETY: `reused` gave the box to the one tensor that calls this, once.
    drop(unsafe { Box::from_raw(block.cast::<Block>()) });
}

/// A tensor of PyTorch that was made here and that nobody else has yet.
pub struct Owned<'t> {
    torch: &'t Torch,
    handle: NonNull<c_void>,
}

impl Owned<'_> {
    /// Where its elements are.
    pub fn data(&self) -> *mut c_void {
        let mut data = null_mut();
        // SAFETY: the handle is alive; the result goes into our variable.
        match unsafe { (self.torch.data)(self.handle.as_ptr(), &raw mut data) } {
            0 => data,
            _ => null_mut(),
        }
    }

    /// The tensor as a Python object, a new reference.
    pub fn into_object(self, _py: Python<'_>) -> PyResult<NonNull<PyObject>> {
        let mut object = null_mut();
        // SAFETY: the handle is alive and the GIL is held.
        let status = unsafe { (self.torch.wrap)(self.handle.as_ptr(), null_mut(), &raw mut object) };
        let object = NonNull::new(object.cast::<PyObject>()).filter(|_| status == 0);
        object.ok_or_else(|| pyo3::exceptions::PyRuntimeError::new_err("PyTorch cannot wrap a result"))
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is alive and ours; an object that was made of it has a reference of its own.
        unsafe { (self.torch.delete)(self.handle.as_ptr()) };
    }
}

/// PyTorch's number of an element type (`c10::ScalarType`).
fn scalar_type(dtype: DType) -> i32 {
    match dtype {
        DType::U8 => 0,
        DType::I8 => 1,
        DType::I16 => 2,
        DType::I32 => 3,
        DType::I64 => 4,
        DType::F16 => 5,
        DType::F32 => 6,
        DType::F64 => 7,
        DType::C64 => 9,
        DType::C128 => 10,
        DType::Bool => 11,
        DType::BF16 => 15,
        DType::U16 => 27,
        DType::U32 => 28,
        DType::U64 => 29,
        DType::F8E5M2 => 23,
        DType::F8E4M3FN => 24,
    }
}
