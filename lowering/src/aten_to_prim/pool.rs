//! Pooling over windows, their gradients, and the windows themselves (im2col).

use strata_dialects::aten::dtype::DType;
use strata_dialects::aten::op::*;
use strata_dialects::prim_builder::{Scalar, Size, Tensor, product};

use super::args::Args;
use super::rule::Precision::{Compute, Exact};
use super::rule::{Rule, many, one};
use super::scatter::least;

pub(super) const RULES: &[Rule] = &[
    one(ADAPTIVE_MAX_POOL2D_BACKWARD, Exact, |a| max_pool_backward(a, 2)),
    one(ADAPTIVE_MAX_POOL3D_BACKWARD, Exact, |a| max_pool_backward(a, 3)),
    one(AVG_POOL1D, Compute, |a| average(a, 1)),
    one(AVG_POOL2D, Compute, |a| average(a, 2)),
    one(AVG_POOL2D_BACKWARD, Compute, |a| average_backward(a, 2)),
    one(AVG_POOL3D, Compute, |a| average(a, 3)),
    one(AVG_POOL3D_BACKWARD, Compute, |a| average_backward(a, 3)),
    one(COL2IM, Exact, col2im),
    one(IM2COL, Exact, im2col),
    one(MAX_POOL1D, Exact, |a| max_values(a, 1)),
    many(MAX_POOL1D_WITH_INDICES, Exact, |a| max_pool(a, 1)),
    one(MAX_POOL2D, Exact, |a| max_values(a, 2)),
    many(MAX_POOL2D_WITH_INDICES, Exact, |a| max_pool(a, 2)),
    one(MAX_POOL2D_WITH_INDICES_BACKWARD, Exact, |a| max_pool_backward(a, 2)),
    one(MAX_POOL3D, Exact, |a| max_values(a, 3)),
    many(MAX_POOL3D_WITH_INDICES, Exact, |a| max_pool(a, 3)),
    one(MAX_POOL3D_WITH_INDICES_BACKWARD, Exact, |a| max_pool_backward(a, 3)),
    one(MAX_UNPOOL2D, Exact, |a| max_unpool(a, 2)),
    one(MAX_UNPOOL3D, Exact, |a| max_unpool(a, 3)),
];

/// The windows of a pooling over the last dimensions.
struct Pool {
    size: Vec<i64>,
    stride: Vec<i64>,
    padding: Vec<i64>,
    dilation: Vec<i64>,
    ceil: bool,
}

impl Pool {
    fn of(a: &Args<'_>, space: usize) -> Pool {
        let list = |name: &str, default: &[i64]| {
            let given = if a.has(name) { a.ints(name) } else { Vec::new() };
            let list = if given.is_empty() { default.to_vec() } else { given };
            if list.len() == space { list } else { vec![list.first().copied().unwrap_or(1).max(0); space] }
        };
        let size = list("kernel_size", &[]);
        let stride = list("stride", &size);
        let padding = list("padding", &vec![0; space]);
        let dilation = list("dilation", &vec![1; space]);
        if size.iter().chain(&stride).chain(&dilation).any(|n| *n < 1) {
            a.fail("a pooling window without extent");
        }
        Pool { size, stride, padding, dilation, ceil: a.has("ceil_mode") && a.bool("ceil_mode") }
    }

    fn space(&self) -> usize {
        self.size.len()
    }

