//! Whether and how long to keep the disk free for a task or group that has nothing queued.

use fairdisk_core::{Instant, Span, Why};

/// A think time may be a quarter of the time gained: not every task comes back, and the others lose
/// the wait.
const GAIN_PARTS: u64 = 4;

/// Whether to keep the disk free for the task or group whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// Until then, by the rule.
    Until(Instant),
    /// Until then, as `idle=` asks; the group is charged for it.
    AskedFor(Instant),
    /// Until then, by the rule: it has been away for longer than is usual, the second value, but
    /// its pauses are not too long to wait for.
    Longer(Instant, Span),
    /// It has not come back within the usual wait, which is given, nor after one of its pauses.
    Over(Span),
    /// It has not come back in the time that `idle=` asks for, or cannot pay for more of it.
    Spent,
    /// It would gain something, but its think time is too long.
    TooLong,
    /// Nothing would be gained.
    NotWorthIt,
}

impl Patience {
    /// For how long it was waited in vain, if its pauses are longer.
    pub(super) const fn outlasted(self) -> Option<Span> {
        match self {
            Self::Longer(_, usual) => Some(usual),
            _ => None,
        }
    }

    /// The reason for serving somebody else instead; `otherwise` if nothing was waited for.
    pub(super) const fn why(self, otherwise: Why) -> Why {
        match self {
            Self::TooLong | Self::NotWorthIt => otherwise,
            _ => Why::IdleWaitFailed,
        }
    }
}

/// What is gained by keeping the disk free.
#[derive(Clone, Copy, Default)]
pub(super) struct Gain {
    /// The time of the request that would otherwise wait for another. The think time may be as
    /// long: the device is then busy half of the time.
    pub(super) own: Span,
    /// `own`, or the mean time of all requests if that is longer.
    pub(super) isolation: Span,
    /// The time of the requests of others that would be served before, on a disk that takes
    /// several. How long a task is waited for that comes back does not depend on it: those who
    /// leave for good would cost more.
    pub(super) others: Span,
    /// The time the device saves.
    pub(super) time: Span,
}

/// How long to wait for a gain: the think time may take this part of it.
pub(super) fn worth_waiting(gain: Span) -> Span {
    gain / GAIN_PARTS
}

/// How long to wait for who usually thinks for `think`, where that gains so much, and no longer
/// than `most`: for twice the think time, as a pause is sometimes longer than usual, and a part of
/// the gain, which is little to lose.
pub(super) fn wait_for(think: Span, gain: Span, most: Span) -> Span {
    (think + think + worth_waiting(gain)).min(most)
}

/// A task or group that has nothing queued.
#[derive(Clone, Copy, Debug)]
pub(super) struct Absent {
    /// When it was last served.
    pub(super) since: Instant,
    /// How long it thinks in the mean, and how long its pauses are.
    pub(super) think: Option<Span>,
    pub(super) pause: Option<Span>,
}

impl Absent {
    /// Whether to keep the disk free for it, and no longer than `most`.
    pub(super) fn patience(self, now: Instant, gain: Gain, most: Span) -> Patience {
        let Self { since, think, pause } = self;
        let Gain { own, isolation, others, time } = gain;
        let (think, gained) = (think.unwrap_or(Span::ZERO), isolation + time);
        if gained == Span::ZERO {
            return Patience::NotWorthIt;
        }
        let worth = own.max(worth_waiting(isolation.max(others))) + worth_waiting(time);
        if think > worth.min(most) || most == Span::ZERO {
            return Patience::TooLong;
        }
        let usual = wait_for(think, gained, most);
        if since + usual > now {
            return Patience::Until(since + usual);
        }
        let pause = pause.filter(|pause| *pause <= worth.min(most));
        match pause.map(|pause| since + wait_for(pause, gained, most)) {
            Some(until) if until > now => Patience::Longer(until, usual),
            _ => Patience::Over(usual),
        }
    }

    /// Whether to keep the disk free for it for `idle`, as set, while it can pay for it. If its
    /// think time is longer it would pay in vain.
    pub(super) fn asked_for(self, now: Instant, idle: Span, paid_until: Instant) -> Patience {
        let until = (self.since + idle).min(paid_until);
        if self.think.is_some_and(|think| think > idle) {
            Patience::TooLong
        } else if until > now {
            Patience::AskedFor(until)
        } else {
            Patience::Spent
        }
    }
}
