"""Writes programs of JAX as generic text of StableHLO, with what JAX computes of them.

    python stablehlo_cases.py stablehlo

Needs jax, numpy and safetensors.
"""

import json
import os
import sys

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
from jax.interpreters import mlir
from jaxlib.mlir import ir
from safetensors.numpy import save_file

rng = np.random.default_rng(0)
CASES, POLYMORPHIC = [], []


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


def program(*inputs):
    """A function and its inputs."""
    def keep(function):
        CASES.append((function, inputs))
        return function
    return keep


@program(floats(4, 8), floats(8, 3), floats(3))
def dense(x, w, b):
    return jax.nn.softmax(jnp.maximum(x @ w + b, 0), axis=-1), jnp.sum(x.reshape(2, -1)[:, 1:5], 0)


@program(floats(2, 5, 3, 16), floats(2, 7, 3, 16), floats(2, 7, 3, 16))
def attention(q, k, v):
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 4.0), v)


@program(floats(1, 8, 9, 3), floats(3, 3, 3, 4))
def convolution(x, w):
    return jax.nn.relu(jax.lax.conv_general_dilated(x, w, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))


@program(floats(2, 4, 8, 9), floats(6, 2, 3, 3))
def convolution_of_groups(x, w):
    return jax.lax.conv_general_dilated(x, w, (1, 1), [(1, 2), (0, 1)], rhs_dilation=(2, 1), feature_group_count=2)


@program(floats(3, 5))
def pointwise(x):
    return jax.nn.gelu(x) + jnp.sin(x) * jnp.cbrt(x) + jnp.round(x) + jnp.where(x > 0, jnp.log1p(jnp.abs(x)), jnp.expm1(x))


@program(floats(3))
def counted_loop(x):
    return jax.lax.fori_loop(0, 5, lambda i, c: c * 1.5 + i, x)


@program(np.abs(floats(3)))
def while_loop(x):
    return jax.lax.while_loop(lambda c: jnp.sum(c) < 100, lambda c: c * 2, x)


@program(floats(3))
def branch(x):
    return jax.lax.cond(jnp.sum(x) > 0, lambda x: x + 1, lambda x: x * 2, x)


@program(floats(5, 6), np.int32(3))
def slices_of_a_call(x, i):
    return jax.lax.dynamic_slice(x, (i, 1), (2, 3)), jax.lax.dynamic_update_slice(x, jnp.ones((2, 2)), (i, i))


@program(floats(2, 3))
def constants(x):
    return x @ jnp.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]) + jnp.arange(2), jnp.pad(x, ((1, 0), (0, 2)), constant_values=3)


@program(np.array([7, -8, 9], np.int32), np.array([2, 3, -4], np.int32))
def integers(x, y):
    return x // y, x % y, x & y, x | y, jnp.max(x), jnp.prod(y), jnp.all(x > y), x.astype(jnp.float32) / 3


@program(floats(4, 16))
def normalisation(x):
    return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


@program(floats(10, 4), np.array([[1, 3], [9, 0]], np.int32))
def gather(x, i):
    return x[i], x[i, 2], x[3:5, 1]


@program(floats(6, 3))
def scan(x):
    return jax.lax.scan(lambda c, y: (c + y, c * y), jnp.zeros(3), x)


