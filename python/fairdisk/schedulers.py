"""Schedulers of the catalogue, each with the keys that it has.

Written by `python -m fairdisk._generate`. A key that is left out keeps the value of the catalogue.
"""

from __future__ import annotations

from ._settings import Scheduler, Value, given_scheduler as given


def bfq(
    *,
    back_seek_max_kib: int | None = None,
    back_seek_penalty: int | None = None,
    fifo_expire_async_ms: int | None = None,
    fifo_expire_sync_ms: int | None = None,
    low_latency: bool | None = None,
    max_budget_sectors: int | None = None,
    slice_idle_ms: int | None = None,
    strict_guarantees: bool | None = None,
    timeout_ms: int | None = None,
    idle_min_ms: int | None = None,
    interactive_factor: int | None = None,
    interactive_ms: int | None = None,
    soft_real_time_factor: int | None = None,
    soft_real_time_ms: int | None = None,
    soft_real_time_sectors_per_s_max: int | None = None,
) -> Scheduler:
    """BFQ: a queue for every task, budgets of sectors, groups in groups by weight.

    Args:
        back_seek_max_kib: `bfq.back_seek_max_kib`, 16384; 0 to 4294967295.
        back_seek_penalty: `bfq.back_seek_penalty`, 2; 1 to 1000000.
        fifo_expire_async_ms: `bfq.fifo_expire_async_ms`, 248; 1 to 1000000.
        fifo_expire_sync_ms: `bfq.fifo_expire_sync_ms`, 124; 1 to 1000000.
        low_latency: `bfq.low_latency`, true; true or false.
        max_budget_sectors: `bfq.max_budget_sectors`, 0; 0 to 1000000.
        slice_idle_ms: `bfq.slice_idle_ms`, 8; 0 to 1000000.
        strict_guarantees: `bfq.strict_guarantees`, false; true or false.
        timeout_ms: `bfq.timeout_ms`, 125; 1 to 1000000.
        idle_min_ms: `raising.idle_min_ms`, 2000; 0 to 1000000.
        interactive_factor: `raising.interactive_factor`, 30; 1 to 1000.
        interactive_ms: `raising.interactive_ms`, 10000; 0 to 1000000.
        soft_real_time_factor: `raising.soft_real_time_factor`, 100; 1 to 1000.
        soft_real_time_ms: `raising.soft_real_time_ms`, 300; 0 to 1000000.
        soft_real_time_sectors_per_s_max: `raising.soft_real_time_sectors_per_s_max`, 7000; 0 to 1000000.
    """
    return Scheduler("bfq", given("bfq", locals()))


def cfq_2_6_25(
    *,
    back_seek_max_kib: int | None = None,
    back_seek_penalty: int | None = None,
    fifo_expire_async_ms: int | None = None,
    fifo_expire_sync_ms: int | None = None,
    cfq_group_isolation: bool | None = None,
    key_offset: bool | None = None,
    low_latency: bool | None = None,
    quantum: int | None = None,
    queueing_seen: bool | None = None,
    seeky_idle_ms: int | None = None,
    serve_together: bool | None = None,
    slice_async_ms: int | None = None,
    slice_async_rq: int | None = None,
    slice_from_completion: bool | None = None,
    slice_idle_ms: int | None = None,
    slice_sync_ms: int | None = None,
    target_latency_ms: int | None = None,
    q1_residual_sign: bool | None = None,
    q2_unsigned_keys: bool | None = None,
    q3_async_budget_per_round: bool | None = None,
    q4_no_fifo_inheritance: bool | None = None,
    q5_first_request_seeks: bool | None = None,
    q6_queueing_latched: bool | None = None,
    q7_reference_is_driver: bool | None = None,
    q8_idle_while_busy: bool | None = None,
    async_depth_ramp: bool | None = None,
    async_in_flight: bool | None = None,
    async_share_global: bool | None = None,
    cgroup_groups: bool | None = None,
    cgroup_move: bool | None = None,
    class_trees: bool | None = None,
    clear_wait_on_kick: bool | None = None,
    close_8192: bool | None = None,
    close_by_default: bool | None = None,
    close_cooperators: bool | None = None,
    coop_distance_cap: bool | None = None,
    coop_flag_shared: bool | None = None,
    coop_merge: bool | None = None,
    coop_preempt_unlimited: bool | None = None,
    coop_skip_single: bool | None = None,
    coop_split: bool | None = None,
    deep_queues: bool | None = None,
    dispatch_one: bool | None = None,
    fifo_inheritance: bool | None = None,
    first_request_no_seek: bool | None = None,
    flash_history: bool | None = None,
    flash_never_idles: bool | None = None,
    flash_selects: bool | None = None,
    group_charge: bool | None = None,
    group_isolate_ops: bool | None = None,
    switches_group_isolation: bool | None = None,
    group_latency: bool | None = None,
    group_tree: bool | None = None,
    group_weight: bool | None = None,
    groups: bool | None = None,
    idle_class_alone: bool | None = None,
    idle_corner_a: bool | None = None,
    idle_corner_b: bool | None = None,
    idle_despite_seeks: bool | None = None,
    idle_last_of_class: bool | None = None,
    idle_when_drained: bool | None = None,
    keep_on_tree: bool | None = None,
    kick_for_large: bool | None = None,
    kick_when_busy: bool | None = None,
    last_idle_sync_only: bool | None = None,
    merge_across_groups: bool | None = None,
    must_dispatch: bool | None = None,
    must_dispatch_else: bool | None = None,
    next_after_any: bool | None = None,
    next_from_removed: bool | None = None,
    no_idle_past_slice: bool | None = None,
    no_mix_with_async: bool | None = None,
    noidle_arm_time: bool | None = None,
    noidle_flag: bool | None = None,
    noidle_no_2ms: bool | None = None,
    noidle_preempt: bool | None = None,
    noidle_preempt_fix: bool | None = None,
    noidle_single_group: bool | None = None,
    noidle_think: bool | None = None,
    noidle_trees: bool | None = None,
    noidle_window: bool | None = None,
    noidle_workload: bool | None = None,
    offset_by_tree_count: bool | None = None,
    one_close_preemption: bool | None = None,
    queueing_not_misjudged: bool | None = None,
    queueing_sampled: bool | None = None,
    queueing_tristate: bool | None = None,
    ramp_only_if_delayed: bool | None = None,
    real_time_not_preempted: bool | None = None,
    real_time_preempts: bool | None = None,
    residual_advances: bool | None = None,
    seek_history: bool | None = None,
    seek_per_queue: bool | None = None,
    seeky_think_limit: bool | None = None,
    signed_keys: bool | None = None,
    slice_scaling: bool | None = None,
    soft_quantum: bool | None = None,
    sole_queue_uncapped: bool | None = None,
    sole_queue_unlimited: bool | None = None,
    split_after_slice: bool | None = None,
    wait_busy: bool | None = None,
    wait_busy_corners: bool | None = None,
    wait_busy_simplify: bool | None = None,
    weight_update: bool | None = None,
    workload_by_key: bool | None = None,
    workload_expired_on_restore: bool | None = None,
) -> Scheduler:
    """CFQ of Linux 2.6.25: a queue for every task, slices of disk time, idle waiting.

    Args:
        back_seek_max_kib: `cfq.back_seek_max_kib`, 16384; 0 to 4294967295.
        back_seek_penalty: `cfq.back_seek_penalty`, 2; 1 to 1000000.
        fifo_expire_async_ms: `cfq.fifo_expire_async_ms`, 250; 1 to 1000000.
        fifo_expire_sync_ms: `cfq.fifo_expire_sync_ms`, 125; 1 to 1000000.
        cfq_group_isolation: `cfq.group_isolation`, false; true or false.
        key_offset: `cfq.key_offset`, true; true or false.
        low_latency: `cfq.low_latency`, true; true or false.
        quantum: `cfq.quantum`, 4; 1 to 1000000.
        queueing_seen: `cfq.queueing_seen`, false; true or false.
        seeky_idle_ms: `cfq.seeky_idle_ms`, 2; 1 to 1000000.
        serve_together: `cfq.serve_together`, false; true or false.
        slice_async_ms: `cfq.slice_async_ms`, 40; 1 to 1000000.
        slice_async_rq: `cfq.slice_async_rq`, 2; 1 to 1000000.
        slice_from_completion: `cfq.slice_from_completion`, true; true or false.
        slice_idle_ms: `cfq.slice_idle_ms`, 8; 0 to 1000000.
        slice_sync_ms: `cfq.slice_sync_ms`, 100; 1 to 1000000.
        target_latency_ms: `cfq.target_latency_ms`, 0; 0 to 1000000.
        q1_residual_sign: `quirks.q1_residual_sign`, true; true or false.
        q2_unsigned_keys: `quirks.q2_unsigned_keys`, true; true or false.
        q3_async_budget_per_round: `quirks.q3_async_budget_per_round`, true; true or false.
        q4_no_fifo_inheritance: `quirks.q4_no_fifo_inheritance`, true; true or false.
        q5_first_request_seeks: `quirks.q5_first_request_seeks`, true; true or false.
        q6_queueing_latched: `quirks.q6_queueing_latched`, true; true or false.
        q7_reference_is_driver: `quirks.q7_reference_is_driver`, true; true or false.
        q8_idle_while_busy: `quirks.q8_idle_while_busy`, true; true or false.
        async_depth_ramp: `switches.async_depth_ramp`, false; true or false.
        async_in_flight: `switches.async_in_flight`, false; true or false.
        async_share_global: `switches.async_share_global`, false; true or false.
        cgroup_groups: `switches.cgroup_groups`, false; true or false.
        cgroup_move: `switches.cgroup_move`, false; true or false.
        class_trees: `switches.class_trees`, false; true or false.
        clear_wait_on_kick: `switches.clear_wait_on_kick`, false; true or false.
        close_8192: `switches.close_8192`, false; true or false.
        close_by_default: `switches.close_by_default`, false; true or false.
        close_cooperators: `switches.close_cooperators`, false; true or false.
        coop_distance_cap: `switches.coop_distance_cap`, false; true or false.
        coop_flag_shared: `switches.coop_flag_shared`, false; true or false.
        coop_merge: `switches.coop_merge`, false; true or false.
        coop_preempt_unlimited: `switches.coop_preempt_unlimited`, false; true or false.
        coop_skip_single: `switches.coop_skip_single`, false; true or false.
        coop_split: `switches.coop_split`, false; true or false.
        deep_queues: `switches.deep_queues`, false; true or false.
        dispatch_one: `switches.dispatch_one`, false; true or false.
        fifo_inheritance: `switches.fifo_inheritance`, false; true or false.
        first_request_no_seek: `switches.first_request_no_seek`, false; true or false.
        flash_history: `switches.flash_history`, false; true or false.
        flash_never_idles: `switches.flash_never_idles`, false; true or false.
        flash_selects: `switches.flash_selects`, false; true or false.
        group_charge: `switches.group_charge`, false; true or false.
        group_isolate_ops: `switches.group_isolate_ops`, false; true or false.
        switches_group_isolation: `switches.group_isolation`, false; true or false.
        group_latency: `switches.group_latency`, false; true or false.
        group_tree: `switches.group_tree`, false; true or false.
        group_weight: `switches.group_weight`, false; true or false.
        groups: `switches.groups`, false; true or false.
        idle_class_alone: `switches.idle_class_alone`, false; true or false.
        idle_corner_a: `switches.idle_corner_a`, false; true or false.
        idle_corner_b: `switches.idle_corner_b`, false; true or false.
        idle_despite_seeks: `switches.idle_despite_seeks`, false; true or false.
        idle_last_of_class: `switches.idle_last_of_class`, false; true or false.
        idle_when_drained: `switches.idle_when_drained`, false; true or false.
        keep_on_tree: `switches.keep_on_tree`, false; true or false.
        kick_for_large: `switches.kick_for_large`, false; true or false.
        kick_when_busy: `switches.kick_when_busy`, false; true or false.
        last_idle_sync_only: `switches.last_idle_sync_only`, false; true or false.
        merge_across_groups: `switches.merge_across_groups`, false; true or false.
        must_dispatch: `switches.must_dispatch`, false; true or false.
        must_dispatch_else: `switches.must_dispatch_else`, false; true or false.
        next_after_any: `switches.next_after_any`, false; true or false.
        next_from_removed: `switches.next_from_removed`, false; true or false.
        no_idle_past_slice: `switches.no_idle_past_slice`, false; true or false.
        no_mix_with_async: `switches.no_mix_with_async`, false; true or false.
        noidle_arm_time: `switches.noidle_arm_time`, false; true or false.
        noidle_flag: `switches.noidle_flag`, false; true or false.
        noidle_no_2ms: `switches.noidle_no_2ms`, false; true or false.
        noidle_preempt: `switches.noidle_preempt`, false; true or false.
        noidle_preempt_fix: `switches.noidle_preempt_fix`, false; true or false.
        noidle_single_group: `switches.noidle_single_group`, false; true or false.
        noidle_think: `switches.noidle_think`, false; true or false.
        noidle_trees: `switches.noidle_trees`, false; true or false.
        noidle_window: `switches.noidle_window`, false; true or false.
        noidle_workload: `switches.noidle_workload`, false; true or false.
        offset_by_tree_count: `switches.offset_by_tree_count`, false; true or false.
        one_close_preemption: `switches.one_close_preemption`, false; true or false.
        queueing_not_misjudged: `switches.queueing_not_misjudged`, false; true or false.
        queueing_sampled: `switches.queueing_sampled`, false; true or false.
        queueing_tristate: `switches.queueing_tristate`, false; true or false.
        ramp_only_if_delayed: `switches.ramp_only_if_delayed`, false; true or false.
        real_time_not_preempted: `switches.real_time_not_preempted`, false; true or false.
        real_time_preempts: `switches.real_time_preempts`, false; true or false.
        residual_advances: `switches.residual_advances`, false; true or false.
        seek_history: `switches.seek_history`, false; true or false.
        seek_per_queue: `switches.seek_per_queue`, false; true or false.
        seeky_think_limit: `switches.seeky_think_limit`, false; true or false.
        signed_keys: `switches.signed_keys`, false; true or false.
        slice_scaling: `switches.slice_scaling`, false; true or false.
        soft_quantum: `switches.soft_quantum`, false; true or false.
        sole_queue_uncapped: `switches.sole_queue_uncapped`, false; true or false.
        sole_queue_unlimited: `switches.sole_queue_unlimited`, false; true or false.
        split_after_slice: `switches.split_after_slice`, false; true or false.
        wait_busy: `switches.wait_busy`, false; true or false.
        wait_busy_corners: `switches.wait_busy_corners`, false; true or false.
        wait_busy_simplify: `switches.wait_busy_simplify`, false; true or false.
        weight_update: `switches.weight_update`, false; true or false.
        workload_by_key: `switches.workload_by_key`, false; true or false.
        workload_expired_on_restore: `switches.workload_expired_on_restore`, false; true or false.
    """
    return Scheduler("cfq-2.6.25", given("cfq-2.6.25", locals()))


