"""Transforms of `torch.func` in recorded functions, and their gradients."""

import pytest
import torch
from torch import func
from torch.utils import _pytree as pytree

import strata

from comparison import same


def curve(x):
    return (x.sin() * x**2).sum()


def stopped(x):
    return (x.detach() * x**2).sum()


LAYER = torch.nn.Linear(4, 2)

TRANSFORMS = {
    "gradient": (func.grad(curve), (4,)),
    "gradient of a gradient": (func.grad(lambda x: func.grad(curve)(x).sum()), (4,)),
    "gradient past what is detached": (func.grad(stopped), (4,)),
    "map": (func.vmap(lambda row: row.sin() * row.sum()), (5, 4)),
    "gradient of each sample": (func.vmap(func.grad(lambda w, x: (x @ w).square().sum()), in_dims=(None, 0)), (4, 4), (5, 4)),
    "backward": (lambda x: func.vjp(torch.sin, x)[1](x), (4,)),
    "forward": (lambda x, tangent: func.jvp(curve, (x,), (tangent,)), (4,), (4,)),
    "forward past what is detached": (lambda x, tangent: func.jvp(stopped, (x,), (tangent,)), (4,), (4,)),
    "jacobian by rows": (func.jacrev(lambda x: x.sin() * x), (4,)),
    "jacobian by columns": (func.jacfwd(lambda x: x.sin() * x), (4,)),
    "hessian": (func.hessian(curve), (4,)),
    "call with weights": (lambda w, b, x: func.functional_call(LAYER, {"weight": w, "bias": b}, (x,)), (2, 4), (2,), (4,)),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transform(name):
    function, *sizes = TRANSFORMS[name]
    arguments = [torch.randn(size) for size in sizes]
    same(strata.compile(function)(*arguments), function(*arguments))

    def loss(*arguments):
        return sum((leaf * leaf).sum() for leaf in pytree.tree_leaves(function(*arguments)))

    mine = [each.clone().requires_grad_() for each in arguments]
    right = loss(*mine)
    gradients = torch.autograd.grad(right, mine, materialize_grads=True)
    value, found = strata.value_and_grad(loss, argnums=tuple(range(len(mine))))(*arguments)
    torch.testing.assert_close([value, *found], [right.detach(), *gradients], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("entrance", [strata.compile, strata.value_and_grad])
def test_autograd_is_refused(entrance):
    def penalty(x):
        (gradient,) = torch.autograd.grad(curve(x), x, create_graph=True)
        return gradient.norm()

    def required(x):
        return penalty(x.requires_grad_())

    for function in (penalty, required):
        with pytest.raises(strata.graph.Unsupported, match=r"test_transforms.py:\d+: .* asks PyTorch's autograd for a gradient"):
            entrance(function)(torch.randn(4))


def test_views_of_the_same_type_have_a_gradient():
    x = torch.randn(3)
    same(strata.value_and_grad(lambda x: (x.view(torch.float32) * x.view(dtype=x.dtype)).sum())(x)[1], 2 * x)
