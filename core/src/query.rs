//! Questions on IR that go beyond one op: effects, dominance, symbols, calls, copies with other operands.

use crate::ir::{Cx, Location, Op, Value, string_ref};
use mlir_sys::*;
use std::collections::{HashMap, HashSet};
use std::ffi::c_void;
use std::marker::PhantomData;
use strata_core_sys::*;

// SAFETY of this impl: the op is alive.
impl<'c> Op<'c> {
    /// Whether it (with all inside) neither reads nor writes memory, and says so.
    pub fn is_effect_free(self) -> bool {
        // SAFETY: see the impl.
        unsafe { strata_is_memory_effect_free(self.to_raw()) }
    }

    /// Whether it may run where the program would not have run it.
    pub fn is_speculatable(self) -> bool {
        // SAFETY: see the impl.
        unsafe { strata_is_speculatable(self.to_raw()) }
    }

    /// Whether nothing would be missed without it.
    pub fn is_dead(self) -> bool {
        // SAFETY: see the impl.
        unsafe { strata_is_trivially_dead(self.to_raw()) }
    }

    /// A detached copy in which each `from` is replaced by its `to`, in nested ops too.
    pub fn clone_with(self, replaced: &[(Value<'c>, Value<'c>)]) -> Op<'c> {
        crate::erased::clear();
        let (from, to): (Vec<_>, Vec<_>) = replaced.iter().map(|(from, to)| (from.to_raw(), to.to_raw())).unzip();
        // SAFETY: see the impl; both lists have the length given.
        unsafe { Op::from_raw(strata_clone_mapped(self.to_raw(), from.len() as isize, from.as_ptr(), to.as_ptr())) }
    }

    /// The function that a call op calls, looked up in the nearest symbol tables.
    pub fn callee(self) -> Option<Op<'c>> {
        // SAFETY: see the impl; an op that is not null is alive.
        unsafe {
            let callee = strata_resolve_call(self.to_raw());
            (!callee.ptr.is_null()).then(|| Op::from_raw(callee))
        }
    }

    /// The ops in `scope` that name this symbol; `None` when that cannot be known.
    pub fn symbol_users(self, scope: Op<'c>) -> Option<Vec<Op<'c>>> {
        unsafe extern "C" fn push(data: *mut c_void, user: MlirOperation) {
            // SAFETY: `data` is the list below, alive for the call; the user is alive.
            unsafe { (*data.cast::<Vec<Op<'_>>>()).push(Op::from_raw(user)) }
        }
        let mut users: Vec<Op<'c>> = Vec::new();
        // SAFETY: see the impl; `users` outlives the call.
        unsafe { strata_symbol_uses(self.to_raw(), scope.to_raw(), push, (&raw mut users).cast()).then_some(users) }
    }
}

impl<'c> Cx<'c> {
    /// One location for ops that became one: equal and unknown parts are left out.
    pub fn fuse_locations(self, parts: &[Location<'c>]) -> Location<'c> {
        let parts: Vec<_> = parts.iter().map(|part| part.to_raw()).collect();
        // SAFETY: the context and the parts are alive, the list has the length given.
        unsafe { Location::from_raw(strata_fuse_locations(self.to_raw(), parts.len() as isize, parts.as_ptr())) }
    }
}

/// Dominator trees of the regions in an op; build it anew after blocks change.
pub struct Dominance<'c> {
    raw: *mut StrataDominance,
    marker: PhantomData<Op<'c>>,
}

// SAFETY of this impl: the trees are alive as long as the handle, the ops given are alive.
impl<'c> Dominance<'c> {
    /// For everything in `scope`.
    pub fn new(scope: Op<'c>) -> Self {
        // SAFETY: see the impl.
        Self { raw: unsafe { strata_dominance_create(scope.to_raw()) }, marker: PhantomData }
    }

    /// Whether `value` may be used by `user`.
    pub fn dominates(&self, value: Value<'c>, user: Op<'c>) -> bool {
        // SAFETY: see the impl.
        unsafe { strata_value_dominates(self.raw, value.to_raw(), user.to_raw()) }
    }

    /// Whether `a` runs before `b` on every path to `b`.
    pub fn properly_dominates(&self, a: Op<'c>, b: Op<'c>) -> bool {
        // SAFETY: see the impl.
        unsafe { strata_op_properly_dominates(self.raw, a.to_raw(), b.to_raw()) }
    }
}

impl Drop for Dominance<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle owns the trees.
        unsafe { strata_dominance_destroy(self.raw) }
    }
}

/// The symbols defined directly in an op, found by name at once.
pub struct Symbols<'c> {
    raw: MlirSymbolTable,
    table: Op<'c>,
}

