//! Numbers in text.

use fairdisk_core::{Lba, Sectors};

/// Parses a decimal number of `unit` nanoseconds each; what is less than one does not count.
pub(crate) fn decimal_ns(text: &str, unit: u64) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() && part.is_empty() || !digits(part) {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { number(whole)? };
    let (mut rest, mut of) = (0, unit);
    for digit in part.bytes() {
        of /= 10;
        rest += u64::from(digit - b'0') * of;
    }
    whole.checked_mul(unit)?.checked_add(rest)
}

/// Parses digits; no sign, unlike `parse`.
pub(crate) fn number(text: &str) -> Option<u64> {
    let starts = text.as_bytes().first()?.is_ascii_digit();
    if starts { text.parse().ok() } else { None }
}

/// The first sector that no device has: a place below it and a length are a place.
const SECTORS_MOST: u64 = 1 << 55;

/// A range of sectors, if a device can have it.
pub(crate) fn sectors(start: u64, length: u64) -> Option<(Lba, Sectors)> {
    let length = Sectors(u32::try_from(length).ok()?);
    (start < SECTORS_MOST).then_some((Lba(start), length))
}

#[cfg(test)]
mod tests {
    use super::{decimal_ns, number};

    #[test]
    fn decimals_are_exact_to_the_nanosecond() {
        for (text, unit, ns) in [
            ("1.5", 1_000_000_000, Some(1_500_000_000)),
            ("0.000252703", 1_000_000_000, Some(252_703)),
            (".25", 1_000_000, Some(250_000)),
            ("7.", 1_000, Some(7_000)),
            ("7", 100, Some(700)),
            ("0.0000000001", 1_000_000_000, Some(0)),
            ("", 1, None),
            (".", 1, None),
            ("1.2.3", 1, None),
            ("-1", 1, None),
            ("1e3", 1, None),
            ("99999999999999999999", 1, None),
        ] {
            assert_eq!(decimal_ns(text, unit), ns, "{text}");
        }
        assert_eq!(["12", "+12", ""].map(number), [Some(12), None, None]);
    }
}
