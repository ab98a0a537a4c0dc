"""Padding of transposed tensors, slices of padding alone among them, compared with eager PyTorch."""

import pytest
import torch
from torch.nn import functional

from comparison import agrees


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.uint8, torch.complex64], ids=str)
@pytest.mark.parametrize("widths", [[1, 1, 1, 1, 1, 1], [0, 3, 2, 0, 1, 2], [0, 0, 0, 0, 2, 1], [5, -2, -3, 4, 1, 0]], ids=str)
def test_padding_of_a_transpose(widths, dtype):
    x = torch.randint(0, 9, (2, 70, 50)).to(dtype)
    agrees(lambda x: functional.pad(x.transpose(1, 2), widths, value=1.0), x)
