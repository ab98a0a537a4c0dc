"""What became of each graph: for `strata.explain`, `STRATA_LOGS` and tests."""

import os
from dataclasses import dataclass, field

KINDS = ("graphs", "guards", "recompiles", "fallbacks", "timing")


@dataclass
class Graph:
    """One graph that PyTorch gave to the backend."""

    kind: str
    """`inference`, `forward` or `backward`."""
    nodes: int
    """Calls of operators in it."""
    status: str = "native"
    """`native`, `partitioned` (parts of it run in eager PyTorch) or `eager`."""
    reason: str = ""
    """Why it is not wholly native."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Time of each step: writing the graph's text, compiling, loading."""
    kernels: int = 0
    """Kernels of the compiled program."""

    def add(self, **seconds: float):
        """Adds times of a part of the graph."""
        for name, more in seconds.items():
            self.seconds[name] = self.seconds.get(name, 0.0) + more

    def __str__(self) -> str:
        times = ", ".join(f"{name} {1e3 * seconds:.1f} ms" for name, seconds in self.seconds.items())
        because = f": {self.reason}" if self.reason else ""
        return f"{self.kind} graph of {self.nodes} calls is {self.status}, {self.kernels} kernels ({times}){because}"


graphs: list[Graph] = []
"""The graphs of this process since the last `strata.reset`, in order."""


def wanted(kind: str) -> bool:
    """Whether `STRATA_LOGS` asks for lines of this kind."""
    asked = [each.strip() for each in os.environ.get("STRATA_LOGS", "").split(",") if each.strip()]
    unknown = [each for each in asked if each not in KINDS]
    if unknown:
        raise ValueError(f"STRATA_LOGS={','.join(unknown)}: the kinds are {', '.join(KINDS)}")
    return kind in asked


def record(graph: Graph):
    """Notes a graph and says what the user asked to hear."""
    graphs.append(graph)
    if wanted("graphs") or wanted("timing") or graph.status != "native" and wanted("fallbacks"):
        print(f"strata: {graph}", flush=True)
