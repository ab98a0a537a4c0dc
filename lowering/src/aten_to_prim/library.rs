//! Calls of the runtime library from decompositions, and what they share about matrices.

use std::collections::HashMap;
use std::rc::Rc;
use strata_dialects::prim;

use strata_dialects::aten::dtype::{DType, Numeric, Weight, result_type};
use strata_dialects::prim::library::{Function, Part};

use super::args::Args;
use super::builder::{Prim, Scalar};
use super::index::gather_along;
use super::matmul::matmul;
use super::size::Size;
use super::tensor::Tensor;

impl<'c> Prim<'c> {
    /// A function of the runtime library on operands of one batch shape. `new` are the sizes that only results have, in
    /// order of appearance in its signature. Types that the library does not compute in (PyTorch takes them where there are no
    /// elements) are computed in `f32`.
    pub fn library(&'c self, name: &str, options: &[&str], operands: &[Tensor<'c>], new: &[Size<'c>]) -> Vec<Tensor<'c>> {
        let Some(function) = Function::find(name) else {
            self.fail(format!("the library has no function `{name}`"));
            return Vec::new();
        };
        let (parts, results) = function.parts();
        let dtypes: Vec<_> = parts.iter().zip(operands).filter(|(part, _)| part.element == 'T').map(|(_, t)| t.dtype()).collect();
        if let Some(own) = dtypes.iter().copied().find(|dtype| *dtype != dtypes[0] || dtype.is_half() || dtype.is_integral()) {
            let weighed: Vec<_> = dtypes.iter().map(|dtype| (*dtype, Weight::Dimensioned)).collect();
            let working = result_type(&weighed).to_float().compute();
            let convert = |(operand, part): (&Tensor<'c>, _)| if part == Some('T') { operand.convert(working) } else { *operand };
            let elements = parts.iter().map(|part| Some(part.element)).chain(std::iter::repeat(None));
            let converted: Vec<_> = operands.iter().zip(elements).map(convert).collect();
            let computed = self.library(name, options, &converted, new);
            let back =
                |(t, part): (Tensor<'c>, &Part)| if matches!(part.element, 'T' | 'R') && dtypes.len() == 1 { t.convert(own) } else { t };
            return computed.into_iter().zip(&results).map(back).collect();
        }
        let (letters, told) = function.letters();
        let mut sizes: HashMap<char, Size<'c>> = letters[told..].iter().copied().zip(new.iter().copied()).collect();
        let mut batch = Vec::new();
        for (part, operand) in parts.iter().zip(operands) {
            let Some(lead) = operand.rank().checked_sub(part.sizes.len()) else {
                self.fail(format!("`{name}` of a tensor of rank {}", operand.rank()));
                return results.iter().map(|_| *operand).collect();
            };
            batch = operand.shape()[..lead].to_vec();
            for (letter, size) in part.sizes.iter().zip(&operand.shape()[lead..]) {
                let known = sizes.entry(*letter).or_insert(*size);
                *known = if known.known().is_some() { *known } else { *size };
            }
        }
        let of = operands[0].dtype();
        let shape = |sizes: &HashMap<char, Size<'c>>, letters: &[char]| -> Rc<[Size<'c>]> {
            batch.iter().copied().chain(letters.iter().map(|letter| sizes[letter])).collect()
        };
        let types: Vec<_> = results.iter().map(|part| (part.element_type(of), shape(&sizes, &part.sizes))).collect();
        let mut values: Vec<_> = operands.iter().map(|operand| operand.value()).collect();
        values.extend(self.dynamic(new));
        let options: Vec<_> = options.iter().map(|option| self.cx().str_attr(option)).collect();
        let attrs = [("function", self.cx().str_attr(name)), ("options", self.cx().array_attr(&options))];
        self.emit_many(prim::Library::NAME, &values, &attrs, &types)
    }

    /// Ones on the diagonal.
    pub fn identity(&'c self, dtype: DType, rows: Size<'c>, cols: Size<'c>) -> Tensor<'c> {
        let shape = [rows, cols];
        self.iota(DType::I64, &shape, 0).equal(self.iota(DType::I64, &shape, 1)).convert(dtype)
    }

    /// A tensor without elements, for a result that was not asked for.
    pub fn nothing(&'c self, dtype: DType) -> Tensor<'c> {
        self.full(dtype, Scalar::Int(0), &[Size::Const(0)])
    }

    /// The call fails with this message unless all infos are zero; `{0}` is the info.
    pub fn check(&'c self, info: Tensor<'c>, message: &str) {
        let info = super::index::flat(info).convert(DType::I64);
        // Of an empty batch nothing fails.
        let largest = self.concat(&[info, self.int_vector(&[0])], 0).reduce("max", &[0], false);
        self.guard(largest.equal(0), message, &[largest.item_size()]);
    }
}

impl<'c> Tensor<'c> {
    /// The complex conjugate.
    pub fn conj(self) -> Tensor<'c> {
        if self.dtype().is_complex() { self.real().complex(-self.imag()) } else { self }
    }

    /// The matrices transposed.
    pub fn flipped(self) -> Tensor<'c> {
        if self.rank() < 2 {
            self.prim.fail("a matrix was expected");
            return self;
        }
        self.swap(self.rank() - 2, self.rank() - 1)
    }

    /// The matrices transposed and conjugated.
    pub fn adjoint(self) -> Tensor<'c> {
        self.flipped().conj()
    }

    /// Rows of the matrices.
    pub fn rows(self) -> Size<'c> {
        self.size(self.rank().wrapping_sub(2))
    }

