"""ATen graphs of `torch.fx` as the compiler reads them: the graph format of `torch.export` archives, without the archive."""

import json
import operator
import os
from dataclasses import dataclass, field

import sympy
import torch
from torch.fx import GraphModule, Node

# The numbers of the archive format (`torch._export.serde.schema`), which are not those of `c10::ScalarType`.
DTYPES = {
    torch.uint8: 1, torch.int8: 2, torch.int16: 3, torch.int32: 4, torch.int64: 5, torch.float16: 6, torch.float32: 7, torch.float64: 8,
    torch.complex64: 10, torch.complex128: 11, torch.bool: 12, torch.bfloat16: 13, torch.uint16: 28, torch.float8_e4m3fn: 29,
    torch.float8_e5m2: 30, torch.uint32: 34, torch.uint64: 35,
}  # fmt: skip
LAYOUTS = {torch.strided: 7}
MEMORY_FORMATS = {torch.contiguous_format: 1, torch.channels_last: 2, torch.channels_last_3d: 3, torch.preserve_format: 4}

# What a place of a program's result holds, beside the numbers of arguments that are given back as they are.
TENSOR = -1
NUMBER = -2


# A value that is always `None`.
NOTHING = {"as_none": True}

with_effects = torch.ops.higher_order.with_effects


class Unsupported(Exception):
    """A graph that Strata does not compile; the message says what in it."""


@dataclass
class Program:
    """A graph, and how a call goes with it."""

    exported: dict
    """The archive format's `models/model.json`."""
    arguments: list[str]
    """The names of the call's arguments: the graph's placeholders, then `constants`."""
    places: list[int | None]
    """What the call gives: `None`, the number of an argument, `TENSOR` or `NUMBER`."""
    constants: list[object] = field(default_factory=list)
    """Values that the graph holds; they follow the caller's arguments."""
    conjugates: list[int] = field(default_factory=list)
    """Arguments whose conjugation or negation is lazy, and must be done before a call."""

    @property
    def text(self) -> str:
        """The graph as the compiler reads it."""
        return json.dumps(self.exported)

    @property
    def weights(self) -> bool:
        """Whether some arguments are weights: what the compiler makes of them alone is computed once."""
        return any("user_input" not in spec for spec in self.exported["graph_module"]["signature"]["input_specs"])

    def without_weights(self) -> "Program":
        """The same program with weights as arguments like others, for those that change at each call."""
        module = self.exported["graph_module"]
        inputs = [{"user_input": {"arg": argument}} for argument in module["graph"]["inputs"]]
        signature = {**module["signature"], "input_specs": inputs}
        exported = {**self.exported, "graph_module": {**module, "signature": signature}}
        return Program(exported, self.arguments, self.places, self.constants, self.conjugates)


def program(
    module: GraphModule, weights: set[int] = frozenset(), whole: bool = False, values: dict[int, torch.Tensor] | None = None
) -> Program:
    """Writes a functional ATen graph whose nodes have `meta["val"]`. `weights` are the placeholders that change seldom: what the compiler makes of
    them alone is computed once. `values` are what some of them are now: the program says of zero points that all are one number which that is.
    A call gives results that are arguments itself; in a `whole` program they are outputs as others are."""
    return _Writer(module).program(weights, whole, values or {})


