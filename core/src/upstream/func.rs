//! `func`: functions.

use super::ops;
use crate::ir::{Builder, Op, OpSpec, Type, Value};
use crate::rewrite::Rewriter;

ops! {
    /// Calls a function by its symbol.
    op Call "func.call";
    /// The address of a function.
    op Constant "func.constant";
    /// A function.
    op Func "func.func";
    /// Returns from a function.
    op Return "func.return";
}

/// Calls a function by its symbol.
pub fn call<'c>(b: &mut Builder<'c>, callee: &str, operands: &[Value<'c>], results: &[Type<'c>]) -> Op<'c> {
    let attrs = [("callee", b.cx().symbol_attr(callee))];
    b.op(OpSpec { name: Call::NAME, operands, results, attrs: &attrs, ..OpSpec::default() })
}

/// The address of a function of that type.
pub fn constant<'c>(b: &mut Builder<'c>, function: &str, ty: Type<'c>) -> Value<'c> {
    let value = b.cx().symbol_attr(function);
    b.value(Constant::NAME, &[], ty, &[("value", value)])
}

/// Returns from a function.
pub fn ret<'c>(b: &mut Builder<'c>, values: &[Value<'c>]) -> Op<'c> {
    b.effect(Return::NAME, values, &[])
}

/// Gives a function another type; that of its body must be the same.
pub fn set_type<'c>(rewriter: &mut Rewriter<'c>, function: Op<'c>, inputs: &[Type<'c>], results: &[Type<'c>]) {
    let ty = function.cx().function(inputs, results);
    rewriter.set_attr(function, "function_type", function.cx().type_attr(ty));
}
