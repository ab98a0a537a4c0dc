"""From a graph of TorchDynamo through AOTAutograd to compiled functions."""

import warnings
from collections.abc import Callable
from contextlib import contextmanager

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch._aot_autograd.schemas import OutputType
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._guards import TracingContext
from torch.fx import GraphModule, Node
from torch.utils._python_dispatch import _disable_current_modes, is_traceable_wrapper_subclass

from . import events, gradient, graph, instances
from .compiler import to_function
from .higher_order import decomposed
from .kept import Kept, ahead_of_time, keep, not_cached
from .options import Options
from .partition import apart, missing, partition
from .substituted import substituted
from .undecomposed import undecomposed
from .views import Fixed, placed, with_views, without_views

class Compilation:
    """What one graph of TorchDynamo becomes: a program, or a forward and a backward one."""

    def __init__(self, options: Options):
        self.options = options
        self.inputs: list = []
        """What AOTAutograd's graph is called with, while it is compiled."""
        self.direct: Callable | None = None
        """The compiled function, where nothing needs to stand between it and TorchDynamo."""
        self.of_pytorch = ""
        """Why the gradient is PyTorch's, where it was to be the compiler's."""
        self.kept: Kept | None = None
        """The same, for PyTorch's caches."""

    def of_dynamo(self, module: GraphModule, inputs: list) -> Callable:
        to_file = ahead_of_time()
        if self.options.autograd == "strata" and gradient.is_asked(module) and not to_file:
            try:
                return gradient.differentiable(module, inputs, self.options)
            except Exception as error:  # an error of the program's is AOTAutograd's to raise
                self.of_pytorch = f"its gradient is PyTorch's: {error or type(error).__name__}"
        compiler = aot_autograd(
            fw_compiler=lambda module, inputs: self.compile("forward", module),
            bw_compiler=lambda module, inputs: self.compile("backward", module),
            inference_compiler=lambda module, inputs: self.compile("inference", module),
            partition_fn=min_cut_rematerialization_partition,
            keep_inference_input_mutations=True,
        )
        module = substituted(module)
        # Weights that the graph holds itself come first, each as often as it has a name.
        own = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
        self.inputs = [*(weight for _, weight in own), *inputs]
        try:
            with not_cached(), _numbers_from_tensors(), undecomposed():
                through_aot = compiler(module, inputs)
        finally:
            self.inputs = []
        if self.direct is None or own or _has_subclasses(module, inputs):
            return through_aot
        if self.kept is None:
            return through_aot if to_file else self.direct
        keep(self.kept, module)
        return self.kept if to_file else self.direct

    def compile(self, kind: str, module: GraphModule) -> Callable:
        """A graph of AOTAutograd as a function of its inputs in one list, or its eager form where it is not compiled."""
        event = events.Graph(kind, sum(node.op == "call_function" for node in module.graph.nodes), reason=self.of_pytorch)
        # AOTAutograd calls this under its fake tensors, among which real constants cannot be looked at.
        with _disable_current_modes():
            call = self.native(event, module)
        events.record(event)

        def boxed(arguments: list):
            values = tuple(arguments)
            arguments.clear()
            return call(*values)

        boxed._boxed_call = True
        return boxed

    def native(self, event: events.Graph, module: GraphModule) -> Callable:
        """The graph compiled; what of it is not runs in eager PyTorch, and the user is told."""
        module = decomposed(module)
        registered = self.options.registered()
        unknown = missing(module, registered)  # a compiler that cannot be opened is an error, not a reason for eager PyTorch
        alone = apart(module)
        if alone and not unknown:
            event.status = "native"
            return partition(module, lambda part: self.part(part, event), registered)[0]
        try:
            if unknown:
                raise graph.Unsupported(f"there is no rule for {', '.join(unknown)}")
            inference = event.kind == "inference"
            computed, fixed = without_views(module)
            weights = _weights(self.options) if inference else frozenset()
            program = graph.program(computed, weights, values=self.values(computed, weights))
            found = instances.find(self.options, computed, program)
            program, artefact = found or (program, None)
            call, artefact = to_function(program, self.options, event, artefact)
            if not found:
                instances.remember(self.options, computed, program, artefact)
            call = placed(call, fixed)
            if inference and not program.conjugates and _is_plain(TracingContext.try_get(), fixed):
                self.direct = call
                self.kept = None if fixed else Kept(artefact, program.arguments, program.places, program.constants)
            return with_views(module, call)
        except (graph.Unsupported, RuntimeError) as error:
            if self.options.fallback == "error":
                raise
            event.reason, event.status = str(error), "eager"
            call, parts = module.forward, 0
            if unknown:
                call, parts = partition(module, lambda part: self.part(part, event), registered)
        if parts:
            event.status = "partitioned"
        where = f"{parts} parts of a graph of {event.nodes} calls are compiled, the rest runs" if parts else f"a graph of {event.nodes} calls runs"
        warnings.warn(f"strata: {where} in eager PyTorch: {event.reason}", stacklevel=2)
        return call

    def values(self, module: GraphModule, weights: set[int]) -> dict[int, torch.Tensor]:
        """What the weights of a graph are now."""
        nodes = list(module.graph.find_nodes(op="placeholder"))
        tokens = len(nodes) - len(self.inputs)  # they come first
        found = {k: self.inputs[k - tokens] for k in weights if k >= tokens >= 0}
        return {k: value for k, value in found.items() if type(value) in (torch.Tensor, torch.nn.Parameter) and _is_like(value, nodes[k])}

    def part(self, module: GraphModule, event: events.Graph) -> Callable:
        """A part of a graph; one that is not compiled after all stays in PyTorch."""
        try:
            return to_function(graph.program(module), self.options, event)[0]
        except (graph.Unsupported, RuntimeError) as error:
            event.reason += f"; {error}"
            return _as_tuple(module.forward)


