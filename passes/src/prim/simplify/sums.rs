//! `--simplify-sums`: sums of products and of repeated elements, computed with less work than the program says.
//!
//! Exactly when:
//! - **sum-of-product**: the factors of a summed product fall into groups that share no summed dimension. Each group is summed by itself:
//!   `sum_jk x_j * y_k = (sum_j x_j) * (sum_k y_k)`; a factor without a summed dimension comes out of the sum, and a summed
//!   dimension that no factor has is a factor of its size.
//! - **sum-of-two-factors**: a product of two factors, each with dimensions that the other lacks, is a `dot`.
//! - **sum-of-dot**: a free dimension of a `dot` is summed in its operand.
//! - **sum-of-dots**: the sum of four and more `dot`s, each smaller in its operands than in its result, is one `dot` over all that they contract:
//!   `x_1 y_1 + x_2 y_2 + .. = [x_1 x_2 ..] [y_1; y_2; ..]`, as the gradient of a weight that each step of a recurrence reads.
//! - **dot-of-one**: a `dot` that adds nothing up, as an outer product, is a product of repeated factors (whose zeros may be negative).
//! - **sum-of-terms**: `sum_jk (x_j + y_k)` is summed term by term, where a term does not have all summed dimensions.
//! - **reduce-of-repeated**: maxima, minima, `and` and `or` of repeated elements.
//!
//! The last is exact, and so are all of them on integers, which wrap. On floats the order of additions changes, so nothing else
//! fires with `numerics = "strict"`. With `ulp` a rule fires when its error bound is that of the sum as written:
//! for products, since `sum |x_j * y_k| = (sum |x_j|) * (sum |y_k|)`, as long as nothing is multiplied that the program did not
//! multiply (its author may have scaled a factor so that products stay in range). `sum-of-terms` has no such bound, since terms may
//! cancel: `fast` only.
//!
//! ```mlir
//! func.func @f(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<f32> {
//!   %0 = prim.broadcast %x {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x8xf32>
//!   %1 = prim.broadcast %y {dims = array<i64: 1>} : (tensor<8xf32>) -> tensor<4x8xf32>
//!   %2 = prim.mul %0, %1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
//!   %3 = prim.reduce %2 {dims = array<i64: 0, 1>, kind = "sum"} : (tensor<4x8xf32>) -> tensor<f32>
//!   return %3 : tensor<f32>
//! }
//! // becomes
//! func.func @f(%x: tensor<4xf32>, %y: tensor<8xf32>) -> tensor<f32> {
//!   %0 = prim.reduce %x {dims = array<i64: 0>, kind = "sum"} : (tensor<4xf32>) -> tensor<f32>
//!   %1 = prim.reduce %y {dims = array<i64: 0>, kind = "sum"} : (tensor<8xf32>) -> tensor<f32>
//!   %2 = prim.mul %0, %1 : (tensor<f32>, tensor<f32>) -> tensor<f32>
//!   return %2 : tensor<f32>
//! }
//! ```

use super::product::{Factor, Space, Tree};
use super::rewriter::{BuildSized, Simplified, SizedPatterns, SizedRewriter, same_type, simplify};
use super::{dots, number, sums_of_dots};
use strata_core::ir::{ElementType, Op, Type, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::NoMatch;
use strata_dialects::numerics::Numerics;
use strata_dialects::prim;

/// Factors sums.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim"))]
pub struct SimplifySums {
    /// strict, ulp or fast: strict only changes sums of integers.
    #[option(default = "ulp")]
    numerics: String,
    /// Rewrites.
    rewrites: Counter,
}

impl Pass for SimplifySums {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let numerics = Numerics::of(&self.numerics)?;
        self.rewrites.add(simplify(op, cx.remarks(), |patterns| rules(patterns, numerics)));
        Ok(())
    }
}

/// Runs the pass on a function with the default numerics; gives the number of rewrites.
pub fn run(function: Op<'_>) -> usize {
    simplify(function, Default::default(), |patterns| rules(patterns, Numerics::Ulp))
}