def cfq_2_6_27(
    *,
    back_seek_max_kib: int | None = None,
    back_seek_penalty: int | None = None,
    fifo_expire_async_ms: int | None = None,
    fifo_expire_sync_ms: int | None = None,
    cfq_group_isolation: bool | None = None,
    key_offset: bool | None = None,
    low_latency: bool | None = None,
    quantum: int | None = None,
    queueing_seen: bool | None = None,
    seeky_idle_ms: int | None = None,
    serve_together: bool | None = None,
    slice_async_ms: int | None = None,
    slice_async_rq: int | None = None,
    slice_from_completion: bool | None = None,
    slice_idle_ms: int | None = None,
    slice_sync_ms: int | None = None,
    target_latency_ms: int | None = None,
    q1_residual_sign: bool | None = None,
    q2_unsigned_keys: bool | None = None,
    q3_async_budget_per_round: bool | None = None,
    q4_no_fifo_inheritance: bool | None = None,
    q5_first_request_seeks: bool | None = None,
    q6_queueing_latched: bool | None = None,
    q7_reference_is_driver: bool | None = None,
    q8_idle_while_busy: bool | None = None,
    async_depth_ramp: bool | None = None,
    async_in_flight: bool | None = None,
    async_share_global: bool | None = None,
    cgroup_groups: bool | None = None,
    cgroup_move: bool | None = None,
    class_trees: bool | None = None,
    clear_wait_on_kick: bool | None = None,
    close_8192: bool | None = None,
    close_by_default: bool | None = None,
    close_cooperators: bool | None = None,
    coop_distance_cap: bool | None = None,
    coop_flag_shared: bool | None = None,
    coop_merge: bool | None = None,
    coop_preempt_unlimited: bool | None = None,
    coop_skip_single: bool | None = None,
    coop_split: bool | None = None,
    deep_queues: bool | None = None,
    dispatch_one: bool | None = None,
    fifo_inheritance: bool | None = None,
    first_request_no_seek: bool | None = None,
    flash_history: bool | None = None,
    flash_never_idles: bool | None = None,
    flash_selects: bool | None = None,
    group_charge: bool | None = None,
    group_isolate_ops: bool | None = None,
    switches_group_isolation: bool | None = None,
    group_latency: bool | None = None,
    group_tree: bool | None = None,
    group_weight: bool | None = None,
    groups: bool | None = None,
    idle_class_alone: bool | None = None,
    idle_corner_a: bool | None = None,
    idle_corner_b: bool | None = None,
    idle_despite_seeks: bool | None = None,
    idle_last_of_class: bool | None = None,
    idle_when_drained: bool | None = None,
    keep_on_tree: bool | None = None,
    kick_for_large: bool | None = None,
    kick_when_busy: bool | None = None,
    last_idle_sync_only: bool | None = None,
    merge_across_groups: bool | None = None,
    must_dispatch: bool | None = None,
    must_dispatch_else: bool | None = None,
    next_after_any: bool | None = None,
    next_from_removed: bool | None = None,
    no_idle_past_slice: bool | None = None,
    no_mix_with_async: bool | None = None,
    noidle_arm_time: bool | None = None,
    noidle_flag: bool | None = None,
    noidle_no_2ms: bool | None = None,
    noidle_preempt: bool | None = None,
    noidle_preempt_fix: bool | None = None,
    noidle_single_group: bool | None = None,
    noidle_think: bool | None = None,
    noidle_trees: bool | None = None,
    noidle_window: bool | None = None,
    noidle_workload: bool | None = None,
    offset_by_tree_count: bool | None = None,
    one_close_preemption: bool | None = None,
    queueing_not_misjudged: bool | None = None,
    queueing_sampled: bool | None = None,
    queueing_tristate: bool | None = None,
    ramp_only_if_delayed: bool | None = None,
    real_time_not_preempted: bool | None = None,
    real_time_preempts: bool | None = None,
    residual_advances: bool | None = None,
    seek_history: bool | None = None,
    seek_per_queue: bool | None = None,
    seeky_think_limit: bool | None = None,
    signed_keys: bool | None = None,
    slice_scaling: bool | None = None,
    soft_quantum: bool | None = None,
    sole_queue_uncapped: bool | None = None,
    sole_queue_unlimited: bool | None = None,
    split_after_slice: bool | None = None,
    wait_busy: bool | None = None,
    wait_busy_corners: bool | None = None,
    wait_busy_simplify: bool | None = None,
    weight_update: bool | None = None,
    workload_by_key: bool | None = None,
    workload_expired_on_restore: bool | None = None,
) -> Scheduler:
    """CFQ of Linux 2.6.27: no waiting while the disk has anything to do.

    Args:
        back_seek_max_kib: `cfq.back_seek_max_kib`, 16384; 0 to 4294967295.
        back_seek_penalty: `cfq.back_seek_penalty`, 2; 1 to 1000000.
        fifo_expire_async_ms: `cfq.fifo_expire_async_ms`, 250; 1 to 1000000.
        fifo_expire_sync_ms: `cfq.fifo_expire_sync_ms`, 125; 1 to 1000000.
        cfq_group_isolation: `cfq.group_isolation`, false; true or false.
        key_offset: `cfq.key_offset`, true; true or false.
        low_latency: `cfq.low_latency`, true; true or false.
        quantum: `cfq.quantum`, 4; 1 to 1000000.
        queueing_seen: `cfq.queueing_seen`, false; true or false.
        seeky_idle_ms: `cfq.seeky_idle_ms`, 2; 1 to 1000000.
        serve_together: `cfq.serve_together`, false; true or false.
        slice_async_ms: `cfq.slice_async_ms`, 40; 1 to 1000000.
        slice_async_rq: `cfq.slice_async_rq`, 2; 1 to 1000000.
        slice_from_completion: `cfq.slice_from_completion`, true; true or false.
        slice_idle_ms: `cfq.slice_idle_ms`, 8; 0 to 1000000.
        slice_sync_ms: `cfq.slice_sync_ms`, 100; 1 to 1000000.
        target_latency_ms: `cfq.target_latency_ms`, 0; 0 to 1000000.
        q1_residual_sign: `quirks.q1_residual_sign`, true; true or false.
        q2_unsigned_keys: `quirks.q2_unsigned_keys`, true; true or false.
        q3_async_budget_per_round: `quirks.q3_async_budget_per_round`, true; true or false.
        q4_no_fifo_inheritance: `quirks.q4_no_fifo_inheritance`, true; true or false.
        q5_first_request_seeks: `quirks.q5_first_request_seeks`, true; true or false.
        q6_queueing_latched: `quirks.q6_queueing_latched`, true; true or false.
        q7_reference_is_driver: `quirks.q7_reference_is_driver`, true; true or false.
        q8_idle_while_busy: `quirks.q8_idle_while_busy`, true; true or false.
        async_depth_ramp: `switches.async_depth_ramp`, false; true or false.
        async_in_flight: `switches.async_in_flight`, false; true or false.
        async_share_global: `switches.async_share_global`, false; true or false.
        cgroup_groups: `switches.cgroup_groups`, false; true or false.
        cgroup_move: `switches.cgroup_move`, false; true or false.
        class_trees: `switches.class_trees`, false; true or false.
        clear_wait_on_kick: `switches.clear_wait_on_kick`, false; true or false.
        close_8192: `switches.close_8192`, false; true or false.
        close_by_default: `switches.close_by_default`, false; true or false.
        close_cooperators: `switches.close_cooperators`, false; true or false.
        coop_distance_cap: `switches.coop_distance_cap`, false; true or false.
        coop_flag_shared: `switches.coop_flag_shared`, false; true or false.
        coop_merge: `switches.coop_merge`, false; true or false.
        coop_preempt_unlimited: `switches.coop_preempt_unlimited`, false; true or false.
        coop_skip_single: `switches.coop_skip_single`, false; true or false.
        coop_split: `switches.coop_split`, false; true or false.
        deep_queues: `switches.deep_queues`, false; true or false.
        dispatch_one: `switches.dispatch_one`, false; true or false.
        fifo_inheritance: `switches.fifo_inheritance`, false; true or false.
        first_request_no_seek: `switches.first_request_no_seek`, false; true or false.
        flash_history: `switches.flash_history`, false; true or false.
        flash_never_idles: `switches.flash_never_idles`, false; true or false.
        flash_selects: `switches.flash_selects`, false; true or false.
        group_charge: `switches.group_charge`, false; true or false.
        group_isolate_ops: `switches.group_isolate_ops`, false; true or false.
        switches_group_isolation: `switches.group_isolation`, false; true or false.
        group_latency: `switches.group_latency`, false; true or false.
        group_tree: `switches.group_tree`, false; true or false.
        group_weight: `switches.group_weight`, false; true or false.
        groups: `switches.groups`, false; true or false.
        idle_class_alone: `switches.idle_class_alone`, false; true or false.
        idle_corner_a: `switches.idle_corner_a`, false; true or false.
        idle_corner_b: `switches.idle_corner_b`, false; true or false.
        idle_despite_seeks: `switches.idle_despite_seeks`, false; true or false.
        idle_last_of_class: `switches.idle_last_of_class`, false; true or false.
        idle_when_drained: `switches.idle_when_drained`, true; true or false.
        keep_on_tree: `switches.keep_on_tree`, false; true or false.
        kick_for_large: `switches.kick_for_large`, false; true or false.
        kick_when_busy: `switches.kick_when_busy`, false; true or false.
        last_idle_sync_only: `switches.last_idle_sync_only`, false; true or false.
        merge_across_groups: `switches.merge_across_groups`, false; true or false.
        must_dispatch: `switches.must_dispatch`, false; true or false.
        must_dispatch_else: `switches.must_dispatch_else`, false; true or false.
        next_after_any: `switches.next_after_any`, false; true or false.
        next_from_removed: `switches.next_from_removed`, false; true or false.
        no_idle_past_slice: `switches.no_idle_past_slice`, false; true or false.
        no_mix_with_async: `switches.no_mix_with_async`, false; true or false.
        noidle_arm_time: `switches.noidle_arm_time`, false; true or false.
        noidle_flag: `switches.noidle_flag`, false; true or false.
        noidle_no_2ms: `switches.noidle_no_2ms`, false; true or false.
        noidle_preempt: `switches.noidle_preempt`, false; true or false.
        noidle_preempt_fix: `switches.noidle_preempt_fix`, false; true or false.
        noidle_single_group: `switches.noidle_single_group`, false; true or false.
        noidle_think: `switches.noidle_think`, false; true or false.
        noidle_trees: `switches.noidle_trees`, false; true or false.
        noidle_window: `switches.noidle_window`, false; true or false.
        noidle_workload: `switches.noidle_workload`, false; true or false.
        offset_by_tree_count: `switches.offset_by_tree_count`, false; true or false.
        one_close_preemption: `switches.one_close_preemption`, false; true or false.
        queueing_not_misjudged: `switches.queueing_not_misjudged`, false; true or false.
        queueing_sampled: `switches.queueing_sampled`, false; true or false.
        queueing_tristate: `switches.queueing_tristate`, false; true or false.
        ramp_only_if_delayed: `switches.ramp_only_if_delayed`, false; true or false.
        real_time_not_preempted: `switches.real_time_not_preempted`, false; true or false.
        real_time_preempts: `switches.real_time_preempts`, false; true or false.
        residual_advances: `switches.residual_advances`, false; true or false.
        seek_history: `switches.seek_history`, false; true or false.
        seek_per_queue: `switches.seek_per_queue`, false; true or false.
        seeky_think_limit: `switches.seeky_think_limit`, false; true or false.
        signed_keys: `switches.signed_keys`, false; true or false.
        slice_scaling: `switches.slice_scaling`, false; true or false.
        soft_quantum: `switches.soft_quantum`, false; true or false.
        sole_queue_uncapped: `switches.sole_queue_uncapped`, false; true or false.
        sole_queue_unlimited: `switches.sole_queue_unlimited`, false; true or false.
        split_after_slice: `switches.split_after_slice`, false; true or false.
        wait_busy: `switches.wait_busy`, false; true or false.
        wait_busy_corners: `switches.wait_busy_corners`, false; true or false.
        wait_busy_simplify: `switches.wait_busy_simplify`, false; true or false.
        weight_update: `switches.weight_update`, false; true or false.
        workload_by_key: `switches.workload_by_key`, false; true or false.
        workload_expired_on_restore: `switches.workload_expired_on_restore`, false; true or false.
    """
    return Scheduler("cfq-2.6.27", given("cfq-2.6.27", locals()))


def cfq_2_6_28(
    *,
    back_seek_max_kib: int | None = None,
    back_seek_penalty: int | None = None,
    fifo_expire_async_ms: int | None = None,
    fifo_expire_sync_ms: int | None = None,
    cfq_group_isolation: bool | None = None,
    key_offset: bool | None = None,
    low_latency: bool | None = None,
    quantum: int | None = None,
    queueing_seen: bool | None = None,
    seeky_idle_ms: int | None = None,
    serve_together: bool | None = None,
    slice_async_ms: int | None = None,
    slice_async_rq: int | None = None,
    slice_from_completion: bool | None = None,
    slice_idle_ms: int | None = None,
    slice_sync_ms: int | None = None,
    target_latency_ms: int | None = None,
    q1_residual_sign: bool | None = None,
    q2_unsigned_keys: bool | None = None,
    q3_async_budget_per_round: bool | None = None,
    q4_no_fifo_inheritance: bool | None = None,
    q5_first_request_seeks: bool | None = None,
    q6_queueing_latched: bool | None = None,
    q7_reference_is_driver: bool | None = None,
    q8_idle_while_busy: bool | None = None,
    async_depth_ramp: bool | None = None,
    async_in_flight: bool | None = None,
    async_share_global: bool | None = None,
    cgroup_groups: bool | None = None,
    cgroup_move: bool | None = None,
    class_trees: bool | None = None,
    clear_wait_on_kick: bool | None = None,
    close_8192: bool | None = None,
    close_by_default: bool | None = None,
    close_cooperators: bool | None = None,
    coop_distance_cap: bool | None = None,
    coop_flag_shared: bool | None = None,
    coop_merge: bool | None = None,
    coop_preempt_unlimited: bool | None = None,
    coop_skip_single: bool | None = None,
    coop_split: bool | None = None,
    deep_queues: bool | None = None,
    dispatch_one: bool | None = None,
    fifo_inheritance: bool | None = None,
    first_request_no_seek: bool | None = None,
    flash_history: bool | None = None,
    flash_never_idles: bool | None = None,
    flash_selects: bool | None = None,
    group_charge: bool | None = None,
    group_isolate_ops: bool | None = None,
    switches_group_isolation: bool | None = None,
    group_latency: bool | None = None,
    group_tree: bool | None = None,
    group_weight: bool | None = None,
    groups: bool | None = None,
    idle_class_alone: bool | None = None,
    idle_corner_a: bool | None = None,
    idle_corner_b: bool | None = None,
    idle_despite_seeks: bool | None = None,
    idle_last_of_class: bool | None = None,
    idle_when_drained: bool | None = None,
    keep_on_tree: bool | None = None,
    kick_for_large: bool | None = None,
    kick_when_busy: bool | None = None,
    last_idle_sync_only: bool | None = None,
    merge_across_groups: bool | None = None,
    must_dispatch: bool | None = None,
    must_dispatch_else: bool | None = None,
    next_after_any: bool | None = None,
    next_from_removed: bool | None = None,
    no_idle_past_slice: bool | None = None,
    no_mix_with_async: bool | None = None,
    noidle_arm_time: bool | None = None,
    noidle_flag: bool | None = None,
    noidle_no_2ms: bool | None = None,
    noidle_preempt: bool | None = None,
    noidle_preempt_fix: bool | None = None,
    noidle_single_group: bool | None = None,
    noidle_think: bool | None = None,
    noidle_trees: bool | None = None,
    noidle_window: bool | None = None,
    noidle_workload: bool | None = None,
    offset_by_tree_count: bool | None = None,
    one_close_preemption: bool | None = None,
    queueing_not_misjudged: bool | None = None,
    queueing_sampled: bool | None = None,
    queueing_tristate: bool | None = None,
    ramp_only_if_delayed: bool | None = None,
    real_time_not_preempted: bool | None = None,
    real_time_preempts: bool | None = None,
    residual_advances: bool | None = None,
    seek_history: bool | None = None,
    seek_per_queue: bool | None = None,
    seeky_think_limit: bool | None = None,
    signed_keys: bool | None = None,
    slice_scaling: bool | None = None,
    soft_quantum: bool | None = None,
    sole_queue_uncapped: bool | None = None,
    sole_queue_unlimited: bool | None = None,
    split_after_slice: bool | None = None,
    wait_busy: bool | None = None,
    wait_busy_corners: bool | None = None,
    wait_busy_simplify: bool | None = None,
    weight_update: bool | None = None,
    workload_by_key: bool | None = None,
    workload_expired_on_restore: bool | None = None,
) -> Scheduler:
    """CFQ of Linux 2.6.28: whether commands queue is sampled, no waiting on flash.

    Args:
        back_seek_max_kib: `cfq.back_seek_max_kib`, 16384; 0 to 4294967295.
        back_seek_penalty: `cfq.back_seek_penalty`, 2; 1 to 1000000.
        fifo_expire_async_ms: `cfq.fifo_expire_async_ms`, 250; 1 to 1000000.
        fifo_expire_sync_ms: `cfq.fifo_expire_sync_ms`, 125; 1 to 1000000.
        cfq_group_isolation: `cfq.group_isolation`, false; true or false.
        key_offset: `cfq.key_offset`, true; true or false.
        low_latency: `cfq.low_latency`, true; true or false.
        quantum: `cfq.quantum`, 4; 1 to 1000000.
        queueing_seen: `cfq.queueing_seen`, false; true or false.
        seeky_idle_ms: `cfq.seeky_idle_ms`, 2; 1 to 1000000.
        serve_together: `cfq.serve_together`, false; true or false.
        slice_async_ms: `cfq.slice_async_ms`, 40; 1 to 1000000.
        slice_async_rq: `cfq.slice_async_rq`, 2; 1 to 1000000.
        slice_from_completion: `cfq.slice_from_completion`, true; true or false.
        slice_idle_ms: `cfq.slice_idle_ms`, 8; 0 to 1000000.
        slice_sync_ms: `cfq.slice_sync_ms`, 100; 1 to 1000000.
        target_latency_ms: `cfq.target_latency_ms`, 0; 0 to 1000000.
        q1_residual_sign: `quirks.q1_residual_sign`, true; true or false.
        q2_unsigned_keys: `quirks.q2_unsigned_keys`, true; true or false.
        q3_async_budget_per_round: `quirks.q3_async_budget_per_round`, true; true or false.
        q4_no_fifo_inheritance: `quirks.q4_no_fifo_inheritance`, true; true or false.
        q5_first_request_seeks: `quirks.q5_first_request_seeks`, true; true or false.
        q6_queueing_latched: `quirks.q6_queueing_latched`, true; true or false.
        q7_reference_is_driver: `quirks.q7_reference_is_driver`, true; true or false.
        q8_idle_while_busy: `quirks.q8_idle_while_busy`, true; true or false.
        async_depth_ramp: `switches.async_depth_ramp`, false; true or false.
        async_in_flight: `switches.async_in_flight`, false; true or false.
        async_share_global: `switches.async_share_global`, false; true or false.
        cgroup_groups: `switches.cgroup_groups`, false; true or false.
        cgroup_move: `switches.cgroup_move`, false; true or false.
        class_trees: `switches.class_trees`, false; true or false.
        clear_wait_on_kick: `switches.clear_wait_on_kick`, false; true or false.
        close_8192: `switches.close_8192`, false; true or false.
        close_by_default: `switches.close_by_default`, false; true or false.
        close_cooperators: `switches.close_cooperators`, false; true or false.
        coop_distance_cap: `switches.coop_distance_cap`, false; true or false.
        coop_flag_shared: `switches.coop_flag_shared`, false; true or false.
        coop_merge: `switches.coop_merge`, false; true or false.
        coop_preempt_unlimited: `switches.coop_preempt_unlimited`, false; true or false.
        coop_skip_single: `switches.coop_skip_single`, false; true or false.
        coop_split: `switches.coop_split`, false; true or false.
        deep_queues: `switches.deep_queues`, false; true or false.
        dispatch_one: `switches.dispatch_one`, false; true or false.
        fifo_inheritance: `switches.fifo_inheritance`, false; true or false.
        first_request_no_seek: `switches.first_request_no_seek`, false; true or false.
        flash_history: `switches.flash_history`, false; true or false.
        flash_never_idles: `switches.flash_never_idles`, true; true or false.
        flash_selects: `switches.flash_selects`, false; true or false.
        group_charge: `switches.group_charge`, false; true or false.
        group_isolate_ops: `switches.group_isolate_ops`, false; true or false.
        switches_group_isolation: `switches.group_isolation`, false; true or false.
        group_latency: `switches.group_latency`, false; true or false.
        group_tree: `switches.group_tree`, false; true or false.
        group_weight: `switches.group_weight`, false; true or false.
        groups: `switches.groups`, false; true or false.
        idle_class_alone: `switches.idle_class_alone`, false; true or false.
        idle_corner_a: `switches.idle_corner_a`, false; true or false.
        idle_corner_b: `switches.idle_corner_b`, false; true or false.
        idle_despite_seeks: `switches.idle_despite_seeks`, false; true or false.
        idle_last_of_class: `switches.idle_last_of_class`, false; true or false.
        idle_when_drained: `switches.idle_when_drained`, true; true or false.
        keep_on_tree: `switches.keep_on_tree`, false; true or false.
        kick_for_large: `switches.kick_for_large`, false; true or false.
        kick_when_busy: `switches.kick_when_busy`, false; true or false.
        last_idle_sync_only: `switches.last_idle_sync_only`, false; true or false.
        merge_across_groups: `switches.merge_across_groups`, false; true or false.
        must_dispatch: `switches.must_dispatch`, false; true or false.
        must_dispatch_else: `switches.must_dispatch_else`, false; true or false.
        next_after_any: `switches.next_after_any`, false; true or false.
        next_from_removed: `switches.next_from_removed`, false; true or false.
        no_idle_past_slice: `switches.no_idle_past_slice`, false; true or false.
        no_mix_with_async: `switches.no_mix_with_async`, false; true or false.
        noidle_arm_time: `switches.noidle_arm_time`, false; true or false.
        noidle_flag: `switches.noidle_flag`, false; true or false.
        noidle_no_2ms: `switches.noidle_no_2ms`, false; true or false.
        noidle_preempt: `switches.noidle_preempt`, false; true or false.
        noidle_preempt_fix: `switches.noidle_preempt_fix`, false; true or false.
        noidle_single_group: `switches.noidle_single_group`, false; true or false.
        noidle_think: `switches.noidle_think`, false; true or false.
        noidle_trees: `switches.noidle_trees`, false; true or false.
        noidle_window: `switches.noidle_window`, false; true or false.
        noidle_workload: `switches.noidle_workload`, false; true or false.
        offset_by_tree_count: `switches.offset_by_tree_count`, false; true or false.
        one_close_preemption: `switches.one_close_preemption`, false; true or false.
        queueing_not_misjudged: `switches.queueing_not_misjudged`, false; true or false.
        queueing_sampled: `switches.queueing_sampled`, true; true or false.
        queueing_tristate: `switches.queueing_tristate`, false; true or false.
        ramp_only_if_delayed: `switches.ramp_only_if_delayed`, false; true or false.
        real_time_not_preempted: `switches.real_time_not_preempted`, false; true or false.
        real_time_preempts: `switches.real_time_preempts`, false; true or false.
        residual_advances: `switches.residual_advances`, false; true or false.
        seek_history: `switches.seek_history`, false; true or false.
        seek_per_queue: `switches.seek_per_queue`, false; true or false.
        seeky_think_limit: `switches.seeky_think_limit`, false; true or false.
        signed_keys: `switches.signed_keys`, false; true or false.
        slice_scaling: `switches.slice_scaling`, false; true or false.
        soft_quantum: `switches.soft_quantum`, false; true or false.
        sole_queue_uncapped: `switches.sole_queue_uncapped`, false; true or false.
        sole_queue_unlimited: `switches.sole_queue_unlimited`, false; true or false.
        split_after_slice: `switches.split_after_slice`, false; true or false.
        wait_busy: `switches.wait_busy`, false; true or false.
        wait_busy_corners: `switches.wait_busy_corners`, false; true or false.
        wait_busy_simplify: `switches.wait_busy_simplify`, false; true or false.
        weight_update: `switches.weight_update`, false; true or false.
        workload_by_key: `switches.workload_by_key`, false; true or false.
        workload_expired_on_restore: `switches.workload_expired_on_restore`, false; true or false.
    """
    return Scheduler("cfq-2.6.28", given("cfq-2.6.28", locals()))


