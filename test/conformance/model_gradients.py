"""Gradients of whole models by all their parameters, in train mode, beside eager PyTorch's.

    python model_gradients.py [--only REGEX] [--images 2]

The models are those of `model_cases.py`; needs the `strata` package. The error of a gradient is its relative L2 distance over all parameters to
that of the same model in f64. PyTorch's own error depends on how it rounds: a ReLU of nearly zero falls on one side or the other, and batch norm of
a few elements makes much of it. So it is taken five times, on inputs that differ by half a unit in the last place, and the largest one counts.
It exits with 1 where a model's error is more than three times that.
"""

import argparse
import copy
import re
import sys
import warnings

import torch
from torch import nn

import model_cases
import strata

PERTURBED = 4
LARGEST_RATIO = 3
DROPOUT = re.compile("dropout|drop_prob")


class Loss(nn.Module):
    """The outputs of a model, weighed by fixed random numbers, as one number."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, *inputs):
        outs = [out for out in self.model(*inputs) if out.is_floating_point()]
        weighed = [out * torch.cos(torch.arange(out.numel(), dtype=out.dtype)).reshape(out.shape) for out in outs]
        return sum(out.sum() for out in weighed)


def without_dropout(model):
    for module in model.modules():
        if isinstance(module, nn.modules.dropout._DropoutNd):
            module.p = 0.0
        for name, value in list(vars(module).items()):
            if isinstance(value, float) and DROPOUT.search(name):
                setattr(module, name, 0.0)
        if type(module).__name__ == "StochasticDepth":
            module.p = 0.0
    return model.train()


def eager(model, inputs):
    model = copy.deepcopy(model)
    model(*inputs).backward()
    return {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


def error(found, exact):
    zero = torch.zeros(())
    apart = sum((found.get(name, zero).double() - g).square().sum() for name, g in exact.items())
    return float((apart / sum(g.square().sum() for g in exact.values())).sqrt())


def each(inputs, change):
    return [change(x) if x.is_floating_point() else x for x in inputs]


def measured(make, images):
    """Our error, and the largest one of PyTorch's."""
    module, inputs = make()
    inputs = [torch.cat([x] + [torch.randn_like(x) if x.is_floating_point() else x.flip(-1) for _ in range(images - 1)]) for x in inputs]
    model = without_dropout(Loss(module))
    exact = eager(copy.deepcopy(model).double(), each(inputs, torch.Tensor.double))
    half = torch.finfo(torch.float32).eps / 2
    near = [each(inputs, lambda x: x * (1 + (torch.rand_like(x) * 2 - 1) * half)) for _ in range(PERTURBED)]
    theirs = max(error(eager(model, given), exact) for given in [inputs, *near])
    _, ours = strata.value_and_grad(copy.deepcopy(model), fallback="error")(*inputs)
    return error(ours, exact), theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="REGEX", help="only models of these names")
    parser.add_argument("--images", type=int, default=2, help="images, or texts, of a batch")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    over = found = 0
    for seed, (name, make) in enumerate(model_cases.models().items()):
        if not re.search(options.only, name):
            continue
        torch.manual_seed(seed)
        try:
            ours, theirs = measured(make, options.images)
        except Exception as reason:  # noqa: BLE001: what PyTorch or Strata says of a model is the result
            print(f"{name:40} {type(reason).__name__}: {str(reason).splitlines()[0][:160]}", flush=True)
            continue
        found, over = found + 1, over + (not ours <= LARGEST_RATIO * theirs)
        print(f"{name:40} ours {ours:.2e}  PyTorch {theirs:.2e}  ratio {ours / theirs:.2f}", flush=True)
    print(f"{found} models, {over} of them more than {LARGEST_RATIO} times off")
    sys.exit(over > 0)


if __name__ == "__main__":
    main()