fn rules(patterns: &mut SizedPatterns<'_>, numerics: Numerics) {
    patterns.identity::<prim::Reduce>("sum-of-product", 1, move |op, rewriter| sum_of_product(op, rewriter, numerics));
    patterns.identity::<prim::Reduce>("sum-of-terms", 1, move |op, rewriter| sum_of_terms(op, rewriter, numerics));
    patterns.identity::<prim::Reduce>("reduce-of-repeated", 1, reduce_of_repeated);
    if numerics > Numerics::Strict {
        patterns.identity::<prim::Reduce>("sum-of-two-factors", 1, dots::sum_of_two_factors);
        patterns.identity::<prim::Reduce>("sum-of-dot", 1, dots::sum_of_dot);
        patterns.identity::<prim::Dot>("dot-of-one", 1, dots::dot_of_one);
        patterns.identity::<prim::Add>("sum-of-dots", 1, sums_of_dots::sum_of_dots);
    }
}

/// The dimensions of a reduction of kind `sum`; halves are summed wide and rounded once, which no factoring keeps.
pub(super) fn summed(op: Op<'_>) -> Result<Vec<usize>, NoMatch> {
    if op.str("kind").as_deref() != Some("sum") {
        return Err("no sum".into());
    }
    dims_of(op)
}

fn dims_of(op: Op<'_>) -> Result<Vec<usize>, NoMatch> {
    let dims = op.ints("dims").unwrap_or_default();
    dims.into_iter().map(|dim| usize::try_from(dim).map_err(|_| NoMatch::new("a negative dimension"))).collect()
}

/// Whether reassociation is allowed for the element type.
fn allowed(op: Op<'_>, needed: Numerics, given: Numerics) -> Result<(), NoMatch> {
    match op.result(0).ty().element_type() {
        Some(element) if element.is_integer() => Ok(()),
        Some(ElementType::F32 | ElementType::F64) if given >= needed => Ok(()),
        Some(ElementType::F32 | ElementType::F64) => Err("floats would round differently".into()),
        _ => Err("halves and complex numbers are summed as they stand".into()),
    }
}

/// A reduction of kind `sum`.
pub(super) fn sum<'c>(rewriter: &mut SizedRewriter<'c>, value: Value<'c>, dims: &[usize]) -> Value<'c> {
    if dims.is_empty() {
        return value;
    }
    let shape = value.ty().shape();
    let kept: Vec<i64> = (0..shape.len()).filter(|dim| !dims.contains(dim)).map(|dim| shape[dim]).collect();
    let list: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
    let attrs = [("dims", rewriter.cx().i64s_attr(&list)), ("kind", rewriter.cx().str_attr("sum"))];
    rewriter.value(prim::Reduce::NAME, &[value], value.ty().with_shape(&kept), &attrs)
}

