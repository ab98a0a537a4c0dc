//! Handles to IR: contexts, operations, values, blocks, regions, types, attributes, and the builder that makes them.
//!
//! melior's own handles borrow from the operation that they were read from, which a pass that rewrites a graph cannot live with.
//! These are plain copies of MLIR's pointers, tied only to the context's lifetime `'c`.

mod affine;
mod attr;
mod block;
mod builder;
mod cx;
mod element;
mod location;
mod module;
mod op;
mod region;
mod types;
mod value;

pub use affine::{AffineExpr, AffineKind, AffineMap};
pub use attr::Attr;
pub use block::Block;
pub use builder::{Builder, OpSpec};
pub use cx::Cx;
pub use element::ElementType;
pub use location::Location;
pub use melior::Context;
pub use module::{Module, ParseError};
pub use op::Op;
pub use region::Region;
pub use types::Type;
pub use value::{Use, Value};

/// The size of a dimension that is not known while compiling, as MLIR encodes it.
pub const DYNAMIC: i64 = i64::MIN;

use mlir_sys::MlirStringRef;

/// Hands a Rust string to the C API for the length of one call.
pub(crate) fn string_ref(text: &str) -> MlirStringRef {
    MlirStringRef { data: text.as_ptr().cast(), length: text.len() }
}

/// Copies a string out of the C API.
///
/// # Safety
/// `raw` must point at `raw.length` readable bytes.
pub(crate) unsafe fn string_from(raw: MlirStringRef) -> String {
    if raw.length == 0 {
        return String::new();
    }
    // SAFETY: the caller promises `length` readable bytes.
    let bytes = unsafe { std::slice::from_raw_parts(raw.data.cast::<u8>(), raw.length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// The callback with which MLIR prints into a Rust `String`.
pub(crate) unsafe extern "C" fn print_into(text: MlirStringRef, user: *mut std::ffi::c_void) {
    // SAFETY: `user` is the `String` that the caller of the printing function passed, alive for the call.
    let out = unsafe { &mut *user.cast::<String>() };
    // SAFETY: MLIR passes a valid string.
    out.push_str(&unsafe { string_from(text) });
}

/// Implements equality and hashing by pointer for a handle.
macro_rules! identity {
    ($name:ident) => {
        impl PartialEq for $name<'_> {
            fn eq(&self, other: &Self) -> bool {
                self.raw.ptr == other.raw.ptr
            }
        }
        impl Eq for $name<'_> {}
        impl std::hash::Hash for $name<'_> {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                (self.raw.ptr as usize).hash(state);
            }
        }
        impl PartialOrd for $name<'_> {
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }
        impl Ord for $name<'_> {
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                (self.raw.ptr as usize).cmp(&(other.raw.ptr as usize))
            }
        }
    };
}

/// Implements `Display` (and `Debug` as the same text) by one of MLIR's printing functions.
macro_rules! printed {
    ($name:ident, $print:path) => {
        impl std::fmt::Display for $name<'_> {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut text = String::new();
                // SAFETY: the handle is valid and `text` outlives the call.
                unsafe { $print(self.raw, Some(crate::ir::print_into), (&raw mut text).cast()) };
                formatter.write_str(&text)
            }
        }
        impl std::fmt::Debug for $name<'_> {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, formatter)
            }
        }
    };
}

pub(crate) use identity;
pub(crate) use printed;
