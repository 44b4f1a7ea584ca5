"""Devices of the catalogue, each with the keys that it has.

Written by `python -m fairdisk._generate`. A key that is left out keeps the value of the catalogue.
"""

from __future__ import annotations

from ._settings import Device, Value, given_device as given


def adapter_32_segments(
    *,
    command_us: int | None = None,
    segment_ns: int | None = None,
    capacity_sectors: int | None = None,
    latency_us: int | None = None,
    mb_per_s: int | None = None,
    parallel: int | None = None,
    segment_kib_max: int | None = None,
    segments_max: int | None = None,
) -> Device:
    """An adapter that takes 32 segments, in front of a disk of 0.2 ms and 200 MB/s.

    Args:
        command_us: `adapter.command_us`, 20.
        segment_ns: `adapter.segment_ns`, 1000.
        capacity_sectors: `capacity_sectors`, 1953525168.
        latency_us: `latency_us`, 200.
        mb_per_s: `mb_per_s`, 200.
        parallel: `parallel`, 1.
        segment_kib_max: `queue.segment_kib_max`, 64.
        segments_max: `queue.segments_max`, 32.
    """
    return Device("adapter-32-segments", given("adapter-32-segments", locals()))


def cheetah_15k5(
    *,
    bus_mb_per_s: int | None = None,
    bus_overhead_us: int | None = None,
    capacity_sectors: int | None = None,
    command_overhead_us: int | None = None,
    cylinder_switch_us: int | None = None,
    head_switch_us: int | None = None,
    heads: int | None = None,
    age_limit_ms: int | None = None,
    queue_depth: int | None = None,
    queue_order: str | None = None,
    segment_kib: int | None = None,
    segments: int | None = None,
    rpm: int | None = None,
    sectors_per_track_inner: int | None = None,
    sectors_per_track_outer: int | None = None,
    average_us: int | None = None,
    max_us: int | None = None,
    min_us: int | None = None,
    write_cache_depth: int | None = None,
    enabled: bool | None = None,
    flush: str | None = None,
    kib: int | None = None,
    write_cache_order: str | None = None,
    reads_wait_for_dirty: bool | None = None,
    write_settle_us: int | None = None,
    zones: int | None = None,
) -> Device:
    """Cheetah 15K.5, 15000 rpm, 300 GB, command queueing, write cache off.

    Args:
        bus_mb_per_s: `bus_mb_per_s`, 400.
        bus_overhead_us: `bus_overhead_us`, 20.
        capacity_sectors: `capacity_sectors`, 585937500.
        command_overhead_us: `command_overhead_us`, 100.
        cylinder_switch_us: `cylinder_switch_us`, 200.
        head_switch_us: `head_switch_us`, 200.
        heads: `heads`, 8.
        age_limit_ms: `queue.age_limit_ms`, 2400.
        queue_depth: `queue.depth`, 32.
        queue_order: `queue.order`, satf.
        segment_kib: `read_ahead.segment_kib`, 396.
        segments: `read_ahead.segments`, 32.
        rpm: `rpm`, 15000.
        sectors_per_track_inner: `sectors_per_track_inner`, 599.
        sectors_per_track_outer: `sectors_per_track_outer`, 1025.
        average_us: `seek.average_us`, 3400.
        max_us: `seek.max_us`, 7400.
        min_us: `seek.min_us`, 200.
        write_cache_depth: `write_cache.depth`, 64.
        enabled: `write_cache.enabled`, false.
        flush: `write_cache.flush`, drain.
        kib: `write_cache.kib`, 12672.
        write_cache_order: `write_cache.order`, satf.
        reads_wait_for_dirty: `write_cache.reads_wait_for_dirty`, false.
        write_settle_us: `write_settle_us`, 500.
        zones: `zones`, 16.
    """
    return Device("cheetah-15k5", given("cheetah-15k5", locals()))


