"""Sizes that change from call to call."""

import pytest
import torch
from torch import nn

from comparison import compiled, native, same
from strata import events


def compilations():
    return sum("compile" in graph.seconds for graph in events.graphs)


@pytest.mark.parametrize(("dynamic", "graphs", "programs"), [(True, 3, 1), (None, 4, 2)])
def test_sizes_in_turn(dynamic, graphs, programs):
    """TorchDynamo makes a graph of its own of 1 and of 0; the program for all sizes serves them."""
    function = compiled(lambda x: (x * 2).sum(0) + x.shape[0], dynamic=dynamic)
    for size in (4, 5, 9, 1, 0):
        x = torch.randn(size, 3)
        same(function(x), (x * 2).sum(0) + size)
    native(graphs)
    assert compilations() == programs


@torch.no_grad()
def test_sizes_in_turn_with_weights():
    net = nn.Sequential(nn.Linear(3, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 2))
    function = compiled(net, dynamic=True)
    for size in (4, 5, 1, 0, 1):
        x = torch.randn(size, 3)
        same(function(x), net(x))
        net[0].weight.mul_(0.5)
    native(3)
    assert compilations() == 1


def test_a_fixed_size_has_code_of_its_own():
    function = lambda x: x.relu().sum(1)  # noqa: E731
    for dynamic in (True, False):
        x = torch.randn(8, 3)
        same(torch.compile(function, backend="strata", dynamic=dynamic)(x), function(x))
        torch._dynamo.reset()
    assert compilations() == 2


def test_other_programs_of_the_same_sizes():
    """What differs in a number alone is another program."""
    for function, size in ((lambda x: (x * 2).sum(0), 4), (lambda x: (x * 3).sum(0), 1)):
        x = torch.randn(size, 3)
        same(compiled(function, dynamic=True)(x), function(x))
    assert compilations() == 2


def test_pytorchs_switch_for_sizes_0_and_1():
    function = compiled(lambda x: (x * 2).sum(0) + x.shape[0])
    with torch.fx.experimental._config.patch(backed_size_oblivious=True):
        for size in (4, 5, 9, 1, 0):
            x = torch.randn(size, 3)
            same(function(x), (x * 2).sum(0) + size)
    native(2)


def test_marked_dynamic_sizes():
    x = torch.randn(6, 3)
    torch._dynamo.mark_dynamic(x, 0)
    function = compiled(lambda x: torch.cat([x, x.relu()]).view(2, -1), fullgraph=True)
    for size in (6, 8, 31):
        y = x if size == 6 else torch.randn(size, 3)
        same(function(y), torch.cat([y, y.relu()]).view(2, -1))
    native(1)


def test_dynamic_from_the_start():
    function = compiled(lambda x, n: x.repeat(n, 1) * n, dynamic=True)
    for size, n in ((3, 2), (5, 4), (2, 7)):
        x = torch.randn(size, 2)
        same(function(x, n), x.repeat(n, 1) * n)
    native()
