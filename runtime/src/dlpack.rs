//! DLPack's C layouts, written down here because they are the ABI of every tensor that enters or leaves.

use std::ffi::c_void;

use crate::dim_order::DimOrder;
use crate::dtype::DType;

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

/// An element type: code (0 int, 1 uint, 2 float, 4 bfloat, 5 complex, 6 bool, 10 f8e4m3fn, 12 f8e5m2), bits, vector lanes.
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

/// A tensor as DLPack has shared it since its version 1, in which it may say what its consumer may do.
#[repr(C)]
pub struct DLManagedTensorVersioned {
    /// Major and minor version of DLPack.
    pub version: [u32; 2],
    /// Private to the producer.
    pub manager_ctx: *mut c_void,
    /// Called once by the consumer when done.
    pub deleter: Option<unsafe extern "C" fn(*mut DLManagedTensorVersioned)>,
    /// Bit 0: the memory must not be written to. Bit 1: it is a copy.
    pub flags: u64,
    /// The tensor.
    pub dl_tensor: DLTensor,
}

/// What is asked of a caller's pointer before it is followed. Whether it leads to something cannot be seen.
pub(crate) fn is_given<T>(pointer: *const T) -> bool {
    !pointer.is_null() && pointer.is_aligned()
}

/// Bytes to the first and behind the last element at most: more than any process can address, and far from where sums wrap.
const REACH: i64 = 1 << 57;

/// How many bytes before and from the address of a tensor its elements lie.
fn reach(size: i64, sizes: &[i64], strides: &[i64]) -> Option<(u64, i64)> {
    let (mut below, mut above) = (0u64, size);
    for (&extent, &stride) in sizes.iter().zip(strides).filter(|(extent, _)| **extent > 1) {
        match stride.checked_mul(size)?.checked_mul(extent - 1)? {
            far @ 0.. => above = above.checked_add(far)?,
            far => below = below.checked_add(far.unsigned_abs())?,
        }
    }
    Some((below, above))
}

impl DLTensor {
    /// Checks a caller's description as far as that can be seen without touching the tensor's memory; gives its sizes, and the bytes
    /// that it has when it is dense. What is wrong comes as words that follow the tensor's name.
    ///
    /// # Safety
    /// `shape` is null or points at `ndim` sizes, and `strides` likewise.
    pub(crate) unsafe fn checked(&self, dtype: DType, rank: usize) -> Result<(&[i64], usize), String> {
        if usize::try_from(self.ndim) != Ok(rank) {
            return Err(format!("has rank {}, the program wants {rank}", self.ndim));
        }
        if rank > 0 && !is_given(self.shape) {
            return Err("has dimensions and no list of their sizes".into());
        }
        if !self.strides.is_null() && !self.strides.is_aligned() {
            return Err("has a list of strides that is not aligned".into());
        }
        // SAFETY: the rank is a sensible one, for which the caller promises sizes and strides.
        let (sizes, strides) = unsafe { (self.sizes(), self.stride_list()) };
        let (mut bytes, mut wraps) = (dtype.size() as i64, false);
        for (dim, &size) in sizes.iter().enumerate() {
            if size < 0 {
                return Err(format!("has size {size} in dimension {dim}"));
            }
            let (product, over) = bytes.overflowing_mul(size);
            (bytes, wraps) = (product, wraps | over);
        }
        if (bytes == 0 || wraps) && sizes.contains(&0) {
            return Ok((sizes, 0));
        }
        if self.data.is_null() {
            return Err("has elements and no memory".into());
        }
        let (below, above) = match strides {
            _ if wraps => (0, i64::MAX),
            None => (0, bytes),
            Some(strides) => reach(dtype.size() as i64, sizes, strides).unwrap_or((0, i64::MAX)),
        };
        let first = (self.data as u64).checked_add(self.byte_offset);
        let lies = first.is_some_and(|first| first >= below && first.checked_add_signed(above).is_some());
        if !lies || above > REACH || below > REACH as u64 {
            return Err(format!("of sizes {sizes:?} (strides {strides:?}) reaches beyond all memory"));
        }
        Ok((sizes, bytes as usize))
    }

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
