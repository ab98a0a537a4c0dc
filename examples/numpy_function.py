"""A function of NumPy, compiled: TorchDynamo reads NumPy's functions as PyTorch's, arrays go in and come out.

    python examples/numpy_function.py
"""

import numpy as np
import torch

from timing import least


def distances(points, centres):
    """The squared distance of each point to the nearest centre, and which one that is."""
    apart = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(-1)
    return apart.min(1), apart.argmin(1)


def main():
    random = np.random.default_rng(0)
    points, centres = random.normal(size=(5000, 8)).astype("float32"), random.normal(size=(16, 8)).astype("float32")
    compiled = torch.compile(distances, backend="strata")
    found, wanted = compiled(points, centres), distances(points, centres)
    assert all(isinstance(each, np.ndarray) for each in found)
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-4)
    np.testing.assert_array_equal(found[1], wanted[1])
    print(f"NumPy {least(lambda: distances(points, centres)):9.1f} us   strata {least(lambda: compiled(points, centres)):9.1f} us")


if __name__ == "__main__":
    main()
