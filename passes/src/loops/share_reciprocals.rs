//! `--share-reciprocals`: many divisions by one number become multiplications by its reciprocal.
//!
//! Where a stage divides along a dim by an element that does not move along it (the weights of a softmax by their sum), the
//! reciprocal is a stage of its own, taken once for each point of the outer loops. Dividing takes ten times as long as multiplying.
//!
//! A quotient then carries two roundings: at most 1.5 units in the last place, so it fires with `numerics = "ulp"` and not with
//! `"strict"`. Numbers whose reciprocal overflows or loses bits are scaled by a power of two before, and the quotient after, so
//! infinities, zeros and subnormal divisors give what a division gives.
//!
//! ```mlir
//! %y = loop.stage %x, %s {domain = [0, 1], ...} { arith.divf %a, %b }
//! // becomes
//! %c = loop.stage %s {domain = [0], ...} { 1.0, or a power of two for extreme %b }
//! %r = loop.stage %s, %c {domain = [0], ...} { 1.0 / (%b * %c) }
//! %y = loop.stage %x, %r, %c {domain = [0, 1], ...} { %a * %r * %c }
//! ```

use strata_core::ir::{Builder, ElementType, Op, OpSpec, Type, Value};
use strata_core::pass::{Pass, PassContext, PassError};
use strata_core::rewrite::{NoMatch, Rewriter};
use strata_core::upstream::arith::{self, CmpFPredicate};
use strata_core::upstream::math;
use strata_dialects::loops;
use strata_dialects::loops::edit::{set_maps, set_reads};
use strata_dialects::loops::view::product_of_known;
use strata_dialects::loops::view::{KernelView, StageView};
use strata_dialects::numerics::Numerics;

/// Replaces divisions by what does not vary by multiplications.
#[derive(Pass)]
#[pass(dependents("loop", "arith", "math"))]
pub struct ShareReciprocals {
    /// strict, ulp or fast.
    #[option(default = "ulp")]
    numerics: String,
}

impl Pass for ShareReciprocals {
    fn run<'c>(&self, op: Op<'c>, cx: &mut PassContext<'c>) -> Result<(), PassError> {
        let (mut rewriter, strict) = (cx.rewriter(), Numerics::of(&self.numerics)? == Numerics::Strict);
        for op in op.find_all(loops::Kernel::NAME).into_iter().flat_map(|kernel| kernel.find_all(arith::DivF::NAME)) {
            let found = if strict { Err("the numerics are strict".into()) } else { Division::of(op) };
            if let Some(division) = cx.remarks().found(op, found) {
                share(&division, &mut rewriter);
            }
        }
        Ok(())
    }
}

/// Divisions by one number that are worth two more stages.
const DIVISIONS_FOR_A_STAGE: i64 = 128;

/// A division by an argument of a stage that only moves with the outer loops.
struct Division<'c> {
    stage: Op<'c>,
    op: Op<'c>,
    /// The operand of the stage that divides.
    operand: usize,
    /// Outer dims, which the reciprocals have.
    outer: Vec<usize>,
    /// The type of the reciprocals.
    ty: Type<'c>,
}

impl<'c> Division<'c> {
    fn of(op: Op<'c>) -> Result<Self, NoMatch> {
        let outside = || NoMatch::new("it stands in no stage of a kernel");
        let stage = op.parent().filter(|parent| parent.isa::<loops::Stage>()).ok_or_else(outside)?;
        let kernel = stage.parent().and_then(KernelView::new).ok_or_else(outside)?;
        Self::in_stage(&kernel, &StageView::new(stage), op)
    }

    fn in_stage(kernel: &KernelView<'c>, stage: &StageView<'c>, op: Op<'c>) -> Result<Self, NoMatch> {
        let divisor = op.operand(1);
        let argument = divisor.owner_block() == Some(stage.op.body(0)) && divisor.defining_op().is_none();
        let wide = matches!(divisor.ty().element_type(), Some(ElementType::F32 | ElementType::F64));
        if !wide {
            return Err("its numbers are neither f32 nor f64".into());
        }
        if !argument || op.operand(0) == divisor {
            return Err("it divides by what the stage computes".into());
        }
        let operand = divisor.index();
        let map = stage.maps[operand];
        let follows = (0..kernel.num_dims()).all(|dim| kernel.outer.contains(&dim) || map.results().iter().all(|expr| !expr.uses_dim(dim)));
        let inner = stage.domain.iter().filter(|dim| !kernel.outer.contains(dim));
        if kernel.outer.is_empty() || stage.guarded[operand] || !follows {
            return Err("the divisor moves with more than the outer loops".into());
        }
        let times = product_of_known(inner.map(|&dim| kernel.static_size(dim)));
        if times.is_none_or(|times| times < DIVISIONS_FOR_A_STAGE) {
            return Err("a divisor has too few divisions, or their number is not known".into());
        }
        let cx = op.cx();
        let extents: Vec<_> = kernel.outer.iter().map(|&dim| kernel.static_size(dim).unwrap_or(strata_core::ir::DYNAMIC)).collect();
        let ty = cx.tensor(&extents, divisor.ty());
        Ok(Self { stage: stage.op, op, operand, outer: kernel.outer.clone(), ty })
    }
}

