//! Calls that are not tensor operators: python's operators on symbolic numbers, sizes, and assertions.

use strata_core::ir::{Builder, Value};
use strata_core::upstream::arith::{self, CmpIPredicate};
use strata_dialects::aten::op;
use strata_dialects::capture;

use super::{error::Refusal, floats::to_float, node::Importer, scope::Scope, symbols::apply, types};
use crate::pt2::{
    argument::{Argument, Sym},
    expr::{Expr, Func},
    schema::{Node, SymInt, TensorMeta},
};

/// Imports such a call; says whether it was one.
pub(super) fn import<'g, 'c>(importer: &mut Importer<'c>, scope: &mut Scope<'g, 'c>, node: &'g Node) -> Result<bool, Refusal> {
    match node.target.as_str() {
        "torch.ops.aten.sym_size.int" => size(importer, scope, node),
        "torch.ops.aten._assert_tensor_metadata.default" => metadata(scope, node).map(|()| true),
        "torch.ops.aten._assert_scalar.default" => assertion(importer, scope, node).map(|()| true),
        "torch.ops.aten.sym_constrain_range.default" | "torch.ops.aten.sym_constrain_range_for_size.default" => {
            range(importer, scope, node).map(|()| true)
        }
        target => match operator(target) {
            Some(operator) => arithmetic(importer, scope, node, operator).map(|()| true),
            None => Ok(false),
        },
    }
}

/// The argument of a parameter, by name or place.
fn given<'g>(node: &'g Node, name: &str, place: usize) -> Option<&'g Argument> {
    let named = node.inputs.iter().find(|input| input.name == name);
    named.or_else(|| node.inputs.get(place).filter(|input| input.name.is_empty())).map(|input| &input.arg)
}

pub(super) fn needed<'g>(node: &'g Node, name: &str, place: usize) -> Result<&'g Argument, Refusal> {
    given(node, name, place).ok_or_else(|| Refusal::broken(format!("argument `{name}` is missing")))
}

/// `sym_size`: the symbols' own arithmetic where the inputs determine the size. Otherwise the operator stays, and its
/// result is what the symbol stands for from here on.
fn size<'g, 'c>(importer: &mut Importer<'c>, scope: &mut Scope<'g, 'c>, node: &'g Node) -> Result<bool, Refusal> {
    let [Argument::AsSymInt(Sym::Name(output))] = node.outputs.as_slice() else { return Ok(false) };
    let Argument::AsTensor(tensor) = needed(node, "self", 0)? else { return Ok(false) };
    let Argument::AsInt(dim) = needed(node, "dim", 1)? else { return Ok(false) };
    let sizes = &scope.meta(&tensor.name)?.sizes;
    let place = if *dim < 0 { dim + sizes.len() as i64 } else { *dim };
    let found = usize::try_from(place).ok().and_then(|place| sizes.get(place));
    let found = types::expr(found.ok_or_else(|| Refusal::broken(format!("`{}` has no dimension {dim}", tensor.name)))?);
    let recorded = scope.graph.sym_int_values.get(output).map(types::expr);
    if recorded.as_ref() == Some(&found) && importer.symbols.covers(&found) {
        let value = importer.symbols.build(&mut importer.builder, &found)?;
        scope.define(output, value);
        return Ok(true);
    }
    let value = scope.get(&tensor.name)?;
    let (cx, index) = (importer.cx, importer.cx.index());
    let value = importer.builder.value(op::SYM_SIZE_INT.name(), &[value], index, &[("dim", cx.i64_attr(place))]);
    scope.define(output, value);
    Ok(true)
}

/// A python operator as the function it means, or one that sympy has no function for.
#[derive(Clone, Copy)]
enum Operator {
    Func(Func),
    Sub,
    Neg,
    Pos,
    Shift { left: bool },
}

