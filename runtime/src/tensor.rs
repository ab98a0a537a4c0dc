//! Owned dense tensors, and copies of anyone's strided ones.

use std::borrow::Cow;
use std::ffi::c_void;

use crate::dim_order::DimOrder;
use crate::dlpack::{DLDevice, DLTensor};
use crate::dtype::DType;
use crate::memory::{Block, MemoryError};
use crate::strided;

/// A dense tensor in 64-byte aligned memory of ours. It is row-major, unless it comes from a program that gives it in another order.
#[derive(Debug)]
pub struct Tensor {
    dtype: DType,
    shape: Vec<i64>,
    dim_order: DimOrder,
    /// In elements.
    strides: Vec<i64>,
    data: Block,
}

/// Why a tensor cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TensorError {
    /// A negative size, or more bytes than an address space has.
    #[error("shape {shape:?} is not the shape of a tensor of {dtype}")]
    Shape {
        /// The sizes.
        shape: Vec<i64>,
        /// The element type.
        dtype: DType,
    },
    /// The data has another size than the shape says.
    #[error("{dtype} tensor of shape {shape:?} has {want} bytes, the data has {found}")]
    Size {
        /// The sizes.
        shape: Vec<i64>,
        /// The element type.
        dtype: DType,
        /// Bytes given.
        found: usize,
        /// Bytes wanted.
        want: usize,
    },
    /// A DLPack element type we do not have.
    #[error("DLPack element type (code {code}, {bits} bits, {lanes} lanes) has no counterpart here")]
    Element {
        /// Type code.
        code: u8,
        /// Bits.
        bits: u8,
        /// Lanes.
        lanes: u16,
    },
    /// Memory the host cannot read.
    #[error("the tensor lives on device type {device}; copy it to the CPU first")]
    Device {
        /// DLPack's device type.
        device: i32,
    },
    /// A description that cannot be one of a tensor.
    #[error("the tensor {0}")]
    Description(String),
    /// There is no room for it.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// Bytes of a dense tensor, or an error when the shape makes no sense.
pub fn dense_bytes(dtype: DType, shape: &[i64]) -> Result<usize, TensorError> {
    let bad = || TensorError::Shape { shape: shape.to_vec(), dtype };
    if shape.iter().any(|&size| size < 0) {
        return Err(bad());
    }
    if shape.contains(&0) {
        return Ok(0);
    }
    let bytes = shape.iter().try_fold(dtype.size() as i64, |n, &size| n.checked_mul(size));
    bytes.map(|n| n as usize).ok_or_else(bad)
}

impl Tensor {
    /// A tensor with unspecified contents.
    pub fn uninit(dtype: DType, shape: &[i64]) -> Result<Tensor, TensorError> {
        Tensor::uninit_in(dtype, shape, &DimOrder::ROW_MAJOR)
    }

    /// A tensor with unspecified contents whose dims lie in an order.
    pub fn uninit_in(dtype: DType, shape: &[i64], order: &DimOrder) -> Result<Tensor, TensorError> {
        let bytes = dense_bytes(dtype, shape)?;
        Tensor::from_block(dtype, shape.to_vec(), order, Block::new(bytes)?)
    }

    /// A tensor from the bytes of its elements.
    pub fn from_bytes(dtype: DType, shape: &[i64], bytes: &[u8]) -> Result<Tensor, TensorError> {
        let mut tensor = Tensor::uninit(dtype, shape)?;
        let want = tensor.bytes().len();
        if want != bytes.len() {
            return Err(TensorError::Size { shape: shape.to_vec(), dtype, found: bytes.len(), want });
        }
        tensor.bytes_mut().copy_from_slice(bytes);
        Ok(tensor)
    }

    /// A tensor from a slice of plain values of the same size as `dtype`.
    pub fn from_slice<T: bytemuck::NoUninit>(dtype: DType, shape: &[i64], values: &[T]) -> Result<Tensor, TensorError> {
        Tensor::from_bytes(dtype, shape, bytemuck::cast_slice(values))
    }

