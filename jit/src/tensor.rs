//! Tensors: values outside of a traced closure, names of values inside.

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Weak};

use strata_runtime::{self as runtime, DType};

use crate::argument::Size;
use crate::graph::{Trace, Traced};
use crate::host_scalar::HostScalar;
use crate::{Error, segments};

/// A tensor: a value, or inside of a traced closure the name of a value. It is never changed, and its clones share its memory.
///
/// An operator that cannot take its arguments gives a tensor that stands for the error, which whoever wants its value gets:
/// the call of the traced closure, or [`Tensor::to_vec`].
#[derive(Clone)]
pub struct Tensor(pub(crate) Inner);

#[derive(Clone)]
pub(crate) enum Inner {
    Value(Arc<runtime::Tensor>),
    Traced(Traced),
    /// In the remembered result of a closure: which output stands here.
    Output(usize),
    Failed(Arc<Failure>),
}

/// What an operator failed with.
#[derive(Debug)]
pub struct Failure {
    pub place: &'static Location<'static>,
    pub why: String,
    /// The record of the closure that it happened in.
    pub trace: Weak<Trace>,
}

impl Failure {
    pub fn error(&self) -> Error {
        Error::Trace { place: self.place, why: self.why.clone() }
    }
}

/// A Rust type whose values are elements of a tensor.
pub trait Element: bytemuck::NoUninit + bytemuck::AnyBitPattern {
    /// The element type.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($ty:ty = $dtype:ident;)*) => { $(impl Element for $ty { const DTYPE: DType = DType::$dtype; })* };
}

elements! { f64 = F64; f32 = F32; i64 = I64; i32 = I32; i16 = I16; i8 = I8; u8 = U8; }

impl Tensor {
    /// A tensor of values in row-major order.
    ///
    /// # Errors
    /// Sizes whose product is not the number of values.
    pub fn new<T: Element>(values: &[T], sizes: &[i64]) -> Result<Tensor, Error> {
        Ok(runtime::Tensor::from_slice(T::DTYPE, sizes, values)?.into())
    }

    /// The values in row-major order.
    ///
    /// # Errors
    /// A tensor of another element type; one inside of a traced closure, which has no value yet.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, Error> {
        let value = self.value()?;
        let tensor = value.row_major()?;
        let values = if tensor.dtype() == T::DTYPE { tensor.values::<T>() } else { None };
        values.map(<[T]>::to_vec).ok_or_else(|| Error::Value(format!("the tensor has elements of {}, not {}", tensor.dtype(), T::DTYPE)))
    }

    /// The tensor as the runtime has it.
    ///
    /// # Errors
    /// A tensor inside of a traced closure, which has no value yet.
    pub fn value(&self) -> Result<&Arc<runtime::Tensor>, Error> {
        match &self.0 {
            Inner::Value(value) => Ok(value),
            Inner::Failed(failure) => Err(failure.error()),
            Inner::Traced(_) | Inner::Output(_) => Err(Error::Value(
                "a tensor of a traced closure has no value while it is traced; return it, and read what the call gives".into(),
            )),
        }
    }

    /// The number of a tensor of one element. Inside of a traced closure this is a break: what was recorded so far is compiled and run,
    /// and what the closure asks of the number decides what it records next. The call returns the error of a tensor of several elements.
    ///
    /// ```
    /// use strata::{Tensor, jit};
    ///
    /// let f = jit(|x: &Tensor| if x.sum().item() > 1.0 { x.neg() } else { x.exp() });
    /// assert_eq!(f.call(&Tensor::new(&[1.0f32, 2.0], &[2])?)?.to_vec::<f32>()?, [-1.0, -2.0]);
    /// assert_eq!(f.call(&Tensor::new(&[0.0f32, 0.0], &[2])?)?.to_vec::<f32>()?, [1.0, 1.0]);
    /// # Ok::<(), strata::Error>(())
    /// ```
    #[track_caller]
    pub fn item(&self) -> HostScalar {
        let place = Location::caller();
        match &self.0 {
            Inner::Traced(traced) => segments::item(self, traced, place),
            Inner::Value(value) => HostScalar::of(segments::number(value)),
            Inner::Failed(failure) => {
                if let Some(trace) = failure.trace.upgrade() {
                    trace.fail(failure.clone());
                }
                HostScalar::of(None)
            }
            Inner::Output(_) => HostScalar::of(None),
        }
    }

    /// The element type; nothing of a tensor that stands for an error.
    pub fn dtype(&self) -> Option<DType> {
        match &self.0 {
            Inner::Value(value) => Some(value.dtype()),
            Inner::Traced(traced) => traced.tensor().map(|(dtype, _)| dtype),
            Inner::Output(_) | Inner::Failed(_) => None,
        }
    }

    /// The sizes. Inside of a traced closure a size that differed between calls is symbolic. A tensor that stands for an error has none.
    #[track_caller]
    pub fn sizes(&self) -> Vec<Size> {
        match &self.0 {
            Inner::Value(value) => value.shape().iter().copied().map(Size::Known).collect(),
            Inner::Traced(traced) => traced.sizes(Location::caller()),
            Inner::Output(_) | Inner::Failed(_) => Vec::new(),
        }
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        match &self.0 {
            Inner::Value(value) => value.shape().len(),
            Inner::Traced(traced) => traced.tensor().map_or(0, |(_, sizes)| sizes.len()),
            Inner::Output(_) | Inner::Failed(_) => 0,
        }
    }

    /// One size; negative dims count from the last one. A dim that is not there gives an error to whoever uses the size.
    #[track_caller]
    pub fn size(&self, dim: i64) -> Size {
        let sizes = self.sizes();
        let place = if dim < 0 { dim + sizes.len() as i64 } else { dim };
        let size = usize::try_from(place).ok().and_then(|place| sizes.get(place).cloned());
        size.unwrap_or_else(|| match &self.0 {
            Inner::Failed(failure) => Size::Failed(failure.clone()),
            _ => Size::failed(Location::caller(), format!("dim {dim} is not one of the tensor's {} dimensions", sizes.len())),
        })
    }

    pub(crate) fn record(&self) -> Option<&Arc<Trace>> {
        if let Inner::Traced(traced) = &self.0 { Some(&traced.trace) } else { None }
    }

    pub(crate) fn failed(place: &'static Location<'static>, why: impl Into<String>) -> Tensor {
        Tensor(Inner::Failed(Arc::new(Failure { place, why: why.into(), trace: Weak::new() })))
    }
}

impl From<runtime::Tensor> for Tensor {
    fn from(tensor: runtime::Tensor) -> Tensor {
        Tensor(Inner::Value(Arc::new(tensor)))
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Value(value) => write!(f, "Tensor({}{:?})", value.dtype(), value.shape()),
            Inner::Traced(traced) => write!(f, "Tensor(traced: {:?})", traced.tensor()),
            Inner::Output(place) => write!(f, "Tensor(output {place})"),
            Inner::Failed(failure) => write!(f, "Tensor({})", failure.error()),
        }
    }
}
