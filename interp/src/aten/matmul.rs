//! Matrix products. Every sum is exact to f64 and rounded once.

use std::collections::BTreeMap;

use super::Arm::{self, Op};
use super::common::{Kind, add, elementwise, mul};
use super::reduce::reduce;
use strata_dialects::aten::Operator;
use strata_dialects::aten::op::*;
use crate::dtype::{DType, Scalar, promote};
use crate::tensor::{Tensor, broadcast_shape};
use crate::value::{Args, InterpError, Results, fail, one, wrap_dims};

/// Arms by name.
#[rustfmt::skip]
pub const ARMS: &[(Operator, Arm)] = &[
    (_ADDMM_ACTIVATION, Op(addmm_activation)),
    (_GROUPED_MM, Op(grouped)),
    (_INT_MM, Op(|a| one(matmul(&a.tensor("self")?.cast(DType::I32), &a.tensor("mat2")?.cast(DType::I32))?))),
    (_TRILINEAR, Op(trilinear)),
    (ADDBMM, Op(addbmm)),
    (ADDMM, Op(addmm)),
    (ADDMM_DTYPE, Op(|a| added(a, wide(a, "mat1", "mat2")?))),
    (ADDMV, Op(|a| added(a, matmul(a.tensor("mat")?, a.tensor("vec")?)?))),
    (ADDR, Op(|a| added(a, outer(a.tensor("vec1")?, a.tensor("vec2")?)?))),
    (BADDBMM, Op(|a| added(a, matmul(a.tensor("batch1")?, a.tensor("batch2")?)?))),
    (BADDBMM_DTYPE, Op(|a| added(a, wide(a, "batch1", "batch2")?))),
    (BILINEAR, Op(bilinear)),
    (BMM, Op(|a| one(matmul(a.tensor("self")?, a.tensor("mat2")?)?))),
    (BMM_DTYPE, Op(|a| one(wide(a, "self", "mat2")?))),
    (CHAIN_MATMUL, Op(multi_dot_arm)),
    (DOT, Op(|a| one(matmul(a.tensor("self")?, a.tensor("tensor")?)?))),
    (EINSUM, Op(einsum_arm)),
    (GER, Op(|a| one(outer(a.tensor("self")?, a.tensor("vec2")?)?))),
    (INNER, Op(inner)),
    (KRON, Op(kron)),
    (LINALG_MATMUL, Op(|a| one(matmul(a.tensor("self")?, a.tensor("other")?)?))),
    (LINALG_MULTI_DOT, Op(multi_dot_arm)),
    (LINALG_VECDOT, Op(vecdot)),
    (LINEAR, Op(linear_arm)),
    (MATMUL, Op(|a| one(matmul(a.tensor("self")?, a.tensor("other")?)?))),
    (MM, Op(|a| one(matmul(a.tensor("self")?, a.tensor("mat2")?)?))),
    (MM_DTYPE, Op(|a| one(wide(a, "self", "mat2")?))),
    (MV, Op(|a| one(matmul(a.tensor("self")?, a.tensor("vec")?)?))),
    (OUTER, Op(|a| one(outer(a.tensor("self")?, a.tensor("vec2")?)?))),
    (TENSORDOT, Op(tensordot)),
    (VDOT, Op(|a| { let x = a.tensor("self")?; one(matmul(&x.map(x.dtype(), conjugate), a.tensor("other")?)?) })),
];

/// The product in the type that is asked for.
fn wide(args: &Args, x: &str, y: &str) -> Result<Tensor, InterpError> {
    let dtype = args.dtype("out_dtype")?.ok_or_else(|| fail("no type for the result"))?;
    matmul(&args.tensor(x)?.cast(dtype), &args.tensor(y)?.cast(dtype))
}

