"""Loads that are built in Python: each class has the keys of the file that it stands for.

The keys and their units are those of docs/experiments-format.md and docs/job-files.md. What is
``None`` is left out, so that the file's default holds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Union

from ._settings import plain
from .errors import wrong


@dataclass
class Group:
    """A group of tasks, and what it asks for."""

    name: str
    #: 1 to 10000.
    weight: int | None = None
    #: 0 (high) to 7 (low), in place of a weight.
    priority: int | None = None
    #: The name of the outer group.
    parent: str | None = None
    #: The ``ionice`` level of its tasks, 0 to 7, in arms that use levels.
    ionice: int | None = None
    ionice_class: Literal["real-time", "best-effort", "idle"] | None = None
    #: Floors: I/Os and bytes per second.
    min_iops: int | None = None
    min_bps: int | None = None
    #: Ceilings: I/Os and bytes per second, of all, of reads, of writes.
    max_iops: int | None = None
    max_bps: int | None = None
    max_read_iops: int | None = None
    max_read_bps: int | None = None
    max_write_iops: int | None = None
    max_write_bps: int | None = None
    #: Bursts: how far and how fast it may run ahead of its ceiling.
    burst_ms: int | None = None
    burst_iops: int | None = None
    burst_bps: int | None = None
    burst_for: int | None = None
    #: 99 of 100 requests, or flushes, are to be answered within this.
    latency_p99_ms: float | None = None
    fsync_p99_ms: float | None = None


@dataclass
class Task:
    """A number of tasks that do the same."""

    group: str
    count: int | None = None
    #: Reported on a line of its own under this name.
    name: str | None = None
    volume: str | None = None
    op: Literal["read", "write", "mixed"] | None = None
    read_percent: int | None = None
    order: Literal["sequential", "random"] | None = None
    block_kib: int | None = None
    hole_kib: int | None = None
    depth: int | None = None
    direct: bool | None = None
    sync: bool | None = None
    mapped: bool | None = None
    advice: Literal["none", "random", "sequential"] | None = None
    keeps_cache: bool | None = None
    stream: Literal["own", "interleaved", "shared"] | None = None
    fsync_every: int | None = None
    fdatasync_every: int | None = None
    end_fsync: bool | None = None
    #: It is done after so much.
    bytes_mib: int | None = None
    ios: int | None = None
    think_ms: float | None = None
    burst_ios: int | None = None
    rate_iops: int | None = None
    rate_kib_per_s: int | None = None
    offset_mib: int | None = None
    size_mib: int | None = None
    file: int | None = None
    new: bool | None = None
    background: bool | None = None
    start_s: float | None = None
    #: Starts when the tasks of this name have ended.
    after: str | None = None
    files_of: str | None = None
    ionice: int | None = None
    ionice_class: Literal["real-time", "best-effort", "idle"] | None = None


@dataclass
class Volume:
    """A part of the disk: raw, or a file system with files."""

    name: str
    kind: Literal["raw", "ext2", "ext3"] = "raw"
    start_gib: float | None = None
    size_gib: float | None = None
    files: int | None = None
    file_mib: int | None = None
    shuffled: bool | None = None
    cached: bool | None = None
    journal: bool | None = None


@dataclass
class Row:
    """One load of an experiment."""

    label: str
    tasks: Sequence[Task]
    groups: Sequence[Group] = ()
    duration_s: float | None = None
    set: Sequence[str] = ()


@dataclass
class Arm:
    """A scheduler that an experiment is run under."""

    name: str
    scheduler: str
    ionice: bool | None = None
    device: str | None = None
    host: str | None = None
    set: Sequence[str] = ()


@dataclass
class Experiment:
    """An experiment: groups and tasks on a device. With `tasks` alone it has one row.

    >>> tasks = [Task("a", op="read"), Task("b", op="write")]
    >>> both = Experiment(groups=[Group("a", weight=400), Group("b")], tasks=tasks)
    """

    tasks: Sequence[Task] = ()
    groups: Sequence[Group] = ()
    rows: Sequence[Row] = ()
    arms: Sequence[Arm] = ()
    volumes: Sequence[Volume] = (Volume("disk", size_gib=4),)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    id: str = "experiment"
    title: str = "Built in Python"
    question: str = ""
    device: str = "hdd-7200-2007"
    host: str = "plain"
    duration_s: float | None = 10
    ramp_s: float | None = None
    seeds: int | None = None

    @property
    def file_name(self) -> str:
        """The name that stands for the file in messages."""
        return f"{self.id}.toml"

    def text(self) -> str:
        """The experiment as the text of its file."""
        for name in ("tasks", "groups", "rows", "arms", "volumes"):
            entries = getattr(self, name)
            if isinstance(entries, str) or not isinstance(entries, Sequence):
                raise wrong(name, entries, "a list")
        if not isinstance(self.defaults, Mapping):
            raise wrong("defaults", self.defaults, "a mapping of keys to values")
        rows = list(self.rows)
        if self.tasks:
            rows.append(Row("tasks", self.tasks))
        if not rows:
            raise wrong("tasks", self.tasks, "one or more tasks, or rows with tasks")
        defaults = dict(self.defaults)
        if len(self.volumes) == 1:
            defaults.setdefault("volume", self.volumes[0].name)
        head = ["id", "title", "question", "device", "host", "duration_s", "ramp_s", "seeds"]
        given = {key: getattr(self, key) for key in head}
        lines = [f"{key} = {_value(key, given[key])}" for key in head if given[key] is not None]
        lines += ["", f"defaults = {_value('defaults', defaults)}"]
        parts = {"volume": self.volumes, "group": self.groups, "row": rows, "arm": self.arms}
        for table, entries in parts.items():
            for entry in entries:
                lines += ["", f"[[{table}]]"]
                lines += [f"{key} = {_value(key, value)}" for key, value in _keys(table, entry)]
        return "\n".join(lines) + "\n"


@dataclass
class JobFile:
    """A fio job file: sections by name, each with its options; ``global`` holds for all.

    >>> JobFile({"reader": {"rw": "randread", "size": "1g"}}).text()
    '[reader]\\nrw=randread\\nsize=1g\\n'
    """

    sections: Mapping[str, Mapping[str, Union[str, int, float, bool, None]]]
    name: str = "job"

    @property
    def file_name(self) -> str:
        """The name that stands for the file in messages."""
        return f"{self.name}.fio"

    def text(self) -> str:
        """The text of the file."""
        if not isinstance(self.sections, Mapping) or not self.sections:
            raise wrong("sections", self.sections, "sections by name, each with its options")
        for name, options in self.sections.items():
            if not isinstance(options, Mapping):
                raise wrong(f"sections[{name!r}]", options, 'options, as {"rw": "read"}')
        sections = [
            f"[{name}]\n" + "".join(_option(key, value) for key, value in options.items())
            for name, options in self.sections.items()
        ]
        return "\n".join(sections)


def _option(key: str, value: object) -> str:
    value = plain(value)
    if value is None:
        return f"{key}\n"
    return f"{key}={int(value) if isinstance(value, bool) else value}\n"


def _keys(table: str, entry: object) -> list[tuple[str, object]]:
    expected = {"volume": Volume, "group": Group, "row": Row, "arm": Arm, "tasks": Task}[table]
    if not isinstance(entry, expected):
        raise wrong(table, entry, f"a fairdisk.{expected.__name__}")
    given = [(one.name, getattr(entry, one.name)) for one in fields(expected)]
    return [(key, value) for key, value in given if value is not None and value != ()]


def _value(key: str, value: object) -> str:
    """A value in TOML."""
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        entries = (f"{name} = {_value(name, one)}" for name, one in value.items())
        return "{ " + ", ".join(entries) + " }"
    if isinstance(value, Sequence):
        return "[" + ", ".join(_value(key, one) for one in value) + "]"
    if isinstance(value, (Task, Group)):
        table = "tasks" if isinstance(value, Task) else "group"
        return _value(key, dict(_keys(table, value)))
    raise wrong(key, value, "a number, a text, true or false, or a list of these")
