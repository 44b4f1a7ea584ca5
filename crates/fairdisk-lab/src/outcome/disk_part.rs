//! What a group got of the disk.

use super::part;
use crate::compare::Parts;
use crate::run::{GroupRun, RunResult};
use fairdisk_core::Span;

/// What a group got of the disk. `compare`, `run`, `ctl` and `top` use the same names for it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DiskPart {
    /// Its part of the disk's work for all groups of the load, 0 to 1. On a real file, whose work
    /// is unknown, its part of the busy time. That of the root group comes on top.
    pub got: f64,
    /// The part that it is entitled to, 0 to 1; `None` where that is unknown.
    pub asked: Option<f64>,
    /// Its part of the disk's busy time, from one completion to the next, 0 to 1.
    pub time_share: f64,
}

impl DiskPart {
    /// What it got as a part of what it asked for: 1 if that is the same; `None` if what it asked
    /// for is unknown or nothing.
    #[must_use]
    pub fn got_of_asked(&self) -> Option<f64> {
        let Self { got, asked, .. } = *self;
        asked.and_then(|asked| Parts { asked, got, ..Parts::default() }.got_of_asked())
    }

    /// The part of the group that `find` selects in each of some runs.
    pub(super) fn of(runs: &[RunResult], find: &dyn Fn(&RunResult) -> &GroupRun) -> Self {
        let sum = |value: fn(&GroupRun) -> Span| -> f64 {
            runs.iter().map(|run| value(find(run)).as_ns() as f64).sum()
        };
        let time = |group: &GroupRun| group.device_time;
        let measure = measure(runs);
        let whole = runs.iter().flat_map(|run| &run.groups);
        let whole: f64 = whole.map(|group| measure(group).as_ns() as f64).sum();
        let all = runs.iter().flat_map(|run| run.groups.iter().chain([&run.root]));
        let busy: f64 = all.map(|group| time(group).as_ns() as f64).sum();
        Self { got: part(sum(measure), whole), asked: None, time_share: part(sum(time), busy) }
    }

    /// The sum with another group's.
    pub(super) fn with(self, other: Self) -> Self {
        Self {
            got: self.got + other.got,
            asked: self.asked.zip(other.asked).map(|(one, other)| one + other),
            time_share: self.time_share + other.time_share,
        }
    }
}

/// How the disk's time for a group is measured: as its work if the disk is simulated, else as the
/// time that it was busy.
fn measure(runs: &[RunResult]) -> fn(&GroupRun) -> Span {
    let groups = runs.iter().flat_map(|run| run.groups.iter().chain([&run.root]));
    match groups.into_iter().any(|group| group.work > Span::ZERO) {
        true => |group| group.work,
        false => |group| group.device_time,
    }
}

/// What each of `disks` disks did per second, that for journals included: as a part of what its
/// model says it can do, or, on a real file, of the time.
pub(super) fn load(runs: &[RunResult], disks: u32) -> f64 {
    let measure = measure(runs);
    let did = |run: &RunResult| -> u64 {
        run.groups.iter().chain([&run.root]).map(|group| measure(group).as_ns()).sum()
    };
    let ns: u64 = runs.iter().map(|run| run.elapsed.as_ns()).sum();
    part(runs.iter().map(did).sum::<u64>() as f64, ns as f64) / f64::from(disks)
}