/// Products of groups: each position of the shared dimension belongs to the first group whose end is behind it.
fn grouped(args: &Args) -> Results {
    let (x, y) = (args.tensor("self")?, args.tensor("mat2")?);
    let Some(offs) = args.opt_tensor("offs")? else { return one(matmul(x, y)?) };
    if args.opt_tensor("bias")?.is_some() {
        return Err(fail("a bias of grouped products"));
    }
    let groups = offs.shape().first().copied().unwrap_or(0);
    let group = |at: usize| (0..groups).find(|g| (at as f64) < offs.f(&[*g]));
    let size = |t: &Tensor, back: usize| t.shape().len().checked_sub(back).map_or(0, |d| t.shape()[d]);
    let (rows, terms, columns) = (size(x, 2), size(x, 1), size(y, 1));
    let sum = |parts: &mut dyn Iterator<Item = f64>| Scalar::Float(parts.sum());
    one(match (x.rank(), y.rank()) {
        (2, 3) => Tensor::build(x.dtype(), &[rows, columns], |i| {
            let Some(g) = group(i[0]) else { return Scalar::Float(0.0) };
            sum(&mut (0..terms).map(|k| x.f(&[i[0], k]) * y.f(&[g, k, i[1]])))
        })?,
        (3, 2) => Tensor::build(x.dtype(), &[rows, columns], |i| {
            let Some(g) = group(i[1]) else { return Scalar::Float(0.0) };
            sum(&mut (0..terms).map(|k| x.f(&[g, i[0], k]) * y.f(&[k, i[1]])))
        })?,
        (2, 2) => Tensor::build(x.dtype(), &[groups, rows, columns], |i| {
            sum(&mut (0..terms).filter(|k| group(*k) == Some(i[0])).map(|k| x.f(&[i[1], k]) * y.f(&[k, i[2]])))
        })?,
        _ => return Err(fail("groups of two batches of matrices have no ends")),
    })
}

fn conjugate(v: Scalar) -> Scalar {
    if let Scalar::Complex(z) = v { Scalar::Complex(z.conj()) } else { v }
}

/// A sum of products of labelled operands: labels that are not in `output` are summed.
pub fn contract(operands: &[(&Tensor, &[u32])], output: &[u32]) -> Result<Tensor, InterpError> {
    let mut sizes: BTreeMap<u32, usize> = BTreeMap::new();
    for (t, labels) in operands {
        if t.rank() != labels.len() {
            return Err(fail(format!("{} labels for a tensor of rank {}", labels.len(), t.rank())));
        }
        for (&l, &s) in labels.iter().zip(t.shape()) {
            let known = sizes.entry(l).or_insert(s);
            if *known == 1 {
                *known = s;
            } else if s != 1 && s != *known {
                return Err(fail(format!("sizes {known} and {s} do not match in a product")));
            }
        }
    }
    let dtype = operands.iter().map(|o| o.0.dtype()).reduce(promote).ok_or_else(|| fail("a product of nothing"))?;
    let summed: Vec<u32> = sizes.keys().copied().filter(|l| !output.contains(l)).collect();
    let all: Vec<u32> = output.iter().chain(&summed).copied().collect();
    let size = |l: &u32| sizes.get(l).copied().ok_or_else(|| fail("an output label that no operand has"));
    let shape: Vec<usize> = output.iter().map(size).collect::<Result<_, _>>()?;
    let inner: Vec<usize> = summed.iter().map(size).collect::<Result<_, _>>()?;
    // The step of every operand along every label.
    let steps: Vec<Vec<usize>> = operands
        .iter()
        .map(|(t, labels)| {
            let strides = crate::tensor::strides(t.shape());
            all.iter().map(|l| labels.iter().zip(&strides).zip(t.shape()).filter(|((m, _), s)| *m == l && **s != 1).map(|((_, s), _)| s).sum()).collect()
        })
        .collect();
    let n = output.len();
    let offset = |steps: &[usize], i: &[usize]| i.iter().zip(steps).map(|(a, b)| a * b).sum::<usize>();
    if dtype.is_float() {
        let data: Vec<Vec<f64>> = operands.iter().map(|o| o.0.floats()).collect();
        return Tensor::build(dtype, &shape, |i| {
            let base: Vec<usize> = steps.iter().map(|s| offset(&s[..n], i)).collect();
            // One product is not added to a zero, which would take the sign of -0.
            let mut sum = if inner.is_empty() { -0.0 } else { 0.0 };
            crate::tensor::each(&inner, |j| {
                let mut p = 1.0;
                for ((d, b), s) in data.iter().zip(&base).zip(&steps) {
                    p *= d[b + offset(&s[n..], j)];
                }
                sum += p;
            });
            Scalar::Float(sum)
        });
    }
    Tensor::build(dtype, &shape, |i| {
        let base: Vec<usize> = steps.iter().map(|s| offset(&s[..n], i)).collect();
        let mut sum = Scalar::Int(0);
        crate::tensor::each(&inner, |j| {
            let p = operands.iter().zip(&base).zip(&steps).fold(Scalar::Int(1), |p, (((t, _), b), s)| mul(p, t.at(b + offset(&s[n..], j))));
            sum = super::reduce::wrapped(dtype, add(sum, p));
        });
        sum
    })
}

