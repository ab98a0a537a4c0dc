"""`strata.explain`: what of a program is native, what is not and why, what is guarded, and what it costs."""

import warnings
from dataclasses import dataclass

import torch
import torch._dynamo

from . import events


@dataclass
class Explanation:
    """What one call of a function made of it."""

    graphs: list[events.Graph]
    """The graphs, in the order in which they were compiled."""
    breaks: list[str]
    """Why TorchDynamo divided the program, a reason for each place."""
    guards: list[str]
    """What TorchDynamo checks before each call."""

    @property
    def native(self) -> bool:
        """Whether the whole call is one compiled graph."""
        return not self.breaks and bool(self.graphs) and all(graph.status == "native" for graph in self.graphs)

    def __str__(self) -> str:
        count = sum(graph.status == "native" for graph in self.graphs)
        lines = [f"{count} of {len(self.graphs)} graphs are native, {len(self.breaks)} graph breaks, {len(self.guards)} guards"]
        lines += [f"  {graph}" for graph in self.graphs]
        lines += [f"  graph break: {reason}" for reason in self.breaks]
        return "\n".join(lines)


def explain(function, *arguments, mode: str | None = None, options: dict | None = None, **named) -> Explanation:
    """Compiles a function or module anew, calls it once and tells what became of it. What was compiled before is forgotten."""
    from .backend import backend

    reset()
    guards: list[str] = []
    reasons: list[str] = []

    def note(entries) -> list[bool]:
        guards.extend(f"{entry.guard_type} {entry.name}".strip() for entry in entries)
        return [True] * len(entries)

    def compiler(module, inputs):
        reason = module.compile_subgraph_reason if hasattr(module, "compile_subgraph_reason") else None
        if reason is not None and reason.graph_break:
            reasons.append(" ".join(reason.reason.split()))
        return backend(module, inputs, mode=mode, options=options)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.compile(function, backend=compiler, options={"guard_filter_fn": note})(*arguments, **named)
    return Explanation(list(events.graphs), reasons, guards)


def reset():
    """Forgets what was compiled in this process, and what was noted of it."""
    torch._dynamo.reset()
    events.graphs.clear()