/// sum_jk x_j * y_k = (sum_j x_j) * (sum_k y_k).
fn sum_of_product<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>, numerics: Numerics) -> Simplified<'c> {
    let dims = summed(op)?;
    allowed(op, Numerics::Ulp, numerics)?;
    let whole = op.operand(0);
    let tree = Tree::of(rewriter, whole);
    let factors = tree.factors();
    let groups = groups(&factors, &dims);
    let repeated: Vec<usize> = dims.iter().copied().filter(|dim| !factors.iter().any(|factor| factor.dims.contains(dim))).collect();
    if repeated.is_empty() && groups.len() == 1 {
        return Err("all factors share the summed dimensions".into());
    }
    let wraps = op.result(0).ty().element_type().is_some_and(|element| element.is_integer());
    let parts: Vec<_> = groups.iter().map(|group| tree.parts(&|factor| group.holds(factor, &dims))).collect();
    let new = parts.iter().zip(&groups).any(|(parts, group)| !group.dims.is_empty() && parts.len() > 1);
    if new && !wraps && numerics < Numerics::Fast {
        return Err("factors would be multiplied that the program does not multiply".into());
    }
    let kept = Space { whole, dims: (0..whole.ty().rank()).filter(|dim| !dims.contains(dim)).collect() };
    let mut product: Option<Value<'c>> = None;
    let times = |rewriter: &mut SizedRewriter<'c>, product: Option<Value<'c>>, factor: Factor<'c>| {
        let value = kept.fill(rewriter, &factor)?;
        Some(product.map_or(value, |product| rewriter.value(prim::Mul::NAME, &[product, value], kept.ty(), &[])))
    };
    let lost = || NoMatch::new("a factor has a dimension that the product does not have");
    for (group, parts) in groups.iter().zip(parts) {
        let mut used: Vec<usize> = parts.iter().flat_map(|part| part.factors()).flat_map(|factor| factor.dims.iter().copied()).collect();
        used.sort_unstable();
        used.dedup();
        let space = Space { whole, dims: used };
        let mut value: Option<Value<'c>> = None;
        for part in parts {
            let part = space.product(rewriter, part).ok_or_else(lost)?;
            value = Some(value.map_or(part, |value| rewriter.value(prim::Mul::NAME, &[value, part], space.ty(), &[])));
        }
        let Some(value) = value else { continue };
        let inner: Vec<usize> = (0..space.dims.len()).filter(|&at| group.dims.contains(&space.dims[at])).collect();
        let value = sum(rewriter, value, &inner);
        let left = space.dims.into_iter().filter(|dim| !group.dims.contains(dim)).collect();
        product = Some(times(rewriter, product, Factor { value, dims: left }).ok_or_else(lost)?);
    }
    if !repeated.is_empty() {
        let value = count(rewriter, whole, &repeated)?;
        product = Some(times(rewriter, product, Factor { value, dims: Vec::new() }).ok_or_else(lost)?);
    }
    same_type(op, product.ok_or_else(lost)?)
}

/// Factors that are summed together, because a chain of shared summed dimensions connects them; or one that is not summed.
struct Group<'c> {
    dims: Vec<usize>,
    /// The factor, when it has no summed dimension.
    single: Option<Value<'c>>,
}

impl<'c> Group<'c> {
    fn holds(&self, factor: &Factor<'c>, summed: &[usize]) -> bool {
        if factor.uses_any(summed) { factor.uses_any(&self.dims) } else { self.single == Some(factor.value) }
    }
}

fn groups<'c>(factors: &[&Factor<'c>], summed: &[usize]) -> Vec<Group<'c>> {
    let mut groups: Vec<Group<'c>> = Vec::new();
    for factor in factors {
        let mut dims: Vec<usize> = factor.dims.iter().copied().filter(|dim| summed.contains(dim)).collect();
        if dims.is_empty() {
            if !groups.iter().any(|group| group.single == Some(factor.value)) {
                groups.push(Group { dims, single: Some(factor.value) });
            }
            continue;
        }
        let at = groups.iter().position(|group| factor.uses_any(&group.dims)).unwrap_or(groups.len());
        groups.retain(|group| {
            let joins = factor.uses_any(&group.dims);
            if joins {
                dims.extend(group.dims.iter().filter(|dim| !factor.dims.contains(dim)));
            }
            !joins
        });
        groups.insert(at.min(groups.len()), Group { dims, single: None });
    }
    groups
}

/// sum_jk (x_j + y_k) = size_k * (sum_j x_j) + size_j * (sum_k y_k).
fn sum_of_terms<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>, numerics: Numerics) -> Simplified<'c> {
    let dims = summed(op)?;
    allowed(op, Numerics::Fast, numerics)?;
    let x = op.operand(0);
    let inner =
        x.defining_op().filter(|op| matches!(op.name(), prim::Add::NAME | prim::Sub::NAME)).ok_or(NoMatch::new("no sum of terms"))?;
    let trees = [Tree::of(rewriter, inner.operand(0)), Tree::of(rewriter, inner.operand(1))];
    let smaller = |tree: &Tree<'c>| dims.iter().any(|dim| !tree.factors().iter().any(|factor| factor.dims.contains(dim)));
    if !trees.iter().any(smaller) {
        return Err("every term has all summed dimensions".into());
    }
    let parts = [sum(rewriter, inner.operand(0), &dims), sum(rewriter, inner.operand(1), &dims)];
    Ok(rewriter.value(inner.name(), &parts, op.result(0).ty(), &[]))
}

