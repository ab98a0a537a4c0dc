"""`torch.autograd.Function` in a recorded function: its `forward` is recorded as it is, and its `backward` is the gradient.

PyTorch does not call a `Function` while it records, so `Recorded` calls one itself: `forward`, then `backward` at once, on cotangents that the record
makes up. The record marks both ends: `strata::cotangent` is a cotangent that nobody has yet, and `strata::with_gradient` gives the results together with
what `backward` made of these. `with_regions` makes a `custom_gradient` of what lies between the two.
"""

import threading
import traceback
from collections.abc import Callable, Iterable

import torch
from torch._C import _are_functorch_transforms_active
from torch._C._functorch import TransformType, get_unwrapped, peek_interpreter_stack
from torch._ops import HigherOrderOperator
from torch.autograd import function as functions
from torch.fx import Graph, GraphModule, Node

from . import graph, values
from .detached import Detached, has_gradient

_library = torch.library.Library("strata", "FRAGMENT")
_library.define("cotangent(Tensor result) -> Tensor")
_library.define("with_gradient(Tensor[] results, Tensor[] arguments, Tensor[] cotangents, Tensor[] gradients) -> Tensor[]")
torch.library.register_fake("strata::cotangent", torch.empty_like, lib=_library)
torch.library.register_fake("strata::with_gradient", lambda results, *_: list(map(torch.empty_like, results)), lib=_library)
_COTANGENT, _WITH_GRADIENT = torch.ops.strata.cotangent.default, torch.ops.strata.with_gradient.default


class _CustomGradient(HigherOrderOperator):
    """`custom_gradient(backward, results, arguments)` gives the results. `backward` takes the arguments, the results and a cotangent of each result; it
    gives a cotangent for each argument that has one."""

    def __init__(self):
        super().__init__("custom_gradient")

    def __call__(self, backward: GraphModule, results: list, arguments: list) -> list:
        return results


_CUSTOM_GRADIENT = _CustomGradient()


class _Context(functions.FunctionCtx):
    """What `forward` leaves for `backward`."""

    to_save: tuple = ()
    dirty_tensors: tuple = ()
    non_differentiable: tuple = ()
    materialize_grads = True

    def __init__(self, needs_input_grad: list[bool]):
        self.needs_input_grad = tuple(needs_input_grad)

    @property
    def saved_tensors(self) -> tuple:
        return tuple(self.to_save)

    @property
    def input_grad_buffers(self):
        raise _unsupported("reads ctx.input_grad_buffers, which only a backward pass of PyTorch has")

    def set_output_grad_dtype(self, *dtypes):
        raise _unsupported("calls ctx.set_output_grad_dtype")


class _SetupContext:
    """`Function.setup_context` of the classes that have none of their own."""

    def __init__(self, recorded: "Recorded", before: staticmethod):
        self.recorded, self.before = recorded, before

    def __get__(self, instance, owner):
        return self if self.recorded.is_here() else self.before.__get__(instance, owner)


_ONE_AT_A_TIME = threading.RLock()


