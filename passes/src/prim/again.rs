//! An op once more, with other operands.

use strata_core::ir::{Attr, Builder, Op, OpSpec, Type, Value};

/// The one result, of type `ty`, of the same op with other operands and some attributes changed.
pub(super) fn again<'c>(b: &mut Builder<'c>, op: Op<'c>, operands: &[Value<'c>], ty: Type<'c>, changed: &[(&str, Attr<'c>)]) -> Value<'c> {
    let kept = op.attrs();
    let mut attrs: Vec<(&str, Attr<'c>)> = kept.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
    attrs.retain(|(name, _)| !changed.iter().any(|(other, _)| other == name));
    attrs.extend(changed);
    b.op(OpSpec { name: op.name(), operands, results: &[ty], attrs: &attrs, ..OpSpec::default() }).result(0)
}
