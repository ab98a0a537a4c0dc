//! What a decomposition is given: the op's arguments as tensors and numbers of the builder.

use std::ops::{Deref, RangeBounds};

use strata_core::ir::{DYNAMIC, Value};
use strata_dialects::aten::dtype::{DType, Numeric, Weight, result_type};
use strata_dialects::aten::view::{self, AtenOp};
use strata_dialects::prim_builder::{Prim, Scalar, Size, Tensor};

use super::rule::Precision;

/// The arguments of the op being decomposed. Reading never fails: an error is kept in the builder, see [`Prim::fail`].
pub struct Args<'c> {
    /// The builder.
    pub prim: &'c Prim<'c>,
    op: AtenOp<'c>,
    precision: Precision,
    /// The op's tensors promote to `f64`, so that floats are computed with in it.
    double: bool,
}

impl<'c> Deref for Args<'c> {
    type Target = Prim<'c>;

    fn deref(&self) -> &Prim<'c> {
        self.prim
    }
}

impl<'c> Args<'c> {
    pub(crate) fn new(prim: &'c Prim<'c>, op: AtenOp<'c>, precision: Precision) -> Args<'c> {
        let operand = |value: Value<'c>| Some((value.ty().element_type().filter(|_| value.ty().is_tensor())?, value.ty().rank()));
        let tensors: Vec<_> = op.op().operands().into_iter().filter_map(operand).collect();
        let weighed: Vec<_> =
            tensors.iter().map(|&(dtype, rank)| (dtype, if rank == 0 { Weight::ZeroDim } else { Weight::Dimensioned })).collect();
        let double = precision != Precision::Exact && matches!(result_type(&weighed), DType::F64 | DType::C128);
        Args { prim, op, precision, double }
    }

    fn get<T>(&self, value: view::Result<T>, default: T) -> T {
        self.prim.or_fail(value, default)
    }

    /// Whether the op's schema has an argument of this name.
    pub fn has(&self, name: &str) -> bool {
        self.op.schema().arg(name).is_some()
    }

    /// Whether the argument is given and not None.
    pub fn given(&self, name: &str) -> bool {
        match self.op.schema().arg(name) {
            Some(arg) if arg.ty.is_tensor() => self.op.tensors(name).is_ok_and(|t| !t.is_empty()),
            Some(arg) if arg.ty.list => self.op.opt_ints(name).is_ok_and(|t| t.is_some()),
            _ => self.op.opt_scalar(name).is_ok_and(|s| s.is_some()),
        }
    }

    /// Whether the argument is a tensor.
    pub fn is_tensor(&self, name: &str) -> bool {
        self.op.schema().arg(name).is_some_and(|a| a.ty.is_tensor())
    }

    /// Whether the argument's type is a list.
    pub fn is_list(&self, name: &str) -> bool {
        self.op.schema().arg(name).is_some_and(|a| a.ty.list)
    }

    /// The declared element type of a result.
    pub fn result_dtype(&self, index: usize) -> DType {
        let results = self.op.op().result_types();
        results.get(index).and_then(|ty| ty.element_type()).unwrap_or(DType::F32)
    }

    /// The declared sizes of a result, where they are known.
    pub fn result_sizes(&self, index: usize) -> Vec<Option<i64>> {
        let results = self.op.op().result_types();
        let sizes = results.get(index).filter(|ty| ty.is_tensor()).map(|ty| ty.shape()).unwrap_or_default();
        sizes.into_iter().map(|size| Some(size).filter(|size| *size != DYNAMIC)).collect()
    }

    /// The number of results.
    pub fn num_results(&self) -> usize {
        self.op.op().num_results()
    }

    // Tensors.

    fn prepared(&self, value: Value<'c>) -> Tensor<'c> {
        let tensor = self.prim.tensor(value);
        let dtype = match self.precision {
            Precision::Exact => tensor.dtype(),
            Precision::Wide => tensor.dtype().compute(),
            Precision::Float => tensor.dtype().to_float(),
            Precision::Compute => tensor.dtype().to_float().compute(),
        };
        tensor.convert(match dtype {
            DType::F16 | DType::BF16 | DType::F32 if self.double => DType::F64,
            DType::C64 if self.double => DType::C128,
            // A number of rank 0 does not widen tensors.
            DType::F64 if !self.double && self.precision != Precision::Exact => DType::F32,
            dtype => dtype,
        })
    }

    fn dummy(&self) -> Tensor<'c> {
        self.prim.constant(DType::F32, Scalar::Int(0))
    }

    /// A tensor argument as it is.
    pub fn raw(&self, name: &str) -> Tensor<'c> {
        match self.op.tensor(name) {
            Ok(value) => self.prim.tensor(value),
            Err(error) => {
                self.prim.fail(error.to_string());
                self.dummy()
            }
        }
    }

