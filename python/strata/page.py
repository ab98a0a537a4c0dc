"""`strata.report`: one page about how a program was compiled and where the time of a call goes."""

from pathlib import Path

from . import _native, compiler
from .explanation import explain, reset


def report(function, *arguments, file: str = "strata_report.html", mode: str | None = None, options: dict | None = None, **named) -> Path:
    """Compiles a function or module anew, calls it once, and writes a page that any browser opens: what each kernel comes from, its share of the
    machine's limit and its schedule, the program at each level, passes with times and remarks, memory, cache. Gives the page's path.

    A timeline for `chrome://tracing` or Perfetto lies beside it, with the ending `.trace.json`. What was compiled before is forgotten. Calls of
    each graph are measured for some tenths of a second, on the arguments that it got.
    """
    page = Path(file)
    compiler.recorded = []
    try:
        explained = explain(function, *arguments, mode=mode, options=options, **named)
        programs = [(each.artefact, each.record, each.call) for each in compiler.recorded]
    finally:
        compiler.recorded = None
        reset()
    notes = [f"graph break: {reason}" for reason in explained.breaks]
    notes += [f"a {graph.kind} graph is {graph.status}: {graph.reason}" for graph in explained.graphs if graph.status != "native"]
    title = getattr(function, "__qualname__", type(function).__qualname__)
    text, timeline = _native.page(title, notes, programs)
    page.write_text(text)
    page.with_suffix(".trace.json").write_text(timeline)
    return page
