"""Functions that others stand for before PyTorch's tracers see them: see `strata.recurrent` and `strata.linear_cross_entropy`."""

from torch.fx import GraphModule
from torch.overrides import TorchFunctionMode

from . import ctc_loss
from .linear_cross_entropy import CHUNKED
from .recurrent import WHOLE

_SUBSTITUTES = {**WHOLE, **CHUNKED}
_WHILE_TRACED = {**_SUBSTITUTES, **ctc_loss.SUBSTITUTES}


def substituted(module: GraphModule) -> GraphModule:
    """A graph of TorchDynamo with the others."""
    nodes = [node for node in module.graph.nodes if node.op == "call_function" and node.target in _SUBSTITUTES]
    for node in nodes:
        node.target = _SUBSTITUTES[node.target]
    if nodes:
        module.recompile()
    return module


class Substituted(TorchFunctionMode):
    """The same while a function is traced, and `strata.ctc_loss`, which TorchDynamo has eager PyTorch compute."""

    def __torch_function__(self, function, types, arguments=(), named=None):
        return _WHILE_TRACED.get(function, function)(*arguments, **(named or {}))