@program(floats(1, 4, 4, 2))
def pooling(x):
    largest = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return largest, jax.lax.reduce_window(x, 0.0, jax.lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME")


@program(floats(5, 7), np.array([3, 0, 3, 9, 1], np.int32), floats(5))
def places(x, i, y):
    return jnp.argmax(x, 1), jnp.argmin(x), jnp.argsort(x, 1), jnp.sort(x, 0)[::-1], jax.lax.top_k(x, 3), jnp.median(x, 1), jnp.lexsort((y, i % 2))


@program(floats(6, 3), np.array([4, 0, 4, 9], np.int32), floats(4, 3))
def scattered(x, i, y):
    return x.at[i].add(y), x.at[i, 1].max(y[:, 0]), x.at[:, 2].set(0), x.at[i].mul(y, mode="clip"), jax.ops.segment_sum(y, i, 5)


@program(floats(3, 5, 4), np.array([[1, 4], [0, 0], [3, 2]], np.int32))
def gather_of_batches(x, i):
    return jax.vmap(lambda x, i: x[i])(x, i), jnp.take_along_axis(x, i[:, :, None], 1), x[:, i[0]]


@program(floats(4, 6))
def running(x):
    return jnp.cumsum(x, 1), jnp.cumprod(x, 0), jax.lax.cummax(x, 1, reverse=True), jax.lax.cumlogsumexp(x, 1), jnp.diff(x)


@program(floats(2, 8, 8, 3), floats(3, 3, 3, 4), floats(64, 5), np.array([1, 4], np.int32))
def training(x, kernel, head, labels):
    def loss(kernel, head):
        y = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        y = jax.lax.reduce_window(jax.nn.relu(y), -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        scores = jax.nn.log_softmax(y.reshape(2, -1) @ head)
        return -jnp.take_along_axis(scores, labels[:, None], 1).mean()
    value, gradients = jax.value_and_grad(loss, (0, 1))(kernel, head)
    return value, kernel - 0.1 * gradients[0], head - 0.1 * gradients[1]


@program(floats(2, 4, 9, 7), floats(6, 2, 3, 3))
def gradients_of_groups(x, w):
    def loss(x, w):
        y = jax.lax.conv_general_dilated(x, w, (2, 1), [(1, 0), (2, 1)], rhs_dilation=(1, 2), feature_group_count=2)
        return jnp.sum(jnp.sin(y))
    return jax.grad(loss, (0, 1))(x, w)


@program(floats(3, 4), floats(3, 7, 5), floats(5, 16), floats(4, 16))
def lstm(h, xs, w, u):
    def step(state, x):
        i, f, g, o = jnp.split(x @ w + state[0] @ u, 4, -1)
        c = jax.nn.sigmoid(f) * state[1] + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    return jax.lax.scan(step, (h, h), jnp.swapaxes(xs, 0, 1))


@program(floats(4, 4), floats(4, 2))
def linear_algebra(a, y):
    a = a @ a.T + jnp.eye(4)
    q, r = jnp.linalg.qr(a)
    return jnp.linalg.solve(a, y), jnp.linalg.cholesky(a), jnp.linalg.inv(a), jnp.linalg.eigvalsh(a), jnp.linalg.det(a), q @ r, jnp.linalg.svd(a)[1]


@program(floats(3, 10))
def transforms(x):
    return jnp.abs(jnp.fft.rfft(x)), jnp.fft.irfft(jnp.fft.rfft(x)), jnp.fft.fft2(x).real, jnp.fft.ifft(x).imag


@program(np.array([12, 34], np.uint32))
def random_numbers(key):
    keys = jax.random.split(key, 3)
    return jax.random.uniform(keys[0], (4,)), jax.random.normal(keys[1], (2, 3)), jax.random.randint(keys[2], (5,), 0, 100)


@program(np.array([12, 34, 56, 0xffffffff], np.uint32))
def random_bits(state):
    draws = []
    for algorithm in jax.lax.RandomAlgorithm.RNG_PHILOX, jax.lax.RandomAlgorithm.RNG_THREE_FRY:
        for shape, dtype in ((), np.uint32), ((3, 5), np.uint32), ((7,), np.uint8), ((2, 9), np.uint16):
            state, bits = jax.lax.rng_bit_generator(state, shape, dtype, algorithm=algorithm)
            draws.append(bits.astype(np.int32))
    key = jax.random.wrap_key_data(state, impl="rbg")
    return draws, state, jax.random.normal(key, (2, 3)), jax.random.permutation(key, 6)


@program(np.array([-7, 8, 9, 1 << 30], np.int32), np.array([2, 3, 40, -1], np.int32))
def bits(x, y):
    shifts = jax.lax.shift_right_logical(x, y), jax.lax.shift_left(x, y), jax.lax.shift_right_arithmetic(x, y)
    return shifts, jax.lax.population_count(x), jax.lax.clz(x), jax.lax.bitcast_convert_type(x, jnp.float32), jax.lax.bitcast_convert_type(x, jnp.int8)


@program(floats(3, 4), floats(1)[0])
def padding(x, value):
    return jax.lax.pad(x, value, ((1, 0, 2), (-1, 2, 1))), jnp.pad(x, 2, mode="reflect"), jnp.roll(x, 2, 1), jax.image.resize(x, (6, 7), "linear")


@program(floats(2, 6), np.array([[True, False, True], [False, False, True]]))
def other_reductions(x, b):
    product = jax.lax.reduce(x, np.float32(1), lambda a, b: a * b + a + b, (1,))
    return product, jax.lax.reduce_xor(b.astype(jnp.int32) * 5, (0,)), jnp.any(b, 1), jnp.all(b), jnp.std(x, 0), jax.nn.logsumexp(x, 1)


def polymorphic(shapes, *inputs):
    """A function that is exported for sizes with names, and inputs of one call."""
    def keep(function):
        POLYMORPHIC.append((function, shapes, inputs))
        return function
    return keep


@polymorphic(("b, 8", "8, 3", "3"), floats(5, 8), floats(8, 3), floats(3))
def batches(x, w, b):
    h = jax.nn.softmax(jnp.maximum(x @ w + b, 0), axis=-1)
    return h, h.reshape(-1)[: x.shape[0]], jnp.concatenate([x, x], 0), jnp.arange(2 * x.shape[0] - 1), jnp.mean(x, 0), jnp.pad(x, ((1, 2), (0, 0)))


@polymorphic(("n, m", "k"), floats(4, 6), np.array([5, 0, 3], np.int32))
def sizes_of_gathers(x, i):
    return x[:, i], x[1:, ::2], x[::-1, : x.shape[1] // 2], jnp.cumsum(x, 1), jnp.sort(x, 0), jnp.argmax(x, 1), jnp.take(x, i % x.shape[0], 0), x.T @ x


@polymorphic(("b, h, w, 3", "3, 3, 3, 4"), floats(2, 9, 7, 3), floats(3, 3, 3, 4))
def images_of_any_size(x, w):
    y = jax.lax.conv_general_dilated(x, w, (2, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return y, jax.nn.relu(y).mean((1, 2)), jnp.roll(x, 1, 1)


@polymorphic(("t, 4",), floats(6, 4))
def steps_of_any_number(x):
    return jax.lax.scan(lambda c, y: (c * 0.5 + y, c.sum()), jnp.zeros(4), x), jax.lax.fori_loop(0, x.shape[0], lambda k, c: c + x[k], jnp.ones(4))


def lowered(function, inputs):
    return jax.jit(function).lower(*inputs).compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True)


def exported(function, shapes, inputs):
    """The generic text of an export: names are the same size in all arguments."""
    scope = jax.export.SymbolicScope()
    symbolic = [jax.ShapeDtypeStruct(jax.export.symbolic_shape(shape, scope=scope), x.dtype) for shape, x in zip(shapes, inputs)]
    text = jax.export.export(jax.jit(function))(*symbolic).mlir_module()
    with mlir.make_ir_context():
        return ir.Module.parse(text).operation.get_asm(print_generic_op_form=True)


def write(folder, function, inputs, text):
    name = function.__name__
    with open(os.path.join(folder, "Inputs", f"{name}.stablehlo.mlir"), "w") as file:
        file.write(text)
    outputs = jax.tree_util.tree_leaves(jax.jit(function)(*inputs))
    dense = lambda value: np.ascontiguousarray(value) if np.ndim(value) else np.asarray(value)
    tensors = {f"in_{k}": dense(x) for k, x in enumerate(inputs)} | {f"out_{k}": dense(y) for k, y in enumerate(outputs)}
    save_file(tensors, os.path.join(folder, "Inputs", f"{name}.safetensors"), {"n_in": str(len(inputs)), "n_out": str(len(outputs))})
    return {
        "name": f"stablehlo__{name}", "group": "stablehlo", "op": name, "dtype": "f32", "pt": f"Inputs/{name}.stablehlo.mlir",
        "io": [f"Inputs/{name}.safetensors"], "rtol": 1e-5, "atol": 1e-5, "check": "close", "n_in": len(inputs), "n_out": len(outputs), "tags": [],
    }


if __name__ == "__main__":
    folder = sys.argv[1]
    # The lit runner leaves folders of this name alone.
    os.makedirs(os.path.join(folder, "Inputs"), exist_ok=True)
    texts = [(function, inputs, lowered(function, inputs)) for function, inputs in CASES]
    texts += [(function, inputs, exported(function, shapes, inputs)) for function, shapes, inputs in POLYMORPHIC]
    rows = ",\n".join(json.dumps(write(folder, *case)) for case in texts)
    with open(os.path.join(folder, "manifest.json"), "w") as file:
        file.write('{"format": 1, "jax": "%s", "cases": [\n%s\n]}\n' % (jax.__version__, rows))
