//! Products of matrices and vectors.

use strata_dialects::aten::dtype::{DType, promote};
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Tensor};

use super::args::Args;
use super::einsum::einsum;
use super::rule::Precision::{Exact, Wide};
use super::rule::{Rule, one};

pub(super) const RULES: &[Rule] = &[
    one(_ADDMM_ACTIVATION, Wide, |a| {
        let x = affine(a, mm(a.tensor("mat1"), a.tensor("mat2")));
        if a.bool("use_gelu") { super::activation::exact_gelu(x) } else { x.relu() }
    }),
    one(_GROUPED_MM, Wide, grouped),
    one(_INT_MM, Exact, |a| mm(a.tensor("self").convert(DType::I32), a.tensor("mat2").convert(DType::I32))),
    one(_TRILINEAR, Wide, trilinear),
    one(ADDBMM, Wide, |a| affine(a, bmm(a.tensor("batch1"), a.tensor("batch2")).reduce("sum", &[0], false))),
    one(ADDMM, Wide, |a| affine(a, mm(a.tensor("mat1"), a.tensor("mat2")))),
    one(ADDMM_DTYPE, Wide, |a| affine(a, mm(a.tensor("mat1"), a.tensor("mat2")))),
    one(ADDMV, Wide, |a| affine(a, mv(a.tensor("mat"), a.tensor("vec")))),
    one(ADDR, Wide, |a| affine(a, outer(a.tensor("vec1"), a.tensor("vec2")))),
    one(BADDBMM, Wide, |a| affine(a, bmm(a.tensor("batch1"), a.tensor("batch2")))),
    one(BADDBMM_DTYPE, Wide, |a| affine(a, bmm(a.tensor("batch1"), a.tensor("batch2")))),
    one(BILINEAR, Wide, bilinear),
    one(BMM, Exact, |a| bmm(a.tensor("self"), a.tensor("mat2"))),
    one(BMM_DTYPE, Wide, |a| bmm(a.tensor("self"), a.tensor("mat2"))),
    one(CHAIN_MATMUL, Wide, |a| chain(a, a.tensors("matrices"))),
    one(CROSS, Exact, cross),
    one(DOT, Exact, |a| inner_product(a.tensor("self"), a.tensor("tensor"))),
    one(EINSUM, Wide, |a| einsum(a, &a.str("equation"), &a.tensors("tensors"))),
    one(GER, Exact, |a| outer(a.tensor("self"), a.tensor("vec2"))),
    one(INNER, Exact, inner),
    one(KRON, Exact, kron),
    one(LINALG_CROSS, Exact, cross),
    one(LINALG_MATMUL, Exact, |a| matmul(a.tensor("self"), a.tensor("other"))),
    one(LINALG_MULTI_DOT, Wide, |a| chain(a, a.tensors("tensors"))),
    one(LINALG_VECDOT, Wide, vecdot),
    one(LINEAR, Wide, linear),
    one(MATMUL, Exact, |a| matmul(a.tensor("self"), a.tensor("other"))),
    one(MM, Exact, |a| mm(a.tensor("self"), a.tensor("mat2"))),
    one(MM_DTYPE, Wide, |a| mm(a.tensor("self"), a.tensor("mat2"))),
    one(MV, Exact, |a| mv(a.tensor("self"), a.tensor("vec"))),
    one(OUTER, Exact, |a| outer(a.tensor("self"), a.tensor("vec2"))),
    one(TENSORDOT, Wide, tensordot),
    one(VDOT, Exact, |a| inner_product(a.tensor("self").conj(), a.tensor("other"))),
];

pub(super) fn mm<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    x.dot(y, (&[], &[]), (&[1], &[0]))
}

pub(super) fn bmm<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    x.dot(y, (&[0], &[0]), (&[2], &[1]))
}

fn mv<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    x.dot(y, (&[], &[]), (&[1], &[0]))
}

fn inner_product<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    x.dot(y, (&[], &[]), (&[0], &[0]))
}

fn outer<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    let dtype = promote(x.dtype(), y.dtype());
    super::pointwise::mul(x.convert(dtype).unsqueeze(1), y.convert(dtype).unsqueeze(0))
}

