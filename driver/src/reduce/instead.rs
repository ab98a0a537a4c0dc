//! Values that may stand for a result that goes away.

use strata_core::ir::{ElementType, Op, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::{arith, func};

use super::edit::set_signature;

/// Where such a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instead {
    /// An argument of a block around the op: nothing in between is needed any more.
    Argument,
    /// A new constant of zeros.
    Constant,
    /// An operand of the op.
    Operand,
    /// A result of an op before it.
    Earlier,
    /// A new argument of the function.
    Fresh,
}

impl Instead {
    /// All of them; the one that takes most with it is the first.
    pub const ALL: &[Instead] = &[Instead::Argument, Instead::Constant, Instead::Operand, Instead::Earlier, Instead::Fresh];

    /// A value for a result of `op`: of this kind, else of the first kind that has one.
    pub fn or_any<'c>(self, op: Op<'c>, result: Value<'c>, rewriter: &mut Rewriter<'c>) -> Option<Value<'c>> {
        self.of(op, result, rewriter).or_else(|| Self::ALL.iter().find_map(|way| way.of(op, result, rewriter)))
    }

    fn of<'c>(self, op: Op<'c>, result: Value<'c>, rewriter: &mut Rewriter<'c>) -> Option<Value<'c>> {
        let ty = result.ty();
        let fits = |value: &Value<'c>| value.ty() == ty;
        match self {
            Self::Argument => enclosing(op).filter_map(Op::block).flat_map(|block| block.args()).find(fits),
            Self::Constant => zeros(op, ty, rewriter),
            Self::Operand => op.operands().into_iter().find(fits),
            Self::Earlier => {
                let before = op.block()?.ops().into_iter().take_while(|other| *other != op);
                before.flat_map(Op::results).filter(fits).last()
            }
            Self::Fresh => {
                let function = enclosing(op).find(|op| op.isa::<func::Func>())?;
                let value = function.region(0).entry()?.add_arg(ty, op.location());
                set_signature(rewriter, function, &mut |inputs, _| inputs.push((ty, function.cx().dict_attr(&[]))));
                Some(value)
            }
        }
    }
}

/// An op and those around it, the innermost first.
fn enclosing<'c>(op: Op<'c>) -> impl Iterator<Item = Op<'c>> {
    std::iter::successors(Some(op), |op| op.parent())
}

fn zeros<'c>(op: Op<'c>, ty: Type<'c>, rewriter: &mut Rewriter<'c>) -> Option<Value<'c>> {
    if op.isa::<arith::Constant>() {
        return None;
    }
    let element = ty.element_type().filter(|element| !element.is_unsigned() && !element.is_complex())?;
    rewriter.go_before(op);
    if ty.is_tensor() {
        let zeros = (ty.is_static()).then(|| op.cx().dense_attr(ty, &vec![0; element.bytes()])).flatten()?;
        return Some(arith::constant(rewriter, ty, zeros));
    }
    Some(match element {
        _ if ty.is_shaped() => return None,
        ElementType::Index => rewriter.const_index(0),
        element if element.is_float() => rewriter.const_float(ty, 0.0),
        _ => rewriter.const_int(ty, 0),
    })
}
