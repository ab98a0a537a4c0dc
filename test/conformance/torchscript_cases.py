"""Saves programs of TorchScript with what PyTorch computes of them.

    python torchscript_cases.py torchscript

Groups: control flow that a call decides, control flow that its types decide, Python's values, modules (scripted, traced, frozen), and an
archive as an old version wrote it. Archives hold no records for debugging, and are stored without compression, as the fuzzer reads them.
"""

import enum
import functools
import json
import os
import zipfile
from typing import Dict, List, NamedTuple, Optional, Tuple

import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.utils import _pytree as pytree

import case
import torchscript_programs

def save(folder, name, program, calls, version=None):
    """Writes an archive, the inputs of calls, and what PyTorch computes of each by the archive as it is read back; gives its row of the manifest."""
    path = os.path.join(folder, name + ".pt")
    program().save(path)
    repack(path, version)
    files, kinds = [], []
    for place, inputs in enumerate(calls):
        file = f"{name}.safetensors" if len(calls) == 1 else f"{name}.s{place}.safetensors"
        given, outputs = save_call(path, os.path.join(folder, file), list(inputs))
        files.append(file)
        kinds += [t.dtype for t in outputs + given if isinstance(t, Tensor)]
    pairs = [case.TOLERANCE.get(kind, (0.0, 0.0)) for kind in kinds] or [(0.0, 0.0)]
    return {
        "name": f"torchscript__{name}", "group": "torchscript", "op": name, "dtype": case.SHORT.get(kinds[0], "") if kinds else "",
        "pt": f"{name}.pt", "io": files, "rtol": max(p[0] for p in pairs), "atol": max(p[1] for p in pairs),
        "check": "close", "n_in": len(given), "n_out": len(outputs), "tags": [],
    }


def save_call(path, file, inputs):
    """Writes the inputs of a call and what PyTorch computes of them; gives both."""
    leaf = lambda value: value is None
    copied = lambda value: value.clone() if isinstance(value, Tensor) else value
    given = [copied(value) for value in pytree.tree_leaves(inputs, is_leaf=leaf)]
    module = torch.jit.load(path)
    before = {name: b.clone() for name, b in module.named_buffers()}
    with torch.no_grad():
        outputs = pytree.tree_leaves(module(*pytree.tree_map(copied, inputs, is_leaf=leaf)), is_leaf=leaf)
    changed = {name: b for name, b in module.named_buffers() if not torch.equal(b, before[name])}
    tensors, scalars = case.entries("in", given)
    more, more_scalars = case.entries("out", outputs)
    tensors |= more | {f"mut_{n}": b.detach().contiguous().clone() for n, b in changed.items()}
    meta = {"n_in": json.dumps(len(given)), "n_out": json.dumps(len(outputs)), "scalars": json.dumps(scalars | more_scalars)}
    # Entries of dicts by their keys, of dicts in dicts by the keys of both.
    ways = [[str(part.key) for part in way if isinstance(part, pytree.MappingKey)] for way, _ in pytree.tree_flatten_with_path(inputs, is_leaf=leaf)[0]]
    keys = {f"in_{place}": ":".join(way) for place, way in enumerate(ways) if way}
    save_file(tensors, file, meta | ({"keys": json.dumps(keys)} if keys else {}))
    return given, outputs


