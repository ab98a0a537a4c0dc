"""Exports the cases of ours: where the corpus of PyTorch's operator database is thin.

    python own_cases.py own

Groups: changed buffers, outputs that are views of inputs or of each other, tensors in other orders than row-major, operators that read
the storage of a view, quantisation, floats of 8 bits, boxes and regions, nested control flow, gradients, convolutions by tiles, small integers, complex128 (as pairs
of f64, which the file format can hold), and sizes of 0 in programs with symbolic sizes. Quantisation needs torchao, boxes torchvision.
"""

import functools

import torch
from torch import distributions as random, nn
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as map_over
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop
from torch.export import Dim

import case
import grad_cases

GROUPS = {}


def group(name):
    """Registers a function that gives (name, module or function, input sets[, dynamic shapes]) rows."""
    def keep(function):
        GROUPS[name] = function
        return function
    return keep


def tensor(*shape, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed + sum(shape))
    if dtype.is_floating_point:
        return torch.randn(shape, generator=generator, dtype=dtype)
    return torch.randint(-9, 10, shape, generator=generator).to(dtype)


def slope(*args):
    return torch.ops.aten.soft_margin_loss_backward(*args)


def normed(update, g, x, w, mean, var):
    """Saved statistics are those of the batch; the fourth is the reciprocal of the deviation."""
    ours = (x.mean((0, 2)), torch.rsqrt(x.var((0, 2), correction=0) + 1e-5))
    return torch.ops.aten.batch_norm_backward(g, x, w, mean, var, *ours, update, 1e-5, [True] * 3, torch.empty(0, dtype=torch.uint8))


class Stateful(nn.Module):
    """A module with buffers and a step that may change them."""

    def __init__(self, step, **buffers):
        super().__init__()
        for name, value in buffers.items():
            self.register_buffer(name, value)
        self.step = step

    def forward(self, *args):
        return self.step(self, *args)


@group("mutation")
def mutation():
    x, zeros = tensor(3, 4), torch.zeros(3, 4)

    def counter(m, x):
        m.n.add_(1)
        return x * m.n

    def moving_mean(m, x):
        m.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        return x - m.mean

    def cache(m, x):
        m.keys[:, 1:3] = x[:, :2]
        return m.keys.sum(1)

    def at_positions(m, x, where):
        m.keys.index_copy_(0, where, x)
        return m.keys @ x.T

    def swapped(m, x):
        old = m.a.clone()
        m.a.copy_(m.b + x)
        m.b.copy_(old)
        return m.a - m.b

    def ring(m, x):
        m.ring.copy_(torch.cat([m.ring[1:], x[:1]]))
        return m.ring.mean(0)

    def counted(m, where):
        m.counts.index_add_(0, where, torch.ones_like(where))
        return m.counts.cumsum(0)

    def through_view(m, x):
        m.a.view(-1)[::5].fill_(7)
        m.a.t()[0].add_(x[:, 0])
        return m.a * 2

    def before_and_after(m, x):
        before = m.a + x
        m.a.add_(1).clamp_(max=1.5)
        return before, m.a + x

    def of_input(x, y):
        x.add_(y)
        return x.sum(), y * x

    def masked(m, x):
        m.a.masked_fill_(x > 0, -1)
        return m.a.amin(1)

    def sorted_in_place(m, x):
        m.a.copy_(torch.sort(m.a + x, dim=1).values)
        return m.a[:, 0]

    norm = nn.BatchNorm1d(4)
    yield "counter", Stateful(counter, n=torch.zeros((), dtype=torch.int64)), [[x]]
    yield "moving_mean", Stateful(moving_mean, mean=torch.ones(4)), [[x]]
    yield "cache_slice", Stateful(cache, keys=zeros.clone()), [[x]]
    yield "cache_positions", Stateful(at_positions, keys=torch.ones(5, 4)), [[x, torch.tensor([4, 0, 2])]]
    yield "swapped", Stateful(swapped, a=zeros.clone(), b=torch.ones(3, 4)), [[x]]
    yield "ring", Stateful(ring, ring=tensor(6, 4, seed=3)), [[x]]
    yield "counts", Stateful(counted, counts=torch.zeros(5, dtype=torch.int64)), [[torch.tensor([1, 3, 1, 1])]]
    yield "through_view", Stateful(through_view, a=zeros.clone()), [[x]]
    yield "before_and_after", Stateful(before_and_after, a=torch.ones(3, 4)), [[x]]
    yield "masked", Stateful(masked, a=zeros.clone()), [[x]]
    yield "sorted", Stateful(sorted_in_place, a=tensor(3, 4, seed=5)), [[x]]
    yield "clone_changed", (lambda x: (x.clone().add_(1), x)), [[x]]
    yield "moving_mean_dynamic", Stateful(moving_mean, mean=torch.ones(4)), [[tensor(n, 4)] for n in (3, 1, 7)], ({0: Dim("n")},)


@group("aliases")
def aliases():
    x = tensor(4, 6)

    def pieces(x):
        y = x * 2
        return y, y[1:3], y.t(), y.view(-1)

    def of_buffer(m, x):
        m.a.add_(x)
        return m.a, m.a.view(-1), m.a[0]

    yield "itself", (lambda x: (x, x + 1)), [[x]]
    yield "twice", (lambda x: (lambda y: (y, y))(x.exp())), [[x]]
    yield "view_of_input", (lambda x: (x.view(3, 8), x.t())), [[x]]
    yield "pieces", pieces, [[x]]
    yield "of_buffer", Stateful(of_buffer, a=torch.ones(4, 6)), [[x]]
    yield "expanded", (lambda x: (x[:1].expand(5, 6), x[0])), [[x]]
    yield "overlapping", (lambda x: (x.unfold(1, 3, 2), x * 1)), [[x]]
    yield "diagonal", (lambda x: (x.diagonal(), x.relu().diagonal(1))), [[x]]
    yield "nested", (lambda x: {"a": [x, x[0]], "b": (x.sum(), {"c": x.flatten()})}), [[x]]
    yield "halves", (lambda x: torch.chunk(x, 2, 1)), [[x]]
    yield "parts_of_complex", (lambda x: (lambda z: (z.real, z.imag))(torch.view_as_complex(x.view(4, 3, 2)))), [[x]]
    yield "flipped_back", (lambda x: (x.flip(0).flip(0), x.transpose(0, 1).contiguous())), [[x]]
    yield "views_dynamic", (lambda x: (x, x[1:], x.view(-1))), [[tensor(n, 6)] for n in (4, 3, 9)], ({0: Dim("n", min=3)},)


@group("storage")
def storage():
    """Operators that see the storage of a tensor: `as_strided` of a view reads its base."""
    a, x, cube = torch.as_strided, tensor(4, 6), tensor(3, 4, 5)
    image = tensor(2, 3, 4, 5).to(memory_format=torch.channels_last)
    n = ({0: Dim("n", min=3)},)

    def written(x):
        y = x * 1
        a(y.t()[1:], (3, 2), (5, 2), 3).mul_(10)
        return y

    def seen_after_write(x):
        y = x * 1
        window = a(y[1:], (3, 4), (2, 1), 1)
        y.t()[0].fill_(7)
        return window, y

    def of_written_view(x):
        y = x.clone()
        z = y.t()[2:]
        z.add_(100)
        return a(z, (4, 4), (6, 1), 1)

    def in_branch(x):
        return torch.cond(x.sum() > 0, lambda x: a(x.t(), (3,), (7,), 2) + 0, lambda x: a(x[1:], (3,), (2,)) * 2, (x,))

    def turned_in_place(x):
        y = x + 1
        y.t_()
        return a(y, (6, 2), (1, 6), 6)

    def copied_first(x):
        return a(x.t().contiguous(), (5,), (3,), 2), a(x.t().reshape(-1), (5,), (3,), 2)

    def deep(x):
        return a(a(a(x.t(), (3, 5), (6, 1), 2)[1:], (4,), (3,)), (2, 2), (2, 1), 4)

    yield "transpose", (lambda x: a(x.t(), (4, 3), (6, 2), 1)), [[x]]
    yield "permute", (lambda x: a(x.permute(2, 0, 1), (5, 3), (4, 1), 2)), [[cube]]
    yield "select", (lambda x: (a(x[1], (3, 2), (5, 1)), a(x[1], (3, 2), (5, 1), 0), a(x.select(2, 3), (2, 3), (20, 5)))), [[cube]]
    yield "slice_step", (lambda x: (a(x[1:, ::2], (2, 4), (12, 1)), a(x[::2, 1:], (2, 2), (6, 1), 7))), [[x]]
    yield "diagonal", (lambda x: a(x.diagonal(1), (2, 3), (6, 2))), [[x]]
    yield "unfold", (lambda x: a(x.unfold(1, 3, 2), (3, 3), (7, 1), 1)), [[x]]
    yield "expand", (lambda x: a(x[:1].expand(5, 6), (3, 4), (1, 1), 2)), [[x]]
    yield "movedim", (lambda x: a(x.movedim(0, 2), (3, 3), (20, 6), 1)), [[cube]]
    yield "detached", (lambda x: a(x.detach().t().view_as(x.t()), (2, 3), (3, 5), 4)), [[x]]
    yield "nested", (lambda x: a(a(x, (4, 3), (6, 2)), (2, 6), (6, 1), 6)), [[x]]
    yield "deep", deep, [[x]]
    yield "channels_last", (lambda x: a(x, (2, 12), (60, 5), 2)), [[image]]
    yield "channels_last_made", (lambda x: a(torch.relu(x.to(memory_format=torch.channels_last)), (2, 12), (60, 5), 2)), [[tensor(2, 3, 4, 5)]]
    yield "kept_order", (lambda x: a((x.t() + 1)[1:], (3, 2), (5, 3))), [[x]]
    yield "copied_first", copied_first, [[x]]
    yield "written", written, [[x]]
    yield "seen_after_write", seen_after_write, [[x]]
    yield "of_written_view", of_written_view, [[x]]
    yield "turned_in_place", turned_in_place, [[x]]
    yield "in_branch", in_branch, [[x], [-x.abs()]]
    yield "buffer", Stateful(lambda m, x: a(m.w.t(), (3, 4), (4, 1), 2) + x.sum(), w=tensor(4, 6, seed=1)), [[x]]
    yield "buffer_turned", Stateful(lambda m, x: a(m.w[1:], (3, 4), (4, 1)) + x.sum(), w=tensor(4, 6, seed=1).t()), [[x]]
    yield "buffer_written", Stateful(lambda m, x: a(m.w.t(), (3,), (7,), 1).add_(x.sum()) * 2, w=tensor(4, 6, seed=1)), [[x]]
    yield "scatter", (lambda x, y: torch.as_strided_scatter(x.t(), y, (2, 2), (5, 3), 1)), [[x, tensor(2, 2)]]
    yield "scatter_part", (lambda x, y: torch.as_strided_scatter(x[1:, 2:], y, (2, 2), (5, 3))), [[x, tensor(2, 2)]]
    yield "copy", (lambda x: torch.as_strided_copy(x[1:].t(), (2, 2), (5, 3))), [[x]]
    yield "reshape_alias", (lambda x: torch.ops.aten._reshape_alias(x[1:], [3, 2, 3], [6, 3, 1])), [[x]]
    yield "symbolic", (lambda x: (a(x.t(), (x.shape[0], 2), (6, 4), 1), a(x[1:], (x.shape[0] - 1, 3), (6, 2)), a(x[:, 2:].t(), (3, x.shape[0]), (1, 6)))), [[x], [tensor(3, 6)], [tensor(9, 6)]], n
    yield "symbolic_turned", (lambda x: a((x.t() * 2)[1:], (3, x.shape[0]), (x.shape[0], 1))), [[x], [tensor(3, 6)], [tensor(9, 6)]], n
    yield "dtype_smaller", (lambda x: (x.view(torch.int16), x.t()[1:3].t().contiguous().view(torch.uint8))), [[x]]
    yield "dtype_larger", (lambda x: (x.view(torch.float64), x[1:, 2:].view(torch.int64))), [[x]]
    yield "dtype_halves", (lambda x: (x.half().view(torch.bfloat16).float(), x.bfloat16().t().view(torch.half).float())), [[x]]
    yield "dtype_written", (lambda x: (lambda y: (y.view(torch.int32)[:, ::2].add_(1 << 20), y)[1])(x.clone())), [[x]]
    yield "dtype_smaller_written", (lambda x: (lambda y: (y.view(torch.int16)[:, 1::2].add_(16), y)[1])(x.clone())), [[x]]
    yield "real_of_turned", (lambda x: a(torch.view_as_real(torch.view_as_complex(x).t()), (3, 2), (7, 1), 2)), [[tensor(3, 4, 2)]]


