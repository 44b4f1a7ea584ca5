//! The text format of Prometheus, version 0.0.4.

use std::fmt::{Display, Write as _};

/// The type of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number that only grows.
    Counter,
    /// A number that goes up and down.
    Gauge,
    /// Cumulative counts per bucket, with a sum and a total count.
    Histogram,
}

/// A label: its name and value.
pub(super) type Label<'a> = (&'static str, &'a str);

/// A page being written, one metric family after the other.
#[derive(Debug, Default)]
pub(super) struct Text {
    text: String,
    name: &'static str,
    /// The disk that samples are about, which is their last label.
    pub(super) disk: Option<String>,
}

impl Text {
    /// Begins a family. `help` must not contain a backslash or line feed.
    pub(super) fn family(&mut self, name: &'static str, kind: Kind, help: &str) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        self.name = name;
        let _ = write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// Writes a sample of the current family.
    pub(super) fn sample(&mut self, labels: &[Label<'_>], value: impl Display) {
        self.part("", labels, value);
    }

    /// Writes a sample of a part of the current histogram: `_bucket`, `_sum` or `_count`.
    pub(super) fn part(&mut self, part: &str, labels: &[Label<'_>], value: impl Display) {
        self.text.push_str(self.name);
        self.text.push_str(part);
        let disk = self.disk.clone();
        let disk = disk.as_deref().map(|disk| ("disk", disk));
        let mut before = '{';
        for (label, value) in labels.iter().copied().chain(disk) {
            let _ = write!(self.text, "{before}{label}=\"");
            self.escaped(value);
            self.text.push('"');
            before = ',';
        }
        if before == ',' {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
    }

    fn escaped(&mut self, value: &str) {
        for c in value.chars() {
            match c {
                '\\' => self.text.push_str("\\\\"),
                '"' => self.text.push_str("\\\""),
                '\n' => self.text.push_str("\\n"),
                c => self.text.push(c),
            }
        }
    }

    pub(super) fn into_string(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        let mut text = Text::default();
        text.family("a_total", Kind::Counter, "What a is.");
        text.sample(&[("group", "/a\"b\\c\nd{},=é"), ("op", "read")], 7);
        text.sample(&[], 0.25);
        text.disk = Some("sda".to_owned());
        text.sample(&[], 1);
        let expected = "# HELP a_total What a is.\n# TYPE a_total counter\n\
             a_total{group=\"/a\\\"b\\\\c\\nd{},=é\",op=\"read\"} 7\na_total 0.25\n\
             a_total{disk=\"sda\"} 1\n";
        assert_eq!(text.into_string(), expected);
    }
}
