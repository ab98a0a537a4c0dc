"""Where the compiler is, and the one call of it."""

import json
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from . import _native
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
