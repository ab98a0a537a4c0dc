//! Arms of the aten level: one plain sorted array per operator family.
//!
//! An arm takes arguments by schema name and is written from PyTorch's documented meaning, not by
//! decomposing as the compiler does. Names are those of the dialect: `aten.add.Tensor`, and
//! `aten.relu` for the overload `default`.

pub mod common;

use strata_dialects::aten::Operator;
use strata_dialects::aten::alias::meaning;

use super::value::{Args, InterpError, Results, Value};
use crate::dtype::Scalar;
use common::{Kind, Operand, elementwise};

/// How an op is computed.
#[derive(Clone, Copy)]
pub enum Arm {
    /// One tensor, element by element.
    Unary(Kind, fn(Scalar) -> Scalar),
    /// Two broadcast operands, element by element.
    Binary(Kind, fn(Scalar, Scalar) -> Scalar),
    /// Anything else.
    Op(fn(&Args) -> Results),
}

/// The names under which schemas know the first operand of a pointwise operator.
const FIRST: &[&str] = &["self", "x", "a", "input"];
/// The names under which schemas know the second operand of a pointwise operator.
const SECOND: &[&str] = &["other", "n", "exponent", "values", "b", "vec2", "tensor"];

macro_rules! families {
    ($($name:ident),* $(,)?) => {
        $(pub mod $name;)*
        /// Every family's arms.
        pub const FAMILIES: &[&[(Operator, Arm)]] = &[$($name::ARMS),*];
    };
}

families!(
    activation,
    affine,
    attention,
    binary,
    conv,
    creation,
    ctc,
    encoder,
    fft,
    float8,
    grid,
    index,
    join,
    linalg,
    loss,
    loss_backward,
    matmul,
    norm,
    order,
    pad,
    place,
    pool,
    prims,
    quantise,
    random,
    reduce,
    resize,
    rnn,
    scan,
    scatter,
    select,
    statistics,
    stepped,
    stft,
    taper,
    unary,
    view,
    vision
);

/// What an op makes of another's result.
fn behind(operator: Operator, results: Results) -> Results {
    let first = results?.into_iter().next().ok_or_else(|| super::value::fail("there is no result to go on with"))?;
    call(operator, &Args::new().with("self", first))
}

/// The arm of an operator.
pub fn find(operator: Operator) -> Option<Arm> {
    let operator = meaning(operator);
    let listed =
        |wanted: Operator| FAMILIES.iter().find_map(|arms| arms.binary_search_by_key(&wanted, |(o, _)| *o).ok().map(|k| arms[k].1));
    listed(operator).or_else(|| listed(prims::counterpart(operator)?))
}

/// Runs an operator on its arguments.
pub fn call(operator: Operator, args: &Args) -> Results {
    let arm = find(operator).ok_or_else(|| unsupported(operator))?;
    match arm {
        Arm::Unary(kind, f) => {
            let x = operand(args, FIRST)?;
            Ok(vec![Value::Tensor(elementwise(kind, &[x], |v| Ok(f(v[0])))?)])
        }
        Arm::Binary(kind, f) => {
            let (x, y) = (operand(args, FIRST)?, operand(args, SECOND)?);
            Ok(vec![Value::Tensor(elementwise(kind, &[x, y], |v| Ok(f(v[0], v[1])))?)])
        }
        Arm::Op(f) => f(args),
    }
}

/// The error for an operator without an arm.
pub fn unsupported(operator: Operator) -> InterpError {
    InterpError::Unsupported { op: operator.to_string(), location: String::new() }
}

fn operand<'a>(args: &'a Args, names: &[&str]) -> Result<Operand<'a>, InterpError> {
    let name = names.iter().find(|n| args.opt(n).is_some()).unwrap_or(&names[0]);
    common::operand(args, name)
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod lists {
    use super::*;

    #[test]
    fn families_are_sorted_and_disjoint() {
        let mut all: Vec<Operator> = Vec::new();
        for arms in FAMILIES {
            assert!(
                arms.windows(2).all(|w| w[0].0 < w[1].0),
                "not sorted near {:?}",
                arms.windows(2).find(|w| w[0].0 >= w[1].0).map(|w| w[1].0)
            );
            all.extend(arms.iter().map(|a| a.0));
        }
        all.sort_unstable();
        assert!(all.windows(2).all(|w| w[0] != w[1]), "listed twice: {:?}", all.windows(2).find(|w| w[0] == w[1]));
    }
}
