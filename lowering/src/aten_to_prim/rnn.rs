//! Recurrent networks and their cells. A network over few steps is written out, one over many or an unknown number is a loop.

use super::args::Args;
use super::rule::Precision::Wide;
use super::rule::{Rule, many, one};
use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor};

pub(super) const RULES: &[Rule] = &[
    many(GRU_INPUT, Wide, |a| network(a, Kind::Gru)),
    one(GRU_CELL, Wide, |a| cell(a, Kind::Gru)[0]),
    many(LSTM_INPUT, Wide, |a| network(a, Kind::Lstm)),
    many(LSTM_CELL, Wide, |a| cell(a, Kind::Lstm)),
    many(MKLDNN_RNN_LAYER, Wide, one_layer),
    many(RNN_RELU_INPUT, Wide, |a| network(a, Kind::Relu)),
    one(RNN_RELU_CELL, Wide, |a| cell(a, Kind::Relu)[0]),
    many(RNN_TANH_INPUT, Wide, |a| network(a, Kind::Tanh)),
    one(RNN_TANH_CELL, Wide, |a| cell(a, Kind::Tanh)[0]),
];

/// Steps that are written out. All passes see each of them, but what is computed for a gradient need not be computed again: on two cores a training
/// step of two layers over 32 sequences of 20 steps takes 7.9 ms written out and 10.2 ms as loops. 100 steps of 16 x 128 compile in 1.2 s
/// written out and in 0.1 s as a loop, and run in 3.0 ms and 3.1 ms.
const WRITTEN_OUT: i64 = 32;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Tanh,
    Relu,
    Gru,
    Lstm,
}

/// The weights of one layer in one direction.
#[derive(Clone)]
struct Layer<'c> {
    input: Tensor<'c>,
    hidden: Tensor<'c>,
    biases: Option<(Tensor<'c>, Tensor<'c>)>,
    projection: Option<Tensor<'c>>,
}

/// The sigmoid, with an exponential that stays finite: the gradient multiplies it by what is zero where the gate is closed. The largest
/// exponents are those of f64 and of f32.
fn gate<'c>(x: Tensor<'c>) -> Tensor<'c> {
    let largest = if x.dtype() == DType::F64 { 709.0 } else { 88.0 };
    ((-x).minimum(largest).exp() + 1.0).reciprocal()
}

fn times<'c>(x: Tensor<'c>, weight: Tensor<'c>) -> Tensor<'c> {
    x.dot(weight, (&[], &[]), (&[x.rank() - 1], &[1]))
}

impl<'c> Layer<'c> {
    /// What the input contributes, for one step or all at once.
    fn of_input(&self, x: Tensor<'c>) -> Tensor<'c> {
        let product = times(x, self.input);
        self.biases.map_or(product, |(bias, _)| product + bias)
    }

    /// One step: the state (hidden, and cell for an LSTM) after an input whose contribution is `gates`.
    fn step(&self, kind: Kind, gates: Tensor<'c>, state: &[Tensor<'c>]) -> Vec<Tensor<'c>> {
        let hidden = state[0];
        let product = times(hidden, self.hidden);
        let product = self.biases.map_or(product, |(_, bias)| product + bias);
        let dim = gates.rank() - 1;
        let part = |t: Tensor<'c>, i: i64, of: i64| {
            let size = t.size(dim) / of;
            t.slice(dim, size * i, size, 1)
        };
        match kind {
            Kind::Tanh => vec![(gates + product).tanh()],
            Kind::Relu => vec![(gates + product).relu()],
            Kind::Gru => {
                let reset = gate(part(gates, 0, 3) + part(product, 0, 3));
                let update = gate(part(gates, 1, 3) + part(product, 1, 3));
                let new = (part(gates, 2, 3) + reset * part(product, 2, 3)).tanh();
                vec![(hidden - new) * update + new]
            }
            Kind::Lstm => {
                let sum = gates + product;
                let (input, forget) = (gate(part(sum, 0, 4)), gate(part(sum, 1, 4)));
                let (new, output) = (part(sum, 2, 4).tanh(), gate(part(sum, 3, 4)));
                let cell = forget * state[1] + input * new;
                let hidden = output * cell.tanh();
                vec![self.projection.map_or(hidden, |w| times(hidden, w)), cell]
            }
        }
    }

    /// All steps over dimension 0 of x: the outputs in order of time, and the last state.
    fn run(&self, kind: Kind, x: Tensor<'c>, state: Vec<Tensor<'c>>, backwards: bool) -> (Tensor<'c>, Vec<Tensor<'c>>) {
        let (prim, steps) = (x.prim(), x.size(0));
        prim.require_at_most(Size::Const(1), steps, "a recurrent network over no steps", &[]);
        let gates = self.of_input(x);
        match steps.known() {
            Some(0) => (x, state),
            Some(steps) if steps <= WRITTEN_OUT => self.written_out(kind, gates, state, steps, backwards),
            _ => self.looped(kind, gates, state, backwards),
        }
    }

    fn written_out(
        &self,
        kind: Kind,
        gates: Tensor<'c>,
        mut state: Vec<Tensor<'c>>,
        steps: i64,
        backwards: bool,
    ) -> (Tensor<'c>, Vec<Tensor<'c>>) {
        let mut outputs = Vec::new();
        for t in 0..steps {
            let t = if backwards { steps - 1 - t } else { t };
            state = self.step(kind, gates.at(0, t), &state);
            outputs.push(state[0].unsqueeze(0));
        }
        if backwards {
            outputs.reverse();
        }
        (gates.prim().concat(&outputs, 0), state)
    }

    /// As a loop, which carries the state and the outputs.
    fn looped(&self, kind: Kind, gates: Tensor<'c>, mut state: Vec<Tensor<'c>>, backwards: bool) -> (Tensor<'c>, Vec<Tensor<'c>>) {
        let (prim, steps, first) = (gates.prim(), gates.size(0), state[0]);
        state.push(prim.full(first.dtype(), Scalar::Int(0), &[&[steps], &*first.shape()].concat()));
        let mut state = prim.counted(steps, &state, |t, carried| {
            let t = if backwards { steps - 1 - t } else { t };
            let (state, outputs) = carried.split_at(carried.len() - 1);
            let mut next = self.step(kind, gates.at(0, t), state);
            next.push(outputs[0].with_row(t, next[0]));
            next
        });
        let outputs = state.split_off(state.len() - 1);
        (outputs[0], state)
    }
}

