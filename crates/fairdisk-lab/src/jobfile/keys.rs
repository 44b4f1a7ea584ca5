//! The table of keys: every key of fio 3.33 and Fairdisk's own ones, each with what becomes of it.
//!
//! To add a key, add a row here and, if it has an effect, a field in the draft and in the job.

use super::draft::Draft;
use super::setting::Given;
use super::value::{Read, TimeUnit, ValueError};
use fairdisk_core::QosKey;

pub(super) use harmless::{Harmless, Refused};

mod effective;
mod harmless;
mod inert;
mod modes;
mod refused;

/// One key of a job file.
pub struct Key {
    /// The key's main name.
    pub name: &'static str,
    /// The key's other names.
    pub aliases: &'static [&'static str],
    /// What the key sets, or why it has no effect.
    pub help: &'static str,
    /// The engines to which the key belongs; empty if every job may have it.
    pub engines: &'static [&'static str],
    pub(super) does: Does,
}

/// What becomes of a key.
#[derive(Clone, Copy)]
pub(super) enum Does {
    /// The key changes the job.
    Set(fn(&mut Draft, Given<'_>) -> Read<()>),
    /// The key sets a limit of the job's group.
    Limit(QosKey),
    /// The key, whose values have this shape, cannot change a result; a note says so.
    Nothing(Shape),
    /// fio knows the key, but Fairdisk would run something other than what was asked for, unless
    /// the key is harmless where it stands.
    Refuse(Harmless),
}

/// The values that fio accepts for a key that has no effect here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// 0 or 1.
    Flag,
    /// 0, 1, or the key without a value.
    Switch,
    /// A number within these bounds.
    Number(u64, u64),
    /// A time.
    Time,
    /// Any text.
    Text,
    /// Any text, or the key without a value.
    Anything,
    /// Numbers from 0 to 100, separated by `:`.
    Percentiles,
    /// Bytes: a number, or a text or a file name in quotes.
    Pattern,
    /// One of these words.
    Word(&'static [&'static str]),
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Key({})", self.name)
    }
}

/// Every key, those with an effect first.
pub fn all() -> impl Iterator<Item = &'static Key> {
    effective::KEYS.iter().chain(modes::KEYS).chain(inert::KEYS).chain(refused::KEYS)
}

/// The key with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Key> {
    all().find(|key| key.name == name || key.aliases.contains(&name))
}

/// The key most similar to this name, if any is. `--bs`, `bs: 4k` and `bs 4k` are not keys but are
/// similar to one.
pub(super) fn nearest(name: &str) -> Option<&'static str> {
    let word = name.trim_start_matches('-').split([':', ' ']).next().unwrap_or_default();
    let word = if word.is_empty() { name } else { word };
    crate::nearest::nearest(word, words()).map(meant)
}

/// The key most similar to this name, however different.
pub(super) fn closest(name: &str) -> Option<&'static str> {
    crate::nearest::closest(name, words()).map(meant)
}

fn names() -> impl Iterator<Item = &'static str> {
    all().flat_map(|key| key.aliases.iter().chain([&key.name]).copied())
}

/// What settings of groups begin with here.
const OF_GROUP: &str = "group_";
/// What experiments, wishes and mounts call the priority of a group.
const PRIORITY: (&str, &str) = ("priority", "group_ioprio");

/// The names, and what the keys of groups are called elsewhere: the same, without `group_`.
fn words() -> impl Iterator<Item = &'static str> {
    let elsewhere = names().filter_map(|name| name.strip_prefix(OF_GROUP)).chain([PRIORITY.0]);
    names().chain(elsewhere)
}

/// The name of the key for which this is a word.
fn meant(word: &'static str) -> &'static str {
    let of_group = |name: &&str| name.strip_prefix(OF_GROUP) == Some(word);
    match word {
        _ if find(word).is_some() => word,
        word if word == PRIORITY.0 => PRIORITY.1,
        _ => names().find(of_group).unwrap_or(word),
    }
}

impl Shape {
    /// Refuses values that fio refuses, and values that would change the result.
    pub(super) fn check(self, given: Given<'_>) -> Read<()> {
        match self {
            Self::Anything => Ok(()),
            Self::Flag => given.flag().map(|_| ()),
            Self::Switch => given.switch().map(|_| ()),
            Self::Number(min, max) => given.count(min..=max).map(|_| ()),
            Self::Time => given.time_ns(TimeUnit::Microseconds).map(|_| ()),
            Self::Text => given.text().map(|_| ()),
            Self::Pattern => pattern(given),
            Self::Percentiles => percentiles(given),
            Self::Word(words) => {
                let pairs: Vec<(&str, ())> = words.iter().map(|word| (*word, ())).collect();
                given.choice(&pairs)
            }
        }
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

/// The most percentiles that fio accepts.
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

    #[test]
    fn keys_of_groups_are_known_by_what_they_are_called_elsewhere() {
        for key in ["weight", "min_iops", "max_bps", "burst_ms", "latency_p99_ms", "ioprio"] {
            let called = format!("group_{key}");
            assert_eq!(nearest(key), Some(called.as_str()));
            assert_eq!(closest(key), Some(called.as_str()));
        }
        assert_eq!(nearest("priority"), Some("group_ioprio"));
        assert_eq!(nearest("max_iop"), Some("group_max_iops"));
        // What is a key itself is meant as it is.
        assert_eq!((nearest("rate_iop"), nearest("pri")), (Some("rate_iops"), Some("prio")));
        assert!(words().all(|word| find(meant(word)).is_some()));
    }
}
