"""Conditions that a recorded function only raises by are asked in each call; so are assertions in graphs of TorchDynamo."""

import pytest
import torch
from torch import distributions as random

import strata

from comparison import compiled, native, same
from conditions import asserts, both, caught, other_way, raises, raises_twice, within

RAISE = {asserts: r"x is \{not\} positive", raises: r"raise ValueError\(f'of \{len\(x\)\}'\)", raises_twice: "negative"}
GOOD, BAD = torch.ones(3), torch.tensor([1.0, -1, 2])


@pytest.mark.parametrize("function", RAISE)
@pytest.mark.parametrize("entrance", [strata.compile, strata.value_and_grad])
def test_raised(entrance, function):
    call = entrance(function)
    value, gradient = function(GOOD), torch.full((3,), 2.0)
    same(call(GOOD), value if entrance is strata.compile else (value, gradient))
    with pytest.raises(RuntimeError, match=RAISE[function]):
        call(BAD)


@pytest.mark.parametrize("trains", [False, True])
def test_assertions_of_dynamo(trains):
    call = compiled(asserts)
    same(call(GOOD.clone().requires_grad_(trains)).detach(), asserts(GOOD))
    with pytest.raises(RuntimeError, match=RAISE[asserts]):
        call(BAD.clone().requires_grad_(trains))
    native()


@pytest.mark.parametrize("function", [other_way, both, within, caught])
def test_what_does_more_is_refused(function):
    with pytest.raises(strata.graph.Unsupported, match="needs the value of a tensor"):
        strata.compile(function)(GOOD)


DISTRIBUTIONS = {
    # TorchDynamo turns the checks of arguments off for a whole process.
    "normal": lambda x, y: random.Normal(x, y, validate_args=True).log_prob(x + 1).sum(),
    "gamma": lambda x, y: random.Gamma(x, y).log_prob(y).sum(),
    "categorical": lambda x, y: random.Categorical(logits=x).entropy(),
    "divergence": lambda x, y: random.kl_divergence(random.Normal(x, y), random.Normal(0.0, 1.0)).sum(),
    "multivariate": lambda x, y: random.MultivariateNormal(x, scale_tril=y.diag()).log_prob(x * 0),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions(name):
    function, x, y = DISTRIBUTIONS[name], torch.rand(4) + 0.1, torch.rand(4) + 0.5
    mine = [x.clone().requires_grad_(), y.clone().requires_grad_()]
    right = function(*mine)
    call = strata.value_and_grad(function, argnums=(0, 1))
    value, found = call(x, y)
    same([value, *found], [right.detach(), *torch.autograd.grad(right, mine, materialize_grads=True)])
    if name == "normal":
        with pytest.raises(RuntimeError, match="distribution constraint"):
            call(x, -y)


def test_masks_of_transformers():
    model = torch.nn.Transformer(8, 2, 1, 1, 16, dropout=0.0).eval()
    source, target = torch.randn(5, 2, 8), torch.randn(4, 2, 8)
    masks = {"src_mask": model.generate_square_subsequent_mask(5), "tgt_mask": model.generate_square_subsequent_mask(4)}
    with torch.no_grad():
        same(strata.compile(model)(source, target, **masks), model(source, target, **masks))
