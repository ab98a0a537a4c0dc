//! Python's arithmetic on floats, which are `f64` in the program: `arith` where that has it, otherwise PyTorch's own
//! operator on tensors of rank 0.

use strata_core::ir::{Builder, ElementType, Value};
use strata_core::upstream::arith::{self, CmpFPredicate};
use strata_dialects::aten::{self, Input, Operator, Scalar, op};

use crate::pt2::expr::Func;

/// A function of numbers of which one is a float, or whose result is one; `None` where it is neither.
pub(super) fn apply<'c>(builder: &mut Builder<'c>, func: Func, operands: &[Value<'c>]) -> Option<Value<'c>> {
    let operands = operands.iter().map(|operand| to_float(builder, *operand)).collect::<Option<Vec<_>>>()?;
    let (a, b) = (*operands.first()?, operands.get(1).copied());
    let fold = |builder: &mut Builder<'c>, name: &str| {
        operands[1..].iter().fold(a, |left, right| builder.value(name, &[left, *right], left.ty(), &[]))
    };
    Some(match func {
        Func::Add => fold(builder, arith::AddF::NAME),
        Func::Mul => fold(builder, arith::MulF::NAME),
        Func::Max => fold(builder, arith::MaximumF::NAME),
        Func::Min => fold(builder, arith::MinimumF::NAME),
        Func::IntTrueDiv | Func::FloatTrueDiv => arith::divf(builder, a, b?),
        Func::FloorDiv => floor_div(builder, a, b?)?,
        Func::Mod | Func::PythonMod => {
            let quotient = floor_div(builder, a, b?)?;
            let whole = arith::mulf(builder, quotient, b?);
            arith::subf(builder, a, whole)
        }
        Func::Pow => function(builder, op::POW_TENSOR_TENSOR, &operands)?,
        Func::Function(operator) => function(builder, operator, &operands)?,
        Func::ToFloat => a,
        Func::TruncToInt => truncated(builder, a),
        Func::FloorToInt => rounded(builder, a, op::FLOOR)?,
        Func::CeilToInt => rounded(builder, a, op::CEIL)?,
        Func::RoundToInt => rounded(builder, a, op::ROUND)?,
        Func::Eq => arith::cmpf(builder, CmpFPredicate::Oeq, operands[0], operands[1]),
        Func::Gt => arith::cmpf(builder, CmpFPredicate::Ogt, operands[0], operands[1]),
        Func::Ge => arith::cmpf(builder, CmpFPredicate::Oge, operands[0], operands[1]),
        Func::Lt => arith::cmpf(builder, CmpFPredicate::Olt, operands[0], operands[1]),
        Func::Le => arith::cmpf(builder, CmpFPredicate::Ole, operands[0], operands[1]),
        Func::Ne => arith::cmpf(builder, CmpFPredicate::Une, operands[0], operands[1]),
        _ => return None,
    })
}

/// An integer or float as `f64`.
pub(crate) fn to_float<'c>(builder: &mut Builder<'c>, value: Value<'c>) -> Option<Value<'c>> {
    let cx = builder.cx();
    if value.ty() == cx.f64() {
        return Some(value);
    }
    let integer = value.ty().is_index().then(|| arith::index_cast(builder, value, cx.int(64)))?;
    Some(arith::sitofp(builder, integer, cx.f64()))
}

/// The integer that is left without the fraction.
fn truncated<'c>(builder: &mut Builder<'c>, value: Value<'c>) -> Value<'c> {
    let cx = builder.cx();
    let integer = arith::fptosi(builder, value, cx.int(64));
    arith::index_cast(builder, integer, cx.index())
}

fn rounded<'c>(builder: &mut Builder<'c>, value: Value<'c>, operator: Operator) -> Option<Value<'c>> {
    let whole = function(builder, operator, &[value])?;
    Some(truncated(builder, whole))
}

fn floor_div<'c>(builder: &mut Builder<'c>, a: Value<'c>, b: Value<'c>) -> Option<Value<'c>> {
    let quotient = arith::divf(builder, a, b);
    function(builder, op::FLOOR, &[quotient])
}

/// PyTorch's operator on these numbers, each as a tensor of rank 0.
fn function<'c>(builder: &mut Builder<'c>, operator: Operator, operands: &[Value<'c>]) -> Option<Value<'c>> {
    let f64 = builder.cx().f64();
    let ty = builder.cx().tensor(&[], f64);
    let mut tensors = Vec::new();
    for operand in operands {
        let inputs = [Some(Input::Scalar(Scalar::Value(*operand))), Some(Input::DType(ElementType::F64))];
        let tensor = aten::build(builder, op::SCALAR_TENSOR.schema(), &inputs, &[ty]).ok()?;
        tensors.push(Some(Input::Tensor(tensor.result(0))));
    }
    let result = aten::build(builder, operator.schema(), &tensors, &[ty]).ok()?.result(0);
    Some(builder.value(op::ITEM.name(), &[result], f64, &[]))
}
