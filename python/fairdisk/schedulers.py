"""Schedulers of the catalogue, each with the keys that its family has.

Written by `python -m fairdisk._generate`. A key that is left out keeps the value of the catalogue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypedDict

from ._settings import Scheduler, Value, given, with_keys

if TYPE_CHECKING:
    from typing_extensions import Unpack


class BfqKeys(TypedDict, total=False):
    """The keys of the family `bfq`, with the values of most of it."""
    back_seek_max_kib: Annotated[int, "bfq.back_seek_max_kib"]
    """16384; 0 to 4294967295."""
    back_seek_penalty: Annotated[int, "bfq.back_seek_penalty"]
    """2; 1 to 1000000."""
    fifo_expire_async_ms: Annotated[int, "bfq.fifo_expire_async_ms"]
    """248; 1 to 1000000."""
    fifo_expire_sync_ms: Annotated[int, "bfq.fifo_expire_sync_ms"]
    """124; 1 to 1000000."""
    low_latency: Annotated[bool, "bfq.low_latency"]
    """true; true or false."""
    max_budget_sectors: Annotated[int, "bfq.max_budget_sectors"]
    """0; 0 to 1000000."""
    seeky_idle_ms: Annotated[int, "bfq.seeky_idle_ms"]
    """2; 0 to 1000000."""
    slice_idle_ms: Annotated[int, "bfq.slice_idle_ms"]
    """8; 0 to 1000000."""
    strict_guarantees: Annotated[bool, "bfq.strict_guarantees"]
    """false; true or false."""
    timeout_ms: Annotated[int, "bfq.timeout_ms"]
    """125; 1 to 1000000."""
    raising_idle_min_ms: Annotated[int, "raising.idle_min_ms"]
    """2000; 0 to 1000000."""
    raising_interactive_factor: Annotated[int, "raising.interactive_factor"]
    """30; 1 to 1000."""
    raising_interactive_ms: Annotated[int, "raising.interactive_ms"]
    """10000; 0 to 1000000."""
    raising_soft_real_time_factor: Annotated[int, "raising.soft_real_time_factor"]
    """100; 1 to 1000."""
    raising_soft_real_time_ms: Annotated[int, "raising.soft_real_time_ms"]
    """300; 0 to 1000000."""
    raising_soft_real_time_sectors_per_s_max: Annotated[int, "raising.soft_real_time_sectors_per_s_max"]
    """7000; 0 to 1000000."""
    switches_budget_feedback: Annotated[bool, "switches.budget_feedback"]
    """true; true or false."""
    switches_flash_in_symmetry: Annotated[bool, "switches.flash_in_symmetry"]
    """true; true or false."""
    switches_groups_asymmetric: Annotated[bool, "switches.groups_asymmetric"]
    """false; true or false."""
    switches_injection: Annotated[bool, "switches.injection"]
    """false; true or false."""
    switches_interactive_raising: Annotated[bool, "switches.interactive_raising"]
    """true; true or false."""
    switches_one_group_symmetric: Annotated[bool, "switches.one_group_symmetric"]
    """false; true or false."""
    switches_overcharge_in_symmetry: Annotated[bool, "switches.overcharge_in_symmetry"]
    """false; true or false."""
    switches_raised_first: Annotated[bool, "switches.raised_first"]
    """true; true or false."""
    switches_raised_keep_device: Annotated[bool, "switches.raised_keep_device"]
    """true; true or false."""
    switches_raising_limit: Annotated[bool, "switches.raising_limit"]
    """true; true or false."""
    switches_random_in_symmetry: Annotated[bool, "switches.random_in_symmetry"]
    """true; true or false."""
    switches_seeky_in_symmetry: Annotated[bool, "switches.seeky_in_symmetry"]
    """true; true or false."""
    switches_slow_by_time: Annotated[bool, "switches.slow_by_time"]
    """true; true or false."""
    switches_soft_real_time: Annotated[bool, "switches.soft_real_time"]
    """true; true or false."""
    switches_weight_preempts: Annotated[bool, "switches.weight_preempts"]
    """false; true or false."""
    switches_write_overcharge: Annotated[bool, "switches.write_overcharge"]
    """true; true or false."""
    switches_write_overcharge_3: Annotated[bool, "switches.write_overcharge_3"]
    """false; true or false."""


@with_keys(BfqKeys)
def bfq_4_12(**changes: Unpack[BfqKeys]) -> Scheduler:
    """BFQ of Linux 4.12: raised weights, no waiting where all are due the same.

    Unlike most of its family: switches_raising_limit=false.
    """
    return Scheduler("bfq-4.12", given(BfqKeys, changes))


@with_keys(BfqKeys)
def bfq_4_16(**changes: Unpack[BfqKeys]) -> Scheduler:
    """BFQ of Linux 4.16: raising ends after 110,000 sectors."""
    return Scheduler("bfq-4.16", given(BfqKeys, changes))


@with_keys(BfqKeys)
def bfq_4_20(**changes: Unpack[BfqKeys]) -> Scheduler:
    """BFQ of Linux 4.20: others are served while a task that seeks is waited for.

    Unlike most of its family: switches_groups_asymmetric=true, switches_injection=true,
    switches_write_overcharge_3=true.
    """
    return Scheduler("bfq-4.20", given(BfqKeys, changes))


@with_keys(BfqKeys)
def bfq_5_1(**changes: Unpack[BfqKeys]) -> Scheduler:
    """BFQ of Linux 5.1: writes cost more only where all are due the same.

    Unlike most of its family: switches_groups_asymmetric=true, switches_injection=true,
    switches_overcharge_in_symmetry=true, switches_write_overcharge_3=true.
    """
    return Scheduler("bfq-5.1", given(BfqKeys, changes))


@with_keys(BfqKeys)
def bfq_5_3(**changes: Unpack[BfqKeys]) -> Scheduler:
    """BFQ of Linux 5.3: greater weights take the disk at once.

    Unlike most of its family: switches_groups_asymmetric=true, switches_injection=true,
    switches_overcharge_in_symmetry=true, switches_weight_preempts=true,
    switches_write_overcharge_3=true.
    """
    return Scheduler("bfq-5.3", given(BfqKeys, changes))


@with_keys(BfqKeys)
def bfq_6_2(**changes: Unpack[BfqKeys]) -> Scheduler:
    """BFQ of Linux 6.2: the tasks of one group alone may be due the same.

    Unlike most of its family: switches_groups_asymmetric=true, switches_injection=true,
    switches_one_group_symmetric=true, switches_overcharge_in_symmetry=true,
    switches_weight_preempts=true, switches_write_overcharge_3=true.
    """
    return Scheduler("bfq-6.2", given(BfqKeys, changes))


@with_keys(BfqKeys)
def bfq_v0(**changes: Unpack[BfqKeys]) -> Scheduler:
    """BFQ-v0: budgets of sectors and groups, and nothing else.

    Unlike most of its family: switches_budget_feedback=false, switches_flash_in_symmetry=false,
    switches_interactive_raising=false, switches_raised_first=false,
    switches_raised_keep_device=false, switches_raising_limit=false,
    switches_random_in_symmetry=false, switches_seeky_in_symmetry=false,
    switches_slow_by_time=false, switches_soft_real_time=false, switches_write_overcharge=false.
    """
    return Scheduler("bfq-v0", given(BfqKeys, changes))


@with_keys(BfqKeys)
def bfq(**changes: Unpack[BfqKeys]) -> Scheduler:
    """BFQ: a queue for every task, budgets of sectors, groups in groups by weight.

    Unlike most of its family: seeky_idle_ms=0, switches_raised_first=false,
    switches_raising_limit=false, switches_write_overcharge=false.
    """
    return Scheduler("bfq", given(BfqKeys, changes))


class CfqKeys(TypedDict, total=False):
    """The keys of the family `cfq`, with the values of most of it."""
    back_seek_max_kib: Annotated[int, "cfq.back_seek_max_kib"]
    """16384; 0 to 4294967295."""
    back_seek_penalty: Annotated[int, "cfq.back_seek_penalty"]
    """2; 1 to 1000000."""
    fifo_expire_async_ms: Annotated[int, "cfq.fifo_expire_async_ms"]
    """250; 1 to 1000000."""
    fifo_expire_sync_ms: Annotated[int, "cfq.fifo_expire_sync_ms"]
    """125; 1 to 1000000."""
    group_isolation: Annotated[bool, "cfq.group_isolation"]
    """false; true or false."""
    key_offset: Annotated[bool, "cfq.key_offset"]
    """true; true or false."""
    low_latency: Annotated[bool, "cfq.low_latency"]
    """true; true or false."""
    quantum: Annotated[int, "cfq.quantum"]
    """4; 1 to 1000000."""
    queueing_seen: Annotated[bool, "cfq.queueing_seen"]
    """false; true or false."""
    seeky_idle_ms: Annotated[int, "cfq.seeky_idle_ms"]
    """2; 1 to 1000000."""
    serve_together: Annotated[bool, "cfq.serve_together"]
    """false; true or false."""
    slice_async_ms: Annotated[int, "cfq.slice_async_ms"]
    """40; 1 to 1000000."""
    slice_async_rq: Annotated[int, "cfq.slice_async_rq"]
    """2; 1 to 1000000."""
    slice_from_completion: Annotated[bool, "cfq.slice_from_completion"]
    """true; true or false."""
    slice_idle_ms: Annotated[int, "cfq.slice_idle_ms"]
    """8; 0 to 1000000."""
    slice_sync_ms: Annotated[int, "cfq.slice_sync_ms"]
    """100; 1 to 1000000."""
    target_latency_ms: Annotated[int, "cfq.target_latency_ms"]
    """0; 0 to 1000000."""
    quirks_q1_residual_sign: Annotated[bool, "quirks.q1_residual_sign"]
    """true; true or false."""
    quirks_q2_unsigned_keys: Annotated[bool, "quirks.q2_unsigned_keys"]
    """true; true or false."""
    quirks_q3_async_budget_per_round: Annotated[bool, "quirks.q3_async_budget_per_round"]
    """true; true or false."""
    quirks_q4_no_fifo_inheritance: Annotated[bool, "quirks.q4_no_fifo_inheritance"]
    """true; true or false."""
    quirks_q5_first_request_seeks: Annotated[bool, "quirks.q5_first_request_seeks"]
    """true; true or false."""
    quirks_q6_queueing_latched: Annotated[bool, "quirks.q6_queueing_latched"]
    """true; true or false."""
    quirks_q7_reference_is_driver: Annotated[bool, "quirks.q7_reference_is_driver"]
    """true; true or false."""
    quirks_q8_idle_while_busy: Annotated[bool, "quirks.q8_idle_while_busy"]
    """true; true or false."""
    switches_async_depth_ramp: Annotated[bool, "switches.async_depth_ramp"]
    """false; true or false."""
    switches_async_in_flight: Annotated[bool, "switches.async_in_flight"]
    """false; true or false."""
    switches_async_share_global: Annotated[bool, "switches.async_share_global"]
    """false; true or false."""
    switches_cgroup_groups: Annotated[bool, "switches.cgroup_groups"]
    """false; true or false."""
    switches_cgroup_move: Annotated[bool, "switches.cgroup_move"]
    """false; true or false."""
    switches_class_trees: Annotated[bool, "switches.class_trees"]
    """false; true or false."""
    switches_clear_wait_on_kick: Annotated[bool, "switches.clear_wait_on_kick"]
    """false; true or false."""
    switches_close_8192: Annotated[bool, "switches.close_8192"]
    """false; true or false."""
    switches_close_by_default: Annotated[bool, "switches.close_by_default"]
    """false; true or false."""
    switches_close_cooperators: Annotated[bool, "switches.close_cooperators"]
    """false; true or false."""
    switches_coop_distance_cap: Annotated[bool, "switches.coop_distance_cap"]
    """false; true or false."""
    switches_coop_flag_shared: Annotated[bool, "switches.coop_flag_shared"]
    """false; true or false."""
    switches_coop_merge: Annotated[bool, "switches.coop_merge"]
    """false; true or false."""
    switches_coop_preempt_unlimited: Annotated[bool, "switches.coop_preempt_unlimited"]
    """false; true or false."""
    switches_coop_skip_single: Annotated[bool, "switches.coop_skip_single"]
    """false; true or false."""
    switches_coop_split: Annotated[bool, "switches.coop_split"]
    """false; true or false."""
    switches_deep_queues: Annotated[bool, "switches.deep_queues"]
    """false; true or false."""
    switches_dispatch_one: Annotated[bool, "switches.dispatch_one"]
    """false; true or false."""
    switches_fifo_inheritance: Annotated[bool, "switches.fifo_inheritance"]
    """false; true or false."""
    switches_first_request_no_seek: Annotated[bool, "switches.first_request_no_seek"]
    """false; true or false."""
    switches_flash_history: Annotated[bool, "switches.flash_history"]
    """false; true or false."""
    switches_flash_never_idles: Annotated[bool, "switches.flash_never_idles"]
    """true; true or false."""
    switches_flash_selects: Annotated[bool, "switches.flash_selects"]
    """false; true or false."""
    switches_group_charge: Annotated[bool, "switches.group_charge"]
    """false; true or false."""
    switches_group_isolate_ops: Annotated[bool, "switches.group_isolate_ops"]
    """false; true or false."""
    switches_group_isolation: Annotated[bool, "switches.group_isolation"]
    """false; true or false."""
    switches_group_latency: Annotated[bool, "switches.group_latency"]
    """false; true or false."""
    switches_group_tree: Annotated[bool, "switches.group_tree"]
    """false; true or false."""
    switches_group_weight: Annotated[bool, "switches.group_weight"]
    """false; true or false."""
    switches_groups: Annotated[bool, "switches.groups"]
    """false; true or false."""
    switches_idle_class_alone: Annotated[bool, "switches.idle_class_alone"]
    """false; true or false."""
    switches_idle_corner_a: Annotated[bool, "switches.idle_corner_a"]
    """false; true or false."""
    switches_idle_corner_b: Annotated[bool, "switches.idle_corner_b"]
    """false; true or false."""
    switches_idle_despite_seeks: Annotated[bool, "switches.idle_despite_seeks"]
    """false; true or false."""
    switches_idle_last_of_class: Annotated[bool, "switches.idle_last_of_class"]
    """false; true or false."""
    switches_idle_when_drained: Annotated[bool, "switches.idle_when_drained"]
    """true; true or false."""
    switches_keep_on_tree: Annotated[bool, "switches.keep_on_tree"]
    """false; true or false."""
    switches_kick_for_large: Annotated[bool, "switches.kick_for_large"]
    """false; true or false."""
    switches_kick_when_busy: Annotated[bool, "switches.kick_when_busy"]
    """false; true or false."""
    switches_last_idle_sync_only: Annotated[bool, "switches.last_idle_sync_only"]
    """false; true or false."""
    switches_merge_across_groups: Annotated[bool, "switches.merge_across_groups"]
    """false; true or false."""
    switches_must_dispatch: Annotated[bool, "switches.must_dispatch"]
    """false; true or false."""
    switches_must_dispatch_else: Annotated[bool, "switches.must_dispatch_else"]
    """false; true or false."""
    switches_next_after_any: Annotated[bool, "switches.next_after_any"]
    """false; true or false."""
    switches_next_from_removed: Annotated[bool, "switches.next_from_removed"]
    """false; true or false."""
    switches_no_idle_past_slice: Annotated[bool, "switches.no_idle_past_slice"]
    """false; true or false."""
    switches_no_mix_with_async: Annotated[bool, "switches.no_mix_with_async"]
    """false; true or false."""
    switches_noidle_arm_time: Annotated[bool, "switches.noidle_arm_time"]
    """false; true or false."""
    switches_noidle_flag: Annotated[bool, "switches.noidle_flag"]
    """false; true or false."""
    switches_noidle_no_2ms: Annotated[bool, "switches.noidle_no_2ms"]
    """false; true or false."""
    switches_noidle_preempt: Annotated[bool, "switches.noidle_preempt"]
    """false; true or false."""
    switches_noidle_preempt_fix: Annotated[bool, "switches.noidle_preempt_fix"]
    """false; true or false."""
    switches_noidle_single_group: Annotated[bool, "switches.noidle_single_group"]
    """false; true or false."""
    switches_noidle_think: Annotated[bool, "switches.noidle_think"]
    """false; true or false."""
    switches_noidle_trees: Annotated[bool, "switches.noidle_trees"]
    """false; true or false."""
    switches_noidle_window: Annotated[bool, "switches.noidle_window"]
    """false; true or false."""
    switches_noidle_workload: Annotated[bool, "switches.noidle_workload"]
    """false; true or false."""
    switches_offset_by_tree_count: Annotated[bool, "switches.offset_by_tree_count"]
    """false; true or false."""
    switches_one_close_preemption: Annotated[bool, "switches.one_close_preemption"]
    """false; true or false."""
    switches_queueing_not_misjudged: Annotated[bool, "switches.queueing_not_misjudged"]
    """false; true or false."""
    switches_queueing_sampled: Annotated[bool, "switches.queueing_sampled"]
    """true; true or false."""
    switches_queueing_tristate: Annotated[bool, "switches.queueing_tristate"]
    """false; true or false."""
    switches_ramp_only_if_delayed: Annotated[bool, "switches.ramp_only_if_delayed"]
    """false; true or false."""
    switches_real_time_not_preempted: Annotated[bool, "switches.real_time_not_preempted"]
    """false; true or false."""
    switches_real_time_preempts: Annotated[bool, "switches.real_time_preempts"]
    """true; true or false."""
    switches_residual_advances: Annotated[bool, "switches.residual_advances"]
    """false; true or false."""
    switches_seek_history: Annotated[bool, "switches.seek_history"]
    """false; true or false."""
    switches_seek_per_queue: Annotated[bool, "switches.seek_per_queue"]
    """false; true or false."""
    switches_seeky_think_limit: Annotated[bool, "switches.seeky_think_limit"]
    """false; true or false."""
    switches_signed_keys: Annotated[bool, "switches.signed_keys"]
    """false; true or false."""
    switches_slice_scaling: Annotated[bool, "switches.slice_scaling"]
    """false; true or false."""
    switches_soft_quantum: Annotated[bool, "switches.soft_quantum"]
    """false; true or false."""
    switches_sole_queue_uncapped: Annotated[bool, "switches.sole_queue_uncapped"]
    """true; true or false."""
    switches_sole_queue_unlimited: Annotated[bool, "switches.sole_queue_unlimited"]
    """false; true or false."""
    switches_split_after_slice: Annotated[bool, "switches.split_after_slice"]
    """false; true or false."""
    switches_wait_busy: Annotated[bool, "switches.wait_busy"]
    """false; true or false."""
    switches_wait_busy_corners: Annotated[bool, "switches.wait_busy_corners"]
    """false; true or false."""
    switches_wait_busy_simplify: Annotated[bool, "switches.wait_busy_simplify"]
    """false; true or false."""
    switches_weight_update: Annotated[bool, "switches.weight_update"]
    """false; true or false."""
    switches_workload_by_key: Annotated[bool, "switches.workload_by_key"]
    """false; true or false."""
    switches_workload_expired_on_restore: Annotated[bool, "switches.workload_expired_on_restore"]
    """false; true or false."""


@with_keys(CfqKeys)
def cfq_2_6_25(**changes: Unpack[CfqKeys]) -> Scheduler:
    """CFQ of Linux 2.6.25: a queue for every task, slices of disk time, idle waiting.

    Unlike most of its family: switches_flash_never_idles=false,
    switches_idle_when_drained=false, switches_queueing_sampled=false,
    switches_real_time_preempts=false, switches_sole_queue_uncapped=false.
    """
    return Scheduler("cfq-2.6.25", given(CfqKeys, changes))


@with_keys(CfqKeys)
def cfq_2_6_27(**changes: Unpack[CfqKeys]) -> Scheduler:
    """CFQ of Linux 2.6.27: no waiting while the disk has anything to do.

    Unlike most of its family: switches_flash_never_idles=false,
    switches_queueing_sampled=false, switches_real_time_preempts=false,
    switches_sole_queue_uncapped=false.
    """
    return Scheduler("cfq-2.6.27", given(CfqKeys, changes))


@with_keys(CfqKeys)
def cfq_2_6_28(**changes: Unpack[CfqKeys]) -> Scheduler:
    """CFQ of Linux 2.6.28: whether commands queue is sampled, no waiting on flash.

    Unlike most of its family: switches_real_time_preempts=false,
    switches_sole_queue_uncapped=false.
    """
    return Scheduler("cfq-2.6.28", given(CfqKeys, changes))


@with_keys(CfqKeys)
def cfq_2_6_29(**changes: Unpack[CfqKeys]) -> Scheduler:
    """CFQ of Linux 2.6.29: a task alone may fill the disk's queue, real time preempts."""
    return Scheduler("cfq-2.6.29", given(CfqKeys, changes))


