//! Values and their uses.

use super::{Block, Cx, Location, Op, Type, identity, printed};
use mlir_sys::*;
use std::marker::PhantomData;

/// An SSA value: an operation's result or a block's argument.
#[derive(Clone, Copy)]
pub struct Value<'c> {
    pub(crate) raw: MlirValue,
    pub(crate) marker: PhantomData<&'c ()>,
}

identity!(Value);
printed!(Value, mlirValuePrint);

/// One use of a value: operand `index` of `op`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use<'c> {
    /// The using operation.
    pub op: Op<'c>,
    /// Which of its operands.
    pub index: usize,
}

impl<'c> Value<'c> {
    /// # Safety
    /// The value must be alive wherever the handle is used.
    pub unsafe fn from_raw(raw: MlirValue) -> Self {
        Self { raw, marker: PhantomData }
    }

    /// The raw value.
    pub fn to_raw(self) -> MlirValue {
        self.raw
    }

    /// The context.
    pub fn cx(self) -> Cx<'c> {
        // SAFETY: the value is alive.
        Cx { raw: unsafe { mlirValueGetContext(self.raw) }, marker: PhantomData }
    }

    /// Its type.
    pub fn ty(self) -> Type<'c> {
        // SAFETY: the value is alive.
        Type { raw: unsafe { mlirValueGetType(self.raw) }, marker: PhantomData }
    }

    /// Changes its type in place.
    pub(crate) fn set_type(self, ty: Type<'c>) {
        // SAFETY: the value and the type are alive.
        unsafe { mlirValueSetType(self.raw, ty.raw) }
    }

    /// Where it comes from: the op's place, or an argument's own.
    pub fn location(self) -> Location<'c> {
        // SAFETY: the value is alive, and with it its context.
        unsafe { Location::from_raw(mlirValueGetLocation(self.raw)) }
    }

    /// Says where a block argument comes from; a result's place is its op's.
    pub(crate) fn set_location(self, location: Location<'c>) {
        if self.defining_op().is_none() {
            // SAFETY: the value is an argument and alive, as is the location.
            unsafe { mlirBlockArgumentSetLocation(self.raw, location.raw) }
        }
    }

    /// The operation that this is a result of.
    pub fn defining_op(self) -> Option<Op<'c>> {
        // SAFETY: the value is alive, and only results are asked for their owner.
        unsafe { mlirValueIsAOpResult(self.raw).then(|| Op::from_raw(mlirOpResultGetOwner(self.raw))) }
    }

    /// Which result of its operation, or which argument of its block.
    pub fn index(self) -> usize {
        // SAFETY: the value is alive and is one of the two.
        unsafe {
            if mlirValueIsAOpResult(self.raw) {
                mlirOpResultGetResultNumber(self.raw) as usize
            } else {
                mlirBlockArgumentGetArgNumber(self.raw) as usize
            }
        }
    }

    /// The block that this is an argument of.
    pub fn owner_block(self) -> Option<Block<'c>> {
        // SAFETY: the value is alive, and only arguments are asked for their block.
        unsafe { mlirValueIsABlockArgument(self.raw).then(|| Block::from_raw(mlirBlockArgumentGetOwner(self.raw))) }
    }

    /// All uses.
    pub fn uses(self) -> Vec<Use<'c>> {
        let mut uses = Vec::new();
        // SAFETY: the chain of uses is walked without changing it.
        unsafe {
            let mut operand = mlirValueGetFirstUse(self.raw);
            while !mlirOpOperandIsNull(operand) {
                uses.push(Use { op: Op::from_raw(mlirOpOperandGetOwner(operand)), index: mlirOpOperandGetOperandNumber(operand) as usize });
                operand = mlirOpOperandGetNextUse(operand);
            }
        }
        uses
    }

    /// Whether nothing uses it.
    pub fn is_unused(self) -> bool {
        // SAFETY: the value is alive.
        unsafe { mlirOpOperandIsNull(mlirValueGetFirstUse(self.raw)) }
    }

    /// Makes every user use `other` instead.
    pub(crate) fn replace_all_uses_with(self, other: Value<'c>) {
        // SAFETY: both values are alive.
        unsafe { mlirValueReplaceAllUsesOfWith(self.raw, other.raw) }
    }
}