def cfq_2_6_29(
    *,
    back_seek_max_kib: int | None = None,
    back_seek_penalty: int | None = None,
    fifo_expire_async_ms: int | None = None,
    fifo_expire_sync_ms: int | None = None,
    cfq_group_isolation: bool | None = None,
    key_offset: bool | None = None,
    low_latency: bool | None = None,
    quantum: int | None = None,
    queueing_seen: bool | None = None,
    seeky_idle_ms: int | None = None,
    serve_together: bool | None = None,
    slice_async_ms: int | None = None,
    slice_async_rq: int | None = None,
    slice_from_completion: bool | None = None,
    slice_idle_ms: int | None = None,
    slice_sync_ms: int | None = None,
    target_latency_ms: int | None = None,
    q1_residual_sign: bool | None = None,
    q2_unsigned_keys: bool | None = None,
    q3_async_budget_per_round: bool | None = None,
    q4_no_fifo_inheritance: bool | None = None,
    q5_first_request_seeks: bool | None = None,
    q6_queueing_latched: bool | None = None,
    q7_reference_is_driver: bool | None = None,
    q8_idle_while_busy: bool | None = None,
    async_depth_ramp: bool | None = None,
    async_in_flight: bool | None = None,
    async_share_global: bool | None = None,
    cgroup_groups: bool | None = None,
    cgroup_move: bool | None = None,
    class_trees: bool | None = None,
    clear_wait_on_kick: bool | None = None,
    close_8192: bool | None = None,
    close_by_default: bool | None = None,
    close_cooperators: bool | None = None,
    coop_distance_cap: bool | None = None,
    coop_flag_shared: bool | None = None,
    coop_merge: bool | None = None,
    coop_preempt_unlimited: bool | None = None,
    coop_skip_single: bool | None = None,
    coop_split: bool | None = None,
    deep_queues: bool | None = None,
    dispatch_one: bool | None = None,
    fifo_inheritance: bool | None = None,
    first_request_no_seek: bool | None = None,
    flash_history: bool | None = None,
    flash_never_idles: bool | None = None,
    flash_selects: bool | None = None,
    group_charge: bool | None = None,
    group_isolate_ops: bool | None = None,
    switches_group_isolation: bool | None = None,
    group_latency: bool | None = None,
    group_tree: bool | None = None,
    group_weight: bool | None = None,
    groups: bool | None = None,
    idle_class_alone: bool | None = None,
    idle_corner_a: bool | None = None,
    idle_corner_b: bool | None = None,
    idle_despite_seeks: bool | None = None,
    idle_last_of_class: bool | None = None,
    idle_when_drained: bool | None = None,
    keep_on_tree: bool | None = None,
    kick_for_large: bool | None = None,
    kick_when_busy: bool | None = None,
    last_idle_sync_only: bool | None = None,
    merge_across_groups: bool | None = None,
    must_dispatch: bool | None = None,
    must_dispatch_else: bool | None = None,
    next_after_any: bool | None = None,
    next_from_removed: bool | None = None,
    no_idle_past_slice: bool | None = None,
    no_mix_with_async: bool | None = None,
    noidle_arm_time: bool | None = None,
    noidle_flag: bool | None = None,
    noidle_no_2ms: bool | None = None,
    noidle_preempt: bool | None = None,
    noidle_preempt_fix: bool | None = None,
    noidle_single_group: bool | None = None,
    noidle_think: bool | None = None,
    noidle_trees: bool | None = None,
    noidle_window: bool | None = None,
    noidle_workload: bool | None = None,
    offset_by_tree_count: bool | None = None,
    one_close_preemption: bool | None = None,
    queueing_not_misjudged: bool | None = None,
    queueing_sampled: bool | None = None,
    queueing_tristate: bool | None = None,
    ramp_only_if_delayed: bool | None = None,
    real_time_not_preempted: bool | None = None,
    real_time_preempts: bool | None = None,
    residual_advances: bool | None = None,
    seek_history: bool | None = None,
    seek_per_queue: bool | None = None,
    seeky_think_limit: bool | None = None,
    signed_keys: bool | None = None,
    slice_scaling: bool | None = None,
    soft_quantum: bool | None = None,
    sole_queue_uncapped: bool | None = None,
    sole_queue_unlimited: bool | None = None,
    split_after_slice: bool | None = None,
    wait_busy: bool | None = None,
    wait_busy_corners: bool | None = None,
    wait_busy_simplify: bool | None = None,
    weight_update: bool | None = None,
    workload_by_key: bool | None = None,
    workload_expired_on_restore: bool | None = None,
) -> Scheduler:
    """CFQ of Linux 2.6.29: a task alone may fill the disk's queue, real time preempts.

    Args:
        back_seek_max_kib: `cfq.back_seek_max_kib`, 16384; 0 to 4294967295.
        back_seek_penalty: `cfq.back_seek_penalty`, 2; 1 to 1000000.
        fifo_expire_async_ms: `cfq.fifo_expire_async_ms`, 250; 1 to 1000000.
        fifo_expire_sync_ms: `cfq.fifo_expire_sync_ms`, 125; 1 to 1000000.
        cfq_group_isolation: `cfq.group_isolation`, false; true or false.
        key_offset: `cfq.key_offset`, true; true or false.
        low_latency: `cfq.low_latency`, true; true or false.
        quantum: `cfq.quantum`, 4; 1 to 1000000.
        queueing_seen: `cfq.queueing_seen`, false; true or false.
        seeky_idle_ms: `cfq.seeky_idle_ms`, 2; 1 to 1000000.
        serve_together: `cfq.serve_together`, false; true or false.
        slice_async_ms: `cfq.slice_async_ms`, 40; 1 to 1000000.
        slice_async_rq: `cfq.slice_async_rq`, 2; 1 to 1000000.
        slice_from_completion: `cfq.slice_from_completion`, true; true or false.
        slice_idle_ms: `cfq.slice_idle_ms`, 8; 0 to 1000000.
        slice_sync_ms: `cfq.slice_sync_ms`, 100; 1 to 1000000.
        target_latency_ms: `cfq.target_latency_ms`, 0; 0 to 1000000.
        q1_residual_sign: `quirks.q1_residual_sign`, true; true or false.
        q2_unsigned_keys: `quirks.q2_unsigned_keys`, true; true or false.
        q3_async_budget_per_round: `quirks.q3_async_budget_per_round`, true; true or false.
        q4_no_fifo_inheritance: `quirks.q4_no_fifo_inheritance`, true; true or false.
        q5_first_request_seeks: `quirks.q5_first_request_seeks`, true; true or false.
        q6_queueing_latched: `quirks.q6_queueing_latched`, true; true or false.
        q7_reference_is_driver: `quirks.q7_reference_is_driver`, true; true or false.
        q8_idle_while_busy: `quirks.q8_idle_while_busy`, true; true or false.
        async_depth_ramp: `switches.async_depth_ramp`, false; true or false.
        async_in_flight: `switches.async_in_flight`, false; true or false.
        async_share_global: `switches.async_share_global`, false; true or false.
        cgroup_groups: `switches.cgroup_groups`, false; true or false.
        cgroup_move: `switches.cgroup_move`, false; true or false.
        class_trees: `switches.class_trees`, false; true or false.
        clear_wait_on_kick: `switches.clear_wait_on_kick`, false; true or false.
        close_8192: `switches.close_8192`, false; true or false.
        close_by_default: `switches.close_by_default`, false; true or false.
        close_cooperators: `switches.close_cooperators`, false; true or false.
        coop_distance_cap: `switches.coop_distance_cap`, false; true or false.
        coop_flag_shared: `switches.coop_flag_shared`, false; true or false.
        coop_merge: `switches.coop_merge`, false; true or false.
        coop_preempt_unlimited: `switches.coop_preempt_unlimited`, false; true or false.
        coop_skip_single: `switches.coop_skip_single`, false; true or false.
        coop_split: `switches.coop_split`, false; true or false.
        deep_queues: `switches.deep_queues`, false; true or false.
        dispatch_one: `switches.dispatch_one`, false; true or false.
        fifo_inheritance: `switches.fifo_inheritance`, false; true or false.
        first_request_no_seek: `switches.first_request_no_seek`, false; true or false.
        flash_history: `switches.flash_history`, false; true or false.
        flash_never_idles: `switches.flash_never_idles`, true; true or false.
        flash_selects: `switches.flash_selects`, false; true or false.
        group_charge: `switches.group_charge`, false; true or false.
        group_isolate_ops: `switches.group_isolate_ops`, false; true or false.
        switches_group_isolation: `switches.group_isolation`, false; true or false.
        group_latency: `switches.group_latency`, false; true or false.
        group_tree: `switches.group_tree`, false; true or false.
        group_weight: `switches.group_weight`, false; true or false.
        groups: `switches.groups`, false; true or false.
        idle_class_alone: `switches.idle_class_alone`, false; true or false.
        idle_corner_a: `switches.idle_corner_a`, false; true or false.
        idle_corner_b: `switches.idle_corner_b`, false; true or false.
        idle_despite_seeks: `switches.idle_despite_seeks`, false; true or false.
        idle_last_of_class: `switches.idle_last_of_class`, false; true or false.
        idle_when_drained: `switches.idle_when_drained`, true; true or false.
        keep_on_tree: `switches.keep_on_tree`, false; true or false.
        kick_for_large: `switches.kick_for_large`, false; true or false.
        kick_when_busy: `switches.kick_when_busy`, false; true or false.
        last_idle_sync_only: `switches.last_idle_sync_only`, false; true or false.
        merge_across_groups: `switches.merge_across_groups`, false; true or false.
        must_dispatch: `switches.must_dispatch`, false; true or false.
        must_dispatch_else: `switches.must_dispatch_else`, false; true or false.
        next_after_any: `switches.next_after_any`, false; true or false.
        next_from_removed: `switches.next_from_removed`, false; true or false.
        no_idle_past_slice: `switches.no_idle_past_slice`, false; true or false.
        no_mix_with_async: `switches.no_mix_with_async`, false; true or false.
        noidle_arm_time: `switches.noidle_arm_time`, false; true or false.
        noidle_flag: `switches.noidle_flag`, false; true or false.
        noidle_no_2ms: `switches.noidle_no_2ms`, false; true or false.
        noidle_preempt: `switches.noidle_preempt`, false; true or false.
        noidle_preempt_fix: `switches.noidle_preempt_fix`, false; true or false.
        noidle_single_group: `switches.noidle_single_group`, false; true or false.
        noidle_think: `switches.noidle_think`, false; true or false.
        noidle_trees: `switches.noidle_trees`, false; true or false.
        noidle_window: `switches.noidle_window`, false; true or false.
        noidle_workload: `switches.noidle_workload`, false; true or false.
        offset_by_tree_count: `switches.offset_by_tree_count`, false; true or false.
        one_close_preemption: `switches.one_close_preemption`, false; true or false.
        queueing_not_misjudged: `switches.queueing_not_misjudged`, false; true or false.
        queueing_sampled: `switches.queueing_sampled`, true; true or false.
        queueing_tristate: `switches.queueing_tristate`, false; true or false.
        ramp_only_if_delayed: `switches.ramp_only_if_delayed`, false; true or false.
        real_time_not_preempted: `switches.real_time_not_preempted`, false; true or false.
        real_time_preempts: `switches.real_time_preempts`, true; true or false.
        residual_advances: `switches.residual_advances`, false; true or false.
        seek_history: `switches.seek_history`, false; true or false.
        seek_per_queue: `switches.seek_per_queue`, false; true or false.
        seeky_think_limit: `switches.seeky_think_limit`, false; true or false.
        signed_keys: `switches.signed_keys`, false; true or false.
        slice_scaling: `switches.slice_scaling`, false; true or false.
        soft_quantum: `switches.soft_quantum`, false; true or false.
        sole_queue_uncapped: `switches.sole_queue_uncapped`, true; true or false.
        sole_queue_unlimited: `switches.sole_queue_unlimited`, false; true or false.
        split_after_slice: `switches.split_after_slice`, false; true or false.
        wait_busy: `switches.wait_busy`, false; true or false.
        wait_busy_corners: `switches.wait_busy_corners`, false; true or false.
        wait_busy_simplify: `switches.wait_busy_simplify`, false; true or false.
        weight_update: `switches.weight_update`, false; true or false.
        workload_by_key: `switches.workload_by_key`, false; true or false.
        workload_expired_on_restore: `switches.workload_expired_on_restore`, false; true or false.
    """
    return Scheduler("cfq-2.6.29", given("cfq-2.6.29", locals()))