@with_keys(CfqKeys)
def cfq_2_6_30(**changes: Unpack[CfqKeys]) -> Scheduler:
    """CFQ of Linux 2.6.30: one request at a time, close cooperators.

    Unlike most of its family: switches_close_by_default=true, switches_close_cooperators=true,
    switches_dispatch_one=true, switches_first_request_no_seek=true,
    switches_kick_for_large=true, switches_kick_when_busy=true, switches_must_dispatch=true,
    switches_noidle_flag=true.
    """
    return Scheduler("cfq-2.6.30", given(CfqKeys, changes))


@with_keys(CfqKeys)
def cfq_2_6_32(**changes: Unpack[CfqKeys]) -> Scheduler:
    """CFQ of Linux 2.6.32: low latency, slices that know what a task needs.

    Unlike most of its family: switches_async_depth_ramp=true, switches_close_by_default=true,
    switches_close_cooperators=true, switches_dispatch_one=true, switches_fifo_inheritance=true,
    switches_first_request_no_seek=true, switches_idle_despite_seeks=true,
    switches_kick_for_large=true, switches_kick_when_busy=true, switches_must_dispatch=true,
    switches_next_after_any=true, switches_no_idle_past_slice=true,
    switches_no_mix_with_async=true, switches_noidle_flag=true,
    switches_one_close_preemption=true, switches_residual_advances=true,
    switches_seeky_think_limit=true, switches_signed_keys=true.
    """
    return Scheduler("cfq-2.6.32", given(CfqKeys, changes))


