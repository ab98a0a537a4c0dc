//! Functions of the runtime library, at the prim and the host level, by the textbook.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use strata_core::ir::Op;

use super::aten::ctc;
use super::aten::fft::{dft, hermitian};
use super::aten::linalg::{self, matrices, sides, tensor};
use super::aten::vision::non_maximum;
use super::host::{size, view};
use super::math::matrix::Matrix;
use super::prim::Node;
use super::run::{Machine, unsupported};
use super::value::{InterpError, Results, Value, fail, many, one};
use super::{DType, Scalar, Tensor};
use strata_dialects::prim::library::Function;

/// A call: operands, and every size by its letter.
struct Call<'a> {
    name: &'a str,
    options: Vec<String>,
    operands: Vec<&'a Tensor>,
    sizes: HashMap<char, usize>,
}

impl Call<'_> {
    fn has(&self, option: &str) -> bool {
        self.options.iter().any(|o| o == option)
    }

    fn size(&self, letter: char) -> Result<usize, InterpError> {
        self.sizes.get(&letter).copied().ok_or_else(|| fail(format!("the size {letter} is not given")))
    }

    fn run(&self) -> Results {
        let x = self.operands[0];
        match self.name {
            "cholesky" => {
                let (batch, ms) = matrices(&turned(x)?)?;
                let parts: Vec<_> = ms.iter().map(Matrix::cholesky).collect();
                let l: Vec<Matrix> = parts.iter().map(|p| p.0.clone()).collect();
                in_columns(many([tensor(x.dtype(), &batch, sides(x), &l)?, whole(DType::I32, &batch, parts.iter().map(|p| p.1 as i128))?])?)
            }
            "ctc" => ctc::forward(&self.operands, self.size('k')?),
            "ctc_gradient" => ctc::backward(&self.operands, self.has("zero_infinity")),
            "eig" => {
                let (values, vectors) = linalg::eig(x)?;
                many([values, vectors])
            }
            "eigh" => linalg::eigh_of(x, false),
            "fft" => self.transformed(x),
            "fft_columns" => in_columns(self.transformed(&turned(x)?)?),
            "fft_turned" => self.transformed(&turned(x)?),
            "rfft" => {
                let n = self.size('k')?;
                self.lines(x, x.dtype().complex(), n, |v| dft(v, true)[..n].to_vec())
            }
            "irfft" => {
                let n = self.size('n')?;
                self.lines(x, x.dtype().real(), n, |v| hermitian(v, n, false))
            }
            "householder" => in_columns(linalg::reflected(&turned(x)?, self.operands[1])?),
            "ldl" => {
                let (ld, pivots, info) = linalg::ldl_parts(x, self.has("hermitian"))?;
                many([ld, pivots, info])
            }
            "ldl_solve" => linalg::ldl_solved(x, self.operands[1], self.operands[2], self.has("hermitian")),
            "lexsort" => one(lexicographic(x)?),
            "lu" => {
                let (factors, pivots, info) = linalg::lu_parts(&turned(x)?, !self.has("nopivot"))?;
                let order = permutation(&pivots, sides(x)[1])?;
                many([turned(&factors)?, pivots, order, info])
            }
            "matrix_exp" => linalg::mapped(x, sides(x), Matrix::exponential),
            "nms" => {
                let (boxes, scores, threshold) = (self.operands[0], self.operands[1], self.operands[2]);
                let mut kept = non_maximum(boxes, scores, threshold.item()?.float())?;
                let count = kept.len() as i64;
                kept.resize(scores.len(), 0);
                many([Tensor::from_ints(&[kept.len()], &kept)?, Tensor::from_ints(&[], &[count])?])
            }
            "order_statistics" => order_statistics(x, self.operands[1], self.has("descending")),
            "permutation" => one(permutation(x, self.size('m')?)?),
            "qr" => in_columns(linalg::packed_qr(&turned(x)?)?),
            "svd" => {
                let (u, s, vh) = linalg::svd(x, self.size('p')?.max(self.size('q')?) > self.size('k')?)?;
                many([u, s, vh])
            }
            "triangular_solve" => {
                let a = if self.has("turned") { &turned(x)? } else { x };
                let (batch, ms, bs) = linalg::paired(a, self.operands[1])?;
                let solved = |(m, b): (&Matrix, &Matrix)| m.solve_triangular(b, self.has("upper"), self.has("unit"));
                one(tensor(x.dtype(), &batch, sides(self.operands[1]), &ms.iter().zip(&bs).map(solved).collect::<Vec<_>>())?)
            }
            "true_positions" => true_positions(x, self.size('k')?),
            other => Err(fail(format!("the library function `{other}` has no reference"))),
        }
    }

    /// The Fourier transforms of complex lines.
    fn transformed(&self, x: &Tensor) -> Results {
        self.lines(x, x.dtype(), x.shape()[x.rank() - 1], |line| dft(line, !self.has("inverse")))
    }

    /// A function of lines.
    fn lines(&self, x: &Tensor, dtype: DType, n: usize, f: impl Fn(&[num_complex::Complex64]) -> Vec<num_complex::Complex64>) -> Results {
        let (batch, length) = (&x.shape()[..x.rank() - 1], x.shape()[x.rank() - 1]);
        let values = x.complexes();
        let out = values.chunks(length.max(1)).flat_map(f).map(Scalar::Complex);
        one(Tensor::from_scalars(dtype, &[batch, &[n]].concat(), out)?)
    }
}

