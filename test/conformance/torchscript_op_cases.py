"""Saves samples of PyTorch's operator test database as archives of TorchScript.

    python torchscript_op_cases.py OUT [--ops REGEX] [--dtypes f32,i64,..] [--samples N] [--seed N]

A case is a scripted function of the sample's tensors, whose body is one call with the sample's other arguments written out. What PyTorch
computes of the function as it is read back is expected, in the tolerances of `op_cases.py`. Samples that do not script, operators that
are random, and those of which more than one result is right are left out and counted.
"""

import functools
import json
import os
import re

import torch
from safetensors.torch import save_file
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

import case
from op_cases import parts, same_twice, title, widened

# Operators whose elements nothing defines.
UNDEFINED = {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided"}

# The sign of an eigenvector is open.
SIGNS = {"linalg.eig", "linalg.eigh"}
# Two calls may draw the same.
DRAWN = {"nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d"}


def literal(value, names):
    """An argument as text; the tensors take their names in turn."""
    if isinstance(value, torch.Tensor):
        return next(names)
    if isinstance(value, (list, torch.Size)):
        return f"[{', '.join(literal(part, names) for part in value)}]"
    if isinstance(value, tuple):
        return f"({', '.join(literal(part, names) for part in value)}{',' if len(value) == 1 else ''})"
    if isinstance(value, slice):
        return ":".join("" if part is None else literal(part, names) for part in (value.start, value.stop, value.step))
    if isinstance(value, float) and not abs(value) < float("inf"):
        return f"float('{value}')"
    if isinstance(value, complex):
        return f"complex({value.real!r}, {value.imag!r})"
    if isinstance(value, torch.device):
        return f"torch.device('{value}')"
    if value is None or value is Ellipsis or isinstance(value, (bool, int, float, str, torch.dtype, torch.layout, torch.memory_format)):
        return "..." if value is Ellipsis else str(value) if not isinstance(value, str) else repr(value)
    raise ValueError(f"no text for {type(value).__name__}")


def calls(op, sample):
    """The ways in which a program may write the call: a function of the module, a method, an index."""
    counted = (f"x{k}" for k in range(1000))
    texts = [literal(value, counted) for value in (sample.input, *sample.args)]
    named = [f"{key}={literal(value, counted)}" for key, value in sample.kwargs.items()]
    if op.name == "__getitem__":
        index = sample.args[0] if isinstance(sample.args[0], (tuple, list)) else (sample.args[0],)
        names = iter([f"x{k}" for k in range(1, 1000)])
        yield f"x0[{', '.join(literal(part, names) for part in index)}]"
        return
    yield f"torch.{op.name}({', '.join(texts + named)})"
    yield f"{texts[0]}.{op.name}({', '.join(texts[1:] + named)})"


def scripted(op, sample, count):
    """The function of the first way that scripts, and the reason where none does."""
    reason = None
    for call in calls(op, sample):
        text = f"def forward({', '.join(f'x{k}: Tensor' for k in range(count))}):\n    return {call}\n"
        try:
            return torch.jit.CompilationUnit(text).forward
        except Exception as error:
            reason = reason or error
    raise ValueError("does not script") from reason


def unique(op, inputs):
    """Whether one result is right. The place of one of equal elements is open."""
    if op.name in ("topk", "kthvalue"):
        return all(x.numel() == x.unique().numel() for x in inputs)
    return op.name not in UNDEFINED | SIGNS | DRAWN


def save(folder, op, dtype, number, sample):
    """Writes a case; gives its row of the manifest."""
    leaves, spec, tensors, inputs = parts(sample)
    if not unique(op, inputs):
        raise ValueError("not unique")
    name = title(op, dtype, number)
    path = os.path.join(folder, f"{name}.pt")
    scripted(op, sample, len(inputs)).save(path)
    function = torch.jit.load(path)
    with torch.no_grad():
        outputs = same_twice(function, inputs)
        # Whole numbers may give floats: the types of the results have the tolerances.
        pairs = [case.TOLERANCE.get(t.dtype, (0.0, 0.0)) for t in [*outputs, inputs[0]] if isinstance(t, torch.Tensor)]
        rtol, atol = max(pair[0] for pair in pairs), max(pair[1] for pair in pairs)
        atol = widened(case.bind(op.op, leaves, spec, tensors), inputs, outputs, rtol, atol)
    held, scalars = case.entries("in", inputs)
    more, more_scalars = case.entries("out", outputs)
    meta = {"n_in": str(len(inputs)), "n_out": str(len(outputs)), "scalars": json.dumps(scalars | more_scalars)}
    save_file(held | more, os.path.join(folder, f"{name}.safetensors"), meta)
    return {
        "name": f"torchscript__{name}", "group": "torchscript", "op": op.name, "dtype": case.SHORT[dtype], "pt": f"{name}.pt",
        "io": [f"{name}.safetensors"], "rtol": rtol, "atol": atol, "check": "close", "n_in": len(inputs), "n_out": len(outputs), "tags": [],
    }


def makers(options):
    dtypes = {short: dtype for dtype, short in case.SHORT.items()}
    for k, op in enumerate(op_db):
        if not re.search(options.ops, op.name):
            continue
        for dtype in (dtypes[short] for short in options.dtypes.split(",")):
            torch.manual_seed(options.seed + k)
            try:
                samples = list(op.sample_inputs("cpu", dtype)) if dtype in op.dtypes else []
            except Exception as error:
                print(f"{op.name} {dtype}: {type(error).__name__}", flush=True)
                continue
            step = max(1, len(samples) // options.samples)
            for number in range(0, len(samples), step)[: options.samples]:
                yield f"{op.name} {case.SHORT[dtype]} {number}", functools.partial(save, options.out, op, dtype, number, samples[number])


if __name__ == "__main__":
    case.collect(__doc__, makers, {"ops": "", "dtypes": "f32,i64", "samples": 3, "seed": 0})