@with_keys(CfqKeys)
def cfq_2_6_33_rc1(**changes: Unpack[CfqKeys]) -> Scheduler:
    """CFQ of Linux 2.6.33-rc1: trees by class and kind, merged queues.

    Unlike most of its family: switches_async_depth_ramp=true, switches_async_share_global=true,
    switches_cgroup_groups=true, switches_cgroup_move=true, switches_class_trees=true,
    switches_clear_wait_on_kick=true, switches_close_by_default=true,
    switches_close_cooperators=true, switches_coop_flag_shared=true, switches_coop_merge=true,
    switches_coop_preempt_unlimited=true, switches_coop_skip_single=true,
    switches_coop_split=true, switches_deep_queues=true, switches_dispatch_one=true,
    switches_fifo_inheritance=true, switches_first_request_no_seek=true,
    switches_flash_selects=true, switches_group_charge=true, switches_group_isolate_ops=true,
    switches_group_isolation=true, switches_group_latency=true, switches_group_tree=true,
    switches_group_weight=true, switches_groups=true, switches_idle_corner_a=true,
    switches_idle_corner_b=true, switches_idle_despite_seeks=true,
    switches_idle_last_of_class=true, switches_keep_on_tree=true, switches_kick_for_large=true,
    switches_kick_when_busy=true, switches_must_dispatch=true, switches_must_dispatch_else=true,
    switches_next_after_any=true, switches_next_from_removed=true,
    switches_no_idle_past_slice=true, switches_no_mix_with_async=true,
    switches_noidle_arm_time=true, switches_noidle_flag=true, switches_noidle_no_2ms=true,
    switches_noidle_preempt=true, switches_noidle_preempt_fix=true,
    switches_noidle_single_group=true, switches_noidle_think=true, switches_noidle_trees=true,
    switches_noidle_window=true, switches_noidle_workload=true,
    switches_one_close_preemption=true, switches_queueing_not_misjudged=true,
    switches_queueing_tristate=true, switches_ramp_only_if_delayed=true,
    switches_residual_advances=true, switches_seek_per_queue=true,
    switches_seeky_think_limit=true, switches_signed_keys=true, switches_slice_scaling=true,
    switches_sole_queue_unlimited=true, switches_wait_busy=true,
    switches_wait_busy_corners=true, switches_wait_busy_simplify=true,
    switches_weight_update=true, switches_workload_expired_on_restore=true.
    """
    return Scheduler("cfq-2.6.33-rc1", given(CfqKeys, changes))


