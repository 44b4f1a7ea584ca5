//! Device files of kind `measured`: what `fairdisk calibrate` found out about a device.

use super::super::allowed::{Wrong, demand_within};
use super::device_file;
use fairdisk_core::{Span, Times};
use fairdisk_sim::device::{MeasuredParams, Pauses};
use serde::Deserialize;
use std::fmt::{self, Write as _};

device_file! {
    /// A device file of kind `measured`.
    pub(super) struct MeasuredFile {
        capacity_sectors: u64,
        depth: u32,
        rotational: bool,
        random_read_iops_qd1: f64,
        random_read_iops_qd2: f64,
        flush_us: f64,
        read: RatesTable,
        write: RatesTable,
        pauses: Option<PausesTable>,
        #[serde(rename = "queue")]
        _queue: Option<super::adapter::SegmentsTable>,
    }
}

/// How much of one direction the device does at full depth.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RatesTable {
    sequential_iops: f64,
    random_iops: f64,
    sequential_mb_per_s: f64,
    random_mb_per_s: f64,
}

/// When the device does nothing.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct PausesTable {
    every_ms: f64,
    for_ms: f64,
}

impl MeasuredFile {
    /// The parameters given by the file.
    pub(super) fn params(&self) -> Result<MeasuredParams, Wrong> {
        let of = |path: &str, rate| span_of(path, rate, NS_PER_S);
        demand_within(0.0..=1e9, "flush_us", self.flush_us)?;
        Ok(MeasuredParams {
            capacity_sectors: self.capacity_sectors,
            depth: self.depth,
            rotational: self.rotational,
            read: self.read.times("read")?,
            write: self.write.times("write")?,
            qd1: of("random_read_iops_qd1", self.random_read_iops_qd1)?,
            qd2: of("random_read_iops_qd2", self.random_read_iops_qd2)?,
            flush: Span::from_ns((self.flush_us * 1e3).round() as u64),
            pauses: self.pauses.map_or(Ok(Pauses::NONE), PausesTable::pauses)?,
        })
    }
}

impl PausesTable {
    fn pauses(self) -> Result<Pauses, Wrong> {
        demand_within(0.1..=1e6, "pauses.every_ms", self.every_ms)?;
        // More would be a device that hardly works.
        let most = (self.every_ms * 100.0).min(60_000.0);
        demand_within(0.001..=most, "pauses.for_ms", self.for_ms)?;
        let span = |ms: f64| Span::from_ns((ms * 1e6).round() as u64);
        Ok(Pauses { every: span(self.every_ms), lasts: span(self.for_ms) })
    }
}

impl RatesTable {
    fn times(&self, table: &str) -> Result<Times, Wrong> {
        let small = |key, rate| span_of(&format!("{table}.{key}"), rate, NS_PER_S);
        let large = |key, rate| span_of(&format!("{table}.{key}"), rate, LARGE_AT_1_MB_PER_S);
        Ok(Times {
            sequential: small("sequential_iops", self.sequential_iops)?,
            random: small("random_iops", self.random_iops)?,
            large_sequential: large("sequential_mb_per_s", self.sequential_mb_per_s)?,
            large_random: large("random_mb_per_s", self.random_mb_per_s)?,
        })
    }
}

const NS_PER_S: f64 = 1e9;
/// Nanoseconds for a large request at 1 MB/s.
const LARGE_AT_1_MB_PER_S: f64 = Times::LARGE.bytes() as f64 * 1e3;

/// The time for one of what takes `at_one` ns at a rate of 1.
fn span_of(path: &str, rate: f64, at_one: f64) -> Result<Span, Wrong> {
    demand_within(0.001..=1e9, path, rate)?;
    Ok(Span::from_ns((at_one / rate).round() as u64))
}

/// A device file with what was measured of a device. `notes` become comments at its beginning.
#[must_use]
pub fn to_toml(id: &str, title: &str, notes: &[String], device: &MeasuredParams) -> String {
    let mut text = String::new();
    write(&mut text, id, title, notes, device).expect("a text takes everything");
    text
}

/// The keys of a text of [`to_toml`].
///
/// # Panics
/// The text is another.
#[must_use]
pub fn keys_of(text: &str) -> serde_json::Value {
    toml::from_str(text).expect("what was written can be read")
}

