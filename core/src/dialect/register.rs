//! Hands definitions to the C++ shim: once per process each dialect is built and leaked, then added to any registry.

use super::{DataDef, DialectDef, FoldInput, Folded, OpDef, Traits, verify};
use crate::guard;
use crate::ir::{Attr, Builder, Cx, Location, Op, Type, Value, string_ref};
use crate::rewrite::Patterns;
use mlir_sys::*;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, OnceLock};
use strata_core_sys::*;

/// The shim's form of a dialect, built at its first use.
pub(crate) fn registered(def: &'static DialectDef) -> &'static StrataDialectDef {
    static BUILT: OnceLock<Mutex<HashMap<usize, &'static StrataDialectDef>>> = OnceLock::new();
    let mut built = BUILT.get_or_init(Mutex::default).lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    built.entry(std::ptr::from_ref(def) as usize).or_insert_with(|| build(def))
}

fn leak<T>(values: Vec<T>) -> &'static [T] {
    Box::leak(values.into_boxed_slice())
}

fn build(def: &'static DialectDef) -> &'static StrataDialectDef {
    let mut ops = (def.ops)();
    ops.sort_by_key(|op| op.name);
    let ops: Vec<_> = leak(ops).iter().map(op_def).collect();
    let dependents: Vec<_> = def.dependents.iter().map(|name| string_ref(name)).collect();
    let (ops, dependents) = (leak(ops), leak(dependents));
    let data = |defs: &'static [DataDef]| leak(defs.iter().map(data_def).collect());
    let (types, attrs) = (data(def.types), data(def.attrs));
    Box::leak(Box::new(StrataDialectDef {
        name: string_ref(def.name),
        num_ops: ops.len(),
        ops: ops.as_ptr(),
        num_types: types.len(),
        types: types.as_ptr(),
        num_attrs: attrs.len(),
        attrs: attrs.as_ptr(),
        num_dependents: dependents.len(),
        dependents: dependents.as_ptr(),
        user: std::ptr::from_ref(def).cast(),
        materialize: def.constant.map(|_| materialize as _),
    }))
}

fn op_def(def: &'static OpDef) -> StrataOpDef {
    let attrs = leak(def.attrs.iter().map(|attr| string_ref(attr.name)).collect());
    StrataOpDef {
        name: string_ref(def.name),
        traits: def.traits.0,
        effects: def.effects.0,
        symbol_attr: string_ref(def.symbol_attr()),
        short_results: match def.results {
            results if results.iter().all(|result| result.arity == super::Arity::One) => results.len() as isize,
            _ => 1,
        },
        num_regions: if def.variadic_regions { -1 } else { def.regions.len() as isize },
        num_attrs: attrs.len(),
        attrs: attrs.as_ptr(),
        user: std::ptr::from_ref(def).cast(),
        verify: Some(verify_op),
        verify_regions: None,
        fold: def.fold.map(|_| fold_op as _),
        canonicalize: def.canonicalize.map(|_| canonicalize as _),
    }
}

fn data_def(def: &'static DataDef) -> StrataDataDef {
    let params = leak(def.params.iter().map(|param| string_ref(param.name)).collect());
    StrataDataDef {
        name: string_ref(def.name),
        num_params: params.len(),
        params: params.as_ptr(),
        user: std::ptr::from_ref(def).cast(),
        verify: verify_data,
    }
}

unsafe extern "C" fn verify_data(
    user: *const c_void,
    count: isize,
    params: *const MlirAttribute,
    error: MlirStringCallback,
    data: *mut c_void,
) -> bool {
    // SAFETY: [`data_def`] stored the definition there.
    let def = unsafe { &*user.cast::<DataDef>() };
    // SAFETY: MLIR passes `count` attributes, which live as long as the context.
    let params: Vec<Attr<'_>> = (0..count as usize).map(|index| unsafe { Attr::from_raw(*params.add(index)) }).collect();
    let message = match guard::quiet(|| def.check(&params)) {
        Some(Ok(())) => return true,
        Some(Err(violation)) => violation.to_string(),
        None => "its verifier panicked".to_owned(),
    };
    if let Some(error) = error {
        // SAFETY: the callback and its data are those of the caller, alive for the call.
        unsafe { error(string_ref(&message), data) };
    }
    false
}

/// # Safety
/// `user` comes from [`op_def`].
unsafe fn def_of(user: *const c_void) -> &'static OpDef {
    // SAFETY: [`op_def`] stored a leaked `OpDef` there.
    unsafe { &*user.cast::<OpDef>() }
}

unsafe extern "C" fn verify_op(user: *const c_void, op: MlirOperation) -> bool {
    // SAFETY: MLIR hands back our pointer and a live op.
    let (def, op) = unsafe { (def_of(user), Op::from_raw(op)) };
    guard::at_op(op, "its verifier", || verify::verify(def, op)).unwrap_or(false)
}