class _Writer:
    """Writes one graph."""

    def __init__(self, module: GraphModule, constants: dict[str, object] | None = None):
        self.module = module
        self.tensors: dict[str, dict] = {}
        self.integers: dict[str, dict] = {}
        self.floats: dict[str, dict] = {}
        self.booleans: dict[str, dict] = {}
        self.names: dict[Node, dict] = {}
        self.constants: dict[str, object] = {} if constants is None else constants
        # Effects stand in the program's order anyway; the tokens that say so in a functional graph are nothing at run time.
        self.tokens = {node.args[0] for node in module.graph.nodes if node.target is with_effects}

    def program(self, weights: set[int], whole: bool, values: dict[int, torch.Tensor]) -> Program:
        inputs, specs, arguments, conjugates = [], [], [], []
        for k, node in enumerate(self.module.graph.find_nodes(op="placeholder")):
            value = node.meta.get("val")
            arguments.append(node.name)
            if node in self.tokens or not isinstance(value, (torch.Tensor, torch.SymInt, torch.SymFloat, torch.SymBool)):
                continue  # a token, a number that every call has, or nothing
            if isinstance(value, torch.Tensor) and (value.is_conj() or value.is_neg()):
                conjugates.append(k)
            argument = self.define(node.name, value)
            self.names[node] = argument
            inputs.append(argument)
            if k in weights:
                parameter = {"arg": {"name": node.name}, "parameter_name": node.name}
                number = _uniform(node, values.get(k))
                specs.append({"parameter": parameter if number is None else {**parameter, "uniform": number}})
            else:
                specs.append({"user_input": {"arg": argument}})
        nodes = self.nodes()
        for name, value in self.constants.items():
            inputs.append(self.define(name, value))
            specs.append({"tensor_constant": {"arg": {"name": name}, "tensor_constant_name": name}})
        arguments += self.constants
        constants = list(self.constants.values())
        outputs, places = [], []
        for value in self.results():
            if isinstance(value, Node) and value.op == "placeholder" and not (whole and isinstance(value.meta.get("val"), torch.Tensor)):
                places.append(arguments.index(value.name))
            elif isinstance(value, Node) and self.names[value] == NOTHING:
                places.append(None)
            elif isinstance(value, Node):
                outputs.append(self.names[value])
                places.append(TENSOR if isinstance(value.meta["val"], torch.Tensor) else NUMBER)
            elif value is None:
                places.append(None)
            else:
                places.append(len(arguments))
                arguments.append(f"constant {len(arguments)}")
                constants.append(value)
        signature = {"input_specs": specs, "output_specs": [{"user_output": {"arg": output}} for output in outputs]}
        exported = {
            "graph_module": {"graph": self.tables(inputs, outputs, nodes), "signature": signature, "module_call_graph": []},
            "opset_version": {"aten": 10},
            "range_constraints": {},
            "schema_version": {"major": 8, "minor": 20},
            "torch_version": torch.__version__,
        }
        return Program(exported, arguments, places, constants, conjugates)

    def nested(self) -> dict:
        """A branch or a body as a table of its own."""
        inputs = []
        for node in self.module.graph.find_nodes(op="placeholder"):
            self.names[node] = self.define(node.name, node.meta["val"])
            inputs.append(self.names[node])
        nodes = self.nodes()
        outputs = [self.argument(value) for value in self.results()]
        return self.tables(inputs, outputs, nodes)

    def results(self) -> list:
        values = self.module.graph.output_node().args[0]
        return list(values) if isinstance(values, (tuple, list)) else [values]

    def tables(self, inputs: list, outputs: list, nodes: list) -> dict:
        return {
            "inputs": inputs,
            "outputs": outputs,
            "nodes": nodes,
            "tensor_values": self.tensors,
            "sym_int_values": self.integers,
            "sym_float_values": self.floats,
            "sym_bool_values": self.booleans,
        }

    def nodes(self) -> list:
        written = []
        for node in self.module.graph.nodes:
            if node.op == "call_function":
                if node.target is operator.getitem:
                    self.names[node] = self.item(node)
                else:
                    written.append(self.call(node))
            elif node.op == "get_attr":
                self.attribute(node)
            elif node.op not in ("placeholder", "output"):
                raise Unsupported(f"`{node.format_node()}` is no call of an operator")
        return written

    def item(self, node: Node) -> dict:
        """A part of a result that is a tuple or a list."""
        parts = self.names[node.args[0]]
        if node.args[0].target is with_effects:
            parts = [NOTHING, *parts] if isinstance(parts, list) else [NOTHING, parts]
        if isinstance(parts, list) and isinstance(node.args[1], int):
            return parts[node.args[1]]
        raise Unsupported(f"`{node.format_node()}` takes a part of what is no tuple")

    def attribute(self, node: Node):
        """A constant or a nested graph of the module."""
        value = self.module
        for part in node.target.split("."):
            value = getattr(value, part)
        if isinstance(value, GraphModule):
            self.names[node] = {"as_graph": {"name": node.name, "graph": _Writer(value, self.constants).nested()}}
        elif isinstance(value, torch.Tensor):
            self.constants.setdefault(node.name, value)
            self.names[node] = {"as_tensor": {"name": node.name}}
        else:
            raise Unsupported(f"attribute `{node.target}` is a {type(value).__name__}")

    def call(self, node: Node) -> dict:
        target, arguments, result = node.target, node.args, node.meta.get("val")
        if target is with_effects:
            (_, target, *arguments), result = arguments, result[1:]
            result = result[0] if len(result) == 1 else result
        target = counterpart(target)
        schema = getattr(target, "_schema", None)
        if schema is not None:
            described, name = schema.arguments, f"torch.ops.{target.namespace}.{target._opname}.{target._overloadname}"
        else:
            described, name = (), _function_name(target)
        inputs = []
        for k, value in enumerate(arguments):
            kind = described[k] if k < len(described) else None
            inputs.append({"name": kind.name if kind else "", "arg": self.argument(value, kind), "kind": 1})
        for key, value in node.kwargs.items():
            kind = next((each for each in described if each.name == key), None)
            inputs.append({"name": key, "arg": self.argument(value, kind), "kind": 2})
        return {"target": name, "inputs": inputs, "outputs": self.outputs(node, schema, result), "metadata": _metadata(node), "name": node.name}

    def outputs(self, node: Node, schema, value) -> list:
        if not isinstance(value, (tuple, list)):
            if value is None and schema is not None and not schema.returns:
                self.names[node] = NOTHING
                return []
            self.names[node] = self.define(node.name, value)
            return [self.names[node]]
        self.names[node] = parts = [self.define(f"{node.name}.{k}", part) for k, part in enumerate(value)]
        one_list = schema is not None and len(schema.returns) == 1
        return [{"as_tensors": [part["as_tensor"] for part in parts]}] if one_list else parts

    def define(self, name: str, value) -> dict:
        """Describes a value under a name; gives how it is referred to."""
        if isinstance(value, torch.Tensor):
            self.tensors[name] = _tensor(value)
            return {"as_tensor": {"name": name}}
        for kind, table, tag in ((torch.SymInt, self.integers, "int"), (torch.SymFloat, self.floats, "float"), (torch.SymBool, self.booleans, "bool")):
            if isinstance(value, kind):
                if value.node.has_hint() and not isinstance(value.node.hint, (int, float, bool)):
                    raise Unsupported("the sizes of a jagged tensor are no numbers")
                table[name] = {"as_expr": {"expr_str": _expression(value.node.expr)}}
                return {f"as_sym_{tag}": {"as_name": name}}
        if value is None:
            return NOTHING
        raise Unsupported(f"a value of type {type(value).__name__} has no counterpart in the compiler")

    def argument(self, value, kind=None) -> dict:
        """An argument of a call; `kind` is its entry in the operator's schema."""
        if isinstance(value, Node):
            named = self.names.get(value)
            if named is None:
                return self.argument(value.meta.get("val"), kind)
            if isinstance(named, list):
                return {"as_tensors": [part["as_tensor"] for part in named]}
            return named
        if isinstance(value, (list, tuple)):
            return self.sequence(value, kind)
        return _constant(value)

    def sequence(self, values, kind) -> dict:
        parts = [self.argument(value) for value in values]
        tags = {tag for part in parts for tag in part}
        plain = [next(iter(part.values())) for part in parts]
        if not parts:
            element = str(kind.type) if kind is not None else ""
            return {"as_tensors" if "Tensor" in element else "as_floats" if "float" in element else "as_ints": []}
        if tags == {"as_tensor"}:
            return {"as_tensors": plain}
        if tags == {"as_tensor", "as_none"}:
            return {"as_optional_tensors": parts}
        if tags <= {"as_int", "as_sym_int"}:
            sym = [{"as_int": part["as_int"]} if "as_int" in part else part["as_sym_int"] for part in parts]
            return {"as_sym_ints": sym} if "as_sym_int" in tags else {"as_ints": plain}
        for tag in ("bool", "float", "string"):
            if tags == {f"as_{tag}"}:
                return {f"as_{tag}s": plain}
        if tags == {"as_int", "as_float"}:
            return {"as_floats": plain}
        if tags <= {"as_tensor", "as_int", "as_float", "as_bool", "as_sym_int", "as_sym_float", "as_sym_bool"}:
            return {"as_values": parts}
        raise Unsupported(f"a list of {', '.join(sorted(tags))} has no counterpart in the compiler")