    /// The number of windows along spatial dimension k of size n. The last one begins inside of the padded input.
    fn count<'c>(&self, k: usize, n: Size<'c>) -> Size<'c> {
        let span = n + (2 * self.padding[k] - self.dilation[k] * (self.size[k] - 1) - 1);
        if !self.ceil {
            return span / self.stride[k] + 1;
        }
        let count = (span + (self.stride[k] - 1)) / self.stride[k] + 1;
        match (count, n) {
            (Size::Const(c), Size::Const(n)) if (c - 1) * self.stride[k] >= n + self.padding[k] => Size::Const(c - 1),
            (Size::Const(_), _) => count,
            // The last begins inside exactly when it is below the number of strides that fit.
            _ => count.min((n + self.padding[k]).ceil_div(self.stride[k])),
        }
    }

    /// How much is appended so that all windows fit; negative where the end is not reached.
    fn high<'c>(&self, k: usize, n: Size<'c>) -> Size<'c> {
        let reach = (self.count(k, n) - 1) * self.stride[k] + (self.dilation[k] * (self.size[k] - 1) + 1);
        reach - n - self.padding[k]
    }

    /// x padded with a number.
    fn padded<'c>(&self, x: Tensor<'c>, number: Scalar<'c>) -> Tensor<'c> {
        let lead = x.rank() - self.space();
        let (mut low, mut high) = (vec![Size::Const(0); x.rank()], vec![Size::Const(0); x.rank()]);
        for k in 0..self.space() {
            low[lead + k] = Size::Const(self.padding[k]);
            high[lead + k] = self.high(k, x.size(lead + k));
        }
        x.pad(x.number(number), &low, &high, &vec![0; x.rank()])
    }

    fn windows<'c>(&self, x: Tensor<'c>, number: Scalar<'c>) -> Tensor<'c> {
        self.padded(x, number).window(&self.size, &self.stride, &self.dilation)
    }
}

/// Whether x has the spatial dimensions.
pub(super) fn spatial(x: Tensor<'_>, space: usize) -> bool {
    let fits = x.rank() >= space;
    if !fits {
        x.prim().fail(format!("pooling of {space} dimensions of a tensor of rank {}", x.rank()));
    }
    fits
}

fn window_dims(x: Tensor<'_>, space: usize) -> Vec<usize> {
    (x.rank() - space..x.rank()).collect()
}

fn max_values<'c>(a: &Args<'c>, space: usize) -> Tensor<'c> {
    let x = a.tensor("self");
    if !spatial(x, space) {
        return x;
    }
    let windows = Pool::of(a, space).windows(x, least(x.dtype()));
    windows.reduce("max", &window_dims(windows, space), false)
}

/// Maxima, and their flat positions in the space of the input.
fn max_pool<'c>(a: &Args<'c>, space: usize) -> Vec<Tensor<'c>> {
    let x = a.tensor("self");
    if !spatial(x, space) {
        return vec![x, x];
    }
    let (pool, lead) = (Pool::of(a, space), x.rank() - space);
    let windows = pool.windows(x, least(x.dtype()));
    let values = windows.reduce("max", &window_dims(windows, space), false);
    vec![values, first_place(a, &pool, windows, values, &x.shape()[lead..])]
}

/// The flat position in the space of the input where each window has its maximum first, or NaN where that is the maximum. A window is read
/// twice where it lies: to find a place with the maximum at once, all windows would be written out.
fn first_place<'c>(a: &Args<'c>, pool: &Pool, windows: Tensor<'c>, values: Tensor<'c>, sizes: &[Size<'c>]) -> Tensor<'c> {
    let (space, shape) = (pool.space(), windows.shape());
    let lead = shape.len() - space;
    let is_maximum = windows.equal(values.broadcast_dims(&shape, &(0..lead).collect::<Vec<_>>()));
    // Padding is no place, where the maximum is as low as padding too.
    let here = a.prim.full(DType::Bool, Scalar::Bool(true), sizes);
    let here = pool.windows(here, Scalar::Bool(false)).broadcast_dims(&shape, &(lead - space..shape.len()).collect::<Vec<_>>());
    let found = is_maximum.or(windows.is_nan()).and(here);
    // Positions that fit are counted in half as many bits as they have outside.
    let fits = product(sizes).known().is_some_and(|count| count <= i64::from(i32::MAX));
    let (dtype, none) = if fits { (DType::I32, i64::from(i32::MAX)) } else { (DType::I64, i64::MAX) };
    let mut position = windows.prim().full(dtype, Scalar::Int(0), &shape);
    let mut stride = Size::Const(1);
    for k in (0..space).rev() {
        let begin = a.prim.iota(dtype, &shape, lead - space + k) * pool.stride[k] - pool.padding[k];
        let place = begin + a.prim.iota(dtype, &shape, lead + k) * pool.dilation[k];
        position = position + place * stride;
        stride = stride * sizes[k];
    }
    let position = found.select(position, position.number(Scalar::Int(none)).broadcast_to(&shape));
    position.reduce("min", &window_dims(windows, space), false).convert(DType::I64)
}

/// Adds gradients at flat positions of the space of the input.
pub(super) fn max_pool_backward<'c>(a: &Args<'c>, space: usize) -> Tensor<'c> {
    let (grad, x) = (a.tensor("grad_output"), a.tensor("self"));
    if !spatial(x, space) {
        return x;
    }
    put_flat(grad, a.raw("indices"), &x.shape(), space, "add")
}

