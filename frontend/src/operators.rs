//! What the importers of programs without types know of operators: their types and values, by who knows them below this crate.

use strata_core::ir::{ElementType, Op, Type};
use strata_core::rewrite::Rewriter;
use strata_dialects::aten::view::SYMBOLIC;
use strata_dialects::aten::{self, Input, Scalar, Schema, Size};

/// A tensor, or a number of rank 0, that is known at import time.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    /// The element type.
    pub dtype: ElementType,
    /// The sizes.
    pub shape: Vec<i64>,
    /// The elements in row-major order.
    pub bytes: Vec<u8>,
}

/// What is known of operators below this crate.
pub trait Operators {
    /// The types of an operator's results, whatever it declares.
    fn infer<'c>(&self, op: Op<'c>) -> Result<Vec<Type<'c>>, String>;
    /// The results of an operator for these operands.
    fn evaluate(&self, op: Op<'_>, operands: &[Constant]) -> Result<Vec<Constant>, String>;
}

/// Makes the op of a schema; its types are inferred.
pub(crate) fn emit<'c>(
    builder: &mut Rewriter<'c>,
    operators: &dyn Operators,
    schema: &'static Schema,
    inputs: &[Option<Input<'c>>],
) -> Result<Op<'c>, String> {
    let failed = |error: String| format!("`{}`: {error}", schema.name);
    if inputs.iter().flatten().any(says_least) {
        return Err(failed("the least integer has another meaning in the IR".to_owned()));
    }
    let probe = aten::build(builder, schema, inputs, &[]).map_err(|error| failed(error.to_string()))?;
    let types = operators.infer(probe).map_err(failed);
    builder.erase(probe);
    aten::build(builder, schema, inputs, &types?).map_err(|error| failed(error.to_string()))
}

/// Whether an argument says the integer that stands for symbolic values.
fn says_least(input: &Input<'_>) -> bool {
    let least = |size: &Size<'_>| *size == Size::Const(SYMBOLIC);
    match input {
        Input::Int(size) => least(size),
        Input::Ints(sizes) => sizes.iter().any(least),
        Input::Scalar(Scalar::Int(value)) => *value == SYMBOLIC,
        _ => false,
    }
}
