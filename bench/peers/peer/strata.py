"""Strata as a PyTorch user calls it, by `torch.compile`; modes are those of `torch.compile`."""

import torch

from peer import Absent, Prepared
from workloads import Workload


def prepare(work: Workload, mode: str | None, threads: int) -> Prepared:
    try:
        import strata
    except ImportError as error:
        raise Absent(f"strata is not installed: {error}") from None
    arguments = work.arguments()
    options = {"fallback": "error"}
    return Prepared(torch.compile(work.build(), backend=strata_backend(strata, mode, options), dynamic=len(arguments) > 1), arguments)


def strata_backend(strata, mode: str | None, options: dict):
    """`torch.compile` takes a mode or options; the backend takes both."""
    return lambda module, inputs: strata.backend(module, inputs, mode=mode, options=options)
