//! Patterns from closures: a name, a benefit, a body that either rewrites or says why it does not match.

use super::Rewriter;
use crate::dialect::OpType;
use crate::guard;
use crate::ir::{Cx, Op, string_ref};
use mlir_sys::*;
use std::borrow::Cow;
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use strata_core_sys::{StrataPatternDef, strata_add_canonicalization_patterns, strata_add_pattern};

/// Why a pattern does not apply. The IR must be unchanged when a pattern returns this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoMatch(pub Cow<'static, str>);

impl NoMatch {
    /// With a reason.
    pub fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        Self(reason.into())
    }
}

impl From<&'static str> for NoMatch {
    fn from(reason: &'static str) -> Self {
        Self(Cow::Borrowed(reason))
    }
}

impl From<String> for NoMatch {
    fn from(reason: String) -> Self {
        Self(Cow::Owned(reason))
    }
}

/// What a pattern gives: `Ok` when it rewrote, `Err` with the reason when it does not apply.
pub type Matched = Result<(), NoMatch>;

static REMARKS: AtomicBool = AtomicBool::new(false);

/// Makes whatever refuses something say why, as a remark at the op: every pattern that does not match, and every pass with the option
/// `remarks`.
pub fn ask_remarks(on: bool) {
    REMARKS.store(on, Ordering::Relaxed);
}

/// Whether everybody is to say why.
pub(crate) fn remarks_asked() -> bool {
    REMARKS.load(Ordering::Relaxed)
}

/// A set of patterns.
pub struct Patterns<'c> {
    raw: MlirRewritePatternSet,
    cx: Cx<'c>,
    owned: bool,
}

type Body = Box<dyn for<'x> Fn(Op<'x>, &mut Rewriter<'x>) -> Matched + Send + Sync>;

struct Rule {
    name: String,
    body: Body,
}

impl<'c> Patterns<'c> {
    /// An empty set.
    pub fn new(cx: Cx<'c>) -> Self {
        // SAFETY: the context is alive.
        Self { raw: unsafe { mlirRewritePatternSetCreate(cx.to_raw()) }, cx, owned: true }
    }

    /// A set that MLIR owns.
    pub(crate) unsafe fn borrowed(raw: MlirRewritePatternSet, cx: Cx<'c>) -> Self {
        Self { raw, cx, owned: false }
    }

    /// The context.
    pub fn cx(&self) -> Cx<'c> {
        self.cx
    }

    /// The raw set.
    pub(super) fn to_raw(&self) -> MlirRewritePatternSet {
        self.raw
    }

    /// The raw set, which the callee then owns.
    pub(crate) fn into_raw(self) -> MlirRewritePatternSet {
        std::mem::ManuallyDrop::new(self).raw
    }

    /// Adds a pattern on the ops of one kind: `patterns.on::<Mul>("square", 1, |mul, rewriter| ..)`.
    pub fn on<T: OpType + 'static>(
        &mut self,
        name: &str,
        benefit: u16,
        body: impl for<'x> Fn(T::At<'x>, &mut Rewriter<'x>) -> Matched + Send + Sync + 'static,
    ) -> &mut Self {
        self.add(name, T::DEF.name, benefit, move |op, rewriter| match T::cast(op) {
            Some(view) => body(view, rewriter),
            None => Err("another kind of op".into()),
        })
    }

    /// Adds a pattern on the ops named `root`; on all ops when `root` is empty.
    pub fn add(
        &mut self,
        name: &str,
        root: &str,
        benefit: u16,
        body: impl for<'x> Fn(Op<'x>, &mut Rewriter<'x>) -> Matched + Send + Sync + 'static,
    ) -> &mut Self {
        let rule = Box::new(Rule { name: name.to_owned(), body: Box::new(body) });
        // MLIR keeps the name for the life of the pattern; the boxed rule holds it.
        let def = StrataPatternDef {
            name: string_ref(&rule.name),
            root: string_ref(root),
            benefit: u32::from(benefit),
            user: std::ptr::null_mut(),
            rewrite: Some(rewrite),
            drop: Some(drop_rule),
        };
        let def = StrataPatternDef { user: Box::into_raw(rule).cast(), ..def };
        // SAFETY: the set is alive; MLIR copies the definition and owns `user` until it calls `drop`.
        unsafe { strata_add_pattern(self.raw, &raw const def) };
        self
    }

    /// Adds the canonicalization patterns of a registered op.
    pub fn add_canonicalizations(&mut self, op: &str) -> &mut Self {
        // SAFETY: the set and the context are alive.
        unsafe { strata_add_canonicalization_patterns(self.raw, string_ref(op), self.cx.to_raw()) };
        self
    }
}

impl Drop for Patterns<'_> {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: the set was made by `new` and not given away.
            unsafe { mlirRewritePatternSetDestroy(self.raw) }
        }
    }
}

unsafe extern "C" fn rewrite(user: *mut c_void, op: MlirOperation, rewriter: MlirRewriterBase) -> bool {
    // SAFETY: `add` stored the rule; the op and the rewriter are alive for the call.
    let (rule, op) = unsafe { (&*user.cast::<Rule>(), Op::from_raw(op)) };
    // SAFETY: as above.
    let mut rewriter = unsafe { Rewriter::new(rewriter, op) };
    match guard::at_op(op, &format!("the pattern '{}'", rule.name), || (rule.body)(op, &mut rewriter)) {
        Some(Ok(())) => true,
        Some(Err(reason)) => {
            explain(op, &rule.name, &reason);
            false
        }
        None => false,
    }
}

/// Tells why a pattern did not match, when that was asked for.
pub(crate) fn explain(op: Op<'_>, name: &str, reason: &NoMatch) {
    if remarks_asked() {
        op.remark(&format!("'{name}' does not match: {}", reason.0));
    }
}

unsafe extern "C" fn drop_rule(user: *mut c_void) {
    // SAFETY: `add` leaked the rule, and MLIR drops it once.
    drop(unsafe { Box::from_raw(user.cast::<Rule>()) });
}
