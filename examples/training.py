"""A network trained with a compiled forward and backward, beside eager PyTorch: the same curve.

    python examples/training.py [--quick]
"""

import copy
import sys

import torch
from torch import nn

from timing import least


def data(count):
    """Points of two spirals, and which one each is on."""
    turn = torch.rand(count) * 3 + 0.5
    side = torch.randint(0, 2, (count,))
    angle = turn * 3 + side * torch.pi
    return torch.stack([turn * angle.cos(), turn * angle.sin()], 1) + 0.1 * torch.randn(count, 2), side


def main():
    torch.manual_seed(0)
    steps = 30 if "--quick" in sys.argv else 300
    x, y = data(2000)
    eager = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))
    networks = {"eager": eager, "strata": copy.deepcopy(eager)}
    calls = {"eager": networks["eager"], "strata": torch.compile(networks["strata"], backend="strata")}
    optimizers = {name: torch.optim.Adam(network.parameters(), lr=0.01) for name, network in networks.items()}

    def step(name):
        loss = nn.functional.cross_entropy(calls[name](x), y)
        optimizers[name].zero_grad()
        loss.backward()
        optimizers[name].step()
        return loss.item()

    for k in range(steps):
        losses = {name: step(name) for name in calls}
        if k % (steps // 6) == 0 or k == steps - 1:
            print(f"step {k:4}   loss: eager {losses['eager']:.6f}, strata {losses['strata']:.6f}")
        assert abs(losses["eager"] - losses["strata"]) < 0.02, "the curves part"
    print(f"a step: eager {least(lambda: step('eager')):8.1f} us, strata {least(lambda: step('strata')):8.1f} us")


if __name__ == "__main__":
    main()
