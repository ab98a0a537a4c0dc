//! Patterns from closures: a name, a benefit, a body that either rewrites or says why it does not match.

use super::Rewriter;
use super::set::PatternSet;
use crate::dialect::{OpName, OpType};
use crate::guard;
use crate::ir::{Cx, Op, Value, string_ref};
use crate::pass::Incremental;
use crate::remark::Remarks;
use mlir_sys::*;
use std::borrow::Cow;
use std::ffi::c_void;
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

impl std::fmt::Display for NoMatch {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
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

type Body<A> = Box<dyn for<'x> Fn(Op<'x>, &mut Rewriter<'x, A>) -> Matched + Send + Sync>;

/// One pattern.
pub(super) struct Rule<A: Incremental> {
    pub(super) name: String,
    /// The name of the ops that it looks at; empty for all.
    pub(super) root: String,
    benefit: u16,
    remarks: Remarks,
    body: Body<A>,
}

impl<A: Incremental> Rule<A> {
    /// Tries the rule on an op; `tells` makes a "no" a remark where that is wanted.
    pub(super) fn apply<'x>(&self, op: Op<'x>, rewriter: &mut Rewriter<'x, A>, tells: bool) -> bool {
        let Err(reason) = (self.body)(op, rewriter) else { return true };
        if tells {
            self.remarks.no_match(op, &self.name, &reason);
        }
        false
    }
}

/// A set of patterns. They look at the IR, and at an analysis `A` that the driver keeps true while they rewrite.
pub struct Patterns<'c, A: Incremental = ()> {
    cx: Cx<'c>,
    rules: Vec<Rule<A>>,
    /// Names of registered ops whose canonicalizations belong to the set.
    canonicalizations: Vec<String>,
    remarks: Remarks,
}

impl<'c, A: Incremental> Patterns<'c, A> {
    /// An empty set.
    pub fn new(cx: Cx<'c>) -> Self {
        Self { cx, rules: Vec::new(), canonicalizations: Vec::new(), remarks: Remarks::default() }
    }

    /// The context.
    pub fn cx(&self) -> Cx<'c> {
        self.cx
    }

    /// Where the patterns added from here on report why they do not match.
    pub fn remarks(&mut self, remarks: Remarks) -> &mut Self {
        self.remarks = remarks;
        self
    }

    /// Adds a pattern on the ops of one kind: `patterns.on::<Mul>("square", 1, |mul, rewriter| ..)`.
    pub fn on<T: OpType + 'static>(
        &mut self,
        name: &str,
        benefit: u16,
        body: impl for<'x> Fn(T::At<'x>, &mut Rewriter<'x, A>) -> Matched + Send + Sync + 'static,
    ) -> &mut Self {
        self.add(name, T::DEF.name, benefit, move |op, rewriter| match T::cast(op) {
            Some(view) => body(view, rewriter),
            None => Err("another kind of op".into()),
        })
    }

    /// Adds an identity on the ops of one kind: it gives the value that takes the place of the op's one result.
    ///
    /// ```text
    /// patterns.identity::<prim::Neg>("double-negative", 1, |neg, _| Ok(operand_of::<prim::Neg>(neg)?));
    /// ```
    pub fn identity<T: OpName + 'static>(
        &mut self,
        name: &str,
        benefit: u16,
        value: impl for<'x> Fn(Op<'x>, &mut Rewriter<'x, A>) -> Result<Value<'x>, NoMatch> + Send + Sync + 'static,
    ) -> &mut Self {
        self.identity_of(name, T::NAME, benefit, value)
    }

    /// Adds an identity on all ops.
    pub fn identity_of_any(
        &mut self,
        name: &str,
        benefit: u16,
        value: impl for<'x> Fn(Op<'x>, &mut Rewriter<'x, A>) -> Result<Value<'x>, NoMatch> + Send + Sync + 'static,
    ) -> &mut Self {
        self.identity_of(name, "", benefit, value)
    }

    fn identity_of(
        &mut self,
        name: &str,
        root: &str,
        benefit: u16,
        value: impl for<'x> Fn(Op<'x>, &mut Rewriter<'x, A>) -> Result<Value<'x>, NoMatch> + Send + Sync + 'static,
    ) -> &mut Self {
        self.add(name, root, benefit, move |op, rewriter| {
            let value = value(op, rewriter)?;
            rewriter.replace(op, &[value]);
            Ok(())
        })
    }

    /// Adds a pattern on the ops named `root`; on all ops when `root` is empty.
    pub fn add(
        &mut self,
        name: &str,
        root: &str,
        benefit: u16,
        body: impl for<'x> Fn(Op<'x>, &mut Rewriter<'x, A>) -> Matched + Send + Sync + 'static,
    ) -> &mut Self {
        let (name, root) = (name.to_owned(), root.to_owned());
        self.rules.push(Rule { name, root, benefit, remarks: self.remarks, body: Box::new(body) });
        self
    }

    /// The rules, those of the highest benefit first, else in the order in which they were added.
    pub(super) fn into_rules(mut self) -> Vec<Rule<A>> {
        self.rules.sort_by_key(|rule| std::cmp::Reverse(rule.benefit));
        self.rules
    }
}

impl Patterns<'_> {
    /// Adds the canonicalization patterns of a registered op.
    pub fn add_canonicalizations(&mut self, op: &str) -> &mut Self {
        self.canonicalizations.push(op.to_owned());
        self
    }

    /// Hands all patterns over to one of MLIR's sets.
    pub(crate) fn add_to(self, set: MlirRewritePatternSet) {
        for op in &self.canonicalizations {
            // SAFETY: the set and the context are alive.
            unsafe { strata_add_canonicalization_patterns(set, string_ref(op), self.cx.to_raw()) };
        }
        for rule in self.rules {
            let rule = Box::new(rule);
            // MLIR keeps the strings for the life of the pattern; the boxed rule holds them.
            let def = StrataPatternDef {
                name: string_ref(&rule.name),
                root: string_ref(&rule.root),
                benefit: u32::from(rule.benefit),
                user: std::ptr::null_mut(),
                rewrite: Some(rewrite),
                drop: Some(drop_rule),
            };
            let def = StrataPatternDef { user: Box::into_raw(rule).cast(), ..def };
            // SAFETY: the set is alive; MLIR copies the definition and owns `user` until it calls `drop`.
            unsafe { strata_add_pattern(set, &raw const def) };
        }
    }

    /// One of MLIR's sets with all patterns.
    pub(super) fn into_set(self) -> PatternSet {
        let set = PatternSet::new(self.cx);
        self.add_to(set.to_raw());
        set
    }
}

unsafe extern "C" fn rewrite(user: *mut c_void, op: MlirOperation, rewriter: MlirRewriterBase) -> bool {
    // SAFETY: `add_to` stored the rule; the op and the rewriter are alive for the call.
    let (rule, op) = unsafe { (&*user.cast::<Rule<()>>(), Op::from_raw(op)) };
    // SAFETY: as above.
    let mut rewriter = unsafe { Rewriter::of_driver(rewriter, op) };
    guard::at_op(op, &format!("the pattern '{}'", rule.name), || rule.apply(op, &mut rewriter, true)).unwrap_or(false)
}

unsafe extern "C" fn drop_rule(user: *mut c_void) {
    // SAFETY: `add_to` leaked the rule, and MLIR drops it once.
    drop(unsafe { Box::from_raw(user.cast::<Rule<()>>()) });
}