def cfq_2_6_30(
    *,
    back_seek_max_kib: int | None = None,
    back_seek_penalty: int | None = None,
    fifo_expire_async_ms: int | None = None,
    fifo_expire_sync_ms: int | None = None,
    cfq_group_isolation: bool | None = None,
    key_offset: bool | None = None,
    low_latency: bool | None = None,
    quantum: int | None = None,
    queueing_seen: bool | None = None,
    seeky_idle_ms: int | None = None,
    serve_together: bool | None = None,
    slice_async_ms: int | None = None,
    slice_async_rq: int | None = None,
    slice_from_completion: bool | None = None,
    slice_idle_ms: int | None = None,
    slice_sync_ms: int | None = None,
    target_latency_ms: int | None = None,
    q1_residual_sign: bool | None = None,
    q2_unsigned_keys: bool | None = None,
    q3_async_budget_per_round: bool | None = None,
    q4_no_fifo_inheritance: bool | None = None,
    q5_first_request_seeks: bool | None = None,
    q6_queueing_latched: bool | None = None,
    q7_reference_is_driver: bool | None = None,
    q8_idle_while_busy: bool | None = None,
    async_depth_ramp: bool | None = None,
    async_in_flight: bool | None = None,
    async_share_global: bool | None = None,
    cgroup_groups: bool | None = None,
    cgroup_move: bool | None = None,
    class_trees: bool | None = None,
    clear_wait_on_kick: bool | None = None,
    close_8192: bool | None = None,
    close_by_default: bool | None = None,
    close_cooperators: bool | None = None,
    coop_distance_cap: bool | None = None,
    coop_flag_shared: bool | None = None,
    coop_merge: bool | None = None,
    coop_preempt_unlimited: bool | None = None,
    coop_skip_single: bool | None = None,
    coop_split: bool | None = None,
    deep_queues: bool | None = None,
    dispatch_one: bool | None = None,
    fifo_inheritance: bool | None = None,
    first_request_no_seek: bool | None = None,
    flash_history: bool | None = None,
    flash_never_idles: bool | None = None,
    flash_selects: bool | None = None,
    group_charge: bool | None = None,
    group_isolate_ops: bool | None = None,
    switches_group_isolation: bool | None = None,
    group_latency: bool | None = None,
    group_tree: bool | None = None,
    group_weight: bool | None = None,
    groups: bool | None = None,
    idle_class_alone: bool | None = None,
    idle_corner_a: bool | None = None,
    idle_corner_b: bool | None = None,
    idle_despite_seeks: bool | None = None,
    idle_last_of_class: bool | None = None,
    idle_when_drained: bool | None = None,
    keep_on_tree: bool | None = None,
    kick_for_large: bool | None = None,
    kick_when_busy: bool | None = None,
    last_idle_sync_only: bool | None = None,
    merge_across_groups: bool | None = None,
    must_dispatch: bool | None = None,
    must_dispatch_else: bool | None = None,
    next_after_any: bool | None = None,
    next_from_removed: bool | None = None,
    no_idle_past_slice: bool | None = None,
    no_mix_with_async: bool | None = None,
    noidle_arm_time: bool | None = None,
    noidle_flag: bool | None = None,
    noidle_no_2ms: bool | None = None,
    noidle_preempt: bool | None = None,
    noidle_preempt_fix: bool | None = None,
    noidle_single_group: bool | None = None,
    noidle_think: bool | None = None,
    noidle_trees: bool | None = None,
    noidle_window: bool | None = None,
    noidle_workload: bool | None = None,
    offset_by_tree_count: bool | None = None,
    one_close_preemption: bool | None = None,
    queueing_not_misjudged: bool | None = None,
    queueing_sampled: bool | None = None,
    queueing_tristate: bool | None = None,
    ramp_only_if_delayed: bool | None = None,
    real_time_not_preempted: bool | None = None,
    real_time_preempts: bool | None = None,
    residual_advances: bool | None = None,
    seek_history: bool | None = None,
    seek_per_queue: bool | None = None,
    seeky_think_limit: bool | None = None,
    signed_keys: bool | None = None,
    slice_scaling: bool | None = None,
    soft_quantum: bool | None = None,
    sole_queue_uncapped: bool | None = None,
    sole_queue_unlimited: bool | None = None,
    split_after_slice: bool | None = None,
    wait_busy: bool | None = None,
    wait_busy_corners: bool | None = None,
    wait_busy_simplify: bool | None = None,
    weight_update: bool | None = None,
    workload_by_key: bool | None = None,
    workload_expired_on_restore: bool | None = None,
) -> Scheduler:
    """CFQ of Linux 2.6.30: one request at a time, close cooperators.

    Args:
        back_seek_max_kib: `cfq.back_seek_max_kib`, 16384; 0 to 4294967295.
        back_seek_penalty: `cfq.back_seek_penalty`, 2; 1 to 1000000.
        fifo_expire_async_ms: `cfq.fifo_expire_async_ms`, 250; 1 to 1000000.
        fifo_expire_sync_ms: `cfq.fifo_expire_sync_ms`, 125; 1 to 1000000.
        cfq_group_isolation: `cfq.group_isolation`, false; true or false.
        key_offset: `cfq.key_offset`, true; true or false.
        low_latency: `cfq.low_latency`, true; true or false.
        quantum: `cfq.quantum`, 4; 1 to 1000000.
        queueing_seen: `cfq.queueing_seen`, false; true or false.
        seeky_idle_ms: `cfq.seeky_idle_ms`, 2; 1 to 1000000.
        serve_together: `cfq.serve_together`, false; true or false.
        slice_async_ms: `cfq.slice_async_ms`, 40; 1 to 1000000.
        slice_async_rq: `cfq.slice_async_rq`, 2; 1 to 1000000.
        slice_from_completion: `cfq.slice_from_completion`, true; true or false.
        slice_idle_ms: `cfq.slice_idle_ms`, 8; 0 to 1000000.
        slice_sync_ms: `cfq.slice_sync_ms`, 100; 1 to 1000000.
        target_latency_ms: `cfq.target_latency_ms`, 0; 0 to 1000000.
        q1_residual_sign: `quirks.q1_residual_sign`, true; true or false.
        q2_unsigned_keys: `quirks.q2_unsigned_keys`, true; true or false.
        q3_async_budget_per_round: `quirks.q3_async_budget_per_round`, true; true or false.
        q4_no_fifo_inheritance: `quirks.q4_no_fifo_inheritance`, true; true or false.
        q5_first_request_seeks: `quirks.q5_first_request_seeks`, true; true or false.
        q6_queueing_latched: `quirks.q6_queueing_latched`, true; true or false.
        q7_reference_is_driver: `quirks.q7_reference_is_driver`, true; true or false.
        q8_idle_while_busy: `quirks.q8_idle_while_busy`, true; true or false.
        async_depth_ramp: `switches.async_depth_ramp`, false; true or false.
        async_in_flight: `switches.async_in_flight`, false; true or false.
        async_share_global: `switches.async_share_global`, false; true or false.
        cgroup_groups: `switches.cgroup_groups`, false; true or false.
        cgroup_move: `switches.cgroup_move`, false; true or false.
        class_trees: `switches.class_trees`, false; true or false.
        clear_wait_on_kick: `switches.clear_wait_on_kick`, false; true or false.
        close_8192: `switches.close_8192`, false; true or false.
        close_by_default: `switches.close_by_default`, true; true or false.
        close_cooperators: `switches.close_cooperators`, true; true or false.
        coop_distance_cap: `switches.coop_distance_cap`, false; true or false.
        coop_flag_shared: `switches.coop_flag_shared`, false; true or false.
        coop_merge: `switches.coop_merge`, false; true or false.
        coop_preempt_unlimited: `switches.coop_preempt_unlimited`, false; true or false.
        coop_skip_single: `switches.coop_skip_single`, false; true or false.
        coop_split: `switches.coop_split`, false; true or false.
        deep_queues: `switches.deep_queues`, false; true or false.
        dispatch_one: `switches.dispatch_one`, true; true or false.
        fifo_inheritance: `switches.fifo_inheritance`, false; true or false.
        first_request_no_seek: `switches.first_request_no_seek`, true; true or false.
        flash_history: `switches.flash_history`, false; true or false.
        flash_never_idles: `switches.flash_never_idles`, true; true or false.
        flash_selects: `switches.flash_selects`, false; true or false.
        group_charge: `switches.group_charge`, false; true or false.
        group_isolate_ops: `switches.group_isolate_ops`, false; true or false.
        switches_group_isolation: `switches.group_isolation`, false; true or false.
        group_latency: `switches.group_latency`, false; true or false.
        group_tree: `switches.group_tree`, false; true or false.
        group_weight: `switches.group_weight`, false; true or false.
        groups: `switches.groups`, false; true or false.
        idle_class_alone: `switches.idle_class_alone`, false; true or false.
        idle_corner_a: `switches.idle_corner_a`, false; true or false.
        idle_corner_b: `switches.idle_corner_b`, false; true or false.
        idle_despite_seeks: `switches.idle_despite_seeks`, false; true or false.
        idle_last_of_class: `switches.idle_last_of_class`, false; true or false.
        idle_when_drained: `switches.idle_when_drained`, true; true or false.
        keep_on_tree: `switches.keep_on_tree`, false; true or false.
        kick_for_large: `switches.kick_for_large`, true; true or false.
        kick_when_busy: `switches.kick_when_busy`, true; true or false.
        last_idle_sync_only: `switches.last_idle_sync_only`, false; true or false.
        merge_across_groups: `switches.merge_across_groups`, false; true or false.
        must_dispatch: `switches.must_dispatch`, true; true or false.
        must_dispatch_else: `switches.must_dispatch_else`, false; true or false.
        next_after_any: `switches.next_after_any`, false; true or false.
        next_from_removed: `switches.next_from_removed`, false; true or false.
        no_idle_past_slice: `switches.no_idle_past_slice`, false; true or false.
        no_mix_with_async: `switches.no_mix_with_async`, false; true or false.
        noidle_arm_time: `switches.noidle_arm_time`, false; true or false.
        noidle_flag: `switches.noidle_flag`, true; true or false.
        noidle_no_2ms: `switches.noidle_no_2ms`, false; true or false.
        noidle_preempt: `switches.noidle_preempt`, false; true or false.
        noidle_preempt_fix: `switches.noidle_preempt_fix`, false; true or false.
        noidle_single_group: `switches.noidle_single_group`, false; true or false.
        noidle_think: `switches.noidle_think`, false; true or false.
        noidle_trees: `switches.noidle_trees`, false; true or false.
        noidle_window: `switches.noidle_window`, false; true or false.
        noidle_workload: `switches.noidle_workload`, false; true or false.
        offset_by_tree_count: `switches.offset_by_tree_count`, false; true or false.
        one_close_preemption: `switches.one_close_preemption`, false; true or false.
        queueing_not_misjudged: `switches.queueing_not_misjudged`, false; true or false.
        queueing_sampled: `switches.queueing_sampled`, true; true or false.
        queueing_tristate: `switches.queueing_tristate`, false; true or false.
        ramp_only_if_delayed: `switches.ramp_only_if_delayed`, false; true or false.
        real_time_not_preempted: `switches.real_time_not_preempted`, false; true or false.
        real_time_preempts: `switches.real_time_preempts`, true; true or false.
        residual_advances: `switches.residual_advances`, false; true or false.
        seek_history: `switches.seek_history`, false; true or false.
        seek_per_queue: `switches.seek_per_queue`, false; true or false.
        seeky_think_limit: `switches.seeky_think_limit`, false; true or false.
        signed_keys: `switches.signed_keys`, false; true or false.
        slice_scaling: `switches.slice_scaling`, false; true or false.
        soft_quantum: `switches.soft_quantum`, false; true or false.
        sole_queue_uncapped: `switches.sole_queue_uncapped`, true; true or false.
        sole_queue_unlimited: `switches.sole_queue_unlimited`, false; true or false.
        split_after_slice: `switches.split_after_slice`, false; true or false.
        wait_busy: `switches.wait_busy`, false; true or false.
        wait_busy_corners: `switches.wait_busy_corners`, false; true or false.
        wait_busy_simplify: `switches.wait_busy_simplify`, false; true or false.
        weight_update: `switches.weight_update`, false; true or false.
        workload_by_key: `switches.workload_by_key`, false; true or false.
        workload_expired_on_restore: `switches.workload_expired_on_restore`, false; true or false.
    """
    return Scheduler("cfq-2.6.30", given("cfq-2.6.30", locals()))


def cfq_2_6_32(
    *,
    back_seek_max_kib: int | None = None,
    back_seek_penalty: int | None = None,
    fifo_expire_async_ms: int | None = None,
    fifo_expire_sync_ms: int | None = None,
    cfq_group_isolation: bool | None = None,
    key_offset: bool | None = None,
    low_latency: bool | None = None,
    quantum: int | None = None,
    queueing_seen: bool | None = None,
    seeky_idle_ms: int | None = None,
    serve_together: bool | None = None,
    slice_async_ms: int | None = None,
    slice_async_rq: int | None = None,
    slice_from_completion: bool | None = None,
    slice_idle_ms: int | None = None,
    slice_sync_ms: int | None = None,
    target_latency_ms: int | None = None,
    q1_residual_sign: bool | None = None,
    q2_unsigned_keys: bool | None = None,
    q3_async_budget_per_round: bool | None = None,
    q4_no_fifo_inheritance: bool | None = None,
    q5_first_request_seeks: bool | None = None,
    q6_queueing_latched: bool | None = None,
    q7_reference_is_driver: bool | None = None,
    q8_idle_while_busy: bool | None = None,
    async_depth_ramp: bool | None = None,
    async_in_flight: bool | None = None,
    async_share_global: bool | None = None,
    cgroup_groups: bool | None = None,
    cgroup_move: bool | None = None,
    class_trees: bool | None = None,
    clear_wait_on_kick: bool | None = None,
    close_8192: bool | None = None,
    close_by_default: bool | None = None,
    close_cooperators: bool | None = None,
    coop_distance_cap: bool | None = None,
    coop_flag_shared: bool | None = None,
    coop_merge: bool | None = None,
    coop_preempt_unlimited: bool | None = None,
    coop_skip_single: bool | None = None,
    coop_split: bool | None = None,
    deep_queues: bool | None = None,
    dispatch_one: bool | None = None,
    fifo_inheritance: bool | None = None,
    first_request_no_seek: bool | None = None,
    flash_history: bool | None = None,
    flash_never_idles: bool | None = None,
    flash_selects: bool | None = None,
    group_charge: bool | None = None,
    group_isolate_ops: bool | None = None,
    switches_group_isolation: bool | None = None,
    group_latency: bool | None = None,
    group_tree: bool | None = None,
    group_weight: bool | None = None,
    groups: bool | None = None,
    idle_class_alone: bool | None = None,
    idle_corner_a: bool | None = None,
    idle_corner_b: bool | None = None,
    idle_despite_seeks: bool | None = None,
    idle_last_of_class: bool | None = None,
    idle_when_drained: bool | None = None,
    keep_on_tree: bool | None = None,
    kick_for_large: bool | None = None,
    kick_when_busy: bool | None = None,
    last_idle_sync_only: bool | None = None,
    merge_across_groups: bool | None = None,
    must_dispatch: bool | None = None,
    must_dispatch_else: bool | None = None,
    next_after_any: bool | None = None,
    next_from_removed: bool | None = None,
    no_idle_past_slice: bool | None = None,
    no_mix_with_async: bool | None = None,
    noidle_arm_time: bool | None = None,
    noidle_flag: bool | None = None,
    noidle_no_2ms: bool | None = None,
    noidle_preempt: bool | None = None,
    noidle_preempt_fix: bool | None = None,
    noidle_single_group: bool | None = None,
    noidle_think: bool | None = None,
    noidle_trees: bool | None = None,
    noidle_window: bool | None = None,
    noidle_workload: bool | None = None,
    offset_by_tree_count: bool | None = None,
    one_close_preemption: bool | None = None,
    queueing_not_misjudged: bool | None = None,
    queueing_sampled: bool | None = None,
    queueing_tristate: bool | None = None,
    ramp_only_if_delayed: bool | None = None,
    real_time_not_preempted: bool | None = None,
    real_time_preempts: bool | None = None,
    residual_advances: bool | None = None,
    seek_history: bool | None = None,
    seek_per_queue: bool | None = None,
    seeky_think_limit: bool | None = None,
    signed_keys: bool | None = None,
    slice_scaling: bool | None = None,
    soft_quantum: bool | None = None,
    sole_queue_uncapped: bool | None = None,
    sole_queue_unlimited: bool | None = None,
    split_after_slice: bool | None = None,
    wait_busy: bool | None = None,
    wait_busy_corners: bool | None = None,
    wait_busy_simplify: bool | None = None,
    weight_update: bool | None = None,
    workload_by_key: bool | None = None,
    workload_expired_on_restore: bool | None = None,
) -> Scheduler:
    """CFQ of Linux 2.6.32: low latency, slices that know what a task needs.

    Args:
        back_seek_max_kib: `cfq.back_seek_max_kib`, 16384; 0 to 4294967295.
        back_seek_penalty: `cfq.back_seek_penalty`, 2; 1 to 1000000.
        fifo_expire_async_ms: `cfq.fifo_expire_async_ms`, 250; 1 to 1000000.
        fifo_expire_sync_ms: `cfq.fifo_expire_sync_ms`, 125; 1 to 1000000.
        cfq_group_isolation: `cfq.group_isolation`, false; true or false.
        key_offset: `cfq.key_offset`, true; true or false.
        low_latency: `cfq.low_latency`, true; true or false.
        quantum: `cfq.quantum`, 4; 1 to 1000000.
        queueing_seen: `cfq.queueing_seen`, false; true or false.
        seeky_idle_ms: `cfq.seeky_idle_ms`, 2; 1 to 1000000.
        serve_together: `cfq.serve_together`, false; true or false.
        slice_async_ms: `cfq.slice_async_ms`, 40; 1 to 1000000.
        slice_async_rq: `cfq.slice_async_rq`, 2; 1 to 1000000.
        slice_from_completion: `cfq.slice_from_completion`, true; true or false.
        slice_idle_ms: `cfq.slice_idle_ms`, 8; 0 to 1000000.
        slice_sync_ms: `cfq.slice_sync_ms`, 100; 1 to 1000000.
        target_latency_ms: `cfq.target_latency_ms`, 0; 0 to 1000000.
        q1_residual_sign: `quirks.q1_residual_sign`, true; true or false.
        q2_unsigned_keys: `quirks.q2_unsigned_keys`, true; true or false.
        q3_async_budget_per_round: `quirks.q3_async_budget_per_round`, true; true or false.
        q4_no_fifo_inheritance: `quirks.q4_no_fifo_inheritance`, true; true or false.
        q5_first_request_seeks: `quirks.q5_first_request_seeks`, true; true or false.
        q6_queueing_latched: `quirks.q6_queueing_latched`, true; true or false.
        q7_reference_is_driver: `quirks.q7_reference_is_driver`, true; true or false.
        q8_idle_while_busy: `quirks.q8_idle_while_busy`, true; true or false.
        async_depth_ramp: `switches.async_depth_ramp`, true; true or false.
        async_in_flight: `switches.async_in_flight`, false; true or false.
        async_share_global: `switches.async_share_global`, false; true or false.
        cgroup_groups: `switches.cgroup_groups`, false; true or false.
        cgroup_move: `switches.cgroup_move`, false; true or false.
        class_trees: `switches.class_trees`, false; true or false.
        clear_wait_on_kick: `switches.clear_wait_on_kick`, false; true or false.
        close_8192: `switches.close_8192`, false; true or false.
        close_by_default: `switches.close_by_default`, true; true or false.
        close_cooperators: `switches.close_cooperators`, true; true or false.
        coop_distance_cap: `switches.coop_distance_cap`, false; true or false.
        coop_flag_shared: `switches.coop_flag_shared`, false; true or false.
        coop_merge: `switches.coop_merge`, false; true or false.
        coop_preempt_unlimited: `switches.coop_preempt_unlimited`, false; true or false.
        coop_skip_single: `switches.coop_skip_single`, false; true or false.
        coop_split: `switches.coop_split`, false; true or false.
        deep_queues: `switches.deep_queues`, false; true or false.
        dispatch_one: `switches.dispatch_one`, true; true or false.
        fifo_inheritance: `switches.fifo_inheritance`, true; true or false.
        first_request_no_seek: `switches.first_request_no_seek`, true; true or false.
        flash_history: `switches.flash_history`, false; true or false.
        flash_never_idles: `switches.flash_never_idles`, true; true or false.
        flash_selects: `switches.flash_selects`, false; true or false.
        group_charge: `switches.group_charge`, false; true or false.
        group_isolate_ops: `switches.group_isolate_ops`, false; true or false.
        switches_group_isolation: `switches.group_isolation`, false; true or false.
        group_latency: `switches.group_latency`, false; true or false.
        group_tree: `switches.group_tree`, false; true or false.
        group_weight: `switches.group_weight`, false; true or false.
        groups: `switches.groups`, false; true or false.
        idle_class_alone: `switches.idle_class_alone`, false; true or false.
        idle_corner_a: `switches.idle_corner_a`, false; true or false.
        idle_corner_b: `switches.idle_corner_b`, false; true or false.
        idle_despite_seeks: `switches.idle_despite_seeks`, true; true or false.
        idle_last_of_class: `switches.idle_last_of_class`, false; true or false.
        idle_when_drained: `switches.idle_when_drained`, true; true or false.
        keep_on_tree: `switches.keep_on_tree`, false; true or false.
        kick_for_large: `switches.kick_for_large`, true; true or false.
        kick_when_busy: `switches.kick_when_busy`, true; true or false.
        last_idle_sync_only: `switches.last_idle_sync_only`, false; true or false.
        merge_across_groups: `switches.merge_across_groups`, false; true or false.
        must_dispatch: `switches.must_dispatch`, true; true or false.
        must_dispatch_else: `switches.must_dispatch_else`, false; true or false.
        next_after_any: `switches.next_after_any`, true; true or false.
        next_from_removed: `switches.next_from_removed`, false; true or false.
        no_idle_past_slice: `switches.no_idle_past_slice`, true; true or false.
        no_mix_with_async: `switches.no_mix_with_async`, true; true or false.
        noidle_arm_time: `switches.noidle_arm_time`, false; true or false.
        noidle_flag: `switches.noidle_flag`, true; true or false.
        noidle_no_2ms: `switches.noidle_no_2ms`, false; true or false.
        noidle_preempt: `switches.noidle_preempt`, false; true or false.
        noidle_preempt_fix: `switches.noidle_preempt_fix`, false; true or false.
        noidle_single_group: `switches.noidle_single_group`, false; true or false.
        noidle_think: `switches.noidle_think`, false; true or false.
        noidle_trees: `switches.noidle_trees`, false; true or false.
        noidle_window: `switches.noidle_window`, false; true or false.
        noidle_workload: `switches.noidle_workload`, false; true or false.
        offset_by_tree_count: `switches.offset_by_tree_count`, false; true or false.
        one_close_preemption: `switches.one_close_preemption`, true; true or false.
        queueing_not_misjudged: `switches.queueing_not_misjudged`, false; true or false.
        queueing_sampled: `switches.queueing_sampled`, true; true or false.
        queueing_tristate: `switches.queueing_tristate`, false; true or false.
        ramp_only_if_delayed: `switches.ramp_only_if_delayed`, false; true or false.
        real_time_not_preempted: `switches.real_time_not_preempted`, false; true or false.
        real_time_preempts: `switches.real_time_preempts`, true; true or false.
        residual_advances: `switches.residual_advances`, true; true or false.
        seek_history: `switches.seek_history`, false; true or false.
        seek_per_queue: `switches.seek_per_queue`, false; true or false.
        seeky_think_limit: `switches.seeky_think_limit`, true; true or false.
        signed_keys: `switches.signed_keys`, true; true or false.
        slice_scaling: `switches.slice_scaling`, false; true or false.
        soft_quantum: `switches.soft_quantum`, false; true or false.
        sole_queue_uncapped: `switches.sole_queue_uncapped`, true; true or false.
        sole_queue_unlimited: `switches.sole_queue_unlimited`, false; true or false.
        split_after_slice: `switches.split_after_slice`, false; true or false.
        wait_busy: `switches.wait_busy`, false; true or false.
        wait_busy_corners: `switches.wait_busy_corners`, false; true or false.
        wait_busy_simplify: `switches.wait_busy_simplify`, false; true or false.
        weight_update: `switches.weight_update`, false; true or false.
        workload_by_key: `switches.workload_by_key`, false; true or false.
        workload_expired_on_restore: `switches.workload_expired_on_restore`, false; true or false.
    """
    return Scheduler("cfq-2.6.32", given("cfq-2.6.32", locals()))


