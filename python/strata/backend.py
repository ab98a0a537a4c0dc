"""The backend of `torch.compile`: graphs of TorchDynamo through AOTAutograd to compiled functions."""

import json
import warnings
from collections.abc import Callable
from functools import partial
from time import perf_counter

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._guards import TracingContext
from torch.fx import GraphModule
from torch.utils._python_dispatch import _disable_current_modes

from . import _native, events, graph
from .compiler import compile_text
from .options import Options


def backend(module: GraphModule, inputs: list, *, mode: str | None = None, options: dict | None = None) -> Callable:
    """What `torch.compile(..., backend="strata")` calls with each graph."""
    chosen = Options.of(mode, options)
    compiler = aot_autograd(
        fw_compiler=partial(_compile, chosen, "forward"),
        bw_compiler=partial(_compile, chosen, "backward"),
        inference_compiler=partial(_compile, chosen, "inference"),
        partition_fn=min_cut_rematerialization_partition,
        keep_inference_input_mutations=True,
    )
    return compiler(module, inputs)


def _compile(options: Options, kind: str, module: GraphModule, inputs: list) -> Callable:
    """A graph of AOTAutograd as a function of its inputs in one list, or its eager form where it is not compiled."""
    calls = sum(node.op == "call_function" for node in module.graph.nodes)
    event = events.Graph(kind, calls)
    try:
        with _disable_current_modes():
            call = _function(module, _weights(options) if kind == "inference" else frozenset(), options, event)
    except (graph.Unsupported, RuntimeError) as error:
        if options.fallback == "error":
            raise
        event.status, event.reason = "eager", str(error)
        warnings.warn(f"strata: a graph of {calls} calls runs in eager PyTorch: {error}", stacklevel=2)
        call = module.forward
    events.record(event)

    def boxed(arguments: list):
        values = tuple(arguments)
        arguments.clear()
        return call(*values)

    boxed._boxed_call = True
    return boxed


def _weights(options: Options) -> set[int]:
    """The inputs of the graph at hand that are parameters and buffers."""
    context = TracingContext.try_get()
    metadata = context.fw_metadata if context is not None else None
    if metadata is None or not options.freeze:
        return set()
    mutated = {k for k, info in enumerate(metadata.input_info) if info.mutates_data}
    return set(metadata.static_input_indices) - mutated


def _function(module: GraphModule, weights: set[int], options: Options, event: events.Graph) -> Callable:
    start = perf_counter()
    program = graph.program(module, weights)
    written = perf_counter()
    artefact = compile_text("graph.json", program.text, options)
    compiled = perf_counter()
    function = _native.function(artefact, program.arguments, program.places, program.constants)
    event.seconds = {"write": written - start, "compile": compiled - written, "load": perf_counter() - compiled}
    event.kernels = len(json.loads(_native.manifest(artefact))["kernels"])
    if not program.conjugates:
        return function

    def resolved(*arguments):
        arguments = list(arguments)
        for k in program.conjugates:
            arguments[k] = arguments[k].resolve_conj().resolve_neg()
        return function(*arguments)

    return resolved