@with_keys(CfqKeys)
def cfq_2_6_33(**changes: Unpack[CfqKeys]) -> Scheduler:
    """CFQ of Linux 2.6.33: what was mended after the first release candidate.

    Unlike most of its family: switches_async_depth_ramp=true, switches_async_share_global=true,
    switches_cgroup_groups=true, switches_cgroup_move=true, switches_class_trees=true,
    switches_clear_wait_on_kick=true, switches_close_by_default=true,
    switches_close_cooperators=true, switches_coop_distance_cap=true,
    switches_coop_flag_shared=true, switches_coop_merge=true,
    switches_coop_preempt_unlimited=true, switches_coop_skip_single=true,
    switches_coop_split=true, switches_deep_queues=true, switches_dispatch_one=true,
    switches_fifo_inheritance=true, switches_first_request_no_seek=true,
    switches_flash_selects=true, switches_group_charge=true, switches_group_isolate_ops=true,
    switches_group_isolation=true, switches_group_latency=true, switches_group_tree=true,
    switches_group_weight=true, switches_groups=true, switches_idle_corner_a=true,
    switches_idle_corner_b=true, switches_idle_despite_seeks=true,
    switches_idle_last_of_class=true, switches_keep_on_tree=true, switches_kick_for_large=true,
    switches_kick_when_busy=true, switches_last_idle_sync_only=true,
    switches_merge_across_groups=true, switches_must_dispatch=true,
    switches_must_dispatch_else=true, switches_next_after_any=true,
    switches_next_from_removed=true, switches_no_idle_past_slice=true,
    switches_no_mix_with_async=true, switches_noidle_arm_time=true, switches_noidle_flag=true,
    switches_noidle_no_2ms=true, switches_noidle_preempt=true, switches_noidle_preempt_fix=true,
    switches_noidle_single_group=true, switches_noidle_think=true, switches_noidle_trees=true,
    switches_noidle_window=true, switches_noidle_workload=true,
    switches_one_close_preemption=true, switches_queueing_not_misjudged=true,
    switches_queueing_tristate=true, switches_ramp_only_if_delayed=true,
    switches_real_time_not_preempted=true, switches_residual_advances=true,
    switches_seek_per_queue=true, switches_seeky_think_limit=true, switches_signed_keys=true,
    switches_slice_scaling=true, switches_sole_queue_unlimited=true,
    switches_split_after_slice=true, switches_wait_busy=true, switches_wait_busy_corners=true,
    switches_wait_busy_simplify=true, switches_weight_update=true,
    switches_workload_by_key=true, switches_workload_expired_on_restore=true.
    """
    return Scheduler("cfq-2.6.33", given(CfqKeys, changes))