def repack(path, version):
    """The same archive without records for debugging, every entry as it is."""
    with zipfile.ZipFile(path) as archive:
        entries = [(info.filename, archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in entries:
            if version and name.endswith("version"):
                data = f"{version}\n".encode()
            if version and version < 8:
                # The number of steps could be left out.
                data = data.replace(b"linspace(start, end, 100", b"linspace(start, end, None")
            if not name.endswith((".debug_pkl", "serialization_id")):
                archive.writestr(zipfile.ZipInfo(name), data)


FUNCTIONS = []


def script(*inputs):
    """A function to script, and its inputs."""
    def keep(function):
        FUNCTIONS.append((function, list(inputs)))
        return function
    return keep


x = torch.randn(3, 4, generator=torch.Generator().manual_seed(1))
v = torch.arange(5.0)


@script(x)
def branch(x: Tensor):
    if bool(x.sum() > 0):
        y, n = x + 1, 1
    else:
        y, n = x - 1, 2
    return y, n


@script(v)
def without_gradient(x: Tensor):
    with torch.no_grad():
        y = x * 2
        y.add_(x)
    return (x * y).sum()


@script(-x.abs())
def branch_of_sizes(x: Tensor):
    y = x[:2] if bool(x.sum() > 0) else x[:1]
    return y * 2


@script(v)
def halve(x: Tensor):
    n = 0
    while bool(x.sum() > 1):
        x = x / 2
        n += 1
    return x, n


@script(torch.tensor(4))
def count(n: Tensor):
    s = torch.zeros(2)
    for i in range(int(n)):
        s = s + i
    return s


@script(v)
def nested(x: Tensor):
    for i in range(4):
        if i % 2 == 0:
            if bool(x.max() > 3):
                x = x - i
            else:
                x = x + i
        else:
            x = x * 1.5
    return x


@script(x)
def returns_early(x: Tensor):
    if bool(x.mean() > 0):
        return x * 2
    x = x - 1
    return x


@script(v)
def leaves_a_loop(x: Tensor):
    for i in range(5):
        if bool(x.sum() > 30):
            break
        x = x * 2
    return x


@script(v)
def endless(x: Tensor):
    n = 0
    while True:
        x = x * 2
        n += 1
        if bool(x.sum() > 100):
            break
    return x, n


@script({"left": x, "right": x * 2}, 3)
def entries_of_a_dict(given: Dict[str, Tensor], n: int):
    total = given["left"] - given["right"] * n
    for key, value in given.items():
        total = total + value * float(len(key))
    return total


@script(torch.zeros(0, 3), torch.tensor(2.0))
def empty_and_rank_0(x: Tensor, y: Tensor):
    return x.sum() + y, x * y, x.shape[0], torch.cat([x, x + 1])


@script(x)
def different_ranks(x: Tensor):
    y = x.unsqueeze(0) if bool(x.sum() > 0) else x
    return y.sum(dim=0) if y.dim() == 2 else y.sum(dim=2).squeeze(0)[:4].sum() + x[0]


@script(x)
def maybe_absent(x: Tensor):
    y: Optional[Tensor] = None
    if bool(x.sum() > 100):
        y = x + 1
    if y is not None:
        return y
    return x * 2


@script(x)
def appends_in_a_branch(x: Tensor):
    rows = [x]
    if bool(x.sum() > -100):
        rows.append(x * 2)
    return torch.stack(rows).sum(0) * len(rows)


@script(x)
def raises(x: Tensor):
    if bool((x > 100).any()):
        raise ValueError("too large")
    return x.relu()


@script(x)
def lists(x: Tensor):
    rows: List[Tensor] = []
    for i in range(x.size(0)):
        rows.append(x[i] * i)
    rows.reverse()
    rows.insert(0, rows.pop())
    return torch.stack(rows), len(rows), [i * 2 for i in range(3)]


@script(x)
def dicts(x: Tensor):
    d: Dict[str, Tensor] = {"a": x}
    d["b"] = x + 1
    total = torch.zeros(())
    for key, value in d.items():
        if key != "c":
            total = total + value.sum()
    return d, total, "a" in d


@script(x, None)
def absent(x: Tensor, y: Optional[Tensor] = None):
    return x if y is None else x + y


@script([x, x * 2, x * 3])
def list_of_tensors(xs: List[Tensor]):
    s = xs[0]
    for y in xs[1:]:
        s = s + y
    return s, len(xs)


@script((x, 2.0))
def tuple_of_both(t: Tuple[Tensor, float]):
    return t[0] * t[1]


@script(x, 3)
def number(x: Tensor, n: int):
    return x.repeat(n, 1), -7 // n, -7 % n, n**2


@script(x)
def writes(x: Tensor):
    y = x.clone()
    y += 1
    y[0] = 5
    y[:, 1].mul_(3)
    y[1, 2:] = y[0, :2]
    return y


@script(x)
def texts(x: Tensor):
    parts = "mode_{}".format(x.size(0)).split("_")
    return x * len(parts[0]) if parts[1] == "3" else x


@script(x)
def forks(x: Tensor):
    future = torch.jit.fork(torch.relu, x)
    return torch.jit.wait(future) + 1


@script(v)
def places(x: Tensor):
    return x[torch.nonzero(x > 1).squeeze(1)], x[x > 2]


@script(x)
def constants(x: Tensor):
    return x.repeat(int(torch.tensor([2, 3]).sum().item()), 1)


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Point(NamedTuple):
    a: Tensor
    n: int


class State(nn.Module):
    """Buffers that a call changes, an enum, a dict, a NamedTuple, modules by name."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))
        self.register_buffer("mean", torch.zeros(4))
        self.colour, self.sizes = Colour.RED, {"k": 2}
        self.layers = nn.ModuleDict({"x": nn.Linear(4, 4), "y": nn.Linear(4, 4)})

    def forward(self, x: Tensor):
        self.calls += 1
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
        for _, layer in self.layers.items():
            x = layer(x)
        if self.colour == Colour.RED:
            x = x + self.sizes["k"]
        point = Point(torch.nn.functional.gelu(x), 2)
        return point, point.a * point.n


class Rebound(nn.Module):
    """Buffers that become other tensors, each other, and a view of themselves, while views of the old ones are results."""

    def __init__(self):
        super().__init__()
        self.register_buffer("a", torch.arange(4.0))
        self.register_buffer("b", torch.arange(4.0) * 10)
        self.register_buffer("c", torch.arange(9.0).view(3, 3))

    def forward(self, x: Tensor):
        view, parts, c = self.a.view(2, 2), self.b.chunk(2), self.c
        a = self.a
        self.a = self.b
        self.b = a
        self.c = c.t()
        return view, parts[0], self.a + x[0], self.c.sum(0), c


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.cell = nn.LSTM(4, 5, 2, batch_first=True, bidirectional=True), nn.GRUCell(4, 3)

    def forward(self, x: Tensor):
        y, (h, c) = self.rnn(x)
        s = torch.zeros(x.size(0), 3)
        for i in range(x.size(1)):
            s = self.cell(x[:, i], s)
        return y, h, c, s


class Sized(nn.Module):
    """Sizes that pass through tensors when it is traced."""

    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(4, 3), nn.BatchNorm1d(3)

    def forward(self, x):
        z = torch.relu(self.norm(self.linear(x)))
        z = z.reshape(x.shape[0], x.shape[1] - 1, -1) + torch.arange(x.shape[0] * 3).view(-1, 3, 1)
        return z, z.argmax(dim=1)[0]


class Mixed(nn.Module):
    """A traced part of a scripted module."""

    def __init__(self):
        super().__init__()
        self.part = torch.jit.trace(nn.Linear(4, 2), x)

    def forward(self, x: Tensor):
        y = self.part(x)
        return self.part(x * 2) if bool(y.sum() > 0) else y


@torch.jit.script
def until_small(x: Tensor):
    n = 0
    while bool(x.abs().max() > 1):
        x = x / 2
        n += 1
    if n > 2:
        return x + n
    return x


class Traced(nn.Module):
    """A scripted part of a traced module, with its branch and loop."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 2)

    def forward(self, x):
        return self.linear(until_small(x)) * 2


def old_division(a: Tensor, b: Tensor):
    return torch.div(a, b)


def old_steps(start: float, end: float):
    return torch.linspace(start, end, steps=100)


def programs():
    """Names, functions that make programs, the inputs of calls, and versions."""
    for function, inputs in FUNCTIONS:
        yield function.__name__, functools.partial(torch.jit.script, function), [inputs]
    torch.manual_seed(0)
    state, recurrent, sized, mixed = State().eval(), Recurrent().eval(), Sized().eval(), Mixed().eval()
    yield "state", (lambda: torch.jit.script(state)), [[x]]
    yield "rebound", (lambda: torch.jit.script(Rebound().eval())), [[x]]
    yield "recurrent", (lambda: torch.jit.script(recurrent)), [[torch.randn(2, 3, 4)]]
    yield "traced", (lambda: torch.jit.trace(sized, (x,))), [[x]]
    yield "traced_frozen", (lambda: torch.jit.freeze(torch.jit.trace(sized, (x,)))), [[x]]
    yield "training", (lambda: torch.jit.script(nn.BatchNorm1d(4))), [[x]]
    yield "mixed", (lambda: torch.jit.script(mixed)), [[x]]
    whole = [torch.tensor([7, -7, 6]), torch.tensor([2, 2, -4])]
    yield "old_division", (lambda: torch.jit.script(old_division)), [whole], 3
    for function, calls in torchscript_programs.PROGRAMS:
        yield function.__name__, functools.partial(torch.jit.script, function), calls
    traced = Traced().eval()
    yield "traced_calls_scripted", (lambda: torch.jit.trace(traced, (x,))), [[x], [x * 20]]
    yield "buffers_in_loops", (lambda: torch.jit.script(torchscript_programs.Buffers())), torchscript_programs.BUFFERS
    yield "flags", (lambda: torch.jit.script(torchscript_programs.Flags())), [[x], [-x]]
    yield "old_steps", (lambda: torch.jit.script(old_steps)), [[0.0, 1.0]], 7


def makers(options):
    for name, program, calls, *version in programs():
        yield name, functools.partial(save, options.out, name, program, calls, *version)


if __name__ == "__main__":
    case.collect(__doc__, makers, {})
