//! Dense tensors of the interpreter: row-major values, views are copies.
//!
//! Elements are kept in the widest representation of their category and are always values of the
//! tensor's element type: whatever is stored is cast first.

use std::sync::Arc;

use half::{bf16, f16};
use num_complex::Complex64;

use super::budget;
use super::dtype::{Category, DType, Scalar};
use super::float8;
use super::held::{Data, Held, living};
use super::value::{InterpError, fail};

/// Tensors with more elements than this are refused.
const MAX_ELEMENTS: usize = 1 << 28;

/// And such with which those of a run would have more than this together, of 8 or 16 bytes each.
const MAX_TOGETHER: usize = 1 << 29;

/// Points between two looks at the time.
const LOOK: u64 = 1 << 10;

/// A dense row-major tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    dtype: DType,
    shape: Vec<usize>,
    data: Arc<Held>,
}

/// The number of elements of a shape, or an error when it is too large to hold.
pub fn numel(shape: &[usize]) -> Result<usize, InterpError> {
    if shape.contains(&0) {
        return Ok(0);
    }
    let mut n: usize = 1;
    for &d in shape {
        n = n.checked_mul(d).filter(|&n| n <= MAX_ELEMENTS).ok_or_else(|| fail(format!("a tensor of shape {shape:?} is too large")))?;
    }
    let living = living();
    if living.saturating_add(n) > MAX_TOGETHER {
        return Err(fail(format!("a tensor of shape {shape:?} is too much beside the others, which have {living} elements")));
    }
    budget::tensor(shape, n)?;
    Ok(n)
}

/// An empty list with room for so many values, or an error where there is no memory for them.
pub(super) fn room<T>(n: usize) -> Result<Vec<T>, InterpError> {
    let mut values = Vec::new();
    let done = values.try_reserve_exact(n);
    done.map_err(|_| fail(format!("out of memory: {} bytes are asked for, which the system refuses", n.saturating_mul(size_of::<T>()))))?;
    Ok(values)
}

/// So many times the value.
pub(super) fn filled<T: Clone>(value: T, n: usize) -> Result<Vec<T>, InterpError> {
    let mut values = room(n)?;
    values.resize(n, value);
    Ok(values)
}

fn collected<T>(n: usize, from: impl Iterator<Item = T>) -> Result<Vec<T>, InterpError> {
    let mut values = room(n)?;
    values.extend(from);
    Ok(values)
}

/// Row-major strides of a shape, in elements.
pub fn strides(shape: &[usize]) -> Vec<usize> {
    let mut out = vec![1usize; shape.len()];
    for d in (1..shape.len()).rev() {
        // (Of a tensor without elements they may wrap.)
        out[d - 1] = out[d].wrapping_mul(shape[d].max(1));
    }
    out
}

/// Moves an index to the next point in row-major order; false after the last one.
pub fn advance(index: &mut [usize], shape: &[usize]) -> bool {
    for d in (0..shape.len()).rev() {
        index[d] += 1;
        if index[d] < shape[d] {
            return true;
        }
        index[d] = 0;
    }
    false
}

/// Calls `f` for every point of a shape in row-major order.
pub fn try_each(shape: &[usize], mut f: impl FnMut(&[usize]) -> Result<(), InterpError>) -> Result<(), InterpError> {
    if shape.contains(&0) {
        return Ok(());
    }
    let mut index = vec![0; shape.len()];
    for count in 1u64.. {
        f(&index)?;
        if count.is_multiple_of(LOOK) {
            budget::time()?;
        }
        if !advance(&mut index, shape) {
            break;
        }
    }
    Ok(())
}

/// Calls `f` for every point of a shape in row-major order.
pub fn each(shape: &[usize], mut f: impl FnMut(&[usize])) {
    // What follows it looks at the time too.
    let _ = try_each(shape, |i| {
        f(i);
        Ok(())
    });
}

impl Tensor {
    /// A tensor whose elements are all `value`.
    pub fn full(dtype: DType, shape: &[usize], value: Scalar) -> Result<Tensor, InterpError> {
        let n = numel(shape)?;
        let data = match (dtype.category(), dtype.cast(value)) {
            (Category::Float, v) => Data::Float(filled(v.float(), n)?),
            (Category::Complex, v) => Data::Complex(filled(v.complex(), n)?),
            (_, v) => Data::Int(filled(v.int(), n)?),
        };
        Ok(Tensor { dtype, shape: shape.to_vec(), data: Held::new(data) })
    }

    /// A tensor of zeros.
    pub fn zeros(dtype: DType, shape: &[usize]) -> Result<Tensor, InterpError> {
        Tensor::full(dtype, shape, Scalar::Int(0))
    }

