"""Exports training programs as conformance cases: forward and backward in one graph, and whole steps of optimizers.

    python train_cases.py OUT [--only REGEX]

Group `train` holds the joint graphs of torch.export (a loss and the gradients of all parameters, buffers changed), group
`trainstep` traced steps with parameters and the optimizer's state as inputs and outputs. Attention is exported as plain
matrix products: the joint graph of the fused one has wrong gradients.
"""

import copy
import functools
import json
import os
import re

import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import save_file
from torch.export.experimental import _export_forward_backward
from torch.export.graph_signature import OutputKind
from torch.fx.experimental.proxy_tensor import make_fx

import case


class Lossy(nn.Module):
    """A model and a loss of its output."""

    def __init__(self, model, loss):
        super().__init__()
        self.m, self.loss = model, loss

    def forward(self, x, y):
        return self.loss(self.m(x), y)


class Fn(nn.Module):
    """A model of layers and a function of them."""

    def __init__(self, call, **layers):
        super().__init__()
        self.call = call
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, x):
        return self.call(self, x)


def sep(c, d):
    return nn.Sequential(nn.Conv2d(c, c, 3, padding=1, groups=c), nn.Conv2d(c, d, 1), nn.BatchNorm2d(d), nn.ReLU6())


def attention(m, x):
    q, k, v = (t.unflatten(-1, (2, -1)).transpose(1, 2) for t in m.qkv(x).chunk(3, -1))
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return m.out(m.norm(x + y.transpose(1, 2).flatten(2))).mean(1)


def unet(m, x):
    a = F.silu(m.a(x))
    b = F.gelu(m.b(F.max_pool2d(a, 2)))
    return m.c(torch.cat([a, F.interpolate(b, scale_factor=2, mode="bilinear")], 1)).mean((2, 3))


def gated(m, x):
    p = m.gate(x).softmax(-1)
    return sum(p[:, k, None] * m.experts[k](x) for k in range(3))


def gcn(m, x):
    a = torch.eye(x.shape[0]) + torch.ones(x.shape[0], x.shape[0]).tril()
    return m.b(F.relu(a @ m.a(x)) / a.sum(1, keepdim=True))


def wavenet(m, x):
    for layer in m.layers:
        x = x + torch.tanh(layer(x)) * torch.sigmoid(layer(x))
    return x.mean(-1)


def rotary(m, x):
    a, b = m.a(x).chunk(2, -1)
    t = torch.arange(a.shape[1])[:, None] / 7.0
    return torch.cat([a * t.cos() - b * t.sin(), a * t.sin() + b * t.cos()], -1).amax(1)


def rms(m, x):
    h = m.a(F.rms_norm(x, (x.shape[-1],), m.w))
    return m.b(F.silu(h) * m.c(x)).logsumexp(1)


CE, MSE, L1, HUBER = F.cross_entropy, F.mse_loss, F.l1_loss, F.huber_loss


def kl(x, y):
    return F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean")


def bce(x, y):
    return F.binary_cross_entropy_with_logits(x, y.sigmoid())


def smoothed(x, y):
    return CE(x, y, label_smoothing=0.1)


def triplet(x, y):
    return F.triplet_margin_loss(x, y, x.flip(0)) + F.cosine_similarity(x, y).mean()


