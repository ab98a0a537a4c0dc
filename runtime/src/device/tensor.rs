//! Tensors that a caller keeps on a program's device.

use super::pool::Block;
use super::{DeviceError, Resident};
use crate::dim_order::DimOrder;
use crate::dlpack::{DLDevice, DLTensor};
use crate::dtype::DType;
use crate::error::RunError;
use crate::session::{CallState, Session, dense};
use crate::tensor::{Tensor, TensorError};

/// A dense tensor in the memory of a program's device.
#[derive(Debug)]
pub struct DeviceTensor {
    block: Block,
    device: DLDevice,
    dtype: DType,
    shape: Vec<i64>,
    dim_order: DimOrder,
    strides: Vec<i64>,
}

/// Why a tensor does not come from a device.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum FetchError {
    #[error(transparent)]
    Device(#[from] DeviceError),
    #[error(transparent)]
    Tensor(#[from] TensorError),
}

impl DeviceTensor {
    /// Its description, for calls.
    pub fn dlpack(&self) -> DLTensor {
        let data = self.block.at() as usize as *mut std::ffi::c_void;
        let strides = if self.dim_order.is_row_major() { std::ptr::null_mut() } else { self.strides.as_ptr().cast_mut() };
        DLTensor {
            device: self.device,
            strides,
            ..dense(data, self.dtype.dlpack(), self.shape.len() as i32, self.shape.as_ptr().cast_mut())
        }
    }
}

impl Session {
    /// A copy of a tensor on the program's device, if it has one.
    pub fn to_device(&self, tensor: &Tensor) -> Option<Result<DeviceTensor, DeviceError>> {
        self.resident().map(|resident| place(resident, tensor))
    }

    /// [`Session::run_dlpack`] on tensors of the device.
    pub fn run_placed(&self, state: &mut CallState, inputs: &[&DeviceTensor], outputs: &[&DeviceTensor]) -> Result<(), RunError> {
        let describe = |tensors: &[&DeviceTensor]| tensors.iter().map(|tensor| tensor.dlpack()).collect::<Vec<_>>();
        let (inputs, outputs) = (describe(inputs), describe(outputs));
        let pointers = |tensors: &[DLTensor]| tensors.iter().map(|tensor| &raw const *tensor).collect::<Vec<_>>();
        // SAFETY: the tensors are ours and outlive the call.
        unsafe { self.run_dlpack(state, &pointers(&inputs), &pointers(&outputs)) }
    }

    /// A copy of a tensor of the program's device on the host.
    pub fn to_host(&self, tensor: &DeviceTensor) -> Option<Result<Tensor, FetchError>> {
        let fetch = |resident: &Resident| {
            let mut copy = Tensor::uninit_in(tensor.dtype, &tensor.shape, &tensor.dim_order)?;
            resident.device.download(tensor.block.at(), copy.bytes_mut())?;
            Ok(copy)
        };
        self.resident().map(fetch)
    }
}

fn place(resident: &Resident, tensor: &Tensor) -> Result<DeviceTensor, DeviceError> {
    let block = resident.pool.take(tensor.bytes().len())?;
    resident.device.upload(tensor.bytes(), block.at())?;
    let (shape, dim_order) = (tensor.shape().to_vec(), tensor.dim_order().clone());
    let strides = dim_order.strides(&shape);
    Ok(DeviceTensor { block, device: resident.device.dlpack(), dtype: tensor.dtype(), shape, dim_order, strides })
}
