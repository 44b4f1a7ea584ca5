"""Sweeps give the same wherever they run, and run nothing twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent import futures
from pathlib import Path
from typing import Any

import fairdisk
import numpy
import polars
import pytest
from fairdisk._sweep import FIRST, Portions

PROGRAM = os.environ["FAIRDISK_PROGRAM"]
OVER = {"scheduler": ["fair", "noop"], "host.hz": [100, 1000]}


def swept(**more: Any) -> fairdisk.SweepResult:
    """Eight short runs."""
    return fairdisk.sweep("two-groups", OVER, seeds=2, duration_s=0.1, **more)


@pytest.fixture(scope="module")
def here() -> polars.DataFrame:
    return swept().to_polars()


@pytest.mark.parametrize("executor", ["threads", "processes", "joblib", "dask", "ray"])
def test_executors_give_the_same(executor: str, here: polars.DataFrame, tmp_path: Path) -> None:
    chosen: Any = executor
    if executor == "ray":
        import ray

        ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    if executor == "dask":
        import distributed

        chosen = distributed.Client(processes=False, n_workers=1, dashboard_address=None)
    try:
        assert swept(executor=chosen, store=tmp_path).to_polars().equals(here)
        again = swept(executor=chosen, store=tmp_path)
        assert (again.known, again.cells) == (8, 8) and again.to_polars().equals(here)
    finally:
        if executor == "dask":
            chosen.close()
        if executor == "ray":
            ray.shutdown()


def test_a_pool_gets_portions_of_about_a_second() -> None:
    portions = Portions(range(10_000), workers=2)
    [first] = portions.next(1)
    assert len(first) == FIRST
    portions.done((FIRST * 0.01, [(cell, None, "", False) for cell in first]))
    sizes = [len(portion) for portion in portions.next(10_000)]
    # Of 10 ms each: a second at first, and 50 ms at the end.
    assert sizes[:50] == [100] * 50 and sizes[-2] == 5 and len(sizes) < 140, sizes
    assert sum(sizes) == 10_000 - FIRST
    slow = Portions(range(100), workers=2)
    slow.done((60.0, [(0, None, "", False)]))
    assert len(next(slow.next(1))) == 1


def test_an_executor_of_ones_own_is_used(here: polars.DataFrame) -> None:
    with futures.ThreadPoolExecutor(2) as pool:
        assert swept(executor=pool).to_polars().equals(here)


def test_a_store_of_fsspec_keeps_cells(here: polars.DataFrame) -> None:
    assert swept(store="memory://runs", shard="1/2").known == 0
    whole = swept(store="memory://runs")
    assert whole.known == 4 and whole.to_polars().equals(here)


@pytest.mark.parametrize("executor", [None, "threads", "processes"])
def test_half_a_text_in_a_store_is_run_again(
    executor: Any, here: polars.DataFrame, tmp_path: Path
) -> None:
    swept(store=tmp_path)
    kept = sorted(tmp_path.rglob("*"))
    damaged = next(file for file in kept if file.suffix == ".json")
    whole = damaged.read_text()
    damaged.write_text(whole[:100])
    again = swept(store=tmp_path, executor=executor)
    assert again.known == 7 and again.to_polars().equals(here)
    assert damaged.read_text() == whole and sorted(tmp_path.rglob("*")) == kept


def test_the_program_and_python_share_a_store(here: polars.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "sweep.toml").write_text(
        'spec = "two-groups"\nseeds = 2\nduration_s = 0.1\n'
        '[over]\nscheduler = ["fair", "noop"]\n"host.hz" = [100, 1000]\n'
    )
    words = [PROGRAM, "sweep", "sweep.toml", "--store", "runs", "--shard", "1/2", "--quiet"]
    subprocess.run(words, cwd=tmp_path, check=True)
    whole = swept(store=tmp_path / "runs")
    assert whole.known == 4 and whole.to_polars().equals(here)


@pytest.mark.parametrize("executor", ["threads", "ray"])
def test_a_sweep_that_is_killed_goes_on_where_it_was(executor: str, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    options = {"seeds": 1000, "duration_s": 5.0, "store": str(runs)}
    program = (
        "import fairdisk, ray\n"
        f"if {executor!r} == 'ray':\n"
        "    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)\n"
        "fairdisk.sweep('two-groups', {'scheduler': ['fair']}, executor="
        f"{executor!r}, **{options!r})\n"
    )
    child = subprocess.Popen([sys.executable, "-c", program])
    kept = lambda: sum(1 for _ in runs.rglob("*.json"))  # noqa: E731
    deadline = time.monotonic() + 60
    try:
        while kept() < 20 and time.monotonic() < deadline:
            assert child.poll() is None, "it ended before it was killed"
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    before = kept()
    assert 20 <= before < 1000
    again = fairdisk.sweep("two-groups", {"scheduler": ["fair"]}, **options)  # type: ignore[arg-type]
    assert (again.known, again.cells) == (before, 1000)
    assert again.to_polars()["error"].null_count() == 2 * 1000


def test_an_error_is_a_row(here: polars.DataFrame) -> None:
    over = {"scheduler": ["fair", "fiar"]}
    frame = fairdisk.sweep("two-groups", over, duration_s=0.1).to_polars()
    wrong = frame.filter(polars.col("error").is_not_null())
    assert len(wrong) == 1 and wrong["scheduler"][0] == "fiar"
    assert "did you mean `fair`?" in wrong["error"][0]


def test_points_are_drawn_from_ranges() -> None:
    over = {"host.memory.mib": fairdisk.Range(100, 1000, whole=True)}
    both = [
        fairdisk.sweep(
            "two-groups",
            over,
            design="latin-hypercube",
            samples=9,
            duration_s=0.1,
        ).to_polars()
        for _ in range(2)
    ]
    assert both[0].equals(both[1]) and both[0]["error"].null_count() == len(both[0])
    assert sorted(int((mib - 100) // 100.01) for mib in set(both[0]["host.memory.mib"])) == list(range(9))


def test_devices_with_changes_are_an_axis() -> None:
    devices = ["nvme", fairdisk.devices.nvme(read_us=500, collection_busy_us=0)]
    over = {"device": devices, "scheduler": ["noop"]}
    frame = fairdisk.sweep("two-groups", over, duration_s=0.1).to_polars()
    assert frame["device.read_us"].to_list() == [None, None, 500, 500]
    ios = frame.group_by("device.read_us").agg(polars.col("ios").sum())
    assert ios.sort("device.read_us")["ios"][0] > 2 * ios.sort("device.read_us")["ios"][1]


def test_arrays_of_others_are_values_and_seeds() -> None:
    over = {"host.hz": numpy.array([100, 1000]), "scheduler": ["noop"]}
    frame = fairdisk.sweep("two-groups", over, seeds=numpy.arange(3), duration_s=0.1).to_polars()
    assert sorted(set(frame["seed"])) == [0, 1, 2] and set(frame["host.hz"]) == {100, 1000}


def test_a_list_of_points_is_run() -> None:
    points = [{"host.hz": 100}, {"scheduler": "noop", "host.hz": 250}]
    frame = fairdisk.sweep("two-groups", points, duration_s=0.1).to_polars()
    assert set(frame["host.hz"]) == {100.0, 250.0}
    assert frame.filter(polars.col("host.hz") == 250)["scheduler"].unique().to_list() == ["noop"]
