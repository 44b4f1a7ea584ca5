//! How writes that make data durable are marked (spec: cfq, section 1.6; disk, section 1.8).

use fairdisk_core::Flags;

/// Which writes that make data durable are marked as synchronous: data of `fsync` and `O_SYNC`, and
/// journal writes. Direct writes always are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IntegrityWrites {
    /// None of them, as in Linux 2.6.25.
    Async,
    /// Only the commit records of journals.
    Record,
    /// All of them, with the hint not to idle afterwards, as from Linux 2.6.30 on.
    #[default]
    Noidle,
}

/// The marks of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) sync: bool,
    pub(super) flags: Flags,
}

impl Mark {
    /// Asynchronous: no task waits for the write.
    pub(super) const ASYNC: Self = Self { sync: false, flags: Flags::NONE };
    /// Synchronous: a task waits for the write.
    pub(super) const SYNC: Self = Self { sync: true, flags: Flags::NONE };
    const NOIDLE: Self = Self { sync: true, flags: Flags::NOIDLE };
}

impl IntegrityWrites {
    /// The marks of data and of a journal's log.
    pub(super) const fn data(self) -> Mark {
        match self {
            Self::Async | Self::Record => Mark::ASYNC,
            Self::Noidle => Mark::NOIDLE,
        }
    }

    /// The marks of a commit record.
    pub(super) const fn record(self) -> Mark {
        match self {
            Self::Record => Mark::SYNC,
            Self::Async | Self::Noidle => self.data(),
        }
    }
}
