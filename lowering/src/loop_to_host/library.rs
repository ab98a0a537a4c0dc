//! Calls of the runtime library: sorting, and whatever `prim.library` names.

use std::collections::HashMap;

use strata_core::ir::{AffineExpr, DYNAMIC, ElementType, Op, Value};
use strata_dialects::host;
use strata_dialects::prim::library::Function;

use super::Error;
use super::convert::{Converter, Tensor};
use crate::num::Num;

/// A stable sort along one dim.
pub(super) fn sort<'c>(c: &mut Converter<'c>, op: Op<'c>) -> Result<(), Error> {
    let source = c.tensor(op, op.operand(0))?;
    let element = c.element(op, op.operand(0))?;
    let dim = op.int("dim").unwrap_or_default() as usize;
    let descending = op.attr("descending").and_then(|attr| attr.as_bool()).unwrap_or_default();
    let values = result(c, op.result(0), element, source.sizes.clone());
    let positions = result(c, op.result(1), ElementType::I64, source.sizes.clone());
    let (before, after) = if source.sizes.is_empty() { (0, 0) } else { (dim, dim + 1) };
    let outer = product(c, &source.sizes[..before]);
    let size = product(c, &source.sizes[before..after]);
    let inner = product(c, &source.sizes[after..]);
    let code = c.b.const_int(c.cx.int(32), dtype_code(element));
    let descending = c.b.const_int(c.cx.int(32), i64::from(descending));
    let operands = [code, source.buffer, values.buffer, positions.buffer, outer, size, inner, descending];
    let elements = (0..3).fold(c.cx.constant(1), |all, size| all * c.cx.symbol(size));
    let all = c.elements(&source.sizes);
    call(c, "sort", &operands, (3, &[elements; 3]), &[all]);
    c.tensors.insert(op.result(0), values);
    c.tensors.insert(op.result(1), positions);
    Ok(())
}

/// A fresh seed of the call.
pub(super) fn seed<'c>(c: &mut Converter<'c>, op: Op<'c>) -> Result<(), Error> {
    let seed = c.alloc(ElementType::I64, Vec::new());
    let one = c.cx.constant(1);
    call(c, "seed", &[seed.buffer], (0, &[one]), &[Num::Const(1)]);
    c.tensors.insert(op.result(0), seed);
    Ok(())
}

/// The element type of the first operand, the buffers of operands and results, the size of the batch, each size of the
/// signature once in order of appearance, and the options as bits.
pub(super) fn library<'c>(c: &mut Converter<'c>, op: Op<'c>) -> Result<(), Error> {
    let name = op.str("function").unwrap_or_default();
    let function = Function::find(&name).ok_or_else(|| Error::at(op, format!("the library has no function `{name}`")))?;
    let (operands, results) = function.parts();
    let options = op.attr("options").and_then(|attr| attr.as_array()).unwrap_or_default();
    let mut options: Vec<String> = options.into_iter().filter_map(|option| option.as_str()).collect();
    options.extend(function.option_for(|result| !op.result(result).is_unused()).map(str::to_owned));
    let mask = function.mask(&options).ok_or_else(|| Error::at(op, format!("`{name}` does not know all its options")))?;

    let tensors: Vec<_> = op.operands()[..operands.len()].iter().map(|value| c.tensor(op, *value)).collect::<Result<_, _>>()?;
    let mut sizes: HashMap<char, Num<'c>> = HashMap::new();
    for (part, tensor) in operands.iter().zip(&tensors) {
        let trailing = tensor.sizes.iter().skip(tensor.sizes.len() - part.sizes.len());
        for (&letter, &size) in part.sizes.iter().zip(trailing) {
            sizes.entry(letter).or_insert(size);
        }
    }
    for (part, result) in results.iter().zip(op.results()) {
        let shape = result.ty().shape();
        let trailing = shape.iter().skip(shape.len() - part.sizes.len());
        for (&letter, &size) in part.sizes.iter().zip(trailing).filter(|(_, size)| **size != DYNAMIC) {
            sizes.entry(letter).or_insert(Num::Const(size));
        }
    }
    let (letters, _) = function.letters();
    let mut given = op.operands().into_iter().skip(operands.len());
    for &letter in letters.iter().filter(|letter| !sizes.contains_key(letter)).collect::<Vec<_>>() {
        let size = given.next().ok_or_else(|| Error::at(op, format!("the size {letter} is not given")))?;
        sizes.insert(letter, Num::Value(c.scalar(size)));
    }

    let batch = tensors[0].sizes[..tensors[0].sizes.len() - operands[0].sizes.len()].to_vec();
    let mut made = Vec::new();
    let mut buffers: Vec<Value<'c>> = tensors.iter().map(|tensor| tensor.buffer).collect();
    for (part, result) in results.iter().zip(op.results()) {
        let shape = batch.iter().copied().chain(part.sizes.iter().map(|letter| sizes[letter])).collect();
        let element = c.element(op, result)?;
        let tensor = self::result(c, result, element, shape);
        made.push(c.elements(&tensor.sizes));
        buffers.push(tensor.buffer);
        c.tensors.insert(result, tensor);
    }
    let element = c.element(op, op.operand(0))?;
    let mut arguments = vec![c.b.const_int(c.cx.int(32), dtype_code(element))];
    arguments.extend(buffers);
    arguments.push(product(c, &batch));
    arguments.extend(letters.iter().map(|letter| sizes[letter].value(&mut c.b)));
    arguments.push(c.b.const_int(c.cx.int(32), mask));
    // The batch is the first symbol, then come the letters.
    let size = |letter: &char| letters.iter().position(|other| other == letter).map_or(c.cx.constant(1), |at| c.cx.symbol(at + 1));
    let extent = |letters: &[char]| letters.iter().fold(c.cx.symbol(0), |all, letter| all * size(letter));
    let extents: Vec<_> = operands.iter().chain(&results).map(|part| extent(&part.sizes)).collect();
    call(c, &name, &arguments, (letters.len() + 1, &extents), &made);
    Ok(())
}

/// The memory of a result.
fn result<'c>(c: &mut Converter<'c>, result: Value<'c>, element: ElementType, sizes: Vec<Num<'c>>) -> Tensor<'c> {
    let elements = c.checked_elements(&sizes, element);
    c.memory_of(result, element, sizes, elements)
}

fn product<'c>(c: &mut Converter<'c>, sizes: &[Num<'c>]) -> Value<'c> {
    c.elements(sizes).value(&mut c.b)
}

/// The call, how many elements each buffer has, as expressions of so many `index` arguments, and how many each result has.
fn call<'c>(
    c: &mut Converter<'c>,
    name: &str,
    arguments: &[Value<'c>],
    (symbols, extents): (usize, &[AffineExpr<'c>]),
    results: &[Num<'c>],
) {
    let name = c.cx.str_attr(&format!("strata_lib_{name}"));
    let extents = c.cx.map_attr(c.cx.map(0, symbols, extents));
    c.unless_empty(results, |b| {
        b.effect(host::Extern::NAME, arguments, &[("name", name), ("extents", extents)]);
    });
}

/// Element types by their numbers in calls of the runtime library.
pub(crate) const DTYPE_CODES: [ElementType; 17] = {
    use ElementType::*;
    [F64, F32, F16, BF16, I64, I32, I16, I8, U8, U16, U32, U64, Bool, C64, C128, F8E4M3FN, F8E5M2]
};

/// The number of an element type in calls of the runtime library.
pub(super) fn dtype_code(element: ElementType) -> i64 {
    DTYPE_CODES.iter().position(|&known| known == element).unwrap_or(0) as i64
}