Vec, Seq, Img = (4, 8), (2, 5, 8), (2, 3, 8, 8)
MODELS = {  # name: model, shape of the input, loss, shape of the target (None: class indices)
    "mlp_tanh": (lambda: nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 5)), Vec, CE, None),
    "mlp_elu_l1": (lambda: nn.Sequential(nn.Linear(8, 16), nn.ELU(), nn.Linear(16, 5)), Vec, L1, (4, 5)),
    "mlp_celu_huber": (lambda: nn.Sequential(nn.Linear(8, 16), nn.CELU(), nn.Linear(16, 5)), Vec, HUBER, (4, 5)),
    "mlp_mish_smoothed": (lambda: nn.Sequential(nn.Linear(8, 16), nn.Mish(), nn.Linear(16, 5)), Vec, smoothed, None),
    "mlp_prelu_kl": (lambda: nn.Sequential(nn.Linear(8, 16), nn.PReLU(), nn.Linear(16, 5)), Vec, kl, (4, 5)),
    "mlp_softplus_bce": (lambda: nn.Sequential(nn.Linear(8, 16), nn.Softplus(), nn.Linear(16, 5)), Vec, bce, (4, 5)),
    "mlp_hardtanh": (lambda: nn.Sequential(nn.Linear(8, 16), nn.Hardtanh(), nn.Linear(16, 5), nn.LogSoftmax(1)), Vec, F.nll_loss, None),
    "mlp_logsigmoid": (lambda: nn.Sequential(nn.Linear(8, 16), nn.LogSigmoid(), nn.Linear(16, 5)), Vec, F.smooth_l1_loss, (4, 5)),
    "mlp_glu": (lambda: nn.Sequential(nn.Linear(8, 16), nn.GLU(), nn.Linear(8, 5)), Vec, F.soft_margin_loss, (4, 5)),
    "mlp_groupnorm": (lambda: nn.Sequential(nn.Linear(8, 16), nn.GroupNorm(4, 16), nn.Hardsigmoid(), nn.Linear(16, 5)), Vec, MSE, (4, 5)),
    "mlp_triplet": (lambda: nn.Sequential(nn.Linear(8, 16), nn.SELU(), nn.Linear(16, 5)), Vec, triplet, (4, 5)),
    "mlp_bilinear": (lambda: Fn(lambda m, x: m.b(x, x), b=nn.Bilinear(8, 8, 5)), Vec, CE, None),
    "mlp_weight_norm": (lambda: nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(8, 16)), nn.Softsign(), nn.Linear(16, 5)), Vec, CE, None),
    "moe_soft": (lambda: Fn(gated, gate=nn.Linear(8, 3), experts=nn.ModuleList(nn.Linear(8, 5) for _ in range(3))), Vec, CE, None),
    "gcn": (lambda: Fn(gcn, a=nn.Linear(8, 6), b=nn.Linear(6, 5)), Vec, CE, None),
    "cnn_separable": (lambda: nn.Sequential(sep(3, 6), sep(6, 8), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)), Img, CE, None),
    "cnn_stride_groups": (lambda: nn.Sequential(nn.Conv2d(3, 6, 3, stride=2, padding=1, groups=3), nn.LeakyReLU(), nn.Conv2d(6, 4, 2, dilation=2), nn.Flatten(), nn.Linear(16, 5)), Img, CE, None),
    "cnn_instance_norm": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.InstanceNorm2d(4, affine=True), nn.SiLU(), nn.AdaptiveMaxPool2d(2), nn.Flatten(), nn.Linear(16, 5)), Img, CE, None),
    "cnn_reflect": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3, padding=1, padding_mode="reflect"), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(64, 5)), Img, CE, None),
    "cnn_circular": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3, padding=1, padding_mode="circular"), nn.ReLU(), nn.LPPool2d(2, 2), nn.Flatten(), nn.Linear(64, 5)), Img, CE, None),
    "cnn_transposed": (lambda: nn.Sequential(nn.Conv2d(3, 4, 2, stride=2), nn.GELU(), nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1)), Img, MSE, Img),
    "cnn_pixel_shuffle": (lambda: nn.Sequential(nn.Conv2d(3, 12, 3, padding=1), nn.PixelShuffle(2), nn.Hardswish(), nn.AvgPool2d(4), nn.Flatten(), nn.Linear(48, 5)), Img, CE, None),
    "cnn_upsample": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.Upsample(scale_factor=2), nn.ReLU(), nn.AdaptiveAvgPool2d(3), nn.Flatten(), nn.Linear(36, 5)), Img, CE, None),
    "cnn_bicubic": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.Upsample(size=(5, 7), mode="bicubic"), nn.ReLU(), nn.Flatten(), nn.Linear(140, 5)), Img, CE, None),
    "cnn_local_response": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.LocalResponseNorm(2), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5)), Img, CE, None),
    "unet": (lambda: Fn(unet, a=nn.Conv2d(3, 4, 3, padding=1), b=nn.Conv2d(4, 4, 3, padding=1), c=nn.Conv2d(8, 5, 1)), Img, CE, None),
    "conv1d_wavenet": (lambda: Fn(wavenet, layers=nn.ModuleList(nn.Conv1d(5, 5, 3, padding=2 ** k, dilation=2 ** k) for k in range(3))), (2, 5, 9), CE, None),
    "conv3d": (lambda: nn.Sequential(nn.Conv3d(2, 3, 3, padding=1), nn.BatchNorm3d(3), nn.ReLU(), nn.MaxPool3d(2), nn.Flatten(), nn.Linear(24, 5)), (2, 2, 4, 4, 4), CE, None),
    "maxpool_ceil": (lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.MaxPool2d(3, 2, 1, ceil_mode=True), nn.Tanh(), nn.Flatten(), nn.Linear(64, 5)), Img, CE, None),
    "lstm": (lambda: Fn(lambda m, x: m.b(m.a(x)[0][:, -1]), a=nn.LSTM(8, 6, batch_first=True), b=nn.Linear(6, 5)), Seq, CE, None),
    "gru_bidirectional": (lambda: Fn(lambda m, x: m.b(m.a(x)[0].mean(1)), a=nn.GRU(8, 6, bidirectional=True, batch_first=True), b=nn.Linear(12, 5)), Seq, CE, None),
    "rnn_relu": (lambda: Fn(lambda m, x: m.b(m.a(x)[0][:, -1]), a=nn.RNN(8, 6, nonlinearity="relu", batch_first=True), b=nn.Linear(6, 5)), Seq, CE, None),
    "lstm_cell": (lambda: Fn(lambda m, x: m.b(m.a(x[:, 1], m.a(x[:, 0]))[0]), a=nn.LSTMCell(8, 6), b=nn.Linear(6, 5)), Seq, CE, None),
    "attention_causal": (lambda: Fn(attention, qkv=nn.Linear(8, 24), out=nn.Linear(8, 5), norm=nn.LayerNorm(8)), Seq, CE, None),
    "mha": (lambda: Fn(lambda m, x: m.b(m.a(x, x, x)[0].mean(1)), a=nn.MultiheadAttention(8, 2, batch_first=True), b=nn.Linear(8, 5)), Seq, CE, None),
    "encoder_prenorm": (lambda: Fn(lambda m, x: m.b(m.a(x).amax(1)), a=nn.TransformerEncoderLayer(8, 2, 16, 0.0, "gelu", norm_first=True, batch_first=True), b=nn.Linear(8, 5)), Seq, CE, None),
    "decoder": (lambda: Fn(lambda m, x: m.b(m.a(x, x.flip(1))[:, 0]), a=nn.TransformerDecoderLayer(8, 2, 16, 0.0, batch_first=True), b=nn.Linear(8, 5)), Seq, CE, None),
    "rotary": (lambda: Fn(rotary, a=nn.Linear(8, 6)), Seq, CE, None),
    "rms_swiglu": (lambda: Fn(rms, a=nn.Linear(8, 12), c=nn.Linear(8, 12), b=nn.Linear(12, 5), w=nn.Parameter(torch.ones(8))), Seq, CE, None),
    "embedding_sum": (lambda: Fn(lambda m, x: m.b(m.e((x * 2).long().clamp(0, 8)).sum((1, 2))), e=nn.Embedding(9, 6, padding_idx=0), b=nn.Linear(6, 5)), Seq, CE, None),
    "embedding_bag": (lambda: Fn(lambda m, x: m.b(m.e((x * 2).long().clamp(0, 8).flatten(1))), e=nn.EmbeddingBag(9, 6, mode="mean"), b=nn.Linear(6, 5)), Seq, CE, None),
    "einsum_scatter": (lambda: Fn(lambda m, x: torch.einsum("nsd,cd->nc", x.cumsum(1).clamp(-1, 1), m.w), w=nn.Parameter(torch.randn(5, 8))), Seq, CE, None),
    "sort_topk": (lambda: Fn(lambda m, x: m.b(m.a(x).topk(4, 1)[0].sort(1)[0].flatten(1)), a=nn.Linear(8, 6), b=nn.Linear(24, 5)), Seq, CE, None),
    "gather_where": (lambda: Fn(lambda m, x: m.b(torch.where(x > 0, m.a(x), x).gather(1, x.argmax(1, keepdim=True)).squeeze(1)), a=nn.Linear(8, 8), b=nn.Linear(8, 5)), Seq, CE, None),
    "complex_fft": (lambda: Fn(lambda m, x: m.b(torch.fft.rfft(m.a(x), dim=1).abs().mean(1)), a=nn.Linear(8, 8), b=nn.Linear(8, 5)), Seq, CE, None),
    "linalg": (lambda: Fn(lambda m, x: torch.linalg.solve(m.a.T @ m.a + 2 * torch.eye(8), x.mT).sum(2)[:, :5] + torch.logdet(m.a.T @ m.a + torch.eye(8)), a=nn.Parameter(torch.randn(8, 8))), Seq, CE, None),
    "norms_std": (lambda: Fn(lambda m, x: m.b((m.a(x) - x.mean(1, True)) / (x.std(1, keepdim=True) + x.norm(dim=-1, keepdim=True))).sum(1), a=nn.Linear(8, 8), b=nn.Linear(8, 5)), Seq, CE, None),
    "var_prod": (lambda: Fn(lambda m, x: m.a(x).var(1) + m.a(x).prod(1) + m.a(x).cumprod(1)[:, 2], a=nn.Linear(8, 5)), Seq, CE, None),
    "min_max_median": (lambda: Fn(lambda m, x: m.a(x).min(1)[0] + m.a(x).max() + m.a(x).median(1)[0] + m.a(x).aminmax(dim=1)[1], a=nn.Linear(8, 5)), Seq, CE, None),
    "cdist_rbf": (lambda: Fn(lambda m, x: m.b((-torch.cdist(x, m.c) ** 2 / 9).exp().sum(1)), c=nn.Parameter(torch.randn(6, 8)), b=nn.Linear(6, 5)), Seq, CE, None),
    "grid_sample": (lambda: Fn(lambda m, x: m.b(F.grid_sample(x, F.affine_grid(m.t.expand(2, 2, 3), [2, 3, 4, 4], align_corners=False), align_corners=False).flatten(1)), t=nn.Parameter(torch.tensor([[[0.9, 0.1, 0], [0, 0.8, 0.1]]])), b=nn.Linear(48, 5)), Img, CE, None),
    "unfold_pool": (lambda: Fn(lambda m, x: m.b(F.unfold(m.a(x), 2, stride=2).amax(2)), a=nn.Conv2d(3, 4, 3), b=nn.Linear(16, 5)), Img, CE, None),
    "roll_window": (lambda: Fn(lambda m, x: m.b(x.roll((1, 1), (2, 3)).unfold(2, 4, 4).unfold(3, 4, 4).mean((2, 3)).flatten(1)), b=nn.Linear(48, 5)), Img, CE, None),
}


