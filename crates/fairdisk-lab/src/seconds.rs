//! Durations in seconds: as numbers, and in headings.

use fairdisk_core::Span;

/// A duration as a number of seconds.
pub(crate) fn in_seconds(span: Span) -> f64 {
    span.as_ns() as f64 / 1e9
}

/// The duration of so many seconds, in whole nanoseconds; zero if there are less than none.
pub(crate) fn from_seconds(seconds: f64) -> Span {
    Span::from_ns((seconds * 1e9) as u64)
}

/// A duration in seconds: whole if it is whole, otherwise with three significant digits.
pub(crate) fn seconds(value: f64) -> String {
    if !value.is_finite() || value <= 0.0 || (value - value.round()).abs() < value * 1e-6 {
        return format!("{value:.0} s");
    }
    let digits = (2 - value.log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_number_and_back() {
        assert_eq!(in_seconds(Span::from_ms(1500)), 1.5);
        assert_eq!(from_seconds(1.5), Span::from_ms(1500));
        assert_eq!(from_seconds(-1.0), Span::ZERO);
    }

    #[test]
    fn nothing_is_rounded_away() {
        let cases = [
            (0.0, "0 s"),
            (0.0134, "0.0134 s"),
            (0.1, "0.1 s"),
            (1.5, "1.5 s"),
            (13.46, "13.5 s"),
            (120.0, "120 s"),
            (3600.4, "3600 s"),
        ];
        for (value, words) in cases {
            assert_eq!(seconds(value), words);
        }
    }
}
