//! A way to or from disks on which one thing goes after another.

use fairdisk_core::{Instant, Span};
use std::collections::VecDeque;

/// A way, and what is on it.
#[derive(Clone, Debug)]
pub(super) struct Lane<T> {
    free_at: Instant,
    /// What is on its way to or from which disk, in order of its arrival.
    on_the_way: VecDeque<(Instant, u32, T)>,
}

impl<T> Lane<T> {
    pub(super) const fn new() -> Self {
        Self { free_at: Instant::ZERO, on_the_way: VecDeque::new() }
    }

    pub(super) fn send(&mut self, now: Instant, takes: Span, disk: u32, what: T) {
        self.free_at = self.free_at.max(now) + takes;
        self.on_the_way.push_back((self.free_at, disk, what));
    }

    pub(super) fn next_event(&self) -> Option<Instant> {
        self.on_the_way.front().map(|(at, ..)| *at)
    }

    pub(super) fn arrived(&mut self, now: Instant) -> Option<(u32, T)> {
        let (_, disk, what) = self.on_the_way.pop_front_if(|(at, ..)| *at <= now)?;
        Some((disk, what))
    }
}
