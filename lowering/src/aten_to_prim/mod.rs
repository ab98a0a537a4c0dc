//! `--decompose-aten`: PyTorch's operators become the small closed set of `prim`.
//!
//! Each operator's decomposition is a short function in the file of its family, listed in that file's table with the
//! precision that it computes in. An operator without a row, or one whose arguments are beyond its row, is an error
//! that names the op and where it came from. An op of another dialect is decomposed by what it says of itself ([`Decompose`]).
//!
//! ```mlir
//! func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
//!   %0 = aten.square %x : tensor<4xf32>
//!   return %0 : tensor<4xf32>
//! }
//! // becomes
//! func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
//!   %0 = prim.mul %x, %x : tensor<4xf32>
//!   return %0 : tensor<4xf32>
//! }
//! ```

mod args;
mod infer;
pub mod infer_types;
mod own;
mod rule;

mod activation;
mod adaptive_pool;
mod antialias;
mod assemble;
mod attention;
mod bag;
mod bits;
mod cast;
mod compare;
mod complex;
mod conv;
mod counting;
mod covariance;
mod creation;
mod ctc;
mod distance;
mod einsum;
mod encoder;
mod factor;
mod fft;
mod float8;
mod fractional;
mod gradient;
mod grid;
mod histogram;
mod index;
mod library;
mod loss;
mod margin;
mod matmul;
pub(crate) mod norm;
mod pad;
mod pointwise;
mod polynomial;
mod pool;
mod prims;
mod quantise;
mod random;
mod reduce;
mod resize;
mod rnn;
mod scan;
mod scatter;
mod segment;
mod solve;
mod sort;
mod special;
mod spectrum;
mod stft;
mod taper;
mod view;
mod vision;

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::LazyLock;

use strata_core::ir::{Attr, DYNAMIC, Op, Type, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::func;
use strata_dialects::aten::alias::meaning;
use strata_dialects::aten::dtype::{DType, Numeric};
use strata_dialects::aten::{self, AtenOp, Operator, is_operator};
use strata_dialects::capture;
use strata_dialects::prim;

pub use args::Args;
pub use infer::infer;
pub use own::Decompose;
pub use rule::{Body, Precision, Rule};
pub use strata_dialects::prim_builder::{Prim, Scalar, Size, Tensor};

/// All tables, by family.
static FAMILIES: &[&[Rule]] = &[
    activation::RULES,
    adaptive_pool::RULES,
    antialias::RULES,
    assemble::RULES,
    attention::RULES,
    bag::RULES,
    bits::RULES,
    cast::RULES,
    compare::RULES,
    conv::RULES,
    counting::RULES,
    covariance::RULES,
    creation::RULES,
    ctc::RULES,
    distance::RULES,
    encoder::RULES,
    factor::RULES,
    fft::RULES,
    float8::RULES,
    fractional::RULES,
    gradient::RULES,
    grid::RULES,
    histogram::RULES,
    index::RULES,
    loss::RULES,
    margin::RULES,
    matmul::RULES,
    norm::RULES,
    pad::RULES,
    pointwise::RULES,
    polynomial::RULES,
    pool::RULES,
    prims::RULES,
    quantise::RULES,
    random::RULES,
    reduce::RULES,
    resize::RULES,
    rnn::RULES,
    scan::RULES,
    scatter::RULES,
    segment::RULES,
    solve::RULES,
    sort::RULES,
    special::RULES,
    spectrum::RULES,
    stft::RULES,
    taper::RULES,
    view::RULES,
    vision::RULES,
];

static RULES: LazyLock<HashMap<Operator, &'static Rule>> =
    LazyLock::new(|| FAMILIES.iter().flat_map(|family| family.iter()).map(|rule| (rule.operator, rule)).collect());

/// Turns PyTorch's operators into `prim`.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim", "arith", "capture"))]
pub struct DecomposeAten {
    /// Operators to leave as they are, for instance `aten.linear`.
    keep: Vec<String>,
    /// Ops decomposed.
    decomposed: Counter,
}

impl Pass for DecomposeAten {
    fn run<'c>(&self, op: Op<'c>, _: &mut PassContext<'c>) -> Result<(), PassError> {
        let (count, refusals) = decompose(op, &self.keep);
        self.decomposed.add(count);
        for refusal in &refusals {
            let _ = PassError::at(refusal.op, &refusal.reason.to_string());
        }
        if refusals.is_empty() { Ok(()) } else { Err(PassError::Reported) }
    }
}