/// The transposes of the matrices of a tensor.
fn turned(x: &Tensor) -> Result<Tensor, InterpError> {
    x.transpose(x.rank() - 2, x.rank() - 1)
}

/// Results of which the first one is of matrices, as these are given in columns.
fn in_columns(mut results: Vec<Value>) -> Results {
    if let Some(matrices) = results.first_mut() {
        *matrices = Value::Tensor(turned(matrices.tensor()?)?);
    }
    Ok(results)
}

fn whole(dtype: DType, shape: &[usize], values: impl Iterator<Item = i128>) -> Result<Tensor, InterpError> {
    Tensor::from_scalars(dtype, shape, values.map(Scalar::Int))
}

/// The stable order of rows that compares element by element; NaN is the largest.
fn lexicographic(x: &Tensor) -> Result<Tensor, InterpError> {
    let [n, m] = sides(x);
    let mut all = Vec::new();
    for item in 0..x.shape()[..x.rank() - 2].iter().product::<usize>() {
        // From the last column to the first, each stable sort keeps what the later columns decided.
        let order = (0..m).rev().fold((0..n).collect::<Vec<_>>(), |order, c| {
            let column: Vec<Scalar> = order.iter().map(|r| x.at((item * n + r) * m + c)).collect();
            super::aten::order::ranking(&column, false).into_iter().map(|k| order[k]).collect()
        });
        all.extend(order.into_iter().map(|k| k as i128));
    }
    whole(DType::I64, &[&x.shape()[..x.rank() - 2], &[n]].concat(), all.into_iter())
}

/// The elements at places of each sorted line, and where they are.
fn order_statistics(x: &Tensor, places: &Tensor, descending: bool) -> Results {
    let (n, k) = (x.shape()[x.rank() - 1], places.shape()[places.rank() - 1]);
    let (mut values, mut positions) = (Vec::new(), Vec::new());
    for (at, places) in places.ints().chunks(k.max(1)).enumerate() {
        let line: Vec<Scalar> = (0..n).map(|c| x.at(at * n + c)).collect();
        let order = super::aten::order::ranking(&line, descending);
        for place in places {
            let from = usize::try_from(*place).ok().and_then(|place| order.get(place)).ok_or_else(|| fail("a place is out of range"))?;
            values.push(line[*from]);
            positions.push(*from as i128);
        }
    }
    many([Tensor::from_scalars(x.dtype(), places.shape(), values)?, whole(DType::I64, places.shape(), positions.into_iter())?])
}

/// Where lines are true, `k` times, then -1.
fn true_positions(x: &Tensor, k: usize) -> Results {
    let (batch, n) = (&x.shape()[..x.rank() - 1], x.shape()[x.rank() - 1]);
    let found =
        |line: usize| (0..n).filter(move |at| x.at(line * n + at).truthy()).map(|at| at as i128).chain(std::iter::repeat(-1)).take(k);
    one(whole(DType::I64, &[batch, &[k]].concat(), (0..batch.iter().product::<usize>()).flat_map(found))?)
}

/// The order that row exchanges bring rows into.
fn permutation(pivots: &Tensor, rows: usize) -> Result<Tensor, InterpError> {
    let (batch, n) = (&pivots.shape()[..pivots.rank() - 1], pivots.shape()[pivots.rank() - 1]);
    let mut all = Vec::new();
    let ints = pivots.ints();
    for item in 0..batch.iter().product::<usize>() {
        let mut order: Vec<i128> = (0..rows as i128).collect();
        for (k, pivot) in ints[item * n..(item + 1) * n].iter().enumerate() {
            let other = usize::try_from(pivot - 1).ok().filter(|&p| p < rows).ok_or_else(|| fail("a pivot is out of range"))?;
            order.swap(k, other);
        }
        all.extend(order);
    }
    whole(DType::I64, &[batch, &[rows]].concat(), all.into_iter())
}

