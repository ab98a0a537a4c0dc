"""Writes the node tests of the `onnx` package as conformance cases.

    python onnx_cases.py OUT [--filter TEXT]

A case is the package's own model with its inputs and outputs, under the package's own tolerances, or those of PyTorch for the element
type where these are wider. Inputs that a call of ours cannot
bring (sequences, strings, types without a counterpart) are left out; the case is there all the same, and says how the model is refused.
"""

import argparse
import collections
import json
import os
import warnings

import torch
from onnx.backend.test.case.node import collect_testcases
from safetensors.torch import save_file

import case

# What comes out is random, and its shape and type are compared.
RANDOM = {"Bernoulli", "Dropout", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
# Two units in the last place of a half: results are rounded once here, and after each step there.
WIDER = case.TOLERANCE | {torch.float16: (2e-3, 1e-5)}


def leaves(values):
    """Tensors in order, those of sequences one after the other; nothing where one has no counterpart."""
    found = []
    for value in values:
        if value is None:
            continue
        for part in value if isinstance(value, list) else [value]:
            found.append(case.from_numpy(part))
    return None if any(part is None for part in found) else found


def write(folder, test):
    """Writes a case; gives its row of the manifest."""
    name = test.name.removeprefix("test_")
    path = f"{name}/model.onnx"
    os.makedirs(os.path.join(folder, name), exist_ok=True)
    with open(os.path.join(folder, path), "wb") as file:
        file.write(test.model.SerializeToString())
    operators = [node.op_type for node in test.model.graph.node]
    random = any(operator in RANDOM for operator in operators)
    sets, outputs = [], 0
    for place, (given, expected) in enumerate(test.data_sets):
        plain = not any(isinstance(value, list) or value is None for value in given)
        inputs, results = leaves(given) if plain else None, leaves(expected)
        if inputs is None or results is None:
            sets = []
            break
        outputs = len(results)
        tensors = {f"in_{k}": part for k, part in enumerate(inputs)} | {f"out_{k}": part for k, part in enumerate(results)}
        file = f"{name}/set_{place}.safetensors"
        save_file(tensors, os.path.join(folder, file), {"n_in": str(len(inputs)), "n_out": str(outputs)})
        sets.append(file)
    kinds = [part.dtype for part in (results or []) + (inputs or [])]
    wider = [WIDER.get(kind, (0.0, 0.0)) for kind in kinds]
    rtol, atol = max([test.rtol] + [pair[0] for pair in wider]), max([test.atol] + [pair[1] for pair in wider])
    return {
        "name": f"onnx__{name}", "group": "onnx", "op": operators[0] if operators else name, "dtype": case.SHORT.get(kinds[0], "") if kinds else "",
        "pt": path, "io": sets, "rtol": rtol, "atol": atol, "check": "shape" if random else "close",
        "n_out": outputs, "tags": [] if sets else ["no_inputs"],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    os.makedirs(options.out, exist_ok=True)
    cases, seen = [], collections.Counter()
    for test in collect_testcases(None):
        seen[test.name] += 1
        if options.filter in test.name and seen[test.name] == 1:
            cases.append(write(options.out, test))
    case.write_manifest(options.out, cases)
    print(f"{len(cases)} cases, {sum(not row['io'] for row in cases)} of them without inputs")


if __name__ == "__main__":
    main()
