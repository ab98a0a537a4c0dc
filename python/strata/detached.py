"""Values without a gradient in a recorded function: what it detaches, and what it computes under `torch.no_grad()`.

A detached value shares memory with its tensor, so it is recorded as an alias: the tracer writes to one where the function writes to the other. Other
aliases are views of the whole tensor, `x[...]`. They are recorded as views by size, so that every alias in a record has no gradient.
"""

import traceback
from collections.abc import Callable
from functools import lru_cache

import torch
from torch._ops import HigherOrderOperator
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import PreDispatchTorchFunctionMode
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from . import graph, values
from .higher_order import decomposed

_DETACH, _COPY = torch.ops.aten.detach.default, torch.ops.aten.detach_copy.default
_RECORDED_AS = (torch.ops.aten.alias.default, _COPY)
"""What a detached value is in the record of a function, and in that of a branch or a step of a loop."""
_WRITES = {getattr(torch.Tensor, name) for name in ("__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__ipow__")}
_DETACHES = {torch.detach, torch.Tensor.detach}
_COPIES = {torch.detach_copy, torch.ops.aten.detach_copy, _COPY}
"""PyTorch's gradient goes through them."""


class Detached(PreDispatchTorchFunctionMode):
    """Records what a function detaches, and detaches what it computes under `torch.no_grad()`. The function has a gradient by the tensors of `by`.

    It is of the kind that PyTorch takes away while TorchDynamo reads the functions of a `cond` or a loop, and puts back for what was read.
    """

    def __init__(self, by: list[torch.Tensor]):
        TorchFunctionMode.__init__(self)
        self.graded = {id(tensor): tensor for tensor in by}
        """Tensors that have a gradient, which live as long as the record: so a number stands for one tensor."""
        self.shaded: dict[int, torch.Tensor] = {}
        """Those in the memory of such ones that have none: what was detached, views of it, and views that were made under `torch.no_grad()`."""

    def __torch_function__(self, function, types, arguments=(), named=None):
        named = named or {}
        if function is torch.Tensor.__getitem__ and _is_whole(arguments[1]):
            function, arguments = torch.Tensor.view, (arguments[0], arguments[0].shape)
        if function == torch.Tensor.data.__get__:
            function = torch.Tensor.detach
        if function in _COPIES:
            function = torch.clone
        leaves = pytree.tree_leaves((arguments, named))
        graded, shaded = (any(id(leaf) in known for leaf in leaves) for known in (self.graded, self.shaded))
        enabled = torch.is_grad_enabled()
        written = _written(function, arguments, named)
        if any(id(tensor) in self.shaded or not enabled and id(tensor) in self.graded for tensor in written):
            place = values.place(traceback.extract_stack())
            raise graph.Unsupported(f"{place}writes to a tensor behind the back of its gradient; {values.ELSEWHERE}, and x = function(x) has a gradient")
        if function is torch.Tensor.register_hook:
            place = values.place(traceback.extract_stack())
            raise graph.Unsupported(f"{place}has a hook for a gradient, which a compiled program does not call; {values.ELSEWHERE}")
        if isinstance(function, HigherOrderOperator):
            arguments = pytree.tree_map(lambda leaf: self._within(leaf, graded) if callable(leaf) and not isinstance(leaf, torch.Tensor) else leaf, arguments)
        result = function(*arguments, **named)
        if function in _DETACHES:
            self.shaded.update({id(result): result} if graded else {})
        elif graded and enabled:
            self.graded.update((id(leaf), leaf) for leaf in [*pytree.tree_leaves(result), *written] if has_gradient(leaf))
        elif graded and written:
            # Others go on with the tensor itself.
            for tensor in written:
                tensor.copy_(tensor.detach())
        elif graded:
            result = pytree.tree_map_only(torch.Tensor, torch.Tensor.detach, result)
        if (shaded or graded and not enabled) and _may_give_views(getattr(function, "__name__", "")):
            self.shaded.update((id(leaf), leaf) for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor))
        return result

    def _within(self, function: Callable, graded: bool) -> Callable:
        """A branch or a step, recorded under this mode too. Its arguments have a gradient where one of the operator's has one."""

        def recorded(*arguments):
            self.graded.update((id(leaf), leaf) for leaf in pytree.tree_leaves(arguments) if graded and has_gradient(leaf))
            with self:
                return function(*arguments)

        return recorded


def _is_whole(index) -> bool:
    return index is ... or isinstance(index, tuple) and all(part is ... for part in index)


def _written(function, arguments: tuple, named: dict) -> list[torch.Tensor]:
    """The tensors that a function writes to, by its name as it is in PyTorch."""
    name = getattr(function, "__name__", "")
    writes = function in _WRITES or name.endswith("_") and not name.endswith("__")
    return [leaf for leaf in pytree.tree_leaves((arguments[:1] if writes else (), named.get("out"))) if isinstance(leaf, torch.Tensor)]


@lru_cache(None)
def _may_give_views(name: str) -> bool:
    """Whether a function of this name may give what lies in the memory of an argument: one that reads an item or a property, or by its schemas."""
    operator = getattr(torch.ops.aten, name, None) if name.isidentifier() and not name.startswith("_") else None
    returns = [value for overload in (operator.overloads() if operator else ()) for value in getattr(operator, overload)._schema.returns]
    return name in ("__getitem__", "__get__") or any(value.alias_info is not None and not value.alias_info.is_write for value in returns)


def has_gradient(value) -> bool:
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())


def without_gradients(module: GraphModule) -> GraphModule:
    """The record of a function under `Detached`, decomposed, with `detach` for what has no gradient."""
    # A copy is still one when the graph is traced again; a detached value would be an alias like any other.
    _renamed(module, _RECORDED_AS, _COPY)
    return _renamed(decomposed(module), (_COPY,), _DETACH)


def _renamed(module: GraphModule, before: tuple, after) -> GraphModule:
    for each in module.modules():
        if isinstance(each, GraphModule):
            for node in each.graph.nodes:
                if node.op == "call_function" and node.target in before:
                    node.target = after
            each.recompile()
    return module
