"""Operators that PyTorch's tracers take apart although the compiler has a rule for them, which makes better code than their parts."""

from contextlib import contextmanager
from functools import cache

import torch
import torch._decomp  # which gives the operators the kernels that take them apart
from torch._C import DispatchKey

KEYS = (DispatchKey.Autograd, DispatchKey.CompositeImplicitAutograd)


@contextmanager
def undecomposed():
    """
    Interpolation between pixels, shrinking functions and margin losses stay one operator each meanwhile.

    As their parts, interpolation is gathers at computed places for each tap, and the others are passes that halves are rounded between.
    """
    taken = []
    for operator in _operators():
        for key in KEYS:
            if key in operator.py_kernels:
                taken.append((operator, key, operator.py_kernels.pop(key)))
        operator._dispatch_cache.clear()
    try:
        yield
    finally:
        for operator, key, kernel in taken:
            operator.py_kernels[key] = kernel
        for operator in _operators():
            operator._dispatch_cache.clear()


@cache
def _operators() -> list[torch._ops.OpOverload]:
    # The nearest pixel is one gather either way.
    names = [name for name in dir(torch.ops.aten) if name.lstrip("_").startswith("upsample_") and "nearest" not in name]
    names += ["hardshrink", "multi_margin_loss", "multilabel_margin_loss_forward", "softshrink"]
    packets = [getattr(torch.ops.aten, name) for name in names]
    return [getattr(packet, name) for packet in packets for name in packet.overloads() if name != "out"]
