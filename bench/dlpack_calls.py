"""Time of a call from Python: PyTorch's tensors in and out through DLPack, by ctypes.

    python bench/dlpack_calls.py ARTEFACT EXPORTED.pt2 [target/release/libstrata.so]

ARTEFACT is what `rs-compile EXPORTED.pt2` wrote. The least and the middle of the rounds are printed, in microseconds.
What peers take for a call from Python, `./x bench cpu` measures.
"""
import ctypes
import sys
import time

import torch

ROUNDS, CALLS = 200, 200


library = ctypes.CDLL(sys.argv[3] if len(sys.argv) > 3 else "target/release/libstrata.so")
library.strata_open_file.restype = ctypes.c_void_p
library.strata_open_file.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
library.strata_call.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]
library.strata_error.restype = ctypes.c_char_p

api = ctypes.pythonapi
api.PyCapsule_GetPointer.restype = ctypes.c_void_p
api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_New.restype = ctypes.py_object
api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
to_dlpack, from_dlpack = torch.utils.dlpack.to_dlpack, torch._C._from_dlpack
pointer, capsule, call = api.PyCapsule_GetPointer, api.PyCapsule_New, library.strata_call


class Program:
    """A compiled program of some inputs and one result."""

    def __init__(self, artefact):
        self.program = library.strata_open_file(artefact.encode(), None)
        if not self.program:
            sys.exit(library.strata_error().decode())
        self.result = (ctypes.c_void_p * 1)()

    def __call__(self, *inputs):
        # The capsules keep the tensors until the call has returned.
        capsules = [to_dlpack(tensor) for tensor in inputs]
        given = (ctypes.c_void_p * len(inputs))(*[pointer(one, b"dltensor") for one in capsules])
        if call(self.program, len(inputs), given, 1, self.result):
            raise RuntimeError(library.strata_error().decode())
        return from_dlpack(capsule(self.result[0], b"dltensor", None))


def main():
    exported = torch.export.load(sys.argv[2])
    inputs, program = exported.example_inputs[0], Program(sys.argv[1])
    with torch.no_grad():
        torch.testing.assert_close(program(*inputs), exported.module()(*inputs), rtol=1e-4, atol=1e-4)
    rounds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(CALLS):
            program(*inputs)
        rounds.append((time.perf_counter() - start) / CALLS * 1e6)
    rounds.sort()
    print(f"least {rounds[0]:.2f} us, middle {rounds[len(rounds) // 2]:.2f} us")


main()