def data(shape, loss, target):
    x = torch.randn(shape)
    y = torch.randint(0, 5, (shape[0],)) if target is None else torch.randn(target)
    return x, y.sign() if loss is F.soft_margin_loss else y


def gradients(module, x, y):
    """The loss, the gradients of the parameters by name, and the buffers that changed."""
    module = copy.deepcopy(module)
    before = {n: b.clone() for n, b in module.named_buffers()}
    loss = module(x, y)
    names, params = zip(*module.named_parameters())
    grads = torch.autograd.grad(loss, params, allow_unused=True)
    changed = {n: b for n, b in module.named_buffers() if not torch.equal(b, before[n])}
    return loss, dict(zip(names, grads)), changed


def wide(x):
    return x.double() if x.is_floating_point() else x


def joint_case(folder, seed, name, make, shape, loss, target):
    torch.manual_seed(seed)
    module, (x, y) = Lossy(make(), loss).train(), data(shape, loss, target)
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        value, grads, changed = gradients(module, x, y)
        exact, exact_grads, _ = gradients(copy.deepcopy(module).double(), wide(x), wide(y))
        program = torch.export.export(copy.deepcopy(module), (x, y), strict=False)
        program = _export_forward_backward(program)
    case.strip(program)
    outputs, error = [], 0.0
    for spec in program.graph_signature.output_specs:
        if spec.kind == OutputKind.LOSS_OUTPUT:
            outputs.append(value)
            error = max(error, float((value - exact).abs()))
        elif spec.kind == OutputKind.GRADIENT_TO_PARAMETER:
            outputs.append(grads[spec.target])
            error = max(error, float((grads[spec.target] - exact_grads[spec.target]).abs().max()))
        elif spec.kind != OutputKind.BUFFER_MUTATION:
            raise ValueError(f"an output of kind {spec.kind}")
    return stored(folder, "train", name, program, [x, y], outputs, changed, error)


