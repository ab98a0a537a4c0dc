"""Writes JAX's tests of its primitives as conformance cases: the programs that StableHLO's own test data is made of.

    python jax_cases.py OUT [--filter TEXT]

A case is the generic text of StableHLO that JAX lowers a test to, with inputs drawn from a seed and what JAX computes of them. Tests that
JAX itself does not run on the CPU are left out, and those whose tensors are of a type that no safetensors file holds.
"""

import argparse
import collections
import json
import os
import re
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import torch
from safetensors.torch import save_file

import case

jax.config.update("jax_enable_x64", True)

from jax._src.internal_test_util import test_harnesses  # noqa: E402, as flags come first

# Two units in the last place of a half: results are rounded once here, and after each step there. Powers and logarithms of XLA's CPU
# are of a few units.
TOLERANCE = case.TOLERANCE | {torch.float16: (2e-3, 1e-3), torch.float32: (1e-5, 1e-5), torch.complex64: (1e-5, 1e-5)}


def adjoint(x):
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def products(parts):
    """Singular values, and what the vectors give together: each has a sign of its own."""
    if len(parts) == 1:
        return parts
    values, u, v = parts
    count = values.shape[-1]
    return values, (u[..., :count] * values[..., None, :]) @ v[..., :count, :], u @ adjoint(u), v @ adjoint(v)


def sums(test, parts, x):
    """Of eigenvalues, which have no order, their sum and that of their squares; of their vectors, what they are off by."""
    values, *vectors = parts
    results = [values.sum(-1), (values * values).sum(-1)]
    if test.params["compute_left_eigenvectors"]:
        left = vectors.pop(0)
        results.append(adjoint(left) @ x - values[..., :, None] * adjoint(left))
    return results + [x @ right - right * values[..., None, :] for right in vectors]


# Tests of several right results: what all of them share.
SHARED = {
    "approx_top_k": lambda test, parts, x: parts[0],
    "svd": lambda test, parts, x: products(parts),
    "eig": sums,
    "eigh": lambda test, parts, x: (parts[1], (parts[0] * parts[1][..., None, :]) @ adjoint(parts[0])),
}


def free(test):
    """Whether a test's result is not determined: equal keys in any order."""
    return test.group_name == "sort" and not test.params["is_stable"] and test.params["num_keys"] < test.params["num_arrays"]


def function(test, group):
    """What a case computes."""
    if group not in SHARED:
        return test.dyn_fun
    return lambda *inputs: SHARED[group](test, test.dyn_fun(*inputs), *inputs)


def write(folder, place, test):
    """Writes a case and gives its row of the manifest, or nothing where JAX has none."""
    group = re.sub(r"\W+", "_", test.group_name).strip("_")
    name = f"{group}_{place}"
    inputs = test.dyn_args_maker(np.random.RandomState(0))
    lowered = jax.jit(function(test, group), keep_unused=True).lower(*inputs)
    outputs = jax.tree_util.tree_leaves(lowered.compile()(*inputs))
    given = [case.from_numpy(x) for x in jax.tree_util.tree_leaves(inputs)]
    wanted = [case.from_numpy(x) for x in outputs]
    if any(x is None for x in given + wanted):
        return None
    text = lowered.compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True)
    with open(os.path.join(folder, f"{name}.stablehlo.mlir"), "w") as file:
        file.write(text)
    tensors = {f"in_{k}": x for k, x in enumerate(given)} | {f"out_{k}": y for k, y in enumerate(wanted)}
    save_file(tensors, os.path.join(folder, f"{name}.safetensors"), {"n_in": str(len(given)), "n_out": str(len(wanted))})
    kinds = [x.dtype for x in wanted] + [x.dtype for x in given]
    rtol, atol = max((TOLERANCE.get(kind, (0, 0)) for kind in kinds), default=(0, 0))
    # Sums that cancel are as exact as their terms: what is left is compared by the greatest result.
    finite = [y[torch.isfinite(y)].abs().max().item() for y in wanted if y.is_floating_point() or y.is_complex() if torch.isfinite(y).any()]
    atol = max([atol, *(rtol * size for size in finite)])
    return {
        "name": f"jax__{name}", "group": "jax", "op": group, "dtype": case.SHORT.get(kinds[0], str(kinds[0]).removeprefix("torch.")),
        "pt": f"{name}.stablehlo.mlir", "io": [f"{name}.safetensors"], "rtol": rtol, "atol": atol, "check": "close",
        "n_in": len(given), "n_out": len(wanted), "tags": [], "test": test.fullname,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out")
    parser.add_argument("--filter", default="")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    warnings.simplefilter("ignore")
    rows, left = [], collections.Counter()
    for place, test in enumerate(test_harnesses.all_harnesses):
        if options.filter not in test.fullname:
            continue
        if free(test):
            left["several results are right"] += 1
            continue
        if not test.filter("cpu"):
            left["JAX has no implementation on the CPU"] += 1
            continue
        try:
            row = write(options.out, place, test)
        except Exception as error:  # whatever a test of JAX's raises is counted, and is no case
            left[type(error).__name__] += 1
            continue
        if row is None:
            left["no such type in a file"] += 1
        else:
            rows.append(row)
    case.write_manifest(options.out, rows, "jax", jax.__version__)
    print(f"{len(rows)} cases; left out: {dict(left)}")
