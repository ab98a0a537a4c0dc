"""Dense linear algebra in a process of PyTorch, whose LAPACK computes it, compared with eager PyTorch."""

import os
import signal
import subprocess
import sys

import pytest
import torch
from torch import linalg

from comparison import compiled, native

DTYPES = (torch.float32, torch.float64, torch.complex64, torch.complex128)
SIZES = ((5, 5), (40, 40), (130, 130), (3, 2, 21, 21), (7, 1, 1))
"""Ours up to a few rows and those of LAPACK, in one and in two precisions, a batch, and numbers."""

HERMITIAN = {
    "cholesky": linalg.cholesky,
    "upper cholesky": lambda a: linalg.cholesky(a, upper=True),
    "ldl_factor": lambda a: linalg.ldl_factor(a - 2 * torch.eye(a.shape[-1], dtype=a.dtype), hermitian=True),
    "ldl_factor of symmetric ones": lambda a: linalg.ldl_factor((a + a.mT) / 2),
    "ldl_solve": lambda a: linalg.ldl_solve(*linalg.ldl_factor(a, hermitian=True), a[..., :3], hermitian=True),
    "ldl_solve of symmetric ones": lambda a: linalg.ldl_solve(*linalg.ldl_factor((a + a.mT) / 2), a[..., :3]),
    "eigvalsh": linalg.eigvalsh,
    "eigh put together": lambda a: (lambda w, v: v @ (w.unsqueeze(-1) * v.mH))(*linalg.eigh(a)),
}
GENERAL = {
    "lu_factor": lambda a: linalg.lu_factor(a),
    "lu of tall ones": lambda a: linalg.lu_factor(a[..., :7]),
    "lu of wide ones": lambda a: linalg.lu_factor(a[..., :7, :]),
    "inv": linalg.inv,
    "slogdet": linalg.slogdet,
    "solve": lambda a: linalg.solve(a, a.mT[..., :3]),
    "solve from the right": lambda a: linalg.solve(a, a[..., :3, :], left=False),
    "upper triangle": lambda a: linalg.solve_triangular(a.triu(), a.mT[..., :4], upper=True),
    "lower triangle with ones": lambda a: linalg.solve_triangular(a.tril(), a.mT[..., :4], upper=False, unitriangular=True),
    "triangle from the right": lambda a: linalg.solve_triangular(a.tril(), a[..., :4, :], upper=False, left=False),
    "triangle for one column": lambda a: linalg.solve_triangular(a.tril(), a[..., :1], upper=False),
    "geqrf": torch.geqrf,
    "qr of tall ones": lambda a: linalg.qr(a[..., :7]),
    "complete qr of tall ones": lambda a: linalg.qr(a[..., :7], mode="complete"),
    "qr of wide ones": lambda a: linalg.qr(a[..., :7, :]),
    "householder_product": lambda a: linalg.householder_product(*torch.geqrf(a)),
    "householder_product of none": lambda a: linalg.householder_product(a, a[..., 0, :0]),
    "householder_product of fewer": lambda a: (lambda v, t: linalg.householder_product(v, t[..., :2]))(*torch.geqrf(a)),
    "svdvals": linalg.svdvals,
    "svdvals of tall ones": lambda a: linalg.svdvals(a[..., :5]),
    "svd put together": lambda a: (lambda u, s, vh: u @ (s.unsqueeze(-1) * vh))(*linalg.svd(a, full_matrices=False)),
    "svd of wide ones": lambda a: (lambda u, s, vh: (u.mH @ u, s, vh @ vh.mH))(*linalg.svd(a[..., :4, :])),
    "eigvals in order": lambda a: linalg.eigvals(a).abs().sort().values,
    "eig": lambda a: (lambda w, v: v * w.unsqueeze(-2) - a.to(v.dtype) @ v)(*linalg.eig(a)),
    "matrix_exp": lambda a: linalg.matrix_exp(a / a.shape[-1]),
}


def made(sizes, dtype):
    torch.manual_seed(sum(sizes))
    return torch.randn(sizes, dtype=dtype) + 2 * torch.eye(sizes[-1], dtype=dtype)


