//! Either of the policies, by what the host asks for.

use super::{Arrival, Policy, Presence, SecondChance};
use crate::host::memory::{Memory, Taker};
use fairdisk_core::Instant;
use std::ops::Range;

/// What holds the pages of a machine.
#[derive(Debug)]
pub(crate) enum Kept {
    /// An amount of memory that is always there at once.
    SecondChance(SecondChance),
    /// Memory page by page, which must be taken before pages are added.
    Frames(Box<Memory>),
}

impl Kept {
    /// Memory page by page, if it is that.
    pub(crate) fn memory(&mut self) -> Option<&mut Memory> {
        match self {
            Self::SecondChance(_) => None,
            Self::Frames(memory) => Some(memory),
        }
    }
}

impl Policy for Kept {
    /// When, and who.
    type By = (Instant, Taker);

    #[inline]
    fn presence(&self, file: u32, page: u64) -> Presence {
        match self {
            Self::SecondChance(policy) => policy.presence(file, page),
            Self::Frames(memory) => Policy::presence(&**memory, file, page),
        }
    }

    fn is_held(&self, file: u32, page: u64) -> bool {
        match self {
            Self::SecondChance(policy) => policy.is_held(file, page),
            Self::Frames(memory) => Policy::is_held(&**memory, file, page),
        }
    }

    #[inline]
    fn used(&mut self, file: u32, page: u64) -> bool {
        match self {
            Self::SecondChance(policy) => policy.used(file, page),
            Self::Frames(memory) => Policy::used(&mut **memory, file, page),
        }
    }

    fn used_through_mapping(&mut self, file: u32, page: u64) -> bool {
        match self {
            Self::SecondChance(policy) => policy.used_through_mapping(file, page),
            Self::Frames(memory) => Policy::used_through_mapping(&mut **memory, file, page),
        }
    }

    #[inline]
    fn add(&mut self, by: &mut Self::By, file: u32, page: u64, arrival: Arrival) {
        match self {
            Self::SecondChance(policy) => policy.add(&mut (), file, page, arrival),
            Self::Frames(memory) => memory.add(by, file, page, arrival),
        }
    }

    fn arrived(&mut self, file: u32, pages: Range<u64>) {
        match self {
            Self::SecondChance(policy) => policy.arrived(file, pages),
            Self::Frames(memory) => Policy::arrived(&mut **memory, file, pages),
        }
    }

    fn hold(&mut self, file: u32, page: u64) {
        match self {
            Self::SecondChance(policy) => policy.hold(file, page),
            Self::Frames(memory) => memory.hold(file, page),
        }
    }

    fn release(&mut self, file: u32, page: u64) {
        match self {
            Self::SecondChance(policy) => policy.release(file, page),
            Self::Frames(memory) => memory.release(file, page),
        }
    }

    fn drop_page(&mut self, by: &mut Self::By, file: u32, page: u64) {
        match self {
            Self::SecondChance(policy) => policy.drop_page(&mut (), file, page),
            Self::Frames(memory) => Policy::drop_page(&mut **memory, by, file, page),
        }
    }

    fn drop_file(&mut self, by: &mut Self::By, file: u32, pages: u64) {
        match self {
            Self::SecondChance(policy) => policy.drop_file(&mut (), file, pages),
            Self::Frames(memory) => memory.drop_file(by, file, pages),
        }
    }
}
