"""Writes ONNX models of our own with what the reference evaluator of the `onnx` package computes of them.

    python onnx_own_cases.py onnx

Groups: sizes with names and arithmetic on sizes, control flow that a call decides, functions of the model, every way in which a tensor is
stored, recurrent networks of any length, quantised operators.
"""

import json
import os
import sys

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from safetensors.torch import save_file

F32, I64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
rng = np.random.default_rng(0)


def info(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def const(name, value):
    return numpy_helper.from_array(np.asarray(value), name)


def model(nodes, inputs, outputs, initializers=(), functions=(), opset=18, sparse=()):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, list(initializers), sparse_initializer=list(sparse))
    imports = [helper.make_opsetid("", opset)] + [helper.make_opsetid("own", 1)] * bool(functions)
    return helper.make_model(graph, opset_imports=imports, functions=list(functions), ir_version=10)


def node(kind, inputs, outputs, **attrs):
    return helper.make_node(kind, inputs, outputs, **attrs)


def reference(name, outer):
    """An attribute that is one of the function around it."""
    return onnx.AttributeProto(name=name, ref_attr_name=outer, type=onnx.AttributeProto.FLOAT)


def graph(nodes, inputs, outputs, initializers=()):
    return helper.make_graph(nodes, "body", inputs, outputs, list(initializers))


def named_sizes():
    """The same name is the same size, and a reshape is computed of sizes."""
    nodes = [
        node("Add", ["x", "y"], ["sum"]),
        node("Shape", ["sum"], ["shape"]),
        node("Gather", ["shape", "zero"], ["rows"], axis=0),
        node("Unsqueeze", ["rows", "axis"], ["row_list"]),
        node("Mul", ["row_list", "two"], ["doubled"]),
        node("Concat", ["doubled", "rest"], ["sizes"], axis=0),
        node("Reshape", ["sum", "sizes"], ["out"]),
    ]
    init = [const("zero", np.int64(0)), const("axis", np.array([0])), const("two", np.array([2])), const("rest", np.array([2, -1]))]
    made = model(nodes, [info("x", F32, ["n", 8]), info("y", F32, ["n", 8])], [info("out", F32, None)], init)
    return made, [[floats(n, 8), floats(n, 8)] for n in (1, 3)]


def branch():
    yes = graph([node("Add", ["x", "x"], ["yes"])], [], [info("yes", F32, [3])])
    no = graph([node("Neg", ["x"], ["no"])], [], [info("no", F32, [3])])
    nodes = [node("ReduceSum", ["x"], ["sum"], keepdims=0), node("Greater", ["sum", "zero"], ["when"])]
    nodes.append(node("If", ["when"], ["out"], then_branch=yes, else_branch=no))
    made = model(nodes, [info("x", F32, [3])], [info("out", F32, [3])], [const("zero", np.float32(0))])
    return made, [[np.array([1, 2, 3], np.float32)], [np.array([-1, -2, -3], np.float32)]]


def while_loop():
    """A loop that the values end."""
    body = graph(
        [node("Mul", ["state", "two"], ["next"]), node("ReduceMax", ["next"], ["most"], keepdims=0), node("Less", ["most", "limit"], ["again"])],
        [info("step", I64, []), info("goes_on", BOOL, []), info("state", F32, [2])],
        [info("again", BOOL, []), info("next", F32, [2])],
    )
    nodes = [node("Loop", ["", "yes", "x"], ["out"], body=body)]
    init = [const("two", np.float32(2)), const("limit", np.float32(50)), const("yes", np.array(True))]
    return model(nodes, [info("x", F32, [2])], [info("out", F32, [2])], init), [[np.array([1, 3], np.float32)], [np.array([60, 1], np.float32)]]


