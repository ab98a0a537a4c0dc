"""What the examples time with."""

import time


def least(call, seconds: float = 0.3) -> float:
    """The least time of a call in microseconds; what else runs on the machine makes calls longer, never shorter."""
    call()
    start = time.perf_counter()
    call()
    repeat = max(1, int(0.002 / max(time.perf_counter() - start, 1e-7)))
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(repeat):
            call()
        best = min(best, (time.perf_counter() - start) / repeat)
    return 1e6 * best
