//! Constant matrices along dims: a stage whose body reads a whole tile, multiplies it out, and yields all results.

use super::Error;
use super::kernel::{Kernel, plain_dims};
use super::sizes::Size;
use super::stage::{Kind, Stage};
use strata_core::ir::{AffineExpr, Builder, DYNAMIC, ElementType, Op, Value};
use strata_core::upstream::arith;
use strata_dialects::prim::scalar::{self, accumulator};

impl<'c> Kernel<'c> {
    /// Opens (once) the stage of a `linear_transform` and reads its result.
    pub(super) fn mixed(
        &mut self,
        stage: &mut Stage<'c>,
        op: Op<'c>,
        to: ElementType,
        indices: &[AffineExpr<'c>],
    ) -> Result<Value<'c>, Error> {
        let Some(outer) = plain_dims(indices).filter(|dims| dims.len() == indices.len()) else {
            return Err(Error::at(op, "its result is read through a view that is not a plain loop over its dims"));
        };
        let wide = accumulator(to);
        self.own_stage(stage, (op, indices), &outer, [wide, to], |kernel, before| kernel.mix_stage(before, op, [to, wide], indices, &outer))
    }

    /// The stage, before another one; its operand has elements of the first type, it computes in the second.
    fn mix_stage(
        &mut self,
        before: Op<'c>,
        op: Op<'c>,
        [from, wide]: [ElementType; 2],
        indices: &[AffineExpr<'c>],
        outer: &[usize],
    ) -> Result<Value<'c>, Error> {
        let dims: Vec<usize> = op.ints("dims").unwrap_or_default().iter().map(|&dim| dim as usize).collect();
        let matrix = op.attr("matrix").and_then(|attr| attr.as_f64s()).unwrap_or_default();
        let size = dims.first().map_or(1, |&dim| op.operand(0).ty().shape()[dim].max(1)) as usize;
        let rows: Vec<&[f64]> = matrix.chunks(size).collect();
        let known = |dim: &usize| match self.dims[*dim] {
            Size::Static(size) => size,
            Size::Value(_) => DYNAMIC,
        };
        let ty = self.cx.tensor(&outer.iter().map(known).collect::<Vec<_>>(), self.cx.element(wide));
        let spread: Vec<usize> = dims.iter().map(|&dim| outer[dim]).collect();
        let mut stage = Stage::open(self, Some(before), outer, &Kind::Spread { dims: &spread }, &[ty], "register");
        // One dim after the other gets the rows' elements for its own, in a tile whose last dim is fastest. Elements are read line by
        // line, just before they are used.
        let mut tile = Vec::new();
        for place in 0..dims.len() {
            let inner = size.pow((dims.len() - place - 1) as u32);
            let outer = rows.len().pow(place as u32);
            let mut mixed = vec![None; outer * rows.len() * inner];
            for (line, first) in (0..outer).flat_map(|line| (0..inner).map(move |first| (line, first))) {
                let points = (0..size).map(|k| (line * size + k) * inner + first);
                let elements: Vec<Value<'c>> = match place {
                    0 => points.map(|point| self.tile_element(&mut stage, op, [from, wide], indices, point)).collect::<Result<_, _>>()?,
                    _ => points.map(|point| tile[point]).collect(),
                };
                for (row, value) in multiply(&mut stage.b, &rows, &elements).into_iter().enumerate() {
                    mixed[(line * rows.len() + row) * inner + first] = Some(value);
                }
            }
            tile = mixed.into_iter().flatten().collect();
        }
        Ok(stage.close(self, &tile).result(0))
    }

    /// The element of the operand at a point of the tile, whose last dim is fastest.
    fn tile_element(
        &mut self,
        stage: &mut Stage<'c>,
        op: Op<'c>,
        [from, wide]: [ElementType; 2],
        indices: &[AffineExpr<'c>],
        point: usize,
    ) -> Result<Value<'c>, Error> {
        let (shape, mut at, mut rest) = (op.operand(0).ty().shape(), indices.to_vec(), point as i64);
        for dim in op.ints("dims").unwrap_or_default().into_iter().rev().map(|dim| dim as usize) {
            at[dim] = self.cx.constant(rest % shape[dim]);
            rest /= shape[dim];
        }
        let element = self.element(stage, op.operand(0), &at)?;
        Ok(scalar::convert(&mut stage.b, element, from, wide))
    }
}

/// The matrix times a line. Two columns that differ in signs only meet the sum and the difference of their elements; two rows that do
/// are the sum and the difference of the same two sums.
fn multiply<'c>(b: &mut Builder<'c>, rows: &[&[f64]], line: &[Value<'c>]) -> Vec<Value<'c>> {
    let mut rows: Vec<Vec<f64>> = rows.iter().map(|row| row.to_vec()).collect();
    let mut line = line.to_vec();
    for k in 0..line.len() {
        let alike = |other: &usize| {
            rows.iter().all(|row| row[k].abs() == row[*other].abs()) && signs_differ(rows.iter().map(|row| row[k] * row[*other]))
        };
        let Some(other) = (k + 1..line.len()).find(alike) else { continue };
        let sum = arith::addf(b, line[k], line[other]);
        let difference = arith::subf(b, line[k], line[other]);
        (line[k], line[other]) = (sum, difference);
        for row in &mut rows {
            // `a x + a y` is `a (x + y)`, and `a x - a y` is `a (x - y)`.
            (row[k], row[other]) = if row[k] * row[other] > 0.0 { (row[k], 0.0) } else { (0.0, row[k]) };
        }
    }
    let mut results = vec![None; rows.len()];
    for k in 0..rows.len() {
        if results[k].is_some() {
            continue;
        }
        let alike = |other: &usize| {
            let pairs = || rows[k].iter().zip(&rows[*other]);
            results[*other].is_none() && pairs().all(|(x, y)| x.abs() == y.abs()) && signs_differ(pairs().map(|(x, y)| x * y))
        };
        let Some(other) = (k + 1..rows.len()).find(alike) else {
            results[k] = Some(sum(b, &rows[k], &line));
            continue;
        };
        let part = |same: bool| -> Vec<f64> {
            rows[k].iter().zip(&rows[other]).map(|(x, y)| if (x * y > 0.0) == same { *x } else { 0.0 }).collect()
        };
        let (same, opposite) = (sum(b, &part(true), &line), sum(b, &part(false), &line));
        results[k] = Some(arith::addf(b, same, opposite));
        results[other] = Some(arith::subf(b, same, opposite));
    }
    results.into_iter().flatten().collect()
}

/// Whether some products are positive, and some negative.
fn signs_differ(products: impl Iterator<Item = f64> + Clone) -> bool {
    products.clone().any(|product| product > 0.0) && products.clone().any(|product| product < 0.0)
}

/// The sum of elements times factors, without those that are zero.
fn sum<'c>(b: &mut Builder<'c>, factors: &[f64], line: &[Value<'c>]) -> Value<'c> {
    let ty = line[0].ty();
    let mut total: Option<Value<'c>> = None;
    for (&factor, &element) in factors.iter().zip(line).filter(|(factor, _)| **factor != 0.0) {
        let (name, term) = match (factor, total) {
            (1.0, _) => (arith::AddF::NAME, element),
            (-1.0, Some(_)) => (arith::SubF::NAME, element),
            _ => {
                let factor = b.const_float(ty, factor);
                (arith::AddF::NAME, arith::mulf(b, element, factor))
            }
        };
        total = Some(match total {
            None => term,
            Some(before) => b.value(name, &[before, term], ty, &[]),
        });
    }
    total.unwrap_or_else(|| b.const_float(ty, 0.0))
}
