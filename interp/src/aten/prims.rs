//! The operators of PyTorch's reference decompositions (`prims.*`).
//!
//! Pointwise ones mean what the ATen operator of that name means on operands of one type.

use super::Arm::{self, Op};
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use super::common::{Kind, add, elementwise, mul, operand, quotient};
use super::fft;
use super::reduce::{extreme, reduce, total};
use crate::dtype::{DType, Scalar};
use crate::tensor::Tensor;
use crate::value::{Args, InterpError, Results, fail, one, wrap_dims};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (prims::AMAX, Op(|a| folded(a, |v| extreme(v, true)))),
    (prims::AMIN, Op(|a| folded(a, |v| extreme(v, false)))),
    (prims::AS_STRIDED, Op(as_strided)),
    (prims::BROADCAST_IN_DIM, Op(broadcast_in_dim)),
    (prims::CAT, Op(|a| { let t = a.tensors("tensors")?; one(super::join::cat(&t, a.int("dim")?)?) })),
    (prims::CLONE, Op(|a| one(a.tensor("self")?.clone()))),
    (prims::COLLAPSE, Op(collapse)),
    (prims::COLLAPSE_VIEW, Op(collapse)),
    (prims::CONVERT_ELEMENT_TYPE, Op(convert)),
    (prims::COPY_TO, Op(|a| { let x = a.tensor("a")?; one(a.tensor("b")?.cast(x.dtype()).expand(x.shape())?) })),
    (prims::DIV, Op(div)),
    (prims::FFT_C2C, Op(fft::prims_c2c)),
    (prims::FFT_C2R, Op(fft::prims_c2r)),
    (prims::FFT_R2C, Op(fft::prims_r2c)),
    (prims::FMA, Op(fma)),
    (prims::IOTA, Op(iota)),
    (prims::PROD, Op(|a| folded(a, |v| Ok(v.iter().copied().fold(Scalar::Int(1), super::common::mul))))),
    (prims::REV, Op(rev)),
    (prims::SPLIT_DIM, Op(split_dim)),
    (prims::SQUEEZE, Op(squeeze)),
    (prims::SUM, Op(|a| folded(a, |v| Ok(total(v))))),
    (prims::TRANSPOSE, Op(transpose)),
    (prims::VAR, Op(var)),
    (prims::VIEW_OF, Op(|a| one(a.tensor("a")?.clone()))),
    (prims::WHERE, Op(choose)),
];

/// Pointwise operators and their ATen names where those differ.
#[rustfmt::skip]
const SAME: &[(Operator, Operator)] = &[
    (prims::ADD, ADD_TENSOR), (prims::AS_STRIDED_SCATTER, AS_STRIDED_SCATTER), (prims::BESSEL_I0, I0), (prims::BESSEL_I0E, SPECIAL_I0E),
    (prims::BESSEL_I1, SPECIAL_I1), (prims::BESSEL_I1E, SPECIAL_I1E), (prims::BESSEL_J0, SPECIAL_BESSEL_J0),
    (prims::BESSEL_J1, SPECIAL_BESSEL_J1), (prims::BITWISE_AND, BITWISE_AND_TENSOR), (prims::BITWISE_OR, BITWISE_OR_TENSOR),
    (prims::BITWISE_XOR, BITWISE_XOR_TENSOR), (prims::EQ, EQ_TENSOR), (prims::ERF_INV, ERFINV), (prims::ERFCX, SPECIAL_ERFCX),
    (prims::FILL, FILL_SCALAR), (prims::FMOD, FMOD_TENSOR), (prims::FREXP, FREXP_TENSOR), (prims::GE, GE_TENSOR), (prims::GT, GT_TENSOR),
    (prims::LE, LE_TENSOR), (prims::LT, LT_TENSOR), (prims::MUL, MUL_TENSOR), (prims::NDTRI, SPECIAL_NDTRI),
    (prims::NE, NE_TENSOR), (prims::POW, POW_TENSOR_TENSOR), (prims::REMAINDER, REMAINDER_TENSOR),
    (prims::SHIFT_LEFT, BITWISE_LEFT_SHIFT_TENSOR), (prims::SHIFT_RIGHT_ARITHMETIC, BITWISE_RIGHT_SHIFT_TENSOR),
    (prims::SPHERICAL_BESSEL_J0, SPECIAL_SPHERICAL_BESSEL_J0), (prims::SUB, SUB_TENSOR), (prims::ZETA, SPECIAL_ZETA),
];

/// The ATen operator with the meaning of a pointwise operator of this dialect.
pub fn counterpart(operator: Operator) -> Option<Operator> {
    let rest = operator.name().strip_prefix("prims.")?;
    let renamed = SAME.iter().find(|(prim, _)| *prim == operator).map(|(_, aten)| *aten);
    renamed.or_else(|| Operator::named(&format!("aten.{rest}")))
}

fn fma(args: &Args) -> Results {
    let operands = [operand(args, "a")?, operand(args, "b")?, operand(args, "c")?];
    one(elementwise(Kind::Same, &operands, |v| Ok(add(mul(v[0], v[1]), v[2])))?)
}

