//! A value for each direction of data.

use serde::Serialize;

/// A value for reads, writes and trims, as fio's `a,b,c` lists give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct PerDirection<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For trims.
    pub trim: T,
}

impl<T: Clone> PerDirection<T> {
    /// The same for all three.
    pub fn all(value: T) -> Self {
        Self { read: value.clone(), write: value.clone(), trim: value }
    }
}

impl<T> PerDirection<T> {
    /// In fio's order: read, write, trim.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        [&self.read, &self.write, &self.trim].into_iter()
    }

    /// Each of the three changed by the same function.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> PerDirection<U> {
        PerDirection { read: change(self.read), write: change(self.write), trim: change(self.trim) }
    }
}

impl<T: Clone> PerDirection<Option<T>> {
    /// fio's rule for lists: one value is for all, two are read and the rest, three are their own;
    /// an empty place keeps what was there.
    pub(super) fn from_parts(parts: &[Option<T>]) -> Self {
        let pick = |index: usize| parts.get(index.min(parts.len() - 1)).cloned().flatten();
        if parts.is_empty() {
            return Self { read: None, write: None, trim: None };
        }
        Self { read: pick(0), write: pick(1), trim: pick(2) }
    }

    /// What is set here, else what `under` has.
    pub(super) fn or(self, under: Option<&Self>) -> Self {
        let Some(under) = under else { return self };
        Self {
            read: self.read.or_else(|| under.read.clone()),
            write: self.write.or_else(|| under.write.clone()),
            trim: self.trim.or_else(|| under.trim.clone()),
        }
    }

    /// What is set, else the default.
    pub(super) fn unwrap_or(self, default: &T) -> PerDirection<T> {
        self.map(|value| value.unwrap_or_else(|| default.clone()))
    }
}
