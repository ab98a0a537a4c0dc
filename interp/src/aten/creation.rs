//! Operators that make tensors from sizes and numbers, and conversions between element types.

use super::Arm::{self, Op};
use super::binary::pow;
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar};
use crate::tensor::Tensor;
use crate::value::{Args, InterpError, Results, Value, fail, one};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_EFFICIENTZEROTENSOR, Op(zeros)),
    (_TO_COPY, Op(to)),
    (ARANGE, Op(arange)),
    (ARANGE_START, Op(arange)),
    (ARANGE_START_STEP, Op(arange)),
    (EMPTY_MEMORY_FORMAT, Op(zeros)),
    (EMPTY_LIKE, Op(|a| like(a, Scalar::Int(0)))),
    (EMPTY_PERMUTED, Op(zeros)),
    (EMPTY_STRIDED, Op(zeros)),
    (EYE, Op(eye)),
    (EYE_M, Op(eye)),
    (FILL_SCALAR, Op(fill)),
    (FILL_TENSOR, Op(fill)),
    (FULL, Op(full)),
    (FULL_LIKE, Op(|a| like(a, a.scalar("fill_value")?))),
    (LINALG_VANDER, Op(vander)),
    (LINSPACE, Op(linspace)),
    (LINSPACE_SCALAR_TENSOR, Op(linspace)),
    (LINSPACE_TENSOR_SCALAR, Op(linspace)),
    (LINSPACE_TENSOR_TENSOR, Op(linspace)),
    (LOGSPACE, Op(logspace)),
    (LOGSPACE_SCALAR_TENSOR, Op(logspace)),
    (LOGSPACE_TENSOR_SCALAR, Op(logspace)),
    (LOGSPACE_TENSOR_TENSOR, Op(logspace)),
    (NEW_EMPTY, Op(|a| new(a, Scalar::Int(0)))),
    (NEW_EMPTY_STRIDED, Op(|a| new(a, Scalar::Int(0)))),
    (NEW_FULL, Op(|a| new(a, a.scalar("fill_value")?))),
    (NEW_ONES, Op(|a| new(a, Scalar::Int(1)))),
    (NEW_ZEROS, Op(|a| new(a, Scalar::Int(0)))),
    (ONES, Op(|a| sized(a, Scalar::Int(1)))),
    (ONES_LIKE, Op(|a| like(a, Scalar::Int(1)))),
    (SCALAR_TENSOR, Op(scalar_tensor)),
    (TO_DEVICE, Op(to)),
    (TO_DTYPE, Op(to)),
    (TO_DTYPE_LAYOUT, Op(to)),
    (TO_OTHER, Op(|a| one(a.tensor("self")?.cast(a.tensor("other")?.dtype())))),
    (TRIL_INDICES, Op(|a| triangle_indices(a, false))),
    (TRIU_INDICES, Op(|a| triangle_indices(a, true))),
    (TYPE_AS, Op(|a| one(a.tensor("self")?.cast(a.tensor("other")?.dtype())))),
    (VANDER, Op(vander)),
    (ZERO, Op(|a| like(a, Scalar::Int(0)))),
    (ZEROS, Op(zeros)),
    (ZEROS_LIKE, Op(|a| like(a, Scalar::Int(0)))),
];

fn to(args: &Args) -> Results {
    let x = args.tensor("self")?;
    one(x.cast(args.dtype("dtype")?.unwrap_or(x.dtype())))
}

fn sized(args: &Args, value: Scalar) -> Results {
    one(Tensor::full(args.dtype("dtype")?.unwrap_or(DType::F32), &args.shape("size")?, value)?)
}

fn zeros(args: &Args) -> Results {
    sized(args, Scalar::Int(0))
}

fn full(args: &Args) -> Results {
    let value = args.scalar("fill_value")?;
    one(Tensor::full(args.dtype("dtype")?.unwrap_or(value.default_dtype()), &args.shape("size")?, value)?)
}

fn like(args: &Args, value: Scalar) -> Results {
    let x = args.tensor("self")?;
    one(Tensor::full(args.dtype("dtype")?.unwrap_or(x.dtype()), x.shape(), value)?)
}

fn new(args: &Args, value: Scalar) -> Results {
    let x = args.tensor("self")?;
    one(Tensor::full(args.dtype("dtype")?.unwrap_or(x.dtype()), &args.shape("size")?, value)?)
}

fn fill(args: &Args) -> Results {
    let x = args.tensor("self")?;
    one(Tensor::full(x.dtype(), x.shape(), args.scalar("value")?)?)
}

fn scalar_tensor(args: &Args) -> Results {
    one(Tensor::scalar(args.dtype("dtype")?.unwrap_or(DType::F32), args.scalar("s")?))
}