fn operator(target: &str) -> Option<Operator> {
    let (module, name) = target.rsplit_once('.')?;
    if !matches!(module, "_operator" | "operator" | "torch" | "math") {
        return None;
    }
    Some(match name {
        "add" => Operator::Func(Func::Add),
        "sub" => Operator::Sub,
        "neg" => Operator::Neg,
        "mul" => Operator::Func(Func::Mul),
        "floordiv" => Operator::Func(Func::FloorDiv),
        "truediv" => Operator::Func(Func::FloatTrueDiv),
        "mod" => Operator::Func(Func::PythonMod),
        "pow" => Operator::Func(Func::Pow),
        "eq" => Operator::Func(Func::Eq),
        "ne" => Operator::Func(Func::Ne),
        "lt" => Operator::Func(Func::Lt),
        "le" => Operator::Func(Func::Le),
        "gt" => Operator::Func(Func::Gt),
        "ge" => Operator::Func(Func::Ge),
        "and_" => Operator::Func(Func::And),
        "or_" => Operator::Func(Func::Or),
        "not_" | "sym_not" => Operator::Func(Func::Not),
        "sym_max" => Operator::Func(Func::Max),
        "sym_min" => Operator::Func(Func::Min),
        "sym_ite" => Operator::Func(Func::Where),
        "sym_float" => Operator::Func(Func::ToFloat),
        "sym_int" | "trunc" => Operator::Func(Func::TruncToInt),
        "sym_sqrt" | "_sym_sqrt" => Operator::Func(Func::Function(op::SQRT)),
        "pos" => Operator::Pos,
        "lshift" => Operator::Shift { left: true },
        "rshift" => Operator::Shift { left: false },
        _ => return None,
    })
}

fn arithmetic<'g, 'c>(importer: &mut Importer<'c>, scope: &mut Scope<'g, 'c>, node: &'g Node, operator: Operator) -> Result<(), Refusal> {
    let builder = &mut importer.builder;
    let operands = node.inputs.iter().map(|input| scope.number(builder, &input.arg)).collect::<Result<Vec<_>, _>>()?;
    let value = compute(builder, operator, &operands).ok_or_else(|| {
        let types: Vec<_> = operands.iter().map(|operand| operand.ty().to_string()).collect();
        Refusal::unsupported(format!("this operator is not imported on numbers of types ({})", types.join(", ")))
    })?;
    match node.outputs.as_slice() {
        [output] if scope.ty(importer.cx, output)? == value.ty() => scope.bind(output, value),
        _ => Err(Refusal::broken(format!("the result is one number of type {}", value.ty()))),
    }
}

fn compute<'c>(builder: &mut Builder<'c>, operator: Operator, operands: &[Value<'c>]) -> Option<Value<'c>> {
    let all_index = operands.iter().all(|operand| operand.ty().is_index());
    match (operator, operands) {
        (Operator::Func(func), _) => apply(builder, func, operands),
        (Operator::Sub, [a, b]) if all_index => Some(arith::subi(builder, *a, *b)),
        (Operator::Sub, [a, b]) => {
            let operands = [to_float(builder, *a)?, to_float(builder, *b)?];
            Some(builder.value(arith::SubF::NAME, &operands, operands[0].ty(), &[]))
        }
        (Operator::Neg, [a]) if all_index => {
            let zero = builder.const_index(0);
            Some(arith::subi(builder, zero, *a))
        }
        (Operator::Neg, [a]) => {
            let operand = to_float(builder, *a)?;
            Some(arith::negf(builder, operand))
        }
        (Operator::Pos, [a]) => Some(*a),
        (Operator::Shift { left }, [a, b]) if all_index => {
            Some(builder.value(if left { arith::ShLI::NAME } else { arith::ShRSI::NAME }, &[*a, *b], a.ty(), &[]))
        }
        _ => None,
    }
}

/// A runtime assertion on a symbolic condition is a guard; one on a constant is decided here.
fn assertion<'c>(importer: &mut Importer<'c>, scope: &Scope<'_, 'c>, node: &Node) -> Result<(), Refusal> {
    let text = match given(node, "assert_msg", 1) {
        Some(Argument::AsString(text)) => text.as_str(),
        _ => "assertion of the program",
    };
    match needed(node, "self", 0)? {
        Argument::AsBool(true) | Argument::AsSymBool(Sym::Value(true)) => Ok(()),
        Argument::AsBool(false) | Argument::AsSymBool(Sym::Value(false)) => {
            Err(Refusal::unsupported(format!("the program asserts what never holds: {text}")))
        }
        Argument::AsInt(value) if *value != 0 => Ok(()),
        condition => {
            let mut value = scope.number(&mut importer.builder, condition)?;
            if value.ty().is_index() {
                let zero = importer.builder.const_index(0);
                value = arith::cmpi(&mut importer.builder, CmpIPredicate::Ne, value, zero);
            }
            if value.ty() != importer.cx.int(1) {
                return Err(Refusal::unsupported(format!("an assertion on a number of type {}", value.ty())));
            }
            let text = importer.cx.str_attr(text);
            importer.builder.effect(capture::Guard::NAME, &[value], &[("text", text)]);
            Ok(())
        }
    }
}

