"""A search by Optuna finds values that keep wishes."""

from __future__ import annotations

import fairdisk
import pytest


def test_a_scheduler_that_keeps_a_share_is_found() -> None:
    found = fairdisk.tune(
        "two-groups",
        {"database": {"share_percent": (">=", 70)}},
        {"scheduler": ["noop", "two-layer-cfq"]},
        trials=10,
        duration_s=10,
    )
    assert found.values == {"scheduler": "two-layer-cfq"} and found.off == 0
    frame = found.result.to_polars()
    assert frame.filter(frame["group"] == "database")["share_percent"][0] >= 70
    assert len(found.study.trials) < 10, "it ends when wishes are kept"


def test_an_objective_of_ones_own_is_made_small() -> None:
    def longest_wait(result: fairdisk.Result) -> float:
        return float(result.to_polars()["wait_max_ms"].max())  # type: ignore[arg-type]

    told: list[tuple[int, int]] = []
    found = fairdisk.tune(
        "two-groups",
        longest_wait,
        {"scheduler.cfq.quantum": fairdisk.Range(1, 8, whole=True)},
        trials=4,
        scheduler="cfq-2.6.25",
        duration_s=2,
        progress=lambda done, of: told.append((done, of)),
    )
    assert len(found.study.trials) == 4
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert found.off == min(trial.value for trial in found.study.trials if trial.value)


def test_a_wish_of_nobody_is_refused() -> None:
    wishes = {"nobody": {"share_percent": (">=", 70.0)}}
    with pytest.raises(fairdisk.SpecError, match="a group among backup, database"):
        fairdisk.tune(
            "two-groups", wishes, {"host.hz": [100]}, scheduler="noop", trials=1, duration_s=0.1
        )


def test_several_arms_or_rows_are_not_mixed() -> None:
    wishes = {"database": {"share_percent": (">=", 70.0)}}
    with pytest.raises(fairdisk.SpecError, match="one of flat, two-layer, fair") as caught:
        fairdisk.tune("two-groups", wishes, {"host.hz": [100]}, trials=1)
    assert caught.value.key == "scheduler"
    with pytest.raises(fairdisk.SpecError, match="one of .*: the load runs") as caught:
        fairdisk.tune("isolation", wishes, {"host.hz": [100]}, scheduler="noop", trials=1)
    assert caught.value.key == "row"


def test_devices_are_a_part_of_the_space() -> None:
    slow, fast = fairdisk.devices.nvme(read_us=500), fairdisk.devices.nvme()
    found = fairdisk.tune(
        "two-groups",
        {"backup": {"latency_p50_ms": ("<=", 0.1)}},
        {"device": [slow, fast]},
        scheduler="noop",
        trials=8,
        duration_s=0.1,
    )
    assert (found.values, found.off) == ({"device": "nvme"}, 0)