    /// Columns of the matrices.
    pub fn cols(self) -> Size<'c> {
        self.size(self.rank().wrapping_sub(1))
    }

    /// What of the matrices is below the diagonal (or on it).
    pub fn lower(self, diagonal: bool) -> Tensor<'c> {
        let shape = [self.rows(), self.cols()];
        let (row, col) = (self.prim.iota(DType::I64, &shape, 0), self.prim.iota(DType::I64, &shape, 1));
        let inside = if diagonal { row.greater_equal(col) } else { row.greater(col) };
        inside.select(self, Scalar::Int(0))
    }

    /// What of the matrices is above the diagonal or on it.
    pub fn upper(self) -> Tensor<'c> {
        self.flipped().lower(true).flipped()
    }

    /// The diagonals of the matrices.
    pub fn diagonal(self) -> Tensor<'c> {
        super::view::matrix_diagonal(self, 0, self.rank().wrapping_sub(2), self.rank().wrapping_sub(1))
    }

    /// The first rows of the matrices.
    pub fn top(self, rows: Size<'c>) -> Tensor<'c> {
        self.slice(self.rank().wrapping_sub(2), 0, rows, 1)
    }

    /// The first columns of the matrices, with zeros after the last one.
    pub fn left(self, cols: Size<'c>) -> Tensor<'c> {
        let dim = self.rank().wrapping_sub(1);
        if cols.same(self.cols()) { self } else { self.pad_dim(dim, Scalar::Int(0), 0, cols - self.cols()) }
    }

    /// The matrices with their rows in another order.
    pub fn ordered(self, order: Tensor<'c>) -> Tensor<'c> {
        let rank = self.rank();
        gather_along(self, rank - 2, order.unsqueeze(rank - 1).broadcast_to(&self.shape()))
    }

    /// Each column times its number.
    pub fn columns_times(self, numbers: Tensor<'c>) -> Tensor<'c> {
        self * numbers.convert(self.dtype()).unsqueeze(numbers.rank() - 1)
    }

    /// The product with the adjoint of `other`.
    pub fn times_adjoint(self, other: Tensor<'c>) -> Tensor<'c> {
        matmul(self, other.adjoint())
    }
}

/// Tensors of matrices with one batch shape, the one that theirs broadcast to.
pub(super) fn paired<'c, const N: usize>(tensors: [(Tensor<'c>, usize); N]) -> [Tensor<'c>; N] {
    let prim = tensors[0].0.prim();
    if tensors.iter().any(|(t, core)| t.rank() < *core) {
        prim.fail("a matrix was expected");
        return tensors.map(|(t, _)| t);
    }
    let shapes: Vec<_> = tensors.iter().map(|(t, core)| t.shape()[..t.rank() - core].to_vec()).collect();
    let batch = prim.common_sizes(&shapes.iter().map(|s| s.as_slice()).collect::<Vec<_>>());
    tensors.map(|(t, core)| t.broadcast_to(&[&batch, &t.shape()[t.rank() - core..]].concat()))
}

/// Whether an operator's own errors were asked for.
pub(super) fn checked<'c>(a: &Args<'c>, info: Tensor<'c>, message: &str) {
    if a.bool("check_errors") {
        a.prim.check(info, message);
    }
}
