"""Results that are views. AOTAutograd makes them itself where their place in memory is fixed, and reads no more than sizes and strides off what the
compiled function gives: that is a view of the argument, of which nothing is computed. Where places depend on sizes or values it reads offsets too."""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch.fx import Graph, GraphModule, Node

from .graph import Unsupported


def with_views(module: GraphModule, call: Callable) -> Callable:
    """The compiled form of a graph, with the views among its results made of the arguments and the other results."""
    results = list(module.graph.output_node().args[0])
    views = {k: value for k, value in enumerate(results) if isinstance(value, Node) and _moves(value)}
    if not views:
        return call
    made = {value: k for k, value in enumerate(results) if isinstance(value, Node) and not _is_view(value)}
    views = {k: value for k, value in views.items() if (root := _root(value)).op == "placeholder" or root in made}
    replay = _replay(module, list(made), list(views.values()))

    def viewed(*arguments):
        found = list(call(*arguments))
        for k, view in zip(views, replay(*arguments, *(found[k] for k in made.values()))):
            found[k] = view
        return tuple(found)

    return viewed


@dataclass
class Fixed:
    """Results that are views of arguments at fixed places; the program gives the arguments themselves instead."""

    places: dict[int, tuple]
    """Sizes, strides and offset of each."""
    parts: list[tuple[Callable, dict[int, int]]]
    """Functions that take an argument apart, and which result each of its parts is: faster than as many views one by one."""

    def __contains__(self, k: int) -> bool:
        return k in self.places or any(k in parts for _, parts in self.parts)

    def __bool__(self) -> bool:
        return bool(self.places or self.parts)


FEW = 4
"""Views up to which it is as fast to make them one by one."""


def without_views(module: GraphModule) -> tuple[GraphModule, Fixed]:
    """The graph with arguments in place of the results that are views of them at fixed places, and how these are made of them."""
    results = list(module.graph.output_node().args[0])
    places = {k: place for k, value in enumerate(results) if isinstance(value, Node) and (place := _place(value))}
    fixed = Fixed(places, [])
    if not fixed:
        return module, fixed
    graph, known = Graph(), {}
    graph.graph_copy(module.graph, known)
    graph.output(tuple(known[_root(value)] if k in fixed else known.get(value, value) for k, value in enumerate(results)))
    graph.eliminate_dead_code()
    taken: dict[Node, dict[int, int]] = {}
    for k in places:
        value = results[k]
        if value.target is operator.getitem and value.args[0].all_input_nodes == [_root(value)]:
            taken.setdefault(value.args[0], {})[k] = value.args[1]
    for node, parts in taken.items():
        if len(parts) > FEW:
            fixed.parts.append((partial(_apart, node.target, node.args[1:], node.kwargs), parts))
            for k in parts:
                del places[k]
    return GraphModule(module, graph), fixed


def _apart(target: Callable, arguments: tuple, named: dict, whole: torch.Tensor):
    return target(whole, *arguments, **named)


def placed(call: Callable, fixed: Fixed) -> Callable:
    """The compiled form of a graph, with views of arguments at fixed places."""
    if not fixed:
        return call
    parts = [(apart, next(iter(taken)), list(taken.items())) for apart, taken in fixed.parts]

    def with_fixed(*arguments):
        found = list(call(*arguments))
        for k, (sizes, strides, offset) in fixed.places.items():
            whole = found[k]
            found[k] = whole.as_strided(sizes, strides, whole.storage_offset() + offset)
        for apart, first, taken in parts:
            every = apart(found[first])
            for k, at in taken:
                found[k] = every[at]
        return tuple(found)

    return with_fixed


def _place(node: Node) -> tuple | None:
    """Sizes, strides and offset of a view of an argument, from the argument's own, where all of them are known."""
    if not _is_view(node) or (root := _root(node)).op != "placeholder":
        return None
    value, base = node.meta.get("val"), root.meta.get("val")
    if not isinstance(value, torch.Tensor) or not isinstance(base, torch.Tensor) or value.dtype != base.dtype:
        return None
    if value.is_conj() != base.is_conj() or value.is_neg() != base.is_neg() or base.is_conj() or base.is_neg():
        return None
    place = (tuple(value.size()), tuple(value.stride()), value.storage_offset() - base.storage_offset())
    if not all(type(each) is int for each in (*place[0], *place[1], place[2])):
        return None
    # What was traced does not know where in its argument an untracked view lies.
    return (*place[:2], _again(node, base).storage_offset()) if _is_untracked(node) else place


def _is_untracked(node: Node) -> bool:
    """Whether one of the views between it and its argument is untracked."""
    return _is_view(node) and (node.target in UNTRACKED or _is_untracked(node.args[0]))


def _again(node: Node, base: torch.Tensor):
    """The view taken of a tensor like the argument, without data."""
    if not _is_view(node):
        return torch.empty_strided(base.size(), base.stride(), dtype=base.dtype, device="meta")
    return node.target(_again(node.args[0], base), *node.args[1:], **node.kwargs)


UNTRACKED = (torch.ops.aten.unsafe_split.Tensor, torch.ops.aten.unsafe_split_with_sizes.default)
"""Operators whose results are views although their schemas do not say so: their callers promise to write to the parts or the whole alone."""


def _is_view(node: Node) -> bool:
    if node.target is operator.getitem:
        return _is_view(node.args[0])
    return node.target in UNTRACKED or isinstance(node.target, torch._ops.OpOverload) and node.target.is_view


def _moves(node: Node) -> bool:
    """Whether it is a view, and numbers of the program say where it lies."""
    if not _is_view(node):
        return False
    numbers = (each for each in node.all_input_nodes if isinstance(each.meta.get("val"), (torch.SymInt, int)))
    return any(True for _ in numbers) or _moves(node.args[0])


def _root(node: Node) -> Node:
    """What a view is a view of."""
    return _root(node.args[0]) if _is_view(node) else node


def _replay(module: GraphModule, made: list[Node], views: list[Node]) -> Callable:
    """The views as a function of the graph's arguments and of results that are none."""
    graph, known = Graph(), {}
    for node in module.graph.find_nodes(op="placeholder"):
        known[node] = graph.placeholder(node.name)
    for node in made:
        known.setdefault(node, graph.placeholder(f"made_{node.name}"))

    def copied(node: Node) -> Node:
        if node not in known:
            number = isinstance(node.meta.get("val"), (torch.SymInt, int))
            if not number and not _is_view(node):
                raise Unsupported(f"where a view lies depends on `{node.name}`, which is no result")
            for each in node.all_input_nodes:
                copied(each)
            known[node] = graph.node_copy(node, known.__getitem__)
        return known[node]

    graph.output(tuple(copied(view) for view in views))
    return GraphModule(module, graph).forward