fn folded(args: &Args, f: fn(&[Scalar]) -> Result<Scalar, InterpError>) -> Results {
    let x = args.tensor("inp")?;
    let dtype = args.dtype("output_dtype")?.unwrap_or(x.dtype());
    let dims = match args.opt_ints("dims")? {
        Some(d) => wrap_dims(&d, x.rank())?,
        None => (0..x.rank()).collect(),
    };
    one(reduce(x, &dims, false, dtype, f)?)
}

fn var(args: &Args) -> Results {
    let x = args.tensor("inp")?;
    let correction = args.opt_float("correction")?.unwrap_or(1.0);
    let dims = match args.opt_ints("dims")? {
        Some(d) => wrap_dims(&d, x.rank())?,
        None => (0..x.rank()).collect(),
    };
    one(reduce(x, &dims, false, args.dtype("output_dtype")?.unwrap_or(x.dtype().real()), |v| {
        let mean = total(v).complex() / v.len() as f64;
        Ok(Scalar::Float(v.iter().map(|v| (v.complex() - mean).norm_sqr()).sum::<f64>() / (v.len() as f64 - correction).max(0.0)))
    })?)
}

fn as_strided(args: &Args) -> Results {
    let x = args.tensor("a")?;
    let (shape, positions) = super::view::strided_positions(args)?;
    if positions.iter().any(|&p| p >= x.len()) {
        return Err(fail("the strided view leaves the tensor"));
    }
    one(x.pick(&shape, &positions))
}

fn broadcast_in_dim(args: &Args) -> Results {
    let (x, shape) = (args.tensor("a")?, args.shape("shape")?);
    let dims = wrap_dims(&args.ints("broadcast_dimensions")?, shape.len())?;
    if dims.len() != x.rank() {
        return Err(fail("one dimension of the result per dimension of the operand"));
    }
    one(x.view(&shape, |i, s| {
        for (k, &d) in dims.iter().enumerate() {
            s[k] = if x.shape()[k] == 1 { 0 } else { i[d] };
        }
    })?)
}

/// Dimensions `start..=end` as one.
fn collapse(args: &Args) -> Results {
    let x = args.tensor("a")?;
    let (a, b) = (args.dim("start", x.rank())?, args.dim("end", x.rank())?);
    if x.rank() == 0 || b < a {
        return one(x.reshape(&[x.len()])?);
    }
    let mut shape = x.shape()[..a].to_vec();
    shape.push(x.shape()[a..=b].iter().product());
    shape.extend(&x.shape()[b + 1..]);
    one(x.reshape(&shape)?)
}

fn convert(args: &Args) -> Results {
    let x = args.tensor("a")?;
    one(x.cast(args.dtype("dtype")?.unwrap_or(x.dtype())))
}

/// Integers divide towards zero.
fn div(args: &Args) -> Results {
    one(elementwise(Kind::Same, &[super::common::operand(args, "self")?, super::common::operand(args, "other")?], |v| match (v[0], v[1]) {
        (Scalar::Int(a), Scalar::Int(b)) => a.checked_div(b).map(Scalar::Int).ok_or_else(|| fail("integer division by zero")),
        (a, b) => Ok(quotient(a, b)),
    })?)
}

fn iota(args: &Args) -> Results {
    let n = usize::try_from(args.int("length")?).map_err(|_| fail("a negative length"))?;
    let (start, step) = (args.int("start")? as i128, args.int("step")? as i128);
    one(Tensor::build(args.dtype("dtype")?.unwrap_or(DType::I64), &[n], |i| Scalar::Int(start + step * i[0] as i128))?)
}

fn rev(args: &Args) -> Results {
    let x = args.tensor("a")?;
    let dims = wrap_dims(&args.ints("dims")?, x.rank())?;
    one(x.view(x.shape(), |i, s| {
        for d in 0..s.len() {
            s[d] = if dims.contains(&d) { x.shape()[d] - 1 - i[d] } else { i[d] };
        }
    })?)
}

fn split_dim(args: &Args) -> Results {
    let x = args.tensor("a")?;
    let (d, outer) = (args.dim("dim", x.rank())?, args.int("outer_length")?.max(1) as usize);
    let mut shape = x.shape().to_vec();
    let n = *shape.get(d).ok_or_else(|| fail("a 0-d tensor"))?;
    shape.splice(d..=d, [outer, n / outer]);
    one(x.reshape(&shape)?)
}

fn squeeze(args: &Args) -> Results {
    let x = args.tensor("a")?;
    let dims = wrap_dims(&args.ints("dimensions")?, x.rank())?;
    one(x.reshape(&(0..x.rank()).filter(|d| !dims.contains(d)).map(|d| x.shape()[d]).collect::<Vec<_>>())?)
}

fn transpose(args: &Args) -> Results {
    let x = args.tensor("a")?;
    let perm = wrap_dims(&args.ints("permutation")?, x.rank())?;
    if perm.len() != x.rank() {
        return Err(fail("not a permutation"));
    }
    one(x.permute(&perm)?)
}

fn choose(args: &Args) -> Results {
    let (p, a, b) = (args.tensor("pred")?, args.tensor("a")?, args.tensor("b")?);
    if p.shape() != a.shape() || a.shape() != b.shape() {
        return Err(fail("operands differ in shape"));
    }
    one(Tensor::from_scalars(a.dtype(), a.shape(), (0..a.len()).map(|k| if p.at(k).truthy() { a.at(k) } else { b.at(k) }))?)
}
