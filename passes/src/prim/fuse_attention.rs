//! `--fuse-attention`: the product with a softmax becomes one contraction, so that attention is one kernel and its weights are never stored.
//!
//! Exactly when a `dot` contracts the softmax of scores (over that dimension) with values, where
//! - the softmax is written as exponentials of the distance to the largest score, divided by their sum, possibly with zeros for rows whose
//!   scores are all `-inf`, and nothing else reads it or its sum;
//! - the scores are pointwise work (scale, mask) on another `dot`, which nothing else reads;
//! - elements are `f32` or `f64`, heads have a known size that is not large, and there are enough queries to fill the lanes of a register.
//!
//! A constant factor of the queries or keys becomes one of the scores. Fusion then puts both contractions into one kernel.
//! The weights are normalised after the product instead of before: with `numerics = "strict"` nothing is changed.
//!
//! ```mlir
//! %max = prim.reduce %s {dims = array<i64: 1>, kind = "max"} : (tensor<32x16xf32>) -> tensor<32xf32>
//! ...                                        // exp(s - max) / sum
//! %y = prim.dot %weights, %v {..}
//! // becomes
//! %y = prim.softmax_dot %s, %v {.., empty = "nan"}
//! ```

use crate::prim::fusion::class::is_pointwise;
use crate::prim::simplify::{BuildSized, ROWS_OF_A_REGISTER, Simplified, SizedPatterns, SizedRewriter, simplify, splat_number};
use strata_core::ir::{DYNAMIC, ElementType, Op, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::NoMatch;
use strata_dialects::numerics::Numerics;
use strata_dialects::prim;

/// Makes one contraction of a softmax and the product that reads it.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim"))]
pub struct FuseAttention {
    /// strict, ulp or fast: strict changes nothing.
    #[option(default = "ulp")]
    numerics: String,
    /// Attentions found.
    rewrites: Counter,
}

impl Pass for FuseAttention {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        if Numerics::of(&self.numerics)? > Numerics::Strict {
            self.rewrites.add(simplify(op, cx.remarks(), rules));
        }
        Ok(())
    }
}

/// Runs the pass on a function with the default numerics; gives the number of rewrites.
pub fn run(function: Op<'_>) -> usize {
    simplify(function, Default::default(), rules)
}

fn rules(patterns: &mut SizedPatterns<'_>) {
    patterns.identity::<prim::Dot>("attention", 1, attention);
    patterns.identity::<prim::Dot>("scaled-scores", 1, scaled_scores);
}

/// Elements of a head: the kernel keeps the means of a tile of rows in scratch memory.
const MAX_HEAD: i64 = 4096;
/// Pointwise ops between the scores and their dot.
const MAX_DEPTH: usize = 12;

/// dot(softmax(s), v) = softmax_dot(s, v).
fn attention<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let (weights, values) = (op.operand(0), op.operand(1));
    let element = weights.ty().element_type();
    if !matches!(element, Some(ElementType::F32 | ElementType::F64)) {
        return Err("only f32 and f64 are summed without a wider type".into());
    }
    let contract = op.ints("lhs_contract").unwrap_or_default();
    let &[dim] = contract.as_slice() else { return Err("not one contracted dimension".into()) };
    let (scores, empty) = softmax(weights, dim as usize)?;
    if !read_by(scores, 4) || find_dot(scores, MAX_DEPTH).is_none() {
        return Err("the scores are no pointwise work on a dot that is used for nothing else".into());
    }
    let (queries, head) = (free(op, 0), free(op, 1));
    let (&[queries], &[head]) = (queries.as_slice(), head.as_slice()) else {
        return Err("not one dimension of queries and one of a head".into());
    };
    if head > MAX_HEAD {
        return Err("means of so large a head have no room in scratch memory".into());
    }
    if head == DYNAMIC || (queries != DYNAMIC && queries < ROWS_OF_A_REGISTER) {
        return Err("the size of a head is not known, or there are few queries".into());
    }
    let mut attrs = op.attrs();
    attrs.push(("empty".to_owned(), rewriter.cx().str_attr(empty)));
    let attrs: Vec<_> = attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
    Ok(rewriter.value(prim::SoftmaxDot::NAME, &[scores, values], op.result(0).ty(), &attrs))
}

/// Sizes of an operand's dimensions that are neither batch nor contracted.
fn free(op: Op<'_>, operand: usize) -> Vec<i64> {
    let names = [["lhs_batch", "lhs_contract"], ["rhs_batch", "rhs_contract"]][operand];
    let paired: Vec<i64> = names.iter().flat_map(|name| op.ints(name).unwrap_or_default()).collect();
    let shape = op.operand(operand).ty().shape();
    (0..shape.len()).filter(|&dim| !paired.contains(&(dim as i64))).map(|dim| shape[dim]).collect()
}

/// Whether at most so many ops read a value.
fn read_by(value: Value<'_>, most: usize) -> bool {
    value.uses().len() <= most
}

fn defined<'c>(value: Value<'c>, name: &str) -> Result<Op<'c>, NoMatch> {
    value.defining_op().filter(|op| op.is(name)).ok_or_else(|| NoMatch::new(format!("no softmax: there is no '{name}' where one has it")))
}

