//! What of groups and tasks a scheduler looks at; the rest it is told and does not use.

use fairdisk_core::Weight;

/// How deep groups may lie in groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nesting {
    /// All lie beside each other.
    #[default]
    None,
    /// What lies deeper is taken to lie directly in the outermost group.
    OneLevel,
    /// As deep as they are told.
    Deep,
}

/// What a scheduler honours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Honours {
    /// Weights and priorities of groups.
    pub shares: bool,
    /// The least and the greatest weight; what lies beyond counts as the nearer of them.
    pub weights: [u32; 2],
    /// That groups lie in groups.
    pub nesting: Nesting,
    /// I/O priorities of tasks.
    pub priorities: bool,
    /// How long the disk is kept for a group that has nothing queued.
    pub idle: bool,
    /// `Qos::floor`.
    pub floors: bool,
    /// `Qos::ceiling`.
    pub ceilings: bool,
    /// `Qos::burst`: how far a group may be ahead of its ceiling.
    pub bursts: bool,
    /// `Qos::latency_p99`.
    pub latency_targets: bool,
    /// What requests cost the device: it charges by that and has to be told.
    pub costs: bool,
}

impl Honours {
    /// Nothing.
    pub const NONE: Self = Self {
        shares: false,
        weights: [Weight::MIN, Weight::MAX],
        nesting: Nesting::None,
        priorities: false,
        idle: false,
        floors: false,
        ceilings: false,
        bursts: false,
        latency_targets: false,
        costs: false,
    };

    /// Everything: nothing that a group asks for is ignored.
    pub const ALL: Self = Self {
        shares: true,
        weights: [Weight::MIN, Weight::MAX],
        nesting: Nesting::Deep,
        priorities: true,
        idle: true,
        floors: true,
        ceilings: true,
        bursts: true,
        latency_targets: true,
        costs: true,
    };

    /// Whether a setting of a group has an effect, by its key; `false` for one that is none.
    #[must_use]
    pub fn keeps(&self, key: &str) -> bool {
        match key {
            "weight" | "ioprio" => self.shares,
            "idle" => self.idle,
            "min_iops" | "min_bps" => self.floors,
            "max_iops" | "max_bps" => self.ceilings,
            "burst_ms" => self.bursts,
            "latency_p99_ms" => self.latency_targets,
            _ => false,
        }
    }

    /// What it honours, in words.
    pub fn words(&self) -> impl Iterator<Item = &'static str> {
        let all = [
            (self.shares, "shares"),
            (self.nesting == Nesting::Deep, "groups in groups"),
            (self.nesting == Nesting::OneLevel, "groups one level deep in groups"),
            (self.priorities, "I/O priorities"),
            (self.idle, "idle waits"),
            (self.floors, "floors"),
            (self.ceilings, "ceilings"),
            (self.latency_targets, "latency targets"),
            (self.costs, "costs"),
        ];
        all.into_iter().filter_map(|(honoured, word)| honoured.then_some(word))
    }
}