/// Puts elements at flat positions in the last dimensions of a tensor of zeros.
fn put_flat<'c>(x: Tensor<'c>, positions: Tensor<'c>, shape: &[Size<'c>], space: usize, kind: &str) -> Tensor<'c> {
    let lead = shape.len() - space;
    let rows = product(&shape[..lead]);
    let two = |sizes: &[Size<'c>]| [rows, product(&sizes[lead..])];
    let (from, to) = (two(&x.shape()), two(shape));
    let columns = positions.convert(DType::I64).reshape(&from);
    let row = x.prim().iota(DType::I64, &from, 0);
    let zeros = x.prim().full(x.dtype(), Scalar::Int(0), &to);
    zeros.scatter(x.reshape(&from), &[row, columns], &[0, 1], kind).reshape(shape)
}

fn max_unpool<'c>(a: &Args<'c>, space: usize) -> Tensor<'c> {
    let x = a.tensor("self");
    if !spatial(x, space) {
        return x;
    }
    let shape = [&x.shape()[..x.rank() - space], &a.sizes("output_size")].concat();
    put_flat(x, a.raw("indices"), &shape, space, "set")
}

/// What the sum of each window is divided by, in the shape of the windows' positions.
fn divisor<'c>(a: &Args<'c>, pool: &Pool, x: Tensor<'c>) -> Tensor<'c> {
    let (space, lead) = (pool.space(), x.rank() - pool.space());
    if let Some(divisor) = if a.has("divisor_override") { a.opt_int("divisor_override") } else { None } {
        return x.number(Scalar::Int(divisor));
    }
    let include = a.bool("count_include_pad");
    if !pool.ceil && (include || pool.padding.iter().all(|p| *p == 0)) {
        return x.number(Scalar::Int(pool.size.iter().product()));
    }
    // Along each dimension the number of elements of a window that count.
    let along = |k: usize| {
        let (n, padding) = (x.size(lead + k), pool.padding[k]);
        let ones = x.prim().full(x.dtype(), Scalar::Int(1), &[n]);
        let ones =
            if include { ones.pad_dim(0, Scalar::Int(1), padding, padding) } else { ones.pad_dim(0, Scalar::Int(0), padding, padding) };
        let ones = ones.pad_dim(0, Scalar::Int(0), 0, pool.high(k, n) - padding);
        let counts = ones.window(&[pool.size[k]], &[pool.stride[k]], &[1]).reduce("sum", &[1], false);
        counts.unsqueeze_to(space - k)
    };
    (1..space).fold(along(0), |product, k| product * along(k))
}

fn average<'c>(a: &Args<'c>, space: usize) -> Tensor<'c> {
    let x = a.tensor("self");
    if !spatial(x, space) {
        return x;
    }
    let pool = Pool::of(a, space);
    let windows = pool.windows(x, Scalar::Int(0));
    windows.reduce("sum", &window_dims(windows, space), false) / divisor(a, &pool, x)
}

