"""Gradients of `torch.compile(backend="strata")` by the compiler's own differentiation, and what of them is left to PyTorch's."""

import copy
import warnings

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from comparison import compiled, native, same
from strata import events

OWN = {"autograd": "strata", "fallback": "error"}


def leaf(*sizes):
    return torch.randn(sizes, requires_grad=True)


def gradients(function, *arguments):
    """The results, and the gradients of the arguments of a loss that every result takes part in."""
    arguments = [value.detach().clone().requires_grad_(value.requires_grad) if isinstance(value, torch.Tensor) else value for value in arguments]
    results = function(*arguments)
    results = results if isinstance(results, (tuple, list)) else [results]
    tensors = [value for value in results if isinstance(value, torch.Tensor)]
    sum(torch.view_as_real(value.contiguous()).square().sum() if value.is_complex() else value.square().sum() for value in tensors if value.requires_grad).backward()
    asked = [value.requires_grad for value in tensors]
    return [*results], [value.grad for value in arguments if isinstance(value, torch.Tensor)], asked


def reasons():
    return [graph.reason for graph in events.graphs if graph.reason]


def without_gradient(x):
    with torch.no_grad():
        factor = x * 2
    return x * factor


def in_halves(x, w):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ w
    return y.float() @ w


FUNCTIONS = {
    "a result that is kept": (lambda x: x.exp(), leaf(4, 5)),
    "results without a gradient": (lambda x: (x * 2, x.argmax(), x.detach() * 3, x.max(1)), leaf(4, 5)),
    "a copy": (lambda x: x.clone(), leaf(4, 5)),
    "no dimensions": (lambda x: x * x.exp(), torch.tensor(0.5, requires_grad=True)),
    "numbers": (lambda x, n: (x * n, x.shape[0], None), leaf(4, 5), 3),
    "one result twice": (lambda x: [x * 2] * 2, leaf(4, 5)),
    "an argument without a gradient": (lambda x, y: x * y, leaf(4, 5), torch.randn(4, 5)),
    "an argument that no gradient goes to": (lambda x, y: torch.where(y > 0, x, -x), leaf(4), leaf(4)),
    "torch.no_grad": (without_gradient, leaf(4, 5)),
    "complex numbers": (lambda x: torch.fft.rfft(x), leaf(8)),
    "halves": (in_halves, leaf(8, 8), leaf(8, 8)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    function, *arguments = FUNCTIONS[name]
    run = compiled(lambda *given: flat(function(*given)), options=OWN)
    mine, theirs = gradients(run, *arguments), gradients(lambda *given: flat(function(*given)), *arguments)
    assert mine[2] == theirs[2]
    torch.testing.assert_close(mine[:2], theirs[:2], rtol=1e-2 if name == "halves" else 2e-5, atol=1e-2 if name == "halves" else 2e-5)
    native(2)
    assert not reasons()


def flat(results):
    """Results in one list."""
    if not isinstance(results, (tuple, list)):
        return [results]
    return [each for value in results for each in (value if isinstance(value, tuple) else [value])]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.linear = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.Linear(8, 5)

    def forward(self, x):
        return self.linear(F.relu(self.norm(self.conv(x))).mean((2, 3)))


@pytest.mark.parametrize("autograd", ["pytorch", "strata"])
def test_a_network_and_its_statistics(autograd):
    net, x = Net(), torch.randn(4, 3, 8, 8)
    other = copy.deepcopy(net)
    run = compiled(net, options={"autograd": autograd, "fallback": "error"})
    for each, model in ((run, net), (other, other)):
        for _ in range(2):
            each(x).square().mean().backward()
    same({name: value.grad for name, value in net.named_parameters()}, {name: value.grad for name, value in other.named_parameters()})
    same(dict(net.state_dict()), dict(other.state_dict()))
    native(2)


@pytest.mark.parametrize("first", ["read", "written"])
def test_a_buffer_that_is_written_to(first):
    class Counted(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("factor", torch.full((4,), 3.0))

        def forward(self, x):
            if first == "written":
                self.factor.add_(1)
                return x * self.factor
            y = x * self.factor.clone()
            self.factor.mul_(2)
            return y

    mine, theirs = Counted(), Counted()
    run, x = compiled(mine, options=OWN), leaf(4)
    for _ in range(2):
        same(gradients(run, x), gradients(theirs, x))
        same(mine.factor, theirs.factor)
    native(2)
    assert not reasons()


def test_sizes_may_be_symbolic():
    run = compiled(lambda x, w: F.relu(x @ w), dynamic=True, options=OWN)
    for rows, columns in ((7, 3), (9, 3), (11, 6)):
        arguments = leaf(rows, 5), leaf(5, columns)
        same(gradients(run, *arguments), gradients(lambda x, w: F.relu(x @ w), *arguments))
    native(2)


def test_random_numbers_are_those_of_the_forward():
    x = leaf(100, 10)
    y = compiled(lambda x: F.dropout(x, 0.5, True), options=OWN)(x)
    y.sum().backward()
    assert torch.equal(y != 0, x.grad != 0) and 0.3 < (y != 0).float().mean() < 0.7
    native(2)


def test_a_result_may_be_written_to():
    x = leaf(4, 5)
    y = compiled(torch.exp, options=OWN)(x)
    y.add_(1).sum().backward()
    same(x.grad, x.detach().exp())


def test_an_argument_that_changed_is_told_as_in_pytorch():
    x, factor = leaf(4), torch.ones(4)
    y = compiled(lambda x, factor: x * factor, options=OWN)(x, factor)
    factor.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_backward_may_be_repeated():
    x = leaf(4)
    loss = compiled(lambda x: (x * x).sum(), options=OWN)(x)
    loss.backward(retain_graph=True)
    loss.backward()
    same(x.grad, 4 * x.detach())
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_a_gradient_of_a_gradient_is_refused():
    x = leaf(4)
    (gradient,) = torch.autograd.grad(compiled(lambda x: (x**3).sum(), options=OWN)(x), x, create_graph=True)
    same(gradient.detach(), 3 * x.detach() ** 2)
    with pytest.raises(RuntimeError, match="differentiated again"):
        gradient.sum().backward()


def test_nothing_is_compiled_for_results_without_a_gradient():
    run = compiled(lambda x: (x > 0, x.argmax()), options=OWN)
    run(leaf(4))
    assert [graph.kind for graph in events.graphs] == ["inference"]


LEFT = {
    "empty": (lambda x: x[:0] @ torch.ones(5, 3), "has no output that depends on"),
    "view": (lambda x: (x.view(-1), x.exp()), "a result shares memory"),
    "branch": (lambda x: torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x * 3, (x,)), "`cond` says itself"),
    "transform": (lambda x: torch.func.grad(lambda x: (x**3).sum())(x), "a transform of torch.func"),
    "checkpoint": (lambda x: checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False), "`tag_activation_checkpoint` says itself"),
    "write": (lambda x: (x * 1).mul_(2) + x.mul(2).add_(x), None),
    "argument": (lambda x, y=torch.ones(4, 5): (y.mul_(1), x * y)[1], "is no buffer of a module"),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_to_pytorch_says_why(name):
    function, reason = LEFT[name]
    x = leaf(4, 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(gradients(compiled(function), x), gradients(function, x))
    native(2)
    assert all(reason in text for text in reasons()) and bool(reasons()) == (reason is not None)


def test_a_sparse_gradient():
    table = nn.Embedding(10, 4, sparse=True)
    compiled(lambda rows: table(rows).sin())(torch.tensor([1, 2, 2])).sum().backward()
    assert table.weight.grad.layout == torch.sparse_coo
    assert "a gradient is sparse" in reasons()[0]


def test_a_graph_that_is_left_to_pytorch_leaves_no_autocast():
    def function(x, w):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = x @ w
            return torch.cond(y.sum() > 0, lambda y: y * 2, lambda y: y * 3, (y,)), y

    run = compiled(function)
    for _ in range(2):
        arguments = leaf(8, 8), leaf(8, 8)
        torch.testing.assert_close(gradients(run, *arguments)[:2], gradients(function, *arguments)[:2], rtol=2e-2, atol=2e-2)
    assert not torch.is_autocast_enabled("cpu")
