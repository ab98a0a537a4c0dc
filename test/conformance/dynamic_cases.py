"""Exports programs with symbolic sizes as conformance cases, each with four sets of sizes.

    python dynamic_cases.py OUT [--only REGEX]

A row of the table is a function of tensors and their shapes: a letter is a symbolic size, `i:` an index tensor below 5, `l:` one
of lengths, `b:` bool. The sets differ in all sizes; the last has sizes of 1. Sets that break a guard of the export are left out.
"""

import functools
import re

import torch
import torch.nn.functional as F

import case

SIZES = [dict(n=4, m=6, k=5), dict(n=7, m=3, k=9), dict(n=2, m=11, k=3), dict(n=1, m=8, k=4)]


def nn(module):
    """A module with fixed weights; not registered with the function, so its weights are constants of the program."""
    torch.manual_seed(7)
    return module().eval()


def window(x, size=3):
    """All windows of a sequence, by index arithmetic on symbolic sizes."""
    at = torch.arange(x.shape[0] - size + 1)[:, None] + torch.arange(size)
    return x[at]


def alibi(x):
    n, m = x.shape
    distance = torch.arange(m)[None, :] - torch.arange(n)[:, None]
    return x - distance.abs() * torch.tensor([0.5, 0.25])[:, None, None]


def rotary(x):
    half = x.shape[-1] // 2
    angle = torch.arange(x.shape[-2], dtype=x.dtype)[:, None] / 100.0 ** (torch.arange(half, dtype=x.dtype) / half)
    turned = torch.cat([-x[..., half:], x[..., :half]], -1)
    return x * torch.cat([angle.cos()] * 2, -1) + turned * torch.cat([angle.sin()] * 2, -1)


def pack(x, lengths):
    return x * (torch.arange(x.shape[1])[None, :] < lengths[:, None])[..., None]


def segment_softmax(x, at):
    top = torch.full((8,), -torch.inf).scatter_reduce(0, at, x, "amax")
    e = (x - top[at]).exp()
    return e / torch.zeros(8).index_add(0, at, e)[at]


def written(x, y):
    out = torch.zeros(x.shape[0], x.shape[1] + y.shape[1])
    out[:, : x.shape[1]] = x
    out[:, x.shape[1] :] = y * 2
    out[0] += 1
    return out


def mutated(x):
    y = x.clone()
    y[::2].mul_(3)
    y[:, 1:].add_(y[:, :-1].clone())
    y.t()[0].fill_(5)
    return y


def counted(x):
    total = x.new_zeros(())
    for k in range(3):
        total = total + x[k % x.shape[0]].sum() / x.shape[1]
    return total, x.shape[0] * x.shape[1], x.numel() > 3


def loop(x):
    return torch.ops.higher_order.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * 1.1 + i), (torch.tensor(0), x))[1]


def branch(x):
    return torch.cond(x.sum() > 0, lambda x: x.sin() + 1, lambda x: x.cos() - 1, (x,))


def scanned(x):
    from torch._higher_order_ops.scan import scan
    return scan(lambda c, x: (c * 0.5 + x, c + x), torch.zeros(x.shape[1]), x)


def mapped(x, y):
    from torch._higher_order_ops.map import map as over
    return over(lambda row, y: row.softmax(0) @ y, x, y)


def boxes(b, s):
    area = (b[:, 2] - b[:, 0]).abs() * (b[:, 3] - b[:, 1]).abs()
    low, high = torch.maximum(b[:, None, :2], b[None, :, :2]), torch.minimum(b[:, None, 2:], b[None, :, 2:])
    overlap = (high - low).clamp(min=0).prod(-1)
    return overlap / (area[:, None] + area[None] - overlap + 1e-6) * s[:, None]


