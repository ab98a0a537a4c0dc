//! `--hoist-weights`: arithmetic on weights alone moves into `@prepare`, which runs once per set of weights.
//!
//! A value is computed from weights alone when its op is pure and every operand is a weight, a constant, or such a value.
//! Hoisted are the last of those values before the call's inputs come in; they become weights of kind `prepared`.
//! Refused, and left to the kernels that read them: what has no weight in it (constants, `iota`), what a reader indexes as
//! cheaply as a copy (`broadcast`, `slice`, `reshape`), integers that are only made wider, and what needs much more memory than the weights it is made from.
//! Weights that a call changes (results of kind `mutation`) are inputs here. New weights need no new code: `@prepare` runs again.
//! What a layer that is a function computes from its weights alone goes to its calls first, and comes back as an argument.
//!
//! ```mlir
//! func.func @main(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"},
//!                 %w: tensor<4xf32> {capture.kind = "parameter", capture.name = "w"}) -> tensor<4xf32> attributes {capture.entry} {
//!   %0 = prim.sqrt %w : (tensor<4xf32>) -> tensor<4xf32>
//!   %1 = prim.mul %x, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//!   return %1 : tensor<4xf32>
//! }
//! // becomes
//! func.func @main(%x: tensor<4xf32> {capture.kind = "input", capture.name = "x"},
//!                 %w: tensor<4xf32> {capture.kind = "parameter", capture.name = "w"},
//!                 %p: tensor<4xf32> {capture.kind = "prepared", capture.name = "prepared.0"}) -> tensor<4xf32> attributes {capture.entry} {
//!   %0 = prim.mul %x, %p : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
//!   return %0 : tensor<4xf32>
//! }
//! func.func @prepare(%w: tensor<4xf32> {capture.kind = "parameter", capture.name = "w"})
//!     -> (tensor<4xf32> {capture.kind = "prepared", capture.name = "prepared.0"}) attributes {capture.prepare} {
//!   %0 = prim.sqrt %w : (tensor<4xf32>) -> tensor<4xf32>
//!   return %0 : tensor<4xf32>
//! }
//! ```

pub(crate) mod lift;
mod prepare;
pub(crate) mod signature;

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::prim::fusion::class::{Class, View, classify, reorders};
use signature::Signature;
use strata_core::ir::{Op, Type, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::remark::Remarks;
use strata_dialects::capture;
use strata_dialects::capture::Permute;
use strata_dialects::prim::{self, Cost};

/// Moves arithmetic on weights alone into `@prepare`.
#[derive(Pass)]
#[pass(dependents("prim"))]
pub struct HoistWeights {
    /// Values that are prepared.
    hoisted: Counter,
    /// Their bytes.
    bytes: Counter,
}

impl Pass for HoistWeights {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let functions = op.body(0).ops();
        let Some(entry) = functions.into_iter().find(|op| op.attr(capture::ENTRY).is_some()) else { return Ok(()) };
        let mut rewriter = cx.rewriter();
        lift::lift(op, entry, &mut rewriter);
        let cone = Cone::of(entry);
        let values = cone.frontier(entry, cx.remarks());
        self.hoisted.add(values.len());
        self.bytes.add(values.iter().filter_map(|value| bytes(value.ty())).sum::<u64>() as usize);
        if !values.is_empty() {
            prepare::hoist(op, entry, &values, &mut rewriter)?;
        }
        Ok(())
    }
}

/// How much larger than its weights a prepared value may be: transformed windows of 3 by 3 are 6 by 6.
const GROWTH: u64 = 4;
/// A value as small as this may be prepared whatever it is made from.
const SMALL: u64 = 4096;
/// A table of an expensive function may be this large: reading it from the cache is faster than computing it.
const TABLE: u64 = 256 << 10;

/// Why a value that is made of weights alone stays where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Refusal {
    #[error("it is no tensor")]
    Scalar,
    #[error("no weight is in it: the kernel that reads it computes it")]
    NoWeight,
    #[error("the kernel that reads it can index what it is a view of")]
    FreeView,
    #[error("the kernel that reads it widens integers as it loads them")]
    Widens,
    #[error("it needs {0} bytes, the weights that it is made from {1}")]
    Grows(u64, u64),
}

/// Whether an op makes integers wider, and no more.
fn widens_integers(op: Op<'_>) -> bool {
    let types = [op.operands().first().map(|operand| operand.ty()), Some(op.result(0).ty())].map(|ty| ty.and_then(Type::element_type));
    let [Some(from), Some(to)] = types else { return false };
    op.isa::<prim::Convert>() && [from, to].iter().all(|element| element.is_integer()) && from.bits() < to.bits()
}

