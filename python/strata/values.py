"""What a recorded function may not ask: the values of tensors. A record has sizes and types, and is for all values."""

import contextlib
import os
import sys
import traceback
from collections.abc import Iterator

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensor
from torch.distributions import distribution
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.nn.modules import transformer
from torch.overrides import TorchFunctionMode

from . import graph
from .assertions import asserted

_READS = {getattr(torch.Tensor, name) for name in ("__array__", "__dlpack__", "data_ptr", "numpy", "storage", "tolist", "untyped_storage")}
"""Functions that hand the memory of a tensor to others."""


class Refused(TorchFunctionMode):
    """Makes functions that ask for values `graph.Unsupported` with the line that asks and the ways out. A condition to raise by is an assertion."""

    def __torch_function__(self, function, types, arguments=(), named=None):
        if function in _READS and _is_recorded(arguments[0]):
            raise graph.Unsupported(_reason(traceback.extract_stack()))
        if function is torch.Tensor.__bool__ and _is_recorded(arguments[0]):
            truth = asserted(arguments[0], sys._getframe(1))
            if truth is not None:
                return truth
        return function(*arguments, **(named or {}))

    def __exit__(self, kind, error, trace):
        super().__exit__(kind, error, trace)
        if isinstance(error, (DataDependentOutputException, DynamicOutputShapeException, GuardOnDataDependentSymNode)) or _has_no_memory(error):
            raise graph.Unsupported(_reason(traceback.extract_tb(trace))) from None
        if _is_of_a_function(error):
            raise graph.Unsupported(_FUNCTION.format(place(traceback.extract_tb(trace)))) from None
        if _is_of_autograd(error):
            raise graph.Unsupported(_AUTOGRAD.format(place(traceback.extract_tb(trace)))) from None


def _is_causal(mask, is_causal: bool | None = None, size: int | None = None) -> bool:
    """A mask that may be the causal one is one like any other."""
    return is_causal is True


def _all_true(valid: torch.Tensor, message: str) -> bool:
    torch.ops.aten._assert_async.msg(torch._is_all_true(valid), message)
    return True


_ASKING = ((transformer, "_detect_is_causal_mask", _is_causal), (distribution, "_all_true_or_runtime_assert", _all_true))
"""Functions of PyTorch that ask for values, and what a record has in their place."""


@contextlib.contextmanager
def told_that_it_is_recorded() -> Iterator[None]:
    """`torch.compiler.is_compiling()` holds: libraries that look at values to leave something out do not ask for them then."""
    with contextlib.ExitStack() as stack:
        for module, name, value in (*_ASKING, (torch.compiler, "_is_compiling_flag", True)):
            if hasattr(module, name):
                stack.callback(setattr, module, name, getattr(module, name))
                setattr(module, name, value)
        yield


def _is_recorded(value) -> bool:
    return isinstance(value, FakeTensor) or isinstance(value, torch.Tensor) and torch._is_functional_tensor(value)


def _has_no_memory(error: Exception | None) -> bool:
    """Whether an operator without a rule for types alone was stopped at the memory that recorded tensors do not have."""
    return type(error) is RuntimeError and "data is not allocated" in str(error)


ELSEWHERE = 'torch.compile(.., backend="strata") takes it as it is'
"""The way out where a recorded function is refused for what TorchDynamo understands."""
_FUNCTION = f"{{}}calls a torch.autograd.Function under a transform of torch.func, which a recorded call does not have; {ELSEWHERE}"


_AUTOGRAD = f"{{}}asks PyTorch's autograd for a gradient, which a recorded call does not have; torch.func.grad and its like are recorded, and {ELSEWHERE}"


def _is_of_autograd(error: Exception | None) -> bool:
    """Whether a tensor was to get a gradient, or to give one, by PyTorch's own engine."""
    return type(error) is RuntimeError and ("Tensor.requires_grad_()" in str(error) or "does not require grad" in str(error))


def _is_of_a_function(error: Exception | None) -> bool:
    """Whether PyTorch would not record a `torch.autograd.Function`: one with a context in `forward`, or any."""
    return type(error) is RuntimeError and ("autograd.Function with functorch" in str(error) or "rule for custom_function_call" in str(error))


def place(frames: traceback.StackSummary) -> str:
    """The last line that is not PyTorch's or ours."""
    ours = (os.path.dirname(torch.__file__), os.path.dirname(__file__))
    lines = [frame for frame in frames if not frame.filename.startswith(ours)]
    return f"{lines[-1].filename}:{lines[-1].lineno}: `{lines[-1].line}` " if lines else "the function "


def _reason(frames: traceback.StackSummary) -> str:
    return (
        f"{place(frames)}needs the value of a tensor, which a recorded call does not have; "
        'torch.compile(.., backend="strata") runs such a line by itself, and torch.where or torch.cond decide without it'
    )