/// `beta * self + alpha * product`; what is in `self` does not matter when beta is 0.
fn affine<'c>(a: &Args<'c>, product: Tensor<'c>) -> Tensor<'c> {
    let scale = |x: Tensor<'c>, factor: Scalar<'c>| match factor {
        Scalar::Int(1) => x,
        Scalar::Float(1.0) => x,
        factor if x.dtype() == DType::Bool => x.and(x.number(factor)),
        factor => x * factor,
    };
    let product = scale(product, a.scalar("alpha"));
    if a.opt_constant("beta") == Some(0.0) {
        return product;
    }
    let x = scale(a.tensor("self").convert(product.dtype()), a.scalar("beta"));
    if x.dtype() == DType::Bool { x.or(product) } else { x + product }
}

/// PyTorch's matmul: vectors, matrices, and batches of matrices that broadcast.
pub(super) fn matmul<'c>(x: Tensor<'c>, y: Tensor<'c>) -> Tensor<'c> {
    let prim = x.prim();
    match (x.rank(), y.rank()) {
        (0, _) | (_, 0) => {
            prim.fail("matmul of a 0-d tensor");
            x
        }
        (_, 1) => x.dot(y, (&[], &[]), (&[x.rank() - 1], &[0])),
        (1, 2) => x.dot(y, (&[], &[]), (&[0], &[0])),
        (1, _) => matmul(x.unsqueeze(0), y).squeeze(&[y.rank() - 2]),
        (_, 2) => x.dot(y, (&[], &[]), (&[x.rank() - 1], &[0])),
        (m, n) => {
            let rank = m.max(n);
            let widen = |t: Tensor<'c>| (t.rank()..rank).fold(t, |t, _| t.unsqueeze(0));
            let (x, y) = (widen(x), widen(y));
            let (sx, sy) = (x.shape(), y.shape());
            let shared = (0..rank - 2).all(|d| sx[d].is_one() == sy[d].is_one());
            if shared {
                let batch: Vec<usize> = (0..rank - 2).collect();
                return x.dot(y, (&batch, &batch), (&[rank - 1], &[rank - 2]));
            }
            let batch = prim.common_sizes(&[&sx[..rank - 2], &sy[..rank - 2]]);
            let spread = |t: Tensor<'c>| t.broadcast_to(&[&batch, &t.shape()[rank - 2..]].concat());
            let dims: Vec<usize> = (0..rank - 2).collect();
            spread(x).dot(spread(y), (&dims, &dims), (&[rank - 1], &[rank - 2]))
        }
    }
}

/// `input @ weight.T + bias`.
fn linear<'c>(a: &Args<'c>) -> Tensor<'c> {
    let product = projected(a.tensor("input"), a.tensor("weight"));
    match a.opt_tensor("bias") {
        Some(bias) => product + bias,
        None => product,
    }
}

/// `x w^T` along the last dimension of x.
pub(super) fn projected<'c>(x: Tensor<'c>, weight: Tensor<'c>) -> Tensor<'c> {
    x.dot(weight, (&[], &[]), (&[x.rank().saturating_sub(1)], &[weight.rank() - 1]))
}

fn inner<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, y) = (a.tensor("self"), a.tensor("other"));
    if x.rank() == 0 || y.rank() == 0 {
        return x * y;
    }
    x.dot(y, (&[], &[]), (&[x.rank() - 1], &[y.rank() - 1]))
}

fn vecdot<'c>(a: &Args<'c>) -> Tensor<'c> {
    let [x, y] = a.prim.broadcast([a.tensor("x").conj(), a.tensor("y")]);
    (x * y).reduce("sum", &[a.dim("dim", x.rank())], false)
}

fn chain<'c>(a: &Args<'c>, matrices: Vec<Tensor<'c>>) -> Tensor<'c> {
    let product = matrices.into_iter().reduce(matmul);
    product.unwrap_or_else(|| {
        a.fail("nothing to multiply");
        a.prim.constant(DType::F32, Scalar::Int(0))
    })
}

fn tensordot<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, y) = (a.tensor("self"), a.tensor("other"));
    let (dx, dy) = (a.dims("dims_self", x.rank()), a.dims("dims_other", y.rank()));
    // A contracted dimension of size 1 is repeated: the other side may be summed first.
    let summed = |t: Tensor<'c>, dims: &[usize], other: Tensor<'c>, others: &[usize]| {
        let pairs = dims.iter().zip(others).filter(|(d, o)| other.size(**o).is_one() && !t.size(**d).is_one());
        t.reduce("sum", &pairs.map(|(d, _)| *d).collect::<Vec<_>>(), true)
    };
    let (x, y) = (summed(x, &dx, y, &dy), summed(y, &dy, x, &dx));
    x.dot(y, (&[], &[]), (&dx, &dy))
}

