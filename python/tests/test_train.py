"""`strata.value_and_grad` and `strata.train_step` beside eager PyTorch, step by step."""

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import strata


class Mlp(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 5))


class Cnn(nn.Sequential):
    """A small network with batch norm, whose statistics a step changes too."""

    def __init__(self):
        super().__init__(
            nn.Conv2d(2, 6, 3, padding=1, bias=False), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(6, 8, 3, stride=2, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8, 5),
        )  # fmt: skip


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 16)
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True, bias=False), 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 5)

    def forward(self, tokens):
        return self.head(self.layers(self.embedding(tokens)).mean(1))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 10, batch_first=True)
        self.head = nn.Linear(10, 5)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


# No model has a bias in front of a batch norm, or one of keys: its gradient is 0 but for rounding, and Adam makes steps of whole size of that.
MODELS = {
    "mlp": (Mlp, lambda: torch.randn(8, 12)),
    "cnn": (Cnn, lambda: torch.randn(4, 2, 8, 8)),
    "transformer": (Transformer, lambda: torch.randint(0, 11, (4, 7))),
    "lstm": (Lstm, lambda: torch.randn(4, 6, 6)),
}
OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, lr=1e-3),
    "adamw": lambda p: torch.optim.AdamW(p, lr=1e-3),
}
SETTINGS = {
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.01, nesterov=True),
    "dampening": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, dampening=0.3, maximize=True),
    "decay": lambda p: torch.optim.Adam(p, lr=1e-3, weight_decay=0.1, betas=(0.4, 0.95), eps=1e-6),
    "amsgrad": lambda p: torch.optim.AdamW(p, lr=1e-3, amsgrad=True, maximize=True),
}


def eager_step(model, loss, optimizer, batch, target):
    optimizer.zero_grad()
    value = loss(model(batch), target)
    value.backward()
    optimizer.step()
    return value.detach()


def agrees(model, optimizer, inputs, steps=20, schedule=None):
    """Compares losses, weights and the optimizer's state."""
    theirs = copy.deepcopy(model)
    mine, others = optimizer(model.parameters()), optimizer(theirs.parameters())
    step = strata.train_step(model, F.cross_entropy, mine, fallback="error")
    for k in range(steps):
        batch = inputs()
        target = torch.randint(0, 5, batch.shape[:1])
        if schedule:
            for each in (mine, others):
                each.param_groups[0]["lr"] = schedule(k)
        found, wanted = step(batch, target), eager_step(theirs, F.cross_entropy, others, batch, target)
        torch.testing.assert_close(found, wanted, rtol=2e-4, atol=2e-5)
    torch.testing.assert_close(model.state_dict(), theirs.state_dict(), rtol=1e-3, atol=2e-4)
    for found, wanted in zip(mine.state_dict()["state"].values(), others.state_dict()["state"].values()):
        torch.testing.assert_close(dict(found), {name: value for name, value in wanted.items() if value is not None}, rtol=2e-3, atol=2e-4)
    return step, mine


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("model", MODELS)
def test_twenty_steps_are_pytorchs(model, optimizer):
    make, inputs = MODELS[model]
    agrees(make(), OPTIMIZERS[optimizer], inputs)


@pytest.mark.parametrize("settings", SETTINGS)
def test_settings_are_pytorchs(settings):
    agrees(Mlp(), SETTINGS[settings], MODELS["mlp"][1])