fn write(
    text: &mut String,
    id: &str,
    title: &str,
    notes: &[String],
    device: &MeasuredParams,
) -> fmt::Result {
    let quoted = |text: &str| toml::Value::from(text).to_string();
    notes.iter().try_for_each(|note| writeln!(text, "# {note}"))?;
    writeln!(text, "id = {}", quoted(id))?;
    writeln!(text, "title = {}", quoted(title))?;
    writeln!(text, "kind = \"measured\"")?;
    writeln!(text, "capacity_sectors = {}", device.capacity_sectors)?;
    writeln!(text, "depth = {}", device.depth)?;
    writeln!(text, "rotational = {}", device.rotational)?;
    let rate = |span: Span| shown(NS_PER_S / span.as_ns().max(1) as f64);
    writeln!(text, "\n# Reads of 4 KiB at random places, one and two at a time")?;
    writeln!(text, "random_read_iops_qd1 = {}", rate(device.qd1))?;
    writeln!(text, "random_read_iops_qd2 = {}", rate(device.qd2))?;
    writeln!(text, "flush_us = {}", shown(device.flush.as_ns() as f64 / 1e3))?;
    writeln!(text, "\n# At full depth: iops in 4 KiB, mb_per_s in 256 KiB")?;
    for (name, times) in [("read", &device.read), ("write", &device.write)] {
        let mb_per_s = |span: Span| shown(LARGE_AT_1_MB_PER_S / span.as_ns().max(1) as f64);
        writeln!(text, "[{name}]")?;
        writeln!(text, "sequential_iops = {}", rate(times.sequential))?;
        writeln!(text, "random_iops = {}", rate(times.random))?;
        writeln!(text, "sequential_mb_per_s = {}", mb_per_s(times.large_sequential))?;
        writeln!(text, "random_mb_per_s = {}", mb_per_s(times.large_random))?;
    }
    if device.pauses.are_there() {
        let ms = |span: Span| shown(span.as_ns() as f64 / 1e6);
        writeln!(text, "\n# Now and then nothing is done; the rates have their part of that")?;
        writeln!(text, "[pauses]")?;
        writeln!(text, "every_ms = {}", ms(device.pauses.every))?;
        writeln!(text, "for_ms = {}", ms(device.pauses.lasts))?;
    }
    Ok(())
}

/// A number with four significant digits, and a decimal point.
fn shown(number: f64) -> String {
    if number == 0.0 {
        return "0.0".to_owned();
    }
    let magnitude = number.max(1e-9).log10().floor() as i32;
    let unit = 10f64.powi(magnitude - 3);
    let rounded = (number / unit).round() * unit;
    format!("{rounded:.*}", (3 - magnitude).clamp(1, 9) as usize)
}

#[cfg(test)]
mod tests {
    use super::super::parse_entry;
    use super::*;
    use crate::catalog::source::Source;
    use fairdisk_sim::device::DeviceSpec;

    const fn times(sequential: u64, random: u64, large: u64) -> Times {
        let (large_sequential, large_random) = (Span::from_us(large), Span::from_us(large * 2));
        let (sequential, random) = (Span::from_us(sequential), Span::from_us(random));
        Times { sequential, random, large_sequential, large_random }
    }

    const DEVICE: MeasuredParams = MeasuredParams {
        capacity_sectors: 1 << 30,
        depth: 32,
        rotational: false,
        read: times(8, 10, 262),
        write: times(25, 33, 500),
        qd1: Span::from_us(34),
        qd2: Span::from_us(18),
        flush: Span::from_us(1_500),
        pauses: Pauses { every: Span::from_ms(50), lasts: Span::from_us(4_500) },
    };

    fn parse(text: &str) -> Result<MeasuredParams, String> {
        match parse_entry(Source::new("mine.toml", text)) {
            Ok(entry) => match entry.spec {
                DeviceSpec::Measured(spec) => Ok(*spec.params()),
                other => panic!("{other:?}"),
            },
            Err(error) => Err(error.to_string()),
        }
    }

    fn text() -> String {
        to_toml("mine", "the \"old\" disk", &["a note".to_owned()], &DEVICE)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let read = parse(&text()).unwrap();
        let near = |a: Span, b: Span| a.as_ns().abs_diff(b.as_ns()) * 1000 <= b.as_ns();
        for (found, times) in [(read.read, DEVICE.read), (read.write, DEVICE.write)] {
            assert!(near(found.sequential, times.sequential) && near(found.random, times.random));
            assert!(near(found.large_sequential, times.large_sequential), "{found:?}");
            assert!(near(found.large_random, times.large_random), "{found:?}");
        }
        assert!(near(read.qd1, DEVICE.qd1) && near(read.qd2, DEVICE.qd2));
        assert_eq!((read.flush, read.pauses), (DEVICE.flush, DEVICE.pauses));
        let rest = |it: MeasuredParams| (it.capacity_sectors, it.depth, it.rotational);
        assert_eq!(rest(read), rest(DEVICE));
    }

    #[test]
    fn numbers_have_four_digits() {
        assert_eq!(shown(0.0), "0.0");
        let all = [0.012_345, 0.5, 75.314_9, 123.456, 98_765.4, 1e7];
        assert_eq!(
            all.map(shown),
            ["0.01235", "0.5000", "75.31", "123.5", "98770.0", "10000000.0"]
        );
    }

    #[test]
    fn a_rate_that_no_device_has_is_refused_with_its_line() {
        let wrong = |from: &str, to: &str| parse(&text().replace(from, to)).unwrap_err();
        assert_eq!(
            wrong("random_iops = 30300.0", "random_iops = 0.0"),
            "mine.toml:22: `random_iops` is 0; allowed: 0.001 to 1000000000"
        );
        assert_eq!(
            wrong("every_ms = 50.0", "every_ms = 0.0"),
            "mine.toml:28: `every_ms` is 0; allowed: 0.1 to 1000000"
        );
        assert_eq!(
            wrong("depth = 32", "depth = 0"),
            "mine.toml:6: `depth` is 0; allowed: 1 to 65536"
        );
        assert_eq!(
            wrong("capacity_sectors = 1073741824", "capacity_sectors = 8"),
            "mine.toml:5: `capacity_sectors` is 8; allowed: 512 to 2251799813685248"
        );
    }
}
