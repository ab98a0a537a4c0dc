"""Recurrent layers in `torch.compile(backend="strata")` and `strata.compile`, compared with eager PyTorch."""

import warnings

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils import _pytree as pytree

import strata
from comparison import compiled, native, same
from strata import events, recurrent

LAYERS = {
    "lstm": (lambda: nn.LSTM(6, 10), (5, 3, 6)),
    "lstm of two layers both ways": (lambda: nn.LSTM(6, 10, 2, bidirectional=True, batch_first=True), (3, 5, 6)),
    "lstm with projection": (lambda: nn.LSTM(6, 10, proj_size=4), (5, 3, 6)),
    "lstm of one sequence": (lambda: nn.LSTM(6, 10), (5, 6)),
    "gru": (lambda: nn.GRU(6, 10, 2), (5, 3, 6)),
    "gru without biases": (lambda: nn.GRU(6, 10, bias=False, bidirectional=True), (5, 3, 6)),
    "rnn of tanh": (lambda: nn.RNN(6, 10), (5, 3, 6)),
    "rnn of relu": (lambda: nn.RNN(6, 10, nonlinearity="relu", batch_first=True), (3, 5, 6)),
    "lstm in f64": (lambda: nn.LSTM(6, 10).double(), (5, 3, 6)),
}


def made(name: str):
    make, sizes = LAYERS[name]
    layer = make()
    return layer, torch.randn(sizes, dtype=next(layer.parameters()).dtype)


def gradients(run, layer, x):
    """The gradients of the input and of the parameters, of a loss that every result takes part in."""
    layer.zero_grad()
    x = x.clone().requires_grad_()
    sum(part.square().sum() for part in pytree.tree_leaves(run(x))).backward()
    return [x.grad, *(parameter.grad.clone() for parameter in layer.parameters())]


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_is_one_graph(name):
    layer, x = made(name)
    with torch.no_grad():
        same(torch.compile(layer, backend="strata", fullgraph=True, options={"fallback": "error"})(x), layer(x))
    native(1)


@pytest.mark.parametrize("name", LAYERS)
def test_gradients(name):
    layer, x = made(name)
    same(gradients(compiled(layer), layer, x), gradients(layer, layer, x))
    native(2)


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_by_pytorch(name):
    layer, x = made(name)
    same(gradients(compiled(layer, options={"autograd": "pytorch"}), layer, x), gradients(layer, layer, x))
    native(3)  # forward, backward, and the backward of the layer


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_of_closed_gates(name):
    layer, x = made(name)
    for mine, theirs in zip(gradients(compiled(layer), layer, x * 1000), gradients(layer, layer, x * 1000)):
        assert (mine - theirs).norm() <= 1e-3 * theirs.norm() + 1e-6


@pytest.mark.parametrize("name", LAYERS)
def test_without_torch_dynamo(name):
    layer, x = made(name)
    with torch.no_grad():
        same(strata.compile(layer)(x), layer(x))


def test_a_state_is_given_and_trained():
    layer, x = made("gru")
    begin = nn.Parameter(torch.randn(2, 3, 10))

    def gradient(run):
        begin.grad = None
        run(x, begin)[0].sum().backward()
        return begin.grad.clone()

    same(gradient(compiled(layer)), gradient(layer))


def test_layers_between_others_are_one_graph():
    class Tagger(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.lstm, self.head = nn.Embedding(20, 6), nn.LSTM(6, 10, batch_first=True), nn.Linear(10, 4)

        def forward(self, words):
            return self.head(self.lstm(self.embedding(words))[0].relu()).log_softmax(-1)

    net, words = Tagger(), torch.randint(20, (3, 5))
    with torch.no_grad():
        same(torch.compile(net, backend="strata", fullgraph=True)(words), net(words))
    native(1)


def test_dropout_between_layers():
    layer, x = nn.LSTM(6, 10, 3, dropout=0.5), torch.randn(5, 3, 6)
    run = compiled(layer)
    assert not torch.equal(run(x)[0], run(x)[0])
    # Elements that are dropped are others than PyTorch's: the mean over many calls is the same. The seed is fixed, so it does not change from run to run.
    found, wanted = (torch.stack([each(x)[0] for _ in range(400)]).mean() for each in (run, layer))
    torch.testing.assert_close(found, wanted, rtol=2e-5, atol=2e-4)
    layer.eval()
    same(run(x), layer(x))


def test_sequences_of_many_lengths():
    layer = nn.GRU(6, 10)
    run = compiled(layer)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for steps in (3, 4, 7, 300, 5):
            x = torch.randn(steps, 2, 6)
            same(gradients(run, layer, x), gradients(layer, layer, x))


def test_the_length_may_be_symbolic():
    layer = nn.LSTM(6, 10, 2, bidirectional=True)
    run = torch.compile(layer, backend="strata", dynamic=True, options={"fallback": "error"})
    with torch.no_grad():
        for steps in (40, 7, 500):
            x = torch.randn(steps, 2, 6)
            same(run(x), layer(x))
    native(1)


def test_few_backward_programs_are_compiled(monkeypatch):
    monkeypatch.setattr(recurrent, "PROGRAMS", 2)
    layer = nn.LSTM(6, 10)
    for batch in (2, 3, 4, 5):
        torch._dynamo.reset()
        x = torch.randn(4, batch, 6)
        same(gradients(compiled(layer, options={"autograd": "pytorch"}), layer, x), gradients(layer, layer, x))
    assert sum(graph.kind == "gradient" for graph in events.graphs) == 2


def test_packed_sequences():
    layer = nn.LSTM(6, 10)
    packed = pack_padded_sequence(torch.randn(5, 3, 6), torch.tensor([5, 3, 2]))
    with torch.no_grad():
        same(compiled(layer)(packed)[0].data, layer(packed)[0].data)


def test_autocast():
    layer, x = made("gru")
    run = compiled(layer)
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        found, wanted = run(x)[0], layer(x)[0]
    assert found.dtype == wanted.dtype
    torch.testing.assert_close(found, wanted, rtol=2e-2, atol=2e-2)
