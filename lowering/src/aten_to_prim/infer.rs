//! The types of an operator's results, from its operands and attributes alone: its decomposition is run in a scratch function, and
//! what it computes has the sizes. Element types are those of [`results`], or of what is computed, rounded as the results are.
//!
//! There is no second description of an operator: what can be decomposed can be inferred.

use strata_core::ir::{Attr, Module, Op, OpSpec, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::func;
use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::aten::schema::Kind;
use strata_dialects::aten::{AtenOp, Operator, op, results, schema};
use strata_dialects::prim_builder::{Prim, Tensor};

use super::rule::{Body, Precision};
use super::{Args, Reason, counted, is_whole, precision, rule};

/// The types of an op's results. Those that it declares are not looked at, and neither is their number.
pub fn infer<'c>(op: Op<'c>) -> Result<Vec<Type<'c>>, Reason> {
    let cx = op.cx();
    let scratch = Module::new(cx);
    let mut builder = Rewriter::at_end(scratch.body(), op.location());
    let types = op.operand_types();
    let attrs = [("sym_name", cx.str_attr("scratch")), ("function_type", cx.type_attr(cx.function(&types, &[])))];
    let function = builder.op(OpSpec { name: func::Func::NAME, attrs: &attrs, regions: 1, ..OpSpec::default() });
    let block = builder.add_block(function.region(0), &types);
    builder.set_at_end(block);
    let attrs = op.attrs();
    let attrs: Vec<(&str, Attr<'c>)> = attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
    let mut copy = |declared: &[Type<'c>]| {
        builder.op(OpSpec { name: op.name(), operands: &block.args(), results: declared, attrs: &attrs, ..OpSpec::default() })
    };
    let view = |op| AtenOp::new(op).map_err(|error| Reason::Arguments(error.to_string()));
    let bare = view(copy(&[]))?;
    let count = results::count(&bare).ok_or_else(|| Reason::Arguments("the number of its results is not known here".to_owned()))?;
    if let Some(types) = written(&bare, count) {
        return if reshapes(&bare) {
            Err(Reason::Arguments("it changes the sizes of its argument in place".to_owned()))
        } else {
            Ok(types)
        };
    }
    if let Some(number) = number(&bare) {
        return Ok(vec![number]);
    }
    let declared = |index| results::dtype(&bare, index).or_else(|| results::promoted(&bare)).unwrap_or(DType::F32);
    let declared: Vec<_> = (0..count).map(|index| cx.tensor(&[], cx.element(declared(index)))).collect();
    computed(view(copy(&declared))?, &bare)
}

/// What writes to its arguments returns them.
fn written<'c>(op: &AtenOp<'c>, count: usize) -> Option<Vec<Type<'c>>> {
    let schema = op.schema();
    if count == 0 {
        return Some(Vec::new());
    }
    let alias = |index: usize| schema.returns[index.min(schema.returns.len() - 1)].alias.filter(|alias| alias.ends_with('!'));
    let argument = |index: usize| {
        let alias = alias(index)?;
        let written = schema.args.iter().find(|arg| arg.alias == Some(alias))?;
        op.tensors(written.name).ok()?.get(if written.ty.list { index } else { 0 }).map(|value| value.ty())
    };
    (0..count).map(argument).collect()
}

/// Whether an operator in place is one of another that gives a view, so that its argument gets other sizes.
fn reshapes(op: &AtenOp<'_>) -> bool {
    let functional = op.schema().name.replacen("_.", ".", 1);
    let functional = schema(functional.strip_suffix('_').unwrap_or(&functional));
    let view = functional.is_some_and(|functional| {
        functional.operator() != op::DETACH && functional.returns.iter().any(|returned| returned.alias.is_some())
    });
    view || matches!(op.schema().operator(), op::RESIZE_ | op::RESIZE_AS_)
}

/// An operator that gives a number and not a tensor.
fn number<'c>(op: &AtenOp<'c>) -> Option<Type<'c>> {
    let [returned] = op.schema().returns.as_slice() else { return None };
    let cx = op.op().cx();
    match returned.ty.kind {
        Kind::Int | Kind::SymInt => Some(cx.index()),
        Kind::Float => Some(cx.f64()),
        Kind::Bool => Some(cx.int(1)),
        Kind::Scalar => Some(match op.tensor(op.schema().args.first()?.name).ok()?.ty().element_type()? {
            DType::Bool => cx.int(1),
            dtype if dtype.is_integral() => cx.index(),
            _ => cx.f64(),
        }),
        _ => None,
    }
}

/// The types of what the decomposition of an op makes.
fn computed<'c>(view: AtenOp<'c>, bare: &AtenOp<'c>) -> Result<Vec<Type<'c>>, Reason> {
    let op = view.op();
    let operator = Operator::of(op).ok_or_else(|| Reason::NoRule(op.name().to_owned()))?;
    let rule = rule(operator).ok_or_else(|| Reason::NoRule(op.name().to_owned()))?;
    let (cx, block) = (op.cx(), op.block().ok_or_else(|| Reason::Arguments("it stands nowhere".to_owned()))?);
    let prim = Prim::new(block, op.location());
    prim.set_before(op);
    prim.set_whole(is_whole(op));
    let precision = precision(rule, op);
    let promoted = results::promoted(bare);
    let shapes = counted(|| {
        let args = Args::new(&prim, view, precision);
        let tensors: Vec<Tensor<'_>> = match rule.body {
            Body::Unary(body) => vec![body(args.tensor("self"))],
            Body::One(body) => vec![body(&args)],
            Body::Many(body) => body(&args),
            Body::Scalar(body) => {
                body(&args).into_iter().filter(|value: &Value<'_>| value.ty().is_tensor()).map(|value| prim.tensor(value)).collect()
            }
        };
        tensors.into_iter().map(|tensor| (tensor.dtype(), tensor.ty().shape())).collect::<Vec<_>>()
    });
    if let Some(message) = prim.take_error() {
        return Err(Reason::Arguments(message));
    }
    let typed = |(index, (dtype, shape)): (usize, (DType, Vec<i64>))| {
        let dtype = results::dtype(bare, index).unwrap_or_else(|| rounded(dtype, promoted, precision));
        cx.tensor(&shape, cx.element(dtype))
    };
    Ok(shapes?.into_iter().enumerate().map(typed).collect())
}

/// The element type of a result that a formula computes in `dtype`: where it computes in a wider type than the operands', it is
/// rounded back.
fn rounded(dtype: DType, promoted: Option<DType>, precision: Precision) -> DType {
    match promoted {
        Some(operands) if precision != Precision::Exact && dtype == operands.compute() && !operands.is_integral() => operands,
        _ => dtype,
    }
}