def fcp_lun_2010(
    *,
    capacity_sectors: int | None = None,
    latency_us: int | None = None,
    link_mb_per_s: int | None = None,
    mb_per_s: int | None = None,
    parallel: int | None = None,
) -> Device:
    """a LUN behind FCP, fitted to iozone's reads under 2.6.30.

    Args:
        capacity_sectors: `capacity_sectors`, 33554432.
        latency_us: `latency_us`, 200.
        link_mb_per_s: `link_mb_per_s`, 2000.
        mb_per_s: `mb_per_s`, 291.
        parallel: `parallel`, 1.
    """
    return Device("fcp-lun-2010", given("fcp-lun-2010", locals()))


def fcp_lun_ds8300(
    *,
    link_mb_per_s: int | None = None,
    page_ns: int | None = None,
    segment_ns: int | None = None,
    capacity_sectors: int | None = None,
    latency_us: int | None = None,
    mb_per_s: int | None = None,
    parallel: int | None = None,
    segment_kib_max: int | None = None,
    segments_max: int | None = None,
) -> Device:
    """SCSI LUN of a storage server over 4 Gb/s Fibre Channel, cost per page.

    Args:
        link_mb_per_s: `adapter.link_mb_per_s`, 400.
        page_ns: `adapter.page_ns`, 1500.
        segment_ns: `adapter.segment_ns`, 0.
        capacity_sectors: `capacity_sectors`, 143374000.
        latency_us: `latency_us`, 150.
        mb_per_s: `mb_per_s`, 230.
        parallel: `parallel`, 32.
        segment_kib_max: `queue.segment_kib_max`, 64.
        segments_max: `queue.segments_max`, 128.
    """
    return Device("fcp-lun-ds8300", given("fcp-lun-ds8300", locals()))


def fixed_8ms(
    *,
    capacity_sectors: int | None = None,
    latency_us: int | None = None,
    mb_per_s: int | None = None,
    parallel: int | None = None,
) -> Device:
    """8 ms per request and 150 MB/s, one at a time.

    Args:
        capacity_sectors: `capacity_sectors`, 8388608.
        latency_us: `latency_us`, 8000.
        mb_per_s: `mb_per_s`, 150.
        parallel: `parallel`, 1.
    """
    return Device("fixed-8ms", given("fixed-8ms", locals()))


def hdd_7200_2007(
    *,
    bus_mb_per_s: int | None = None,
    bus_overhead_us: int | None = None,
    capacity_sectors: int | None = None,
    command_overhead_us: int | None = None,
    cylinder_switch_us: int | None = None,
    head_switch_us: int | None = None,
    heads: int | None = None,
    queue_depth: int | None = None,
    queue_order: str | None = None,
    segment_kib: int | None = None,
    segments: int | None = None,
    rpm: int | None = None,
    sectors_per_track_inner: int | None = None,
    sectors_per_track_outer: int | None = None,
    average_us: int | None = None,
    max_us: int | None = None,
    min_us: int | None = None,
    write_cache_depth: int | None = None,
    enabled: bool | None = None,
    flush: str | None = None,
    kib: int | None = None,
    write_cache_order: str | None = None,
    reads_wait_for_dirty: bool | None = None,
    write_settle_us: int | None = None,
    zones: int | None = None,
) -> Device:
    """A 7200 rpm SATA disk of 2007, 80 MB/s at the outer edge (calibrated).

    Args:
        bus_mb_per_s: `bus_mb_per_s`, 300.
        bus_overhead_us: `bus_overhead_us`, 30.
        capacity_sectors: `capacity_sectors`, 976773168.
        command_overhead_us: `command_overhead_us`, 330.
        cylinder_switch_us: `cylinder_switch_us`, 1100.
        head_switch_us: `head_switch_us`, 900.
        heads: `heads`, 6.
        queue_depth: `queue.depth`, 1.
        queue_order: `queue.order`, fifo.
        segment_kib: `read_ahead.segment_kib`, 1024.
        segments: `read_ahead.segments`, 8.
        rpm: `rpm`, 7200.
        sectors_per_track_inner: `sectors_per_track_inner`, 820.
        sectors_per_track_outer: `sectors_per_track_outer`, 1445.
        average_us: `seek.average_us`, 8900.
        max_us: `seek.max_us`, 20000.
        min_us: `seek.min_us`, 1200.
        write_cache_depth: `write_cache.depth`, 4.
        enabled: `write_cache.enabled`, true.
        flush: `write_cache.flush`, drain.
        kib: `write_cache.kib`, 8192.
        write_cache_order: `write_cache.order`, satf.
        reads_wait_for_dirty: `write_cache.reads_wait_for_dirty`, true.
        write_settle_us: `write_settle_us`, 0.
        zones: `zones`, 16.
    """
    return Device("hdd-7200-2007", given("hdd-7200-2007", locals()))


