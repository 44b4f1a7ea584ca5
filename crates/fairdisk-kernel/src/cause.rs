//! Why settings do nothing, or something else than they say.

use crate::findings::Severity;
use crate::units::{io_weight_for_bfq, is_meant_for_bfq, unit_at};
use serde::Serialize;

/// Why a setting is not in force. Sources: Documentation/admin-guide/cgroup-v2.rst and
/// cgroup-v1/blkio-controller.rst, Documentation/block/bfq-iosched.rst and ioprio.rst,
/// systemd.resource-control(5).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "cause", rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the words of each cause say what its parts are")]
pub enum Cause {
    /// Weights, but neither BFQ nor io.cost.
    WeightsUnheeded { disk: String, scheduler: String, groups: usize, has_cost: bool },
    /// `io.weight` under BFQ, or `io.bfq.weight` under io.cost.
    OtherWeight { disk: String, by: String, heeded_file: String, weight: u64 },
    /// The weight that systemd made for BFQ of another.
    SystemdScale { asked: u64, made: u64, file: String },
    /// A weight for a device that does not go by weights, while another of its stack does.
    WeightOfOtherDisk { device: String, disk: String, number: String, weight: u64, file: String },
    /// BFQ and io.cost on one disk.
    BfqAndCost { disk: String, number: String, file: String },
    /// io.cost with a model that nobody measured.
    CostUnmeasured { disk: String, number: String },
    /// I/O priorities under a scheduler that has none.
    IoniceUnheeded { disk: String, scheduler: String, threads: usize },
    /// Levels under a scheduler that goes by classes only.
    LevelUnheeded { disk: String, threads: usize },
    /// A limit or weight on a part of a disk.
    OnPartition { device: String, disk: String },
    /// A setting for a disk that is not there.
    DiskGone { device: String },
    /// A group that has no share because one above does not hand on `io`.
    ParentWithoutIo { group: String, parent: String, has_tasks: bool },
    /// A group of version 2 while version 1 has the controller.
    VersionOneHasIo { group: Option<String>, mount: String },
    /// A setting of a user's unit, whose manager has no `io`.
    NotHandedToUsers { unit: String, key: String },
    /// What a unit file asks for is not in its group.
    NotInForce { unit: String, key: String, file: String },
    /// Buffered writes on a file system that charges the top group.
    WritebackOfTop { file_system: String, at: String, groups: usize },
    /// Buffered writes under version 1.
    WritebackOfVersionOne { groups: usize, has_limit: bool },
    /// Buffered writes of a group without the memory controller.
    WritebackWithoutMemory { group: String, to_hand_on: Vec<String> },
    /// A latency target, and a kernel without `io.latency`.
    LatencyUnsupported { unit: String, kernel: String },
    /// A scheduler that goes by weights above a disk that does not.
    SchedulerAbove { upper: String, disk: String, scheduler: String },
    /// A path that has no disk.
    NoDisk { at: String, file_system: String },
}

/// The command that gives a disk the scheduler BFQ.
fn to_bfq(disk: &str) -> String {
    format!("echo bfq > /sys/block/{disk}/queue/scheduler")
}

fn some(count: usize, one: &str, more: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {more}") }
}

impl Cause {
    pub(crate) fn severity(&self) -> Severity {
        match self {
            Self::WeightsUnheeded { .. }
            | Self::OtherWeight { .. }
            | Self::WeightOfOtherDisk { .. }
            | Self::IoniceUnheeded { .. }
            | Self::DiskGone { .. }
            | Self::ParentWithoutIo { .. }
            | Self::VersionOneHasIo { group: Some(_), .. }
            | Self::NotHandedToUsers { .. }
            | Self::NotInForce { .. }
            | Self::LatencyUnsupported { .. } => Severity::DoesNothing,
            Self::SystemdScale { asked, .. } if is_meant_for_bfq(*asked) => Severity::Note,
            Self::SystemdScale { .. }
            | Self::BfqAndCost { .. }
            | Self::CostUnmeasured { .. }
            | Self::OnPartition { .. } => Severity::DoesSomethingElse,
            Self::LevelUnheeded { .. }
            | Self::WritebackOfTop { .. }
            | Self::WritebackOfVersionOne { has_limit: true, .. }
            | Self::WritebackWithoutMemory { .. }
            | Self::SchedulerAbove { .. } => Severity::DoesAPart,
            Self::VersionOneHasIo { group: None, .. }
            | Self::WritebackOfVersionOne { .. }
            | Self::NoDisk { .. } => Severity::Note,
        }
    }

