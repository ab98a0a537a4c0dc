//! The rows of the tables: what the gradient of an op is, and what it is made of.

use strata_core::ir::{Op, Type};
use strata_dialects::aten::dtype::Numeric;
use strata_dialects::aten::schema::Kind;
use strata_dialects::aten::{self, AtenOp, Input, Operator, Scalar as AtenScalar, Size as AtenSize};
use strata_dialects::prim_builder::{Prim, Scalar, Size, Tensor};
use strata_dialects::{capture, prim};

use crate::aten_to_prim::{Args, Precision};

/// A cotangent for each operand, in order; `None` where it is zero. Those of the last operands may be left out.
pub type Cotangents<'c> = Vec<Option<Tensor<'c>>>;

/// The gradient of one op.
pub struct Row {
    /// The op's name.
    pub name: &'static str,
    /// Its formula, and where it comes from.
    pub doc: &'static str,
    /// What it is.
    pub rule: Rule,
}

/// What the gradient of an op is.
pub enum Rule {
    /// None: the op is constant almost everywhere, or stops gradients.
    Zero,
    /// Partial derivatives: for each operand the product of a tangent with the partial. A cotangent is multiplied by its conjugate.
    Partials(&'static [Partial]),
    /// The op is linear, and this is its transpose.
    Linear(Transpose),
    /// Anything else.
    Custom(Transpose),
    /// Anything else of an operator of PyTorch, by its arguments.
    Arguments(for<'c> fn(&At<'c>, &Args<'c>) -> Cotangents<'c>),
    /// The operator that computes it. Its arguments are those of the same names, `grad..`, and the names of results.
    Operator(Operator),
}

/// The product of a tangent with a partial derivative at a point.
pub type Partial = for<'c> fn(&Point<'c>, Tensor<'c>) -> Tensor<'c>;

/// From cotangents of results to cotangents of operands.
pub type Transpose = for<'c> fn(&At<'c>) -> Cotangents<'c>;

/// Rows of a table: `/// formula` and `Op => rule;`, where the op is one of `prim`.
macro_rules! prim_rows {
    ($($(#[doc = $doc:literal])+ $op:ident => $rule:expr;)*) => {
        pub(super) const ROWS: &[Row] = &[$(Row { name: prim::$op::NAME, doc: concat!($($doc, "\n"),+), rule: $rule }),*];
    };
}
pub(super) use prim_rows;

/// Where a partial derivative is taken: the operands and the first result, in the type that is computed in.
pub struct Point<'c> {
    at: &'c Prim<'c>,
    op: Op<'c>,
}

impl<'c> Point<'c> {
    /// Operand `index`.
    pub fn x(&self, index: usize) -> Tensor<'c> {
        wide(self.at.tensor(self.op.operand(index)))
    }

    /// Whether operand `index` is a constant of the program.
    pub fn is_constant(&self, index: usize) -> bool {
        let mut value = self.op.operand(index);
        while let Some(view) = value.defining_op().filter(|op| op.isa::<prim::Broadcast>() || op.isa::<prim::Reshape>()) {
            value = view.operand(0);
        }
        value.defining_op().is_some_and(|op| op.isa::<prim::Constant>())
    }

    /// The result.
    pub fn y(&self) -> Tensor<'c> {
        wide(self.at.tensor(self.op.result(0)))
    }
}

/// In the type that is computed in: halves in `f32`.
pub(super) fn wide(tensor: Tensor<'_>) -> Tensor<'_> {
    tensor.convert(tensor.dtype().compute())
}

/// What a row is given: the op, and the cotangents of its results.
pub struct At<'c> {
    /// The builder.
    pub prim: &'c Prim<'c>,
    /// The op.
    pub op: Op<'c>,
    pub(super) cotangents: Vec<Option<Tensor<'c>>>,
    pub(super) wanted: Vec<bool>,
}