/// The sum of windows at each element that they cover: the transpose of taking windows.
/// `windows` is (lead.., positions.., inside..); the result has the shape of the unpadded input.
fn overlap_add<'c>(a: &Args<'c>, pool: &Pool, windows: Tensor<'c>, shape: &[Size<'c>]) -> Tensor<'c> {
    if windows.rank() != shape.len() + pool.space() {
        a.fail("the columns are no windows of this size");
        return windows;
    }
    // From the last dimension on, whose elements of windows come last.
    let sum = (0..pool.space()).rev().fold(windows, |windows, k| overlap_along(pool, windows, k, shape));
    without_padding(pool, sum, shape)
}

/// Windows along a spatial dimension, whose elements are the last dimension, added up to a dimension with its padding.
fn overlap_along<'c>(pool: &Pool, windows: Tensor<'c>, k: usize, shape: &[Size<'c>]) -> Tensor<'c> {
    let dim = shape.len() - pool.space() + k;
    let size = shape[dim] + pool.padding[k] + pool.high(k, shape[dim]).max(0);
    windows.overlap_add(dim, pool.stride[k], pool.dilation[k], size)
}

fn without_padding<'c>(pool: &Pool, x: Tensor<'c>, shape: &[Size<'c>]) -> Tensor<'c> {
    let lead = shape.len() - pool.space();
    let offsets: Vec<_> = (0..shape.len()).map(|dim| Size::Const(if dim < lead { 0 } else { pool.padding[dim - lead] })).collect();
    x.slice_all(&offsets, shape, &vec![1; shape.len()])
}

fn average_backward<'c>(a: &Args<'c>, space: usize) -> Tensor<'c> {
    let (grad, x) = (a.tensor("grad_output"), a.tensor("self"));
    if !spatial(x, space) {
        return x;
    }
    let pool = Pool::of(a, space);
    let share = grad / divisor(a, &pool, x);
    // The same for all elements of a window: windows of one dimension at a time are enough.
    let sum = (0..space).rev().fold(share, |sum, k| {
        let windows = sum.broadcast_dims(&[&sum.shape(), [Size::Const(pool.size[k])].as_slice()].concat(), &sum.all_dims());
        overlap_along(&pool, windows, k, &x.shape())
    });
    without_padding(&pool, sum, &x.shape())
}

// Windows as columns.

fn columns_pool(a: &Args<'_>) -> Pool {
    Pool { size: a.ints("kernel_size"), stride: a.ints("stride"), padding: a.ints("padding"), dilation: a.ints("dilation"), ceil: false }
}

fn im2col<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    if x.rank() == 3 {
        return columns(a, x.unsqueeze(0)).squeeze(&[0]);
    }
    columns(a, x)
}

fn columns<'c>(a: &Args<'c>, x: Tensor<'c>) -> Tensor<'c> {
    let pool = columns_pool(a);
    // (n, c, oh, ow, kh, kw) to (n, c kh kw, oh ow)
    let windows = pool.windows(x, Scalar::Int(0));
    let shape = windows.shape();
    let rows = x.size(1) * (pool.size[0] * pool.size[1]);
    windows.transpose(&[0, 1, 4, 5, 2, 3]).reshape(&[shape[0], rows, shape[2] * shape[3]])
}

fn col2im<'c>(a: &Args<'c>) -> Tensor<'c> {
    let x = a.tensor("self");
    let batched = x.rank() == 3;
    let x = if batched { x } else { x.unsqueeze(0) };
    let (pool, space) = (columns_pool(a), a.sizes("output_size"));
    if space.len() != 2 || pool.size.len() != 2 {
        a.fail("col2im is of two dimensions");
        return x;
    }
    let channels = x.size(1) / (pool.size[0] * pool.size[1]);
    let counts = [pool.count(0, space[0]), pool.count(1, space[1])];
    let split = [x.size(0), channels, pool.size[0].into(), pool.size[1].into(), counts[0], counts[1]];
    let windows = x.reshape(&split).transpose(&[0, 1, 4, 5, 2, 3]);
    let image = overlap_add(a, &pool, windows, &[x.size(0), channels, space[0], space[1]]);
    if batched { image } else { image.squeeze(&[0]) }
}
