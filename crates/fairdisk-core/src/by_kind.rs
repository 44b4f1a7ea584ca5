//! The kinds of operations that are counted apart, and values kept for each of them.

use crate::request::Op;
use core::ops::{Index, IndexMut};

/// A kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OpKind {
    /// Reads.
    Read,
    /// Writes, of zeroes, too.
    Write,
    /// Discards.
    Discard,
    /// Flushes.
    Flush,
}

impl OpKind {
    /// All kinds, in the order in which they are listed.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Discard, Self::Flush];

    /// The name in messages and results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Discard => "discard",
            Self::Flush => "flush",
        }
    }
}

impl From<Op> for OpKind {
    fn from(op: Op) -> Self {
        match op {
            Op::Read => Self::Read,
            Op::Write | Op::WriteZeroes => Self::Write,
            Op::Discard => Self::Discard,
            Op::Flush => Self::Flush,
        }
    }
}

/// A value for each kind of operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByKind<T>([T; OpKind::ALL.len()]);

impl<T> ByKind<T> {
    /// The kinds with their values.
    pub fn iter(&self) -> impl Iterator<Item = (OpKind, &T)> {
        OpKind::ALL.into_iter().zip(&self.0)
    }

    /// The value of each kind, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut()
    }
}

impl<T> Index<OpKind> for ByKind<T> {
    type Output = T;
    fn index(&self, kind: OpKind) -> &T {
        &self.0[kind as usize]
    }
}

impl<T> IndexMut<OpKind> for ByKind<T> {
    fn index_mut(&mut self, kind: OpKind) -> &mut T {
        &mut self.0[kind as usize]
    }
}