fn share<'c>(division: &Division<'c>, rewriter: &mut Rewriter<'c>) {
    let (stage, op, cx) = (division.stage, division.op, division.op.cx());
    let (divisor, number) = (stage.operand(division.operand), division.op.operand(1).ty());
    let scale = before(rewriter, division, &[divisor], |b, args| scale(b, args[0]));
    let reciprocal = before(rewriter, division, &[divisor, scale], |b, args| {
        let (one, scaled) = (b.const_float(number, 1.0), b.value(arith::MulF::NAME, args, number, &[]));
        arith::divf(b, one, scaled)
    });
    // The stage reads both at its own point.
    let view = StageView::new(stage);
    let dims: Vec<_> = division.outer.iter().map(|&dim| cx.dim(dim)).collect();
    let (map, own) = (view.maps[division.operand], [reciprocal, scale]);
    let at = cx.map(map.num_dims(), map.num_symbols(), &dims);
    let body = stage.body(0);
    let args = own.map(|_| body.add_arg(number, stage.location()));
    let (operands, maps) = ([stage.operands(), own.to_vec()].concat(), [view.maps, vec![at; 2]].concat());
    set_reads(rewriter, stage, &operands, &maps, &[view.guarded, vec![false; 2]].concat());
    rewriter.go_before(op);
    let product = arith::mulf(rewriter, op.operand(0), args[0]);
    let quotient = arith::mulf(rewriter, product, args[1]);
    rewriter.replace(op, &[quotient]);
}

/// The power of two that brings a number to where its reciprocal is a normal one: 1 for most.
fn scale<'c>(b: &mut Builder<'c>, number: Value<'c>) -> Value<'c> {
    let ty = number.ty();
    // Reciprocals of what is smaller overflow, those of what is larger are subnormal.
    let (bound, far) = if ty.element_type() == Some(ElementType::F64) { (1022, 512) } else { (126, 64) };
    let size = math::absf(b, number);
    let mut scale = b.const_float(ty, 1.0);
    for (predicate, sign) in [(CmpFPredicate::Olt, -1), (CmpFPredicate::Ogt, 1)] {
        let (limit, power) = (b.const_float(ty, 2f64.powi(sign * bound)), b.const_float(ty, 2f64.powi(-sign * far)));
        let beyond = arith::cmpf(b, predicate, size, limit);
        scale = arith::select(b, beyond, power, scale);
    }
    scale
}

/// A stage over the outer dims before the dividing one. The first of its operands is read as the dividing stage reads it, others at
/// the point.
fn before<'c>(
    rewriter: &mut Rewriter<'c>,
    division: &Division<'c>,
    operands: &[Value<'c>],
    body: impl FnOnce(&mut Builder<'c>, &[Value<'c>]) -> Value<'c>,
) -> Value<'c> {
    let (stage, cx) = (division.stage, division.stage.cx());
    let map = StageView::new(stage).maps[division.operand];
    let dims: Vec<_> = division.outer.iter().map(|&dim| cx.dim(dim)).collect();
    let at = cx.map(map.num_dims(), map.num_symbols(), &dims);
    let domain: Vec<i64> = division.outer.iter().map(|&dim| dim as i64).collect();
    let maps: Vec<_> = (0..operands.len()).map(|operand| if operand == 0 { map } else { at }).collect();
    rewriter.go_before(stage);
    let op = rewriter.op(OpSpec {
        name: loops::Stage::NAME,
        operands,
        results: &[division.ty],
        attrs: &[("domain", cx.i64s_attr(&domain)), ("space", cx.str_attr("register"))],
        regions: 1,
        ..OpSpec::default()
    });
    set_maps(rewriter, op, &maps);
    let number = division.op.operand(1).ty();
    let block = op.region(0).append_block(&vec![number; operands.len()], stage.location());
    rewriter.within(block, |b| {
        let value = body(b, &block.args());
        b.effect(loops::Yield::NAME, &[value], &[]);
    });
    op.result(0)
}
