"""`strata.load`: a compiled file as a function, without a compiler, and without PyTorch where tensors are of another library."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from . import _native


class Loaded:
    """A compiled program. Call it with its inputs in order, flattened; numbers are numbers.

    The results are of the library of the first tensor: PyTorch's, NumPy's arrays, or objects with `__dlpack__`. One result comes by itself,
    several as a tuple. Inputs that the program changes are changed when they are PyTorch's.
    """

    def __init__(self, compiled: _native.Artefact, weights: str | None = None):
        self._compiled, self._weights = compiled, weights
        self.manifest: dict = json.loads(compiled.manifest)
        """What the program says about itself."""
        self._function = self._program = None

    def __call__(self, *inputs):
        wanted = [each["name"] for each in self.manifest["inputs"]]
        if len(inputs) != len(wanted):
            raise TypeError(f"the program takes {len(wanted)} inputs ({', '.join(wanted)}), {len(inputs)} are given")
        torch = sys.modules.get("torch")
        if torch is not None and (any(isinstance(each, torch.Tensor) for each in inputs) or not any(hasattr(each, "__dlpack__") for each in inputs)):
            results = self._torch()(*inputs)
        else:
            results = self._any(inputs)
        return results[0] if len(results) == 1 else results

    def _torch(self):
        if self._function is None:
            names = [each["name"] for each in self.manifest["inputs"]]
            outputs = [-1 for each in self.manifest["outputs"] if each["kind"] == "output"]
            self._function = _native.function(self._compiled, names, outputs, [], None, None, self._weights)
        return self._function

    def _any(self, inputs) -> tuple:
        if self._program is None:
            self._program = _native.Program(self._compiled, self._weights)
        numpy = sys.modules.get("numpy")
        arrays = numpy is not None and any(isinstance(each, numpy.ndarray) for each in inputs)
        results = self._program.run([self._tensor(each, described) for each, described in zip(inputs, self.manifest["inputs"])])
        return tuple(numpy.from_dlpack(each) if arrays else each for each in results)

    def _tensor(self, value, described: dict):
        """A number as a tensor without dimensions; an array as one that can be shared."""
        numpy = sys.modules.get("numpy")
        if hasattr(value, "__dlpack__") and not (numpy is not None and isinstance(value, numpy.ndarray) and not value.flags.writeable):
            return value
        import numpy

        kinds = {"int": "int64", "float": "float64", "bool": "bool"}
        return numpy.array(value, dtype=kinds.get(described["kind"]))


def load(
    path: str | os.PathLike,
    weights: str | os.PathLike | None = None,
    *,
    operators: str | os.PathLike | None = None,
    op_libraries: Sequence[str | os.PathLike] = (),
) -> Loaded:
    """Loads a `.strata` file, or compiles a `.pt2` export or `.mlir` module first, where the compiler is installed.

    `weights` is a `.pt2` or safetensors file that stands in for the one the program names. `operators` is a file of functions for custom operators of a
    `.pt2`, `op_libraries` are the libraries whose kernels the program calls: they are opened, and so run code. Errors: `OSError` for a file that cannot be read,
    `ValueError` for one that is no program, `RuntimeError` for one that does not fit the machine, its weights, or the compiler.
    """
    path = Path(path)
    if path.suffix == ".strata":
        path.stat()
        if operators is not None:
            raise ValueError(f"{path}: its operators are compiled; leave operators= out")
        compiled = _native.Artefact.read(path)
    elif path.suffix in (".pt2", ".mlir", ".json"):
        from .compiler import compile_file
        from .options import Options

        path.stat()
        compiled = compile_file(path, Options(operators=operators, op_libraries=op_libraries))
    else:
        raise ValueError(f"{path}: not a .strata, .pt2 or .mlir file")
    if op_libraries or json.loads(compiled.manifest).get("op_libraries"):
        compiled = compiled.with_op_libraries([os.fspath(each) for each in op_libraries])
    return Loaded(compiled, os.fspath(weights) if weights is not None else None)
