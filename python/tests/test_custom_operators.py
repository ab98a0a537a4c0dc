"""Operators of the user's own: functions of `aten`, and kernels in C, in `strata.load`, `torch.compile` and `strata.compile`."""

import subprocess
from pathlib import Path

import pytest
import torch

import strata

ROOT = Path(__file__).parents[2]
INPUTS = ROOT / "test/pipeline/Inputs"


@torch.library.custom_op("my::neighbours", mutates_args=())
def neighbours(x: torch.Tensor, factor: float) -> torch.Tensor:
    return factor * (x[:, :-1] + x[:, 1:])


@neighbours.register_fake
def _(x, factor):
    return x.new_empty(x.shape[0], x.shape[1] - 1)


def function(x):
    return neighbours(x * 2, 0.25).relu()


class Net(torch.nn.Module):
    def forward(self, x):
        return function(x)


@pytest.fixture
def library(tmp_path):
    path = tmp_path / "libkernels.so"
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{ROOT / 'runtime/include'}", "-o", path, INPUTS / "ops_kernels.c"], check=True)
    return path


@pytest.fixture
def given(library):
    return {"operators": INPUTS / "kernels.mlir", "op_libraries": [library]}


@pytest.fixture
def called(tmp_path):
    path, x = tmp_path / "net.pt2", torch.randn(3, 5)
    torch.export.save(torch.export.export(Net(), (x,)), path)
    return path, x


def test_an_export_that_calls_a_kernel(called, given):
    path, x = called
    torch.testing.assert_close(strata.load(path, **given)(x), function(x))


def test_libraries_must_be_the_ones_that_are_called(called, given, library):
    path, _ = called
    with pytest.raises(RuntimeError, match="calls `neighbours` of the library libkernels.so, which is not given"):
        strata.load(path, operators=given["operators"])
    other = library.with_name("libother.so")
    other.write_bytes(library.read_bytes())
    with pytest.raises(ValueError, match="op_libraries: .*libother.so: the program calls no kernel of it"):
        strata.load(path, operators=given["operators"], op_libraries=[library, other])
    with pytest.raises(FileNotFoundError):
        strata.load(path, operators=given["operators"], op_libraries=["gone.so"])


def test_compiled_graphs_call_kernels(given):
    x = torch.randn(4, 6)
    compiled = torch.compile(function, backend="strata", options={**given, "fallback": "error"})
    torch.testing.assert_close(compiled(x), function(x))
    # A graph that calls no kernel opens no library.
    plain = torch.compile(torch.relu, backend="strata", options={**given, "fallback": "error"})
    torch.testing.assert_close(plain(x), x.relu())


def test_a_recorded_function_calls_kernels_and_is_saved(given, tmp_path):
    x = torch.randn(4, 6)
    compiled = strata.compile(function, x, **given)
    torch.testing.assert_close(compiled(x), function(x))
    compiled.save(tmp_path / "function.strata")
    loaded = strata.load(tmp_path / "function.strata", op_libraries=given["op_libraries"])
    torch.testing.assert_close(loaded(x), function(x))
    with pytest.raises(ValueError, match="libkernels.so"):
        strata.load(tmp_path / "function.strata")


def test_what_is_not_registered_runs_in_eager_pytorch(given):
    x = torch.randn(4, 6)
    with pytest.warns(UserWarning, match="there is no rule for my.neighbours"):
        found = torch.compile(function, backend="strata")(x)
    torch.testing.assert_close(found, function(x))
    with pytest.raises(ValueError, match="op_libraries='libkernels.so' is no list of paths"):
        strata.Options(op_libraries="libkernels.so")
