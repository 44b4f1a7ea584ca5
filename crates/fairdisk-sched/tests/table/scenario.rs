//! A parsed table: a header, and one step per line.

use crate::settings::Settings;
use fairdisk_core::{Instant, Span};

/// A table.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) settings: Settings,
    pub(crate) steps: Vec<Step>,
    lines: Vec<String>,
}

/// One line of a scenario.
#[derive(Debug)]
pub(crate) struct Step {
    /// The line number in the file.
    pub(crate) line: usize,
    pub(crate) at: Instant,
    /// The words of what happens, without the time.
    pub(crate) words: Vec<String>,
    pub(crate) left: String,
    pub(crate) expected: String,
}

impl Scenario {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut settings = Settings::default();
        let mut steps = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fault = |fault: String| format!("line {}: {fault}", index + 1);
            if line.starts_with("t=") {
                steps.push(Step::parse(index + 1, line, settings.hz()).map_err(fault)?);
            } else if steps.is_empty() {
                settings.set(line).map_err(fault)?;
            } else {
                return Err(fault(format!("a setting after the first step: {line}")));
            }
        }
        Ok(Self { settings, steps, lines: text.lines().map(str::to_owned).collect() })
    }

    /// The file with `told` to the right of the arrows, aligned in a column.
    pub(crate) fn rewritten(&self, told: &[String]) -> String {
        let width = self.steps.iter().map(|step| step.left.len()).max().unwrap_or(0);
        let mut lines = self.lines.clone();
        for (step, told) in self.steps.iter().zip(told) {
            lines[step.line - 1] = format!("{:width$}  => {told}", step.left).trim_end().to_owned();
        }
        lines.join("\n") + "\n"
    }
}

impl Step {
    fn parse(line: usize, text: &str, hz: u64) -> Result<Self, String> {
        let (left, expected) = text.split_once("=>").unwrap_or((text, ""));
        let mut words = left.split_whitespace();
        let at = words.next().and_then(|word| word.strip_prefix("t=")).unwrap_or_default();
        Ok(Self {
            line,
            at: Instant::ZERO + span(at, hz)?,
            words: words.map(str::to_owned).collect(),
            left: left.trim_end().to_owned(),
            expected: expected.trim().to_owned(),
        })
    }
}

/// Parses `250us`, `12ms`, `12.5ms`, `3s`, or `7j` in timer ticks of `hz`.
fn span(text: &str, hz: u64) -> Result<Span, String> {
    let units = [("us", 1_000), ("ms", 1_000_000), ("j", 1_000_000_000 / hz), ("s", 1_000_000_000)];
    let found = units.iter().find_map(|(unit, ns)| Some((text.strip_suffix(unit)?, *ns)));
    let Some((number, unit_ns)) = found else { return Err(format!("no unit in {text:?}")) };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let bad = |_| format!("not a time: {text:?}");
    let part_ns = match part {
        "" => 0,
        digits => digits.parse::<u64>().map_err(bad)? * unit_ns / 10u64.pow(digits.len() as u32),
    };
    Ok(Span::from_ns(whole.parse::<u64>().map_err(bad)? * unit_ns + part_ns))
}
