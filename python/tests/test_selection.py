"""Places that data decides: masks, repetitions, scatters, windows, compared with eager PyTorch."""

import pytest
import torch
from torch.nn import functional

from comparison import agrees

MASKS = (0.0, 0.01, 0.5, 1.0)
"""How much of a mask is true."""


def mask(sizes, share):
    torch.manual_seed(sum(sizes))
    return torch.rand(sizes) < share


@pytest.mark.parametrize("share", MASKS)
@pytest.mark.parametrize("sizes", [(7,), (40, 33), (3, 5, 70_001)], ids=str)
def test_what_a_mask_selects(sizes, share):
    chosen = mask(sizes, share)
    agrees(lambda x, chosen: x[chosen], torch.randn(sizes), chosen)
    agrees(lambda chosen: torch.nonzero(chosen), chosen)


def test_positions_of_a_number_that_is_given():
    for size in (0, 2, 40):
        agrees(lambda x: torch.nonzero_static(x, size=size, fill_value=-5), mask((6, 5), 0.5).float())


@pytest.mark.parametrize("repeats", [[2, 0, 3], [0, 0, 0, 4], [0], [1, 0, 0], []], ids=str)
def test_repetitions(repeats):
    repeats = torch.tensor(repeats, dtype=torch.long)
    agrees(lambda x, repeats: torch.repeat_interleave(x, repeats, dim=0), torch.randn(len(repeats), 3), repeats)


def test_many_repetitions():
    repeats = torch.randint(0, 9, (5000,), generator=torch.Generator().manual_seed(0))
    agrees(lambda repeats: torch.repeat_interleave(repeats), repeats)


@pytest.mark.parametrize("reduce", ["sum", "prod", "mean", "amax", "amin"])
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_scatters_to_fewer_rows_than_there_are(reduce, dim):
    torch.manual_seed(0)
    x, source = torch.randn(30, 21, 17), torch.randn(25, 20, 11)
    index = torch.randint(0, x.shape[dim], source.shape)
    agrees(lambda x, index, source: x.scatter_reduce(dim, index, source, reduce), x, index, source)
    agrees(lambda x, index: x.scatter(dim, index, 1.5), x, index)


@pytest.mark.parametrize("accumulate", [False, True])
def test_elements_are_put_into_transposed_tensors(accumulate):
    x, index = torch.randn(9, 7, 5).transpose(0, 2), torch.tensor([3, -1, 40, 3, 314])
    agrees(lambda x, index: x.put(index, torch.full((5,), 1.5), accumulate=accumulate), x, index)


@pytest.mark.parametrize("output", [(5, 9), (12, 3), (12, 9), (1, 4), (7, 9)], ids=str)
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_largest_of_adaptive_windows(output, layout):
    x = torch.randn(2, 6, 12, 9).round(decimals=1).to(memory_format=layout)
    agrees(lambda x: functional.adaptive_max_pool2d(x, output, return_indices=True), x)
    agrees(lambda x: functional.adaptive_max_pool3d(x.unsqueeze(2), (1, *output), return_indices=True), x)


def test_only_rows_that_are_read_are_scaled():
    table = 3 * torch.randn(50, 8)
    agrees(lambda index, table: functional.embedding(index, table, max_norm=1.0), torch.tensor([[1, 7, 1], [49, 0, 7]]), table)


@pytest.mark.parametrize("sizes", [(1, 70_001, 1), (1, 33, 1), (600, 129, 1), (3, 5000, 1), (1, 3000, 3)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_products_with_few_columns(sizes, dtype):
    torch.manual_seed(1)
    rows, steps, columns = sizes
    x, y = torch.randn(rows, steps, dtype=dtype) / steps**0.5, torch.randn(steps, columns, dtype=dtype)
    found = torch.compile(torch.mm, backend="strata")(x, y)
    exact = (x.double() @ y.double()).to(dtype)
    torch.testing.assert_close(found, exact, rtol=2e-3 if dtype is torch.float16 else 1e-4, atol=2e-3 if dtype is torch.float16 else 1e-4)


@pytest.mark.parametrize("sizes", [(40, 30, 37), (3, 200, 128), (64, 5, 9), (40, 6, 300)], ids=str)
def test_scans_down_columns(sizes):
    x = torch.randn(sizes, dtype=torch.float64)
    agrees(lambda x: (x.cumsum(1), x.cummax(1), x.logcumsumexp(1), x.cumsum(0)), x)


def test_powers_of_a_vector():
    for increasing in (False, True):
        agrees(lambda x: torch.linalg.vander(x, N=6), torch.randn(4, 5))
        agrees(lambda x: torch.vander(x, 4, increasing=increasing), torch.randint(-4, 5, (7,)))
        agrees(lambda x: torch.vander(x, increasing=increasing), torch.randn(3))


def test_an_output_size_that_the_repeats_do_not_have():
    repeated = torch.compile(lambda x, repeats: torch.repeat_interleave(x, repeats, output_size=4), backend="strata")
    assert repeated(torch.arange(3.0), torch.tensor([1, 0, 3])).tolist() == [0, 2, 2, 2]
    with pytest.raises(RuntimeError, match="the repeats add up to 3, and the output size is 4"):
        repeated(torch.arange(3.0), torch.tensor([1, 0, 2]))