def hdd_ncq(
    *,
    bus_mb_per_s: int | None = None,
    bus_overhead_us: int | None = None,
    capacity_sectors: int | None = None,
    command_overhead_us: int | None = None,
    cylinder_switch_us: int | None = None,
    head_switch_us: int | None = None,
    heads: int | None = None,
    age_limit_ms: int | None = None,
    queue_depth: int | None = None,
    queue_order: str | None = None,
    segment_kib: int | None = None,
    segments: int | None = None,
    rpm: int | None = None,
    sectors_per_track_inner: int | None = None,
    sectors_per_track_outer: int | None = None,
    average_us: int | None = None,
    max_us: int | None = None,
    min_us: int | None = None,
    write_cache_depth: int | None = None,
    enabled: bool | None = None,
    flush: str | None = None,
    kib: int | None = None,
    write_cache_order: str | None = None,
    reads_wait_for_dirty: bool | None = None,
    write_settle_us: int | None = None,
    zones: int | None = None,
) -> Device:
    """7200 rpm SATA disk of 2018, 6 TB, 32 commands in order of access time.

    Args:
        bus_mb_per_s: `bus_mb_per_s`, 550.
        bus_overhead_us: `bus_overhead_us`, 10.
        capacity_sectors: `capacity_sectors`, 11721045168.
        command_overhead_us: `command_overhead_us`, 100.
        cylinder_switch_us: `cylinder_switch_us`, 0.
        head_switch_us: `head_switch_us`, 0.
        heads: `heads`, 8.
        age_limit_ms: `queue.age_limit_ms`, 2400.
        queue_depth: `queue.depth`, 32.
        queue_order: `queue.order`, satf.
        segment_kib: `read_ahead.segment_kib`, 2048.
        segments: `read_ahead.segments`, 32.
        rpm: `rpm`, 7200.
        sectors_per_track_inner: `sectors_per_track_inner`, 2075.
        sectors_per_track_outer: `sectors_per_track_outer`, 4150.
        average_us: `seek.average_us`, 7400.
        max_us: `seek.max_us`, 15000.
        min_us: `seek.min_us`, 230.
        write_cache_depth: `write_cache.depth`, 64.
        enabled: `write_cache.enabled`, true.
        flush: `write_cache.flush`, drain.
        kib: `write_cache.kib`, 196608.
        write_cache_order: `write_cache.order`, satf.
        reads_wait_for_dirty: `write_cache.reads_wait_for_dirty`, false.
        write_settle_us: `write_settle_us`, 800.
        zones: `zones`, 24.
    """
    return Device("hdd-ncq", given("hdd-ncq", locals()))


