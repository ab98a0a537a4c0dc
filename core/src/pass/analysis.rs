//! Analyses: facts on an op that MLIR keeps until a pass changes the op.

use crate::ir::Op;
use std::any::TypeId;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use strata_core_sys::{StrataPass, strata_pass_analysis};

/// A kind of facts on an op.
pub trait Analysis: 'static {
    /// The facts; they may hold handles to IR.
    type Of<'c>;
    /// Finds them.
    fn compute(op: Op<'_>) -> Self::Of<'_>;
}

/// An analysis that patterns ask while they rewrite: it takes in each op that they make.
pub trait Incremental: Analysis {
    /// Takes in an op, with all in it, that was made after the facts were found.
    fn made<'c>(facts: &mut Self::Of<'c>, op: Op<'c>);
}

/// No facts: what patterns that look at nothing but the IR ask.
impl Analysis for () {
    type Of<'c> = ();
    fn compute(_: Op<'_>) {}
}

impl Incremental for () {
    fn made(_: &mut (), _: Op<'_>) {}
}

/// An address that stands for the analysis in MLIR's tables.
pub(crate) fn key<A: Analysis>() -> *const c_void {
    static KEYS: OnceLock<Mutex<HashMap<TypeId, &'static u64>>> = OnceLock::new();
    let mut keys = KEYS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    std::ptr::from_ref(*keys.entry(TypeId::of::<A>()).or_insert_with(|| Box::leak(Box::new(0)))).cast()
}

/// The facts kept for `op`, or new ones.
pub(crate) fn cached<'c, A: Analysis>(pass: *mut StrataPass, op: Op<'c>) -> Arc<A::Of<'c>> {
    unsafe extern "C" fn drop_facts<A: Analysis>(facts: *mut c_void) {
        // SAFETY: the cell holds what `Arc::into_raw` gave below; lifetimes do not change how it is dropped.
        drop(unsafe { Arc::from_raw(facts.cast::<A::Of<'static>>()) });
    }
    // SAFETY: the pass is running, the op is alive, the key lives forever; the cell stays valid while the pass runs.
    unsafe {
        let cell = strata_pass_analysis(pass, op.to_raw(), key::<A>(), drop_facts::<A>);
        if (*cell).is_null() {
            let facts: Arc<A::Of<'c>> = Arc::new(A::compute(op));
            *cell = Arc::into_raw(facts).cast_mut().cast();
        }
        let facts = (*cell).cast_const().cast::<A::Of<'c>>();
        Arc::increment_strong_count(facts);
        Arc::from_raw(facts)
    }
}
