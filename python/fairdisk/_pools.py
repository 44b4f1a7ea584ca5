"""Pools and clusters that run the cells of a sweep, and the portions that they get."""

from __future__ import annotations

import json
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from threading import Lock
from time import perf_counter
from typing import Any, Protocol, Union

from . import _fairdisk
from .errors import SpecError, wrong

#: A cell's number, its key, its records as JSON, and whether it was known.
Cell = tuple[int, Union[str, None], str, bool]
Executor = Union[None, str, Any]
#: What keeps the cells of a portion; twice is as good as once.
Keep = Callable[[list[Cell]], None]
#: How long a task of a pool took, in seconds, what came of its cells, and those it has not run.
Portion = tuple[float, list[Cell], list[int]]

#: A task of a pool takes about so long.
PORTION_S = 1.0
#: A task ends after about so long, and gives back what it has not run.
LONGEST_S = 2.0
#: Towards the end tasks are shorter, so that no worker waits long for the last, but not than this.
SHORTEST_S = 0.05
#: At most so many cells are a task before it is known how long they take.
FIRST = 4
#: At most so many are ever one.
MOST = 1000
#: Cells of a point are run at once at most so many times as many as were measured: a call has a cost.
GROWTH = 16
#: So many tasks are with each worker of a pool, one at work and one that waits.
TASKS_EACH = 2
#: So many tasks are with a pool that may grow, at least: it grows if it has more than it can do.
TASKS_OF_GROWING = 64
#: So many before it is known how long cells take: small tasks cost more than they do.
FIRST_OF_GROWING = 16
#: So often a pool is asked how many workers it has.
ASKED_EACH_S = 1.0


def seeds_of(definition: str) -> int:
    """The number of seeds of a sweep; so many cells have one point, and cost about the same."""
    seeds = json.loads(definition)["seeds"]
    return seeds if isinstance(seeds, int) else len(seeds)


