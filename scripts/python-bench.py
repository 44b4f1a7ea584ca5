"""Measures the Python package: a call, a large table, and a sweep on pools beside threads.

python-bench.py [RUNS], with the package on the path; 10,000 runs without it.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable

import fairdisk
import polars
from fairdisk._sweep import defined

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
#: How long a run lasts, in simulated seconds.
DURATION_S = 2.0
#: So often threads and a pool are measured, one after the other.
TURNS = 5
#: So many workers each pool has, and so many threads it is compared with.
WORKERS = 2


def best(work: Callable[[], object], times: int = 5) -> float:
    """The shortest time that a work took, in seconds."""

    def once() -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    return min(once() for _ in range(times))


def main() -> None:
    """Prints a line for each measurement."""
    nothing = defined("two-groups", {"scheduler": ["noop"]})._sweep
    call_ms = 1e3 * best(lambda: nothing.run([]), 200)
    print(f"a call that runs nothing: {call_ms:.3f} ms")

    over = {"scheduler": ["noop"]}
    few = defined("two-groups", over, seeds=500, duration_s=0.1)._sweep
    [first, *_] = cells = [(cell, text) for cell, _, text, _ in few.run(list(range(500)))]
    rows = len(few.table([first]))
    many = few.table(cells * (1_000_000 // (len(cells) * rows)))
    frame_s = best(lambda: polars.DataFrame(many))
    print(f"{len(many)} rows to Polars: {frame_s:.3f} s")

    figures = {"call_ms": call_ms, "million_rows_s": frame_s, **of_threads()}
    print(json.dumps({key: round(value, 4) for key, value in figures.items()}))


def of_threads() -> dict[str, float]:
    """The throughput of pools of two workers as a part of that of two threads here; medians."""
    # Workers of Ray are nice by default: beside other work on the machine they would get less.
    os.environ.setdefault("RAY_worker_niceness", "0")
    # joblib takes all cores by default.
    os.environ["LOKY_MAX_CPU_COUNT"] = str(WORKERS)
    import distributed
    import ray

    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False)
    client = distributed.Client(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None)
    over = {"scheduler": ["noop"]}
    sweep = defined("two-groups", over, seeds=RUNS, duration_s=DURATION_S)
    few = defined("two-groups", over, seeds=8, duration_s=DURATION_S)
    found = {}
    for name, pool in {"ray": "ray", "dask": client, "joblib": "joblib"}.items():
        few.run(executor=pool)
        turns = []
        for _ in range(TURNS):
            threads_s = best(lambda: sweep._sweep.run(list(range(RUNS)), threads=WORKERS), 1)
            pool_s = best(lambda: sweep.run(executor=pool), 1)
            print(f"{RUNS} runs: {threads_s:.2f} s on threads, {pool_s:.2f} s on {name}")
            turns.append(threads_s / pool_s)
        found[f"{name}_of_threads"] = statistics.median(turns)
        print(f"{name} with two workers: {found[f'{name}_of_threads']:.2f} of threads")
    client.close()
    return found


if __name__ == "__main__":
    main()
