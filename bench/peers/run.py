"""Compilers side by side on the same programs, in turns.

    python bench/peers/run.py --list
    python bench/peers/run.py 'chain_*' --peers eager,inductor,strata --plot chains.svg
    python bench/peers/run.py --drawn 7:500 --peers eager,strata
    python bench/peers/run.py 'kernel_*' network_resnet50 --peers eager,strata,strata:max-autotune,onnxruntime --table table.md

Each peer has a process of its own on the same CPUs, with as many threads as the others. Their rounds of calls take turns in an order that
rotates, and who is not asked is stopped, so that threads that wait by spinning are in nobody's way. A time is the median of the rounds.
Results are compared with those of eager PyTorch first. Peers that are not installed are named, not passed over.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

import torch

import drawn
import peer
import plot
import table
import workloads


class Process:
    """A peer at work."""

    def __init__(self, name: str, threads: int, expected: Path, log):
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "CUDA_VISIBLE_DEVICES": ""}
        command = [sys.executable, Path(__file__).with_name("worker.py"), name, str(threads), expected]
        self.process = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        self.process.send_signal(signal.SIGSTOP)

    def ask(self, **asked) -> dict:
        """Lets the peer run until it has answered."""
        self.process.send_signal(signal.SIGCONT)
        try:
            print(json.dumps(asked), file=self.process.stdin, flush=True)
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            return {"failed": f"its process ended with {self.process.wait()}"}
        self.process.send_signal(signal.SIGSTOP)
        return json.loads(answer)

    def end(self):
        """Ends the process, stopped or not."""
        self.process.kill()
        self.process.wait()


def measure(work: workloads.Workload, processes: dict[str, Process], rounds: int, seconds: float) -> dict[str, dict]:
    """What each peer says of a workload: its time, or why there is none."""
    found = {}
    for name, process in processes.items():
        found[name] = process.ask(do="prepare", workload=work.name)
        reason = found[name].get("absent") or found[name].get("failed")
        print(f"  {name}: {reason or 'ready in {seconds:.2f} s, off by {error:.0e}'.format(**found[name])}", file=sys.stderr, flush=True)
    ready = [name for name, each in found.items() if "seconds" in each]
    times = {name: [] for name in ready}
    for turn in range(rounds):
        for name in ready[turn % len(ready) :] + ready[: turn % len(ready)] if ready else []:
            answer = processes[name].ask(do="round", seconds=seconds)
            times[name].append(answer.get("microseconds"))
            found[name].update(answer)
    for name in ready:
        if "failed" not in found[name]:
            low, _, high = quantiles(times[name], n=4) if rounds > 1 else times[name] * 3
            found[name].update(microseconds=median(times[name]), spread=(high - low) / median(times[name]))
    return found


def parsed(arguments=None):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", default=["chain_*"], help="names or patterns; default: chain_*")
    parser.add_argument("--peers", default="eager,inductor,strata", help=f"of {', '.join(peer.NAMES)}; a mode follows a colon")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of every peer; default: all")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.05, help="length of a round")
    parser.add_argument("--table", type=Path, metavar="FILE.md", help="write the table to a file, too")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg", help="draw it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers")
    parser.add_argument("--export", type=Path, metavar="FOLDER", help="write the workloads as .pt2 files instead")
    parser.add_argument("--drawn", type=_seed_and_count, metavar="SEED:COUNT", help="measure so many drawn programs instead")
    parser.add_argument("--filter", default="", metavar="TEXT", help="of --drawn: only operators whose names contain it")
    parser.add_argument("--random-nets", action="store_true", help="of --drawn: blocks of networks instead of single operators")
    parser.add_argument("--list", action="store_true", help="name the workloads instead")
    options = parser.parse_args(arguments)
    options.peers = list(dict.fromkeys(["eager", *options.peers.split(",")]))
    for name in options.peers:
        if name.partition(":")[0] not in peer.NAMES:
            parser.error(f"there is no peer {name}; the peers are {', '.join(peer.NAMES)}")
    if options.random_nets and not options.drawn:
        parser.error("--random-nets is of --drawn SEED:COUNT")
    for name in ("threads", "rounds"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} is at least 1")
    return options


def _seed_and_count(text: str) -> tuple[int, int]:
    seed, _, count = text.partition(":")
    return int(seed), int(count or 500)


def main(arguments=None):
    """Measures, prints the table, and writes what is asked for."""
    options = parsed(arguments)
    if options.drawn:
        return measure_drawn(options)
    chosen = workloads.matching(options.workloads)
    if options.list:
        print("\n".join(work.name for work in chosen))
        return
    if options.export:
        export(chosen, options.export)
        return
    found = measure_all(chosen, options)
    text = table.text(found, options.peers, options.threads)
    print(text)
    if options.table:
        options.table.write_text(text)
    if options.plot:
        options.plot.write_text(plot.svg(found, options.peers))
    if options.json:
        options.json.write_text(json.dumps({"date": time.strftime("%Y-%m-%d"), "threads": options.threads, "workloads": found}, indent=1))


def measure_all(chosen: list[workloads.Workload], options) -> dict[str, dict[str, dict]]:
    """What each peer says of each workload."""
    found = {}
    with TemporaryDirectory() as folder, open(Path(folder) / "log", "w") as log:
        processes = {name: Process(name, options.threads, Path(folder) / "expected.pt", log) for name in options.peers}
        try:
            for work in chosen:
                print(work.name, file=sys.stderr, flush=True)
                found[work.name] = measure(work, processes, options.rounds, options.seconds)
        finally:
            for process in processes.values():
                process.end()
    return found


def measure_drawn(options):
    """Draws programs, measures them, and prints the worst first."""
    described = drawn.draw(*options.drawn, options.filter, options.random_nets)
    if not described:
        raise SystemExit(f"no program whose name contains '{options.filter}' runs in 0.1 to 20 ms")
    with TemporaryDirectory() as folder:
        file = Path(folder) / "drawn.json"
        file.write_text(json.dumps(described))
        os.environ[drawn.VARIABLE] = str(file)
        found = measure_all(drawn.programs(), options)
    seed, _ = options.drawn
    text = drawn.summary(found, described, options.peers, table.ratio)
    failed = [f"- {name}: {peer}: {reason}" for name, row in found.items() for peer in options.peers if (reason := table.why_not(row[peer]))]
    text = f"Seed {seed}; {table.processor()}, {options.threads} threads, PyTorch {torch.__version__}.\n\n{text}\n" + "\n".join(failed) + "\n"
    print(text)
    if options.table:
        options.table.write_text(text)
    if options.plot:
        options.plot.write_text(plot.spread(found, options.peers))
    if options.json:
        options.json.write_text(json.dumps({"seed": seed, "threads": options.threads, "drawn": described, "workloads": found}, indent=1))


def export(chosen: list[workloads.Workload], folder: Path):
    """Writes the programs as `torch.export` saves them."""
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    for work in chosen:
        torch.export.save(work.export(), folder / f"{work.name}.pt2")
        print(folder / f"{work.name}.pt2")


if __name__ == "__main__":
    main()