    /// A tensor argument, in the type that the rule's precision says.
    pub fn tensor(&self, name: &str) -> Tensor<'c> {
        match self.op.tensor(name) {
            Ok(value) => self.prepared(value),
            Err(error) => {
                self.prim.fail(error.to_string());
                self.dummy()
            }
        }
    }

    /// An optional tensor argument.
    pub fn opt_tensor(&self, name: &str) -> Option<Tensor<'c>> {
        self.get(self.op.opt_tensor(name), None).map(|v| self.prepared(v))
    }

    /// A list of tensors.
    pub fn tensors(&self, name: &str) -> Vec<Tensor<'c>> {
        self.get(self.op.tensors(name), Vec::new()).into_iter().map(|v| self.prepared(v)).collect()
    }

    /// A list of optional tensors, as they are.
    pub fn opt_tensors(&self, name: &str) -> Vec<Option<Tensor<'c>>> {
        let values = self.get(self.op.opt_tensors(name), Vec::new());
        values.into_iter().map(|v| v.map(|v| self.prim.tensor(v))).collect()
    }

    /// The type of a result of these arguments by PyTorch's promotion; tensors and numbers may mix.
    pub fn promoted_dtype(&self, names: &[&str]) -> DType {
        let weigh = |name: &&str| {
            let is_tensor = self.op.schema().arg(name).is_some_and(|a| a.ty.is_tensor());
            if is_tensor {
                let tensor = self.get(self.op.opt_tensor(name), None).map(|v| self.prim.tensor(v))?;
                return Some((tensor.dtype(), weight(tensor)));
            }
            Some((self.opt_scalar(name)?.dtype(), Weight::Number))
        };
        result_type(&names.iter().filter_map(weigh).collect::<Vec<_>>())
    }

    /// Tensor or number arguments, all converted to the type that they promote to.
    pub fn promoted<const N: usize>(&self, names: [&str; N]) -> [Tensor<'c>; N] {
        let promoted = self.promoted_dtype(&names);
        let dtype = match self.precision {
            Precision::Exact => promoted,
            Precision::Wide => promoted.compute(),
            Precision::Float => promoted.to_float(),
            Precision::Compute => promoted.to_float().compute(),
        };
        // A number beside floats of 8 bits is one of them.
        names.map(|name| self.as_type(name, if promoted.is_float8() { promoted } else { dtype }).convert(dtype))
    }

    /// A tensor or number argument in an element type.
    pub fn as_type(&self, name: &str, dtype: DType) -> Tensor<'c> {
        match self.op.schema().arg(name) {
            Some(arg) if arg.ty.is_tensor() => self.raw(name).convert(dtype),
            _ => self.prim.constant(dtype, self.scalar(name)),
        }
    }

    // Numbers.

    /// A constant int.
    pub fn int(&self, name: &str) -> i64 {
        self.get(self.op.int(name), 0)
    }

    /// An optional constant int.
    pub fn opt_int(&self, name: &str) -> Option<i64> {
        self.get(self.op.opt_int(name), None)
    }

    /// An int, possibly symbolic.
    pub fn size(&self, name: &str) -> Size<'c> {
        self.opt_size(name).unwrap_or_else(|| {
            self.prim.fail(format!("argument `{name}` is None"));
            Size::Const(0)
        })
    }

    /// An optional int, possibly symbolic.
    pub fn opt_size(&self, name: &str) -> Option<Size<'c>> {
        self.get(self.op.opt_size(name), None).map(|s| self.sized(s))
    }

    fn sized(&self, size: view::Size<'c>) -> Size<'c> {
        match size {
            view::Size::Const(value) => Size::Const(value),
            view::Size::Value(value) => self.prim.symbol(value),
        }
    }

    /// A list of ints, possibly symbolic; empty when None.
    pub fn sizes(&self, name: &str) -> Vec<Size<'c>> {
        self.get(self.op.opt_ints(name), None).unwrap_or_default().into_iter().map(|s| self.sized(s)).collect()
    }

    /// A list of constant ints; empty when None.
    pub fn ints(&self, name: &str) -> Vec<i64> {
        self.sizes(name).into_iter().map(|s| self.known(s, name)).collect()
    }

    fn known(&self, size: Size<'c>, name: &str) -> i64 {
        size.known().unwrap_or_else(|| {
            self.prim.fail(format!("argument `{name}` must be constant"));
            1
        })
    }

    /// A constant float.
    pub fn float(&self, name: &str) -> f64 {
        self.get(self.op.float(name), 0.0)
    }

    /// A constant float that lies between two numbers; the operator is refused with `words` for what it is where it does not.
    pub fn float_in(&self, name: &str, range: impl RangeBounds<f64>, words: &str) -> f64 {
        let value = self.float(name);
        if !range.contains(&value) {
            self.prim.fail(format!("argument `{name}` is {value}, and {words}"));
        }
        value
    }

    /// A probability: a constant float from 0 to 1.
    pub fn probability(&self, name: &str) -> f64 {
        self.float_in(name, 0.0..=1.0, "a probability is from 0 to 1")
    }

    /// A constant float above zero.
    pub fn positive(&self, name: &str) -> f64 {
        self.float_in(name, f64::MIN_POSITIVE.., "it must be positive")
    }

    /// An optional constant float.
    pub fn opt_float(&self, name: &str) -> Option<f64> {
        self.get(self.op.opt_float(name), None)
    }

    /// An optional list of floats.
    pub fn opt_floats(&self, name: &str) -> Option<Vec<f64>> {
        self.get(self.op.opt_floats(name), None)
    }

    /// A number of any type.
    pub fn scalar(&self, name: &str) -> Scalar<'c> {
        self.get(self.op.scalar(name), Scalar::Int(0))
    }

    /// An optional number.
    pub fn opt_scalar(&self, name: &str) -> Option<Scalar<'c>> {
        self.get(self.op.opt_scalar(name), None)
    }

    /// A number argument that is constant, as a float.
    pub fn opt_constant(&self, name: &str) -> Option<f64> {
        if self.op.schema().arg(name).is_some_and(|a| a.ty.is_tensor()) {
            return None;
        }
        match self.opt_scalar(name)? {
            Scalar::Int(value) => Some(value as f64),
            Scalar::Float(value) => Some(value),
            Scalar::Bool(value) => Some(f64::from(u8::from(value))),
            Scalar::Complex(..) | Scalar::Value(_) => None,
        }
    }

    /// A bool.
    pub fn bool(&self, name: &str) -> bool {
        self.get(self.op.bool(name), false)
    }

    /// A list of bools.
    pub fn bools(&self, name: &str) -> Vec<bool> {
        self.get(self.op.bools(name), Vec::new())
    }

    /// A string; empty when None.
    pub fn str(&self, name: &str) -> String {
        self.get(self.op.opt_str(name), None).unwrap_or_default()
    }

    /// An optional element type.
    pub fn dtype(&self, name: &str) -> Option<DType> {
        self.get(self.op.dtype(name), None)
    }

    // Dimensions.

    /// A dimension argument, counted from the end when negative.
    pub fn dim(&self, name: &str, rank: usize) -> usize {
        self.wrap(self.int(name), rank)
    }

    /// A list of dimensions, counted from the end when negative; empty when None.
    pub fn dims(&self, name: &str, rank: usize) -> Vec<usize> {
        self.ints(name).into_iter().map(|d| self.wrap(d, rank)).collect()
    }

    /// A list of dimensions; None or an empty list is all of them.
    pub fn dims_or_all(&self, name: &str, rank: usize) -> Vec<usize> {
        let dims = self.dims(name, rank);
        // Of a 0-d tensor dimension 0 may be named although there is none.
        if dims.is_empty() || rank == 0 { (0..rank).collect() } else { dims }
    }

    /// Dimension `dim` of a tensor of this rank.
    pub fn wrap(&self, dim: i64, rank: usize) -> usize {
        let range = rank.max(1) as i64;
        if dim < -range || dim >= range {
            self.prim.fail(format!("dimension {dim} of a tensor of rank {rank}"));
            return 0;
        }
        dim.rem_euclid(range) as usize
    }
}

/// How a tensor takes part in promotion.
pub fn weight(tensor: Tensor<'_>) -> Weight {
    if tensor.rank() == 0 { Weight::ZeroDim } else { Weight::Dimensioned }
}
