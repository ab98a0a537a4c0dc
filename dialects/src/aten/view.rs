//! Reading an `aten` op by its schema: every argument by name, whether operand, attribute or default.
//!
//! The encoding is the one of `docs/src/levels.md`, section aten: tensors are operands in schema order, symbolic
//! numbers are operands after them, everything else is an attribute; [`super::build()`] is the inverse.

use std::ops::Range;

use strata_core::ir::{Attr, Op, Value};

use super::dtype::{self, DType};
use super::schema::{Arg, DefaultValue, Kind, Schema, schema};

/// Stands in an attribute where a symbolic operand has the value.
pub const SYMBOLIC: i64 = i64::MIN;

/// An `aten` op that cannot be read as its schema says.
#[derive(Debug, thiserror::Error, Clone, PartialEq, Eq)]
pub enum AtenError {
    /// No schema of that name.
    #[error("PyTorch has no operator `{0}`; spell it as `aten.add.Tensor`, without `.default`")]
    Unknown(String),
    /// The schema has no such argument.
    #[error("`{op}` has no argument `{arg}`")]
    NoArgument {
        /// The op.
        op: &'static str,
        /// The argument asked for.
        arg: String,
    },
    /// An argument that has no default is not given.
    #[error("`{op}`: argument `{arg}` is missing and has no default")]
    Missing {
        /// The op.
        op: &'static str,
        /// The argument.
        arg: &'static str,
    },
    /// The number of operands is not what schema, `segments` and symbolic attributes say.
    #[error("`{op}`: {found} operands, but schema, `segments` and symbolic attributes make {wanted}")]
    Operands {
        /// The op.
        op: &'static str,
        /// Operands that the op has.
        found: usize,
        /// Operands that it should have.
        wanted: usize,
    },
    /// `segments` does not have one entry per tensor argument.
    #[error("`{op}`: `segments` must be an array<i64> with one entry for each of its {wanted} tensor arguments")]
    Segments {
        /// The op.
        op: &'static str,
        /// Number of tensor arguments.
        wanted: usize,
    },
    /// An argument does not have the type that is needed.
    #[error("`{op}`: argument `{arg}` is not {wanted}")]
    Type {
        /// The op.
        op: &'static str,
        /// The argument.
        arg: &'static str,
        /// What it should be.
        wanted: &'static str,
    },
}

/// The result of reading.
pub type Result<T> = std::result::Result<T, AtenError>;

/// A size or another integer: known, or a value of type `index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "explained above")]
pub enum Size<'c> {
    Const(i64),
    Value(Value<'c>),
}

/// A Python number: known (a complex one by its two parts), or a value of type `index`, `f64` or `i1`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "explained above")]
pub enum Scalar<'c> {
    Int(i64),
    Float(f64),
    Bool(bool),
    Complex(f64, f64),
    Value(Value<'c>),
}

impl Scalar<'_> {
    /// The element type that it stands for.
    pub fn dtype(self) -> DType {
        match self {
            Scalar::Int(_) => DType::I64,
            Scalar::Float(_) => DType::F32,
            Scalar::Bool(_) => DType::Bool,
            Scalar::Complex(..) => DType::C64,
            Scalar::Value(value) => match value.ty().element_type() {
                Some(DType::Bool) => DType::Bool,
                Some(dtype) if dtype.is_float() => DType::F32,
                _ => DType::I64,
            },
        }
    }
}

/// An `aten` op with its schema.
#[derive(Debug, Clone)]
pub struct AtenOp<'c> {
    op: Op<'c>,
    schema: &'static Schema,
    /// Operands of each argument: its tensors, or its symbolic numbers.
    operands: Vec<Range<usize>>,
}

