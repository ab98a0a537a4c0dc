//! Types and attributes of our own: a name and named parameters, each an attribute of a kind.
//!
//! `#[dialect_type]` and `#[dialect_attr]` of `strata-macros` write the definition, the typed view and the constructor.

use super::{AttrDef, Violation};
use crate::ir::{Attr, Cx, Type, string_ref};
use mlir_sys::MlirAttribute;
use strata_core_sys::*;

/// Checks parameters whose kinds are right.
pub(crate) type CheckParams = for<'c> fn(&[Attr<'c>]) -> Result<(), Violation>;

/// A type or an attribute: everything that MLIR and we know of it.
#[derive(Clone, Copy)]
pub struct DataDef {
    /// Full name, `sat.fixed`; types print it behind `!`, attributes behind `#`.
    pub name: &'static str,
    /// The documentation.
    pub doc: &'static str,
    /// Its parameters, in order.
    pub params: &'static [AttrDef],
    /// Checks what the kinds of the parameters cannot say.
    pub verify: Option<CheckParams>,
}

impl DataDef {
    /// Reports the first broken rule of parameters.
    pub(crate) fn check(&self, params: &[Attr<'_>]) -> Result<(), Violation> {
        if params.len() != self.params.len() {
            return Err(Violation::new(0, format!("has {} parameters, not {}", self.params.len(), params.len())));
        }
        for (def, param) in self.params.iter().zip(params) {
            if !(def.kind.check)(*param) {
                return Err(Violation::new(0, format!("parameter `{}` is {param}, not {}", def.name, def.kind.name)));
            }
        }
        self.verify.map_or(Ok(()), |verify| verify(params))
    }

    fn unloaded(&self) -> Violation {
        Violation::new(0, format!("`{}` is of a dialect that is not loaded", self.name))
    }

    /// The type with these parameters.
    pub fn make_type<'c>(&self, cx: Cx<'c>, params: &[Attr<'c>]) -> Result<Type<'c>, Violation> {
        self.check(params)?;
        let raw: Vec<MlirAttribute> = params.iter().map(|param| param.to_raw()).collect();
        // SAFETY: the handles are alive, and the parameters are checked.
        let made = unsafe { strata_type_get(cx.to_raw(), string_ref(self.name), raw.len() as isize, raw.as_ptr()) };
        // SAFETY: a type that is not null lives as long as its context.
        if made.ptr.is_null() { Err(self.unloaded()) } else { Ok(unsafe { Type::from_raw(made) }) }
    }

    /// The attribute with these parameters.
    pub fn make_attr<'c>(&self, cx: Cx<'c>, params: &[Attr<'c>]) -> Result<Attr<'c>, Violation> {
        self.check(params)?;
        let raw: Vec<MlirAttribute> = params.iter().map(|param| param.to_raw()).collect();
        // SAFETY: the handles are alive, and the parameters are checked.
        let made = unsafe { strata_attr_get(cx.to_raw(), string_ref(self.name), raw.len() as isize, raw.as_ptr()) };
        // SAFETY: an attribute that is not null lives as long as its context.
        if made.ptr.is_null() { Err(self.unloaded()) } else { Ok(unsafe { Attr::from_raw(made) }) }
    }
}

impl<'c> Type<'c> {
    /// Whether it is the type of that full name, of a dialect of ours.
    pub fn is_named(self, name: &str) -> bool {
        // SAFETY: the type is alive.
        unsafe { strata_type_is(self.to_raw(), string_ref(name)) }
    }

    /// A parameter of a type of ours.
    pub fn param(self, index: usize) -> Option<Attr<'c>> {
        // SAFETY: the type is alive.
        let raw = unsafe { strata_type_param(self.to_raw(), index as isize) };
        // SAFETY: a parameter lives as long as its type.
        (!raw.ptr.is_null()).then(|| unsafe { Attr::from_raw(raw) })
    }
}

impl<'c> Attr<'c> {
    /// Whether it is the attribute of that full name, of a dialect of ours.
    pub fn is_named(self, name: &str) -> bool {
        // SAFETY: the attribute is alive.
        unsafe { strata_attr_is(self.to_raw(), string_ref(name)) }
    }

    /// A parameter of an attribute of ours.
    pub fn param(self, index: usize) -> Option<Attr<'c>> {
        // SAFETY: the attribute is alive.
        let raw = unsafe { strata_attr_param(self.to_raw(), index as isize) };
        // SAFETY: a parameter lives as long as its attribute.
        (!raw.ptr.is_null()).then(|| unsafe { Attr::from_raw(raw) })
    }
}