unsafe extern "C" fn fold_op(
    user: *const c_void,
    op: MlirOperation,
    count: isize,
    operands: *const MlirAttribute,
    sink: *mut c_void,
) -> bool {
    // SAFETY: MLIR hands back our pointer and a live op.
    let (def, op) = unsafe { (def_of(user), Op::from_raw(op)) };
    let Some(fold) = def.fold else { return false };
    let constants: Vec<Option<Attr<'_>>> = (0..count as usize)
        .map(|index| {
            // SAFETY: MLIR passes `count` attributes, null where an operand is not constant.
            let raw = unsafe { *operands.add(index) };
            // SAFETY: attributes live as long as the context.
            (!raw.ptr.is_null()).then(|| unsafe { Attr::from_raw(raw) })
        })
        .collect();
    let folded = guard::at_op(op, "its fold", || fold(op, FoldInput { constants: &constants })).flatten();
    let Some(folded) = folded else { return false };
    let mut valid = folded.is_empty() || folded.len() == op.num_results();
    // A value that is the op's own result would make MLIR replace it by itself.
    valid &= folded.iter().all(|folded| !matches!(folded, Folded::Value(value) if value.defining_op() == Some(op)));
    if !valid {
        op.error("folds to a wrong number of values or to itself");
        return false;
    }
    for folded in folded {
        // SAFETY: `sink` is the one MLIR passed; the handles are alive.
        unsafe {
            match folded {
                Folded::Attr(attr) => strata_fold_attribute(sink, attr.to_raw()),
                Folded::Value(value) => strata_fold_value(sink, value.to_raw()),
            }
        }
    }
    true
}

unsafe extern "C" fn canonicalize(user: *const c_void, patterns: MlirRewritePatternSet, context: MlirContext) {
    // SAFETY: MLIR hands back our pointer, a live set and a live context.
    let (def, cx) = unsafe { (def_of(user), Cx::from_raw(context)) };
    if let Some(canonicalize) = def.canonicalize {
        let mut of_op = Patterns::new(cx);
        guard::quiet(|| canonicalize(&mut of_op));
        of_op.add_to(patterns);
    }
}

unsafe extern "C" fn materialize(
    user: *const c_void,
    _context: MlirContext,
    value: MlirAttribute,
    ty: MlirType,
    location: MlirLocation,
) -> MlirOperation {
    // SAFETY: [`build`] stored the dialect's definition; the handles are alive.
    let (def, value, ty, location) =
        unsafe { (&*user.cast::<DialectDef>(), Attr::from_raw(value), Type::from_raw(ty), Location::from_raw(location)) };
    let made = def.constant.and_then(|constant| {
        guard::at_location(location, "making a constant", || constant(&mut Builder::detached(location), value, ty)).flatten()
    });
    made.map_or(MlirOperation { ptr: std::ptr::null_mut() }, Op::to_raw)
}

impl<'c> Op<'c> {
    /// The definition of an op of ours, nothing for upstream's.
    pub fn def(self) -> Option<&'static OpDef> {
        // SAFETY: the op is alive; a definition that is not null comes from [`op_def`].
        unsafe {
            let def = strata_op_def(self.to_raw());
            (!def.is_null()).then(|| def_of((*def).user))
        }
    }

    /// Whether it has the trait; answers for upstream's ops too where MLIR knows the trait.
    pub fn has_trait(self, bit: Traits) -> bool {
        // SAFETY: the op is alive.
        unsafe { strata_has_trait(self.to_raw(), bit.0) }
    }

    /// Folds the op as a driver would, without replacing it. An empty list means "changed in place".
    pub fn fold(self) -> Option<Vec<Folded<'c>>> {
        unsafe extern "C" fn push(data: *mut c_void, attribute: MlirAttribute, value: MlirValue) {
            // SAFETY: `data` is the list below, alive for the call; one of the two handles is not null.
            unsafe {
                (*data.cast::<Vec<Folded<'static>>>()).push(if attribute.ptr.is_null() {
                    Folded::Value(Value::from_raw(value))
                } else {
                    Folded::Attr(Attr::from_raw(attribute))
                });
            }
        }
        let mut folded: Vec<Folded<'c>> = Vec::new();
        // SAFETY: the op is alive, and `folded` outlives the call.
        unsafe { strata_fold_op(self.to_raw(), push, (&raw mut folded).cast()).then_some(folded) }
    }
}

impl<'c> Cx<'c> {
    /// The definition of a loaded op of ours.
    pub fn op_def(self, name: &str) -> Option<&'static OpDef> {
        // SAFETY: the string is alive for the call; a definition that is not null comes from [`op_def`].
        unsafe {
            let def = strata_op_def_by_name(self.to_raw(), string_ref(name));
            (!def.is_null()).then(|| def_of((*def).user))
        }
    }
}
