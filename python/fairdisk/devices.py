"""Devices of the catalogue, each with the keys that its family has.

Written by `python -m fairdisk._generate`. A key that is left out keeps the value of the catalogue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from ._settings import Device, Value, given, with_keys

if TYPE_CHECKING:
    from typing_extensions import Unpack


class FixedKeys(TypedDict, total=False):
    """The keys of the family `fixed`, with the values of most of it."""
    adapter_command_us: Annotated[int, "adapter.command_us"]
    """20."""
    adapter_segment_ns: Annotated[int, "adapter.segment_ns"]
    """1000."""
    capacity_sectors: Annotated[int, "capacity_sectors"]
    """1953525168."""
    latency_us: Annotated[int, "latency_us"]
    """200."""
    mb_per_s: Annotated[int, "mb_per_s"]
    """200."""
    parallel: Annotated[int, "parallel"]
    """1."""
    queue_segment_kib_max: Annotated[int, "queue.segment_kib_max"]
    """64."""
    queue_segments_max: Annotated[int, "queue.segments_max"]
    """32."""
    link_mb_per_s: Annotated[int, "link_mb_per_s"]
    """2000."""
    adapter_link_mb_per_s: Annotated[int, "adapter.link_mb_per_s"]
    """400."""
    adapter_page_ns: Annotated[int, "adapter.page_ns"]
    """1500."""
    write_latency_us: Annotated[int, "write_latency_us"]
    """250."""
    write_mb_per_s: Annotated[int, "write_mb_per_s"]
    """8."""


@with_keys(FixedKeys)
def adapter_32_segments(**changes: Unpack[FixedKeys]) -> Device:
    """An adapter that takes 32 segments, in front of a disk of 0.2 ms and 200 MB/s."""
    return Device("adapter-32-segments", given(FixedKeys, changes))


@with_keys(FixedKeys)
def fcp_lun_2010(**changes: Unpack[FixedKeys]) -> Device:
    """a LUN behind FCP, fitted to iozone's reads under 2.6.30.

    Unlike most of its family: capacity_sectors=33554432, mb_per_s=291.
    """
    return Device("fcp-lun-2010", given(FixedKeys, changes))


@with_keys(FixedKeys)
def fcp_lun_ds8300(**changes: Unpack[FixedKeys]) -> Device:
    """SCSI LUN of a storage server over 4 Gb/s Fibre Channel, cost per page.

    Unlike most of its family: adapter_segment_ns=0, capacity_sectors=143374000, latency_us=150,
    mb_per_s=230, parallel=32, queue_segments_max=128.
    """
    return Device("fcp-lun-ds8300", given(FixedKeys, changes))


@with_keys(FixedKeys)
def fixed_8ms(**changes: Unpack[FixedKeys]) -> Device:
    """8 ms per request and 150 MB/s, one at a time.

    Unlike most of its family: capacity_sectors=8388608, latency_us=8000, mb_per_s=150.
    """
    return Device("fixed-8ms", given(FixedKeys, changes))


@with_keys(FixedKeys)
def onenand_omap2430(**changes: Unpack[FixedKeys]) -> Device:
    """OneNAND flash of an OMAP2430, each segment a transfer of its own (calibrated).

    Unlike most of its family: adapter_segment_ns=37000, capacity_sectors=524288, latency_us=50,
    mb_per_s=25, queue_segments_max=64.
    """
    return Device("onenand-omap2430", given(FixedKeys, changes))


class HddKeys(TypedDict, total=False):
    """The keys of the family `hdd`, with the values of most of it."""
    bus_mb_per_s: Annotated[int, "bus_mb_per_s"]
    """300."""
    bus_overhead_us: Annotated[int, "bus_overhead_us"]
    """30."""
    capacity_sectors: Annotated[int, "capacity_sectors"]
    """585937500."""
    command_overhead_us: Annotated[int, "command_overhead_us"]
    """100."""
    cylinder_switch_us: Annotated[int, "cylinder_switch_us"]
    """0."""
    head_switch_us: Annotated[int, "head_switch_us"]
    """0."""
    heads: Annotated[int, "heads"]
    """8."""
    queue_age_limit_ms: Annotated[int, "queue.age_limit_ms"]
    """2400."""
    queue_depth: Annotated[int, "queue.depth"]
    """1."""
    queue_order: Annotated[str, "queue.order"]
    """satf."""
    read_ahead_segment_kib: Annotated[int, "read_ahead.segment_kib"]
    """396."""
    read_ahead_segments: Annotated[int, "read_ahead.segments"]
    """32."""
    rpm: Annotated[int, "rpm"]
    """7200."""
    sectors_per_track_inner: Annotated[int, "sectors_per_track_inner"]
    """599."""
    sectors_per_track_outer: Annotated[int, "sectors_per_track_outer"]
    """1025."""
    seek_average_us: Annotated[int, "seek.average_us"]
    """8900."""
    seek_max_us: Annotated[int, "seek.max_us"]
    """20000."""
    seek_min_us: Annotated[int, "seek.min_us"]
    """200."""
    write_cache_depth: Annotated[int, "write_cache.depth"]
    """64."""
    write_cache_enabled: Annotated[bool, "write_cache.enabled"]
    """false."""
    write_cache_flush: Annotated[str, "write_cache.flush"]
    """drain."""
    write_cache_kib: Annotated[int, "write_cache.kib"]
    """12672."""
    write_cache_order: Annotated[str, "write_cache.order"]
    """satf."""
    write_cache_reads_wait_for_dirty: Annotated[bool, "write_cache.reads_wait_for_dirty"]
    """false."""
    write_settle_us: Annotated[int, "write_settle_us"]
    """0."""
    zones: Annotated[int, "zones"]
    """16."""
    jbod: Annotated[int, "jbod"]
    """12."""
    partitions: Annotated[int, "partitions"]
    """2."""


@with_keys(HddKeys)
def cheetah_15k5(**changes: Unpack[HddKeys]) -> Device:
    """Cheetah 15K.5, 15000 rpm, 300 GB, command queueing, write cache off.

    Unlike most of its family: bus_mb_per_s=400, bus_overhead_us=20, cylinder_switch_us=200,
    head_switch_us=200, queue_depth=32, rpm=15000, seek_average_us=3400, seek_max_us=7400,
    write_settle_us=500.
    """
    return Device("cheetah-15k5", given(HddKeys, changes))


@with_keys(HddKeys)
def hdd_7200_2007(**changes: Unpack[HddKeys]) -> Device:
    """A 7200 rpm SATA disk of 2007, 80 MB/s at the outer edge (calibrated).

    Unlike most of its family: capacity_sectors=976773168, command_overhead_us=330,
    cylinder_switch_us=1100, head_switch_us=900, heads=6, queue_order=fifo,
    read_ahead_segment_kib=1024, read_ahead_segments=8, sectors_per_track_inner=820,
    sectors_per_track_outer=1445, seek_min_us=1200, write_cache_depth=4,
    write_cache_enabled=true, write_cache_kib=8192, write_cache_reads_wait_for_dirty=true.
    """
    return Device("hdd-7200-2007", given(HddKeys, changes))


@with_keys(HddKeys)
def hdd_ncq(**changes: Unpack[HddKeys]) -> Device:
    """7200 rpm SATA disk of 2018, 6 TB, 32 commands in order of access time.

    Unlike most of its family: bus_mb_per_s=550, bus_overhead_us=10,
    capacity_sectors=11721045168, queue_depth=32, read_ahead_segment_kib=2048,
    sectors_per_track_inner=2075, sectors_per_track_outer=4150, seek_average_us=7400,
    seek_max_us=15000, seek_min_us=230, write_cache_enabled=true, write_cache_kib=196608,
    write_settle_us=800, zones=24.
    """
    return Device("hdd-ncq", given(HddKeys, changes))


@with_keys(HddKeys)
def jbod_12x2(**changes: Unpack[HddKeys]) -> Device:
    """12 disks (Cheetah 15K.5) with 2 partitions each, 31 commands in flight.

    Unlike most of its family: bus_mb_per_s=400, bus_overhead_us=20, cylinder_switch_us=200,
    head_switch_us=200, queue_depth=31, rpm=15000, seek_average_us=3400, seek_max_us=7400,
    write_settle_us=500.
    """
    return Device("jbod-12x2", given(HddKeys, changes))


@with_keys(HddKeys)
def wd2500js_ryo(**changes: Unpack[HddKeys]) -> Device:
    """WD2500JS-55N, write cache off (Ryo Tsuruta's machine, May 2008).

    Unlike most of its family: capacity_sectors=488397168, command_overhead_us=330, heads=6,
    queue_order=fifo, read_ahead_segment_kib=512, read_ahead_segments=8,
    sectors_per_track_inner=600, sectors_per_track_outer=1020, seek_min_us=1500,
    write_cache_depth=4, write_cache_kib=4096, write_cache_reads_wait_for_dirty=true.
    """
    return Device("wd2500js-ryo", given(HddKeys, changes))


@with_keys(HddKeys)
def wd2500js(**changes: Unpack[HddKeys]) -> Device:
    """WD2500JS-19N, write cache on (Satoshi Uchida's machine, May 2008).

    Unlike most of its family: capacity_sectors=488282256, command_overhead_us=330, heads=6,
    queue_order=fifo, read_ahead_segment_kib=512, read_ahead_segments=8,
    sectors_per_track_inner=600, sectors_per_track_outer=1020, seek_min_us=1500,
    write_cache_depth=5, write_cache_enabled=true, write_cache_kib=4096,
    write_cache_reads_wait_for_dirty=true.
    """
    return Device("wd2500js", given(HddKeys, changes))


class NullKeys(TypedDict, total=False):
    """The keys of the family `null`, with the values of most of it."""
    capacity_sectors: Annotated[int, "capacity_sectors"]
    """2147483648."""
    depth: Annotated[int, "depth"]
    """1024."""


@with_keys(NullKeys)
def null(**changes: Unpack[NullKeys]) -> Device:
    """No time at all."""
    return Device("null", given(NullKeys, changes))


class SsdKeys(TypedDict, total=False):
    """The keys of the family `ssd`, with the values of most of it."""
    bus_mb_per_s: Annotated[int, "bus_mb_per_s"]
    """3200."""
    capacity_sectors: Annotated[int, "capacity_sectors"]
    """1953525168."""
    collection_busy_us: Annotated[int, "collection.busy_us"]
    """9000."""
    collection_every_kib: Annotated[int, "collection.every_kib"]
    """1024."""
    collection_fresh_mib: Annotated[int, "collection.fresh_mib"]
    """16384."""
    command_us: Annotated[int, "command_us"]
    """18."""
    commands_per_s: Annotated[int, "commands_per_s"]
    """380000."""
    depth: Annotated[int, "depth"]
    """256."""
    flush: Annotated[str, "flush"]
    """drain."""
    page_kib: Annotated[int, "page_kib"]
    """16."""
    program_us: Annotated[int, "program_us"]
    """550."""
    read_us: Annotated[int, "read_us"]
    """50."""
    units: Annotated[int, "units"]
    """64."""
    write_buffer_kib: Annotated[int, "write_buffer_kib"]
    """131072."""


@with_keys(SsdKeys)
def nvme(**changes: Unpack[SsdKeys]) -> Device:
    """NVMe solid-state disk, 1 TB, 3.2 GB/s, 14,000 random reads/s one at a time."""
    return Device("nvme", given(SsdKeys, changes))


@with_keys(SsdKeys)
def sata_ssd(**changes: Unpack[SsdKeys]) -> Device:
    """SATA solid-state disk, 500 GB, 540 MB/s, 10,000 random reads/s one at a time.

    Unlike most of its family: bus_mb_per_s=540, capacity_sectors=976773168,
    collection_busy_us=14000, collection_fresh_mib=4096, command_us=17, commands_per_s=98000,
    depth=32, program_us=900, read_us=75, units=32, write_buffer_kib=65536.
    """
    return Device("sata-ssd", given(SsdKeys, changes))


class Raid5Keys(TypedDict, total=False):
    """The keys of the family `raid5`, with the values of most of it."""
    chunk_kib: Annotated[int, "chunk_kib"]
    """64."""
    depth: Annotated[int, "depth"]
    """32."""
    disk: Annotated[str, "disk"]
    """hdd-7200-2007."""
    disks: Annotated[int, "disks"]
    """4."""


@with_keys(Raid5Keys)
def raid5_4(**changes: Unpack[Raid5Keys]) -> Device:
    """RAID 5 of four 7200 rpm SATA disks of 2007, chunks of 64 KiB."""
    return Device("raid5-4", given(Raid5Keys, changes))


class VirtualKeys(TypedDict, total=False):
    """The keys of the family `virtual`, with the values of most of it."""
    cache_age_ms: Annotated[int, "cache.age_ms"]
    """30000."""
    cache_background_percent: Annotated[int, "cache.background_percent"]
    """10."""
    cache_flush: Annotated[str, "cache.flush"]
    """ignore."""
    cache_limit_percent: Annotated[int, "cache.limit_percent"]
    """40."""
    cache_mib: Annotated[int, "cache.mib"]
    """1024."""
    cpus: Annotated[int, "cpus"]
    """1."""
    depth: Annotated[int, "depth"]
    """1."""
    disk: Annotated[str, "disk"]
    """wd2500js-ryo."""
    io_cpu_us: Annotated[int, "io_cpu_us"]
    """500."""
    page_cpu_ns: Annotated[int, "page_cpu_ns"]
    """2700."""


@with_keys(VirtualKeys)
def xen_hvm_2008(**changes: Unpack[VirtualKeys]) -> Device:
    """Disk of a Xen guest above the host's page cache (Ryo Tsuruta, April 2008)."""
    return Device("xen-hvm-2008", given(VirtualKeys, changes))
