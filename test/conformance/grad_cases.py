"""Makes gradient cases of the programs of a conformance folder.

    python grad_cases.py OUT --source FOLDER [--cases REGEX] [--group NAME] [--dtype float32] [--ties 1] [--order 2] [--seed N]

A case is the plain program and its inputs, with random cotangents `cot_k` of its outputs of floats, eager PyTorch's gradients `grad_in_k` of
inputs and `grad_p_NAME` of parameters, and, in the metadata, `grad`: `order`, `cot` (the outputs that have a cotangent), `wrt` (what is
differentiated by), `none` (those without a gradient) and `atol`. A gradient may be off by four times PyTorch's own error against a computation
in f64, or by the tolerance of torch.testing where that is more. With `--ties 1` the inputs are rounded to a few values, so that there are
ties and zeros. With `--order 2` the gradients are those of the first gradients, whose cotangents are `cot_grad_in_k` and `cot_grad_p_NAME`. Programs that PyTorch does not differentiate are left out and counted.
"""

import copy
import io
import json
import os
import re

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch.utils import _pytree as pytree

import case


def read(path):
    """The inputs in order, the metadata."""
    with safe_open(path, "pt") as file:
        meta, tensors = file.metadata() or {}, {name: file.get_tensor(name) for name in file.keys()}
    scalars, inputs, k = json.loads(meta.get("scalars", "{}")), [], 0
    while f"in_{k}" in tensors or f"in_{k}" in scalars:
        name = f"in_{k}"
        if name in tensors:
            inputs.append(tensors[name])
        else:
            kind, value = next(iter(scalars[name].items()))
            inputs.append(float(value) if kind == "float" else value)
        k += 1
    return inputs, scalars


def differentiable(value):
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


def gradients(program, inputs, cotangents, seed, wide=False, order=1):
    """Outputs, cotangents by name, and the gradient by each input and parameter, by name."""
    module = copy.deepcopy(program.module())
    widen = {torch.float32: torch.float64, torch.complex64: torch.complex128}
    place = lambda x: x.to(widen.get(x.dtype, x.dtype)) if wide and isinstance(x, torch.Tensor) else x
    if wide:
        module = module.double()
    given = [place(x).clone() if isinstance(x, torch.Tensor) else x for x in inputs]
    by = {}
    for k, x in enumerate(given):
        if differentiable(x):
            by[f"in_{k}"] = x.requires_grad_()
    for name, parameter in module.named_parameters():
        if differentiable(parameter):
            by[f"p_{name}"] = parameter.requires_grad_()
    args, kwargs = pytree.tree_unflatten(given, program.call_spec.in_spec)
    # What a program writes to is no leaf.
    args, kwargs = pytree.tree_map(lambda x: x.clone() if isinstance(x, torch.Tensor) else x, (args, kwargs))
    outputs = pytree.tree_leaves(module(*args, **kwargs), is_leaf=lambda value: value is None)
    seeded = [k for k, out in enumerate(outputs) if differentiable(out) and out.requires_grad]
    if not seeded or not by:
        raise ValueError("no gradient")
    generator = torch.Generator().manual_seed(seed)
    given_cotangents, cotangents = cotangents, {}

    def cotangent(name, out):
        if given_cotangents is None:
            draw = torch.randn(out.shape, generator=generator, dtype=torch.complex64 if out.is_complex() else torch.float32)
            cotangents[name] = draw.to(out.dtype)
        else:
            cotangents[name] = given_cotangents[name]
        return place(cotangents[name])

    def gradient(values, again):
        """The gradients of values by name."""
        seeds = [cotangent(name, value) for name, value in values.items()]
        return dict(zip(by, torch.autograd.grad(list(values.values()), list(by.values()), seeds, allow_unused=True, create_graph=again)))

    found = gradient({f"cot_{k}": outputs[k] for k in seeded}, order == 2)
    if order == 2:
        first = {name: g if g is not None else torch.zeros_like(by[name]) for name, g in found.items()}
        linear = {name: g for name, g in first.items() if not g.requires_grad}
        if len(linear) == len(first):
            raise ValueError("linear")
        for name, g in linear.items():
            cotangent(f"cot_grad_{name}", g)
        found = gradient({f"cot_grad_{name}": g for name, g in first.items() if g.requires_grad}, False)
    return outputs, cotangents, found