fn cell<'c>(a: &Args<'c>, kind: Kind) -> Vec<Tensor<'c>> {
    let biases = a.opt_tensor("b_ih").zip(a.opt_tensor("b_hh"));
    let layer = Layer { input: a.tensor("w_ih"), hidden: a.tensor("w_hh"), biases, projection: None };
    let state = if kind == Kind::Lstm { a.tensors("hx") } else { vec![a.tensor("hx")] };
    layer.step(kind, layer.of_input(a.tensor("input")), &state)
}

/// One layer in one direction, as PyTorch runs it on CPUs; the last result is scratch memory of its library.
fn one_layer<'c>(a: &Args<'c>) -> Vec<Tensor<'c>> {
    let x = a.tensor("input");
    if a.int("mode") != 2 {
        a.fail("a layer of this library other than an LSTM");
    }
    let biases = a.bool("has_biases").then(|| (a.tensor("weight2"), a.tensor("weight3")));
    let layer = Layer { input: a.tensor("weight0"), hidden: a.tensor("weight1"), biases, projection: None };
    let (hidden, cell) = (a.tensor("hx_"), a.tensor("cx_"));
    let flat = |t: Tensor<'c>| t.reshape(&[x.size(1), t.size(t.rank() - 1)]);
    let (output, end) = layer.run(Kind::Lstm, x, vec![flat(hidden), flat(cell)], a.bool("reverse"));
    let scratch = a.prim.full(a.result_dtype(3), Scalar::Int(0), &[Size::Const(0)]);
    vec![output, end[0].reshape(&hidden.shape()), end[1].reshape(&cell.shape()), scratch]
}

/// The layers of a network, those of both directions of a layer one after the other.
fn layers<'c>(a: &Args<'c>, kind: Kind, state: &[Tensor<'c>]) -> Vec<Layer<'c>> {
    let (params, has_biases) = (a.tensors("params"), a.bool("has_biases"));
    // With a projection the hidden state is smaller than the cell.
    let last = |t: Tensor<'c>| t.size(t.rank() - 1);
    let projected = kind == Kind::Lstm && !last(state[0]).same(last(state[1]));
    let per_layer = 2 + 2 * usize::from(has_biases) + usize::from(projected);
    let layer = |p: &[Tensor<'c>]| Layer {
        input: p[0],
        hidden: p[1],
        biases: has_biases.then(|| (p[2], p[3])),
        projection: projected.then(|| p[per_layer - 1]),
    };
    params.chunks_exact(per_layer).map(layer).collect()
}

/// Output, then the last states of all layers: hidden, and cell for an LSTM.
fn network<'c>(a: &Args<'c>, kind: Kind) -> Vec<Tensor<'c>> {
    let mut x = a.tensor("input");
    let state = if kind == Kind::Lstm { a.tensors("hx") } else { vec![a.tensor("hx")] };
    if a.bool("train") && a.float("dropout") != 0.0 {
        a.fail("dropout between layers is random; export the model in eval mode");
    }
    let (directions, batch_first) = (1 + usize::from(a.bool("bidirectional")), a.bool("batch_first"));
    let layers = layers(a, kind, &state);
    let batched = x.rank() == 3;
    if batch_first && batched {
        x = x.swap(0, 1);
    }
    let mut last: Vec<Vec<Tensor<'c>>> = vec![Vec::new(); state.len()];
    for (l, pair) in layers.chunks(directions).enumerate() {
        let mut outputs = Vec::new();
        for (d, layer) in pair.iter().enumerate() {
            let begin = state.iter().map(|s| s.at(0, (l * directions + d) as i64)).collect();
            let (output, end) = layer.run(kind, x, begin, d == 1);
            outputs.push(output);
            for (list, tensor) in last.iter_mut().zip(end) {
                list.push(tensor.unsqueeze(0));
            }
        }
        x = a.prim.concat(&outputs, x.rank() - 1);
    }
    if batch_first && batched {
        x = x.swap(0, 1);
    }
    let states = last.iter().map(|list| a.prim.concat(list, 0));
    std::iter::once(x).chain(states).collect()
}
