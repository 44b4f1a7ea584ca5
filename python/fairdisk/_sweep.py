"""Sweeps: many points of one load, run here, on a pool of somebody else's, or on a cluster."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, Union
from uuid import uuid4

from . import _fairdisk
from ._progress import progress_of
from ._result import Tabular
from ._run import Progress, Spec, named, seconds, whole
from ._settings import Changes, Device, Scheduler, Value, as_changes, as_text
from .errors import SpecError, wrong

#: A cell's number, its key, its records as JSON, and whether it was known.
Cell = tuple[int, Union[str, None], str, bool]
Axis = Union["Range", str, Iterable[Union[Value, Scheduler, Device]]]
Executor = Union[None, str, Any]

#: So many cells are one task of a pool, at most.
CHUNK_MOST = 250
#: Each worker of a pool gets so many tasks, at least, so that none waits long for the last.
TASKS_EACH = 4


@dataclass(frozen=True)
class Range:
    """A range of numbers, from which a random design draws."""

    start: float
    stop: float
    whole: bool = False
    log: bool = False


class Store(Protocol):
    """Where finished cells are kept: texts by their keys."""

    def known(self, keys: Sequence[str]) -> dict[str, str]:
        """The texts that there are."""

    def keep(self, key: str, text: str) -> None:
        """Keeps a text."""


class FsspecStore:
    """A store in any place that fsspec knows, such as ``s3://bucket/runs``.

    The layout is that of ``fairdisk sweep --store``, so that both can share a directory.
    """

    def __init__(self, url: str) -> None:
        try:
            import fsspec
        except ImportError as error:
            remedy = "install it with `pip install fairdisk[stores]`, or give a directory"
            raise SpecError(f"store {url}: fsspec is missing; {remedy}", remedy=remedy) from error
        self._files, root = fsspec.core.url_to_fs(url)
        self._root = root.rstrip("/")

    def _path(self, key: str) -> str:
        return f"{self._root}/{key[:2]}/{key[2:]}.json"

    def known(self, keys: Sequence[str]) -> dict[str, str]:
        """The texts that there are."""
        paths = {self._path(key): key for key in keys}
        there = {"/" + path.lstrip("/") for path in self._files.find(self._root)}
        wanted = [path for path in paths if "/" + path.lstrip("/") in there]
        texts = {paths[path]: self._files.cat_file(path) for path in wanted}
        return {key: text.decode(errors="replace") for key, text in texts.items()}

    def keep(self, key: str, text: str) -> None:
        """Keeps a text."""
        path = self._path(key)
        # Nobody finds half a text: whoever is stopped leaves one of another name.
        beside = f"{path}.{uuid4().hex}.part"
        self._files.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
        self._files.pipe_file(beside, text.encode())
        self._files.mv(beside, path)


class SweepResult(Tabular):
    """What came of a sweep: a table with a row for each group of each run.

    Before the columns of every table there is one for each key that points change.

    Attributes:
        known: How many cells were in the store already.
        cells: How many cells there are.
    """

    def __init__(self, sweep: _fairdisk.Sweep, cells: Sequence[Cell]) -> None:
        self._sweep = sweep
        self._cells = [(cell, text) for cell, _, text, _ in cells]
        self.known = sum(known for _, _, _, known in cells)
        self.cells = len(cells)

    @cached_property
    def table(self) -> _fairdisk.Table:
        """The table; anything that knows the Arrow C data interface reads it without copying."""
        return self._sweep.table(self._cells)

    def __repr__(self) -> str:
        return f"<fairdisk.SweepResult of {self.cells} cells, {self.known} of them known before>"


class Sweep:
    """A sweep that is defined and not run yet. It can be sent to other processes."""

    def __init__(self, definition: str) -> None:
        self.definition = definition
        self._sweep = _fairdisk.Sweep(definition)

    def __reduce__(self) -> tuple[object, ...]:
        return Sweep, (self.definition,)

    def __len__(self) -> int:
        """The number of cells: points times seeds."""
        return len(self._sweep)

    def run(
        self,
        *,
        executor: Executor = None,
        store: str | os.PathLike[str] | Store | None = None,
        shard: str | None = None,
        progress: Progress = None,
    ) -> SweepResult:
        """Runs all cells or a shard of them; see :func:`sweep`."""
        cells = self._sweep.shard("1/1" if shard is None else shard)
        place = _opened(store)
        with progress_of(progress, "runs") as tell:
            if executor is None or executor == "threads":
                if place is None or isinstance(place, _fairdisk.DirectoryStore):
                    return SweepResult(self._sweep, self._sweep.run(cells, place, tell))
            return SweepResult(self._sweep, self._elsewhere(cells, executor, place, tell))

    def _elsewhere(
        self,
        cells: list[int],
        executor: Executor,
        store: Store | None,
        tell: Callable[[int, int], object] | None,
    ) -> list[Cell]:
        found: list[Cell] = []
        if store is not None:
            keys = dict(zip(cells, self._sweep.keys(cells)))
            texts = store.known([key for key in keys.values() if key is not None])
            texts = {key: text for key, text in texts.items() if _fairdisk.is_complete(text)}
            found = [(c, key, texts[key], True) for c, key in keys.items() if key in texts]
            done = {cell for cell, *_ in found}
            cells = [cell for cell in cells if cell not in done]
        of = len(cells) + len(found)
        with pool_of(executor) as pool:
            size = max(1, min(CHUNK_MOST, -(-len(cells) // (pool.workers * TASKS_EACH))))
            chunks = [cells[at : at + size] for at in range(0, len(cells), size)]
            for part in pool.map(self.definition, chunks):
                for cell in part:
                    if store is not None and cell[1] is not None:
                        store.keep(cell[1], cell[2])
                found += part
                if tell is not None:
                    tell(len(found), of)
        return sorted(found)


def sweep(
    spec: Spec,
    over: Mapping[str, Axis] | Sequence[Mapping[str, Value]],
    *,
    seeds: int | Sequence[int] = 1,
    design: Literal["grid", "random", "latin-hypercube"] = "grid",
    samples: int | None = None,
    design_seed: int = 0,
    duration_s: float | None = None,
    set: Changes | None = None,
    approximate: bool = False,
    executor: Executor = None,
    store: str | os.PathLike[str] | Store | None = None,
    shard: str | None = None,
    progress: Progress = None,
) -> SweepResult:
    """Runs a load with many combinations of values.

    Args:
        over: The values of each key: ``scheduler``, ``device``, ``arm``, ``row``, or any key of
            ``set``; or a list of points.
        seeds: How many from 0 on, or which.
        design: Every combination; or `samples` points that are drawn from values and ranges, by
            `design_seed`.
        executor: Where cells are run: ``None`` or ``"threads"`` here; ``"processes"``, ``"ray"``,
            ``"dask"`` or ``"joblib"``; an executor of `concurrent.futures`, or a client of Dask.
        store: A directory or a place of fsspec that keeps finished cells. What it has is not run
            again, also if the first sweep was stopped, or was another one.
        shard: Run only this part of the cells, as ``"3/16"``.

    An error in one cell is a row with its ``error``. Columns: see :class:`Tabular`.

    Raises:
        SpecError: A key, its values or the design are wrong; nothing was run.
        RunError: The store cannot be read or written.
    """
    prepared = defined(
        spec,
        over,
        seeds=seeds,
        design=design,
        samples=samples,
        design_seed=design_seed,
        duration_s=duration_s,
        set=set,
        approximate=approximate,
    )
    return prepared.run(executor=executor, store=store, shard=shard, progress=progress)


def defined(
    spec: Spec,
    over: Mapping[str, Axis] | Sequence[Mapping[str, Value]],
    *,
    seeds: object = 1,
    design: str = "grid",
    samples: object = None,
    design_seed: object = 0,
    duration_s: object = None,
    set: Changes | None = None,
    approximate: bool = False,
) -> Sweep:
    """A sweep whose types are checked."""
    name, text = named(spec)
    if isinstance(seeds, Sequence) and not isinstance(seeds, str):
        which: object = [whole("seeds", seed) for seed in seeds]
    else:
        which = whole("seeds", seeds, 1)
    if design not in ("grid", "random", "latin-hypercube"):
        raise wrong("design", design, "grid, random or latin-hypercube")
    definition: dict[str, object] = {
        "spec": name,
        "seeds": which,
        "set": as_changes(set),
        "approximate": bool(approximate),
        "design": design,
        "design_seed": whole("design_seed", design_seed),
    }
    for key, value in {
        "text": text,
        "samples": whole("samples", samples, 1),
        "duration_s": seconds("duration_s", duration_s),
    }.items():
        if value is not None:
            definition[key] = value
    if isinstance(over, Mapping):
        definition["over"] = {key: _axis(key, axis) for key, axis in over.items()}
    elif isinstance(over, Sequence) and all(isinstance(point, Mapping) for point in over):
        definition["point"] = [
            {key: as_text(value, f"over[{key!r}]") for key, value in point.items()}
            for point in over
        ]
    else:
        raise wrong("over", over, "values by keys, or a list of points")
    return Sweep(json.dumps(definition))


def _axis(key: str, axis: object) -> object:
    if isinstance(axis, Range):
        return {"from": axis.start, "to": axis.stop, "whole": axis.whole, "log": axis.log}
    if isinstance(axis, str):
        return axis
    if not isinstance(axis, Iterable):
        raise wrong(f"over[{key!r}]", axis, "several values, a text FROM..TO+STEP, or a Range")
    return [_one(key, value) for value in axis]


def _one(key: str, value: object) -> str:
    if isinstance(value, Scheduler) and key == "scheduler":
        return str(value)
    if isinstance(value, Device) and key == "device" and not value.changes:
        return value.name
    return as_text(value, f"over[{key!r}]")


def _opened(store: object) -> Store | None:
    if store is None:
        return None
    if isinstance(store, str) and "://" in store:
        return FsspecStore(store)
    if isinstance(store, (str, os.PathLike)):
        return _fairdisk.DirectoryStore(store)
    if hasattr(store, "known") and hasattr(store, "keep"):
        return store
    raise wrong("store", store, "a directory, a place as s3://bucket/runs, or a store")


def cells_of(definition: str, cells: Sequence[int]) -> list[Cell]:
    """Runs cells of a sweep in this process; what a pool's tasks call."""
    return _sweep_of(definition).run(cells)