def test_the_learning_rate_may_change_and_eager_steps_go_on():
    model = Mlp()
    step, optimizer = agrees(model, OPTIMIZERS["adamw"], MODELS["mlp"][1], steps=5, schedule=lambda k: 1e-3 / (k + 1))
    assert len(step.programs.programs) == 1
    theirs = copy.deepcopy(model)
    others = OPTIMIZERS["adamw"](theirs.parameters())
    others.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    batch, target = torch.randn(8, 12), torch.randint(0, 5, (8,))
    wanted = [eager_step(theirs, F.cross_entropy, others, batch, target) for _ in range(2)]
    torch.testing.assert_close(step(batch, target), wanted[0], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(eager_step(model, F.cross_entropy, optimizer, batch, target), wanted[1], rtol=1e-4, atol=1e-5)


def test_tied_weights_are_one_parameter():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(12, 12), nn.Linear(12, 12)
            self.b.weight, self.head = self.a.weight, nn.Linear(12, 5)

        def forward(self, x):
            return self.head(torch.relu(self.b(torch.relu(self.a(x)))))

    agrees(Tied(), OPTIMIZERS["momentum"], MODELS["mlp"][1], steps=5)


def test_parameters_that_are_frozen_or_unused_stay():
    model = Mlp()
    model.register_parameter("unused", nn.Parameter(torch.ones(3)))
    model[0].weight.requires_grad_(False)
    before = copy.deepcopy(model.state_dict())
    agrees(model, OPTIMIZERS["adamw"], MODELS["mlp"][1], steps=3)
    torch.testing.assert_close(model.state_dict()["unused"], before["unused"], rtol=0, atol=0)
    torch.testing.assert_close(model.state_dict()["0.weight"], before["0.weight"], rtol=0, atol=0)


def test_a_model_may_give_its_loss():
    class Loss(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = Mlp()

        def forward(self, x, y):
            return F.cross_entropy(self.net(x), y)

    model, batch, target = Loss(), torch.randn(8, 12), torch.randint(0, 5, (8,))
    step = strata.train_step(model, None, torch.optim.SGD(model.parameters(), lr=0.1))
    losses = [step(batch, target).item() for _ in range(10)]
    assert losses[-1] < losses[0]


def test_gradients_are_clipped_as_pytorchs():
    model, batch, target = Mlp(), torch.randn(8, 12), torch.randint(0, 5, (8,))
    theirs = copy.deepcopy(model)
    step = strata.train_step(model, F.cross_entropy, torch.optim.SGD(model.parameters(), lr=0.5), clip_norm=0.1)
    others = torch.optim.SGD(theirs.parameters(), lr=0.5)
    for _ in range(5):
        step(batch, target)
        others.zero_grad()
        F.cross_entropy(theirs(batch), target).backward()
        nn.utils.clip_grad_norm_(theirs.parameters(), 0.1)
        others.step()
    torch.testing.assert_close(model.state_dict(), theirs.state_dict(), rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="clip_norm=0 is no number above 0"):
        strata.train_step(model, F.cross_entropy, others, clip_norm=0)


def test_what_makes_no_step_is_told():
    model = Mlp()
    with pytest.raises(ValueError, match="a step is not compiled for RMSprop; it is for SGD, Adam, AdamW"):
        strata.train_step(model, F.cross_entropy, torch.optim.RMSprop(model.parameters()))
    groups = [{"params": [model[0].weight]}, {"params": [model[0].bias], "momentum": 0.9}]
    with pytest.raises(ValueError, match="groups have different settings"):
        strata.train_step(model, F.cross_entropy, torch.optim.SGD(groups, lr=0.1))
    step = strata.train_step(model, lambda y, t: y, torch.optim.SGD(model.parameters(), lr=0.1))
    with pytest.raises(ValueError, match="it is one real number; reduce it with mean"):
        step(torch.randn(8, 12), torch.zeros(8))


def test_gradients_of_a_module_are_by_name():
    model, x, y = Mlp(), torch.randn(8, 12), torch.randint(0, 5, (8,))

    class Loss(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = model

        def forward(self, x, y):
            return F.cross_entropy(self.net(x), y)

    loss = Loss()
    value, gradients = strata.value_and_grad(loss, fallback="error")(x, y)
    wanted = loss(x, y)
    wanted.backward()
    torch.testing.assert_close(value, wanted.detach())
    torch.testing.assert_close(gradients, {name: p.grad for name, p in loss.named_parameters()})


def test_gradients_of_a_function_are_by_its_arguments():
    def function(a, pair, scale):
        return (a.sin() * pair["x"]).sum() * scale + pair["y"].square().sum()

    a, pair = torch.randn(4), {"x": torch.randn(4), "y": torch.randn(2)}
    value, (da, dpair) = strata.value_and_grad(function, argnums=(0, 1))(a, pair, 3.0)
    wanted, theirs = torch.func.grad_and_value(function, argnums=(0, 1))(a, pair, 3.0)[::-1]
    torch.testing.assert_close(value, wanted)
    torch.testing.assert_close((da, dpair), theirs)
    with pytest.raises(ValueError, match="there is no argument 3 to differentiate by"):
        strata.value_and_grad(function, argnums=3)(a, pair, 3.0)
