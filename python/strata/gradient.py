"""Graphs of TorchDynamo whose gradient the compiler makes: what AOTAutograd does is done by `--differentiate` and `--split-joint`.

The compiler makes a forward and a backward program of a graph. The forward gives behind its results what the backward reads of it; PyTorch's autograd
calls both, as it calls those of any `torch.autograd.Function`.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import torch
from torch._guards import TracingContext
from torch._subclasses import FakeTensorMode
from torch.amp import autocast_mode
from torch.fx import GraphModule, Interpreter, Node
from torch.fx.traceback import preserve_node_meta
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from . import direct, events, graph
from .compiler import compile_program, to_function
from .options import Options


def is_asked(module: GraphModule) -> bool:
    """Whether a call of a graph has a gradient."""
    return torch.is_grad_enabled() and any(isinstance(value, torch.Tensor) and value.requires_grad for value in _results(module))


def differentiable(module: GraphModule, given: list, options: Options) -> Callable:
    """A graph of TorchDynamo as a function of its inputs that has a gradient; `given` are those of its first call.

    Errors: `graph.Unsupported` or `RuntimeError` for what is not compiled, and for what only AOTAutograd does.
    """
    inputs, results = _inputs(module), _results(module)
    _check(module, inputs, results)
    by = [k for k, value in enumerate(inputs) if isinstance(value, torch.Tensor) and value.requires_grad]
    mode = TracingContext.get().fake_mode
    with preserve_node_meta():
        traced = direct.traced(_Lines(module).run, [_without_memory(value, mode) for value in given], set(by), mode)
    written = direct._changed(traced)
    others = {k: inputs[:k] + inputs[k + 1 :] for k in written}
    placeholders = module.graph.find_nodes(op="placeholder")
    if any(inputs[k].requires_grad or any(_share(inputs[k], each) for each in others[k]) or not _is_of_module(placeholders[k]) for k in written):
        raise graph.Unsupported("an input that is written to is no buffer of a module, has a gradient, or shares memory with another")
    if any(_is_sparse(node) for node in traced.graph.nodes):
        raise graph.Unsupported("a gradient is sparse")
    program = graph.program(traced)
    if program.conjugates:
        raise graph.Unsupported("the conjugation or negation of an input is left to its readers")
    graded = [k for k, value in enumerate(results) if isinstance(value, torch.Tensor) and value.requires_grad]
    return _Pair(program, options, by, graded, written, sum(node.op == "call_function" for node in traced.graph.nodes))


def _inputs(module: GraphModule) -> list:
    """A graph's inputs as TorchDynamo describes them."""
    return [node.meta.get("example_value") for node in module.graph.find_nodes(op="placeholder")]


def _results(module: GraphModule) -> list:
    """The same of its results."""
    return [value.meta.get("example_value") if isinstance(value, Node) else value for value in module.graph.output_node().args[0]]


def _is_of_module(placeholder: Node) -> bool:
    """Whether an input is a parameter or a buffer. Others may come to lie in the memory of each other."""
    return bool((placeholder.meta.get("tensor_dict") or {}).get("_dynamo_static_input_type"))


def _without_memory(value, mode: FakeTensorMode):
    """An input with those of its sizes as symbols that TorchDynamo has as symbols."""
    if not isinstance(value, torch.Tensor):
        return value
    known = TracingContext.get().tensor_to_context.get(value)
    return mode.from_tensor(value, symbolic_context=known, source=known.tensor_source) if known else mode.from_tensor(value, static_shapes=True)


def _check(module: GraphModule, inputs: list, results: list):
    """Refuses what AOTAutograd does beside the gradient."""
    if next(module.named_parameters(), None) is not None or next(module.named_buffers(), None) is not None:
        raise graph.Unsupported("the graph holds weights itself")
    if any(is_traceable_wrapper_subclass(value) for value in (*inputs, *results)):
        raise graph.Unsupported("a tensor is of a class of its own")
    for target in {node.target for node in module.graph.nodes if node.op == "call_function"}:
        if isinstance(target, torch._ops.HigherOrderOperator):
            raise graph.Unsupported(f"`{target}` says itself what its gradient is")
        if "_functorch" in getattr(target, "__module__", ""):
            raise graph.Unsupported("a transform of torch.func is applied")
    for k, value in enumerate(results):
        if any(_share(value, each) for each in (*inputs, *results[:k])):
            raise graph.Unsupported("a result shares memory with an input or with another")


def _is_sparse(node: Node) -> bool:
    """Whether a call is of an operator that was asked for a sparse gradient."""
    schema = getattr(node.target, "_schema", None)
    names = [argument.name for argument in schema.arguments] if schema else []
    return {**dict(zip(names, node.args)), **node.kwargs}.get("sparse") is True


