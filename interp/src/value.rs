//! What ops take and give, arguments by schema name, and the interpreter's errors.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::dtype::{DType, Scalar};
use super::tensor::{Tensor, numel};

/// Why a program could not be interpreted.
#[derive(Debug, Clone, thiserror::Error)]
pub enum InterpError {
    /// The interpreter has no arm for the op; the program is not checked.
    #[error("{location}: the interpreter has no arm for `{op}`; write one in interp/, or give the op the interface `Interpret`")]
    Unsupported {
        /// The op's full name.
        op: String,
        /// Where the op is.
        location: String,
    },
    /// The op's arguments do not fit its definition.
    #[error("{location}: `{op}` failed: {reason}")]
    Failed {
        /// The op's full name.
        op: String,
        /// Where the op is.
        location: String,
        /// What is wrong.
        reason: String,
    },
    /// The run passes a bound that was set for it; nothing is known of the program.
    #[error("{location}: `{op}`: {reason}, the bound of this run")]
    Budget {
        /// The op's full name.
        op: String,
        /// Where the op is.
        location: String,
        /// Which bound.
        reason: String,
    },
    /// The call breaks a guard of the program.
    #[error("{location}: the call violates a guard: {text}")]
    Guard {
        /// The guard as the program states it.
        text: String,
        /// Where the guard is.
        location: String,
    },
}

/// A failure whose op and location the walker fills in.
pub fn fail(reason: impl Into<String>) -> InterpError {
    InterpError::Failed { op: String::new(), location: String::new(), reason: reason.into() }
}

impl InterpError {
    /// Names the op and its place where they are still unknown.
    pub fn at(self, name: &str, place: &str) -> InterpError {
        let fill = |known: String, new: &str| if known.is_empty() { new.to_string() } else { known };
        match self {
            InterpError::Unsupported { op, location } => InterpError::Unsupported { op: fill(op, name), location: fill(location, place) },
            InterpError::Failed { op, location, reason } => {
                InterpError::Failed { op: fill(op, name), location: fill(location, place), reason }
            }
            InterpError::Budget { op, location, reason } => {
                InterpError::Budget { op: fill(op, name), location: fill(location, place), reason }
            }
            InterpError::Guard { text, location } => InterpError::Guard { text, location: fill(location, place) },
        }
    }
}

/// A value of a program or an argument of an op.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An absent optional argument.
    None,
    /// A tensor.
    Tensor(Tensor),
    /// A list of tensors, some of which may be absent.
    Tensors(Vec<Option<Tensor>>),
    /// A number or a size.
    Scalar(Scalar),
    /// A list of numbers.
    Scalars(Vec<Scalar>),
    /// A string, a device, a layout.
    Str(String),
    /// An element type.
    DType(DType),
}

impl From<Tensor> for Value {
    fn from(t: Tensor) -> Value {
        Value::Tensor(t)
    }
}

impl Value {
    /// An integer.
    pub fn int(v: i64) -> Value {
        Value::Scalar(Scalar::Int(v as i128))
    }

    /// A float.
    pub fn float(v: f64) -> Value {
        Value::Scalar(Scalar::Float(v))
    }

    /// A list of integers.
    pub fn ints(v: &[i64]) -> Value {
        Value::Scalars(v.iter().map(|&v| Scalar::Int(v as i128)).collect())
    }

    /// The tensor, or an error.
    pub fn tensor(&self) -> Result<&Tensor, InterpError> {
        match self {
            Value::Tensor(t) => Ok(t),
            other => Err(fail(format!("{} where a tensor was expected", other.kind()))),
        }
    }

    /// The kind of value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Value::None => "nothing",
            Value::Tensor(_) => "a tensor",
            Value::Tensors(_) => "a list of tensors",
            Value::Scalar(_) => "a number",
            Value::Scalars(_) => "a list of numbers",
            Value::Str(_) => "a string",
            Value::DType(_) => "an element type",
        }
    }
}

/// The results of an op.
pub type Results = Result<Vec<Value>, InterpError>;

/// The results of an op with one tensor result.
pub fn one(t: Tensor) -> Results {
    Ok(vec![Value::Tensor(t)])
}

/// The results of an op with several tensor results.
pub fn many(ts: impl IntoIterator<Item = Tensor>) -> Results {
    Ok(ts.into_iter().map(Value::Tensor).collect())
}

/// The results of an op that gives one list of tensors.
pub fn list(ts: impl IntoIterator<Item = Tensor>) -> Results {
    Ok(vec![Value::Tensors(ts.into_iter().map(Some).collect())])
}

