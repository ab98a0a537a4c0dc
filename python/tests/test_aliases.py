"""Recorded functions whose arguments are one tensor or share memory: a record is for all calls, whichever call it was made of."""

import pytest
import torch

import strata

from comparison import same


def difference(x, y):
    return (x - 2 * y).sum()


def written(x, y):
    x.add_(1)
    return (x * y).sum()


X, Y = torch.ones(3), torch.full((3,), 5.0)


@pytest.mark.parametrize("calls", [[(X, X), (X, Y)], [(X, Y), (X, X)], [(Y.view(3), Y), (X, Y)]])
def test_one_tensor_twice(calls):
    function, gradients = strata.compile(difference), strata.value_and_grad(difference, argnums=(0, 1))
    for arguments in calls:
        same(function(*arguments), difference(*arguments))
        same(gradients(*arguments), (difference(*arguments), (torch.ones(3), torch.full((3,), -2.0))))


def test_a_weight_as_argument():
    layer = torch.nn.Linear(3, 3).requires_grad_(False)
    function = strata.compile(layer)
    for x in (layer.weight, torch.ones(3, 3)):
        same(function(x), layer(x))


def test_tied_weights():
    first, second = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
    second.weight = first.weight
    model = torch.nn.Sequential(first, second).requires_grad_(False)
    function = strata.compile(model)
    same(function(X), model(X))
    second.weight = torch.nn.Parameter(torch.eye(3), requires_grad=False)
    same(function(X), model(X))


@pytest.mark.parametrize("entrance", [strata.compile, lambda function: strata.value_and_grad(function, argnums=1)])
@pytest.mark.parametrize("parts", [lambda v: (v, v), lambda v: (v[:3], v[1:]), lambda v: (v[1:], v[:3])])
def test_writes_to_shared_memory_are_refused(entrance, parts):
    arguments = parts(torch.arange(4.0))
    function = entrance(written)
    with pytest.raises(strata.graph.Unsupported, match="writes to argument 0, which shares memory with argument 1"):
        function(*arguments)
    same(arguments, parts(torch.arange(4.0)))


def test_writes_to_parts_of_one_buffer():
    """A cache of keys and values: neighbours in memory, and not the same memory."""

    def keep(keys, values, x):
        keys[1], values[1] = x, 2 * x
        return keys + values

    mine, theirs = torch.zeros(2, 4, 2, 3)
    same(strata.compile(keep)(mine[:, 0], mine[:, 1], X), keep(theirs[:, 0], theirs[:, 1], X))
    same(mine, theirs)


def test_a_step_with_its_input_as_target():
    """The weights after two steps, of which the second has another target."""

    def trained(step_of):
        torch.manual_seed(0)
        model = torch.nn.Linear(3, 3)
        step = step_of(model, torch.optim.SGD(model.parameters(), lr=0.1))
        losses = [step(x, target).detach() for x, target in ((X, X), (X, Y))]
        return losses, model.weight.detach()

    def eager(model, optimizer):
        def step(x, target):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(x), target)
            loss.backward()
            optimizer.step()
            return loss

        return step

    same(trained(lambda *of: strata.train_step(of[0], torch.nn.functional.mse_loss, of[1])), trained(eager))
