//! The plain data that defines ops and dialects.

use super::DataDef;
use super::hooks::{CanonicalizeFn, FoldFn, InferFn};
use super::{AttrKind, Effects, Interface, Traits, TypeConstraint, Violation};
use crate::ir::{Attr, Builder, Op, Type};
use std::any::Any;

/// How many values an operand or result stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// Exactly one.
    One,
    /// None or one.
    Optional,
    /// Any number.
    Variadic,
}

/// An operand or a result.
#[derive(Clone, Copy)]
pub struct ValueDef {
    /// Its name in accessors and messages.
    pub name: &'static str,
    /// How many values it stands for.
    pub arity: Arity,
    /// Which types it may have.
    pub constraint: TypeConstraint,
}

/// An attribute.
#[derive(Clone, Copy)]
pub struct AttrDef {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: AttrKind,
    /// Whether the op must have it.
    pub required: bool,
    /// What it means.
    pub doc: &'static str,
}

/// A region.
#[derive(Clone, Copy)]
pub struct RegionDef {
    /// Its name in accessors and messages.
    pub name: &'static str,
}

/// An op: everything that MLIR and we know of it. Start from [`OpDef::NEW`].
#[derive(Clone, Copy)]
pub struct OpDef {
    /// Full name, `prim.add`.
    pub name: &'static str,
    /// First sentence of the documentation.
    pub summary: &'static str,
    /// The documentation.
    pub doc: &'static str,
    /// Operands, in order.
    pub operands: &'static [ValueDef],
    /// Results, in order.
    pub results: &'static [ValueDef],
    /// Attributes.
    pub attrs: &'static [AttrDef],
    /// Regions, in order.
    pub regions: &'static [RegionDef],
    /// The last region stands for any number of them.
    pub variadic_regions: bool,
    /// Names of the successor blocks.
    pub successors: &'static [&'static str],
    /// The last successor stands for any number of them.
    pub variadic_successors: bool,
    /// Traits.
    pub traits: Traits,
    /// Memory effects.
    pub effects: Effects,
    /// Checks what the data cannot say; called after the checks on the data.
    pub verify: Option<fn(Op<'_>) -> Result<(), Violation>>,
    /// Folding to constants or existing values.
    pub fold: Option<FoldFn>,
    /// Adds the op's canonicalization patterns.
    pub canonicalize: Option<CanonicalizeFn>,
    /// Computes result types from operands and attributes.
    pub infer: Option<InferFn>,
    /// Rust interfaces.
    pub interfaces: &'static [Interface],
    /// Data of the dialect's own, for ops that come from a table.
    pub data: Option<&'static (dyn Any + Send + Sync)>,
}

impl OpDef {
    /// An op without anything, to be filled in by `OpDef { name: .., ..OpDef::NEW }`.
    pub const NEW: OpDef = OpDef {
        name: "",
        summary: "",
        doc: "",
        operands: &[],
        results: &[],
        attrs: &[],
        regions: &[],
        variadic_regions: false,
        successors: &[],
        variadic_successors: false,
        traits: Traits::NONE,
        effects: Effects::NONE,
        verify: None,
        fold: None,
        canonicalize: None,
        infer: None,
        interfaces: &[],
        data: None,
    };

    /// The attribute of that name.
    pub fn attr(&self, name: &str) -> Option<&AttrDef> {
        self.attrs.iter().find(|attr| attr.name == name)
    }

    /// The dialect's own data, when it is a `T`.
    pub fn data<T: 'static>(&self) -> Option<&'static T> {
        self.data?.downcast_ref()
    }

    /// The attribute printed as `@name` behind the op's name.
    pub(crate) fn symbol_attr(&self) -> &'static str {
        if self.traits.has(Traits::CALL) {
            "callee"
        } else if self.traits.has(Traits::SYMBOL) {
            "sym_name"
        } else {
            ""
        }
    }

    /// Whether operands fall into more than one group of unknown size, so that `segments` must tell the sizes.
    pub fn has_segments(&self) -> bool {
        self.operands.iter().filter(|operand| operand.arity != Arity::One).count() > 1
    }
}

/// Makes a constant op of a value and a type with a builder, or says that the dialect has none for them.
pub type ConstantFn = for<'c> fn(&mut Builder<'c>, Attr<'c>, Type<'c>) -> Option<Op<'c>>;

/// A dialect. Start from [`DialectDef::NEW`] and keep it in a `static`.
pub struct DialectDef {
    /// Namespace, `prim`.
    pub name: &'static str,
    /// What the level says, for the reference.
    pub doc: &'static str,
    /// Makes the definitions of all ops; called once per process.
    pub ops: fn() -> Vec<OpDef>,
    /// Its types.
    pub types: &'static [DataDef],
    /// Its attributes: those that are data of their own, not entries of an op's dictionary.
    pub attrs: &'static [DataDef],
    /// Dialects whose ops its folds and patterns make.
    pub dependents: &'static [&'static str],
    /// Makes a constant op from a folded attribute, or says that it cannot.
    pub constant: Option<ConstantFn>,
}

impl DialectDef {
    /// A dialect without anything.
    pub const NEW: DialectDef = DialectDef { name: "", doc: "", ops: Vec::new, types: &[], attrs: &[], dependents: &[], constant: None };
}
