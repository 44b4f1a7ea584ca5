//! Which values are allowed, and the words for those that are not.

use std::fmt::Display;
use std::ops::RangeInclusive;

/// The path of the key that is wrong, as `row.0.tasks.1.count`, and how.
pub(super) type Wrong = (String, String);

/// The key at the end of `path`, without the places in its list.
pub(super) fn key_of(path: &str) -> &str {
    let mut parts = path.rsplit('.');
    parts.find(|part| part.parse::<usize>().is_err()).unwrap_or(path)
}

/// Demands that the value of the key at `path` is `good`.
pub(super) fn demand(
    good: bool,
    path: &str,
    value: impl Display,
    allowed: impl Display,
) -> Result<(), Wrong> {
    let wrong = || (path.to_owned(), format!("`{}` is {value}; allowed: {allowed}", key_of(path)));
    if good { Ok(()) } else { Err(wrong()) }
}

/// Demands that a value, if there is one, lies in a range, which `allowed` puts into words.
pub(super) fn demand_in<T: PartialOrd + Display + Copy>(
    range: RangeInclusive<T>,
    path: &str,
    value: Option<T>,
    allowed: &str,
) -> Result<(), Wrong> {
    value.map_or(Ok(()), |value| demand(range.contains(&value), path, value, allowed))
}

/// Demands that a value lies in a range.
pub(super) fn demand_within<T: PartialOrd + Display + Copy>(
    range: RangeInclusive<T>,
    path: &str,
    value: T,
) -> Result<(), Wrong> {
    let (least, most) = (range.start(), range.end());
    demand(range.contains(&value), path, value, format_args!("{least} to {most}"))
}
