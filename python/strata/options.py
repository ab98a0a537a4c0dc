"""What a user may choose, and what PyTorch's modes mean here."""

import json
import os
import re
from dataclasses import dataclass, fields, replace
from pathlib import Path

from . import _native

MODES = {
    None: "default",
    "default": "default",
    "reduce-overhead": "reduce-overhead",
    "max-autotune": "max-autotune",
    "max-autotune-no-cudagraphs": "max-autotune",
}
NUMERICS = ("strict", "ulp", "fast")
FALLBACKS = ("eager", "error")
AUTOGRADS = ("pytorch", "strata")


@dataclass(frozen=True)
class Options:
    """Options of `torch.compile(..., backend="strata", options={...})` and of `strata.compile`."""

    mode: str = "default"
    """`default`, `reduce-overhead` or `max-autotune`; the last measures schedules on this machine."""
    numerics: str = "ulp"
    """`strict`, `ulp` or `fast`: how far results may be from those of one rounding per operation."""
    freeze: bool = True
    """Whether what depends on weights alone is computed once, and again when a weight changed. A write to `weight.data` by a function of another
    library goes unseen: programs that do so say `False`."""
    fallback: str = "eager"
    """What happens to a graph that Strata does not compile: `eager` runs it in PyTorch and says so, `error` raises."""
    autograd: str = "strata"
    """Who makes the gradients of `torch.compile`'s graphs: `strata`, the compiler's own differentiation, or `pytorch`, AOTAutograd. Graphs that the compiler
    does not differentiate are left to PyTorch either way; `strata.explain` tells why."""
    cache: bool = True
    """Whether compiled pieces are taken from and put into the cache on disk."""
    threads: int | None = None
    """Threads that kernels run on; `None` is what `torch.get_num_threads()` says when the first program is loaded. The number holds for the
    process: another one later is an error."""
    operators: str | os.PathLike | None = None
    """A file of functions, each named after an operator that PyTorch does not have: what it computes. See the book's page on custom operators."""
    op_libraries: tuple[str | os.PathLike, ...] = ()
    """Libraries of kernels in C that these functions call. They are opened, and so run code, when a program that calls them is loaded."""

    def __post_init__(self):
        for name, known in (("mode", tuple(set(MODES.values()))), ("numerics", NUMERICS), ("fallback", FALLBACKS), ("autograd", AUTOGRADS)):
            if getattr(self, name) not in known:
                raise ValueError(f"strata: {name}={getattr(self, name)!r} is none of {', '.join(sorted(known))}")
        for name in ("freeze", "cache"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"strata: {name}={getattr(self, name)!r} is neither True nor False")
        if self.threads is not None and (isinstance(self.threads, bool) or not isinstance(self.threads, int) or self.threads < 1):
            raise ValueError(f"strata: threads={self.threads!r} is no number of threads")
        if not isinstance(self.operators, (str, os.PathLike, type(None))):
            raise ValueError(f"strata: operators={self.operators!r} is no path of a file")
        if isinstance(self.op_libraries, (str, os.PathLike)):
            raise ValueError(f"strata: op_libraries={self.op_libraries!r} is no list of paths")
        object.__setattr__(self, "op_libraries", tuple(map(os.fspath, self.op_libraries)))

    @staticmethod
    def of(mode: str | None, options: dict | None) -> "Options":
        """The options that `torch.compile` was given."""
        if mode not in MODES:
            raise ValueError(f"strata: mode={mode!r} is none of {', '.join(name for name in MODES if name)}")
        given = dict(options or {})
        known = [option.name for option in fields(Options)]
        unknown = [name for name in given if name not in known]
        if unknown:
            raise ValueError(f"strata: there is no option {', '.join(map(repr, unknown))}; the options are {', '.join(known)}")
        return replace(Options(mode=MODES[mode]), **given)

    def compiler(self) -> dict:
        """The compiler's part of the options."""
        asked = {"mode": self.mode, "numerics": self.numerics, "cache": self.cache}
        if self.operators is not None:
            asked["operators"] = Path(self.operators).read_text()
        if self.op_libraries:
            asked["op_libraries"] = [json.loads(_native.op_library(path)) for path in self.op_libraries]
        return asked

    def registered(self) -> frozenset[str]:
        """The operators that `operators` registers."""
        if self.operators is None:
            return frozenset()
        return frozenset(name.removesuffix(".default") for name in re.findall(r'^\s*func\.func @"([^"]+)"', Path(self.operators).read_text(), re.MULTILINE))
