"""One peer's process: prepares workloads and calls them when the runner asks. It reads and answers lines of JSON."""

import json
import os
import sys
from itertools import cycle, islice
from time import perf_counter

import torch

import peer
import workloads


class Worker:
    """The peer and the workload that it has in hand."""

    def __init__(self, name: str, threads: int, expected: str):
        self.name, self.threads, self.expected = name, threads, expected
        """`expected` is the file of the results of eager PyTorch, which that peer writes and the others read."""
        self.prepared: peer.Prepared | None = None
        self.repeat = 1

    def prepare(self, workload: str) -> dict:
        """Compiles the workload and compares its results; says how long that took and how far they are off."""
        (work,) = workloads.matching([workload])
        self.prepared = None
        torch._dynamo.reset()
        start = perf_counter()
        self.prepared = peer.prepare(self.name, work, self.threads)
        results = [self.prepared.tensors(self.prepared.call(*each)) for each in self.prepared.arguments]
        seconds = perf_counter() - start
        if self.name == "eager":
            torch.save(results, self.expected)
        error = max(map(_error, results, torch.load(self.expected)))
        self.repeat = self.calibrated()
        return {"seconds": seconds, "error": error, "right": error <= work.tolerance}

    def calibrated(self) -> int:
        """So many calls that reading the clock counts for nothing."""
        repeat = 1
        while self.once(repeat) < 1e-3:
            repeat *= 4
        return repeat

    def once(self, repeat: int) -> float:
        call, arguments = self.prepared.call, list(islice(cycle(self.prepared.arguments), repeat))
        start = perf_counter()
        for each in arguments:
            call(*each)
        return perf_counter() - start

    def round(self, seconds: float) -> dict:
        """Calls for about that long; gives the time of a call in microseconds."""
        taken, calls = 0.0, 0
        self.once(1)  # the caches are another peer's
        while taken < seconds:
            taken, calls = taken + self.once(self.repeat), calls + self.repeat
        return {"microseconds": 1e6 * taken / calls}


def _error(results: list, wanted: list) -> float:
    """The largest difference, relative to the largest element. What is not comparable, and NaN on one side only, is infinitely far off."""
    if [each.shape for each in results] != [each.shape for each in wanted]:
        return float("inf")
    return max((_difference(_wide(found), _wide(right)) for found, right in zip(results, wanted) if right.numel()), default=0.0)


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return (torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor).double()


def _difference(found: torch.Tensor, right: torch.Tensor) -> float:
    same = (found == right) | (found.isnan() & right.isnan())  # infinities, and what is undefined on both sides
    size = right[right.isfinite()].abs().max().clamp(min=1e-12) if right.isfinite().any() else 1.0
    found, right = found[~same], right[~same]
    if not right.numel():
        return 0.0
    error = ((found - right).abs().max() / size).item()
    return float("inf") if error != error else error


def main(name, threads, expected):
    worker = Worker(name, int(threads), expected)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: worker.threads])
    torch.set_num_threads(worker.threads)
    torch.set_grad_enabled(False)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what peers print is no answer
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = getattr(worker, asked.pop("do"))(**asked)
        except peer.Absent as absent:
            answer = {"absent": str(absent)}
        except Exception as error:  # another compiler's failure is a line of the table
            answer = {"failed": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
