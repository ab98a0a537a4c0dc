//! Recurrent networks: `LSTM`, `GRU` and `RNN`, in one direction or both, with activations of the node's choice.

use strata_core::ir::{self, ElementType};
use strata_dialects::aten::op;

use crate::onnx::call::{Call, d, f, i, is, n, ns, s, t, ts};
use crate::onnx::error::{Eval, Stop};
use crate::onnx::importer::Importer;
use crate::onnx::loops::{self, Start, Step};
use crate::onnx::table::{Row, row};
use crate::onnx::value::{Num, Value};

pub(in crate::onnx) const ROWS: &[Row] =
    &[row("GRU", |c| network(c, Kind::Gru)), row("LSTM", |c| network(c, Kind::Lstm)), row("RNN", |c| network(c, Kind::Plain))];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Plain,
    Gru,
    Lstm,
}

impl Kind {
    /// Gates, each with a part of the weights.
    fn gates(self) -> i64 {
        match self {
            Self::Plain => 1,
            Self::Gru => 3,
            Self::Lstm => 4,
        }
    }

    /// The activations of a direction where the node names none.
    fn activations(self) -> &'static [&'static str] {
        match self {
            Self::Plain => &["Tanh"],
            Self::Gru => &["Sigmoid", "Tanh"],
            Self::Lstm => &["Sigmoid", "Tanh", "Tanh"],
        }
    }
}

/// An activation with its two numbers.
#[derive(Debug, Clone)]
struct Activation {
    name: String,
    alpha: f64,
    beta: f64,
}

/// One direction: its weights and what it computes with.
struct Direction<'c> {
    kind: Kind,
    recurrent: ir::Value<'c>,
    /// The bias beside the recurrent weights, and that of the gates from input to forget.
    bias: Option<ir::Value<'c>>,
    peepholes: Option<[ir::Value<'c>; 3]>,
    activations: Vec<Activation>,
    clip: Option<f64>,
    coupled: bool,
    reset_after: bool,
    hidden: i64,
}

fn times<'c>(importer: &mut Importer<'_, 'c>, a: ir::Value<'c>, b: ir::Value<'c>) -> Eval<ir::Value<'c>> {
    importer.op(op::MUL_TENSOR, &[t(a), t(b)])
}

fn plus<'c>(importer: &mut Importer<'_, 'c>, a: ir::Value<'c>, b: ir::Value<'c>) -> Eval<ir::Value<'c>> {
    importer.op(op::ADD_TENSOR, &[t(a), t(b)])
}

/// `1 - x`.
fn rest<'c>(importer: &mut Importer<'_, 'c>, x: ir::Value<'c>) -> Eval<ir::Value<'c>> {
    importer.op(op::RSUB_SCALAR, &[t(x), s(1)])
}