def close(found, wanted, dtype):
    single = dtype in (torch.float32, torch.complex64)
    torch.testing.assert_close(found, wanted, rtol=2e-3 if single else 1e-8, atol=2e-3 if single else 1e-8)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("name", HERMITIAN)
def test_a_hermitian_matrix(name, sizes, dtype):
    a = made(sizes, dtype)
    a = a @ a.mH / sizes[-1] + torch.eye(sizes[-1], dtype=dtype)
    close(compiled(HERMITIAN[name])(a), HERMITIAN[name](a), dtype)
    native(1)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("name", GENERAL)
def test_a_general_matrix(name, sizes, dtype):
    a = made(sizes, dtype)
    close(compiled(GENERAL[name])(a), GENERAL[name](a), dtype)
    native(1)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_it_is_the_lapack_of_pytorch(dtype):
    """Vectors are free in their signs, so only one library agrees with itself."""
    a = made((130, 130), dtype)
    # (In single precision the last bits decide the order of general eigenvalues, and where memory begins decides those.)
    eig = [linalg.eig] if dtype in (torch.float64, torch.complex128) else []
    for function in (linalg.svd, lambda a: linalg.eigh(a @ a.mH.clone()), *eig):
        found, wanted = compiled(function)(a), function(a)
        close(tuple(found), tuple(wanted), dtype)


def test_a_matrix_without_a_factor():
    a = torch.eye(40, dtype=torch.float64)
    a[30, 30] = -1.0
    l, info = compiled(linalg.cholesky_ex)(a)
    assert info == 31
    assert torch.equal(l[:30, :30], torch.eye(30, dtype=torch.float64)), l
    with pytest.raises(RuntimeError, match="order 31"):
        compiled(linalg.cholesky)(a)


def test_a_pivot_of_zero():
    a = made((40, 40), torch.float64)
    a[:, 20] = 0.0
    assert compiled(lambda a: linalg.lu_factor_ex(a))(a).info == linalg.lu_factor_ex(a).info == 21
    with pytest.raises(RuntimeError, match="singular"):
        compiled(linalg.inv)(a)
    triangle = a.triu()
    solve = lambda a: linalg.solve_triangular(a, torch.ones(40, 2, dtype=torch.float64), upper=True)
    assert torch.equal(compiled(solve)(triangle).isfinite(), solve(triangle).isfinite())


def test_numbers_that_are_not_finite():
    a = torch.full((40, 40), float("nan"))
    assert compiled(linalg.cholesky_ex)(a).info != 0
    assert not compiled(lambda a: linalg.lu_factor_ex(a))(a)[0].isfinite().any()


def test_a_process_that_was_forked_off():
    """PyTorch's threads stay in the other process: a library that waits for them would wait for ever."""
    a = made((130, 130), torch.float64)
    run = compiled(lambda a: (linalg.svdvals(a), torch.fft.rfft(a).abs()))
    wanted = run(a)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        found = run(a)
        os._exit(0 if all(torch.allclose(x, y) for x, y in zip(found, wanted)) else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex64])
@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_many_reflections_are_applied_in_panels(left, adjoint, dtype):
    a, other = made((300, 300), dtype), made((300, 300), dtype)[:, :5]
    packed, taus = torch.geqrf(a)
    other = other if left else other.mT
    function = lambda packed, taus, other: torch.ormqr(packed, taus, other, left=left, transpose=adjoint)  # noqa: E731
    close(compiled(function)(packed, taus, other), function(packed, taus, other), dtype)


def test_matrices_of_a_batch_are_factored_where_the_number_of_threads_is_set():
    """`torch.set_num_threads` sets MKL's as well, whose factors are wrong on the threads of a parallel region, if they come at all: eager PyTorch's are,
    too. The process is one of its own, since nothing takes the number back."""
    program = """
import torch
torch.set_num_threads(2)
x = torch.randn(6, 193, 193)
p, l, u = torch.compile(torch.linalg.lu, backend="strata", options={"fallback": "error"})(x)
torch.testing.assert_close(p @ l @ u, x, rtol=1e-4, atol=1e-4)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
