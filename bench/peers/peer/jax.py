"""JAX: the exported program with a function of `jax.numpy` in the place of each ATen operator, compiled by `jax.jit`."""

import operator

import torch

from peer import Absent, Prepared, without_modes
from workloads import Workload


def prepare(work: Workload, mode: str | None, threads: int) -> Prepared:
    without_modes("jax", mode)
    try:
        import jax
    except ImportError as error:
        raise Absent(f"{error.name} is not installed") from None
    jax.config.update("jax_enable_x64", True)  # else float64 becomes float32
    weights, function = converted(jax, work.export())
    compiled = jax.jit(lambda weights, arguments: function(weights, arguments)[0])
    call = lambda *arguments: jax.block_until_ready(compiled(weights, arguments))  # noqa: E731
    arguments = [tuple(jax.numpy.asarray(each.numpy()) for each in values) for values in work.arguments()]
    return Prepared(call, arguments, lambda results: [torch.from_dlpack(each) for each in results])


def converted(jax, exported: torch.export.ExportedProgram):
    """The weights by name as JAX's arrays, and the program as a function of those and of the arguments: it gives the results, and what buffers become."""
    program = exported.run_decompositions()
    known = functions(jax)
    unknown = {str(node.target) for node in program.graph.nodes if node.op == "call_function" and node.target not in known}
    if unknown:
        raise Absent(f"bench/peers/peer/jax.py has no {', '.join(sorted(unknown))}")
    given, named = {**program.state_dict, **program.constants}, program.graph_signature
    held = {**named.inputs_to_parameters, **named.inputs_to_buffers, **named.inputs_to_lifted_tensor_constants}

    def function(weights, arguments):
        values = {place: weights[name] for place, name in held.items()}
        values |= zip(named.user_inputs, arguments)
        for node in program.graph.nodes:
            if node.op == "call_function":
                inputs, options = torch.fx.map_arg((node.args, node.kwargs), lambda each: values[each.name])
                values[node.name] = known[node.target](*inputs, **options)
        changed = {name: values[place] for place, name in named.buffers_to_mutate.items()}
        return [values[name] for name in named.user_outputs], changed

    return {name: jax.numpy.asarray(given[name].detach().numpy().copy()) for name in held.values()}, function


