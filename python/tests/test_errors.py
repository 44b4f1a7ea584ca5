"""What is wrong is an exception that names the argument and the remedy, before anything runs."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import fairdisk
import numpy
import pytest

#: A trace of some reads of one task.
TRACE = "queued_ns,issued_ns,done_ns,device,group,task,op,traits,start_sector,sectors\n" + "".join(
    f"{at}000000,{at}000000,{at}100000,0,/a,reader,read,,{at * 128},8\n" for at in range(100)
)


def replayed(**options: Any) -> fairdisk.Result:
    """A trace, done again with these options."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "trace.csv")
        path.write_text(TRACE)
        return fairdisk.run(path, scheduler="noop", seeds=1, replay=fairdisk.Replay(**options))


WRONG: dict[str, tuple[Callable[[], object], str, str]] = {
    "a misspelt experiment": (
        lambda: fairdisk.run("two-group"),
        "two-group",
        "did you mean `two-groups`?",
    ),
    "a misspelt scheduler": (
        lambda: fairdisk.run("two-groups", scheduler="fiar"),
        "fiar",
        "did you mean `fair`?",
    ),
    "a scheduler that is a number": (
        lambda: fairdisk.run("two-groups", scheduler=5),  # type: ignore[arg-type]
        "scheduler",
        "expected a text or a Scheduler, or several",
    ),
    "a device that is a list": (
        lambda: fairdisk.run("two-groups", device=["nvme"]),  # type: ignore[arg-type]
        "device",
        "expected a text or a Device",
    ),
    "a wrong number of seeds": (
        lambda: fairdisk.run("two-groups", seeds=0),
        "seeds",
        "expected a whole number from 1",
    ),
    "a duration in words": (
        lambda: fairdisk.run("two-groups", duration_s="long"),  # type: ignore[arg-type]
        "duration_s",
        "expected seconds, more than 0",
    ),
    "a key of no scope": (
        lambda: fairdisk.run("two-groups", set={"hots.hz": 100}),
        "hots",
        "did you mean `host`?",
    ),
    "a value of the wrong type": (
        lambda: fairdisk.run("two-groups", set={"host.hz": "fast"}),
        "host.hz",
        "allowed: 100, 250, 300 or 1000",
    ),
    "a wish of nobody": (
        lambda: fairdisk.advise("two-groups", want={"nobody": {"share": 70}}),
        "nobody",
        "backup, database",
    ),
    "a metric that is none": (
        lambda: fairdisk.blame("cfq-2.6.25", "cfq-2.6.26", "two-groups", metric="speed"),
        "speed",
        "expected ios, mbps",
    ),
    "a sweep over a key of no scope": (
        lambda: fairdisk.sweep("two-groups", {"hots.hz": [1]}),
        "hots",
        "did you mean `host`?",
    ),
    "a sweep over one number": (
        lambda: fairdisk.sweep("two-groups", {"host.hz": 100}),  # type: ignore[dict-item]
        "over['host.hz']",
        "expected several values",
    ),
    "an executor that is none": (
        lambda: fairdisk.sweep("two-groups", {"host.hz": [100]}, executor="spark"),
        "executor",
        "expected threads, processes, ray",
    ),
    "a keyword that is misspelt": (
        lambda: fairdisk.schedulers.fair(round_s=5),  # type: ignore[call-arg]
        "round_s",
        "did you mean `round_ms`?",
    ),
    "a keyword of the wrong type": (
        lambda: fairdisk.devices.nvme(read_us="fast"),  # type: ignore[arg-type]
        "read_us",
        "expected a number",
    ),
    "a switch that is a number": (
        lambda: fairdisk.devices.hdd_ncq(write_cache_enabled=1),  # type: ignore[arg-type]
        "write_cache_enabled",
        "expected True or False",
    ),
    "an array where one number is meant": (
        lambda: fairdisk.run("two-groups", seeds=numpy.arange(3)),  # type: ignore[arg-type]
        "seeds",
        "expected a whole number from 1",
    ),
    "a number of numpy that is not whole": (
        lambda: fairdisk.run("two-groups", seeds=numpy.float64(2.5)),  # type: ignore[arg-type]
        "seeds",
        "expected a whole number from 1",
    ),
    "seeds of a sweep that are None": (
        lambda: fairdisk.sweep("two-groups", {"host.hz": [100]}, seeds=None),  # type: ignore[arg-type]
        "seeds",
        "expected how many",
    ),
    "a spec that is None": (
        lambda: fairdisk.run(None),  # type: ignore[arg-type]
        "spec",
        "expected a path, the id of an experiment",
    ),
    "a replay of what is no trace": (
        lambda: fairdisk.run("two-groups", replay=fairdisk.Replay(scale={"/a": 2})),
        "replay",
        "expected one",
    ),
    "a window that ends before it begins": (
        lambda: fairdisk.run("x.csv", replay=fairdisk.Replay(window_s=(5, 2))),
        "window_s",
        "expected two times in seconds",
    ),
    "a pace that is none": (
        lambda: replayed(pace="fast"),
        "`pace`: fast",
        "expected one of closed-loop, as-it-came, as-fast-as-it-can",
    ),
    "a pace that is a number": (
        lambda: replayed(pace=1),
        "pace",
        "expected closed-loop, as-it-came or as-fast-as-it-can",
    ),
    "groups to drop that are a number": (
        lambda: replayed(drop=5),
        "drop",
        "expected a list of groups",
    ),
    "a limit by a number": (
        lambda: replayed(limit={"/a": {5: 500}}),
        "limit['/a']",
        "expected settings by their names",
    ),
    "a limit of a setting that is none": (
        lambda: replayed(limit={"/a": {"most": 500}}),
        "no setting `most`",
        "expected one of",
    ),
    "a limit that is a part of an operation": (
        lambda: replayed(limit={"/a": {"max_iops": 500.5}}),
        "max_iops",
        "or None",
    ),
    "a wish of a group without a column": (
        lambda: fairdisk.tune("two-groups", {"database": (">=", 70)}, {"host.hz": [100]}),  # type: ignore[dict-item]
        "wishes['database']",
        "expected columns",
    ),
    "a space that is a list": (
        lambda: fairdisk.tune("two-groups", lambda _: 1.0, [("host.hz", [100])]),  # type: ignore[arg-type]
        "space",
        "expected values by keys",
    ),
    "a device of a comparison that is a number": (
        lambda: fairdisk.compare("two-groups", device=5),  # type: ignore[arg-type]
        "device",
        "expected a text or a Device, or several",
    ),
    "a shard that is a number": (
        lambda: fairdisk.sweep("two-groups", {"host.hz": [100]}, shard=3),  # type: ignore[arg-type]
        "shard",
        "as 3/16",
    ),
    "options of a job that are a text": (
        lambda: fairdisk.run(fairdisk.JobFile({"a": "rw=read"})),  # type: ignore[dict-item]
        "sections['a']",
        "expected options",
    ),
    "one task where several are meant": (
        lambda: fairdisk.run(fairdisk.Experiment(tasks=fairdisk.Task("a"))),  # type: ignore[arg-type]
        "tasks",
        "expected a list",
    ),
    "an order of a trace that is none": (
        lambda: fairdisk.trace("x.fdt", by="disk"),
        "by",
        "expected group, task or device",
    ),
    "an experiment without tasks": (
        lambda: fairdisk.run(fairdisk.Experiment()),
        "tasks",
        "expected one or more tasks",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named_with_a_remedy(case: str) -> None:
    call, key, remedy = WRONG[case]
    with pytest.raises(fairdisk.SpecError) as caught:
        call()
    error = caught.value
    assert key in f"{error.key} {error}", error
    assert remedy in f"{error.remedy} {error}", error


def test_numbers_of_others_are_numbers() -> None:
    def hashes(seeds: Any, duration_s: Any, hz: Any, read_us: Any) -> list[str]:
        device = fairdisk.devices.nvme(read_us=read_us)
        result = fairdisk.run(
            "two-groups", device=device, seeds=seeds, duration_s=duration_s, set={"host.hz": hz}
        )
        return [row["journal_hash"] for row in result.data["rows"]]

    own = hashes(1, 0.25, 100, 80)
    assert hashes(numpy.int64(1), numpy.float32(0.25), numpy.int32(100), numpy.float64(80)) == own
    assert hashes(numpy.array(1), Fraction(1, 4), numpy.uint8(100), Decimal(80)) == own


def test_limits_that_are_whole_are_those_of_whole_numbers() -> None:
    def hashes(limit: Any) -> list[str]:
        result = replayed(pace="as-it-came", limit={"/a": {"max_iops": limit}})
        return [row["journal_hash"] for row in result.data["rows"]]

    own = hashes(50)
    assert hashes(50.0) == hashes(numpy.float64(50)) == hashes(numpy.int32(50)) == own
    assert hashes(None) != own


def test_a_run_that_fails_is_no_wrong_argument() -> None:
    with pytest.raises(fairdisk.RunError, match="volume"):
        fairdisk.run("two-groups", seeds=1, set={"volume.size_gib": 100_000})


def test_a_file_is_named_with_its_line() -> None:
    job = fairdisk.JobFile({"reader": {"rw": "randread", "size": "1m", "ioengin": "sync"}})
    with pytest.raises(fairdisk.SpecError) as caught:
        fairdisk.run(job)
    error = caught.value
    assert (error.file, error.line, error.key) == ("job.fio", 4, "ioengin")
    assert error.remedy == "did you mean `ioengine`?"


def test_an_experiment_that_is_built_here_has_a_file_and_lines_too() -> None:
    task = fairdisk.Task("a", order="sideways")  # type: ignore[arg-type]
    with pytest.raises(fairdisk.SpecError) as caught:
        fairdisk.run(fairdisk.Experiment(groups=[fairdisk.Group("a")], tasks=[task]))
    error = caught.value
    assert error.file == "experiment.toml" and error.line is not None
    assert "sequential" in str(error)


def test_errors_are_pythons_own_and_travel_between_processes() -> None:
    with pytest.raises(ValueError):
        fairdisk.run("two-group")
    error = fairdisk.SpecError("wrong", file="x", line=3, key="k", remedy="r")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.file, again.line, again.key) == ("wrong", "x", 3, "k")