TABLE = {
    "activations": (lambda x: [F.gelu(x), F.silu(x), F.mish(x), F.hardswish(x), F.elu(x), F.selu(x), F.softplus(x), F.celu(x), F.logsigmoid(x)], "n,m"),
    "adaptive_avg1d": (lambda x: F.adaptive_avg_pool1d(x, 1), "n,3,m"),
    "adaptive_avg2d_even": (lambda x: F.adaptive_avg_pool2d(x, (2, 3)), "n,2,12,6"),
    "adaptive_max2d": (lambda x: F.adaptive_max_pool2d(x, 2), "n,2,8,6"),
    "addbmm": (torch.addbmm, "3,4 n,3,m n,m,4"),
    "addcmul": (lambda a, b, c: torch.addcmul(a, b, c, value=0.5), "n,m m n,1"),
    "addmm": (lambda a, b, c: torch.addmm(a, b, c, beta=0.5, alpha=2), "m n,k k,m"),
    "addmv_ger": (lambda a, b, v: [a @ v, torch.outer(v, v), torch.addmv(v.new_zeros(a.shape[0]), a, v)], "n,m m,k m"),
    "affine_grid_sample": (lambda x, t: F.grid_sample(x, F.affine_grid(t, [x.shape[0], 2, 5, 6], align_corners=False), align_corners=False), "n,2,m,k n,2,3"),
    "alibi": (alibi, "n,m"),
    "all_any_dims": (lambda x: [(x > 0).all(0), (x > 0).any(1, keepdim=True), (x > 9).any()], "n,m"),
    "aminmax": (lambda x: [*torch.aminmax(x, dim=1), *torch.aminmax(x)], "n,m"),
    "arange_sym": (lambda x: [torch.arange(x.shape[0]), torch.arange(1, x.shape[1] + 1, 2), torch.linspace(0, 1, 5) + x.sum()], "n,m"),
    "argmax_min": (lambda x: [x.argmax(), x.argmin(1), x.argmax(0, keepdim=True)], "n,m"),
    "argsort": (lambda x: [x.argsort(1), x.argsort(0, descending=True)], "n,m"),
    "as_strided_like": (lambda x: x.unfold(1, 2, 1), "n,m"),
    "avg_pool1d": (lambda x: F.avg_pool1d(x, 2, 1), "n,3,m"),
    "avg_pool2d_ceil": (lambda x: F.avg_pool2d(x, 2, 2, ceil_mode=True, count_include_pad=False, padding=1), "n,2,m,k"),
    "batch_norm_train": (lambda x: F.batch_norm(x, None, None, training=True), "n,m,5,k"),
    "bce": (lambda x, y: F.binary_cross_entropy(x.sigmoid(), y.sigmoid(), reduction="none"), "n,m n,m"),
    "bilinear": (lambda a, b, w: F.bilinear(a, b, w), "n,m n,k 3,m,k"),
    "bincount": (lambda i: torch.bincount(i, minlength=8), "i:n"),
    "bool_index_put": (lambda x, y: torch.where(x > 0, x, y).index_put((torch.tensor([0]),), torch.tensor(2.0)), "n,m n,m"),
    "boolean_index": (lambda x, c: x[c], "n,m b:n"),
    "bool_mask_assign": (lambda x: x.clone().masked_fill_(x < 0, 0.5).masked_scatter(x > 1, x), "n,m"),
    "boxes_iou": (boxes, "n,4 n"),
    "branch": (branch, "n,m"),
    "broadcast_three": (lambda a, b, c: a * b + c, "n,1,k m,1 1,m,k"),
    "bucketize": (lambda x: [torch.bucketize(x, torch.tensor([-1.0, 0, 1])), torch.searchsorted(x.sort(1)[0], x, right=True)], "n,m"),
    "cat_self_sizes": (lambda x, y: [torch.cat([x, y, x]), torch.cat([x, x * 2], 1), torch.hstack([x, x]), torch.dstack([x, x])], "n,m k,m"),
    "cdist": (lambda a, b: [torch.cdist(a, b), torch.cdist(a, b, p=1)], "n,4 m,4"),
    "chunk_odd": (lambda x: [t.sum(0) for t in x.chunk(3, 1)], "n,7"),
    "clamp_tensor": (lambda x, lo: torch.clamp(x, lo, lo + 1), "n,m m"),
    "column_stack": (lambda x, y: torch.column_stack([x, y, y]), "n n,m"),
    "complex_fft": (lambda x: torch.fft.rfft(x, n=8).abs(), "n,m"),
    "constant_pad_sym": (lambda x: F.pad(x, (0, 8 - 4, x.shape[0], 1)), "n,m"),
    "conv1d_dilated": (lambda x, w: F.conv1d(x, w, padding=2, dilation=2), "n,3,m 4,3,3"),
    "conv1d_same": (lambda x, w: F.conv1d(x, w, padding="same"), "n,3,m 4,3,3"),
    "conv2d_group_hw": (lambda x, w: F.conv2d(x, w, stride=2, padding=1, groups=2), "n,4,m,k 6,2,3,3"),
    "conv3d": (lambda x, w: F.conv3d(x, w, padding=1), "n,2,m,k,3 3,2,3,3,3"),
    "conv_transpose1d": (lambda x, w: F.conv_transpose1d(x, w, stride=2, output_padding=1), "n,3,m 3,4,3"),
    "count_nonzero": (lambda x: [torch.count_nonzero(x > 0), torch.count_nonzero(x > 0, dim=1)], "n,m"),
    "counted": (counted, "n,m"),
    "cross": (lambda a, b: torch.linalg.cross(a, b), "n,3 n,3"),
    "cross_entropy_ignore": (lambda x, t: [F.cross_entropy(x, t, ignore_index=1), F.cross_entropy(x, t, label_smoothing=0.1, reduction="none")], "n,5 i:n"),
    "cross_entropy_seq": (lambda x, t: F.cross_entropy(x.reshape(-1, 7), t.reshape(-1)), "n,m,7 i:n,m"),
    "cummax": (lambda x: [*x.cummax(1), *x.cummin(0)], "n,m"),
    "cumprod_logcumsumexp": (lambda x: [x.cumprod(1), x.logcumsumexp(0)], "n,m"),
    "cumsum_reverse": (lambda x: x.flip(1).cumsum(1).flip(1), "n,m"),
    "det_inv_solve": (lambda x: [torch.linalg.det(x), torch.linalg.inv(x), torch.linalg.solve(x, x[..., :1])], "n,3,3"),
    "diag_embed": (lambda x: [torch.diag_embed(x), torch.diagonal(x), x.diag().sum()], "n,m"),
    "diff": (lambda x: [x.diff(dim=1), x.diff(dim=1, n=2)], "n,m"),
    "dist_norms": (lambda x, y: [torch.dist(x, y), F.pairwise_distance(x, y), x.norm(p=1, dim=1), x.norm(p=torch.inf)], "n,m n,m"),
    "dot_vdot": (lambda a, b: [torch.dot(a, b), torch.inner(a, b), torch.kron(a, b)], "n n"),
    "einsum_diag": (lambda a, b: [torch.einsum("bij,bkj->bik", a, b), torch.einsum("bij->b", a), torch.einsum("bij,bkj->ik", a, b)], "n,m,4 n,k,4"),
    "einsum_outer": (lambda a, b: torch.einsum("i,j->ij", a, b), "n m"),
    "embedding": (lambda i, w: F.embedding(i, w, padding_idx=0), "i:n,m 9,4"),
    "embedding_bag": (lambda i, w: [F.embedding_bag(i, w, mode="mean"), F.embedding_bag(i, w, mode="sum"), F.embedding_bag(i, w, mode="max")], "i:n,m 9,4"),
    "empty_like_fill": (lambda x: [torch.empty_like(x).fill_(2), x.new_full((x.shape[1], 2), 3.5), torch.full_like(x, 7)], "n,m"),
    "expand_sizes": (lambda x, y: x[:, None].expand(-1, y.shape[0], -1) + y[None], "n,4 m,4"),
    "eye": (lambda x: torch.eye(x.shape[0]) + x, "n,n"),
    "flatten_unflatten": (lambda x: x.flatten(1).unflatten(1, (x.shape[1], -1)).flatten(0, 1), "n,m,k"),
    "flip_roll": (lambda x: [x.flip(0, 1), x.roll(1, 0), x.roll((1, -2), (0, 1)), x.rot90()], "n,m"),
    "float_sizes": (lambda x: x / x.shape[0] ** 0.5 + x.shape[1] / 3 + x.shape[1] // 2 + x.shape[0] % 3, "n,m"),
    "fold": (lambda x: F.fold(x, (4, 5), (2, 2)), "n,8,12"),
    "frac_int_ops": (lambda i: [i // 2, i % 3, i << 1, i >> 1, i & 3, i | 8, i ^ 5, torch.gcd(i, i + 2), -i, i.abs()], "i:n,m"),
    "gather_topk": (lambda x: x.gather(1, x.topk(2, 1)[1]), "n,m"),
    "geometry": (lambda x: [torch.cov(x), torch.corrcoef(x)], "n,m"),
    "glu_chunk": (lambda x: F.glu(x, 1), "n,8,m"),
    "group_norm": (lambda x, w: F.group_norm(x, 2, w, w), "n,4,m,k 4"),
    "gru_batch_first": (nn(lambda: torch.nn.GRU(5, 6, 2, batch_first=True, bidirectional=True)), "n,m,5"),
    "heaviside_etc": (lambda x, y: [torch.heaviside(x, y), torch.copysign(x, y), torch.hypot(x, y), torch.atan2(x, y), torch.fmod(x, y), torch.logaddexp(x, y), torch.xlogy(x, y.abs())], "n,m n,m"),
    "histc": (lambda x: torch.histc(x, 6, -2, 2), "n,m"),
    "huber": (lambda x, y: [F.huber_loss(x, y), F.smooth_l1_loss(x, y, beta=0.5), F.kl_div(x, y.softmax(1), reduction="batchmean"), F.soft_margin_loss(x, y.sign())], "n,m n,m"),
    "index_copy": (lambda x, y: x.index_copy(0, torch.arange(y.shape[0]) % 1, y[:1].expand(y.shape[0], -1)), "n,m k,m"),
    "index_fill_add": (lambda x: [x.index_fill(1, torch.tensor([0, 2]), 1.5), x.index_add(1, torch.tensor([0, 0, 2]), x[:, :3])], "n,m"),
    "index_put_acc": (lambda x, i, v: x.index_put((i,), v, accumulate=True), "9,m i:n n,m"),
    "index_two": (lambda x, i, j: x[i[:, None], j], "9,9,m i:n i:k"),
    "instance_norm": (lambda x: F.instance_norm(x), "n,3,m,k"),
    "interpolate_bilinear": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), "n,2,m,k"),
    "interpolate_to_size": (lambda x, y: F.interpolate(x, size=y.shape[-2:], mode="nearest"), "n,2,4,4 n,2,m,k"),
    "interpolate_bilinear_size": (lambda x, y: F.interpolate(x, size=y.shape[-2:], mode="bilinear", align_corners=True), "n,2,4,4 n,2,m,k"),
    "interpolate_1d": (lambda x: F.interpolate(x, scale_factor=2, mode="linear"), "n,2,m"),
    "interpolate_bicubic": (lambda x: F.interpolate(x, size=(6, 7), mode="bicubic"), "n,2,m,k"),
    "isin": (lambda i: torch.isin(i, torch.tensor([1, 2])), "i:n,m"),
    "isnan_where": (lambda x: [torch.isnan(x.log()), torch.nan_to_num(x.log()), torch.nansum(x.log(), 1), torch.isfinite(x)], "n,m"),
    "item_scalar": (lambda x, i: x * i.sum().item(), "n,m i:n"),
    "kthvalue_median": (lambda x: [*x.kthvalue(1, 1), *x.median(1), x.median(), x.nanmedian()], "n,m"),
    "l1_norm_normalize": (lambda x: [F.normalize(x), F.normalize(x, p=1, dim=0)], "n,m"),
    "layer_norm_no_affine": (lambda x: F.layer_norm(x, (5,)), "n,m,5"),
    "lerp": (lambda a, b, w: torch.lerp(a, b, w), "n,m n,m m"),
    "linalg_batch": (lambda x: [torch.linalg.cholesky(x @ x.mT + 3 * torch.eye(3)), torch.linalg.matrix_power(x, 3), torch.linalg.matrix_norm(x)], "n,3,3"),
    "linear_3d": (lambda x, w, b: F.linear(x, w, b), "n,m,5 4,5 4"),
    "log_softmax_nll": (lambda x, t: F.nll_loss(x.log_softmax(1), t), "n,5 i:n"),
    "logsumexp_dims": (lambda x: x.logsumexp((0, 2)), "n,m,k"),
    "loop": (loop, "n,m"),
    "lstm_steps": (nn(lambda: torch.nn.LSTM(5, 6, batch_first=True)), "n,m,5"),
    "lstm_cell": (nn(lambda: torch.nn.LSTMCell(5, 6)), "n,5"),
    "mapped": (mapped, "n,4 4,m"),
    "masked_mean": (lambda x, l: pack(x, l).sum(1) / l[:, None], "n,m,4 l:n"),
    "masked_select_two": (lambda x: [x[x > 0].sum(), torch.masked_select(x, x < 0)], "n,m"),
    "matmul_bcast": (lambda a, b: a @ b, "n,1,m,4 k,4,3"),
    "matmul_vec": (lambda a, v: [a @ v, v @ a.mT], "n,m,k k"),
    "max_pool1d_indices": (lambda x: F.max_pool1d(x, 2, return_indices=True), "n,2,m"),
    "max_pool2d_dilated": (lambda x: F.max_pool2d(x, 2, 1, dilation=1, padding=1), "n,2,m,k"),
    "max_pool3d": (lambda x: F.max_pool3d(x, 2, 1), "n,2,m,k,3"),
    "maximum_bcast": (lambda a, b: [torch.maximum(a, b), torch.fmin(a, b), a.max(b)], "n,1 m"),
    "mean_var_keep": (lambda x: [*torch.var_mean(x, (1, 2), keepdim=True), *torch.std_mean(x, 0, correction=0)], "n,m,k"),
    "meshgrid": (lambda a, b: torch.meshgrid(a, b, indexing="xy"), "n m"),
    "mha": (nn(lambda: torch.nn.MultiheadAttention(8, 2, batch_first=True)), "n,m,8 n,k,8 n,k,8"),
    "mode": (lambda i: i.mode(1)[0], "i:n,m"),
    "movedim_swap": (lambda x: [x.movedim(0, -1), x.swapaxes(0, 1), x.mT, x.permute(2, 0, 1).contiguous()], "n,m,k"),
    "multi_margin": (lambda x, t: [F.multi_margin_loss(x, t), F.multilabel_soft_margin_loss(x, (x > 0).float())], "n,5 i:n"),
    "mutated": (mutated, "n,m"),
    "narrow": (lambda x: [x.narrow(1, 1, 2), x.narrow(0, 0, x.shape[0]), x.narrow_copy(1, x.shape[1] - 1, 1)], "n,m"),
    "nonzero_sum": (lambda x: [torch.nonzero(x > 0).sum(0), *torch.where(x > 0)], "n,m"),
    "nonzero_gather": (lambda x: x[(x.sum(1) > 0).nonzero().squeeze(1)] * 2, "n,m"),
    "one_hot": (lambda i: F.one_hot(i, 9), "i:n,m"),
    "outer_sum": (lambda x, y: (x[:, None] + y[None]).sum((0, 1)), "n,4 m,4"),
    "pack_lengths": (pack, "n,m,4 l:n"),
    "pad_circular": (lambda x: F.pad(x, (1, 2), mode="circular"), "n,2,m"),
    "pad_replicate": (lambda x: F.pad(x, (1, 1, 2, 2), mode="replicate"), "n,2,m,k"),
    "pixel_unshuffle": (lambda x: F.pixel_unshuffle(x, 2), "n,3,4,6"),
    "pool_lp": (lambda x: F.lp_pool2d(x, 2, 2), "n,2,m,k"),
    "prelu_rrelu": (lambda x, w: [F.prelu(x, w), F.rrelu(x), F.hardshrink(x), F.softshrink(x), F.threshold(x, 0, 1), F.relu6(x), F.softsign(x), F.tanhshrink(x)], "n,3,m 3"),
    "prod_cum": (lambda x: [x.prod(), x.prod(0), x.prod(1, keepdim=True)], "n,m"),
    "quantile": (lambda x: [x.quantile(0.3, dim=1), x.nanquantile(0.7)], "n,m"),
    "rank_one": (lambda x: [x.sum(), x.mean(), x.std(), x.max(), x.min(), x.norm(), x.prod()], "n"),
    "ravel_reshape": (lambda x: [x.ravel(), x.reshape(x.shape[0], -1), x.reshape(-1, x.shape[2]), x.view(x.shape[0] * x.shape[1], 1, -1)], "n,m,k"),
    "remainder_fmod": (lambda i, x: [i % 4, torch.remainder(x, 0.7), torch.fmod(x, 1.3), torch.div(x, 0.3, rounding_mode="floor"), torch.div(i, 3, rounding_mode="trunc")], "i:n,m n,m"),
    "renorm": (lambda x: x.renorm(2, 0, 1.0), "n,m"),
    "repeat_interleave": (lambda x: [x.repeat_interleave(2, 0), x.repeat_interleave(3), x.repeat(1, 2, 3)], "n,m"),
    "repeat_interleave_lengths": (lambda x, l: torch.repeat_interleave(x, l, dim=0), "n,4 l:n"),
    "rms_norm": (lambda x, w: F.rms_norm(x, (5,), w, 1e-6), "n,m,5 5"),
    "rnn_tanh": (nn(lambda: torch.nn.RNN(5, 6, 1, batch_first=True)), "n,m,5"),
    "rotary": (rotary, "n,2,m,8"),
    "round_family": (lambda x: [x.round(), x.floor(), x.ceil(), x.trunc(), x.frac(), x.sign(), x.round(decimals=1), x.sgn()], "n,m"),
    "scanned": (scanned, "n,m"),
    "scatter": (lambda x, i, y: [x.scatter(0, i, y), x.scatter(0, i, 1.5), x.scatter_add(0, i, y)], "9,m i:n,m n,m"),
    "scatter_reduce": (lambda x, i, y: [x.scatter_reduce(0, i, y, r, include_self=s) for r in ("sum", "mean", "amax", "amin", "prod") for s in (True, False)], "9,m i:n,m n,m"),
    "sdpa_bool_mask": (lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m | torch.ones_like(m).tril()), "n,2,m,4 n,2,k,4 n,2,k,4 b:m,k"),
    "sdpa_gqa": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, enable_gqa=True), "n,4,m,4 n,2,k,4 n,2,k,4"),
    "sdpa_scale": (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=0.3), "n,2,m,4 n,2,m,4 n,2,m,4"),
    "segment_softmax": (segment_softmax, "m i:m"),
    "select_slice_neg": (lambda x: [x[-1], x[:, -2:], x[..., ::2], x[:, None, :-1], x.select(1, 0)], "n,m"),
    "shape_branch": (lambda x: x.reshape(x.shape[0], 2, -1) * x.shape[1], "n,8"),
    "slice_by_other": (lambda x, y: x[:, : y.shape[1]] if False else x[: , :2] + y[:, :1], "n,m n,k"),
    "slice_scatter": (lambda x: [x.slice_scatter(x[:, :2] * 2, 1, 1, 3), x.select_scatter(x[0], 0, 0), x.diagonal_scatter(torch.ones(1), offset=2) if False else x * 1], "n,m"),
    "softmax_dims": (lambda x: [x.softmax(0), x.softmax(-1), F.softmin(x, 1), x.log_softmax(2)], "n,m,k"),
    "sort_stable_multi": (lambda x: [*x.sort(1, descending=True), *x.round().sort(0, stable=True), *x.msort()], "n,m"),
    "split_sizes": (lambda x: [t * 2 for t in x.split([2, 1, 4], 1)] + list(x.tensor_split(2, 1)), "n,7"),
    "squeeze_many": (lambda x: [x.squeeze(1), x.squeeze((1, 3)), x.unsqueeze(-1)], "n,1,m,1"),
    "stack_unbind": (lambda x: torch.stack(x.unbind(1), 0) + 1, "n,3,m"),
    "std_dims_half": (lambda x: x.half().float().std((0, 1)), "n,m,3"),
    "sub_mul_div_int": (lambda i, x: [i + x, i * 2 - x, i / 3, x / (i + 1), i ** 2, 2 ** x], "i:n,m n,m"),
    "sum_dtype": (lambda i, c: [i.sum(), i.sum(1, dtype=torch.float32), c.sum(0), i.float().mean(0), (i > 2).float().mean()], "i:n,m b:n,m"),
    "svd_like": (lambda x: [torch.linalg.svdvals(x), torch.linalg.eigvalsh(x @ x.mT)], "n,3,4"),
    "take_along": (lambda x, i: [torch.take_along_dim(x, i, 0), torch.take(x, i)], "9,m i:n,m"),
    "tensordot": (lambda a, b: torch.tensordot(a, b, dims=([1, 2], [0, 1])), "n,m,4 m,4,k"),
    "topk_sizes": (lambda x: [*x.topk(2), *x.topk(1, 0, largest=False)], "n,m"),
    "trace_tril": (lambda x: [x.trace(), x.tril(-1), x.triu(1), x.tril_indices if False else x.tril(x.shape[0] - 1)], "n,n"),
    "trapezoid": (lambda x: [torch.trapezoid(x, dim=1), torch.cumulative_trapezoid(x, dim=1)], "n,m"),
    "triangular_solve": (lambda a, b: torch.linalg.solve_triangular(a.triu() + 2 * torch.eye(3), b, upper=True), "n,3,3 n,3,m"),
    "tril_indices": (lambda x: x[:, torch.triu_indices(4, 4)[0]], "n,m,3 " if False else "n,4,m"),
    "triplet": (lambda a, p, n: [F.triplet_margin_loss(a, p, n), F.cosine_embedding_loss(a, p, torch.ones(a.shape[0])), F.margin_ranking_loss(a, p, n.sign())], "n,m n,m n,m"),
    "trig_hyper": (lambda x: [x.tan(), x.sinh(), x.cosh(), x.tanh(), x.asinh(), x.atan(), x.erf(), x.erfc(), x.expm1(), x.exp2(), torch.special.i0(x), x.sinc(), torch.lgamma(x), x.digamma()], "n,m"),
    "unfold_windows": (lambda x: [x.unfold(1, 3, 2), x.unfold(1, 2, 1).mean(-1)], "n,m"),
    "unique_sizes": (lambda i: [torch.unique(i), *torch.unique(i, return_inverse=True, return_counts=True)], "i:n,m"),
    "unique_consecutive": (lambda i: torch.unique_consecutive(i), "i:m"),
    "upsample_trilinear": (lambda x: F.interpolate(x, scale_factor=2, mode="trilinear"), "n,2,m,k,2"),
    "vander": (lambda x: torch.vander(x, 4), "n"),
    "view_heads_merge": (lambda x: x.view(*x.shape[:2], 2, 4).transpose(1, 2).reshape(x.shape[0], -1), "n,m,8"),
    "weight_norm": (lambda x, v, g: F.linear(x, v * (g / v.norm(dim=1, keepdim=True))), "n,5 m,5 m,1"),
    "where_scalar": (lambda x: [torch.where(x > 0, 1.0, x), torch.where(x > 0, x, 0), torch.where(x > 0, 1, 0)], "n,m"),
    "windows": (window, "m,4"),
    "written": (written, "n,m n,k"),
    "zero_pad_mean": (lambda x: x.new_zeros(x.shape[0] + 2, x.shape[1]).slice_scatter(x, 0, 1, x.shape[0] + 1).mean(0), "n,m"),
}