def _as_tuple(call: Callable) -> Callable:
    def as_tuple(*arguments):
        results = call(*arguments)
        return results if isinstance(results, (tuple, list)) else (results,)

    return as_tuple


def _is_like(value: torch.Tensor, node: Node) -> bool:
    """Whether a tensor may be what a node of a graph stands for."""
    meta = node.meta.get("val")
    return isinstance(meta, torch.Tensor) and value.dtype == meta.dtype and value.shape == meta.shape


def _weights(options: Options) -> set[int]:
    """The inputs of the graph at hand that are parameters and buffers."""
    context = TracingContext.try_get()
    metadata = context.fw_metadata if context is not None else None
    if metadata is None or not options.freeze:
        return set()
    # The graph takes the tokens of effects first, which `input_info` does not count.
    mutated = {k for k, info in enumerate(metadata.input_info, len(metadata.tokens)) if info.mutates_data}
    return set(metadata.static_input_indices) - mutated


@contextmanager
def _numbers_from_tensors():
    """Operators may read numbers out of tensors meanwhile, as `x[i] = y` does for a tensor `i` of no dimensions. Else AOTAutograd gives the graph up,
    and TorchDynamo runs the function in eager PyTorch without a word."""
    context = TracingContext.try_get()
    mode = context.fake_mode if context is not None else None
    if mode is None:
        yield
        return
    before, mode.allow_scalar_outputs = mode.allow_scalar_outputs, True
    try:
        yield
    finally:
        mode.allow_scalar_outputs = before


def _has_subclasses(module: GraphModule, inputs: list) -> bool:
    """Whether AOTAutograd takes tensors apart and puts them together around the compiled function."""
    results = [node.meta.get("example_value") for node in module.graph.output_node().all_input_nodes]
    return any(is_traceable_wrapper_subclass(value) for value in (*inputs, *results))


def _is_plain(context: TracingContext | None, fixed: Fixed) -> bool:
    """Whether a call needs nothing of what AOTAutograd does around the compiled function: no mutation or effects, and no view but those made here."""
    metadata = context.fw_metadata if context is not None else None
    if metadata is None or metadata.tokens or metadata.num_intermediate_bases or metadata.grad_enabled_mutation is not None:
        return False
    inputs = all(not info.mutates_data and not info.mutates_metadata for info in metadata.input_info)
    made = lambda k, info: info.output_type == OutputType.alias_of_input and k in fixed  # noqa: E731
    return inputs and all(info.output_type == OutputType.non_alias or made(k, info) for k, info in enumerate(metadata.output_info))
