"""What is measured: functions and networks of PyTorch with the inputs of their calls, the same for every peer."""

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch

import torch
from torch.nn import functional


@dataclass(frozen=True)
class Workload:
    """A program and its calls."""

    name: str
    build: Callable[[], Callable]
    """Makes the function or module, always with the same weights."""
    arguments: Callable[[], list[tuple]]
    """The arguments of calls. Where there are several, calls take them in turn, and the number of rows is what differs."""
    tolerance: float = 1e-3
    """The largest difference from eager PyTorch that is right, relative to the largest element."""

    @property
    def family(self) -> str:
        """Workloads of a family share a table."""
        return self.name.split("_")[0]

    def module(self) -> torch.nn.Module:
        """The program as a module."""
        built = self.build()
        return built if isinstance(built, torch.nn.Module) else _Function(built)

    def export(self) -> torch.export.ExportedProgram:
        """The program as `torch.export` captures it, with symbolic rows where calls differ in them."""
        arguments = self.arguments()
        rows = ({0: torch.export.Dim("rows", min=2)},) if len(arguments) > 1 else None
        return torch.export.export(self.module(), arguments[0], dynamic_shapes={"arguments": rows} if rows else None)


class _Function(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        return self.function(*arguments)


def random(*sizes, seed=0, dtype=torch.float32):
    """The same numbers in every process."""
    return torch.randn(sizes, generator=torch.Generator().manual_seed(seed), dtype=dtype)


STATEMENTS = (
    lambda x: x + 0.1, torch.sin, lambda x: x * 1.1, torch.cos, lambda x: x + 0.2, torch.relu, lambda x: x - 0.1, lambda x: torch.exp(x * 0.5),
    lambda x: x + 0.3, torch.sigmoid, lambda x: x * 1.2, torch.sin, lambda x: x + 0.4, torch.cos, lambda x: x - 0.2, torch.relu, lambda x: x + 0.5,
    lambda x: torch.exp(x * 0.4), lambda x: x * 1.3, torch.sigmoid,
)  # fmt: skip
"""Light statements; a chain takes them in order, over and over."""


def chain(length):
    """So many statements, and the sum of what they give."""

    def function(x):
        for k in range(length):
            x = STATEMENTS[k % len(STATEMENTS)](x)
        return x.sum()

    return function


def loop(times):
    """Adds the sine of a value to it, again and again."""

    def function(x):
        for _ in range(times):
            x = x + torch.sin(x)
        return x

    return function


def standardized(x, y):
    """Two tables brought to mean 0 and deviation 1, their products summed, and a penalty: a program from NumPy."""
    deviations = [torch.where(each.std(0, correction=0) == 0, 1.0, each.std(0, correction=0)) for each in (x, y)]
    x, y = ((each - each.mean(0)) / deviation for each, deviation in zip((x, y), deviations))
    products = (x[:, :, None] * y[:, None, :]).sum((-2, -1))
    return products.clamp(-1, 1).exp() + 0.001 * (x.square() + y.square()).sum(1)


def torchvision(name):
    """A network of torchvision with weights of a fixed seed."""

    def build():
        import torchvision

        torch.manual_seed(0)
        return getattr(torchvision.models, name)(weights=None).eval()

    return build


def timm(name):
    """A network of timm with weights of a fixed seed."""

    def build():
        import timm

        torch.manual_seed(0)
        return timm.create_model(name, pretrained=False).eval()

    return build


def bert():
    """BERT-base, its last hidden state."""
    from transformers import BertConfig, BertModel

    class Hidden(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = BertModel(BertConfig(), add_pooling_layer=False)

        def forward(self, tokens):
            return self.bert(tokens).last_hidden_state

    torch.manual_seed(0)
    return Hidden().eval()


def quantised(build, arguments, *layers):
    """A network in 8 bits as PyTorch 2 export quantises it for x86: activations by tensor, weights by channel. Of some kinds of layers, or all."""

    def quantise():
        from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
        from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer as x86

        quantizer, config = x86.X86InductorQuantizer(), x86.get_default_x86_inductor_quantization_config()
        for layer in layers:
            quantizer.set_module_type_qconfig(layer, config)
        if not layers:
            quantizer.set_global(config)
        (example,) = arguments()
        prepared = prepare_pt2e(torch.export.export(build(), example, strict=True).module(), quantizer)
        prepared(*example)
        return convert_pt2e(prepared)

    return quantise


def tokens(*sizes):
    """Words of BERT's vocabulary."""
    return torch.randint(0, 30522, sizes, generator=torch.Generator().manual_seed(0))


def once(function, *sizes, dtype=torch.float32):
    """A function called on tensors of these sizes."""
    return lambda: function, lambda: [tuple(random(*each, seed=k, dtype=dtype) for k, each in enumerate(sizes))]


def linear():
    """One small layer."""
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(100, 10), torch.nn.ReLU())


def convolution():
    """A convolution as in the middle of ResNets."""
    torch.manual_seed(0)
    return torch.nn.Conv2d(64, 64, 3, padding=1, bias=False)


def sincos(x):
    """One line of two functions."""
    return torch.sin(x) + torch.cos(x)


LENGTHS = (1, 5, 10, 15, 20, 25, 30)
IMAGE = lambda: [(random(1, 3, 224, 224),)]  # noqa: E731
SENTENCE = lambda: [(tokens(1, 128),)]  # noqa: E731
CHANGING = [random(rows, 16, seed=rows) for rows in range(4, 14)]

WORKLOADS = (
    *(Workload(f"chain_{n}", *once(chain(n), (8, 16))) for n in LENGTHS),
    *(Workload(f"chain_{n}_changing", lambda n=n: chain(n), lambda: [(x,) for x in CHANGING]) for n in LENGTHS),
    *(Workload(f"chain_{n}_large", *once(chain(n), (4096, 4096))) for n in (5, 30)),
    Workload("sincos_number", lambda: sincos, lambda: [(torch.tensor(1.0),)]),
    Workload("sincos_10k", *once(sincos, (10_000,))),
    Workload("sincos_10m", *once(sincos, (10_000_000,))),
    *(Workload(f"loop_{n}", *once(loop(n), (10_000,))) for n in (10, 20)),
    Workload("numpy_f32", *once(standardized, (1024, 640), (1024, 640)), tolerance=2e-2),
    Workload("numpy_f64", *once(standardized, (1024, 640), (1024, 640), dtype=torch.float64), tolerance=1e-6),
    Workload("network_linear", linear, lambda: [(random(32, 100),)]),
    Workload("network_resnet18", torchvision("resnet18"), lambda: [(random(16, 3, 224, 224),)]),
    Workload("network_resnet50", torchvision("resnet50"), lambda: [(random(1, 3, 224, 224),)]),
    Workload("network_resnext101", timm("resnext101_32x8d"), lambda: [(random(4, 3, 224, 224),)]),
    *(Workload(f"network_bert_{b}x{s}", bert, lambda b=b, s=s: [(tokens(b, s),)]) for b, s in ((1, 16), (1, 128), (8, 128))),
    Workload("quantised_resnet50", quantised(torchvision("resnet50"), IMAGE), IMAGE, tolerance=5e-2),
    Workload("quantised_bert_1x128", quantised(bert, SENTENCE, torch.nn.Linear), SENTENCE, tolerance=1e-1),
    *(Workload(f"kernel_matmul_{n}", *once(torch.matmul, (n, n), (n, n))) for n in (512, 1024, 2048)),
    Workload("kernel_matmul_1024x4096x1024", *once(torch.matmul, (1024, 4096), (4096, 1024))),
    Workload("kernel_softmax", *once(lambda x: torch.softmax(x, -1), (4096, 1024))),
    Workload("kernel_layernorm", *once(lambda x, w, b: functional.layer_norm(x, (768,), w, b), (8192, 768), (768,), (768,))),
    Workload("kernel_gelu", *once(functional.gelu, (16 << 20,))),
    Workload("kernel_rowsum", *once(lambda x: x.sum(1), (4096, 4096))),
    Workload("kernel_colsum", *once(lambda x: x.sum(0), (4096, 4096))),
    Workload("kernel_transpose_add", *once(lambda x, y: x.t() + y, (4096, 4096), (4096, 4096))),
    Workload("kernel_attention", *once(functional.scaled_dot_product_attention, *[(8, 12, 128, 64)] * 3)),
    Workload("kernel_convolution", convolution, lambda: [(random(16, 64, 56, 56),)]),
)


def matching(patterns: list[str]) -> list[Workload]:
    """The workloads whose names match one of the patterns, in the order in which they are listed above; those that were drawn by name."""
    from drawn import programs

    if patterns and all(pattern.startswith("drawn_") for pattern in patterns):
        return [work for work in programs() if work.name in patterns or "drawn_*" in patterns]
    for pattern in patterns:
        if not any(fnmatch(work.name, pattern) for work in WORKLOADS):
            raise SystemExit(f"no workload is called {pattern}; --list names them all")
    return [work for work in WORKLOADS if any(fnmatch(work.name, pattern) for pattern in patterns)]