def functions(jax) -> dict:
    """The operators of the workloads; one that a new workload needs is a line here."""
    np, lax, nn, aten = jax.numpy, jax.lax, jax.nn, torch.ops.aten

    def convolution(x, w, bias, stride, padding, dilation, transposed, output_padding, groups):
        if transposed:
            raise Absent("bench/peers/peer/jax.py has no transposed convolutions")
        around = [(each, each) for each in padding]
        y = lax.conv_general_dilated(x, w, stride, around, rhs_dilation=dilation, feature_group_count=groups)
        return y if bias is None else y + bias.reshape(-1, *[1] * len(stride))

    def batch_norm(x, weight, bias, mean, variance, momentum, epsilon):
        over = lambda each: each.reshape(-1, *[1] * (x.ndim - 2))  # noqa: E731
        return ((x - over(mean)) * over(weight * lax.rsqrt(variance + epsilon)) + over(bias),)

    def batch_norm_of_batch(x, weight, bias, mean, variance, _, momentum, epsilon):
        axes = (0, *range(2, x.ndim))
        of_batch, around = x.mean(axes), x.var(axes)
        unbiased = around * (x.size / x.shape[1]) / (x.size / x.shape[1] - 1)
        update = lambda old, new: (1 - momentum) * old + momentum * lax.stop_gradient(new)  # noqa: E731
        return *batch_norm(x, weight, bias, of_batch, around, momentum, epsilon), None, None, update(mean, of_batch), update(variance, unbiased)

    def layer_norm(x, sizes, weight, bias, epsilon):
        axes = tuple(range(-len(sizes), 0))
        middle = x - x.mean(axes, keepdims=True)
        return (middle * lax.rsqrt((middle * middle).mean(axes, keepdims=True) + epsilon) * weight + bias,)

    def max_pool(x, sizes, stride, padding=(0, 0)):
        around = ((0, 0), (0, 0), *((each, each) for each in padding))
        return (lax.reduce_window(x, -np.inf, lax.max, (1, 1, *sizes), (1, 1, *stride), around),)

    def part(x, dim, start, end, step=1):
        return lax.slice_in_dim(x, start or 0, min(x.shape[dim] if end is None else end, x.shape[dim]), step, dim)

    def expanded(x, sizes):
        return np.broadcast_to(x, [old if new == -1 else new for old, new in zip((1,) * (len(sizes) - x.ndim) + x.shape, sizes)])

    def numbers(start, end, step=1, **_):
        return np.arange(start, end, step)

    return {
        operator.getitem: operator.getitem,
        aten._log_softmax.default: lambda x, dim, _: nn.log_softmax(x, dim),
        aten._native_batch_norm_legit_functional.default: batch_norm_of_batch,
        aten._native_batch_norm_legit_no_training.default: batch_norm,
        aten._softmax.default: lambda x, dim, _: nn.softmax(x, dim),
        aten._to_copy.default: lambda x, dtype=torch.float32, **_: x.astype(str(dtype).removeprefix("torch.")),
        aten.add.Tensor: operator.add,
        aten.addmm.default: lambda bias, x, y: x @ y + bias,
        aten.any.dim: lambda x, dim, keep=False: np.any(x, dim, keepdims=keep),
        aten.arange.start_step: numbers,
        aten.bmm.default: operator.matmul,
        aten.cat.default: np.concatenate,
        aten.clamp.default: np.clip,
        aten.clone.default: lambda x, **_: x,
        aten.convolution.default: convolution,
        aten.cos.default: np.cos,
        aten.div.Tensor: operator.truediv,
        aten.embedding.default: lambda weight, index, *_: weight[index],
        aten.eq.Scalar: operator.eq,
        aten.exp.default: np.exp,
        aten.expand.default: expanded,
        aten.full.default: lambda sizes, value, dtype=torch.float32, **_: np.full(sizes, value, str(dtype).removeprefix("torch.")),
        aten.full_like.default: lambda x, value, **_: np.full_like(x, value),
        aten.gather.default: lambda x, dim, index: np.take_along_axis(x, index, dim),
        aten.ge.Scalar: operator.ge,
        aten.gelu.default: lambda x, approximate="none": nn.gelu(x, approximate != "none"),
        aten.logical_not.default: np.logical_not,
        aten.max_pool2d_with_indices.default: max_pool,
        aten.mean.dim: lambda x, dims, keep=False: x.mean(tuple(dims), keepdims=keep),
        aten.mm.default: operator.matmul,
        aten.mul.Scalar: operator.mul,
        aten.mul.Tensor: operator.mul,
        aten.native_layer_norm.default: layer_norm,
        aten.ne.Scalar: operator.ne,
        aten.neg.default: operator.neg,
        aten.permute.default: np.transpose,
        aten.pow.Tensor_Scalar: operator.pow,
        aten.relu.default: nn.relu,
        aten.scalar_tensor.default: lambda value, dtype=torch.float32, **_: np.asarray(value, str(dtype).removeprefix("torch.")),
        aten.select.int: lambda x, dim, index: np.take(x, index, dim),
        aten.sigmoid.default: nn.sigmoid,
        aten.sin.default: np.sin,
        aten.slice.Tensor: part,
        aten.split_with_sizes.default: lambda x, sizes, dim=0: np.split(x, [sum(sizes[:k]) for k in range(1, len(sizes))], dim),
        aten.sqrt.default: np.sqrt,
        aten.squeeze.dims: lambda x, dims: np.squeeze(x, tuple(dim for dim in dims if x.shape[dim] == 1)),
        aten.sub.Tensor: operator.sub,
        aten.sum.dim_IntList: lambda x, dims, keep=False: x.sum(tuple(dims) or None, keepdims=keep),
        aten.tanh.default: np.tanh,
        aten.unsqueeze.default: np.expand_dims,
        aten.var.correction: lambda x, dims, correction=1: x.var(tuple(dims), ddof=correction),
        aten.view.default: np.reshape,
        aten.where.self: np.where,
    }