fn kron<'c>(a: &Args<'c>) -> Tensor<'c> {
    let [x, y] = a.promoted(["self", "other"]);
    let rank = x.rank().max(y.rank());
    let widen = |t: Tensor<'c>| (t.rank()..rank).fold(t, |t, _| t.unsqueeze(0));
    let (x, y) = (widen(x), widen(y));
    let mut shape = Vec::new();
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for d in 0..rank {
        shape.push(x.size(d) * y.size(d));
        left.extend([x.size(d), 1.into()]);
        right.extend([1.into(), y.size(d)]);
    }
    super::pointwise::mul(x.reshape(&left), y.reshape(&right)).reshape(&shape)
}

/// `x1 W x2 + b` for each output feature.
fn bilinear<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, y, weight) = (a.tensor("input1"), a.tensor("input2"), a.tensor("weight"));
    let last = x.rank() - 1;
    // rows.. , out, in2
    let partial = x.dot(weight, (&[], &[]), (&[last], &[1]));
    let product = (partial * y.unsqueeze(last)).reduce("sum", &[last + 1], false);
    match a.opt_tensor("bias") {
        Some(bias) => product + bias,
        None => product,
    }
}

/// The products of groups of matrices. Where one side is no batch, `offs` says where each group ends: among the rows or columns of
/// the result, of which those behind the last group are 0, or among the terms of the sums.
fn grouped<'c>(a: &Args<'c>) -> Tensor<'c> {
    let (x, y) = (a.tensor("self"), a.tensor("mat2"));
    if a.given("bias") {
        a.fail("a bias of grouped products; add it to the result");
    }
    let Some(ends) = a.opt_tensor("offs").map(|ends| ends.convert(DType::I64)) else { return bmm(x, y) };
    let (groups, last) = (ends.size(0), ends.size(0) - 1);
    // The group of each position, as many as there are groups behind the last one.
    let group = |n| ends.unsqueeze(0).less_equal(a.prim.range(DType::I64, n).unsqueeze(1)).convert(DType::I64).reduce("sum", &[1], false);
    let chosen = |products: Tensor<'c>, n, dims: &[usize]| {
        let group = group(n);
        let at = group.minimum(a.prim.size_tensor(DType::I64, last));
        let rows = products.gather(&[a.prim.range(DType::I64, n), at], dims);
        rows.fill_where(group.equal(a.prim.size_tensor(DType::I64, groups)).unsqueeze(1), 0)
    };
    match (x.rank(), y.rank()) {
        (2, 3) => chosen(x.dot(y, (&[], &[]), (&[1], &[1])), x.size(0), &[0, 1]),
        (3, 2) => chosen(y.dot(x, (&[], &[]), (&[0], &[2])), y.size(1), &[0, 1]).swap(0, 1),
        _ => {
            let own = group(x.size(1)).unsqueeze(0).equal(a.prim.range(DType::I64, groups).unsqueeze(1));
            let part = own.unsqueeze(1).select(x.unsqueeze(0), 0);
            part.dot(y, (&[], &[]), (&[2], &[0]))
        }
    }
}

fn trilinear<'c>(a: &Args<'c>) -> Tensor<'c> {
    let expanded = |name, dims: &str| {
        let mut dims = a.ints(dims);
        dims.sort_unstable();
        dims.iter().fold(a.tensor(name), |t, d| t.unsqueeze((*d).max(0) as usize))
    };
    let product = expanded("i1", "expand1") * expanded("i2", "expand2") * expanded("i3", "expand3");
    product.reduce("sum", &a.dims("sumdim", product.rank()), false)
}

fn cross<'c>(a: &Args<'c>) -> Tensor<'c> {
    let [x, y] = a.promoted(["self", "other"]);
    let [x, y] = a.prim.broadcast([x, y]);
    let dim = match a.opt_int("dim") {
        Some(dim) => a.wrap(dim, x.rank()),
        None => (0..x.rank()).find(|d| x.size(*d).known() == Some(3)).unwrap_or(0),
    };
    let part = |t: Tensor<'c>, i: i64| t.slice(dim, i, 1, 1);
    let component = |i: i64, j: i64| part(x, i) * part(y, j) - part(x, j) * part(y, i);
    a.prim.concat(&[component(1, 2), component(2, 0), component(0, 1)], dim)
}
