"""The programs of `examples/` run, and check their own results."""

import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", sorted(path.name for path in FOLDER.glob("*.py") if path.name != "timing.py"))
def test_example(name):
    done = subprocess.run([sys.executable, FOLDER / name, "--quick"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