impl<'c> At<'c> {
    /// The cotangent of a result in the result's type, if it has one.
    pub fn cotangent(&self, result: usize) -> Option<Tensor<'c>> {
        let tensor = (*self.cotangents.get(result)?)?;
        let dtype = self.op.result(result).ty().element_type()?;
        Some(tensor.convert(dtype))
    }

    /// The cotangent of the first result; zeros where it has none.
    pub fn g(&self) -> Tensor<'c> {
        self.cotangent_or_zero(0)
    }

    /// The cotangent of a result; zeros where it has none.
    pub fn cotangent_or_zero(&self, result: usize) -> Tensor<'c> {
        self.cotangent(result).unwrap_or_else(|| self.y(result).filled(Scalar::Int(0)))
    }

    /// Operand `index`.
    pub fn x(&self, index: usize) -> Tensor<'c> {
        self.prim.tensor(self.op.operand(index))
    }

    /// Result `index`.
    pub fn y(&self, index: usize) -> Tensor<'c> {
        self.prim.tensor(self.op.result(index))
    }

    /// Whether somebody asks for the cotangent of an operand.
    pub fn wants(&self, operand: usize) -> bool {
        self.wanted.get(operand).copied().unwrap_or(false)
    }

    /// The cotangents of the operands from a function of their numbers, asked for the wanted ones only.
    pub fn each(&self, cotangent: impl Fn(usize) -> Option<Tensor<'c>>) -> Cotangents<'c> {
        (0..self.op.num_operands()).map(|operand| if self.wants(operand) { cotangent(operand) } else { None }).collect()
    }

    /// An attribute of integers, as dims.
    pub fn dims(&self, name: &str) -> Vec<usize> {
        self.op.ints(name).unwrap_or_default().into_iter().filter_map(|dim| usize::try_from(dim).ok()).collect()
    }

    /// An attribute that is one dim.
    pub fn dim(&self) -> usize {
        self.op.int("dim").and_then(|dim| usize::try_from(dim).ok()).unwrap_or_default()
    }

    /// An attribute that is a word.
    pub fn word(&self, name: &str) -> String {
        self.op.str(name).unwrap_or_default()
    }

    /// Refuses the op, with the reason.
    pub fn refuse(&self, reason: impl Into<String>) -> Cotangents<'c> {
        self.prim.fail(reason);
        Vec::new()
    }

    /// The cotangent of the first result in the type that is computed in.
    pub fn wide_g(&self) -> Tensor<'c> {
        match self.cotangents.first() {
            Some(Some(tensor)) => wide(*tensor),
            _ => wide(self.g()),
        }
    }

    /// The tensor argument of this name, halves as `f32`.
    pub fn wide(&self, name: &str) -> Tensor<'c> {
        wide(self.x(self.place(name).unwrap_or_default()))
    }

    /// The place of the operand that is the tensor argument of this name, if it is given.
    pub fn place(&self, name: &str) -> Option<usize> {
        let view = AtenOp::new(self.op).ok()?;
        view.opt_tensor(name).ok()??;
        let before = view.schema().tensor_args().take_while(|arg| arg.name != name);
        Some(before.map(|arg| view.tensors(arg.name).map_or(0, |tensors| tensors.len())).sum())
    }

    /// Cotangents of tensor arguments by name, summed over what PyTorch's broadcasting repeats.
    pub fn named(&self, cotangents: &[(&str, Option<Tensor<'c>>)]) -> Cotangents<'c> {
        let mut all = vec![None; self.op.num_operands()];
        for (name, cotangent) in cotangents {
            if let (Some(place), Some(cotangent)) = (self.place(name), *cotangent) {
                all[place] = Some(unbroadcast(cotangent, self.x(place)));
            }
        }
        all
    }

    /// The results of an operator of PyTorch, which `--decompose-aten` decomposes afterwards. Arguments are given by name; what is not
    /// is the operator's own argument of that name, or its default.
    pub fn call(&self, operator: Operator, given: &[(&str, Input<'c>)], results: &[Type<'c>]) -> Vec<Tensor<'c>> {
        let Ok(view) = AtenOp::new(self.op).inspect_err(|error| self.prim.fail(error.to_string())) else { return Vec::new() };
        let inputs: Vec<_> = operator
            .schema()
            .args
            .iter()
            .map(|arg| match given.iter().find(|(name, _)| *name == arg.name) {
                Some((_, input)) => Some(input.clone()),
                None => own_argument(&view, arg.name),
            })
            .collect();
        let made = self.prim.build(|builder| aten::build(builder, operator.schema(), &inputs, results));
        match made {
            Ok(op) => op.results().into_iter().map(|result| self.prim.tensor(result)).collect(),
            Err(error) => {
                self.prim.fail(error.to_string());
                Vec::new()
            }
        }
    }
}

/// The argument of an op by its name, as an input of another one.
fn own_argument<'c>(view: &AtenOp<'c>, name: &str) -> Option<Input<'c>> {
    let ty = view.schema().arg(name)?.ty;
    Some(match (ty.kind, ty.list) {
        (Kind::Tensor, true) => Input::Tensors(view.tensors(name).ok()?),
        (Kind::Tensor, false) => Input::Tensor(view.opt_tensor(name).ok()??),
        (Kind::Int | Kind::SymInt, true) => view.opt_ints(name).ok()?.map_or(Input::None, Input::Ints),
        (Kind::Int | Kind::SymInt, false) => view.opt_size(name).ok()?.map_or(Input::None, Input::Int),
        (Kind::Float, true) => view.opt_floats(name).ok()?.map_or(Input::None, Input::Floats),
        (Kind::Bool, true) => Input::Bools(view.bools(name).ok()?),
        (Kind::Float | Kind::Scalar | Kind::Bool, false) => view.opt_scalar(name).ok()?.map_or(Input::None, Input::Scalar),
        (Kind::Str, _) => view.opt_str(name).ok()?.map_or(Input::None, Input::Str),
        (Kind::ScalarType, _) => view.dtype(name).ok()?.map_or(Input::None, Input::DType),
        _ => return None,
    })
}