/// `torch.matmul`: vectors, matrices and broadcast batches of matrices.
pub fn matmul(a: &Tensor, b: &Tensor) -> Result<Tensor, InterpError> {
    if a.rank() == 0 || b.rank() == 0 {
        return Err(fail("a matrix product of a 0-d tensor"));
    }
    let (ka, kb) = (a.shape()[a.rank() - 1], b.shape()[b.rank().saturating_sub(2)]);
    if ka != kb {
        return Err(fail(format!("shapes {:?} and {:?} do not multiply", a.shape(), b.shape())));
    }
    let batch = broadcast_shape(&[&a.shape()[..a.rank().saturating_sub(2)], &b.shape()[..b.rank().saturating_sub(2)]])?;
    let labels = |rank: usize| -> Vec<u32> { (batch.len() - (rank.max(2) - 2)..batch.len()).map(|d| d as u32).collect() };
    let (m, n, k) = (1000, 1001, 1002);
    let (mut la, mut lb, mut out) = (labels(a.rank()), labels(b.rank()), (0..batch.len() as u32).collect::<Vec<_>>());
    if a.rank() > 1 {
        la.push(m);
        out.push(m);
    }
    la.push(k);
    lb.push(k);
    if b.rank() > 1 {
        lb.push(n);
        out.push(n);
    }
    contract(&[(a, &la), (b, &lb)], &out)
}

fn outer(a: &Tensor, b: &Tensor) -> Result<Tensor, InterpError> {
    contract(&[(a, &[0]), (b, &[1])], &[0, 1])
}

/// `beta * self + alpha * product`; with a zero beta, `self` is not read.
fn added(args: &Args, product: Tensor) -> Results {
    one(sum(args, product)?)
}

fn sum(args: &Args, product: Tensor) -> Result<Tensor, InterpError> {
    let x = args.tensor("self")?;
    let (beta, alpha) = (args.opt_scalar("beta")?.unwrap_or(Scalar::Int(1)), args.opt_scalar("alpha")?.unwrap_or(Scalar::Int(1)));
    let dtype = promote(x.dtype(), product.dtype());
    // Integer products are scaled by integers.
    let whole = |v: Scalar| if dtype.is_integral() { dtype.cast(v) } else { v };
    let (beta, alpha) = (whole(beta), whole(alpha));
    let sum = |v: &[Scalar]| Ok(if beta.truthy() { add(mul(beta, v[0]), mul(alpha, v[1])) } else { mul(alpha, v[1]) });
    elementwise(Kind::Same, &[(&x.cast(dtype)).into(), (&product.cast(dtype)).into()], sum)
}

/// Floats of 8 bits are rounded once, after the sum.
fn addmm(args: &Args) -> Results {
    let wide = |t: &Tensor| if t.dtype().is_float8() { t.cast(DType::F64) } else { t.clone() };
    let product = matmul(&wide(args.tensor("mat1")?), &wide(args.tensor("mat2")?))?;
    one(sum(args, product)?.cast(args.tensor("self")?.dtype()))
}

fn addmm_activation(args: &Args) -> Results {
    let operator = if args.flag("use_gelu")? { GELU } else { RELU };
    super::behind(operator, addmm(args))
}

fn addbmm(args: &Args) -> Results {
    let product = matmul(args.tensor("batch1")?, args.tensor("batch2")?)?;
    let sum = reduce(&product, &[0], false, product.dtype(), |v| Ok(super::reduce::total(v)))?;
    added(args, sum)
}