/// Why an op was not decomposed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal<'c> {
    /// The op.
    pub op: Op<'c>,
    /// The reason.
    pub reason: Reason,
}

/// The reason of a [`Refusal`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// There is no row for the op.
    #[error(
        "has no decomposition to prim; write the model with other operators, add a row to lowering/aten_to_prim, or keep the op with keep={0}"
    )]
    NoRule(String),
    /// The row cannot do what the arguments ask for.
    #[error("is not decomposed: {0}")]
    Arguments(String),
}

/// The decomposition of an operator, maybe under its other name; for most of `prims` it is that of `aten`.
fn rule(operator: Operator) -> Option<&'static Rule> {
    let operator = meaning(operator);
    RULES.get(&operator).or_else(|| RULES.get(&prims::counterpart(operator)?)).copied()
}

/// Whether there is a decomposition of the operator.
pub fn has_rule(operator: Operator) -> bool {
    rule(operator).is_some()
}

/// The operators that have a decomposition, sorted.
pub fn decomposed() -> Vec<Operator> {
    let mut operators: Vec<_> = RULES.keys().copied().collect();
    operators.sort_unstable();
    operators
}

/// Decomposes all `aten` ops inside `root` but those named in `keep`, then removes what has become unused.
/// Gives the number of ops decomposed and those that could not be; these are left as they were.
pub fn decompose<'c>(root: Op<'c>, keep: &[String]) -> (usize, Vec<Refusal<'c>>) {
    drop_gradients(root, keep);
    let mut ops = Vec::new();
    root.walk(&mut |op| {
        if (is_operator(op) || op.has_interface::<dyn Decompose>()) && !keep.iter().any(|k| k == op.name()) {
            ops.push(op);
        }
    });
    let Some(block) = ops.first().and_then(|op| op.block()) else { return (0, Vec::new()) };
    let prim = Prim::new(block, root.location());
    let all = ops.len();
    let refused = |op| decompose_op(&prim, op).err().map(|reason| Refusal { op, reason });
    let refusals: Vec<_> = ops.into_iter().filter_map(refused).collect();
    let mut rewriter = Rewriter::before(root);
    refine_results(root, &mut rewriter);
    remove_unused(root, &mut rewriter);
    (all - refusals.len(), refusals)
}

/// Puts values in the place of those with gradients of the user's, which nobody asks for any more.
fn drop_gradients<'c>(root: Op<'c>, keep: &[String]) {
    if keep.iter().any(|kept| kept == capture::CustomGradient::NAME) {
        return;
    }
    while let Some(op) = root.find_all(capture::CustomGradient::NAME).pop() {
        let values = op.operands();
        Rewriter::before(op).replace(op, &values[..op.num_results()]);
    }
}

fn decompose_op<'c, 'p>(prim: &'p Prim<'p>, op: Op<'c>) -> Result<(), Reason>
where
    'c: 'p,
{
    prim.set_before(op);
    if let Some(own) = op.interface::<dyn Decompose>() {
        prim.set_whole(is_whole(op));
        return replaced(prim, op, || declared_all(prim, op, own.decompose(&tensors(prim, op))));
    }
    let rule = Operator::of(op).and_then(rule).ok_or_else(|| Reason::NoRule(op.name().to_owned()))?;
    let view = AtenOp::new(op).map_err(|error| Reason::Arguments(error.to_string()))?;
    prim.set_whole(is_whole(op));
    let nothing = !view.schema().has("nondeterministic_seeded") && has_no_elements(op);
    let precision = precision(rule, op);
    let args = Args::new(prim, view, precision);
    replaced(prim, op, || match rule.body {
        _ if nothing => empty(prim, op),
        Body::Unary(body) => finish(&args, op, vec![body(args.tensor("self"))], precision),
        Body::One(body) => finish(&args, op, vec![body(&args)], precision),
        Body::Many(body) => finish(&args, op, body(&args), precision),
        Body::Scalar(body) => body(&args).into_iter().collect(),
    })
}

/// The operands as the formulas' tensors.
fn tensors<'p>(prim: &'p Prim<'p>, op: Op<'p>) -> Vec<Tensor<'p>> {
    op.operands().into_iter().map(|operand| prim.tensor(operand)).collect()
}

