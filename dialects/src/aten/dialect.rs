//! The dialects `aten`, `prims` and those of PyTorch's libraries: one op per row of the schema tables.

use strata_core::dialect::kinds::AnyType;
use strata_core::dialect::{Arity, DialectDef, Effects, OpDef, Traits, TypeSpec, ValueDef, Violation};
use strata_core::ir::Op;

use super::{float8, schema, view};

/// PyTorch's operators.
pub static ATEN: DialectDef = DialectDef {
    name: "aten",
    doc: "PyTorch's operators under their own names and schemas.",
    ops: || definitions("aten."),
    ..DialectDef::NEW
};

/// The operators that PyTorch's own decompositions are written with.
pub static PRIMS: DialectDef = DialectDef {
    name: "prims",
    doc: "The operators of PyTorch's reference decompositions, under their own names and schemas.",
    ops: || definitions("prims."),
    ..DialectDef::NEW
};

/// Quantisation as PyTorch 2's export writes it.
pub static QUANTIZED_DECOMPOSED: DialectDef = DialectDef {
    name: "quantized_decomposed",
    doc: "Affine quantisation of a tensor, a channel, a token or a group, as PyTorch 2's export quantisation writes it.",
    ops: || definitions("quantized_decomposed."),
    ..DialectDef::NEW
};

/// Quantisation of torchao.
pub static TORCHAO: DialectDef = DialectDef {
    name: "torchao",
    doc: "Affine quantisation of blocks, as the library torchao writes it.",
    ops: || definitions("torchao."),
    ..DialectDef::NEW
};

/// Operators on boxes and regions.
pub static TORCHVISION: DialectDef = DialectDef {
    name: "torchvision",
    doc: "The operators on boxes and regions of the library torchvision.",
    ops: || definitions("torchvision."),
    ..DialectDef::NEW
};

/// All dialects of operators that a schema describes, sorted by name.
pub static OPERATORS: [&DialectDef; 5] = [&ATEN, &PRIMS, &QUANTIZED_DECOMPOSED, &TORCHAO, &TORCHVISION];

/// Whether the op is an operator that a schema describes.
pub fn is_operator(op: Op<'_>) -> bool {
    OPERATORS.iter().any(|dialect| dialect.name == op.dialect())
}

const OPERANDS: &[ValueDef] = &[ValueDef { name: "inputs", arity: Arity::Variadic, constraint: AnyType::CONSTRAINT }];
const RESULTS: &[ValueDef] = &[ValueDef { name: "outputs", arity: Arity::Variadic, constraint: AnyType::CONSTRAINT }];

/// One op per overload.
fn definitions(prefix: &str) -> Vec<OpDef> {
    schema::rows().filter(|row| row.name.starts_with(prefix)).map(|row| definition(&row)).collect()
}

fn definition(row: &schema::RowFacts) -> OpDef {
    let pure = row.returns && !row.has("mutable") && !row.has("nondeterministic_seeded");
    OpDef {
        name: row.name,
        summary: row.name,
        operands: OPERANDS,
        results: RESULTS,
        traits: Traits::OPEN_ATTRIBUTES,
        effects: if pure { Effects::PURE } else { Effects::READ.and(Effects::WRITE) },
        verify: Some(verify),
        ..OpDef::NEW
    }
}

/// C1: operands and attributes are the arguments of the schema. C2: floats of 8 bits are given only to operators that take them.
fn verify(op: Op<'_>) -> Result<(), Violation> {
    view::verify(op).map_err(|errors| Violation::new(1, errors.join("; ")))?;
    let refused = || Violation::new(2, "PyTorch does not compute this on floats of 8 bits; convert them to another type first");
    if float8::is_allowed(op) { Ok(()) } else { Err(refused()) }
}