def stored(folder, group, name, program, inputs, outputs, changed, error):
    os.makedirs(os.path.join(folder, group), exist_ok=True)
    path, file = f"{group}/{name}.pt2", f"{group}/{name}.safetensors"
    torch.export.save(program, os.path.join(folder, path))
    tensors, scalars = case.entries("in", inputs)
    more, more_scalars = case.entries("out", outputs)
    tensors |= more | {f"mut_{n}": t.detach().contiguous().clone() for n, t in changed.items()}
    meta = {"n_in": json.dumps(len(inputs)), "n_out": json.dumps(len(outputs)), "scalars": json.dumps(scalars | more_scalars)}
    save_file(tensors, os.path.join(folder, file), meta)
    return {
        "name": f"{group}__{name}", "group": group, "op": name, "dtype": "f32", "dynamic": False, "pt2": path, "io": [file],
        "rtol": 1e-4, "atol": max(1e-5, 10 * error), "check": "close", "n_in": len(inputs), "n_out": len(outputs), "tags": [],
    }


def sgd(p, g, state):
    return p - 0.1 * g, state


def momentum(p, g, state):
    velocity = state.mul(0.9).add(g, alpha=0.9)
    return p.sub(0.05 * (g + 0.9 * velocity)), velocity


def rmsprop(p, g, state):
    square = state * 0.99 + g * g * 0.01
    return torch.addcdiv(p, g, square.sqrt() + 1e-8, value=-0.01), square


