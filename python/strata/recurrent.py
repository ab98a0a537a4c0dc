"""`nn.LSTM`, `nn.GRU` and `nn.RNN` as one operator each. PyTorch's tracers would write out their steps; the compiler has a rule for the whole layer.

`strata::lstm` and its like have the schemas of `aten::lstm.input` and its like, and become these when a graph is written for the compiler. Where
AOTAutograd makes a graph's gradients, those of a layer are a program of its own, compiled when a backward pass first runs.
"""

import operator
from collections.abc import Callable
from dataclasses import astuple, dataclass

import torch
from torch._subclasses import FakeTensorMode
from torch.fx import Graph, GraphModule, Node

from . import events, graph
from .compiler import to_function
from .options import Options

PROGRAMS = 8
"""How many sizes of one layer's input get a backward program; gradients for further ones are PyTorch's."""

LAYERS = {"lstm": torch.lstm, "gru": torch.gru, "rnn_tanh": torch.rnn_tanh, "rnn_relu": torch.rnn_relu}
_FLAGS = "bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first"


def is_compiled(node: Node) -> bool:
    """Whether the call of an operator of this file is compiled with what is around it: a backward pass has a program of its own."""
    return node.target is not torch.ops.strata.recurrent_backward.default


@dataclass(frozen=True)
class _Layer:
    """A recurrent layer, but for its tensors."""

    name: str
    has_biases: bool
    num_layers: int
    dropout: float
    train: bool
    bidirectional: bool
    batch_first: bool

    @property
    def states(self) -> int:
        """How many tensors a layer hands from step to step."""
        return 2 if self.name == "lstm" else 1

    def given(self, state: list):
        """The states as the layer's operator takes them."""
        return state if self.name == "lstm" else state[0]

    def results(self, x, state: list, params: list) -> list:
        """The layer by PyTorch."""
        return [each.contiguous() for each in LAYERS[self.name](x, self.given(state), params, *astuple(self)[1:])]

    def shapes(self, x, state: list) -> list:
        """The results without their values."""
        sizes = (*x.shape[:2], state[0].shape[2] * (1 + self.bidirectional))
        return [x.new_empty(sizes), *(each.new_empty(each.shape) for each in state)]

    def gradients(self, x, state: list, params: list, cotangents: list) -> list:
        """The gradients of all tensors by PyTorch."""
        with torch.enable_grad():
            tensors = [each.detach().requires_grad_() for each in (x, *state, *params)]
            end = 1 + len(state)
            return list(torch.autograd.grad(self.results(tensors[0], tensors[1:end], tensors[end:]), tensors, cotangents))

    def program(self, x, state: list, params: list) -> Callable:
        """The gradients of all tensors as a compiled function of these and the cotangents."""
        layer, nodes = Graph(), []
        with FakeTensorMode() as mode:
            for k, tensor in enumerate((x, *state, *params)):
                nodes.append(layer.placeholder(f"tensor_{k}"))
                nodes[-1].meta["val"] = mode.from_tensor(tensor)
            end = 1 + len(state)
            call = layer.call_function(_operator(self.name), (nodes[0], self.given(nodes[1:end]), nodes[end:], *astuple(self)[1:]))
            call.meta["val"] = self.shapes(nodes[0].meta["val"], [node.meta["val"] for node in nodes[1:end]])
        results = [layer.call_function(operator.getitem, (call, k)) for k in range(end)]
        for k, result in enumerate(results):
            result.meta["val"] = call.meta["val"][k]
        layer.output(tuple(results))
        program = graph.program(GraphModule({}, layer))
        asked = {"gradient": {"wrt": list(program.arguments), "cotangents": list(range(end))}}
        program.places += [graph.TENSOR] * len(program.arguments)
        program.arguments += [f"cot_{k}" for k in range(end)]
        event = events.Graph("gradient", 1)
        function, _ = to_function(program, Options(), event, asked=asked)
        events.record(event)
        return lambda *tensors: list(function(*tensors))[end:]


_programs: dict[tuple, dict[torch.Size, Callable]] = {}
"""The backward programs of each layer, by the sizes of its input."""


def forget():
    """Forgets the backward programs."""
    _programs.clear()


