//! Generated calls of a program: sizes that respect its ranges and relations, weights and inputs small enough to be indices.

use std::collections::HashMap;

use strata_core::ir::{AffineExpr, AffineKind, DYNAMIC, Op, Type, Value as Ssa};
use strata_core::upstream::arith;
use strata_dialects::capture;
use strata_interp::run::{dtype_of, names};
use strata_interp::{DType, InterpError, Scalar, Tensor, Value};

/// One call: inputs in order, and the data of all that is no input, by name.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The call's inputs.
    pub inputs: Vec<Value>,
    /// Parameters, buffers and constants.
    pub weights: HashMap<String, Tensor>,
}

/// What [`sample`] may choose from; later attempts are tamer.
#[derive(Clone, Copy, Debug)]
struct Taste {
    /// Integers are at least this.
    low: i64,
    /// And less than this.
    high: i64,
    /// Floats are positive.
    positive: bool,
    /// How sizes without a relation are chosen.
    sizes: Sizes,
}

#[derive(Clone, Copy, Debug)]
enum Sizes {
    /// By the position of the dimension, so that tensors of one rank have one shape.
    ByPosition,
    /// All the same.
    Same,
    /// Each by itself.
    Free,
}

/// Attempts before a program is given up.
pub const ATTEMPTS: usize = 40;

/// What attempt `attempt` of input set `set` may choose from.
fn taste(set: usize, attempt: usize) -> Taste {
    const RANGES: [(i64, i64); 5] = [(-9, 10), (0, 8), (0, 3), (0, 2), (0, 1)];
    let first = usize::from(set.is_multiple_of(2));
    let (low, high) = RANGES[(first + attempt / 2).min(RANGES.len() - 1)];
    let sizes = match attempt % 4 {
        0 | 1 => Sizes::ByPosition,
        2 => Sizes::Same,
        _ => Sizes::Free,
    };
    Taste { low, high, positive: set.is_multiple_of(2), sizes }
}

/// Numbers from a seed (splitmix64): the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ (x >> 31)
    }

    /// At least `low`, less than `high`.
    fn int(&mut self, low: i64, high: i64) -> i64 {
        let width = high.saturating_sub(low).max(1) as u64;
        low.saturating_add((self.next() % width) as i64)
    }

    /// At least 0, less than 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Attempt `attempt` at input set `set` for a function; `known` weights are taken as they are.
pub fn sample(function: Op<'_>, seed: u64, set: usize, attempt: usize, known: &HashMap<String, Tensor>) -> Result<Sample, InterpError> {
    let taste = taste(set, attempt);
    let mut random = Random(seed ^ ((set as u64) << 32) ^ ((attempt as u64) << 16));
    let body = function.body(0);
    let sizes = sizes(function, &mut random, taste);
    let mut sample = Sample { inputs: Vec::new(), weights: HashMap::new() };
    for (k, argument) in body.args().into_iter().enumerate() {
        let (kind, name) = names(function, "arg_attrs", k);
        // The run itself computes it.
        if kind.as_deref() == Some("prepared") {
            continue;
        }
        let given = name.as_ref().and_then(|name| known.get(name)).cloned();
        let value = match given {
            Some(tensor) => Value::Tensor(tensor),
            None if argument.ty().is_tensor() => tensor(argument.ty(), &sizes[k], &mut random, taste)?,
            None => scalar(function, argument.ty(), &mut random, taste)?,
        };
        match (kind.as_deref(), value) {
            (None | Some("input"), value) => sample.inputs.push(value),
            (_, Value::Tensor(tensor)) => {
                sample.weights.insert(name.unwrap_or_default(), tensor);
            }
            _ => {}
        }
    }
    Ok(sample)
}

fn tensor(ty: Type<'_>, shape: &[usize], random: &mut Random, taste: Taste) -> Result<Value, InterpError> {
    let dtype = dtype_of(ty)?;
    Ok(Value::Tensor(Tensor::build(dtype, shape, |_| element(dtype, random, taste))?))
}

fn element(dtype: DType, random: &mut Random, taste: Taste) -> Scalar {
    let mut real = || if taste.positive { 0.125 + 1.5 * random.unit() } else { 4.0 * random.unit() - 2.0 };
    if dtype.is_complex() {
        let mut value = Scalar::Float(real()).complex();
        value.im = real();
        return dtype.cast(Scalar::Complex(value));
    }
    if dtype.is_float() {
        return dtype.cast(Scalar::Float(real()));
    }
    if dtype == DType::Bool {
        return Scalar::Bool(random.next() & 1 == 1);
    }
    let low = if dtype.is_signed() { taste.low } else { taste.low.max(0) };
    dtype.cast(Scalar::Int(i128::from(random.int(low, taste.high))))
}

/// A number of the call: small, or one that the program itself names.
fn scalar(function: Op<'_>, ty: Type<'_>, random: &mut Random, taste: Taste) -> Result<Value, InterpError> {
    let dtype = dtype_of(ty)?;
    if !dtype.is_int() {
        return Ok(Value::Scalar(element(dtype, random, taste)));
    }
    let named = constants(function);
    if !named.is_empty() && random.next() & 1 == 1 {
        return Ok(Value::int(named[random.int(0, named.len() as i64) as usize]));
    }
    Ok(Value::int(random.int(1, 6)))
}

