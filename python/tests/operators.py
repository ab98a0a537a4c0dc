"""Every operator of PyTorch's own tests (OpInfo) through `torch.compile(backend="strata")` beside eager.

    python operators.py [--samples N] [--dtype float32] [--backward] [--filter PART] [--seed N]
"""

import argparse
import sys
import warnings
from collections import Counter

import torch
from torch.testing._internal.common_methods_invocations import op_db

from strata import events
from strata.dynamo import backend

# Results that are unspecified (memory that nobody wrote), random, or fixed up to a sign or a basis.
UNSPECIFIED = {
    "empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided",
    "bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial", "normal", "uniform", "rand_like", "randint",
    "randint_like", "randn", "randn_like", "normal_in_place",
    "nn.functional.alpha_dropout", "nn.functional.dropout", "nn.functional.dropout2d", "nn.functional.dropout3d",
    "nn.functional.feature_alpha_dropout", "nn.functional.fractional_max_pool2d", "nn.functional.fractional_max_pool3d",
    "nn.functional.rrelu", "nn.functional.gumbel_softmax",
    "linalg.eig", "linalg.eigh", "linalg.svd", "svd", "svd_lowrank", "pca_lowrank", "geqrf", "linalg.qr", "qr",
}  # fmt: skip


def flat(value):
    return [leaf for leaf in torch.utils._pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def call(function, sample, grad):
    """The results of a call on fresh copies, and their gradients where asked for."""
    leaves = []

    def fresh(value):
        if not isinstance(value, torch.Tensor):
            return value
        copy = value.detach().clone().requires_grad_(grad and value.is_floating_point())
        leaves.append(copy)
        return copy

    arguments, named = torch.utils._pytree.tree_map(fresh, ((sample.input, *sample.args), dict(sample.kwargs)))
    results = flat(function(*arguments, **named))
    if grad:
        wanted = [result for result in results if result.requires_grad]
        inputs = [leaf for leaf in leaves if leaf.requires_grad]
        if wanted and inputs:
            cotangents = [torch.linspace(0.5, 1.5, result.numel(), dtype=result.dtype).reshape(result.shape) for result in wanted]
            gradients = torch.autograd.grad(wanted, inputs, cotangents, allow_unused=True)
            results += [gradient for gradient in gradients if gradient is not None]
    return results


def check(op, dtype, samples, grad):
    """What became of an operator: `native`, `partitioned`, `eager`, `wrong: ...` or `raised: ...`."""
    status = "native"
    for count, sample in enumerate(op.sample_inputs("cpu", dtype)):
        if count == samples:
            break
        try:
            wanted = call(op.op, sample, grad)
        except Exception as error:
            return f"eager raises {type(error).__name__}"
        torch._dynamo.reset()
        events.graphs.clear()
        try:
            found = call(torch.compile(op.op, backend=backend), sample, grad)
        except Exception as error:
            return f"raised: {type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"
        if not events.graphs:
            status = "no graph"
        for graph in events.graphs:
            if graph.status != "native":
                status = f"{graph.status}: {graph.reason.splitlines()[0]}"
        if op.name in UNSPECIFIED:
            continue
        try:
            for a, b in zip(found, wanted, strict=True):
                torch.testing.assert_close(a, b, equal_nan=True, rtol=2e-4 if dtype == torch.float32 else None, atol=2e-4 if dtype == torch.float32 else None)
        except Exception as error:
            return f"wrong: {str(error).strip().splitlines()[0]}"
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--backward", action="store_true")
    parser.add_argument("--filter", default="")
    parser.add_argument("--part", default="0/1", help="K/N: every Nth operator from the Kth on")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    dtype = getattr(torch, options.dtype)
    counts, (part, parts) = Counter(), map(int, options.part.split("/"))
    for op in [op for op in op_db if options.filter in op.name][part::parts]:
        if dtype not in op.supported_dtypes("cpu") or options.backward and not op.supports_autograd:
            continue
        name = op.name + ("." + op.variant_test_name if op.variant_test_name else "")
        status = check(op, dtype, options.samples, options.backward)
        counts[status.split(":")[0]] += 1
        if status != "native":
            print(f"{name:<50} {status}", flush=True)
    print(dict(counts))
    return counts["wrong"] + counts["raised"]


if __name__ == "__main__":
    sys.exit(min(1, main()))