def tensor(spec, sizes):
    kind, _, shape = spec.rpartition(":")
    shape = [sizes[s] if s in sizes else int(s) for s in shape.split(",")]
    if kind == "i":
        return torch.randint(0, 5, shape)
    if kind == "l":
        return torch.randint(1, 3, shape)
    if kind == "b":
        return torch.rand(shape) > 0.4
    return torch.randn(shape)


def dims(spec):
    shape = spec.rpartition(":")[2].split(",")
    return {d: torch.export.Dim.DYNAMIC for d, s in enumerate(shape) if not s.isdigit()} or None


def error_of(module, inputs, outputs):
    """The largest error of f32 results, against the same in f64 (where it runs in that)."""
    try:
        exact, _ = case.run(module if not isinstance(module, torch.nn.Module) else module.double(), [x.double() if x.is_floating_point() else x for x in inputs])
    except Exception:
        return 0.0
    finally:
        if isinstance(module, torch.nn.Module):
            module.float()
    floats = [(o, e) for o, e in zip(outputs, exact) if isinstance(o, torch.Tensor) and o.is_floating_point() and o.numel() and o.shape == e.shape]
    return max([float((o.double() - e).abs().nan_to_num(0, 0, 0).max()) for o, e in floats], default=0.0)


def takes(module, inputs):
    """Whether the sizes meet the guards of an exported program."""
    try:
        module(*[x.clone() for x in inputs])
        return True
    except Exception:
        return False


