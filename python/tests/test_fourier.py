"""Fourier transforms in a process of PyTorch, whose MKL computes some lengths, compared with eager PyTorch."""

import pytest
import torch
from torch import fft

from comparison import compiled, native

LENGTHS = (1, 2, 3, 5, 6, 11, 16, 17, 22, 34, 49, 81, 100, 513, 1009)
"""Products of small primes and others, even and odd, short and long."""


def close(found, wanted):
    single = wanted.dtype in (torch.float32, torch.complex64)
    torch.testing.assert_close(found, wanted, rtol=1e-4 if single else 1e-10, atol=1e-4 if single else 1e-10)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("n", LENGTHS)
def test_lines_of_a_length(n, dtype):
    def both_ways(x, z):
        spectrum = fft.rfft(x, norm="ortho")
        return fft.fft(z, norm="ortho"), fft.ifft(z, norm="ortho"), spectrum, fft.irfft(spectrum, n=n, norm="ortho"), fft.hfft(z, n=n, norm="ortho")

    # (The imaginary parts that a real line cannot have are not looked at.)
    x, z = torch.randn(3, n, dtype=dtype), torch.randn(3, n, dtype=dtype.to_complex())
    for found, wanted in zip(compiled(both_ways)(x, z), both_ways(x, z)):
        close(found, wanted)
    native(1)


@pytest.mark.parametrize("dims", [(0,), (1,), (0, 1), (1, 2), (0, 1, 2)], ids=str)
def test_lines_along_other_dims(dims):
    def along(x, z):
        return fft.fftn(z, dim=dims), fft.rfftn(x, dim=dims), fft.irfftn(z, s=[2 * z.shape[dim] - 1 for dim in dims], dim=dims, norm="ortho")

    x, z = torch.randn(6, 20, 15), torch.randn(6, 20, 15, dtype=torch.complex64)
    for found, wanted in zip(compiled(along)(x, z), along(x, z)):
        close(found, wanted)
    native(1)


def test_lengths_that_a_call_decides():
    run = compiled(lambda x: fft.irfft(fft.rfft(x) * 2, n=x.shape[-1]), dynamic=True)
    for n in (12, 33, 100, 34):
        x = torch.randn(5, n)
        close(run(x), x * 2)