def cfq_2_6_33_rc1(
    *,
    back_seek_max_kib: int | None = None,
    back_seek_penalty: int | None = None,
    fifo_expire_async_ms: int | None = None,
    fifo_expire_sync_ms: int | None = None,
    cfq_group_isolation: bool | None = None,
    key_offset: bool | None = None,
    low_latency: bool | None = None,
    quantum: int | None = None,
    queueing_seen: bool | None = None,
    seeky_idle_ms: int | None = None,
    serve_together: bool | None = None,
    slice_async_ms: int | None = None,
    slice_async_rq: int | None = None,
    slice_from_completion: bool | None = None,
    slice_idle_ms: int | None = None,
    slice_sync_ms: int | None = None,
    target_latency_ms: int | None = None,
    q1_residual_sign: bool | None = None,
    q2_unsigned_keys: bool | None = None,
    q3_async_budget_per_round: bool | None = None,
    q4_no_fifo_inheritance: bool | None = None,
    q5_first_request_seeks: bool | None = None,
    q6_queueing_latched: bool | None = None,
    q7_reference_is_driver: bool | None = None,
    q8_idle_while_busy: bool | None = None,
    async_depth_ramp: bool | None = None,
    async_in_flight: bool | None = None,
    async_share_global: bool | None = None,
    cgroup_groups: bool | None = None,
    cgroup_move: bool | None = None,
    class_trees: bool | None = None,
    clear_wait_on_kick: bool | None = None,
    close_8192: bool | None = None,
    close_by_default: bool | None = None,
    close_cooperators: bool | None = None,
    coop_distance_cap: bool | None = None,
    coop_flag_shared: bool | None = None,
    coop_merge: bool | None = None,
    coop_preempt_unlimited: bool | None = None,
    coop_skip_single: bool | None = None,
    coop_split: bool | None = None,
    deep_queues: bool | None = None,
    dispatch_one: bool | None = None,
    fifo_inheritance: bool | None = None,
    first_request_no_seek: bool | None = None,
    flash_history: bool | None = None,
    flash_never_idles: bool | None = None,
    flash_selects: bool | None = None,
    group_charge: bool | None = None,
    group_isolate_ops: bool | None = None,
    switches_group_isolation: bool | None = None,
    group_latency: bool | None = None,
    group_tree: bool | None = None,
    group_weight: bool | None = None,
    groups: bool | None = None,
    idle_class_alone: bool | None = None,
    idle_corner_a: bool | None = None,
    idle_corner_b: bool | None = None,
    idle_despite_seeks: bool | None = None,
    idle_last_of_class: bool | None = None,
    idle_when_drained: bool | None = None,
    keep_on_tree: bool | None = None,
    kick_for_large: bool | None = None,
    kick_when_busy: bool | None = None,
    last_idle_sync_only: bool | None = None,
    merge_across_groups: bool | None = None,
    must_dispatch: bool | None = None,
    must_dispatch_else: bool | None = None,
    next_after_any: bool | None = None,
    next_from_removed: bool | None = None,
    no_idle_past_slice: bool | None = None,
    no_mix_with_async: bool | None = None,
    noidle_arm_time: bool | None = None,
    noidle_flag: bool | None = None,
    noidle_no_2ms: bool | None = None,
    noidle_preempt: bool | None = None,
    noidle_preempt_fix: bool | None = None,
    noidle_single_group: bool | None = None,
    noidle_think: bool | None = None,
    noidle_trees: bool | None = None,
    noidle_window: bool | None = None,
    noidle_workload: bool | None = None,
    offset_by_tree_count: bool | None = None,
    one_close_preemption: bool | None = None,
    queueing_not_misjudged: bool | None = None,
    queueing_sampled: bool | None = None,
    queueing_tristate: bool | None = None,
    ramp_only_if_delayed: bool | None = None,
    real_time_not_preempted: bool | None = None,
    real_time_preempts: bool | None = None,
    residual_advances: bool | None = None,
    seek_history: bool | None = None,
    seek_per_queue: bool | None = None,
    seeky_think_limit: bool | None = None,
    signed_keys: bool | None = None,
    slice_scaling: bool | None = None,
    soft_quantum: bool | None = None,
    sole_queue_uncapped: bool | None = None,
    sole_queue_unlimited: bool | None = None,
    split_after_slice: bool | None = None,
    wait_busy: bool | None = None,
    wait_busy_corners: bool | None = None,
    wait_busy_simplify: bool | None = None,
    weight_update: bool | None = None,
    workload_by_key: bool | None = None,
    workload_expired_on_restore: bool | None = None,
) -> Scheduler:
    """CFQ of Linux 2.6.33-rc1: trees by class and kind, merged queues.

    Args:
        back_seek_max_kib: `cfq.back_seek_max_kib`, 16384; 0 to 4294967295.
        back_seek_penalty: `cfq.back_seek_penalty`, 2; 1 to 1000000.
        fifo_expire_async_ms: `cfq.fifo_expire_async_ms`, 250; 1 to 1000000.
        fifo_expire_sync_ms: `cfq.fifo_expire_sync_ms`, 125; 1 to 1000000.
        cfq_group_isolation: `cfq.group_isolation`, false; true or false.
        key_offset: `cfq.key_offset`, true; true or false.
        low_latency: `cfq.low_latency`, true; true or false.
        quantum: `cfq.quantum`, 4; 1 to 1000000.
        queueing_seen: `cfq.queueing_seen`, false; true or false.
        seeky_idle_ms: `cfq.seeky_idle_ms`, 2; 1 to 1000000.
        serve_together: `cfq.serve_together`, false; true or false.
        slice_async_ms: `cfq.slice_async_ms`, 40; 1 to 1000000.
        slice_async_rq: `cfq.slice_async_rq`, 2; 1 to 1000000.
        slice_from_completion: `cfq.slice_from_completion`, true; true or false.
        slice_idle_ms: `cfq.slice_idle_ms`, 8; 0 to 1000000.
        slice_sync_ms: `cfq.slice_sync_ms`, 100; 1 to 1000000.
        target_latency_ms: `cfq.target_latency_ms`, 0; 0 to 1000000.
        q1_residual_sign: `quirks.q1_residual_sign`, true; true or false.
        q2_unsigned_keys: `quirks.q2_unsigned_keys`, true; true or false.
        q3_async_budget_per_round: `quirks.q3_async_budget_per_round`, true; true or false.
        q4_no_fifo_inheritance: `quirks.q4_no_fifo_inheritance`, true; true or false.
        q5_first_request_seeks: `quirks.q5_first_request_seeks`, true; true or false.
        q6_queueing_latched: `quirks.q6_queueing_latched`, true; true or false.
        q7_reference_is_driver: `quirks.q7_reference_is_driver`, true; true or false.
        q8_idle_while_busy: `quirks.q8_idle_while_busy`, true; true or false.
        async_depth_ramp: `switches.async_depth_ramp`, true; true or false.
        async_in_flight: `switches.async_in_flight`, false; true or false.
        async_share_global: `switches.async_share_global`, true; true or false.
        cgroup_groups: `switches.cgroup_groups`, true; true or false.
        cgroup_move: `switches.cgroup_move`, true; true or false.
        class_trees: `switches.class_trees`, true; true or false.
        clear_wait_on_kick: `switches.clear_wait_on_kick`, true; true or false.
        close_8192: `switches.close_8192`, false; true or false.
        close_by_default: `switches.close_by_default`, true; true or false.
        close_cooperators: `switches.close_cooperators`, true; true or false.
        coop_distance_cap: `switches.coop_distance_cap`, false; true or false.
        coop_flag_shared: `switches.coop_flag_shared`, true; true or false.
        coop_merge: `switches.coop_merge`, true; true or false.
        coop_preempt_unlimited: `switches.coop_preempt_unlimited`, true; true or false.
        coop_skip_single: `switches.coop_skip_single`, true; true or false.
        coop_split: `switches.coop_split`, true; true or false.
        deep_queues: `switches.deep_queues`, true; true or false.
        dispatch_one: `switches.dispatch_one`, true; true or false.
        fifo_inheritance: `switches.fifo_inheritance`, true; true or false.
        first_request_no_seek: `switches.first_request_no_seek`, true; true or false.
        flash_history: `switches.flash_history`, false; true or false.
        flash_never_idles: `switches.flash_never_idles`, true; true or false.
        flash_selects: `switches.flash_selects`, true; true or false.
        group_charge: `switches.group_charge`, true; true or false.
        group_isolate_ops: `switches.group_isolate_ops`, true; true or false.
        switches_group_isolation: `switches.group_isolation`, true; true or false.
        group_latency: `switches.group_latency`, true; true or false.
        group_tree: `switches.group_tree`, true; true or false.
        group_weight: `switches.group_weight`, true; true or false.
        groups: `switches.groups`, true; true or false.
        idle_class_alone: `switches.idle_class_alone`, false; true or false.
        idle_corner_a: `switches.idle_corner_a`, true; true or false.
        idle_corner_b: `switches.idle_corner_b`, true; true or false.
        idle_despite_seeks: `switches.idle_despite_seeks`, true; true or false.
        idle_last_of_class: `switches.idle_last_of_class`, true; true or false.
        idle_when_drained: `switches.idle_when_drained`, true; true or false.
        keep_on_tree: `switches.keep_on_tree`, true; true or false.
        kick_for_large: `switches.kick_for_large`, true; true or false.
        kick_when_busy: `switches.kick_when_busy`, true; true or false.
        last_idle_sync_only: `switches.last_idle_sync_only`, false; true or false.
        merge_across_groups: `switches.merge_across_groups`, false; true or false.
        must_dispatch: `switches.must_dispatch`, true; true or false.
        must_dispatch_else: `switches.must_dispatch_else`, true; true or false.
        next_after_any: `switches.next_after_any`, true; true or false.
        next_from_removed: `switches.next_from_removed`, true; true or false.
        no_idle_past_slice: `switches.no_idle_past_slice`, true; true or false.
        no_mix_with_async: `switches.no_mix_with_async`, true; true or false.
        noidle_arm_time: `switches.noidle_arm_time`, true; true or false.
        noidle_flag: `switches.noidle_flag`, true; true or false.
        noidle_no_2ms: `switches.noidle_no_2ms`, true; true or false.
        noidle_preempt: `switches.noidle_preempt`, true; true or false.
        noidle_preempt_fix: `switches.noidle_preempt_fix`, true; true or false.
        noidle_single_group: `switches.noidle_single_group`, true; true or false.
        noidle_think: `switches.noidle_think`, true; true or false.
        noidle_trees: `switches.noidle_trees`, true; true or false.
        noidle_window: `switches.noidle_window`, true; true or false.
        noidle_workload: `switches.noidle_workload`, true; true or false.
        offset_by_tree_count: `switches.offset_by_tree_count`, false; true or false.
        one_close_preemption: `switches.one_close_preemption`, true; true or false.
        queueing_not_misjudged: `switches.queueing_not_misjudged`, true; true or false.
        queueing_sampled: `switches.queueing_sampled`, true; true or false.
        queueing_tristate: `switches.queueing_tristate`, true; true or false.
        ramp_only_if_delayed: `switches.ramp_only_if_delayed`, true; true or false.
        real_time_not_preempted: `switches.real_time_not_preempted`, false; true or false.
        real_time_preempts: `switches.real_time_preempts`, true; true or false.
        residual_advances: `switches.residual_advances`, true; true or false.
        seek_history: `switches.seek_history`, false; true or false.
        seek_per_queue: `switches.seek_per_queue`, true; true or false.
        seeky_think_limit: `switches.seeky_think_limit`, true; true or false.
        signed_keys: `switches.signed_keys`, true; true or false.
        slice_scaling: `switches.slice_scaling`, true; true or false.
        soft_quantum: `switches.soft_quantum`, false; true or false.
        sole_queue_uncapped: `switches.sole_queue_uncapped`, true; true or false.
        sole_queue_unlimited: `switches.sole_queue_unlimited`, true; true or false.
        split_after_slice: `switches.split_after_slice`, false; true or false.
        wait_busy: `switches.wait_busy`, true; true or false.
        wait_busy_corners: `switches.wait_busy_corners`, true; true or false.
        wait_busy_simplify: `switches.wait_busy_simplify`, true; true or false.
        weight_update: `switches.weight_update`, true; true or false.
        workload_by_key: `switches.workload_by_key`, false; true or false.
        workload_expired_on_restore: `switches.workload_expired_on_restore`, true; true or false.
    """
    return Scheduler("cfq-2.6.33-rc1", given("cfq-2.6.33-rc1", locals()))


