//! The comparison as a table.

use super::{Beside, KeyChange, Limits, Validation};
use crate::outcome::Style;
use std::fmt::{self, Write as _};

impl Validation {
    /// The figures that are off by more than `limits`, in words.
    #[must_use]
    pub fn misses(&self, limits: &Limits) -> Vec<String> {
        let mut misses = Vec::new();
        for group in &self.groups {
            let points = group.ios_percent.replayed - group.ios_percent.recorded;
            if points.abs() > limits.part_points {
                misses.push(format!("{}: its part is {points:+.1} points off", group.group));
            }
            let off = group.throughput.ios_per_s.off_percent();
            if off.abs() > limits.throughput_percent {
                misses.push(format!("{}: its I/Os a second are {off:+.0} % off", group.group));
            }
        }
        let absent = self.absent.iter();
        misses.extend(absent.map(|name| format!("{name}: the replay has next to none")));
        for line in &self.times {
            let figures = [
                ("p50", line.p50_ms, limits.p50_percent),
                ("p99", line.p99_ms, limits.p99_percent),
            ];
            for (name, figure, most) in figures {
                let off = figure.off_percent();
                if off.abs() > most {
                    misses.push(format!("{} {}: {name} is {off:+.0} % off", line.group, line.op));
                }
            }
        }
        misses
    }

    /// The table for people.
    #[must_use]
    pub fn to_text(&self, limits: &Limits, style: Style) -> String {
        let mut text = String::new();
        self.write(&mut text, limits).expect("a text takes everything");
        style.folded(&text)
    }

    fn write(&self, text: &mut String, limits: &Limits) -> fmt::Result {
        let misses = self.misses(limits);
        let Limits { part_points, throughput_percent, p50_percent, p99_percent } = limits;
        let seconds = self.seconds;
        writeln!(text, "{} on {}, {seconds:.1} s of the recording", self.scheduler, self.device)?;
        match misses.len() {
            0 => writeln!(text, "Every figure fits:")?,
            1 => writeln!(text, "One figure does not fit:")?,
            count => writeln!(text, "{count} figures do not fit:")?,
        }
        writeln!(
            text,
            "  (parts within {part_points} points, I/Os {throughput_percent} %, p50 {p50_percent} %, \
             p99 {p99_percent} %)"
        )?;
        misses.iter().try_for_each(|miss| writeln!(text, "  {miss}"))?;
        let width = self.groups.iter().map(|group| group.group.chars().count()).max().unwrap_or(0);
        let width = width.max("group".len());
        writeln!(
            text,
            "\n{:width$}  {:>9} {:>9} {:>6}  {:>8} {:>8}  {:>6} {:>6}",
            "group", "IOPS", "lab", "off %", "MB/s", "lab", "part %", "lab"
        )?;
        let all = Beside { recorded: 100.0, replayed: 100.0 };
        let total = ("total", self.total, all);
        let groups = self.groups.iter().map(|it| (&*it.group, it.throughput, it.ios_percent));
        for (name, done, part) in groups.chain([total]) {
            writeln!(
                text,
                "{name:width$}  {:>9.0} {:>9.0} {:>+6.0}  {:>8.1} {:>8.1}  {:>6.1} {:>6.1}",
                done.ios_per_s.recorded,
                done.ios_per_s.replayed,
                done.ios_per_s.off_percent(),
                done.mb_per_s.recorded,
                done.mb_per_s.replayed,
                part.recorded,
                part.replayed,
            )?;
        }
        self.write_times(text, width)?;
        self.write_values(text)?;
        self.notes.iter().try_for_each(|note| writeln!(text, "\nnote: {note}"))
    }

    fn write_times(&self, text: &mut String, width: usize) -> fmt::Result {
        writeln!(
            text,
            "\n{:width$}  {:10} {:>8} {:>8} {:>5}  {:>8} {:>8} {:>5}  {:>7}",
            "group", "ms", "p50", "lab", "off %", "p99", "lab", "off %", "demerit"
        )?;
        for line in &self.times {
            writeln!(
                text,
                "{:width$}  {:10} {:>8} {:>8} {:>+5.0}  {:>8} {:>8} {:>+5.0}  {:>5.0} %",
                line.group,
                line.op,
                short(line.p50_ms.recorded),
                short(line.p50_ms.replayed),
                line.p50_ms.off_percent(),
                short(line.p99_ms.recorded),
                short(line.p99_ms.replayed),
                line.p99_ms.off_percent(),
                line.demerit_percent,
            )?;
        }
        Ok(())
    }

    /// Which value of the device fits worst, and of which the recording says nothing.
    fn write_values(&self, text: &mut String) -> fmt::Result {
        let Some(first) = self.device_values.first() else { return Ok(()) };
        let off = first.off_percent;
        writeln!(text, "\nThe replay is {off:.1} % off in the mean.")?;
        let helps = self.device_values.iter().filter(|value| value.off_percent_then < off);
        let helps: Vec<_> = helps.take(3).collect();
        match helps.is_empty() {
            true => writeln!(text, "No single value of the device would change that much.")?,
            false => writeln!(text, "Values of the device that fit worst:")?,
        }
        for value in helps {
            writeln!(
                text,
                "  {} is {}; with {} it would be {:.1} % off",
                value.key,
                short(value.value),
                short(value.fits),
                value.off_percent_then,
            )?;
        }
        let unknown = self.device_values.iter().filter(|value| value.is_unknown);
        let unknown: Vec<&str> = unknown.map(|value| &*value.key).collect();
        if !unknown.is_empty() {
            writeln!(text, "Of these the recording says nothing: {}.", unknown.join(", "))?;
        }
        Ok(())
    }
}

impl fmt::Display for KeyChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} was {} and is {}", self.key, short(self.was), short(self.is))
    }
}

/// A number with three digits or so.
fn short(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 1.0 => format!("{value:.2}"),
        value => format!("{value:.3}"),
    }
}
