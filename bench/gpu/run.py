"""Side by side on one CUDA device, in one run: eager PyTorch, torch.compile, and Strata.

    python bench/gpu/run.py --strata FOLDER [--filter TEXT] [--out table.md]

FOLDER has `rs-run` and the programs that `bench/gpu/prepare.py` has compiled: neither a compiler nor LLVM is needed there.
All three are called with tensors that are on the device already. A time is the median of many calls, each waited for.
"""

import argparse
import pathlib
import re
import subprocess
import sys

import workloads


def timed(torch, call, budget=1.0):
    """Median microseconds of a call."""
    for _ in range(5):
        call()
    torch.cuda.synchronize()
    samples, spent = [], 0.0
    while spent < budget and len(samples) < 2000:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        call()
        end.record()
        end.synchronize()
        samples.append(1e3 * begin.elapsed_time(end))
        spent += samples[-1] * 1e-6 + 1e-5
    return sorted(samples)[len(samples) // 2]


def ours(folder, name):
    """What `rs-run --benchmark` says of a program, in microseconds."""
    run = [folder / "rs-run", folder / f"{name}.strata", "--backend", "cuda", "--inputs", folder / f"{name}.safetensors", "--benchmark"]
    done = subprocess.run([str(part) for part in run], capture_output=True, text=True)
    found = re.search(r"^median\s+([\d.]+) (ns|us|ms|s)$", done.stdout, re.M)
    if done.returncode != 0 or not found:
        return None, (done.stderr or done.stdout).strip().splitlines()[-1:]
    return float(found[1]) * {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}[found[2]], None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--strata", type=pathlib.Path, required=True, metavar="FOLDER")
    parser.add_argument("--filter", default="")
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        import torch
    except ImportError:
        sys.exit("PyTorch is not installed: there is nothing to compare with")
    if not torch.cuda.is_available():
        sys.exit("no device: PyTorch finds no CUDA device here, so nothing was measured")

    peak = workloads.copy_bandwidth(torch, timed)
    lines = [f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; a copy moves {peak / 1e9:.0f} GB/s", ""]
    lines += ["| workload | eager us | torch.compile us | Strata us | best other / Strata | share of copy |", "|---|---:|---:|---:|---:|---:|"]
    failed = []
    for work in workloads.all_of(torch, "cuda"):
        if arguments.filter not in work.name:
            continue
        with torch.no_grad():
            eager = timed(torch, lambda: work.module(*work.inputs))
            torch._dynamo.reset()
            compiled = torch.compile(work.module, dynamic=work.dynamic)
            other = timed(torch, lambda: compiled(*work.inputs))
        mine, reason = ours(arguments.strata, work.name)
        if mine is None:
            failed.append(f"{work.name}: {' '.join(reason)}")
            lines.append(f"| {work.name} | {eager:.1f} | {other:.1f} | failed | | |")
            continue
        share = f"{work.bytes / (mine * 1e-6) / peak:.0%}" if work.bytes else ""
        lines.append(f"| {work.name} | {eager:.1f} | {other:.1f} | {mine:.1f} | {min(eager, other) / mine:.2f} | {share} |")
    text = "\n".join(lines + ([""] + failed if failed else [])) + "\n"
    print(text)
    if arguments.out:
        arguments.out.write_text(text)


if __name__ == "__main__":
    main()
