"""`strata.explain`: what of a program is native, what is not and why, what is guarded, and what it costs."""

import warnings
from dataclasses import dataclass
from time import perf_counter_ns
from unittest.mock import patch

import torch
import torch._dynamo

from . import events, instances, recurrent

TIMES = 1000
"""How often a set of guards is checked to know how long it takes."""


@dataclass
class Explanation:
    """What one call of a function made of it."""

    graphs: list[events.Graph]
    """The graphs, in the order in which they were compiled."""
    breaks: list[str]
    """Why TorchDynamo divided the program, a reason for each place."""
    guards: list[str]
    """What TorchDynamo checks before each call."""
    guard_nanoseconds: list[float]
    """How long it takes to check them, for each piece of the program that TorchDynamo compiled, when they are in the processor's caches."""

    skipped: int = 0
    """How many functions TorchDynamo gave up: they run in eager PyTorch as a whole."""

    @property
    def native(self) -> bool:
        """Whether the whole call is one compiled graph."""
        return not self.breaks and not self.skipped and bool(self.graphs) and all(graph.status == "native" for graph in self.graphs)

    def __str__(self) -> str:
        count = sum(graph.status == "native" for graph in self.graphs)
        checks = f" checked in {sum(self.guard_nanoseconds):.0f} ns" if self.guard_nanoseconds else ""
        lines = [f"{count} of {len(self.graphs)} graphs are native, {len(self.breaks)} graph breaks, {len(self.guards)} guards{checks}"]
        lines += [f"  {graph}" for graph in self.graphs]
        lines += [f"  graph break: {reason}" for reason in self.breaks]
        if self.skipped:
            lines.append(f"  {self.skipped} functions run in eager PyTorch, TorchDynamo gave them up: TORCH_LOGS=graph_breaks says why")
        return "\n".join(lines)


def explain(function, *arguments, mode: str | None = None, options: dict | None = None, **named) -> Explanation:
    """Compiles a function or module anew, calls it once and tells what became of it. What was compiled before is forgotten."""
    from .dynamo import backend

    reset()
    guards: list[str] = []
    reasons: list[str] = []

    def note(entries) -> list[bool]:
        guards.extend(f"{entry.guard_type} {entry.name}".strip() for entry in entries)
        return [True] * len(entries)

    latencies: list[float] = []
    measure = torch._dynamo.guards.profile_guard_manager

    def measured(root, scope, times):
        start = perf_counter_ns()
        for _ in range(TIMES):
            root.check(scope)
        latencies.append((perf_counter_ns() - start) / TIMES)
        return measure(root, scope, times)

    def compiler(module, inputs):
        reason = module.compile_subgraph_reason if hasattr(module, "compile_subgraph_reason") else None
        if reason is not None and reason.graph_break:
            reasons.append(" ".join(reason.reason.split()))
        return backend(module, inputs, mode=mode, options=options)

    before = _skipped()
    # TorchDynamo measures each set of guards once for its own log, with cold caches.
    with warnings.catch_warnings(), patch.object(torch._dynamo.guards, "profile_guard_manager", measured):
        warnings.simplefilter("ignore")
        torch.compile(function, backend=compiler, options={"guard_filter_fn": note})(*arguments, **named)
    return Explanation(list(events.graphs), reasons, guards, latencies, _skipped() - before)


def _skipped() -> int:
    """How many functions TorchDynamo has given up in this process."""
    frames = torch._dynamo.utils.counters["frames"]
    return frames["total"] - frames["ok"]


def reset():
    """Forgets what was compiled in this process, and what was noted of it."""
    torch._dynamo.reset()
    events.graphs.clear()
    instances.forget()
    recurrent.forget()
