//! What changes of groups, tasks and the device an elevator is told.

use crate::cost::CostModel;
use crate::qos::Qos;
use crate::request::{GroupId, IoPrio, TaskId};
use crate::share::Share;
use crate::time::Span;

/// A change to a group, a task or the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// A group has been created.
    GroupAdded {
        /// The group.
        group: GroupId,
        /// The group's share.
        share: Share,
    },
    /// A group's share has changed.
    GroupShare {
        /// The group.
        group: GroupId,
        /// The group's new share.
        share: Share,
    },
    /// A group has been nested in another group, or moved out to the top level. A nested group's
    /// share is a part of what its parent gets. Without this change a group is at the top level,
    /// beside the root group. The engine refuses to nest a group in itself, at any depth.
    GroupParent {
        /// The inner group.
        group: GroupId,
        /// The parent group; `None` for the top level.
        parent: Option<GroupId>,
    },
    /// A group's floor, ceiling or latency target has changed.
    GroupQos {
        /// The group.
        group: GroupId,
        /// The group's new quality of service.
        qos: Qos,
    },
    /// A group's idle wait has changed: how long the disk is kept for the group while it has
    /// nothing queued.
    GroupIdle {
        /// The group.
        group: GroupId,
        /// The longest wait; zero disables it, `None` restores the elevator's own setting.
        idle: Option<Span>,
    },
    /// A group has been removed. Its queued requests are still served; nothing new arrives from it.
    /// No other group is nested in it any more.
    GroupRemoved {
        /// The group.
        group: GroupId,
    },
    /// A task now submits for another group. Its queued requests stay where they are.
    TaskMoved {
        /// The task.
        task: TaskId,
        /// The task's new group.
        group: GroupId,
    },
    /// A task's I/O priority has changed.
    TaskPriority {
        /// The task.
        task: TaskId,
        /// The task's new priority.
        ioprio: IoPrio,
    },
    /// A task has exited; nothing new arrives from it.
    TaskExited {
        /// The task.
        task: TaskId,
    },
    /// The number of requests the device accepts at once has changed. Above one, the device serves
    /// several requests together faster than one after another. From then on it is the depth of the
    /// cost model too.
    Depth {
        /// The number of requests; at least 1.
        depth: u32,
    },
    /// Whether the device has a moving head. Without this change it is taken to have one.
    Rotational {
        /// Whether the device has a moving head.
        rotational: bool,
    },
    /// The device's cost model, for elevators that charge requests by cost.
    Costs(CostModel),
}
