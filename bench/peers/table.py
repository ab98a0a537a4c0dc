"""The measurements as Markdown: a table for each family, with the geometric mean of the ratios."""

import os
import platform
from itertools import groupby
from statistics import geometric_mean

import torch

UNSTEADY = 0.2
"""A time is marked where the middle half of its rounds spreads over more than this part of it."""


def text(found: dict[str, dict[str, dict]], peers: list[str], threads: int) -> str:
    """`found` has what each peer said of each workload."""
    lines = [
        f"{processor()}, {threads} threads of {os.cpu_count()}, PyTorch {torch.__version__}. Time of a call, and how many times as fast as eager",
        "PyTorch that is; the geometric mean is over the workloads that a peer has a right result for.",
        "`~`: the middle half of its rounds spreads over more than a fifth of the time. `wrong`: the result is off by more than the tolerance.",
    ]
    for family, names in groupby(found, key=lambda name: name.split("_")[0]):
        names = list(names)
        lines += ["", f"| {family} | " + " | ".join(peers) + " |", "| --- |" + " ---: |" * len(peers)]
        for name in names:
            lines.append(f"| {name} | " + " | ".join(cell(found[name], peer) for peer in peers) + " |")
        means = [[ratio(found[name], peer) for name in names] for peer in peers]
        means = [[each for each in ratios if each is not None] for ratios in means]
        lines.append("| geometric mean | " + " | ".join(f"{geometric_mean(each):.2f}x of {len(each)}" if each else "" for each in means) + " |")
    reasons: dict[str, list[str]] = {}
    for name, row in found.items():
        for peer in peers:
            if reason := why_not(row[peer]):
                reasons.setdefault(f"{peer}: {reason}", []).append(name)
    notes = [f"- {reason} ({', '.join(names)})" for reason, names in reasons.items()]
    return "\n".join(lines + ([""] + notes if notes else [])) + "\n"


def ratio(row: dict[str, dict], peer: str) -> float | None:
    """How many times as fast as eager PyTorch a peer is, where it is right and both were timed."""
    eager, mine = row["eager"], row[peer]
    timed = "microseconds" in eager and "microseconds" in mine and "failed" not in mine and mine["right"]
    return eager["microseconds"] / mine["microseconds"] if timed else None


def cell(row: dict[str, dict], peer: str) -> str:
    """A time and its ratio, or a word."""
    mine, faster = row[peer], ratio(row, peer)
    if faster is not None:
        return f"{duration(mine['microseconds'])} ({faster:.2f}x)" + ("~" if mine["spread"] > UNSTEADY else "")
    return "absent" if "absent" in mine else "failed" if "failed" in mine else "wrong"


def why_not(said: dict) -> str | None:
    """What a peer that has no time says."""
    wrong = "right" in said and not said["right"]
    return said.get("absent") or said.get("failed") or (f"off by {said['error']:.1e} of the largest element" if wrong else None)


def duration(microseconds: float) -> str:
    """Three digits and a unit."""
    value, unit = (microseconds, "us") if microseconds < 1e3 else (1e-3 * microseconds, "ms")
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} {unit}"


def processor() -> str:
    """The processor's name, as Linux says it."""
    with open("/proc/cpuinfo") as file:
        named = [line.partition(":")[2].strip() for line in file if line.startswith("model name")]
    return named[0] if named else platform.machine()
