//! The changes that CFQ's revisions after 2.6.25 consist of, each as a switch (spec: cfq, sections
//! 3.1, 4.13, 4.14, 5). Every combination is valid; a switch whose prerequisites are off does
//! nothing.
//!
//! Changes without an effect here have no switch: renaming, moving, tracing and cleaning up (B08,
//! F2 and the unnamed entries of section 5), behaviour when memory runs out (B15), and the
//! accounting of a forced dispatch (G7), which here ends the scheduler's life.

use crate::switches::{Switch, switches};

switches! {
    "cfq-2.6.25" then "cfq-2.6.27", "cfq-2.6.28", "cfq-2.6.29", "cfq-2.6.30", "cfq-2.6.32",
    "cfq-2.6.33-rc1", "cfq-2.6.33", "cfq-2.6.34";

    Some("cfq-2.6.27") => {
        idle_when_drained "B01" "7b679138b32" "Jens Axboe" "2.6.27-rc1" []
            "no idle wait while any request is in the driver";
    }
    Some("cfq-2.6.28") => {
        queueing_sampled "B02" "45333d5a312" "Carroll" "2.6.28-rc1" []
            "whether the device queues commands is sampled under load, and believed to begin with";
        flash_never_idles "B03" "a68bbddba48, f7d7b7a7a3d" "Jens Axboe" "2.6.28-rc1" []
            "no idle wait on a non-rotational device that queues commands";
    }
    Some("cfq-2.6.29") => {
        sole_queue_uncapped "B04" "30e0dc28bff" "Jens Axboe" "2.6.29-rc1" []
            "a queue alone may have any number of requests at the device (until B07)";
        real_time_preempts "B05" "3a9a3f6cc55" "Shah" "2.6.29-rc4" []
            "a real-time request takes the disk from a queue that is not real-time";
    }
    Some("cfq-2.6.30") => {
        noidle_flag "B06" "aeb6fafb8fa" "Jens Axboe" "2.6.30-rc1" []
            "no idle wait after a request whose submitter said that it will not be back soon";
        dispatch_one "B07" "2f5cb7381b7" "Jens Axboe" "2.6.30-rc1" []
            "one request each time the driver asks; asynchronous budget counted over the slice";
        must_dispatch "B09" "b029195dda0" "Jens Axboe" "2.6.30-rc1" []
            "a request that ends an idle wait is served in this slice, but does not run the queue";
        kick_for_large "B10" "d6ceb25e8d8" "Jens Axboe" "2.6.30-rc3" [must_dispatch]
            "it does run the queue if it is larger than a page";
        kick_when_busy "B11" "2d870722965" "Jens Axboe" "2.6.30-rc3" [must_dispatch]
            "it does run the queue if other queues are busy";
        close_cooperators "B12" "a36e71f996e, 3ac6c9f8a66" "Jens Axboe, Jeff Moyer" "2.6.30-rc3" []
            "instead of waiting the disk goes to a queue with a request close to the head";
        first_request_no_seek "B13" "4d00aa47e23" "Jeff Moyer" "2.6.30-rc4" []
            "a task's first request counts as no seek";
        close_by_default "B14" "04dc6e71a28" "Jeff Moyer" "2.6.30-rc4" []
            "without enough samples 8192 sectors count as close";
    }
    Some("cfq-2.6.32") => {
        no_mix_with_async "B16" "5ad531db6e0" "Jens Axboe" "2.6.32-rc1" []
            "a queue that is waited for starts nothing while asynchronous requests are in the driver";
        next_after_any "B17" "06d2188644c" "Jeff Moyer" "2.6.32-rc1" []
            "every dispatch chooses the next request anew, also one by deadline";
        idle_despite_seeks "B18" "1d2235152dc, 963b72fc666" "Jens Axboe, Vivek Goyal" "2.6.32-rc3"
            [] "with low_latency a task that seeks is waited for, whether or not commands queue";
        async_depth_ramp "B19" "365722bb917, 8e296755557, 61f0c1dcaaa, e00c54c36ac"
            "Vivek Goyal, Jens Axboe" "2.6.32-rc3" []
            "with low_latency the depth of asynchronous queues grows with the time without sync";
        fifo_inheritance "B20" "30996f40bff" "Jens Axboe" "2.6.32-rc5" []
            "a merged request takes the older one's deadline and place in the FIFO (quirk Q4)";
        signed_keys "B21" "48e025e63ac" "Corrado Zoccolo" "2.6.32-rc5" []
            "keys compare across the wrap; a preempting queue goes just before the first (quirk Q2)";
        residual_advances "B22" "b9c8946b192" "Jens Axboe" "2.6.32-rc5" []
            "the rest of a slice advances the next turn instead of delaying it (quirk Q1)";
        seeky_think_limit "B23" "ec60e4f6749" "Corrado Zoccolo" "2.6.32-rc5" []
            "a task that seeks is waited for only if it thinks no longer than 2 ms";
        no_idle_past_slice "B24" "355b659c874" "Corrado Zoccolo" "2.6.32-rc5" []
            "no idle wait if the task thinks longer than what is left of the slice";
        one_close_preemption "B25" "4b27e1bb442" "Shaohua Li" "2.6.32-rc7" [close_cooperators]
            "a queue that got the disk for being close does not take it for that again";
    }
    Some("cfq-2.6.33-rc1") => {
        seek_per_queue "" "b2c18e1e08a" "Jeff Moyer" "2.6.33-rc1" []
            "seeks are counted for each queue, not for each task";
        coop_merge "" "df5fe3e8e13" "Jeff Moyer" "2.6.33-rc1" [close_cooperators, seek_per_queue]
            "queues of tasks that read close to each other become one";
        coop_flag_shared "" "b3b6d0408c9" "Jeff Moyer" "2.6.33-rc1" [coop_merge]
            "a queue may get the disk for being close more than once in a turn";
        coop_split "" "e6c5bc737ab" "Jeff Moyer" "2.6.33-rc1" [coop_merge]
            "a shared queue that seeks for a second is split; what seeks does not cooperate";
        queueing_not_misjudged "" "1a1238a7dd4" "Shaohua Li" "2.6.33-rc1" [queueing_sampled]
            "depth is not sampled while the queue being served is waited for and has few requests";
        slice_scaling "" "5db5d64277b" "Corrado Zoccolo" "2.6.33-rc1" []
            "with low_latency slices shrink so that all busy queues have a turn in 300 ms";
        class_trees "" "c0324a020e5" "Corrado Zoccolo" "2.6.33-rc1" []
            "a service tree for each class; the class is chosen first";
        idle_last_of_class "" "a6d44e982d3" "Corrado Zoccolo" "2.6.33-rc1" []
            "the last queue of its tree is waited for, whatever its task does";
        noidle_trees "5.1a" "718eee0579b (a)" "Corrado Zoccolo" "2.6.33-rc1" [class_trees]
            "trees for asynchronous queues, queues not waited for, and queues waited for";
        noidle_workload "5.1b" "718eee0579b (b)" "Corrado Zoccolo" "2.6.33-rc1" [noidle_trees]
            "the trees of a class take turns in slices of their own";
        noidle_arm_time "5.1c" "718eee0579b (c)" "Corrado Zoccolo" "2.6.33-rc1" []
            "a task that seeks is waited for as long as any other";
        noidle_window "5.1d" "718eee0579b (d)" "Corrado Zoccolo" "2.6.33-rc1" []
            "a task that seeks is not waited for, whether or not low_latency is on";
        noidle_think "5.1e" "718eee0579b (e)" "Corrado Zoccolo" "2.6.33-rc1" [seeky_think_limit]
            "a task that seeks may think as long as any other";
        noidle_preempt "5.1f" "718eee0579b (f)" "Corrado Zoccolo" "2.6.33-rc1" [noidle_workload]
            "among queues not waited for, a new one takes the disk from the one being served";
        coop_preempt_unlimited "" "e00ef799719" "Jens Axboe" "2.6.33-rc1" [one_close_preemption]
            "any close request takes the disk from a queue being waited for";
        next_from_removed "" "cf7c25cf91f" "Corrado Zoccolo" "2.6.33-rc1" []
            "the next request is chosen by distance from the one being left (quirk Q7)";
        noidle_no_2ms "" "c16632bab1a" "Corrado Zoccolo" "2.6.33-rc1" [noidle_arm_time]
            "with more queues that are not waited for, too, a wait is slice_idle long";
        queueing_tristate "" "e459dd08f45" "Corrado Zoccolo" "2.6.33-rc1" [queueing_sampled]
            "whether commands queue is unknown to begin with; once seen it is believed for ever";
        noidle_preempt_fix "" "e4a229196a7" "Corrado Zoccolo" "2.6.33-rc1" [noidle_preempt]
            "it takes the disk only if it is the only one waiting there";
        deep_queues "" "76280aff1c7" "Corrado Zoccolo" "2.6.33-rc1" [noidle_window]
            "a queue that had four requests at once is waited for although it seeks";
        idle_corner_a "" "8e550632ccc (1)" "Corrado Zoccolo" "2.6.33-rc1" [idle_when_drained]
            "no idle wait while the queue itself, not any, has requests at the device";
        idle_corner_b "" "8e550632ccc (2)" "Corrado Zoccolo" "2.6.33-rc1" [noidle_workload]
            "all of a tree's round decides whether to wait at its end, not the last request";
        sole_queue_unlimited "" "474b18ccc26" "Shaohua Li" "2.6.33-rc1" [dispatch_one]
            "a queue alone may have any number of requests at the device";
        must_dispatch_else "" "bf791937102" "Vivek Goyal" "2.6.33-rc1" [must_dispatch]
            "a request that ends an idle wait outlasts the slice only if it does not run the queue";
        groups "" "cdb16e8f739" "Vivek Goyal" "2.6.33-rc1" []
            "trees belong to a group; queues are placed by the number of queues in it";
        keep_on_tree "" "f04a6424634" "Vivek Goyal" "2.6.33-rc1" []
            "an empty queue keeps its place and counts as busy while it has the disk";
        group_tree "" "1fa8f6d68b5" "Vivek Goyal" "2.6.33-rc1" [groups]
            "groups stand in line by what they have been charged";
        group_weight "" "25bc6b07767" "Vivek Goyal" "2.6.33-rc1" [group_tree]
            "a group is charged the less, the greater its weight; the root group's is 1000";
        group_latency "" "58ff82f34cd" "Vivek Goyal" "2.6.33-rc1" [group_tree]
            "the 300 ms of a round are split between groups by weight";
        group_charge "" "dae739ebc4c" "Vivek Goyal" "2.6.33-rc1" [group_tree]
            "a group is charged the time its queues use, and goes on where it was";
        cgroup_groups "" "25fb5169d4c" "Vivek Goyal" "2.6.33-rc1" [group_tree]
            "groups come from cgroups; asynchronous queues belong to the root group";
        group_isolate_ops "" "8682e1f15f2" "Vivek Goyal" "2.6.33-rc1" [groups]
            "no merging, cooperation or preemption between groups, but sync before async";
        cgroup_move "" "24610333d57" "Vivek Goyal" "2.6.33-rc1" [cgroup_groups]
            "a task that moves to another group leaves its queue behind";
        weight_update "" "f8d461d692c" "Vivek Goyal" "2.6.33-rc1" [cgroup_groups]
            "a change of weight takes effect at once";
        async_share_global "" "f26bd1f0a3a" "Vivek Goyal" "2.6.33-rc1" [noidle_workload, group_tree]
            "asynchronous queues have their part of all queues, and are charged whole slices";
        group_isolation "" "ae30c286553" "Vivek Goyal" "2.6.33-rc1" [noidle_trees, cgroup_groups]
            "unless isolation is asked for, queues not waited for go to the root group";
        noidle_single_group "" "c04645e592d" "Vivek Goyal" "2.6.33-rc1" [groups]
            "the only queue of a group is waited for, whatever its last request said";
        flash_selects "" "3c764b7a654" "Shaohua Li" "2.6.33-rc1" [idle_last_of_class]
            "on a non-rotational device that queues commands only the last of a tree is waited for";
        ramp_only_if_delayed "" "573412b2958" "Corrado Zoccolo" "2.6.33-rc1" [async_depth_ramp]
            "asynchronous depth grows with the time since a synchronous request was late";
        coop_skip_single "" "b9d8f4c73b1" "Gui Jianfeng" "2.6.33-rc1" [close_cooperators, groups]
            "the only queue of a group looks for none that is close";
        wait_busy "" "f75edf2dc82" "Vivek Goyal" "2.6.33-rc1" [groups]
            "the only queue of a group is waited for when its slice ends";
        wait_busy_simplify "" "c244bb50a9b" "Vivek Goyal" "2.6.33-rc1" [wait_busy]
            "that wait ends with what the queue has, not with what arrived";
        wait_busy_corners "" "7667aa06304, 82bbbf28db4" "Vivek Goyal" "2.6.33-rc1" [wait_busy]
            "it is waited for, too, if its slice is about to end, or ends before its requests do";
        clear_wait_on_kick "" "554554f60ad" "Gui Jianfeng" "2.6.33-rc1" [must_dispatch]
            "an arrival that runs the queue ends the idle wait in every respect";
        workload_expired_on_restore "" "66ae2919781" "Gui Jianfeng" "2.6.33-rc1"
            [noidle_workload, group_charge]
            "a group that comes back with nothing to go on with chooses anew";
    }
    Some("cfq-2.6.33") => {
        merge_across_groups "F1" "1db32c40600" "Vivek Goyal" "2.6.33" [group_isolate_ops]
            "merging does not look at the group of whoever asks";
        workload_by_key "F3" "65b32a573ee" "Vivek Goyal" "2.6.33" [noidle_workload]
            "a change of class keeps the turn of its tree, and prefers none";
        coop_distance_cap "F4" "2f7a2d89a8b" "Shaohua Li" "2.6.33" [close_cooperators]
            "what is further than 8192 sectors is not close enough to cooperate";
        real_time_not_preempted "F5" "875feb63b95" "Shah" "2.6.33" []
            "nothing but real-time takes the disk from a real-time queue";
        last_idle_sync_only "F6" "1efe8fe1c22" "Vivek Goyal" "2.6.33" [idle_last_of_class]
            "the last queue of a tree is waited for only if it is synchronous";
        split_after_slice "F7" "ae54abed636" "Shaohua Li" "2.6.33" [coop_split]
            "a shared queue that seeks is split after its slice, not after a second";
    }
    Some("cfq-2.6.34") => {
        seek_history "G1" "3dde36ddea3" "Corrado Zoccolo" "2.6.34-rc1" [seek_per_queue]
            "a queue seeks if more than 4 of its last 32 requests did, by more than 800 sectors";
        flash_history "G2" "41647e7a913" "Corrado Zoccolo" "2.6.34-rc1" [seek_history]
            "on a non-rotational device what counts is requests below 32 KiB, not seeks";
        async_in_flight "G3" "53c583d2269" "Corrado Zoccolo" "2.6.34-rc1" [no_mix_with_async]
            "asynchronous requests keep a queue back until completed, once handed over";
        soft_quantum "G4" "abc3c744d0d" "Shaohua Li" "2.6.34-rc1" [dispatch_one]
            "half of the quantum, and all of it only while the slice allows";
        close_8192 "G5" "e9ce335df51" "Shaohua Li" "2.6.34" [seek_history]
            "what counts as close is 8192 sectors again, not 800";
        idle_class_alone "G6" "39c01b219fd" "Shah" "2.6.34" [close_cooperators]
            "queues of the idle class look for none that is close";
    }
    None => {
        offset_by_tree_count "" "3586e917f2c" "Gui Jianfeng" "reverted by 464191c65b8" [class_trees]
            "queues are placed by the number of queues in their tree";
    }
}