_LAST: list[tuple[str, _fairdisk.Sweep]] = []


def _sweep_of(definition: str) -> _fairdisk.Sweep:
    """The sweep of a definition, which most calls in a process have in common."""
    if not _LAST or _LAST[0][0] != definition:
        _LAST[:] = [(definition, _fairdisk.Sweep(definition))]
    return _LAST[0][1]


class Pool(Protocol):
    """Runs chunks of cells."""

    workers: int

    def map(self, definition: str, chunks: Sequence[Sequence[int]]) -> Iterator[list[Cell]]:
        """What came of each chunk, as soon as it is there."""


@dataclass
class _Futures:
    """An executor of concurrent.futures, or a client of Dask, which has the same call."""

    executor: Any
    workers: int
    completed: Callable[[Any], Iterable[Any]]

    def map(self, definition: str, chunks: Sequence[Sequence[int]]) -> Iterator[list[Cell]]:
        waiting = [self.executor.submit(cells_of, definition, list(chunk)) for chunk in chunks]
        try:
            for future in self.completed(waiting):
                yield future.result()
        finally:
            for future in waiting:
                future.cancel()


@dataclass
class _Ray:
    """Tasks of Ray, on the cluster that it is connected to."""

    ray: Any
    workers: int

    def map(self, definition: str, chunks: Sequence[Sequence[int]]) -> Iterator[list[Cell]]:
        task = self.ray.remote(cells_of).options(num_cpus=1)
        sent = self.ray.put(definition)
        waiting = [task.remote(sent, list(chunk)) for chunk in chunks]
        try:
            while waiting:
                done, waiting = self.ray.wait(waiting, num_returns=1)
                yield from self.ray.get(done)
        finally:
            for task in waiting:
                self.ray.cancel(task)