class Recorded:
    """Calls of `torch.autograd.Function` are recorded meanwhile, in this thread; without gradients where there is no `detached`."""

    def __init__(self, detached: Detached | None):
        self.detached = detached
        self.thread = threading.get_ident()

    def __enter__(self):
        # PyTorch looks for these at each call. While it traces it refuses a class without a `setup_context` of its own, so there is one.
        _ONE_AT_A_TIME.acquire()
        self.setup = functions._SingleLevelFunction.__dict__["setup_context"]
        self.bind, self.call = functions._bind_default_args, functions._call_custom_function_call
        functions._SingleLevelFunction.setup_context = _SetupContext(self, self.setup)
        functions._bind_default_args = lambda function, given, named: (given, named) if self.is_here() else self.bind(function, given, named)
        functions._call_custom_function_call = self.called

    def __exit__(self, *_):
        functions._SingleLevelFunction.setup_context = self.setup
        functions._bind_default_args, functions._call_custom_function_call = self.bind, self.call
        _ONE_AT_A_TIME.release()

    def is_here(self) -> bool:
        """Whether a call that is made now belongs to the record."""
        if threading.get_ident() != self.thread or not _are_functorch_transforms_active():
            return False
        return peek_interpreter_stack().key() == TransformType.Functionalize

    def called(self, function: type, given: tuple, named: dict | None):
        if not self.is_here():
            return self.call(function, given, named)
        separate = not isinstance(function.setup_context, _SetupContext)
        if separate:
            given, named = self.bind(function.forward, given, named)
        graded = self.detached.graded if self.detached else {}
        context = _Context([id(each) in graded for each in given])
        if not any(context.needs_input_grad) or not torch.is_grad_enabled():
            return _forward(function, context, separate, given, named or {})
        # What `forward` writes to is told by what becomes of copies, which have no gradient.
        taken = [each.detach().clone() if needed else each for each, needed in zip(given, context.needs_input_grad)]
        copies = _Unchanged(copy for copy, needed in zip(taken, context.needs_input_grad) if needed)
        found = _forward(function, context, separate, taken, named or {})
        if any(not _is_in(copy, context.dirty_tensors) for copy in copies.changed()):
            raise _unsupported("writes to an argument without ctx.mark_dirty(..) of it")
        results = list(found) if isinstance(found, tuple) else [found]
        if any(not _is_in(each, results) for each in context.dirty_tensors):
            raise _unsupported("marks an argument as dirty and does not give it")
        if any(_is_in(each, context.non_differentiable) for each in context.dirty_tensors):
            raise _unsupported("marks an argument as dirty and as not differentiable")
        places = [k for k, each in enumerate(results) if has_gradient(each) and not _is_in(each, context.non_differentiable)]
        if places:
            self.differentiate(function, context, (given, taken), results, places)
        return tuple(results) if isinstance(found, tuple) else results[0]

    def differentiate(self, function: type, context: _Context, arguments: tuple[tuple, list], results: list, places: list[int]):
        """Gives the results at these places the gradient of the `Function`. What was written to becomes the result, as in PyTorch."""
        given, taken = arguments
        cotangents = {k: _COTANGENT(results[k]) for k in places}
        # What `backward` writes to is its own copy.
        taken_back = [cotangents[k].clone() if k in cotangents else _nothing(each, context) for k, each in enumerate(results)]
        gradients = _backward(function, context, taken_back, results)
        needed = [k for k, needed in enumerate(context.needs_input_grad) if needed]
        fitted = [_fitted(function, k, gradients[k], taken[k]) for k in needed]
        made = _WITH_GRADIENT([results[k] for k in places], [given[k] for k in needed], list(cotangents.values()), fitted)
        for k, value in zip(places, made):
            dirty = next((at for at, each in enumerate(taken) if each is results[k] and _is_in(each, context.dirty_tensors)), None)
            results[k] = value if dirty is None else given[dirty].copy_(value)


def _forward(function: type, context: _Context, separate: bool, given, named: dict):
    with torch.no_grad():
        if not separate:
            return function.forward(context, *given, **named)
        result = function.forward(*given, **named)
        function.setup_context(context, tuple(given), result)
        return result


def _backward(function: type, context: _Context, cotangents: list, results: list) -> list:
    """A gradient for each argument."""
    backward = function.backward if function.vjp is functions._SingleLevelFunction.vjp else function.vjp
    unchanged = _Unchanged([*context.saved_tensors, *results])
    given = [cotangents] if getattr(function, "boxed_grads_call", False) else cotangents
    try:
        with torch.no_grad():
            found = backward(context, *given)
    except RuntimeError as error:
        if "requires_grad" in str(error) or "not require grad" in str(error):
            raise _unsupported("asks PyTorch for a gradient in its backward") from None
        raise
    if any(True for _ in unchanged.changed()):
        raise _unsupported("writes in its backward to what its forward saved or gave")
    gradients = list(found) if isinstance(found, tuple) else [found]
    count = len(context.needs_input_grad)
    if len(gradients) < count or any(each is not None for each in gradients[count:]):
        raise RuntimeError(f"function {function.__name__}Backward returned an incorrect number of gradients (expected {count}, got {len(gradients)})")
    return gradients


def _nothing(result, context: _Context):
    """The cotangent of a result that has none."""
    return torch.zeros_like(result) if isinstance(result, torch.Tensor) and context.materialize_grads else None