def cfq_2_6_33(
    *,
    back_seek_max_kib: int | None = None,
    back_seek_penalty: int | None = None,
    fifo_expire_async_ms: int | None = None,
    fifo_expire_sync_ms: int | None = None,
    cfq_group_isolation: bool | None = None,
    key_offset: bool | None = None,
    low_latency: bool | None = None,
    quantum: int | None = None,
    queueing_seen: bool | None = None,
    seeky_idle_ms: int | None = None,
    serve_together: bool | None = None,
    slice_async_ms: int | None = None,
    slice_async_rq: int | None = None,
    slice_from_completion: bool | None = None,
    slice_idle_ms: int | None = None,
    slice_sync_ms: int | None = None,
    target_latency_ms: int | None = None,
    q1_residual_sign: bool | None = None,
    q2_unsigned_keys: bool | None = None,
    q3_async_budget_per_round: bool | None = None,
    q4_no_fifo_inheritance: bool | None = None,
    q5_first_request_seeks: bool | None = None,
    q6_queueing_latched: bool | None = None,
    q7_reference_is_driver: bool | None = None,
    q8_idle_while_busy: bool | None = None,
    async_depth_ramp: bool | None = None,
    async_in_flight: bool | None = None,
    async_share_global: bool | None = None,
    cgroup_groups: bool | None = None,
    cgroup_move: bool | None = None,
    class_trees: bool | None = None,
    clear_wait_on_kick: bool | None = None,
    close_8192: bool | None = None,
    close_by_default: bool | None = None,
    close_cooperators: bool | None = None,
    coop_distance_cap: bool | None = None,
    coop_flag_shared: bool | None = None,
    coop_merge: bool | None = None,
    coop_preempt_unlimited: bool | None = None,
    coop_skip_single: bool | None = None,
    coop_split: bool | None = None,
    deep_queues: bool | None = None,
    dispatch_one: bool | None = None,
    fifo_inheritance: bool | None = None,
    first_request_no_seek: bool | None = None,
    flash_history: bool | None = None,
    flash_never_idles: bool | None = None,
    flash_selects: bool | None = None,
    group_charge: bool | None = None,
    group_isolate_ops: bool | None = None,
    switches_group_isolation: bool | None = None,
    group_latency: bool | None = None,
    group_tree: bool | None = None,
    group_weight: bool | None = None,
    groups: bool | None = None,
    idle_class_alone: bool | None = None,
    idle_corner_a: bool | None = None,
    idle_corner_b: bool | None = None,
    idle_despite_seeks: bool | None = None,
    idle_last_of_class: bool | None = None,
    idle_when_drained: bool | None = None,
    keep_on_tree: bool | None = None,
    kick_for_large: bool | None = None,
    kick_when_busy: bool | None = None,
    last_idle_sync_only: bool | None = None,
    merge_across_groups: bool | None = None,
    must_dispatch: bool | None = None,
    must_dispatch_else: bool | None = None,
    next_after_any: bool | None = None,
    next_from_removed: bool | None = None,
    no_idle_past_slice: bool | None = None,
    no_mix_with_async: bool | None = None,
    noidle_arm_time: bool | None = None,
    noidle_flag: bool | None = None,
    noidle_no_2ms: bool | None = None,
    noidle_preempt: bool | None = None,
    noidle_preempt_fix: bool | None = None,
    noidle_single_group: bool | None = None,
    noidle_think: bool | None = None,
    noidle_trees: bool | None = None,
    noidle_window: bool | None = None,
    noidle_workload: bool | None = None,
    offset_by_tree_count: bool | None = None,
    one_close_preemption: bool | None = None,
    queueing_not_misjudged: bool | None = None,
    queueing_sampled: bool | None = None,
    queueing_tristate: bool | None = None,
    ramp_only_if_delayed: bool | None = None,
    real_time_not_preempted: bool | None = None,
    real_time_preempts: bool | None = None,
    residual_advances: bool | None = None,
    seek_history: bool | None = None,
    seek_per_queue: bool | None = None,
    seeky_think_limit: bool | None = None,
    signed_keys: bool | None = None,
    slice_scaling: bool | None = None,
    soft_quantum: bool | None = None,
    sole_queue_uncapped: bool | None = None,
    sole_queue_unlimited: bool | None = None,
    split_after_slice: bool | None = None,
    wait_busy: bool | None = None,
    wait_busy_corners: bool | None = None,
    wait_busy_simplify: bool | None = None,
    weight_update: bool | None = None,
    workload_by_key: bool | None = None,
    workload_expired_on_restore: bool | None = None,
) -> Scheduler:
    """CFQ of Linux 2.6.33: what was mended after the first release candidate.

    Args:
        back_seek_max_kib: `cfq.back_seek_max_kib`, 16384; 0 to 4294967295.
        back_seek_penalty: `cfq.back_seek_penalty`, 2; 1 to 1000000.
        fifo_expire_async_ms: `cfq.fifo_expire_async_ms`, 250; 1 to 1000000.
        fifo_expire_sync_ms: `cfq.fifo_expire_sync_ms`, 125; 1 to 1000000.
        cfq_group_isolation: `cfq.group_isolation`, false; true or false.
        key_offset: `cfq.key_offset`, true; true or false.
        low_latency: `cfq.low_latency`, true; true or false.
        quantum: `cfq.quantum`, 4; 1 to 1000000.
        queueing_seen: `cfq.queueing_seen`, false; true or false.
        seeky_idle_ms: `cfq.seeky_idle_ms`, 2; 1 to 1000000.
        serve_together: `cfq.serve_together`, false; true or false.
        slice_async_ms: `cfq.slice_async_ms`, 40; 1 to 1000000.
        slice_async_rq: `cfq.slice_async_rq`, 2; 1 to 1000000.
        slice_from_completion: `cfq.slice_from_completion`, true; true or false.
        slice_idle_ms: `cfq.slice_idle_ms`, 8; 0 to 1000000.
        slice_sync_ms: `cfq.slice_sync_ms`, 100; 1 to 1000000.
        target_latency_ms: `cfq.target_latency_ms`, 0; 0 to 1000000.
        q1_residual_sign: `quirks.q1_residual_sign`, true; true or false.
        q2_unsigned_keys: `quirks.q2_unsigned_keys`, true; true or false.
        q3_async_budget_per_round: `quirks.q3_async_budget_per_round`, true; true or false.
        q4_no_fifo_inheritance: `quirks.q4_no_fifo_inheritance`, true; true or false.
        q5_first_request_seeks: `quirks.q5_first_request_seeks`, true; true or false.
        q6_queueing_latched: `quirks.q6_queueing_latched`, true; true or false.
        q7_reference_is_driver: `quirks.q7_reference_is_driver`, true; true or false.
        q8_idle_while_busy: `quirks.q8_idle_while_busy`, true; true or false.
        async_depth_ramp: `switches.async_depth_ramp`, true; true or false.
        async_in_flight: `switches.async_in_flight`, false; true or false.
        async_share_global: `switches.async_share_global`, true; true or false.
        cgroup_groups: `switches.cgroup_groups`, true; true or false.
        cgroup_move: `switches.cgroup_move`, true; true or false.
        class_trees: `switches.class_trees`, true; true or false.
        clear_wait_on_kick: `switches.clear_wait_on_kick`, true; true or false.
        close_8192: `switches.close_8192`, false; true or false.
        close_by_default: `switches.close_by_default`, true; true or false.
        close_cooperators: `switches.close_cooperators`, true; true or false.
        coop_distance_cap: `switches.coop_distance_cap`, true; true or false.
        coop_flag_shared: `switches.coop_flag_shared`, true; true or false.
        coop_merge: `switches.coop_merge`, true; true or false.
        coop_preempt_unlimited: `switches.coop_preempt_unlimited`, true; true or false.
        coop_skip_single: `switches.coop_skip_single`, true; true or false.
        coop_split: `switches.coop_split`, true; true or false.
        deep_queues: `switches.deep_queues`, true; true or false.
        dispatch_one: `switches.dispatch_one`, true; true or false.
        fifo_inheritance: `switches.fifo_inheritance`, true; true or false.
        first_request_no_seek: `switches.first_request_no_seek`, true; true or false.
        flash_history: `switches.flash_history`, false; true or false.
        flash_never_idles: `switches.flash_never_idles`, true; true or false.
        flash_selects: `switches.flash_selects`, true; true or false.
        group_charge: `switches.group_charge`, true; true or false.
        group_isolate_ops: `switches.group_isolate_ops`, true; true or false.
        switches_group_isolation: `switches.group_isolation`, true; true or false.
        group_latency: `switches.group_latency`, true; true or false.
        group_tree: `switches.group_tree`, true; true or false.
        group_weight: `switches.group_weight`, true; true or false.
        groups: `switches.groups`, true; true or false.
        idle_class_alone: `switches.idle_class_alone`, false; true or false.
        idle_corner_a: `switches.idle_corner_a`, true; true or false.
        idle_corner_b: `switches.idle_corner_b`, true; true or false.
        idle_despite_seeks: `switches.idle_despite_seeks`, true; true or false.
        idle_last_of_class: `switches.idle_last_of_class`, true; true or false.
        idle_when_drained: `switches.idle_when_drained`, true; true or false.
        keep_on_tree: `switches.keep_on_tree`, true; true or false.
        kick_for_large: `switches.kick_for_large`, true; true or false.
        kick_when_busy: `switches.kick_when_busy`, true; true or false.
        last_idle_sync_only: `switches.last_idle_sync_only`, true; true or false.
        merge_across_groups: `switches.merge_across_groups`, true; true or false.
        must_dispatch: `switches.must_dispatch`, true; true or false.
        must_dispatch_else: `switches.must_dispatch_else`, true; true or false.
        next_after_any: `switches.next_after_any`, true; true or false.
        next_from_removed: `switches.next_from_removed`, true; true or false.
        no_idle_past_slice: `switches.no_idle_past_slice`, true; true or false.
        no_mix_with_async: `switches.no_mix_with_async`, true; true or false.
        noidle_arm_time: `switches.noidle_arm_time`, true; true or false.
        noidle_flag: `switches.noidle_flag`, true; true or false.
        noidle_no_2ms: `switches.noidle_no_2ms`, true; true or false.
        noidle_preempt: `switches.noidle_preempt`, true; true or false.
        noidle_preempt_fix: `switches.noidle_preempt_fix`, true; true or false.
        noidle_single_group: `switches.noidle_single_group`, true; true or false.
        noidle_think: `switches.noidle_think`, true; true or false.
        noidle_trees: `switches.noidle_trees`, true; true or false.
        noidle_window: `switches.noidle_window`, true; true or false.
        noidle_workload: `switches.noidle_workload`, true; true or false.
        offset_by_tree_count: `switches.offset_by_tree_count`, false; true or false.
        one_close_preemption: `switches.one_close_preemption`, true; true or false.
        queueing_not_misjudged: `switches.queueing_not_misjudged`, true; true or false.
        queueing_sampled: `switches.queueing_sampled`, true; true or false.
        queueing_tristate: `switches.queueing_tristate`, true; true or false.
        ramp_only_if_delayed: `switches.ramp_only_if_delayed`, true; true or false.
        real_time_not_preempted: `switches.real_time_not_preempted`, true; true or false.
        real_time_preempts: `switches.real_time_preempts`, true; true or false.
        residual_advances: `switches.residual_advances`, true; true or false.
        seek_history: `switches.seek_history`, false; true or false.
        seek_per_queue: `switches.seek_per_queue`, true; true or false.
        seeky_think_limit: `switches.seeky_think_limit`, true; true or false.
        signed_keys: `switches.signed_keys`, true; true or false.
        slice_scaling: `switches.slice_scaling`, true; true or false.
        soft_quantum: `switches.soft_quantum`, false; true or false.
        sole_queue_uncapped: `switches.sole_queue_uncapped`, true; true or false.
        sole_queue_unlimited: `switches.sole_queue_unlimited`, true; true or false.
        split_after_slice: `switches.split_after_slice`, true; true or false.
        wait_busy: `switches.wait_busy`, true; true or false.
        wait_busy_corners: `switches.wait_busy_corners`, true; true or false.
        wait_busy_simplify: `switches.wait_busy_simplify`, true; true or false.
        weight_update: `switches.weight_update`, true; true or false.
        workload_by_key: `switches.workload_by_key`, true; true or false.
        workload_expired_on_restore: `switches.workload_expired_on_restore`, true; true or false.
    """
    return Scheduler("cfq-2.6.33", given("cfq-2.6.33", locals()))


def cfq_2_6_34(
    *,
    back_seek_max_kib: int | None = None,
    back_seek_penalty: int | None = None,
    fifo_expire_async_ms: int | None = None,
    fifo_expire_sync_ms: int | None = None,
    cfq_group_isolation: bool | None = None,
    key_offset: bool | None = None,
    low_latency: bool | None = None,
    quantum: int | None = None,
    queueing_seen: bool | None = None,
    seeky_idle_ms: int | None = None,
    serve_together: bool | None = None,
    slice_async_ms: int | None = None,
    slice_async_rq: int | None = None,
    slice_from_completion: bool | None = None,
    slice_idle_ms: int | None = None,
    slice_sync_ms: int | None = None,
    target_latency_ms: int | None = None,
    q1_residual_sign: bool | None = None,
    q2_unsigned_keys: bool | None = None,
    q3_async_budget_per_round: bool | None = None,
    q4_no_fifo_inheritance: bool | None = None,
    q5_first_request_seeks: bool | None = None,
    q6_queueing_latched: bool | None = None,
    q7_reference_is_driver: bool | None = None,
    q8_idle_while_busy: bool | None = None,
    async_depth_ramp: bool | None = None,
    async_in_flight: bool | None = None,
    async_share_global: bool | None = None,
    cgroup_groups: bool | None = None,
    cgroup_move: bool | None = None,
    class_trees: bool | None = None,
    clear_wait_on_kick: bool | None = None,
    close_8192: bool | None = None,
    close_by_default: bool | None = None,
    close_cooperators: bool | None = None,
    coop_distance_cap: bool | None = None,
    coop_flag_shared: bool | None = None,
    coop_merge: bool | None = None,
    coop_preempt_unlimited: bool | None = None,
    coop_skip_single: bool | None = None,
    coop_split: bool | None = None,
    deep_queues: bool | None = None,
    dispatch_one: bool | None = None,
    fifo_inheritance: bool | None = None,
    first_request_no_seek: bool | None = None,
    flash_history: bool | None = None,
    flash_never_idles: bool | None = None,
    flash_selects: bool | None = None,
    group_charge: bool | None = None,
    group_isolate_ops: bool | None = None,
    switches_group_isolation: bool | None = None,
    group_latency: bool | None = None,
    group_tree: bool | None = None,
    group_weight: bool | None = None,
    groups: bool | None = None,
    idle_class_alone: bool | None = None,
    idle_corner_a: bool | None = None,
    idle_corner_b: bool | None = None,
    idle_despite_seeks: bool | None = None,
    idle_last_of_class: bool | None = None,
    idle_when_drained: bool | None = None,
    keep_on_tree: bool | None = None,
    kick_for_large: bool | None = None,
    kick_when_busy: bool | None = None,
    last_idle_sync_only: bool | None = None,
    merge_across_groups: bool | None = None,
    must_dispatch: bool | None = None,
    must_dispatch_else: bool | None = None,
    next_after_any: bool | None = None,
    next_from_removed: bool | None = None,
    no_idle_past_slice: bool | None = None,
    no_mix_with_async: bool | None = None,
    noidle_arm_time: bool | None = None,
    noidle_flag: bool | None = None,
    noidle_no_2ms: bool | None = None,
    noidle_preempt: bool | None = None,
    noidle_preempt_fix: bool | None = None,
    noidle_single_group: bool | None = None,
    noidle_think: bool | None = None,
    noidle_trees: bool | None = None,
    noidle_window: bool | None = None,
    noidle_workload: bool | None = None,
    offset_by_tree_count: bool | None = None,
    one_close_preemption: bool | None = None,
    queueing_not_misjudged: bool | None = None,
    queueing_sampled: bool | None = None,
    queueing_tristate: bool | None = None,
    ramp_only_if_delayed: bool | None = None,
    real_time_not_preempted: bool | None = None,
    real_time_preempts: bool | None = None,
    residual_advances: bool | None = None,
    seek_history: bool | None = None,
    seek_per_queue: bool | None = None,
    seeky_think_limit: bool | None = None,
    signed_keys: bool | None = None,
    slice_scaling: bool | None = None,
    soft_quantum: bool | None = None,
    sole_queue_uncapped: bool | None = None,
    sole_queue_unlimited: bool | None = None,
    split_after_slice: bool | None = None,
    wait_busy: bool | None = None,
    wait_busy_corners: bool | None = None,
    wait_busy_simplify: bool | None = None,
    weight_update: bool | None = None,
    workload_by_key: bool | None = None,
    workload_expired_on_restore: bool | None = None,
) -> Scheduler:
    """CFQ of Linux 2.6.34: a history of seeks instead of their mean.

    Args:
        back_seek_max_kib: `cfq.back_seek_max_kib`, 16384; 0 to 4294967295.
        back_seek_penalty: `cfq.back_seek_penalty`, 2; 1 to 1000000.
        fifo_expire_async_ms: `cfq.fifo_expire_async_ms`, 250; 1 to 1000000.
        fifo_expire_sync_ms: `cfq.fifo_expire_sync_ms`, 125; 1 to 1000000.
        cfq_group_isolation: `cfq.group_isolation`, false; true or false.
        key_offset: `cfq.key_offset`, true; true or false.
        low_latency: `cfq.low_latency`, true; true or false.
        quantum: `cfq.quantum`, 8; 1 to 1000000.
        queueing_seen: `cfq.queueing_seen`, false; true or false.
        seeky_idle_ms: `cfq.seeky_idle_ms`, 2; 1 to 1000000.
        serve_together: `cfq.serve_together`, false; true or false.
        slice_async_ms: `cfq.slice_async_ms`, 40; 1 to 1000000.
        slice_async_rq: `cfq.slice_async_rq`, 2; 1 to 1000000.
        slice_from_completion: `cfq.slice_from_completion`, true; true or false.
        slice_idle_ms: `cfq.slice_idle_ms`, 8; 0 to 1000000.
        slice_sync_ms: `cfq.slice_sync_ms`, 100; 1 to 1000000.
        target_latency_ms: `cfq.target_latency_ms`, 0; 0 to 1000000.
        q1_residual_sign: `quirks.q1_residual_sign`, true; true or false.
        q2_unsigned_keys: `quirks.q2_unsigned_keys`, true; true or false.
        q3_async_budget_per_round: `quirks.q3_async_budget_per_round`, true; true or false.
        q4_no_fifo_inheritance: `quirks.q4_no_fifo_inheritance`, true; true or false.
        q5_first_request_seeks: `quirks.q5_first_request_seeks`, true; true or false.
        q6_queueing_latched: `quirks.q6_queueing_latched`, true; true or false.
        q7_reference_is_driver: `quirks.q7_reference_is_driver`, true; true or false.
        q8_idle_while_busy: `quirks.q8_idle_while_busy`, true; true or false.
        async_depth_ramp: `switches.async_depth_ramp`, true; true or false.
        async_in_flight: `switches.async_in_flight`, true; true or false.
        async_share_global: `switches.async_share_global`, true; true or false.
        cgroup_groups: `switches.cgroup_groups`, true; true or false.
        cgroup_move: `switches.cgroup_move`, true; true or false.
        class_trees: `switches.class_trees`, true; true or false.
        clear_wait_on_kick: `switches.clear_wait_on_kick`, true; true or false.
        close_8192: `switches.close_8192`, true; true or false.
        close_by_default: `switches.close_by_default`, true; true or false.
        close_cooperators: `switches.close_cooperators`, true; true or false.
        coop_distance_cap: `switches.coop_distance_cap`, true; true or false.
        coop_flag_shared: `switches.coop_flag_shared`, true; true or false.
        coop_merge: `switches.coop_merge`, true; true or false.
        coop_preempt_unlimited: `switches.coop_preempt_unlimited`, true; true or false.
        coop_skip_single: `switches.coop_skip_single`, true; true or false.
        coop_split: `switches.coop_split`, true; true or false.
        deep_queues: `switches.deep_queues`, true; true or false.
        dispatch_one: `switches.dispatch_one`, true; true or false.
        fifo_inheritance: `switches.fifo_inheritance`, true; true or false.
        first_request_no_seek: `switches.first_request_no_seek`, true; true or false.
        flash_history: `switches.flash_history`, true; true or false.
        flash_never_idles: `switches.flash_never_idles`, true; true or false.
        flash_selects: `switches.flash_selects`, true; true or false.
        group_charge: `switches.group_charge`, true; true or false.
        group_isolate_ops: `switches.group_isolate_ops`, true; true or false.
        switches_group_isolation: `switches.group_isolation`, true; true or false.
        group_latency: `switches.group_latency`, true; true or false.
        group_tree: `switches.group_tree`, true; true or false.
        group_weight: `switches.group_weight`, true; true or false.
        groups: `switches.groups`, true; true or false.
        idle_class_alone: `switches.idle_class_alone`, true; true or false.
        idle_corner_a: `switches.idle_corner_a`, true; true or false.
        idle_corner_b: `switches.idle_corner_b`, true; true or false.
        idle_despite_seeks: `switches.idle_despite_seeks`, true; true or false.
        idle_last_of_class: `switches.idle_last_of_class`, true; true or false.
        idle_when_drained: `switches.idle_when_drained`, true; true or false.
        keep_on_tree: `switches.keep_on_tree`, true; true or false.
        kick_for_large: `switches.kick_for_large`, true; true or false.
        kick_when_busy: `switches.kick_when_busy`, true; true or false.
        last_idle_sync_only: `switches.last_idle_sync_only`, true; true or false.
        merge_across_groups: `switches.merge_across_groups`, true; true or false.
        must_dispatch: `switches.must_dispatch`, true; true or false.
        must_dispatch_else: `switches.must_dispatch_else`, true; true or false.
        next_after_any: `switches.next_after_any`, true; true or false.
        next_from_removed: `switches.next_from_removed`, true; true or false.
        no_idle_past_slice: `switches.no_idle_past_slice`, true; true or false.
        no_mix_with_async: `switches.no_mix_with_async`, true; true or false.
        noidle_arm_time: `switches.noidle_arm_time`, true; true or false.
        noidle_flag: `switches.noidle_flag`, true; true or false.
        noidle_no_2ms: `switches.noidle_no_2ms`, true; true or false.
        noidle_preempt: `switches.noidle_preempt`, true; true or false.
        noidle_preempt_fix: `switches.noidle_preempt_fix`, true; true or false.
        noidle_single_group: `switches.noidle_single_group`, true; true or false.
        noidle_think: `switches.noidle_think`, true; true or false.
        noidle_trees: `switches.noidle_trees`, true; true or false.
        noidle_window: `switches.noidle_window`, true; true or false.
        noidle_workload: `switches.noidle_workload`, true; true or false.
        offset_by_tree_count: `switches.offset_by_tree_count`, false; true or false.
        one_close_preemption: `switches.one_close_preemption`, true; true or false.
        queueing_not_misjudged: `switches.queueing_not_misjudged`, true; true or false.
        queueing_sampled: `switches.queueing_sampled`, true; true or false.
        queueing_tristate: `switches.queueing_tristate`, true; true or false.
        ramp_only_if_delayed: `switches.ramp_only_if_delayed`, true; true or false.
        real_time_not_preempted: `switches.real_time_not_preempted`, true; true or false.
        real_time_preempts: `switches.real_time_preempts`, true; true or false.
        residual_advances: `switches.residual_advances`, true; true or false.
        seek_history: `switches.seek_history`, true; true or false.
        seek_per_queue: `switches.seek_per_queue`, true; true or false.
        seeky_think_limit: `switches.seeky_think_limit`, true; true or false.
        signed_keys: `switches.signed_keys`, true; true or false.
        slice_scaling: `switches.slice_scaling`, true; true or false.
        soft_quantum: `switches.soft_quantum`, true; true or false.
        sole_queue_uncapped: `switches.sole_queue_uncapped`, true; true or false.
        sole_queue_unlimited: `switches.sole_queue_unlimited`, true; true or false.
        split_after_slice: `switches.split_after_slice`, true; true or false.
        wait_busy: `switches.wait_busy`, true; true or false.
        wait_busy_corners: `switches.wait_busy_corners`, true; true or false.
        wait_busy_simplify: `switches.wait_busy_simplify`, true; true or false.
        weight_update: `switches.weight_update`, true; true or false.
        workload_by_key: `switches.workload_by_key`, true; true or false.
        workload_expired_on_restore: `switches.workload_expired_on_restore`, true; true or false.
    """
    return Scheduler("cfq-2.6.34", given("cfq-2.6.34", locals()))