@dataclass
class _Joblib:
    """The backend of joblib that is in force."""

    joblib: Any
    workers: int

    def map(self, definition: str, chunks: Sequence[Sequence[int]]) -> Iterator[list[Cell]]:
        task = self.joblib.delayed(cells_of)
        parallel = self.joblib.Parallel(n_jobs=self.workers, return_as="generator_unordered")
        yield from parallel(task(definition, list(chunk)) for chunk in chunks)


def _needed(module: str, extra: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        remedy = f"install it with `pip install fairdisk[{extra}]`, or choose another executor"
        raise SpecError(f"executor: {module} is missing; {remedy}", key="executor", remedy=remedy) from error


@contextmanager
def pool_of(executor: Executor) -> Iterator[Pool]:
    """The pool that an argument `executor` means."""
    cores = os.cpu_count() or 1
    if executor is None or executor == "threads":
        with futures.ThreadPoolExecutor(1) as pool:
            yield _Futures(pool, 1, futures.as_completed)
    elif executor == "processes":
        import multiprocessing

        context = multiprocessing.get_context("spawn")
        with futures.ProcessPoolExecutor(cores, mp_context=context) as pool:
            yield _Futures(pool, cores, futures.as_completed)
    elif executor == "ray":
        ray = _needed("ray", "ray")
        if not ray.is_initialized():
            ray.init(log_to_driver=False)
        yield _Ray(ray, max(1, int(ray.cluster_resources().get("CPU", 1))))
    elif executor == "joblib":
        joblib = _needed("joblib", "joblib")
        yield _Joblib(joblib, joblib.effective_n_jobs(-1))
    elif executor == "dask":
        distributed = _needed("distributed", "dask")
        with distributed.Client() as client:
            yield _dask(distributed, client)
    elif isinstance(executor, futures.Executor):
        yield _Futures(executor, getattr(executor, "_max_workers", cores), futures.as_completed)
    elif type(executor).__module__.startswith("distributed"):
        yield _dask(_needed("distributed", "dask"), executor)
    else:
        names = "threads, processes, ray, dask, joblib, or an executor"
        raise wrong("executor", executor, names)


def _dask(distributed: Any, client: Any) -> _Futures:
    return _Futures(client, len(client.nthreads()) or 1, distributed.as_completed)