    /// A tensor of rank zero.
    pub fn scalar(dtype: DType, value: Scalar) -> Tensor {
        let data = match (dtype.category(), dtype.cast(value)) {
            (Category::Float, v) => Data::Float(vec![v.float()]),
            (Category::Complex, v) => Data::Complex(vec![v.complex()]),
            (_, v) => Data::Int(vec![v.int()]),
        };
        Tensor { dtype, shape: Vec::new(), data: Held::new(data) }
    }

    /// A tensor from its elements in row-major order, each cast to `dtype`.
    pub fn from_scalars(dtype: DType, shape: &[usize], values: impl IntoIterator<Item = Scalar>) -> Result<Tensor, InterpError> {
        let n = numel(shape)?;
        let cast = values.into_iter().map(|v| dtype.cast(v));
        let (data, len) = match dtype.category() {
            Category::Float => {
                let v = collected(n, cast.map(Scalar::float))?;
                let n = v.len();
                (Data::Float(v), n)
            }
            Category::Complex => {
                let v = collected(n, cast.map(Scalar::complex))?;
                let n = v.len();
                (Data::Complex(v), n)
            }
            _ => {
                let v = collected(n, cast.map(Scalar::int))?;
                let n = v.len();
                (Data::Int(v), n)
            }
        };
        if len != n {
            return Err(fail(format!("{len} elements do not fill the shape {shape:?}")));
        }
        Ok(Tensor { dtype, shape: shape.to_vec(), data: Held::new(data) })
    }

    /// A float tensor from numbers, each rounded to `dtype`.
    pub fn from_floats(dtype: DType, shape: &[usize], values: &[f64]) -> Result<Tensor, InterpError> {
        Tensor::from_scalars(dtype, shape, values.iter().map(|&v| Scalar::Float(v)))
    }

    /// An i64 tensor.
    pub fn from_ints(shape: &[usize], values: &[i64]) -> Result<Tensor, InterpError> {
        Tensor::from_scalars(DType::I64, shape, values.iter().map(|&v| Scalar::Int(v as i128)))
    }

    /// A tensor whose element at each index is `f(index)`.
    pub fn build(dtype: DType, shape: &[usize], mut f: impl FnMut(&[usize]) -> Scalar) -> Result<Tensor, InterpError> {
        Tensor::try_build(dtype, shape, |i| Ok(f(i)))
    }

    /// As [`Tensor::build`] with a function that may fail.
    pub fn try_build(
        dtype: DType,
        shape: &[usize],
        mut f: impl FnMut(&[usize]) -> Result<Scalar, InterpError>,
    ) -> Result<Tensor, InterpError> {
        let mut values = room(numel(shape)?)?;
        try_each(shape, |i| {
            values.push(f(i)?);
            Ok(())
        })?;
        Tensor::from_scalars(dtype, shape, values)
    }

    /// A tensor from its little-endian bytes.
    pub fn from_bytes(dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<Tensor, InterpError> {
        if bytes.len() != numel(shape)? * dtype.size() {
            return Err(fail(format!("{} bytes do not fill {dtype:?} {shape:?}", bytes.len())));
        }
        Tensor::from_scalars(dtype, shape, bytes.chunks_exact(dtype.size()).map(|b| decode(dtype, b)))
    }

    /// The little-endian bytes of the elements; bool is one byte.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.len() * self.dtype.size());
        for k in 0..self.len() {
            encode(self.dtype, self.at(k), &mut out);
        }
        out
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The shape.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// True without elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element at a row-major position.
    pub fn at(&self, k: usize) -> Scalar {
        match &**self.data {
            Data::Int(v) if self.dtype == DType::Bool => Scalar::Bool(v[k] != 0),
            Data::Int(v) => Scalar::Int(v[k]),
            Data::Float(v) => Scalar::Float(v[k]),
            Data::Complex(v) => Scalar::Complex(v[k]),
        }
    }

    /// The row-major position of an index.
    pub fn position(&self, index: &[usize]) -> usize {
        let mut k = 0;
        for (&i, &d) in index.iter().zip(&self.shape) {
            k = k * d + i;
        }
        k
    }

    /// The element at an index.
    pub fn get(&self, index: &[usize]) -> Scalar {
        self.at(self.position(index))
    }

    /// The element at an index as f64.
    pub fn f(&self, index: &[usize]) -> f64 {
        self.get(index).float()
    }

    /// Stores an element, cast to the tensor's type.
    pub fn put(&mut self, k: usize, value: Scalar) {
        let value = self.dtype.cast(value);
        match &mut **Arc::make_mut(&mut self.data) {
            Data::Int(v) => v[k] = value.int(),
            Data::Float(v) => v[k] = value.float(),
            Data::Complex(v) => v[k] = value.complex(),
        }
    }

    /// Stores an element at an index.
    pub fn set(&mut self, index: &[usize], value: Scalar) {
        let k = self.position(index);
        self.put(k, value);
    }

    /// All elements in row-major order.
    pub fn scalars(&self) -> impl Iterator<Item = Scalar> + '_ {
        (0..self.len()).map(|k| self.at(k))
    }

