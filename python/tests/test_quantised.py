"""Quantised networks, as torchao's PyTorch 2 export writes them."""

import copy

import pytest
import torch
from torch import nn
from torch.nn import functional

import strata
from comparison import compiled, native

pytest.importorskip("torchao.quantization.pt2e")  # registers the operators
OPS = torch.ops.quantized_decomposed
UNSIGNED, SIGNED = (0, 255, torch.uint8), (-128, 127, torch.int8)


def again(x, scale, zero, kind=UNSIGNED):
    return OPS.dequantize_per_tensor(OPS.quantize_per_tensor(x, scale, zero, *kind), scale, zero, *kind)


class Quantised(nn.Module):
    """A layer with weights of 8 bits, one scale for each feature. Scales are powers of two, so that sums are exact in f32 too."""

    def __init__(self, weight, function, zero=0, kind=UNSIGNED):
        super().__init__()
        self.register_buffer("weight", weight)
        self.register_buffer("scales", torch.pow(2.0, torch.arange(weight.shape[0]) % 3 - 6.0))
        self.register_buffer("zeros", torch.zeros(weight.shape[0], dtype=torch.int64))
        self.function, self.zero, self.kind = function, zero, kind

    def forward(self, x):
        weight = OPS.dequantize_per_channel(self.weight, self.scales, self.zeros, 0, *SIGNED)
        return self.function(again(x, 0.0625, self.zero, self.kind), weight)


def weights(*sizes):
    return torch.randint(-20, 20, sizes, dtype=torch.int8)


LAYERS = {
    "linear": (lambda: Quantised(weights(48, 64), functional.linear, 9), (20, 64)),
    "linear_signed": (lambda: Quantised(weights(48, 64), functional.linear, -7, SIGNED), (3, 20, 64)),
    "row": (lambda: Quantised(weights(300, 64), functional.linear, 9), (1, 64)),
    "odd": (lambda: Quantised(weights(51, 67), functional.linear), (37, 67)),
    "conv": (lambda: Quantised(weights(48, 16, 3, 3), lambda x, w: functional.conv2d(x, w, padding=1), 5), (2, 16, 12, 12)),
    "conv_signed": (lambda: Quantised(weights(32, 16, 3, 3), lambda x, w: functional.conv2d(x, w, padding=1, stride=2), 5, SIGNED), (2, 16, 13, 13)),
    "pointwise": (lambda: Quantised(weights(64, 32, 1, 1), functional.conv2d), (1, 32, 28, 28)),
    "image": (lambda: Quantised(weights(32, 3, 5, 5), lambda x, w: functional.conv2d(x, w, padding=2), 100), (1, 3, 20, 20)),
    "groups": (lambda: Quantised(weights(32, 8, 3, 3), lambda x, w: functional.conv2d(x, w, groups=2)), (2, 16, 8, 8)),
    "transposed": (lambda: Quantised(weights(16, 24, 3, 3), lambda x, w: functional.conv_transpose2d(x, w, stride=2), 5), (2, 16, 7, 7)),
    "line": (lambda: Quantised(weights(32, 16, 3), lambda x, w: functional.conv1d(x, w, padding=2, dilation=2), 3), (2, 16, 40)),
}


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("options", [{}, {"freeze": False}, {"numerics": "strict"}])
def test_a_layer_gives_what_floats_give(name, options):
    make, sizes = LAYERS[name]
    layer, x = make(), torch.randn(sizes) * 3
    with torch.no_grad():
        torch.testing.assert_close(compiled(layer, options=options)(x), layer(x), rtol=0, atol=0)
    native()


def test_layers_in_a_row_and_a_sum_of_two():
    first, second, third = (Quantised(weights(32, 32, 1, 1), functional.conv2d) for _ in range(3))

    def network(x):
        y = functional.relu(first(x))
        return again(functional.relu(again(second(y), 0.25, 0) + again(third(y), 0.25, 0)), 0.5, 0)

    x = torch.randn(2, 32, 9, 9)
    with torch.no_grad():
        torch.testing.assert_close(compiled(network)(x), network(x), rtol=0, atol=0)
        torch.testing.assert_close(strata.compile(network)(x), network(x), rtol=0, atol=0)
    native()


def test_other_weights_with_the_same_zero_points_are_taken_and_other_zero_points_are_an_error():
    layer, x = Quantised(weights(48, 64), functional.linear, 9), torch.randn(20, 64)
    other = copy.deepcopy(layer)
    other.weight.copy_(weights(48, 64))
    run = compiled(layer)
    with torch.no_grad():
        run(x)
        layer.load_state_dict(other.state_dict())
        torch.testing.assert_close(run(x), other(x), rtol=0, atol=0)
        layer.zeros[3] = 2
        with pytest.raises(RuntimeError, match="the zero points .* are not all 0"):
            run(x)


def test_weights_that_the_graph_holds():
    layer, x = Quantised(weights(48, 64), functional.linear, 9), torch.randn(20, 64)
    with torch.no_grad(), torch._dynamo.config.patch(inline_inbuilt_nn_modules=False):
        torch.testing.assert_close(compiled(layer)(x), layer(x), rtol=0, atol=0)
    native()


def test_zero_points_that_differ_stay():
    layer, x = Quantised(weights(48, 64), functional.linear, 9), torch.randn(20, 64)
    layer.zeros.copy_(torch.arange(48) % 5 - 2)
    with torch.no_grad():
        torch.testing.assert_close(compiled(layer)(x), layer(x), rtol=0, atol=0)
        layer.zeros.copy_(torch.arange(48) % 3)
        torch.testing.assert_close(compiled(layer)(x), layer(x), rtol=0, atol=0)
    native()