def jbod_12x2(
    *,
    bus_mb_per_s: int | None = None,
    bus_overhead_us: int | None = None,
    capacity_sectors: int | None = None,
    command_overhead_us: int | None = None,
    cylinder_switch_us: int | None = None,
    head_switch_us: int | None = None,
    heads: int | None = None,
    jbod: int | None = None,
    partitions: int | None = None,
    age_limit_ms: int | None = None,
    queue_depth: int | None = None,
    queue_order: str | None = None,
    segment_kib: int | None = None,
    segments: int | None = None,
    rpm: int | None = None,
    sectors_per_track_inner: int | None = None,
    sectors_per_track_outer: int | None = None,
    average_us: int | None = None,
    max_us: int | None = None,
    min_us: int | None = None,
    write_cache_depth: int | None = None,
    enabled: bool | None = None,
    flush: str | None = None,
    kib: int | None = None,
    write_cache_order: str | None = None,
    reads_wait_for_dirty: bool | None = None,
    write_settle_us: int | None = None,
    zones: int | None = None,
) -> Device:
    """12 disks (Cheetah 15K.5) with 2 partitions each, 31 commands in flight.

    Args:
        bus_mb_per_s: `bus_mb_per_s`, 400.
        bus_overhead_us: `bus_overhead_us`, 20.
        capacity_sectors: `capacity_sectors`, 585937500.
        command_overhead_us: `command_overhead_us`, 100.
        cylinder_switch_us: `cylinder_switch_us`, 200.
        head_switch_us: `head_switch_us`, 200.
        heads: `heads`, 8.
        jbod: `jbod`, 12.
        partitions: `partitions`, 2.
        age_limit_ms: `queue.age_limit_ms`, 2400.
        queue_depth: `queue.depth`, 31.
        queue_order: `queue.order`, satf.
        segment_kib: `read_ahead.segment_kib`, 396.
        segments: `read_ahead.segments`, 32.
        rpm: `rpm`, 15000.
        sectors_per_track_inner: `sectors_per_track_inner`, 599.
        sectors_per_track_outer: `sectors_per_track_outer`, 1025.
        average_us: `seek.average_us`, 3400.
        max_us: `seek.max_us`, 7400.
        min_us: `seek.min_us`, 200.
        write_cache_depth: `write_cache.depth`, 64.
        enabled: `write_cache.enabled`, false.
        flush: `write_cache.flush`, drain.
        kib: `write_cache.kib`, 12672.
        write_cache_order: `write_cache.order`, satf.
        reads_wait_for_dirty: `write_cache.reads_wait_for_dirty`, false.
        write_settle_us: `write_settle_us`, 500.
        zones: `zones`, 16.
    """
    return Device("jbod-12x2", given("jbod-12x2", locals()))


def null(
    *,
    capacity_sectors: int | None = None,
    depth: int | None = None,
) -> Device:
    """No time at all.

    Args:
        capacity_sectors: `capacity_sectors`, 2147483648.
        depth: `depth`, 1024.
    """
    return Device("null", given("null", locals()))


def nvme(
    *,
    bus_mb_per_s: int | None = None,
    capacity_sectors: int | None = None,
    busy_us: int | None = None,
    every_kib: int | None = None,
    fresh_mib: int | None = None,
    command_us: int | None = None,
    commands_per_s: int | None = None,
    depth: int | None = None,
    flush: str | None = None,
    page_kib: int | None = None,
    program_us: int | None = None,
    read_us: int | None = None,
    units: int | None = None,
    write_buffer_kib: int | None = None,
) -> Device:
    """NVMe solid-state disk, 1 TB, 3.2 GB/s, 14,000 random reads/s one at a time.

    Args:
        bus_mb_per_s: `bus_mb_per_s`, 3200.
        capacity_sectors: `capacity_sectors`, 1953525168.
        busy_us: `collection.busy_us`, 9000.
        every_kib: `collection.every_kib`, 1024.
        fresh_mib: `collection.fresh_mib`, 16384.
        command_us: `command_us`, 18.
        commands_per_s: `commands_per_s`, 380000.
        depth: `depth`, 256.
        flush: `flush`, drain.
        page_kib: `page_kib`, 16.
        program_us: `program_us`, 550.
        read_us: `read_us`, 50.
        units: `units`, 64.
        write_buffer_kib: `write_buffer_kib`, 131072.
    """
    return Device("nvme", given("nvme", locals()))


def onenand_omap2430(
    *,
    segment_ns: int | None = None,
    capacity_sectors: int | None = None,
    latency_us: int | None = None,
    mb_per_s: int | None = None,
    parallel: int | None = None,
    segment_kib_max: int | None = None,
    segments_max: int | None = None,
    write_latency_us: int | None = None,
    write_mb_per_s: int | None = None,
) -> Device:
    """OneNAND flash of an OMAP2430, each segment a transfer of its own (calibrated).

    Args:
        segment_ns: `adapter.segment_ns`, 37000.
        capacity_sectors: `capacity_sectors`, 524288.
        latency_us: `latency_us`, 50.
        mb_per_s: `mb_per_s`, 25.
        parallel: `parallel`, 1.
        segment_kib_max: `queue.segment_kib_max`, 64.
        segments_max: `queue.segments_max`, 64.
        write_latency_us: `write_latency_us`, 250.
        write_mb_per_s: `write_mb_per_s`, 8.
    """
    return Device("onenand-omap2430", given("onenand-omap2430", locals()))


