//! Whole-number arguments on the command line.

use std::ops::RangeInclusive;

/// A value parser for whole numbers in `allowed`, both of whose ends must fit into a `T`.
pub(crate) fn within<T: TryFrom<u64>>(
    allowed: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse::<u64>().ok().filter(|number| allowed.contains(number));
        let number = number.and_then(|number| T::try_from(number).ok());
        number.ok_or_else(|| match (allowed.start(), allowed.end()) {
            (least, &u64::MAX) => format!("expected a whole number from {least}"),
            (least, most) => format!("expected a whole number from {least} to {most}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn what_is_expected_is_said_in_words() {
        let seeds = within::<u32>(1..=10_000);
        assert_eq!(seeds("10000"), Ok(10_000));
        for wrong in ["0", "10001", "-1", "1.5", "abc", "", "18446744073709551616"] {
            assert_eq!(seeds(wrong).unwrap_err(), "expected a whole number from 1 to 10000");
        }
        let request = within::<u64>(1..=u64::MAX);
        assert_eq!(request("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(request("abc").unwrap_err(), "expected a whole number from 1");
    }
}
