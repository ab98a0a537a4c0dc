"""The peers, a file each. `prepare(work, mode, threads)` makes a workload ready to be called, or raises `Absent`."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from workloads import Workload


class Absent(Exception):
    """The peer is not installed here, or has no form of this workload; the message says which."""


def as_tensors(results) -> list:
    """The results of a function of PyTorch."""
    return list(results) if isinstance(results, (tuple, list)) else [results]


@dataclass
class Prepared:
    """A workload in a peer's hands."""

    call: Callable
    """One call, finished when it returns."""
    arguments: list[tuple]
    """The workload's arguments as the peer takes them."""
    tensors: Callable[[object], list] = as_tensors
    """The results of a call as tensors of PyTorch."""


NAMES = tuple(sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem != "__init__"))


def prepare(peer: str, work: Workload, threads: int) -> Prepared:
    """`peer` is a name of `NAMES`, with a mode behind a colon where it has modes."""
    name, _, mode = peer.partition(":")
    return import_module(f"peer.{name}").prepare(work, mode or None, threads)


def without_modes(peer: str, mode: str | None):
    """For peers that have none."""
    if mode is not None:
        raise Absent(f"{peer} has no modes, and {mode} is asked for")