def deadline(
    *,
    fifo_batch: int | None = None,
    front_merges: bool | None = None,
    read_expire_ms: int | None = None,
    write_expire_ms: int | None = None,
    writes_starved: int | None = None,
) -> Scheduler:
    """Batches in sector order, reads first, with deadlines.

    Args:
        fifo_batch: `deadline.fifo_batch`, 16; 1 to 1000000.
        front_merges: `deadline.front_merges`, true; true or false.
        read_expire_ms: `deadline.read_expire_ms`, 500; 0 to 1000000.
        write_expire_ms: `deadline.write_expire_ms`, 5000; 0 to 1000000.
        writes_starved: `deadline.writes_starved`, 2; 0 to 4294967295.
    """
    return Scheduler("deadline", given("deadline", locals()))


def dm_ioband(
    *,
    carryover: int | None = None,
    io_throttle: int | None = None,
    token_base: int | None = None,
    weight_map: str | None = None,
) -> Scheduler:
    """dm-ioband, 2008: tokens of an epoch by weight, otherwise first come, first served.

    Args:
        carryover: `dm_ioband.carryover`, 2; 0 to 1000000.
        io_throttle: `dm_ioband.io_throttle`, 4; 0 to 1000000.
        token_base: `dm_ioband.token_base`, 512; 1 to 1000000.
        weight_map: `dm_ioband.weight_map`, linear-high0; linear-high0, linear-high7, openvz, cfq-slice, bfq.
    """
    return Scheduler("dm-ioband", given("dm-ioband", locals()))


def fair(
    *,
    credit_ms: int | None = None,
    expire_ms: int | None = None,
    idle_max_ms: int | None = None,
    round_ms: int | None = None,
    awaited: bool | None = None,
    brought: bool | None = None,
    commits: bool | None = None,
    depth_limit: bool | None = None,
    floor_room: bool | None = None,
    full_cache: bool | None = None,
    heads: bool | None = None,
    idling: bool | None = None,
    inside: bool | None = None,
    kept_slices: bool | None = None,
    large_requests: bool | None = None,
    late_writes: bool | None = None,
    pace: bool | None = None,
    pauses: bool | None = None,
    programs: bool | None = None,
    reserved: bool | None = None,
    returning: bool | None = None,
    room: bool | None = None,
    room_worth: bool | None = None,
    saving: bool | None = None,
    sharing: bool | None = None,
    streams_alone: bool | None = None,
    target_first: bool | None = None,
    target_room: bool | None = None,
    target_rounds: bool | None = None,
    usual_by_depth: bool | None = None,
    write_allowance: bool | None = None,
    writes_first: bool | None = None,
) -> Scheduler:
    """Fairdisk's own: groups share the time of any device by weight, with floors, ceilings and latency targets.

    Args:
        credit_ms: `fair.credit_ms`, 20; 0 to 1000000.
        expire_ms: `fair.expire_ms`, 500; 1 to 1000000.
        idle_max_ms: `fair.idle_max_ms`, 8; 0 to 1000000.
        round_ms: `fair.round_ms`, 200; 1 to 1000000.
        awaited: `rules.awaited`, true; true or false.
        brought: `rules.brought`, true; true or false.
        commits: `rules.commits`, true; true or false.
        depth_limit: `rules.depth_limit`, true; true or false.
        floor_room: `rules.floor_room`, true; true or false.
        full_cache: `rules.full_cache`, true; true or false.
        heads: `rules.heads`, true; true or false.
        idling: `rules.idling`, true; true or false.
        inside: `rules.inside`, true; true or false.
        kept_slices: `rules.kept_slices`, true; true or false.
        large_requests: `rules.large_requests`, true; true or false.
        late_writes: `rules.late_writes`, true; true or false.
        pace: `rules.pace`, true; true or false.
        pauses: `rules.pauses`, true; true or false.
        programs: `rules.programs`, true; true or false.
        reserved: `rules.reserved`, true; true or false.
        returning: `rules.returning`, true; true or false.
        room: `rules.room`, true; true or false.
        room_worth: `rules.room_worth`, true; true or false.
        saving: `rules.saving`, true; true or false.
        sharing: `rules.sharing`, true; true or false.
        streams_alone: `rules.streams_alone`, true; true or false.
        target_first: `rules.target_first`, true; true or false.
        target_room: `rules.target_room`, true; true or false.
        target_rounds: `rules.target_rounds`, true; true or false.
        usual_by_depth: `rules.usual_by_depth`, true; true or false.
        write_allowance: `rules.write_allowance`, true; true or false.
        writes_first: `rules.writes_first`, true; true or false.
    """
    return Scheduler("fair", given("fair", locals()))


def group_cfq(
    *,
    back_seek_max_kib: int | None = None,
    back_seek_penalty: int | None = None,
    fifo_expire_async_ms: int | None = None,
    fifo_expire_sync_ms: int | None = None,
    group_isolation: bool | None = None,
    key_offset: bool | None = None,
    low_latency: bool | None = None,
    quantum: int | None = None,
    queueing_seen: bool | None = None,
    seeky_idle_ms: int | None = None,
    serve_together: bool | None = None,
    slice_async_ms: int | None = None,
    slice_async_rq: int | None = None,
    slice_from_completion: bool | None = None,
    slice_idle_ms: int | None = None,
    slice_sync_ms: int | None = None,
    target_latency_ms: int | None = None,
    d3_unbounded_wait: bool | None = None,
    device_wide_busy_count: bool | None = None,
    foreign_preemption: bool | None = None,
    reads_of_group: bool | None = None,
    slice_ms: int | None = None,
    turn_ends_when_empty: bool | None = None,
    weight_map: str | None = None,
    writes_of_group: bool | None = None,
    q1_residual_sign: bool | None = None,
    q2_unsigned_keys: bool | None = None,
    q3_async_budget_per_round: bool | None = None,
    q4_no_fifo_inheritance: bool | None = None,
    q5_first_request_seeks: bool | None = None,
    q6_queueing_latched: bool | None = None,
    q7_reference_is_driver: bool | None = None,
    q8_idle_while_busy: bool | None = None,
) -> Scheduler:
    """CFQ with a layer of groups, OpenVZ 2008: group priorities 0 to 7, 7 is high, slices 1 to 2.

    Args:
        back_seek_max_kib: `cfq.back_seek_max_kib`, 16384; 0 to 4294967295.
        back_seek_penalty: `cfq.back_seek_penalty`, 2; 1 to 1000000.
        fifo_expire_async_ms: `cfq.fifo_expire_async_ms`, 250; 1 to 1000000.
        fifo_expire_sync_ms: `cfq.fifo_expire_sync_ms`, 125; 1 to 1000000.
        group_isolation: `cfq.group_isolation`, false; true or false.
        key_offset: `cfq.key_offset`, true; true or false.
        low_latency: `cfq.low_latency`, true; true or false.
        quantum: `cfq.quantum`, 4; 1 to 1000000.
        queueing_seen: `cfq.queueing_seen`, false; true or false.
        seeky_idle_ms: `cfq.seeky_idle_ms`, 2; 1 to 1000000.
        serve_together: `cfq.serve_together`, false; true or false.
        slice_async_ms: `cfq.slice_async_ms`, 40; 1 to 1000000.
        slice_async_rq: `cfq.slice_async_rq`, 2; 1 to 1000000.
        slice_from_completion: `cfq.slice_from_completion`, true; true or false.
        slice_idle_ms: `cfq.slice_idle_ms`, 8; 0 to 1000000.
        slice_sync_ms: `cfq.slice_sync_ms`, 100; 1 to 1000000.
        target_latency_ms: `cfq.target_latency_ms`, 0; 0 to 1000000.
        d3_unbounded_wait: `defects.d3_unbounded_wait`, true; true or false.
        device_wide_busy_count: `group_layer.device_wide_busy_count`, true; true or false.
        foreign_preemption: `group_layer.foreign_preemption`, true; true or false.
        reads_of_group: `group_layer.reads_of_group`, true; true or false.
        slice_ms: `group_layer.slice_ms`, 500; 1 to 1000000.
        turn_ends_when_empty: `group_layer.turn_ends_when_empty`, true; true or false.
        weight_map: `group_layer.weight_map`, openvz; linear-high0, linear-high7, openvz, cfq-slice, bfq.
        writes_of_group: `group_layer.writes_of_group`, true; true or false.
        q1_residual_sign: `quirks.q1_residual_sign`, true; true or false.
        q2_unsigned_keys: `quirks.q2_unsigned_keys`, true; true or false.
        q3_async_budget_per_round: `quirks.q3_async_budget_per_round`, true; true or false.
        q4_no_fifo_inheritance: `quirks.q4_no_fifo_inheritance`, true; true or false.
        q5_first_request_seeks: `quirks.q5_first_request_seeks`, true; true or false.
        q6_queueing_latched: `quirks.q6_queueing_latched`, true; true or false.
        q7_reference_is_driver: `quirks.q7_reference_is_driver`, true; true or false.
        q8_idle_while_busy: `quirks.q8_idle_while_busy`, true; true or false.
    """
    return Scheduler("group-cfq", given("group-cfq", locals()))


def io_throttle(
    *,
    slice_ms: int | None = None,
) -> Scheduler:
    """io-throttle, 2008: limits of groups at submission, otherwise first come, first served.

    Args:
        slice_ms: `token_bucket.slice_ms`, 0; 0 to 1000000.
    """
    return Scheduler("io-throttle", given("io-throttle", locals()))


def iocost_wide(
    *,
    period_ms: int | None = None,
    rate_max_percent: int | None = None,
    rate_min_percent: int | None = None,
    rate_step_percent: int | None = None,
    read_latency_us: int | None = None,
    read_percent: int | None = None,
    saved_percent: int | None = None,
    wait_percent: int | None = None,
    weight_map: str | None = None,
    write_latency_us: int | None = None,
    write_percent: int | None = None,
) -> Scheduler:
    """io.cost with the widest bounds of its clock: where a disk does many times what its model says.

    Args:
        period_ms: `iocost.period_ms`, 100; 1 to 1000000.
        rate_max_percent: `iocost.rate_max_percent`, 10000; 1 to 10000.
        rate_min_percent: `iocost.rate_min_percent`, 1; 1 to 10000.
        rate_step_percent: `iocost.rate_step_percent`, 3; 0 to 100.
        read_latency_us: `iocost.read_latency_us`, 75000; 1 to 1000000.
        read_percent: `iocost.read_percent`, 95; 0 to 100.
        saved_percent: `iocost.saved_percent`, 50; 0 to 100.
        wait_percent: `iocost.wait_percent`, 50; 0 to 100.
        weight_map: `iocost.weight_map`, linear-high0; linear-high0, linear-high7, openvz, cfq-slice, bfq.
        write_latency_us: `iocost.write_latency_us`, 150000; 1 to 1000000.
        write_percent: `iocost.write_percent`, 95; 0 to 100.
    """
    return Scheduler("iocost-wide", given("iocost-wide", locals()))


def iocost(
    *,
    period_ms: int | None = None,
    rate_max_percent: int | None = None,
    rate_min_percent: int | None = None,
    rate_step_percent: int | None = None,
    read_latency_us: int | None = None,
    read_percent: int | None = None,
    saved_percent: int | None = None,
    wait_percent: int | None = None,
    weight_map: str | None = None,
    write_latency_us: int | None = None,
    write_percent: int | None = None,
) -> Scheduler:
    """In the manner of Linux's io.cost: shares by what requests cost, in virtual time.

    Args:
        period_ms: `iocost.period_ms`, 100; 1 to 1000000.
        rate_max_percent: `iocost.rate_max_percent`, 150; 1 to 10000.
        rate_min_percent: `iocost.rate_min_percent`, 50; 1 to 10000.
        rate_step_percent: `iocost.rate_step_percent`, 3; 0 to 100.
        read_latency_us: `iocost.read_latency_us`, 75000; 1 to 1000000.
        read_percent: `iocost.read_percent`, 95; 0 to 100.
        saved_percent: `iocost.saved_percent`, 50; 0 to 100.
        wait_percent: `iocost.wait_percent`, 50; 0 to 100.
        weight_map: `iocost.weight_map`, linear-high0; linear-high0, linear-high7, openvz, cfq-slice, bfq.
        write_latency_us: `iocost.write_latency_us`, 150000; 1 to 1000000.
        write_percent: `iocost.write_percent`, 95; 0 to 100.
    """
    return Scheduler("iocost", given("iocost", locals()))


def iolatency(
    *,
    delay_max_ms: int | None = None,
    depth_max: int | None = None,
    missed_percent: int | None = None,
    recovery_requests: int | None = None,
    window_ms: int | None = None,
) -> Scheduler:
    """In the manner of Linux's io.latency: others are held back while a group misses its target.

    Args:
        delay_max_ms: `iolatency.delay_max_ms`, 1000; 1 to 1000000.
        depth_max: `iolatency.depth_max`, 128; 1 to 1000000.
        missed_percent: `iolatency.missed_percent`, 10; 0 to 100.
        recovery_requests: `iolatency.recovery_requests`, 1; 1 to 1000000.
        window_ms: `iolatency.window_ms`, 100; 1 to 1000000.
    """
    return Scheduler("iolatency", given("iolatency", locals()))


def kyber(
    *,
    batch_requests: int | None = None,
    discard_target_us: int | None = None,
    read_target_us: int | None = None,
    window_ms: int | None = None,
    window_requests: int | None = None,
    write_target_us: int | None = None,
) -> Scheduler:
    """Latency targets of reads and of writes, kept by how many are at the device.

    Args:
        batch_requests: `kyber.batch_requests`, 16; 1 to 10000000.
        discard_target_us: `kyber.discard_target_us`, 1000000; 1 to 10000000.
        read_target_us: `kyber.read_target_us`, 2000; 1 to 10000000.
        window_ms: `kyber.window_ms`, 100; 0 to 1000000.
        window_requests: `kyber.window_requests`, 32; 1 to 10000000.
        write_target_us: `kyber.write_target_us`, 10000; 1 to 10000000.
    """
    return Scheduler("kyber", given("kyber", locals()))


def mclock(
    *,
    anticipation_ms: int | None = None,
    at_limit: str | None = None,
    io_kib: int | None = None,
    weight_map: str | None = None,
) -> Scheduler:
    """mClock: a floor, a ceiling and a weight for each group, by tags.

    Args:
        anticipation_ms: `mclock.anticipation_ms`, 0; 0 to 1000000.
        at_limit: `mclock.at_limit`, wait; wait, allow.
        io_kib: `mclock.io_kib`, 256; 1 to 1000000.
        weight_map: `mclock.weight_map`, linear-high0; linear-high0, linear-high7, openvz, cfq-slice, bfq.
    """
    return Scheduler("mclock", given("mclock", locals()))


