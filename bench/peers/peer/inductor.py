"""`torch.compile` with PyTorch's own backend; modes are those of `torch.compile`."""

from shutil import which

import torch

from peer import Absent, Prepared
from workloads import Workload


def prepare(work: Workload, mode: str | None, threads: int) -> Prepared:
    if not any(map(which, ("g++", "clang++"))):
        raise Absent("Inductor needs a C++ compiler")
    arguments = work.arguments()
    return Prepared(torch.compile(work.build(), mode=mode, dynamic=len(arguments) > 1), arguments)
