"""Exports samples of PyTorch's operator test database as conformance cases.

    python op_cases.py OUT [--ops REGEX] [--dtypes f32,i8,..] [--samples N] [--skip N] [--seed N]

Each case is one operator on one sample, with the sample's tensors as inputs. Values are compared with eager PyTorch's in the
tolerances of torch.testing; f32 and complex results that PyTorch itself computes less exactly get four times its error
against a computation in f64. Operators that are random, or whose sample does not export, are left out and counted.
"""

import argparse
import collections
import re
import signal
import warnings

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree

import case

WIDE = {torch.float32: torch.float64, torch.float16: torch.float64, torch.bfloat16: torch.float64, torch.complex64: torch.complex128}


def bind(function, leaves, spec, tensors):
    """The call as a function of its tensors."""
    def call(*given):
        filled = list(leaves)
        for place, value in zip(tensors, given):
            filled[place] = value
        args, kwargs = pytree.tree_unflatten(filled, spec)
        return function(*args, **kwargs)
    return call


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


def sample_case(folder, op, dtype, number, sample):
    leaves, spec = pytree.tree_flatten(((sample.input, *sample.args), sample.kwargs))
    tensors = [k for k, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    inputs = [leaves[k].detach().contiguous().clone() for k in tensors]
    if not inputs or any(x.numel() > 3000 or x.layout != torch.strided for x in inputs):
        raise ValueError("no tensors, or large ones")
    call = bind(op.op, leaves, spec, tensors)
    outputs = pytree.tree_leaves(call(*[x.clone() for x in inputs]))
    again = pytree.tree_leaves(call(*[x.clone() for x in inputs]))
    if not all(torch.equal(a.nan_to_num(), b.nan_to_num()) for a, b in zip(outputs, again) if isinstance(a, torch.Tensor) and a.dtype != torch.bool):
        raise ValueError("random")
    if any(isinstance(t, torch.Tensor) and t.dtype in (torch.complex128, torch.complex32) for t in inputs + outputs):
        raise ValueError("not storable")
    rtol, atol = case.TOLERANCE.get(dtype, (0.0, 0.0))
    name = f"{op.name}{'.' + op.variant_test_name if op.variant_test_name else ''}".replace(".", "_")
    tolerance = (rtol, widened(call, inputs, outputs, rtol, atol))
    return case.export(folder, "ops", f"{name}__{case.SHORT[dtype]}__{number:02}", call, [inputs], op=op.name, tolerance=tolerance)


def expire(*_):
    raise TimeoutError("slow")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--ops", default="")
    parser.add_argument("--dtypes", default="f32,f16,bf16,f64,i8,i16,i64,u8,bool,c64")
    parser.add_argument("--samples", type=int, default=2, help="samples of each operator and type")
    parser.add_argument("--skip", type=int, default=0, help="take one of so many operators")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, expire)
    dtypes = {short: dtype for dtype, short in case.SHORT.items()}
    cases, left = [], collections.Counter()
    for k, op in enumerate(op_db):
        if not re.search(options.ops, op.name) or (options.skip and (k + options.seed) % options.skip):
            continue
        for short in options.dtypes.split(","):
            dtype = dtypes[short]
            if dtype not in op.dtypes:
                continue
            torch.manual_seed(options.seed + k)
            try:
                samples = list(op.sample_inputs("cpu", dtype))
            except Exception as error:
                left[type(error).__name__] += 1
                continue
            step = max(1, len(samples) // options.samples)
            for number in range((options.seed * 7 + k) % step, len(samples), step)[: options.samples]:
                signal.alarm(20)
                try:
                    cases.append(sample_case(options.out, op, dtype, number, samples[number]))
                except Exception as error:
                    left[str(error)[:60] if isinstance(error, ValueError) else type(error).__name__] += 1
                finally:
                    signal.alarm(0)
        case.write_manifest(options.out, cases)
    print(f"{len(cases)} cases; left out: {dict(left)}")


if __name__ == "__main__":
    main()
