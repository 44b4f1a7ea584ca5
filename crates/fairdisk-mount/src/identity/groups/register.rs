//! The lives of groups, by the numbers under which the scheduler knows them. A group appears; it
//! leaves when its directory is gone; and it is forgotten, and its number free, once nothing of it
//! is on its way any more. From its leaving on, its heir is charged for what is left of it.

use super::Group;
use crate::identity::SWEEP;
use fairdisk_core::{GroupId, Instant};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// How far the life of the last group under a number has come.
#[derive(Debug)]
enum Life {
    /// Its directory exists, as far as is known.
    Present(Group),
    /// Its directory was found to be gone, but its last requests may still be on their way.
    Leaving { group: Group, since: Instant, heir: GroupId },
    /// The scheduler was told that it is removed. Data that it has written may still be dirty.
    Forgotten { heir: GroupId },
}

impl Life {
    /// The group, as long as the scheduler knows it.
    const fn group(&self) -> Option<&Group> {
        match self {
            Self::Present(group) | Self::Leaving { group, .. } => Some(group),
            Self::Forgotten { .. } => None,
        }
    }

    const fn present(&self) -> Option<&Group> {
        match self {
            Self::Present(group) => Some(group),
            Self::Leaving { .. } | Self::Forgotten { .. } => None,
        }
    }

    const fn heir_mut(&mut self) -> Option<&mut GroupId> {
        match self {
            Self::Present(_) => None,
            Self::Leaving { heir, .. } | Self::Forgotten { heir } => Some(heir),
        }
    }
}

/// All groups that were ever there, as long as their numbers are not others'.
#[derive(Debug)]
pub(super) struct Register {
    /// By number. The root group has number 0.
    lives: Vec<Life>,
    /// The groups that are present, by path.
    at: BTreeMap<String, GroupId>,
}

impl Register {
    /// A register with the root group alone.
    pub(super) fn new(root: Group) -> Self {
        let at = BTreeMap::from([(root.path.clone(), GroupId::ROOT)]);
        Self { lives: vec![Life::Present(root)], at }
    }

    /// The number of the group that is present at `path`.
    pub(super) fn at(&self, path: &str) -> Option<GroupId> {
        self.at.get(path).copied()
    }

    /// The group, if it is present.
    pub(super) fn get(&self, id: GroupId) -> Option<&Group> {
        self.life(id)?.present()
    }

    /// The group, if it is present or leaving.
    pub(super) fn get_mut(&mut self, id: GroupId) -> Option<&mut Group> {
        match self.lives.get_mut(id.0 as usize)? {
            Life::Present(group) | Life::Leaving { group, .. } => Some(group),
            Life::Forgotten { .. } => None,
        }
    }

    /// The groups that are present.
    pub(super) fn iter(&self) -> impl Iterator<Item = (GroupId, &Group)> {
        self.numbered().filter_map(|(id, life)| Some((id, life.present()?)))
    }

