"""Extensions on PyTorch's stable ABI, built with PyTorch's headers: exported programs call them in a process without PyTorch."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
from torch.utils.cpp_extension import include_paths, library_paths

import strata

ROOT = Path(__file__).parents[2]
TOOLS = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug"


@pytest.fixture(scope="module")
def extension(tmp_path_factory):
    """The extension, which links libtorch as every extension does."""
    if not shutil.which("c++"):
        pytest.skip("there is no C++ compiler here")
    path = tmp_path_factory.mktemp("extension") / "libext.so"
    headers = [f"-I{each}" for each in include_paths()]
    libraries = [f"-L{each}" for each in library_paths()]
    source = Path(__file__).with_name("torch_ops.cpp")
    subprocess.run(["c++", "-std=c++20", "-shared", "-fPIC", *headers, "-o", path, source, *libraries, "-ltorch_cpu", "-lc10"], check=True)
    torch.ops.load_library(path)

    @torch.library.register_fake("ext::neighbours")
    def _(x, factor):
        return x.new_empty(x.shape[0], x.shape[1] - 1)

    @torch.library.register_fake("ext::mix")
    def _(x, bias, more, times, negate=False, shifts=(), scale=None):
        return x.new_empty(x.shape[1], x.shape[0]), torch.empty_like(x)

    @torch.library.register_fake("ext::add_into")
    def _(x, out):
        return None

    @torch.library.register_fake("ext::product")
    def _(x):
        return x.new_empty(x.shape[0], x.shape[0])

    return path


class Net(torch.nn.Module):
    def forward(self, x, bias):
        y = torch.ops.ext.neighbours(x * 2, 0.25).relu()
        a, b = torch.ops.ext.mix(x, bias, [x, y[:, :1] + x], x.shape[0], True, [3, x.shape[1]], scale=0.5)
        c, d = torch.ops.ext.mix(x, None, [], 2)
        out = x + 1
        torch.ops.ext.add_into(bias, out)
        return y, a.t() + b, c + d.t(), out


class Negative(torch.nn.Module):
    def forward(self, x):
        return torch.ops.ext.neighbours(x, -0.5)


class Product(torch.nn.Module):
    def forward(self, x):
        return torch.ops.ext.product(x)


class WritesToACopy(torch.nn.Module):
    def forward(self, x):
        y = x * 2
        flat = y.t().reshape(-1)
        torch.ops.ext.add_into(torch.ones_like(flat), flat)
        return flat, y


def export(path, module, *args, **options):
    program = torch.export.export(module, args, **options)
    torch.export.save(program, path)
    return path, program


def run(*args):
    # PyTorch's libraries are out of its reach: the extension asks for them.
    return subprocess.run([TOOLS / "rs-run", *args, "--no-cache"], capture_output=True, text=True, env={"PATH": os.environ["PATH"]})


def call(path, module, *args):
    """A safetensors file of a call, with what eager PyTorch gives."""
    outputs = module(*args)
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    tensors = {f"in_{k}": each for k, each in enumerate(args)} | {f"out_{k}": each for k, each in enumerate(outputs)}
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.contiguous().numpy().tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def test_an_export_calls_the_extension_as_it_is(extension, tmp_path):
    sizes = {0: torch.export.Dim("rows", min=2), 1: torch.export.Dim("cols", min=3)}
    path, program = export(tmp_path / "net.pt2", Net(), torch.randn(3, 5), torch.randn(3, 5), dynamic_shapes=(sizes, sizes))
    functional = tmp_path / "functional.pt2"
    torch.export.save(program.run_decompositions(), functional)
    expected = call(tmp_path / "call.safetensors", Net(), torch.randn(4, 7), torch.randn(4, 7))
    for each in (path, functional):
        done = run(each, f"--load-torch-op={extension}", "--expect", expected)
        assert "as expected" in done.stdout, done.stderr


def test_what_is_written_is_told_from_its_copy(extension, tmp_path):
    path, _ = export(tmp_path / "copy.pt2", WritesToACopy(), torch.randn(3, 5))
    done = run(path, f"--load-torch-op={extension}", "--expect", call(tmp_path / "call.safetensors", WritesToACopy(), torch.randn(3, 5)))
    assert "as expected" in done.stdout, done.stderr


def test_what_a_kernel_throws_is_the_error(extension, tmp_path):
    path, _ = export(tmp_path / "negative.pt2", Negative(), torch.randn(3, 5))
    done = run(path, f"--load-torch-op={extension}")
    assert done.returncode == 1 and "`ext::neighbours` of libext.so fails with status 1" in done.stderr
    assert "the factor -0.5 is negative" in done.stderr
    path, _ = export(tmp_path / "product.pt2", Product(), torch.randn(3, 3))
    done = run(path, f"--load-torch-op={extension}")
    assert done.returncode == 1 and "it calls aten::matmul, which is not there without PyTorch" in done.stderr


def test_python_does_not_open_extensions(extension, tmp_path):
    path, _ = export(tmp_path / "negative.pt2", Negative(), torch.randn(3, 5))
    compiled = tmp_path / "negative.strata"
    subprocess.run([TOOLS / "rs-compile", path, f"--load-torch-op={extension}", "--no-cache", "-o", compiled], check=True)
    with pytest.raises(ValueError, match="give it with rs-run --load-torch-op=FOLDER/libext.so"):
        strata.load(compiled)
    with pytest.raises(ValueError, match="the program was compiled with it by another option"):
        strata.load(compiled, op_libraries=[extension])
