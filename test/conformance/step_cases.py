"""Exports models with their loss, and what twenty steps of PyTorch's optimizers make of them.

    python step_cases.py steps

`MODEL.pt2` is the program of the loss. `MODEL.OPTIMIZER.safetensors` has the batches (`in_k`, one behind the other along the first dim), the `losses`, and
the parameters and buffers behind the last step by their names; its metadata has the optimizer as `--train` takes it and, of mixed precision, `autocast`.
"""

import copy
import os
import sys

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch import nn

import case

STEPS = 20


class Loss(nn.Module):
    """A model and the cross entropy of what it gives."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x, target):
        return F.cross_entropy(self.model(x), target)


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


def two_groups(parameters):
    parameters = list(parameters)
    biases = [each for each in parameters if each.dim() == 1]
    return [{"params": [each for each in parameters if each.dim() > 1]}, {"params": biases, "weight_decay": 0.0, "lr": 0.01}]


def mlp():
    return nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 5))


def cnn():
    first = [nn.Conv2d(2, 6, 3, padding=1, bias=False), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*first, nn.Conv2d(6, 8, 3, stride=2, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8, 5))


# No model has a bias in front of a batch norm, or one of keys: its gradient is 0 but for rounding, and Adam makes steps of whole size of that.
MODELS = {
    "mlp": (mlp, lambda: torch.randn(8, 12)),
    "cnn": (cnn, lambda: torch.randn(4, 2, 8, 8)),
    "transformer": (Transformer, lambda: torch.randint(0, 11, (4, 7))),
    "lstm": (Lstm, lambda: torch.randn(4, 6, 6)),
}
OPTIMIZERS = {
    "sgd": ("sgd,lr=0.05", lambda p: torch.optim.SGD(p, lr=0.05)),
    "momentum": ("sgd,lr=0.05,momentum=0.9", lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9)),
    "adam": ("adam,lr=0.001", lambda p: torch.optim.Adam(p, lr=1e-3)),
    "adamw": ("adamw,lr=0.001", lambda p: torch.optim.AdamW(p, lr=1e-3)),
}
# Of one model alone: what else a step may be told.
SETTINGS = {
    "nesterov": ("sgd,lr=0.05,momentum=0.9,weight_decay=0.01,nesterov", lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, weight_decay=0.01, nesterov=True)),
    "dampening": ("sgd,lr=0.05,momentum=0.9,dampening=0.3,maximize", lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, dampening=0.3, maximize=True)),
    "amsgrad": ("adamw,lr=0.001,beta1=0.4,beta2=0.95,eps=1e-6,amsgrad", lambda p: torch.optim.AdamW(p, lr=1e-3, betas=(0.4, 0.95), eps=1e-6, amsgrad=True)),
    "clipped": ("sgd,lr=0.5,clip_norm=0.1", lambda p: torch.optim.SGD(p, lr=0.5)),
    "groups": ("adamw,lr=0.001,weight_decay=0.1;params=*.bias,weight_decay=0,lr=0.01", lambda p: torch.optim.AdamW(two_groups(p), lr=1e-3, weight_decay=0.1)),
    "bf16": ("adamw,lr=0.001", lambda p: torch.optim.AdamW(p, lr=1e-3)),
    "f16": ("sgd,lr=0.05,momentum=0.9,loss_scale=dynamic,init_scale=1024,growth_interval=8", lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9)),
    "accumulated": ("adam,lr=0.001,accumulate=4,clip_norm=0.1", lambda p: torch.optim.Adam(p, lr=1e-3)),
}


# Settings that are of mixed precision.
AUTOCAST = {"bf16": torch.bfloat16, "f16": torch.float16}


def steps(model, text, make, batches, autocast=None):
    """The losses of twenty calls."""
    optimizer, losses = make(model.parameters()), []
    pairs = dict(pair.split("=") for pair in text.split(";")[0].split(",")[1:] if "=" in pair)
    calls = int(pairs.get("accumulate", 1))
    scale = {"init_scale": float(pairs["init_scale"]), "growth_interval": int(pairs["growth_interval"])} if "loss_scale" in pairs else {"enabled": False}
    scaler = torch.amp.GradScaler("cpu", **scale)
    for k, batch in enumerate(batches):
        with torch.autocast("cpu", dtype=autocast, enabled=autocast is not None):
            loss = model(*batch)
        scaler.scale(loss / calls).backward()
        losses.append(loss.detach())
        if (k + 1) % calls == 0:
            if "clip_norm" in pairs:
                scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(model.parameters(), float(pairs["clip_norm"]))
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
    return torch.stack(losses)


def main(folder):
    os.makedirs(folder, exist_ok=True)
    torch.set_num_threads(1)
    for name, (make, inputs) in MODELS.items():
        torch.manual_seed(0)
        model = Loss(make())
        batches = [(x := inputs(), torch.randint(0, 5, x.shape[:1])) for _ in range(STEPS)]
        program = torch.export.export(copy.deepcopy(model), batches[0], strict=False)
        case.strip(program)
        torch.export.save(program, os.path.join(folder, f"{name}.pt2"))
        for optimizer, (text, rule) in {**OPTIMIZERS, **(SETTINGS if name == "mlp" else {})}.items():
            trained = copy.deepcopy(model)
            losses = steps(trained, text, rule, batches, AUTOCAST.get(optimizer))
            tensors = {f"in_{k}": torch.stack(each).contiguous() for k, each in enumerate(zip(*batches))}
            tensors |= {"losses": losses} | {each: value.detach().contiguous().clone() for each, value in trained.state_dict().items()}
            save_file(tensors, os.path.join(folder, f"{name}.{optimizer}.safetensors"), {"train": text} | ({"autocast": optimizer} if optimizer in AUTOCAST else {}))


if __name__ == "__main__":
    main(sys.argv[1])
