"""Higher-order operators that become other calls before a graph is compiled. `cond`, `while_loop` and `scan` are compiled as they are."""

from collections.abc import Callable

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._guards import detect_fake_mode
from torch.fx import GraphModule, Interpreter
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.traceback import preserve_node_meta

_operators = torch.ops.higher_order


def _dense(name: str) -> Callable:
    """PyTorch's own form of an operator in other operators."""
    return getattr(_operators, name).py_kernels[torch._C.DispatchKey.CompositeExplicitAutograd]


def _mapped(function, slices, others, **_):
    """A map is a scan that carries nothing."""
    return _operators.scan(function, [], list(slices), tuple(others))


def _switched(index, branches, operands):
    """A switch is one `cond` after another. Its index is in range: PyTorch takes the nearest branch before."""
    first, *others = branches
    if not others:
        return first(*operands)
    here = lambda index, *given: first(*given)  # noqa: E731
    further = lambda index, *given: _switched(index - 1, others, given)  # noqa: E731
    return _operators.cond(index <= 0, here, further, (index, *operands))


DECOMPOSITIONS: dict[str, Callable] = {
    "associative_scan": _dense("associative_scan"),
    "flex_attention": _dense("flex_attention"),
    "flex_attention_backward": _dense("flex_attention_backward"),
    "foreach_map": lambda subgraph, *operands: subgraph(*operands),
    "invoke_subgraph": lambda subgraph, identifier, *operands: subgraph(*operands),
    "map_impl": _mapped,
    "out_dtype": _dense("out_dtype"),
    "switch": _switched,
}


def _decomposes(target) -> bool:
    return isinstance(target, torch._ops.HigherOrderOperator) and target.name() in DECOMPOSITIONS


def decomposed(module: GraphModule) -> GraphModule:
    """The graph without operators of `DECOMPOSITIONS`; the graph itself where there are none in it."""
    graphs = [each.graph for each in module.modules() if isinstance(each, GraphModule)]
    if not any(_decomposes(node.target) for graph in graphs for node in graph.nodes):
        return module
    values = [node.meta.get("val") for node in module.graph.find_nodes(op="placeholder")]
    with detect_fake_mode(values), enable_python_dispatcher(), preserve_node_meta():
        # Several arguments may be described by one tensor, and the trace tells them apart by their tensors.
        values = [value.detach() if isinstance(value, torch.Tensor) else value for value in values]
        return make_fx(_Decomposing(module).run)(*values)


class _Decomposing(Interpreter):
    def get_attr(self, target, args, kwargs):
        value = super().get_attr(target, args, kwargs)
        return _Decomposing(value).run if isinstance(value, GraphModule) else value

    def call_function(self, target, args, kwargs):
        if _decomposes(target):
            return DECOMPOSITIONS[target.name()](*args, **kwargs)
        return super().call_function(target, args, kwargs)
