"""Single operators at sizes, layouts and element types that are drawn by a seed: another seed is another set.

A program is one of PyTorch's operators on one of PyTorch's own samples of its arguments (OpInfo), enlarged: each size that the sample's
tensors have becomes a larger one, the same everywhere, so that sizes that agree still do. Beside the operators stand layers with drawn
parameters, or instead of both the blocks of networks in nets.py. A program is taken if eager PyTorch runs it, twice with the same result,
in 0.1 to 20 ms.
"""

import json
import math
import os
import random
import resource
import sys
import warnings
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path
from statistics import geometric_mean, median
from time import perf_counter

import torch
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

import workloads
from nets import NETS

VARIABLE = "STRATA_DRAWN"
"""The file with what was drawn, for the processes of peers."""

SHORTEST, LONGEST = 1e-4, 2e-2
"""Seconds of a call of eager PyTorch."""

CALLS = 7
"""Calls whose median is that time: the first after others waits for memory and threads."""

SAMPLES = 16
"""Of so many first samples of an operator one is taken."""

DTYPES = {
    torch.float32: 10, torch.float64: 2, torch.bfloat16: 3, torch.float16: 2, torch.int64: 2, torch.int32: 2, torch.int8: 1, torch.uint8: 1,
    torch.bool: 1, torch.complex64: 1,
}  # fmt: skip
"""Element types, and how often each is drawn."""

MEMORY = 4 << 30
"""Bytes that a program may allocate while it is drawn: some results are the square of what they are made from."""

RESULTS = 64
"""Tensors that a program may give: `torch.export` takes minutes for `unbind` of thousands of rows."""

TOLERANCES = {torch.bfloat16: 4e-2, torch.float16: 5e-3, torch.float64: 1e-6}
"""The largest difference that is right, relative to the largest element; 1e-3 for other types."""

LAYOUTS = ("contiguous", "contiguous", "transposed", "channels_last")

LEFT_OUT = ("empty", "new_empty", "rand", "normal", "bernoulli", "multinomial", "dropout", "uniform", "exponential", "geometric", "cauchy", "log_normal")
"""Operators whose results are not defined, or random."""

UNORDERED = {"linalg.eig"}
"""Operators whose results have no order: those of two libraries cannot be compared element by element."""


