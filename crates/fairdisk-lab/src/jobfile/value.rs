//! Numbers and their units, exactly as fio 3.33 reads them.
//!
//! fio reads digits, then a unit that it knows, and silently drops the rest: `1.5k` is 1, `4 k` is
//! 4, `1sec` is one microsecond. Such values are [`ValueError::Unsupported`] here, and the message
//! shows how fio reads them.
//!
//! With `kb_base=1024` (the default), `k`, `kb` and `ki` are 1024 and `kib` is 1000; with
//! `kb_base=1000`, `k`, `kb` and `ki` are 1000 and `kib` is 1024. For `ki`, this is what fio does,
//! not what its manual says.

/// Why a value was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ValueError {
    /// There is no value where one is needed; contains what is expected.
    Missing(String),
    /// fio refuses the value as well; contains what is expected.
    Bad(String),
    /// fio accepts the value; contains why it is refused here, and what to write.
    Unsupported(String),
}

impl ValueError {
    pub(super) fn bad<T>(expected: impl Into<String>) -> Result<T, Self> {
        Err(Self::Bad(expected.into()))
    }

    pub(super) fn unsupported<T>(remedy: impl Into<String>) -> Result<T, Self> {
        Err(Self::Unsupported(remedy.into()))
    }
}

pub(super) type Read<T> = Result<T, ValueError>;

/// The setting of `kb_base` in fio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum KbBase {
    #[default]
    Binary,
    Decimal,
}

/// The unit of a time without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeUnit {
    Seconds,
    Microseconds,
}

/// fio keeps numbers in signed 64 bits.
const NUMBER_MAX: u64 = i64::MAX as u64;

/// The longest time, about 100 years, so that sums stay far from the 584 years of 64 bits.
const TIME_MAX_NS: u64 = 100 * 366 * 86_400_000_000_000;

const A_NUMBER: &str = "a number, such as 16, 4k or 1g";
const A_TIME: &str = "a time, such as 10, 500ms or 2m";

/// A count or a number of bytes.
pub(super) fn quantity(text: &str, base: KbBase) -> Read<u64> {
    let (digits, unit) = number(text, A_NUMBER)?;
    let unit = unit.to_ascii_lowercase();
    if digits.hex && !unit.is_empty() {
        return misread(digits.value, "write a plain number");
    }
    let Some(factor) = bytes_factor(&unit, base) else {
        let first = unit.get(..1).and_then(|letter| bytes_factor(letter, base));
        return misread(
            digits.value.saturating_mul(first.unwrap_or(1)),
            "use one of k m g t p, directly behind the digits",
        );
    };
    match digits.value.checked_mul(factor) {
        Some(value) if value <= NUMBER_MAX => Ok(value),
        _ => ValueError::unsupported("the number does not fit in 63 bits"),
    }
}

/// A whole number that may be negative, as for `nice` and the holes of `rw=read:-8k`.
pub(super) fn signed_quantity(text: &str, base: KbBase) -> Read<i64> {
    let text = text.trim();
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text),
    };
    quantity(rest, base).map(|value| sign * value.min(NUMBER_MAX) as i64)
}

/// A time in nanoseconds.
pub(super) fn time_ns(text: &str, bare: TimeUnit) -> Read<u64> {
    let (digits, unit) = number(text, A_TIME)?;
    let unit = unit.to_ascii_lowercase();
    let factor = match unit.as_str() {
        "" if bare == TimeUnit::Seconds => 1_000_000_000,
        "" | "us" | "usec" => 1_000,
        "ms" | "msec" | "msecs" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return misread_time(digits.value, &unit),
    };
    match digits.value.checked_mul(factor) {
        Some(value) if value <= TIME_MAX_NS => Ok(value),
        _ => ValueError::unsupported("longer than 100 years; write less"),
    }
}

fn misread_time<T>(value: u64, unit: &str) -> Read<T> {
    ValueError::unsupported(format!(
        "fio does not know the unit `{}` and reads {value}us; use one of us ms s m h d",
        unit.trim()
    ))
}

fn misread<T>(fio_reads: u64, instead: &str) -> Read<T> {
    ValueError::unsupported(format!("fio reads {fio_reads} and drops the rest; {instead}"))
}

