//! Which settings of groups and tasks a scheduler honours. It is told the others too, but ignores
//! them.

use fairdisk_core::{QosKey, Weight};

/// How deep groups may be nested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nesting {
    /// Nesting is not honoured: every group counts as a top-level group.
    #[default]
    None,
    /// A group that is nested deeper counts as if it were directly inside its outermost group.
    OneLevel,
    /// Groups are nested to any depth.
    Deep,
}

/// The settings that a scheduler honours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Honours {
    /// Weights and priorities of groups.
    pub shares: bool,
    /// The smallest and the largest weight that are told apart; weights beyond are clamped.
    pub weights: [u32; 2],
    /// How deep groups may be nested.
    pub nesting: Nesting,
    /// I/O priorities of tasks.
    pub priorities: bool,
    /// Idle waits per group: how long the disk is kept for a group that has nothing queued.
    pub idle: bool,
    /// Floors of groups, `Qos::floor`.
    pub floors: bool,
    /// Ceilings of groups, `Qos::ceiling`.
    pub ceilings: bool,
    /// Ceilings of reads and of writes alone, and bursts at a rate of their own,
    /// `Qos::read_ceiling`, `Qos::write_ceiling` and `Qos::peak`.
    pub shaped_ceilings: bool,
    /// Bursts of groups, `Qos::burst`: how far a group may run ahead of its ceiling.
    pub bursts: bool,
    /// Latency targets of groups, `Qos::latency_p99`.
    pub latency_targets: bool,
    /// Targets of groups for flushes, `Qos::fsync_p99`.
    pub flush_targets: bool,
    /// Whether the scheduler charges requests by a cost model and needs to be given one.
    pub costs: bool,
}

impl Honours {
    /// No setting is honoured.
    pub const NONE: Self = Self {
        shares: false,
        weights: [Weight::MIN, Weight::MAX],
        nesting: Nesting::None,
        priorities: false,
        idle: false,
        floors: false,
        ceilings: false,
        shaped_ceilings: false,
        bursts: false,
        latency_targets: false,
        flush_targets: false,
        costs: false,
    };

    /// Every setting of a group is honoured.
    pub const ALL: Self = Self {
        shares: true,
        weights: [Weight::MIN, Weight::MAX],
        nesting: Nesting::Deep,
        priorities: true,
        idle: true,
        floors: true,
        ceilings: true,
        shaped_ceilings: true,
        bursts: true,
        latency_targets: true,
        flush_targets: true,
        costs: true,
    };

    /// Whether the group setting with this key has an effect; `false` for an unknown key.
    #[must_use]
    pub fn keeps(&self, key: &str) -> bool {
        match (key, QosKey::named(key)) {
            ("weight" | "ioprio", _) => self.shares,
            ("idle", _) => self.idle,
            (_, Some(QosKey::MinIops | QosKey::MinBps)) => self.floors,
            (_, Some(QosKey::MaxIops | QosKey::MaxBps)) => self.ceilings,
            (_, Some(QosKey::Burst)) => self.bursts,
            (_, Some(key)) if key.shapes_ceiling() => self.shaped_ceilings,
            (_, Some(QosKey::LatencyP99)) => self.latency_targets,
            (_, Some(QosKey::FsyncP99)) => self.flush_targets,
            (_, Some(_) | None) => false,
        }
    }

    /// The honoured settings in words.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            (self.shares, "shares"),
            (self.nesting == Nesting::Deep, "groups in groups"),
            (self.nesting == Nesting::OneLevel, "groups one level deep in groups"),
            (self.priorities, "I/O priorities"),
            (self.idle, "idle waits"),
            (self.floors, "floors"),
            (self.ceilings, "ceilings"),
            (self.shaped_ceilings, "ceilings of reads and of writes, bursts at a rate"),
            (self.bursts, "bursts"),
            (self.latency_targets, "latency targets"),
            (self.flush_targets, "targets for fsync"),
            (self.costs, "costs"),
        ];
        all.into_iter().filter_map(|(honoured, word)| honoured.then_some(word))
    }
}
