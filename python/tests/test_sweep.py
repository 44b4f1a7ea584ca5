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
from fairdisk._pools import FIRST, Cell, Costs, Futures, Portion, Portions, Ray, Room, in_time

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


def cells_of(numbers: list[int]) -> list[Cell]:
    return [(cell, None, "", False) for cell in numbers]


def test_a_pool_gets_portions_of_about_a_second() -> None:
    portions = Portions(range(10_000), seeds=10_000)
    [first] = portions.next(1, workers=2)
    assert len(first) == FIRST
    portions.done((FIRST * 0.01, cells_of(first), []))
    sizes = [len(portion) for portion in portions.next(10_000, workers=2)]
    # Of 10 ms each: a second at first, and 50 ms at the end.
    assert sizes[:50] == [100] * 50 and sizes[-2] == 5 and len(sizes) < 140, sizes
    assert sum(sizes) == 10_000 - FIRST
    slow = Portions(range(100), seeds=100)
    slow.done((60.0, cells_of([0]), []))
    assert len(next(slow.next(1, workers=2))) == 1


def test_a_portion_is_a_part_of_one_point_or_small_points_as_a_whole() -> None:
    large = Portions(range(4500), seeds=1500)
    large.done((0.0001, cells_of([0]), []))
    assert [len(portion) for portion in large.next(4, workers=1)] == [1000, 500, 1000, 500]
    small = Portions(range(3000), seeds=3)
    small.done((0.01, cells_of([0]), []))
    sizes = [len(portion) for portion in small.next(3000, workers=2)]
    # Of 10 ms each: one point in 50 ms.
    assert sizes == [3] * 1000


def pooled(costs_s: list[float], seeds: int, workers: int) -> tuple[float, list[float]]:
    """When the last of these cells is done by workers of a clock of their own, and what each task
    took."""
    portions, tasks = Portions(range(len(costs_s)), seeds), 2 * workers
    costs = Costs(seeds)
    queued: list[list[int]] = []
    running: list[tuple[float, Portion]] = []
    tooks: list[float] = []
    now_s = 0.0
    while True:
        queued += portions.next(tasks - len(queued) - len(running), workers)
        while queued and len(running) < workers:
            clock = [now_s]

            def run(some: list[int], clock: list[float] = clock) -> list[Cell]:
                clock[0] += sum(costs_s[cell] for cell in some)
                return cells_of(some)

            portion = in_time(run, queued.pop(0), costs, lambda clock=clock: clock[0])  # type: ignore[misc]
            running.append((clock[0], portion))
        if not running:
            return now_s, tooks
        running.sort(key=lambda one: one[0])
        now_s, portion = running.pop(0)
        tooks.append(portion[0])
        portions.done(portion)


@pytest.mark.parametrize(
    ("costs_s", "seeds", "workers"),
    [
        ([60.0] * 8, 8, 8),
        ([0.0001] * 500 + [1.0] * 500, 500, 2),
        ([0.0001] * 5000 + [1.0] * 100, 1, 4),
        ([0.05, 0.5] * 200, 2, 4),
        ([1.0] * 100 + [0.001] * 10_000, 100, 3),
    ],
)
def test_cells_of_unequal_cost_keep_all_workers_busy(
    costs_s: list[float], seeds: int, workers: int
) -> None:
    last_s, tooks = pooled(costs_s, seeds, workers)
    at_best_s = max(sum(costs_s) / workers, max(costs_s))
    assert last_s < 1.05 * at_best_s + 2.0, last_s / at_best_s
    # A task that is at work at two seconds ends with the cells that it has begun.
    assert max(tooks) < 4.0 + max(costs_s), max(tooks)