class _Lines(Interpreter):
    """Runs a graph so that what is recorded knows the user's lines, and leaves no `torch.autocast` that an error ends."""

    def __init__(self, module: GraphModule):
        super().__init__(module)
        self.entered: list[torch.autocast] = []

    def call_function(self, target, args, kwargs):
        value = super().call_function(target, args, kwargs)
        if target is autocast_mode._enter_autocast:
            self.entered.append(value)
        elif target is autocast_mode._exit_autocast:
            self.entered.pop()
        return value

    def run(self, *inputs):
        try:
            return super().run(*inputs)
        finally:
            for entered in reversed(self.entered):
                entered.__exit__(None, None, None)


def _share(one, other) -> bool:
    """Whether two values are tensors in the same memory."""
    return isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor) and torch._C._is_alias_of(one, other)


class _Pair:
    """A forward and a backward program as one function."""

    def __init__(self, program: graph.Program, options: Options, by: list[int], graded: list[int], written: list[int], calls: int):
        self.graded, self.written = graded, written
        self.ungraded = [k for k in range(len(program.places)) if k not in graded]
        self.inputs, self.results = len(program.arguments) - len(program.constants), len(program.places)
        made = [k for k, place in enumerate(program.places) if place in (graph.TENSOR, graph.NUMBER)]
        outputs = [made.index(k) for k in graded]
        asked = {"wrt": [program.arguments[k] for k in by], "cotangents": outputs}
        budget = f"budget={torch._functorch.config.activation_memory_budget}"
        described = {half: events.Graph(half, calls) for half in ("forward", "backward")}

        def compiled(half: str):
            return compile_program(program, options, described[half], {"gradient": {**asked, "half": half}, "rematerialise": budget})

        forward = compiled("forward")
        # Behind the results is what the backward reads of the forward, before what is written to.
        saved = [output["name"] for output in json.loads(forward.manifest)["outputs"] if output["kind"] == "output"][len(made) :]
        behind = replace(program, places=[*program.places, *[graph.TENSOR] * len(saved)])
        self.forward, _ = to_function(behind, options, described["forward"], forward)

        backward = compiled("backward")
        inputs, given = ({value["name"] for value in json.loads(backward.manifest)[kind]} for kind in ("inputs", "outputs"))
        self.kept = [k for k, name in enumerate(program.arguments[: self.inputs]) if name in inputs]
        names = [*(program.arguments[k] for k in self.kept), *saved, *(f"cot_{k}" for k in outputs), *program.arguments[self.inputs :]]
        # What no result depends on has no gradient.
        self.by = [k for k in by if f"grad_{program.arguments[k]}" in given]
        gradients = replace(program, arguments=names, places=[graph.TENSOR] * len(self.by))
        self.backward, _ = to_function(gradients, options, described["backward"], backward)
        for event in described.values():
            events.record(event)

    def __call__(self, *inputs):
        return list(_Differentiable.apply(self, *inputs))


class _Differentiable(torch.autograd.Function):
    """PyTorch's view of a pair."""

    @staticmethod
    def forward(ctx, pair: _Pair, *inputs):
        found = pair.forward(*inputs)
        results, saved = found[: pair.results], found[pair.results :]
        kept = [inputs[k] for k in pair.kept]
        tensors = [value for value in kept if isinstance(value, torch.Tensor)]
        ctx.pair = pair
        ctx.numbers = [None if isinstance(value, torch.Tensor) else value for value in kept]
        ctx.save_for_backward(*tensors, *saved)
        ctx.mark_non_differentiable(*(results[k] for k in pair.ungraded if isinstance(results[k], torch.Tensor)))
        torch.autograd.graph.increment_version([inputs[k] for k in pair.written])
        return results

    @staticmethod
    def backward(ctx, *cotangents):
        tensors = iter(ctx.saved_tensors)
        kept = [next(tensors) if number is None else number for number in ctx.numbers]
        # Gradients that are differentiated again are made in grad mode.
        backward = partial(_Once.apply, ctx.pair) if torch.is_grad_enabled() else ctx.pair.backward
        found = backward(*kept, *tensors, *(cotangents[k] for k in ctx.pair.graded))
        gradients = [None] * ctx.pair.inputs
        for k, gradient in zip(ctx.pair.by, found):
            gradients[k] = gradient
        return None, *gradients


class _Once(torch.autograd.Function):
    """Gradients that depend on the inputs, and have no gradient."""

    @staticmethod
    def forward(ctx, pair: _Pair, *arguments):
        return pair.backward(*arguments)

    @staticmethod
    def backward(ctx, *_):
        raise RuntimeError(
            "strata: a gradient of torch.compile's is differentiated again, which is not compiled; torch.func.grad in the compiled function has gradients, "
            "and eager PyTorch"
        )