def raid5_4(
    *,
    chunk_kib: int | None = None,
    depth: int | None = None,
    disk: str | None = None,
    disks: int | None = None,
) -> Device:
    """RAID 5 of four 7200 rpm SATA disks of 2007, chunks of 64 KiB.

    Args:
        chunk_kib: `chunk_kib`, 64.
        depth: `depth`, 32.
        disk: `disk`, hdd-7200-2007.
        disks: `disks`, 4.
    """
    return Device("raid5-4", given("raid5-4", locals()))


def sata_ssd(
    *,
    bus_mb_per_s: int | None = None,
    capacity_sectors: int | None = None,
    busy_us: int | None = None,
    every_kib: int | None = None,
    fresh_mib: int | None = None,
    command_us: int | None = None,
    commands_per_s: int | None = None,
    depth: int | None = None,
    flush: str | None = None,
    page_kib: int | None = None,
    program_us: int | None = None,
    read_us: int | None = None,
    units: int | None = None,
    write_buffer_kib: int | None = None,
) -> Device:
    """SATA solid-state disk, 500 GB, 540 MB/s, 10,000 random reads/s one at a time.

    Args:
        bus_mb_per_s: `bus_mb_per_s`, 540.
        capacity_sectors: `capacity_sectors`, 976773168.
        busy_us: `collection.busy_us`, 14000.
        every_kib: `collection.every_kib`, 1024.
        fresh_mib: `collection.fresh_mib`, 4096.
        command_us: `command_us`, 17.
        commands_per_s: `commands_per_s`, 98000.
        depth: `depth`, 32.
        flush: `flush`, drain.
        page_kib: `page_kib`, 16.
        program_us: `program_us`, 900.
        read_us: `read_us`, 75.
        units: `units`, 32.
        write_buffer_kib: `write_buffer_kib`, 65536.
    """
    return Device("sata-ssd", given("sata-ssd", locals()))


def wd2500js_ryo(
    *,
    bus_mb_per_s: int | None = None,
    bus_overhead_us: int | None = None,
    capacity_sectors: int | None = None,
    command_overhead_us: int | None = None,
    cylinder_switch_us: int | None = None,
    head_switch_us: int | None = None,
    heads: int | None = None,
    queue_depth: int | None = None,
    queue_order: str | None = None,
    segment_kib: int | None = None,
    segments: int | None = None,
    rpm: int | None = None,
    sectors_per_track_inner: int | None = None,
    sectors_per_track_outer: int | None = None,
    average_us: int | None = None,
    max_us: int | None = None,
    min_us: int | None = None,
    write_cache_depth: int | None = None,
    enabled: bool | None = None,
    flush: str | None = None,
    kib: int | None = None,
    write_cache_order: str | None = None,
    reads_wait_for_dirty: bool | None = None,
    write_settle_us: int | None = None,
    zones: int | None = None,
) -> Device:
    """WD2500JS-55N, write cache off (Ryo Tsuruta's machine, May 2008).

    Args:
        bus_mb_per_s: `bus_mb_per_s`, 300.
        bus_overhead_us: `bus_overhead_us`, 30.
        capacity_sectors: `capacity_sectors`, 488397168.
        command_overhead_us: `command_overhead_us`, 330.
        cylinder_switch_us: `cylinder_switch_us`, 0.
        head_switch_us: `head_switch_us`, 0.
        heads: `heads`, 6.
        queue_depth: `queue.depth`, 1.
        queue_order: `queue.order`, fifo.
        segment_kib: `read_ahead.segment_kib`, 512.
        segments: `read_ahead.segments`, 8.
        rpm: `rpm`, 7200.
        sectors_per_track_inner: `sectors_per_track_inner`, 600.
        sectors_per_track_outer: `sectors_per_track_outer`, 1020.
        average_us: `seek.average_us`, 8900.
        max_us: `seek.max_us`, 20000.
        min_us: `seek.min_us`, 1500.
        write_cache_depth: `write_cache.depth`, 4.
        enabled: `write_cache.enabled`, false.
        flush: `write_cache.flush`, drain.
        kib: `write_cache.kib`, 4096.
        write_cache_order: `write_cache.order`, satf.
        reads_wait_for_dirty: `write_cache.reads_wait_for_dirty`, true.
        write_settle_us: `write_settle_us`, 0.
        zones: `zones`, 16.
    """
    return Device("wd2500js-ryo", given("wd2500js-ryo", locals()))


