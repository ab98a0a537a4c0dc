//! safetensors files: how inputs come in and outputs go out of `rs-run`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use safetensors::tensor::TensorView;
use safetensors::{SafeTensorError, SafeTensors};

use crate::dtype::DType;
use crate::tensor::{Tensor, TensorError};

/// The tensors of a file in its order, and its metadata.
#[derive(Debug, Default)]
pub struct TensorFile {
    /// Named tensors.
    pub tensors: HashMap<String, Tensor>,
    /// The strings of the header's `__metadata__`.
    pub metadata: HashMap<String, String>,
}

/// Why a tensor file cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum TensorFileError {
    /// The file system said no.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// Not a safetensors file.
    #[error("{path}: not a readable safetensors file: {source}")]
    Format {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: safetensors::SafeTensorError,
    },
    /// A tensor that cannot be held or stored.
    #[error("{path}: tensor `{name}`: {reason}")]
    Tensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// The reason.
        reason: String,
    },
}

impl TensorFile {
    /// Reads a whole file.
    pub fn read(path: &Path) -> Result<TensorFile, TensorFileError> {
        let bytes = std::fs::read(path).map_err(|source| TensorFileError::Io { path: path.into(), source })?;
        let format = |source| TensorFileError::Format { path: path.into(), source };
        let (_, header) = SafeTensors::read_metadata(&bytes).map_err(format)?;
        let metadata = header.metadata().clone().unwrap_or_default();
        let mut tensors = HashMap::new();
        for (name, view) in SafeTensors::deserialize(&bytes).map_err(format)?.tensors() {
            let fail = |reason: String| TensorFileError::Tensor { path: path.into(), name: name.clone(), reason };
            let dtype =
                DType::from_safetensors(view.dtype()).ok_or_else(|| fail(format!("element type {:?} is not supported", view.dtype())))?;
            let shape: Vec<i64> = view.shape().iter().map(|&size| size as i64).collect();
            let tensor = Tensor::from_bytes(dtype, &shape, view.data()).map_err(|e: TensorError| fail(e.to_string()))?;
            tensors.insert(name, tensor);
        }
        Ok(TensorFile { tensors, metadata })
    }

    /// Writes named tensors, all of them row-major: the format knows no strides.
    pub fn write<'a>(path: &Path, tensors: &'a [(String, &'a Tensor)]) -> Result<(), TensorFileError> {
        let fail = |name: &str, reason: String| TensorFileError::Tensor { path: path.into(), name: name.into(), reason };
        let place = |(name, tensor): &'a (String, &'a Tensor)| Ok((name, tensor.row_major().map_err(|e| fail(name, e.to_string()))?));
        let row_major = tensors.iter().map(place).collect::<Result<Vec<_>, TensorFileError>>()?;
        let mut views = Vec::new();
        for (name, tensor) in &row_major {
            let fail = |reason| fail(name, reason);
            let dtype = tensor.dtype().safetensors();
            let dtype = dtype.ok_or_else(|| fail(format!("safetensors has no {}", tensor.dtype())))?;
            let shape = tensor.shape().iter().map(|&size| size as usize).collect();
            let view = TensorView::new(dtype, shape, tensor.bytes()).map_err(|e| fail(e.to_string()))?;
            views.push((name.as_str(), view));
        }
        safetensors::serialize_to_file(views, None, path).map_err(|error| match error {
            SafeTensorError::IoError(source) => TensorFileError::Io { path: path.into(), source },
            source => TensorFileError::Format { path: path.into(), source },
        })
    }

    /// The tensors `prefix0`, `prefix1`, ... as far as they go.
    pub fn numbered(&self, prefix: &str) -> Vec<&Tensor> {
        (0..).map_while(|k| self.tensors.get(&format!("{prefix}{k}"))).collect()
    }
}
