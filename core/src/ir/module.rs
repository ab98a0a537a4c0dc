//! Owned modules.

use super::{Block, Context, Cx, Op, string_ref};
use mlir_sys::*;
use std::marker::PhantomData;

/// A `builtin.module` that the handle owns.
pub struct Module<'c> {
    raw: MlirModule,
    marker: PhantomData<&'c ()>,
}

/// Text that is no valid module, with all that MLIR said of it.
#[derive(Debug, thiserror::Error)]
#[error("{name}: not a valid module\n{diagnostics}")]
pub struct ParseError {
    /// What the text was called.
    pub name: String,
    /// MLIR's messages, one per line.
    pub diagnostics: String,
}

impl<'c> Module<'c> {
    /// An empty module.
    pub fn new(cx: Cx<'c>) -> Self {
        // SAFETY: the context is alive.
        Self { raw: unsafe { mlirModuleCreateEmpty(mlirLocationUnknownGet(cx.raw)) }, marker: PhantomData }
    }

    /// An empty module with the attributes of another, its name aside.
    pub fn empty_like(other: &Self) -> Self {
        let module = Self::new(other.cx());
        other.op().attrs().into_iter().filter(|(name, _)| name != "sym_name").for_each(|(name, attr)| module.op().set_attr(&name, attr));
        module
    }

    /// Parses and verifies text.
    pub fn parse(context: &'c Context, text: &str, name: &str) -> Result<Self, ParseError> {
        Self::read(context, text.as_bytes(), name)
    }

    /// Reads and verifies bytecode.
    pub fn from_bytecode(context: &'c Context, bytes: &[u8], name: &str) -> Result<Self, ParseError> {
        Self::read(context, bytes, name)
    }

    fn read(context: &'c Context, source: &[u8], name: &str) -> Result<Self, ParseError> {
        crate::limits::check(source).map_err(|refused| ParseError { name: name.to_owned(), diagnostics: format!("{name}:{refused}") })?;
        let source = MlirStringRef { data: source.as_ptr().cast(), length: source.len() };
        crate::erased::clear();
        let mut signal = 0;
        let (raw, mut errors) = crate::diagnostic::collect_errors(Cx::from(context), || {
            // SAFETY: the context and the source are alive for the call.
            unsafe { strata_core_sys::strata_parse_module(context.to_raw(), source, string_ref(name), &raw mut signal) }
        });
        if signal != 0 {
            errors.push(crate::crash::report(name, signal));
        }
        if raw.ptr.is_null() {
            return Err(ParseError { name: name.to_owned(), diagnostics: errors.join("\n") });
        }
        Ok(Self { raw, marker: PhantomData })
    }

    /// The module as an op.
    pub fn op(&self) -> Op<'c> {
        // SAFETY: the module is alive.
        unsafe { Op::from_raw(mlirModuleGetOperation(self.raw)) }
    }

    /// The block with the module's ops.
    pub fn body(&self) -> Block<'c> {
        // SAFETY: the module is alive.
        unsafe { Block::from_raw(mlirModuleGetBody(self.raw)) }
    }

    /// The context.
    pub fn cx(&self) -> Cx<'c> {
        self.op().cx()
    }

    /// A deep copy.
    pub fn duplicate(&self) -> Self {
        crate::erased::clear();
        // SAFETY: the module is alive; the clone is a module that the new handle owns.
        Self { raw: unsafe { mlirModuleFromOperation(mlirOperationClone(self.op().raw)) }, marker: PhantomData }
    }

    /// The module as bytecode: smaller and faster to read than text.
    pub fn to_bytecode(&self) -> Vec<u8> {
        unsafe extern "C" fn append(part: MlirStringRef, user: *mut std::ffi::c_void) {
            // SAFETY: `user` is the buffer below, alive for the call, and MLIR passes readable bytes.
            unsafe {
                let bytes = std::slice::from_raw_parts(part.data.cast::<u8>(), part.length);
                (*user.cast::<Vec<u8>>()).extend_from_slice(bytes);
            }
        }
        let mut bytes = Vec::new();
        // SAFETY: the module is alive, and `bytes` outlives the call.
        unsafe { mlirOperationWriteBytecode(self.op().raw, Some(append), (&raw mut bytes).cast()) };
        bytes
    }

    /// The raw module.
    pub fn to_raw(&self) -> MlirModule {
        self.raw
    }
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle owns the module.
        unsafe { mlirModuleDestroy(self.raw) }
    }
}

impl std::fmt::Display for Module<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.op().fmt(formatter)
    }
}
