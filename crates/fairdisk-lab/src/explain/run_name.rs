//! Parses the name of a single run: `SPEC[/ARM[/ROW[/SEED]]]`.

use crate::catalog::library::Kind;
use crate::spec::SpecError;
use std::path::Path;

/// The part of a run's name after its experiment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RunName {
    /// The name of the arm; the first arm if not given.
    pub(super) arm: Option<String>,
    /// The label of the row; the first row if not given.
    pub(super) row: Option<String>,
    /// The seed; 0 if not given.
    pub(super) seed: u32,
}

/// Splits the experiment, or the path of a file, from the rest of a run's name. Slashes within a
/// path are its own: the path ends where a file exists, or else, unless a built-in experiment
/// precedes the first slash, with `.toml` or `.fio`. What follows a built-in experiment may be an
/// arm that is called by the path of a scheduler's file.
#[must_use]
pub fn split(text: &str) -> (&str, &str) {
    let mut ends = text.match_indices('/').map(|(at, _)| at).chain([text.len()]);
    let is_file = |end: usize| Path::new(&text[..end]).metadata().is_ok_and(|at| !at.is_dir());
    let first = text.find('/').unwrap_or(text.len());
    let is_built_in = Kind::Experiment.ids().any(|id| id == &text[..first]);
    let end = ends
        .clone()
        .find(|end| is_file(*end))
        .or_else(|| ends.find(|end| !is_built_in && ends_as_a_file(&text[..*end])))
        .unwrap_or(first);
    let (spec, rest) = text.split_at(end);
    (spec, rest.strip_prefix('/').unwrap_or(rest))
}

impl RunName {
    /// Parses `rest`, which follows the experiment in `text`. `arms` and `rows` are the known
    /// names, which may contain slashes.
    ///
    /// # Errors
    /// There are too many parts, or the seed is not a number.
    pub(super) fn parse<'a>(
        text: &str,
        rest: &'a str,
        arms: &[&'a str],
        rows: &[&'a str],
    ) -> Result<Self, SpecError> {
        let bad = |what: &str| {
            SpecError::new(format!("{text}: {what}; expected SPEC[/ARM[/ROW[/SEED]]]"))
        };
        let mut left = Some(rest).filter(|rest| !rest.is_empty());
        let mut part = |known: &[&'a str]| {
            let text = left.take()?;
            let (part, after) = first_part(text, known);
            left = after;
            Some(part.to_owned())
        };
        let (arm, row, seed) = (part(arms), part(rows), part(&[]));
        if left.is_some() {
            return Err(bad("too many parts"));
        }
        let seed = seed.map_or(Ok(0), |seed| seed.parse());
        let seed = seed.map_err(|_| bad("the seed is not a number from 0"))?;
        Ok(Self { arm, row, seed })
    }
}

/// Splits off the first part: the longest of the known names that `text` begins with, or else what
/// precedes the first slash. Returns the part and what follows its slash.
fn first_part<'a>(text: &'a str, known: &[&'a str]) -> (&'a str, Option<&'a str>) {
    let begins = |name: &&&str| match text.strip_prefix(**name) {
        Some(after) => after.is_empty() || after.starts_with('/'),
        None => false,
    };
    let longest = known.iter().filter(begins).max_by_key(|name| name.len());
    match longest {
        Some(name) => (name, text[name.len()..].strip_prefix('/')),
        None => text.split_once('/').map_or((text, None), |(part, after)| (part, Some(after))),
    }
}

fn ends_as_a_file(path: &str) -> bool {
    let ending = Path::new(path).extension().unwrap_or_default();
    ["toml", "fio"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_one_to_four_parts() {
        let parts = |text: &str| {
            let (spec, rest) = split(text);
            let name =
                RunName::parse(text, rest, &["a", "a/b"], &["#1", "4 KiB/s"]).expect("well formed");
            (spec.to_owned(), name.arm.unwrap_or_default(), name.row.unwrap_or_default(), name.seed)
        };
        let strings = |a: &str, b: &str, c: &str, seed| (a.into(), b.into(), c.into(), seed);
        assert_eq!(parts("x"), strings("x", "", "", 0));
        assert_eq!(parts("x/a/#1/3"), strings("x", "a", "#1", 3));
        assert_eq!(parts("x/a/4 KiB/s"), strings("x", "a", "4 KiB/s", 0));
        assert_eq!(parts("x/a/b/4 KiB/s/7"), strings("x", "a/b", "4 KiB/s", 7));
        assert_eq!(parts("x/strange/b/7"), strings("x", "strange", "b", 7));
        assert_eq!(parts("./d/x.toml/a"), strings("./d/x.toml", "a", "", 0));
        assert_eq!(parts("d/x.fio"), strings("d/x.fio", "", "", 0));
        assert_eq!(parts("d/X.FIO/a"), strings("d/X.FIO", "a", "", 0));
        assert_eq!(parts("/dev/null/a"), strings("/dev/null", "a", "", 0));
        let built_in = parts("two-groups/d/x.toml");
        assert_eq!(built_in, strings("two-groups", "d", "x.toml", 0), "the experiment comes first");
        for bad in ["a/b/#1/c", "a/#1/-1", "a/#1/1/2"] {
            assert!(RunName::parse(bad, bad, &["a", "a/b"], &["#1"]).is_err(), "{bad}");
        }
    }
}
