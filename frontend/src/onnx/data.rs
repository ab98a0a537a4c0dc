//! Tensors that a model brings: where their elements lie, and the elements.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use prost::bytes::Bytes;
use strata_core::ir::ElementType;

use super::dtype;
use super::file::File;
use super::proto;
use crate::import::{Source, Stored};
use crate::operators::Constant;
use crate::types::checked_count;

/// More dimensions than any operator takes.
const MAX_RANK: usize = 64;
/// A tensor that is written sparsely may become this large when it is made dense.
const MAX_DENSE: usize = 64 << 20;
/// `TensorProto.EXTERNAL`.
const EXTERNAL: i32 = 1;

/// A tensor of the model, or one that was computed while it was imported.
#[derive(Debug, Clone)]
pub(super) struct Data {
    /// Its name in the model.
    pub name: String,
    /// The element type.
    pub dtype: ElementType,
    /// The sizes.
    pub shape: Vec<i64>,
    /// The elements.
    pub place: Place,
}

/// Where elements lie, row-major and little-endian.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// In a file.
    File {
        /// The file.
        path: Arc<Path>,
        /// The first byte.
        offset: usize,
        /// All bytes.
        bytes: Bytes,
        /// Whether it is another file than the model's, whose contents a compiled program does not depend on.
        other: bool,
    },
    /// In no file as they are.
    Inline(Arc<[u8]>),
}

impl Data {
    /// A tensor that was computed.
    pub fn inline(name: &str, dtype: ElementType, shape: &[i64], bytes: Vec<u8>) -> Self {
        Self { name: name.to_owned(), dtype, shape: shape.to_vec(), place: Place::Inline(bytes.into()) }
    }

    /// A tensor of the model.
    pub fn read(file: &File, tensor: &proto::Tensor) -> Result<Self, String> {
        let dtype = dtype::element(tensor.data_type.into())?;
        let shape = tensor.dims.clone();
        let count = elements(&shape)?;
        let size = count.checked_mul(dtype.bytes()).ok_or("it is too large")?;
        let place = if tensor.data_location == EXTERNAL {
            external(file, &tensor.external_data, size)?
        } else if let Some(raw) = &tensor.raw_data {
            if raw.len() != size {
                return Err(format!("{count} elements of {dtype} are {size} bytes, and it has {}", raw.len()));
            }
            file.place(raw)
        } else {
            let bytes = typed(tensor, dtype, count)?;
            if bytes.len() != size {
                return Err(format!("its sizes {shape:?} are {count} elements, and it has {}", bytes.len() / dtype.bytes()));
            }
            Place::Inline(bytes.into())
        };
        let data = Self { name: tensor.name.clone(), dtype, shape, place };
        if dtype == ElementType::Bool && data.bytes().iter().any(|byte| *byte > 1) {
            return Err("a bool of it is neither 0 nor 1".to_owned());
        }
        Ok(data)
    }

    /// A tensor that the model writes by the elements that are not zero, made dense.
    pub fn read_sparse(file: &File, sparse: &proto::SparseTensor) -> Result<Self, String> {
        let (Some(values), Some(indices)) = (&sparse.values, &sparse.indices) else {
            return Err("a sparse tensor has values and indices".to_owned());
        };
        let name = values.name.clone();
        let (values, indices) = (Self::read(file, values)?, Self::read(file, indices)?);
        let size = elements(&sparse.dims)?.saturating_mul(values.dtype.bytes());
        if size > MAX_DENSE {
            return Err(format!("a sparse tensor of sizes {:?} is too large to be made dense", sparse.dims));
        }
        let (item, count) = (values.dtype.bytes(), elements(&values.shape)?);
        let indices = indices.ints().ok_or("indices are of type int64")?;
        let per = if sparse.dims.len() > 1 && indices.len() == count.saturating_mul(sparse.dims.len()) { sparse.dims.len() } else { 1 };
        if indices.len() != count.saturating_mul(per) {
            return Err(format!("{count} values have {} indices", indices.len()));
        }
        let (mut dense, bytes) = (vec![0; size], values.bytes());
        for (value, index) in bytes.chunks_exact(item).zip(indices.chunks_exact(per)) {
            let inside = index.len() == 1 || index.iter().zip(&sparse.dims).all(|(index, size)| (0..*size).contains(index));
            let flat = match index {
                [flat] => *flat,
                index => index.iter().zip(&sparse.dims).fold(0i64, |flat, (index, size)| flat.saturating_mul(*size).saturating_add(*index)),
            };
            let place = usize::try_from(flat).ok().filter(|flat| inside && *flat < size / item.max(1));
            let place = place.and_then(|flat| dense.get_mut(flat * item..(flat + 1) * item));
            place.ok_or_else(|| format!("index {index:?} lies outside of sizes {:?}", sparse.dims))?.copy_from_slice(value);
        }
        Ok(Self::inline(&name, values.dtype, &sparse.dims, dense))
    }