impl<'c> Direction<'c> {
    fn active(&self, importer: &mut Importer<'_, 'c>, place: usize, x: ir::Value<'c>) -> Eval<ir::Value<'c>> {
        let Activation { name, alpha, beta } = &self.activations[place];
        let (alpha, beta) = (*alpha, *beta);
        let x = match self.clip {
            Some(clip) => importer.op(op::CLAMP, &[t(x), f(-clip), f(clip)])?,
            None => x,
        };
        let affine = |importer: &mut Importer<'_, 'c>, x, by, more| {
            let scaled = importer.op(op::MUL_SCALAR, &[t(x), f(by)])?;
            importer.op(op::ADD_SCALAR, &[t(scaled), f(more)])
        };
        match name.to_lowercase().as_str() {
            "relu" => importer.op(op::RELU, &[t(x)]),
            "tanh" => importer.op(op::TANH, &[t(x)]),
            "sigmoid" => importer.op(op::SIGMOID, &[t(x)]),
            "affine" => affine(importer, x, alpha, beta),
            "leakyrelu" => importer.op(op::LEAKY_RELU, &[t(x), f(alpha)]),
            "thresholdedrelu" => {
                let above = importer.op(op::GT_SCALAR, &[t(x), f(alpha)])?;
                let zero = importer.op(op::ZEROS_LIKE, &[t(x)])?;
                importer.op(op::WHERE_SELF, &[t(above), t(x), t(zero)])
            }
            "scaledtanh" => {
                let scaled = importer.op(op::MUL_SCALAR, &[t(x), f(beta)])?;
                let bent = importer.op(op::TANH, &[t(scaled)])?;
                importer.op(op::MUL_SCALAR, &[t(bent), f(alpha)])
            }
            "hardsigmoid" => {
                let moved = affine(importer, x, alpha, beta)?;
                importer.op(op::CLAMP, &[t(moved), f(0.0), f(1.0)])
            }
            "elu" => importer.op(op::ELU, &[t(x), f(alpha)]),
            "softsign" => {
                let size = importer.op(op::ABS, &[t(x)])?;
                let below = importer.op(op::ADD_SCALAR, &[t(size), s(1)])?;
                importer.op(op::DIV_TENSOR, &[t(x), t(below)])
            }
            "softplus" => importer.op(op::SOFTPLUS, &[t(x)]),
            other => Err(format!("its activation {other:?} is not known").into()),
        }
    }

    /// A part of the gates.
    fn part(&self, importer: &mut Importer<'_, 'c>, gates: ir::Value<'c>, place: i64) -> Eval<ir::Value<'c>> {
        let dim = gates.ty().rank() as i64 - 1;
        importer.op(op::SLICE_TENSOR, &[t(gates), i(dim), i(place * self.hidden), i((place + 1) * self.hidden)])
    }

    /// The state after a step, whose input contributes `gates`.
    fn step(&self, importer: &mut Importer<'_, 'c>, gates: ir::Value<'c>, state: &[ir::Value<'c>]) -> Eval<Vec<ir::Value<'c>>> {
        let hidden = state[0];
        let product = |importer: &mut Importer<'_, 'c>, hidden, rows: Option<[i64; 2]>| -> Eval<ir::Value<'c>> {
            let (mut weight, mut bias) = (self.recurrent, self.bias);
            if let Some([start, end]) = rows {
                weight = importer.op(op::SLICE_TENSOR, &[t(weight), i(0), i(start), i(end)])?;
                bias = bias.map(|bias| importer.op(op::SLICE_TENSOR, &[t(bias), i(0), i(start), i(end)])).transpose()?;
            }
            let turned = importer.op(op::T, &[t(weight)])?;
            let product = importer.op(op::MM, &[t(hidden), t(turned)])?;
            bias.map_or(Ok(product), |bias| plus(importer, product, bias))
        };
        match self.kind {
            Kind::Plain => {
                let product = product(importer, hidden, None)?;
                let sum = plus(importer, gates, product)?;
                Ok(vec![self.active(importer, 0, sum)?])
            }
            Kind::Gru => {
                let both = product(importer, hidden, Some([0, 2 * self.hidden]))?;
                let gate = |importer: &mut Importer<'_, 'c>, place| {
                    let (x, h) = (self.part(importer, gates, place)?, self.part(importer, both, place)?);
                    let sum = plus(importer, x, h)?;
                    self.active(importer, 0, sum)
                };
                let (update, reset) = (gate(importer, 0)?, gate(importer, 1)?);
                let rows = Some([2 * self.hidden, 3 * self.hidden]);
                let recurrent = if self.reset_after {
                    let recurrent = product(importer, hidden, rows)?;
                    times(importer, reset, recurrent)?
                } else {
                    let kept = times(importer, reset, hidden)?;
                    product(importer, kept, rows)?
                };
                let x = self.part(importer, gates, 2)?;
                let sum = plus(importer, x, recurrent)?;
                let new = self.active(importer, 1, sum)?;
                let (open, old) = (rest(importer, update)?, times(importer, update, hidden)?);
                let new = times(importer, open, new)?;
                Ok(vec![plus(importer, new, old)?])
            }
            Kind::Lstm => {
                let product = product(importer, hidden, None)?;
                let sum = plus(importer, gates, product)?;
                let cell = state[1];
                // Input, output, forget, cell.
                let gate = |importer: &mut Importer<'_, 'c>, place: i64, peephole: usize, cell: ir::Value<'c>| {
                    let mut x = self.part(importer, sum, place)?;
                    if let Some(peepholes) = &self.peepholes {
                        let seen = times(importer, peepholes[peephole], cell)?;
                        x = plus(importer, x, seen)?;
                    }
                    self.active(importer, 0, x)
                };
                let input = gate(importer, 0, 0, cell)?;
                let forget = if self.coupled { rest(importer, input)? } else { gate(importer, 2, 2, cell)? };
                let new = self.part(importer, sum, 3)?;
                let new = self.active(importer, 1, new)?;
                let (kept, new) = (times(importer, forget, cell)?, times(importer, input, new)?);
                let cell = plus(importer, kept, new)?;
                let output = gate(importer, 1, 1, cell)?;
                let bent = self.active(importer, 2, cell)?;
                Ok(vec![times(importer, output, bent)?, cell])
            }
        }
    }
}

