"""Sweeps: many points of one load, run here, on a pool of somebody else's, or on a cluster."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol, Union
from uuid import uuid4

from . import _fairdisk
from ._pools import Cell, Executor, Portions, pool_of, seeds_of
from ._progress import Tell, progress_of
from ._result import Tabular
from ._run import Progress, Spec, named, seconds, whole
from ._settings import Changes, Device, Scheduler, Value, as_changes, as_text, plain
from .errors import SpecError, wrong

Axis = Union["Range", str, Iterable[Union[Value, Scheduler, Device]]]


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
        if shard is not None and not isinstance(shard, str):
            raise wrong("shard", shard, "a part and how many there are, as 3/16")
        cells = self._sweep.shard("1/1" if shard is None else shard)
        place = _opened(store)
        with progress_of(progress, "runs") as tell:
            if executor is None or executor == "threads":
                return SweepResult(self._sweep, self._here(cells, place, tell))
            return SweepResult(self._sweep, self._elsewhere(cells, executor, place, tell))

    def _here(self, cells: list[int], store: Store | None, tell: Tell | None) -> list[Cell]:
        if store is None or isinstance(store, _fairdisk.DirectoryStore):
            return self._sweep.run(cells, store, tell)
        found, cells = self._known(cells, store)

        def tell_all(done: int, of: int) -> None:
            if tell is not None:
                tell(len(found) + done, len(found) + of)

        return sorted(found + self._sweep.run(cells, store, tell_all))

    def _known(self, cells: list[int], store: Store) -> tuple[list[Cell], list[int]]:
        """What the store has of these cells, and the cells that are to be run."""
        keys = dict(zip(cells, self._sweep.keys(cells)))
        texts = store.known([key for key in keys.values() if key is not None])
        texts = {key: text for key, text in texts.items() if _fairdisk.is_complete(text)}
        found: list[Cell] = [(c, key, texts[key], True) for c, key in keys.items() if key in texts]
        return found, [cell for cell, key in keys.items() if key not in texts]

    def _elsewhere(
        self, cells: list[int], executor: Executor, store: Store | None, tell: Tell | None
    ) -> list[Cell]:
        known, cells = ([], cells) if store is None else self._known(cells, store)
        of = len(cells) + len(known)
        # By number, as a portion that Ctrl-C interrupts here is kept once more.
        found = {cell[0]: cell for cell in known}

        def keep(part: list[Cell]) -> None:
            for cell in part:
                if store is not None and cell[1] is not None:
                    store.keep(cell[1], cell[2])
                found[cell[0]] = cell

        def told() -> None:
            if tell is not None:
                tell(len(found), of)

        with pool_of(executor) as pool:
            pool.run(self.definition, Portions(cells, seeds_of(self.definition)), keep, told)
        return sorted(found.values())


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
    seeds = plain(seeds)
    if isinstance(seeds, Sequence) and not isinstance(seeds, str):
        which: object = [whole("seeds", seed) for seed in seeds]
    else:
        which = whole("seeds", seeds, 1)
    if which is None:
        raise wrong("seeds", seeds, "how many, or a list of them")
    if design not in ("grid", "random", "latin-hypercube"):
        raise wrong("design", design, "grid, random or latin-hypercube")
    if not isinstance(approximate, bool):
        raise wrong("approximate", approximate, "True or False")
    definition: dict[str, object] = {
        "spec": name,
        "seeds": which,
        "set": as_changes(set),
        "approximate": approximate,
        "design": design,
        "design_seed": whole("design_seed", design_seed) or 0,
    }
    for key, value in {
        "text": text,
        "samples": whole("samples", samples, 1),
        "duration_s": seconds("duration_s", duration_s),
    }.items():
        if value is not None:
            definition[key] = value
    if isinstance(over, Mapping):
        definition["over"] = {_key(key): _axis(key, axis) for key, axis in over.items()}
    elif isinstance(over, Sequence) and all(isinstance(point, Mapping) for point in over):
        definition["point"] = [
            {_key(key): _one(key, value) for key, value in point.items()}
            for point in over
        ]
    else:
        raise wrong("over", over, "values by keys, or a list of points")
    return Sweep(json.dumps(definition))


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise wrong("over", key, "keys that are texts, as host.hz")
    return key


def _axis(key: str, axis: object) -> object:
    if isinstance(axis, Range):
        ends = [_end(key, axis, plain(end)) for end in (axis.start, axis.stop)]
        return {"from": ends[0], "to": ends[1], "whole": axis.whole, "log": axis.log}
    axis = plain(axis)
    if isinstance(axis, str):
        return axis
    if not isinstance(axis, Iterable):
        raise wrong(f"over[{key!r}]", axis, "several values, a text FROM..TO+STEP, or a Range")
    return [_one(key, value) for value in axis]


def _end(key: str, axis: Range, end: object) -> float:
    if isinstance(end, bool) or not isinstance(end, (int, float)):
        raise wrong(f"over[{key!r}]", axis, "a Range of two numbers")
    return end


def _one(key: str, value: object) -> str:
    for kind, name in ((Scheduler, "scheduler"), (Device, "device")):
        if isinstance(value, kind) and key == name:
            return str(value)
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