/// `prim.library`.
pub(super) fn prim(n: &Node<'_>) -> Results {
    let name = n.text("function")?;
    let function = Function::find(&name).ok_or_else(|| fail(format!("the library has no function `{name}`")))?;
    let (parts, results) = function.parts();
    let operands: Vec<&Tensor> = n.operands[..parts.len()].iter().map(Value::tensor).collect::<Result<_, _>>()?;
    let mut sizes = HashMap::new();
    for (part, x) in parts.iter().zip(&operands) {
        let trailing = &x.shape()[x.rank() - part.sizes.len()..];
        sizes.extend(part.sizes.iter().copied().zip(trailing.iter().copied()));
    }
    for (part, result) in results.iter().zip(n.op.results()) {
        let shape = result.ty().shape();
        let trailing = shape[shape.len() - part.sizes.len()..].iter();
        sizes.extend(part.sizes.iter().zip(trailing).filter_map(|(letter, n)| Some((*letter, usize::try_from(*n).ok()?))));
    }
    let mut given = n.ints(parts.len())?.into_iter();
    for letter in function.letters().0 {
        if let Entry::Vacant(unknown) = sizes.entry(letter) {
            let size = given.next().and_then(|n| usize::try_from(n).ok());
            unknown.insert(size.ok_or_else(|| fail(format!("the size {letter} is not given")))?);
        }
    }
    let options = n.op.attr("options").and_then(|o| o.as_array()).unwrap_or_default().into_iter().filter_map(|o| o.as_str()).collect();
    Call { name: &name, options, operands, sizes }.run()
}

/// Element types by their number in calls of the runtime library.
pub(super) const ELEMENTS: &[DType] = &[
    DType::F64,
    DType::F32,
    DType::F16,
    DType::Bf16,
    DType::I64,
    DType::I32,
    DType::I16,
    DType::I8,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::Bool,
    DType::C64,
    DType::C128,
    DType::F8E4M3FN,
    DType::F8E5M2,
];

/// `host.extern`: a fresh seed, or the element type, buffers of operands and results, the size of the batch, sizes, options as bits.
pub(super) fn run<'c>(m: &mut Machine<'c>, op: Op<'c>) -> Result<(), InterpError> {
    let name = op.str("name").unwrap_or_default();
    let Some(name) = name.strip_prefix("strata_lib_") else { return Err(unsupported(op)) };
    if name == "seed" {
        let seed = Tensor::scalar(DType::I64, Scalar::Int(m.seeds.fresh().into()));
        let at = view(m, op.operand(0))?;
        return m.memory.write(at, &seed);
    }
    let dtype = *ELEMENTS.get(size(m, op.operand(0))?).ok_or_else(|| fail("no such element type"))?;
    if name == "sort" && op.num_operands() == 8 {
        return sort(m, op, dtype);
    }
    let function = Function::find(name).ok_or_else(|| unsupported(op))?;
    let ((operands, results), (letters, _)) = (function.parts(), function.letters());
    let buffers = operands.len() + results.len();
    if op.num_operands() != buffers + letters.len() + 3 {
        return Err(unsupported(op));
    }
    let batch = size(m, op.operand(1 + buffers))?;
    let mut sizes = HashMap::new();
    for (k, letter) in letters.iter().enumerate() {
        sizes.insert(*letter, size(m, op.operand(2 + buffers + k))?);
    }
    let mask = size(m, op.operand(2 + buffers + letters.len()))?;
    let options = function.options.iter().enumerate().filter(|(k, _)| mask >> k & 1 == 1).map(|(_, o)| (*o).to_owned()).collect();
    let shape = |letters: &[char]| -> Vec<usize> { std::iter::once(batch).chain(letters.iter().map(|l| sizes[l])).collect() };
    let mut tensors = Vec::new();
    for (k, part) in operands.iter().enumerate() {
        let element = match part.element {
            _ if k == 0 => dtype,
            'T' => dtype,
            'L' => DType::I64,
            _ => DType::I32,
        };
        let at = view(m, op.operand(1 + k))?;
        tensors.push(m.memory.read(at, element, &shape(&part.sizes))?);
    }
    let out = Call { name, options, operands: tensors.iter().collect(), sizes }.run()?;
    for (k, value) in out.iter().enumerate() {
        let at = view(m, op.operand(1 + operands.len() + k))?;
        m.memory.write(at, value.tensor()?)?;
    }
    Ok(())
}

fn sort<'c>(m: &mut Machine<'c>, op: Op<'c>, dtype: DType) -> Result<(), InterpError> {
    let (source, values, positions) = (view(m, op.operand(1))?, view(m, op.operand(2))?, view(m, op.operand(3))?);
    let shape = [size(m, op.operand(4))?, size(m, op.operand(5))?, size(m, op.operand(6))?];
    let descending = m.scalar(op.operand(7))?.truthy();
    let x = m.memory.read(source, dtype, &shape)?;
    let rank = |v: &[Scalar]| super::aten::order::ranking(v, descending);
    let sorted = super::aten::scan::lines(&x, 1, dtype, |v| Ok(rank(v).into_iter().map(|k| v[k]).collect()))?;
    let from = super::aten::scan::lines(&x, 1, DType::I64, |v| Ok(rank(v).into_iter().map(|k| Scalar::Int(k as i128)).collect()))?;
    m.memory.write(values, &sorted)?;
    m.memory.write(positions, &from)
}
