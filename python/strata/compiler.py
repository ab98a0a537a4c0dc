"""Where the compiler is, and the one call of it."""

import json
import os
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

from . import _native
from .events import Graph
from .options import Options

LIBRARY = "libstrata_compiler.so"


@cache
def library() -> str:
    """The path of the compiler: `STRATA_COMPILER`, or the file of the package `strata-compiler`."""
    path = os.environ.get("STRATA_COMPILER")
    if path:
        return path
    package = find_spec("strata_compiler")
    for folder in (package.submodule_search_locations or []) if package else []:
        if (Path(folder) / LIBRARY).exists():
            return str(Path(folder) / LIBRARY)
    raise ImportError("the compiler is not installed, only the part that runs compiled programs; `pip install strata` brings it")


def compile_text(name: str, text: str, options: Options) -> bytes:
    """Compiles a program to the bytes of a `.strata` file. `name` ends in what the text is: `.json` (a graph) or `.mlir`."""
    return _native.compile(library(), name, text, json.dumps(options.compiler()))


def to_function(program, options: Options, event: Graph) -> Callable:
    """A program of `strata.graph` as a function of its arguments that gives its results as a tuple; `event` gets the times."""
    start = perf_counter()
    artefact = compile_text("graph.json", program.text, options)
    compiled = perf_counter()
    function = _native.function(artefact, program.arguments, program.places, program.constants)
    event.add(compile=compiled - start, load=perf_counter() - compiled)
    event.kernels += _native.kernels(artefact)
    if not program.conjugates:
        return function

    def resolved(*arguments):
        arguments = list(arguments)
        for k in program.conjugates:
            arguments[k] = arguments[k].resolve_conj().resolve_neg()
        return function(*arguments)

    return resolved
