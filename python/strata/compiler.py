"""Where the compiler is, and the one call of it."""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from . import _native
from .events import Graph
from .options import Options

if TYPE_CHECKING:
    from .graph import Program  # which imports PyTorch

LIBRARY = "libstrata_compiler.so"


@cache
def library() -> str:
    """The path of the compiler: `STRATA_COMPILER`, or the file that `pip install strata` brings."""
    path = os.environ.get("STRATA_COMPILER")
    if path:
        return path
    package = find_spec("strata_compiler")
    for folder in (package.submodule_search_locations or []) if package else []:
        if (Path(folder) / LIBRARY).exists():
            return str(Path(folder) / LIBRARY)
    raise ImportError("the compiler is not installed, only the part that runs compiled programs; `pip install strata` brings it")


@dataclass
class Recorded:
    """A program whose compilation is on record."""

    artefact: _native.Artefact
    record: str
    """The record, as JSON."""
    call: str | None = None
    """What its calls take, as JSON, from its first call on."""

    def measured(self, function: Callable) -> Callable:
        """The function of this program; its first call is measured."""

        def call(*arguments):
            if self.call is None:
                self.call = _native.measure(function, arguments)
            return function(*arguments)

        return call


recorded: list[Recorded] | None = None
"""What was compiled since `strata.report` began; it is none where nobody records."""


def compile_text(name: str, text: str, options: Options, asked: dict | None = None) -> _native.Artefact:
    """Compiles a program. `name` ends in what the text is: `.json` (a graph) or `.mlir`; `asked` are options of the compiler that say what it becomes."""
    asked = {**options.compiler(), **(asked or {})}
    if recorded is not None:
        artefact, record = _native.record(library(), name, text, json.dumps({**asked, "profile": True}))
        recorded.append(Recorded(_opened(artefact, options), record))
        return recorded[-1].artefact
    return _opened(_native.compile(library(), name, text, json.dumps(asked)), options)


def _opened(artefact: _native.Artefact, options: Options) -> _native.Artefact:
    """The program with those libraries open whose kernels it calls."""
    if not options.op_libraries:
        return artefact
    called = {each["file"] for each in json.loads(artefact.manifest).get("op_libraries", [])}
    return artefact.with_op_libraries([path for path in options.op_libraries if Path(path).name in called])


def _seed() -> int:
    """The next number of PyTorch's generator, so that `torch.manual_seed` and checkpoints reach our random numbers."""
    import torch

    return torch.randint(2**63 - 1, ()).item()


def compile_file(path: Path, options: Options) -> _native.Artefact:
    """Compiles a `.pt2`, `.mlir` or `.json` file."""
    return _native.compile(library(), os.fspath(path), None, json.dumps(options.compiler()))


def start_threads(asked: int | None):
    """Starts the threads that kernels run on, where they do not run yet."""
    import torch

    running = _native.threads(asked or torch.get_num_threads())
    if asked not in (None, running):
        raise ValueError(f"strata: threads={asked}: kernels of this process run on {running} threads, which were started before or are all there are")


def load(artefact: _native.Artefact, arguments: list[str], places: list[int | None], constants: list, unprepared: Callable | None = None) -> Callable:
    """A compiled graph as a function of PyTorch's tensors; see `strata.graph.Program`."""
    start_threads(None)
    return _native.function(artefact, arguments, places, constants, unprepared, _seed, None)


def compile_program(program: "Program", options: Options, event: Graph, asked: dict | None = None) -> _native.Artefact:
    """Compiles a graph; `event` gets the time, `asked` as for `compile_text`."""
    start = perf_counter()
    artefact = compile_text("graph.json", program.text, options, asked)
    event.add(compile=perf_counter() - start)
    return artefact


def to_function(
    program: "Program", options: Options, event: Graph, artefact: _native.Artefact | None = None, asked: dict | None = None
) -> tuple[Callable, _native.Artefact]:
    """A program as a function of its arguments that gives its results as a tuple, and as what it was compiled to, now or before; `event` gets the
    times; `asked` as for `compile_text`."""
    start_threads(options.threads)
    if artefact is None:
        artefact = compile_program(program, options, event, asked)
    compiled = perf_counter()
    unprepared = None
    if program.weights:
        unprepared = lambda: to_function(program.without_weights(), options, event, asked=asked)[0]  # noqa: E731
    function = load(artefact, program.arguments, program.places, program.constants, unprepared)
    event.add(load=perf_counter() - compiled)
    event.kernels += artefact.kernels
    if recorded is not None:
        function = recorded[-1].measured(function)
    if not program.conjugates:
        return function, artefact

    def resolved(*arguments):
        arguments = list(arguments)
        for k in program.conjugates:
            arguments[k] = arguments[k].resolve_conj().resolve_neg()
        return function(*arguments)

    return resolved, artefact