def dynamic_case(folder, seed, name, function, specs):
    sets = []
    for k, sizes in enumerate(SIZES):
        torch.manual_seed(1000 * seed + k)
        inputs = [tensor(spec, sizes) for spec in specs]
        module = function if isinstance(function, torch.nn.Module) else case.Call(function)
        try:
            outputs, _ = case.run(module, inputs)
        except Exception:
            continue  # PyTorch does not take these sizes
        sets.append((inputs, error_of(module, inputs, outputs)))
    dynamic = [dims(spec) for spec in specs]
    program = torch.export.export(module, tuple(sets[0][0]), dynamic_shapes=(tuple(dynamic),) if isinstance(module, case.Call) else dynamic)
    sets = [row for row in sets if takes(program.module(), row[0])]
    tolerance = (1.3e-6, max([1e-5] + [4 * error for _, error in sets]))
    return case.export(folder, "dynops", name, function, [i for i, _ in sets], dynamic, op=name, tolerance=tolerance)


def makers(options):
    for seed, (name, (function, specs)) in enumerate(TABLE.items()):
        if re.search(options.only, name):
            yield name, functools.partial(dynamic_case, options.out, seed, name, function, specs.split())


if __name__ == "__main__":
    case.collect(__doc__, makers, {"only": ""})