def wd2500js(
    *,
    bus_mb_per_s: int | None = None,
    bus_overhead_us: int | None = None,
    capacity_sectors: int | None = None,
    command_overhead_us: int | None = None,
    cylinder_switch_us: int | None = None,
    head_switch_us: int | None = None,
    heads: int | None = None,
    queue_depth: int | None = None,
    queue_order: str | None = None,
    segment_kib: int | None = None,
    segments: int | None = None,
    rpm: int | None = None,
    sectors_per_track_inner: int | None = None,
    sectors_per_track_outer: int | None = None,
    average_us: int | None = None,
    max_us: int | None = None,
    min_us: int | None = None,
    write_cache_depth: int | None = None,
    enabled: bool | None = None,
    flush: str | None = None,
    kib: int | None = None,
    write_cache_order: str | None = None,
    reads_wait_for_dirty: bool | None = None,
    write_settle_us: int | None = None,
    zones: int | None = None,
) -> Device:
    """WD2500JS-19N, write cache on (Satoshi Uchida's machine, May 2008).

    Args:
        bus_mb_per_s: `bus_mb_per_s`, 300.
        bus_overhead_us: `bus_overhead_us`, 30.
        capacity_sectors: `capacity_sectors`, 488282256.
        command_overhead_us: `command_overhead_us`, 330.
        cylinder_switch_us: `cylinder_switch_us`, 0.
        head_switch_us: `head_switch_us`, 0.
        heads: `heads`, 6.
        queue_depth: `queue.depth`, 1.
        queue_order: `queue.order`, fifo.
        segment_kib: `read_ahead.segment_kib`, 512.
        segments: `read_ahead.segments`, 8.
        rpm: `rpm`, 7200.
        sectors_per_track_inner: `sectors_per_track_inner`, 600.
        sectors_per_track_outer: `sectors_per_track_outer`, 1020.
        average_us: `seek.average_us`, 8900.
        max_us: `seek.max_us`, 20000.
        min_us: `seek.min_us`, 1500.
        write_cache_depth: `write_cache.depth`, 5.
        enabled: `write_cache.enabled`, true.
        flush: `write_cache.flush`, drain.
        kib: `write_cache.kib`, 4096.
        write_cache_order: `write_cache.order`, satf.
        reads_wait_for_dirty: `write_cache.reads_wait_for_dirty`, true.
        write_settle_us: `write_settle_us`, 0.
        zones: `zones`, 16.
    """
    return Device("wd2500js", given("wd2500js", locals()))


def xen_hvm_2008(
    *,
    age_ms: int | None = None,
    background_percent: int | None = None,
    flush: str | None = None,
    limit_percent: int | None = None,
    mib: int | None = None,
    cpus: int | None = None,
    depth: int | None = None,
    disk: str | None = None,
    io_cpu_us: int | None = None,
    page_cpu_ns: int | None = None,
) -> Device:
    """Disk of a Xen guest above the host's page cache (Ryo Tsuruta, April 2008).

    Args:
        age_ms: `cache.age_ms`, 30000.
        background_percent: `cache.background_percent`, 10.
        flush: `cache.flush`, ignore.
        limit_percent: `cache.limit_percent`, 40.
        mib: `cache.mib`, 1024.
        cpus: `cpus`, 1.
        depth: `depth`, 1.
        disk: `disk`, wd2500js-ryo.
        io_cpu_us: `io_cpu_us`, 500.
        page_cpu_ns: `page_cpu_ns`, 2700.
    """
    return Device("xen-hvm-2008", given("xen-hvm-2008", locals()))