/// The tensors in the types that an op declares for its results.
fn declared_all<'p>(prim: &'p Prim<'p>, op: Op<'p>, results: Vec<Tensor<'p>>) -> Vec<Value<'p>> {
    if results.len() != op.num_results() {
        return results.into_iter().map(Tensor::value).collect();
    }
    results.into_iter().zip(op.result_types()).map(|(tensor, ty)| declared(prim, tensor, ty)).collect()
}

/// Puts the values of a formula in the place of an op, which stays as it was where the formula fails.
fn replaced<'p>(prim: &'p Prim<'p>, op: Op<'p>, formula: impl FnOnce() -> Vec<Value<'p>>) -> Result<(), Reason> {
    let results = counted(formula);
    let results = results.inspect_err(|_| drop(prim.take_error()))?;
    if results.len() != op.num_results() {
        prim.fail(format!("{} results computed, {} declared", results.len(), op.num_results()));
    }
    if let Some(message) = prim.take_error() {
        return Err(Reason::Arguments(message));
    }
    prim.replace(op, &results);
    Ok(())
}

/// In which precision a decomposition computes: with floats of 8 bits in `f32`.
fn precision(rule: &Rule, op: Op<'_>) -> Precision {
    let stored = |value: &Value<'_>| value.ty().element_type().is_some_and(|dtype| dtype.is_float8());
    let computed = aten::float8::is_computed(op.name()) && op.operands().iter().any(stored);
    if computed { Precision::Wide } else { rule.precision }
}

/// Whether an op is known to give tensors without elements only: then there is nothing to compute, and nothing can go wrong.
fn has_no_elements(op: Op<'_>) -> bool {
    let mut asked = op.results().into_iter().filter(|result| !result.is_unused()).map(Value::ty).peekable();
    asked.peek().is_some() && asked.all(|ty| ty.is_tensor() && ty.is_static() && ty.shape().contains(&0))
}

fn empty<'p>(prim: &'p Prim<'p>, op: Op<'p>) -> Vec<Value<'p>> {
    let known = |ty: Type<'p>| ty.element_type().filter(|_| ty.is_tensor() && ty.is_static()).map(|dtype| (dtype, ty.shape()));
    let make = |result: Value<'p>| {
        // What has another type is not used.
        let (dtype, shape) = known(result.ty()).unwrap_or((DType::I64, vec![0]));
        let shape: Vec<_> = shape.into_iter().map(Size::Const).collect();
        prim.full(dtype, Scalar::Int(0), &shape).value()
    };
    op.results().into_iter().map(make).collect()
}

/// Runs a decomposition, whose formulas compute with the numbers of the program as they come: one that overflows is refused, here
/// and in released builds, which check for it in this crate too (`Cargo.toml`). Any other panic goes on.
fn counted<T>(body: impl FnOnce() -> T) -> Result<T, Reason> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default();
        match text.contains("overflow") || text.contains("divide by zero") || text.contains("divisor of zero") {
            true => Reason::Arguments(format!("its numbers are too large or 0: {text}")),
            false => resume_unwind(panic),
        }
    })
}

/// Whether all tensors that an op takes hold integers or bool, maybe converted to floats.
fn is_whole(op: Op<'_>) -> bool {
    let integral = |value: Value<'_>| value.ty().element_type().is_some_and(|dtype| dtype.is_integral());
    let whole = |value: &Value<'_>| {
        let converted = value.defining_op().filter(|op| op.isa::<prim::Convert>());
        integral(*value) || converted.is_some_and(|op| integral(op.operand(0)))
    };
    let operands = op.operands();
    let mut tensors = operands.iter().filter(|value| value.ty().is_tensor()).peekable();
    tensors.peek().is_some() && tensors.all(whole)
}