/// A range on a symbolic number is a guard for each of its bounds.
fn range<'c>(importer: &mut Importer<'c>, scope: &Scope<'_, 'c>, node: &Node) -> Result<(), Refusal> {
    let size = needed(node, "size", 0).or_else(|_| needed(node, "self", 0))?;
    let value = scope.number(&mut importer.builder, size)?;
    if !value.ty().is_index() {
        return Err(Refusal::unsupported("a range on a number that is no integer"));
    }
    for (name, predicate) in [("min", CmpIPredicate::Sge), ("max", CmpIPredicate::Sle)] {
        let Some(Argument::AsInt(bound)) = given(node, name, usize::MAX) else { continue };
        let limit = importer.builder.const_index(*bound);
        let holds = arith::cmpi(&mut importer.builder, predicate, value, limit);
        let text = importer.cx.str_attr(&format!("{name} of a symbolic number is {bound}"));
        importer.builder.effect(capture::Guard::NAME, &[holds], &[("text", text)]);
    }
    Ok(())
}

/// An assertion on what a tensor is: decided by what the archive says of it.
fn metadata<'c>(scope: &Scope<'_, 'c>, node: &Node) -> Result<(), Refusal> {
    let Argument::AsTensor(tensor) = needed(node, "a", 0)? else {
        return Err(Refusal::broken("argument `a` is not a tensor"));
    };
    let meta = scope.meta(&tensor.name)?;
    for input in &node.inputs {
        let holds = match (input.name.as_str(), &input.arg) {
            ("a", _) | (_, Argument::AsNone(_)) => true,
            ("dtype", Argument::AsScalarType(dtype)) => *dtype == meta.dtype,
            ("device", Argument::AsDevice(device)) => device.kind == meta.device.kind,
            ("layout", Argument::AsLayout(layout)) => *layout == meta.layout,
            ("size", values) => same_sizes(scope, values, &meta.sizes),
            ("stride", values) => same_sizes(scope, values, &meta.strides),
            _ => false,
        };
        if !holds {
            return Err(Refusal::unsupported(format!("it asserts a `{}` of `{}` that {} denies", input.name, tensor.name, describe(meta))));
        }
    }
    Ok(())
}

fn describe(meta: &TensorMeta) -> String {
    format!("its description ({}, {}, {})", meta.dtype, meta.device, meta.layout.name())
}

fn same_sizes(scope: &Scope<'_, '_>, values: &Argument, sizes: &[SymInt]) -> bool {
    let symbolic = |sym: &Sym<i64>| match sym {
        Sym::Value(value) => Some(Expr::Int(*value)),
        Sym::Name(name) => scope.graph.sym_int_values.get(name).map(types::expr),
    };
    let values: Option<Vec<_>> = match values {
        Argument::AsInts(values) => Some(values.iter().map(|value| Expr::Int(*value)).collect()),
        Argument::AsSymInts(values) => values.iter().map(symbolic).collect(),
        _ => None,
    };
    values.is_some_and(|values| values == sizes.iter().map(types::expr).collect::<Vec<_>>())
}