fn bytes_factor(unit: &str, base: KbBase) -> Option<u64> {
    let (power, ending) = match unit.chars().next() {
        Some('k') => (1, &unit[1..]),
        Some('m') => (2, &unit[1..]),
        Some('g') => (3, &unit[1..]),
        Some('t') => (4, &unit[1..]),
        Some('p') => (5, &unit[1..]),
        _ => (0, unit),
    };
    let decimal = match (power, ending) {
        (_, "" | "b") | (1.., "i") => base == KbBase::Decimal,
        (1.., "ib") => base == KbBase::Binary,
        _ => return None,
    };
    Some(if decimal { 1000u64.pow(power) } else { 1024u64.pow(power) })
}

struct Digits {
    value: u64,
    hex: bool,
}

/// Splits a text into its leading number and the rest.
fn number<'a>(text: &'a str, expected: &str) -> Read<(Digits, &'a str)> {
    let text = text.trim();
    let text = text.strip_prefix('+').unwrap_or(text);
    if text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        return ValueError::unsupported(
            "fio reads a negative number as a huge one; write a positive number",
        );
    }
    let (radix, rest) = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_hexdigit()) => (16, rest),
        _ => (10, text),
    };
    let end = rest.find(|c: char| !c.is_digit(radix)).unwrap_or(rest.len());
    let (digits, unit) = rest.split_at(end);
    match u64::from_str_radix(digits, radix) {
        Ok(value) if value < NUMBER_MAX => Ok((Digits { value, hex: radix == 16 }, unit)),
        _ if digits.is_empty() => ValueError::bad(expected),
        _ => ValueError::bad("a number below 2 to the power of 63"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values were obtained with `fio --parse-only --debug=parse`.
    #[test]
    fn units_are_those_fio_prints() {
        for (text, binary, decimal) in [
            ("4", 4, 4),
            ("4b", 4, 4),
            ("4k", 4096, 4000),
            ("4K", 4096, 4000),
            ("4kB", 4096, 4000),
            ("4ki", 4096, 4000),
            ("4KiB", 4000, 4096),
            ("1mib", 1_000_000, 1_048_576),
            ("1t", 1 << 40, 1_000_000_000_000),
            ("1p", 1 << 50, 1_000_000_000_000_000),
            ("0x10", 16, 16),
            ("010", 10, 10),
            (" +4 ", 4, 4),
        ] {
            assert_eq!(quantity(text, KbBase::Binary), Ok(binary), "{text}");
            assert_eq!(quantity(text, KbBase::Decimal), Ok(decimal), "{text}");
        }
    }

    #[test]
    fn what_fio_misreads_is_refused_with_its_reading() {
        for (text, reading) in [
            ("1.5k", "fio reads 1 "),
            ("4 k", "fio reads 4 "),
            ("4kbyte", "fio reads 4096 "),
            ("1e", "fio reads 1 "),
        ] {
            match quantity(text, KbBase::Binary) {
                Err(ValueError::Unsupported(remedy)) => {
                    assert!(remedy.contains(reading), "{remedy}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
        assert!(matches!(time_ns("1sec", TimeUnit::Seconds), Err(ValueError::Unsupported(_))));
        assert!(matches!(quantity("-1", KbBase::Binary), Err(ValueError::Unsupported(_))));
    }

    #[test]
    fn what_fio_refuses_is_bad() {
        for text in ["", "k", ".5", "abc", "'4k'", "9223372036854775807"] {
            assert!(matches!(quantity(text, KbBase::Binary), Err(ValueError::Bad(_))), "{text}");
        }
    }

    #[test]
    fn times_count_in_the_unit_of_their_key() {
        assert_eq!(time_ns("5", TimeUnit::Seconds), Ok(5_000_000_000));
        assert_eq!(time_ns("5", TimeUnit::Microseconds), Ok(5_000));
        assert_eq!(time_ns("1M", TimeUnit::Microseconds), Ok(60_000_000_000));
        assert_eq!(time_ns("100msec", TimeUnit::Seconds), Ok(100_000_000));
    }
}