def counted_loop():
    """As many steps as a call says, and a row of each."""
    body = graph(
        [node("Add", ["state", "x"], ["next"]), node("Identity", ["goes_on"], ["again"]), node("Mul", ["next", "next"], ["row"])],
        [info("step", I64, []), info("goes_on", BOOL, []), info("state", F32, [2])],
        [info("again", BOOL, []), info("next", F32, [2]), info("row", F32, [2])],
    )
    nodes = [node("Loop", ["count", "yes", "x"], ["out", "rows"], body=body)]
    outputs = [info("out", F32, [2]), info("rows", F32, ["n", 2])]
    made = model(nodes, [info("count", I64, []), info("x", F32, [2])], outputs, [const("yes", np.array(True))])
    return made, [[np.array(count, np.int64), floats(2)] for count in (1, 4)]


def scan():
    """A running sum over a length that only a call knows."""
    body = graph(
        [node("Add", ["sum", "row"], ["next"]), node("Identity", ["next"], ["shown"])],
        [info("sum", F32, [2]), info("row", F32, [2])],
        [info("next", F32, [2]), info("shown", F32, [2])],
    )
    nodes = [node("Scan", ["start", "x"], ["end", "all"], body=body, num_scan_inputs=1)]
    made = model(nodes, [info("start", F32, [2]), info("x", F32, ["t", 2])], [info("end", F32, [2]), info("all", F32, ["t", 2])])
    return made, [[floats(2), floats(t, 2)] for t in (1, 5)]


def function():
    """A function with an attribute that its nodes refer to, called twice; the evaluator does not take such attributes."""
    inner = node("LeakyRelu", ["x"], ["bent"])
    inner.attribute.append(reference("alpha", "slope"))
    made = helper.make_function(
        "own", "BentSum", ["x", "y"], ["out"], [inner, node("Add", ["bent", "y"], ["out"])], [helper.make_opsetid("", 18)], ["slope"]
    )
    call = lambda inputs, outputs, slope: helper.make_node("BentSum", inputs, outputs, domain="own", slope=slope)
    nodes = [call(["x", "y"], ["first"], 0.25), call(["first", "x"], ["out"], 0.5)]
    bent = lambda x, slope: np.where(x < 0, np.float32(slope) * x, x)
    expected = lambda x, y: [bent(bent(x, 0.25) + y, 0.5) + x]
    made = model(nodes, [info("x", F32, [4]), info("y", F32, [4])], [info("out", F32, [4])], functions=[made])
    return made, [[floats(4), floats(4)]], expected


def stored():
    """Raw bytes, fields of numbers, halves in integers, and a tensor written by what is not zero, which the evaluator does not add."""
    typed = helper.make_tensor("typed", F32, [2, 3], [float(k) for k in range(6)])
    whole = helper.make_tensor("whole", I64, [3], [2, 0, 1])
    half = helper.make_tensor("half", TensorProto.FLOAT16, [3], [0.5, -2, 65504])
    sparse = helper.make_sparse_tensor(const("sparse", np.array([4, 5], np.float32)), const("places", np.array([1, 2])), [3])
    nodes = [
        node("Add", ["x", "typed"], ["a"]),
        node("Gather", ["a", "whole"], ["b"], axis=1),
        node("Cast", ["half"], ["wide"], to=F32),
        node("Constant", [], ["thin"], sparse_value=sparse),
        node("Add", ["b", "wide"], ["d"]),
        node("Add", ["d", "thin"], ["e"]),
        node("MatMul", ["e", "raw"], ["out"]),
    ]
    raw = floats(3, 2)
    thin, wide = np.array([0, 4, 5], np.float32), np.array([0.5, -2, 65504], np.float32)
    expected = lambda x: [((x + np.arange(6, dtype=np.float32).reshape(2, 3))[:, [2, 0, 1]] + wide + thin) @ raw]
    made = model(nodes, [info("x", F32, [2, 3])], [info("out", F32, [2, 2])], [typed, whole, half, const("raw", raw)])
    return made, [[floats(2, 3)]], expected


