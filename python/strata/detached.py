"""Values without a gradient in a recorded function: what it detaches, and what it computes under `torch.no_grad()`.

A detached value shares memory with its tensor: the tracer has to write to one where the function writes to the other. `detach` itself is recorded as an
alias, as much else is. So a detached value is recorded as a view of the type that the tensor has, which nothing else is.
"""

import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache

import torch
from torch._higher_order_ops import utils as hop_utils
from torch._ops import HigherOrderOperator
from torch.fx import GraphModule
from torch.fx.experimental.proxy_tensor import _make_temp_remove_mode_context_manager
from torch.nn.attention import flex_attention
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from . import graph, values

_WRITES = {getattr(torch.Tensor, name) for name in ("__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__ipow__")}
_DETACHES = {torch.detach, torch.Tensor.detach, torch.Tensor.data.__get__}
_AS_TYPE = (torch.ops.aten.view.dtype, torch.ops.aten.view_copy.dtype)
"""Views of a type in the record of a function, and in that of a branch or a step of a loop."""


class Detached(TorchFunctionMode):
    """Records what a function detaches, and detaches what it computes under `torch.no_grad()`. The function has a gradient by the tensors of `by`."""

    def __init__(self, by: list[torch.Tensor]):
        super().__init__()
        self.graded = {id(tensor): tensor for tensor in by}
        """Tensors that have a gradient, which live as long as the record: so a number stands for one tensor."""
        self.shaded: dict[int, torch.Tensor] = {}
        """Those in the memory of such ones that have none: what was detached, views of it, and views that were made under `torch.no_grad()`."""

    def __torch_function__(self, function, types, arguments=(), named=None):
        named = named or {}
        if function is torch.Tensor.view and (*arguments[1:], *named.values()) == (arguments[0].dtype,):
            arguments, named = (arguments[0], arguments[0].shape), {}
        if function in _DETACHES:
            function, arguments, named = _detached, (*arguments[:1], *named.values()), {}
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
            arguments = pytree.tree_map(lambda leaf: self._within(leaf, graded) if _is_function(leaf) else leaf, arguments)
        result = function(*arguments, **named)
        if function is _detached:
            self.shaded.update({id(result): result} if graded else {})
        elif graded and enabled:
            self.graded.update((id(leaf), leaf) for leaf in [*pytree.tree_leaves(result), *written] if has_gradient(leaf))
        elif graded and written:
            # Others go on with the tensor itself.
            for tensor in written:
                tensor.copy_(_detached(tensor))
        elif graded:
            result = pytree.tree_map_only(torch.Tensor, _detached, result)
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


def _is_function(leaf) -> bool:
    return callable(leaf) and not isinstance(leaf, (torch.Tensor, type))


_READERS = (hop_utils, flex_attention)
_taken_away = _make_temp_remove_mode_context_manager(Detached)


@contextmanager
def unread() -> Iterator[None]:
    """TorchDynamo, which PyTorch has read the functions of a `cond` or a loop, does not read `Detached` meanwhile. What it has read runs under it."""
    before = hop_utils.setup_compilation_env

    @contextmanager
    def compilation():
        with _taken_away() as mode, before() as backend:
            yield backend if mode is None else _under(mode, backend)

    for module in _READERS:
        module.setup_compilation_env = compilation
    try:
        yield
    finally:
        for module in _READERS:
            module.setup_compilation_env = before


def _under(mode: Detached, backend: Callable) -> Callable:
    def compiled(module: GraphModule, inputs: list, **options):
        function = backend(module, inputs, **options)

        def call(*arguments):
            with mode:
                return function(*arguments)

        return call

    return compiled


def _detached(tensor: torch.Tensor) -> torch.Tensor:
    return torch.ops.aten.view.dtype(tensor, tensor.dtype)


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
    """The record of a function under `Detached`, with `detach` for what has no gradient."""
    for each in module.modules():
        if isinstance(each, GraphModule):
            for node in each.graph.nodes:
                if node.op == "call_function" and node.target in _AS_TYPE and node.args[1] == node.args[0].meta["val"].dtype:
                    node.target, node.args = torch.ops.aten.detach.default, node.args[:1]
            each.recompile()
    return module
