//! Numbers with the digits that say something.

/// Milliseconds, down to microseconds where they matter.
pub(crate) fn ms(value: f64) -> String {
    rounded(value)
}

/// A positive number with three digits, or with more where it is 100 or larger.
pub(crate) fn rounded(value: f64) -> String {
    match value {
        value if value < 0.9995 => format!("{value:.3}"),
        value if value < 9.995 => format!("{value:.2}"),
        _ => format!("{value:.1}"),
    }
}

/// A time in milliseconds with its unit, or in seconds if it is long.
pub(crate) fn span_ms(value: f64) -> String {
    match value {
        value if value < 10_000.0 => format!("{} ms", ms(value)),
        _ => format!("{:.0} s", value / 1e3),
    }
}

/// A difference with its sign; what rounds to nothing has that of a rise.
pub(crate) fn signed(value: f64) -> String {
    let text = format!("{value:+.1}");
    if text == "-0.0" { "+0.0".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::{ms, signed, span_ms};

    #[test]
    fn short_times_have_their_microseconds_and_long_ones_are_seconds() {
        let cases = [(0.0, "0.000"), (0.0384, "0.038"), (0.9996, "1.00"), (9.996, "10.0")];
        assert_eq!(cases.map(|(value, _)| ms(value)), cases.map(|(_, words)| words));
        assert_eq!([span_ms(12.34), span_ms(20_343_740.0)], ["12.3 ms", "20344 s"]);
    }

    #[test]
    fn nothing_has_no_minus() {
        assert_eq!([-0.04, 0.0, -0.06, 2.0].map(signed), ["+0.0", "+0.0", "-0.1", "+2.0"]);
    }
}
