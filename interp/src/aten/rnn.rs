//! Recurrent layers.

use super::Arm::{self, Op};
use super::join::{cat, stack};
use super::matmul::linear;
use super::unary::sigmoid;
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::Tensor;
use crate::value::{Args, InterpError, Results, fail, many, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (GRU_INPUT, Op(|a| layers(a, Cell::Gru))),
    (GRU_CELL, Op(|a| single(a, Cell::Gru))),
    (LSTM_INPUT, Op(|a| layers(a, Cell::Lstm))),
    (LSTM_CELL, Op(|a| single(a, Cell::Lstm))),
    (MKLDNN_RNN_LAYER, Op(one_layer)),
    (RNN_RELU_INPUT, Op(|a| layers(a, Cell::Relu))),
    (RNN_RELU_CELL, Op(|a| single(a, Cell::Relu))),
    (RNN_TANH_INPUT, Op(|a| layers(a, Cell::Tanh))),
    (RNN_TANH_CELL, Op(|a| single(a, Cell::Tanh))),
];

/// What one step computes.
#[derive(Clone, Copy, PartialEq)]
enum Cell {
    Tanh,
    Relu,
    Gru,
    Lstm,
}

/// The weights of one layer and direction.
struct Weights<'a> {
    input: &'a Tensor,
    hidden: &'a Tensor,
    input_bias: Option<&'a Tensor>,
    hidden_bias: Option<&'a Tensor>,
    projection: Option<&'a Tensor>,
}

/// Hidden state, and the cell state of an LSTM.
type State = (Tensor, Option<Tensor>);

impl Cell {
    /// One step on a batch of rows.
    fn step(self, x: &Tensor, (h, c): &State, w: &Weights) -> Result<State, InterpError> {
        let wide = |t: &Tensor| t.cast(DType::F64);
        let from_x = linear(&wide(x), &wide(w.input), w.input_bias.map(wide).as_ref())?;
        let from_h = linear(&wide(h), &wide(w.hidden), w.hidden_bias.map(wide).as_ref())?;
        let rows = x.shape()[0];
        let gates = match self {
            Cell::Tanh | Cell::Relu => 1,
            Cell::Gru => 3,
            Cell::Lstm => 4,
        };
        let n = from_x.shape()[1] / gates;
        let size = c.as_ref().unwrap_or(h).shape().get(1).copied();
        if from_x.shape() != from_h.shape() || size != Some(n) {
            return Err(fail("the weights do not match the state"));
        }
        let gate = |k: usize, i: &[usize]| (from_x.f(&[i[0], k * n + i[1]]), from_h.f(&[i[0], k * n + i[1]]));
        let both = |k: usize, i: &[usize]| gate(k, i).0 + gate(k, i).1;
        let shape = [rows, n];
        let dtype = x.dtype();
        Ok(match self {
            Cell::Tanh => (Tensor::build(dtype, &shape, |i| Scalar::Float(both(0, i).tanh()))?, None),
            Cell::Relu => (Tensor::build(dtype, &shape, |i| Scalar::Float(both(0, i).max(0.0)))?, None),
            Cell::Gru => (
                Tensor::build(dtype, &shape, |i| {
                    let (reset, update) = (sigmoid(both(0, i)), sigmoid(both(1, i)));
                    let (a, b) = gate(2, i);
                    let new = (a + reset * b).tanh();
                    Scalar::Float(new + update * (h.f(i) - new))
                })?,
                None,
            ),
            Cell::Lstm => {
                let old = c.as_ref().ok_or_else(|| fail("an LSTM needs a cell state"))?;
                let c = Tensor::build(dtype, &shape, |i| Scalar::Float(sigmoid(both(1, i)) * old.f(i) + sigmoid(both(0, i)) * both(2, i).tanh()))?;
                let h = Tensor::build(dtype, &shape, |i| Scalar::Float(sigmoid(both(3, i)) * c.f(i).tanh()))?;
                let h = if let Some(p) = w.projection { linear(&h, p, None)? } else { h };
                (h, Some(c))
            }
        })
    }
}

fn single(args: &Args, cell: Cell) -> Results {
    let x = args.tensor("input")?;
    let state: Vec<&Tensor> = if cell == Cell::Lstm { args.tensors("hx")? } else { vec![args.tensor("hx")?] };
    let rows = |t: &Tensor| if t.rank() == 1 { t.unsqueeze(0) } else { t.clone() };
    let w = Weights { input: args.tensor("w_ih")?, hidden: args.tensor("w_hh")?, input_bias: args.opt_tensor("b_ih")?, hidden_bias: args.opt_tensor("b_hh")?, projection: None };
    let first = state.first().ok_or_else(|| fail("no hidden state"))?;
    let (h, c) = cell.step(&rows(x), &(rows(first), state.get(1).map(|t| rows(t))), &w)?;
    let back = |t: Tensor| if x.rank() == 1 { t.select(0, 0) } else { Ok(t) };
    match c {
        Some(c) => many([back(h)?, back(c)?]),
        None => one(back(h)?),
    }
}

