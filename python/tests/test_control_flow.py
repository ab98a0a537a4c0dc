"""Higher-order operators: `cond` and loops as they are, the others in other operators."""

import copy

import pytest
import torch
from torch._higher_order_ops import while_loop
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.foreach_map import foreach_map
from torch._higher_order_ops.map import map as hop_map
from torch._higher_order_ops.out_dtype import out_dtype
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.switch import switch
from torch.compiler import nested_compile_region
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

import strata

from comparison import agrees, compiled, native, same


def test_control_flow():
    branch = lambda x: torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))  # noqa: E731
    function = compiled(branch, fullgraph=True)
    for sign in (1, -1):
        x = torch.rand(4) * sign
        same(function(x), branch(x))
    loop = lambda x: while_loop(lambda k, x: k < 5, lambda k, x: (k + 1, x * 1.5), (torch.tensor(0), x))  # noqa: E731
    same(compiled(loop, fullgraph=True)(torch.ones(3))[1], torch.ones(3) * 1.5**5)
    native()


def causal(batch, head, query, key):
    return query >= key


MASK = create_block_mask(causal, 1, 2, 128, 128, device="cpu")


@nested_compile_region
def region(x):
    return x.sin() * 2


def mapped(x, y):
    return hop_map(lambda a, b: (a * b).sin(), x, y)


def nested(start, x):
    return scan(lambda carried, row: (carried + row, hop_map(lambda a: a * 2, row)), start, x)


def with_bias(q, k, v, bias):
    return flex_attention(q, k, v, score_mod=lambda score, batch, head, i, j: score * bias[head] + (i - j))


PROGRAMS = {
    "a scan of sums": (lambda x: associative_scan(torch.add, x, 0, combine_mode="pointwise"), (8, 4)),
    "a scan from the end": (lambda x: associative_scan(torch.maximum, x, 1, reverse=True, combine_mode="generic"), (8, 4)),
    "a map": (mapped, (5, 4), (4,)),
    "a map of products": (lambda x, y: hop_map(torch.matmul, x, y), (5, 4, 3), (3, 2)),
    "a map in a scan": (nested, (4,), (6, 4)),
    "attention": (flex_attention, *[(1, 2, 128, 16)] * 3),
    "attention with a mask": (lambda q, k, v: flex_attention(q, k, v, block_mask=MASK), *[(1, 2, 128, 16)] * 3),
    "attention with captured values": (with_bias, *[(1, 2, 128, 16)] * 3, (2,)),
    "a region": (lambda x: region(x) + region(x + 1), (4,)),
    "a map over lists": (lambda x, y: foreach_map(torch.add, [x, y], [y, x]), (4,), (4,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_higher_order_operators(name):
    function, *sizes = PROGRAMS[name]
    agrees(function, *(torch.randn(size) for size in sizes))
    native(1)


def test_products_in_another_type():
    agrees(lambda x, y: out_dtype(torch.ops.aten.mm.default, torch.int32, x, y), *torch.randint(-9, 9, (2, 4, 4), dtype=torch.int8))
    native(1)


@pytest.mark.parametrize(("function", "sizes"), [(mapped, [(5, 4), (4,)]), (lambda x: region(x) + region(x + 1), [(4,)])])
def test_gradients_of_higher_order_operators(function, sizes):
    mine = [torch.randn(size, requires_grad=True) for size in sizes]
    theirs = copy.deepcopy(mine)
    compiled(function)(*mine).sum().backward()
    function(*theirs).sum().backward()
    same([each.grad for each in mine], [each.grad for each in theirs])
    native(2)


def test_switch():
    """An index out of range is the nearest branch, as in PyTorch."""
    branches = [torch.sin, torch.cos, torch.exp]
    function = compiled(lambda k, x: switch(k, branches, (x,)))
    x = torch.randn(4)
    for k, right in ((0, x.sin()), (1, x.cos()), (2, x.exp()), (7, x.exp()), (-1, x.sin())):
        same(function(torch.tensor(k), x), right)
    native(1)


def detached(x, y):
    return torch.cond(x.sum() > 0, lambda x: x * (x * y).sin().detach(), lambda x: (x + y).cos() * x.detach(), (x,)).sum()


def without_gradients(x, y):
    def taken(x):
        with torch.no_grad():
            scale = x * y
        return scale * x[...]

    return torch.cond(x.sum() > 0, taken, lambda x: x * y, (x,)).sum()


def in_one_another(x, y):
    inner = lambda x: torch.cond(y.sum() > 0, lambda a: a.sin() * y, lambda a: a * y * a.detach(), (x,))  # noqa: E731
    return torch.cond(x.sum() > 0, inner, lambda x: (x + y).cos(), (x,)).sum()


RECORDED = {
    "branches": lambda x, y: torch.cond(x.sum() > 0, lambda x: (x * y).sin(), lambda x: (x + y).cos(), (x,)).sum(),
    "branches that detach": detached,
    "branches without gradients": without_gradients,
    "branches of branches": in_one_another,
    "steps": lambda x, y: scan(lambda a, row: (a * y[0] + row, a.sin() * y), x[0], x)[1].sum(),
    "a map that detaches": lambda x, y: hop_map(lambda a, b: a * (a * b).sin().detach(), x, y).sum(),
    "a scan of sums": lambda x, y: (associative_scan(torch.add, x, 0, combine_mode="pointwise") * y).sum(),
    "a region": lambda x, y: (region(x) * region(y)).sum(),
}


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("name", RECORDED)
def test_gradients_of_recorded_functions(name, sign):
    function, x, y = RECORDED[name], (torch.rand(4) + 0.1) * sign, torch.randn(4)
    mine = [x.clone().requires_grad_(), y.clone().requires_grad_()]
    right = function(*mine)
    gradients = torch.autograd.grad(right, mine, materialize_grads=True)
    value, found = strata.value_and_grad(function, argnums=(0, 1))(x, y)
    same([value, *found], [right.detach(), *gradients])


def test_gradients_of_attention():
    """PyTorch has none on the CPU; they are those of the same attention without a function of scores."""
    q, k, v = torch.randn(3, 1, 2, 128, 16)
    value, found = strata.value_and_grad(lambda *all: flex_attention(*all).square().sum(), argnums=(0, 1, 2))(q, k, v)
    mine = [each.clone().requires_grad_() for each in (q, k, v)]
    right = torch.nn.functional.scaled_dot_product_attention(*mine).square().sum()
    same([value, *found], [right.detach(), *torch.autograd.grad(right, mine)])
