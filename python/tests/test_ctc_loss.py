"""`ctc_loss` in recorded functions: losses, gradients and steps of training are PyTorch's."""

import copy

import pytest
import torch
import torch.nn.functional as F

import strata

from comparison import same

TARGETS = torch.tensor([[1, 2, 2], [3, 3, 0]])
LENGTHS = torch.tensor([6, 4]), torch.tensor([3, 2])
FORMS = {
    "in rows": (TARGETS, *LENGTHS),
    "one after the other": (torch.tensor([1, 2, 2, 3, 3]), *LENGTHS),
    "with numbers": (TARGETS, (6, 4), (3, 2)),
    "without a way": (TARGETS, torch.tensor([6, 2]), LENGTHS[1]),
}


@pytest.mark.parametrize("zero_infinity", [False, True])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("form", FORMS)
def test_loss(form, reduction, zero_infinity):
    def loss(x, *others):
        return F.ctc_loss(x, *others, reduction=reduction, zero_infinity=zero_infinity).sum()

    scores = torch.randn(6, 2, 5).log_softmax(2)
    mine = scores.clone().requires_grad_()
    right = loss(mine, *FORMS[form])
    (gradient,) = torch.autograd.grad(right, mine)
    value, found = strata.value_and_grad(loss)(scores, *FORMS[form])
    torch.testing.assert_close((value, found), (right.detach(), gradient), rtol=2e-5, atol=2e-5, equal_nan=True)
    same(strata.compile(loss)(scores, *FORMS[form]), right.detach())


def test_one_sample():
    scores = torch.randn(6, 5).log_softmax(1)
    arguments = scores, torch.tensor([1, 2, 2]), torch.tensor(6), torch.tensor(3)
    for reduction in ("none", "mean"):
        found = strata.compile(lambda *of: F.ctc_loss(*of, reduction=reduction))(*arguments)
        same(found, F.ctc_loss(*arguments, reduction=reduction))


def test_a_reduction_that_is_none():
    with pytest.raises(ValueError, match="average is not a valid value for reduction"):
        strata.compile(lambda x: F.ctc_loss(x, *FORMS["in rows"], reduction="average"))(torch.randn(6, 2, 5))


class Recogniser(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scores, self.loss = torch.nn.Linear(4, 5), torch.nn.CTCLoss()

    def forward(self, x, *targets):
        return self.loss(self.scores(x).log_softmax(2), *targets)


def test_steps():
    mine = Recogniser()
    theirs, x = copy.deepcopy(mine), torch.randn(6, 2, 4)
    step = strata.train_step(mine, None, torch.optim.AdamW(mine.parameters()))
    optimizer = torch.optim.AdamW(theirs.parameters())
    for _ in range(3):
        found = step(x, *FORMS["in rows"])
        optimizer.zero_grad()
        right = theirs(x, *FORMS["in rows"])
        right.backward()
        optimizer.step()
        same(found, right.detach())
    same(list(mine.parameters()), list(theirs.parameters()))
