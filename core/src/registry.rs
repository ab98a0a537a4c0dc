//! What a tool knows: dialects (and, once per process, passes).

use crate::dialect::{DialectDef, registered};
use crate::ir::Context;
use melior::dialect::DialectRegistry;
use strata_core_sys::{strata_register_dialect, strata_register_upstream};

/// A set of dialects from which contexts are made.
pub struct Registry {
    raw: DialectRegistry,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// Nothing but the builtin dialect.
    pub fn new() -> Self {
        Self { raw: DialectRegistry::new() }
    }

    /// Adds all of MLIR's dialects, with their translations to LLVM IR.
    pub fn with_upstream(self) -> Self {
        // SAFETY: the registry is alive.
        unsafe { strata_register_upstream(self.raw.to_raw(), true) };
        self
    }

    /// Adds a dialect of ours. Panics when the process already has more dialects than the shim has room for (64).
    pub fn with_dialect(self, def: &'static DialectDef) -> Self {
        // SAFETY: the registry is alive, the definition lives forever.
        let fits = unsafe { strata_register_dialect(self.raw.to_raw(), registered(def)) };
        assert!(fits, "no room for the dialect '{}': the shim holds 64", def.name);
        self
    }

    /// The raw registry.
    pub fn to_raw(&self) -> mlir_sys::MlirDialectRegistry {
        self.raw.to_raw()
    }

    /// A new context that loads these dialects as it meets them.
    pub fn context(&self) -> Context {
        let context = Context::new();
        context.append_dialect_registry(&self.raw);
        context
    }
}

/// Loads one dialect of a context by name; says whether it is known.
pub fn load_dialect(context: &Context, name: &str) -> bool {
    // SAFETY: the context and the string are alive for the call.
    let dialect = unsafe { mlir_sys::mlirContextGetOrLoadDialect(context.to_raw(), crate::ir::string_ref(name)) };
    !dialect.ptr.is_null()
}
