"""Exports operators on arguments that are drawn at random by their schemas, as conformance cases.

    python drawn_cases.py OUT [--ops REGEX] [--each N] [--tries N] [--seed N] [--jobs N]

Samples of a test database call an operator as it is meant to be called. These calls are what its schema admits: tensors of rank 0,
without elements, of mixed element types, in other orders than row-major, numbers where they may stand, other options. Of each overload that is functional and
deterministic `--each` calls are kept that eager PyTorch takes, no two of which have the same element types, ranks and result.
Each overload is drawn in a process of its own: some calls end PyTorch itself.
"""

import argparse
import json
import math
import os
import random
import re
import signal
import warnings

import torch
from torch.utils import _pytree as pytree

import case
from op_cases import same_twice, widened

DTYPES = [torch.float32] * 6 + [torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool, torch.complex64]
SIZES = [0, 1, 2, 2, 3, 3, 4, 5]
# Results are no function of the arguments, or no tensors of a program.
SKIP = re.compile(r"rand|empty|bernoulli|dropout|multinomial|normal(?!ize|_)|poisson$|uniform|geometric|cauchy|exponential|sparse|quantize|cudnn|miopen|mkldnn|mps|cuda|"
                  r"nested|_test|resize|storage|record_stream|from_file|_jagged|fbgemm|_cufft|xnnpack|_assert|_print|sym_|_nnpack|_fw_primal|"
                  r"_foreach|_fused|_amp|pin_memory|_local_scalar|is_|item|equal$|allclose|_has|_version|names|_dim[IV]|coalesce|to_dense|values|crow|ccol|row_indices|col_indices")
INDICES = re.compile(r"ind(ex|ices)|target|offsets|positions|ids|bucket|repeats")
# Sizes of results, which must stay small.
COUNTS = re.compile(r"num|size|length|n$|k$|max|min|steps|bins|pad|repeats|dims|end|start")


def schemas():
    for packet in sorted(dir(torch.ops.aten)):
        operator = getattr(torch.ops.aten, packet)
        if not hasattr(operator, "overloads") or SKIP.search(packet):
            continue
        for overload in operator.overloads():
            op = getattr(operator, overload)
            schema = op._schema
            functional = not schema.is_mutable and not packet.endswith("_") and "dimname" not in str(schema).lower()
            if functional and any(str(a.type) in ("Tensor", "List[Tensor]") for a in schema.arguments):
                yield op


class Draw:
    def __init__(self, generator):
        self.random = generator
        self.shape = [generator.choice(SIZES) for _ in range(generator.choice([0, 1, 1, 2, 2, 3, 3, 4]))]
        self.dtype = generator.choice(DTYPES)

    def tensor(self, name):
        r, shape, dtype = self.random, list(self.shape), self.dtype
        kind = r.random()
        if kind < 0.12:
            shape = []
        elif kind < 0.25:
            shape = [1 if r.random() < 0.5 else size for size in shape]
        elif kind < 0.33:
            shape = shape[1:]
        elif kind < 0.39:
            shape = shape[:-1]
        elif kind < 0.44:
            shape = [r.choice(SIZES) for _ in range(r.choice([1, 2, 3]))]
        if r.random() < 0.2:
            dtype = r.choice(DTYPES)
        if INDICES.search(name) and r.random() < 0.85:
            dtype = r.choice([torch.int64, torch.int64, torch.int32])
            return self.laid(torch.tensor([r.choice([0, 0, 1, 2]) for _ in range(math.prod(shape))], dtype=dtype).reshape(shape))
        if dtype.is_floating_point or dtype.is_complex:
            value = torch.tensor([r.gauss(0, 1.5) for _ in range(math.prod(shape))], dtype=torch.float64).reshape(shape)
            return self.laid((value.abs() if r.random() < 0.2 else value).to(dtype))
        low = 0 if dtype in (torch.uint8, torch.bool) or r.random() < 0.5 else -4
        return self.laid(torch.tensor([r.randint(low, 5) for _ in range(math.prod(shape))]).reshape(shape).to(dtype))

    def laid(self, value):
        """Some tensors lie in memory in another order than row-major."""
        if value.dim() < 2 or self.random.random() < 0.8:
            return value
        order = self.random.sample(range(value.dim()), value.dim())
        return value.permute(order).contiguous().permute([order.index(dim) for dim in range(value.dim())])

    def integer(self, name):
        r = self.random
        if "dim" in name or name == "axis":
            return r.randint(-len(self.shape), max(len(self.shape) - 1, 0))
        if name == "reduction":
            return r.choice([0, 1, 2])
        if name == "dtype":
            return r.choice([None, torch.float32, torch.float64, torch.int64, torch.int32, torch.bool])
        return r.choice([0, 1, 2, 3, 4]) if COUNTS.search(name) else r.choice([-2, -1, 0, 1, 1, 2, 3])

    def value(self, kind, name):
        r = self.random
        if kind.startswith("Optional["):
            return None if r.random() < 0.5 else self.value(kind[9:-1], name)
        if kind == "Tensor":
            return self.tensor(name)
        if kind == "List[Tensor]":
            return [self.tensor(name) for _ in range(r.choice([1, 2, 2, 3]))]
        if kind == "List[Optional[Tensor]]":
            return [self.tensor("index") if r.random() < 0.8 else None for _ in range(r.choice([1, 2]))]
        if kind in ("int", "SymInt"):
            return self.integer(name)
        if kind in ("List[int]", "List[SymInt]"):
            if name in ("size", "shape") and r.random() < 0.5:
                return list(self.shape)
            return [self.integer(name) for _ in range(r.choice([0, 1, 1, 2, 2, 3, len(self.shape)]))]
        if kind == "float":
            return r.choice([0.0, 1.0, 0.5, 2.0, -1.0, 1e-5])
        if kind == "List[float]":
            return [r.choice([0.5, 1.0, 2.0]) for _ in range(r.choice([1, 2]))]
        if kind == "bool":
            return r.random() < 0.5
        if kind in ("number", "Scalar"):
            return r.choice([0, 1, 2, -1, 3, 0.5, 2.5, -1.5, True])
        if kind == "str":
            return r.choice(["none", "mean", "sum", "floor", "trunc", "tanh", "ij", "xy", "linear", "lower", "reflect"])
        if kind == "ScalarType":
            return self.integer("dtype")
        raise ValueError(kind)

    def arguments(self, schema):
        args, kwargs = [], {}
        for argument in schema.arguments:
            kind = str(argument.type)
            if argument.name in ("layout", "device", "pin_memory", "generator", "memory_format", "non_blocking"):
                continue
            if argument.has_default_value() and self.random.random() < 0.5:
                if not argument.kwarg_only:
                    args.append(argument.default_value)
                continue
            value = self.value(kind, argument.name)
            if argument.kwarg_only:
                kwargs[argument.name] = value
            else:
                args.append(value)
        return args, kwargs


