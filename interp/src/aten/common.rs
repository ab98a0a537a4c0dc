//! Type promotion and the element-by-element evaluation shared by pointwise operators.

use num_complex::Complex64;

use crate::dtype::{Category, DType, Scalar, promote};
use crate::tensor::{Tensor, broadcast_shape, strides};
use crate::value::{Args, InterpError, Value, fail};

/// The result type of a pointwise operator, from the promoted type of its operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The promoted type.
    Same,
    /// The promoted type, integers become the default float type.
    Float,
    /// bool; operands are compared in the promoted type.
    Bool,
    /// The promoted type, complex becomes its real type.
    Real,
    /// The promoted type, bool becomes i64.
    Long,
}

/// An operand of a pointwise operator: a tensor, or a Python number that hardly takes part in promotion.
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a> {
    /// A tensor.
    Tensor(&'a Tensor),
    /// A Python number.
    Number(Scalar),
}

impl<'a> From<&'a Tensor> for Operand<'a> {
    fn from(t: &'a Tensor) -> Operand<'a> {
        Operand::Tensor(t)
    }
}

/// An argument that is a tensor or a number.
pub fn operand<'a>(args: &'a Args, name: &str) -> Result<Operand<'a>, InterpError> {
    match args.value(name)? {
        Value::Tensor(t) => Ok(Operand::Tensor(t)),
        Value::Scalar(v) => Ok(Operand::Number(*v)),
        other => Err(fail(format!("argument `{name}` is {}", other.kind()))),
    }
}

/// PyTorch's `result_type`: tensors with dimensions first, then 0-d tensors, then numbers.
pub fn result_type(operands: &[Operand]) -> DType {
    let mut levels: [Option<DType>; 3] = [None; 3];
    for o in operands {
        let (level, dtype) = match o {
            Operand::Tensor(t) if t.rank() > 0 => (0, t.dtype()),
            Operand::Tensor(t) => (1, t.dtype()),
            Operand::Number(v) => (2, v.default_dtype()),
        };
        levels[level] = Some(levels[level].map_or(dtype, |d| promote(d, dtype)));
    }
    combine(levels[0], combine(levels[1], levels[2])).unwrap_or(DType::F32)
}

fn combine(high: Option<DType>, low: Option<DType>) -> Option<DType> {
    let (Some(h), Some(l)) = (high, low) else { return high.or(low) };
    Some(match (h.category(), l.category()) {
        (a, b) if a >= b => h,
        (Category::Float, Category::Complex) => h.complex(),
        _ => promote(h, l),
    })
}

/// The type in which numbers meet tensors of this type: halves compute in f32.
pub fn opmath(dtype: DType) -> DType {
    if matches!(dtype, DType::F16 | DType::Bf16) { DType::F32 } else { dtype }
}

impl Kind {
    /// The type operands are cast to and the type of the result.
    pub fn types(self, promoted: DType) -> (DType, DType) {
        match self {
            Kind::Same => (promoted, promoted),
            Kind::Float => (promoted.floating(), promoted.floating()),
            Kind::Bool => (promoted, DType::Bool),
            Kind::Real => (promoted, promoted.real()),
            Kind::Long if promoted == DType::Bool => (DType::I64, DType::I64),
            Kind::Long => (promoted, promoted),
        }
    }
}

/// Promotes, broadcasts and evaluates `f` on every element.
pub fn elementwise(kind: Kind, operands: &[Operand], f: impl Fn(&[Scalar]) -> Result<Scalar, InterpError>) -> Result<Tensor, InterpError> {
    let (compute, result) = kind.types(result_type(operands));
    evaluate(compute, result, operands, f)
}

/// Broadcasts and evaluates `f` on every element, operands cast to `compute`.
pub fn evaluate(
    compute: DType,
    result: DType,
    operands: &[Operand],
    f: impl Fn(&[Scalar]) -> Result<Scalar, InterpError>,
) -> Result<Tensor, InterpError> {
    let shapes: Vec<&[usize]> = operands.iter().map(|o| if let Operand::Tensor(t) = o { t.shape() } else { &[] }).collect();
    let shape = broadcast_shape(&shapes)?;
    let steps: Vec<Vec<usize>> = shapes.iter().map(|s| broadcast_strides(s, shape.len())).collect();
    let mut values = vec![Scalar::Int(0); operands.len()];
    Tensor::try_build(result, &shape, |i| {
        for ((o, step), v) in operands.iter().zip(&steps).zip(&mut values) {
            *v = match o {
                Operand::Tensor(t) => compute.cast(t.at(i.iter().zip(step).map(|(a, b)| a * b).sum())),
                Operand::Number(n) => opmath(compute).cast(*n),
            };
        }
        f(&values)
    })
}