    /// The cause in words.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::WeightsUnheeded { disk, scheduler, groups, .. } => format!(
                "The weights of {} do nothing on {disk}: only BFQ and io.cost go by weights, but \
                 its scheduler is {scheduler} and io.cost is off.",
                some(*groups, "group", "groups")
            ),
            Self::OtherWeight { disk, by, heeded_file, .. } => {
                let name = heeded_file.rsplit('/').next().unwrap_or_default();
                format!("The weight does nothing on {disk}: {by} goes by {name} alone.")
            }
            Self::SystemdScale { asked, made, .. } if is_meant_for_bfq(*asked) => {
                format!("The weight under BFQ is {made}: systemd makes that of IOWeight={asked}.")
            }
            Self::SystemdScale { asked, made, .. } => format!(
                "The weight under BFQ is {made} and not {asked}: systemd squeezes 100 to 10000 \
                 into BFQ's 100 to 1000, so that IOWeight=200 and 300 become 109 and 118. Groups \
                 with the usual 100 get more than their part."
            ),
            Self::WeightOfOtherDisk { device, disk, .. } => format!(
                "The weight for {device} does nothing: {device} does not go by weights; {disk}, \
                 which has the same I/O, does."
            ),
            Self::BfqAndCost { disk, .. } => format!(
                "BFQ and io.cost are both on for {disk}: each shares the disk by a weight of its \
                 own, and what one lets through the other holds back."
            ),
            Self::CostUnmeasured { disk, .. } => format!(
                "io.cost is on for {disk} with the kernel's model for disks of its kind: costs \
                 that nobody has measured on this disk, so that shares follow another disk's costs."
            ),
            Self::OnPartition { device, disk } => format!(
                "The setting for {device} is about a partition: the kernel has limits and weights \
                 for whole disks, so that it is refused, or holds for all of {disk}."
            ),
            Self::DiskGone { device } => {
                format!("The setting for {device} does nothing: there is no such disk.")
            }
            Self::WritebackOfTop { .. }
            | Self::WritebackOfVersionOne { .. }
            | Self::WritebackWithoutMemory { .. } => self.words_of_writeback(),
            _ => self.words_of_others(),
        }
    }

    fn words_of_writeback(&self) -> String {
        match self {
            Self::WritebackOfTop { file_system, at, groups } => format!(
                "Buffered writes below {at} belong to nobody: on {file_system} the kernel charges \
                 them to the top group, so that weights and limits of {} hold for reads and \
                 direct writes only.",
                some(*groups, "group", "groups")
            ),
            Self::WritebackOfVersionOne { groups, .. } => format!(
                "Buffered writes pass by the settings of {}: in version 1 of cgroups the kernel \
                 charges all of them to the top group.",
                some(*groups, "group", "groups")
            ),
            Self::WritebackWithoutMemory { group, to_hand_on } => format!(
                "Buffered writes of {group} are charged to a group above it: they are charged by \
                 memory, and {group} has `io` without `memory`{}.",
                if to_hand_on.is_empty() {
                    ", which version 2 does not have here at all"
                } else {
                    ""
                }
            ),
            _ => String::new(),
        }
    }

    fn words_of_others(&self) -> String {
        match self {
            Self::IoniceUnheeded { disk, scheduler, threads } => format!(
                "The I/O priorities of {} do nothing on {disk}: its scheduler {scheduler} has \
                 none. BFQ goes by classes and levels, mq-deadline by classes (since Linux 5.14).",
                some(*threads, "thread", "threads")
            ),
            Self::LevelUnheeded { disk, threads } => format!(
                "The levels of {} do nothing on {disk}: mq-deadline goes by the classes real-time, \
                 best-effort and idle only.",
                some(*threads, "thread", "threads")
            ),
            Self::ParentWithoutIo { group, parent, has_tasks } => {
                let tasks = " It cannot while processes are in itself: they must go to a group \
                             below it first.";
                format!(
                    "{group} has no share of its own: {parent} does not hand the controller `io` \
                     on to the groups below it.{}",
                    if *has_tasks { tasks } else { "" }
                )
            }
            Self::VersionOneHasIo { group, mount } => {
                let who = group.as_deref().map_or_else(
                    || "Groups of version 2 have no I/O settings".to_owned(),
                    |group| format!("{group} has no I/O settings"),
                );
                format!(
                    "{who}: version 1 of cgroups has the controller, mounted as `blkio` at {mount}."
                )
            }
            Self::NotHandedToUsers { unit, key } => format!(
                "{key} of {unit} does nothing: a user's service manager has only the controllers \
                 that are delegated to it, and `io` is not among them by default."
            ),
            Self::NotInForce { unit, key, file } => {
                format!("{key} of {unit} is not in force: its group does not have it in {file}.")
            }
            Self::LatencyUnsupported { unit, kernel } => format!(
                "The latency target of {unit} does nothing: Linux {kernel} here is built without \
                 io.latency (CONFIG_BLK_CGROUP_IOLATENCY)."
            ),
            Self::SchedulerAbove { upper, disk, scheduler } => format!(
                "Weights share {upper} among its own users only: {disk} under it goes by no weights \
                 ({scheduler}), so that others who use {disk} directly are not held back."
            ),
            Self::NoDisk { at, file_system } => format!(
                "{at} has no disk: on {file_system} no scheduler, weight or limit of the kernel \
                 holds for it."
            ),
            _ => String::new(),
        }
    }

    /// The commands that mend it; none if the kernel has no way.
    pub(crate) fn mend(&self) -> Vec<String> {
        match self {
            Self::WeightsUnheeded { disk, has_cost, .. } => {
                let cost = format!("fairdisk calibrate /dev/{disk} --reads-only --for io.cost");
                [to_bfq(disk)].into_iter().chain(has_cost.then_some(cost)).collect()
            }
            Self::OtherWeight { heeded_file, weight, .. } => {
                vec![format!("echo {weight} > {heeded_file}")]
            }
            Self::SystemdScale { asked, .. } if is_meant_for_bfq(*asked) => Vec::new(),
            Self::SystemdScale { asked, file, .. } => {
                // What is written to a unit's group is gone when systemd writes there again.
                let unit = file.rsplit_once('/').and_then(|(directory, _)| unit_at(directory));
                vec![match unit {
                    Some(unit) => {
                        let weight = io_weight_for_bfq(*asked);
                        format!("systemctl set-property {unit} IOWeight={weight}")
                    }
                    None => format!("echo {asked} > {file}"),
                }]
            }
            Self::WeightOfOtherDisk { number, weight, file, .. } => {
                vec![format!("echo '{number} {weight}' > {file}")]
            }
            Self::IoniceUnheeded { disk, .. }
            | Self::LevelUnheeded { disk, .. }
            | Self::SchedulerAbove { disk, .. } => vec![to_bfq(disk)],
            Self::BfqAndCost { disk, number, file } => vec![
                format!("echo '{number} enable=0' > {file}"),
                format!("echo none > /sys/block/{disk}/queue/scheduler"),
            ],
            Self::CostUnmeasured { disk, .. } => {
                vec![format!("fairdisk calibrate /dev/{disk} --reads-only --for io.cost")]
            }
            Self::OnPartition { disk, .. } => vec![format!("lsblk /dev/{disk}")],
            Self::DiskGone { .. } => vec!["lsblk -o NAME,MAJ:MIN".to_owned()],
            _ => self.mend_of_trees(),
        }
    }

    /// The commands that mend what groups, units and buffered writes lack.
    fn mend_of_trees(&self) -> Vec<String> {
        match self {
            Self::ParentWithoutIo { parent, has_tasks, .. } => {
                let own = format!("{parent}/own");
                let away = format!(
                    "mkdir {own} && for pid in $(cat {parent}/cgroup.procs); \
                     do echo $pid > {own}/cgroup.procs; done"
                );
                let hand_on = format!("echo +io > {parent}/cgroup.subtree_control");
                has_tasks.then_some(away).into_iter().chain([hand_on]).collect()
            }
            Self::VersionOneHasIo { mount, .. } => vec![
                format!("umount {mount}  # when no group is left in it"),
                "systemd.unified_cgroup_hierarchy=1  # or on the kernel's command line".to_owned(),
            ],
            Self::NotHandedToUsers { .. } => {
                let directory = "/etc/systemd/system/user@.service.d";
                let text = r"[Service]\nDelegate=cpu cpuset io memory pids\n";
                vec![
                    format!("mkdir -p {directory}; printf '{text}' > {directory}/delegate.conf"),
                    "systemctl daemon-reload  # and log in again".to_owned(),
                ]
            }
            Self::NotInForce { unit, .. } => {
                vec![format!("systemctl daemon-reload && systemctl restart {unit}")]
            }
            Self::WritebackWithoutMemory { to_hand_on, .. } => {
                let hand_on =
                    |group: &String| format!("echo +memory > {group}/cgroup.subtree_control");
                to_hand_on.iter().map(hand_on).collect()
            }
            // The kernel has no way; a mount of Fairdisk charges writers.
            Self::WritebackOfTop { at, .. } => {
                vec![format!("fairdisk mount {at} /mnt  # and write there")]
            }
            Self::WritebackOfVersionOne { .. } => {
                vec![
                    "systemd.unified_cgroup_hierarchy=1  # on the kernel's command line".to_owned(),
                ]
            }
            _ => Vec::new(),
        }
    }
}