/// An op's arguments by the names of PyTorch's schema, defaults filled in.
#[derive(Clone, Debug, Default)]
pub struct Args {
    values: BTreeMap<String, Value>,
    seeds: Seeds,
}

/// How many seeds of random numbers a run has drawn.
#[derive(Clone, Debug, Default)]
pub struct Seeds(Rc<Cell<u64>>);

impl Seeds {
    /// Another seed at each call.
    pub fn fresh(&self) -> u64 {
        self.0.set(self.0.get() + 1);
        self.0.get()
    }
}

impl Args {
    /// No arguments.
    pub fn new() -> Args {
        Args::default()
    }

    /// No arguments of an op in a run that draws these seeds.
    pub fn of_run(seeds: &Seeds) -> Args {
        Args { values: BTreeMap::new(), seeds: seeds.clone() }
    }

    /// A fresh seed of the run.
    pub fn seed(&self) -> u64 {
        self.seeds.fresh()
    }

    /// Adds or replaces an argument.
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Args {
        self.set(name, value.into());
        self
    }

    /// Adds or replaces an argument.
    pub fn set(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_string(), value);
    }

    /// The argument, where it is given and not None.
    pub fn opt(&self, name: &str) -> Option<&Value> {
        self.values.get(name).filter(|v| **v != Value::None)
    }

    /// The argument.
    pub fn value(&self, name: &str) -> Result<&Value, InterpError> {
        self.opt(name).ok_or_else(|| fail(format!("argument `{name}` is missing")))
    }

    fn wrong<T>(&self, name: &str, value: &Value, want: &str) -> Result<T, InterpError> {
        Err(fail(format!("argument `{name}` is {} where {want} was expected", value.kind())))
    }

    /// A tensor.
    pub fn tensor(&self, name: &str) -> Result<&Tensor, InterpError> {
        match self.value(name)? {
            Value::Tensor(t) => Ok(t),
            other => self.wrong(name, other, "a tensor"),
        }
    }

    /// A tensor that may be absent.
    pub fn opt_tensor(&self, name: &str) -> Result<Option<&Tensor>, InterpError> {
        if self.opt(name).is_some() { self.tensor(name).map(Some) } else { Ok(None) }
    }

    /// A list of tensors.
    pub fn tensors(&self, name: &str) -> Result<Vec<&Tensor>, InterpError> {
        self.opt_tensors(name)?.into_iter().map(|t| t.ok_or_else(|| fail(format!("an entry of `{name}` is missing")))).collect()
    }

    /// A list of tensors some of which may be absent.
    pub fn opt_tensors(&self, name: &str) -> Result<Vec<Option<&Tensor>>, InterpError> {
        match self.value(name)? {
            Value::Tensors(ts) => Ok(ts.iter().map(Option::as_ref).collect()),
            Value::Tensor(t) => Ok(vec![Some(t)]),
            Value::Scalars(v) if v.is_empty() => Ok(Vec::new()),
            other => self.wrong(name, other, "a list of tensors"),
        }
    }

    /// A number; a tensor of one element counts as one.
    pub fn scalar(&self, name: &str) -> Result<Scalar, InterpError> {
        match self.value(name)? {
            Value::Scalar(v) => Ok(*v),
            Value::Tensor(t) => t.item(),
            Value::Scalars(v) if v.len() == 1 => Ok(v[0]),
            other => self.wrong(name, other, "a number"),
        }
    }

    /// A number that may be absent.
    pub fn opt_scalar(&self, name: &str) -> Result<Option<Scalar>, InterpError> {
        if self.opt(name).is_some() { self.scalar(name).map(Some) } else { Ok(None) }
    }

    /// An integer.
    pub fn int(&self, name: &str) -> Result<i64, InterpError> {
        i64::try_from(self.scalar(name)?.int()).map_err(|_| fail(format!("argument `{name}` is out of range")))
    }

    /// An integer that may be absent.
    pub fn opt_int(&self, name: &str) -> Result<Option<i64>, InterpError> {
        if self.opt(name).is_some() { self.int(name).map(Some) } else { Ok(None) }
    }

    /// A float.
    pub fn float(&self, name: &str) -> Result<f64, InterpError> {
        Ok(self.scalar(name)?.float())
    }

    /// A float that may be absent.
    pub fn opt_float(&self, name: &str) -> Result<Option<f64>, InterpError> {
        Ok(self.opt_scalar(name)?.map(Scalar::float))
    }

    /// A truth value; false when absent.
    pub fn flag(&self, name: &str) -> Result<bool, InterpError> {
        Ok(self.opt_scalar(name)?.is_some_and(Scalar::truthy))
    }

    /// A list of numbers.
    pub fn scalars(&self, name: &str) -> Result<Vec<Scalar>, InterpError> {
        match self.value(name)? {
            Value::Scalars(v) => Ok(v.clone()),
            Value::Scalar(v) => Ok(vec![*v]),
            Value::Tensors(v) if v.is_empty() => Ok(Vec::new()),
            other => self.wrong(name, other, "a list of numbers"),
        }
    }

    /// A list of integers.
    pub fn ints(&self, name: &str) -> Result<Vec<i64>, InterpError> {
        Ok(self.scalars(name)?.into_iter().map(|v| v.int() as i64).collect())
    }

    /// A list of integers that may be absent.
    pub fn opt_ints(&self, name: &str) -> Result<Option<Vec<i64>>, InterpError> {
        if self.opt(name).is_some() { self.ints(name).map(Some) } else { Ok(None) }
    }

    /// A list of floats that may be absent.
    pub fn opt_floats(&self, name: &str) -> Result<Option<Vec<f64>>, InterpError> {
        if self.opt(name).is_none() {
            return Ok(None);
        }
        Ok(Some(self.scalars(name)?.into_iter().map(Scalar::float).collect()))
    }

    /// A shape: no negative entry, not too large.
    pub fn shape(&self, name: &str) -> Result<Vec<usize>, InterpError> {
        let shape = self.sizes(name)?;
        numel(&shape)?;
        Ok(shape)
    }

    /// A list of non-negative integers.
    pub fn sizes(&self, name: &str) -> Result<Vec<usize>, InterpError> {
        self.ints(name)?
            .into_iter()
            .map(|v| usize::try_from(v).map_err(|_| fail(format!("argument `{name}` has the negative entry {v}"))))
            .collect()
    }

    /// A list of `n` non-negative integers; a single one stands for all.
    pub fn spread(&self, name: &str, n: usize) -> Result<Vec<usize>, InterpError> {
        let v = self.sizes(name)?;
        match v.len() {
            1 => Ok(vec![v[0]; n]),
            len if len == n => Ok(v),
            len => Err(fail(format!("argument `{name}` has {len} entries where {n} were expected"))),
        }
    }

    /// A string.
    pub fn str(&self, name: &str) -> Result<&str, InterpError> {
        match self.value(name)? {
            Value::Str(v) => Ok(v),
            other => self.wrong(name, other, "a string"),
        }
    }

    /// A string that may be absent.
    pub fn opt_str(&self, name: &str) -> Result<Option<&str>, InterpError> {
        if self.opt(name).is_some() { self.str(name).map(Some) } else { Ok(None) }
    }

    /// An element type that may be absent.
    pub fn dtype(&self, name: &str) -> Result<Option<DType>, InterpError> {
        match self.opt(name) {
            None => Ok(None),
            Some(Value::DType(d)) => Ok(Some(*d)),
            Some(other) => self.wrong(name, other, "an element type"),
        }
    }

    /// A dimension of a tensor of this rank, negative ones counted from the end.
    pub fn dim(&self, name: &str, rank: usize) -> Result<usize, InterpError> {
        wrap_dim(self.int(name)?, rank)
    }

    /// Dimensions of a tensor of this rank; all of them when absent or empty.
    pub fn dims_or_all(&self, name: &str, rank: usize) -> Result<Vec<usize>, InterpError> {
        let dims = self.opt_ints(name)?.unwrap_or_default();
        if dims.is_empty() { Ok((0..rank).collect()) } else { wrap_dims(&dims, rank) }
    }
}

/// A dimension, negative ones counted from the end. A tensor of rank 0 has the dimension 0.
pub fn wrap_dim(dim: i64, rank: usize) -> Result<usize, InterpError> {
    let n = rank.max(1) as i64;
    if dim < -n || dim >= n {
        return Err(fail(format!("dimension {dim} is outside of rank {rank}")));
    }
    Ok(if dim < 0 { dim + n } else { dim } as usize)
}

/// Several dimensions, negative ones counted from the end.
pub fn wrap_dims(dims: &[i64], rank: usize) -> Result<Vec<usize>, InterpError> {
    dims.iter().map(|&d| wrap_dim(d, rank)).collect()
}
