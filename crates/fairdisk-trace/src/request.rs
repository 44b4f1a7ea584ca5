//! A request of a trace.

use crate::origins::OriginId;
use core::ops::{BitOr, BitOrAssign};
use fairdisk_core::{Instant, Lba, Op, Sectors, Span};

/// A request, from when a task asked for it to when it was done. Times count from the start of the
/// trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Who asked.
    pub origin: OriginId,
    /// The operation.
    pub op: Op,
    /// More about it.
    pub traits: Traits,
    /// Where it begins, in sectors of 512 bytes: on the device, or in the file that its origin
    /// names as its device.
    pub start: Lba,
    /// Its length.
    pub sectors: Sectors,
    /// When the task asked (blktrace's Q).
    pub queued: Instant,
    /// When it was given to the device (D), if that is known.
    pub issued: Option<Instant>,
    /// When it was done (C), if that is known.
    pub done: Option<Instant>,
}

impl Request {
    /// The end of its range.
    #[must_use]
    pub const fn end(&self) -> Lba {
        self.start.after(self.sectors)
    }

    /// How long it waited for the scheduler (Q2D).
    #[must_use]
    pub fn waited(&self) -> Option<Span> {
        self.issued.map(|issued| issued.since(self.queued))
    }

    /// How long it took at the device (D2C).
    #[must_use]
    pub fn served_in(&self) -> Option<Span> {
        Some(self.done?.since(self.issued?))
    }

    /// How long it took in all (Q2C).
    #[must_use]
    pub fn took(&self) -> Option<Span> {
        self.done.map(|done| done.since(self.queued))
    }
}

/// Properties of a request, as a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits(u8);

impl Traits {
    /// None of them.
    pub const NONE: Self = Self(0);
    /// Somebody waits for it. A read always is.
    pub const SYNC: Self = Self(1);
    /// It is durable when it is done (FUA, `O_SYNC`).
    pub const DURABLE: Self = Self(2);
    /// It is metadata of a file system.
    pub const META: Self = Self(4);
    /// It is read-ahead.
    pub const AHEAD: Self = Self(8);
    /// It went through the page cache of the task's system before it was recorded.
    pub const BUFFERED: Self = Self(16);
    /// It bypassed that page cache (`O_DIRECT`).
    pub const DIRECT: Self = Self(32);

    /// All that are known, as a mask.
    pub(crate) const ALL: u8 = 63;

    /// Whether every property in `other` is there.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The properties as a bit mask.
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// The properties in a bit mask; unknown bits are dropped.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & Self::ALL)
    }

    /// These, and `other` if `is_so`.
    #[must_use]
    pub const fn with(self, other: Self, is_so: bool) -> Self {
        if is_so { Self(self.0 | other.0) } else { self }
    }
}

impl BitOr for Traits {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Traits {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
