//! The I/O pattern of a job: its directions and its order of offsets.

use serde::Serialize;

use super::per_op::PerOp;
use super::setting::Given;
use super::span::Extent;
use super::value::{self, Read, ValueError};

/// The I/O pattern of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pattern {
    /// The directions and their proportion.
    pub mix: Mix,
    /// The order of offsets.
    pub order: Order,
}

/// The directions of a job's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mix {
    /// Only reads.
    Read,
    /// Only writes.
    Write,
    /// Only trims.
    Trim,
    /// Reads and writes.
    ReadWrite {
        /// The percentage of reads.
        read_percent: u8,
    },
    /// Writes, each preceded by a trim of the same range.
    TrimWrite,
}

impl Mix {
    /// Which operations are used.
    #[must_use]
    pub fn uses(self) -> PerOp<bool> {
        let (read, write, trim) = match self {
            Self::Read => (true, false, false),
            Self::Write => (false, true, false),
            Self::Trim => (false, false, true),
            Self::ReadWrite { .. } => (true, true, false),
            Self::TrimWrite => (false, true, true),
        };
        PerOp { read, write, trim }
    }
}

/// The order of offsets.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Each request starts where the previous one ended, plus a hole.
    Sequential {
        /// Bytes skipped after each request; negative goes backwards.
        hole_bytes: i64,
        /// Whether the file is gone through so often that every block has its turn.
        interleaved: bool,
    },
    /// Offsets are drawn from a distribution.
    Random(RandomOrder),
}

/// How random offsets are drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RandomOrder {
    /// The distribution of offsets.
    pub distribution: Distribution,
    /// The percentage of requests that draw an offset; the others continue where the previous one
    /// ended.
    pub random_percent: PerOp<u8>,
    /// Whether every block is visited once before any is visited again (no `norandommap`).
    pub covers_every_block: bool,
    /// How many requests follow one drawn offset.
    pub repeat: Repeat,
}

/// What follows a drawn offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeat {
    /// An offset is drawn for every request.
    Never,
    /// The next requests continue after a drawn offset: `rw=randread:8`.
    Sequential {
        /// The number of requests per drawn offset.
        requests: u32,
    },
    /// The next requests have the same offset: `rw_sequencer=identical`.
    Identical {
        /// The number of requests per drawn offset.
        requests: u32,
    },
}

/// The distribution of random offsets.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// All offsets are equally likely.
    Uniform,
    /// A Zipf distribution.
    Zipf {
        /// The exponent; larger is more skewed. Never 1.
        theta: f64,
    },
    /// A Pareto distribution.
    Pareto {
        /// The power, above 0 and below 1.
        h: f64,
    },
    /// As fio has it: the mean of twelve uniform ranks, and a uniform one on top.
    Normal {
        /// The width of the one on top, in percent of all blocks; below 100.
        deviation_percent: f64,
    },
    /// Zones one behind the other, each with a part of the requests.
    Zoned(Vec<Zone>),
}

/// A part of a file, and how many of the requests fall into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Zone {
    /// The percentage of requests.
    pub percent: u8,
    /// The length of the zone.
    pub length: Extent,
}

/// The value of `rw=`, before it is combined with other keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Direction {
    pub(super) kind: Kind,
    pub(super) random: bool,
    /// The number after the colon.
    pub(super) modifier: Option<i64>,
}

impl Direction {
    /// The word for it in `rw=`.
    pub(super) fn word(self) -> &'static str {
        let same = |entry: &&(&str, (Kind, bool))| entry.1 == (self.kind, self.random);
        WORDS.iter().find(same).map_or("", |(word, _)| word)
    }
}

/// The directions that a word of `rw=` names.
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

/// Parses `rw=`: a word, optionally followed by something like `:8` or `:-4k`.
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

/// Parses `random_distribution=`.
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
        3 => normal(parameter),
        4 => zoned(parameter, |text| match text.trim().parse() {
            Ok(percent @ 1..=100) => Ok(Extent::Percent(percent)),
            _ => ValueError::unsupported(ZONES),
        }),
        _ => zoned(parameter, |text| Ok(Extent::Bytes(value::quantity(text, given.base)?))),
    }
}

const ZONES: &str = "write the percentage of requests and the length of each zone, as in \
                     zoned:60/10:40/90, for all operations alike; the percentages of requests \
                     sum to 100, and lengths in percent to 100 at most; only the last zone may be \
                     without a length";

fn zoned(parameter: Option<&str>, length: impl Fn(&str) -> Read<Extent>) -> Read<Distribution> {
    let zone = |text: &str| {
        let parts = text.split_once('/').map(|(percent, length)| (percent.trim().parse(), length));
        let Some((Ok(percent), text)) = parts else { return ValueError::unsupported(ZONES) };
        let is_open = text.trim().is_empty();
        Ok(Zone { percent, length: if is_open { Extent::Whole } else { length(text)? } })
    };
    let zones = parameter.unwrap_or_default().split(':').map(zone).collect::<Read<Vec<_>>>()?;
    // One without a length has the rest of the file, which is one zone only at the end.
    let is_open = |zone: &Zone| zone.length == Extent::Whole;
    let goes_on = zones.iter().rev().skip(1).any(is_open);
    let requests: u32 = zones.iter().map(|zone| u32::from(zone.percent)).sum();
    let lengths = zones.iter().map(|zone| match zone.length {
        Extent::Percent(percent) => u32::from(percent),
        Extent::Bytes(_) | Extent::Whole => 0,
    });
    let is_whole = requests == 100 && lengths.sum::<u32>() <= 100 && !goes_on;
    if is_whole { Ok(Distribution::Zoned(zones)) } else { ValueError::unsupported(ZONES) }
}

fn normal(parameter: Option<&str>) -> Read<Distribution> {
    let deviation_percent = skew(parameter, "normal:20")?;
    if (0.0..100.0).contains(&deviation_percent) {
        Ok(Distribution::Normal { deviation_percent })
    } else {
        ValueError::bad("a deviation in percent, below 100, such as normal:20")
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