/// An argument's value before it is typed.
enum Given<'c> {
    Attr(Attr<'c>),
    Default(&'static DefaultValue),
    None,
}

impl<'c> AtenOp<'c> {
    /// Reads `op`; fails when its operands do not fit its schema.
    pub fn new(op: Op<'c>) -> Result<AtenOp<'c>> {
        let schema = schema(op.name()).ok_or_else(|| AtenError::Unknown(op.name().to_owned()))?;
        let tensors = segments(op, schema)?;
        let mut operands = vec![0..0; schema.args.len()];
        let (mut next, mut tensor) = (0, 0);
        for (_, range) in schema.args.iter().zip(&mut operands).filter(|(a, _)| a.ty.is_tensor()) {
            *range = next..next + tensors[tensor];
            next = range.end;
            tensor += 1;
        }
        for (arg, range) in schema.args.iter().zip(&mut operands).filter(|(a, _)| !a.ty.is_tensor()) {
            *range = next..next + op.attr(arg.name).map_or(0, symbols);
            next = range.end;
        }
        if next != op.num_operands() {
            return Err(AtenError::Operands { op: schema.name, found: op.num_operands(), wanted: next });
        }
        Ok(AtenOp { op, schema, operands })
    }

    /// The op.
    pub fn op(&self) -> Op<'c> {
        self.op
    }

    /// Its schema.
    pub fn schema(&self) -> &'static Schema {
        self.schema
    }

    fn arg(&self, name: &str) -> Result<(usize, &'static Arg)> {
        let position = self.schema.position(name);
        let position = position.ok_or_else(|| AtenError::NoArgument { op: self.schema.name, arg: name.to_owned() })?;
        Ok((position, &self.schema.args[position]))
    }

    fn given(&self, arg: &'static Arg) -> Result<Given<'c>> {
        match (self.op.attr(arg.name), &arg.default) {
            (Some(attr), _) if attr.is_unit() => Ok(Given::None),
            (Some(attr), _) => Ok(Given::Attr(attr)),
            (None, Some(DefaultValue::None)) => Ok(Given::None),
            (None, Some(default)) => Ok(Given::Default(default)),
            (None, None) if arg.ty.optional => Ok(Given::None),
            (None, None) => Err(AtenError::Missing { op: self.schema.name, arg: arg.name }),
        }
    }

    fn wrong(&self, arg: &'static Arg, wanted: &'static str) -> AtenError {
        AtenError::Type { op: self.schema.name, arg: arg.name, wanted }
    }

    /// Requires that an optional argument is there.
    fn some<T>(&self, name: &str, value: Option<T>, wanted: &'static str) -> Result<T> {
        let (_, arg) = self.arg(name)?;
        value.ok_or_else(|| self.wrong(arg, wanted))
    }

    /// A `Tensor` argument.
    pub fn tensor(&self, name: &str) -> Result<Value<'c>> {
        let value = self.opt_tensor(name)?;
        self.some(name, value, "a tensor")
    }

    /// A `Tensor?` argument.
    pub fn opt_tensor(&self, name: &str) -> Result<Option<Value<'c>>> {
        Ok(self.tensors(name)?.first().copied())
    }

    /// A `Tensor[]` argument.
    pub fn tensors(&self, name: &str) -> Result<Vec<Value<'c>>> {
        let (position, arg) = self.arg(name)?;
        if !arg.ty.is_tensor() {
            return Err(self.wrong(arg, "a tensor argument"));
        }
        Ok(self.operands[position].clone().map(|i| self.op.operand(i)).collect())
    }

    /// A `Tensor?[]` argument.
    pub fn opt_tensors(&self, name: &str) -> Result<Vec<Option<Value<'c>>>> {
        let mut given = self.tensors(name)?.into_iter();
        let absent = self.op.ints("absent").unwrap_or_default();
        let len = given.len() + absent.len();
        Ok((0..len as i64).map(|i| if absent.contains(&i) { None } else { given.next() }).collect())
    }

    /// The values of the symbolic numbers of an argument, in order.
    fn symbolic(&self, position: usize) -> impl Iterator<Item = Value<'c>> + '_ {
        self.operands[position].clone().map(|i| self.op.operand(i))
    }

    /// An optional integer, possibly symbolic.
    pub fn opt_size(&self, name: &str) -> Result<Option<Size<'c>>> {
        let (position, arg) = self.arg(name)?;
        let value = match self.given(arg)? {
            Given::None => return Ok(None),
            Given::Attr(attr) => attr.as_int(),
            Given::Default(DefaultValue::Int(value)) => Some(*value),
            Given::Default(_) => None,
        };
        let value = value.ok_or_else(|| self.wrong(arg, "an int"))?;
        Ok(Some(self.symbolic(position).next().map_or(Size::Const(value), Size::Value)))
    }

    /// An integer, possibly symbolic.
    pub fn size(&self, name: &str) -> Result<Size<'c>> {
        let value = self.opt_size(name)?;
        self.some(name, value, "an int")
    }

    /// An optional constant integer.
    pub fn opt_int(&self, name: &str) -> Result<Option<i64>> {
        match self.opt_size(name)? {
            None => Ok(None),
            Some(Size::Const(value)) => Ok(Some(value)),
            Some(Size::Value(_)) => self.some(name, None, "a constant"),
        }
    }

    /// A constant integer.
    pub fn int(&self, name: &str) -> Result<i64> {
        let value = self.opt_int(name)?;
        self.some(name, value, "an int")
    }

    /// An optional list of integers. One element stands for all of a list of fixed length.
    pub fn opt_ints(&self, name: &str) -> Result<Option<Vec<Size<'c>>>> {
        let (position, arg) = self.arg(name)?;
        let list = match self.given(arg)? {
            Given::None => return Ok(None),
            Given::Attr(attr) => attr.as_i64s().or_else(|| Some(vec![attr.as_int()?])),
            Given::Default(DefaultValue::Ints(list)) => Some(list.clone()),
            Given::Default(_) => None,
        };
        let list = list.ok_or_else(|| self.wrong(arg, "a list of ints"))?;
        let mut symbols = self.symbolic(position);
        let mut sizes: Vec<_> = list
            .into_iter()
            .map(|v| if v == SYMBOLIC { symbols.next().map_or(Size::Const(v), Size::Value) } else { Size::Const(v) })
            .collect();
        if let (Some(len), [one]) = (arg.ty.len, sizes.as_slice()) {
            sizes = vec![*one; usize::from(len)];
        }
        Ok(Some(sizes))
    }

    /// A list of integers.
    pub fn ints(&self, name: &str) -> Result<Vec<Size<'c>>> {
        let value = self.opt_ints(name)?;
        self.some(name, value, "a list of ints")
    }

    /// A list of constant integers.
    pub fn const_ints(&self, name: &str) -> Result<Vec<i64>> {
        let value = self.opt_const_ints(name)?;
        self.some(name, value, "a list of ints")
    }

    /// An optional list of constant integers.
    pub fn opt_const_ints(&self, name: &str) -> Result<Option<Vec<i64>>> {
        let Some(sizes) = self.opt_ints(name)? else { return Ok(None) };
        let constant = |size: &Size<'c>| match size {
            Size::Const(value) => Some(*value),
            Size::Value(_) => None,
        };
        let list: Option<Vec<i64>> = sizes.iter().map(constant).collect();
        self.some(name, list, "a list of constants").map(Some)
    }

    /// An optional number of any type.
    pub fn opt_scalar(&self, name: &str) -> Result<Option<Scalar<'c>>> {
        let (position, arg) = self.arg(name)?;
        if let Some(value) = self.symbolic(position).next() {
            return Ok(Some(Scalar::Value(value)));
        }
        let scalar = match self.given(arg)? {
            Given::None => return Ok(None),
            Given::Default(DefaultValue::Int(value)) => Some(Scalar::Int(*value)),
            Given::Default(DefaultValue::Float(value)) => Some(Scalar::Float(*value)),
            Given::Default(DefaultValue::Bool(value)) => Some(Scalar::Bool(*value)),
            Given::Default(_) => None,
            Given::Attr(attr) => {
                let complex = || match attr.as_f64s()?[..] {
                    [real, imag] => Some(Scalar::Complex(real, imag)),
                    _ => None,
                };
                let real = (attr.as_bool().map(Scalar::Bool)).or_else(|| attr.as_int().map(Scalar::Int));
                real.or_else(|| attr.as_float().map(Scalar::Float)).or_else(complex)
            }
        };
        scalar.ok_or_else(|| self.wrong(arg, "a number")).map(Some)
    }

    /// A number of any type.
    pub fn scalar(&self, name: &str) -> Result<Scalar<'c>> {
        let value = self.opt_scalar(name)?;
        self.some(name, value, "a number")
    }

    /// An optional constant float; an int is converted.
    pub fn opt_float(&self, name: &str) -> Result<Option<f64>> {
        match self.opt_scalar(name)? {
            None => Ok(None),
            Some(Scalar::Float(value)) => Ok(Some(value)),
            Some(Scalar::Int(value)) => Ok(Some(value as f64)),
            Some(Scalar::Bool(value)) => Ok(Some(f64::from(u8::from(value)))),
            Some(Scalar::Complex(..)) => self.some(name, None, "a real number"),
            Some(Scalar::Value(_)) => self.some(name, None, "a constant"),
        }
    }

    /// A constant float.
    pub fn float(&self, name: &str) -> Result<f64> {
        let value = self.opt_float(name)?;
        self.some(name, value, "a float")
    }

    /// An optional list of floats; ints are converted.
    pub fn opt_floats(&self, name: &str) -> Result<Option<Vec<f64>>> {
        let (_, arg) = self.arg(name)?;
        match self.given(arg)? {
            Given::None => Ok(None),
            Given::Attr(attr) => {
                let ints = || Some(attr.as_i64s()?.into_iter().map(|v| v as f64).collect());
                attr.as_f64s().or_else(ints).ok_or_else(|| self.wrong(arg, "a list of floats")).map(Some)
            }
            Given::Default(_) => Ok(Some(Vec::new())),
        }
    }

    /// A bool.
    pub fn bool(&self, name: &str) -> Result<bool> {
        let value = self.opt_bool(name)?;
        self.some(name, value, "a bool")
    }

    /// An optional bool.
    pub fn opt_bool(&self, name: &str) -> Result<Option<bool>> {
        match self.opt_scalar(name)? {
            None => Ok(None),
            Some(Scalar::Bool(value)) => Ok(Some(value)),
            Some(Scalar::Int(value)) => Ok(Some(value != 0)),
            Some(_) => self.some(name, None, "a constant bool"),
        }
    }

    /// A list of bools.
    pub fn bools(&self, name: &str) -> Result<Vec<bool>> {
        let (_, arg) = self.arg(name)?;
        match self.given(arg)? {
            Given::Attr(attr) => attr.as_bools(),
            _ => None,
        }
        .ok_or_else(|| self.wrong(arg, "a list of bools"))
    }

    /// A string; also `Device`, `Layout` and `MemoryFormat`.
    pub fn str(&self, name: &str) -> Result<String> {
        let value = self.opt_str(name)?;
        self.some(name, value, "a string")
    }

    /// An optional string.
    pub fn opt_str(&self, name: &str) -> Result<Option<String>> {
        let (_, arg) = self.arg(name)?;
        match self.given(arg)? {
            Given::Attr(attr) => attr.as_str().ok_or_else(|| self.wrong(arg, "a string")).map(Some),
            Given::Default(DefaultValue::Str(text)) => Ok(Some(text.clone())),
            Given::None | Given::Default(_) => Ok(None),
        }
    }

    /// An optional element type.
    pub fn dtype(&self, name: &str) -> Result<Option<DType>> {
        let (_, arg) = self.arg(name)?;
        let dtype = match self.given(arg)? {
            Given::None => return Ok(None),
            Given::Attr(attr) => attr.as_type().and_then(|ty| ty.element_type()),
            Given::Default(DefaultValue::Int(code)) => dtype::of_aten_code(*code),
            Given::Default(_) => None,
        };
        dtype.ok_or_else(|| self.wrong(arg, "an element type")).map(Some)
    }
}

