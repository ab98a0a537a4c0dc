//! Reductions and contractions: a stage that runs over what is combined, and the read of its result.

use super::kernel::{Kernel, element_of, plain_dims};
use super::sizes::Size;
use super::stage::{Kind, Request, Stage};
use super::{Error, conv};
use strata_core::ir::{AffineExpr, DYNAMIC, ElementType, Op, Value};
use strata_core::upstream::{arith, complex};
use strata_dialects::loops::elements::register_type;
use strata_dialects::loops::view::StageView;
use strata_dialects::prim;
use strata_dialects::prim::scalar::{self, accumulator};
use strata_dialects::prim::sizes;

impl<'c> Kernel<'c> {
    /// Opens (once) the stage of a reduction and reads its result.
    pub(super) fn reduction(
        &mut self,
        stage: &mut Stage<'c>,
        op: Op<'c>,
        to: ElementType,
        indices: &[AffineExpr<'c>],
    ) -> Result<Value<'c>, Error> {
        let Some(outer) = plain_dims(indices) else {
            return Err(Error::at(op, "its result is read through a view that is not a plain loop over its dims"));
        };
        let from = element_of(op, op.operand(0).ty())?;
        if op.isa::<prim::Dot>() && op.ints("lhs_contract").is_some_and(|dims| dims.is_empty()) {
            // Nothing is summed: a product of elements.
            let wide = accumulator(to);
            let factors = self.dot_elements(stage, op, indices, &[])?;
            let product = multiply(stage, op, factors, wide)?;
            return Ok(scalar::convert(&mut stage.b, product, wide, to));
        }
        let arg = op.isa::<prim::ArgReduce>();
        let accumulated = if arg { ElementType::I64 } else { accumulator(to) };
        self.own_stage(stage, (op, indices), &outer, [accumulated, to], |kernel, before| {
            kernel.reduce_stage(before, op, from, accumulated, indices, &outer)
        })
    }

