//! How writes are marked that make something durable (spec: cfq, section 1.6; disk, section 1.8).

use fairdisk_core::Flags;

/// Which of the writes that make something durable are marked as what somebody waits for: data of
/// `fsync` and `O_SYNC`, and what a journal writes. Direct writes are in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IntegrityWrites {
    /// None of them, as in Linux 2.6.25.
    Async,
    /// Commit records of journals.
    Record,
    /// All of them, with the hint not to idle after them, as from Linux 2.6.30 on.
    #[default]
    Noidle,
}

/// What is said of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) sync: bool,
    pub(super) flags: Flags,
}

impl Mark {
    /// Nobody waits for it.
    pub(super) const ASYNC: Self = Self { sync: false, flags: Flags::NONE };
    /// Somebody waits for it.
    pub(super) const SYNC: Self = Self { sync: true, flags: Flags::NONE };
    const NOIDLE: Self = Self { sync: true, flags: Flags::NOIDLE };
}

impl IntegrityWrites {
    /// Of data, and of a journal's log.
    pub(super) const fn data(self) -> Mark {
        match self {
            Self::Async | Self::Record => Mark::ASYNC,
            Self::Noidle => Mark::NOIDLE,
        }
    }

    /// Of a commit record.
    pub(super) const fn record(self) -> Mark {
        match self {
            Self::Record => Mark::SYNC,
            Self::Async | Self::Noidle => self.data(),
        }
    }
}
