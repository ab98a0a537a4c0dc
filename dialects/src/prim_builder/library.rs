//! Ops with functions and states of the runtime: its library, random numbers.

use std::collections::HashMap;
use std::rc::Rc;

use crate::aten::dtype::{DType, Numeric, Weight, result_type};
use crate::prim::library::{Function, Part};
use crate::{capture, prim};

use super::builder::{Prim, Scalar};
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
        let info = info.reshape(&[info.numel()]).convert(DType::I64);
        // Of an empty batch nothing fails.
        let largest = self.concat(&[info, self.int_vector(&[0])], 0).reduce("max", &[0], false);
        self.guard(largest.equal(0), message, &[largest.item_size()]);
    }
}

impl<'c> Prim<'c> {
    /// Numbers of a fresh stream: `bits`, `uniform` or `normal`. A complex number is made of two that follow each other; normal ones have
    /// variance 1 as a whole.
    pub fn random(&'c self, kind: &str, dtype: DType, shape: &[Size<'c>]) -> Tensor<'c> {
        if dtype.is_complex() {
            let (pairs, last) = (self.random(kind, dtype.real_part(), &[shape, &[Size::Const(2)]].concat()), shape.len());
            let [real, imaginary] = [0, 1].map(|part| pairs.slice(last, part, 1, 1).squeeze(&[last]));
            let number = real.complex(imaginary);
            return if kind == "normal" { number * std::f64::consts::FRAC_1_SQRT_2 } else { number };
        }
        let seed = self.emit(capture::Seed::NAME, &[], &[], DType::I64, []);
        let mut operands = vec![seed.value(), self.constant(DType::I64, Scalar::Int(0)).value()];
        operands.extend(self.dynamic(shape));
        self.emit(prim::Rng::NAME, &operands, &[("kind", self.cx().str_attr(kind))], dtype, shape)
    }
}

impl<'c> Tensor<'c> {
    /// `prim.special` of this and the other arguments, after broadcasting.
    pub fn special(self, function: &str, others: &[Tensor<'c>]) -> Tensor<'c> {
        let prim = self.prim();
        let arguments = [&[self], others].concat();
        let shape = prim.common_shape(&arguments);
        let operands: Vec<_> = arguments.iter().map(|t| t.broadcast_to(&shape).value()).collect();
        prim.emit(prim::Special::NAME, &operands, &[("function", prim.cx().str_attr(function))], self.dtype(), shape)
    }
}