def mount_cfq(
    *,
    back_seek_max_kib: int | None = None,
    back_seek_penalty: int | None = None,
    fifo_expire_async_ms: int | None = None,
    fifo_expire_sync_ms: int | None = None,
    cfq_group_isolation: bool | None = None,
    key_offset: bool | None = None,
    low_latency: bool | None = None,
    quantum: int | None = None,
    queueing_seen: bool | None = None,
    seeky_idle_ms: int | None = None,
    serve_together: bool | None = None,
    slice_async_ms: int | None = None,
    slice_async_rq: int | None = None,
    slice_from_completion: bool | None = None,
    slice_idle_ms: int | None = None,
    slice_sync_ms: int | None = None,
    target_latency_ms: int | None = None,
    q1_residual_sign: bool | None = None,
    q2_unsigned_keys: bool | None = None,
    q3_async_budget_per_round: bool | None = None,
    q4_no_fifo_inheritance: bool | None = None,
    q5_first_request_seeks: bool | None = None,
    q6_queueing_latched: bool | None = None,
    q7_reference_is_driver: bool | None = None,
    q8_idle_while_busy: bool | None = None,
    async_depth_ramp: bool | None = None,
    async_in_flight: bool | None = None,
    async_share_global: bool | None = None,
    cgroup_groups: bool | None = None,
    cgroup_move: bool | None = None,
    class_trees: bool | None = None,
    clear_wait_on_kick: bool | None = None,
    close_8192: bool | None = None,
    close_by_default: bool | None = None,
    close_cooperators: bool | None = None,
    coop_distance_cap: bool | None = None,
    coop_flag_shared: bool | None = None,
    coop_merge: bool | None = None,
    coop_preempt_unlimited: bool | None = None,
    coop_skip_single: bool | None = None,
    coop_split: bool | None = None,
    deep_queues: bool | None = None,
    dispatch_one: bool | None = None,
    fifo_inheritance: bool | None = None,
    first_request_no_seek: bool | None = None,
    flash_history: bool | None = None,
    flash_never_idles: bool | None = None,
    flash_selects: bool | None = None,
    group_charge: bool | None = None,
    group_isolate_ops: bool | None = None,
    switches_group_isolation: bool | None = None,
    group_latency: bool | None = None,
    group_tree: bool | None = None,
    group_weight: bool | None = None,
    groups: bool | None = None,
    idle_class_alone: bool | None = None,
    idle_corner_a: bool | None = None,
    idle_corner_b: bool | None = None,
    idle_despite_seeks: bool | None = None,
    idle_last_of_class: bool | None = None,
    idle_when_drained: bool | None = None,
    keep_on_tree: bool | None = None,
    kick_for_large: bool | None = None,
    kick_when_busy: bool | None = None,
    last_idle_sync_only: bool | None = None,
    merge_across_groups: bool | None = None,
    must_dispatch: bool | None = None,
    must_dispatch_else: bool | None = None,
    next_after_any: bool | None = None,
    next_from_removed: bool | None = None,
    no_idle_past_slice: bool | None = None,
    no_mix_with_async: bool | None = None,
    noidle_arm_time: bool | None = None,
    noidle_flag: bool | None = None,
    noidle_no_2ms: bool | None = None,
    noidle_preempt: bool | None = None,
    noidle_preempt_fix: bool | None = None,
    noidle_single_group: bool | None = None,
    noidle_think: bool | None = None,
    noidle_trees: bool | None = None,
    noidle_window: bool | None = None,
    noidle_workload: bool | None = None,
    offset_by_tree_count: bool | None = None,
    one_close_preemption: bool | None = None,
    queueing_not_misjudged: bool | None = None,
    queueing_sampled: bool | None = None,
    queueing_tristate: bool | None = None,
    ramp_only_if_delayed: bool | None = None,
    real_time_not_preempted: bool | None = None,
    real_time_preempts: bool | None = None,
    residual_advances: bool | None = None,
    seek_history: bool | None = None,
    seek_per_queue: bool | None = None,
    seeky_think_limit: bool | None = None,
    signed_keys: bool | None = None,
    slice_scaling: bool | None = None,
    soft_quantum: bool | None = None,
    sole_queue_uncapped: bool | None = None,
    sole_queue_unlimited: bool | None = None,
    split_after_slice: bool | None = None,
    wait_busy: bool | None = None,
    wait_busy_corners: bool | None = None,
    wait_busy_simplify: bool | None = None,
    weight_update: bool | None = None,
    workload_by_key: bool | None = None,
    workload_expired_on_restore: bool | None = None,
) -> Scheduler:
    """The cfq of mounts: CFQ of Linux 2.6.25 without its quirks, set to suit a mount.

    Args:
        back_seek_max_kib: `cfq.back_seek_max_kib`, 16384; 0 to 4294967295.
        back_seek_penalty: `cfq.back_seek_penalty`, 2; 1 to 1000000.
        fifo_expire_async_ms: `cfq.fifo_expire_async_ms`, 250; 1 to 1000000.
        fifo_expire_sync_ms: `cfq.fifo_expire_sync_ms`, 125; 1 to 1000000.
        cfq_group_isolation: `cfq.group_isolation`, false; true or false.
        key_offset: `cfq.key_offset`, true; true or false.
        low_latency: `cfq.low_latency`, true; true or false.
        quantum: `cfq.quantum`, 4; 1 to 1000000.
        queueing_seen: `cfq.queueing_seen`, false; true or false.
        seeky_idle_ms: `cfq.seeky_idle_ms`, 8; 1 to 1000000.
        serve_together: `cfq.serve_together`, true; true or false.
        slice_async_ms: `cfq.slice_async_ms`, 40; 1 to 1000000.
        slice_async_rq: `cfq.slice_async_rq`, 2; 1 to 1000000.
        slice_from_completion: `cfq.slice_from_completion`, true; true or false.
        slice_idle_ms: `cfq.slice_idle_ms`, 8; 0 to 1000000.
        slice_sync_ms: `cfq.slice_sync_ms`, 100; 1 to 1000000.
        target_latency_ms: `cfq.target_latency_ms`, 300; 0 to 1000000.
        q1_residual_sign: `quirks.q1_residual_sign`, false; true or false.
        q2_unsigned_keys: `quirks.q2_unsigned_keys`, false; true or false.
        q3_async_budget_per_round: `quirks.q3_async_budget_per_round`, false; true or false.
        q4_no_fifo_inheritance: `quirks.q4_no_fifo_inheritance`, false; true or false.
        q5_first_request_seeks: `quirks.q5_first_request_seeks`, false; true or false.
        q6_queueing_latched: `quirks.q6_queueing_latched`, true; true or false.
        q7_reference_is_driver: `quirks.q7_reference_is_driver`, false; true or false.
        q8_idle_while_busy: `quirks.q8_idle_while_busy`, false; true or false.
        async_depth_ramp: `switches.async_depth_ramp`, false; true or false.
        async_in_flight: `switches.async_in_flight`, false; true or false.
        async_share_global: `switches.async_share_global`, false; true or false.
        cgroup_groups: `switches.cgroup_groups`, false; true or false.
        cgroup_move: `switches.cgroup_move`, false; true or false.
        class_trees: `switches.class_trees`, false; true or false.
        clear_wait_on_kick: `switches.clear_wait_on_kick`, false; true or false.
        close_8192: `switches.close_8192`, false; true or false.
        close_by_default: `switches.close_by_default`, false; true or false.
        close_cooperators: `switches.close_cooperators`, false; true or false.
        coop_distance_cap: `switches.coop_distance_cap`, false; true or false.
        coop_flag_shared: `switches.coop_flag_shared`, false; true or false.
        coop_merge: `switches.coop_merge`, false; true or false.
        coop_preempt_unlimited: `switches.coop_preempt_unlimited`, false; true or false.
        coop_skip_single: `switches.coop_skip_single`, false; true or false.
        coop_split: `switches.coop_split`, false; true or false.
        deep_queues: `switches.deep_queues`, false; true or false.
        dispatch_one: `switches.dispatch_one`, false; true or false.
        fifo_inheritance: `switches.fifo_inheritance`, false; true or false.
        first_request_no_seek: `switches.first_request_no_seek`, false; true or false.
        flash_history: `switches.flash_history`, false; true or false.
        flash_never_idles: `switches.flash_never_idles`, false; true or false.
        flash_selects: `switches.flash_selects`, false; true or false.
        group_charge: `switches.group_charge`, false; true or false.
        group_isolate_ops: `switches.group_isolate_ops`, false; true or false.
        switches_group_isolation: `switches.group_isolation`, false; true or false.
        group_latency: `switches.group_latency`, false; true or false.
        group_tree: `switches.group_tree`, false; true or false.
        group_weight: `switches.group_weight`, false; true or false.
        groups: `switches.groups`, false; true or false.
        idle_class_alone: `switches.idle_class_alone`, false; true or false.
        idle_corner_a: `switches.idle_corner_a`, false; true or false.
        idle_corner_b: `switches.idle_corner_b`, false; true or false.
        idle_despite_seeks: `switches.idle_despite_seeks`, false; true or false.
        idle_last_of_class: `switches.idle_last_of_class`, false; true or false.
        idle_when_drained: `switches.idle_when_drained`, false; true or false.
        keep_on_tree: `switches.keep_on_tree`, false; true or false.
        kick_for_large: `switches.kick_for_large`, false; true or false.
        kick_when_busy: `switches.kick_when_busy`, false; true or false.
        last_idle_sync_only: `switches.last_idle_sync_only`, false; true or false.
        merge_across_groups: `switches.merge_across_groups`, false; true or false.
        must_dispatch: `switches.must_dispatch`, false; true or false.
        must_dispatch_else: `switches.must_dispatch_else`, false; true or false.
        next_after_any: `switches.next_after_any`, false; true or false.
        next_from_removed: `switches.next_from_removed`, false; true or false.
        no_idle_past_slice: `switches.no_idle_past_slice`, false; true or false.
        no_mix_with_async: `switches.no_mix_with_async`, false; true or false.
        noidle_arm_time: `switches.noidle_arm_time`, false; true or false.
        noidle_flag: `switches.noidle_flag`, false; true or false.
        noidle_no_2ms: `switches.noidle_no_2ms`, false; true or false.
        noidle_preempt: `switches.noidle_preempt`, false; true or false.
        noidle_preempt_fix: `switches.noidle_preempt_fix`, false; true or false.
        noidle_single_group: `switches.noidle_single_group`, false; true or false.
        noidle_think: `switches.noidle_think`, false; true or false.
        noidle_trees: `switches.noidle_trees`, false; true or false.
        noidle_window: `switches.noidle_window`, false; true or false.
        noidle_workload: `switches.noidle_workload`, false; true or false.
        offset_by_tree_count: `switches.offset_by_tree_count`, false; true or false.
        one_close_preemption: `switches.one_close_preemption`, false; true or false.
        queueing_not_misjudged: `switches.queueing_not_misjudged`, false; true or false.
        queueing_sampled: `switches.queueing_sampled`, false; true or false.
        queueing_tristate: `switches.queueing_tristate`, false; true or false.
        ramp_only_if_delayed: `switches.ramp_only_if_delayed`, false; true or false.
        real_time_not_preempted: `switches.real_time_not_preempted`, false; true or false.
        real_time_preempts: `switches.real_time_preempts`, false; true or false.
        residual_advances: `switches.residual_advances`, false; true or false.
        seek_history: `switches.seek_history`, false; true or false.
        seek_per_queue: `switches.seek_per_queue`, false; true or false.
        seeky_think_limit: `switches.seeky_think_limit`, false; true or false.
        signed_keys: `switches.signed_keys`, false; true or false.
        slice_scaling: `switches.slice_scaling`, false; true or false.
        soft_quantum: `switches.soft_quantum`, false; true or false.
        sole_queue_uncapped: `switches.sole_queue_uncapped`, false; true or false.
        sole_queue_unlimited: `switches.sole_queue_unlimited`, false; true or false.
        split_after_slice: `switches.split_after_slice`, false; true or false.
        wait_busy: `switches.wait_busy`, false; true or false.
        wait_busy_corners: `switches.wait_busy_corners`, false; true or false.
        wait_busy_simplify: `switches.wait_busy_simplify`, false; true or false.
        weight_update: `switches.weight_update`, false; true or false.
        workload_by_key: `switches.workload_by_key`, false; true or false.
        workload_expired_on_restore: `switches.workload_expired_on_restore`, false; true or false.
    """
    return Scheduler("mount-cfq", given("mount-cfq", locals()))


def mount_two_layer_cfq(
    *,
    back_seek_max_kib: int | None = None,
    back_seek_penalty: int | None = None,
    fifo_expire_async_ms: int | None = None,
    fifo_expire_sync_ms: int | None = None,
    group_isolation: bool | None = None,
    key_offset: bool | None = None,
    low_latency: bool | None = None,
    quantum: int | None = None,
    queueing_seen: bool | None = None,
    seeky_idle_ms: int | None = None,
    serve_together: bool | None = None,
    slice_async_ms: int | None = None,
    slice_async_rq: int | None = None,
    slice_from_completion: bool | None = None,
    slice_idle_ms: int | None = None,
    slice_sync_ms: int | None = None,
    target_latency_ms: int | None = None,
    d1_stale_group_records: bool | None = None,
    d3_unbounded_wait: bool | None = None,
    d4_nominal_turns: bool | None = None,
    idle: bool | None = None,
    inner_turn_resumes: bool | None = None,
    slice_ms: int | None = None,
    wait_max_ms: int | None = None,
    weight_map: str | None = None,
    q1_residual_sign: bool | None = None,
    q2_unsigned_keys: bool | None = None,
    q3_async_budget_per_round: bool | None = None,
    q4_no_fifo_inheritance: bool | None = None,
    q5_first_request_seeks: bool | None = None,
    q6_queueing_latched: bool | None = None,
    q7_reference_is_driver: bool | None = None,
    q8_idle_while_busy: bool | None = None,
) -> Scheduler:
    """The two-layer-cfq of mounts: that of 2008 without its defects, set to suit a mount.

    Args:
        back_seek_max_kib: `cfq.back_seek_max_kib`, 16384; 0 to 4294967295.
        back_seek_penalty: `cfq.back_seek_penalty`, 2; 1 to 1000000.
        fifo_expire_async_ms: `cfq.fifo_expire_async_ms`, 250; 1 to 1000000.
        fifo_expire_sync_ms: `cfq.fifo_expire_sync_ms`, 125; 1 to 1000000.
        group_isolation: `cfq.group_isolation`, false; true or false.
        key_offset: `cfq.key_offset`, true; true or false.
        low_latency: `cfq.low_latency`, true; true or false.
        quantum: `cfq.quantum`, 4; 1 to 1000000.
        queueing_seen: `cfq.queueing_seen`, false; true or false.
        seeky_idle_ms: `cfq.seeky_idle_ms`, 8; 1 to 1000000.
        serve_together: `cfq.serve_together`, true; true or false.
        slice_async_ms: `cfq.slice_async_ms`, 40; 1 to 1000000.
        slice_async_rq: `cfq.slice_async_rq`, 2; 1 to 1000000.
        slice_from_completion: `cfq.slice_from_completion`, true; true or false.
        slice_idle_ms: `cfq.slice_idle_ms`, 8; 0 to 1000000.
        slice_sync_ms: `cfq.slice_sync_ms`, 100; 1 to 1000000.
        target_latency_ms: `cfq.target_latency_ms`, 300; 0 to 1000000.
        d1_stale_group_records: `defects.d1_stale_group_records`, false; true or false.
        d3_unbounded_wait: `defects.d3_unbounded_wait`, false; true or false.
        d4_nominal_turns: `defects.d4_nominal_turns`, false; true or false.
        idle: `groups.idle`, true; true or false.
        inner_turn_resumes: `groups.inner_turn_resumes`, true; true or false.
        slice_ms: `groups.slice_ms`, 40; 1 to 1000000.
        wait_max_ms: `groups.wait_max_ms`, 60000; 1 to 1000000.
        weight_map: `groups.weight_map`, linear-high0; linear-high0, linear-high7, openvz, cfq-slice, bfq.
        q1_residual_sign: `quirks.q1_residual_sign`, false; true or false.
        q2_unsigned_keys: `quirks.q2_unsigned_keys`, false; true or false.
        q3_async_budget_per_round: `quirks.q3_async_budget_per_round`, false; true or false.
        q4_no_fifo_inheritance: `quirks.q4_no_fifo_inheritance`, false; true or false.
        q5_first_request_seeks: `quirks.q5_first_request_seeks`, false; true or false.
        q6_queueing_latched: `quirks.q6_queueing_latched`, true; true or false.
        q7_reference_is_driver: `quirks.q7_reference_is_driver`, false; true or false.
        q8_idle_while_busy: `quirks.q8_idle_while_busy`, false; true or false.
    """
    return Scheduler("mount-two-layer-cfq", given("mount-two-layer-cfq", locals()))


def mq_deadline(
    *,
    fifo_batch: int | None = None,
    front_merges: bool | None = None,
    read_expire_ms: int | None = None,
    write_expire_ms: int | None = None,
    writes_starved: int | None = None,
    prio_aging_expire_ms: int | None = None,
) -> Scheduler:
    """Batches in sector order with deadlines, for each class of I/O priorities.

    Args:
        fifo_batch: `deadline.fifo_batch`, 16; 1 to 1000000.
        front_merges: `deadline.front_merges`, true; true or false.
        read_expire_ms: `deadline.read_expire_ms`, 500; 0 to 1000000.
        write_expire_ms: `deadline.write_expire_ms`, 5000; 0 to 1000000.
        writes_starved: `deadline.writes_starved`, 2; 0 to 4294967295.
        prio_aging_expire_ms: `mq_deadline.prio_aging_expire_ms`, 10000; 1 to 1000000.
    """
    return Scheduler("mq-deadline", given("mq-deadline", locals()))


def noop(
) -> Scheduler:
    """First come, first served.
    """
    return Scheduler("noop")


def shares(
    *,
    forgiven_us: int | None = None,
    latency_goal_us: int | None = None,
    weight_map: str | None = None,
) -> Scheduler:
    """In Seastar's manner: shares of what the device can do within a latency goal.

    Args:
        forgiven_us: `shares.forgiven_us`, 5000; 0 to 1000000.
        latency_goal_us: `shares.latency_goal_us`, 750; 1 to 1000000.
        weight_map: `shares.weight_map`, linear-high0; linear-high0, linear-high7, openvz, cfq-slice, bfq.
    """
    return Scheduler("shares", given("shares", locals()))


def token_bucket(
    *,
    slice_ms: int | None = None,
) -> Scheduler:
    """Rate limits of groups as leaky buckets, otherwise first come, first served.

    Args:
        slice_ms: `token_bucket.slice_ms`, 0; 0 to 1000000.
    """
    return Scheduler("token-bucket", given("token-bucket", locals()))


def two_layer_cfq(
    *,
    back_seek_max_kib: int | None = None,
    back_seek_penalty: int | None = None,
    fifo_expire_async_ms: int | None = None,
    fifo_expire_sync_ms: int | None = None,
    group_isolation: bool | None = None,
    key_offset: bool | None = None,
    low_latency: bool | None = None,
    quantum: int | None = None,
    queueing_seen: bool | None = None,
    seeky_idle_ms: int | None = None,
    serve_together: bool | None = None,
    slice_async_ms: int | None = None,
    slice_async_rq: int | None = None,
    slice_from_completion: bool | None = None,
    slice_idle_ms: int | None = None,
    slice_sync_ms: int | None = None,
    target_latency_ms: int | None = None,
    d1_stale_group_records: bool | None = None,
    d3_unbounded_wait: bool | None = None,
    d4_nominal_turns: bool | None = None,
    idle: bool | None = None,
    inner_turn_resumes: bool | None = None,
    slice_ms: int | None = None,
    wait_max_ms: int | None = None,
    weight_map: str | None = None,
    q1_residual_sign: bool | None = None,
    q2_unsigned_keys: bool | None = None,
    q3_async_budget_per_round: bool | None = None,
    q4_no_fifo_inheritance: bool | None = None,
    q5_first_request_seeks: bool | None = None,
    q6_queueing_latched: bool | None = None,
    q7_reference_is_driver: bool | None = None,
    q8_idle_while_busy: bool | None = None,
) -> Scheduler:
    """Two-layer CFQ of 2008: groups take turns, each a whole CFQ inside its turn.

    Args:
        back_seek_max_kib: `cfq.back_seek_max_kib`, 16384; 0 to 4294967295.
        back_seek_penalty: `cfq.back_seek_penalty`, 2; 1 to 1000000.
        fifo_expire_async_ms: `cfq.fifo_expire_async_ms`, 250; 1 to 1000000.
        fifo_expire_sync_ms: `cfq.fifo_expire_sync_ms`, 125; 1 to 1000000.
        group_isolation: `cfq.group_isolation`, false; true or false.
        key_offset: `cfq.key_offset`, true; true or false.
        low_latency: `cfq.low_latency`, true; true or false.
        quantum: `cfq.quantum`, 4; 1 to 1000000.
        queueing_seen: `cfq.queueing_seen`, false; true or false.
        seeky_idle_ms: `cfq.seeky_idle_ms`, 2; 1 to 1000000.
        serve_together: `cfq.serve_together`, false; true or false.
        slice_async_ms: `cfq.slice_async_ms`, 40; 1 to 1000000.
        slice_async_rq: `cfq.slice_async_rq`, 2; 1 to 1000000.
        slice_from_completion: `cfq.slice_from_completion`, true; true or false.
        slice_idle_ms: `cfq.slice_idle_ms`, 8; 0 to 1000000.
        slice_sync_ms: `cfq.slice_sync_ms`, 100; 1 to 1000000.
        target_latency_ms: `cfq.target_latency_ms`, 0; 0 to 1000000.
        d1_stale_group_records: `defects.d1_stale_group_records`, true; true or false.
        d3_unbounded_wait: `defects.d3_unbounded_wait`, true; true or false.
        d4_nominal_turns: `defects.d4_nominal_turns`, true; true or false.
        idle: `groups.idle`, true; true or false.
        inner_turn_resumes: `groups.inner_turn_resumes`, false; true or false.
        slice_ms: `groups.slice_ms`, 80; 1 to 1000000.
        wait_max_ms: `groups.wait_max_ms`, 5000; 1 to 1000000.
        weight_map: `groups.weight_map`, linear-high0; linear-high0, linear-high7, openvz, cfq-slice, bfq.
        q1_residual_sign: `quirks.q1_residual_sign`, true; true or false.
        q2_unsigned_keys: `quirks.q2_unsigned_keys`, true; true or false.
        q3_async_budget_per_round: `quirks.q3_async_budget_per_round`, true; true or false.
        q4_no_fifo_inheritance: `quirks.q4_no_fifo_inheritance`, true; true or false.
        q5_first_request_seeks: `quirks.q5_first_request_seeks`, true; true or false.
        q6_queueing_latched: `quirks.q6_queueing_latched`, true; true or false.
        q7_reference_is_driver: `quirks.q7_reference_is_driver`, true; true or false.
        q8_idle_while_busy: `quirks.q8_idle_while_busy`, true; true or false.
    """
    return Scheduler("two-layer-cfq", given("two-layer-cfq", locals()))
