//! Findings as text and as JSON.

use crate::blocks::Block;
use crate::findings::Finding;
use crate::snapshot::{Snapshot, Stack};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;

/// What a check says.
#[derive(Debug, Serialize)]
pub struct Report {
    stacks: Vec<Shown>,
    findings: Vec<Finding>,
    /// The files that could not be read.
    unread: Vec<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    stack: Stack,
    /// The names of the layers for which io.cost is on.
    cost_on: Vec<String>,
}

/// The places that are listed for a finding.
const PLACES: usize = 6;

impl Report {
    /// What was found about some stacks.
    pub fn new(snapshot: &Snapshot, stacks: Vec<Stack>, findings: Vec<Finding>) -> Self {
        let is_on = |block: &&Block| snapshot.trees.cost_is_on(&block.number);
        let shown = |stack: Stack| {
            let on = stack.layers.iter().filter(is_on).map(|block| block.name.clone());
            Shown { cost_on: on.collect(), stack }
        };
        Self {
            stacks: stacks.into_iter().map(shown).collect(),
            findings,
            unread: snapshot.root.unread(),
        }
    }

    /// The findings that must be mended.
    pub fn faults(&self) -> usize {
        self.findings.iter().filter(|finding| finding.is_fault()).count()
    }

    /// The report for people: a table of each stack, then the findings.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for shown in &self.stacks {
            shown.write(&mut text);
        }
        if let Some(first) = self.unread.first() {
            let (count, first) = (self.unread.len(), first.display());
            let files = if count == 1 { "file" } else { "files" };
            let _ = writeln!(text, "Not all was seen: {count} {files} cannot be read, as {first}.");
        } else if self.faults() == 0 {
            text.push_str("Healthy: every setting is in force.\n");
        }
        for (at, finding) in (1..).zip(&self.findings) {
            let _ = writeln!(text, "{at}. [{}] {}", finding.severity.words(), finding.text);
            for place in finding.places.iter().take(PLACES) {
                let _ = writeln!(text, "   {}: {}", place.file, place.value);
            }
            let left = finding.places.len().saturating_sub(PLACES);
            if left > 0 {
                let _ = writeln!(text, "   and {left} more");
            }
            for command in &finding.mend {
                let _ = writeln!(text, "   # {command}");
            }
            text.push('\n');
        }
        text
    }
}

impl Shown {
    fn write(&self, text: &mut String) {
        let of = &self.stack.of;
        let on = self.stack.file_system.as_ref().map(|kind| format!(" ({kind})"));
        let _ = writeln!(text, "{of}{}", on.unwrap_or_default());
        for layer in &self.stack.layers {
            let scheduler = layer.scheduler.as_deref().unwrap_or("-");
            let cost = if self.cost_on.contains(&layer.name) { "on" } else { "off" };
            let line = format!(
                "  {:<12} {:<8} {:<9}  scheduler {scheduler:<12} io.cost {cost:<4} {}",
                layer.name,
                layer.number,
                layer.kind.word(),
                about(layer)
            );
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text.push('\n');
    }
}

fn about(layer: &Block) -> String {
    let file = layer.file.as_ref().map(|file| file.display().to_string());
    file.or_else(|| layer.mapped_name.clone()).unwrap_or_default()
}
