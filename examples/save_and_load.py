"""Export, load, and run where there is no PyTorch.

    python examples/save_and_load.py
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import torch

import strata

WITHOUT = """
import sys, numpy, strata
model = strata.load(sys.argv[1])
print("results:", model(numpy.load(sys.argv[2]))[0], " PyTorch imported:", "torch" in sys.modules)
"""


def main():
    torch.manual_seed(0)
    net, x = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3)).eval(), torch.randn(4, 8)
    rows = torch.export.Dim("rows", min=1, max=1024)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "net.pt2"
        torch.export.save(torch.export.export(net, (x,), dynamic_shapes=({0: rows},)), path)
        model = strata.load(path)
        for count in (4, 1, 100):
            y = torch.randn(count, 8)
            torch.testing.assert_close(model(y), net(y).detach())
        numpy.save(Path(folder) / "x.npy", x.numpy())
        print("in this process:", model(x)[0])
        subprocess.run([sys.executable, "-c", WITHOUT, path, Path(folder) / "x.npy"], check=True)
    print("the same file runs from a shell (rs-run net.pt2) and from Rust and C")


if __name__ == "__main__":
    main()