def adam(p, g, state):
    first, second = torch.lerp(state, g, 0.1), torch.addcmul(state.square() * 0.999, g, g, value=1e-3)
    return p * (1 - 1e-3) - 0.01 * (first / 0.1) / ((second / 1e-3).sqrt() + 1e-8), first


def lion(p, g, state):
    return p - 0.01 * torch.sign(state * 0.9 + g * 0.1), state * 0.99 + g * 0.01


def clipped(p, g, state):
    return p - 0.1 * g * (1.0 / (torch.linalg.vector_norm(g) + 1e-6)).clamp(max=1.0), torch.maximum(state, g.abs())


STEPS = [sgd, momentum, rmsprop, adam, lion, clipped]


def step_case(folder, seed, name, make, shape, loss, target, update):
    torch.manual_seed(seed)
    module, (x, y) = Lossy(make(), loss).train(), data(shape, loss, target)
    names = [n for n, _ in module.named_parameters()]

    def step(*given):
        x, y, params, states = given[0], given[1], given[2 : 2 + len(names)], given[2 + len(names) :]
        params = [p.detach().requires_grad_() for p in params]
        with torch.enable_grad(), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            value = torch.func.functional_call(module, dict(zip(names, params)), (x, y))
            grads = torch.autograd.grad(value, params)
        with torch.no_grad():
            updated = [update(p.detach(), g, s) for p, g, s in zip(params, grads, states)]
        return [value.detach(), *[p for p, _ in updated], *[s for _, s in updated]]

    params = [p.detach().clone() for p in module.parameters()]
    inputs = [x, y, *params, *[torch.rand_like(p) * 0.1 for p in params]]
    outputs = step(*inputs)
    traced = make_fx(step)(*inputs)
    module.double()
    exact = step(*[wide(t) for t in inputs])
    module.float()
    error = max(float((a - b).abs().max()) for a, b in zip(outputs, exact))
    if update is lion:
        error = 1e-6  # the sign of what is nearly zero is free
    program = torch.export.export(case.Call(traced), tuple(inputs), strict=False)
    case.strip(program)
    return stored(folder, "trainstep", f"{name}_{update.__name__}", program, inputs, outputs, {}, error)


def makers(options):
    for seed, (name, row) in enumerate(MODELS.items()):
        if re.search(options.only, name):
            yield name, functools.partial(joint_case, options.out, seed, name, *row)
            if "norm" not in name and "separable" not in name and "conv3d" not in name:
                yield f"{name} step", functools.partial(step_case, options.out, seed, name, *row, STEPS[seed % len(STEPS)])


if __name__ == "__main__":
    case.collect(__doc__, makers, {"only": ""})
