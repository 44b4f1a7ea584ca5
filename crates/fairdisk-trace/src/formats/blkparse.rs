//! The text of blkparse in its default format:
//! `major,minor cpu sequence seconds pid action letters sector + sectors [task]`.

use crate::lines::{LineFormat, Out};
use crate::number::{decimal_ns, number, sectors};
use crate::pairing::{Event, Pairing, Step};
use crate::rwbs;
use fairdisk_core::{Instant, IoPrio};
use std::collections::HashMap;

/// The format.
#[derive(Debug, Default)]
pub(crate) struct Blkparse {
    pairing: Pairing,
    /// The devices, by number.
    devices: HashMap<String, u32>,
    /// Whether the lines that follow are blkparse's summary.
    is_summary: bool,
}

const EXPECTED: &str =
    "major,minor cpu sequence seconds pid action letters sector + sectors [task]";

/// Whether a word is the number of a device.
fn is_device(word: &str) -> bool {
    word.split_once(',').is_some_and(|(a, b)| number(a).is_some() && number(b).is_some())
}

pub(crate) fn is_line(line: &str) -> bool {
    let words: Vec<&str> = line.split_ascii_whitespace().take(6).collect();
    let &[device, cpu, sequence, seconds, pid, action] = &words[..] else { return false };
    is_device(device)
        && [cpu, sequence, pid].iter().all(|word| number(word).is_some())
        && decimal_ns(seconds, 1).is_some()
        && action.len() <= 2
}

/// The step that an action is, if it is one.
pub(crate) const fn step_of(action: &[u8]) -> Option<Step> {
    match action {
        b"Q" => Some(Step::Queued),
        b"D" => Some(Step::Issued),
        b"R" => Some(Step::Requeued),
        b"C" => Some(Step::Done),
        _ => None,
    }
}

impl Blkparse {
    fn event(&mut self, line: &str, out: &mut Out) -> Option<Option<Event>> {
        let mut words = line.split_ascii_whitespace();
        let device = words.next()?;
        // People add heads.
        if device.starts_with('#') {
            return Some(None);
        }
        if !is_device(device) {
            let head = device.trim_end_matches(|c: char| c.is_ascii_digit());
            self.is_summary = matches!(head, "CPU" | "Total" | "Reads" | "Throughput" | "Events");
            return self.is_summary.then_some(None);
        }
        let (_cpu, _sequence) = (number(words.next()?)?, number(words.next()?)?);
        let at_ns = decimal_ns(words.next()?, 1_000_000_000)?;
        let pid = words.next()?;
        number(pid)?;
        let action = words.next()?;
        let Some(step) = step_of(action.as_bytes()) else { return Some(None) };
        let letters = words.next()?;
        // What has no length may have no sector.
        let (sector, length) = match (words.next(), words.next()) {
            (Some(sector), Some("+")) => (number(sector)?, number(words.next()?)?),
            (Some(sector), Some(task)) if step == Step::Done && task.starts_with('[') => {
                number(sector)?;
                (0, 0)
            }
            _ if letters.contains('F') || letters == "N" => (0, 0),
            _ => return None,
        };
        let (start, sectors) = sectors(if length == 0 { 0 } else { sector }, length)?;
        let Some((op, traits)) = rwbs::parse(letters, sectors.0) else { return Some(None) };
        let name = line.rfind('[').map(|at| line[at + 1..].trim_end().trim_end_matches(']'));
        let origin = match step {
            Step::Done => Default::default(),
            _ => {
                let task = format!("{}-{pid}", name.unwrap_or_default());
                out.origins.number(device, "", &task, IoPrio::UNSET)
            }
        };
        let next = self.devices.len() as u32;
        Some(Some(Event {
            at: Instant::from_ns(at_ns),
            step,
            device: match self.devices.get(device) {
                Some(device) => *device,
                None => *self.devices.entry(device.to_owned()).or_insert(next),
            },
            origin,
            op,
            traits,
            start,
            sectors,
        }))
    }
}

impl LineFormat for Blkparse {
    fn line(&mut self, line: &str, out: &mut Out) -> Result<(), String> {
        if self.is_summary {
            return Ok(());
        }
        if let Some(event) = self.event(line, out).ok_or(EXPECTED)? {
            self.pairing.take(&event, |request| out.requests.push_back(request));
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Out) {
        self.pairing.finish(|request| out.requests.push_back(request));
    }
}
