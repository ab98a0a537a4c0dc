//! DLPack's C layouts, written down here because they are the ABI of every tensor that enters or leaves.

use std::ffi::c_void;

use crate::dim_order::DimOrder;

/// The device of a tensor; `device_type` 1 is the CPU.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DLDevice {
    /// Kind of device.
    pub device_type: i32,
    /// Which one of its kind.
    pub device_id: i32,
}

impl DLDevice {
    /// The host CPU.
    pub const CPU: DLDevice = DLDevice { device_type: 1, device_id: 0 };

    /// Whether the host can read this device's memory directly (CPU or pinned host memory).
    pub fn is_host(self) -> bool {
        matches!(self.device_type, 1 | 3 | 11)
    }
}

/// An element type: code (0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool), bits, vector lanes.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DLDataType {
    /// Family of the type.
    pub code: u8,
    /// Bits of one element.
    pub bits: u8,
    /// Vector lanes; 1 for all our types.
    pub lanes: u16,
}

/// A tensor that someone else owns.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct DLTensor {
    /// Start of the allocation.
    pub data: *mut c_void,
    /// Where `data` lives.
    pub device: DLDevice,
    /// Number of dimensions.
    pub ndim: i32,
    /// Element type.
    pub dtype: DLDataType,
    /// `ndim` sizes.
    pub shape: *mut i64,
    /// `ndim` strides in elements, or null for dense row-major.
    pub strides: *mut i64,
    /// Offset of the first element in bytes.
    pub byte_offset: u64,
}

/// A tensor with the function that releases it.
#[repr(C)]
pub struct DLManagedTensor {
    /// The tensor.
    pub dl_tensor: DLTensor,
    /// Private to the producer.
    pub manager_ctx: *mut c_void,
    /// Called once by the consumer when done.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensor)>,
}

impl DLTensor {
    /// The sizes.
    ///
    /// # Safety
    /// `shape` points at `ndim` sizes (it may be null when `ndim` is 0).
    pub unsafe fn sizes(&self) -> &[i64] {
        if self.ndim <= 0 || self.shape.is_null() {
            return &[];
        }
        // SAFETY: the caller promises `ndim` readable sizes.
        unsafe { std::slice::from_raw_parts(self.shape, self.ndim as usize) }
    }

    /// The strides in elements, or `None` for dense row-major.
    ///
    /// # Safety
    /// `strides` is null or points at `ndim` strides.
    pub unsafe fn stride_list(&self) -> Option<&[i64]> {
        if self.strides.is_null() || self.ndim <= 0 {
            return None;
        }
        // SAFETY: the caller promises `ndim` readable strides.
        Some(unsafe { std::slice::from_raw_parts(self.strides, self.ndim as usize) })
    }

    /// Whether the elements lie dense in an order of the dims.
    ///
    /// # Safety
    /// As for [`DLTensor::sizes`] and [`DLTensor::stride_list`].
    pub unsafe fn is_dense(&self, order: &DimOrder) -> bool {
        // SAFETY: the caller's promise is the one needed.
        let (sizes, strides) = unsafe { (self.sizes(), self.stride_list()) };
        match strides {
            Some(strides) => order.is_dense(sizes, strides),
            None => order.is_row_major() || order.is_dense(sizes, &DimOrder::ROW_MAJOR.strides(sizes)),
        }
    }

    /// Address of the first element.
    pub fn first_element(&self) -> *mut u8 {
        self.data.cast::<u8>().wrapping_add(self.byte_offset as usize)
    }
}
