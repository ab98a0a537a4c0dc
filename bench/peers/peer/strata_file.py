"""Strata without PyTorch in the call: the exported program, compiled, with results in memory that is there already, as onnxruntime and OpenVINO
are called. `libstrata_bench.so` makes the calls; `STRATA_BENCH` says where it is."""

import ctypes
import os
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

import torch

from peer import Absent, Prepared
from workloads import Workload

DTYPES = (
    torch.float32, torch.float64, torch.int32, torch.int64, torch.bool, torch.bfloat16, torch.float16, torch.int16, torch.int8, torch.uint8,
    torch.complex64, torch.complex128,
)  # fmt: skip
"""`TYPES` of bench/src/peer.rs."""


class _Tensor(ctypes.Structure):
    """`BenchTensor` of bench/src/peer.rs."""

    _fields_ = [
        ("data", ctypes.c_void_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32), ("shape", ctypes.c_int64 * 8), ("strides", ctypes.c_int64 * 8),
    ]  # fmt: skip

    @staticmethod
    def array(tensors):
        described = (_Tensor * len(tensors))()
        for each, tensor in zip(described, tensors):
            each.data, each.dtype, each.rank = tensor.data_ptr(), DTYPES.index(tensor.dtype), tensor.dim()
            each.shape[: tensor.dim()], each.strides[: tensor.dim()] = tensor.shape, tensor.stride()
        return described


def prepare(work: Workload, mode: str | None, threads: int) -> Prepared:
    path = os.environ.get("STRATA_BENCH")
    if path is None:
        raise Absent("STRATA_BENCH does not say where libstrata_bench.so is; ./x bench cpu builds it")
    program = work.export()
    with TemporaryDirectory() as folder:
        torch.export.save(program, Path(folder) / "model.pt2")
        if mode is not None:  # the library's name says the mode
            path = copyfile(path, Path(folder) / f"libstrata_bench-{mode}.so")
        library = ctypes.CDLL(os.fspath(path))
        library.bench_error.restype = ctypes.c_char_p
        library.bench_prepare.restype = ctypes.c_void_p
        handle = library.bench_prepare(os.fsencode(folder), threads)
    if handle is None:
        raise RuntimeError(library.bench_error().decode())
    handle, run, model = ctypes.c_void_p(handle), library.bench_run, work.build()
    calls = []
    for arguments in work.arguments():
        results = list(map(_memory, _results(model, arguments), _declared(program)))
        taken, given = _Tensor.array(arguments), _Tensor.array(results)
        calls.append(((arguments, results), (handle, len(taken), taken, len(given), given, ctypes.c_long(1))))

    def call(kept, passed):
        if run(*passed):
            raise RuntimeError(library.bench_error().decode())
        return kept[1]

    return Prepared(call, calls)


def _declared(program: torch.export.ExportedProgram) -> list:
    """The program's results as it declares them: eager PyTorch has some of them in another order than its exporter says."""
    values = {node.name: node.meta.get("val") for node in program.graph.nodes}
    return [values.get(name) for name in program.graph_signature.user_outputs]


def _memory(result: torch.Tensor, declared) -> torch.Tensor:
    """Memory for a result in the order that is declared, where its sizes are numbers."""
    if isinstance(declared, torch.Tensor) and declared.shape == result.shape and all(isinstance(each, int) for each in declared.stride()):
        result = torch.empty_strided(result.shape, declared.stride(), dtype=result.dtype)
    return torch.empty_like(result)


def _results(model, arguments):
    with torch.no_grad():
        results = model(*arguments)
    return results if isinstance(results, (tuple, list)) else [results]