def _fitted(function: type, k: int, gradient, argument: torch.Tensor) -> torch.Tensor:
    """A gradient as PyTorch takes it: in the sizes and the type of its argument."""
    if gradient is None:
        return torch.zeros_like(argument)
    where = f"function {function.__name__}Backward returned an invalid gradient at index {k}"
    if not isinstance(gradient, torch.Tensor):
        raise RuntimeError(f"{where}: expected a tensor or None, got {type(gradient).__name__}")
    if gradient.shape != argument.shape:
        if not _expands(argument.shape, gradient.shape):
            raise RuntimeError(f"{where} - got {list(gradient.shape)} but expected shape compatible with {list(argument.shape)}")
        gradient = gradient.sum_to_size(argument.shape)
    if gradient.is_complex() and not argument.is_complex():
        gradient = gradient.real
    return gradient.to(argument.dtype)


def _expands(shape: torch.Size, to: torch.Size) -> bool:
    """Whether sizes expand to others."""
    return len(shape) <= len(to) and all(size in (1, wanted) for size, wanted in zip(reversed(shape), reversed(to)))


class _Unchanged:
    """Tensors, and what they were."""

    def __init__(self, tensors):
        self.tensors = [(each, _value(each)) for each in tensors if isinstance(each, torch.Tensor)]

    def changed(self):
        """Those that were written to."""
        return (tensor for tensor, before in self.tensors if _value(tensor) is not before)


def _value(tensor: torch.Tensor) -> torch.Tensor:
    """The value that a recorded tensor stands for: another one after each write."""
    if not torch._is_functional_tensor(tensor):
        return tensor
    torch._sync(tensor)
    return get_unwrapped(tensor)


def _is_in(value, several: Iterable) -> bool:
    return any(value is each for each in several)


def _unsupported(what: str) -> graph.Unsupported:
    place = values.place(traceback.extract_stack())
    return graph.Unsupported(f"{place}calls a torch.autograd.Function that {what}; {values.ELSEWHERE}")


def with_regions(module: GraphModule) -> GraphModule:
    """The record with a `custom_gradient` for each call of a `Function`."""
    for k, marked in enumerate(module.graph.find_nodes(op="call_function", target=_WITH_GRADIENT)):
        _with_region(module, marked, f"backward_{k}")
    module.recompile()
    return module


def _with_region(module: GraphModule, marked: Node, name: str):
    results, arguments, cotangents, gradients = marked.args
    inside = dict.fromkeys(cotangents)
    for node in module.graph.nodes:
        if node is not marked and any(each in inside for each in node.all_input_nodes):
            inside[node] = None
    others = next((user for node in inside for user in node.users if user is not marked and user not in inside), None)
    if others is not None:
        raise graph.Unsupported(f"the backward of a torch.autograd.Function writes to what `{others.name}` reads; {values.ELSEWHERE}")
    computed = [node for node in inside if node not in cotangents]
    read = [each for node in computed for each in node.all_input_nodes] + list(gradients)
    captured = [each for each in dict.fromkeys(read) if each not in inside and each not in arguments and each not in results]
    region, known = Graph(), {}
    for node in (*arguments, *captured, *results, *cotangents):
        known[node] = region.placeholder(node.name)
        known[node].meta["val"] = node.meta["val"]
    zeros = [known[node] for node in captured if has_gradient(node.meta["val"])]
    for node in computed:
        known[node] = region.node_copy(node, known.__getitem__)
    region.output(tuple([known[node] for node in gradients] + [_zeros(region, each) for each in zeros]))
    setattr(module, name, GraphModule({}, region))
    with module.graph.inserting_before(marked):
        given = [*arguments, *(_detached(module.graph, node) for node in captured)]
        node = module.graph.call_function(_CUSTOM_GRADIENT, (module.graph.get_attr(name), list(results), given))
    node.meta = dict(marked.meta)
    marked.replace_all_uses_with(node)
    for each in (marked, *reversed(inside)):
        module.graph.erase_node(each)


def _detached(graph: Graph, node: Node) -> Node:
    """A value that the region reads beside the arguments, through which no gradient goes."""
    return _call(graph, torch.ops.aten.detach.default, node) if has_gradient(node.meta["val"]) else node


def _zeros(graph: Graph, node: Node) -> Node:
    return _call(graph, torch.ops.aten.zeros_like.default, node)


def _call(graph: Graph, operator, node: Node) -> Node:
    made = graph.call_function(operator, (node,))
    made.meta["val"] = node.meta["val"]
    return made


class _Nothing(torch.autograd.Function):
    """Called once: PyTorch remembers at the first call of any `Function` what `setup_context` is of those that have none."""

    @staticmethod
    def forward(ctx):
        return None


_Nothing.apply()
