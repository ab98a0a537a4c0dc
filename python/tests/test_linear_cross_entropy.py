"""`torch.nn.functional.linear_cross_entropy`, with and without chunks, beside eager PyTorch."""

import pytest
import torch
import torch.nn.functional as F
from comparison import compiled, native, same

import strata

CHUNKS = torch.nn.LinearCrossEntropyOptions(batch_chunk_size=2, allow_retain_graph=True)
CASES = {
    "whole": {},
    "mean": {"options": CHUNKS},
    "sum": {"options": CHUNKS, "reduction": "sum"},
    "none": {"options": CHUNKS, "reduction": "none"},
    "ignored": {"options": CHUNKS, "ignore_index": 1},
    "weights": {"options": CHUNKS, "reduction": "none", "weight": torch.rand(5), "linear_bias": torch.randn(5)},
    "probabilities": {"options": CHUNKS, "target": torch.rand(7, 5).softmax(1), "linear_bias": torch.randn(5)},
    "one": {"options": CHUNKS, "reduction": "none", "input": torch.randn(4), "target": torch.tensor(2)},
}


def _case(name: str):
    """A loss as a function of the input and the layer, and these."""
    named = dict(CASES[name])
    x, target = named.pop("input", torch.randn(7, 4)), named.pop("target", torch.tensor([0, 1, 4, 2, 1, 3, 0]))
    return lambda x, w: F.linear_cross_entropy(x, w, target, **named).square().sum(), x, torch.randn(5, 4)


def _eager(function, *arguments):
    given = [each.clone().requires_grad_() for each in arguments]
    value = function(*given)
    return value.detach(), torch.autograd.grad(value, given)


@pytest.mark.parametrize("name", CASES)
def test_it_is_native_in_training_and_without(name):
    function, x, w = _case(name)
    value, gradients = _eager(function, x, w)
    found, mine = _eager(compiled(function, options={"fallback": "error"}), x, w)
    same((found, mine), (value, gradients))
    native(2)
    with torch.no_grad():
        same(compiled(function, options={"fallback": "error"})(x, w), value)


@pytest.mark.parametrize("name", CASES)
def test_it_is_recorded_with_its_gradient(name):
    function, x, w = _case(name)
    value, gradients = _eager(function, x, w)
    same(strata.value_and_grad(function, (0, 1))(x, w), (value, gradients))
    same(strata.compile(function)(x, w), value)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_chunks_of_halves_have_their_logits_in_f32(dtype):
    x, w, target = torch.randn(6, 8, dtype=dtype), torch.randn(5, 8, dtype=dtype), torch.tensor([0, 1, 4, 2, 1, 3])
    function = lambda x, w: F.linear_cross_entropy(x, w, target, options=CHUNKS)  # noqa: E731
    value, gradients = _eager(function, x, w)
    for found in (_eager(compiled(function), x, w), strata.value_and_grad(function, (0, 1))(x, w)):
        torch.testing.assert_close(found, (value, gradients))


class Loss(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.forward = function


def _loaded(function, *arguments, path):
    torch.export.save(torch.export.export(Loss(function), arguments), path)
    return strata.load(path)(*arguments)


@pytest.mark.parametrize("name", CASES)
def test_it_is_exported(name, tmp_path):
    function, x, w = _case(name)
    same(_loaded(function, x, w, path=tmp_path / "loss.pt2"), function(x, w))


@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_halves_are_exported(reduction, tmp_path):
    x, w, target = torch.randn(6, 8).half(), torch.randn(5, 8).half(), torch.tensor([0, 1, 4, 2, 1, 3])
    function = lambda x, w: F.linear_cross_entropy(x, w, target, options=CHUNKS, reduction=reduction)  # noqa: E731
    torch.testing.assert_close(_loaded(function, x, w, path=tmp_path / "loss.pt2"), function(x, w))


def test_exported_gradients_are_refused(tmp_path):
    operator = torch.ops.torch_nn._linear_cross_entropy_batch_chunked.default
    x, w, target = torch.randn(6, 8), torch.randn(5, 8), torch.tensor([0, 1, 4, 2, 1, 3])
    arguments = (None, None, "mean", -100, 0.0, 2, "compact", torch.float32, True, True, True, False)
    with pytest.raises(RuntimeError, match="its gradients are used, and only the loss is imported"):
        _loaded(lambda x, w: operator(x, w, target, *arguments)[:2], x, w, path=tmp_path / "loss.pt2")
