//! When each of a few parts next does something by itself.

use fairdisk_core::Instant;

/// An alarm for each part, by its number. [`Instant::MAX`] stands for none.
#[derive(Clone, Debug)]
pub(crate) struct Alarms {
    first: Instant,
    /// Empty for a part that is alone: its alarm is the first.
    each: Vec<Instant>,
}

impl Alarms {
    /// No alarms, for this many parts.
    pub(crate) fn new(parts: usize) -> Self {
        let kept = if parts == 1 { 0 } else { parts };
        Self { first: Instant::MAX, each: vec![Instant::MAX; kept] }
    }

    /// Replaces the alarm of a part.
    #[inline]
    pub(crate) fn set(&mut self, part: u32, at: Option<Instant>) {
        let at = at.unwrap_or(Instant::MAX);
        match self.each.is_empty() {
            true => self.first = at,
            false => self.set_among(part, at),
        }
    }

    /// The parts are few and their alarms lie together, so all of them are looked at.
    #[inline(never)]
    fn set_among(&mut self, part: u32, at: Instant) {
        self.each[part as usize] = at;
        self.first = self.each.iter().fold(Instant::MAX, |first, at| first.min(*at));
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
    pub(crate) fn is_due(&self, part: u32, now: Instant) -> bool {
        self.each.get(part as usize).unwrap_or(&self.first) <= &now
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

    #[test]
    fn one_that_is_alone_is_first() {
        let (at, mut alarms) = (Instant::from_ns(5), Alarms::new(1));
        assert!(!alarms.is_due(0, at) && !alarms.are_due(at));
        alarms.set(0, Some(at));
        assert!(alarms.is_due(0, at) && alarms.first() == Some(at));
        alarms.set(0, None);
        assert_eq!(alarms.first(), None);
    }
}
