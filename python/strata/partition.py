"""Graphs with operators that Strata does not compile: the parts between these are compiled, the rest stays in PyTorch."""

import operator
from collections.abc import Callable
from functools import cache

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from . import _native, recurrent
from .compiler import library
from .graph import with_effects

# Functions of the torch.fx graph that are no operators with a schema.
FUNCTIONS = {operator.getitem, torch.ops.higher_order.cond, torch.ops.higher_order.while_loop, torch.ops.higher_order.scan}

# Operators that become something else as they are imported.
IMPORTED = {"aten._assert_scalar", "aten._assert_tensor_metadata", "aten.sym_constrain_range", "aten.sym_constrain_range_for_size", "aten.sym_size.int"}


@cache
def compiled() -> frozenset[str]:
    """The operators that are compiled."""
    return frozenset(_native.operators(library()))


def name(target: torch._ops.OpOverload) -> str:
    """An operator's name in the compiler."""
    overload = "" if target._overloadname == "default" else "." + target._overloadname
    return f"{target.namespace}.{target._opname}{overload}"


def is_compiled(node: Node, registered: frozenset[str] = frozenset()) -> bool:
    """Whether there is a rule for the call, or the user has registered one."""
    target = node.args[1] if node.target is with_effects else node.target
    if not isinstance(target, torch._ops.OpOverload):
        return target in FUNCTIONS or getattr(target, "__module__", "") in ("_operator", "math", "torch")
    if is_ours(node):
        return recurrent.is_compiled(node)
    mutable = target._schema.is_mutable and target.namespace == "aten"
    return mutable or name(target) in compiled() or name(target) in IMPORTED or name(target) in registered


def is_ours(node: Node) -> bool:
    """Whether the call is of an operator of `strata.recurrent`, which runs whether it is compiled with what is around it or not."""
    return isinstance(node.target, torch._ops.OpOverload) and node.target.namespace == "strata"


def apart(module: GraphModule) -> list[Node]:
    """The calls of a graph that run by themselves, between what is compiled."""
    return [node for node in module.graph.nodes if node.op == "call_function" and is_ours(node) and not is_compiled(node)]


def missing(module: GraphModule, registered: frozenset[str]) -> list[str]:
    """The operators of a graph that Strata does not compile; `registered` are the user's."""
    calls = [node for node in module.graph.nodes if node.op == "call_function" and not is_compiled(node, registered) and not is_ours(node)]
    return sorted({str(node.target) for node in calls})


class _Support(OperatorSupportBase):
    def __init__(self, registered: frozenset[str]):
        self.registered = registered

    def is_node_supported(self, submodules, node: Node) -> bool:
        return node.op == "call_function" and is_compiled(node, self.registered)


def partition(module: GraphModule, compile_part: Callable[[GraphModule], Callable], registered: frozenset[str]) -> tuple[Callable, int]:
    """The graph with each part of supported calls in the form that `compile_part` gives it, and the number of these parts."""
    partitioner = CapabilityBasedPartitioner(module, _Support(registered), allows_single_node_partition=True)
    divided = partitioner.partition_and_fuse()
    parts = [node for node in divided.graph.nodes if node.op == "call_module"]
    for node in parts:
        part = divided.get_submodule(node.target)
        setattr(divided, node.target, _Part(part, compile_part(part)))
    divided.recompile()
    return divided.forward, len(parts)


class _Part(torch.nn.Module):
    """A compiled part in the place of its graph."""

    def __init__(self, graph: GraphModule, call: Callable):
        super().__init__()
        self.single = not isinstance(graph.graph.output_node().args[0], (tuple, list))
        self.call = call

    def forward(self, *arguments):
        results = self.call(*arguments)
        return results[0] if self.single else results