    /// The elements' bytes.
    pub fn bytes(&self) -> &[u8] {
        match &self.place {
            Place::File { bytes, .. } => bytes,
            Place::Inline(bytes) => bytes,
        }
    }

    /// Whether the elements may be looked at while the model is imported.
    pub fn is_known(&self) -> bool {
        !matches!(self.place, Place::File { other: true, .. })
    }

    /// The number of elements.
    pub fn count(&self) -> usize {
        self.bytes().len() / self.dtype.bytes()
    }

    /// The elements of a tensor of integers or bool; `None` for others, and where one does not fit.
    pub fn ints(&self) -> Option<Vec<i64>> {
        ints(self.dtype, self.bytes())
    }

    /// The elements of a tensor of floats.
    pub fn floats(&self) -> Option<Vec<f64>> {
        floats(self.dtype, self.bytes())
    }
}

/// The number of elements of sizes; an error where they are negative or address no memory.
fn elements(shape: &[i64]) -> Result<usize, String> {
    if shape.len() > MAX_RANK {
        return Err(format!("{} dimensions are more than {MAX_RANK}", shape.len()));
    }
    checked_count(shape).and_then(|count| usize::try_from(count).ok()).ok_or_else(|| format!("a tensor of sizes {shape:?} is too large"))
}

fn chunks<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
    bytes.chunks_exact(N).map(|chunk| {
        let mut array = [0; N];
        array.copy_from_slice(chunk);
        array
    })
}

/// Bytes as integers.
pub(super) fn ints(dtype: ElementType, bytes: &[u8]) -> Option<Vec<i64>> {
    use ElementType::*;
    Some(match dtype {
        Bool | U8 => bytes.iter().map(|byte| i64::from(*byte)).collect(),
        I8 => bytes.iter().map(|byte| i64::from(*byte as i8)).collect(),
        U16 => chunks(bytes).map(|chunk| u16::from_le_bytes(chunk).into()).collect(),
        I16 => chunks(bytes).map(|chunk| i16::from_le_bytes(chunk).into()).collect(),
        U32 => chunks(bytes).map(|chunk| u32::from_le_bytes(chunk).into()).collect(),
        I32 => chunks(bytes).map(|chunk| i32::from_le_bytes(chunk).into()).collect(),
        I64 => chunks(bytes).map(i64::from_le_bytes).collect(),
        U64 => chunks(bytes).map(|chunk| i64::try_from(u64::from_le_bytes(chunk)).ok()).collect::<Option<_>>()?,
        _ => return None,
    })
}

/// Bytes as floats.
pub(super) fn floats(dtype: ElementType, bytes: &[u8]) -> Option<Vec<f64>> {
    use ElementType::*;
    Some(match dtype {
        F64 => chunks(bytes).map(f64::from_le_bytes).collect(),
        F32 => chunks(bytes).map(|chunk| f32::from_le_bytes(chunk).into()).collect(),
        F16 => chunks(bytes).map(|chunk| half::f16::from_le_bytes(chunk).to_f64()).collect(),
        BF16 => chunks(bytes).map(|chunk| half::bf16::from_le_bytes(chunk).to_f64()).collect(),
        _ => return None,
    })
}

/// Integers as bytes; `None` where one does not fit.
pub(super) fn int_bytes(dtype: ElementType, values: &[i64]) -> Option<Vec<u8>> {
    use ElementType::*;
    let mut bytes = Vec::with_capacity(values.len() * dtype.bytes());
    for &value in values {
        match dtype {
            Bool => bytes.push(u8::from(value != 0)),
            U8 => bytes.push(value.try_into().ok()?),
            I8 => bytes.extend(i8::try_from(value).ok()?.to_le_bytes()),
            U16 => bytes.extend(u16::try_from(value).ok()?.to_le_bytes()),
            I16 => bytes.extend(i16::try_from(value).ok()?.to_le_bytes()),
            U32 => bytes.extend(u32::try_from(value).ok()?.to_le_bytes()),
            I32 => bytes.extend(i32::try_from(value).ok()?.to_le_bytes()),
            U64 => bytes.extend(u64::try_from(value).ok()?.to_le_bytes()),
            I64 => bytes.extend(value.to_le_bytes()),
            _ => return None,
        }
    }
    Some(bytes)
}

