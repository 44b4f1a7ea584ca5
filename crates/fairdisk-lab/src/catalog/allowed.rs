//! Checks of values against the allowed ones, and the messages for those that are not.

use super::error::Fault;
use std::fmt::Display;
use std::ops::RangeInclusive;

/// The path of the faulty key, such as `row.0.tasks.1.count`, and what is wrong with it.
pub(super) type Wrong = (String, Fault);

/// The key at the end of `path`, without list indices.
pub(super) fn key_of(path: &str) -> &str {
    let mut parts = path.rsplit('.');
    parts.find(|part| part.parse::<usize>().is_err()).unwrap_or(path)
}

/// Returns an error unless the value of the key at `path` is `good`.
pub(super) fn demand(
    good: bool,
    path: &str,
    value: impl Display,
    allowed: impl Display,
) -> Result<(), Wrong> {
    if good {
        return Ok(());
    }
    let (key, value) = (key_of(path).to_owned(), value.to_string());
    Err((path.to_owned(), Fault::NotAllowed { key, value, allowed: allowed.to_string() }))
}

/// Returns an error if a value is set and lies outside the range; `allowed` describes the range.
pub(super) fn demand_in<T: PartialOrd + Display + Copy>(
    range: RangeInclusive<T>,
    path: &str,
    value: Option<T>,
    allowed: &str,
) -> Result<(), Wrong> {
    value.map_or(Ok(()), |value| demand(range.contains(&value), path, value, allowed))
}

/// Returns an error unless a value lies within a range.
pub(super) fn demand_within<T: PartialOrd + Display + Copy>(
    range: RangeInclusive<T>,
    path: &str,
    value: T,
) -> Result<(), Wrong> {
    let (least, most) = (range.start(), range.end());
    demand(range.contains(&value), path, value, format_args!("{least} to {most}"))
}
