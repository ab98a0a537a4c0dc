//! `--fold-scales`: what scales and shifts the features of a contraction goes into its weights.
//!
//! `conv(x, w) * s + t` with `s` and `t` made of weights alone, one number per feature, becomes `conv(x, w * s) + t`: a batch
//! normalisation costs one addition, and `--hoist-weights` computes the new weights once. The same for `dot`.
//! Exactly when the contraction's result has no other reader, its weights are weights alone, and the element type is `f32` or `f64`
//! (halves would round the new weights too coarsely). Additions, subtractions and products in any order are followed as far as
//! each has a weight of its own per feature. Rounding changes within a small factor of what it was (see the tests), so
//! `numerics = "strict"` refuses.
//!
//! ```mlir
//! %0 = prim.conv %x, %w {...} : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x6x6xf32>
//! %1 = prim.broadcast %s {dims = array<i64: 1>} : (tensor<4xf32>) -> tensor<2x4x6x6xf32>
//! %2 = prim.mul %0, %1 : (tensor<2x4x6x6xf32>, tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
//! // becomes
//! %0 = prim.broadcast %s {dims = array<i64: 0>} : (tensor<4xf32>) -> tensor<4x3x3x3xf32>
//! %1 = prim.mul %w, %0 : (tensor<4x3x3x3xf32>, tensor<4x3x3x3xf32>) -> tensor<4x3x3x3xf32>
//! %2 = prim.conv %x, %1 {...} : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x6x6xf32>
//! ```

#[cfg(test)]
mod bound;

use crate::prim::hoist_weights::Cone;
use strata_core::ir::{Builder, ElementType, Op, Type, Value};
use strata_core::pass::{Counter, Pass, PassContext, PassError};
use strata_core::rewrite::{Matched, NoMatch, Rewriter};
use strata_dialects::numerics::Numerics;
use strata_dialects::prim;

/// Moves scales of features into the weights of contractions.
#[derive(Pass)]
#[pass(anchor = "func.func", dependents("prim"))]
pub struct FoldScales {
    /// strict, ulp or fast; strict changes nothing.
    #[option(default = "ulp")]
    numerics: String,
    /// Contractions with new weights.
    folded: Counter,
}

impl Pass for FoldScales {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        if op.attr(strata_dialects::capture::ENTRY).is_none() {
            return Ok(());
        }
        let (cone, remarks, strict) = (Cone::of(op), cx.remarks(), Numerics::of(&self.numerics)? == Numerics::Strict);
        let candidates = op.body(0).ops().into_iter().filter(|op| op.isa::<prim::Conv>() || op.isa::<prim::Dot>());
        let of = |op| if strict { Err("the numerics are strict".into()) } else { Contraction::of(&cone, op) };
        let found: Vec<_> = candidates.filter_map(|op| remarks.found(op, of(op))).collect();
        let mut rewriter = cx.rewriter();
        for contraction in found {
            let folded = contraction.fold(&cone, &mut rewriter);
            self.folded.add(usize::from(remarks.found(contraction.op, folded).is_some()));
        }
        Ok(())
    }
}

/// A contraction with a weight that has dimensions of its own in the result.
struct Contraction<'c> {
    op: Op<'c>,
    /// Which operand the weight is.
    weight: usize,
    /// The dimensions of the result that are the weight's.
    result_dims: Vec<i64>,
    /// The same dimensions of the weight.
    weight_dims: Vec<i64>,
}

/// What happens to a feature: it is multiplied, or something is added or taken away.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Add,
    Sub,
    Mul,
}

/// One op on the way from the contraction.
struct Step<'c> {
    op: Op<'c>,
    kind: Kind,
    /// The broadcast that it reads.
    repeated: Op<'c>,
}

impl<'c> Contraction<'c> {
    fn of(cone: &Cone<'c>, op: Op<'c>) -> Result<Self, NoMatch> {
        if !matches!(op.result(0).ty().element_type(), Some(ElementType::F32 | ElementType::F64)) {
            return Err("its elements are neither f32 nor f64".into());
        }
        let dims = |name: &str| op.ints(name).unwrap_or_default();
        let free = |operand: usize, contract: &str| {
            let bound = dims(contract);
            let rank = op.operand(operand).ty().rank() as i64;
            (0..rank).filter(|dim| !bound.contains(dim)).collect::<Vec<_>>()
        };
        let found = match op.name() {
            prim::Conv::NAME if op.attr("layout").is_none() => Self { op, weight: 1, result_dims: vec![1], weight_dims: vec![0] },
            prim::Dot::NAME if dims("lhs_batch").is_empty() => {
                let (lhs, rhs) = (free(0, "lhs_contract"), free(1, "rhs_contract"));
                let split = lhs.len() as i64;
                if cone.has_weight(op.operand(1)) {
                    Self { op, weight: 1, result_dims: (split..split + rhs.len() as i64).collect(), weight_dims: rhs }
                } else {
                    Self { op, weight: 0, result_dims: (0..split).collect(), weight_dims: lhs }
                }
            }
            _ => return Err("it has a layout of its own, or a batch".into()),
        };
        let weight = op.operand(found.weight);
        if cone.has_weight(weight) && weight.ty().is_static() { Ok(found) } else { Err("no operand is made of weights alone".into()) }
    }

