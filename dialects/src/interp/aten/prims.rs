//! The operators of PyTorch's reference decompositions (`prims.*`).
//!
//! Pointwise ones mean what the ATen operator of that name means on operands of one type.

use super::Arm::{self, Op};
use super::common::{Kind, elementwise, quotient};
use super::fft;
use super::reduce::{extreme, reduce, total};
use crate::interp::dtype::{DType, Scalar};
use crate::interp::tensor::Tensor;
use crate::interp::value::{Args, InterpError, Results, fail, one, wrap_dims};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(&str, Arm)] = &[
    ("prims.amax", Op(|a| folded(a, |v| extreme(v, true)))),
    ("prims.amin", Op(|a| folded(a, |v| extreme(v, false)))),
    ("prims.as_strided", Op(as_strided)),
    ("prims.broadcast_in_dim", Op(broadcast_in_dim)),
    ("prims.cat", Op(|a| { let t = a.tensors("tensors")?; one(super::join::cat(&t, a.int("dim")?)?) })),
    ("prims.clone", Op(|a| one(a.tensor("self")?.clone()))),
    ("prims.collapse", Op(collapse)),
    ("prims.collapse_view", Op(collapse)),
    ("prims.convert_element_type", Op(convert)),
    ("prims.copy_to", Op(|a| { let x = a.tensor("a")?; one(a.tensor("b")?.cast(x.dtype()).expand(x.shape())?) })),
    ("prims.div", Op(div)),
    ("prims.fft_c2c", Op(fft::prims_c2c)),
    ("prims.fft_c2r", Op(fft::prims_c2r)),
    ("prims.fft_r2c", Op(fft::prims_r2c)),
    ("prims.iota", Op(iota)),
    ("prims.prod", Op(|a| folded(a, |v| Ok(v.iter().copied().fold(Scalar::Int(1), super::common::mul))))),
    ("prims.rev", Op(rev)),
    ("prims.split_dim", Op(split_dim)),
    ("prims.squeeze", Op(squeeze)),
    ("prims.sum", Op(|a| folded(a, |v| Ok(total(v))))),
    ("prims.transpose", Op(transpose)),
    ("prims.var", Op(var)),
    ("prims.view_of", Op(|a| one(a.tensor("a")?.clone()))),
    ("prims.where", Op(choose)),
];

/// Pointwise operators and their ATen names where those differ.
#[rustfmt::skip]
const SAME: &[(&str, &str)] = &[
    ("prims.add", "aten.add.Tensor"), ("prims.as_strided_scatter", "aten.as_strided_scatter"), ("prims.bessel_i0", "aten.i0"), ("prims.bessel_i0e", "aten.special_i0e"),
    ("prims.bessel_i1", "aten.special_i1"), ("prims.bessel_i1e", "aten.special_i1e"), ("prims.bessel_j0", "aten.special_bessel_j0"),
    ("prims.bessel_j1", "aten.special_bessel_j1"), ("prims.bitwise_and", "aten.bitwise_and.Tensor"), ("prims.bitwise_or", "aten.bitwise_or.Tensor"),
    ("prims.bitwise_xor", "aten.bitwise_xor.Tensor"), ("prims.eq", "aten.eq.Tensor"), ("prims.erf_inv", "aten.erfinv"), ("prims.erfcx", "aten.special_erfcx"),
    ("prims.fill", "aten.fill.Scalar"), ("prims.fmod", "aten.fmod.Tensor"), ("prims.frexp", "aten.frexp.Tensor"), ("prims.ge", "aten.ge.Tensor"), ("prims.gt", "aten.gt.Tensor"),
    ("prims.le", "aten.le.Tensor"), ("prims.lt", "aten.lt.Tensor"), ("prims.mul", "aten.mul.Tensor"), ("prims.ndtri", "aten.special_ndtri"),
    ("prims.ne", "aten.ne.Tensor"), ("prims.pow", "aten.pow.Tensor_Tensor"), ("prims.remainder", "aten.remainder.Tensor"),
    ("prims.shift_left", "aten.bitwise_left_shift.Tensor"), ("prims.shift_right_arithmetic", "aten.bitwise_right_shift.Tensor"),
    ("prims.spherical_bessel_j0", "aten.special_spherical_bessel_j0"), ("prims.sub", "aten.sub.Tensor"), ("prims.zeta", "aten.special_zeta"),
];

/// The ATen operator with the meaning of a pointwise operator of this dialect.
pub fn aten_name(name: &str) -> Option<String> {
    let rest = name.strip_prefix("prims.")?;
    Some(SAME.iter().find(|(n, _)| *n == name).map_or_else(|| format!("aten.{rest}"), |(_, a)| a.to_string()))
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