/// A number as an argument of an operator.
pub(super) fn number<'c>(value: f64) -> Input<'c> {
    Input::Scalar(AtenScalar::Float(value))
}

/// Sizes as an argument of an operator.
pub(super) fn sizes<'c>(prim: &'c Prim<'c>, sizes: &[Size<'c>]) -> Input<'c> {
    let size = |size: &Size<'c>| size.known().map_or_else(|| AtenSize::Value(prim.index(*size)), AtenSize::Const);
    Input::Ints(sizes.iter().map(size).collect())
}

impl Rule {
    /// Its kind, in a word.
    pub fn kind(&self) -> &'static str {
        match self {
            Rule::Zero => "zero",
            Rule::Partials(_) => "partials",
            Rule::Linear(_) => "linear",
            Rule::Custom(_) | Rule::Arguments(_) => "custom",
            Rule::Operator(_) => "operator",
        }
    }

    /// The cotangents of the op's operands.
    pub(super) fn apply<'c>(&self, at: &At<'c>) -> Cotangents<'c> {
        match self {
            // In PyTorch the gradient goes past what is written, and here the written value is what is detached.
            Rule::Zero if at.op.attr(capture::OVERWRITTEN).is_some() => {
                at.refuse("the program writes to what it detaches; clone it first, or write to the tensor itself")
            }
            Rule::Zero => Vec::new(),
            Rule::Linear(transpose) | Rule::Custom(transpose) => transpose(at),
            Rule::Partials(partials) => {
                let (point, g) = (Point { at: at.prim, op: at.op }, wide(at.g()));
                // PyTorch's convention for complex numbers: a cotangent meets the conjugate of the partial.
                at.each(|operand| partials.get(operand).map(|partial| partial(&point, g.conj()).conj()))
            }
            Rule::Arguments(formula) => match AtenOp::new(at.op) {
                Ok(view) => formula(at, &Args::new(at.prim, view, Precision::Wide)),
                Err(error) => at.refuse(error.to_string()),
            },
            Rule::Operator(operator) => backward(at, *operator),
        }
    }
}

/// The gradient as one operator gives it: cotangents of the tensor arguments in order, as far as it has results.
fn backward<'c>(at: &At<'c>, operator: Operator) -> Cotangents<'c> {
    let value = |tensor: Tensor<'c>| Input::Tensor(tensor.value());
    let mut given: Vec<(&str, Input<'c>)> = Vec::new();
    for arg in &operator.schema().args {
        let result = at.op.num_results().checked_sub(1).and_then(|last| match arg.name {
            "grad" | "grad_output" | "grad_out" => Some(value(at.g())),
            "output" | "result" => Some(value(at.y(0))),
            "indices" | "total_weight" | "buffer" | "mask" if last >= 1 => Some(value(at.y(1))),
            "self_or_result" => Some(value(at.x(0))),
            "is_result" => Some(Input::Scalar(AtenScalar::Bool(false))),
            "self_size" | "input_size" | "input_sizes" => Some(sizes(at.prim, &at.x(0).shape())),
            _ => None,
        });
        given.extend(result.map(|input| (arg.name, input)));
    }
    let tensors: Vec<_> =
        (0..operator.schema().returns.len()).filter(|k| *k < at.op.num_operands()).map(|k| at.op.operand(k).ty()).collect();
    at.call(operator, &given, &tensors).into_iter().map(Some).collect()
}

/// A tensor as an argument of an operator.
pub(super) fn value<'c>(tensor: Tensor<'c>) -> Input<'c> {
    Input::Tensor(tensor.value())
}

/// A size as an argument of an operator.
pub(super) fn size<'c>(size: Size<'c>, prim: &'c Prim<'c>) -> Input<'c> {
    Input::Int(size.known().map_or_else(|| AtenSize::Value(prim.index(size)), AtenSize::Const))
}

/// A flag as an argument of an operator.
pub(super) fn flag<'c>(value: bool) -> Input<'c> {
    Input::Scalar(AtenScalar::Bool(value))
}

/// A cotangent summed over what was repeated of an operand: dims that it lacks, and dims of size 1.
fn unbroadcast<'c>(g: Tensor<'c>, x: Tensor<'c>) -> Tensor<'c> {
    let Some(lead) = g.rank().checked_sub(x.rank()) else { return g.broadcast_to(&x.shape()) };
    let repeated = |dim: &usize| *dim < lead || (x.size(*dim - lead).is_one() && !g.size(*dim).is_one());
    let summed = g.reduce("sum", &(0..g.rank()).filter(repeated).collect::<Vec<_>>(), true);
    let shape = summed.shape()[lead..].to_vec();
    summed.reshape(&shape).broadcast_to(&x.shape())
}
