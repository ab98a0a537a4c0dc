//! Rows side by side compute in the lanes of one vector what is one number for each row (superword-level parallelism, Larsen and Amarasinghe 2000).
//!
//! `log_softmax` takes the logarithm of the sum of a row: a polynomial of a scalar, for as many lanes as a short row has. Four rows beside each other
//! take the time of one.

use super::emitter::Emitter;
use super::lanes::spread;
use super::memory;
use crate::cycles::arithmetic;
use std::collections::{HashMap, HashSet};
use strata_core::ir::{Block, Builder, ElementType, Op, Value};
use strata_core::upstream::{arith, vector};
use strata_dialects::target::Cycles;

/// Cycles that a row's part must take: to bring four scalars into a vector and back takes seven instructions.
const LEAST_CYCLES: f64 = 8.0;

/// What the values of a body are for one copy.
type Known<'c> = HashMap<Value<'c>, Value<'c>>;

impl<'c> Emitter<'c> {
    /// Lets each copy know what a body computes of scalars alone, where rows have different ones; gives the ops that are done so.
    pub(super) fn superwords(&mut self, block: Block<'c>, known: &mut [Known<'c>]) -> Vec<Op<'c>> {
        if known.len() < 2 {
            return Vec::new();
        }
        let is_scalar = |arg: &Value<'c>| known.iter().all(|known| known.get(arg).is_some_and(|value| !value.ty().is_vector()));
        let scalars: Vec<_> = block.args().into_iter().filter(is_scalar).collect();
        // (Copies of one row have the same scalars.)
        let mut rows: Vec<Vec<Value<'c>>> = Vec::new();
        let mut row_of = Vec::new();
        for known in &*known {
            let own: Vec<_> = scalars.iter().map(|arg| known[arg]).collect();
            let row = rows.iter().position(|row| *row == own).unwrap_or(rows.len());
            rows.extend((row == rows.len()).then_some(own));
            row_of.push(row);
        }
        let column = |at: usize| rows.iter().map(|row| row[at]).collect::<Vec<_>>();
        let columns: Vec<_> = (0..scalars.len()).map(|at| (scalars[at], column(at))).collect();
        let (differ, same): (Vec<_>, Vec<_>) = columns.into_iter().partition(|(_, column)| column.iter().any(|value| *value != column[0]));
        if differ.is_empty() || !rows.len().is_power_of_two() {
            return Vec::new();
        }
        let mut ops = alike(block, differ.iter().map(|(arg, _)| *arg), same.iter().map(|(arg, _)| *arg));
        let is_constant = |op: &Op<'c>| op.operands().is_empty();
        let table = Cycles::default();
        if ops.iter().map(|op| arithmetic(*op, 1.0, &table)).sum::<f64>() < LEAST_CYCLES {
            return Vec::new();
        }
        let mut lanes: Known<'c> = same.into_iter().map(|(arg, column)| (arg, column[0])).collect();
        lanes.extend(differ.into_iter().map(|(arg, column)| (arg, together(&mut self.b, &column))));
        for &op in &ops {
            let operands: Vec<_> = op.operands().iter().map(|operand| lanes[operand]).collect();
            let results = spread(&mut self.b, op, &operands, rows.len() as i64);
            lanes.extend(op.results().into_iter().zip(results));
        }
        for result in ops.iter().map(|op| op.result(0)).filter(|result| lanes[result].ty().is_vector()) {
            if result.uses().into_iter().all(|usage| ops.contains(&usage.op)) {
                continue;
            }
            let each: Vec<_> = (0..).take(rows.len()).map(|row| vector::extract(&mut self.b, lanes[&result], row)).collect();
            known.iter_mut().zip(&row_of).for_each(|(known, &row)| {
                known.insert(result, each[row]);
            });
        }
        ops.retain(|op| !is_constant(op));
        ops
    }
}

/// The ops of a body that scalars alone determine, of which rows have different ones, and the constants among their operands.
fn alike<'c>(block: Block<'c>, differ: impl Iterator<Item = Value<'c>>, same: impl Iterator<Item = Value<'c>>) -> Vec<Op<'c>> {
    let mut differ: HashSet<_> = differ.collect();
    let mut given: HashSet<_> = differ.iter().copied().chain(same).collect();
    let mut ops = Vec::new();
    for op in block.ops() {
        let operands = op.operands();
        let constant = op.isa::<arith::Constant>();
        let computes = matches!(op.dialect(), "arith" | "math") && operands.iter().any(|operand| differ.contains(operand));
        let known = operands.iter().all(|operand| given.contains(operand) && has_lanes(*operand));
        if (constant || computes && known) && op.results().into_iter().all(has_lanes) {
            given.extend(op.results());
            differ.extend(op.results().into_iter().filter(|_| !constant));
            ops.push(op);
        }
    }
    ops
}

/// Whether registers have lanes of a value's type that are computed with as the scalar is.
fn has_lanes(value: Value<'_>) -> bool {
    value.ty().element_type().is_some_and(|element| {
        element == ElementType::Bool || element.is_integer() || matches!(element, ElementType::F32 | ElementType::F64)
    })
}

/// Scalars as the lanes of a vector.
fn together<'c>(b: &mut Builder<'c>, scalars: &[Value<'c>]) -> Value<'c> {
    let first = memory::broadcast(b, scalars[0], scalars.len() as i64);
    (1..).zip(&scalars[1..]).fold(first, |lanes, (at, &scalar)| vector::insert(b, scalar, lanes, at))
}
