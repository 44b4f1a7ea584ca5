//! How much of a device that serves several requests at once is left to those who have their share.
//!
//! A device full of others' requests makes everybody's slow. Whoever keeps few in flight then gets
//! less than its share, however soon each of its requests is dispatched. So what those who have
//! their share may have at the device is limited, but only while it buys something. Time is divided
//! into *spells*. After each it is known what the groups *behind* used (less than their share, with
//! nothing queued), and what the others did. While those behind miss more than [`MISSING_HIGH`] of
//! the device the limit is lowered, for a trial: if in the next spell the others lose much more
//! than those behind gain, it is raised again, and left alone for a while. When less than
//! [`MISSING_LOW`] is missing it rises. At last the others have one request at a time, and not even
//! that before those behind have had a part of what they had.

use super::Fair;
use super::group::Group;
use alloc::vec::Vec;
use fairdisk_core::{Instant, Span};

/// What groups may miss, in thousandths of the device, before others are limited, and when they
/// are less limited again.
const MISSING_HIGH: u64 = 15;
const MISSING_LOW: u64 = 5;
/// The others may lose so many times what those behind gain, and a little, in thousandths: that
/// much may be chance.
const WORTH: u64 = 10;
const CHANCE: u64 = 4;
/// The limit is counted in parts of a request.
const ONE: u32 = 16;
/// A spell is so many times what the device takes at once, within bounds, and not shorter than
/// buffers of devices take to show what has changed.
const SPELL_DEPTHS: u32 = 8;
const SPELL_LEAST: u32 = 128;
const SPELL_MOST: u32 = 2048;
const SPELL_SHORTEST: Span = Span::from_ms(40);
/// A trial lowers the limit by a half of it, then by less.
const STEP_LARGEST: u32 = 2;
const STEP_SMALLEST: u32 = 8;
/// Spells without a trial after one that was not worth it.
const REST: u32 = 24;
/// Whoever has nothing queued less often than once in so many completions is not held up by
/// others at the device: its next request goes when its start says.
const SELDOM: u64 = 16;
/// More groups than this are not looked after at once.
const BEHIND_MOST: usize = 8;

/// What was seen of a group in the current spell.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    spell: u32,
    /// What its requests cost that completed.
    used: u64,
    requests: u64,
    /// How often nothing was queued when one completed.
    empty: u64,
}

/// What a spell came to, in thousandths: of what all used, and of time.
#[derive(Clone, Copy, Debug, Default)]
struct Spell {
    missing: u64,
    of_behind: u64,
    of_others: u64,
}

/// What is being tried.
#[derive(Clone, Copy, Debug)]
enum Trial {
    /// Nothing, for so many spells at least.
    Rest(u32),
    /// A new limit: what goes on from before does not count.
    Settling { old: Option<u32>, before: Spell },
    /// A new limit; how it was before.
    Running { old: Option<u32>, before: Spell },
}

/// The rule and what it has come to.
#[derive(Debug)]
pub(super) struct DepthRule {
    spell: u32,
    began: Instant,
    completions: u32,
    used: u64,
    /// Groups with completions in this spell.
    active: Vec<u32>,
    /// Groups that others make room for.
    behind: Vec<u32>,
    /// Where those of the next spell are gathered.
    behind_next: Vec<u32>,
    /// What the others may have at the device, in [`ONE`]s; `None` without a limit.
    limit: Option<u32>,
    trial: Trial,
    /// The limit is lowered by one in so many parts.
    step: u32,
    /// The most that was at the device in this spell.
    in_flight_max: u32,
    /// What those behind are to have before the others go on, for each unit the others have had:
    /// a part of so many 1024ths.
    ratio: u64,
    /// What of that is still to come.
    owed: u64,
}

impl DepthRule {
    pub(super) const fn new() -> Self {
        Self {
            spell: 1,
            began: Instant::ZERO,
            completions: 0,
            used: 0,
            active: Vec::new(),
            behind: Vec::new(),
            behind_next: Vec::new(),
            limit: None,
            trial: Trial::Rest(0),
            step: STEP_LARGEST,
            in_flight_max: 0,
            ratio: 0,
            owed: 0,
        }
    }

    /// Whether anybody is held back.
    pub(super) const fn is_limiting(&self) -> bool {
        self.limit.is_some()
    }

    /// Whether the group is one that others make room for.
    pub(super) fn makes_room_for(&self, group: u32) -> bool {
        self.behind.contains(&group)
    }

    /// Whether one who has its share may have another request at the device, where so many are.
    pub(super) fn may_go(&self, groups: &[Group], in_flight: u32) -> bool {
        let Some(limit) = self.limit else { return true };
        let of = |group: &u32| groups[*group as usize].in_flight;
        let others = in_flight.saturating_sub(self.behind.iter().map(of).sum());
        in_flight == 0 || others * ONE < limit.max(ONE) && self.owed == 0
    }

    /// One of those for whom there is room, with something queued.
    pub(super) fn first_behind(&self, groups: &[Group]) -> Option<u32> {
        self.behind.iter().copied().find(|group| groups[*group as usize].waiting > 0)
    }

    /// A request was dispatched that is said to cost so much; so many are at the device.
    #[inline]
    pub(super) fn dispatched(&mut self, group: u32, cost: Span, in_flight: u32) {
        self.in_flight_max = self.in_flight_max.max(in_flight);
        if let Some(limit) = self.limit.filter(|limit| *limit < ONE)
            && !self.makes_room_for(group)
        {
            let part = u64::from(ONE - limit);
            let owed = cost.as_ns().saturating_mul(self.ratio) / 1024;
            self.owed = self.owed.saturating_add(owed.saturating_mul(part) / u64::from(ONE));
        }
    }

