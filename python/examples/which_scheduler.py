"""Which scheduler gives a database its share beside a backup, on two disks?"""

from __future__ import annotations

import fairdisk


def main() -> None:
    load = fairdisk.Experiment(
        groups=[fairdisk.Group("database", weight=800), fairdisk.Group("backup", weight=100)],
        tasks=[
            fairdisk.Task("database", count=8, op="read", order="random", block_kib=8),
            fairdisk.Task("backup", op="read", order="sequential", block_kib=128),
        ],
        duration_s=5,
    )
    schedulers: list[str | fairdisk.Scheduler] = ["noop", "bfq", fairdisk.schedulers.fair(round_ms=20)]
    for device in (fairdisk.devices.nvme(), fairdisk.devices.sata_ssd(depth=16)):
        result = fairdisk.run(load, scheduler=schedulers, device=device, seeds=1)
        frame = result.to_polars()
        database = frame.filter(frame["group"] == "database")
        print(device.name, dict(database.select("arm", "share_percent").iter_rows()))


if __name__ == "__main__":
    main()
