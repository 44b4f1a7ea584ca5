//! Settings on their way to the draft: the parsers used by the rows of the key table.

use std::ops::RangeInclusive;

use super::error::{ErrorKind, Place};
use super::per_op::PerOp;
use super::source;
use super::value::{self, KbBase, Read, TimeUnit, ValueError};
use crate::nearest::nearest;

/// One value, with what is needed to parse it.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub(super) key: &'static str,
    pub(super) raw: Option<&'a str>,
    pub(super) place: &'a Place,
    pub(super) base: KbBase,
}

/// A value and the line that set it.
#[derive(Debug, Clone)]
pub(super) struct Placed<T> {
    pub(super) value: T,
    pub(super) place: Place,
    pub(super) key: &'static str,
}

impl<'a> Given<'a> {
    /// Stores a parsed value; a later setting of the same key takes precedence.
    pub(super) fn set<T>(&self, slot: &mut Option<Placed<T>>, read: Read<T>) -> Read<()> {
        *slot = Some(Placed { value: read?, place: self.place.clone(), key: self.key });
        Ok(())
    }

    /// Stores a list on top of the present one, whose values its empty parts keep.
    pub(super) fn merge<T: Clone>(
        &self,
        slot: &mut Option<Placed<PerOp<Option<T>>>>,
        read: Read<PerOp<Option<T>>>,
    ) -> Read<()> {
        let merged = read.map(|list| list.or(slot.as_ref().map(|placed| &placed.value)));
        self.set(slot, merged)
    }

    /// This setting, with only a part of its text.
    fn with(&self, raw: &'a str) -> Self {
        Self { raw: Some(raw), ..*self }
    }

