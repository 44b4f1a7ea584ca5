//! What groups ask for, got and wait for.

use super::ScheduledGate;
use crate::identity::{Asks, GroupName};
use fairdisk_core::{GroupAccount, GroupId, GroupLoad, Rates, Span, Why};
use fairdisk_plane::disk::{Flushes, Presence};
use std::collections::BTreeMap;

/// A group, its settings and its accounts.
#[derive(Clone, Debug)]
pub struct GroupStatus {
    /// The number by which the scheduler knows the group.
    pub id: GroupId,
    /// The path of the group's cgroup.
    pub path: String,
    /// The group's settings in force.
    pub asks: Asks,
    /// The enclosing group.
    pub parent: Option<GroupId>,
    /// The floor that the group asks for and the scheduler refused.
    pub refused: Rates,
    /// What the group got so far.
    pub account: GroupAccount,
    /// How long its flushes took.
    pub flushes: Flushes,
    /// How long the disk has worked on the group's writes after it had acknowledged them.
    pub deferred: Span,
    /// What the group has queued and in flight.
    pub load: GroupLoad,
    /// How long the group's oldest unanswered request has been waiting.
    pub oldest: Span,
    /// Why the group waited in the last second, and in which part of it for each reason, from 0 to
    /// 1, the commonest first. `None` if others went first.
    pub waits: Vec<(Option<Why>, f64)>,
}

impl ScheduledGate {
    /// All existing groups that have made requests. What removed ones still have on its way is
    /// shown with those that are charged for it. Locks are held only while the names, or one
    /// group's account, are copied, so that requests are not delayed for long.
    #[must_use]
    pub fn groups(&self) -> Vec<GroupStatus> {
        let status = |group: GroupName<'_>| GroupStatus {
            id: group.id,
            path: group.path.to_owned(),
            asks: group.asks,
            parent: group.parent,
            refused: group.refused,
            account: GroupAccount::default(),
            flushes: Flushes::default(),
            deferred: Span::ZERO,
            load: GroupLoad::default(),
            oldest: Span::ZERO,
            waits: Vec::new(),
        };
        let mut groups: Vec<GroupStatus> = self.identity().groups().map(status).collect();
        let presence = self.charged(self.disk.presence());
        let waits = self.waits().clone();
        for group in &mut groups {
            group.waits = waits.of(group.id);
            group.account = self.disk.account(group.id).unwrap_or_default();
            group.flushes = self.disk.flushes(group.id);
            group.deferred = self.disk.deferred(group.id);
            if let Some(now) = presence.get(&group.id) {
                (group.load, group.oldest) = (now.load, now.oldest);
                now.waits.iter().for_each(|(kind, wait)| group.account.waited(kind, *wait));
            }
        }
        // A number that was reused meanwhile comes with the account of another group.
        let identity = self.identity();
        groups.retain(|group| identity.is_called(group.id, &group.path));
        groups
    }

    /// What is on its way, by the groups that are charged for it.
    pub(super) fn charged(
        &self,
        present: BTreeMap<GroupId, Presence>,
    ) -> BTreeMap<GroupId, Presence> {
        let identity = self.identity();
        let mut charged: BTreeMap<GroupId, Presence> = BTreeMap::new();
        for (group, more) in present {
            let all = charged.entry(identity.heir(group)).or_default();
            all.load.queued += more.load.queued;
            all.load.in_flight += more.load.in_flight;
            all.oldest = all.oldest.max(more.oldest);
            all.why = all.why.or(more.why);
            more.waits.iter().for_each(|(kind, wait)| {
                all.waits[kind] = all.waits[kind].max(*wait);
            });
        }
        charged
    }
}