/// The operand of a broadcast that brings dimension `dim` back.
fn repeated<'c>(value: Value<'c>, dim: usize) -> Result<Value<'c>, NoMatch> {
    let op = defined(value, prim::Broadcast::NAME)?;
    let wanted: Vec<i64> = (0..value.ty().rank()).filter(|&at| at != dim).map(|at| at as i64).collect();
    if op.ints("dims").unwrap_or_default() == wanted { Ok(op.operand(0)) } else { Err("no softmax: another dimension is repeated".into()) }
}

/// What a reduction of this kind over dimension `dim` reads.
fn reduced<'c>(value: Value<'c>, kind: &str, dim: usize) -> Result<Value<'c>, NoMatch> {
    let op = defined(value, prim::Reduce::NAME)?;
    if op.str("kind").as_deref() == Some(kind) && op.ints("dims") == Some(vec![dim as i64]) {
        return Ok(op.operand(0));
    }
    Err("no softmax over the contracted dimension".into())
}

/// The scores whose softmax over `dim` a value is, and what a row of `-inf` gives.
fn softmax<'c>(weights: Value<'c>, dim: usize) -> Result<(Value<'c>, &'static str), NoMatch> {
    if !read_by(weights, 1) {
        return Err("the weights are used elsewhere".into());
    }
    if let Ok(select) = defined(weights, prim::Select::NAME) {
        let (scores, _) = softmax(select.operand(2), dim)?;
        let zero = splat_number(select.operand(1)) == Some(0.0);
        let all = reduced(repeated(select.operand(0), dim)?, "and", dim)?;
        let test = defined(all, prim::Eq::NAME)?;
        if zero && test.operand(0) == scores && splat_number(test.operand(1)) == Some(f64::NEG_INFINITY) {
            return Ok((scores, "zero"));
        }
        return Err("the weights are replaced in other rows than those of -inf".into());
    }
    let quotient = defined(weights, prim::Div::NAME)?;
    let exp = defined(quotient.operand(0), prim::Exp::NAME)?;
    let sum = repeated(quotient.operand(1), dim)?;
    if reduced(sum, "sum", dim)? != exp.result(0) {
        return Err("no softmax: something else is summed".into());
    }
    if !read_by(sum, 1) {
        return Err("the sum of the softmax is used elsewhere, so that the scores are stored for it".into());
    }
    let distance = defined(exp.operand(0), prim::Sub::NAME)?;
    let scores = distance.operand(0);
    let largest = repeated(distance.operand(1), dim)?;
    if reduced(largest, "maxnum", dim).or_else(|_| reduced(largest, "max", dim))? != scores {
        return Err("no softmax: the distance is not to the largest score".into());
    }
    Ok((scores, "nan"))
}

/// The dot that a value is computed from by pointwise work that nothing else reads.
fn find_dot<'c>(value: Value<'c>, depth: usize) -> Option<Op<'c>> {
    let op = value.defining_op().filter(|_| depth > 0)?;
    if op.isa::<prim::Dot>() {
        return Some(op);
    }
    let inner = |operand: Value<'c>| find_dot(operand, depth - 1).filter(|_| read_by(operand, 1));
    if is_pointwise(op) { op.operands().into_iter().find_map(inner) } else { None }
}

/// dot(x * c, y) = dot(x, y) * c for a constant c, where the dot is one of scores: there the factor costs nothing.
fn scaled_scores<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    if !feeds_softmax(op.result(0), MAX_DEPTH) {
        return Err("no scores of an attention".into());
    }
    let ty = op.result(0).ty();
    for side in 0..2 {
        let Some(product) = op.operand(side).defining_op().filter(|product| product.isa::<prim::Mul>()) else { continue };
        for (x, factor) in [(0, 1), (1, 0)].map(|(x, factor)| (product.operand(x), product.operand(factor))) {
            let Some(scalar) = scalar_of(factor) else { continue };
            let mut operands = op.operands();
            operands[side] = x;
            let attrs = op.attrs();
            let attrs: Vec<_> = attrs.iter().map(|(name, attr)| (name.as_str(), *attr)).collect();
            let dot = rewriter.value(prim::Dot::NAME, &operands, ty, &attrs);
            let sizes = rewriter.sizes(ty, |dim| (dot, dim));
            let none = rewriter.cx().i64s_attr(&[]);
            let factor = rewriter.value(prim::Broadcast::NAME, &[&[scalar], sizes.as_slice()].concat(), ty, &[("dims", none)]);
            return Ok(rewriter.value(prim::Mul::NAME, &[dot, factor], ty, &[]));
        }
    }
    Err("no operand has a constant factor".into())
}

/// The 0-d constant that a tensor repeats.
fn scalar_of(value: Value<'_>) -> Option<Value<'_>> {
    let op = value.defining_op().filter(|op| op.isa::<prim::Broadcast>())?;
    let scalar = op.operand(0);
    (scalar.ty().rank() == 0 && splat_number(scalar).is_some()).then_some(scalar)
}

/// Whether a value ends in the scores of a `softmax_dot`, through pointwise work.
fn feeds_softmax(value: Value<'_>, depth: usize) -> bool {
    depth > 0
        && value.uses().iter().any(|using| {
            let scores = using.op.isa::<prim::SoftmaxDot>() && using.index == 0;
            scores || (is_pointwise(using.op) && feeds_softmax(using.op.result(0), depth - 1))
        })
}