def tolerance(found, exact, dtype):
    rtol, atol = case.TOLERANCE.get(dtype, (0.0, 0.0))
    finite = found.abs().nan_to_num(0, 0, 0)
    least = atol + rtol * float(finite.max()) if found.numel() else atol
    if exact is None or exact.shape != found.shape:
        return least
    error = (found.to(exact.dtype) - exact).abs()
    error = error[error.isfinite()]
    return max(least, 4 * float(error.max())) if error.numel() else least


def gradient_case(folder, group, source, row, ties=False, seed=0, order=1):
    with open(os.path.join(source, row["pt2"]), "rb") as file:
        archive = file.read()
    program = torch.export.load(io.BytesIO(archive))
    inputs, scalars = read(os.path.join(source, row["io"][0]))
    if ties:
        inputs = [(x * 2).round() / 2 if differentiable(x) and not x.is_complex() else x for x in inputs]
    outputs, cotangents, found = gradients(program, inputs, None, seed, order=order)
    try:
        _, _, exact = gradients(program, inputs, cotangents, seed, wide=True, order=order)
    except Exception:
        exact = {}
    again = gradients(program, inputs, cotangents, seed, order=order)
    same = lambda a, b: a is None or torch.equal(a.nan_to_num(), b.nan_to_num())
    if not all(same(found[name], again[2][name]) for name in found):
        raise ValueError("random")
    clean = lambda x: x.detach().resolve_conj().resolve_neg().contiguous().clone()
    tensors, in_scalars = case.entries("in", inputs)
    more, out_scalars = case.entries("out", outputs)
    tensors |= more | {name: clean(g) for name, g in cotangents.items()}
    tensors |= {f"grad_{name}": clean(g) for name, g in found.items() if g is not None}
    grad = {
        "order": order, "cot": [int(name[4:]) for name in cotangents if name[4:].isdigit()], "wrt": list(found), "none": [name for name, g in found.items() if g is None],
        "atol": {name: tolerance(g, exact.get(name), g.dtype) for name, g in found.items() if g is not None},
    }
    name = row["name"].split("__", 1)[1]
    os.makedirs(os.path.join(folder, group), exist_ok=True)
    path, file = f"{group}/{name}.pt2", f"{group}/{name}.safetensors"
    with open(os.path.join(folder, path), "wb") as copied:
        copied.write(archive)
    save_file(tensors, os.path.join(folder, file), {"scalars": json.dumps(scalars | in_scalars | out_scalars), "grad": json.dumps(grad)})
    rtol, atol = row["rtol"], row["atol"]
    if ties:
        # What PyTorch gives at rounded inputs was not compared when the row was made.
        rtol, atol = max(rtol, 1e-4), max(atol, 1e-4)
    return row | {"name": f"{group}__{name}", "group": group, "pt2": path, "io": [file], "rtol": rtol, "atol": atol}


def makers(options):
    with open(os.path.join(options.source, "manifest.json")) as file:
        rows = json.load(file)["cases"]
    for row in rows:
        if row["group"] == options.group and row["dtype"] in ("", options.dtype) and re.search(options.cases, row["name"]):
            yield row["name"], lambda row=row: gradient_case(options.out, "grad", options.source, row, bool(options.ties), options.seed, options.order)


if __name__ == "__main__":
    torch.set_num_threads(1)
    case.collect(__doc__, makers, {"source": "", "cases": "", "group": "ops", "dtype": "f32", "ties": 0, "order": 1, "seed": 0})
