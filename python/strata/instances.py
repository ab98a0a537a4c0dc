"""Graphs of size 0 and 1 by programs for all sizes: TorchDynamo makes graphs of their own of these, and they need no code of their own."""

from dataclasses import replace

import sympy
import torch
from torch.fx import GraphModule, Node

from . import compiler
from ._native import Artefact
from .graph import Program
from .options import Options

_generals: list[tuple[Options, GraphModule, Program, Artefact]] = []
"""Compiled programs with symbolic sizes, each with its graph."""
MOST = 64
"""How many of them are remembered."""


def remember(options: Options, module: GraphModule, program: Program, artefact: Artefact):
    """Keeps a compiled program for `find`, if sizes of it are symbolic. The arguments must be all that it takes."""
    if not program.constants and any(isinstance(node.meta.get("val"), torch.SymInt) for node in module.graph.find_nodes(op="placeholder")):
        _generals.append((options, module, program, artefact))
        del _generals[:-MOST]


def forget():
    """Forgets all programs."""
    _generals.clear()


def find(options: Options, module: GraphModule, program: Program) -> tuple[Program, Artefact] | None:
    """The program as a call of a compiled one, and what that one was compiled to; `None` where there is none that does the same."""
    if compiler.recorded is not None:
        return None  # a report shows what each graph becomes by itself
    for known, general, compiled, artefact in reversed(_generals):
        if known == options and (values := _Match(general, module).values()) is not None:
            return _call(general, compiled, module, program, values), artefact
    return None


def _call(general: GraphModule, compiled: Program, module: GraphModule, program: Program, values: dict[Node, Node | int]) -> Program:
    """The compiled program, called with the arguments of the other one; the sizes that are fixed are constants."""
    inputs = list(general.graph.find_nodes(op="placeholder"))
    taken = [next(node.name for node in inputs if values[node] is each) for each in module.graph.find_nodes(op="placeholder")]
    fixed = {node.name: values[node] for node in inputs if node.name not in taken}
    arguments = [*taken, *fixed]
    places = [arguments.index(compiled.arguments[place]) if place is not None and place >= 0 else place for place in compiled.places]
    conjugates = [arguments.index(compiled.arguments[k]) for k in compiled.conjugates]
    return replace(program, exported=compiled.exported, arguments=arguments, places=places, constants=list(fixed.values()), conjugates=conjugates)


class _Match:
    """Whether a graph is what another becomes when symbols of it are 0 or 1."""

    def __init__(self, general: GraphModule, special: GraphModule):
        self.general, self.special = general.graph, special.graph
        self.symbols: dict[sympy.Symbol, sympy.Basic] = {}
        self.found: dict[Node, Node | int] = {}

    def values(self) -> dict[Node, Node | int] | None:
        """What each value of the general graph is in the other one: a value of it, or a number."""
        try:
            return self.found if self.inputs() and self.fixed() and self.calls() else None
        except ZeroDivisionError:  # a size of the general graph is none where a divisor is 0
            return None

    def inputs(self) -> bool:
        """Pairs the arguments; the sizes of tensors say what the symbols are."""
        mine, theirs = (list(graph.find_nodes(op="placeholder")) for graph in (self.general, self.special))
        tensors = [[node for node in nodes if isinstance(node.meta.get("val"), torch.Tensor)] for nodes in (mine, theirs)]
        others = [[node for node in nodes if not isinstance(node.meta.get("val"), torch.Tensor)] for nodes in (mine, theirs)]
        if len(tensors[0]) != len(tensors[1]) or not all(isinstance(node.meta.get("val"), torch.SymInt) for nodes in others for node in nodes):
            return False
        for node, other in zip(*tensors):
            for size, given in zip(node.meta["val"].shape, other.meta["val"].shape):
                size = _expression(size)
                if size.is_Symbol and self.symbols.setdefault(size, _expression(given)) != _expression(given):
                    return False
        self.found.update(zip(*tensors))
        if not all(self.alike(node.meta["val"], other.meta["val"]) for node, other in zip(*tensors)):
            return False
        left = {_expression(node.meta["val"]): node for node in others[1]}
        for node in others[0]:
            value = self.replaced(node.meta["val"])
            self.found[node] = int(value) if value.is_Integer else left.pop(value, None)
        return not left and None not in self.found.values()

    def fixed(self) -> bool:
        """Whether a size is fixed, and all that are to 0 or 1: other fixed sizes are worth code of their own."""
        numbers = [value for value in self.symbols.values() if not value.is_Symbol]
        return bool(numbers) and all(value in (0, 1) for value in numbers)

    def calls(self) -> bool:
        """Pairs the calls; sizes that the general graph computes are numbers in the other one."""
        theirs = [node for node in self.special.nodes if node.op != "placeholder"]
        for node in self.general.nodes:
            value = node.meta.get("val")
            if node.op == "placeholder":
                continue
            if isinstance(value, torch.SymInt) and self.replaced(value).is_Integer:
                self.found[node] = int(self.replaced(value))
                continue
            if not theirs or node.op not in ("call_function", "output"):
                return False
            other = theirs.pop(0)
            if (node.op, node.target) != (other.op, other.target) or not self.alike(value, other.meta.get("val")):
                return False
            if torch.fx.map_arg((node.args, node.kwargs), self.found.get) != (other.args, other.kwargs):
                return False
            self.found[node] = other
        return not theirs

    def alike(self, value, other) -> bool:
        """Whether a value of the general graph is described as the other one."""
        if isinstance(value, (tuple, list)):
            return isinstance(other, (tuple, list)) and len(value) == len(other) and all(map(self.alike, value, other))
        if isinstance(value, torch.Tensor) and isinstance(other, torch.Tensor):
            mine, theirs = ((each.dtype, each.device, each.layout, each.is_conj(), each.is_neg(), each.dim()) for each in (value, other))
            mine_sizes, sizes = ([*each.shape, *each.stride(), each.storage_offset()] for each in (value, other))
            return mine == theirs and all(self.replaced(each) == _expression(size) for each, size in zip(mine_sizes, sizes))
        if isinstance(value, (torch.SymInt, int)) and isinstance(other, (torch.SymInt, int)):
            return self.replaced(value) == _expression(other)
        return value is None and other is None

    def replaced(self, size: torch.SymInt | int) -> sympy.Basic:
        """A size of the general graph in the other one."""
        return _expression(size).xreplace(self.symbols)


def _expression(size: torch.SymInt | int) -> sympy.Basic:
    return size.node.expr if isinstance(size, torch.SymInt) else sympy.Integer(size)
