"""Chains of 1 to 30 statements on a small tensor: what a call costs when there is little to compute.

    python examples/chains.py [--quick] [--plot chains.svg]

Each chain is called on one size (8x16), and as `changing` on sizes that differ from call to call. `bench/peers/run.py` measures, and knows more
peers and programs.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "bench" / "peers"))
import run  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two lengths, without Inductor")
    parser.add_argument("--plot", metavar="FILE.svg", help="draw the table")
    options = parser.parse_args()
    asked = ["--peers", "strata" if options.quick else "strata,inductor"]
    if options.quick:
        asked += ["--rounds", "2", "--seconds", "0.01"]
    if options.plot:
        asked += ["--plot", options.plot]
    lengths = (1, 30) if options.quick else (1, 5, 10, 15, 20, 25, 30)
    run.main([*asked, *(f"chain_{length}{sizes}" for length in lengths for sizes in ("", "_changing"))])


if __name__ == "__main__":
    main()