@group("quantised")
def quantised():
    """Operators of PyTorch's export quantisation, of torchao, and those that quantise for training."""
    import torchao.quantization.pt2e  # registers quantized_decomposed's operators

    q, ao, aten = torch.ops.quantized_decomposed, torch.ops.torchao, torch.ops.aten
    x, i8 = tensor(4, 6) * 3, torch.int8
    scales, zeros = torch.tensor([0.02, 0.5, 0.11, 1.0]), torch.tensor([0, 3, -5, 1])
    rows, row_zeros = scales[:, None], zeros[:, None]
    whole = (-128, 127, i8)
    for name, x in ("f32", x), ("f16", x.half()), ("bf16", x.bfloat16()):
        yield f"per_tensor_{name}", (lambda x: q.quantize_per_tensor(x, 0.037, 5, 0, 255, torch.uint8)), [[x]]
        yield f"per_channel_{name}", (lambda x, s, z: q.quantize_per_channel(x, s, z, 0, *whole)), [[x, scales, zeros]]
        yield f"per_token_{name}", (lambda x, s, z: q.quantize_per_token(x, s, z, *whole)), [[x, rows, row_zeros]]
        yield f"per_group_{name}", (lambda x, s, z: q.quantize_per_channel_group(x, s, z, -8, 7, i8, 3)), [[x, rows.repeat(1, 2), row_zeros.repeat(1, 2)]]
        yield f"blocks_{name}", (lambda x, s, z: ao.quantize_affine(x, [2, 3], s, z, i8)), [[x, scales.reshape(2, 2).to(x.dtype), zeros.reshape(2, 2)]]
        yield f"choose_blocks_{name}", (lambda x: ao.choose_qparams_affine(x, "SYMMETRIC", [1, 6], i8) + ao.choose_qparams_affine(x, "ASYMMETRIC", [2, 3], torch.uint8, zero_point_dtype=torch.int32)), [[x]]
        yield f"choose_per_token_{name}", (lambda x: q.choose_qparams_per_token_asymmetric(x, i8)), [[x]]
        yield f"fake_{name}", (lambda x: aten.fake_quantize_per_tensor_affine(x, 0.05, 3, -20, 20)), [[x]]
    x = tensor(4, 6) * 3
    number = (torch.tensor([0.037]), torch.tensor([5]))
    n = tensor(4, 6).mul(40).to(i8)
    yield "per_tensor_tensor", (lambda x, s, z: q.quantize_per_tensor.tensor(x, s, z, *whole)), [[x, *number]]
    yield "per_tensor_tensor2", (lambda x, s, z, low, high: q.quantize_per_tensor.tensor2(x, s, z, low, high, i8)), [[x, *number, torch.tensor([-100]), torch.tensor([90])]]
    yield "back_per_tensor", (lambda n: (q.dequantize_per_tensor(n, 0.037, 5, *whole), q.dequantize_per_tensor(n, 0.037, 5, *whole, out_dtype=torch.bfloat16))), [[n]]
    yield "back_per_tensor_tensor", (lambda n, s, z: q.dequantize_per_tensor.tensor(n, s, z, *whole)), [[n, *number]]
    yield "back_per_channel", (lambda n, s, z: (q.dequantize_per_channel(n, s, z, 0, *whole), q.dequantize_per_channel(n, s, None, 0, *whole))), [[n, scales, zeros]]
    yield "back_per_token", (lambda n, s, z: q.dequantize_per_token(n, s, z, *whole, torch.float32)), [[n, rows, row_zeros]]
    yield "back_per_group", (lambda n, s, z: q.dequantize_per_channel_group(n, s, z, -8, 7, i8, 3, torch.float32)), [[n, rows.repeat(1, 2), row_zeros.repeat(1, 2)]]
    yield "back_blocks", (lambda n, s, z: ao.dequantize_affine(n, [2, 3], s, z, i8)), [[n, scales.reshape(2, 2), zeros.reshape(2, 2)]]
    yield "choose", (lambda x: q.choose_qparams.tensor(x, -128, 127, 1e-7, i8) + q.choose_qparams_symmetric.tensor(x, -127, 127, 1e-7, i8)), [[x]]
    yield "fake_per_channel", (lambda x, s, z: aten.fake_quantize_per_channel_affine(x, s, z, 0, -20, 20)), [[x, scales, zeros.int()]]
    yield "fake_mask", (lambda x: aten.fake_quantize_per_tensor_affine_cachemask(x, 0.05, 3, -20, 20)), [[x]]
    yield "fake_gradient", (lambda g, x: aten.fake_quantize_per_tensor_affine_cachemask_backward(g, x > 0)), [[tensor(4, 6, seed=1), x]]
    yield "linear", (lambda x, w, s: torch.nn.functional.linear(x, q.dequantize_per_channel(w, s, None, 0, *whole))), [[x, n, scales]]


