//! Durations as text: a number and a unit.

use fairdisk_core::Span;

const UNITS: &[(&str, u64)] =
    &[("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000)];

/// Parses a duration such as `500ms`, `30s`, `1.5m` or `1h`. A number alone is seconds.
///
/// # Errors
/// A message that says what is wrong or what is expected.
pub fn parse(text: &str) -> Result<Span, String> {
    if text.starts_with('-') {
        return Err("must be positive, as 500ms, 30s, 2m or 1h".to_owned());
    }
    let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = if unit.is_empty() { "s" } else { unit };
    let expected = "expected a number and a unit: 500ms, 30s, 2m or 1h; a number alone is seconds";
    let unit_ns = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, ns)| *ns as f64);
    let (Ok(number), Some(unit_ns)) = (number.parse::<f64>(), unit_ns) else {
        return Err(expected.to_owned());
    };
    let ns = number * unit_ns;
    if !(1.0..=MAX_NS).contains(&ns) {
        return Err("must be more than nothing and at most 1000h".to_owned());
    }
    Ok(Span::from_ns(ns as u64))
}

/// A duration in seconds, in the syntax of [`parse`].
#[must_use]
pub fn text(span: Span) -> String {
    format!("{}s", span.as_ns() as f64 / 1e9)
}

const MAX_NS: f64 = 1000.0 * 3.6e12;

/// A duration for people to read: `90 s`, `18 min`, `2.5 h`.
#[must_use]
pub fn words(span: Span) -> String {
    let seconds = span.as_ns() as f64 / 1e9;
    match seconds {
        s if s < 120.0 => format!("{} s", round(s)),
        s if s < 7200.0 => format!("{} min", round(s / 60.0)),
        s => format!("{} h", round(s / 3600.0)),
    }
}

/// The value with one decimal, or none if that is 0.
fn round(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_without_a_unit_is_seconds() {
        assert_eq!(parse("30"), Ok(Span::from_s(30)));
        assert_eq!(parse("0.5"), Ok(Span::from_ms(500)));
        assert_eq!(parse("500ms"), Ok(Span::from_ms(500)));
        assert_eq!(parse("30s"), Ok(Span::from_s(30)));
        assert_eq!(parse("1.5m"), Ok(Span::from_s(90)));
        assert_eq!(parse("1h"), Ok(Span::from_s(3600)));
        for bad in ["", "0", "s", "30 s", "-1s", "0s", "1d", "nans", "infs", "1e9h", "30sec"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for span in [Span::from_ms(1), Span::from_ms(1500), Span::from_s(30), Span::from_s(9000)] {
            assert_eq!(parse(&text(span)), Ok(span), "{}", text(span));
        }
    }

    #[test]
    fn lengths_are_said_in_the_unit_that_fits() {
        assert_eq!(words(Span::from_ms(500)), "0.5 s");
        assert_eq!(words(Span::from_s(90)), "90 s");
        assert_eq!(words(Span::from_s(1080)), "18 min");
        assert_eq!(words(Span::from_s(9000)), "2.5 h");
    }
}
