"""Every module of PyTorch's own tests (ModuleInfo), forward and backward, through `torch.compile(backend="strata")` beside eager.

    python modules.py [--filter PART]
"""

import argparse
import copy
import sys
import warnings
from collections import Counter

import torch
from torch.testing._internal.common_modules import module_db

from strata import events
from strata.dynamo import backend

# The gradients of these depend on random numbers, or on memory that nobody wrote.
RANDOM = {"Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "AlphaDropout", "FeatureAlphaDropout", "RReLU", "FractionalMaxPool2d", "FractionalMaxPool3d"}


def run(function, module, arguments, named):
    def fresh(value):
        return value.detach().clone().requires_grad_(value.is_floating_point()) if isinstance(value, torch.Tensor) else value

    arguments, named = torch.utils._pytree.tree_map(fresh, (arguments, named))
    torch.manual_seed(1)
    results = [leaf for leaf in torch.utils._pytree.tree_leaves(function(*arguments, **named)) if isinstance(leaf, torch.Tensor)]
    wanted = [result for result in results if result.requires_grad]
    leaves = [leaf for leaf in torch.utils._pytree.tree_leaves((arguments, named)) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    leaves += list(module.parameters())
    gradients = []
    if wanted and leaves:
        cotangents = [torch.linspace(0.5, 1.5, result.numel(), dtype=result.dtype).reshape(result.shape) for result in wanted]
        gradients = torch.autograd.grad(wanted, leaves, cotangents, allow_unused=True)
    return results + [gradient for gradient in gradients if gradient is not None] + list(module.buffers())


def check(info, training):
    status = "native"
    for sample in info.module_inputs_func(info, device="cpu", dtype=torch.float32, requires_grad=False, training=training):
        if sample.forward_input is None:
            continue
        try:
            module = info.module_cls(*sample.constructor_input.args, **sample.constructor_input.kwargs).train(training)
            other = copy.deepcopy(module)
            wanted = run(module, module, sample.forward_input.args, sample.forward_input.kwargs)
        except Exception as error:
            return f"eager raises {type(error).__name__}"
        torch._dynamo.reset()
        events.graphs.clear()
        try:
            found = run(torch.compile(other, backend=backend), other, sample.forward_input.args, sample.forward_input.kwargs)
        except Exception as error:
            return f"raised: {type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"
        for graph in events.graphs:
            if graph.status != "native":
                status = f"{graph.status}: {graph.reason.splitlines()[0]}"
        if info.name.removeprefix("nn.") in RANDOM:
            continue
        try:
            for a, b in zip(found, wanted, strict=True):
                torch.testing.assert_close(a, b, equal_nan=True, rtol=2e-4, atol=2e-4)
        except Exception as error:
            return f"wrong: {str(error).strip().splitlines()[0]}"
    return status


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    counts = Counter()
    for info in module_db:
        for training in (True, False) if info.train_and_eval_differ else (True,):
            if options.filter not in info.name:
                continue
            torch.manual_seed(0)
            status = check(info, training)
            counts[status.split(":")[0]] += 1
            if status != "native":
                print(f"{info.name:<40} {'train' if training else 'eval':<6} {status}", flush=True)
    print(dict(counts))
    return counts["wrong"] + counts["raised"]


if __name__ == "__main__":
    sys.exit(min(1, main()))