@with_keys(CfqKeys)
def cfq_2_6_34(**changes: Unpack[CfqKeys]) -> Scheduler:
    """CFQ of Linux 2.6.34: a history of seeks instead of their mean.

    Unlike most of its family: quantum=8, switches_async_depth_ramp=true,
    switches_async_in_flight=true, switches_async_share_global=true,
    switches_cgroup_groups=true, switches_cgroup_move=true, switches_class_trees=true,
    switches_clear_wait_on_kick=true, switches_close_8192=true, switches_close_by_default=true,
    switches_close_cooperators=true, switches_coop_distance_cap=true,
    switches_coop_flag_shared=true, switches_coop_merge=true,
    switches_coop_preempt_unlimited=true, switches_coop_skip_single=true,
    switches_coop_split=true, switches_deep_queues=true, switches_dispatch_one=true,
    switches_fifo_inheritance=true, switches_first_request_no_seek=true,
    switches_flash_history=true, switches_flash_selects=true, switches_group_charge=true,
    switches_group_isolate_ops=true, switches_group_isolation=true, switches_group_latency=true,
    switches_group_tree=true, switches_group_weight=true, switches_groups=true,
    switches_idle_class_alone=true, switches_idle_corner_a=true, switches_idle_corner_b=true,
    switches_idle_despite_seeks=true, switches_idle_last_of_class=true,
    switches_keep_on_tree=true, switches_kick_for_large=true, switches_kick_when_busy=true,
    switches_last_idle_sync_only=true, switches_merge_across_groups=true,
    switches_must_dispatch=true, switches_must_dispatch_else=true, switches_next_after_any=true,
    switches_next_from_removed=true, switches_no_idle_past_slice=true,
    switches_no_mix_with_async=true, switches_noidle_arm_time=true, switches_noidle_flag=true,
    switches_noidle_no_2ms=true, switches_noidle_preempt=true, switches_noidle_preempt_fix=true,
    switches_noidle_single_group=true, switches_noidle_think=true, switches_noidle_trees=true,
    switches_noidle_window=true, switches_noidle_workload=true,
    switches_one_close_preemption=true, switches_queueing_not_misjudged=true,
    switches_queueing_tristate=true, switches_ramp_only_if_delayed=true,
    switches_real_time_not_preempted=true, switches_residual_advances=true,
    switches_seek_history=true, switches_seek_per_queue=true, switches_seeky_think_limit=true,
    switches_signed_keys=true, switches_slice_scaling=true, switches_soft_quantum=true,
    switches_sole_queue_unlimited=true, switches_split_after_slice=true,
    switches_wait_busy=true, switches_wait_busy_corners=true, switches_wait_busy_simplify=true,
    switches_weight_update=true, switches_workload_by_key=true,
    switches_workload_expired_on_restore=true.
    """
    return Scheduler("cfq-2.6.34", given(CfqKeys, changes))


@with_keys(CfqKeys)
def mount_cfq(**changes: Unpack[CfqKeys]) -> Scheduler:
    """The cfq of mounts: CFQ of Linux 2.6.25 without its quirks, set to suit a mount.

    Unlike most of its family: seeky_idle_ms=8, serve_together=true, target_latency_ms=300,
    quirks_q1_residual_sign=false, quirks_q2_unsigned_keys=false,
    quirks_q3_async_budget_per_round=false, quirks_q4_no_fifo_inheritance=false,
    quirks_q5_first_request_seeks=false, quirks_q7_reference_is_driver=false,
    quirks_q8_idle_while_busy=false, switches_flash_never_idles=false,
    switches_idle_when_drained=false, switches_queueing_sampled=false,
    switches_real_time_preempts=false, switches_sole_queue_uncapped=false.
    """
    return Scheduler("mount-cfq", given(CfqKeys, changes))


class DeadlineKeys(TypedDict, total=False):
    """The keys of the family `deadline`, with the values of most of it."""
    fifo_batch: Annotated[int, "deadline.fifo_batch"]
    """16; 1 to 1000000."""
    front_merges: Annotated[bool, "deadline.front_merges"]
    """true; true or false."""
    read_expire_ms: Annotated[int, "deadline.read_expire_ms"]
    """500; 0 to 1000000."""
    write_expire_ms: Annotated[int, "deadline.write_expire_ms"]
    """5000; 0 to 1000000."""
    writes_starved: Annotated[int, "deadline.writes_starved"]
    """2; 0 to 4294967295."""


@with_keys(DeadlineKeys)
def deadline(**changes: Unpack[DeadlineKeys]) -> Scheduler:
    """Batches in sector order, reads first, with deadlines."""
    return Scheduler("deadline", given(DeadlineKeys, changes))


class DmIobandKeys(TypedDict, total=False):
    """The keys of the family `dm-ioband`, with the values of most of it."""
    carryover: Annotated[int, "dm_ioband.carryover"]
    """2; 0 to 1000000."""
    io_throttle: Annotated[int, "dm_ioband.io_throttle"]
    """4; 0 to 1000000."""
    token_base: Annotated[int, "dm_ioband.token_base"]
    """512; 1 to 1000000."""
    weight_map: Annotated[str, "dm_ioband.weight_map"]
    """linear-high0; linear-high0, linear-high7, openvz, cfq-slice, bfq."""


@with_keys(DmIobandKeys)
def dm_ioband(**changes: Unpack[DmIobandKeys]) -> Scheduler:
    """dm-ioband, 2008: tokens of an epoch by weight, otherwise first come, first served."""
    return Scheduler("dm-ioband", given(DmIobandKeys, changes))


