//! A program with all its numbers in `f64`: what rounding hides is seen in it.

use strata_core::ir::{Attr, Cx, ElementType, Module, Type, Value as Ssa};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::{arith, func};
use strata_dialects::prim;
use strata_interp as interp;
use strata_interp::{DType, Tensor};

use crate::Error;

/// Makes all floats of a program at `prim` `f64`, and complex numbers pairs of those.
pub(crate) fn widen(module: &Module<'_>) -> Result<(), Error> {
    let cx = module.cx();
    let mut rewriter = Rewriter::before(module.op());
    let mut ops = Vec::new();
    module.op().walk(&mut |op| ops.push(op));
    for op in ops {
        for region in op.regions() {
            region.blocks().into_iter().flat_map(|block| block.args()).for_each(|argument| widen_value(&mut rewriter, argument));
        }
        op.results().into_iter().for_each(|result| widen_value(&mut rewriter, result));
        // What went between two types of floats goes nowhere now.
        if op.isa::<arith::ExtF>() || op.isa::<arith::TruncF>() {
            rewriter.replace(op, &op.operands());
            continue;
        }
        if (op.isa::<prim::Constant>() || op.isa::<arith::Constant>())
            && let Some(value) = op.attr("value").and_then(|value| widen_attr(cx, value))
        {
            rewriter.set_attr(op, "value", value);
        }
        if op.isa::<func::Func>()
            && let Some(ty) = op.attr("function_type").and_then(Attr::as_type)
        {
            func::set_type(&mut rewriter, op, &wide_types(ty.inputs()), &wide_types(ty.results()));
        }
    }
    module.op().check().map_err(|errors| Error::Interpreter(format!("the program is not one in f64: {errors}")))
}

/// The type with floats of `f64`.
fn wide_type(ty: Type<'_>) -> Type<'_> {
    let cx = ty.cx();
    match ty.element_type() {
        Some(element) if element.is_float() || element.is_complex() => {
            let element = cx.element(if element.is_complex() { ElementType::C128 } else { ElementType::F64 });
            if ty.is_tensor() { ty.with_element(element) } else { element }
        }
        _ => ty,
    }
}

fn wide_types(types: Vec<Type<'_>>) -> Vec<Type<'_>> {
    types.into_iter().map(wide_type).collect()
}

fn widen_value<'c>(rewriter: &mut Rewriter<'c>, value: Ssa<'c>) {
    let wide = wide_type(value.ty());
    if wide != value.ty() {
        rewriter.set_type(value, wide);
    }
}

/// A constant with its numbers in `f64`.
fn widen_attr<'c>(cx: Cx<'c>, attr: Attr<'c>) -> Option<Attr<'c>> {
    if let Some(number) = attr.as_float() {
        return Some(cx.float_attr(cx.element(ElementType::F64), number));
    }
    let (bytes, _) = attr.as_dense()?;
    let ty = attr.ty();
    let dtype = interp::run::dtype_of(ty).ok().filter(|dtype| dtype.is_float() || dtype.is_complex())?;
    // A splat is one element.
    let count = bytes.len() / dtype.size();
    let wide = if dtype.is_complex() { DType::C128 } else { DType::F64 };
    let numbers = Tensor::from_bytes(dtype, &[count], &bytes).ok()?.cast(wide);
    cx.dense_attr(wide_type(ty), &numbers.to_bytes())
}