def signature(leaves, outputs):
    """What a call is like, without its numbers and sizes."""
    def of(value):
        if isinstance(value, torch.Tensor):
            return (str(value.dtype), value.dim(), value.numel() == 0, value.is_contiguous())
        return value if isinstance(value, (bool, str, type(None))) else type(value).__name__
    return tuple(map(of, leaves)), tuple(map(of, outputs))


def drawn(options, op, place):
    """The cases of one overload, as rows of the manifest."""
    generator, seen, rows = random.Random(f"{options.seed} {op}"), set(), []
    name = str(op).replace("aten.", "").replace(".", "_").strip("_")
    for _ in range(options.tries):
        if len(rows) == options.each:
            break
        try:
            signal.setitimer(signal.ITIMER_REAL, 20)
            args, kwargs = Draw(generator).arguments(op._schema)
            leaves, spec = pytree.tree_flatten((tuple(args), kwargs))
            tensors = [k for k, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
            inputs = [leaves[k] for k in tensors]
            call = case.bind(op, leaves, spec, tensors)
            outputs = same_twice(call, inputs)
            kind = signature(leaves, outputs)
            if not tensors or kind in seen or not any(isinstance(t, torch.Tensor) for t in outputs) or any(isinstance(t, torch.Tensor) and t.numel() > 20000 for t in outputs):
                continue
            seen.add(kind)
            dtypes = [t.dtype for t in outputs + inputs if isinstance(t, torch.Tensor)]
            rtol, atol = map(max, zip(*[case.TOLERANCE.get(d, (0.0, 0.0)) for d in dtypes]))
            tolerance = (rtol, widened(call, inputs, outputs, rtol, atol))
            rows.append(case.export(options.out, "drawn", f"{name}__{len(rows):02}", call, [inputs], op=str(op), tolerance=tolerance))
        except Exception:
            continue
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    with open(place, "w") as file:
        json.dump(rows, file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--ops", default="")
    for flag, default in {"each": 6, "tries": 150, "seed": 0, "jobs": 2}.items():
        parser.add_argument(f"--{flag}", type=int, default=default)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    signal.signal(signal.SIGALRM, case.expire)
    os.makedirs(options.out, exist_ok=True)
    ops = [op for op in schemas() if re.search(options.ops, str(op))]
    running, places, ended = {}, [], []

    def wait():
        child, status = os.wait()
        if status:
            ended.append(str(running[child]))
        del running[child]

    for number, op in enumerate(ops):
        while len(running) >= options.jobs:
            wait()
        place = os.path.join(options.out, f"rows_{number}.json")
        places.append(place)
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            drawn(options, op, place)
            os._exit(0)
        running[child] = op
    while running:
        wait()
    cases = []
    for place in filter(os.path.exists, places):
        with open(place) as file:
            cases += json.load(file)
        os.remove(place)
    case.write_manifest(options.out, cases)
    print(f"{len(cases)} cases of {len({c['op'] for c in cases})} overloads of {len(ops)}; ended by PyTorch: {ended}")


if __name__ == "__main__":
    main()
