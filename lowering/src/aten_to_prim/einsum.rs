//! Einstein summation: operands are contracted from left to right, each step one `prim.dot`.

use strata_dialects::aten::dtype::{DType, Numeric, promote};
use strata_dialects::prim_builder::{Scalar, Tensor};

use super::args::Args;
use super::view::matrix_diagonal;

/// An operand whose dimensions carry labels.
#[derive(Clone)]
struct Labelled<'c> {
    tensor: Tensor<'c>,
    labels: Vec<char>,
}

/// Labels of the dimensions that `...` stands for, from the last one on.
const ELLIPSIS: char = '\u{e000}';

/// The tensor that `equation` makes of `tensors`.
pub(super) fn einsum<'c>(a: &Args<'c>, equation: &str, tensors: &[Tensor<'c>]) -> Tensor<'c> {
    let equation: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, output) = match equation.split_once("->") {
        Some((inputs, output)) => (inputs.to_owned(), Some(output.to_owned())),
        None => (equation, None),
    };
    let terms: Vec<&str> = inputs.split(',').collect();
    if terms.len() != tensors.len() || tensors.is_empty() {
        a.fail(format!("einsum has {} terms and {} operands", terms.len(), tensors.len()));
        return a.prim.constant(DType::F32, Scalar::Int(0));
    }
    let mut operands: Vec<Labelled<'c>> = Vec::new();
    for (term, tensor) in terms.iter().zip(tensors) {
        let labels = expand(term, tensor.rank());
        if labels.len() != tensor.rank() {
            a.fail(format!("einsum term `{term}` for a tensor of rank {}", tensor.rank()));
            return *tensor;
        }
        operands.push(without_repeats(Labelled { tensor: *tensor, labels }));
    }
    let output = output.map_or_else(|| implicit(&operands), |text| expand(&text, spread_rank(&operands, &text)));
    drop_unit_dims(&mut operands);
    let mut result = operands.remove(0);
    while !operands.is_empty() {
        let next = operands.remove(0);
        let needed = |label: &char| output.contains(label) || operands.iter().any(|o| o.labels.contains(label));
        result = contract(result, next, needed);
    }
    arrange(result, &output)
}

/// The labels of a term for a tensor of this rank.
fn expand(term: &str, rank: usize) -> Vec<char> {
    let Some((before, after)) = term.split_once("...") else { return term.chars().collect() };
    let named = before.chars().count() + after.chars().count();
    let hidden = rank.saturating_sub(named) as u32;
    let place = |i: u32| char::from_u32(ELLIPSIS as u32 + i).unwrap_or(ELLIPSIS);
    before.chars().chain((0..hidden).rev().map(place)).chain(after.chars()).collect()
}

