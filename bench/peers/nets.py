"""Blocks of operators as networks combine them, with widths, kernels, activations and norms that are drawn.

Each function takes the numbers drawn, the elements of the block's input and the element type, and gives the block and its inputs.
Real networks repeat a few such blocks, so a block that is slow is a network that is slow.
"""

import math
import random

import torch
from torch import nn
from torch.nn import functional

ACTIVATIONS = (nn.ReLU, nn.SiLU, nn.GELU, nn.Hardswish, nn.Mish, nn.LeakyReLU, nn.ELU)
KERNELS = (3, 3, 5, 7)


def _made(block: nn.Module, dtype: torch.dtype, *inputs: torch.Tensor):
    return block.eval().to(dtype), [each.to(dtype) for each in inputs]


def _image(numbers: random.Random, elements: int, channels: int) -> torch.Tensor:
    side = max(8, round(math.sqrt(elements / channels)))
    return torch.randn(numbers.choice([1, 1, 4]), channels, side, side + numbers.randrange(3))


def _words(numbers: random.Random, elements: int, width: int) -> torch.Tensor:
    batch = numbers.choice([1, 1, 4])
    return torch.randn(batch, max(4, elements // (batch * width)), width)


def _norm(numbers: random.Random, channels: int) -> nn.Module:
    groups = next(each for each in (32, 8, 4, 1) if channels % each == 0)
    return numbers.choice([nn.BatchNorm2d(channels), nn.BatchNorm2d(channels), nn.GroupNorm(groups, channels), nn.InstanceNorm2d(channels)])


def _conv(numbers: random.Random, channels: int, features: int, kernel: int = 1, **how) -> nn.Sequential:
    """A convolution that keeps the image's size, but for its stride, then a norm and an activation."""
    padding = kernel // 2 * how.get("dilation", 1)
    layer = nn.Conv2d(channels, features, kernel, padding=padding, bias=False, **how)
    return nn.Sequential(layer, _norm(numbers, features), numbers.choice(ACTIVATIONS)())


class _Residual(nn.Module):
    """The input, or its projection, added to what the body makes of it."""

    def __init__(self, body: nn.Module, projection: nn.Module | None = None, after: nn.Module | None = None):
        super().__init__()
        self.body, self.projection, self.after = body, projection or nn.Identity(), after or nn.Identity()

    def forward(self, x):
        return self.after(self.body(x) + self.projection(x))


class _Excited(nn.Module):
    """Squeeze and excitation: channels weighted by a small network over their means."""

    def __init__(self, channels: int, inner: int):
        super().__init__()
        self.down, self.up = nn.Conv2d(channels, inner, 1), nn.Conv2d(inner, channels, 1)

    def forward(self, x):
        means = x.mean((2, 3), keepdim=True)
        return x * torch.sigmoid(self.up(functional.relu(self.down(means))))


class _Joined(nn.Module):
    """Branches over the same input, their channels one after another."""

    def __init__(self, *branches: nn.Module):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        return torch.cat([each(x) for each in self.branches], 1)


def _bottleneck(numbers: random.Random, elements: int, dtype: torch.dtype):
    """ResNet, ResNeXt and RegNet."""
    groups, per_group = numbers.choice([1, 1, 4, 8, 32]), numbers.choice([4, 8, 16, 24, 48])
    inner, channels = groups * per_group, 8 * numbers.randrange(2, 33)
    stride = numbers.choice([1, 1, 2])
    features = channels if stride == 1 else 2 * channels
    body = nn.Sequential(
        _conv(numbers, channels, inner),
        _conv(numbers, inner, inner, numbers.choice(KERNELS), stride=stride, groups=groups),
        *([_Excited(inner, max(8, inner // 8))] if numbers.random() < 0.3 else []),
        nn.Conv2d(inner, features, 1, bias=False),
        _norm(numbers, features),
    )
    projection = None if stride == 1 else nn.Conv2d(channels, features, 1, stride, bias=False)
    return _made(_Residual(body, projection, numbers.choice(ACTIVATIONS)()), dtype, _image(numbers, elements, channels))


def _inverted(numbers: random.Random, elements: int, dtype: torch.dtype):
    """MobileNet and EfficientNet."""
    channels = 8 * numbers.randrange(2, 17)
    inner = channels * numbers.choice([3, 4, 6])
    body = nn.Sequential(
        _conv(numbers, channels, inner),
        _conv(numbers, inner, inner, numbers.choice(KERNELS), groups=inner),
        *([_Excited(inner, max(8, channels // 4))] if numbers.random() < 0.6 else []),
        nn.Conv2d(inner, channels, 1, bias=False),
        _norm(numbers, channels),
    )
    return _made(_Residual(body), dtype, _image(numbers, elements, channels))


class _ChannelsLastMlp(nn.Module):
    """A layer norm and a perceptron over the channels of an image."""

    def __init__(self, channels: int, activation: nn.Module):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(channels), nn.Linear(channels, 4 * channels), nn.Linear(4 * channels, channels)
        self.activation, self.scale = activation, nn.Parameter(torch.full((channels,), 0.1))

    def forward(self, x):
        x = self.norm(x.permute(0, 2, 3, 1))
        return (self.scale * self.down(self.activation(self.up(x)))).permute(0, 3, 1, 2)


def _convnext(numbers: random.Random, elements: int, dtype: torch.dtype):
    """ConvNeXt."""
    channels, kernel = 16 * numbers.randrange(2, 17), numbers.choice([5, 7])
    mixed = nn.Conv2d(channels, channels, kernel, padding=kernel // 2, groups=channels)
    body = nn.Sequential(mixed, _ChannelsLastMlp(channels, numbers.choice(ACTIVATIONS)()))
    return _made(_Residual(body), dtype, _image(numbers, elements, channels))


def _dense(numbers: random.Random, elements: int, dtype: torch.dtype):
    """DenseNet: each layer reads what all before it made."""
    channels, growth = 8 * numbers.randrange(2, 17), numbers.choice([12, 24, 32])
    layers = [_Joined(nn.Identity(), _conv(numbers, channels + k * growth, growth, 3)) for k in range(numbers.choice([2, 3, 4]))]
    return _made(nn.Sequential(*layers), dtype, _image(numbers, elements, channels))


def _inception(numbers: random.Random, elements: int, dtype: torch.dtype):
    """Inception: branches of several kernels, one of them a pooling."""
    channels = 8 * numbers.randrange(4, 25)
    features = [8 * numbers.randrange(1, 9) for _ in range(4)]
    block = _Joined(
        _conv(numbers, channels, features[0]),
        nn.Sequential(_conv(numbers, channels, features[1]), _conv(numbers, features[1], features[1], 3)),
        nn.Sequential(_conv(numbers, channels, features[2]), _conv(numbers, features[2], features[2], 5)),
        nn.Sequential(numbers.choice([nn.MaxPool2d, nn.AvgPool2d])(3, 1, 1), _conv(numbers, channels, features[3])),
    )
    return _made(block, dtype, _image(numbers, elements, channels))


class _Pyramid(nn.Module):
    """A feature pyramid's step: a coarser image, resized and added, or put beside a finer one."""

    def __init__(self, numbers: random.Random, channels: int):
        super().__init__()
        self.mode, self.beside = numbers.choice(["nearest", "bilinear"]), numbers.random() < 0.5
        self.down = _conv(numbers, channels, channels, 3, stride=2)
        self.after = _conv(numbers, channels * (1 + self.beside), channels, 3)

    def forward(self, x):
        coarse = functional.interpolate(self.down(x), size=x.shape[2:], mode=self.mode)
        return self.after(torch.cat([x, coarse], 1) if self.beside else x + coarse)


def _pyramid(numbers: random.Random, elements: int, dtype: torch.dtype):
    """U-Net and detection networks."""
    channels = 8 * numbers.randrange(2, 17)
    return _made(_Pyramid(numbers, channels), dtype, _image(numbers, elements, channels))


class _Dilated(nn.Module):
    """Atrous convolutions side by side with a pooled image."""

    def __init__(self, numbers: random.Random, channels: int, features: int):
        super().__init__()
        self.branches = _Joined(*(_conv(numbers, channels, features, 3, dilation=each) for each in (1, 2, 4)))
        self.pooled, self.after = nn.Conv2d(channels, features, 1), _conv(numbers, 4 * features, features)

    def forward(self, x):
        pooled = self.pooled(functional.adaptive_avg_pool2d(x, 1)).expand(-1, -1, *x.shape[2:])
        return self.after(torch.cat([self.branches(x), pooled], 1))


def _atrous(numbers: random.Random, elements: int, dtype: torch.dtype):
    """DeepLab."""
    channels, features = 8 * numbers.randrange(2, 17), 8 * numbers.randrange(1, 9)
    return _made(_Dilated(numbers, channels, features), dtype, _image(numbers, elements, channels))


def _upsampling(numbers: random.Random, elements: int, dtype: torch.dtype):
    """Decoders of generators: a transposed convolution or a pixel shuffle, then a convolution."""
    channels, features = 8 * numbers.randrange(2, 17), 8 * numbers.randrange(1, 9)
    larger = numbers.choice([
        nn.ConvTranspose2d(channels, features, 4, 2, 1),
        nn.ConvTranspose2d(channels, features, 2, 2),
        nn.Sequential(nn.Conv2d(channels, 4 * features, 3, padding=1), nn.PixelShuffle(2)),
    ])
    block = nn.Sequential(larger, numbers.choice(ACTIVATIONS)(), _conv(numbers, features, features, 3), nn.Tanh())
    return _made(block, dtype, _image(numbers, elements, channels))


def _encoder(numbers: random.Random, elements: int, dtype: torch.dtype):
    """A layer of BERT or of a vision transformer."""
    heads, size = numbers.choice([2, 4, 8, 12]), numbers.choice([32, 64, 80])
    width = heads * size
    activation = numbers.choice(["relu", "gelu"])
    layer = nn.TransformerEncoderLayer(width, heads, 4 * width, activation=activation, batch_first=True, norm_first=numbers.random() < 0.5)
    return _made(layer, dtype, _words(numbers, elements, width))


class _Decoder(nn.Module):
    """A layer of a language model: root mean square norms, rotary positions, fewer heads of keys than of queries, a gated perceptron."""

    def __init__(self, heads: int, shared: int, size: int):
        super().__init__()
        width = heads * size
        self.heads, self.keys, self.size = heads, heads // shared, size
        self.before, self.between = nn.RMSNorm(width), nn.RMSNorm(width)
        self.joint = nn.Linear(width, (heads + 2 * self.keys) * size, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate, self.up, self.down = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, 3 * width, bias=False), nn.Linear(3 * width, width, bias=False)

    def rotated(self, x):
        angles = torch.arange(x.shape[2])[:, None] * 1e4 ** (-torch.arange(0, self.size, 2) / self.size)
        first, second = x.chunk(2, -1)
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)

    def forward(self, x):
        parts = self.joint(self.before(x)).unflatten(-1, (-1, self.size)).transpose(1, 2)
        q, k, v = parts.split([self.heads, self.keys, self.keys], 1)
        seen = functional.scaled_dot_product_attention(self.rotated(q), self.rotated(k), v, is_causal=True, enable_gqa=True)
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        between = self.between(x)
        return x + self.down(functional.silu(self.gate(between)) * self.up(between))


def _decoder(numbers: random.Random, elements: int, dtype: torch.dtype):
    """Llama and its kin."""
    heads, shared, size = numbers.choice([4, 8]), numbers.choice([1, 2, 4]), numbers.choice([32, 64])
    return _made(_Decoder(heads, shared, size), dtype, _words(numbers, elements, heads * size))


class _Windows(nn.Module):
    """Attention inside of the windows of a shifted image."""

    def __init__(self, channels: int, window: int, heads: int):
        super().__init__()
        self.window, self.heads, self.shift = window, heads, window // 2
        self.norm, self.joint, self.out = nn.LayerNorm(channels), nn.Linear(channels, 3 * channels), nn.Linear(channels, channels)
        self.bias = nn.Parameter(torch.randn(heads, window**2, window**2))

    def forward(self, x):
        b, h, w, c = x.shape
        seen = torch.roll(self.norm(x), (-self.shift, -self.shift), (1, 2))
        seen = seen.reshape(b, h // self.window, self.window, w // self.window, self.window, c).transpose(2, 3).reshape(-1, self.window**2, c)
        q, k, v = self.joint(seen).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(q, k, v, self.bias.expand(len(q), -1, -1, -1))
        seen = self.out(seen.transpose(1, 2).flatten(2))
        seen = seen.reshape(b, h // self.window, w // self.window, self.window, self.window, c).transpose(2, 3).reshape(b, h, w, c)
        return x + torch.roll(seen, (self.shift, self.shift), (1, 2))


def _windows(numbers: random.Random, elements: int, dtype: torch.dtype):
    """Swin."""
    heads, window = numbers.choice([2, 3, 4]), numbers.choice([4, 7, 8])
    channels = 32 * heads
    across = max(1, round(math.sqrt(elements / channels) / window))
    return _made(_Windows(channels, window, heads), dtype, torch.randn(1, across * window, across * window, channels))


class _Mixer(nn.Module):
    """Perceptrons over places, then over channels."""

    def __init__(self, places: int, channels: int, activation: nn.Module):
        super().__init__()
        self.before, self.between, self.activation = nn.LayerNorm(channels), nn.LayerNorm(channels), activation
        self.places = nn.ModuleList([nn.Linear(places, 2 * places), nn.Linear(2 * places, places)])
        self.channels = nn.ModuleList([nn.Linear(channels, 4 * channels), nn.Linear(4 * channels, channels)])

    def forward(self, x):
        across = self.before(x).transpose(1, 2)
        x = x + self.places[1](self.activation(self.places[0](across))).transpose(1, 2)
        return x + self.channels[1](self.activation(self.channels[0](self.between(x))))


def _mixer(numbers: random.Random, elements: int, dtype: torch.dtype):
    """MLP-Mixer."""
    words = _words(numbers, elements, 16 * numbers.randrange(2, 33))
    return _made(_Mixer(words.shape[1], words.shape[2], numbers.choice(ACTIVATIONS)()), dtype, words)


class _Waves(nn.Module):
    """A gated convolution along time, dilated."""

    def __init__(self, channels: int, kernel: int, dilation: int):
        super().__init__()
        self.padding = (kernel - 1) * dilation
        self.joint, self.out = nn.Conv1d(channels, 2 * channels, kernel, dilation=dilation), nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        value, gate = self.joint(functional.pad(x, (self.padding, 0))).chunk(2, 1)
        return x + self.out(torch.tanh(value) * torch.sigmoid(gate))


def _waves(numbers: random.Random, elements: int, dtype: torch.dtype):
    """WaveNet and temporal convolutional networks."""
    channels, kernel, dilation = 8 * numbers.randrange(2, 17), numbers.choice([2, 3, 5]), numbers.choice([1, 2, 8])
    return _made(_Waves(channels, kernel, dilation), dtype, torch.randn(numbers.choice([1, 4]), channels, max(32, elements // channels)))


class _Tagger(nn.Module):
    """Words, a recurrent layer over them, a score for each."""

    def __init__(self, words: int, width: int, hidden: int, kind: type):
        super().__init__()
        self.words, self.layer, self.scores = nn.Embedding(words, width), kind(width, hidden, batch_first=True, bidirectional=True), nn.Linear(2 * hidden, 32)

    def forward(self, x):
        return functional.log_softmax(self.scores(self.layer(self.words(x))[0]), -1)


def _tagger(numbers: random.Random, elements: int, dtype: torch.dtype):
    """A tagger of sequences."""
    width, hidden = numbers.choice([50, 64, 100, 300]), numbers.choice([32, 64, 128])
    block = _Tagger(5000, width, hidden, numbers.choice([nn.LSTM, nn.GRU])).eval().to(dtype)
    return block, [torch.randint(0, 5000, (numbers.choice([1, 8]), min(128, max(4, elements // (8 * width)))))]


class _Recommender(nn.Module):
    """Rows of tables, their products with one another, and perceptrons before and after."""

    def __init__(self, tables: int, width: int):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(10_000, width) for _ in range(tables)])
        self.bottom, self.top = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Linear(64, width)), nn.Linear(width + (tables + 1) ** 2, 1)

    def forward(self, numbers, rows):
        dense = self.bottom(numbers)
        every = torch.stack([dense, *(table(rows[:, k]) for k, table in enumerate(self.tables))], 1)
        products = every @ every.transpose(1, 2)
        return torch.sigmoid(self.top(torch.cat([dense, products.flatten(1)], 1)))


def _recommender(numbers: random.Random, elements: int, dtype: torch.dtype):
    """DLRM."""
    tables, width = numbers.choice([4, 8, 26]), numbers.choice([16, 32, 64])
    rows = max(1, elements // (tables * width))
    return _Recommender(tables, width).eval().to(dtype), [torch.randn(rows, 13).to(dtype), torch.randint(0, 10_000, (rows, tables))]


NETS = {
    "net.atrous": _atrous,
    "net.bottleneck": _bottleneck,
    "net.convnext": _convnext,
    "net.decoder": _decoder,
    "net.dense": _dense,
    "net.encoder": _encoder,
    "net.inception": _inception,
    "net.inverted": _inverted,
    "net.mixer": _mixer,
    "net.pyramid": _pyramid,
    "net.recommender": _recommender,
    "net.tagger": _tagger,
    "net.upsampling": _upsampling,
    "net.waves": _waves,
    "net.windows": _windows,
}
"""The blocks: functions of the numbers drawn, of the elements of the input, and of the element type."""