/// The activations of a direction.
fn activations(c: &Call<'_, '_, '_>, kind: Kind, direction: usize, directions: usize) -> Eval<Vec<Activation>> {
    let wanted = kind.activations().len();
    let names: Vec<String> = match c.attr("activations") {
        Some(attr) => attr.strings.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
        None => (0..directions).flat_map(|_| kind.activations()).map(|name| (*name).to_owned()).collect(),
    };
    if names.len() != wanted * directions {
        return Err(format!("{} activations are named, and {} are wanted", names.len(), wanted * directions).into());
    }
    let floats = |name: &str| c.attr(name).map(|attr| attr.floats.clone()).unwrap_or_default();
    let (alphas, betas) = (floats("activation_alpha"), floats("activation_beta"));
    let known = |name: &str| match name.to_lowercase().as_str() {
        "leakyrelu" => (0.01, 0.0),
        "thresholdedrelu" | "elu" => (1.0, 0.0),
        "hardsigmoid" => (0.2, 0.5),
        "affine" | "scaledtanh" => (1.0, 1.0),
        _ => (0.0, 0.0),
    };
    // The lists hold numbers for those activations that take some.
    let (mut at_alpha, mut at_beta) = (0, 0);
    let mut all = Vec::new();
    for name in names {
        let (alpha, beta) = known(&name);
        let next = |list: &[f32], at: &mut usize, default: f64, takes: bool| {
            let value = list.get(*at).filter(|_| takes).map_or(default, |value| f64::from(*value));
            *at += usize::from(takes);
            value
        };
        let alpha = next(&alphas, &mut at_alpha, alpha, alpha != 0.0);
        let beta = next(&betas, &mut at_beta, beta, beta != 0.0);
        all.push(Activation { name, alpha, beta });
    }
    Ok(all[direction * wanted..(direction + 1) * wanted].to_vec())
}

fn network<'c>(c: &mut Call<'_, '_, 'c>, kind: Kind) -> Eval<Vec<Value<'c>>> {
    let (mut x, weights, recurrent) = (c.tensor(0)?, c.tensor(1)?, c.tensor(2)?);
    let (bias, lengths) = (c.optional(3)?, c.optional(4)?);
    let batch_first = c.int("layout", 0) != 0;
    let hidden = c.int("hidden_size", recurrent.ty().shape().last().copied().unwrap_or(0));
    if !(1..1 << 32).contains(&hidden) {
        return Err(format!("its hidden_size {hidden} is no size").into());
    }
    let names = match c.text("direction", "forward")? {
        "forward" => &[false][..],
        "reverse" => &[true],
        "bidirectional" => &[false, true],
        other => return Err(format!("its direction {other:?} is none of forward, reverse and bidirectional").into()),
    };
    let dtype = c.dtype(0)?;
    if batch_first {
        x = c.op(op::TRANSPOSE_INT, &[t(x), i(0), i(1)])?;
    }
    let (length, batch) = (c.importer.size_of(x, 0), c.importer.size_of(x, 1));
    let states = if kind == Kind::Lstm { 2 } else { 1 };
    let gates = kind.gates() * hidden;
    let (mut outputs, mut lasts) = (Vec::new(), vec![Vec::new(); states]);
    for (place, reverse) in names.iter().enumerate() {
        let of = |c: &mut Call<'_, '_, 'c>, value| c.op(op::SELECT_INT, &[t(value), i(0), i(place as i64)]);
        let (weight, recurrent) = (of(c, weights)?, of(c, recurrent)?);
        let (mut of_input, mut of_state) = (None, None);
        if let Some(bias) = bias {
            let bias = of(c, bias)?;
            of_input = Some(c.slice(bias, 0, 0, gates)?);
            of_state = Some(c.slice(bias, 0, gates, 2 * gates)?);
        }
        let peepholes = match c.optional(7)?.filter(|_| kind == Kind::Lstm) {
            Some(peepholes) => {
                let all = of(c, peepholes)?;
                Some([c.slice(all, 0, 0, hidden)?, c.slice(all, 0, hidden, 2 * hidden)?, c.slice(all, 0, 2 * hidden, 3 * hidden)?])
            }
            None => None,
        };
        let direction = Direction {
            kind,
            recurrent,
            bias: of_state,
            peepholes,
            activations: activations(c, kind, place, names.len())?,
            clip: c.attr("clip").map(|attr| f64::from(attr.f)),
            coupled: c.flag("input_forget", false),
            reset_after: c.flag("linear_before_reset", false),
            hidden,
        };
        // What the input contributes to all steps at once.
        let turned = c.op(op::T, &[t(weight)])?;
        let mut contributed = c.op(op::MATMUL, &[t(x), t(turned)])?;
        if let Some(bias) = of_input {
            contributed = c.op(op::ADD_TENSOR, &[t(contributed), t(bias)])?;
        }
        if *reverse {
            contributed = c.op(op::FLIP, &[t(contributed), is(&[0])])?;
        }
        let mut start = Vec::new();
        for state in 0..states {
            start.push(match c.optional(5 + state)? {
                Some(value) if batch_first => c.op(op::SELECT_INT, &[t(value), i(1), i(place as i64)])?,
                Some(value) => of(c, value)?,
                None => c.op(op::FULL, &[ns(&[batch, Num::Int(hidden)]), f(0.0), d(dtype)])?,
            });
        }
        let (rows, end) = steps(c, &direction, contributed, start, length, lengths.map(|lengths| (lengths, *reverse)))?;
        let rows = if *reverse { c.op(op::FLIP, &[t(rows), is(&[0])])? } else { rows };
        outputs.push(rows);
        for (list, value) in lasts.iter_mut().zip(end) {
            list.push(value);
        }
    }
    let mut all = c.op(op::STACK, &[ts(&outputs), i(1)])?;
    if batch_first {
        // `[length, directions, batch, hidden]` with the batch first.
        all = c.op(op::PERMUTE, &[t(all), is(&[2, 0, 1, 3])])?;
    }
    let mut results = vec![Value::Tensor(all)];
    for list in lasts {
        results.push(Value::Tensor(c.op(op::STACK, &[ts(&list), i(i64::from(batch_first))])?));
    }
    Ok(results)
}

