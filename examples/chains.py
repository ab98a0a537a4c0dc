"""Chains of 1 to 30 statements on a small tensor: what a call costs when there is little to compute.

    python examples/chains.py [--quick] [--plot chains.png]

Each peer is called on one size (8x16), and on sizes that change from call to call with `dynamic=True`. Microseconds of a call, the least of many.
"""

import argparse

import torch

from timing import least


def chain(length):
    """A function of that many statements."""

    def function(x):
        for k in range(length):
            x = torch.sin(x) if k % 3 == 0 else x * 1.01 if k % 3 == 1 else x + 0.1
        return x

    return function


def peers(quick):
    yield "eager", lambda function, dynamic: function
    yield "strata", lambda function, dynamic: torch.compile(function, backend="strata", dynamic=dynamic)
    if not quick:
        yield "inductor", lambda function, dynamic: torch.compile(function, dynamic=dynamic)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two lengths, without Inductor")
    parser.add_argument("--plot", metavar="FILE", help="draw the table; needs matplotlib")
    options = parser.parse_args()
    lengths = [1, 30] if options.quick else [1, 2, 5, 10, 20, 30]
    fixed, others = torch.randn(8, 16), [torch.randn(rows, 16) for rows in (3, 5, 8, 13)]
    names = [name for name, _ in peers(options.quick)]
    table = {}
    print(f"{'':>10}" + "".join(f"{name + ' fixed':>16}{name + ' dynamic':>18}" for name in names))
    with torch.no_grad():
        for length in lengths:
            for name, make in peers(options.quick):
                function = chain(length)
                torch._dynamo.reset()
                run = make(function, False)
                torch.testing.assert_close(run(fixed), function(fixed))
                once = least(lambda: run(fixed))
                torch._dynamo.reset()
                run = make(function, True)
                for x in others:
                    torch.testing.assert_close(run(x), function(x))
                table[length, name] = once, least(lambda: [run(x) for x in others]) / len(others)
            print(f"{length:>10}" + "".join(f"{table[length, name][0]:>16.2f}{table[length, name][1]:>18.2f}" for name in names), flush=True)
    if options.plot:
        draw(options.plot, lengths, names, table)


def draw(path, lengths, names, table):
    try:
        import matplotlib.pyplot as plot
    except ImportError:
        raise SystemExit("--plot needs matplotlib: pip install matplotlib") from None
    figure, axes = plot.subplots(1, 2, figsize=(10, 4), sharey=True)
    for axis, title, column in zip(axes, ("one size", "changing sizes"), (0, 1)):
        for name in names:
            axis.plot(lengths, [table[length, name][column] for length in lengths], marker="o", label=name)
        axis.set(title=title, xlabel="statements", yscale="log")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("microseconds of a call")
    axes[0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    print(f"drawn: {path}")


if __name__ == "__main__":
    main()
