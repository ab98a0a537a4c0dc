//! Upstream's ops as Rust items: for each op that Strata reads or builds a type that stands for it, and a function that builds it.
//!
//! `op.isa::<arith::AddI>()` asks for the kind, `arith::AddI::NAME` is a pattern of a `match` on [`Op::name`](crate::ir::Op::name), and
//! `arith::addi(b, x, y)` makes the op. A row gives no constraints: MLIR's own definition verifies the op.

pub mod arith;
pub mod cf;
pub mod complex;
pub mod func;
pub mod gpu;
pub mod llvm;
pub mod math;
pub mod nvvm;
pub mod scf;
pub mod tensor;
pub mod vector;

/// The kinds of row: what a builder is given besides its operands, and the type of the one result.
///
/// `same`: the type of the first operand. `cast`: a type given. `test`: `i1` in the first operand's shape. `effect`: no result.
/// `op`: no builder, only the name.
macro_rules! ops {
    ($($(#[$doc:meta])* $kind:ident $name:ident $text:literal $($function:ident)? $(($($arg:ident),*))?;)*) => {$(
        $(#[$doc])*
        pub struct $name;

        impl $name {
            /// The op's full name.
            pub const NAME: &'static str = $text;
        }

        impl crate::dialect::OpName for $name {
            const NAME: &'static str = $text;
        }

        crate::upstream::builder!($kind $(#[$doc])* $name $($function)? $(($($arg),*))?);
    )*};
}

macro_rules! builder {
    (same $(#[$doc:meta])* $name:ident $function:ident ($first:ident $(, $arg:ident)*)) => {
        $(#[$doc])*
        pub fn $function<'c>(b: &mut crate::ir::Builder<'c>, $first: crate::ir::Value<'c> $(, $arg: crate::ir::Value<'c>)*) -> crate::ir::Value<'c> {
            b.value($name::NAME, &[$first $(, $arg)*], $first.ty(), &[])
        }
    };
    (cast $(#[$doc:meta])* $name:ident $function:ident ($($arg:ident),*)) => {
        $(#[$doc])*
        pub fn $function<'c>(b: &mut crate::ir::Builder<'c>, $($arg: crate::ir::Value<'c>,)* to: crate::ir::Type<'c>) -> crate::ir::Value<'c> {
            b.value($name::NAME, &[$($arg),*], to, &[])
        }
    };
    (test $(#[$doc:meta])* $name:ident $function:ident ($first:ident $(, $arg:ident)*)) => {
        $(#[$doc])*
        pub fn $function<'c>(
            b: &mut crate::ir::Builder<'c>,
            $first: crate::ir::Value<'c>
            $(, $arg: crate::ir::Value<'c>)*
        ) -> crate::ir::Value<'c> {
            b.value($name::NAME, &[$first $(, $arg)*], crate::upstream::bools($first), &[])
        }
    };
    (effect $(#[$doc:meta])* $name:ident $function:ident ($($arg:ident),*)) => {
        $(#[$doc])*
        pub fn $function<'c>(b: &mut crate::ir::Builder<'c>, $($arg: crate::ir::Value<'c>),*) -> crate::ir::Op<'c> {
            b.effect($name::NAME, &[$($arg),*], &[])
        }
    };
    (op $($rest:tt)*) => {};
}

use {builder, ops};

/// `i1` in the shape of a value: the type of a comparison.
fn bools<'c>(value: crate::ir::Value<'c>) -> crate::ir::Type<'c> {
    let (ty, cx) = (value.ty(), value.cx());
    let bit = cx.int(1);
    match (ty.is_vector(), ty.is_tensor()) {
        (true, _) => cx.vector(&ty.shape(), bit),
        (_, true) => ty.with_element(bit),
        _ => bit,
    }
}

/// An enumerated attribute: Rust names for the numbers that MLIR stores.
macro_rules! enumeration {
    ($(#[$doc:meta])* pub enum $name:ident { $($(#[$case_doc:meta])* $case:ident = $number:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(i64)]
        pub enum $name {
            $($(#[$case_doc])* $case = $number,)*
        }

        impl $name {
            /// The case of a number.
            pub fn from_number(number: i64) -> Option<Self> {
                match number {
                    $($number => Some(Self::$case),)*
                    _ => None,
                }
            }

            /// As an attribute.
            pub fn attr(self, cx: crate::ir::Cx<'_>) -> crate::ir::Attr<'_> {
                cx.i64_attr(self as i64)
            }
        }
    };
}
use enumeration;