/// Small positive integers that the program names: what its guards compare with is among them.
fn constants(function: Op<'_>) -> Vec<i64> {
    let mut found = Vec::new();
    function.walk(&mut |op| {
        if op.isa::<arith::Constant>() {
            found.extend(op.int("value").filter(|value| (1..=256).contains(value)));
        }
    });
    found.sort_unstable();
    found.dedup();
    found
}

/// The size that a symbolic one has where the program says nothing else of it.
const USUAL: i64 = 4;

/// Sizes of a call that the program takes, for each argument: as near to [`USUAL`] as its ranges and relations let them be.
pub fn usual_sizes(function: Op<'_>) -> Vec<Vec<i64>> {
    let chosen = chosen_sizes(function, &mut |(low, high)| USUAL.clamp(low, high.max(low)));
    chosen.into_iter().map(|shape| shape.into_iter().map(|size| size.unwrap_or(USUAL)).collect()).collect()
}

/// The sizes of each argument: what the program says of them, then a free choice.
fn sizes(function: Op<'_>, random: &mut Random, taste: Taste) -> Vec<Vec<usize>> {
    let chosen = chosen_sizes(function, &mut |range| ranged(function, random, range));
    let usual: Vec<i64> = (0..8).map(|_| random.int(1, 7)).collect();
    let mut free = |dim: usize| match taste.sizes {
        Sizes::ByPosition => usual[dim % usual.len()],
        Sizes::Same => usual[0].max(2),
        Sizes::Free => random.int(1, 7),
    };
    let mut fill = |(dim, size): (usize, Option<i64>)| usize::try_from(size.unwrap_or_else(|| free(dim))).unwrap_or(0);
    chosen.into_iter().map(|shape| shape.into_iter().enumerate().map(&mut fill).collect()).collect()
}

/// The sizes of each argument of which the program says something: static ones, then symbols chosen in their ranges, then what
/// relations say.
fn chosen_sizes(function: Op<'_>, choose: &mut dyn FnMut((i64, i64)) -> i64) -> Vec<Vec<Option<i64>>> {
    let arguments = function.body(0).args();
    let mut sizes: Vec<Vec<Option<i64>>> = arguments
        .iter()
        .map(|argument| argument.ty().shape().into_iter().map(|size| (size != DYNAMIC).then_some(size)).collect())
        .collect();
    let position = |value: Ssa<'_>| arguments.iter().position(|argument| *argument == value);
    let (mut symbols, mut by_name) = (HashMap::new(), HashMap::<String, i64>::new());
    for op in function.body(0).ops().into_iter().filter(|op| op.isa::<capture::Dim>()) {
        let (Some(at), Some(dim)) = (position(op.operand(0)), op.int("dim").and_then(|dim| usize::try_from(dim).ok())) else { continue };
        let Some(slot) = sizes[at].get_mut(dim) else { continue };
        let range = (op.int("min").unwrap_or(0).max(0), op.int("max").unwrap_or(i64::MAX));
        let chosen = slot.unwrap_or_else(|| match op.str("symbol") {
            Some(name) => *by_name.entry(name).or_insert_with(|| choose(range)),
            None => choose(range),
        });
        *slot = Some(chosen);
        symbols.insert(op.result(0), chosen);
    }
    for op in function.body(0).ops().into_iter().filter(|op| op.isa::<capture::BindDims>()) {
        let values: Option<Vec<i64>> = op.operands()[1..].iter().map(|value| symbols.get(value).copied()).collect();
        let (Some(at), Some(values), Some(map)) = (position(op.operand(0)), values, op.attr("shape").and_then(|map| map.as_map())) else {
            continue;
        };
        for (slot, expression) in sizes[at].iter_mut().zip(map.results()) {
            *slot = slot.or_else(|| evaluate(expression, &values));
        }
    }
    sizes
}

/// A size in a range: small, one that the program names, or a few steps of a power of two.
fn ranged(function: Op<'_>, random: &mut Random, (low, high): (i64, i64)) -> i64 {
    let named = constants(function);
    let small = low.max(1).saturating_add(random.int(0, 7));
    let wanted = match random.int(0, 4) {
        0 if !named.is_empty() => named[random.int(0, named.len() as i64) as usize],
        1 => (1 << random.int(1, 5)) * random.int(1, 4),
        _ => small,
    };
    let wanted = if (low..=high).contains(&wanted) { wanted } else { small };
    wanted.clamp(low, high.max(low))
}

fn evaluate(expression: AffineExpr<'_>, symbols: &[i64]) -> Option<i64> {
    let both = |a, b| Some((evaluate(a, symbols)?, evaluate(b, symbols)?));
    match expression.kind() {
        AffineKind::Dim(_) => None,
        AffineKind::Symbol(at) => symbols.get(at).copied(),
        AffineKind::Constant(value) => Some(value),
        AffineKind::Add(a, b) => both(a, b).and_then(|(a, b)| a.checked_add(b)),
        AffineKind::Mul(a, b) => both(a, b).and_then(|(a, b)| a.checked_mul(b)),
        AffineKind::FloorDiv(a, b) => both(a, b).and_then(|(a, b)| a.checked_div_euclid(b)),
        AffineKind::CeilDiv(a, b) => both(a, b).and_then(|(a, b)| a.checked_neg()?.checked_div_euclid(b)?.checked_neg()),
        AffineKind::Mod(a, b) => both(a, b).and_then(|(a, b)| a.checked_rem_euclid(b)),
    }
}