/// The rank of an output term in which `...` stands for the most dimensions of any operand.
fn spread_rank(operands: &[Labelled<'_>], term: &str) -> usize {
    let hidden = |o: &Labelled<'_>| o.labels.iter().filter(|l| **l >= ELLIPSIS).count();
    let most = operands.iter().map(hidden).max().unwrap_or(0);
    most + term.replace("...", "").chars().count()
}

/// The output when none is given: hidden dimensions, then labels that occur once, sorted.
fn implicit(operands: &[Labelled<'_>]) -> Vec<char> {
    let all: Vec<char> = operands.iter().flat_map(|o| o.labels.iter().copied()).collect();
    let mut hidden: Vec<char> = all.iter().copied().filter(|l| *l >= ELLIPSIS).collect();
    hidden.sort_unstable_by(|a, b| b.cmp(a));
    hidden.dedup();
    let once = |l: &char| *l < ELLIPSIS && all.iter().filter(|m| *m == l).count() == 1;
    let mut named: Vec<char> = all.iter().copied().filter(once).collect();
    named.sort_unstable();
    [hidden, named].concat()
}

/// Takes diagonals until no label occurs twice.
fn without_repeats(operand: Labelled<'_>) -> Labelled<'_> {
    let Labelled { mut tensor, mut labels } = operand;
    while let Some((i, j)) = repeated(&labels) {
        tensor = matrix_diagonal(tensor, 0, i, j);
        let label = labels.remove(j);
        labels.remove(i);
        labels.push(label);
    }
    Labelled { tensor, labels }
}

fn repeated(labels: &[char]) -> Option<(usize, usize)> {
    (0..labels.len()).find_map(|i| (i + 1..labels.len()).find(|j| labels[i] == labels[*j]).map(|j| (i, j)))
}

/// A dimension of size 1 broadcasts against another operand's: it is dropped where another operand has the label.
fn drop_unit_dims(operands: &mut [Labelled<'_>]) {
    for i in 0..operands.len() {
        for d in (0..operands[i].labels.len()).rev() {
            let label = operands[i].labels[d];
            let elsewhere = operands.iter().enumerate().any(|(j, o)| {
                let other = o.labels.iter().position(|l| *l == label);
                j != i && other.is_some_and(|d| j < i || !o.tensor.size(d).is_one())
            });
            if operands[i].tensor.size(d).is_one() && elsewhere {
                operands[i].tensor = operands[i].tensor.squeeze(&[d]);
                operands[i].labels.remove(d);
            }
        }
    }
}

/// Sums the dimensions whose labels are not needed. As by `aten.sum`, integers that are summed alone become `i64`.
fn sum_unneeded<'c>(operand: Labelled<'c>, needed: impl Fn(&char) -> bool) -> Labelled<'c> {
    let dims: Vec<usize> = (0..operand.labels.len()).filter(|d| !needed(&operand.labels[*d])).collect();
    let labels = operand.labels.iter().copied().filter(|l| needed(l)).collect();
    let wide = if !dims.is_empty() && operand.tensor.dtype().is_integral() { operand.tensor.convert(DType::I64) } else { operand.tensor };
    Labelled { tensor: wide.reduce("sum", &dims, false), labels }
}

fn contract<'c>(x: Labelled<'c>, y: Labelled<'c>, needed: impl Fn(&char) -> bool) -> Labelled<'c> {
    let x = sum_unneeded(x.clone(), |l| needed(l) || y.labels.contains(l));
    let y = sum_unneeded(y, |l| needed(l) || x.labels.contains(l));
    let dtype = promote(x.tensor.dtype(), y.tensor.dtype());
    let place = |o: &Labelled<'c>, l: &char| o.labels.iter().position(|m| m == l).unwrap_or(0);
    let shared: Vec<char> = x.labels.iter().copied().filter(|l| y.labels.contains(l)).collect();
    let (batch, inner): (Vec<char>, Vec<char>) = shared.iter().partition(|l| needed(l));
    let places = |o: &Labelled<'c>, labels: &[char]| labels.iter().map(|l| place(o, l)).collect::<Vec<_>>();
    let tensor = x.tensor.convert(dtype).dot(
        y.tensor.convert(dtype),
        (&places(&x, &batch), &places(&y, &batch)),
        (&places(&x, &inner), &places(&y, &inner)),
    );
    let free = |o: &Labelled<'c>| o.labels.iter().copied().filter(|l| !shared.contains(l)).collect::<Vec<_>>();
    let labels = [batch.clone(), free(&x), free(&y)].concat();
    Labelled { tensor, labels }
}

fn arrange<'c>(result: Labelled<'c>, output: &[char]) -> Tensor<'c> {
    let result = sum_unneeded(result, |l| output.contains(l));
    let perm: Option<Vec<usize>> = output.iter().map(|l| result.labels.iter().position(|m| m == l)).collect();
    match perm {
        Some(perm) if perm.len() == result.labels.len() => result.tensor.transpose(&perm),
        _ => {
            result.tensor.prim().fail("an einsum output label occurs in no operand, or twice");
            result.tensor
        }
    }
}
