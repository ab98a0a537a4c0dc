"""Quotients, remainders and divisors of integers of all sizes, compared with eager PyTorch."""

import pytest
import torch

from comparison import agrees

DTYPES = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]

FUNCTIONS = {
    "floor": lambda a, b: a // b,
    "truncate": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "remainder": lambda a, b: a % b,
    "fmod": torch.fmod,
    "one divisor": lambda a, b: a // b.reshape(-1)[0],
}


def pairs(dtype, bound, count):
    """Dividends of any size, multiples of divisors and their neighbours, and divisors other than 0."""
    info = torch.iinfo(dtype)
    low, high = max(info.min + 1, -bound), min(info.max, bound)
    torch.manual_seed(count)
    a, b = (torch.randint(low, high, (count,), dtype=torch.int64) for _ in range(2))
    b[b == 0] = 1
    multiples = b * ((high - 1) // b.abs().clamp(min=1)).clamp(max=99)
    near = torch.arange(count) % 4
    a = torch.where(near == 3, a, multiples + torch.where(multiples < 0, near, -near) * (near < 3))
    return a.clamp(low, high).to(dtype), b.to(dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("bound", [4, 100, 2**53, 2**63 - 1])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_division(name, bound, dtype):
    for count in (5, 33, 1000):
        agrees(FUNCTIONS[name], *pairs(dtype, bound, count))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("bound", [4, 100, 2**53, 2**63 - 1])
def test_common_divisors(bound, dtype):
    for count in (5, 1000):
        a, b = pairs(dtype, bound, count)
        agrees(torch.gcd, a, b)
        agrees(torch.gcd, a * 0, b)
        agrees(torch.lcm, a, b)
        agrees(torch.lcm, a * 0, b * 0)