    /// All elements as f64.
    pub fn floats(&self) -> Vec<f64> {
        match &**self.data {
            Data::Float(v) => v.clone(),
            _ => self.scalars().map(Scalar::float).collect(),
        }
    }

    /// All elements as complex numbers.
    pub fn complexes(&self) -> Vec<Complex64> {
        self.scalars().map(Scalar::complex).collect()
    }

    /// All elements as integers.
    pub fn ints(&self) -> Vec<i128> {
        match &**self.data {
            Data::Int(v) => v.clone(),
            _ => self.scalars().map(Scalar::int).collect(),
        }
    }

    /// The only element.
    pub fn item(&self) -> Result<Scalar, InterpError> {
        if self.len() == 1 { Ok(self.at(0)) } else { Err(fail(format!("a tensor of shape {:?} is not one element", self.shape))) }
    }

    /// The tensor in another element type.
    pub fn cast(&self, dtype: DType) -> Tensor {
        if dtype == self.dtype {
            return self.clone();
        }
        let data = match dtype.category() {
            Category::Float => Data::Float(self.scalars().map(|v| dtype.cast(v).float()).collect()),
            Category::Complex => Data::Complex(self.scalars().map(|v| dtype.cast(v).complex()).collect()),
            _ => Data::Int(self.scalars().map(|v| dtype.cast(v).int()).collect()),
        };
        Tensor { dtype, shape: self.shape.clone(), data: Held::new(data) }
    }

    /// The same elements in another shape.
    pub fn reshape(&self, shape: &[usize]) -> Result<Tensor, InterpError> {
        if numel(shape)? != self.len() {
            return Err(fail(format!("shape {:?} cannot be read as {shape:?}", self.shape)));
        }
        Ok(Tensor { dtype: self.dtype, shape: shape.to_vec(), data: self.data.clone() })
    }

    /// A tensor of elements of this one: `f` writes the source index of each result index.
    pub fn view(&self, shape: &[usize], mut f: impl FnMut(&[usize], &mut [usize])) -> Result<Tensor, InterpError> {
        let mut positions = Vec::with_capacity(numel(shape)?);
        let mut source = vec![0; self.rank()];
        try_each(shape, |i| {
            f(i, &mut source);
            if source.iter().zip(&self.shape).any(|(&i, &d)| i >= d) {
                return Err(fail(format!("index {source:?} is outside of shape {:?}", self.shape)));
            }
            positions.push(self.position(&source));
            Ok(())
        })?;
        Ok(self.pick(shape, &positions))
    }

    /// A tensor of the elements at row-major positions, which must be in bounds.
    pub fn pick(&self, shape: &[usize], positions: &[usize]) -> Tensor {
        let data = match &**self.data {
            Data::Int(v) => Data::Int(positions.iter().map(|&k| v[k]).collect()),
            Data::Float(v) => Data::Float(positions.iter().map(|&k| v[k]).collect()),
            Data::Complex(v) => Data::Complex(positions.iter().map(|&k| v[k]).collect()),
        };
        Tensor { dtype: self.dtype, shape: shape.to_vec(), data: Held::new(data) }
    }

    /// The tensor repeated along dimensions of size one and new leading ones.
    pub fn expand(&self, shape: &[usize]) -> Result<Tensor, InterpError> {
        if shape == self.shape {
            return Ok(self.clone());
        }
        let lead =
            shape.len().checked_sub(self.rank()).ok_or_else(|| fail(format!("shape {:?} does not expand to {shape:?}", self.shape)))?;
        if self.shape.iter().zip(&shape[lead..]).any(|(&from, &to)| from != to && from != 1) {
            return Err(fail(format!("shape {:?} does not expand to {shape:?}", self.shape)));
        }
        let from = self.shape.clone();
        self.view(shape, |i, s| {
            for (d, &size) in from.iter().enumerate() {
                s[d] = if size == 1 { 0 } else { i[lead + d] };
            }
        })
    }

    /// Dimensions reordered: result dimension `d` is dimension `perm[d]` of this tensor.
    pub fn permute(&self, perm: &[usize]) -> Result<Tensor, InterpError> {
        let shape: Vec<usize> = perm.iter().map(|&p| self.shape[p]).collect();
        self.view(&shape, |i, s| {
            for (d, &p) in perm.iter().enumerate() {
                s[p] = i[d];
            }
        })
    }