    /// A tensor in memory that is already filled in this order; the block has room for the shape.
    pub(crate) fn from_block(dtype: DType, shape: Vec<i64>, order: &DimOrder, data: Block) -> Result<Tensor, TensorError> {
        let want = dense_bytes(dtype, &shape)?;
        if data.capacity() < want {
            return Err(TensorError::Size { shape, dtype, found: data.capacity(), want });
        }
        let strides = order.strides(&shape);
        Ok(Tensor { dtype, shape, dim_order: order.clone(), strides, data })
    }

    /// A dense row-major copy of any host tensor.
    ///
    /// # Safety
    /// `source` describes readable memory as DLPack says.
    pub unsafe fn from_dlpack(source: &DLTensor) -> Result<Tensor, TensorError> {
        // SAFETY: the caller's promise is the one needed.
        unsafe { Tensor::copy_of(source, &DimOrder::ROW_MAJOR) }
    }

    /// A dense copy of any host tensor whose dims lie in an order.
    ///
    /// # Safety
    /// `source` describes readable memory as DLPack says.
    pub(crate) unsafe fn copy_of(source: &DLTensor, order: &DimOrder) -> Result<Tensor, TensorError> {
        let kind = source.dtype;
        let dtype = DType::from_dlpack(kind).ok_or(TensorError::Element { code: kind.code, bits: kind.bits, lanes: kind.lanes })?;
        if !source.device.is_host() {
            return Err(TensorError::Device { device: source.device.device_type });
        }
        let rank = usize::try_from(source.ndim).unwrap_or(usize::MAX);
        // SAFETY: the caller promises a valid description.
        let (shape, _) = unsafe { source.checked(dtype, rank) }.map_err(TensorError::Description)?;
        // SAFETY: as above.
        let strides = unsafe { source.stride_list() };
        let mut tensor = Tensor::uninit_in(dtype, shape, order)?;
        let from = strides.map_or_else(|| DimOrder::ROW_MAJOR.strides(shape), <[i64]>::to_vec);
        let to = (tensor.bytes_mut().as_mut_ptr(), &*tensor.strides);
        // SAFETY: the caller promises that shape and strides stay inside readable memory; the new tensor has room for the shape.
        unsafe { strided::copy(shape, (source.first_element(), &from), to, dtype.size()) };
        Ok(tensor)
    }

    /// Element type.
    #[inline]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Sizes.
    #[inline]
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// How its dims lie in memory.
    #[inline]
    pub fn dim_order(&self) -> &DimOrder {
        &self.dim_order
    }

