//! When each of a few parts next does something by itself.

use fairdisk_core::Instant;

/// An alarm for each part, by its number.
#[derive(Clone, Debug)]
pub(crate) struct Alarms {
    /// [`Instant::MAX`] where there is none.
    at: Vec<Instant>,
    first: Instant,
}

impl Alarms {
    /// No alarms, for this many parts.
    pub(crate) fn new(parts: usize) -> Self {
        Self { at: vec![Instant::MAX; parts], first: Instant::MAX }
    }

    /// Replaces the alarm of a part.
    #[inline]
    pub(crate) fn set(&mut self, part: usize, at: Option<Instant>) {
        let at = at.unwrap_or(Instant::MAX);
        self.at[part] = at;
        // One that is alone need not be looked for.
        self.first = if self.at.len() == 1 { at } else { self.earliest() };
    }

    /// The parts are few and their alarms lie together, so all of them are looked at.
    #[inline(never)]
    fn earliest(&self) -> Instant {
        self.at.iter().fold(Instant::MAX, |first, at| first.min(*at))
    }

    /// The earliest alarm.
    #[inline]
    pub(crate) fn first(&self) -> Option<Instant> {
        (self.first < Instant::MAX).then_some(self.first)
    }

    /// Whether any alarm is due at `now`.
    #[inline]
    pub(crate) fn are_due(&self, now: Instant) -> bool {
        self.first <= now
    }

    /// Whether the part has an alarm that is due at `now`.
    #[inline]
    pub(crate) fn is_due(&self, part: usize, now: Instant) -> bool {
        self.at[part] <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_is_first_and_a_part_without_an_alarm_is_never_due() {
        let ms = |ms: u64| Instant::from_ns(ms * 1_000_000);
        let mut alarms = Alarms::new(3);
        assert_eq!(alarms.first(), None);
        alarms.set(2, Some(ms(5)));
        alarms.set(1, Some(ms(7)));
        assert_eq!(alarms.first(), Some(ms(5)));
        assert_eq!([0, 1, 2].map(|part| alarms.is_due(part, ms(6))), [false, false, true]);
        alarms.set(2, None);
        assert_eq!(alarms.first(), Some(ms(7)));
    }
}
