"""What the program's commands of the lab do, as functions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Union

from . import _fairdisk
from ._progress import progress_of
from ._result import Result
from ._settings import Changes, Device, Replay, Scheduler, as_changes, plain
from ._spec import Experiment, JobFile
from .errors import wrong

Spec = Union[str, "os.PathLike[str]", Experiment, JobFile]
Progress = Union[bool, None, Callable[[int, int], object]]
SchedulerLike = Union[str, Scheduler]
DeviceLike = Union[str, Device]
#: The largest count that is taken.
MOST = 10_000_000
Wishes = Union[None, str, Sequence[str], Mapping[str, Union[str, Mapping[str, object]]]]


@dataclass(frozen=True)
class Request:
    """A load and what is changed about it, as the compiled module takes it."""

    name: str
    text: str | None
    schedulers: Sequence[str]
    device: str | None
    arms: Sequence[str]
    rows: Sequence[str]
    seeds: int | None
    duration_s: float | None
    set: Sequence[str]
    approximate: bool
    replay: Replay | None


@dataclass(frozen=True)
class Search:
    """What `blame` compares, and how hard it looks, as the compiled module takes it."""

    metric: str
    seeds: int | None
    runs: int
    seed: int


def named(spec: Spec) -> tuple[str, str | None]:
    """The name of a load, and its text if it is no file."""
    if isinstance(spec, (Experiment, JobFile)):
        return spec.file_name, spec.text()
    if isinstance(spec, os.PathLike):
        return os.fspath(spec), None
    if not isinstance(spec, str):
        expected = "a path, the id of an experiment, a text, an Experiment or a JobFile"
        raise wrong("spec", spec, expected)
    return ("text", spec) if "\n" in spec else (spec, None)


def texts(argument: str, value: object, kind: type = str) -> list[str]:
    """One thing or several, as texts."""
    if value is None:
        return []
    if isinstance(value, (str, kind)):
        return [str(value)]
    if isinstance(value, Iterable):
        found = list(value)
        if all(isinstance(one, (str, kind)) for one in found):
            return [str(one) for one in found]
    one = "a text" if kind is str else f"a text or a {kind.__name__}"
    raise wrong(argument, value, f"{one}, or several")


def whole(argument: str, value: object, least: int = 0) -> int | None:
    """A whole number that may be left out."""
    value = plain(value)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST:
        raise wrong(argument, value, f"a whole number from {least} to {MOST}")
    return value


def seconds(argument: str, value: object) -> float | None:
    """A time that may be left out."""
    value = plain(value)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= 3.6e6:
        raise wrong(argument, value, "seconds, more than 0 and at most 3600000")
    return float(value)


def request(
    spec: Spec,
    *,
    scheduler: object = None,
    device: object = None,
    arm: object = None,
    row: object = None,
    seeds: object = None,
    duration_s: object = None,
    set: Changes | None = None,
    approximate: bool = False,
    replay: object = None,
) -> Request:
    """What is asked for, its types checked."""
    name, text = named(spec)
    if device is not None and not isinstance(device, (str, Device)):
        raise wrong("device", device, "a text or a Device")
    if replay is not None and not isinstance(replay, Replay):
        raise wrong("replay", replay, "a Replay")
    if not isinstance(approximate, bool):
        raise wrong("approximate", approximate, "True or False")
    return Request(
        name=name,
        text=text,
        schedulers=texts("scheduler", scheduler, Scheduler),
        device=None if device is None else str(device),
        arms=texts("arm", arm),
        rows=texts("row", row),
        seeds=whole("seeds", seeds, 1),
        duration_s=seconds("duration_s", duration_s),
        set=as_changes(set),
        approximate=approximate,
        replay=replay.checked() if replay else None,
    )


def wishes(want: Wishes) -> list[str]:
    """What groups wish, as ``GROUP: KEY=VALUE, …`` each."""
    if want is None:
        return []
    if not isinstance(want, Mapping):
        return texts("want", want)
    said = []
    for group, keys in want.items():
        if isinstance(keys, Mapping):
            keys = ", ".join(f"{key}={plain(value)}" for key, value in keys.items())
        if not isinstance(keys, str):
            raise wrong("want", keys, 'wishes of a group, as {"share": 70}')
        said.append(f"{group}: {keys}")
    return said


def command(name: str, asked: Request) -> str:
    """The call in short, for the page that shows its results."""
    return f"fairdisk.{name}({asked.name!r})"


def run(
    spec: Spec,
    *,
    scheduler: SchedulerLike | Iterable[SchedulerLike] | None = None,
    device: DeviceLike | None = None,
    arm: str | Iterable[str] | None = None,
    row: str | Iterable[str] | None = None,
    seeds: int | None = None,
    duration_s: float | None = None,
    set: Changes | None = None,
    approximate: bool = False,
    replay: Replay | None = None,
    progress: Progress = None,
) -> Result:
    """Runs a load in the lab, as ``fairdisk run`` does.

    Args:
        spec: The load.
        scheduler: Use these in place of the load's arms.
        device: Use this disk.
        arm: Run only these arms.
        row: Run only these rows.
        seeds: Runs of each arm and row; as the load says, else 5.
        duration_s: The length of a run in seconds.
        set: Changes of single values, as ``{"host.hz": 1000}``.
        approximate: Run a job file without what is not supported of it.
        replay: How a trace is done again, and which part of it.
        progress: Whether to show it, or a function of the runs done and all runs. Without it, it
            is shown in terminals and notebooks where tqdm is installed.

    Raises:
        SpecError: The load or an argument is wrong; nothing was run.
    """
    asked = request(
        spec,
        scheduler=scheduler,
        device=device,
        arm=arm,
        row=row,
        seeds=seeds,
        duration_s=duration_s,
        set=set,
        approximate=approximate,
        replay=replay,
    )
    with progress_of(progress, "runs") as tell:
        return Result(_fairdisk.run(asked, tell), command("run", asked))


def compare(
    spec: Spec,
    *,
    scheduler: SchedulerLike | Iterable[SchedulerLike] | None = None,
    device: DeviceLike | Iterable[DeviceLike] | None = None,
    want: Wishes = None,
    row: str | Iterable[str] | None = None,
    seeds: int | None = None,
    duration_s: float | None = None,
    set: Changes | None = None,
    approximate: bool = False,
    replay: Replay | None = None,
    progress: Progress = None,
) -> Result:
    """Runs a load under several schedulers and on several disks, as ``fairdisk compare`` does.

    ``noop`` is always run, as what the others' throughput is measured by. Without `scheduler`,
    all of the catalogue are. The other arguments are those of :func:`run` and :func:`advise`.
    """
    every = texts("scheduler", scheduler, Scheduler) or list(dict(_fairdisk.catalog("schedulers")))
    devices: list[str | None] = [*texts("device", device, Device)] or [None]
    asked = [
        request(
            spec,
            scheduler=every,
            device=each,
            row=row,
            seeds=seeds,
            duration_s=duration_s,
            set=set,
            approximate=approximate,
            replay=replay,
        )
        for each in devices
    ]
    with progress_of(progress, "runs") as tell:
        return Result(_fairdisk.compare(asked, wishes(want), tell), command("compare", asked[0]))


def advise(
    spec: Spec,
    *,
    want: Wishes = None,
    scheduler: SchedulerLike | Iterable[SchedulerLike] | None = None,
    device: DeviceLike | None = None,
    row: str | None = None,
    seeds: int | None = None,
    duration_s: float | None = None,
    set: Changes | None = None,
    replay: Replay | None = None,
    progress: Progress = None,
) -> Result:
    """Proposes a scheduler and settings for what groups wish, as ``fairdisk advise`` does.

    Args:
        want: What groups wish, as ``{"database": {"share": 70, "latency_p99_ms": 5}}``.
        scheduler: Try these; without, those of today.
    """
    every = texts("scheduler", scheduler, Scheduler) or _fairdisk.schedulers_of_today()
    asked = request(
        spec,
        scheduler=every,
        device=device,
        row=row,
        seeds=seeds,
        duration_s=duration_s,
        set=set,
        replay=replay,
    )
    with progress_of(progress, "runs") as tell:
        return Result(_fairdisk.advise(asked, wishes(want), tell), command("advise", asked))


def blame(
    good: SchedulerLike,
    bad: SchedulerLike,
    spec: Spec,
    *,
    metric: str = "ios",
    good_set: Changes | None = None,
    bad_set: Changes | None = None,
    device: DeviceLike | None = None,
    arm: str | None = None,
    row: str | None = None,
    seeds: int | None = None,
    runs: int = 1000,
    seed: int = 1,
    duration_s: float | None = None,
    set: Changes | None = None,
    replay: Replay | None = None,
    progress: Progress = None,
) -> Result:
    """Finds out which of the changes between two schedulers cost what, as ``fairdisk blame`` does.

    Args:
        metric: What is compared, such as ``ios``, ``p99`` or ``share:GROUP``.
        good_set: Changes of single values of the good side alone; `bad_set` of the bad one.
        seeds: Runs of each mixture.
        runs: Runs at most.
        seed: The orders in which changes are made are drawn from this.
    """
    asked = request(
        spec,
        device=device,
        arm=arm,
        row=row,
        duration_s=duration_s,
        set=set,
        replay=replay,
    )
    if not isinstance(metric, str):
        raise wrong("metric", metric, "a text, as ios, p99 or share:GROUP")
    least = whole("seeds", seeds, 2)
    most, order = whole("runs", runs, 4), whole("seed", seed)
    sides = [_side("good", good, good_set), _side("bad", bad, bad_set)]
    with progress_of(progress, "runs") as tell:
        search = Search(metric, least, most or 1000, order or 0)
        outcome = _fairdisk.blame(sides[0], sides[1], asked, search, tell)
    return Result(outcome, command("blame", asked))


def _side(argument: str, scheduler: object, changes: Changes | None) -> tuple[str, list[str]]:
    if isinstance(scheduler, Scheduler):
        own = [f"scheduler.{one}" for one in as_changes(scheduler.changes, argument)]
        return scheduler.name, own + as_changes(changes, f"{argument}_set")
    if isinstance(scheduler, str):
        return scheduler, as_changes(changes, f"{argument}_set")
    raise wrong(argument, scheduler, "a text or a Scheduler")


def explain(
    name: str,
    number: int | None = None,
    *,
    slowest: int | None = None,
    disk: int | None = None,
    scheduler: SchedulerLike | None = None,
    device: DeviceLike | None = None,
    duration_s: float | None = None,
    set: Changes | None = None,
    replay: Replay | None = None,
) -> Result:
    """Tells why a request of a run waited, as ``fairdisk explain`` does.

    Args:
        name: The run: ``SPEC[/ARM[/ROW[/SEED]]]``, as ``"two-groups/fair"``.
        number: The number of the request, from 1 on.
        slowest: List so many that took longest, in place of the life of one.
        disk: Of a device with several disks, the one whose requests are meant.
    """
    if not isinstance(name, str):
        raise wrong("name", name, "a text, as two-groups/fair")
    if (number is None) == (slowest is None):
        raise wrong("number", number, "the number of a request, or slowest")
    asked = request(
        name, scheduler=scheduler, device=device, duration_s=duration_s, set=set, replay=replay
    )
    which, most = whole("number", number, 1), whole("slowest", slowest, 1)
    outcome = _fairdisk.explain(name, asked, which, most, whole("disk", disk))
    return Result(outcome, command("explain", asked))


def trace(path: str | os.PathLike[str], *, by: str = "group") -> Result:
    """Tells what a recorded load did, as ``fairdisk trace`` does.

    Args:
        by: Tell requests apart by ``group``, ``task`` or ``device``.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise wrong("path", path, "a path")
    if by not in ("group", "task", "device"):
        raise wrong("by", by, "group, task or device")
    return Result(_fairdisk.trace(path, by), f"fairdisk.trace({os.fspath(path)!r})")