class FairKeys(TypedDict, total=False):
    """The keys of the family `fair`, with the values of most of it."""
    credit_ms: Annotated[int, "fair.credit_ms"]
    """20; 0 to 1000000."""
    expire_ms: Annotated[int, "fair.expire_ms"]
    """500; 1 to 1000000."""
    idle_max_ms: Annotated[int, "fair.idle_max_ms"]
    """8; 0 to 1000000."""
    round_ms: Annotated[int, "fair.round_ms"]
    """200; 1 to 1000000."""
    rules_awaited: Annotated[bool, "rules.awaited"]
    """true; true or false."""
    rules_brought: Annotated[bool, "rules.brought"]
    """true; true or false."""
    rules_commits: Annotated[bool, "rules.commits"]
    """true; true or false."""
    rules_depth_limit: Annotated[bool, "rules.depth_limit"]
    """true; true or false."""
    rules_floor_room: Annotated[bool, "rules.floor_room"]
    """true; true or false."""
    rules_full_cache: Annotated[bool, "rules.full_cache"]
    """true; true or false."""
    rules_heads: Annotated[bool, "rules.heads"]
    """true; true or false."""
    rules_idling: Annotated[bool, "rules.idling"]
    """true; true or false."""
    rules_inside: Annotated[bool, "rules.inside"]
    """true; true or false."""
    rules_kept_slices: Annotated[bool, "rules.kept_slices"]
    """true; true or false."""
    rules_large_requests: Annotated[bool, "rules.large_requests"]
    """true; true or false."""
    rules_late_writes: Annotated[bool, "rules.late_writes"]
    """true; true or false."""
    rules_pace: Annotated[bool, "rules.pace"]
    """true; true or false."""
    rules_pauses: Annotated[bool, "rules.pauses"]
    """true; true or false."""
    rules_programs: Annotated[bool, "rules.programs"]
    """true; true or false."""
    rules_reserved: Annotated[bool, "rules.reserved"]
    """true; true or false."""
    rules_returning: Annotated[bool, "rules.returning"]
    """true; true or false."""
    rules_room: Annotated[bool, "rules.room"]
    """true; true or false."""
    rules_room_worth: Annotated[bool, "rules.room_worth"]
    """true; true or false."""
    rules_saving: Annotated[bool, "rules.saving"]
    """true; true or false."""
    rules_sharing: Annotated[bool, "rules.sharing"]
    """true; true or false."""
    rules_streams_alone: Annotated[bool, "rules.streams_alone"]
    """true; true or false."""
    rules_target_first: Annotated[bool, "rules.target_first"]
    """true; true or false."""
    rules_target_room: Annotated[bool, "rules.target_room"]
    """true; true or false."""
    rules_target_rounds: Annotated[bool, "rules.target_rounds"]
    """true; true or false."""
    rules_usual_by_depth: Annotated[bool, "rules.usual_by_depth"]
    """true; true or false."""
    rules_write_allowance: Annotated[bool, "rules.write_allowance"]
    """true; true or false."""
    rules_writes_first: Annotated[bool, "rules.writes_first"]
    """true; true or false."""


@with_keys(FairKeys)
def fair(**changes: Unpack[FairKeys]) -> Scheduler:
    """Fairdisk's own: groups share the time of any device by weight, with floors, ceilings and latency targets."""
    return Scheduler("fair", given(FairKeys, changes))


class GroupCfqKeys(TypedDict, total=False):
    """The keys of the family `group-cfq`, with the values of most of it."""
    back_seek_max_kib: Annotated[int, "cfq.back_seek_max_kib"]
    """16384; 0 to 4294967295."""
    back_seek_penalty: Annotated[int, "cfq.back_seek_penalty"]
    """2; 1 to 1000000."""
    fifo_expire_async_ms: Annotated[int, "cfq.fifo_expire_async_ms"]
    """250; 1 to 1000000."""
    fifo_expire_sync_ms: Annotated[int, "cfq.fifo_expire_sync_ms"]
    """125; 1 to 1000000."""
    group_isolation: Annotated[bool, "cfq.group_isolation"]
    """false; true or false."""
    key_offset: Annotated[bool, "cfq.key_offset"]
    """true; true or false."""
    low_latency: Annotated[bool, "cfq.low_latency"]
    """true; true or false."""
    quantum: Annotated[int, "cfq.quantum"]
    """4; 1 to 1000000."""
    queueing_seen: Annotated[bool, "cfq.queueing_seen"]
    """false; true or false."""
    seeky_idle_ms: Annotated[int, "cfq.seeky_idle_ms"]
    """2; 1 to 1000000."""
    serve_together: Annotated[bool, "cfq.serve_together"]
    """false; true or false."""
    slice_async_ms: Annotated[int, "cfq.slice_async_ms"]
    """40; 1 to 1000000."""
    slice_async_rq: Annotated[int, "cfq.slice_async_rq"]
    """2; 1 to 1000000."""
    slice_from_completion: Annotated[bool, "cfq.slice_from_completion"]
    """true; true or false."""
    slice_idle_ms: Annotated[int, "cfq.slice_idle_ms"]
    """8; 0 to 1000000."""
    slice_sync_ms: Annotated[int, "cfq.slice_sync_ms"]
    """100; 1 to 1000000."""
    target_latency_ms: Annotated[int, "cfq.target_latency_ms"]
    """0; 0 to 1000000."""
    defects_d3_unbounded_wait: Annotated[bool, "defects.d3_unbounded_wait"]
    """true; true or false."""
    group_layer_device_wide_busy_count: Annotated[bool, "group_layer.device_wide_busy_count"]
    """true; true or false."""
    group_layer_foreign_preemption: Annotated[bool, "group_layer.foreign_preemption"]
    """true; true or false."""
    group_layer_reads_of_group: Annotated[bool, "group_layer.reads_of_group"]
    """true; true or false."""
    group_layer_slice_ms: Annotated[int, "group_layer.slice_ms"]
    """500; 1 to 1000000."""
    group_layer_turn_ends_when_empty: Annotated[bool, "group_layer.turn_ends_when_empty"]
    """true; true or false."""
    group_layer_weight_map: Annotated[str, "group_layer.weight_map"]
    """openvz; linear-high0, linear-high7, openvz, cfq-slice, bfq."""
    group_layer_writes_of_group: Annotated[bool, "group_layer.writes_of_group"]
    """true; true or false."""
    quirks_q1_residual_sign: Annotated[bool, "quirks.q1_residual_sign"]
    """true; true or false."""
    quirks_q2_unsigned_keys: Annotated[bool, "quirks.q2_unsigned_keys"]
    """true; true or false."""
    quirks_q3_async_budget_per_round: Annotated[bool, "quirks.q3_async_budget_per_round"]
    """true; true or false."""
    quirks_q4_no_fifo_inheritance: Annotated[bool, "quirks.q4_no_fifo_inheritance"]
    """true; true or false."""
    quirks_q5_first_request_seeks: Annotated[bool, "quirks.q5_first_request_seeks"]
    """true; true or false."""
    quirks_q6_queueing_latched: Annotated[bool, "quirks.q6_queueing_latched"]
    """true; true or false."""
    quirks_q7_reference_is_driver: Annotated[bool, "quirks.q7_reference_is_driver"]
    """true; true or false."""
    quirks_q8_idle_while_busy: Annotated[bool, "quirks.q8_idle_while_busy"]
    """true; true or false."""


