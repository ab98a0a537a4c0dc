"""PyTorch as it is: what the others are compared with."""

from peer import Prepared, without_modes
from workloads import Workload


def prepare(work: Workload, mode: str | None, threads: int) -> Prepared:
    without_modes("eager", mode)
    return Prepared(work.build(), work.arguments())