def test_a_task_that_takes_long_gives_back_what_it_has_not_run() -> None:
    now = [0.0]

    def run(some: list[int]) -> list[Cell]:
        now[0] += 0.9 * len(some)
        return cells_of(some)

    took_s, done, rest = in_time(run, range(10), Costs(10), lambda: now[0])
    assert took_s == pytest.approx(2.7) and [cell[0] for cell in done] == [0, 1, 2]
    portions = Portions([10, 11], seeds=100)
    portions.done((took_s, done, rest))
    assert [cell for portion in portions.next(99, workers=1) for cell in portion] == list(range(3, 12))


def test_a_task_of_cells_whose_cost_is_known_runs_them_at_once() -> None:
    calls: list[int] = []

    def run(some: list[int]) -> list[Cell]:
        calls.append(len(some))
        return cells_of(some)

    costs = Costs(100)
    for _ in range(2):
        in_time(run, range(17), costs, lambda: 0.001 * sum(calls))
    # A call has a cost of its own, such as to plan the load.
    assert calls == [1, 16, 17]


class Finished(futures.Executor):
    """An executor that is done at once, of some workers."""

    def __init__(self, workers: int, fails: int = -1) -> None:
        self.workers, self.fails, self.most = workers, fails, 0

    def submit(self, fn: Any, /, *args: Any, **_: Any) -> futures.Future[Any]:
        future: futures.Future[Any] = futures.Future()
        if self.fails in args[1]:
            future.set_exception(RuntimeError("a worker is gone"))
        else:
            future.set_result((0.001, cells_of(args[1]), []))
        return future


class Interrupted(KeyboardInterrupt):
    pass


@pytest.mark.parametrize("at", ["keep", "told", "a task"])
@pytest.mark.parametrize("kind", ["futures", "ray"])
def test_what_is_finished_is_kept_if_another_portion_ends_the_sweep(at: str, kind: str) -> None:
    fails = 17 if at == "a task" else -1
    kept: set[int] = set()
    calls = [0]

    def keep(some: list[Cell]) -> None:
        calls[0] += 1
        if at == "keep" and calls[0] == 2:
            kept.add(some[0][0])
            raise Interrupted
        kept.update(cell[0] for cell in some)

    def told() -> None:
        if at == "told":
            raise Interrupted

    room = Room(lambda: 5)
    pool = Futures(Finished(5, fails), room) if kind == "futures" else Ray(LikeRay(fails), room)
    with pytest.raises((Interrupted, RuntimeError)):
        pool.run("{}", Portions(range(1000), seeds=1000), keep, told)
    # All ten tasks were done; the one that failed had four cells.
    assert kept >= set(range(40)) - ({16, 17, 18, 19} if fails >= 0 else set())


class LikeRay:
    """The calls of Ray that a pool needs, of tasks that are done at once."""

    class exceptions:
        RayError = RuntimeError

    def __init__(self, fails: int) -> None:
        self._executor = Finished(1, fails)

    def remote(self, _: object) -> LikeRay:
        task = LikeRay.__new__(LikeRay)
        task.options = lambda **_: task  # type: ignore[attr-defined]
        task.remote = lambda *args: self._executor.submit(None, *args)  # type: ignore[method-assign]
        return task

    def put(self, text: str) -> str:
        return text

    def wait(self, refs: list[Any], num_returns: int, timeout: float | None = None) -> Any:
        return refs[:num_returns], refs[num_returns:]

    def get(self, ref: Any) -> Portion:
        return ref.result()  # type: ignore[no-any-return]

    def cancel(self, _: object) -> None:
        raise AssertionError("all are done")


def test_a_pool_that_grows_gets_more_tasks() -> None:
    workers, now_s = [2], [0.0]
    portions = Portions(range(9), seeds=9)
    room = Room(lambda: workers[0], clock=lambda: now_s[0])
    assert room.tasks(portions) == 4
    workers[0] = 50
    assert room.tasks(portions) == 4
    now_s[0] = 1.0
    assert room.tasks(portions) == 100
    # A cluster without workers grows if it has something to do.
    assert Room(lambda: 0, 64).tasks(portions) == 16
    portions.done((1.0, cells_of([0]), []))
    assert Room(lambda: 0, 64).tasks(portions) == 64


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