@with_keys(GroupCfqKeys)
def group_cfq(**changes: Unpack[GroupCfqKeys]) -> Scheduler:
    """CFQ with a layer of groups, OpenVZ 2008: group priorities 0 to 7, 7 is high, slices 1 to 2."""
    return Scheduler("group-cfq", given(GroupCfqKeys, changes))


class TokenBucketKeys(TypedDict, total=False):
    """The keys of the family `token-bucket`, with the values of most of it."""
    slice_ms: Annotated[int, "token_bucket.slice_ms"]
    """0; 0 to 1000000."""


@with_keys(TokenBucketKeys)
def io_throttle(**changes: Unpack[TokenBucketKeys]) -> Scheduler:
    """io-throttle, 2008: limits of groups at submission, otherwise first come, first served."""
    return Scheduler("io-throttle", given(TokenBucketKeys, changes))


@with_keys(TokenBucketKeys)
def token_bucket(**changes: Unpack[TokenBucketKeys]) -> Scheduler:
    """Rate limits of groups as leaky buckets, otherwise first come, first served."""
    return Scheduler("token-bucket", given(TokenBucketKeys, changes))


class IocostKeys(TypedDict, total=False):
    """The keys of the family `iocost`, with the values of most of it."""
    period_ms: Annotated[int, "iocost.period_ms"]
    """100; 1 to 1000000."""
    rate_max_percent: Annotated[int, "iocost.rate_max_percent"]
    """10000; 1 to 10000."""
    rate_min_percent: Annotated[int, "iocost.rate_min_percent"]
    """1; 1 to 10000."""
    rate_step_percent: Annotated[int, "iocost.rate_step_percent"]
    """3; 0 to 100."""
    read_latency_us: Annotated[int, "iocost.read_latency_us"]
    """75000; 1 to 1000000."""
    read_percent: Annotated[int, "iocost.read_percent"]
    """95; 0 to 100."""
    saved_percent: Annotated[int, "iocost.saved_percent"]
    """50; 0 to 100."""
    wait_percent: Annotated[int, "iocost.wait_percent"]
    """50; 0 to 100."""
    weight_map: Annotated[str, "iocost.weight_map"]
    """linear-high0; linear-high0, linear-high7, openvz, cfq-slice, bfq."""
    write_latency_us: Annotated[int, "iocost.write_latency_us"]
    """150000; 1 to 1000000."""
    write_percent: Annotated[int, "iocost.write_percent"]
    """95; 0 to 100."""


@with_keys(IocostKeys)
def iocost_wide(**changes: Unpack[IocostKeys]) -> Scheduler:
    """io.cost with the widest bounds of its clock: where a disk does many times what its model says."""
    return Scheduler("iocost-wide", given(IocostKeys, changes))


@with_keys(IocostKeys)
def iocost(**changes: Unpack[IocostKeys]) -> Scheduler:
    """In the manner of Linux's io.cost: shares by what requests cost, in virtual time.

    Unlike most of its family: rate_max_percent=150, rate_min_percent=50.
    """
    return Scheduler("iocost", given(IocostKeys, changes))


class IolatencyKeys(TypedDict, total=False):
    """The keys of the family `iolatency`, with the values of most of it."""
    delay_max_ms: Annotated[int, "iolatency.delay_max_ms"]
    """1000; 1 to 1000000."""
    depth_max: Annotated[int, "iolatency.depth_max"]
    """128; 1 to 1000000."""
    missed_percent: Annotated[int, "iolatency.missed_percent"]
    """10; 0 to 100."""
    recovery_requests: Annotated[int, "iolatency.recovery_requests"]
    """1; 1 to 1000000."""
    window_ms: Annotated[int, "iolatency.window_ms"]
    """100; 1 to 1000000."""


@with_keys(IolatencyKeys)
def iolatency(**changes: Unpack[IolatencyKeys]) -> Scheduler:
    """In the manner of Linux's io.latency: others are held back while a group misses its target."""
    return Scheduler("iolatency", given(IolatencyKeys, changes))


class KyberKeys(TypedDict, total=False):
    """The keys of the family `kyber`, with the values of most of it."""
    batch_requests: Annotated[int, "kyber.batch_requests"]
    """16; 1 to 10000000."""
    discard_target_us: Annotated[int, "kyber.discard_target_us"]
    """1000000; 1 to 10000000."""
    read_target_us: Annotated[int, "kyber.read_target_us"]
    """2000; 1 to 10000000."""
    window_ms: Annotated[int, "kyber.window_ms"]
    """100; 0 to 1000000."""
    window_requests: Annotated[int, "kyber.window_requests"]
    """32; 1 to 10000000."""
    write_target_us: Annotated[int, "kyber.write_target_us"]
    """10000; 1 to 10000000."""


@with_keys(KyberKeys)
def kyber(**changes: Unpack[KyberKeys]) -> Scheduler:
    """Latency targets of reads and of writes, kept by how many are at the device."""
    return Scheduler("kyber", given(KyberKeys, changes))


class MclockKeys(TypedDict, total=False):
    """The keys of the family `mclock`, with the values of most of it."""
    anticipation_ms: Annotated[int, "mclock.anticipation_ms"]
    """0; 0 to 1000000."""
    at_limit: Annotated[str, "mclock.at_limit"]
    """wait; wait, allow."""
    io_kib: Annotated[int, "mclock.io_kib"]
    """256; 1 to 1000000."""
    weight_map: Annotated[str, "mclock.weight_map"]
    """linear-high0; linear-high0, linear-high7, openvz, cfq-slice, bfq."""


@with_keys(MclockKeys)
def mclock(**changes: Unpack[MclockKeys]) -> Scheduler:
    """mClock: a floor, a ceiling and a weight for each group, by tags."""
    return Scheduler("mclock", given(MclockKeys, changes))


