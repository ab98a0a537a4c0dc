//! Calls, branches and loops.

use strata_core::ir::{self, Block, Op, OpSpec};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::{func, scf};
use strata_dialects::aten::op;

use super::StableHloError;
use super::importer::{Importer, at, ty};
use crate::args::{s, t};

/// Imports an op with functions or regions; nothing where it is none.
pub(super) fn import<'s, 'c>(
    importer: &mut Importer<'_, 's, 'c>,
    op: Op<'s>,
    name: &str,
    operands: &[ir::Value<'c>],
) -> Result<Option<Vec<ir::Value<'c>>>, StableHloError> {
    Ok(Some(match name {
        func::Call::NAME => importer.call(op, operands)?,
        "optimization_barrier" => operands.to_vec(),
        "case" => chosen(importer, op, operands, 0)?,
        "if" => branch(importer, op, operands)?,
        "while" => repeated(importer, op, operands)?,
        _ => return Ok(None),
    }))
}

/// Runs `body` with the builder at the end of a block.
fn inside<'p, 's, 'c, T>(importer: &mut Importer<'p, 's, 'c>, block: Block<'c>, body: impl FnOnce(&mut Importer<'p, 's, 'c>) -> T) -> T {
    let location = importer.builder.location();
    let outer = std::mem::replace(&mut importer.builder, Rewriter::at_end(block, location));
    let result = body(importer);
    importer.builder = outer;
    result
}

fn region<'s>(op: Op<'s>, place: usize) -> Result<Block<'s>, StableHloError> {
    let region = op.regions().get(place).and_then(|region| region.entry());
    region.ok_or_else(|| at(op, format!("it has no region {place}")))
}

fn types<'s, 'c>(importer: &Importer<'_, 's, 'c>, op: Op<'s>) -> Result<Vec<ir::Type<'c>>, StableHloError> {
    let of = |result| match ty(importer.cx, result)? {
        ty if ty.is_static() => Ok(ty),
        ty => Err(format!("its result is {ty}, of sizes that only a call knows; branches give tensors of known sizes")),
    };
    op.result_types().into_iter().map(|result| of(result).map_err(|why| at(op, why))).collect()
}

/// A condition, which is a tensor of one truth value.
fn condition<'s, 'c>(importer: &mut Importer<'_, 's, 'c>, op: Op<'s>, values: &[ir::Value<'c>]) -> Result<ir::Value<'c>, StableHloError> {
    let value = values.first().copied().ok_or_else(|| at(op, "it has no condition".to_owned()))?;
    importer.emit(op::ITEM, &[t(value)]).map_err(|why| at(op, why))
}

fn branch<'s, 'c>(
    importer: &mut Importer<'_, 's, 'c>,
    op: Op<'s>,
    operands: &[ir::Value<'c>],
) -> Result<Vec<ir::Value<'c>>, StableHloError> {
    let when = condition(importer, op, operands)?;
    let results = types(importer, op)?;
    let made = importer.builder.op(OpSpec { name: scf::If::NAME, operands: &[when], results: &results, regions: 2, ..OpSpec::default() });
    for place in 0..2 {
        let (from, block) = (region(op, place)?, importer.builder.add_block(made.region(place), &[]));
        inside(importer, block, |importer| {
            let values = importer.block(from, &[])?;
            scf::yield_(&mut importer.builder, &values);
            Ok::<_, StableHloError>(())
        })?;
    }
    Ok(made.results())
}

/// The region of a number: that of `place` where it is its own, else one of those behind it, and the last one for all others.
fn chosen<'s, 'c>(
    importer: &mut Importer<'_, 's, 'c>,
    op: Op<'s>,
    operands: &[ir::Value<'c>],
    place: usize,
) -> Result<Vec<ir::Value<'c>>, StableHloError> {
    if place + 1 >= op.regions().len() {
        return importer.block(region(op, place)?, &[]);
    }
    let number = operands.first().copied().ok_or_else(|| at(op, "it has no number".to_owned()))?;
    let same = importer.emit(op::EQ_SCALAR, &[t(number), s(place as i64)]).map_err(|why| at(op, why))?;
    let when = condition(importer, op, &[same])?;
    let results = types(importer, op)?;
    let made = importer.builder.op(OpSpec { name: scf::If::NAME, operands: &[when], results: &results, regions: 2, ..OpSpec::default() });
    for side in 0..2 {
        let block = importer.builder.add_block(made.region(side), &[]);
        inside(importer, block, |importer| {
            let values = if side == 0 { importer.block(region(op, place)?, &[])? } else { chosen(importer, op, operands, place + 1)? };
            scf::yield_(&mut importer.builder, &values);
            Ok::<_, StableHloError>(())
        })?;
    }
    Ok(made.results())
}

fn repeated<'s, 'c>(
    importer: &mut Importer<'_, 's, 'c>,
    op: Op<'s>,
    operands: &[ir::Value<'c>],
) -> Result<Vec<ir::Value<'c>>, StableHloError> {
    // What a loop carries keeps its type.
    let results: Vec<_> = operands.iter().map(|operand| operand.ty()).collect();
    let made = importer.builder.op(OpSpec { name: scf::While::NAME, operands, results: &results, regions: 2, ..OpSpec::default() });
    let (test, body) = (region(op, 0)?, region(op, 1)?);
    let before = importer.builder.add_block(made.region(0), &results);
    inside(importer, before, |importer| {
        let values = importer.block(test, &before.args())?;
        let holds = condition(importer, op, &values)?;
        scf::condition(&mut importer.builder, holds, &before.args());
        Ok::<_, StableHloError>(())
    })?;
    let after = importer.builder.add_block(made.region(1), &results);
    inside(importer, after, |importer| {
        let values = importer.block(body, &after.args())?;
        scf::yield_(&mut importer.builder, &values);
        Ok::<_, StableHloError>(())
    })?;
    Ok(made.results())
}