/// Numbers as bytes of a type; `None` for complex types, and where one does not fit.
pub(super) fn number_bytes(dtype: ElementType, values: &[f64]) -> Option<Vec<u8>> {
    use ElementType::*;
    Some(match dtype {
        F64 => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        F32 => values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect(),
        F16 => values.iter().flat_map(|value| half::f16::from_f64(*value).to_le_bytes()).collect(),
        BF16 => values.iter().flat_map(|value| half::bf16::from_f64(*value).to_le_bytes()).collect(),
        dtype => int_bytes(dtype, &values.iter().map(|value| *value as i64).collect::<Vec<_>>())?,
    })
}

/// The elements in the fields for numbers of one type: halves, bool and short integers lie in that of `int32`.
fn typed(tensor: &proto::Tensor, dtype: ElementType, count: usize) -> Result<Vec<u8>, String> {
    use ElementType::*;
    let outside = |value: i64| format!("{value} is no element of {dtype}");
    Ok(match dtype {
        F32 | C64 => tensor.float_data.iter().flat_map(|value| value.to_le_bytes()).collect(),
        F64 | C128 => tensor.double_data.iter().flat_map(|value| value.to_le_bytes()).collect(),
        I64 => tensor.int64_data.iter().flat_map(|value| value.to_le_bytes()).collect(),
        U64 => tensor.uint64_data.iter().flat_map(|value| value.to_le_bytes()).collect(),
        U32 => {
            let values: Result<Vec<u32>, _> = tensor.uint64_data.iter().map(|value| u32::try_from(*value)).collect();
            values.map_err(|_| format!("an element is none of {dtype}"))?.into_iter().flat_map(u32::to_le_bytes).collect()
        }
        F16 | BF16 => {
            let bits = |value: &i32| u16::try_from(*value).map_err(|_| outside((*value).into()));
            tensor.int32_data.iter().map(bits).collect::<Result<Vec<_>, _>>()?.into_iter().flat_map(u16::to_le_bytes).collect()
        }
        _ => {
            let values: Vec<i64> = tensor.int32_data.iter().map(|value| i64::from(*value)).collect();
            int_bytes(dtype, &values).ok_or_else(|| format!("one of its {count} elements is none of {dtype}"))?
        }
    })
}

/// The elements in another file, which lies beside the model or below its folder.
fn external(file: &File, entries: &[proto::Entry], size: usize) -> Result<Place, String> {
    let entry = |key: &str| entries.iter().find(|entry| entry.key == key).map(|entry| entry.value.as_str());
    let location = entry("location").ok_or("its data are in another file, and which one is not said")?;
    let number = |key: &str| {
        entry(key).map(|text| text.parse::<usize>().map_err(|_| format!("the {key} {text:?} of its data is no number"))).transpose()
    };
    let (offset, length) = (number("offset")?.unwrap_or(0), number("length")?.unwrap_or(size));
    let relative = Path::new(location);
    let below = !location.is_empty() && relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !below {
        return Err(format!("its data are in {location:?}, and files are read from the model's own folder only"));
    }
    if length != size {
        return Err(format!("its elements are {size} bytes, and {length} are in {location:?}"));
    }
    file.external(relative, offset, size)
}

impl Data {
    /// The tensor as the evaluator of operators takes it.
    pub fn constant(&self) -> Constant {
        Constant { dtype: self.dtype, shape: self.shape.clone(), bytes: self.bytes().to_vec() }
    }

    /// Where its elements lie.
    pub fn stored(&self) -> Stored {
        let (source, offset) = match &self.place {
            Place::File { path, offset, .. } => (Source::File(Arc::clone(path)), *offset),
            Place::Inline(bytes) => (Source::Inline(Arc::clone(bytes)), 0),
        };
        Stored { source, sizes: self.shape.iter().map(|size| *size as usize).collect(), strides: Vec::new(), offset }
    }
}

/// A path below a folder.
pub(super) fn beside(model: &Path, relative: &Path) -> PathBuf {
    model.parent().unwrap_or(Path::new("")).join(relative)
}