/// `input @ weight^T + bias`.
pub fn linear(x: &Tensor, w: &Tensor, bias: Option<&Tensor>) -> Result<Tensor, InterpError> {
    let mut labels: Vec<u32> = (0..x.rank() as u32).collect();
    if x.rank() == 0 || w.rank() == 0 || x.shape()[x.rank() - 1] != w.shape()[w.rank() - 1] {
        return Err(fail(format!("shapes {:?} and {:?} do not multiply", x.shape(), w.shape())));
    }
    let k = labels[x.rank() - 1];
    let wl: &[u32] = if w.rank() == 1 { &[k] } else { &[1000, k] };
    let x_labels = labels.clone();
    labels.pop();
    if w.rank() == 2 {
        labels.push(1000);
    }
    // The bias is added before the one rounding.
    let wide = |t: &Tensor| t.cast(if t.dtype().is_float() { DType::F64 } else { t.dtype() });
    let product = contract(&[(&wide(x), &x_labels), (&wide(w), wl)], &labels)?;
    let dtype = promote(x.dtype(), w.dtype());
    match bias {
        Some(b) => Ok(elementwise(Kind::Same, &[(&product).into(), (&wide(b)).into()], |v| Ok(add(v[0], v[1])))?.cast(dtype)),
        None => Ok(product.cast(dtype)),
    }
}

fn linear_arm(args: &Args) -> Results {
    one(linear(args.tensor("input")?, args.tensor("weight")?, args.opt_tensor("bias")?)?)
}

fn bilinear(args: &Args) -> Results {
    let (x, y, w) = (args.tensor("input1")?, args.tensor("input2")?, args.tensor("weight")?);
    let batch: Vec<u32> = (0..x.rank().saturating_sub(1) as u32).collect();
    let with = |l: u32| [&batch[..], &[l]].concat();
    let product = contract(&[(x, &with(100)), (w, &[102, 100, 101]), (y, &with(101))], &with(102))?;
    match args.opt_tensor("bias")? {
        Some(b) => one(elementwise(Kind::Same, &[(&product).into(), b.into()], |v| Ok(add(v[0], v[1])))?),
        None => one(product),
    }
}

fn inner(args: &Args) -> Results {
    let (a, b) = (args.tensor("self")?, args.tensor("other")?);
    if a.rank() == 0 || b.rank() == 0 {
        return one(elementwise(Kind::Same, &[a.into(), b.into()], |v| Ok(mul(v[0], v[1])))?);
    }
    let la: Vec<u32> = (0..a.rank() as u32 - 1).chain([1000]).collect();
    let lb: Vec<u32> = (500..500 + b.rank() as u32 - 1).chain([1000]).collect();
    let out: Vec<u32> = la.iter().chain(&lb).copied().filter(|&l| l != 1000).collect();
    one(contract(&[(a, &la), (b, &lb)], &out)?)
}

fn kron(args: &Args) -> Results {
    let (a, b) = (args.tensor("self")?, args.tensor("other")?);
    let rank = a.rank().max(b.rank());
    let pad = |t: &Tensor| t.reshape(&[vec![1; rank - t.rank()], t.shape().to_vec()].concat());
    let (a, b) = (pad(a)?, pad(b)?);
    let shape: Vec<usize> = (0..rank).map(|d| a.shape()[d] * b.shape()[d]).collect();
    one(Tensor::build(promote(a.dtype(), b.dtype()), &shape, |i| {
        let (mut ia, mut ib) = (i.to_vec(), i.to_vec());
        for d in 0..rank {
            ia[d] = i[d] / b.shape()[d];
            ib[d] = i[d] % b.shape()[d];
        }
        mul(a.get(&ia), b.get(&ib))
    })?)
}

fn multi_dot_arm(args: &Args) -> Results {
    let name = if args.opt("tensors").is_some() { "tensors" } else { "matrices" };
    let tensors: Vec<Tensor> = args.tensors(name)?.into_iter().cloned().collect();
    let product = tensors.into_iter().map(Ok).reduce(|a, b| matmul(&a?, &b?)).ok_or_else(|| fail("a product of nothing"))??;
    one(product)
}

fn vecdot(args: &Args) -> Results {
    let (x, y) = (args.tensor("x")?, args.tensor("y")?);
    let product = elementwise(Kind::Same, &[x.into(), y.into()], |v| Ok(mul(conjugate(v[0]), v[1])))?;
    let dim = args.dim("dim", product.rank())?;
    one(reduce(&product, &[dim], false, product.dtype(), |v| Ok(super::reduce::total(v)))?)
}