def counterpart(target):
    """ATen's operator for one of ours that the tracers keep whole (see `strata.recurrent`); else the same."""
    ours = isinstance(target, torch._ops.OpOverload) and target.namespace == "strata"
    return getattr(torch.ops.aten, target._opname).input if ours else target


def _constant(value) -> dict:
    match value:
        case None:
            return NOTHING
        case bool():
            return {"as_bool": value}
        case int():
            return {"as_int": value}
        case float():
            return {"as_float": _real(value)}
        case complex():
            return {"as_complex": {"real": _real(value.real), "imag": _real(value.imag)}}
        case str():
            return {"as_string": value}
        case torch.dtype():
            if value not in DTYPES:
                raise Unsupported(f"element type {value} has no counterpart in the compiler")
            return {"as_scalar_type": DTYPES[value]}
        case torch.device():
            return {"as_device": {"type": value.type, "index": value.index}}
        case torch.layout():
            if value not in LAYOUTS:
                raise Unsupported(f"layout {value} has no counterpart in the compiler")
            return {"as_layout": LAYOUTS[value]}
        case torch.memory_format():
            return {"as_memory_format": MEMORY_FORMATS[value]}
        case torch.SymInt() | torch.SymFloat() | torch.SymBool() if value.node.expr.is_number:
            return _constant(value.node.pytype(value.node.expr))
    raise Unsupported(f"an argument of type {type(value).__name__} has no counterpart in the compiler")