    /// A request of the group, which has others queued or not, has completed.
    #[inline]
    pub(super) fn completed(&mut self, group: u32, seen: &mut Seen, cost: Span, waiting: bool) {
        if self.owed > 0 && self.makes_room_for(group) {
            self.owed = self.owed.saturating_sub(cost.as_ns());
        }
        if seen.spell != self.spell {
            *seen = Seen { spell: self.spell, ..Seen::default() };
            self.active.push(group);
        }
        seen.used += cost.as_ns();
        seen.requests += 1;
        seen.empty += u64::from(!waiting);
        self.used += cost.as_ns();
        self.completions += 1;
    }

    fn is_over(&self, now: Instant, depth: u32) -> bool {
        let completions = depth.saturating_mul(SPELL_DEPTHS).clamp(SPELL_LEAST, SPELL_MOST);
        self.completions >= completions && now.since(self.began) >= SPELL_SHORTEST
    }

    fn next_spell(&mut self, now: Instant) {
        self.began = now;
        self.spell = self.spell.wrapping_add(1);
        self.active.clear();
        (self.completions, self.used, self.in_flight_max) = (0, 0, 0);
    }

    /// What to try after this spell.
    fn decide(&mut self, spell: Spell, depth: u32) {
        if self.behind.is_empty() {
            (self.limit, self.owed, self.trial) = (None, 0, Trial::Rest(0));
            self.step = STEP_LARGEST;
            return;
        }
        match self.trial {
            Trial::Settling { old, before } => self.trial = Trial::Running { old, before },
            Trial::Running { old, before } if !is_worth(before, spell) => {
                // A smaller step, before it is given up for now.
                let last = self.step >= STEP_SMALLEST;
                self.step = if last { STEP_LARGEST } else { self.step * 2 };
                (self.limit, self.owed) = (old, 0);
                self.trial = Trial::Rest(if last { REST } else { 1 });
            }
            Trial::Rest(rest) if rest > 0 && spell.missing >= MISSING_LOW => {
                self.trial = Trial::Rest(rest - 1);
            }
            Trial::Rest(_) | Trial::Running { .. } => self.move_limit(spell, depth),
        }
    }

    fn move_limit(&mut self, spell: Spell, depth: u32) {
        let old = self.limit;
        if spell.missing > MISSING_HIGH {
            let limit = old.unwrap_or(self.in_flight_max * ONE);
            if limit <= 1 {
                self.trial = Trial::Rest(REST);
                return;
            }
            self.limit = Some(limit - (limit / self.step).max(1));
            self.trial = Trial::Settling { old, before: spell };
            return;
        }
        self.trial = Trial::Rest(0);
        if spell.missing < MISSING_LOW {
            let more = |limit: u32| limit + limit / 16 + 1;
            self.limit = old.map(more).filter(|limit| *limit < depth * ONE);
        }
    }
}

/// Whether those behind gained enough for what the others lost.
const fn is_worth(before: Spell, after: Spell) -> bool {
    let gained = after.of_behind.saturating_sub(before.of_behind);
    let lost = before.of_others.saturating_sub(after.of_others);
    lost <= gained * WORTH + CHANCE
}

impl Fair {
    /// Looks at the spell if it is over.
    #[inline]
    pub(super) fn watch_depth(&mut self, now: Instant) {
        if self.depth.is_over(now, self.device.depth) {
            let spell = self.look(now);
            self.depth.decide(spell, self.device.depth);
            self.depth.next_spell(now);
        }
    }

    /// Finds out who is behind, and what the spell came to.
    fn look(&mut self, now: Instant) -> Spell {
        let (whole, elapsed) = (self.depth.used.max(1), now.since(self.depth.began).as_ns());
        let active = core::mem::take(&mut self.depth.active);
        let before = core::mem::take(&mut self.depth.behind);
        let mut behind = core::mem::take(&mut self.depth.behind_next);
        behind.clear();
        let count = self.tree.begin_parts(&active);
        let (mut missing, mut used, mut parts) = (0, 0, 0);
        for group in &active {
            let seen = &self.groups[*group as usize].seen;
            if seen.empty * SELDOM < seen.requests || behind.len() >= BEHIND_MOST {
                continue;
            }
            let part = self.tree.part_among(count, *group);
            let entitled = ((u128::from(whole) * u128::from(part)) >> 32) as u64;
            let lacks = entitled.saturating_sub(seen.used);
            // Who was made room for needs it to stay where it is.
            let made_room = self.depth.limit.is_some()
                && before.contains(group)
                && seen.used <= entitled + entitled / 8;
            if thousandths(lacks, whole) >= MISSING_LOW || made_room {
                behind.push(*group);
                (missing, used, parts) = (missing + lacks, used + seen.used, parts + part);
            }
        }
        let others = (1u64 << 32).saturating_sub(parts).max(1);
        self.depth.ratio = parts.saturating_mul(1024) / others;
        (self.depth.behind, self.depth.behind_next) = (behind, before);
        self.depth.active = active;
        Spell {
            missing: thousandths(missing, whole),
            of_behind: thousandths(used, elapsed),
            of_others: thousandths(self.depth.used - used, elapsed),
        }
    }
}

/// How many thousandths of `whole` a part is.
const fn thousandths(part: u64, whole: u64) -> u64 {
    (part as u128 * 1000 / whole as u128) as u64
}