def external():
    """Weights in a file beside the model."""
    nodes = [node("MatMul", ["x", "w"], ["out"])]
    return model(nodes, [info("x", F32, [2, 4])], [info("out", F32, [2, 3])], [const("w", floats(4, 3))]), [[floats(2, 4)]]


def recurrent():
    """Both directions over a length and a batch that only a call knows."""
    init = [const("w", floats(2, 12, 3)), const("r", floats(2, 12, 3)), const("b", floats(2, 24))]
    nodes = [node("LSTM", ["x", "w", "r", "b"], ["y", "h", "c"], hidden_size=3, direction="bidirectional")]
    outputs = [info(name, F32, None) for name in ("y", "h", "c")]
    return model(nodes, [info("x", F32, ["t", "n", 3])], outputs, init), [[floats(t, n, 3)] for t, n in ((1, 1), (6, 2))]


def quantised():
    """A convolution of bytes between two changes of type."""
    nodes = [
        node("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
        node("QLinearConv", ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz"], ["qy"], pads=[1, 1, 1, 1]),
        node("DequantizeLinear", ["qy", "ys", "yz"], ["out"]),
    ]
    init = [
        const("xs", np.float32(0.05)), const("xz", np.uint8(120)), const("ws", np.float32(0.02)), const("wz", np.uint8(128)),
        const("ys", np.float32(0.1)), const("yz", np.uint8(100)), const("w", rng.integers(0, 255, (2, 3, 3, 3)).astype(np.uint8)),
    ]
    return model(nodes, [info("x", F32, [1, 3, 5, 5])], [info("out", F32, None)], init, opset=21), [[floats(1, 3, 5, 5)]]


def expand():
    """Sizes to expand to that only a call knows: 1 keeps a dimension of more elements."""
    nodes = [node("Expand", ["x", "sizes"], ["out"])]
    inputs = [info("x", F32, [3, 1]), info("sizes", I64, [3])]
    return model(nodes, inputs, [info("out", F32, None)]), [[floats(3, 1), np.array(sizes)] for sizes in ([2, 1, 6], [1, 3, 1])]


CASES = [named_sizes, branch, while_loop, counted_loop, scan, function, stored, external, recurrent, quantised, expand]


def write(folder, make):
    name = make.__name__
    made, input_sets, *expected = make()
    path = os.path.join(folder, f"{name}.onnx")
    apart = {"save_as_external_data": True, "location": f"{name}.data", "size_threshold": 0} if name == "external" else {}
    evaluator = None if expected else ReferenceEvaluator(made)
    names = [value.name for value in made.graph.input]
    files = []
    for place, inputs in enumerate(input_sets):
        outputs = expected[0](*inputs) if expected else evaluator.run(None, dict(zip(names, inputs)))
        tensors = {f"in_{k}": torch.from_numpy(np.array(x)) for k, x in enumerate(inputs)}
        tensors |= {f"out_{k}": torch.from_numpy(np.ascontiguousarray(y)) for k, y in enumerate(outputs)}
        files.append(f"{name}.s{place}.safetensors")
        save_file(tensors, os.path.join(folder, files[-1]), {"n_in": str(len(inputs)), "n_out": str(len(outputs))})
    if os.path.exists(os.path.join(folder, f"{name}.data")):
        os.remove(os.path.join(folder, f"{name}.data"))
    onnx.save(made, path, **apart)
    return {
        "name": f"onnx__{name}", "group": "onnx", "op": name, "dtype": "f32", "pt": f"{name}.onnx", "io": files, "rtol": 1.3e-6, "atol": 1e-5,
        "check": "close", "n_in": len(names), "n_out": len(outputs), "tags": [],
    }


if __name__ == "__main__":
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    rows = ",\n".join(json.dumps(write(folder, make)) for make in CASES)
    with open(os.path.join(folder, "manifest.json"), "w") as file:
        file.write('{"format": 1, "onnx": "%s", "cases": [\n%s\n]}\n' % (onnx.__version__, rows))