    /// The one reader of a value, when it scales or shifts features.
    fn step(&self, cone: &Cone<'c>, value: Value<'c>) -> Option<Step<'c>> {
        let [using] = value.uses().try_into().ok()?;
        let kind = match using.op.name() {
            prim::Add::NAME => Kind::Add,
            prim::Sub::NAME if using.index == 0 => Kind::Sub,
            prim::Mul::NAME => Kind::Mul,
            _ => return None,
        };
        let repeated = using.op.operand(1 - using.index).defining_op().filter(|op| op.isa::<prim::Broadcast>())?;
        let number = repeated.operand(0);
        let shape = number.ty().shape();
        let per_feature = repeated.ints("dims")?.iter().zip(&shape).all(|(dim, &size)| size == 1 || self.result_dims.contains(dim));
        (using.op.block() == self.op.block() && cone.holds(number) && per_feature).then_some(Step { op: using.op, kind, repeated })
    }

    /// Folds what follows, if it has a scale that is worth it.
    fn fold(&self, cone: &Cone<'c>, b: &mut Rewriter<'c>) -> Matched {
        let no_scale = || NoMatch::new("what reads it scales no feature by a weight");
        let mut steps: Vec<Step<'c>> = Vec::new();
        while let Some(step) = self.step(cone, steps.last().map_or(self.op, |step| step.op).result(0)) {
            steps.push(step);
        }
        // A number that scales all features alike is not worth weights of its own.
        let scales = |step: &Step<'c>| step.kind == Kind::Mul && cone.has_weight(step.repeated.operand(0));
        let last = steps.iter().any(scales).then(|| steps.last()).flatten().ok_or_else(no_scale)?.op;
        b.go_before(last);
        let (mut scale, mut shift): (Option<Value<'c>>, Option<Value<'c>>) = (None, None);
        for step in &steps {
            let number = self.features(b, step.repeated);
            let ty = number.ty();
            let mut join = |name: &str, left: Option<Value<'c>>| left.map(|left| b.value(name, &[left, number], ty, &[]));
            match step.kind {
                Kind::Mul => {
                    shift = join(prim::Mul::NAME, shift);
                    scale = join(prim::Mul::NAME, scale).or(Some(number));
                }
                Kind::Add => shift = join(prim::Add::NAME, shift).or(Some(number)),
                Kind::Sub => shift = Some(join(prim::Sub::NAME, shift).unwrap_or_else(|| b.value(prim::Neg::NAME, &[number], ty, &[]))),
            }
        }
        let scale = scale.ok_or_else(no_scale)?;
        let cx = self.op.cx();
        let weight = self.op.operand(self.weight);
        let wide = b.value(prim::Broadcast::NAME, &[scale], weight.ty(), &[("dims", cx.i64s_attr(&self.weight_dims))]);
        let mut operands = self.op.operands();
        operands[self.weight] = b.value(prim::Mul::NAME, &[weight, wide], weight.ty(), &[]);
        let mut result = b.clone_op(self.op, &operands).result(0);
        if let Some(shift) = shift {
            let sizes = &steps[steps.len() - 1].repeated.operands()[1..];
            let ty = result.ty();
            let wide = b.value(prim::Broadcast::NAME, &[&[shift], sizes].concat(), ty, &[("dims", cx.i64s_attr(&self.result_dims))]);
            result = b.value(prim::Add::NAME, &[result, wide], ty, &[]);
        }
        b.replace(last, &[result]);
        for op in steps.iter().rev().skip(1).map(|step| step.op).chain([self.op]) {
            b.erase(op);
        }
        Ok(())
    }

    /// What a broadcast repeats, as one number per feature.
    fn features(&self, b: &mut Builder<'c>, repeated: Op<'c>) -> Value<'c> {
        let cx = repeated.cx();
        let (number, shape) = (repeated.operand(0), self.op.operand(self.weight).ty().shape());
        let element = number.ty().element();
        let sizes: Vec<i64> = self.weight_dims.iter().map(|&dim| shape[dim as usize]).collect();
        let ty = cx.tensor(&sizes, element);
        let place = |dim: &i64| self.result_dims.iter().position(|own| own == dim).map(|at| at as i64);
        let dims = repeated.ints("dims").unwrap_or_default();
        // Dimensions of size 1 that are no feature's are left out.
        let kept: Vec<_> = dims.iter().zip(number.ty().shape()).filter_map(|(dim, size)| Some((place(dim)?, size))).collect();
        let (places, sizes): (Vec<i64>, Vec<i64>) = kept.into_iter().unzip();
        let narrow: Type<'c> = cx.tensor(&sizes, element);
        let number = if narrow == number.ty() { number } else { b.value(prim::Reshape::NAME, &[number], narrow, &[]) };
        if number.ty() == ty && places.is_sorted() {
            return number;
        }
        b.value(prim::Broadcast::NAME, &[number], ty, &[("dims", cx.i64s_attr(&places))])
    }
}
