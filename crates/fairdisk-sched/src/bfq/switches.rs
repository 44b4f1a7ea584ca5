//! The changes that BFQ's revisions after BFQ-v0 consist of, each as a switch. Every combination is
//! valid; a switch whose prerequisites are off does nothing.
//!
//! They are made from the descriptions of the commits; docs/bfq.md says what is assumed.

use crate::switches::{Switch, switches};

switches! {
    "bfq-v0" then "bfq-4.12", "bfq-4.16", "bfq-4.20", "bfq-5.1", "bfq-5.3", "bfq-6.2";

    Some("bfq-4.12") => {
        budget_feedback "" "54b604567fbf" "Paolo Valente" "4.12-rc1" []
            "a queue that uses up its budget gets twice as much, not a fixed step more";
        write_overcharge "" "c074170e6599 (1)" "Paolo Valente" "4.12-rc1" []
            "asynchronous requests cost ten times their sectors";
        slow_by_time "" "c074170e6599 (2)" "Paolo Valente" "4.12-rc1" []
            "a slow queue is charged for its time, not its whole budget";
        interactive_raising "" "44e44a1b329e" "Paolo Valente" "4.12-rc1" []
            "with low_latency the weight of a task that is new or was idle for long is raised";
        soft_real_time "" "77b7dcead3f0" "Paolo Valente" "4.12-rc1" []
            "with low_latency it is raised more for a task that asks for little, and not at once";
        raised_keep_device "" "bcd5642607ab" "Paolo Valente" "4.12-rc1" []
            "a queue with a raised weight is waited for on every device";
        raised_first "" "cfd69712a101" "Paolo Valente" "4.12-rc1" []
            "while weights are raised, others are not waited for and their writes cost double";
        seeky_in_symmetry "" "1de0c4cd9ea6" "Arianna Avanzini" "4.12-rc1" []
            "the wait for a queue that seeks is short only if all queues are due the same";
        flash_in_symmetry "" "bf2b79e7c4b3" "Paolo Valente" "4.12-rc1" []
            "no wait on flash that queues commands if all queues are due the same";
        random_in_symmetry "" "e01eff01d5b9" "Paolo Valente" "4.12-rc1" []
            "no wait for a queue that seeks on a device that queues, if all are due the same";
    }
    Some("bfq-4.16") => {
        raising_limit "" "8a8747dc01ce" "Paolo Valente" "4.16-rc1" [interactive_raising]
            "an interactive task's weight is raised for 110,000 sectors at most";
    }
    Some("bfq-4.20") => {
        injection "" "d0edc2473be9" "Paolo Valente" "4.20-rc1" []
            "on flash that queues, others are served while a queue that seeks is waited for";
        write_overcharge_3 "" "d5801088a7bd" "Paolo Valente" "4.20-rc1" [write_overcharge]
            "asynchronous requests cost three times their sectors";
        groups_asymmetric "" "2d29c9f89fcd, ba7aeae5539c" "Federico Motta, Paolo Valente"
            "4.20-rc1" []
            "queues of any group that wants the disk are not due the same";
    }
    Some("bfq-5.1") => {
        overcharge_in_symmetry "" "02a6d787f4af" "Paolo Valente" "5.1-rc1" [write_overcharge]
            "asynchronous requests cost more only if all queues are due the same";
    }
    Some("bfq-5.3") => {
        weight_preempts "" "96a291c38c32" "Paolo Valente" "5.3-rc1" []
            "a queue of a greater weight takes the disk at once from one of a smaller";
    }
    Some("bfq-6.2") => {
        one_group_symmetric "" "71f8ca77cb" "Yu Kuai" "6.2-rc1" [groups_asymmetric]
            "queues of one group may be due the same while no other group has any";
    }
}