/// All steps: the outputs in their order, and the last state. Beyond the length of its sequence a state stays as it is, and outputs are
/// zero.
fn steps<'c>(
    c: &mut Call<'_, '_, 'c>,
    direction: &Direction<'c>,
    gates: ir::Value<'c>,
    start: Vec<ir::Value<'c>>,
    length: Num<'c>,
    lengths: Option<(ir::Value<'c>, bool)>,
) -> Eval<(ir::Value<'c>, Vec<ir::Value<'c>>)> {
    let truth = Value::number(ElementType::Bool, Num::Int(1));
    let always = truth.clone();
    let mut body = |importer: &mut Importer<'_, 'c>, place: Num<'c>, _: Value<'c>, state: &[Value<'c>]| {
        let state = state.iter().map(|value| importer.tensor(value)).collect::<Eval<Vec<_>>>()?;
        let gates = importer.op(op::SELECT_INT, &[t(gates), i(0), n(place)])?;
        let mut next = direction.step(importer, gates, &state)?;
        let mut row = next[0];
        if let Some((lengths, reverse)) = lengths {
            let place = importer.tensor(&Value::number(ElementType::I64, place))?;
            let place = if reverse {
                let length = importer.tensor(&Value::number(ElementType::I64, length))?;
                let last = importer.op(op::SUB_SCALAR, &[t(length), s(1)])?;
                importer.op(op::SUB_TENSOR, &[t(last), t(place)])?
            } else {
                place
            };
            let inside = importer.op(op::LT_TENSOR, &[t(place), t(lengths)])?;
            let inside = importer.op(op::UNSQUEEZE, &[t(inside), i(1)])?;
            let zero = importer.op(op::ZEROS_LIKE, &[t(row)])?;
            row = importer.op(op::WHERE_SELF, &[t(inside), t(row), t(zero)])?;
            for (new, old) in next.iter_mut().zip(&state) {
                *new = importer.op(op::WHERE_SELF, &[t(inside), t(*new), t(*old)])?;
            }
        }
        let carried = next.into_iter().map(Value::Tensor).collect();
        Ok::<_, Stop>(Step { goes_on: always.clone(), carried, rows: vec![Value::Tensor(row)] })
    };
    // A row is as large as the state.
    let sizes = c.sizes(start[0]);
    let carried = start.into_iter().map(Value::Tensor).collect();
    let start = Start { count: Some(length), goes_on: truth, carried, sizes: Some(sizes) };
    let (end, rows) = loops::run(c.importer, start, &mut body)?;
    let end = end.iter().map(|value| c.importer.tensor(value)).collect::<Eval<Vec<_>>>()?;
    let rows = c.importer.tensor(rows.first().ok_or("its steps give nothing")?)?;
    Ok((rows, end))
}