class TwoLayerCfqKeys(TypedDict, total=False):
    """The keys of the family `two-layer-cfq`, with the values of most of it."""
    back_seek_max_kib: Annotated[int, "cfq.back_seek_max_kib"]
    """16384; 0 to 4294967295."""
    back_seek_penalty: Annotated[int, "cfq.back_seek_penalty"]
    """2; 1 to 1000000."""
    fifo_expire_async_ms: Annotated[int, "cfq.fifo_expire_async_ms"]
    """250; 1 to 1000000."""
    fifo_expire_sync_ms: Annotated[int, "cfq.fifo_expire_sync_ms"]
    """125; 1 to 1000000."""
    group_isolation: Annotated[bool, "cfq.group_isolation"]
    """false; true or false."""
    key_offset: Annotated[bool, "cfq.key_offset"]
    """true; true or false."""
    low_latency: Annotated[bool, "cfq.low_latency"]
    """true; true or false."""
    quantum: Annotated[int, "cfq.quantum"]
    """4; 1 to 1000000."""
    queueing_seen: Annotated[bool, "cfq.queueing_seen"]
    """false; true or false."""
    seeky_idle_ms: Annotated[int, "cfq.seeky_idle_ms"]
    """8; 1 to 1000000."""
    serve_together: Annotated[bool, "cfq.serve_together"]
    """true; true or false."""
    slice_async_ms: Annotated[int, "cfq.slice_async_ms"]
    """40; 1 to 1000000."""
    slice_async_rq: Annotated[int, "cfq.slice_async_rq"]
    """2; 1 to 1000000."""
    slice_from_completion: Annotated[bool, "cfq.slice_from_completion"]
    """true; true or false."""
    slice_idle_ms: Annotated[int, "cfq.slice_idle_ms"]
    """8; 0 to 1000000."""
    slice_sync_ms: Annotated[int, "cfq.slice_sync_ms"]
    """100; 1 to 1000000."""
    target_latency_ms: Annotated[int, "cfq.target_latency_ms"]
    """300; 0 to 1000000."""
    defects_d1_stale_group_records: Annotated[bool, "defects.d1_stale_group_records"]
    """false; true or false."""
    defects_d3_unbounded_wait: Annotated[bool, "defects.d3_unbounded_wait"]
    """false; true or false."""
    defects_d4_nominal_turns: Annotated[bool, "defects.d4_nominal_turns"]
    """false; true or false."""
    groups_idle: Annotated[bool, "groups.idle"]
    """true; true or false."""
    groups_inner_turn_resumes: Annotated[bool, "groups.inner_turn_resumes"]
    """true; true or false."""
    groups_slice_ms: Annotated[int, "groups.slice_ms"]
    """40; 1 to 1000000."""
    groups_wait_max_ms: Annotated[int, "groups.wait_max_ms"]
    """60000; 1 to 1000000."""
    groups_weight_map: Annotated[str, "groups.weight_map"]
    """linear-high0; linear-high0, linear-high7, openvz, cfq-slice, bfq."""
    quirks_q1_residual_sign: Annotated[bool, "quirks.q1_residual_sign"]
    """false; true or false."""
    quirks_q2_unsigned_keys: Annotated[bool, "quirks.q2_unsigned_keys"]
    """false; true or false."""
    quirks_q3_async_budget_per_round: Annotated[bool, "quirks.q3_async_budget_per_round"]
    """false; true or false."""
    quirks_q4_no_fifo_inheritance: Annotated[bool, "quirks.q4_no_fifo_inheritance"]
    """false; true or false."""
    quirks_q5_first_request_seeks: Annotated[bool, "quirks.q5_first_request_seeks"]
    """false; true or false."""
    quirks_q6_queueing_latched: Annotated[bool, "quirks.q6_queueing_latched"]
    """true; true or false."""
    quirks_q7_reference_is_driver: Annotated[bool, "quirks.q7_reference_is_driver"]
    """false; true or false."""
    quirks_q8_idle_while_busy: Annotated[bool, "quirks.q8_idle_while_busy"]
    """false; true or false."""


@with_keys(TwoLayerCfqKeys)
def mount_two_layer_cfq(**changes: Unpack[TwoLayerCfqKeys]) -> Scheduler:
    """The two-layer-cfq of mounts: that of 2008 without its defects, set to suit a mount."""
    return Scheduler("mount-two-layer-cfq", given(TwoLayerCfqKeys, changes))


@with_keys(TwoLayerCfqKeys)
def two_layer_cfq(**changes: Unpack[TwoLayerCfqKeys]) -> Scheduler:
    """Two-layer CFQ of 2008: groups take turns, each a whole CFQ inside its turn.

    Unlike most of its family: seeky_idle_ms=2, serve_together=false, target_latency_ms=0,
    defects_d1_stale_group_records=true, defects_d3_unbounded_wait=true,
    defects_d4_nominal_turns=true, groups_inner_turn_resumes=false, groups_slice_ms=80,
    groups_wait_max_ms=5000, quirks_q1_residual_sign=true, quirks_q2_unsigned_keys=true,
    quirks_q3_async_budget_per_round=true, quirks_q4_no_fifo_inheritance=true,
    quirks_q5_first_request_seeks=true, quirks_q7_reference_is_driver=true,
    quirks_q8_idle_while_busy=true.
    """
    return Scheduler("two-layer-cfq", given(TwoLayerCfqKeys, changes))


class MqDeadlineKeys(TypedDict, total=False):
    """The keys of the family `mq-deadline`, with the values of most of it."""
    fifo_batch: Annotated[int, "deadline.fifo_batch"]
    """16; 1 to 1000000."""
    front_merges: Annotated[bool, "deadline.front_merges"]
    """true; true or false."""
    read_expire_ms: Annotated[int, "deadline.read_expire_ms"]
    """500; 0 to 1000000."""
    write_expire_ms: Annotated[int, "deadline.write_expire_ms"]
    """5000; 0 to 1000000."""
    writes_starved: Annotated[int, "deadline.writes_starved"]
    """2; 0 to 4294967295."""
    prio_aging_expire_ms: Annotated[int, "mq_deadline.prio_aging_expire_ms"]
    """10000; 1 to 1000000."""


@with_keys(MqDeadlineKeys)
def mq_deadline(**changes: Unpack[MqDeadlineKeys]) -> Scheduler:
    """Batches in sector order with deadlines, for each class of I/O priorities."""
    return Scheduler("mq-deadline", given(MqDeadlineKeys, changes))


def noop() -> Scheduler:
    """First come, first served."""
    return Scheduler("noop")


class SharesKeys(TypedDict, total=False):
    """The keys of the family `shares`, with the values of most of it."""
    forgiven_us: Annotated[int, "shares.forgiven_us"]
    """5000; 0 to 1000000."""
    latency_goal_us: Annotated[int, "shares.latency_goal_us"]
    """750; 1 to 1000000."""
    weight_map: Annotated[str, "shares.weight_map"]
    """linear-high0; linear-high0, linear-high7, openvz, cfq-slice, bfq."""


@with_keys(SharesKeys)
def shares(**changes: Unpack[SharesKeys]) -> Scheduler:
    """In Seastar's manner: shares of what the device can do within a latency goal."""
    return Scheduler("shares", given(SharesKeys, changes))