/// `start, start + step, ..` below `end`; exact on integers.
fn arange(args: &Args) -> Results {
    let start = args.opt_scalar("start")?.unwrap_or(Scalar::Int(0));
    let step = args.opt_scalar("step")?.unwrap_or(Scalar::Int(1));
    let end = args.scalar("end")?;
    let all = [start, end, step];
    let integral = all.iter().all(|v| matches!(v, Scalar::Int(_) | Scalar::Bool(_)));
    let dtype = args.dtype("dtype")?.unwrap_or(if integral { DType::I64 } else { DType::F32 });
    if step.float() == 0.0 {
        return Err(fail("the step is zero"));
    }
    let away = if step.float() > 0.0 { start.float() > end.float() } else { start.float() < end.float() };
    if away {
        return Err(fail("upper bound and lower bound are inconsistent with the sign of the step"));
    }
    let count = if integral { div_ceil(end.int() - start.int(), step.int()) as f64 } else { ((end.float() - start.float()) / step.float()).ceil() };
    if !(0.0..1e9).contains(&count) {
        return Err(fail(format!("a range of {count} elements")));
    }
    let exact = dtype.is_int();
    one(Tensor::build(dtype, &[count as usize], |i| {
        let k = i[0] as i128;
        if exact && integral { Scalar::Int(start.int() + k * step.int()) } else { Scalar::Float(start.float() + k as f64 * step.float()) }
    })?)
}

fn div_ceil(a: i128, b: i128) -> i128 {
    -(-a).div_euclid(b) + ((b < 0 && (-a).rem_euclid(b) != 0) as i128)
}

fn eye(args: &Args) -> Results {
    let n = args.int("n")?;
    let m = args.opt_int("m")?.unwrap_or(n);
    let size = |v: i64| usize::try_from(v).map_err(|_| fail("a negative size"));
    one(Tensor::build(args.dtype("dtype")?.unwrap_or(DType::F32), &[size(n)?, size(m)?], |i| Scalar::Bool(i[0] == i[1]))?)
}

/// The points of a linear spacing, counted from both ends towards the middle.
fn spacing(start: Scalar, end: Scalar, steps: usize, dtype: DType) -> Vec<Scalar> {
    let (start, end) = (dtype.cast(start).complex(), dtype.cast(end).complex());
    let step = if steps > 1 { (end - start) / (steps - 1) as f64 } else { end - start };
    let step = if dtype.is_integral() { step } else { dtype.cast(Scalar::Complex(step)).complex() };
    (0..steps).map(|k| Scalar::Complex(if k < steps / 2 || steps == 1 { start + step * k as f64 } else { end - step * (steps - 1 - k) as f64 })).collect()
}

fn spacing_args(args: &Args) -> Result<(DType, Scalar, Scalar, usize), InterpError> {
    let (start, end) = (args.scalar("start")?, args.scalar("end")?);
    let steps = usize::try_from(args.int("steps")?).map_err(|_| fail("a negative number of steps"))?;
    let complex = matches!(start, Scalar::Complex(_)) || matches!(end, Scalar::Complex(_));
    Ok((args.dtype("dtype")?.unwrap_or(if complex { DType::C64 } else { DType::F32 }), start, end, steps))
}

fn linspace(args: &Args) -> Results {
    let (dtype, start, end, steps) = spacing_args(args)?;
    one(Tensor::from_scalars(dtype, &[steps], spacing(start, end, steps, dtype))?)
}

fn logspace(args: &Args) -> Results {
    let (dtype, start, end, steps) = spacing_args(args)?;
    let base = args.float("base")?;
    let powers = spacing(start, end, steps, dtype).into_iter().map(|e| if dtype.is_complex() { pow(Scalar::Complex(base.into()), e) } else { Scalar::Float(base.powf(e.float())) });
    one(Tensor::from_scalars(dtype, &[steps], powers)?)
}

/// Coordinates of the lower or upper triangle, row by row.
fn triangle_indices(args: &Args, upper: bool) -> Results {
    let (rows, cols, offset) = (args.int("row")?, args.int("col")?, args.int("offset")?);
    crate::tensor::numel(&[rows.max(0) as usize, cols.max(0) as usize])?;
    let points: Vec<(i64, i64)> = (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))).filter(|(r, c)| if upper { c - r >= offset } else { c - r <= offset }).collect();
    let all: Vec<Scalar> = points.iter().map(|p| p.0).chain(points.iter().map(|p| p.1)).map(|v| Scalar::Int(v as i128)).collect();
    one(Tensor::from_scalars(args.dtype("dtype")?.unwrap_or(DType::I64), &[2, points.len()], all)?)
}

/// Powers of each element along a new last dimension.
fn vander(args: &Args) -> Results {
    let x = args.tensor("x")?;
    let x = &if x.rank() == 0 { x.unsqueeze(0) } else { x.clone() };
    let n = match args.opt_int("N")? {
        Some(n) => usize::try_from(n).map_err(|_| fail("a negative number of columns"))?,
        None => x.shape().last().copied().unwrap_or(1),
    };
    let mut shape = x.shape().to_vec();
    shape.push(n);
    let dtype = super::common::Kind::Long.types(x.dtype()).1;
    let result = Tensor::build(dtype, &shape, |i| pow(dtype.cast(x.get(&i[..x.rank()])), dtype.cast(Scalar::Int(i[x.rank()] as i128))))?;
    Ok(vec![Value::Tensor(result)])
}
