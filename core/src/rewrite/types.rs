//! How types change in a dialect conversion.

use super::conversion::detached;
use crate::guard;
use crate::ir::{Builder, Location, Op, Type, Value};
use mlir_sys::*;
use std::ffi::c_void;
use strata_core_sys::*;

/// What a type becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Converted<'x> {
    /// These types: itself when it stays, none when it vanishes.
    To(Vec<Type<'x>>),
    /// Nothing: the conversion fails on it.
    Impossible,
}

type Convert = Box<dyn for<'x> Fn(Type<'x>) -> Option<Converted<'x>> + Send + Sync>;
type Build = Box<dyn for<'x> Fn(&mut Builder<'x>, Type<'x>, &[Value<'x>]) -> Option<Op<'x>> + Send + Sync>;

/// Rules for types, and for casts between old and new ones.
pub struct TypeConverter {
    raw: *mut StrataTypeConverter,
}

// SAFETY: MLIR guards the converter's cache by a lock; rules are added only before it is used.
unsafe impl Send for TypeConverter {}
// SAFETY: as above.
unsafe impl Sync for TypeConverter {}

unsafe extern "C" fn drop_box<T>(user: *mut c_void) {
    // SAFETY: `user` is a boxed `T` that was leaked for C++, which drops it once.
    drop(unsafe { Box::from_raw(user.cast::<T>()) });
}

// SAFETY of this impl: the converter is alive as long as the handle.
impl TypeConverter {
    pub(super) fn new() -> Self {
        // SAFETY: no precondition.
        Self { raw: unsafe { strata_type_converter_create() } }
    }

    pub(super) fn to_raw(&self) -> *mut StrataTypeConverter {
        self.raw
    }

    pub(super) fn add(&self, convert: impl for<'x> Fn(Type<'x>) -> Option<Converted<'x>> + Send + Sync + 'static) {
        unsafe extern "C" fn ask(user: *mut c_void, ty: MlirType, sink: *mut c_void) -> i32 {
            // SAFETY: `user` is the closure below; types live as long as the context.
            let (convert, ty) = unsafe { (&*user.cast::<Convert>(), Type::from_raw(ty)) };
            match guard::quiet(|| convert(ty)) {
                Some(Some(Converted::To(types))) => {
                    // SAFETY: `sink` is the one that MLIR passed.
                    types.into_iter().for_each(|ty| unsafe { strata_push_type(sink, ty.to_raw()) });
                    1
                }
                Some(None) => -1,
                Some(Some(Converted::Impossible)) | None => 0,
            }
        }
        let convert: Box<Convert> = Box::new(Box::new(convert));
        // SAFETY: see the impl; C++ owns the closure from now on.
        unsafe { strata_type_converter_add(self.raw, Box::into_raw(convert).cast(), Some(drop_box::<Convert>), ask) }
    }

    pub(super) fn materialize(
        &self,
        build: impl for<'x> Fn(&mut Builder<'x>, Type<'x>, &[Value<'x>]) -> Option<Op<'x>> + Send + Sync + 'static,
    ) {
        unsafe extern "C" fn make(
            user: *mut c_void,
            ty: MlirType,
            count: isize,
            inputs: *const MlirValue,
            location: MlirLocation,
        ) -> MlirOperation {
            // SAFETY: `user` is the closure below; MLIR passes live handles and `count` inputs.
            let (build, ty, place) = unsafe { (&*user.cast::<std::sync::Arc<Build>>(), Type::from_raw(ty), Location::from_raw(location)) };
            // SAFETY: as above.
            let inputs: Vec<_> = (0..count as usize).map(|index| unsafe { Value::from_raw(*inputs.add(index)) }).collect();
            let made = guard::at_location(place, "making a cast", || build(&mut detached(location), ty, &inputs)).flatten();
            made.filter(|op| op.num_results() == 1).map_or(MlirOperation { ptr: std::ptr::null_mut() }, Op::to_raw)
        }
        let build: std::sync::Arc<Build> = std::sync::Arc::new(Box::new(build));
        for kind in 0..2 {
            let user = Box::into_raw(Box::new(std::sync::Arc::clone(&build)));
            // SAFETY: see the impl; C++ owns this handle to the closure from now on.
            unsafe {
                strata_type_converter_materialize(self.raw, kind, user.cast(), Some(drop_box::<std::sync::Arc<Build>>), make);
            }
        }
    }

    /// What a type becomes; `None` when that is impossible.
    pub fn convert<'x>(&self, ty: Type<'x>) -> Option<Vec<Type<'x>>> {
        unsafe extern "C" fn push(data: *mut c_void, ty: MlirType) {
            // SAFETY: `data` is the list below, alive for the call; types live as long as the context.
            unsafe { (*data.cast::<Vec<Type<'_>>>()).push(Type::from_raw(ty)) }
        }
        let mut types: Vec<Type<'x>> = Vec::new();
        // SAFETY: see the impl; `types` outlives the call.
        unsafe { strata_convert_type(self.raw, ty.to_raw(), push, (&raw mut types).cast()).then_some(types) }
    }

    /// Whether all types of an op are new ones.
    pub fn is_legal(&self, op: Op<'_>) -> bool {
        // SAFETY: see the impl; the op is alive.
        unsafe { strata_is_legal_signature(self.raw, op.to_raw()) }
    }
}

impl Drop for TypeConverter {
    fn drop(&mut self) {
        // SAFETY: the handle owns the converter.
        unsafe { strata_type_converter_destroy(self.raw) }
    }
}