/// max_jk x_j = max_j x_j, where there is an element at all.
fn reduce_of_repeated<'c>(op: Op<'c>, rewriter: &mut SizedRewriter<'c>) -> Simplified<'c> {
    let kind = op.str("kind").unwrap_or_default();
    if !matches!(kind.as_str(), "max" | "min" | "maxnum" | "and" | "or") {
        return Err("repeated elements count".into());
    }
    let (whole, dims) = (op.operand(0), dims_of(op)?);
    let Tree::Leaf(factor) = Tree::of(rewriter, whole) else { return Err("no repeated elements".into()) };
    let shape = whole.ty().shape();
    let repeated: Vec<usize> = dims.iter().copied().filter(|dim| !factor.dims.contains(dim)).collect();
    if repeated.is_empty() {
        return Err("no repeated elements".into());
    }
    if repeated.iter().any(|&dim| shape[dim] < 1) {
        return Err("there may be no elements".into());
    }
    let space = Space { whole, dims: (0..shape.len()).filter(|dim| !repeated.contains(dim)).collect() };
    let value = space.fill(rewriter, &factor).ok_or(NoMatch::new("the dimensions do not fit"))?;
    let inner: Vec<i64> = (0..space.dims.len()).filter(|&at| dims.contains(&space.dims[at])).map(|at| at as i64).collect();
    if inner.is_empty() {
        return same_type(op, value);
    }
    let attrs = [("dims", rewriter.cx().i64s_attr(&inner)), ("kind", rewriter.cx().str_attr(&kind))];
    Ok(rewriter.value(prim::Reduce::NAME, &[value], op.result(0).ty(), &attrs))
}

/// The number of elements along dimensions, as a 0-d tensor of the element type.
fn count<'c>(rewriter: &mut SizedRewriter<'c>, whole: Value<'c>, dims: &[usize]) -> Simplified<'c> {
    let scalar = whole.ty().with_shape(&[]);
    let shape = whole.ty().shape();
    let known = dims.iter().map(|&dim| (shape[dim] >= 0).then_some(shape[dim])).try_fold(1i64, |count, size| count.checked_mul(size?));
    if let Some(count) = known {
        return constant(rewriter, scalar, count);
    }
    let (cx, mut product) = (rewriter.cx(), None);
    for &dim in dims {
        let size = rewriter.dim(whole, dim);
        let size = rewriter.value(prim::Splat::NAME, &[size], cx.tensor(&[], cx.int(64)), &[]);
        let size = if scalar.element() == cx.int(64) { size } else { rewriter.value(prim::Convert::NAME, &[size], scalar, &[]) };
        product = Some(product.map_or(size, |product| rewriter.value(prim::Mul::NAME, &[product, size], scalar, &[])));
    }
    product.ok_or(NoMatch::new("no dimension"))
}

fn constant<'c>(rewriter: &mut SizedRewriter<'c>, scalar: Type<'c>, count: i64) -> Simplified<'c> {
    let element = scalar.element_type().ok_or(NoMatch::new("no numbers"))?;
    let number = if element.is_float() { Some(number::Number::Float(count as f64)) } else { number::wrap(element, count.into()) };
    let attr = number
        .and_then(|number| number::encode(element, number))
        .and_then(|bytes| rewriter.cx().dense_attr(scalar, &bytes))
        .ok_or(NoMatch::new("no such constant"))?;
    Ok(rewriter.value(prim::Constant::NAME, &[], scalar, &[("value", attr)]))
}
