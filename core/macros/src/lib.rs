//! Attribute and derive macros of `strata-core`: an op is one Rust item, a pass is one Rust struct.

mod data;
mod op;
mod op_args;
mod op_fields;
mod pass;

use proc_macro::TokenStream;

/// Defines an op from a struct whose fields are its operands, results, attributes and regions.
///
/// ```text
/// /// Elementwise sum.
/// ///
/// /// C1: integers wrap.
/// #[op("prim.add", traits(Pure, Commutative, SameOperandsAndResultType), verify)]
/// pub struct Add { lhs: Operand<Tensor>, rhs: Operand<Tensor>, result: Result<Tensor> }
/// ```
///
/// Fields: `Operand<T>`, `Optional<T>`, `Variadic<T>`, `Result<T>`, `Results<T>`, `Attr<K>`, `OptAttr<K>`, `Region`,
/// `Regions`, `Successor`, `Successors`, with the marker types of `strata_core::dialect::kinds`.
/// Arguments: the name, `traits(..)`, `effects(Read, Write, Allocate, Free)`, `interfaces(..)`, and the keywords `verify`,
/// `fold`, `canonicalize`, `infer`, each of which needs the trait of that name implemented for the struct.
#[proc_macro_attribute]
pub fn op(args: TokenStream, item: TokenStream) -> TokenStream {
    op::expand(args.into(), item.into()).unwrap_or_else(|error| error.into_compile_error()).into()
}

/// Defines a type of a dialect from a struct whose fields are its parameters.
///
/// ```text
/// /// Numbers of `bits` bits, `fraction` of them behind the point: `!sat.fixed<bits = 16, fraction = 8>`.
/// #[dialect_type("sat.fixed", verify = fits)]
/// pub struct Fixed { bits: I64, fraction: I64 }
///
/// fn fits(bits: i64, fraction: i64) -> Result<(), Violation> { .. }
/// ```
///
/// A field's type is a marker of `strata_core::dialect::kinds`, the kind of attribute that holds it. The struct becomes a view:
/// `Fixed::get(cx, 16, 8)`, `Fixed::cast(ty)`, `fixed.bits()`; it also stands for itself in `Operand<Fixed>` of an op.
/// List `Fixed::DEF` in the dialect's `types`.
#[proc_macro_attribute]
pub fn dialect_type(args: TokenStream, item: TokenStream) -> TokenStream {
    data::expand(args.into(), item.into(), data::Sort::Type).unwrap_or_else(|error| error.into_compile_error()).into()
}

/// Defines an attribute of a dialect, as [`macro@dialect_type`] defines a type; it stands for itself in `Attr<..>` of an op.
/// List its `DEF` in the dialect's `attrs`.
#[proc_macro_attribute]
pub fn dialect_attr(args: TokenStream, item: TokenStream) -> TokenStream {
    data::expand(args.into(), item.into(), data::Sort::Attr).unwrap_or_else(|error| error.into_compile_error()).into()
}

/// Defines a pass from a struct whose fields are its options (and `Counter`s its statistics).
///
/// The documentation is the description, that of the fields describes the options. The command line argument is the struct's
/// name in kebab case; `#[pass(name = "..", anchor = "func.func", dependents("prim"))]` changes it, the anchor op
/// (`builtin.module`; `""` is any op) and the dialects it makes ops of; `#[option(default = 3)]` sets a default.
/// `impl Default` comes along.
#[proc_macro_derive(Pass, attributes(pass, option))]
pub fn pass(item: TokenStream) -> TokenStream {
    pass::expand(item.into()).unwrap_or_else(|error| error.into_compile_error()).into()
}