/// Bytes of a tensor of known size.
fn bytes(ty: Type<'_>) -> Option<u64> {
    let count = ty.num_elements().and_then(|count| u64::try_from(count).ok())?;
    Some(count * ty.element_type()?.bytes() as u64)
}

/// All values of an entry that are computed from weights alone, with the arguments they are made from.
pub(crate) struct Cone<'c> {
    leaves: HashMap<Value<'c>, BTreeSet<usize>>,
}

impl<'c> Cone<'c> {
    /// The values of an entry.
    pub(crate) fn of(entry: Op<'c>) -> Self {
        let signature = Signature::of(entry);
        Self::from(entry, &|at| signature.is_fixed_weight(at))
    }

    /// The values of a function that are computed from some of its arguments alone.
    pub(crate) fn from(function: Op<'c>, leaf: &dyn Fn(usize) -> bool) -> Self {
        let body = function.body(0);
        let mut leaves = HashMap::new();
        for (at, argument) in body.args().into_iter().enumerate().filter(|(at, _)| leaf(*at)) {
            leaves.insert(argument, BTreeSet::from([at]));
        }
        for op in body.ops() {
            let pure = op.num_results() > 0 && op.regions().is_empty() && op.is_effect_free() && op.is_speculatable();
            // What is returned in another order of dims is so at the edge of this function only.
            let pure = pure && !op.is(Permute::NAME);
            let sized = |ty: Type<'_>| !ty.is_tensor() || ty.is_static();
            if !pure || !op.result_types().into_iter().all(sized) {
                continue;
            }
            let operands: Option<Vec<_>> = op.operands().iter().map(|operand| leaves.get(operand)).collect();
            let Some(operands) = operands else { continue };
            let union: BTreeSet<usize> = operands.into_iter().flatten().copied().collect();
            leaves.extend(op.results().into_iter().map(|result| (result, union.clone())));
        }
        Self { leaves }
    }

    /// Whether a value is computed from weights and constants alone.
    pub(crate) fn holds(&self, value: Value<'c>) -> bool {
        self.leaves.contains_key(&value)
    }

    /// Whether a value is computed from weights and constants alone, and has a weight in it.
    pub(crate) fn has_weight(&self, value: Value<'c>) -> bool {
        self.leaves.get(&value).is_some_and(|leaves| !leaves.is_empty())
    }

    /// The values to hoist, in the order of the program.
    pub(crate) fn frontier(&self, entry: Op<'c>, remarks: Remarks) -> Vec<Value<'c>> {
        let mut wanted = Vec::new();
        entry.walk(&mut |op| {
            if op.results().first().is_none_or(|result| !self.leaves.contains_key(result)) {
                wanted.extend(op.operands());
            }
        });
        let arguments = entry.body(0).args();
        let (mut seen, mut found) = (HashSet::new(), HashSet::new());
        while let Some(value) = wanted.pop() {
            let Some(op) = value.defining_op().filter(|_| self.leaves.contains_key(&value) && seen.insert(value)) else { continue };
            match self.refusal(&arguments, op, value) {
                None => {
                    found.insert(value);
                }
                Some(reason) => {
                    if !self.leaves[&value].is_empty() {
                        remarks.missed(op, format_args!("'{}' is not hoisted: {reason}", op.name()));
                    }
                    wanted.extend(op.operands());
                }
            }
        }
        entry.body(0).ops().into_iter().flat_map(Op::results).filter(|value| found.contains(value)).collect()
    }

    fn refusal(&self, arguments: &[Value<'c>], op: Op<'c>, value: Value<'c>) -> Option<Refusal> {
        let Some(size) = bytes(value.ty()).filter(|_| value.ty().is_tensor()) else { return Some(Refusal::Scalar) };
        let leaves = &self.leaves[&value];
        if leaves.is_empty() {
            return Some(Refusal::NoWeight);
        }
        let limit = match classify(op) {
            Class::View(View::Plain | View::Reshape) | Class::Source if !reorders(op) => return Some(Refusal::FreeView),
            Class::Pointwise(Cost::Expensive) => TABLE,
            _ => SMALL,
        };
        if widens_integers(op) {
            return Some(Refusal::Widens);
        }
        let weights = leaves.iter().filter_map(|&at| bytes(arguments[at].ty())).sum::<u64>();
        (size > limit.max(GROWTH * weights)).then_some(Refusal::Grows(size, weights))
    }
}