    /// Two dimensions exchanged.
    pub fn transpose(&self, a: usize, b: usize) -> Result<Tensor, InterpError> {
        let mut perm: Vec<usize> = (0..self.rank()).collect();
        perm.swap(a, b);
        self.permute(&perm)
    }

    /// Elements `start, start + step, ..` (`count` of them) of one dimension.
    pub fn slice(&self, dim: usize, start: usize, count: usize, step: usize) -> Result<Tensor, InterpError> {
        let mut shape = self.shape.clone();
        shape[dim] = count;
        self.view(&shape, |i, s| {
            s.copy_from_slice(i);
            s[dim] = start + i[dim] * step;
        })
    }

    /// One position of a dimension, which disappears.
    pub fn select(&self, dim: usize, at: usize) -> Result<Tensor, InterpError> {
        let mut shape = self.shape.clone();
        shape.remove(dim);
        self.slice(dim, at, 1, 1)?.reshape(&shape)
    }

    /// A dimension of size one inserted.
    pub fn unsqueeze(&self, dim: usize) -> Tensor {
        let mut shape = self.shape.clone();
        shape.insert(dim, 1);
        Tensor { dtype: self.dtype, shape, data: self.data.clone() }
    }

    /// Every element mapped, with a new element type.
    pub fn map(&self, dtype: DType, f: impl Fn(Scalar) -> Scalar) -> Tensor {
        let values = self.scalars().map(|v| dtype.cast(f(v)));
        let data = match dtype.category() {
            Category::Float => Data::Float(values.map(Scalar::float).collect()),
            Category::Complex => Data::Complex(values.map(Scalar::complex).collect()),
            _ => Data::Int(values.map(Scalar::int).collect()),
        };
        Tensor { dtype, shape: self.shape.clone(), data: Held::new(data) }
    }
}

/// The shape that all operands broadcast to.
pub fn broadcast_shape(shapes: &[&[usize]]) -> Result<Vec<usize>, InterpError> {
    let rank = shapes.iter().map(|s| s.len()).max().unwrap_or(0);
    let mut out = vec![1; rank];
    for shape in shapes {
        let lead = rank - shape.len();
        for (d, &size) in shape.iter().enumerate() {
            let known = &mut out[lead + d];
            if *known == 1 {
                *known = size;
            } else if size != 1 && size != *known {
                return Err(fail(format!("shapes {shapes:?} do not broadcast")));
            }
        }
    }
    Ok(out)
}

fn decode(dtype: DType, b: &[u8]) -> Scalar {
    let word = |n: usize| {
        let mut bytes = [0u8; 8];
        bytes[..n].copy_from_slice(&b[..n]);
        u64::from_le_bytes(bytes)
    };
    match dtype {
        DType::F16 => Scalar::Float(f16::from_bits(word(2) as u16).to_f64()),
        DType::Bf16 => Scalar::Float(bf16::from_bits(word(2) as u16).to_f64()),
        DType::F8E4M3FN | DType::F8E5M2 => Scalar::Float(float8::decode(dtype, b[0])),
        DType::F32 => Scalar::Float(f32::from_bits(word(4) as u32) as f64),
        DType::F64 => Scalar::Float(f64::from_bits(word(8))),
        DType::C64 => Scalar::Complex(Complex64::new(decode(DType::F32, &b[..4]).float(), decode(DType::F32, &b[4..]).float())),
        DType::C128 => Scalar::Complex(Complex64::new(decode(DType::F64, &b[..8]).float(), decode(DType::F64, &b[8..]).float())),
        _ => Scalar::Int(dtype.wrap(word(dtype.size()) as i128)),
    }
}

fn encode(dtype: DType, value: Scalar, out: &mut Vec<u8>) {
    match dtype {
        DType::F16 => out.extend(f16::from_f64(value.float()).to_le_bytes()),
        DType::Bf16 => out.extend(bf16::from_f64(value.float()).to_le_bytes()),
        DType::F8E4M3FN | DType::F8E5M2 => out.push(float8::encode(dtype, value.float())),
        DType::F32 => out.extend((value.float() as f32).to_le_bytes()),
        DType::F64 => out.extend(value.float().to_le_bytes()),
        DType::C64 | DType::C128 => {
            let v = value.complex();
            encode(dtype.real(), Scalar::Float(v.re), out);
            encode(dtype.real(), Scalar::Float(v.im), out);
        }
        _ => out.extend(&value.int().to_le_bytes()[..dtype.size()]),
    }
}
