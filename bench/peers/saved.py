"""What forwards save for backwards, beside PyTorch's partitioner: a table of megabytes.

    python bench/peers/saved.py [NAME..] [--budgets 1,0.5,0.1] [--compiler target/release/rs-compile]

Of the models of `train.py`, with their losses. PyTorch's numbers are those of its min-cut partitioner (`torch._functorch.config.activation_memory_budget`),
which a budget of 1 is the default of. Ours are those that `rs-compile --rematerialise` says; `budget=1` saves all that is not cheap to compute again.
Parameters and inputs, which are there anyway, are not counted on either side.
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch import config
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch._guards import TracingContext
from torch._inductor.decomposition import select_decomp_table

from train import WORKLOADS, Loss


def of_pytorch(loss: torch.nn.Module, batch: tuple, budget: float) -> int:
    """Bytes that the forward gives the backward beside its arguments."""
    saved = 0

    def forward(graph: torch.fx.GraphModule, _):
        nonlocal saved
        given = TracingContext.get().fw_metadata.num_forward_returns
        kept = graph.graph.output_node().args[0][given:]
        values = {node: node.meta["val"] for node in kept if isinstance(node, torch.fx.Node) and node.op != "placeholder"}
        saved += sum(value.numel() * value.element_size() for value in values.values() if isinstance(value, torch.Tensor))
        return graph.forward

    backend = aot_autograd(
        fw_compiler=forward,
        bw_compiler=lambda graph, _: graph.forward,
        partition_fn=min_cut_rematerialization_partition,
        decompositions=select_decomp_table(),
    )
    torch._dynamo.reset()
    with config.patch(activation_memory_budget=budget):
        torch.compile(loss, backend=backend)(*batch).backward()
    return saved


SAID = re.compile(r"saved for the backward: ([\d.]+) MB of ([\d.]+) MB; the memory of a call is ([\d.]+) MB")


def of_strata(compiler: Path, program: Path, budget: float) -> tuple[float, float]:
    """Megabytes that the forward saves, and of the memory of a call."""
    what = ["--train=sgd,lr=0.1", f"--rematerialise=budget={budget}"]
    with tempfile.TemporaryDirectory() as folder:
        command = [compiler, program, *what, "-o", Path(folder) / "step.strata"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    found = SAID.search(run.stdout + run.stderr)
    if run.returncode or not found:
        raise SystemExit(f"{' '.join(map(str, command))}: {run.stderr or run.stdout}")
    return float(found[1]), float(found[3])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(WORKLOADS)}; all without any")
    parser.add_argument("--budgets", default="1,0.5,0.1")
    parser.add_argument("--compiler", type=Path, default=Path("target/release/rs-compile"))
    options = parser.parse_args()
    budgets = [float(budget) for budget in options.budgets.split(",")]
    unknown = [name for name in options.names if name not in WORKLOADS]
    if unknown:
        parser.error(f"there are the workloads {', '.join(WORKLOADS)}")
    print(f"| MB saved, Strata and PyTorch (memory of a call of Strata) | {' | '.join(f'budget {budget:g}' for budget in budgets)} |")
    print("| --- |" + " --- |" * len(budgets), flush=True)
    for name in options.names or WORKLOADS:
        torch.manual_seed(0)
        make, draw = WORKLOADS[name]
        loss, batch = Loss(make().train()), draw()
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / f"{name}.pt2"
            torch.export.save(torch.export.export(loss, batch), program)
            cells = []
            for budget in budgets:
                saved, call = of_strata(options.compiler, program, budget)
                cells.append(f"{saved:.1f}, {of_pytorch(loss, batch, budget) / 1e6:.1f} ({call:.1f})")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