fn tensordot(args: &Args) -> Results {
    let (a, b) = (args.tensor("self")?, args.tensor("other")?);
    let (da, db) = (wrap_dims(&args.ints("dims_self")?, a.rank())?, wrap_dims(&args.ints("dims_other")?, b.rank())?);
    let la: Vec<u32> = (0..a.rank() as u32).collect();
    let lb: Vec<u32> = (0..b.rank()).map(|d| db.iter().position(|&x| x == d).and_then(|k| da.get(k)).map_or(500 + d as u32, |&d| d as u32)).collect();
    let out: Vec<u32> = la.iter().copied().filter(|&l| !da.contains(&(l as usize))).chain(lb.iter().copied().filter(|&l| l >= 500)).collect();
    one(contract(&[(a, &la), (b, &lb)], &out)?)
}

/// Einstein summation of a full equation, with ellipses and an implicit output.
fn einsum_arm(args: &Args) -> Results {
    let (equation, tensors) = (args.str("equation")?, args.tensors("tensors")?);
    let text: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let (left, right) = match text.split_once("->") {
        Some((l, r)) => (l, Some(r)),
        None => (&text[..], None),
    };
    let terms: Vec<&str> = left.split(',').collect();
    if terms.len() != tensors.len() {
        return Err(fail(format!("`{equation}` names {} operands, {} are given", terms.len(), tensors.len())));
    }
    let named = |s: &str| s.chars().filter(|&c| c != '.').count();
    let dots = terms.iter().zip(&tensors).filter(|(s, _)| s.contains("...")).map(|(s, t)| t.rank().saturating_sub(named(s))).max().unwrap_or(0);
    // Dimensions of the ellipsis are numbered from the right, so that they broadcast.
    let labels = |s: &str, own: usize| -> Vec<u32> {
        let mut out = Vec::new();
        for part in s.split_inclusive("...") {
            out.extend(part.chars().filter(|&c| c != '.').map(|c| c as u32));
            if part.ends_with("...") {
                out.extend((dots - own..dots).map(|d| 2_000_000 + d as u32));
            }
        }
        out
    };
    let inputs: Vec<Vec<u32>> = terms.iter().zip(&tensors).map(|(s, t)| labels(s, t.rank().saturating_sub(named(s)).min(dots))).collect();
    let output = match right {
        Some(r) => labels(r, dots),
        None => {
            let mut letters: Vec<char> = left.chars().filter(|c| c.is_alphabetic() && left.matches(*c).count() == 1).collect();
            letters.sort_unstable();
            (0..dots).map(|d| 2_000_000 + d as u32).chain(letters.into_iter().map(|c| c as u32)).collect()
        }
    };
    // PyTorch sums what only one operand has by `aten.sum`, which gives integers as `i64`.
    let alone = |at: usize, label: &u32| !output.contains(label) && inputs.iter().enumerate().all(|(other, l)| other == at || !l.contains(label));
    let is_summed = |at: usize| tensors[at].dtype().is_integral() && inputs[at].iter().any(|label| alone(at, label));
    let wide: Vec<Tensor> = (0..tensors.len()).map(|at| if is_summed(at) { tensors[at].cast(DType::I64) } else { tensors[at].clone() }).collect();
    one(contract(&wide.iter().zip(&inputs).map(|(t, l)| (t, &l[..])).collect::<Vec<_>>(), &output)?)
}

/// Three operands broadcast with inserted dimensions, multiplied and summed.
fn trilinear(args: &Args) -> Results {
    let mut operands = Vec::new();
    for (t, e) in [("i1", "expand1"), ("i2", "expand2"), ("i3", "expand3")] {
        let mut x = args.tensor(t)?.clone();
        for d in args.sizes(e)? {
            if d > x.rank() {
                return Err(fail("an inserted dimension is out of range"));
            }
            x = x.unsqueeze(d);
        }
        operands.push(x);
    }
    let product = elementwise(Kind::Same, &[(&operands[0]).into(), (&operands[1]).into(), (&operands[2]).into()], |v| Ok(mul(mul(v[0], v[1]), v[2])))?;
    let dims = wrap_dims(&args.ints("sumdim")?, product.rank())?;
    one(reduce(&product, &dims, false, product.dtype(), |v| Ok(super::reduce::total(v)))?)
}
