"""`strata.compile`: a function or module compiled from the operators that one call of it runs, without TorchDynamo."""

import inspect
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

import torch
from torch._C._dynamo.guards import compute_overlapping_tensors
from torch._dispatch.python import enable_python_dispatcher
from torch._subclasses import FakeTensorMode
from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils import _pytree as pytree

from . import _native, ctc_loss, events, graph, values
from .autograd_function import Recorded, with_regions
from .compiler import compile_text, to_function
from .detached import Detached, unread, without_gradients
from .higher_order import decomposed
from .options import Options
from .substituted import Substituted
from .undecomposed import undecomposed
from .values import Refused, told_that_it_is_recorded
from .views import placed, without_views


class Compiled:
    """A function that is compiled for each kind of arguments that it meets.

    The kind is the nesting of the arguments, the dtype and sizes of each tensor, the value of all else, which modules train, and `torch.autocast`. One
    call with each kind is recorded: what the function does in Python besides (branches, prints, counters) happens then and not again. Gradients are not recorded.
    A result that is a view of an argument shares its memory, as in eager PyTorch; of a function with such results the strides are part of the kind.
    """

    def __init__(self, function: Callable, options: Options):
        self.function = function
        self.options = options
        self.programs: dict[tuple, tuple[Callable, Callable | None]] = {}
        """A program for each kind of arguments, and how its results nest where there is more than one."""
        self.files: list[_File] = []
        self.modules = list(function.modules()) if isinstance(function, torch.nn.Module) else []
        self.places = list(_weights(self.modules))
        self.kind_of = _kind
        """What a kind has of an argument or weight."""

    def __call__(self, *arguments, **named):
        weights = [owner[name] for owner, name in self.places]
        plain = not named and all([isinstance(each, torch.Tensor) for each in arguments])
        leaves, spec = (arguments, len(arguments)) if plain else pytree.tree_flatten((arguments, named))
        tensors = leaves if plain else [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        kind = self.kind(spec, leaves, weights)
        found = self.programs.get(kind)
        if found is None:
            found = self.record(list(leaves), pytree.tree_structure((arguments, named)), weights)
            self.programs[self.kind(spec, leaves, weights)] = found
        call, result = found
        results = call(*tensors, *weights)
        return results[0] if result is None else result(results)

    def kind(self, spec, leaves, weights: list) -> tuple:
        """What a program is compiled for."""
        tied = _tied(weights) if len({*map(id, weights)}) < len(weights) else None
        return (spec, autocast(), tied, *map(self.kind_of, leaves), *map(self.kind_of, weights), *[part.training for part in self.modules])

    def save(self, path: str | os.PathLike):
        """Writes the compiled program with its weights, as they are now, to a `.strata` file: `strata.load`, `rs-run` and C programs run it where
        the function is not. Its inputs are the tensors of the arguments in order, its results the tensors of the result.

        Errors: `ValueError` when not exactly one kind of arguments has been compiled, or the program changes a weight.
        """
        if len(self.files) != 1:
            raise ValueError(f"a file holds one program, and {len(self.files)} kinds of arguments are compiled: call the function with one kind first")
        (file,) = self.files
        if file.changed:
            raise ValueError("the program changes weights, which a file cannot keep; call eval() first, or pass them as arguments")
        weights = {name: owner[key].detach() for name, (owner, key) in zip(file.weights, self.places)}
        artefact = file.artefact().with_origin(_place(self.function), f"strata.compile, PyTorch {torch.__version__}")
        artefact.write_with(path, {**weights, **file.constants})

    def record(self, leaves: list, spec: pytree.TreeSpec, weights: list) -> tuple[Callable, Callable | None]:
        module, result = recorded(self.function, leaves, spec, [[place] for place in self.places], weights)
        traced, (module, fixed) = module, without_views(module)
        if fixed:
            self.kind_of = _kind_in_memory
        places = [k for k, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        count = len(places) + len(weights)
        event = events.Graph("inference", sum(node.op == "call_function" for node in module.graph.nodes))
        changed = _changed(module)
        frozen = set(range(len(places), count)) - set(changed) if self.options.freeze else set()
        values = {k: weight for k, weight in enumerate(weights, len(places)) if type(weight) in (torch.Tensor, torch.nn.Parameter)}
        frozen_program = graph.program(module, frozen, values=values)
        call, artefact = to_function(frozen_program, self.options, event)
        names = frozen_program.arguments
        constants = dict(zip(names[count:], frozen_program.constants))
        written = bool(changed) or not self.options.freeze and bool(self.places)
        made = lambda: artefact  # noqa: E731
        if fixed or any(node.op == "placeholder" for node in module.graph.output_node().all_input_nodes):
            made = lambda: compile_text("graph.json", graph.program(traced, frozen, whole=True, values=values).text, self.options)  # noqa: E731
        self.files.append(_File(made, names[len(places) : count], constants, written))
        call = placed(call, fixed)
        if changed:
            call = disjoint(_counted(call, changed), changed, len(places))
        events.record(event)
        return call, None if result.is_leaf() else _nesting(result)


def _place(function: Callable) -> str:
    """A function's name, and the line that it begins at where it is written in Python."""
    forward = type(function).forward if isinstance(function, torch.nn.Module) else inspect.unwrap(function)
    code = getattr(forward, "__code__", None)
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{name} at {code.co_filename}:{code.co_firstlineno}" if code else name


def _nesting(spec: pytree.TreeSpec) -> Callable:
    """The results of a program as those of its function."""
    if spec.type in (tuple, list) and all(child.is_leaf() for child in spec.children()):
        return spec.type
    return lambda results: pytree.tree_unflatten(results, spec)


def recorded(
    function: Callable, leaves: list, spec: pytree.TreeSpec, places: list[list], weights: list, by: set[int] | None = None
) -> tuple[torch.fx.GraphModule, pytree.TreeSpec]:
    """The graph of one call, and how its results nest. Its arguments are the tensors among the leaves, then the weights; `places` are a dictionary and a
    name in it for each place of each weight; `by` as for `traced`."""
    tensors = [k for k, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    described: list[pytree.TreeSpec] = []

    def flat(*inputs):
        flattened = list(leaves)
        for k, value in zip(tensors, inputs):
            flattened[k] = value
        arguments, named = pytree.tree_unflatten(flattened, spec)
        with _Replaced(places, inputs[len(tensors) :]):
            results, result = pytree.tree_flatten(function(*arguments, **named))
        described[:] = [result]
        return results

    given = [*_distinct([leaves[k] for k in tensors], weights), *weights]
    # Sizes of the call are numbers; those that its values decide are symbols.
    symbols = ShapeEnv(allow_scalar_outputs=True, allow_dynamic_output_shape_ops=True)
    mode = FakeTensorMode(allow_non_fake_inputs=True, shape_env=symbols)
    fakes = [mode.from_tensor(value, static_shapes=True) for value in given]
    return traced(flat, fakes, by, mode), described[0]


def traced(function: Callable, fakes: list, by: set[int] | None, mode: FakeTensorMode) -> torch.fx.GraphModule:
    """The graph of a function of tensors without memory, which are of `mode`. One that is to be differentiated by the arguments `by` says what has no
    gradient."""

    def under_modes(*inputs):
        detached = None if by is None else Detached([inputs[k] for k in by])
        modes = [torch.no_grad()] if by is None else [torch.enable_grad(), unread(), detached]
        with ExitStack() as stack:
            for each in (Substituted(), Refused(), told_that_it_is_recorded(), Recorded(detached), *modes):
                stack.enter_context(each)
            return function(*inputs)

    with mode, enable_python_dispatcher(), undecomposed():
        module = make_fx(functionalize(under_modes, remove="mutations"), pre_dispatch=False)(*fakes)
    module = decomposed(module)
    # PyTorch computes the types of some results by operators on its device without memory.
    module.graph.eliminate_dead_code()
    module = ctc_loss.whole(module)
    return module if by is None else with_regions(without_gradients(module))


def _distinct(arguments: list, weights: list) -> list:
    """The arguments, each a tensor of its own: one that is given twice, or is a weight too, is two, since another call may give two."""
    seen = {*map(id, weights)}
    return [value.detach() if id(value) in seen or seen.add(id(value)) else value for value in arguments]


def _tied(weights: list) -> tuple:
    """Which weights are one tensor: for each the first place of its tensor. A record has such a tensor once."""
    first = {}
    return tuple(first.setdefault(id(weight), k) for k, weight in enumerate(weights))


def _changed(module: torch.fx.GraphModule) -> list[int]:
    """The arguments that the graph writes to."""
    arguments = list(module.graph.find_nodes(op="placeholder"))
    written = {node.args[0] for node in module.graph.find_nodes(op="call_function", target=torch.ops.aten.copy_.default)}
    return [k for k, argument in enumerate(arguments) if argument in written]


def disjoint(call: Callable, changed: list[int], count: int) -> Callable:
    """The call, whose first `count` arguments are the caller's: one that is written and shares memory with another is an error, since the record has them
    apart."""
    written = {k for k in changed if k < count}

    def checked(*arguments):
        memory: dict[int, list[int]] = {}
        for k in range(count):
            memory.setdefault(arguments[k].untyped_storage().data_ptr(), []).append(k)
        for places in memory.values():
            for k in written.intersection(_overlapping(arguments, places) if len(places) > 1 else ()):
                other = next(j for j in places if j != k and _overlapping(arguments, [j, k]))
                raise graph.Unsupported(f"the function writes to argument {k}, which shares memory with argument {other}; {values.ELSEWHERE}")
        return call(*arguments)

    return checked if written else call


def _overlapping(arguments: tuple, places: list[int]) -> list[int]:
    """Those of some views of one memory that have an element in common with another of them."""
    return [places[k] for k in compute_overlapping_tensors([arguments[place] for place in places], symbolic=False)]


def _counted(call: Callable, changed: list[int]) -> Callable:
    """The call, which counts its writes where PyTorch counts them: other programs look there whether what they prepared is still right."""

    def counted(*arguments):
        results = call(*arguments)
        torch.autograd.graph.increment_version([arguments[k] for k in changed if not arguments[k].is_inference()])
        return results

    return counted


@dataclass
class _File:
    """What a file of a compiled program is made of."""

    artefact: Callable[[], _native.Artefact]
    """The program with all results. One that a call completes, with arguments and views of them, is compiled again."""
    weights: list[str]
    """The program's names of the modules' weights, in their order."""
    constants: dict[str, object]
    """Tensors that the function holds, by the program's names."""
    changed: bool
    """Whether weights are inputs of the program, which it may change."""


class _Replaced:
    """The weights of a module are other values for a while."""

    def __init__(self, places: list[list], values):
        self.places, self.values = places, values

    def __enter__(self):
        self.before = [[owner[name] for owner, name in places] for places in self.places]
        for places, value in zip(self.places, self.values):
            for owner, name in places:
                owner[name] = value

    def __exit__(self, *_):
        for places, values in zip(self.places, self.before):
            for (owner, name), value in zip(places, values):
                owner[name] = value


def _weights(modules: list[torch.nn.Module]):
    """Where parameters and buffers are: a dictionary and a name in it."""
    for part in modules:
        for owner in (part._parameters, part._buffers):
            yield from ((owner, name) for name, value in owner.items() if value is not None)


def autocast() -> torch.dtype | None:
    """The type that `torch.autocast` of the CPU computes in, where it is on."""
    return torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else None


def _kind(leaf):
    if isinstance(leaf, torch.Tensor):
        return leaf.dtype, leaf.shape, leaf.is_conj(), leaf.is_neg()
    return type(leaf), leaf


def _kind_in_memory(leaf):
    return (*_kind(leaf), leaf.stride()) if isinstance(leaf, torch.Tensor) else _kind(leaf)


def compile(function: Callable | None = None, *example, mode: str | None = None, **options) -> Compiled:
    """Compiles a function or module; with an example call at once, else when it is called. Also a decorator: `@strata.compile`.

    Arguments: `function`; `example`, the arguments of a call; `mode` as in `torch.compile`; the fields of `strata.Options` by name.
    Errors: `ValueError` for an option that is none, `strata.graph.Unsupported` or `RuntimeError` for a program that is not compiled.
    """
    chosen = Options.of(mode, options)
    if function is None:
        return lambda function: Compiled(function, chosen)
    compiled = Compiled(function, chosen)
    if example:
        compiled(*example)
    return compiled
