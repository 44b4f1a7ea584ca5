//! How a recorded load is done again.

use crate::catalog::error::CatalogError;
use fairdisk_core::{Qos, QosKey, Span, Weight};
use fairdisk_trace::Request;

/// What the caller says about the replay of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// When tasks ask again; by the trace if not given.
    pub pace: Option<ReplayPace>,
    /// The part of the trace, from its start; all of it if not given.
    pub window: Option<(Span, Span)>,
    /// Other names for groups; those that get one name are merged.
    pub renamed: Vec<(String, String)>,
    /// Groups that are left out.
    pub dropped: Vec<String>,
    /// How many times as many tasks groups have.
    pub scaled: Vec<(String, u32)>,
    /// The weights of groups.
    pub weights: Vec<(String, Weight)>,
    /// Floors, ceilings and targets of groups; `None`: without it.
    pub limits: Vec<(String, QosKey, Option<u64>)>,
}

/// When a task asks for its next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayPace {
    /// At the recorded time, whatever has become of those before.
    AsItCame,
    /// As long after those that it waited for as it did.
    ClosedLoop,
    /// At once, with as many under way as it had at most.
    AsFastAsItCan,
}

impl ReplayPace {
    /// All of them, by the names that options have.
    pub const ALL: [(&'static str, Self); 3] = [
        ("closed-loop", Self::ClosedLoop),
        ("as-it-came", Self::AsItCame),
        ("as-fast-as-it-can", Self::AsFastAsItCan),
    ];

    /// One sentence on it, for results.
    #[must_use]
    pub const fn says(self) -> &'static str {
        match self {
            Self::AsItCame => {
                "Replayed as it came: each request is asked for at its recorded time, however \
                 long those before take, but for what follows a flush or a discard of its task."
            }
            Self::ClosedLoop => {
                "Replayed closed loop: a task's next request comes its recorded think time after \
                 the last one it waited for was done."
            }
            Self::AsFastAsItCan => {
                "Replayed as fast as it can: each task has as many requests under way as it had \
                 at most, without think times."
            }
        }
    }
}

impl Replay {
    /// The option of the first thing that is said, if anything is.
    #[must_use]
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("--replay", self.pace.is_some()),
            ("--window", self.window.is_some()),
            ("--rename", !self.renamed.is_empty()),
            ("--drop", !self.dropped.is_empty()),
            ("--scale", !self.scaled.is_empty()),
            ("--weight", !self.weights.is_empty()),
            ("--limit", !self.limits.is_empty()),
        ];
        all.iter().find(|(_, is_given)| *is_given).map(|(option, _)| *option)
    }

    /// The group that a group of the trace belongs to; `None` if it is left out.
    pub(super) fn group_of<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        if self.dropped.iter().any(|dropped| dropped == name) {
            return None;
        }
        let renamed = self.renamed.iter().find(|(from, _)| from == name);
        Some(renamed.map_or(name, |(_, to)| to))
    }

    /// How many times the tasks of a group are there.
    pub(super) fn times(&self, group: &str) -> u32 {
        self.scaled.iter().find(|(name, _)| name == group).map_or(1, |(_, times)| *times)
    }

    /// The weight of a group, if one is given.
    pub(super) fn weight(&self, group: &str) -> Option<Weight> {
        self.weights.iter().find(|(name, _)| name == group).map(|(_, weight)| *weight)
    }

    /// Sets the limits that are given for a group.
    pub(super) fn limit(&self, group: &str, qos: &mut Qos) {
        let of_group = self.limits.iter().filter(|(name, ..)| name == group);
        of_group.for_each(|(_, key, value)| key.set(qos, *value));
    }

    /// The time at which the part that is replayed begins.
    pub(super) fn begins(&self) -> Span {
        self.window.map_or(Span::ZERO, |(from, _)| from)
    }

    /// Whether the request lies in the part that is replayed.
    pub(super) fn has(&self, request: &Request) -> bool {
        let at = Span::from_ns(request.queued.as_ns());
        self.window.is_none_or(|(from, to)| (from..to).contains(&at))
    }

    /// Checks that every group that is named is one of the trace.
    pub(super) fn demand_known(
        &self,
        recorded: &[String],
        replayed: &[String],
    ) -> Result<(), CatalogError> {
        let before = self.renamed.iter().map(|(from, _)| ("--rename", from));
        let before = before.chain(self.dropped.iter().map(|name| ("--drop", name)));
        let after = self.scaled.iter().map(|(name, _)| ("--scale", name));
        let after = after.chain(self.weights.iter().map(|(name, _)| ("--weight", name)));
        let after = after.chain(self.limits.iter().map(|(name, ..)| ("--limit", name)));
        let named = before.map(|one| (one, recorded)).chain(after.map(|one| (one, replayed)));
        for ((option, name), known) in named {
            if !known.contains(name) {
                let known = known.join(", ");
                let message = format!("the trace has no group `{name}`; its groups are {known}");
                return Err(CatalogError::option(&format!("{option} {name}"), message));
            }
        }
        Ok(())
    }
}
