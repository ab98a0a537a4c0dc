"""Exports samples of PyTorch's operator test database as conformance cases.

    python op_cases.py OUT [--kind sample|inplace|gradient|autocast] [--ops REGEX] [--dtypes f32,i8,..] [--samples N] [--skip N] [--seed N]

Each case is one operator on one sample, with the sample's tensors as inputs; or its in-place variant on a copy; or the gradients
of its outputs, traced; or what it gives under `torch.autocast` in bf16, for `rs-run --autocast --suite OUT`. Of each operator and type `--samples` are taken, with `--skip` of one operator in so many. Values are compared with eager PyTorch's in the
tolerances of torch.testing; f32 and complex results that PyTorch itself computes less exactly get four times its error
against a computation in f64. Operators that are random, or whose sample does not export, are left out and counted.
"""

import functools
import re

import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

import case

WIDE = {torch.float32: torch.float64, torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.complex64: torch.complex128}


def widened(call, inputs, outputs, rtol, atol):
    """The absolute tolerance under which four times the error of the given outputs is allowed."""
    try:
        wide = pytree.tree_leaves(call(*[x.to(WIDE.get(x.dtype, x.dtype)) for x in inputs]))
    except Exception:
        return atol
    for got, exact in zip(outputs, wide):
        if isinstance(got, torch.Tensor) and got.dtype in WIDE and got.numel():
            error = (got.to(exact.dtype) - exact).abs()
            error = error[error.isfinite()]
            if error.numel() and error.max() < 0.05 * exact.abs().nan_to_num(0, 0, 0).max():
                atol = max(atol, 4 * float(error.max()))
    return atol


def title(op, dtype, number):
    name = f"{op.name}{'.' + op.variant_test_name if op.variant_test_name else ''}".replace(".", "_")
    return f"{name}__{case.SHORT[dtype]}__{number:02}"


def parts(sample):
    """The leaves of a sample's arguments, how they are put together, and which of them are tensors."""
    leaves, spec = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
    tensors = [k for k, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    inputs = [leaves[k].detach().contiguous().clone() for k in tensors]
    if not inputs or any(x.numel() > 3000 or x.layout != torch.strided for x in inputs):
        raise ValueError("no tensors, or large ones")
    return leaves, spec, tensors, inputs


def same_twice(call, inputs):
    """The outputs, where two calls agree on them and a file can hold them."""
    outputs = pytree.tree_leaves(call(*[x.clone() for x in inputs]))
    again = pytree.tree_leaves(call(*[x.clone() for x in inputs]))
    if not all(torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(outputs, again) if isinstance(a, torch.Tensor) and a.dtype != torch.bool):
        raise ValueError("random")
    if any(isinstance(t, torch.Tensor) and t.dtype in (torch.complex128, torch.complex32) for t in inputs + outputs):
        raise ValueError("not storable")
    return outputs


def written(folder, group, op, dtype, number, call, inputs, program=None):
    rtol, atol = case.TOLERANCE.get(dtype, (0.0, 0.0))
    tolerance = (rtol, widened(call, inputs, same_twice(call, inputs), rtol, atol))
    return case.export(folder, group, title(op, dtype, number), program or call, [inputs], op=op.name, tolerance=tolerance)


def sample_case(folder, op, dtype, number, sample):
    leaves, spec, tensors, inputs = parts(sample)
    return written(folder, "ops", op, dtype, number, case.bind(op.op, leaves, spec, tensors), inputs)


def inplace_case(folder, op, dtype, number, sample):
    """The operator's in-place variant on a copy of its first tensor."""
    if op.inplace_variant is None:
        raise ValueError("no in-place variant")
    leaves, spec, tensors, inputs = parts(sample)

    def change(first, *args, **kwargs):
        result = first.clone()
        op.inplace_variant(result, *args, **kwargs)
        return result

    return written(folder, "inplace", op, dtype, number, case.bind(change, leaves, spec, tensors), inputs)


def gradient_case(folder, op, dtype, number, sample):
    """Outputs, and the gradients of their sum of squares: traced to the operators of the backward pass."""
    if not op.supports_autograd or not dtype.is_floating_point:
        raise ValueError("no gradients")
    leaves, spec, tensors, inputs = parts(sample)
    wanted = [k for k, place in enumerate(tensors) if leaves[place].requires_grad]
    call = case.bind(op.op, leaves, spec, tensors)

    def gradients(*given):
        given = [x.detach().requires_grad_(k in wanted) for k, x in enumerate(given)]
        with torch.enable_grad():
            outputs = [t for t in pytree.tree_leaves(call(*given)) if isinstance(t, torch.Tensor) and t.requires_grad]
            total = sum((t * t.conj()).real.sum() for t in outputs)
            return torch.autograd.grad(total, [given[k] for k in wanted], allow_unused=True)

    traced = make_fx(gradients)(*inputs)
    return written(folder, "opgrad", op, dtype, number, gradients, inputs, program=traced)


def autocast_case(folder, op, dtype, number, sample):
    """The operator under autocast, where that changes it."""
    leaves, spec, tensors, inputs = parts(sample)
    call = case.bind(op.op, leaves, spec, tensors)

    def cast(*given):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return call(*given)

    outputs, plain = same_twice(cast, inputs), same_twice(call, inputs)
    if all(a.dtype == b.dtype and torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(outputs, plain) if isinstance(a, torch.Tensor)):
        raise ValueError("nothing is cast")
    rtol, atol = case.TOLERANCE[torch.bfloat16]
    tolerance = (rtol, widened(call, inputs, outputs, rtol, atol))
    return case.export(folder, "autocast", title(op, dtype, number), call, [inputs], op=op.name, tolerance=tolerance, eager=cast)


KINDS = {"sample": sample_case, "inplace": inplace_case, "gradient": gradient_case, "autocast": autocast_case}


def samples_of(op, dtype, options, k):
    """The samples that are taken of an operator, with their numbers."""
    torch.manual_seed(options.seed + k)
    samples = list(op.sample_inputs("cpu", dtype, requires_grad=options.kind == "gradient"))
    step = max(1, len(samples) // options.samples)
    return [(number, samples[number]) for number in range((options.seed * 7 + k) % step, len(samples), step)[: options.samples]]


def makers(options):
    dtypes, make = {short: dtype for dtype, short in case.SHORT.items()}, KINDS[options.kind]
    for k, op in enumerate(op_db):
        if not re.search(options.ops, op.name) or (options.skip and (k + options.seed) % options.skip):
            continue
        for dtype in (dtypes[short] for short in options.dtypes.split(",")):
            try:
                samples = samples_of(op, dtype, options, k) if dtype in op.dtypes else []
            except Exception as error:
                print(f"{op.name} {dtype}: {type(error).__name__}", flush=True)
                continue
            for number, sample in samples:
                yield f"{op.name} {case.SHORT[dtype]} {number}", functools.partial(make, options.out, op, dtype, number, sample)


if __name__ == "__main__":
    case.collect(__doc__, makers, {"ops": "", "kind": "sample", "dtypes": "f32,f16,bf16,f64,i8,i16,i64,u8,bool,c64", "samples": 2, "skip": 0, "seed": 0})
