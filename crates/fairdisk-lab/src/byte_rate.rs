//! Rates in bytes per second, in the unit that they were probably given in.

use crate::digits::rounded;

/// A unit of bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unit {
    bytes: u64,
    name: &'static str,
}

impl Unit {
    /// The unit in which `rate` was probably given: a binary one for a multiple of 1024 that is not
    /// one of 1000.
    pub(crate) fn of(rate: u64) -> Self {
        let is_binary = rate.is_multiple_of(1024) && !rate.is_multiple_of(1000);
        let (base, names) = match is_binary {
            true => (1024_u64, ["B", "KiB", "MiB", "GiB", "TiB"]),
            false => (1000, ["B", "kB", "MB", "GB", "TB"]),
        };
        let power = (1..=4).rev().find(|power| rate >= base.pow(*power)).unwrap_or(0);
        Self { bytes: base.pow(power), name: names[power as usize] }
    }

    /// A measured rate in this unit.
    pub(crate) fn measured(self, rate: f64) -> String {
        format!("{} {}/s", rounded(rate / self.bytes as f64), self.name)
    }
}

/// A rate that somebody asked for.
#[must_use]
pub fn bytes_a_second(rate: u64) -> String {
    let Unit { bytes, name } = Unit::of(rate);
    let value = rate as f64 / bytes as f64;
    format!("{} {name}/s", (value * 1000.0).round() / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_shown_in_the_unit_they_were_given_in() {
        for (rate, shown) in [
            (10 << 20, "10 MiB/s"),
            (3 << 30, "3 GiB/s"),
            (5_000_000, "5 MB/s"),
            (2_000_000_000, "2 GB/s"),
            (12_345_678, "12.346 MB/s"),
            (4096, "4 KiB/s"),
            (999, "999 B/s"),
        ] {
            assert_eq!(bytes_a_second(rate), shown);
        }
    }

    #[test]
    fn what_was_measured_is_in_the_unit_of_what_was_asked_for() {
        let measured = [51_000.0, 5.5e6, 20e6].map(|rate| Unit::of(20 << 20).measured(rate));
        assert_eq!(measured, ["0.049 MiB/s", "5.25 MiB/s", "19.1 MiB/s"]);
        assert_eq!(Unit::of(5_000_000).measured(1_234_567.0), "1.23 MB/s");
    }
}