// SAFETY of this impl: the table is alive as long as the handle, the ops given are alive.
impl<'c> Symbols<'c> {
    /// Of an op with the trait `SymbolTable`, like a module.
    pub fn new(table: Op<'c>) -> Option<Self> {
        // SAFETY: see the impl; MLIR gives null for an op without the trait.
        let raw = unsafe { mlirSymbolTableCreate(table.to_raw()) };
        (!raw.ptr.is_null()).then_some(Self { raw, table })
    }

    /// The op that defines a symbol.
    pub fn get(&self, name: &str) -> Option<Op<'c>> {
        // SAFETY: see the impl; an op that is not null is alive.
        unsafe {
            let op = mlirSymbolTableLookup(self.raw, string_ref(name));
            (!op.ptr.is_null()).then(|| Op::from_raw(op))
        }
    }

    /// Adds a detached op, under a new name when its own is taken; gives the name.
    pub fn insert(&mut self, op: Op<'c>) -> String {
        // SAFETY: see the impl; the table takes the op over.
        let name = unsafe { crate::ir::Attr::from_raw(mlirSymbolTableInsert(self.raw, op.to_raw())) };
        name.as_str().unwrap_or_default()
    }

    /// Erases a symbol that this table holds.
    pub fn erase(&mut self, op: Op<'c>) {
        assert_eq!(op.parent(), Some(self.table), "'{}' is erased from a table that does not hold it", op.name());
        // SAFETY: see the impl.
        unsafe { mlirSymbolTableErase(self.raw, op.to_raw()) }
    }

    /// Renames all uses of a symbol in the table's op; says whether that was possible.
    pub fn rename_uses(&self, from: &str, to: &str) -> bool {
        // SAFETY: see the impl; the strings are alive for the call.
        unsafe { mlirSymbolTableReplaceAllSymbolUses(string_ref(from), string_ref(to), self.table.to_raw()).value != 0 }
    }
}

impl Drop for Symbols<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle owns the table.
        unsafe { mlirSymbolTableDestroy(self.raw) }
    }
}

/// Which functions of a module call which.
#[derive(Debug, Default)]
pub struct CallGraph<'c> {
    /// The functions, in order.
    pub functions: Vec<Op<'c>>,
    calls: HashMap<Op<'c>, Vec<Op<'c>>>,
}

impl<'c> CallGraph<'c> {
    /// Of all symbols with a body directly in a module.
    pub fn new(module: Op<'c>) -> Self {
        let blocks = module.regions().into_iter().flat_map(|region| region.blocks());
        let is_function = |op: &Op<'c>| op.attr("sym_name").is_some() && op.attr("function_type").is_some();
        let functions: Vec<_> = blocks.flat_map(|block| block.ops()).filter(is_function).collect();
        let calls = functions.iter().map(|function| (*function, Self::callees_in(*function))).collect();
        Self { functions, calls }
    }

    fn callees_in(function: Op<'c>) -> Vec<Op<'c>> {
        let (mut callees, mut seen) = (Vec::new(), HashSet::new());
        function.walk(&mut |op| callees.extend(op.callee().filter(|callee| seen.insert(*callee))));
        callees
    }

    /// The functions that `function` calls, each once, in order of the first call.
    pub fn callees(&self, function: Op<'c>) -> &[Op<'c>] {
        self.calls.get(&function).map_or(&[], Vec::as_slice)
    }

    /// All functions, each behind those that it calls (as far as recursion allows).
    pub fn bottom_up(&self) -> Vec<Op<'c>> {
        let (mut order, mut seen) = (Vec::new(), HashSet::new());
        // An explicit stack: call chains may be longer than the machine's stack.
        for root in &self.functions {
            let mut stack = vec![(*root, false)];
            while let Some((function, done)) = stack.pop() {
                if done {
                    order.push(function);
                } else if seen.insert(function) {
                    stack.push((function, true));
                    stack.extend(self.callees(function).iter().rev().map(|callee| (*callee, false)));
                }
            }
        }
        order
    }
}
