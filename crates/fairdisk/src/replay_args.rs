//! Options about the replay of a trace.

use crate::failure::Failure;
use clap::ValueHint;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use fairdisk_core::{QosKey, Span, Weight};
use fairdisk_lab::plan::{Replay, ReplayPace};
use fairdisk_lab::time_text;

/// How a trace is done again.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Options for a trace")]
pub(crate) struct ReplayArgs {
    /// When tasks ask again: their recorded think time after those they waited for, at recorded
    /// times, or at once [default: closed-loop; without recorded ends, as-it-came]
    #[arg(long, value_name = "PACE", value_parser = pace())]
    replay: Option<ReplayPace>,
    /// Replay only this part of the trace, as 30s..90s or 10:00..10:05
    #[arg(
        long, value_name = "FROM..TO", value_parser = window, value_hint = ValueHint::Other,
        allow_hyphen_values = true
    )]
    window: Option<(Span, Span)>,
    /// Give a group another name; groups that get one name are merged (may be repeated)
    #[arg(
        long, value_name = "GROUP=NAME", value_parser = renamed, value_hint = ValueHint::Other
    )]
    rename: Vec<(String, String)>,
    /// Leave a group out (may be repeated)
    #[arg(long, value_name = "GROUP", value_hint = ValueHint::Other)]
    drop: Vec<String>,
    /// Replay the tasks of a group N times (may be repeated)
    #[arg(long, value_name = "GROUP=N", value_parser = scaled, value_hint = ValueHint::Other)]
    scale: Vec<(String, u32)>,
    /// Give a group a weight from 1 to 10000 (may be repeated)
    #[arg(
        long, value_name = "GROUP=WEIGHT", value_parser = weighted, value_hint = ValueHint::Other
    )]
    weight: Vec<(String, Weight)>,
    /// Give a group a floor, a ceiling or a target: a setting of `fairdisk ctl set`, as
    /// max_iops=500; `none` takes a recorded one away (may be repeated)
    #[arg(
        long, value_name = "GROUP=KEY=VALUE", value_parser = limited, value_hint = ValueHint::Other
    )]
    limit: Vec<(String, QosKey, Option<u64>)>,
}

impl ReplayArgs {
    /// What they say.
    pub(crate) fn replay(&self) -> Replay {
        Replay {
            pace: self.replay,
            window: self.window,
            renamed: self.rename.clone(),
            dropped: self.drop.clone(),
            scaled: self.scale.clone(),
            weights: self.weight.clone(),
            limits: self.limit.clone(),
        }
    }
}

/// Checks that nothing is said about a replay of what is no trace.
///
/// # Errors
/// Something is said.
pub(crate) fn demand_none(spec: &str, replay: &Replay) -> Result<(), Failure> {
    replay.given().map_or(Ok(()), |option| {
        Err(Failure::BadInput(format!("{option} is about the replay of a trace; {spec} is none")))
    })
}

fn pace() -> impl TypedValueParser<Value = ReplayPace> {
    PossibleValuesParser::new(ReplayPace::ALL.map(|(name, _)| name)).map(|name| {
        let of_name = ReplayPace::ALL.iter().find(|(one, _)| *one == name);
        of_name.map(|(_, pace)| *pace).expect("it is one of the possible values")
    })
}

/// A part of a trace.
fn window(text: &str) -> Result<(Span, Span), String> {
    let expected = "expected two times, as 30s..90s or 10:00..10:05, the second one later";
    let parts = text.split_once("..").map(|(from, to)| (time(from), time(to)));
    match parts {
        Some((Some(from), Some(to))) if from < to => Ok((from, to)),
        _ => Err(expected.to_owned()),
    }
}