/// The values of the results in the op's declared types.
fn finish<'p>(args: &Args<'p>, op: Op<'p>, results: Vec<Tensor<'p>>, precision: Precision) -> Vec<Value<'p>> {
    let found = is_misdeclared(op, &results);
    let declare = |(mut tensor, result): (Tensor<'p>, Value<'p>)| {
        let ty = result.ty();
        // What was not asked for has type `none`, or a shape that it has not; nothing uses it.
        if result.is_unused() {
            return tensor.value();
        }
        if let Some(dtype) = ty.element_type().filter(|_| precision != Precision::Exact) {
            tensor = tensor.convert(dtype);
        }
        if (found || refines(tensor.ty(), ty)) && may_be_refined(result) {
            return tensor.value();
        }
        declared(args.prim, tensor, ty)
    };
    results.into_iter().zip(op.results()).map(declare).collect()
}

/// Whether a shape that depends on data has another rank than declared: PyTorch's export has been seen to say wrong ones, and
/// then its other results of the op are not to be believed either.
fn is_misdeclared<'p>(op: Op<'p>, results: &[Tensor<'p>]) -> bool {
    let open = |ty: Type<'_>| ty.is_tensor() && ty.shape().contains(&DYNAMIC);
    let differs = |(tensor, ty): (&Tensor<'p>, Type<'p>)| open(tensor.ty()) && open(ty) && tensor.rank() != ty.rank();
    results.iter().zip(op.result_types()).any(differs)
}

/// Whether a type knows what another leaves open, and agrees with it otherwise.
fn refines(ty: Type<'_>, declared: Type<'_>) -> bool {
    let (known, open) = (ty.shape(), declared.shape());
    let agrees = |(&size, &declared): (&i64, &i64)| size == declared || declared == DYNAMIC;
    ty.element_type() == declared.element_type() && known.len() == open.len() && known.iter().zip(&open).all(agrees)
}

/// Whether all readers take a value with more sizes known than declared: operators that are decomposed themselves, and the
/// return of the entry, whose results get the types that are returned.
fn may_be_refined(result: Value<'_>) -> bool {
    let entry = |op: Op<'_>| op.parent().is_some_and(|parent| parent.attr(capture::ENTRY).is_some());
    let takes = |op: Op<'_>| is_operator(op) || op.dialect() == "prim" || (op.isa::<func::Return>() && entry(op));
    result.uses().into_iter().all(|using| takes(using.op))
}

/// Gives the entry's results the types that it returns.
fn refine_results<'c>(root: Op<'c>, rewriter: &mut Rewriter<'c>) {
    if root.attr(capture::ENTRY).is_none() {
        return;
    }
    let (Some(ty), Some(terminator)) = (root.attr("function_type").and_then(Attr::as_type), root.body(0).terminator()) else { return };
    if ty.results() != terminator.operand_types() {
        func::set_type(rewriter, root, &ty.inputs(), &terminator.operand_types());
    }
}

/// The tensor in its declared type, where only sizes may be more or less known than here.
fn declared<'p>(prim: &'p Prim<'p>, tensor: Tensor<'p>, ty: Type<'p>) -> Value<'p> {
    if tensor.ty() == ty {
        return tensor.value();
    }
    let agrees = |(size, declared): (&Size<'_>, i64)| declared == DYNAMIC || size.known().is_none_or(|n| n == declared);
    let same_rank = tensor.rank() == ty.rank() && ty.is_tensor();
    if !same_rank || Some(tensor.dtype()) != ty.element_type() || !tensor.shape().iter().zip(ty.shape()).all(agrees) {
        prim.fail(format!("the result is computed as {} and declared as {ty}", tensor.ty()));
        return tensor.value();
    }
    prim.retype(tensor, ty)
}

/// Removes pure ops without users, last first.
fn remove_unused<'c>(root: Op<'c>, rewriter: &mut Rewriter<'c>) {
    let mut ops = Vec::new();
    root.walk(&mut |op| ops.push(op));
    for op in ops.into_iter().rev() {
        if matches!(op.dialect(), "prim" | "arith") && op.regions().is_empty() && op.is_unused() {
            rewriter.erase(op);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_and_name_functional_operators() {
        for family in FAMILIES {
            for pair in family.windows(2) {
                assert!(pair[0].operator < pair[1].operator, "{} stands before {}", pair[0].operator, pair[1].operator);
            }
            for rule in *family {
                let schema = rule.operator.schema();
                assert!(!schema.is_mutable() || schema.has("nondeterministic_seeded"), "{} mutates an argument", rule.operator);
            }
        }
        assert_eq!(FAMILIES.iter().map(|f| f.len()).sum::<usize>(), RULES.len(), "an operator has two rows");
    }
}