@group("float8")
def float8():
    """Floats of 8 bits: stored, moved and converted; what PyTorch computes with them, and products of scaled matrices."""
    import torchao.quantization.pt2e  # registers quantized_decomposed's operators

    q, ao, aten = torch.ops.quantized_decomposed, torch.ops.torchao, torch.ops.aten
    e4, e5, u8 = torch.float8_e4m3fn, torch.float8_e5m2, torch.uint8
    codes = torch.arange(256, dtype=torch.int32).to(u8)
    # Each border between two numbers, and what is next to it; least numbers, overflow, NaN.
    numbers = torch.cat([codes.view(kind).double() for kind in (e4, e5)])
    numbers = numbers[numbers.isfinite()].unique()
    borders = torch.cat([numbers, (numbers[1:] + numbers[:-1]) / 2, torch.tensor([464.0, 480.0, 61440.0, 65536.0, 1e30, 1e-45, -1e-45, -0.0])]).float()
    borders = torch.cat([torch.nextafter(borders, torch.tensor(end)) for end in (-float("inf"), float("inf"))] + [borders])
    borders = torch.cat([borders, torch.tensor([float("inf"), -float("inf"), float("nan"), 1e-40, -1e-40])])
    x, y, i, m = tensor(4, 6), tensor(4, 6, seed=1), torch.tensor([0, 2, 1]), tensor(4, 6, seed=2) > 0
    n = Dim("n", min=0, max=64)

    def every(n):
        return (n.to(torch.int32)[:, None] * 256 + n).to(torch.int16)

    def bits(kind):
        return lambda *xs: tuple(x.to(kind).view(u8) for x in xs)

    def written(m, x):
        m.keys[:, 1:3] = x[:, :2]
        m.keys.t()[0].fill_(0.3)
        m.seen.add_(1)
        m.last.copy_(x)
        return m.keys.float(), m.last.half() + 1

    for name, kind, other in ("e4m3fn", e4, e5), ("e5m2", e5, e4):
        small = kind == e4
        a, b, z = x.to(kind), y.to(kind), torch.tensor(0.3).to(kind)
        fits = codes.view(kind)[codes.view(kind).float().isfinite()]
        yield f"numbers_{name}", (lambda x: (x.float(), x.half(), x.bfloat16(), x.double(), x.bool(), x.to(torch.complex64).real, x.to(other))), [[codes.view(kind)]]
        yield f"whole_numbers_{name}", (lambda x: (x.to(torch.int32), x.to(torch.int64))), [[fits]]
        yield f"halves_{name}", (lambda n: bits(kind)(*(every(n).view(half) for half in (torch.float16, torch.bfloat16)))), [[codes]]
        yield f"borders_{name}", bits(kind), [[borders, borders.double(), borders.double() * (1 + 1e-12)]]
        yield f"from_whole_numbers_{name}", bits(kind), [[torch.arange(-600, 600), torch.arange(-30000, 30000, 11, dtype=torch.int16), codes, codes > 3, 4096 * codes.to(torch.int64) ** 3]]
        yield f"from_complex_{name}", bits(kind), [[tensor(5).to(torch.complex64)]]
        yield f"there_and_back_{name}", (lambda x: x.to(kind).to(x.dtype)), [[tensor(3, 70)]]
        yield f"sizes_{name}", (lambda x: (x.to(kind).float() * 2, x.to(kind))), [[tensor(k, 5)] for k in (3, 0, 33)], ({0: n},)
        yield f"views_{name}", (lambda x: (x.t(), x[1:, ::2], x.view(3, 8), x[None].expand(2, 4, 6), x.unfold(1, 2, 2), x.t().reshape(-1), x.split(2, 1)[1], x[0].diag())), [[a]]
        yield f"bits_{name}", (lambda x, n: (x.view(u8), x.view(torch.int8), x.view(torch.int16), x.view(other).view(u8), n.view(kind).float(), n.view(kind).t().clone().view(u8))), [[a, codes.view(16, 16)]]
        yield f"moved_{name}", (lambda x, y, i: (torch.cat([x, y], 1), torch.stack([x, y]), x.index_select(0, i), x[i, 1:4], x.flip(0), x.roll(2, 1), x.repeat(2, 1), x.repeat_interleave(2, 1),
            nn.functional.pad(x, (1, 2), value=0.3), nn.functional.embedding(i, x), torch.block_diag(x, y), aten._unsafe_index(x, [None, i]), x.clone(), y.t().contiguous())), [[a, b, i]]
        yield f"chosen_{name}", (lambda x, y, m, z: (torch.where(m, x, y), torch.where(m, x, 1.3), torch.where(m, x, z), x[m])), [[a, b, m, z]]
        yield f"put_{name}", (lambda x, y, i: (x.index_put((i,), y[:3]), x.slice_scatter(y[:2], 0, 1, 3), x.select_scatter(y[0], 0, 1), torch.diagonal_scatter(x, y[0, :4]))), [[a, b, i]]
        yield f"made_{name}", (lambda x: (torch.zeros(3, dtype=kind), torch.ones(2, dtype=kind), torch.full((3,), 0.3, dtype=kind), torch.full_like(x, -5.7), torch.ones_like(x), x.new_full((2,), 0.2), torch.eye(3, dtype=kind),
            torch.tensor([1.0, 0.3, -2.4]).to(kind), torch.scalar_tensor(0.7, dtype=kind))), [[a]]
        yield f"compared_{name}", (lambda x, y: (x == y, x != y, x == 0.3, x.isnan(), x.isinf(), x.isfinite(), x[None].any(0), x[None].all(0), x.any())), [[codes.view(kind), codes.view(kind)[torch.arange(256) // 2 * 2]]]
        yield f"computed_{name}", (lambda x, y: (x * y, (x.t()[None] * y.t()[:, None]).float(), x.abs(), x @ y.t(), nn.functional.linear(x, y), torch.addmm(y[:, :4], x, y.t()), torch.outer(x[0], y[0]),
            x.sum(1, dtype=torch.float32), x.mean(0, dtype=torch.float32), x.cumsum(1, dtype=torch.float32))), [[a, b]]
        yield f"all_products_{name}", (lambda x, y: (x[:, None] * y).view(u8)), [[fits, fits]]
        yield f"written_{name}", Stateful(written, keys=torch.zeros(4, 6).to(kind), last=torch.ones(4, 6).to(kind), seen=torch.zeros(1)), [[a]]
        yield f"weights_{name}", Stateful(lambda m, x: x @ (m.w.to(x.dtype) * m.s).t(), w=tensor(40, 64, seed=3).to(kind), s=torch.rand(40, 1) + 0.5), [[tensor(5, 64)]]
        yield f"item_{name}", (lambda x: x[0] * x[1, 0].float().item()), [[tensor(2, 4).to(kind).float()]]
        yield f"quantised_{name}", (lambda x, s, z: (q.quantize_per_tensor(x, 0.1, 0, -400, 400, kind), q.quantize_per_channel(x, s, z, 0, -400, 400, kind), ao.quantize_affine_float8_non_decomposed(x, s[:, None], kind),
            ao.quantize_affine_float8_non_decomposed(x * 1e5, torch.full((2, 3), 1.25), kind), ao.choose_scale_float8(x, [1, 6], kind), ao.choose_scale_float8(x, [2, 3], kind, hp_value_lb=1.5, hp_value_ub=1.7), ao.choose_qparams_affine(x, "SYMMETRIC", [1, 6], kind))), [
            [x * 3, torch.rand(4) + 0.1, torch.zeros(4, dtype=torch.int64)]]
        yield f"back_{name}", (lambda n, s: (q.dequantize_per_tensor(n, 0.1, 0, -400, 400, kind), ao.dequantize_affine(n, [1, 6], s, None, kind), ao.dequantize_affine_float8_non_decomposed(n, s),
            ao.dequantize_affine_float8_non_decomposed(n, s.reshape(2, 2), torch.bfloat16))), [[a, torch.rand(4, 1) + 0.1]]

    def cached(m, q, k, v):
        m.keys[:, :, 4:7] = k.to(e4)
        m.values[:, :, 4:7] = v.to(e5)
        return nn.functional.scaled_dot_product_attention(q, m.keys[:, :, :7].float(), m.values[:, :, :7].float())

    yield "cached_keys", Stateful(cached, keys=tensor(1, 2, 12, 16).to(e4), values=tensor(1, 2, 12, 16, seed=1).to(e5)), [[tensor(1, 2, 3, 16, seed=k) for k in (2, 3, 4)]]
    yield "normed", (lambda x: (nn.functional.layer_norm(x, (37,)).to(e4), (x.softmax(1) * 448).to(e4), (x.cumsum(1)).to(e5))), [[tensor(5, 37) * 3]]
    yield "convolved", (lambda x, w: nn.functional.conv2d(x.float(), w.float(), padding=1).relu().to(e5)), [[tensor(2, 3, 8, 9).to(e5), tensor(16, 3, 3, 3, seed=1).to(e4)]]
    yield "branches", (lambda x: torch.cond(x.float().sum() > 0, lambda x: x.clone(), lambda x: (x.float() * 2).to(e4), (x,))), [[tensor(3, 4, seed=k).to(e4)] for k in (0, 1, 2)]

    def product(out=None, **more):
        return lambda a, b, s, t, *bias: torch._scaled_mm(a, b.t(), s, t, *bias, out_dtype=out, **more)

    one = (torch.tensor(0.3), torch.tensor(1.7))
    rows = (torch.rand(7, 1) + 0.5, torch.rand(1, 24) + 0.5)
    left, right, bias = tensor(7, 32).to(e4), tensor(24, 32, seed=1).to(e4), tensor(24, seed=2)
    for name, out in ("f32", torch.float32), ("bf16", torch.bfloat16), ("f16", torch.float16), ("e4m3fn", e4), ("e5m2", e5), ("same", None):
        yield f"scaled_mm_{name}", product(out), [[left, right, *one]]
        yield f"scaled_mm_rows_{name}", product(out), [[left, right, *rows]]
    yield "scaled_mm_bias", product(torch.float32), [[left, right, *one, bias]]
    yield "scaled_mm_bias_bf16", product(torch.bfloat16), [[left, right, *rows, bias.bfloat16()]]
    yield "scaled_mm_mixed", product(torch.float32, use_fast_accum=True), [[left.float().to(e5), right, *one]]
    yield "scaled_mm_scale_of_result", (lambda a, b, s, t, r: (torch._scaled_mm(a, b.t(), s, t, scale_result=r, out_dtype=e4), torch._scaled_mm(a, b.t(), s, t, scale_result=r), torch._scaled_mm(a, b.t(), s, t, scale_result=r, out_dtype=torch.bfloat16))), [[left, right, *one, torch.tensor(0.5)]]
    yield "scaled_mm_overflow", (lambda a, b, s, t: tuple(torch._scaled_mm(a, b.t(), s, t, out_dtype=out) for out in (e4, e5, torch.float16))), [[left * left, (tensor(24, 32).to(e4).abs()), torch.tensor(300.0), torch.tensor(700.0)]]
    yield "scaled_mm_sizes", product(torch.float32), [[tensor(k, 32).to(e4), right, *one] for k in (4, 1, 33)], ({0: n}, None, None, None)
    yield "scaled_mm_v2", (lambda a, b, s, t, r, c: (nn.functional.scaled_mm(a, b.t(), s, nn.functional.ScalingType.TensorWise, t, nn.functional.ScalingType.TensorWise, output_dtype=torch.float32),
        nn.functional.scaled_mm(a, b.t(), r, nn.functional.ScalingType.RowWise, c, nn.functional.ScalingType.RowWise, output_dtype=torch.bfloat16))), [[tensor(16, 32).to(e4), right, *one, torch.rand(16, 1), torch.rand(1, 24)]]
    yield "quantised_linear", Stateful(lambda m, x: torch._scaled_mm(*(lambda s: ((x / s).to(e4), m.w.t(), s, m.s.t()))(x.abs().amax(1, True) / 448), out_dtype=torch.float32), w=right, s=torch.rand(24, 1) + 0.5), [[tensor(7, 32)]]


@group("vision")
def vision():
    """torchvision's operators on boxes and regions."""
    import torchvision
    from torchvision import ops

    n = (tensor(40, 2, seed=3).abs() * 20).to(torch.float32)
    boxes, scores = torch.cat([n, n + tensor(40, 2, seed=4).abs() * 15 + 1], 1), tensor(40, seed=5)
    image = tensor(2, 4, 9, 11)
    rois = torch.tensor([[0, 1.0, 2.0, 7.5, 6.0], [1, -2.0, 0.5, 30.0, 12.0], [1, 3.2, 3.1, 3.4, 3.3]])
    yield "nms", (lambda boxes, scores: ops.nms(boxes, scores, 0.3)), [[boxes, scores]]
    yield "nms_f64", (lambda boxes, scores: ops.nms(boxes, scores, 0.7)), [[boxes.double(), scores.double()]]
    yield "nms_ties", (lambda boxes, scores: ops.nms(boxes, scores, 0.5)), [[boxes, scores.round()]]
    yield "roi_align", (lambda x, rois: ops.roi_align(x, rois, (3, 4), 0.8, 2, False)), [[image, rois]]
    yield "roi_align_aligned", (lambda x, rois: ops.roi_align(x, rois, (2, 2), 1.0, 3, True)), [[image, rois]]
    yield "roi_align_adaptive", (lambda x, rois: ops.roi_align(x, rois, (2, 3), 1.0, -1, True)), [[image, rois]]

    def deform(groups, shares, stride, pad, dilation, masked):
        def call(x, weight, offset, bias, mask):
            return ops.deform_conv2d(x, offset, weight, bias, stride, pad, dilation, mask if masked else None)

        down, across = [(size + 2 * pad - dilation * 2 - 1) // stride + 1 for size in (9, 11)]
        offset = tensor(2, 2 * shares * 9, down, across, seed=6) * 2
        return call, [[image, tensor(6, 4 // groups, 3, 3, seed=7), offset, tensor(6, seed=8), tensor(2, shares * 9, down, across, seed=9)]]

    yield "deform", *deform(1, 1, 1, 1, 1, False)
    yield "deform_masked", *deform(1, 2, 2, 1, 1, True)
    yield "deform_groups", *deform(2, 4, 1, 0, 2, True)


@group("control")
def control():
    x, yes = tensor(3, 4), torch.tensor(True)

    def nested_cond(p, q, x):
        inner = lambda x: torch.cond(q, lambda x: x.sin(), lambda x: x * 3, (x,))
        return torch.cond(p, inner, lambda x: x - 1, (x,))

    def count(x, n):
        return while_loop(lambda k, x: k < n, lambda k, x: (k + 1, x * 1.5 + 1), (torch.tensor(0), x))

    def nested_while(k, x):
        def inner(k, x):
            return while_loop(lambda j, x: j < 3, lambda j, x: (j + 1, x + 1), (k * 0, x))[1]
        return while_loop(lambda k, x: k < 4, lambda k, x: (k + 1, inner(k, x) * 0.5), (k, x))

    def cond_in_while(x):
        def step(k, x):
            return k + 1, torch.cond(x.sum() > 0, lambda x: x - 2, lambda x: x + 3, (x,))
        return while_loop(lambda k, x: k < 6, step, (torch.tensor(0), x))

    def while_in_cond(p, x):
        grow = lambda x: while_loop(lambda x: x.abs().max() < 100, lambda x: (x * 2,), (x,))[0]
        return torch.cond(p, grow, lambda x: x.clone(), (x,))

    def running_sum(x):
        return scan(lambda carry, x: (carry + x, carry * x), torch.zeros(4), x, dim=0)

    def scan_in_cond(p, x):
        total = lambda x: scan(lambda c, x: (c + x, c.clone()), torch.zeros(4), x, dim=0)[1]
        return torch.cond(p, total, lambda x: x * 2, (x,))

    def scan_of_pairs(x, y):
        step = lambda c, xs: ((c[0] + xs[0], c[1] * xs[1]), c[0] - c[1])
        return scan(step, (torch.zeros(4), torch.ones(4)), (x, y), dim=0)

    def mapped(x, y):
        return map_over(lambda row, y: row.softmax(0) @ y, x, y)

    def mapped_cond(x):
        row = lambda row: torch.cond(row.sum() > 0, lambda r: r * 2, lambda r: r - 1, (row,))
        return map_over(row, x)

    def collatz(n):
        odd = lambda n: 3 * n + 1
        step = lambda n, k: (torch.cond(n % 2 == 0, lambda n: n // 2, odd, (n,)), k + 1)
        return while_loop(lambda n, k: n != 1, step, (n, torch.tensor(0)))

    def recurrent(x, w):
        def step(h, x):
            h = torch.tanh(x @ w + h)
            return h, h * 2
        return scan(step, torch.zeros(2, 4), x, dim=0)

    no = torch.tensor(False)
    yield "nested_cond", nested_cond, [[p, q, x] for p in (yes, no) for q in (yes, no)]
    yield "count", count, [[x, torch.tensor(n)] for n in (0, 1, 9)]
    yield "nested_while", nested_while, [[torch.tensor(n), x] for n in (0, 3, 5)]
    yield "cond_in_while", cond_in_while, [[x], [x + 5]]
    yield "while_in_cond", while_in_cond, [[yes, x], [no, x]]
    yield "running_sum", running_sum, [[x]]
    yield "scan_in_cond", scan_in_cond, [[yes, x], [no, x]]
    yield "scan_of_pairs", scan_of_pairs, [[x, x + 1]]
    yield "mapped", mapped, [[x, tensor(4, seed=2)]]
    yield "mapped_cond", mapped_cond, [[x]]
    yield "collatz", collatz, [[torch.tensor(n)] for n in (1, 6, 27)]
    yield "recurrent", recurrent, [[tensor(5, 2, 4), tensor(4, 4)]]


def small_integers(dtype):
    x, y = tensor(4, 5, dtype=dtype), tensor(5, seed=7, dtype=dtype)
    low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    edge = torch.tensor([low, low + 1, -1, 0, 1, high - 1, high], dtype=dtype)
    yield "wraps", (lambda x: (x + x, x - 1, x * 3, -x, x.abs())), [[edge]]
    yield "divides", (lambda x, y: (x // 3, x % 3, x / 3, torch.div(x, 3, rounding_mode="trunc"), torch.fmod(x, 3))), [[edge, y]]
    yield "sums", (lambda x: (x.sum(), x.sum(1), x.prod(0), x.cumsum(0), x.float().mean())), [[x]]
    yield "orders", (lambda x: (x.sort(1), x.max(1), x.argmin(0), x.topk(2, 1).values, x.amax())), [[x]]
    yield "compares", (lambda x, y: (x > y, x == y, torch.where(x < y, x, y), x.clamp(-3, 3))), [[x, y]]
    yield "bits", (lambda x: (x & 6, x | 1, x ^ 3, ~x, x << 1, x >> 1)), [[edge]]
    yield "promotes", (lambda x: (x + 1.5, x + torch.ones(7, dtype=torch.int32), x * True, x.to(torch.uint8), x + 300)), [[edge]]
    yield "products", (lambda x, y: (x @ y, x.t() @ x, torch.outer(y, y))), [[x, y]]
    yield "indexes", (lambda x, y: (x[[1, 0, 3]], x.gather(1, (y.abs() % 5).long()[None]), x.flip(0), x.roll(1, 0))), [[x, y]]
    yield "scatters", (lambda x, y: (x.index_add(0, torch.tensor([1, 1]), x[:2]), torch.cat([x, x]).tril(), x.masked_fill(x > 2, 9))), [[x, y]]
    yield "converts", (lambda x: (x.float(), x.to(torch.float16), x.bool(), x.to(torch.int64), x.to(torch.int8))), [[edge]]
    yield "windows", (lambda x: (torch.nn.functional.pad(x, (1, 2), value=3), x.unfold(1, 2, 1), x.repeat(2, 1), x.diff())), [[x]]
    yield "dynamic", (lambda x: (x * 2 + 1, x.sum(0))), [[tensor(n, 5, dtype=dtype)] for n in (4, 1, 8)], ({0: Dim("n")},)


@group("int8")
def int8():
    return small_integers(torch.int8)


@group("int16")
def int16():
    return small_integers(torch.int16)


@group("complex128")
def complex128():
    pair, z = tensor(3, 4, 2, dtype=torch.float64), torch.view_as_complex
    square = tensor(4, 4, 2, seed=1, dtype=torch.float64)
    out = lambda t: torch.view_as_real(t)
    yield "arithmetic", (lambda x: (out(z(x) * z(x) + 1j), out(z(x) / (z(x) + 2)), out(-z(x)))), [[pair]]
    yield "functions", (lambda x: (out(z(x).exp()), out(z(x).sin()), out(z(x).tanh()))), [[pair]]
    yield "roots", (lambda x: (out(z(x).sqrt()), out(z(x).log()), out(z(x) ** 2.5))), [[pair]]
    yield "parts", (lambda x: (z(x).abs(), z(x).angle(), z(x).real, z(x).imag, out(z(x).conj().resolve_conj()))), [[pair]]
    yield "products", (lambda x, y: (out(z(x) @ z(y)), out(z(y).mH @ z(y)))), [[pair, square]]
    yield "sums", (lambda x: (out(z(x).sum(0)), out(z(x).mean()), out(z(x).cumsum(1)), out(z(x).prod(1)))), [[pair]]
    yield "polar", (lambda r, t: out(torch.polar(r.abs(), t))), [[pair[..., 0], pair[..., 1]]]
    yield "rotary", (lambda x, t: out(z(x) * torch.polar(torch.ones_like(t), t))), [[pair, pair[..., 1]]]
    yield "compares", (lambda x: (z(x) == z(x.flip(0)), out(torch.where(z(x).real > 0, z(x), -z(x))))), [[pair]]
    yield "shapes", (lambda x: (out(z(x).t().contiguous()), out(torch.cat([z(x), z(x).conj()])), out(z(x)[1:, ::2]))), [[pair]]
    yield "promotes", (lambda x: (out(z(x) + x[..., 0].float()), out(z(x) * 2), out(x[..., 0] + z(x).to(torch.complex64)))), [[pair]]
    yield "dynamic", (lambda x: (out(z(x) * 2j), z(x).abs().sum(0))), [[tensor(n, 4, 2, dtype=torch.float64)] for n in (3, 1, 6)], ({0: Dim("n")},)


@group("complex64")
def complex64():
    z = torch.view_as_complex(tensor(3, 4, 2))
    where = torch.tensor([2, 0, 1, 1])
    yield "moved", (lambda z: (z.t().contiguous(), z.flip(1), z.repeat(2, 1))), [[z]]
    yield "joined", (lambda z: (torch.cat([z, z[:1]]), torch.stack([z, z], 1), torch.nn.functional.pad(z[None], (2, 1), mode="reflect"))), [[z]]
    yield "adjoints", (lambda z: (z.mT.contiguous(), z.mH.resolve_conj().contiguous(), z.adjoint().resolve_conj().contiguous())), [[torch.stack([z, z + 1])]]
    yield "looked_up", (lambda z, i: (z[:, i], z[i], z.gather(1, i[None]))), [[z, where]]
    yield "repeated", (lambda z: (z.repeat_interleave(2, 1), z.unfold(1, 2, 1))), [[z]]
    yield "put", (lambda z, i: (z.index_add(1, i, z), z.index_fill(1, i[:1], 0))), [[z, where]]
    yield "chosen", (lambda z, m: (torch.where(m, z, 0), z.masked_fill(m, 2), z.diagonal())), [[z, z.real > 0]]
    yield "sums", (lambda z: (z.sum(0), z.cumsum(1), z.cumprod(0))), [[z]]
    yield "scaled", (lambda z: (z * 2j, z + (1 - 1j), z.conj().resolve_conj() * 0.5)), [[z]]
    yield "dynamic", (lambda z: (z.t().contiguous(), z.sum(0))), [[torch.view_as_complex(tensor(n, 4, 2))] for n in (3, 1, 6)], ({0: Dim("n")},)


@group("regions")
def regions():
    def frozen(x, w):
        with torch.no_grad():
            scale = (x * w).abs().mean(1, keepdim=True)
        return x / scale

    def plain(x, w):
        with torch.autocast("cpu", enabled=False):
            return (x @ w.t()).relu()

    def cast(dtype):
        def function(x, w):
            before = x @ w.t()
            with torch.autocast("cpu", dtype=dtype):
                inside = torch.relu(x @ w.t())
                with torch.autocast("cpu", enabled=False):
                    exact = (x @ w.t()).tanh()
                weighed = torch.nn.functional.mse_loss(inside, exact), torch.cat([inside, exact]), inside.softmax(1)
            return before + inside, *weighed

        return function

    yield "autocast", cast(torch.bfloat16), [[tensor(3, 4), tensor(5, 4, seed=1)]]
    yield "autocast_f16", cast(torch.float16), [[tensor(3, 4), tensor(5, 4, seed=1)]]
    yield "no_grad", frozen, [[tensor(3, 4), tensor(3, 4, seed=1)]]
    yield "no_autocast", plain, [[tensor(3, 4), tensor(3, 4, seed=1)]]


@group("zero")
def zero():
    n = {0: Dim("n", min=0)}
    sets = lambda *rest, dtype=torch.float32: [[tensor(k, *rest, dtype=dtype)] for k in (3, 0, 1)]
    pair = lambda *rest: [[tensor(k, *rest), tensor(k, *rest, seed=9)] for k in (3, 0, 1)]
    yield "pointwise", (lambda x: (x.exp() + 1, x > 0)), sets(4), (n,)
    yield "sums", (lambda x: (x.sum(), x.sum(0), x.prod(0), x.sum(1))), sets(4), (n,)
    yield "joined", (lambda x, y: (torch.cat([x, y]), torch.stack([x, y]))), pair(4), (n, n)
    yield "product", (lambda x, y: (x @ y.t(), x.t() @ y)), pair(4), (n, n)
    yield "linear", nn.Linear(4, 2), sets(4), (n,)
    yield "normalised", nn.LayerNorm(4), sets(4), (n,)
    yield "softmax", (lambda x: (x.softmax(1), x.log_softmax(1))), sets(4), (n,)
    yield "sorted", (lambda x: (x.sort(1).values, x.cumsum(0), x.cumsum(1))), sets(4), (n,)
    yield "looked_up", (lambda x: torch.arange(8.0)[x.abs() % 8]), sets(4, dtype=torch.int64), (n,)
    yield "padded", (lambda x: torch.nn.functional.pad(x, (1, 1, 2, 0))), sets(4), (n,)
    yield "reshaped", (lambda x: (x.reshape(-1), x.transpose(0, 1), x.unsqueeze(0).expand(2, -1, -1))), sets(4), (n,)
    yield "convolved", nn.Conv1d(4, 3, 3, padding=1), [[tensor(k, 4, 6)] for k in (2, 0, 1)], (n,)
    yield "scattered", (lambda x: torch.zeros(5, 4).index_add(0, torch.zeros(x.shape[0], dtype=torch.int64), x)), sets(4), (n,)
    yield "found", (lambda x: (torch.nonzero(x), torch.roll(x, 1, 0), x.flip(0), torch.fft.irfft(x, n=5), torch.fft.rfft(x, dim=1))), sets(4), (n,)
    yield "masked", (lambda x: (x[:, :2].clamp(min=0), torch.where(x > 0, x, 0.0), x.any(1))), sets(4), (n,)


class Residual(nn.Module):
    """Two convolutions with 3 by 3 windows, large enough for tiles, and what stands around them in a network."""

    def __init__(self, channels, dtype):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1, bias=False, dtype=dtype)
        self.norm = nn.BatchNorm2d(channels, dtype=dtype)
        self.second = nn.Conv2d(channels, channels, 3, padding=(1, 0), dtype=dtype)

    def forward(self, x):
        y = self.second(self.norm(self.first(x)).relu())
        return (y + x[..., 1:-1]).relu()


@group("convolutions")
def convolutions():
    yield "tiles", Residual(32, torch.float32), [[tensor(1, 32, 22, 25)]]
    yield "tiles_f64", Residual(24, torch.float64), [[tensor(2, 24, 20, 18, dtype=torch.float64)]]


@group("found")
def found():
    """What other samples of PyTorch's operators found wrong."""
    z, f = torch.view_as_complex(tensor(3, 4, 2)), torch.nn.functional
    edge = torch.tensor([float("inf"), float("nan"), 3.0, -float("inf")], dtype=torch.float64)
    small = tensor(3, 5, dtype=torch.int8) * 14
    runs = torch.tensor([[1, 1, 2, 2, 2], [3, 3, 3, 3, 3]])
    line = torch.tensor([1, 1, 4, 4, 1])
    bits = torch.tensor([True, False, True, False])
    yield "complex_inverses", (lambda z: (z.asin(), z.acos(), z.atan(), z.asinh(), z.acosh(), z.atanh())), [[z]]
    yield "complex_exponents", (lambda z: (z.cosh(), z.sinh(), z.exp2(), z.log2(), z.log10(), torch.logaddexp(z, z.flip(0)))), [[z]]
    yield "complex_sums", (lambda z: (z.logsumexp(1), z.renorm(2, 0, 1.5), torch.linspace(0, 1, 4, dtype=torch.complex64) * z)), [[z]]
    yield "complex_transposed", (lambda z, w: f.conv_transpose1d(z[None], w, stride=2)), [[z, torch.view_as_complex(tensor(3, 2, 3, 2))]]
    yield "or_of_nothing", (lambda x, y: (torch.add(x, y, alpha=False), torch.add(x, y, alpha=True))), [[bits, bits.flip(0)]]
    beyond = torch.tensor([5e9 + 7, -5e9 - 7, 2.0 ** 31, -(2.0 ** 31), 2.0 ** 32 + 512, 1e20, float("inf"), -float("inf"), float("nan"), 70007.5, -300.25, 2147483000])
    whole = (torch.int8, torch.int16, torch.int32, torch.uint8)
    yield "convert_beyond_range", (lambda x, y: [v.to(kind) for v in (x, y, y.bfloat16()) for kind in whole]), [[beyond.double(), beyond]]
    yield "hypot_beside_nan", (lambda x, y: (torch.hypot(x, y), torch.hypot(x.float(), y.float()))), [[edge, edge.flip(0)]]
    yield "integral_of_int8", (lambda x: (torch.cumulative_trapezoid(x, x), torch.trapezoid(x, x), torch.cumulative_trapezoid(x))), [[small]]
    yield "spectrum_of_two_sides", (lambda z: torch.istft(z, 6, onesided=False)), [[torch.view_as_complex(tensor(6, 3, 2))]]
    yield "causal_broadcast", (lambda q, k: f.scaled_dot_product_attention(q, k, k, is_causal=True)), [[tensor(3, 4, 8), tensor(2, 3, 6, 8)]]
    yield "einsum_of_small_integers", (lambda x, b: (torch.einsum("ij->i", x), torch.einsum("ij->", b), torch.einsum("ii->i", x[:, :3]), torch.einsum("ij,ij->i", x, x), torch.einsum("ij,k->ik", x, x[0]))), [[small, small > 0]]
    yield "members_of_bytes", (lambda x, y: (torch.isin(x, y), torch.isin(y.byte(), x.byte(), invert=True), torch.isin(x, 3))), [[tensor(9, 13, dtype=torch.int8) * 14, tensor(70, dtype=torch.int8, seed=5) * 14]]
    yield "integrals_of_even_steps", (lambda x, y, z: (torch.trapezoid(x, dx=0.5, dim=0), torch.trapezoid(y, dx=3), torch.trapezoid(x.abs().bfloat16(), dim=0), torch.trapezoid(z, dim=0), torch.trapezoid(z, z, dim=0), torch.cumulative_trapezoid(z, dim=0))), [[tensor(5, 3), small, tensor(0, 3)]]
    lying, places = tensor(3, 9, 40).transpose(1, 2), (tensor(5, 70, seed=4) * 1000).long() % 37
    narrow = (tensor(5, 37, seed=6) * 50).to(torch.int8)
    yield "small_elements_at_places", (lambda x, at: [x.to(t).gather(1, at) for t in (torch.int8, torch.uint8, torch.bool, torch.float16, torch.bfloat16)]), [[narrow, places]]
    yield "order_of_short_lines", (lambda x: [f(x[:n, :].to(t)) for n in (31, 90) for t in (torch.int64, torch.float64) for f in (lambda y: y.sort(stable=True, dim=0), lambda y: y.sort(stable=True, dim=0, descending=True), lambda y: y.kthvalue((n + 1) // 2, 0)[0], lambda y: y.topk((n + 8) // 9, 0)[0])]), [[(tensor(90, 3, seed=7) * 9).round()]]
    yield "resized_across", (lambda x, at: (f.interpolate(x[None], scale_factor=3.0), f.interpolate(x[None], size=(51, 23), mode="bilinear"), x[0][at], f.embedding(at, x[1]))), [[lying, (tensor(60, seed=9) * 1000).long() % 40]]
    yield "ends_of_incomplete_gamma", (lambda a, x: (torch.special.gammainc(a, x), torch.special.gammaincc(a, x))), [[torch.tensor([2.0, 2.0, 0.0, 3.0, -1.0, 1.0, float("inf"), 2.5, 0.3, 40.0, 2e6, 5.0], dtype=torch.float64), torch.tensor([1e200, 0.0, 2.0, float("inf"), 1.0, float("nan"), 2.0, 2.0, 0.7, 39.0, 2e6, 1e-5], dtype=torch.float64)]]
    half = lambda *shape, seed=0: tensor(*shape, seed=seed).bfloat16()
    attend = f.scaled_dot_product_attention
    yield "attention_of_halves", (lambda q, k, v, m: (attend(q, k, v), attend(q, k[:, :, :70], v[:, :, :70], is_causal=True), attend(q, k, v, attn_mask=m), attend(q[:, :, :40], k[:, :, :33], v[:, :, :33, :32]))), [[half(1, 2, 70, 64), half(1, 2, 150, 64, seed=2), half(1, 2, 150, 96, seed=3), tensor(70, 150, seed=4) > -1]]
    yield "convolutions_of_halves", (lambda x, w, u, z: (f.conv2d(x, w, padding=1), f.conv2d(x, w, stride=2), f.conv2d(x, u, groups=2), f.conv2d(x, z), f.conv2d(x[:, :3], z[:48, :3], padding=2).relu())), [[half(1, 48, 19, 21), half(64, 48, 3, 3, seed=2) / 16, half(64, 24, 1, 1, seed=3) / 4, half(64, 48, 5, 5, seed=4) / 32]]
    spectrum = torch.view_as_complex(tensor(2, 37, 9, 2))
    yield "transforms_of_columns", (lambda x: (torch.fft.fft(x, dim=1), torch.fft.ifft(x, dim=0), torch.fft.ifft2(x), torch.fft.fftn(x[:, :30]), torch.fft.fft(x[:, :, :2], dim=1), torch.fft.fft(x.transpose(1, 2)), torch.fft.rfftn(x.real), torch.view_as_real(torch.fft.fft(x.to(torch.complex128), dim=1)))), [[spectrum]]
    yield "elements_as_they_lie", (lambda x: (x.t().clone().resize_(7), (x.t() * 2).resize_(3, 3), x.clone().resize_(2, 2))), [[tensor(5, 6)]]
    yield "pools_of_transposed", (lambda x: (f.adaptive_avg_pool1d(x.transpose(1, 2), 11).transpose(1, 2), f.adaptive_avg_pool1d(x.transpose(1, 2), 3).transpose(1, 2))), [[tensor(3, 7, 5)]]
    rows = tensor(10, 43)
    rows[3, 5], rows[6, 40] = float("nan"), float("inf")
    yield "rows_side_by_side", (lambda x: (torch.log_softmax(x, -1), torch.log_softmax(x[:, :20], -1), x.amax(-1), x.amin(-1), x[:, :9].sum(-1), x.double().logsumexp(-1), x[:3].logsumexp(-1), (x[:3] * 100).int().amin(-1), (x[7:] * 9).to(torch.uint8).amax(-1))), [[rows]]
    yield "norm_of_nothing", (lambda x: (torch.linalg.norm(x, 2), torch.linalg.norm(x, 2, keepdim=True))), [[tensor(0, 5)]]
    yield "slopes_of_margins", (lambda g, x, y: [slope(g if r == 0 else g.sum(), x, y, r) for r in (0, 1, 2)]), [[tensor(3, 4), tensor(3, 4, seed=2), tensor(3, 4, seed=3).sign()]]
    ignored, nothing = torch.tensor([1, 2, 1]), torch.tensor([1, 1, 1])
    certain = torch.tensor([[0.0, -float("inf"), -float("inf")], [-1.0, -1.0, -1.0], [-2.0, -float("inf"), -0.1]])
    yield "ignored_targets", (lambda x, t, u: [f.nll_loss(x, each, ignore_index=1, reduction=kind) for each in (t, u) for kind in ("none", "sum", "mean")]), [[certain, ignored, nothing]]
    yield "slopes_of_ignored_targets", (lambda g, x, t, u: [torch.ops.aten.nll_loss_backward(g, x, each, None, kind, 1, total) for each, total in ((t, torch.tensor(1.0)), (u, torch.tensor(0.0))) for kind in (1, 2)]), [[torch.tensor(2.0), certain, ignored, nothing]]
    for title, update in (("batch", True), ("running", False)):
        yield f"slope_of_{title}_norm", functools.partial(normed, update), [[tensor(2, 3, 4), tensor(2, 3, 4, seed=2), tensor(3), tensor(3, seed=4), tensor(3, seed=5).abs() + 1]]
    ops, square, number = torch.ops.aten, tensor(3, 3), torch.view_as_complex(tensor(2))
    yield "lists_of_no_dims", (lambda x: (ops.all.dims(x > 0, []), ops.any.dims(x > 0, []), ops.fft_fftn(x, []), x.sum([]))), [[square]]
    yield "sums_of_bits", (lambda x: (torch.nansum(x, dtype=torch.bool), x.sum(0, dtype=torch.bool), x.sum(dtype=torch.bool))), [[square.relu()]]
    yield "bits_of_a_number", (lambda z: (z.view(torch.int64), z.flip(0), z.real.view(torch.int32))), [[number]]
    low = torch.full((2, 2, 7, 6), -float("inf"))
    low[:, 1, 3:, 2:] = tensor(2, 4, 4)
    low[1, 0, 4, 4], low[1, 1, 3, 3:5] = float("nan"), 0.5
    for title, image in (("windows", low), ("windows_of_one_image", low[1:])):
        yield f"maxima_of_{title}", (lambda x: (*f.max_pool2d(x, 3, 2, 1, return_indices=True), *f.max_pool2d(x, 2, 1, 0, 2, ceil_mode=True, return_indices=True))), [[image]]
    yield "maxima_of_bytes", (lambda x: f.max_pool2d(x, 3, 2, 1, return_indices=True)), [[small.reshape(1, 1, 3, 5)]]
    batch = ({0: Dim("b", min=2, max=9)}, None, None)
    yield "layer_between_views", (lambda x, w, b: (torch.addmm(b, x.view(-1, 4), w).view(x.shape[0], 3, 6).relu() + x[:, :, :1], (x.view(-1, 4) @ w).view(x.shape[0], 3, 2, 3).transpose(1, 2))), [[tensor(k, 3, 4), tensor(4, 6, seed=2), tensor(6, seed=3)] for k in (2, 5)], batch
    yield "batch_between_views", (lambda x, y: torch.bmm(x.view(6, 4, 5), y.view(6, 5, 3)).view(2, 3, 4, 3).softmax(-1)), [[tensor(2, 3, 4, 5), tensor(2, 3, 5, 3, seed=2)]]
    yield "heads_between_views", (lambda x, w: torch.mm(x.transpose(1, 2).reshape(8, 6), w).view(2, 4, 5).tanh()), [[tensor(2, 3, 4, 2), tensor(6, 5, seed=2)]]
    yield "backwards_in_panels", (lambda w: (w.flip(2, 3).view(2, 20, 9, 3, 3).permute(0, 3, 4, 2, 1).contiguous(), w.flip(1).reshape(40, 81).t().contiguous())), [[tensor(40, 9, 3, 3)]]
    yield "slope_of_one_row", (lambda g, i: ops.embedding_dense_backward(g, i, 4, 1, False)), [[tensor(3), torch.tensor([2])]]
    yield "slopes_of_noise", (lambda g, x, n: ops.rrelu_with_noise_backward(g, x, n, 0.5, 0.25, True, False)), [[tensor(3), tensor(3, seed=1), tensor(3, seed=2)]]
    yield "triangles_of_two_types", (lambda a, b: torch.linalg.solve_triangular(a, b, upper=True)), [[square.triu() + 3 * torch.eye(3), tensor(3, 2, dtype=torch.float64)]]
    yield "whole_numbers_of_nothing", (lambda x, y: (ops._softmax(x, -1, False), ops._log_softmax(x, -1, False), ops.unique_consecutive(y, True))), [
        [torch.zeros(2, 0, dtype=torch.int64), torch.zeros(0, 3, 3)]]
    yield "spectra_of_nothing", (lambda x: (torch.fft.irfft(x), torch.fft.hfft(x), torch.fft.rfft2(x.real, (3, 2)), torch.fft.ihfft2(x.real))), [[torch.zeros(0, 4, 3, dtype=torch.complex64)]]
    yield "slopes_of_one_place", (lambda g: (ops.select_backward(g, [2, 3], 0, 1), ops.diagonal_backward(g, [3, 4], 0, 0, 1))), [[tensor(1)]]
    yield "bounds_of_inverses", (lambda x, a: (torch.linalg.pinv(x, atol=a), torch.linalg.pinv(x, rtol=a[:, :1]))), [[tensor(2, 3, 2), tensor(3, 2).abs()]]
    yield "slices_and_factors", (lambda x: (ops.unique_dim(x.round(), 1), torch.lu_unpack(*torch.linalg.lu_factor(x), unpack_pivots=False)[1:], z.real.add(2).to(z.dtype).asin())), [[square]]
    yield "runs_of_columns", (lambda x, y: (torch.unique_consecutive(x, dim=-1), torch.unique_consecutive(y, dim=-1, return_counts=True))), [[runs, line]]


@group("breadth")
def breadth():
    """Operators and arguments that no sample of the corpus has."""
    f, n, m = torch.nn.functional, {0: Dim.DYNAMIC}, {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}
    z, byte = torch.view_as_complex(tensor(2, 3, 2)), (tensor(1, 3, 5, 4) * 90).abs().to(torch.uint8)
    pair = [[tensor(k, w), tensor(w, 4)] for k, w in ((3, 5), (2, 7), (4, 3))]
    x, v, g = tensor(2, 3, 6, 5), tensor(4, 3), tensor(4, 1).abs()
    backward = torch.ops.aten._weight_norm_interface_backward
    pool = torch.ops.aten.fractional_max_pool2d
    yield "complex_numbers", (lambda z: (torch.addmm(z, z[:, :2], z, beta=1 + 2j, alpha=0.5j), torch.full_like(z, 2 - 1j), torch.constant_pad_nd(z, (1, 1), 3j))), [[z[:, :2].mT @ z]]
    yield "aliases", (lambda x: (torch.arctan(x), torch.fix(x), torch.special.erfc(x), torch.special.i0(x), torch.row_stack([x, x]), torch.moveaxis(x, 0, 1), torch.arctan2(x, x + 1))), [[tensor(2, 3)]]
    yield "tapers", (lambda x: x * torch.stack([torch.hann_window(7), torch.hamming_window(7, False), torch.blackman_window(7), torch.bartlett_window(7), torch.kaiser_window(7, True, 5.0), torch.fft.fftfreq(7)])), [[tensor(6, 7)]]
    yield "affine_grid", (lambda t: (f.affine_grid(t, [2, 1, 3, 4], align_corners=False), f.affine_grid(t, [2, 1, 1, 4], align_corners=True))), [[tensor(2, 2, 3)]]
    yield "fractional_pool", (lambda x, u: pool(x, [2, 3], [3, 2], u)), [[x, torch.tensor([[[0.1, 0.7], [0.5, 0.3], [0.9, 0.2]]] * 2)]]
    yield "bytes_resized", (lambda x: (f.interpolate(x, size=(8, 7), mode="bilinear"), f.interpolate(x, size=(3, 9), mode="bicubic", align_corners=True))), [[byte]]
    yield "bytes_apart", (lambda x, y: (f.margin_ranking_loss(x, y, y, margin=0.5), f.triplet_margin_loss(x, y, x + 1), f.pairwise_distance(x, y))), [[byte[0, :, 0], byte[0, :, 1]]]
    yield "weight_norm_slopes", (lambda g, v, s, n: backward(g, v, s, n, 0)), [[tensor(4, 3, seed=5), v, g, v.norm(dim=1, keepdim=True)]]
    yield "float_sizes", (lambda x: x / x.shape[0] ** 0.5 + x.shape[1] ** -1.5), [[tensor(3, 5)], [tensor(2, 7)]], (m,)
    yield "mapped_rows", (lambda x, y: map_over(lambda row, y: row.softmax(0) @ y, x, y)), pair, (m, {0: Dim.DYNAMIC})
    yield "scanned_rows", (lambda x: scan(lambda c, x: (c * 0.5 + x, c + x), torch.zeros(x.shape[1]), x)), [[p[0]] for p in pair], (m,)
    yield "resized_by_a_half", (lambda x: f.interpolate(x, scale_factor=1.5, mode="bilinear")), [[tensor(1, 2, k, 4)] for k in (5, 3, 6)], ({2: Dim.DYNAMIC},)
    gaps = torch.where(tensor(70, 90, seed=3) > 2.5, torch.nan, tensor(70, 90))
    yield "extremes_and_nan", (lambda x: (x.amax(1), x.amin(0), *x.double().aminmax(dim=1), *x[:3, :5].aminmax(), x[:1].amax())), [[gaps]]
    labels = torch.full((3, 90), -1).scatter(1, torch.arange(5).expand(3, 5), tensor(3, 5, dtype=torch.int64).abs() * 8)
    labels[1, 0], labels[2, 3] = -1, 89
    yield "labels_of_many", (lambda x, t: [f.multilabel_margin_loss(x, t, reduction=r) for r in ("none", "mean")]), [[tensor(3, 90), labels]]
    yield "labels_of_rows", (lambda x, t: f.multilabel_margin_loss(x, t)), [[tensor(k, 90), labels[:k]] for k in (3, 2)], (n, n)
    yield "padded_sequences", (lambda x, y: torch.nn.utils.rnn.pad_sequence([x, y], True, 2.0)), [[tensor(3, 2), tensor(5, 2)]]
    yield "slopes_of_leaks", (lambda g, x: torch.ops.aten.rrelu_with_noise_backward(g, x, x, 0.1, 0.3, False, False)), [[tensor(3, 4), tensor(3, 4, seed=2)]]
    half, ends, q, k = lambda *s: tensor(*s).bfloat16(), torch.tensor([3, 3, 7], dtype=torch.int32), tensor(1, 2, 4, 3), tensor(1, 2, 4, 3, seed=2)
    yield "grouped_rows", (lambda x, y, e: torch._grouped_mm(x, y, offs=e)), [[half(7, 8), half(3, 8, 16), ends]]
    yield "grouped_columns", (lambda x, y, e: torch._grouped_mm(x, y, offs=e)), [[half(3, 8, 16), half(16, 8), ends + 1]]
    yield "grouped_terms", (lambda x, y, e: torch._grouped_mm(x, y, offs=e)), [[half(8, 24), half(24, 8), torch.tensor([8, 16, 24], dtype=torch.int32)]]
    yield "grouped_batch", (lambda x, y: torch._grouped_mm(x, y)), [[half(3, 8, 16), half(3, 16, 8)]]
    layer = torch.ops.aten.mkldnn_rnn_layer
    yield "lstm_layer", (lambda x, w, u, b, c, h: layer(x, w, u, b, c, h, h + 1, True, [], 2, 3, 1, True, False, False, False)[:3]), [
        [tensor(4, 2, 5), tensor(12, 5), tensor(12, 3), tensor(12), tensor(12, seed=2), tensor(2, 3)]]
    out, sums = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, k, 0.0, True)
    slopes = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
    yield "attention_slopes", (lambda g, q, k, o, s: slopes(g, q, k, k, o, s, 0.0, True)), [[tensor(1, 2, 4, 3, seed=4), q, k, out, sums]]
    yield "transposed_slopes", (lambda g, x, w: torch.ops.aten.convolution_backward(g, x, w, None, [2, 2], [1, 1], [3, 3], True, [2, 2], 1, [True, True, False])[:2]), [
        [tensor(1, 3, 13, 13), tensor(1, 2, 4, 4), tensor(2, 3, 3, 3)]]
    yield "first_unique", (lambda x: torch.ops.aten._unique(x, True, True)), [[torch.tensor([[3, 1, 3], [0, 1, 7]])]]
    near, many = tensor(3, 4), torch.tensor([[0, 1, 1, 1] * 40])
    short, rows = half(1, 160), torch.tensor([0, 1] * 20)
    ops = torch.ops.aten
    yield "running_products", (lambda x: associative_scan(lambda a, b: a * b + b, x, 0, combine_mode="pointwise")), [[near]]
    yield "running_pairs", (lambda x, y: associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (x, y), 1, combine_mode="pointwise")), [[near, near + 1]]
    yield "running_rows", (lambda x: associative_scan(torch.maximum, x, 0, combine_mode="pointwise")), [[tensor(k, 4)] for k in (3, 2, 7)], (n,)
    yield "halves_that_meet", (lambda x, y, i, j: (x.scatter_reduce(1, i, y, "prod"), x.scatter_reduce(1, i, y, "mean"), x.scatter_add(1, i, y),
        x.scatter(1, i, y, reduce="multiply"), x.t().index_add(0, j, y[:, :40].t()), x[0].index_add(0, j, y[0, :40]))), [[half(1, 2), short * 0.01 + 1, many, rows]]
    yield "histogram_edges", (lambda x: ops._histogramdd_bin_edges(x, [2, 3], range=[-1.0, 1.0, -2.0, 2.0])), [[tensor(20, 2)]]
    yield "histogram_counts", (lambda x, e, w: (ops._histogramdd_from_bin_cts(x, [2, 3], weight=w), ops._histogramdd_from_bin_tensors(x, [e, e * 2], density=True))), [
        [tensor(20, 2), torch.tensor([-1.0, 0.5, 1.5]), tensor(20, seed=3).abs()]]
    yield "norms", (lambda x: (torch.norm_except_dim(x, 2, 1), torch.norm_except_dim(x, 2, -1), torch.nuclear_norm(x), torch.nuclear_norm(x, (0, 1), True))), [[near]]
    yield "typed_norms", (lambda x: (ops.norm.ScalarOpt_dtype(x, 3, dtype=torch.float64), ops.norm.ScalarOpt_dim_dtype(x, 1, [0], True, dtype=torch.float64))), [[near]]
    yield "round_the_edges", (lambda x: (ops._pad_circular(x, [2, 1]), ops._pad_enum(x, [1, 2], 0), ops._pad_enum(x, [1, 2], 1), ops._pad_enum(x, [1, 0], 3, 2.0))), [[near]]
    yield "products_of_bytes", (lambda x, y: torch._int_mm(x, y)), [[tensor(24, 16, dtype=torch.int8), tensor(16, 8, dtype=torch.int8)]]
    yield "all_true", (lambda x: (ops._is_all_true(x > -9), ops._is_any_true(x > 9))), [[near]]
    yield "same_size", (lambda x, w: ops._convolution_mode(x, w, None, [1, 1], "same", [2, 1], 1)), [[tensor(1, 2, 6, 5), tensor(3, 2, 3, 3)]]
    yield "other_bits", (lambda x: ops.view_copy.dtype(x, torch.int32)), [[near]]
    yield "distributions", (lambda x: ((torch.poisson(x) >= 0).all(), (random.Gamma(x, x).sample() >= 0).all(), random.Dirichlet(x).sample().sum(-1).round(decimals=3),
        (random.Binomial(4, x / 9).sample() <= 4).all(), random.Normal(x, x + 1).log_prob(x + 2))), [[near.abs() + 0.1]]


@group("orders")
def orders():
    """Inputs and outputs that lie in another order than row-major: the program takes and gives them so."""
    x, y = tensor(5, 7), tensor(7, 5, seed=1)
    n, m = Dim("n", min=0, max=64), Dim("m", min=0, max=64)
    image, last = tensor(2, 3, 8, 6), torch.channels_last
    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.MaxPool2d(2), nn.Conv2d(16, 10, 1))
    for weight in net.parameters():
        weight.requires_grad_(False)

    def images(*sizes, seed=0):
        return tensor(*sizes, seed=seed).to(memory_format=last)

    def kept(m, x):
        m.last.copy_(x)
        return m.last.t() * x.t()

    def through(x):
        x.t().mul_(2)
        return x + 1

    yield "transposed_sum", (lambda x, y: x.t() + y), [[x, y]]
    yield "transposed_sum_sizes", (lambda x, y: x.t() + y), [[tensor(k, 3 + k), tensor(3 + k, k)] for k in (5, 1, 0, 40)], ({0: n, 1: m}, {0: m, 1: n})
    yield "column_major", (lambda x, y: (x @ y.t(), y.softmax(0), x.sum(0))), [[y.t().contiguous().t(), x.t().contiguous()]]
    yield "all_orders", (lambda *xs: [x * k for k, x in enumerate(xs, 1)]), [
        [tensor(2, 3, 4).permute(*p) for p in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))]]
    yield "one_result_three_ways", (lambda x: (x.relu(), x.relu().contiguous(), x.relu().permute(0, 2, 3, 1))), [[images(2, 3, 4, 5)]]
    yield "itself", (lambda x: (x, x.contiguous(), x.permute(0, 2, 3, 1), x.flatten(1))), [[images(2, 3, 4, 5)]]
    yield "sizes_of_one", (lambda x, y: (x + 1, y + 1)), [[images(1, 3, 4, 1), images(4, 1, 3, 2)]]
    yield "image", net, [[images(2, 3, 8, 6)]]
    yield "image_in_bytes", (lambda x: net((x.float() - 4) / 9)), [[images(2, 3, 8, 6).clamp(0, 9).to(torch.uint8)]]
    yield "image_given_last", (lambda x: net(x).to(memory_format=last)), [[image]]
    yield "image_sizes", net, [[images(k, 3, 4 + 2 * k, 6)] for k in (2, 1, 5)], ({0: n, 2: 2 * Dim("h", min=2, max=32)},)
    yield "normed", nn.Sequential(nn.BatchNorm2d(3), nn.GELU(), nn.AvgPool2d(2)), [[images(2, 3, 8, 6)]]
    yield "slopes", (lambda g, x, w: torch.ops.aten.convolution_backward(g, x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, True, False])[:2]), [
        [images(2, 8, 5, 5), images(2, 3, 5, 5, seed=1), tensor(8, 3, 3, 3)]]
    yield "sorted", (lambda x: torch.sort(x, 1)), [[images(2, 3, 4, 5)]]
    beside = [nn.Conv2d(24, 24, 3, padding=1, groups=24), nn.Conv2d(24, 48, 5, 2, (2, 0), groups=24), nn.Conv2d(24, 24, 3, 1, 4, 2, groups=24)]
    for weight in nn.ModuleList(beside).parameters():
        weight.requires_grad_(False)
    yield "beside", (lambda x: [layer(x) for layer in beside]), [[images(2, 24, 13, 9)]]
    halves = [nn.Conv2d(64, 48, 3, padding=1, groups=4).bfloat16(), nn.ConvTranspose2d(64, 48, 3, 2).bfloat16(), nn.Conv2d(64, 24, 1).bfloat16()]
    for weight in nn.ModuleList(halves).parameters():
        weight.requires_grad_(False)
    yield "image_in_halves", (lambda x: [layer(x) for layer in halves]), [[images(1, 64, 9, 7).bfloat16()]]
    yield "written_to", (lambda x, y, i: (x.diagonal_scatter(y[0, :7], 1), x.select_scatter(y[1], 0, 2), x.index_copy(0, i, y), x.index_add(1, i, y.t()))), [
        [tensor(8, 8).t(), tensor(3, 8), torch.tensor([4, 0, 6])]]
    yield "branches", (lambda x: torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))), [[images(2, 3, 4, 5)], [images(2, 3, 4, 5, seed=7)]]
    weighty = Stateful(lambda m, x: (m.a.t() * 2, m.a.t(), (m.a.t() * 2).relu(), m.a.t() + x.t(), torch.ones(3, 4).t()), a=tensor(5, 7, seed=2))
    yield "weights", weighty, [[x]]
    yield "buffer", Stateful(kept, last=torch.zeros(7, 5)), [[x.t()]]
    yield "input", through, [[x.t()]]
    yield "other_types", (lambda x, y, z: (x.t() * 2, y.t() + 1, z.t())), [[x.half(), tensor(5, 7, dtype=torch.int16), x > 0]]


@group("gradients")
def gradients():
    """Gradients of plain programs: see grad_cases.py."""
    x, y, w = tensor(4, 5), tensor(4, 5, seed=1), tensor(5, 3, seed=2)
    few = (tensor(4, 6) * 2).round() / 2
    n = Dim("n", min=0, max=64)
    z = torch.complex(tensor(3, 4), tensor(3, 4, seed=1))
    net = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3), nn.LogSoftmax(1))
    net[2].weight.requires_grad_(False)
    images = nn.Sequential(nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2), nn.GELU(), nn.ConvTranspose2d(6, 3, 3, stride=2), nn.MaxPool2d(2))

    class Stopped(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(tensor(5, seed=3))

        def forward(self, x):
            with torch.no_grad():
                scale = (x * self.w).abs().mean()
            return x * self.w / scale + x.detach() * 2

    class StoppedInside(nn.Module):
        """A region without gradients, with a buffer that it writes to."""

        def __init__(self):
            super().__init__()
            self.register_buffer("mean", torch.ones(5))

        def forward(self, x):
            with torch.no_grad():
                y = x * 2
                self.mean.mul_(0.5).add_(y.mean(0))
            return x * y + x * self.mean

    def step(carried, row, w):
        following = torch.tanh(carried @ w + row)
        return following.clone(), (following * 2).clone()

    def attention(q, k, v):
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    yield "net", net, [[x]]
    yield "net_sizes", net, [[x]], ({0: n},)
    yield "images", images, [[tensor(2, 4, 9, 9)]]
    yield "tiles", nn.Conv2d(32, 32, 3, padding=1, bias=False), [[tensor(2, 32, 24, 24)]]
    yield "images_sizes", images, [[tensor(2, 4, 9, 9)]], ({0: Dim("b", min=1, max=64)},)
    yield "stopped", Stopped(), [[x]]
    yield "stopped_inside", StoppedInside(), [[x]]
    yield "not_used", (lambda x, y: x * 2), [[x, y]]
    yield "attention", attention, [[tensor(2, 3, 5, 4, seed=k) for k in range(3)]]
    yield "normed", (lambda x: nn.functional.batch_norm(x, None, None, training=True)), [[x]]
    for taken in (1, -1):
        branches = lambda x, w, p: torch.cond(p.sum() > 0, lambda x, w: (x @ w).relu().sum(1), lambda x, w: x.sum(1) * w.mean(), (x, w))
        yield f"branch_{'first' if taken > 0 else 'second'}", branches, [[x, w, torch.tensor([float(taken)])]]
    yield "steps", (lambda a, xs, w: scan(lambda c, r: step(c, r, w), a, xs)), [[tensor(2, 3), tensor(5, 2, 3), tensor(3, 3)]]
    yield "running", (lambda x: associative_scan(lambda a, b: a * b, x, 0, combine_mode="pointwise")), [[y]]
    yield "rows", (lambda xs, w: map_over(lambda row, w: (row * w).sin().clone(), xs, w)), [[x, tensor(5)]]
    yield "corners", (lambda x: (x.relu(), x.clamp(-0.5, 1), nn.functional.relu6(x), nn.functional.hardtanh(x), nn.functional.hardswish(x * 3))), [[few]]
    yield "ties", (lambda x, y: (torch.maximum(x, y), x.amax(1), x.max(1)[0], torch.clamp(x, y, y + 0.5), x.cummax(1)[0], x.median(1)[0])), [
        [few, few.flip(1)]]
    yield "zeros", (lambda x: (x.cumprod(1), x.prod(1), x.norm(dim=1), torch.linalg.vector_norm(x, 3, dim=1), torch.sinc(x), torch.xlogy(x, x.abs()))), [
        [torch.tensor([[1.0, 0, 2, 0, 3], [0, 0, 0, 0, 0], [1, 2, 3, 0, 4]])]]
    yield "large", (lambda x: (x.sigmoid(), nn.functional.silu(x), nn.functional.elu(x), nn.functional.softplus(x), nn.functional.mish(x))), [
        [torch.tensor([-200.0, -90, -1, 0, 1, 90, 200])]]
    yield "windows", (lambda x: (x.unfold(1, 3, 2), nn.functional.avg_pool1d(x, 3, 2, 1))), [[tensor(3, 8)]]
    yield "indexed", (lambda x, i: (x[i], x.scatter_add(0, i.unsqueeze(1).expand(3, 5), x[:3]), x.index_select(0, i))), [[x, torch.tensor([0, 3, 3])]]
    yield "sorted", (lambda x: (x.sort(1)[0], x.topk(2, 0)[0], x.kthvalue(2, 1)[0])), [[x]]
    yield "complex", (lambda z, w: (torch.view_as_real(z @ w.t()), (z * w).exp().abs(), (z / w).angle())), [[z, torch.complex(tensor(3, 4, seed=2), tensor(3, 4, seed=3))]]
    yield "spectrum", (lambda x: (torch.fft.irfft(torch.fft.rfft(x) * 2, n=7), torch.fft.rfft(x[:, :6]).abs())), [[tensor(3, 7)]]
    yield "halves", (lambda x, w: nn.functional.silu(x @ w).sum(0)), [[x.half(), w.half()]]
    yield "matrices", (lambda a, b: (torch.linalg.solve(a, b), torch.linalg.cholesky(a @ a.t() + torch.eye(4)), torch.linalg.det(a), torch.linalg.svdvals(a))), [
        [tensor(4, 4), tensor(4, 2)]]
    yield "vectors", (lambda a: (torch.linalg.eigh(a + a.t())[0], torch.linalg.qr(a)[1])), [[tensor(4, 4)]]
    yield "factors", (lambda a: (*torch.linalg.lu_factor(a)[:1], *torch.linalg.lu(a.t())[1:], *torch.linalg.qr(a.t()), torch.linalg.householder_product(a, a[:, 0][:3]))), [
        [tensor(5, 3)]]
    # What is computed from complex vectors does not depend on their phase and order.
    yield "phases", (lambda z: ((lambda u, s, v: torch.view_as_real((u * s[..., None, :].sqrt()) @ v))(*torch.linalg.svd(z, full_matrices=False)),
        (lambda l, v: (v * l[None, :]).abs().sum(1))(*torch.linalg.eig(z[:, :3])), torch.linalg.eigvals(z[:, :3].real).abs().sum())), [[z]]
    yield "complex_curves", (lambda z: (z.sigmoid(), z.tanh(), torch.linalg.cholesky(z @ z.mH + 4 * torch.eye(3)))), [[z]]
    yield "triangles", (lambda a: (torch.linalg.eigvalsh(a, UPLO="U"), torch.linalg.eigh(a, UPLO="U")[1].square(), torch.linalg.matrix_sqrth(a @ a.t() + torch.eye(4)))), [
        [tensor(4, 4)]]
    yield "targets", (lambda x, y: (nn.functional.binary_cross_entropy(x.sigmoid(), y, reduction="none"), nn.functional.logsigmoid(x.round()),
        nn.functional.binary_cross_entropy_with_logits(x.round(), y, pos_weight=torch.full((5,), 2.0)))), [[x, torch.sigmoid(y)]]
    yield "infinite", (lambda x: x.prod(1)), [[torch.tensor([[1.0, float("inf"), 2], [3, 4, 5]])]]
    yield "padding_idx", (lambda w, i: nn.functional.embedding(i, w, padding_idx=1)), [[tensor(5, 3), torch.tensor([[0, 1, 1], [4, 4, 2]])]]
    yield "empty", (lambda x, y: (x * y).sum(0)), [[tensor(0, 3), tensor(0, 3)]]
    yield "rank_0", (lambda x: x * x.sin()), [[torch.tensor(0.7)]]
    smooth = nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3), nn.LogSoftmax(1))
    # Gradients of the gradients.
    yield "second_net", smooth, [[x]]
    yield "second_net_sizes", smooth, [[x]], ({0: n},)
    yield "second_images", nn.Sequential(nn.Conv2d(3, 4, 3, stride=2, padding=1), nn.GELU(), nn.MaxPool2d(2)), [[tensor(2, 3, 9, 9)]]
    yield "second_attention", (lambda q, k, v: (q @ k.transpose(-1, -2) / 2).softmax(-1) @ v), [[tensor(2, 3, 5, 4, seed=k) for k in range(3)]]
    yield "second_normed", (lambda x, w: nn.functional.layer_norm(nn.functional.batch_norm(x, None, None, training=True), (5,)) @ w), [[x, w]]
    yield "second_powers", (lambda x, y: (x.abs().pow(2.5) * y.exp(), x.sigmoid() / (1 + y * y))), [[x, y]]
    yield "second_products", (lambda x: (x.prod(1), x.cumprod(1), x.logcumsumexp(0))), [[x]]
    yield "second_large", (lambda x: (nn.functional.elu(x), nn.functional.selu(x), nn.functional.celu(x, 0.5))), [[torch.tensor([-200.0, -1, 0, 1, 90, 200])]]
    yield "second_spectrum", (lambda a: torch.linalg.eigvalsh(a, UPLO="U")), [[tensor(4, 4)]]
    yield "second_mixed", (lambda x, y: (x * y, x.sum())), [[x, y]]


def gradient(folder, title, module, sets, dynamic):
    row = case.export(folder, "gradients", title, module, sets, dynamic_shapes=dynamic)
    return grad_cases.gradient_case(folder, "gradients", folder, row, order=2 if title.startswith("second_") else 1)


def makers(options):
    for name, rows in GROUPS.items():
        if options.group not in name:
            continue
        for title, module, sets, *shapes in rows():
            torch.manual_seed(0)
            dynamic = shapes[0] if shapes else None
            if name == "gradients":
                yield f"{name} {title}", functools.partial(gradient, options.out, title, module, sets, dynamic)
                continue
            yield f"{name} {title}", functools.partial(case.export, options.out, name, title, module, sets, dynamic_shapes=dynamic)


if __name__ == "__main__":
    case.collect(__doc__, makers, {"group": ""})