    /// The tensor with its dims in an order: itself where they lie so.
    pub fn in_order(&self, order: &DimOrder) -> Result<Cow<'_, Tensor>, TensorError> {
        if *order == self.dim_order || !order.fits(self.shape.len()) {
            return Ok(Cow::Borrowed(self));
        }
        let (strides, data) = (order.strides(&self.shape), Block::new(self.bytes().len())?);
        // SAFETY: both blocks have room for the elements of a dense tensor of this shape, and the new one is nobody else's.
        unsafe { strided::copy(&self.shape, (self.data.as_ptr(), &self.strides), (data.as_ptr(), &strides), self.dtype.size()) };
        Ok(Cow::Owned(Tensor { dtype: self.dtype, shape: self.shape.clone(), dim_order: order.clone(), strides, data }))
    }

    /// The tensor with its elements in row-major order.
    pub fn row_major(&self) -> Result<Cow<'_, Tensor>, TensorError> {
        self.in_order(&DimOrder::ROW_MAJOR)
    }

    /// A copy of the tensor.
    pub fn try_clone(&self) -> Result<Tensor, TensorError> {
        let mut copy = Tensor::uninit_in(self.dtype, &self.shape, &self.dim_order)?;
        copy.bytes_mut().copy_from_slice(self.bytes());
        Ok(copy)
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        if self.shape.contains(&0) { 0 } else { self.shape.iter().product::<i64>() as usize }
    }

    /// Whether the tensor has no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements' bytes, in the order of memory: see [`Tensor::row_major`].
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the block has at least this many initialised bytes (blocks are born zeroed).
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.len() * self.dtype.size()) }
    }

    /// The elements' bytes, writable.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`, and `&mut self` is the only access.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.len() * self.dtype.size()) }
    }

    /// The elements as plain values in the order of memory; `None` when `T` has another size than the element type.
    pub fn values<T: bytemuck::AnyBitPattern>(&self) -> Option<&[T]> {
        (size_of::<T>() == self.dtype.size()).then(|| bytemuck::cast_slice(self.bytes()))
    }

    /// Writes the elements into anyone's tensor of the same type and sizes.
    ///
    /// # Safety
    /// `target` describes writable memory as DLPack says.
    pub unsafe fn write_to(&self, target: &DLTensor) -> Result<(), TensorError> {
        if !target.device.is_host() {
            return Err(TensorError::Device { device: target.device.device_type });
        }
        // SAFETY: the caller promises a valid description.
        let (sizes, _) = unsafe { target.checked(self.dtype, self.shape.len()) }.map_err(TensorError::Description)?;
        if target.dtype != self.dtype.dlpack() || sizes != self.shape {
            return Err(TensorError::Description(format!("has not the sizes {:?} of {}", self.shape, self.dtype)));
        }
        // SAFETY: as above.
        let strides = unsafe { target.stride_list() };
        let strides = strides.map_or_else(|| dense_strides(sizes), <[i64]>::to_vec);
        // SAFETY: both have these sizes and this element type, and the caller promises that the target may be written.
        unsafe { strided::copy(sizes, (self.data.as_ptr(), &self.strides), (target.first_element(), &strides), self.dtype.size()) };
        Ok(())
    }

    /// A description for a call. It must not outlive the tensor nor be written through unless the callee says so.
    pub fn dlpack(&self) -> DLTensor {
        DLTensor {
            data: self.data.as_ptr().cast::<c_void>(),
            device: DLDevice::CPU,
            ndim: self.shape.len() as i32,
            dtype: self.dtype.dlpack(),
            shape: self.shape.as_ptr().cast_mut(),
            strides: if self.dim_order.is_row_major() { std::ptr::null_mut() } else { self.strides.as_ptr().cast_mut() },
            byte_offset: 0,
        }
    }
}

/// Panics where there is no memory: [`Tensor::try_clone`] says so.
impl Clone for Tensor {
    fn clone(&self) -> Tensor {
        self.try_clone().unwrap_or_else(|error| panic!("{error}"))
    }
}

/// Row-major strides of a shape, in elements.
pub fn dense_strides(shape: &[i64]) -> Vec<i64> {
    DimOrder::ROW_MAJOR.strides(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strided_tensors_are_copied_in() {
        let values: Vec<f32> = (0..12).map(|v| v as f32).collect();
        // A transposed view of a 3x4 matrix, and one with stride 0.
        for (mut shape, mut strides, want) in [
            (vec![4i64, 3], vec![1i64, 4], vec![0., 4., 8., 1., 5., 9., 2., 6., 10., 3., 7., 11.]),
            (vec![2, 2], vec![0, 1], vec![0., 1., 0., 1.]),
            (vec![], vec![], vec![0.]),
        ] {
            let source = DLTensor {
                data: values.as_ptr() as *mut c_void,
                device: DLDevice::CPU,
                ndim: shape.len() as i32,
                dtype: DType::F32.dlpack(),
                shape: shape.as_mut_ptr(),
                strides: strides.as_mut_ptr(),
                byte_offset: 0,
            };
            // SAFETY: the views stay inside `values`.
            let tensor = unsafe { Tensor::from_dlpack(&source) }.unwrap();
            assert_eq!(tensor.values::<f32>().unwrap(), want);
        }
    }

    #[test]
    fn impossible_shapes_are_errors() {
        assert!(Tensor::uninit(DType::F64, &[i64::MAX, 8]).is_err());
        assert!(Tensor::uninit(DType::F64, &[-1]).is_err());
        assert!(Tensor::from_bytes(DType::F32, &[2], &[0; 7]).is_err());
        assert_eq!(Tensor::uninit(DType::F64, &[0, i64::MAX]).unwrap().len(), 0);
    }
}