class Portions:
    """Cells in portions that take about a second each: who stops a sweep loses no more."""

    def __init__(self, cells: Sequence[int], seeds: int) -> None:
        self._cells = deque(cells)
        self._seeds = seeds
        self._cell_s: float | None = None
        # joblib asks for portions in threads of its own.
        self._lock = Lock()

    def __len__(self) -> int:
        """How many cells are left."""
        return len(self._cells)

    @property
    def is_measured(self) -> bool:
        """Whether it is known how long a cell takes."""
        return self._cell_s is not None

    def next(self, count: int, workers: int) -> Iterator[list[int]]:
        """The next portions, as many or those that are left; each is cut when it is asked for."""
        for _ in range(count):
            with self._lock:
                portion = [self._cells.popleft() for _ in range(self._size(TASKS_EACH * max(1, workers)))]
            if not portion:
                return
            yield portion

    def _size(self, tasks: int) -> int:
        """How many cells are the next portion: a part of one point, or points as a whole."""
        left = len(self._cells)
        size, least = min(left, FIRST, max(1, left // tasks)), 1
        if self._cell_s is not None:
            fair_s = left * self._cell_s / tasks
            size = int(min(PORTION_S, max(SHORTEST_S, fair_s)) / self._cell_s)
            size = min(left, MOST, max(1, size))
            least = int(SHORTEST_S / self._cell_s)
        # Cells of the next point may cost a thousand times as much. Small points share a portion,
        # or each of their cells would be a task.
        ends = [at for at in range(1, size) if self._begins(at)]
        return max((at for at in ends if at <= least), default=min(ends, default=size))

    def _begins(self, at: int) -> bool:
        """Whether the cell at this place is the first of its point."""
        return self._cells[at] // self._seeds != self._cells[at - 1] // self._seeds

    def done(self, portion: Portion) -> list[Cell]:
        """Notes how long a portion took, takes back what it has not run, and gives its cells."""
        took_s, cells, rest = portion
        with self._lock:
            if cells:
                self._cell_s = max(took_s / len(cells), 1e-6)
            self._cells.extendleft(reversed(rest))
        return cells


def portion_of(definition: str, cells: Sequence[int]) -> Portion:
    """Runs cells of a sweep in this process, on one thread; what a pool's tasks call."""
    if not _LAST or _LAST[0].definition != definition:
        _LAST[:] = [_Last(definition, _fairdisk.Sweep(definition), Costs(seeds_of(definition)))]
    sweep, costs = _LAST[0].sweep, _LAST[0].costs
    return in_time(lambda some: sweep.run(some, threads=1), cells, costs, perf_counter)


@dataclass
class Costs:
    """What cells of each point took here: so many of them so many seconds."""

    seeds: int
    measured: dict[int, tuple[int, float]] = field(default_factory=dict)

    def point(self, cell: int) -> int:
        """The number of a cell's point."""
        return cell // self.seeds

    def fits(self, point: int, left_s: float) -> int:
        """How many cells of a point are run at once: one of a point that was not measured."""
        count, took_s = self.measured.get(point, (0, 0.0))
        if count == 0:
            return 1
        return max(1, min(GROWTH * count, int(left_s * count / max(took_s, 1e-6))))


def in_time(
    run: Callable[[list[int]], list[Cell]],
    cells: Sequence[int],
    costs: Costs,
    clock: Callable[[], float],
) -> Portion:
    """Runs cells until about two seconds are over, at once as many of a point as fit."""
    began = clock()
    done: list[Cell] = []
    took_s = 0.0
    while len(done) < len(cells) and took_s < LONGEST_S:
        at = len(done)
        point = costs.point(cells[at])
        most = cells[at : at + costs.fits(point, LONGEST_S - took_s)]
        some = list(takewhile(lambda cell: costs.point(cell) == point, most))
        done += run(some)
        before_s, took_s = took_s, clock() - began
        costs.measured[point] = len(some), took_s - before_s
    return took_s, done, list(cells[len(done) :])


@dataclass
class _Last:
    """The sweep that most calls in a process have in common."""

    definition: str
    sweep: _fairdisk.Sweep
    costs: Costs


_LAST: list[_Last] = []


class Pool(Protocol):
    """Runs portions of cells, each on one thread of a worker."""

    def run(
        self, definition: str, portions: Portions, keep: Keep, told: Callable[[], None]
    ) -> None:
        """Runs all of them; each is kept as soon as it is there, and then told of.

        What is finished is kept also if an error or Ctrl-C ends it.
        """


class Room:
    """How many tasks a pool is to have: its workers are counted anew, as clusters grow."""

    def __init__(
        self,
        workers: Callable[[], int],
        least: int = 0,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        self._workers = workers
        self._least = least
        self._clock = clock
        self._asked_s = -ASKED_EACH_S
        self.workers = 0

    def tasks(self, portions: Portions) -> int:
        """So many tasks at a time."""
        now_s = self._clock()
        if self.workers == 0 or now_s - self._asked_s >= ASKED_EACH_S:
            self._asked_s = now_s
            self.workers = self._workers()
        least = self._least if portions.is_measured else min(self._least, FIRST_OF_GROWING)
        return max(TASKS_EACH * self.workers, least, 1)


@dataclass
class Futures:
    """An executor of concurrent.futures, or a client of Dask, which has the same calls."""

    executor: Any
    room: Room
    #: `wait` of the same module.
    wait: Callable[..., Any] = futures.wait

    def run(
        self, definition: str, portions: Portions, keep: Keep, told: Callable[[], None]
    ) -> None:
        """See :class:`Pool`."""
        waiting: set[Any] = set()

        def fetch(future: Any) -> None:
            # Until its cells are kept it counts as one that is waited for.
            keep(portions.done(future.result()))
            waiting.discard(future)

        try:
            while True:
                room = self.room.tasks(portions) - len(waiting)
                for cells in portions.next(room, self.room.workers):
                    waiting.add(self.executor.submit(portion_of, definition, cells))
                if not waiting:
                    return
                for future in self.wait(waiting, return_when="FIRST_COMPLETED").done:
                    fetch(future)
                told()
        finally:
            # Nothing more is begun; what an executor here is at ends soon, and is kept.
            ready = [future for future in waiting if future.done()]
            begun = [one for one in waiting.difference(ready) if one.cancel() is False]
            for some in (ready, begun):
                if some is begun:
                    futures.wait(begun)
                for future in some:
                    if not future.cancelled() and future.exception() is None:
                        fetch(future)


@dataclass
class Ray:
    """Tasks of Ray, on the cluster that it is connected to."""

    ray: Any
    room: Room

    def run(
        self, definition: str, portions: Portions, keep: Keep, told: Callable[[], None]
    ) -> None:
        """See :class:`Pool`."""
        task = self.ray.remote(portion_of).options(num_cpus=1)
        sent = self.ray.put(definition)
        waiting: list[Any] = []

        def fetch(one: Any) -> None:
            # Until its cells are kept it counts as one that is waited for.
            keep(portions.done(self.ray.get(one)))
            waiting.remove(one)

        try:
            while True:
                room = self.room.tasks(portions) - len(waiting)
                for cells in portions.next(room, self.room.workers):
                    waiting.append(task.remote(sent, cells))
                if not waiting:
                    return
                for one in self.ray.wait(waiting, num_returns=1)[0]:
                    fetch(one)
                told()
        finally:
            ready, running = [], []
            if waiting:
                ready, running = self.ray.wait(waiting, num_returns=len(waiting), timeout=0)
            for one in running:
                self.ray.cancel(one)
            for one in ready:
                try:
                    fetch(one)
                except self.ray.exceptions.RayError:
                    continue


@dataclass
class _Joblib:
    """The backend of joblib that is in force."""

    joblib: Any
    workers: int

    def run(
        self, definition: str, portions: Portions, keep: Keep, told: Callable[[], None]
    ) -> None:
        task = self.joblib.delayed(portion_of)
        # What comes back after the last was given out is given out again.
        while portions:
            parallel = self.joblib.Parallel(
                n_jobs=self.workers,
                return_as="generator_unordered",
                pre_dispatch=TASKS_EACH * self.workers,
                batch_size=1,
            )
            given = portions.next(sys.maxsize, self.workers)
            for portion in parallel(task(definition, cells) for cells in given):
                keep(portions.done(portion))
                told()


def _needed(module: str, extra: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        remedy = f"install it with `pip install fairdisk[{extra}]`, or choose another executor"
        message = f"executor: {module} is missing; {remedy}"
        raise SpecError(message, key="executor", remedy=remedy) from error


@contextmanager
def pool_of(executor: Executor) -> Iterator[Pool]:
    """The pool that an argument `executor` means."""
    cores = os.cpu_count() or 1
    if executor == "processes":
        import multiprocessing

        context = multiprocessing.get_context("spawn")
        with futures.ProcessPoolExecutor(cores, mp_context=context) as pool:
            yield Futures(pool, Room(lambda: cores))
    elif executor == "ray":
        ray = _needed("ray", "ray")
        if not ray.is_initialized():
            ray.init(log_to_driver=False)
        cpus = lambda: int(ray.cluster_resources().get("CPU", 1))  # noqa: E731
        yield Ray(ray, Room(cpus, TASKS_OF_GROWING))
    elif executor == "joblib":
        joblib = _needed("joblib", "joblib")
        yield _Joblib(joblib, joblib.effective_n_jobs(-1))
    elif executor == "dask":
        distributed = _needed("distributed", "dask")
        with distributed.Client() as client:
            yield _dask(distributed, client)
    elif isinstance(executor, futures.Executor):
        # Executors of Python's own have it; others may be of any size.
        workers: int | None = getattr(executor, "_max_workers", None)
        least = 0 if workers else TASKS_OF_GROWING
        yield Futures(executor, Room(lambda: workers or cores, least))
    elif type(executor).__module__.startswith("distributed"):
        yield _dask(_needed("distributed", "dask"), executor)
    else:
        names = "threads, processes, ray, dask, joblib, or an executor"
        raise wrong("executor", executor, names)


def _dask(distributed: Any, client: Any) -> Futures:
    threads = lambda: sum(client.nthreads().values())  # noqa: E731
    return Futures(client, Room(threads, TASKS_OF_GROWING), distributed.wait)
