"""Values without a gradient in a recorded function: what it detaches, and what it computes under `torch.no_grad()`.

A detached value shares memory with its tensor, so it is recorded as an alias: the tracer writes to one where the function writes to the other. Other
aliases are views of the whole tensor, `x[...]`. They are recorded as views by size, so that every alias in a record has no gradient.
"""

import traceback

import torch
from torch.fx import GraphModule
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from . import graph, values

_ALIAS, _DETACH = torch.ops.aten.alias.default, torch.ops.aten.detach.default
_WRITES = {getattr(torch.Tensor, name) for name in ("__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__ipow__")}
_DETACHES = {torch.detach, torch.Tensor.detach}
ELSEWHERE = 'torch.compile(.., backend="strata") takes it as it is'


class Detached(TorchFunctionMode):
    """Records what a function detaches, and detaches what it computes under `torch.no_grad()`. The function has a gradient by the tensors of `by`."""

    def __init__(self, by: list[torch.Tensor]):
        super().__init__()
        self.graded = {id(tensor): tensor for tensor in by}
        """Tensors that have a gradient, which live as long as the record: so a number stands for one tensor."""
        self.shaded: dict[int, torch.Tensor] = {}
        """Those that were detached from such ones."""

    def __torch_function__(self, function, types, arguments=(), named=None):
        named = named or {}
        if function is torch.Tensor.__getitem__ and _is_whole(arguments[1]):
            function, arguments = torch.Tensor.view, (arguments[0], arguments[0].shape)
        if function == torch.Tensor.data.__get__:
            function = torch.Tensor.detach
        graded = any(id(leaf) in self.graded for leaf in pytree.tree_leaves((arguments, named)))
        enabled = torch.is_grad_enabled()
        written = _written(function, arguments, named)
        if any(id(tensor) in self.shaded or not enabled and id(tensor) in self.graded for tensor in written):
            place = values.place(traceback.extract_stack())
            raise graph.Unsupported(f"{place}writes to a tensor behind the back of its gradient; {ELSEWHERE}, and x = function(x) has a gradient")
        if function is torch.Tensor.register_hook:
            place = values.place(traceback.extract_stack())
            raise graph.Unsupported(f"{place}has a hook for a gradient, which a compiled program does not call; {ELSEWHERE}")
        result = function(*arguments, **named)
        if function in _DETACHES:
            self.shaded.update({id(result): result} if graded else {})
        elif graded and enabled:
            self.graded.update((id(leaf), leaf) for leaf in [*pytree.tree_leaves(result), *written] if _has_gradient(leaf))
        elif graded and written:
            # Others go on with the tensor itself.
            for tensor in written:
                tensor.copy_(tensor.detach())
        elif graded:
            result = pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, result)
        return result


def _is_whole(index) -> bool:
    return index is ... or isinstance(index, tuple) and all(part is ... for part in index)


def _written(function, arguments: tuple, named: dict) -> list[torch.Tensor]:
    """The tensors that a function writes to, by its name as it is in PyTorch."""
    name = getattr(function, "__name__", "")
    writes = function in _WRITES or name.endswith("_") and not name.endswith("__")
    return [leaf for leaf in pytree.tree_leaves((arguments[:1] if writes else (), named.get("out"))) if isinstance(leaf, torch.Tensor)]


def _has_gradient(value) -> bool:
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


def without_gradients(module: GraphModule) -> GraphModule:
    """The record of a function under `Detached`, whose aliases say that they have no gradient."""
    for node in module.graph.find_nodes(op="call_function", target=_ALIAS):
        node.target = _DETACH
    module.recompile()
    return module
