"""A slice of PyTorch's operators and modules; `operators.py` and `modules.py` run all of them."""

import warnings

import pytest
import torch
from torch.testing._internal.common_methods_invocations import op_db

import operators

# The slice changes with nothing, so that a failure comes again; `python operators.py` has all of them.
EVERY = 9


@pytest.mark.parametrize("op", [op for op in op_db if torch.float32 in op.supported_dtypes("cpu")][::EVERY], ids=lambda op: op.name + op.variant_test_name)
def test_operator(op):
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        status = operators.check(op, torch.float32, 1, False)
    assert not status.startswith(("wrong", "raised")), status
