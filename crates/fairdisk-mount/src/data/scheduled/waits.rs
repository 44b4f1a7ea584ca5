//! Why groups wait, from ten looks a second.

use super::ScheduledGate;
use fairdisk_core::{GroupId, Why};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{MutexGuard, PoisonError};

/// The number of looks that are kept, which are those of a second.
const LOOKS: usize = 10;

/// The last looks: the groups that waited, and why.
#[derive(Clone, Debug, Default)]
pub(super) struct Waits {
    looks: VecDeque<BTreeMap<GroupId, Option<Why>>>,
}

impl Waits {
    fn look(&mut self, found: BTreeMap<GroupId, Option<Why>>) {
        self.looks.truncate(LOOKS - 1);
        self.looks.push_front(found);
    }

    /// Why a group waited, and in which part of the looks, the commonest reason first.
    pub(super) fn of(&self, group: GroupId) -> Vec<(Option<Why>, f64)> {
        let mut found: BTreeMap<Option<Why>, u32> = BTreeMap::new();
        for why in self.looks.iter().filter_map(|look| look.get(&group)) {
            *found.entry(*why).or_default() += 1;
        }
        let part = |(why, looks)| (why, f64::from(looks) / self.looks.len() as f64);
        let mut parts: Vec<(Option<Why>, f64)> = found.into_iter().map(part).collect();
        parts.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        parts
    }
}

impl ScheduledGate {
    /// Notes why groups wait at the moment. To be called ten times a second.
    pub fn look_at_waits(&self) {
        let present = self.charged(self.disk.presence()).into_iter();
        let waiting = present.filter(|(_, there)| there.load.queued > 0);
        let found = waiting.map(|(group, there)| (group, there.why)).collect();
        self.waits().look(found);
    }

    pub(super) fn waits(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commonest_reason_of_the_last_second_is_the_first() {
        let mut waits = Waits::default();
        let group = GroupId(3);
        assert!(waits.of(group).is_empty());
        let mut look = |why: Option<Option<Why>>| {
            waits.look(why.map(|why| (group, why)).into_iter().collect());
            waits.of(group)
        };
        assert_eq!(look(Some(None)), [(None, 1.0)]);
        assert_eq!(look(None), [(None, 0.5)]);
        (0..6).for_each(|_| drop(look(Some(Some(Why::AtCeiling)))));
        (0..2).for_each(|_| drop(look(Some(None))));
        assert_eq!(look(None), [(Some(Why::AtCeiling), 0.6), (None, 0.2)], "ten looks later");
        assert!(waits.of(GroupId(4)).is_empty());
    }
}
