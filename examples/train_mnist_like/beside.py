"""The same steps in eager PyTorch: prints a loss a line.

    python beside.py BATCHES WEIGHTS OPTIMIZER
"""

import sys

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
        self.head = nn.Linear(784, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        return self.head(F.max_pool2d(F.relu(self.conv2(x)), 2).flatten(1))


def optimizer_of(text, net, state):
    """An optimizer as `--train` names it, with the state of a checkpoint."""
    kind, *settings = text.split(",")
    settings = {name: float(value) for name, value in (setting.split("=") for setting in settings)}
    if kind != "sgd":
        settings["betas"] = (settings.pop("beta1", 0.9), settings.pop("beta2", 0.999))
    optimizer = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[kind](net.parameters(), **settings)
    for name, parameter in net.named_parameters():
        known = {key.removeprefix(f"{name}."): value for key, value in state.items() if key.startswith(f"{name}.")}
        if known:
            optimizer.state[parameter] = {**known, **({"step": state["step"].clone()} if "step" in state else {})}
    return optimizer


batches, weights = load_file(sys.argv[1]), load_file(sys.argv[2])
net = Net()
net.load_state_dict({name: weights.pop(name) for name in net.state_dict()})
optimizer = optimizer_of(sys.argv[3], net, weights)
for k in range(len(batches) // 2):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(batches[f"x.{k}"]), batches[f"target.{k}"])
    loss.backward()
    optimizer.step()
    print(loss.item())
