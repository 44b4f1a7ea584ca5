//! What a job does to its files, and in which order.

use serde::Serialize;

use super::per_direction::PerDirection;
use super::setting::Given;
use super::value::{self, Read, ValueError};

/// The I/O pattern of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pattern {
    /// Which directions, in which proportion.
    pub mix: Mix,
    /// In which order of offsets.
    pub order: Order,
}

/// Which directions of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mix {
    /// Reads only.
    Read,
    /// Writes only.
    Write,
    /// Trims only.
    Trim,
    /// Reads and writes.
    ReadWrite {
        /// Of 100 requests, how many read.
        read_percent: u8,
    },
    /// Each write is preceded by a trim of the same range.
    TrimWrite,
}

impl Mix {
    /// Whether it reads, writes, trims.
    #[must_use]
    pub fn uses(self) -> PerDirection<bool> {
        let (read, write, trim) = match self {
            Self::Read => (true, false, false),
            Self::Write => (false, true, false),
            Self::Trim => (false, false, true),
            Self::ReadWrite { .. } => (true, true, false),
            Self::TrimWrite => (false, true, true),
        };
        PerDirection { read, write, trim }
    }
}

/// In which order offsets follow each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Each request where the previous one ended, plus a hole.
    Sequential {
        /// Bytes skipped after each request; negative goes backwards.
        hole_bytes: i64,
    },
    /// Offsets drawn from a distribution.
    Random(RandomOrder),
}

/// How random offsets are drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RandomOrder {
    /// Where they fall.
    pub distribution: Distribution,
    /// Of 100 requests, how many draw an offset; the others go on where the previous one ended.
    pub random_percent: PerDirection<u8>,
    /// Whether every block is visited once before any is visited twice (no `norandommap`).
    pub covers_every_block: bool,
    /// How often an offset is drawn.
    pub repeat: Repeat,
}

/// What happens between two drawn offsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeat {
    /// An offset is drawn for every request.
    Never,
    /// After a drawn offset the next requests follow it: `rw=randread:8`.
    Sequential {
        /// Requests for each drawn offset.
        requests: u32,
    },
    /// The same offset again: `rw_sequencer=identical`.
    Identical {
        /// Requests for each drawn offset.
        requests: u32,
    },
}

/// Where random offsets fall.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// Everywhere alike.
    Uniform,
    /// Zipf, with its theta.
    Zipf {
        /// Larger is more skewed; never 1.
        theta: f64,
    },
    /// Pareto, with its power.
    Pareto {
        /// Above 0 and below 1.
        h: f64,
    },
}

/// `rw=` before it meets the other keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Direction {
    pub(super) kind: Kind,
    pub(super) random: bool,
    /// The number behind the colon.
    pub(super) modifier: Option<i64>,
}

impl Direction {
    /// The word that names it.
    pub(super) fn word(self) -> &'static str {
        let same = |entry: &&(&str, (Kind, bool))| entry.1 == (self.kind, self.random);
        WORDS.iter().find(same).map_or("", |(word, _)| word)
    }
}

/// The directions a word of `rw=` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Read,
    Write,
    Trim,
    ReadWrite,
    TrimWrite,
}

const WORDS: [(&str, (Kind, bool)); 11] = [
    ("read", (Kind::Read, false)),
    ("write", (Kind::Write, false)),
    ("trim", (Kind::Trim, false)),
    ("randread", (Kind::Read, true)),
    ("randwrite", (Kind::Write, true)),
    ("randtrim", (Kind::Trim, true)),
    ("rw", (Kind::ReadWrite, false)),
    ("readwrite", (Kind::ReadWrite, false)),
    ("randrw", (Kind::ReadWrite, true)),
    ("trimwrite", (Kind::TrimWrite, false)),
    ("randtrimwrite", (Kind::TrimWrite, true)),
];

impl Default for Direction {
    fn default() -> Self {
        Self { kind: Kind::Read, random: false, modifier: None }
    }
}

/// Reads `rw=`: a word, and for example `:8` or `:-4k` behind it.
pub(super) fn direction(given: Given<'_>) -> Read<Direction> {
    let text = given.raw.unwrap_or_default();
    let (word, modifier) = match text.split_once(':') {
        Some((word, modifier)) if WORDS.iter().any(|(known, _)| *known == word) => {
            (word, Some(self::modifier(modifier, given)?))
        }
        _ => (text, None),
    };
    let named = Given { raw: given.raw.map(|_| word), ..given };
    let (kind, random) = named.choice(&WORDS)?;
    Ok(Direction { kind, random, modifier })
}

fn modifier(text: &str, given: Given<'_>) -> Read<i64> {
    match value::signed_quantity(text, given.base) {
        Ok(number) => Ok(number),
        Err(_) => ValueError::unsupported("write one number behind the `:`, such as randread:8"),
    }
}

/// Reads `random_distribution=`.
pub(super) fn distribution(given: Given<'_>) -> Read<Distribution> {
    let words =
        [("random", 0), ("zipf", 1), ("pareto", 2), ("normal", 3), ("zoned", 4), ("zoned_abs", 5)];
    let text = given.raw.unwrap_or_default();
    let (word, parameter) = match text.split_once(':') {
        Some((word, parameter)) => (word, Some(parameter)),
        None => (text, None),
    };
    let named = Given { raw: given.raw.map(|_| word), ..given };
    match named.choice(&words)? {
        0 if parameter.is_none() => Ok(Distribution::Uniform),
        0 => ValueError::unsupported("`random` has no parameter; fio drops it"),
        1 => zipf(parameter),
        2 => pareto(parameter),
        _ => ValueError::unsupported(
            "use random, zipf:theta or pareto:h; the others are not supported yet",
        ),
    }
}

fn zipf(parameter: Option<&str>) -> Read<Distribution> {
    let theta = skew(parameter, "zipf:1.2")?;
    if theta == 1.0 {
        return ValueError::bad("a theta other than 1, such as zipf:1.2");
    }
    if theta > 0.0 {
        Ok(Distribution::Zipf { theta })
    } else {
        ValueError::unsupported("the theta must be above 0, such as zipf:1.2")
    }
}

fn pareto(parameter: Option<&str>) -> Read<Distribution> {
    let h = skew(parameter, "pareto:0.2")?;
    if h > 0.0 && h < 1.0 {
        Ok(Distribution::Pareto { h })
    } else {
        ValueError::bad("a power above 0 and below 1, such as pareto:0.2")
    }
}

fn skew(parameter: Option<&str>, example: &str) -> Read<f64> {
    let Some(text) = parameter else {
        return ValueError::unsupported(format!("write the parameter, such as {example}"));
    };
    let text = text.trim();
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ if text.starts_with(|c: char| c.is_ascii_digit()) => ValueError::unsupported(format!(
            "write one number behind the word, such as {example}; a centre is not supported yet"
        )),
        _ => ValueError::bad(format!("a number behind the word, such as {example}")),
    }
}