    /// Reads the result of an op that has a stage of its own, which is opened before this one when these indices are asked for the
    /// first time. The stage's result is over the dims `outer`, its elements are converted from the first type to the second.
    pub(super) fn own_stage(
        &mut self,
        stage: &mut Stage<'c>,
        (op, indices): (Op<'c>, &[AffineExpr<'c>]),
        outer: &[usize],
        [from, to]: [ElementType; 2],
        open: impl FnOnce(&mut Self, Op<'c>) -> Result<Value<'c>, Error>,
    ) -> Result<Value<'c>, Error> {
        let request: Request<'c> = (op.result(0), indices.to_vec());
        let result = match self.reductions.get(&request) {
            Some(&result) => result,
            None => {
                let result = open(self, stage.op)?;
                self.reductions.insert(request, result);
                result
            }
        };
        let guarded = std::mem::replace(&mut stage.guarded, false);
        let dims: Vec<_> = outer.iter().map(|&dim| self.cx.dim(dim)).collect();
        let read = stage.read(result, &dims, register_type(self.cx, from));
        stage.guarded = guarded;
        Ok(scalar::convert(&mut stage.b, read, from, to))
    }

    fn reduce_stage(
        &mut self,
        before: Op<'c>,
        op: Op<'c>,
        from: ElementType,
        accumulated: ElementType,
        indices: &[AffineExpr<'c>],
        outer: &[usize],
    ) -> Result<Value<'c>, Error> {
        let operand = op.operand(0);
        let ints = |name: &str| op.ints(name).unwrap_or_default();
        let reduced: Vec<usize> = match op.name() {
            prim::Reduce::NAME => ints("dims").iter().map(|&dim| dim as usize).collect(),
            prim::ArgReduce::NAME => vec![op.int("dim").unwrap_or_default() as usize],
            prim::SegmentReduce::NAME => vec![op.operand(1).ty().rank() - 1],
            prim::Dot::NAME | prim::SoftmaxDot::NAME => ints("lhs_contract").iter().map(|&dim| dim as usize).collect(),
            _ => Vec::new(),
        };
        let (mut fresh, mut at) = (Vec::new(), Vec::new());
        if op.isa::<prim::Conv>() {
            let sizes = conv::summed(op)?.into_iter().map(|dim| self.size(op.operand(1), dim)).collect::<Result<Vec<_>, _>>()?;
            // A window of one element is no loop; something stays to be summed.
            let last = sizes.iter().rposition(|&size| size != Size::Static(1)).unwrap_or_default();
            for (place, size) in sizes.into_iter().enumerate() {
                if size == Size::Static(1) && place != last {
                    at.push(self.cx.constant(0));
                    continue;
                }
                fresh.push(self.fresh_dim(size));
                at.push(self.cx.dim(self.dims.len() - 1));
            }
        } else {
            for &dim in &reduced {
                let size = self.size(operand, dim)?;
                fresh.push(self.fresh_dim(size));
                at.push(self.cx.dim(self.dims.len() - 1));
            }
        }
        let reducer = match op.name() {
            prim::Reduce::NAME | prim::SegmentReduce::NAME => op.str("kind").unwrap_or_default(),
            prim::ArgReduce::NAME => format!("arg{}", op.str("kind").unwrap_or_default()),
            prim::SoftmaxDot::NAME if op.str("empty").as_deref() == Some("zero") => "softmax_or_zero".to_owned(),
            prim::SoftmaxDot::NAME => "softmax".to_owned(),
            _ => "sum".to_owned(),
        };
        let domain = [outer, &fresh].concat();
        let shape: Vec<i64> = outer
            .iter()
            .map(|&dim| match self.dims[dim] {
                Size::Static(size) => size,
                Size::Value(_) => DYNAMIC,
            })
            .collect();
        let result = self.cx.tensor(&shape, self.cx.element(accumulated));
        let segments = op.isa::<prim::SegmentReduce>();
        let kind = Kind::Reduce { dims: &fresh, reducer: &reducer, segments };
        // The result is there along dims that the kernel's other stages do not run over: those of a mean, and of its scores.
        let space = if op.isa::<prim::SoftmaxDot>() || StageView::new(before).is_attention() { "tile" } else { "register" };
        let mut stage = Stage::open(self, Some(before), &domain, &kind, &[result], space);
        let element = match op.name() {
            prim::Dot::NAME => {
                let factors = self.dot_elements(&mut stage, op, indices, &at)?;
                multiply(&mut stage, op, factors, accumulated)?
            }
            prim::SoftmaxDot::NAME => {
                let pair = self.dot_elements(&mut stage, op, indices, &at)?;
                let pair = pair.map(|element| scalar::convert(&mut stage.b, element, from, accumulated));
                return Ok(stage.close(self, &pair).result(0));
            }
            prim::Conv::NAME => conv::element(self, &mut stage, op, from, accumulated, indices, &at)?,
            _ => {
                if segments {
                    for bounds in [1, 2] {
                        self.element(&mut stage, op.operand(bounds), &indices[..op.operand(bounds).ty().rank()])?;
                    }
                }
                let mut source = vec![self.cx.constant(0); operand.ty().rank()];
                for (size, &index) in sizes::of(op).unwrap_or_default().iter().zip(indices) {
                    for (_, dim) in size.operand_dims() {
                        source[dim] = index;
                    }
                }
                for (&dim, &index) in reduced.iter().zip(&at) {
                    source[dim] = index;
                }
                let element = self.element(&mut stage, operand, &source)?;
                match op.isa::<prim::ArgReduce>() {
                    true if from.is_unsigned() => in_signed_order(&mut stage, element, from),
                    true => element,
                    false => scalar::convert(&mut stage.b, element, from, accumulated),
                }
            }
        };
        Ok(stage.close(self, &[element]).result(0))
    }

    /// The elements of both operands of a `dot`: result indices, then contracted ones.
    fn dot_elements(
        &mut self,
        stage: &mut Stage<'c>,
        op: Op<'c>,
        indices: &[AffineExpr<'c>],
        at: &[AffineExpr<'c>],
    ) -> Result<[Value<'c>; 2], Error> {
        let ints = |name: &str| op.ints(name).unwrap_or_default();
        let mut read = [0, 1].map(|operand| vec![self.cx.constant(0); op.operand(operand).ty().rank()]);
        for (size, &index) in sizes::of(op).unwrap_or_default().iter().zip(indices) {
            for (operand, dim) in size.operand_dims() {
                read[operand][dim] = index;
            }
        }
        for ((&left, &right), &index) in ints("lhs_contract").iter().zip(&ints("rhs_contract")).zip(at) {
            read[0][left as usize] = index;
            read[1][right as usize] = index;
        }
        Ok([self.element(stage, op.operand(0), &read[0])?, self.element(stage, op.operand(1), &read[1])?])
    }
}

/// Unsigned numbers as signed ones in the same order: whose position is wanted is compared, and not kept.
fn in_signed_order<'c>(stage: &mut Stage<'c>, element: Value<'c>, from: ElementType) -> Value<'c> {
    let ty = element.ty();
    let sign = stage.b.const_int(ty, i64::MIN >> (64 - from.bits()));
    arith::xori(&mut stage.b, element, sign)
}

/// The product of an element of each operand of a contraction, in the accumulator's type.
pub fn multiply<'c>(stage: &mut Stage<'c>, op: Op<'c>, factors: [Value<'c>; 2], accumulated: ElementType) -> Result<Value<'c>, Error> {
    let mut wide = factors;
    for (at, factor) in wide.iter_mut().enumerate() {
        *factor = scalar::convert(&mut stage.b, *factor, element_of(op, op.operand(at).ty())?, accumulated);
    }
    let name = if accumulated.is_complex() {
        complex::Mul::NAME
    } else if accumulated.is_float() {
        arith::MulF::NAME
    } else {
        arith::MulI::NAME
    };
    Ok(stage.b.value(name, &wide, wide[0].ty(), &[]))
}
