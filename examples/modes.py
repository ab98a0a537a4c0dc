"""The modes of `torch.compile` with Strata: what they cost and what they bring.

    python examples/modes.py [--quick]
"""

import sys
import time

import torch

from timing import least


def sin_and_cos(x):
    return torch.sin(x) + torch.cos(x)


def loop(x):
    for _ in range(20):
        x = torch.tanh(x * 0.9) + 0.1
    return x


def main():
    torch.manual_seed(0)
    network = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.BatchNorm2d(16), torch.nn.ReLU(), torch.nn.AvgPool2d(4)).eval()
    programs = [("sin + cos", sin_and_cos, torch.randn(10_000)), ("loop", loop, torch.randn(10_000)), ("network", network, torch.randn(8, 3, 32, 32))]
    modes = ["default", "reduce-overhead"] if "--quick" in sys.argv else ["default", "reduce-overhead", "max-autotune"]
    with torch.no_grad():
        for name, program, x in programs:
            print(f"{name:<10} eager {least(lambda: program(x)):9.1f} us", end="")
            for mode in modes:
                torch._dynamo.reset()
                compiled = torch.compile(program, backend="strata", mode=mode)
                start = time.perf_counter()
                torch.testing.assert_close(compiled(x), program(x), rtol=1e-4, atol=1e-5)
                print(f"   {mode} {least(lambda: compiled(x)):9.1f} us (first call {time.perf_counter() - start:.2f} s)", end="")
            print()


if __name__ == "__main__":
    main()
