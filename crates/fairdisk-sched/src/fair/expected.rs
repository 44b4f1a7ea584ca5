//! Who makes room for whom on a device that serves several requests at once.
//!
//! A device full of others' requests makes everybody's slow. Whoever keeps few in flight then gets
//! less than its share, however soon each of its requests is dispatched. So a group that has
//! nothing queued is *expected* while it has requests or flushes there, and for as long after that
//! as it was seen to think. Once all of the device is at work, nobody gets another request there
//! who had more than one that is expected. A device that has not enough to do gets more from
//! anybody.

use super::Fair;
use super::hierarchy::Hierarchy;
use crate::groups::Order;
use fairdisk_core::{Instant, Span};

/// Whoever thinks so many times as long as the device works for it until it thinks again could not
/// use much of the device anyway.
const WORTH: u64 = 64;

/// Groups with nothing queued and nothing at the device that are expected, until when.
#[derive(Debug)]
pub(super) struct Expected {
    until: Order<Instant>,
}

impl Expected {
    pub(super) const fn new() -> Self {
        Self { until: Order::new() }
    }

    /// When the first of them is not expected any more.
    pub(super) fn first_until(&self) -> Option<Instant> {
        self.until.first().map(|(_, until)| until)
    }

    /// Whether the group, which has nothing queued and nothing at the device, is expected.
    pub(super) fn contains(&self, group: u32) -> bool {
        self.until.key(group).is_some()
    }

    /// Nobody is expected any more who should have been back by now.
    pub(super) fn release_due(&mut self, now: Instant, tree: &mut Hierarchy) {
        while let Some((group, _)) = self.until.first().filter(|(_, until)| *until <= now) {
            self.until.place(group, None);
            tree.set_expected(group, false);
        }
    }
}

impl Fair {
    /// Whether the group is expected may have changed: it has nothing queued any more, or one of
    /// its requests was completed.
    #[inline]
    pub(super) fn expect(&mut self, now: Instant, group: u32) {
        if self.groups[group as usize].waiting == 0 {
            self.expect_back(now, group);
        }
    }

    /// The same where it has nothing queued.
    #[inline(never)]
    fn expect_back(&mut self, now: Instant, group: u32) {
        let entry = &self.groups[group as usize];
        let makes_room = !self.device.is_serial();
        let until = if makes_room && entry.is_quiet() { self.back_by(now, group) } else { None };
        let expected = makes_room && !entry.is_quiet() || until.is_some();
        self.expected.until.place(group, until);
        self.tree.set_expected(group, expected);
    }

    /// When a group that has just had its last request completed is back, if that is soon.
    fn back_by(&self, now: Instant, group: u32) -> Option<Instant> {
        let entry = &self.groups[group as usize];
        let most = entry.idle.unwrap_or(self.params.idle_max);
        let worth = Span::from_ns(entry.burst.as_ns().saturating_mul(WORTH));
        let think = entry.think.get().filter(|think| *think <= most && *think <= worth)?;
        // As long again: thinking takes sometimes longer than usual.
        Some(now + (think + think).min(most))
    }
}
