//! Values that differ by operation.

use serde::Serialize;

/// A value each for reads, writes and trims, as in fio's `a,b,c` lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct PerOp<T> {
    /// The value for reads.
    pub read: T,
    /// The value for writes.
    pub write: T,
    /// The value for trims.
    pub trim: T,
}

impl<T: Clone> PerOp<T> {
    /// One value for all three operations.
    pub fn all(value: T) -> Self {
        Self { read: value.clone(), write: value.clone(), trim: value }
    }
}

impl<T> PerOp<T> {
    /// The values in fio's order: read, write, trim.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        [&self.read, &self.write, &self.trim].into_iter()
    }

    /// Applies a function to each of the three values.
    pub fn map<U>(self, mut change: impl FnMut(T) -> U) -> PerOp<U> {
        PerOp { read: change(self.read), write: change(self.write), trim: change(self.trim) }
    }
}

impl<T: Clone> PerOp<Option<T>> {
    /// fio's rule for lists: a single value is for all operations, two are for reads and for the
    /// rest, three are for one each. An empty place keeps the previous value.
    pub(super) fn from_parts(parts: &[Option<T>]) -> Self {
        let pick = |index: usize| parts.get(index.min(parts.len() - 1)).cloned().flatten();
        if parts.is_empty() {
            return Self { read: None, write: None, trim: None };
        }
        Self { read: pick(0), write: pick(1), trim: pick(2) }
    }

    /// The values set here, and those of `under` for the rest.
    pub(super) fn or(self, under: Option<&Self>) -> Self {
        let Some(under) = under else { return self };
        Self {
            read: self.read.or_else(|| under.read.clone()),
            write: self.write.or_else(|| under.write.clone()),
            trim: self.trim.or_else(|| under.trim.clone()),
        }
    }

    /// The values that are set, and `default` for the rest.
    pub(super) fn unwrap_or(self, default: &T) -> PerOp<T> {
        self.map(|value| value.unwrap_or_else(|| default.clone()))
    }
}