/// One LSTM layer in one direction over dimension 0.
fn one_layer(args: &Args) -> Results {
    let (x, hx, cx) = (args.tensor("input")?, args.tensor("hx_")?, args.tensor("cx_")?);
    if args.int("mode")? != 2 || x.rank() != 3 || x.shape()[0] == 0 {
        return Err(fail("a layer that is no LSTM over some steps"));
    }
    let biased = args.flag("has_biases")?;
    let bias = |name| Ok::<_, InterpError>(if biased { Some(args.tensor(name)?) } else { None });
    let w = Weights { input: args.tensor("weight0")?, hidden: args.tensor("weight1")?, input_bias: bias("weight2")?, hidden_bias: bias("weight3")?, projection: None };
    let rows = |t: &Tensor| t.reshape(&[x.shape()[1], t.shape().last().copied().unwrap_or(0)]);
    let (mut state, steps, reverse) = ((rows(hx)?, Some(rows(cx)?)), x.shape()[0], args.flag("reverse")?);
    let mut outputs = Vec::new();
    for t in 0..steps {
        state = Cell::Lstm.step(&x.select(0, if reverse { steps - 1 - t } else { t })?, &state, &w)?;
        outputs.push(state.0.clone());
    }
    if reverse {
        outputs.reverse();
    }
    let cell = state.1.ok_or_else(|| fail("an LSTM has a cell state"))?;
    many([stack(&outputs.iter().collect::<Vec<_>>(), 0)?, state.0.reshape(hx.shape())?, cell.reshape(cx.shape())?, Tensor::zeros(DType::U8, &[0])?])
}

fn layers(args: &Args, cell: Cell) -> Results {
    let input = args.tensor("input")?;
    if args.flag("train")? && args.float("dropout")? != 0.0 && args.int("num_layers")? > 1 {
        return Err(fail("dropout between layers draws random numbers"));
    }
    let states: Vec<&Tensor> = if cell == Cell::Lstm { args.tensors("hx")? } else { vec![args.tensor("hx")?] };
    let (params, biased) = (args.tensors("params")?, args.flag("has_biases")?);
    let directions = if args.flag("bidirectional")? { 2 } else { 1 };
    let count = args.int("num_layers")?.max(0) as usize * directions;
    // Time first, batch second.
    let batched = input.rank() == 3;
    let time_first = |t: &Tensor| if args.flag("batch_first")? && batched { t.transpose(0, 1) } else { Ok(t.clone()) };
    let state = |k: usize, n: usize| -> Result<Option<Tensor>, InterpError> {
        let Some(t) = states.get(k) else { return Ok(None) };
        let s = t.select(0, n)?;
        Ok(Some(if batched { s } else { s.unsqueeze(0) }))
    };
    let per = params.len().checked_div(count).unwrap_or(0);
    let base = if biased { 4 } else { 2 };
    if per < base || states.iter().any(|s| s.shape().first() != Some(&count)) {
        return Err(fail("the number of weights or states does not match the layers"));
    }
    let mut x = if batched { time_first(input)? } else { input.unsqueeze(1) };
    let (mut last_h, mut last_c) = (Vec::new(), Vec::new());
    for layer in 0..count / directions {
        let mut sides = Vec::new();
        for direction in 0..directions {
            let n = layer * directions + direction;
            let p = &params[n * per..(n + 1) * per];
            let w = Weights { input: p[0], hidden: p[1], input_bias: biased.then(|| p[2]), hidden_bias: biased.then(|| p[3]), projection: p.get(base).copied() };
            let mut s = (state(0, n)?.ok_or_else(|| fail("no hidden state"))?, state(1, n)?);
            let steps = x.shape()[0];
            let mut outputs = Vec::new();
            for t in 0..steps {
                let at = if direction == 0 { t } else { steps - 1 - t };
                s = cell.step(&x.select(0, at)?, &s, &w)?;
                outputs.push(s.0.clone());
            }
            if direction == 1 {
                outputs.reverse();
            }
            sides.push(stack(&outputs.iter().collect::<Vec<_>>(), 0)?);
            last_h.push(s.0);
            last_c.extend(s.1);
        }
        x = cat(&sides.iter().collect::<Vec<_>>(), 2)?;
    }
    let gather = |list: &[Tensor]| {
        let all = stack(&list.iter().collect::<Vec<_>>(), 0)?;
        if batched { Ok(all) } else { all.select(1, 0) }
    };
    let y = if batched { time_first(&x)? } else { x.select(1, 0)? };
    let mut out = vec![y, gather(&last_h)?];
    if cell == Cell::Lstm {
        out.push(gather(&last_c)?);
    }
    many(out)
}
