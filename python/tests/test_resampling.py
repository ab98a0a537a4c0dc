"""Elements at computed places that lie near each other: resampling and selection along rows, compared with eager PyTorch."""

import pytest
import torch
from torch.nn import functional

from comparison import agrees, compiled

SIZES = [([40], [100]), ([7], [65]), ([33], [17]), ([16, 31], [17, 16]), ([17, 5], [50, 33]), ([5, 2, 33], [3, 5, 50])]
"""Of images, and what they become: larger and smaller, of fewer elements than a register has and of many."""

BITS = [torch.float64, torch.float32, torch.bfloat16, torch.uint8]
"""One type for each size of an element."""

LINEAR = {1: "linear", 2: "bilinear", 3: "trilinear"}


def image(sizes, dtype):
    torch.manual_seed(sum(sizes))
    return (torch.rand(2, 3, *sizes) * 200).to(dtype)


@pytest.mark.parametrize("dtype", BITS, ids=str)
@pytest.mark.parametrize(("before", "after"), SIZES, ids=str)
@pytest.mark.parametrize("mode", ["nearest", "nearest-exact"])
def test_nearest(mode, before, after, dtype):
    if dtype == torch.uint8 and len(before) == 1:
        pytest.skip("PyTorch has none for rows of bytes")
    agrees(lambda x: functional.interpolate(x, after, mode=mode), image(before, dtype))


def test_nearest_between_pixels_with_their_channels():
    for dtype in BITS[1:]:
        pixels = image([16, 31], dtype).contiguous(memory_format=torch.channels_last)
        agrees(lambda x: functional.interpolate(x, [17, 70]), pixels)


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize(("before", "after"), SIZES, ids=str)
def test_linear(before, after, corners):
    agrees(lambda x: functional.interpolate(x, after, mode=LINEAR[len(before)], align_corners=corners), image(before, torch.float32))


@pytest.mark.parametrize("dtype", [*BITS, torch.bool, torch.complex64], ids=str)
@pytest.mark.parametrize("size", [3, 17, 64, 1000])
def test_selection_along_rows(size, dtype):
    rows = torch.randint(0, 2 if dtype == torch.bool else 100, (7, size)).to(dtype)
    places = torch.randint(-size, size, (83,))
    orders = [places, places.sort().values, torch.arange(83) % size, (torch.arange(83) % size).flip(0), torch.full((83,), size - 1)]
    for order in orders:
        agrees(lambda rows, order: rows[:, order], rows, order)
    agrees(lambda rows, places: rows[0][places], rows, places.expand(5, 83).contiguous())
    agrees(lambda rows: rows.repeat_interleave(3, 1), rows)


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize(("before", "after"), [([27, 63], [20, 40]), ([27, 63], [40, 90]), ([60, 60], [5, 33])], ids=str)
def test_bytes_without_aliases_are_rounded(before, after, mode):
    pixels = image(before, torch.uint8)
    found = compiled(lambda x: functional.interpolate(x, after, mode=mode, antialias=True))(pixels)
    wanted = functional.interpolate(pixels, after, mode=mode, antialias=True)
    # PyTorch's weights are whole numbers, whose last bit may say something else of a half.
    off = (found.int() - wanted.int()).abs()
    assert off.max() <= 1 and off.float().mean() < 0.02
