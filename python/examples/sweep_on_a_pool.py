"""A sweep over memory and schedulers that goes on where it was stopped."""

from __future__ import annotations

from pathlib import Path

import fairdisk


def main() -> None:
    result = fairdisk.sweep(
        "two-groups",
        {"scheduler": ["fair", "bfq"], "host.memory.mib": range(256, 1100, 256)},
        seeds=2,
        duration_s=1,
        store=Path("runs"),
    )
    frame = result.to_polars()
    print(result)
    print(frame.group_by("scheduler", "host.memory.mib").agg(frame["latency_p99_ms"].mean()))


if __name__ == "__main__":
    main()
