//! The table of keys: every key fio 3.33 knows and Fairdisk's own, each with what becomes of it.
//!
//! Adding a key is a row here and, when it has an effect, a field in the draft and the job.

use super::draft::Draft;
use super::setting::Given;
use super::value::{Read, ValueError};

mod effective;
mod inert;
mod refused;

/// One key of a job file.
pub struct Key {
    /// Its first name.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// What it sets, or why it sets nothing.
    pub help: &'static str,
    /// The engines it belongs to; empty: every job may have it.
    pub engines: &'static [&'static str],
    pub(super) does: Does,
}

/// What becomes of a key.
#[derive(Clone, Copy)]
pub(super) enum Does {
    /// It changes the job.
    Set(fn(&mut Draft, Given<'_>) -> Read<()>),
    /// It cannot change a result of this shape of value; one note says so.
    Nothing(Shape),
    /// fio knows it, Fairdisk would run something else than was asked.
    Refuse,
}

/// What fio takes as a value of a key that has no effect here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// 0 or 1.
    Flag,
    /// 0, 1, or the key alone.
    Switch,
    /// A number within these bounds.
    Number(u64, u64),
    /// Any text.
    Text,
    /// Any text, or the key alone.
    Anything,
    /// Numbers parted by `:`, from 0 to 100.
    Percentiles,
    /// Bytes: a number, or a text or file name in quotes.
    Pattern,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Only these values change nothing; fio has others, and they would change the result.
    Only(&'static [&'static str]),
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Key({})", self.name)
    }
}

/// Every key, those with an effect first.
pub fn all() -> impl Iterator<Item = &'static Key> {
    effective::KEYS.iter().chain(inert::KEYS).chain(refused::KEYS)
}

/// The key of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Key> {
    all().find(|key| key.name == name || key.aliases.contains(&name))
}

/// The key most like this name, if one is: `--bs`, `bs: 4k` and `bs 4k` are no keys, but near one.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let word = name.trim_start_matches('-').split([':', ' ']).next().unwrap_or_default();
    crate::nearest::nearest(if word.is_empty() { name } else { word }, names())
}

/// The key most like this name, however little.
pub(super) fn closest(name: &str) -> Option<&'static str> {
    crate::nearest::closest(name, names())
}

fn names() -> impl Iterator<Item = &'static str> {
    all().flat_map(|key| key.aliases.iter().chain([&key.name]).copied())
}

impl Shape {
    /// Refuses what fio would refuse, and what would change the result.
    pub(super) fn check(self, given: Given<'_>) -> Read<()> {
        match self {
            Self::Anything => Ok(()),
            Self::Flag => given.flag().map(|_| ()),
            Self::Switch => given.switch().map(|_| ()),
            Self::Number(min, max) => given.count(min..=max).map(|_| ()),
            Self::Text => given.text().map(|_| ()),
            Self::Pattern => pattern(given),
            Self::Percentiles => percentiles(given),
            Self::Word(words) => {
                let pairs: Vec<(&str, ())> = words.iter().map(|word| (*word, ())).collect();
                given.choice(&pairs)
            }
            Self::Only(words) => only(given, words),
        }
    }
}

fn only(given: Given<'_>, words: &[&str]) -> Read<()> {
    let expected = words.join(" or ");
    match given.word(&expected)?.trim() {
        text if words.contains(&text) => Ok(()),
        "" => ValueError::bad(expected),
        _ => ValueError::unsupported(format!(
            "it would change the result; only {expected} can be run"
        )),
    }
}

fn pattern(given: Given<'_>) -> Read<()> {
    let expected = "a number such as 0xdeadbeef, a text in double quotes or a file in single ones";
    let starts = |c: char| c.is_ascii_digit() || "\"'-%".contains(c);
    if given.word(expected)?.trim().starts_with(starts) {
        Ok(())
    } else {
        ValueError::bad(expected)
    }
}

/// fio takes at most so many.
const PERCENTILES_MAX: usize = 20;

fn percentiles(given: Given<'_>) -> Read<()> {
    let expected = "up to 20 numbers from 0 to 100 parted by `:`, such as 50:99:99.9";
    let list: Vec<&str> = given.word(expected)?.split(':').collect();
    let fine = |text: &&str| {
        text.trim().parse::<f64>().is_ok_and(|number| (0.0..=100.0).contains(&number))
    };
    if list.len() <= PERCENTILES_MAX && list.iter().all(fine) {
        Ok(())
    } else {
        ValueError::bad(expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_every_key_is_explained() {
        let mut names: Vec<&str> =
            all().flat_map(|key| key.aliases.iter().chain([&key.name]).copied()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(all().all(|key| !key.help.is_empty()));
    }
}
