"""What every test begins and ends with."""

import pytest
import torch

import strata


@pytest.fixture(autouse=True)
def fresh():
    strata.reset()
    torch.manual_seed(0)
    yield
    strata.reset()