    /// The groups that are present or leaving.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (GroupId, &mut Group)> {
        (0..).map(GroupId).zip(&mut self.lives).filter_map(|(id, life)| match life {
            Life::Present(group) | Life::Leaving { group, .. } => Some((id, group)),
            Life::Forgotten { .. } => None,
        })
    }

    /// How many numbers have ever been in use.
    pub(super) const fn numbers(&self) -> usize {
        self.lives.len()
    }

    /// Adds a group that has appeared, under the first number that is free.
    pub(super) fn appear(&mut self, group: Group) -> (GroupId, &mut Group) {
        let free = self.lives.iter().position(|life| matches!(life, Life::Forgotten { .. }));
        let number = free.unwrap_or(self.lives.len());
        let id = GroupId(number as u32);
        self.at.insert(group.path.clone(), id);
        match free {
            Some(number) => self.lives[number] = Life::Present(group),
            None => self.lives.push(Life::Present(group)),
        }
        (id, self.get_mut(id).expect("it is present"))
    }

    /// Notes that a group leaves at `now`. Its heir, and that of all whose heir it was, is the
    /// closest group around it that does not. Returns the group, if it was present.
    pub(super) fn leave(&mut self, now: Instant, id: GroupId) -> Option<&mut Group> {
        let heir = self.heir(self.get(id)?.parent.unwrap_or(GroupId::ROOT));
        let heirs = self.lives.iter_mut().filter_map(Life::heir_mut);
        heirs.filter(|heir| **heir == id).for_each(|inherits| *inherits = heir);
        let life = &mut self.lives[id.0 as usize];
        let Life::Present(group) = std::mem::replace(life, Life::Forgotten { heir }) else {
            unreachable!("it was present above");
        };
        self.at.remove(&group.path);
        *life = Life::Leaving { group, since: now, heir };
        self.get_mut(id)
    }

    /// The group that pays for the dirty data of `id`: itself, or the closest enclosing group that
    /// was still present when it left.
    pub(super) fn heir(&self, id: GroupId) -> GroupId {
        match self.life(id) {
            Some(Life::Leaving { heir, .. } | Life::Forgotten { heir }) => *heir,
            Some(Life::Present(_)) | None => id,
        }
    }

    pub(super) fn is_leaving(&self, id: GroupId) -> bool {
        matches!(self.life(id), Some(Life::Leaving { .. }))
    }

    /// Whether any group is leaving.
    pub(super) fn has_leaving(&self) -> bool {
        self.leaving().next().is_some()
    }

    /// Forgets the groups that are leaving and have nothing `unfinished`, and returns them, inner
    /// ones first. They must have been leaving for a while, so that their last requests have
    /// reached the scheduler.
    pub(super) fn forget(&mut self, now: Instant, unfinished: &BTreeSet<GroupId>) -> Vec<GroupId> {
        let parents = self.lives.iter().filter_map(|life| life.group()?.parent);
        let mut inside: BTreeMap<GroupId, u32> = BTreeMap::new();
        parents.for_each(|parent| *inside.entry(parent).or_default() += 1);
        let mut leaving: Vec<GroupId> = self.leaving().map(|(id, _)| id).collect();
        let depth = |id: &GroupId| self.life(*id).and_then(Life::group).map(|it| it.path.len());
        leaving.sort_by_key(|id| Reverse(depth(id)));
        leaving.retain(|id| {
            let Some(life) = self.lives.get_mut(id.0 as usize) else { return false };
            let Life::Leaving { group, since, heir } = life else { return false };
            let is_outer = inside.get(id).is_some_and(|inner| *inner > 0);
            let is_over = !is_outer && now >= *since + SWEEP && !unfinished.contains(id);
            if is_over {
                group.parent.iter().for_each(|parent| *inside.entry(*parent).or_default() -= 1);
                *life = Life::Forgotten { heir: *heir };
            }
            is_over
        });
        leaving
    }

    fn life(&self, id: GroupId) -> Option<&Life> {
        self.lives.get(id.0 as usize)
    }

    fn numbered(&self) -> impl Iterator<Item = (GroupId, &Life)> {
        (0..).map(GroupId).zip(&self.lives)
    }

    fn leaving(&self) -> impl Iterator<Item = (GroupId, &Life)> {
        self.numbered().filter(|(_, life)| matches!(life, Life::Leaving { .. }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Asks;
    use fairdisk_core::Span;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_ms(ms)
    }

    fn group(path: &str, parent: Option<GroupId>) -> Group {
        Group { parent, ..Group::new(path, Asks::DEFAULT, None) }
    }

    fn nobody() -> BTreeSet<GroupId> {
        BTreeSet::new()
    }

    #[test]
    fn a_group_appears_leaves_and_is_forgotten() {
        let mut register = Register::new(group("/", None));
        let a = register.appear(group("/a", None)).0;
        assert_eq!((register.at("/a"), register.heir(a)), (Some(a), a));
        assert!(register.leave(at(0), a).is_some_and(|left| left.path == "/a"));
        assert!(register.leave(at(1), a).is_none(), "it does so once");
        assert!(register.is_leaving(a) && register.get(a).is_none());
        assert!(register.get_mut(a).is_some(), "the scheduler still knows it");
        assert_eq!((register.at("/a"), register.heir(a)), (None, GroupId::ROOT));
        for (ms, unfinished, forgotten) in [
            (1999, nobody(), vec![]),
            (2000, BTreeSet::from([a]), vec![]),
            (2000, nobody(), vec![a]),
            (4000, nobody(), vec![]),
        ] {
            assert_eq!(register.forget(at(ms), &unfinished), forgotten, "{ms}");
        }
        assert!(register.get_mut(a).is_none() && !register.has_leaving());
        assert_eq!(register.heir(a), GroupId::ROOT, "of what is still dirty");
        assert_eq!(register.appear(group("/b", None)).0, a, "the number is free");
        assert_eq!(register.heir(a), a);
    }

    /// Even if the heir leaves later, and the numbers of both are others' in the end.
    #[test]
    fn the_heir_of_a_group_is_the_closest_around_it_that_is_left() {
        let mut register = Register::new(group("/", None));
        let a = register.appear(group("/a", None)).0;
        let b = register.appear(group("/a/b", Some(a))).0;
        let c = register.appear(group("/a/b/c", Some(b))).0;
        register.leave(at(0), c);
        assert_eq!(register.heir(c), b);
        register.leave(at(0), b);
        assert_eq!([c, b].map(|id| register.heir(id)), [a, a]);
        assert_eq!(register.forget(at(2000), &nobody()), [c, b]);
        register.leave(at(3000), a);
        assert_eq!([c, b, a].map(|id| register.heir(id)), [GroupId::ROOT; 3]);
        assert_eq!(register.appear(group("/d", None)).0, b);
        assert_eq!([c, b].map(|id| register.heir(id)), [GroupId::ROOT, b]);
    }

    #[test]
    fn an_outer_group_is_forgotten_after_those_in_it() {
        let mut register = Register::new(group("/", None));
        let a = register.appear(group("/a", None)).0;
        let b = register.appear(group("/a/b", Some(a))).0;
        register.leave(at(0), a);
        register.leave(at(0), b);
        assert_eq!(register.forget(at(2000), &BTreeSet::from([b])), []);
        assert_eq!(register.forget(at(2000), &nobody()), [b, a]);
    }
}
