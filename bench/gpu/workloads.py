"""What is measured on a device: the same modules for exporting and for running."""

from dataclasses import dataclass

POOL = [
    lambda t, x: x + 0.1, lambda t, x: t.sin(x), lambda t, x: x * 1.1, lambda t, x: t.cos(x), lambda t, x: x + 0.2,
    lambda t, x: t.relu(x), lambda t, x: x - 0.1, lambda t, x: t.exp(x * 0.5), lambda t, x: x + 0.3, lambda t, x: t.sigmoid(x),
    lambda t, x: x * 1.2, lambda t, x: t.sin(x), lambda t, x: x + 0.4, lambda t, x: t.cos(x), lambda t, x: x - 0.2,
    lambda t, x: t.relu(x), lambda t, x: x + 0.5, lambda t, x: t.exp(x * 0.4), lambda t, x: x * 1.3, lambda t, x: t.sigmoid(x),
]  # fmt: skip


@dataclass
class Work:
    """A module with its inputs, and the bytes that it must move where that is what limits it."""

    name: str
    module: object
    inputs: tuple
    dynamic: bool = False
    bytes: int = 0


def module(torch, call):
    """A module that calls a function."""

    class Called(torch.nn.Module):
        def forward(self, *inputs):
            return call(*inputs)

    return Called().eval()


def chain(torch, count):
    """The first `count` statements of the pool, over again, and their sum."""

    def call(x):
        for k in range(count):
            x = POOL[k % len(POOL)](torch, x)
        return x.sum()

    return module(torch, call)


def all_of(torch, device):
    """The workloads, one after the other."""
    torch.manual_seed(0)
    functional = torch.nn.functional

    def random(*shape, dtype=torch.float32):
        return torch.randn(*shape, device=device, dtype=dtype)

    for count in [1, 5, 10, 15, 20, 25, 30]:
        yield Work(f"chain{count}", chain(torch, count), (random(8, 16),))
        yield Work(f"chain{count}_dynamic", chain(torch, count), (random(8, 16),), dynamic=True)
    large, rows = 64 << 20, (16384, 4096)
    size = 4 * rows[0] * rows[1]
    yield Work("add", module(torch, lambda x, y: x + y), (random(large), random(large)), bytes=12 * large)
    yield Work("gelu", module(torch, functional.gelu), (random(large),), bytes=8 * large)
    yield Work("rowsum", module(torch, lambda x: x.sum(1)), (random(*rows),), bytes=size)
    yield Work("colsum", module(torch, lambda x: x.sum(0)), (random(*rows),), bytes=size)
    yield Work("sum", module(torch, lambda x: x.sum()), (random(large),), bytes=4 * large)
    yield Work("softmax", module(torch, lambda x: functional.softmax(x, 1)), (random(*rows),), bytes=2 * size)
    norm = torch.nn.LayerNorm(rows[1]).to(device).eval()
    yield Work("layernorm", norm, (random(*rows),), bytes=2 * size)
    yield Work("transpose_add", module(torch, lambda x, y: x.t() + y), (random(8192, 8192), random(8192, 8192)), bytes=12 << 26)
    for dtype, name in [(torch.float32, "f32"), (torch.float16, "f16"), (torch.bfloat16, "bf16")]:
        for n in [512, 1024, 2048, 4096]:
            yield Work(f"matmul_{name}_{n}", module(torch, torch.matmul), (random(n, n, dtype=dtype), random(n, n, dtype=dtype)))
        heads = [random(8, 16, 1024, 64, dtype=dtype) for _ in range(3)]
        yield Work(f"attention_{name}", module(torch, functional.scaled_dot_product_attention), tuple(heads))
    conv = torch.nn.Conv2d(128, 128, 3, padding=1).to(device).eval()
    yield Work("conv3x3", conv, (random(16, 128, 56, 56),))
    yield from networks(torch, device)


def networks(torch, device):
    """ResNets and BERT, where their packages are installed."""
    try:
        import torchvision

        for name in ["resnet18", "resnet50"]:
            net = getattr(torchvision.models, name)(weights=None).to(device).eval()
            yield Work(name, net, (torch.randn(16, 3, 224, 224, device=device),))
    except ImportError:
        pass
    try:
        import transformers

        config = transformers.BertConfig(attn_implementation="sdpa")
        net = transformers.BertModel(config).to(device).eval()
        call = module(torch, lambda ids: net(ids).last_hidden_state)
        call.net = net
        yield Work("bert_base_8x128", call, (torch.randint(0, 30522, (8, 128), device=device),))
    except ImportError:
        pass


def copy_bandwidth(torch, timed):
    """Bytes a second that a copy reads and writes together."""
    a = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    b = torch.empty_like(a)
    return 2 * a.numel() / (timed(torch, lambda: b.copy_(a)) * 1e-6)