def draw(seed: int, count: int, wanted: str = "", nets: bool = False) -> list[dict]:
    """Descriptions of so many programs whose names contain `wanted`: blocks of networks, or operators and layers."""
    torch.set_grad_enabled(False)
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, before[1]))
    try:
        return _drawn(seed, count, wanted, nets)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _drawn(seed: int, count: int, wanted: str, nets: bool) -> list[dict]:
    found: list[dict] = []
    for attempt in range(100 * count):
        if len(found) == count:
            break
        numbers = random.Random(f"{seed}/{attempt}")
        name = numbers.choice(sorted(NETS) if nets else sorted(LAYERS) if numbers.random() < 0.3 else _operator_names())
        if wanted in name and (program := _fitted(name, numbers)):
            found.append(program)
            print(f"\rdrawn: {len(found)} of {count}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


def programs() -> list[workloads.Workload]:
    """What was drawn, as workloads."""
    file = os.environ.get(VARIABLE)
    return [_workload(at, each) for at, each in enumerate(json.loads(Path(file).read_text()))] if file else []


def _workload(at: int, described: dict) -> workloads.Workload:
    name = f"drawn_{at:03} {described['name']} {described['dtype']} {described['layout']} {described['shapes']}"
    tolerance = TOLERANCES.get(getattr(torch, described["dtype"]), 1e-3)
    return workloads.Workload(name, lambda: _built(described)[0], lambda: [tuple(_built(described)[1])], tolerance)


def _fitted(name: str, numbers: random.Random) -> dict | None:
    """A program of this operator or layer whose time is in the range; nothing where none is found in a few tries."""
    described = {"name": name, "seed": numbers.randrange(1 << 30), "layout": numbers.choice(LAYOUTS)}
    dtypes = [dtype for dtype in DTYPES if dtype in _dtypes(name)]
    if not dtypes:
        return None
    dtype = numbers.choices(dtypes, [DTYPES[dtype] for dtype in dtypes])[0]
    described["dtype"] = str(dtype).removeprefix("torch.")
    elements, step = _not_too_many(described, 2.0 ** numbers.uniform(13, 21)), 8.0
    for _ in range(6):
        described["elements"] = int(elements)
        seconds = _seconds(described)
        if seconds is None:
            return None
        if SHORTEST <= seconds <= LONGEST:
            return described
        elements = min(max(elements * (step if seconds < SHORTEST else 1 / step), 64), 1 << 24)
        step = max(step / 2, 2)
    return None


def _not_too_many(described: dict, elements: float) -> float:
    """So many elements, or fewer where these take too long already: some operators take minutes at sizes that others take microseconds at."""
    reached = 64.0
    while reached < elements:
        seconds = _seconds(described | {"elements": int(reached)})
        if seconds and seconds > LONGEST:
            return reached
        reached *= 8
    return elements


def _seconds(described: dict) -> float | None:
    """The time of a call of eager PyTorch; nothing where there is no such call, or its results differ from call to call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call, arguments = _built(described)
            first, second = call(*arguments), call(*arguments)
            seconds = median(_timed(call, arguments) for _ in range(CALLS))
            results, again = (_tensors(each) for each in (first, second))
            same = all(torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(results, again))
        except Exception:  # sizes that the operator's other arguments do not allow, or too much memory
            return None
    if not 0 < len(results) <= RESULTS or not same or any(each.layout != torch.strided or each.is_quantized for each in results):
        return None
    tensors = [each for each in (*arguments, *results) if isinstance(each, torch.Tensor)]
    described["bytes"] = sum(each.numel() * each.element_size() for each in tensors)
    described["shapes"] = " ".join("x".join(map(str, each.shape)) or "scalar" for each in arguments)
    return seconds


def _timed(call: Callable, arguments: list) -> float:
    start = perf_counter()
    call(*arguments)
    return perf_counter() - start


def _tensors(results) -> list[torch.Tensor]:
    return [each for each in tree_flatten(results)[0] if isinstance(each, torch.Tensor)]


def _built(described: dict) -> tuple[Callable, list[torch.Tensor]]:
    """The function, and its tensors."""
    torch.manual_seed(described["seed"])
    numbers = random.Random(described["seed"])
    dtype, elements = getattr(torch, described["dtype"]), described["elements"]
    if made := _modules().get(described["name"]):
        call, tensors = made(numbers, elements, dtype)
        return call, [_laid_out(each, described["layout"]) for each in tensors]
    operator = _operators()[described["name"]]
    samples = list(islice(operator.sample_inputs("cpu", dtype, requires_grad=False), SAMPLES))
    # An attention that drops weights is random.
    sample = numbers.choice([each for each in samples if not each.kwargs.get("dropout_p")])
    leaves, tree = tree_flatten((sample.input, sample.args, sample.kwargs))
    where = [at for at, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    larger = _larger([leaves[at].shape for at in where], numbers, elements)
    tensors = [_laid_out(_like(leaves[at], [larger.get(size, size) for size in leaves[at].shape]), described["layout"]) for at in where]

    def call(*given):
        arguments = list(leaves)
        for at, tensor in zip(where, given):
            arguments[at] = tensor
        first, rest, named = tree_unflatten(arguments, tree)
        return operator.op(first, *rest, **named)

    return call, tensors


def _larger(shapes: list, numbers: random.Random, elements: int) -> dict[int, int]:
    """For each size that is more than 1 a larger one, so that the largest tensor has about so many elements."""
    largest = max(shapes, key=lambda shape: (math.prod(shape), len(shape)), default=())
    sizes = sorted({size for shape in shapes for size in shape if size > 1})
    rank = sum(size > 1 for size in largest)
    if not rank:
        return {}
    factor = (elements / math.prod(largest)) ** (1 / rank)
    return {size: max(size, round(size * factor * 2 ** numbers.uniform(-0.7, 0.7))) for size in sizes}


def _like(tensor: torch.Tensor, shape: list[int]) -> torch.Tensor:
    """Elements of the same type in the same range; lines that ascend, as boundaries do, still do."""
    made = _unordered(tensor, shape)
    real = tensor.dim() > 0 and not tensor.is_complex() and tensor.dtype != torch.bool
    ascends = real and tensor.shape[-1] > 1 and bool((tensor.sort().values == tensor).all())
    return made.sort().values if ascends else made


def _unordered(tensor: torch.Tensor, shape: list[int]) -> torch.Tensor:
    """Elements of the same type in the same range."""
    if tensor.dtype == torch.bool or not tensor.numel():
        return torch.randint(0, 2, shape).to(tensor.dtype)
    if tensor.is_complex() or tensor.is_floating_point():
        real = torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor
        finite = real[real.isfinite()].float()
        low, high = (finite.min().item(), finite.max().item()) if finite.numel() else (0.0, 1.0)
        made = torch.empty([*shape, 2] if tensor.is_complex() else shape).uniform_(low, max(high, low + 1e-3))
        return (torch.view_as_complex(made) if tensor.is_complex() else made).to(tensor.dtype)
    return torch.randint(int(tensor.min()), int(tensor.max()) + 1, shape, dtype=tensor.dtype)


def _laid_out(tensor: torch.Tensor, layout: str) -> torch.Tensor:
    """The same elements in another order of memory, where the tensor has enough dims for it."""
    if layout == "channels_last" and tensor.dim() == 4:
        return tensor.contiguous(memory_format=torch.channels_last)
    if layout == "transposed" and tensor.dim() >= 2:
        return tensor.transpose(-1, -2).contiguous().transpose(-1, -2)
    return tensor


@cache
def _operators() -> dict:
    from torch.testing._internal.common_methods_invocations import op_db

    named = {f"{each.name}.{each.variant_test_name}".rstrip("."): each for each in op_db}
    return {name: each for name, each in named.items() if name not in UNORDERED and not any(word in name for word in LEFT_OUT)}


@cache
def _operator_names() -> list[str]:
    return sorted(_operators())


@cache
def _modules() -> dict[str, Callable]:
    return LAYERS | NETS


def _dtypes(name: str) -> set:
    if name in _modules():
        return {torch.float32, torch.bfloat16}
    return _operators()[name].supported_dtypes("cpu")


def _conv(numbers: random.Random, elements: int, dtype: torch.dtype):
    groups = numbers.choice([1, 1, 1, 2, 4, 8, 16])
    per_group = numbers.choice([1, 3, 4, 8, 12, 24, 32, 48, 64])
    kernel, stride, dilation = numbers.choice([1, 3, 3, 5, 7]), numbers.choice([1, 1, 2]), numbers.choice([1, 1, 1, 2])
    channels, features = groups * per_group, groups * numbers.choice([8, 12, 16, 24, 32, 64])
    side = max(kernel * dilation, round(math.sqrt(elements / channels)))
    layer = torch.nn.Conv2d(channels, features, kernel, stride, padding=kernel // 2 * dilation, dilation=dilation, groups=groups)
    return layer.to(dtype), [torch.randn(1, channels, side, side + numbers.randrange(3)).to(dtype)]


def _depthwise(numbers: random.Random, elements: int, dtype: torch.dtype):
    channels, kernel, stride = numbers.randrange(16, 512, 8), numbers.choice([3, 5, 7]), numbers.choice([1, 2])
    side = max(kernel, round(math.sqrt(elements / channels)))
    layer = torch.nn.Conv2d(channels, channels, kernel, stride, padding=kernel // 2, groups=channels)
    return layer.to(dtype), [torch.randn(1, channels, side, side).to(dtype)]


def _conv_transpose(numbers: random.Random, elements: int, dtype: torch.dtype):
    channels, features, stride = numbers.randrange(8, 129, 8), numbers.randrange(8, 129, 8), numbers.choice([1, 2, 2, 3])
    kernel = stride + numbers.choice([0, 1, 2])
    side = max(4, round(math.sqrt(elements / channels)))
    return torch.nn.ConvTranspose2d(channels, features, kernel, stride).to(dtype), [torch.randn(1, channels, side, side).to(dtype)]


def _recurrent(kind):
    def made(numbers: random.Random, elements: int, dtype: torch.dtype):
        size, hidden = numbers.randrange(16, 257, 8), numbers.randrange(16, 257, 8)
        batch = numbers.choice([1, 4, 16])
        layer = kind(size, hidden, num_layers=numbers.choice([1, 2]), bidirectional=numbers.choice([False, True]), batch_first=True)
        return _first(layer.to(dtype)), [torch.randn(batch, max(2, elements // (64 * batch * size)), size).to(dtype)]

    return made


class _first(torch.nn.Module):
    """The first result of a layer."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, *given):
        return self.layer(*given)[0]


def _linear(numbers: random.Random, elements: int, dtype: torch.dtype):
    rows = numbers.choice([1, 7, 16, 33, 128, 300])
    inner = max(16, round(math.sqrt(elements)))
    return torch.nn.Linear(inner, max(16, inner + numbers.randrange(-40, 41))).to(dtype), [torch.randn(rows, inner).to(dtype)]


def _attention(numbers: random.Random, elements: int, dtype: torch.dtype):
    heads, size, causal = numbers.choice([4, 8, 12]), numbers.choice([32, 64, 80]), numbers.choice([False, True])
    keys = max(8, elements // (heads * size))
    queries = numbers.choice([1, keys, keys])
    attend = torch.nn.functional.scaled_dot_product_attention
    shapes = [(1, heads, queries, size), (1, heads, keys, size), (1, heads, keys, size)]
    return (lambda q, k, v: attend(q, k, v, is_causal=causal)), [torch.randn(shape).to(dtype) for shape in shapes]


def _embedding(numbers: random.Random, elements: int, dtype: torch.dtype):
    rows, width = numbers.choice([1000, 30000]), numbers.choice([17, 64, 128, 300])
    return torch.nn.Embedding(rows, width).to(dtype), [torch.randint(0, rows, (max(1, elements // width),))]


def _pool(numbers: random.Random, elements: int, dtype: torch.dtype):
    channels, kernel = numbers.randrange(3, 257), numbers.choice([2, 3, 5])
    side = max(2 * kernel, round(math.sqrt(elements / channels)))
    layer = numbers.choice([torch.nn.MaxPool2d, torch.nn.AvgPool2d])(kernel, numbers.choice([1, 2]), kernel // 2)
    return layer, [torch.randn(1, channels, side, side).to(dtype)]


def _norm(numbers: random.Random, elements: int, dtype: torch.dtype):
    channels = 8 * numbers.randrange(1, 65)
    side = max(2, round(math.sqrt(elements / channels)))
    layer = numbers.choice([torch.nn.BatchNorm2d(channels), torch.nn.GroupNorm(8, channels), torch.nn.InstanceNorm2d(channels)]).eval()
    return layer.to(dtype), [torch.randn(1, channels, side, side).to(dtype)]


def _layer_norm(numbers: random.Random, elements: int, dtype: torch.dtype):
    width = numbers.choice([200, 768, 1000, 1024, 4096])
    return torch.nn.LayerNorm(width).to(dtype), [torch.randn(max(1, elements // width), width).to(dtype)]


def _resize(numbers: random.Random, elements: int, dtype: torch.dtype):
    channels, factor, mode = numbers.randrange(3, 129), numbers.choice([2, 1.5, 3]), numbers.choice(["nearest", "bilinear", "bicubic"])
    side = max(4, round(math.sqrt(elements / channels)))
    resized = torch.nn.functional.interpolate
    return (lambda x: resized(x, scale_factor=factor, mode=mode)), [torch.randn(1, channels, side, side).to(dtype)]


LAYERS = {
    "layer.attention": _attention,
    "layer.conv2d": _conv,
    "layer.conv_transpose2d": _conv_transpose,
    "layer.depthwise": _depthwise,
    "layer.embedding": _embedding,
    "layer.gru": _recurrent(torch.nn.GRU),
    "layer.layer_norm": _layer_norm,
    "layer.linear": _linear,
    "layer.lstm": _recurrent(torch.nn.LSTM),
    "layer.norm": _norm,
    "layer.pool": _pool,
    "layer.resize": _resize,
}
"""Layers with drawn parameters: functions of the numbers drawn, of the elements of the largest tensor, and of the element type."""


def summary(found: dict[str, dict[str, dict]], described: list[dict], peers: list[str], ratio: Callable) -> str:
    """The worst first: how many times as fast as eager PyTorch, and the part of the time in which a copy would move as many bytes."""
    bandwidth = _bandwidth()
    lines = []
    for peer in [peer for peer in peers if peer != "eager"]:
        rows = [(ratio(row, peer), name, row[peer], each) for (name, row), each in zip(found.items(), described)]
        timed = sorted((row for row in rows if row[0] is not None), key=lambda row: row[0])
        ratios = [row[0] for row in timed]
        if not ratios:
            continue
        level = sum(each >= 0.95 for each in ratios) / len(ratios)
        lines += [
            f"{peer}: {len(ratios)} of {len(rows)} programs are right; geometric mean {geometric_mean(ratios):.2f}x eager, "
            f"{100 * level:.1f}% at 0.95x or better, the slowest {ratios[0]:.2f}x.",
            "",
            "| program | time | beside eager | of a copy's bandwidth |",
            "| --- | ---: | ---: | ---: |",
        ]
        for faster, name, said, each in timed:
            share = each["bytes"] / bandwidth / (1e-6 * said["microseconds"])
            lines.append(f"| {name.partition(' ')[2]} | {said['microseconds']:.0f} us | {faster:.2f}x | {100 * share:.0f}% |")
        lines.append("")
    return "\n".join(lines)


def _bandwidth() -> float:
    """Bytes in a second that a copy of 64 MiB reads and writes."""
    source = torch.zeros(1 << 24)
    target = torch.empty_like(source)

    def once() -> float:
        start = perf_counter()
        target.copy_(source)
        return perf_counter() - start

    return 2 * source.numel() * source.element_size() / min(once() for _ in range(5))