    fn needed(&self, expected: &str) -> Read<&'a str> {
        self.raw.ok_or_else(|| ValueError::Missing(expected.to_owned()))
    }

    /// The text, which must not be empty and must survive being written to a job file again.
    pub(super) fn text(&self) -> Read<String> {
        let text = self.needed("a text")?.trim();
        if text.is_empty() {
            return ValueError::bad("a text that is not empty");
        }
        if text.contains([';', '#']) || text.contains("${") || text.contains(char::is_control) {
            return ValueError::unsupported(
                "`;`, `#`, `${` and control characters cannot be written in a job file",
            );
        }
        Ok(text.to_owned())
    }

    /// The text exactly as written, for names; fio accepts no blanks around them.
    pub(super) fn word(&self, expected: &str) -> Read<&'a str> {
        self.needed(expected)
    }

    /// One of a closed list of words.
    pub(super) fn choice<T: Copy>(&self, words: &[(&str, T)]) -> Read<T> {
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let expected = format!("one of {}", names.join(", "));
        let text = self.needed(&expected)?;
        match words.iter().find(|(word, _)| *word == text) {
            Some((_, value)) => Ok(*value),
            None if self.extends_a_word(&names) => {
                ValueError::unsupported(format!("fio drops what follows the word; {expected}"))
            }
            None => match nearest(text, names) {
                Some(near) => ValueError::bad(format!("{expected}; did you mean `{near}`?")),
                None => ValueError::bad(expected),
            },
        }
    }

    /// Whether fio would stop at a `:` or `,` after a word that it knows.
    fn extends_a_word(&self, names: &[&str]) -> bool {
        let text = self.raw.unwrap_or_default();
        text.split_once([':', ',']).is_some_and(|(word, _)| names.contains(&word))
    }

    /// A number of bytes.
    pub(super) fn bytes(&self) -> Read<u64> {
        value::quantity(self.needed("an amount, such as 4k or 1g")?, self.base)
    }

    /// A whole number; fio accepts unit suffixes on these too.
    pub(super) fn count(&self, range: RangeInclusive<u64>) -> Read<u64> {
        let expected = format!("a number from {} to {}", range.start(), range.end());
        let value = value::quantity(self.needed(&expected)?, self.base)?;
        if range.contains(&value) { Ok(value) } else { ValueError::bad(expected) }
    }

    /// A whole number of 32 bits. fio accepts larger ones, and 0 where it makes no sense.
    pub(super) fn count32(&self, min: u32) -> Read<u32> {
        let value = value::quantity(self.needed("a number")?, self.base)?;
        match u32::try_from(value) {
            Ok(value) if value >= min => Ok(value),
            _ => ValueError::unsupported(format!("write a number from {min} to {}", u32::MAX)),
        }
    }

    /// A signed number.
    pub(super) fn signed(&self, range: RangeInclusive<i64>) -> Read<i64> {
        let expected = format!("a number from {} to {}", range.start(), range.end());
        let value = value::signed_quantity(self.needed(&expected)?, self.base)?;
        if range.contains(&value) { Ok(value) } else { ValueError::bad(expected) }
    }

    /// A time in nanoseconds.
    pub(super) fn time_ns(&self, bare: TimeUnit) -> Read<u64> {
        value::time_ns(self.needed("a time, such as 10, 500ms or 2m")?, bare)
    }

    /// `0` or `1`; a value is required. fio looks at the digits only.
    pub(super) fn flag(&self) -> Read<bool> {
        let expected = "0 or 1";
        let text = self.needed(expected)?.trim();
        let plain = text.chars().all(|c| c.is_ascii_digit());
        match value::quantity(text, self.base) {
            Ok(number @ 0..=1) => Ok(number == 1),
            Ok(_) if plain => ValueError::bad(expected),
            Err(ValueError::Bad(_)) => ValueError::bad(expected),
            _ => ValueError::unsupported("write 0 or 1"),
        }
    }

    /// A switch, which the key without a value turns on; in fio any number but 0 means on.
    pub(super) fn switch(&self) -> Read<bool> {
        match self.raw {
            None => Ok(true),
            Some(text) => match value::quantity(text, self.base) {
                Ok(number) => Ok(number != 0),
                Err(ValueError::Bad(_)) => ValueError::bad("0, 1, or the key alone"),
                Err(other) => Err(other),
            },
        }
    }

    /// The parts of an `a,b,c` list; an empty part keeps the previous value.
    pub(super) fn per_op<T: Clone>(
        &self,
        read: impl Fn(Self) -> Read<T>,
    ) -> Read<PerOp<Option<T>>> {
        let text = self.needed("a value, or up to three parted by commas")?;
        let part = |part: &'a str| match part.trim() {
            "" => Ok(None),
            text => read(self.with(text)).map(Some),
        };
        let parts = text.split(',').map(part).collect::<Read<Vec<_>>>()?;
        if parts.len() > 3 {
            return ValueError::unsupported("at most three values: for reads, writes and trims");
        }
        if parts.iter().all(Option::is_none) {
            return ValueError::bad("a value, or up to three parted by commas");
        }
        Ok(PerOp::from_parts(&parts))
    }

    /// A `low-high` range in either order, or a single value.
    pub(super) fn range<T: Ord + Copy>(&self, read: impl Fn(Self) -> Read<T>) -> Read<(T, T)> {
        let text = self.needed("a value or a range, such as 1-4")?;
        match text.split_once(['-', ':']) {
            None | Some(("", _)) => read(*self).map(|value| (value, value)),
            Some((_, "")) => ValueError::unsupported("the range has no upper end"),
            Some((a, b)) => {
                let (a, b) = (read(self.with(a))?, read(self.with(b))?);
                Ok((a.min(b), a.max(b)))
            }
        }
    }
}

impl ValueError {
    /// The error as it is shown to the user.
    pub(super) fn at(self, setting: &source::Setting) -> ErrorKind {
        let key = setting.key.clone();
        let value = setting.value.clone().unwrap_or_default();
        let because = |text: String| match setting.unset.as_slice() {
            [] => text,
            unset => format!("{text} (not set, and read as nothing: {})", unset.join(", ")),
        };
        match self {
            Self::Missing(expected) => ErrorKind::MissingValue { key, expected },
            Self::Bad(expected) => ErrorKind::BadValue { key, value, expected: because(expected) },
            Self::Unsupported(remedy) => {
                ErrorKind::UnsupportedValue { key, value, remedy: because(remedy) }
            }
        }
    }
}
