//! The name of a single run: `SPEC[/ARM[/ROW[/SEED]]]`.

use crate::failure::Failure;
use std::path::Path;

/// A single run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunName {
    /// An experiment or the path of a file.
    pub(super) spec: String,
    /// The arm; the first if not given.
    pub(super) arm: Option<String>,
    /// The row; the first if not given.
    pub(super) row: Option<String>,
    /// The seed.
    pub(super) seed: u32,
}

impl RunName {
    /// Reads a name. The slashes of a path are its own: it ends where there is a file, or else with
    /// `.toml` or `.fio`.
    ///
    /// # Errors
    /// Too many parts, or a seed that is no number.
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let mut ends = text.match_indices('/').map(|(at, _)| at).chain([text.len()]);
        let is_file = |end: usize| Path::new(&text[..end]).metadata().is_ok_and(|at| !at.is_dir());
        let file = ends.clone().find(|end| is_file(*end));
        let end = file.or_else(|| ends.find(|end| ends_as_a_file(&text[..*end])));
        let end = end.or_else(|| text.find('/')).unwrap_or(text.len());
        let (spec, rest) = text.split_at(end);
        let mut parts = rest.split('/').skip(1).map(str::to_owned);
        let (arm, row, seed) = (parts.next(), parts.next(), parts.next());
        let bad = |what: &str| {
            Failure::BadInput(format!("{text}: {what}; expected SPEC[/ARM[/ROW[/SEED]]]"))
        };
        if parts.next().is_some() {
            return Err(bad("too many parts"));
        }
        let seed = seed.map_or(Ok(0), |seed| seed.parse());
        let seed = seed.map_err(|_| bad("the seed is not a number from 0"))?;
        Ok(Self { spec: spec.to_owned(), arm, row, seed })
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
            let name = RunName::parse(text).expect("well formed");
            (name.spec, name.arm.unwrap_or_default(), name.row.unwrap_or_default(), name.seed)
        };
        let strings = |a: &str, b: &str, c: &str, seed| (a.into(), b.into(), c.into(), seed);
        assert_eq!(parts("x"), strings("x", "", "", 0));
        assert_eq!(parts("x/a/#1/3"), strings("x", "a", "#1", 3));
        assert_eq!(parts("./d/x.toml/a"), strings("./d/x.toml", "a", "", 0));
        assert_eq!(parts("d/x.fio"), strings("d/x.fio", "", "", 0));
        assert_eq!(parts("d/X.FIO/a"), strings("d/X.FIO", "a", "", 0));
        assert_eq!(parts("/dev/null/a"), strings("/dev/null", "a", "", 0));
        for bad in ["x/a/b/c", "x/a/b/-1", "x/a/b/1/2"] {
            assert!(RunName::parse(bad).is_err(), "{bad}");
        }
    }
}