def _real(value: float):
    if value != value:
        return "NaN"
    return value if abs(value) != float("inf") else "Infinity" if value > 0 else "-Infinity"


QUANTISED = ("quantized_decomposed", "torchao")
"""The libraries of operators on quantised tensors."""
ZERO_POINTS = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
"""Types of zero points."""


def _uniform(node: Node, value: torch.Tensor | None) -> int | None:
    """The number that every element of a weight is which only operators on quantised tensors read."""
    read = all(getattr(user.target, "namespace", None) in QUANTISED for user in node.users)
    if value is None or not read or not node.users or value.dtype not in ZERO_POINTS or value.numel() == 0 or value.device.type != "cpu":
        return None
    first = value.flatten()[0]
    return int(first) if bool((value == first).all()) else None


def _function_name(target) -> str:
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"torch.ops.higher_order.{target.name()}"
    return f"{target.__module__}.{target.__name__}"


def _tensor(value: torch.Tensor) -> dict:
    if value.dtype not in DTYPES:
        raise Unsupported(f"element type {value.dtype} has no counterpart in the compiler")
    if value.layout not in LAYOUTS:
        raise Unsupported(f"a tensor of layout {value.layout} has no counterpart in the compiler")
    if value.device.type != "cpu":
        raise Unsupported(f"a tensor lies on {value.device}; programs of the CPU are compiled")
    return {
        "dtype": DTYPES[value.dtype],
        "sizes": [_size(size) for size in value.shape],
        "strides": [_size(stride) for stride in value.stride()],
        "storage_offset": _size(value.storage_offset()),
        "device": {"type": "cpu", "index": None},
        "layout": LAYOUTS[value.layout],
        "requires_grad": False,
    }


def _size(size) -> dict:
    if isinstance(size, int):
        return {"as_int": size}
    expression = size.node.expr
    return {"as_int": int(expression)} if expression.is_number else {"as_expr": {"expr_str": _expression(expression)}}


_EXPRESSIONS: dict[sympy.Basic, str] = {}


def _expression(expression: sympy.Basic) -> str:
    """The text of an expression; the few that a program has come many times."""
    text = _EXPRESSIONS.get(expression)
    if text is None:
        text = _EXPRESSIONS[expression] = sympy.srepr(expression)
        if len(_EXPRESSIONS) > 4096:
            _EXPRESSIONS.clear()
    return text


_TORCH = os.path.join(os.path.dirname(torch.__file__), "")


def _metadata(node: Node) -> dict[str, str]:
    """Where the node comes from: its innermost module and the innermost line of its stack that is not PyTorch's own."""
    metadata = {}
    frames = (node.meta.get("stack_trace") or "").split('File "')[1:]
    if frames:
        own = [frame for frame in frames if not frame.startswith(_TORCH)]
        metadata["stack_trace"] = 'File "' + (own or frames)[-1]
    modules = node.meta.get("nn_module_stack")
    if modules:
        path, kind = list(modules.values())[-1]
        path = path.removeprefix("L['self']").lstrip(".")
        metadata["nn_module_stack"] = f",{path},{kind if isinstance(kind, str) else kind.__name__}"
    return metadata
