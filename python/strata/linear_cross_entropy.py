"""`torch.nn.functional.linear_cross_entropy` in chunks. PyTorch computes these in Python, by operators that its tracers do not look into.

A compiled program has the layer and the loss that they stand for. What chunks are for, less memory, is for the compiler to find.
"""

import torch
import torch.nn.functional as F
import torch.nn.modules.linear_cross_entropy  # which defines the operators


def linear_cross_entropy(input, linear_weight, target, *, options=None, **named):
    """PyTorch's function; with options as their operators compute it."""
    loss = F.linear_cross_entropy if options is None else _widened
    return loss(input, linear_weight, target, **named)


def _widened(input, linear_weight, target, *, linear_bias=None, weight=None, **named):
    """Chunks of halves have their logits in f32."""
    dtype = torch.float32 if input.dtype in (torch.float16, torch.bfloat16) else input.dtype
    input_, layer, bias, weight = (None if each is None else each.to(dtype) for each in (input, linear_weight, linear_bias, weight))
    target = target.to(dtype) if target.is_floating_point() else target
    return F.linear_cross_entropy(input_, layer, target, linear_bias=bias, weight=weight, **named).to(input.dtype)


def _of_operator(input, linear_weight, target, linear_bias, weight, reduction, ignore_index, label_smoothing):
    # Probabilities have no class to ignore, and PyTorch refuses one.
    ignored = None if target.is_floating_point() else ignore_index
    named = {"reduction": reduction, "ignore_index": ignored, "label_smoothing": label_smoothing}
    return _widened(input, linear_weight, target, linear_bias=linear_bias, weight=weight, **named)


def _scalar(input, linear_weight, target, linear_bias, weight, reduction, ignore_index, label_smoothing, *_):
    """The loss, which its gradients follow in the operator."""
    return (_of_operator(input, linear_weight, target, linear_bias, weight, reduction, ignore_index, label_smoothing),)


def _each(input, linear_weight, target, linear_bias, weight, ignore_index, *_):
    return _of_operator(input, linear_weight, target, linear_bias, weight, "none", ignore_index, 0.0)


_operators = torch.ops.torch_nn
CHUNKED = {
    F.linear_cross_entropy: linear_cross_entropy,
    _operators._linear_cross_entropy_batch_chunked.default: _scalar,
    _operators._linear_cross_entropy_batch_chunked_no_reduction.default: _each,
}
