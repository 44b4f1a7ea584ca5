//! The choice of the arm's next piece of work.

use super::Hdd;
use super::cache::{Barrier, Dirty};
use super::command::{Command, State};
use super::geometry::Extent;
use super::mechanism::Access;
use super::spec::Order;
use std::iter;

/// A piece of work for the arm.
pub(super) enum Work {
    /// An access for the command at this index.
    Command(usize, Access),
    /// Destaging the cached write at this index.
    Destage(usize),
}

impl Hdd {
    /// The next piece of work. The oldest waiting command decides what is served: if it waits for
    /// the cache it must not be starved by reads, nor a read by the cache.
    pub(super) fn choose(&self, at: u64) -> Option<Work> {
        let Some(oldest) = self.commands.iter().find(|command| command.waits()) else {
            return self.choose_destage(at, |_| true).map(Work::Destage);
        };
        let behind = match oldest.state {
            State::WantsMedium(_, barrier) => {
                oldest.blocked(&self.cache, barrier).then_some(barrier)
            }
            State::WantsFlush(barrier) => Some(barrier),
            State::WantsPlace | State::Completes(..) => Some(Barrier::EVERYTHING),
        };
        behind
            .and_then(|barrier| {
                self.choose_destage(at, |dirty| barrier.needs(oldest.start, oldest.end, dirty))
            })
            .map(Work::Destage)
            .or_else(|| self.choose_command(at))
    }

    fn choose_command(&self, at: u64) -> Option<Work> {
        let mut candidates = self.commands.iter().enumerate().filter_map(|(index, command)| {
            let State::WantsMedium(access, barrier) = command.state else { return None };
            (!command.blocked(&self.cache, barrier)).then_some((index, command, access))
        });
        let oldest = candidates.next()?;
        let (index, _, access) = if self.in_turn(oldest.1, at) {
            oldest
        } else {
            iter::once(oldest).chain(candidates).min_by_key(|(_, command, access)| {
                let at = command.ready.max(at);
                self.preference(self.order, &command.extent, at, *access)
            })?
        };
        Some(Work::Command(index, access))
    }

    /// Whether the oldest command goes first, regardless of its position.
    fn in_turn(&self, oldest: &Command, at: u64) -> bool {
        self.order == Order::Fifo
            || self.depth == 1
            || at.saturating_sub(oldest.ready) >= self.age_limit_ns
    }

    fn choose_destage(&self, at: u64, needed: impl Fn(&Dirty) -> bool) -> Option<usize> {
        let order = self.cache.order();
        let waiting = self.cache.waiting().iter().enumerate();
        waiting
            .filter(|(_, dirty)| dirty.ready <= at && needed(dirty))
            .min_by_key(|(_, dirty)| {
                (self.preference(order, &dirty.extent, at, Access::Write), dirty.number)
            })
            .map(|(index, _)| index)
    }

    /// The sort key of a piece of work under `order`. The least key goes first; among equal keys
    /// the oldest.
    fn preference(&self, order: Order, extent: &Extent, at: u64, access: Access) -> (bool, u64) {
        match (order, access) {
            (Order::Fifo, _) => (false, 0),
            (Order::Elevator, _) => (extent.from < self.mechanism.position(at), extent.from),
            (Order::Satf, Access::Read) => (false, self.plan_read(extent, at).begin),
            (Order::Satf, Access::Write) => {
                (false, self.mechanism.reach(extent.from, extent.first, at, access))
            }
        }
    }
}