/// A time from the start of a trace: with a unit, or in minutes and seconds, or hours before that.
fn time(text: &str) -> Option<Span> {
    if !text.contains(':') {
        let is_zero = text.trim_end_matches(char::is_alphabetic) == "0";
        return if is_zero { Some(Span::ZERO) } else { time_text::parse(text).ok() };
    }
    let part = |part: &str| part.parse::<u64>().ok().filter(|_| !part.starts_with('+'));
    let seconds =
        text.split(':').try_fold(0_u64, |sum, one| sum.checked_mul(60)?.checked_add(part(one)?))?;
    let ns = seconds.checked_mul(1_000_000_000).filter(|_| text.split(':').count() <= 3)?;
    Some(Span::from_ns(ns))
}

/// A group and what is said about it.
fn of_group(text: &str) -> Option<(&str, &str)> {
    text.rsplit_once('=').filter(|(group, value)| !group.is_empty() && !value.is_empty())
}

fn renamed(text: &str) -> Result<(String, String), String> {
    let (group, name) = of_group(text).ok_or("expected GROUP=NAME")?;
    Ok((group.to_owned(), name.to_owned()))
}

fn scaled(text: &str) -> Result<(String, u32), String> {
    let expected = "expected GROUP=N with N from 1 to 1000";
    let (group, times) = of_group(text).ok_or(expected)?;
    let times = times.parse().ok().filter(|times| (1..=1000).contains(times)).ok_or(expected)?;
    Ok((group.to_owned(), times))
}

fn weighted(text: &str) -> Result<(String, Weight), String> {
    let expected = "expected GROUP=WEIGHT with a weight from 1 to 10000";
    let (group, weight) = of_group(text).ok_or(expected)?;
    let weight = weight.parse().ok().and_then(Weight::new).ok_or(expected)?;
    Ok((group.to_owned(), weight))
}

fn limited(text: &str) -> Result<(String, QosKey, Option<u64>), String> {
    let parts = of_group(text).and_then(|(before, value)| Some((of_group(before)?, value)));
    let ((group, name), value) = parts.ok_or("expected GROUP=KEY=VALUE, as /db=max_iops=500")?;
    let key = QosKey::named(name).ok_or_else(|| {
        let known = QosKey::ALL.map(QosKey::name).join(", ");
        format!("no setting `{name}` (known: {known})")
    })?;
    if value == "none" {
        return Ok((group.to_owned(), key, None));
    }
    let expected = || format!("`{name}` is {}, or none", key.notation().words);
    let value = key.parse(value).ok_or_else(expected)?;
    Ok((group.to_owned(), key, Some(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_trace_are_written_as_people_write_them() {
        let s = Span::from_s;
        for (text, said) in [
            ("30s..90s", Some((s(30), s(90)))),
            ("0..1m", Some((s(0), s(60)))),
            ("0s..500ms", Some((s(0), Span::from_ms(500)))),
            ("10:00..10:05", Some((s(600), s(605)))),
            ("1:00:00..1:00:01", Some((s(3600), s(3601)))),
            ("90s..30s", None),
            ("30..90", Some((s(30), s(90)))),
            ("1:2:3:4..9h", None),
            ("..", None),
            ("30s", None),
        ] {
            assert_eq!(window(text).ok(), said, "{text}");
        }
        assert_eq!(scaled("/a=b=2"), Ok(("/a=b".to_owned(), 2)));
        let limit = |text| limited(text).map(|(_, key, value)| (key, value));
        assert_eq!(limit("/a=b=max_iops=500"), Ok((QosKey::MaxIops, Some(500))));
        assert_eq!(limit("/a=latency_p99_ms=2.5"), Ok((QosKey::LatencyP99, Some(2_500_000))));
        assert_eq!(limit("/a=max_iops=none"), Ok((QosKey::MaxIops, None)));
        assert!(limit("/a=speed=1").is_err_and(|why| why.contains("known: min_iops")));
        assert!(limit("/a=max_iops=fast").is_err_and(|why| why.contains("from 1")));
        assert!(limit("max_iops=500").is_err() && limit("/a=max_iops=").is_err());
        assert!(scaled("/a=0").is_err() && weighted("=5").is_err() && renamed("a=").is_err());
    }
}
