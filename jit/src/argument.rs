//! Arguments of operators: tensors, sizes, numbers, lists of them.

use std::ops;
use std::panic::Location;
use std::sync::Arc;

use strata_runtime::DType;

use crate::graph::{self, Arithmetic, Traced};
use crate::host_scalar::{HostScalar, Origin};
use crate::tensor::{Failure, Tensor};

/// A size, or another integer: a number, or inside of a traced closure one that only a call knows.
///
/// Sizes are added, subtracted, multiplied and divided (rounding down). They are not compared: a symbolic one has no value yet.
#[derive(Debug, Clone)]
pub enum Size {
    /// A number.
    Known(i64),
    /// A number of the call.
    #[doc(hidden)]
    Traced(Traced),
    /// The error of whoever uses it.
    #[doc(hidden)]
    Failed(Arc<Failure>),
}

impl Size {
    /// The number, of a size that is known while the closure is traced.
    pub fn known(&self) -> Option<i64> {
        if let Size::Known(size) = self { Some(*size) } else { None }
    }

    pub(crate) fn failed(place: &'static Location<'static>, why: impl Into<String>) -> Size {
        Size::Failed(Arc::new(Failure { place, why: why.into(), trace: std::sync::Weak::new() }))
    }
}

impl From<i64> for Size {
    fn from(size: i64) -> Size {
        Size::Known(size)
    }
}

impl From<&Size> for Size {
    fn from(size: &Size) -> Size {
        size.clone()
    }
}

impl From<&HostScalar> for Size {
    #[track_caller]
    fn from(number: &HostScalar) -> Size {
        match (&number.origin, number.value) {
            (Origin::Known, Scalar::Int(size)) => Size::Known(size),
            (Origin::Input(traced), Scalar::Int(_)) => Size::Traced(traced.clone()),
            (Origin::Item(..), _) => Size::failed(Location::caller(), "a number of a tensor is no size; take its `value`"),
            (_, other) => Size::failed(Location::caller(), format!("{other:?} is no size")),
        }
    }
}

macro_rules! arithmetic {
    ($($trait:ident $method:ident $on:expr;)*) => { $(
        impl<S: Into<Size>> ops::$trait<S> for Size {
            type Output = Size;

            #[track_caller]
            fn $method(self, other: S) -> Size {
                graph::arithmetic($on, self, other.into(), Location::caller())
            }
        }
    )* };
}

arithmetic! {
    Add add Arithmetic::Add;
    Sub sub Arithmetic::Sub;
    Mul mul Arithmetic::Mul;
    Div div Arithmetic::FloorDiv;
}

/// A list of sizes.
#[derive(Debug, Clone)]
pub struct Sizes(pub(crate) Vec<Size>);

impl<S: Into<Size>, const N: usize> From<[S; N]> for Sizes {
    fn from(sizes: [S; N]) -> Sizes {
        Sizes(sizes.into_iter().map(Into::into).collect())
    }
}

impl<S: Clone + Into<Size>> From<&[S]> for Sizes {
    fn from(sizes: &[S]) -> Sizes {
        Sizes(sizes.iter().cloned().map(Into::into).collect())
    }
}

impl<S: Into<Size>> From<Vec<S>> for Sizes {
    fn from(sizes: Vec<S>) -> Sizes {
        Sizes(sizes.into_iter().map(Into::into).collect())
    }
}

/// A number: an operator on it gives the type that PyTorch's would.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Scalar {
    Int(i64),
    Float(f64),
    Bool(bool),
}

impl From<i64> for Scalar {
    fn from(value: i64) -> Scalar {
        Scalar::Int(value)
    }
}

impl From<f64> for Scalar {
    fn from(value: f64) -> Scalar {
        Scalar::Float(value)
    }
}

impl From<bool> for Scalar {
    fn from(value: bool) -> Scalar {
        Scalar::Bool(value)
    }
}

/// An argument of an operator.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names are the schema's types")]
pub enum Argument {
    /// The schema's default.
    Default,
    None,
    Tensor(Tensor),
    Tensors(Vec<Tensor>),
    OptionalTensors(Vec<Option<Tensor>>),
    Size(Size),
    Sizes(Sizes),
    Scalar(HostScalar),
    Floats(Vec<f64>),
    Text(String),
    DType(DType),
}

macro_rules! arguments {
    ($($ty:ty: $value:ident => $argument:expr;)*) => { $(
        impl From<$ty> for Argument {
            fn from($value: $ty) -> Argument {
                $argument
            }
        }
    )* };
}

arguments! {
    &Tensor: value => Argument::Tensor(value.clone());
    Tensor: value => Argument::Tensor(value);
    Option<&Tensor>: value => value.map_or(Argument::None, |value| Argument::Tensor(value.clone()));
    &[Tensor]: value => Argument::Tensors(value.to_vec());
    &[Option<Tensor>]: value => Argument::OptionalTensors(value.to_vec());
    Size: value => Argument::Size(value);
    &Size: value => Argument::Size(value.clone());
    Sizes: value => Argument::Sizes(value);
    Scalar: value => Argument::Scalar(value.into());
    HostScalar: value => Argument::Scalar(value);
    &HostScalar: value => Argument::Scalar(value.clone());
    i64: value => Argument::Size(Size::Known(value));
    f64: value => Argument::Scalar(value.into());
    bool: value => Argument::Scalar(value.into());
    &[f64]: value => Argument::Floats(value.to_vec());
    &str: value => Argument::Text(value.to_owned());
    DType: value => Argument::DType(value);
}

impl<S: Into<Size>, const N: usize> From<[S; N]> for Argument {
    fn from(sizes: [S; N]) -> Argument {
        Argument::Sizes(sizes.into())
    }
}