def _backward(name: str, x, state: list, params: list, cotangents: list, *flags) -> list:
    layer = _Layer(name, *flags)
    programs = _programs.setdefault((layer, *[(each.dtype, each.shape) for each in params]), {})
    program = programs.get(x.shape)
    if program is None:
        if len(programs) == PROGRAMS:
            return layer.gradients(x, state, params, cotangents)
        program = programs[x.shape] = layer.program(x, state, params)
    return program(x, *state, *params, *cotangents)


def _differentiate(ctx, *cotangents):
    x, *rest = ctx.saved_tensors
    end = ctx.layer.states
    gradients = torch.ops.strata.recurrent_backward(ctx.layer.name, x, rest[:end], rest[end:], list(cotangents), *astuple(ctx.layer)[1:])
    return gradients[0], ctx.layer.given(gradients[1 : 1 + end]), gradients[1 + end :], *[None] * 6


def _operator(name: str):
    return getattr(torch.ops.strata, name).default


def _define(library: torch.library.Library, name: str):
    """The operator of a layer."""
    kind, results = ("Tensor[]", "Tensor, Tensor, Tensor") if name == "lstm" else ("Tensor", "Tensor, Tensor")
    library.define(f"{name}(Tensor input, {kind} hx, Tensor[] params, {_FLAGS}) -> ({results})")

    def states(hx) -> list:
        return list(hx) if name == "lstm" else [hx]

    def results(x, hx, params, *flags):
        return tuple(_Layer(name, *flags).results(x, states(hx), params))

    def shapes(x, hx, params, *flags):
        return tuple(_Layer(name, *flags).shapes(x, states(hx)))

    def keep(ctx, inputs, output):
        x, hx, params, *flags = inputs
        ctx.layer = _Layer(name, *flags)
        ctx.save_for_backward(x, *states(hx), *params)

    library.impl(name, results, "CPU")
    torch.library.register_fake(f"strata::{name}", shapes, lib=library)
    torch.library.register_autograd(f"strata::{name}", _differentiate, setup_context=keep, lib=library)


def _function(name: str) -> Callable:
    """PyTorch's function of a layer, by the one operator where that is possible."""

    def function(*arguments):
        if not _is_plain(arguments, name):
            return LAYERS[name](*arguments)
        x, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first = arguments
        if not train or dropout == 0 or num_layers == 1:
            return _operator(name)(x, hx, params, has_biases, num_layers, 0.0, train, bidirectional, batch_first)
        # Dropout stands between layers of their own.
        directions, weights, ends = 1 + bidirectional, len(params) // num_layers, []
        for k in range(num_layers):
            part = slice(k * directions, (k + 1) * directions)
            begin = [each[part] for each in hx] if name == "lstm" else hx[part]
            own = params[k * weights : (k + 1) * weights]
            x = torch.nn.functional.dropout(x, dropout) if k > 0 else x
            x, *end = _operator(name)(x, begin, own, has_biases, 1, 0.0, train, bidirectional, batch_first)
            ends.append(end)
        return x, *map(torch.cat, zip(*ends))

    function.__name__ = function.__qualname__ = name
    return function


def _is_plain(arguments: tuple, name: str) -> bool:
    """Whether a call is for padded sequences of one element type in the memory of the CPU; one for packed sequences has the batch sizes second."""
    if len(arguments) != 9 or not isinstance(arguments[3], bool) or torch.is_autocast_enabled("cpu"):
        return False
    x, state, params = arguments[:3]
    tensors = (x, *(state if name == "lstm" else (state,)), *params)
    return x.dim() == 3 and all(each.device.type == "cpu" and each.dtype == x.dtype for each in tensors)


lstm, gru, rnn_tanh, rnn_relu = map(_function, LAYERS)
WHOLE = dict(zip(LAYERS.values(), (lstm, gru, rnn_tanh, rnn_relu)))
"""PyTorch's functions, and those by one operator."""

_library = torch.library.Library("strata", "DEF")
for _name in LAYERS:
    _define(_library, _name)
_library.define(f"recurrent_backward(str name, Tensor input, Tensor[] hx, Tensor[] params, Tensor[] cotangents, {_FLAGS}) -> Tensor[]")
_library.impl("recurrent_backward", _backward, "CPU")
torch.library.register_fake(
    "strata::recurrent_backward",
    lambda name, x, state, params, cotangents, *flags: [each.new_empty(each.shape) for each in (x, *state, *params)],
    lib=_library,
)
