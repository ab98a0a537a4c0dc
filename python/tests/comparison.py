"""Programs compared with eager PyTorch."""

import copy

import torch

from strata import events


def compiled(function, **options):
    return torch.compile(function, backend="strata", **options)


def same(found, wanted):
    torch.testing.assert_close(found, wanted, rtol=2e-5, atol=2e-5)


def native(count=None):
    assert all(graph.status == "native" for graph in events.graphs), events.graphs
    assert count is None or len(events.graphs) == count, events.graphs


def agrees(function, *arguments, **options):
    """Compares results and what became of the arguments."""
    mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    found, wanted = compiled(function, **options)(*mine), function(*theirs)
    same(found, wanted)
    same(mine, theirs)
    return found