/// The number of operands of each tensor argument.
fn segments(op: Op<'_>, schema: &'static Schema) -> Result<Vec<usize>> {
    let wanted = schema.tensor_args().count();
    if !schema.has_segments() {
        return Ok(vec![1; wanted]);
    }
    let error = || AtenError::Segments { op: schema.name, wanted };
    let segments = op.ints("segments").ok_or_else(error)?;
    let segments: Option<Vec<usize>> = segments.iter().map(|&n| usize::try_from(n).ok()).collect();
    segments.filter(|s| s.len() == wanted).ok_or_else(error)
}

/// How many symbolic operands an attribute stands for.
fn symbols(attr: Attr<'_>) -> usize {
    match attr.as_i64s() {
        Some(list) => list.iter().filter(|v| **v == SYMBOLIC).count(),
        None => usize::from(attr.as_int() == Some(SYMBOLIC)),
    }
}

/// Reports what is wrong with `op` as an op of its schema.
pub fn verify(op: Op<'_>) -> std::result::Result<(), Vec<String>> {
    let view = AtenOp::new(op).map_err(|e| vec![e.to_string()])?;
    let known = |name: &str| {
        matches!(name, "segments" | "absent") || name.contains('.') || view.schema.arg(name).is_some_and(|a| !a.ty.is_tensor())
    };
    let mut errors: Vec<String> =
        op.attrs().iter().filter(|(name, _)| !known(name)).map(|(name, _)| format!("has no argument `{name}`")).collect();
    for arg in view.schema.args.iter().filter(|a| !a.ty.is_tensor()) {
        errors.extend(view.check(arg).err().map(|e| e.to_string()));
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

impl AtenOp<'_> {
    /// Reads one argument as its type, for the error alone.
    fn check(&self, arg: &'static Arg) -> Result<()> {
        match (arg.ty.kind, arg.ty.list) {
            (Kind::Int | Kind::SymInt, true) => self.opt_ints(arg.name).map(drop),
            (Kind::Int | Kind::SymInt, false) => self.opt_size(arg.name).map(drop),
            (Kind::Float, true) => self.opt_floats(arg.name).map(drop),
            (Kind::Bool, true) => self.bools(arg.name).map(drop),
            (Kind::Float | Kind::Scalar | Kind::Bool, false) => self.opt_scalar(arg.name).map(drop),
            (Kind::Str, _) => self.opt_str(arg.name).map(drop),
            (Kind::ScalarType, _) => self.dtype(arg.name).map(drop),
            _ => Ok(()),
        }
    }
}