/// Strides of a shape seen as a broadcast one of higher rank: zero where it repeats.
fn broadcast_strides(shape: &[usize], rank: usize) -> Vec<usize> {
    let mut out = vec![0; rank - shape.len()];
    out.extend(strides(shape).into_iter().zip(shape).map(|(s, &d)| if d == 1 { 0 } else { s }));
    out
}

/// A real function with its complex continuation.
pub fn analytic(x: Scalar, real: fn(f64) -> f64, complex: fn(Complex64) -> Complex64) -> Scalar {
    match x {
        Scalar::Complex(z) => Scalar::Complex(complex(z)),
        v => Scalar::Float(real(v.float())),
    }
}

/// A real function of real numbers.
pub fn real(x: Scalar, f: impl Fn(f64) -> f64) -> Scalar {
    Scalar::Float(f(x.float()))
}

/// Sum in the category of the operands.
pub fn add(a: Scalar, b: Scalar) -> Scalar {
    match (a, b) {
        (Scalar::Complex(_), _) | (_, Scalar::Complex(_)) => Scalar::Complex(a.complex() + b.complex()),
        (Scalar::Float(_), _) | (_, Scalar::Float(_)) => Scalar::Float(a.float() + b.float()),
        _ => Scalar::Int(a.int().wrapping_add(b.int())),
    }
}

/// Difference in the category of the operands.
pub fn sub(a: Scalar, b: Scalar) -> Scalar {
    match (a, b) {
        (Scalar::Complex(_), _) | (_, Scalar::Complex(_)) => Scalar::Complex(a.complex() - b.complex()),
        (Scalar::Float(_), _) | (_, Scalar::Float(_)) => Scalar::Float(a.float() - b.float()),
        _ => Scalar::Int(a.int().wrapping_sub(b.int())),
    }
}

/// Product in the category of the operands.
pub fn mul(a: Scalar, b: Scalar) -> Scalar {
    match (a, b) {
        (Scalar::Complex(_), _) | (_, Scalar::Complex(_)) => Scalar::Complex(a.complex() * b.complex()),
        (Scalar::Float(_), _) | (_, Scalar::Float(_)) => Scalar::Float(a.float() * b.float()),
        _ => Scalar::Int(a.int().wrapping_mul(b.int())),
    }
}

/// Quotient of floats or complex numbers; integers divide as floats.
pub fn quotient(a: Scalar, b: Scalar) -> Scalar {
    match (a, b) {
        (Scalar::Complex(_), _) | (_, Scalar::Complex(_)) => Scalar::Complex(divide_complex(a.complex(), b.complex())),
        _ => Scalar::Float(a.float() / b.float()),
    }
}

/// Smith's complex division, which does not overflow early.
pub fn divide_complex(a: Complex64, b: Complex64) -> Complex64 {
    if b.re == 0.0 && b.im == 0.0 {
        return Complex64::new(a.re / b.re.abs(), a.im / b.re.abs());
    }
    if b.re.abs() >= b.im.abs() {
        let r = b.im / b.re;
        let d = b.re + b.im * r;
        Complex64::new((a.re + a.im * r) / d, (a.im - a.re * r) / d)
    } else {
        let r = b.re / b.im;
        let d = b.re * r + b.im;
        Complex64::new((a.re * r + a.im) / d, (a.im * r - a.re) / d)
    }
}

/// `a < b` in the category of the operands.
pub fn less(a: Scalar, b: Scalar) -> bool {
    match (a, b) {
        (Scalar::Float(_), _) | (_, Scalar::Float(_)) => a.float() < b.float(),
        _ => a.int() < b.int(),
    }
}

/// `a == b` in the category of the operands.
pub fn equal(a: Scalar, b: Scalar) -> bool {
    match (a, b) {
        (Scalar::Complex(_), _) | (_, Scalar::Complex(_)) => a.complex() == b.complex(),
        (Scalar::Float(_), _) | (_, Scalar::Float(_)) => a.float() == b.float(),
        _ => a.int() == b.int(),
    }
}

/// The larger; NaN when either is.
pub fn maximum(a: Scalar, b: Scalar) -> Scalar {
    if a.is_nan() || (!b.is_nan() && !less(a, b)) { a } else { b }
}

/// The smaller; NaN when either is.
pub fn minimum(a: Scalar, b: Scalar) -> Scalar {
    if a.is_nan() || (!b.is_nan() && !less(b, a)) { a } else { b }
}

/// `-x`.
pub fn neg(x: Scalar) -> Scalar {
    match x {
        Scalar::Float(v) => Scalar::Float(-v),
        Scalar::Complex(v) => Scalar::Complex(-v),
        v => Scalar::Int(-v.int()),
    }
}
