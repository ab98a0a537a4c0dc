"""Writes one conformance case: a program exported from PyTorch, its inputs, and what PyTorch computes of them.

The layout is the corpus's: `NAME.pt2` without sample inputs and stack traces, one `NAME.sK.safetensors` for each input set
with `in_k`, `out_k` and `mut_NAME`, and a row of the manifest.
"""

import argparse
import collections
import copy
import inspect
import json
import os
import signal
import warnings

import numpy as np
import torch
from safetensors.torch import save_file
from torch.utils import _pytree as pytree

TOLERANCE = {  # those of torch.testing
    torch.float32: (1.3e-6, 1e-5),
    torch.complex64: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex128: (1e-7, 1e-7),
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
}
SHORT = {
    torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16", torch.int8: "i8",
    torch.int16: "i16", torch.int32: "i32", torch.int64: "i64", torch.uint8: "u8", torch.bool: "bool",
    torch.complex64: "c64", torch.complex128: "c128", torch.float8_e4m3fn: "f8e4m3fn", torch.float8_e5m2: "f8e5m2",
}


FROM_NUMPY = "float64 float32 float16 int64 int32 int16 int8 uint64 uint32 uint16 uint8 bool complex64".split()
"""Element types of NumPy that safetensors of PyTorch holds as they are."""


class Call(torch.nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def strip(program):
    """Without sample inputs and stack traces, whose paths are of the exporting machine."""
    program._example_inputs = None
    for graph in (m.graph for m in program.graph_module.modules() if isinstance(m, torch.fx.GraphModule)):
        for node in graph.nodes:
            node.meta.pop("stack_trace", None)


def from_numpy(value):
    """A tensor of PyTorch's from an array of NumPy's, or nothing where a safetensors file has no counterpart."""
    value = np.asarray(value)
    if value.dtype.name == "bfloat16":
        return torch.from_numpy(np.ascontiguousarray(value).view(np.int16).copy()).view(torch.bfloat16).reshape(value.shape)
    if value.dtype.name not in FROM_NUMPY:
        return None
    return torch.from_numpy(np.ascontiguousarray(value).copy()).reshape(value.shape)


def entries(prefix, values):
    """Tensors under numbered names; other values as scalars."""
    tensors, scalars = {}, {}
    for k, value in enumerate(values):
        name = f"{prefix}_{k}"
        if isinstance(value, torch.Tensor):
            tensors[name] = value.detach().resolve_conj().resolve_neg().contiguous().clone()
        elif isinstance(value, bool):
            scalars[name] = {"bool": value}
        elif isinstance(value, int):
            scalars[name] = {"int": value}
        elif isinstance(value, float):
            scalars[name] = {"float": repr(value)}
        else:
            scalars[name] = {"none": None}
    return tensors, scalars


def run(module, inputs):
    """Eager PyTorch on copies: the inputs as they were, the outputs, the buffers and inputs that changed."""
    module, given = copy.deepcopy(module), [x.clone() if isinstance(x, torch.Tensor) else x for x in inputs]
    before = {name: b.clone() for name, b in module.named_buffers()}
    with torch.no_grad():
        outputs = pytree.tree_leaves(module(*given), is_leaf=lambda v: v is None)
    changed = {name: b for name, b in module.named_buffers() if not torch.equal(b, before[name])}
    return outputs, changed


def export(folder, group, name, module, input_sets, dynamic_shapes=None, tags=(), op="", tolerance=None, eager=None):
    """Writes a case and gives its row of the manifest. `eager` is what gives the outputs, where it is another than what is exported."""
    module = module if isinstance(module, torch.nn.Module) else Call(module)
    module.eval()
    variadic = any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(module.forward).parameters.values())
    shapes = (tuple(dynamic_shapes),) if dynamic_shapes and variadic else dynamic_shapes
    first = [x.clone() if isinstance(x, torch.Tensor) else x for x in input_sets[0]]
    program = torch.export.export(copy.deepcopy(module), tuple(first), dynamic_shapes=shapes, strict=False)
    strip(program)
    os.makedirs(os.path.join(folder, group), exist_ok=True)
    path = f"{group}/{name}.pt2"
    torch.export.save(program, os.path.join(folder, path))
    files = []
    for k, inputs in enumerate(input_sets):
        outputs, changed = run(Call(eager) if eager else module, inputs)
        tensors, scalars = entries("in", inputs)
        more, more_scalars = entries("out", outputs)
        tensors |= more | {f"mut_{n}": t.detach().contiguous().clone() for n, t in changed.items()}
        suffix = f".s{k}" if len(input_sets) > 1 else ""
        file = f"{group}/{name}{suffix}.safetensors"
        meta = {"n_in": json.dumps(len(inputs)), "n_out": json.dumps(len(outputs)), "scalars": json.dumps(scalars | more_scalars)}
        save_file(tensors, os.path.join(folder, file), meta)
        files.append(file)
    kinds = [t.dtype for t in outputs if isinstance(t, torch.Tensor)] + [x.dtype for x in input_sets[0] if isinstance(x, torch.Tensor)]
    pairs = [TOLERANCE.get(kind, (0.0, 0.0)) for kind in kinds] or [(0.0, 0.0)]
    rtol, atol = tolerance or (max(p[0] for p in pairs), max(p[1] for p in pairs))
    return {
        "name": f"{group}__{name}", "group": group, "op": op or name, "dtype": SHORT.get(kinds[0], "") if kinds else "",
        "dynamic": dynamic_shapes is not None, "pt2": path, "io": files, "rtol": rtol, "atol": atol, "check": "close",
        "n_in": len(input_sets[0]), "n_out": len(outputs), "tags": list(tags),
    }


def bind(function, leaves, spec, places):
    """A call as a function of the leaves of its arguments at these places."""
    def call(*given):
        filled = list(leaves)
        for place, value in zip(places, given):
            filled[place] = value
        args, kwargs = pytree.tree_unflatten(filled, spec)
        return function(*args, **kwargs)
    return call


def write_manifest(folder, cases, maker="torch", version=torch.__version__):
    """The manifest of all cases, one to a line, with the version of the package that computed their results."""
    rows = ",\n".join(json.dumps(case) for case in cases)
    with open(os.path.join(folder, "manifest.json"), "w") as file:
        file.write('{"format": 1, "%s": "%s", "cases": [\n%s\n]}\n' % (maker, version, rows))


def expire(*_):
    raise TimeoutError("slow")


def collect(doc, makers, flags):
    """Reads the command line and writes every case that `makers(options)` gives as a title and a function that exports it.

    What does not export within two minutes is left out and counted by its reason.
    """
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    for name, default in flags.items():
        parser.add_argument(f"--{name}", default=default, type=type(default))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, expire)
    os.makedirs(options.out, exist_ok=True)
    cases, left = [], collections.Counter()
    for title, make in makers(options):
        signal.alarm(120)
        try:
            cases.append(make())
        except Exception as error:
            reason = f"{type(error).__name__}: {str(error)[:60]}"
            left[reason] += 1
            print(f"{title}: {reason}", flush=True)
        finally:
            signal.alarm(0)
    write_manifest(options.out, cases)
    print(f"{len(cases)} cases; left out: {dict(left)}")
